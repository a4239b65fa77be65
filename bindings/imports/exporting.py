"""Export all bindings as a table (:mod:`text_tables`) in the order of their keys; its import makes a copy of the store.
A name has no history in it. Rules, prefix records, counters and UUIDs are rows too (:mod:`other_rows`). One snapshot is
written, even if other processes write, with one row at a time in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ...identifiers.ark.grammar import RESERVED_NAAN
from ..names.binding import Binding
from ..names.selection import Selection
from ..storage.store import DatabaseStore
from ..tables import columns
from ..tables.columns import COLUMNS
from ..tables.delimited import BYTE_ORDER_MARK, LineWriter
from ..tables.other_rows import OtherRow, PrefixRow, RuleRow, Setting
from ..tables.text_tables import Format

if TYPE_CHECKING:
    from ..collection import Bindings
    from ..stores import Snapshot

_EVERY = 1000


class ExportCounts(NamedTuple):
    """The numbers of rows that an export has written. ``bindings`` are public names, and ``settings`` counters and
    owners of UUIDs.
    """

    bindings: int
    reserved: int = 0
    rules: int = 0
    settings: int = 0
    prefixes: int = 0


def export_table(
    bindings: Bindings,
    file: BinaryIO,
    *,
    format: Format = "csv",
    since: datetime | None = None,
    delimiter: str | None = None,
    bom: bool = False,
    progress: Callable[[int], object] | None = None,
) -> ExportCounts:
    """Write all bindings to a binary file as a table. :func:`import_table` of it into an empty store makes the same
    bindings.

    ``format`` is "csv", "tsv" or "jsonl". With ``since``, only names that were changed at this time or later are
    written. ``delimiter`` replaces the comma or tab. With ``bom`` the file is for people: it begins with a byte order
    mark for Excel, and no text in it is a formula (:mod:`~ararat.bindings.tables.formulas`). ``progress`` is called
    with the number of rows after each thousand and at the end. Raises :class:`BindingsUnavailable`, and OSError if the
    file cannot be written.

    >>> import io, tempfile
    >>> from ararat.middleware import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder, open_bindings(f"{folder}/a.sqlite", create=True) as bindings:
    ...     bindings.bind("ark:12345/x", "/x"), export_table(bindings, out := io.BytesIO(), format="jsonl")
    ('bound', ExportCounts(bindings=1, reserved=0, rules=0, settings=0, prefixes=0))
    >>> out.getvalue()[:45]
    b'{"identifier": "ark:12345/x", "target": "/x",'
    """
    counts: Counter[object] = Counter()
    for row, line in table_lines(bindings, format, since, delimiter=delimiter, bom=bom):
        file.write(line.encode())
        if row is not None:
            counts["reserved" if isinstance(row, Binding) and row.is_reserved else type(row)] += 1
            if progress and counts.total() % _EVERY == 0:
                progress(counts.total())
    if progress:
        progress(counts.total())
    return ExportCounts(counts[Binding], counts["reserved"], counts[RuleRow], counts[Setting], counts[PrefixRow])


def table_lines(
    bindings: Bindings,
    format: Format,
    since: datetime | None = None,
    *,
    delimiter: str | None = None,
    bom: bool = False,
) -> Iterator[tuple[Binding | OtherRow | None, str]]:
    """Yield each row of an exported table with its line. The first line of CSV and TSV names the columns and has no
    row. The arguments are those of :func:`export_table`. Raises :class:`BindingsUnavailable`.
    """
    with bindings.store.snapshot() as snapshot:
        records = [PrefixRow(record.prefix, record.all_texts) for record in snapshot.prefixes()]
        if format == "jsonl":
            written = _json_lines()
        else:
            used = {column for record in records for column in record.cells() if column not in COLUMNS}
            written = make_converter(snapshot, delimiter or _DELIMITERS[format], used, bom=bom)
            yield None, written.header()
        names = (name for name in snapshot.bindings() if since is None or name.recorded_at >= since)
        for row in chain(snapshot.settings(), names, records):
            yield row, written(row)


def name_lines(
    bindings: Bindings,
    chain: Sequence[Selection],
    format: Format,
    *,
    delimiter: str | None = None,
    bom: bool = False,
) -> Generator[str, None, None]:
    """Yield the lines of a table of names from one snapshot: those of the first selection of ``chain`` come first.

    The arguments are those of :func:`export_table`. A line of JSON is the object that :meth:`.Binding.as_listed`
    returns. Raises :class:`BindingsUnavailable` if the database cannot be read, and TypeError for a table file.
    """
    store = bindings.store
    if not isinstance(store, DatabaseStore):
        raise TypeError("only a database has snapshots of lists")
    with store.snapshot() as snapshot:
        line: Callable[[Binding], str] = _record_line
        if format != "jsonl":
            line = written = make_converter(snapshot, delimiter or _DELIMITERS[format], bom=bom)
            yield written.header()
        now = bindings.now()
        for selection in chain:
            yield from map(line, store.names_at(snapshot, replace(selection, now=now) if selection.hold else selection))


def make_converter(snapshot: Snapshot, delimiter: str, others: Collection[str] = (), *, bom: bool) -> Delimited:
    """Return the converter of bindings to lines of CSV or TSV, with one column for each value in use in a snapshot or
    in ``others``. Names for tests have a mark in a column of its own.
    """
    elements = sorted({*others, *snapshot.elements()})
    has_tests = snapshot.has_names(RESERVED_NAAN)
    return Delimited(delimiter, snapshot.selectors(), [*elements, columns.TEST] if has_tests else elements, bom=bom)


def _record_line(binding: Binding) -> str:
    return f"{json.dumps(binding.as_listed())}\n"


_DELIMITERS: dict[Format, str] = {"csv": ",", "tsv": "\t"}


class Delimited:
    """A converter of bindings and other rows to lines of CSV or TSV. Each of ``selectors`` (of alternate targets) and
    ``elements`` (of metadata) has a column. ``bom`` is that of :func:`export_table`.
    """

    def __init__(self, delimiter: str, selectors: Iterable[str], elements: Iterable[str], *, bom: bool) -> None:
        self._columns = [*COLUMNS, *elements, *map(columns.alternate_column, selectors)]
        self._beginning = BYTE_ORDER_MARK if bom else ""
        # LF instead of CR LF (RFC 4180): these files are often in Git.
        self._line = LineWriter(delimiter, end="\n", formulas="marked" if bom else "kept")

    def header(self) -> str:
        """Return the first line of a CSV or TSV file, which contains the names of the columns."""
        return f"{self._beginning}{self._line(self._columns)}"

    def __call__(self, row: Binding | OtherRow) -> str:
        """Return the line of a row."""
        return self._line(map(_cells(row).get, self._columns))


def _json_lines() -> Callable[[Binding | OtherRow], str]:
    encode = json.JSONEncoder().encode

    def line(row: Binding | OtherRow) -> str:
        cells: dict[str, object] = {**_cells(row)}
        if isinstance(row, Binding):
            cells["passthrough"] = row.passthrough
            cells["listed"] = row.listed
            cells |= {columns.TEST: True} if row.is_test else {}
        if isinstance(row, (Binding, RuleRow)):
            cells["redirect"] = row.redirect
        return f"{encode(cells)}\n"

    return line


def _cells(row: Binding | OtherRow) -> dict[str, str]:
    return columns.cells(row) if isinstance(row, Binding) else row.cells()
