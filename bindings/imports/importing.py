"""Import many bindings from a table: all or none, with the same rules as :meth:`Bindings.bind`.

A table (:mod:`text_tables`) has a row for each name. Its columns are :data:`columns.COLUMNS` and, for alternates,
columns such as ``target[text/html;en]``. Only ``identifier`` is required. An empty cell keeps the recorded value, or
sets the default for a new name. Rows can also contain rules and counters (:mod:`other_rows`).
The table is read once, in one transaction. A thousand rows at a time are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names.actor import Actor
from ..names.binding import NOTHING
from ..names.errors import BindingsUnavailable, Collision, TableError
from ..storage.spill import SeenNames
from ..tables import text_tables
from ..tables.columns import Columns, Row
from ..tables.text_stream import ReadAs, name_of
from ..tables.text_tables import Reader
from .keyed_rows import Mint
from .summary import Effect, Expect, Report, Summary
from .table_rows import ImportRun

if TYPE_CHECKING:
    pass

_CHUNK = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def import_table(
    bindings: Bindings,
    file: str | Path | BinaryIO,
    *,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    columns: Mapping[str, str] = NOTHING,
    ignore_unknown: bool = False,
    relocate: bool = False,
    only_names: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    report: Report | None = None,
) -> Summary:
    """Bind all names of a table, or none if a line has an error.

    - ``bindings``: the open store.
    - ``file``: a path or a binary file.
    - ``format``: "csv", "tsv" or "jsonl". The default is the suffix of the file, or else CSV.
    - ``encoding``: by default UTF-16 if the file has its byte order mark, UTF-8 if it is valid, or else Windows-1252.
      The summary reports the last as a guess.
    - ``delimiter``: by default the comma, semicolon or tab that finds the most columns in the first line.
    - ``columns``: a mapping from headings of the table to columns. ``ignore_unknown`` ignores all other headings.
    - ``relocate``: the caller decides that each new place of a bound name leads to the same resource. Such lines are
      "relocated" without the recorded resource.
    - ``only_names``: refuse lines with rules, prefix records and counters.
    - ``dry_run``: check all lines, write nothing.
    - ``batch``: commit after each batch of that many lines, and stop after the first batch with an error. Earlier
      batches remain. A second import of the same table continues. A dry run ignores it.
    - ``actor``: the name of the user for the history.
    - ``progress``: called with the number of lines after each thousand and at the end.
    - ``report``: called with "refused" or "warning", a :class:`NotedLine` and the cells, for each such line.

    Readers see the import as one change. Other writers wait, on SQLite for at most five seconds.

    The columns ``spelling``, ``created`` and ``changed`` apply to new names only; the first event has the same times.

    A line with the status "withdrawn" withdraws its name, or makes a tombstone for a new name. A line with the status
    "reserved" reserves a new name. A reserved name stays reserved unless its line has the status "live" ("published").
    A line without a target keeps the recorded target. Two lines for the same name must
    have the same values. The character set of a prefix record applies to new names. A prefix record in the table does
    not apply to names of the same table.

    Raises :class:`TableError` for a table that cannot be read or has an unknown column. Raises :class:`BindingError`
    with the code ``format-unknown``, ``encoding-unknown``, ``delimiter-unknown`` or ``actor-text``, and OSError if the
    file cannot be opened or read. Raises ValueError for a batch below 1, ReadOnlyBindings and
    :class:`BindingsUnavailable`. Nothing is written then, except earlier batches.

    Source: ARK-085, POL-023; decision N-04.
    """
    read_as = ReadAs()
    reader = Reader(encoding, delimiter, Columns(columns, ignore_unknown))
    with closing(text_tables.read_rows(file, format, reader, read_as)) as rows_read:
        # The history contains the name of the file without its folder.
        name = name_of(file).rpartition("/")[2]
        return import_rows(
            bindings,
            name,
            rows_read,
            read_as,
            relocate=relocate,
            only_names=only_names,
            dry_run=dry_run,
            batch=batch,
            actor=actor,
            progress=progress,
            report=report,
        )


def import_rows(
    bindings: Bindings,
    file: str,
    rows_read: Iterator[Row],
    read_as: ReadAs,
    *,
    relocate: bool = False,
    only_names: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    report: Report | None = None,
    effect: Effect | None = None,
    expect: Expect | None = None,
    leave_out: bool = False,
    mint: Mint | None = None,
    repeated: Mapping[int, str] = NOTHING,
) -> Summary:
    """Bind the names of rows that are already parsed, or bind no name if a row has an error.

    ``bindings`` is the open store. With ``dry_run``, everything is checked and nothing is written. ``actor`` is the
    user who makes the change, or the name for the history. None records no user. ``progress``, if it is set, is called
    with the number of rows so far. ``rows_read`` are the rows, and ``read_as`` describes how they were read. With
    ``relocate``, a new target needs no resource. With ``only_names``, other rows than names are refused. ``batch`` is
    the number of rows of one transaction; None means one transaction. ``report`` is called for each refused row.

    With ``leave_out``, a row with an error is left out instead, and the others are written.

    Raises like :func:`import_table`. ``file`` is the name of the file for the history and for messages. ``effect`` is
    called with the effect of each line, before it is written. ``expect`` is called before that; a line for which it
    returns a reason is refused with the code ``preview-changed``.

    With ``mint``, rows without a name get the recorded name of their key, or a new one (:mod:`.keyed_rows`).
    ``repeated`` is the result of :func:`~.keyed_rows.repeated_keys` for these rows. Further codes of
    :class:`BindingError` are then those of :func:`~ararat.bindings.minting.mint`.
    """
    who = Actor.of(actor)
    if batch is not None and batch < 1:
        raise ValueError(f"batch is {batch}; it must be 1 line or more")
    summary = Summary(read_as=read_as)
    with closing(SeenNames()) as seen:
        run = ImportRun(file, bindings.now(), who, seen, report, effect, summary, relocate, only_names)
        run.expect, run.leave_out, run.test_naans = expect, leave_out, bindings.naming.test_naans
        run.mint, run.repeated = mint, repeated
        # Read the first row before the transaction, so that an unreadable file does not lock the database.
        read = chain(list(islice(rows_read, 1)), rows_read)
        try:
            if batch is None or dry_run:
                run.import_all(bindings, read, progress, keep=not dry_run)
            else:
                while run.import_batch(bindings, islice(read, batch), progress):
                    pass
        except Collision as collision:
            message = Translatable(
                "%(store)s: another process changed the same names; import the table again", store=bindings.store
            )
            raise BindingsUnavailable(message) from collision
        except TableError as error:
            error.kept = summary.kept
            raise
    summary.written = not dry_run and summary.refusals <= (summary.lines - 1 if leave_out else 0)
    run.finish()
    return summary
