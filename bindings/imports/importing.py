"""Import many bindings from a table: all or none, with the same rules as :meth:`Bindings.bind`.

A table (:mod:`text_tables`) has a row for each name. Its columns are :data:`columns.COLUMNS` and, for alternates,
columns such as ``target[text/html;en]``. Only ``identifier`` is required. An empty cell keeps the recorded value. Rows
can also contain rules and counters (:mod:`other_rows`). A thousand rows at a time are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from ..collection import Bindings
from ..names.actor import Actor
from ..names.binding import NOTHING
from ..names.errors import TableError
from ..operations.progress import number_of
from ..operations.runner import Hooks, OperationRun, run
from ..tables import text_tables
from ..tables.columns import Columns, Row
from ..tables.text_stream import ReadAs, name_of
from ..tables.text_tables import Reader
from .summary import Report, Summary
from .table_rows import ImportedTable, Listeners, TableRows

_CHUNK = 2**20


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
    renumber: bool = False,
    keeps_numbers: bool = False,
    only_names: bool = False,
    atomic: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    report: Report | None = None,
) -> Summary:
    r"""Bind all names of a table, or none if a line has an error.

    All lines are checked first, and then written in blocks of at most a thousand as one operation, so that no other
    writer waits for long. A line that is refused since the check, because another writer was faster, is left out and
    reported. The same call continues an import that was interrupted.

    - ``format``: "csv", "tsv" or "jsonl". The default is the suffix of the file, or else CSV.
    - ``encoding``: by default UTF-16 if the file has its byte order mark, UTF-8 if it is valid, or else Windows-1252,
      which the summary reports as a guess.
    - ``delimiter``: by default the comma, semicolon or tab that finds the most columns in the first line.
    - ``columns``: a mapping from headings of the table to columns. ``ignore_unknown`` ignores all other headings.
    - ``relocate``: the caller decides that each new place of a bound name leads to the same resource.
    - ``renumber``: another resource of a recorded name is its corrected number. Its own resource stays.
    - ``keeps_numbers``: a resource that a spreadsheet program probably changed is ignored.
    - ``only_names``: refuse lines with rules, prefix records and counters.
    - ``atomic``: write all lines in one transaction, which readers see as one change. Other writers wait, on SQLite for
      at most five seconds.
    - ``dry_run``: check all lines, write nothing.
    - ``batch``: commit after each batch of that many lines, and stop after the first batch with an error. Earlier
      batches remain. A second import of the same table continues. A dry run ignores it.
    - ``progress``: called with the number of lines after each thousand and at the end.
    - ``report``: called with "refused" or "warning", a :class:`NotedLine` and the cells, for each such line.

    The columns ``spelling``, ``created`` and ``changed`` apply to new names only. The status "withdrawn" withdraws a
    name, or makes a tombstone for a new one, and "reserved" reserves a new name. A reserved name stays reserved unless
    its line has the status "live" ("published"). Lines for the same name must have the same values. A prefix record in
    the table does not apply to names of the same table.

    Raises :class:`TableError` for a table that cannot be read or has an unknown column. Raises :class:`BindingError`
    with the code ``format-unknown``, ``encoding-unknown``, ``delimiter-unknown`` or ``actor-text``, and OSError if the
    file cannot be read. Raises ValueError for a batch below 1, ReadOnlyBindings and :class:`BindingsUnavailable`.
    Nothing is written then, except earlier batches, and blocks before :class:`BindingsUnavailable`. Source: ARK-085,
    POL-023; decision N-04.

    >>> import io, tempfile
    >>> from ararat.middleware import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/a.sqlite", create=True) as bindings:
    ...     import_table(bindings, io.BytesIO(b"identifier,target\nark:12345/x,https://example.org/1\n")).added
    1
    """
    with closing(Rereadable(file)) as again:

        def rows(read_as: ReadAs) -> Iterator[Row]:
            reader = Reader(encoding, delimiter, Columns(columns, ignore_unknown))
            return text_tables.read_rows(again.open(), format, reader, read_as)

        # The history contains the name of the file without its folder.
        name = again.name.rpartition("/")[2]
        table = ImportedTable(
            name, rows, relocate=relocate, renumber=renumber, keeps_numbers=keeps_numbers, only_names=only_names
        )
        return import_rows(
            bindings,
            table,
            again.digest,
            atomic=atomic,
            dry_run=dry_run,
            batch=batch,
            actor=actor,
            progress=progress,
            listeners=Listeners(report=report),
        )


def import_rows(
    bindings: Bindings,
    table: ImportedTable,
    digest: Callable[[], str],
    *,
    atomic: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    listeners: Listeners = Listeners(),  # noqa: B008  it cannot be changed
) -> Summary:
    """Bind the names of the rows of a table, or none if a row has an error. ``digest`` returns a text that differs for
    another table: an import of the same one continues an interrupted one. The rest is as for :func:`import_table`.
    Raises also the codes of :func:`~ararat.bindings.minting.mint`.
    """
    who = Actor.of(actor)
    if batch is not None and batch < 1:
        raise ValueError(f"batch is {batch}; it must be 1 line or more")
    with closing(TableRows(bindings, table, who, listeners, stops=batch is not None and not dry_run)) as source:
        hooks = Hooks(progress=progress or (lambda number: None))
        is_one = atomic or (source.is_few() and not source.stops)
        try:
            if is_one:
                return OperationRun(bindings, source, 0, actor=who, hooks=hooks).at_once(is_dry=dry_run)
            others = [name for name in ("renumber", "keeps_numbers") if getattr(table, name)]
            number = number_of("import", table.file, digest(), table.relocate, table.mint, who.name, *others)
            return run(bindings, source, number, size=batch, dry_run=dry_run, actor=who, hooks=hooks)
        except TableError as error:
            error.kept = 0 if is_one else source.summary.kept
            raise


class Rereadable:
    """A path or binary file that can be read again from its beginning. A stream such as standard input is copied to a
    temporary file.
    """

    def __init__(self, file: str | Path | BinaryIO) -> None:
        self.name = name_of(file)
        self._copy: BinaryIO | None = None
        if not isinstance(file, str | Path) and not file.seekable():
            copy: Any = TemporaryFile()  # noqa: SIM115  close() closes it
            copy.raw.name = self.name  # for messages
            self._copy = cast("BinaryIO", copy)
            while data := file.readline(_CHUNK):
                self._copy.write(data)
            self._copy.seek(0)
        self._file = file if self._copy is None else self._copy
        self._start = 0 if isinstance(self._file, str | Path) else self._file.tell()

    def open(self) -> str | Path | BinaryIO:
        """Return the file at its beginning."""
        if not isinstance(self._file, str | Path):
            self._file.seek(self._start)
        return self._file

    def digest(self) -> str:
        """Return a digest of the content. Who reads the file goes on at the same place."""
        if isinstance(self._file, str | Path):
            with Path(self._file).open("rb") as stream:
                return _digest_of(stream)
        place = self._file.tell()
        self._file.seek(self._start)
        digest = _digest_of(self._file)
        self._file.seek(place)
        return digest

    def close(self) -> None:
        """Delete the copy of a stream."""
        if self._copy is not None:
            self._copy.close()


def _digest_of(stream: BinaryIO) -> str:
    digest = sha256()
    while data := stream.read(_CHUNK):
        digest.update(data)
    return digest.hexdigest()
