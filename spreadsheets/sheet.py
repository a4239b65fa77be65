"""Read a table of a user: propose how, and yield its headings and rows, before and after its columns are known. A
workbook is converted first, so only :func:`convert_upload` reads its format.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, islice, takewhile
from typing import NamedTuple

from ..bindings.names.errors import BindingError, TableError
from ..bindings.tables import delimited, formulas, several_values, text_tables, wrong_files
from ..bindings.tables.columns import Columns, Row
from ..bindings.tables.delimited import Line
from ..bindings.tables.text_stream import Lines, ReadAs
from ..identifiers.text.translatable import Translatable
from . import guesses, headings, workbook_process
from .column_values import is_address
from .guesses import GuessedColumn
from .heading_words import meaning, weights
from .reading import MAX_COLUMNS, MAX_ROWS, Format, Reading

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "windows-1252": Translatable("Windows-1252 (Western Europe)"),
    "windows-1250": Translatable("Windows-1250 (Central Europe)"),
    "windows-1251": Translatable("Windows-1251 (Cyrillic)"),
    "windows-1253": Translatable("Windows-1253 (Greek)"),
    "windows-1254": Translatable("Windows-1254 (Turkish)"),
    "windows-1255": Translatable("Windows-1255 (Hebrew)"),
    "windows-1256": Translatable("Windows-1256 (Arabic)"),
    "windows-1257": Translatable("Windows-1257 (Baltic)"),
    "iso-8859-15": Translatable("ISO 8859-15 (Western Europe)"),
    "mac-roman": "Mac Roman",
}
"""The encodings that a user can select, with their labels."""

SEPARATORS = {
    ",": Translatable("Comma ,"),
    ";": Translatable("Semicolon ;"),
    "\t": Translatable("Tab"),
    "|": Translatable("Vertical line |"),
}
"""The separators that a user can select, with their labels."""

WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""The first bytes of a ZIP archive (.xlsx and .ods) and of an OLE file (.xls)."""

_LARGE_WORKBOOK = 3 * 2**20
_JSON_LINES = (".jsonl", ".ndjson")
_OF_WINDOWS = ("windows-1252", *(each for each in ENCODINGS if each.startswith("windows-12")))
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAMPLE = 65536
_SAMPLE_ROWS = 50
_LAST_ROWS = 4


class SheetOfWorkbook(NamedTuple):
    """A visible sheet of a workbook. ``hidden`` and ``struck`` are the numbers of rows that are hidden, or whose texts
    are struck out. ``merged`` are the merged ranges: first row, last row, first column and last column, from 1.
    """

    name: str
    rows: int
    hidden: int = 0
    merged: Sequence[Sequence[int]] = ()
    struck: int = 0


class Proposal(NamedTuple):
    """A stored file and how it is probably read. ``content`` is the file, or the converted sheets of a workbook.
    ``rows`` is the number of rows of data.
    """

    content: bytes
    reading: Reading
    rows: int


def convert_upload(content: bytes, file: str, most_rows: int | None = MAX_ROWS) -> Proposal:
    """Return the content to store for an uploaded file, how it is probably read, and the number of its rows.

    The ending of ``file`` selects JSON Lines. A workbook is converted: the first line of the result is JSON with its
    sheets, and each other line is a row. Raises :class:`TableError`, also for more than ``most_rows``.
    """
    # A damaged workbook can look like another archive.
    damaged = ("archive",) if file.lower().endswith((".xlsx", ".ods")) else ()
    wrong_files.refuse(content, file, readable=("xlsx", "xls", "ods", *damaged))
    if content.startswith(WORKBOOKS):
        content = workbook_process.convert(content, file)
        reading = Reading(format="workbook", encoding="utf-8", separator="")
        proposed = [_propose(content, replace(reading, sheet=each.name), file, None) for each in sheets(content)]
        # A cover sheet has few rows and no known headings.
        best = max(proposed, key=lambda each: (min(_count_known(each.reading.columns), 3), each.rows))
        if most_rows is not None and best.rows > most_rows:
            raise TableError(
                "table-size", Translatable("the sheet has more than %(number)s rows", number=most_rows), file, 1
            )
        return best
    encoding = _encoding(content)
    format: Format = "jsonl" if file.lower().endswith(_JSON_LINES) else "csv"
    separator = "" if format == "jsonl" else _separator(content, encoding)
    # The reader itself detects only these.
    detected = encoding in ("utf-8", "utf-16", "windows-1252")
    reading = Reading(format=format, encoding=encoding, separator=separator, detected=detected)
    return _propose(content, reading, file, most_rows)


def is_large_workbook(content: bytes) -> bool:
    """Return whether a file is a workbook that takes longer to read than a request should wait."""
    return len(content) > _LARGE_WORKBOOK and content.startswith(WORKBOOKS)


def proposed_at(content: bytes, reading: Reading, file: str) -> Proposal:
    """Return how a stored file is probably read with the heading row of ``reading``: its columns and last row are
    guessed.
    """
    return _propose(content, replace(reading, last_row=0, columns=()), file, None)


def propose_reading(content: bytes, reading: Reading, file: str) -> Reading:
    """Return ``reading`` with guessed columns, heading row and last row for a stored file. Its format, encoding,
    separator and sheet stay.
    """
    return _propose(content, replace(reading, heading_row=0, last_row=0, columns=()), file, None).reading


def _propose(content: bytes, reading: Reading, file: str, most_rows: int | None) -> Proposal:
    """Find the headings, the last row and the columns. The lines before an error are enough for the first two."""
    first: list[Line] = []
    last: deque[Line] = deque(maxlen=_LAST_ROWS)
    number = 0
    try:
        for row in _filled_rows(content, reading, file, None):
            number += 1
            if len(first) < _SAMPLE_ROWS:
                first.append(row)
            last.append(row)
    except TableError:
        last.clear()
    found = 0 if reading.format == "jsonl" else reading.heading_row or headings.heading_row(first)
    named = next((row for row in first if row.number == found), Line(0, []))
    named = Line(named.number, headings_at(named, first, reading))
    samples = with_links(named.fields, [row for row in first if row.number > found])
    width = sum(map(bool, named.fields))
    end = headings.last_row([row for row in last if row.number > found], width) if reading.format != "jsonl" else 0
    rows = max(number - sum(row.number <= found for row in first) - sum(row.number > end for row in last if end), 0)
    if most_rows is not None and rows > most_rows:
        raise TableError(
            "table-size", Translatable("the file has more than %(number)s rows", number=most_rows), file, most_rows
        )
    columns = guesses.columns(named.fields, samples, headings.upper_headings(first, found))
    return Proposal(content, replace(reading, heading_row=found, last_row=end, columns=columns), rows)


def headings_at(named: Line, first: Sequence[Line], reading: Reading) -> list[str]:
    """Return the headings of a row, with those that the first rows of the sheet complete."""
    # A row of a text that is longer than the headings is an error.
    rows = first if reading.format == "workbook" else [row for row in first if row.number < named.number]
    return headings.complete_headings(named, rows)


def guess_columns(content: bytes, reading: Reading, file: str) -> list[GuessedColumn]:
    """Return the guess for each column of a stored file, from its headings and first rows. Raises :class:`TableError`
    if there are none.
    """
    read: list[Line] = []
    try:
        read.extend(islice(lines(content, reading, file), _SAMPLE_ROWS + 1))
    except TableError:
        if not read:
            raise
    named, *rows = read
    before: list[Line] = []
    if reading.format != "jsonl":
        before += takewhile(lambda row: row.number < reading.heading_row, _filled_rows(content, reading, file, None))
    return guesses.guess(named.fields, with_links(named.fields, rows), headings.upper_headings(before, named.number))


def with_links(named: Sequence[str], rows: Sequence[Line]) -> list[list[str]]:
    """Return the cells of rows with the addresses of links instead of their texts, in columns that can be targets."""
    linked = {place for place, heading in enumerate(named) if weights(heading).get("target")}
    found = [[*row.fields] for row in rows]
    for cells, row in zip(found, rows, strict=True):
        for place, address in row.extras.links.items() if isinstance(row, RichLine) else ():
            if int(place) in linked and int(place) < len(cells) and not is_address(cells[int(place)]):
                cells[int(place)] = address
    return found


def _count_known(columns: Sequence[str]) -> int:
    return sum(map(bool, columns))


def sheets(content: bytes) -> list[SheetOfWorkbook]:
    """Return the visible sheets of a workbook. ``content`` has the bytes of the stored file, a converted workbook."""
    return [SheetOfWorkbook(*each) for each in json.loads(content[: content.index(b"\n")])]


def sheet_of(content: bytes, reading: Reading) -> SheetOfWorkbook | None:
    """Return the sheet of a converted workbook with the name ``reading.sheet``, or else its first one. Return None for
    a file of text.
    """
    if reading.format != "workbook":
        return None
    known = sheets(content)
    return next((each for each in known if each.name == reading.sheet), known[0])


class _Extras(NamedTuple):
    """The parts of the cells of a row besides their texts, by place, and whether the row is hidden or struck out."""

    links: Mapping[str, str] = {}
    faults: Mapping[str, str] = {}
    notes: Mapping[str, str] = {}
    hidden: bool = False
    struck: bool = False


_NO_EXTRAS = _Extras()


class RichLine(Line):
    """A row of a workbook with ``extras``: the links, faults and notes of its cells by place, and whether it is hidden
    or struck out.
    """

    extras: _Extras = _NO_EXTRAS


def _filled_rows(content: bytes, reading: Reading, file: str, read_as: ReadAs | None) -> Iterator[Line]:
    """Yield all rows with a value, with the numbers that a spreadsheet program shows, and trimmed cells."""
    match reading.format:
        case "workbook":
            read: Iterator[Line] = _of_workbook(content, reading)
        case "jsonl":
            read = _json_lines(content, reading, file)
        case "csv":
            lines_read = Lines(io.BytesIO(content), file, _given_encoding(reading), read_as)
            records = enumerate(delimited.read_records(lines_read, reading.separator), 1)
            read = (
                Line(number, [formulas.remove_marks(field.strip()) for field in fields])
                for number, (_, fields) in records
            )
    for row in read:
        if any(row.fields) or (isinstance(row, RichLine) and row.extras.faults):
            yield row


def _of_workbook(content: bytes, reading: Reading) -> Iterator[Line]:
    stream = io.BytesIO(content)
    known = [each[0] for each in json.loads(stream.readline())]
    wanted = known.index(reading.sheet) if reading.sheet in known else 0
    beginning = b"[%d," % wanted
    for line in stream:
        if not line.startswith(beginning):
            continue
        _, number, fields, *more = json.loads(line)
        row = RichLine(number, [field.strip() for field in fields])
        if more:
            row.extras = _Extras(**more[0])
        extras = row.extras
        if not ((reading.omit_hidden and extras.hidden) or (reading.omit_struck and extras.struck)):
            yield row


def all_rows(content: bytes, reading: Reading, file: str) -> Iterator[Line]:
    """Yield all rows with a value in order: also title rows, those after the data, and hidden ones."""
    return _filled_rows(content, replace(reading, omit_hidden=False, omit_struck=False), file, None)


def lines(
    content: bytes, reading: Reading, file: str, read_as: ReadAs | None = None, most_rows: int | None = MAX_ROWS
) -> Iterator[Line]:
    """Yield the headings and then the rows of data of a stored file. Empty rows, and those that ``reading`` omits, are
    left out; each row has all columns. ``read_as`` receives properties such as ``unfinished``. Raises
    :class:`TableError` ("table-size", "table-empty" and others).
    """
    named: Sequence[str] | None = None
    filled = 0
    read = _filled_rows(content, reading, file, read_as)
    first = list(islice(read, _SAMPLE_ROWS)) if reading.format == "workbook" else []
    before: list[Line] = []
    for row in chain(first, read):
        if row.number < reading.heading_row:
            before = [row]
            continue
        if reading.last_row and row.number > reading.last_row:
            break
        number, cells = row
        filled += 1
        if most_rows is not None and filled > most_rows + 1:
            raise TableError(
                "table-size", Translatable("the file has more than %(number)s rows", number=most_rows), file, number
            )
        if named is None:
            cells[:] = headings_at(row, first or before, reading)
            if len(cells) > MAX_COLUMNS:
                message = Translatable(
                    "the header has %(number)s columns; at most %(most)s are allowed",
                    number=len(cells),
                    most=MAX_COLUMNS,
                )
                raise TableError("table-size", message, file, number)
            named = cells
        elif reading.format == "csv" and (any(cells[len(named) :]) or len(cells) < len(named)):
            raise text_tables.wrong_number(named, len(cells), file, number)
        else:
            del cells[len(named) :]
            cells.extend([""] * (len(named) - len(cells)))
        yield row
    if named is None:
        raise TableError("table-empty", Translatable("the file is empty"), file, 1)


def rows(
    content: bytes, reading: Reading, file: str, read_as: ReadAs, most_rows: int | None = MAX_ROWS
) -> Iterator[Row]:
    """Yield the rows of data of a stored file as texts by column of bindings, without ignored columns. Corrections are
    applied, and a link replaces the text of a target. An error in a cell is the ``fault`` of its row. Raises
    :class:`TableError`.
    """
    wanted = [(place, column) for place, column in enumerate(reading.columns) if column]
    places = {str(place): column for place, column in wanted}
    sheet = sheet_of(content, reading)
    merged = _Merged(sheet.merged if sheet else (), {place for place, _ in wanted}, fill=reading.fill_merged)
    read = lines(content, reading, file, read_as, most_rows)
    divides = not several_values.is_own_table(next(read).fields)
    for row in read:
        cells = row.fields
        notes = merged.apply(row)
        corrected = reading.corrections.get(str(row.number), {})
        for place, text in corrected.items():
            if int(place) < len(cells):
                cells[int(place)] = text.strip()
        extras = row.extras if isinstance(row, RichLine) else _NO_EXTRAS
        fault: BindingError | None = None
        if extras is not _NO_EXTRAS:
            for place, address in extras.links.items():
                is_target = places.get(place, "").startswith("target") and place not in corrected
                if is_target and not cells[int(place)].lower().startswith(("http://", "https://", "/")):
                    cells[int(place)] = address
            known = {place: text for place, text in extras.faults.items() if place in places and place not in corrected}
            for place, text in known.items():
                fault = fault or BindingError("cell-error", _fault(cell_name(int(place), row.number), text))
            if extras.struck:
                notes.append(("row-struck", _STRUCK))
            for place, text in extras.notes.items():
                if place in places and place not in corrected:
                    notes.append(("cell-shown", _note(cell_name(int(place), row.number), text)))
        texts = {column: cells[place] for place, column in wanted}
        if divides:
            texts, several = several_values.divide_values(texts)
            notes += several
        yield Row(row.number, texts, None, False, fault, notes)


_STRUCK = Translatable("the texts of the row are struck out in the sheet")


class _Merged:
    """The merged cells of some columns while the rows are read in order."""

    def __init__(self, ranges: Sequence[Sequence[int]], places: set[int], *, fill: bool) -> None:
        self._fill = fill
        # Cells that are merged in one row hide no value of another row.
        found = (each for each in ranges if each[1] > each[0] and each[2] - 1 in places)
        self._pending = deque(sorted(map(tuple, found)))
        self._current: list[tuple[tuple[int, ...], str]] = []

    def apply(self, row: Line) -> list[tuple[str, str]]:
        """Fill the cells of a row, or return the warnings about them."""
        notes: list[tuple[str, str]] = []
        self._current = [each for each in self._current if each[0][1] >= row.number]
        if self._fill:
            for (_, _, column, _), value in self._current:
                row.fields[column - 1] = value
        while self._pending and self._pending[0][0] <= row.number:
            found = first, last, column, _ = self._pending.popleft()
            if column > len(row.fields) or last < row.number:
                continue
            self._current.append((found, row.fields[column - 1] if first == row.number else ""))
            if not self._fill:
                place = f"{cell_name(column - 1, first)}:{cell_name(column - 1, last)}"
                notes.append(
                    (
                        "cell-merged",
                        Translatable(
                            "the cells %(cells)s are merged; only the row %(row)s has their value",
                            cells=place,
                            row=first,
                        ),
                    )
                )
        return notes


def _fault(cell: str, text: str) -> str:
    """Return the message about a cell with a fault of :func:`~.sheet_rows.fault`, which a stored workbook has."""
    if found := re.fullmatch(r"the error (.*); correct its formula or value, and save the file", text, re.DOTALL):
        return Translatable(
            "the cell %(cell)s has the error %(error)s; correct its formula or value, and save the file",
            cell=cell,
            error=found[1],
        )
    return Translatable(
        "the cell %(cell)s has a formula without a saved result; open the file in a spreadsheet program and save it",
        cell=cell,
    )


def _note(cell: str, text: str) -> str:
    """Return the message about a cell that shows another text than its value, from the note of a stored workbook."""
    if found := re.fullmatch(r"shows nothing, because its number format is (.*)", text, re.DOTALL):
        return Translatable(
            "the cell %(cell)s shows nothing, because its number format is %(format)s", cell=cell, format=found[1]
        )
    if found := re.fullmatch(r"has the number format (.*), read as (.*)", text, re.DOTALL):
        return Translatable(
            "the cell %(cell)s has the number format %(format)s, read as %(read)s",
            cell=cell,
            format=found[1],
            read=found[2],
        )
    if found := re.fullmatch(r"shows (.*), read as (.*)", text, re.DOTALL):
        return Translatable(
            "the cell %(cell)s shows %(shown)s, read as %(read)s", cell=cell, shown=found[1], read=found[2]
        )
    return f"the cell {cell} {text}"


def cell_name(place: int, row: int) -> str:
    """Return the name of a cell in a spreadsheet program. ``place`` is counted from 0, ``row`` from 1.

    >>> cell_name(0, 1), cell_name(27, 3), cell_name(16383, 2)
    ('A1', 'AB3', 'XFD2')
    """
    letters = ""
    place += 1
    while place > 0:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def _given_encoding(reading: Reading) -> str | None:
    """Return the encoding that the user selected, or None: then the reader detects it, and refuses two in one file."""
    return None if reading.detected else reading.encoding


def _encoding(content: bytes) -> str:
    """Return the encoding of a file: UTF-16 by its byte order mark, UTF-8 if all bytes are. Else it is the Windows
    encoding with the most known headings, preferably Windows-1252.
    """
    if content.startswith(_UTF_16):
        return "utf-16"
    try:
        content.decode()
    except UnicodeDecodeError:
        return max(_OF_WINDOWS, key=lambda encoding: _known_headings(content, encoding))
    return "utf-8"


def _known_headings(content: bytes, encoding: str) -> int:
    """Return the highest number of known headings of a row at the beginning of a file."""
    text = content[:_SAMPLE].decode(encoding, "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(content, encoding))
    with suppress(csv.Error):
        return max((sum(map(bool, map(meaning, row))) for row in islice(rows, _SAMPLE_ROWS)), default=0)
    return 0


def _separator(content: bytes, encoding: str) -> str:
    """Return the separator with which most of the first lines have the same number of fields, preferably a comma."""
    text = content[:_SAMPLE].decode(encoding, "replace").lstrip("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if stated := delimited.stated_delimiter(text.partition("\n")[0]):
        return stated
    if len(content) > _SAMPLE:
        text = text.rpartition("\n")[0] or text

    def fields(separator: str) -> int:
        numbers: Counter[int] = Counter()
        try:
            for record in islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), _SAMPLE_ROWS):
                numbers[len(record)] += len(record) > 1
        except csv.Error:
            return 0
        # A title row has fewer fields, and a text has some commas.
        return max(((number - 1) * rows for number, rows in numbers.items()), default=0)

    return max(SEPARATORS, key=fields)


class _AsGiven(Columns):
    """Columns that keep the keys of JSON Lines as they are."""

    def find(self, name: str) -> str:
        return name


def _json_lines(content: bytes, reading: Reading, file: str) -> Iterator[Line]:
    """Yield the keys of all objects as headings, then the objects."""
    named = _Named(content, file)
    reader = text_tables.Reader(_given_encoding(reading), None, _AsGiven())
    keys: dict[str, None] = {}
    with closing(text_tables.read_rows(named, "jsonl", reader)) as read:
        for row in read:
            keys.update(dict.fromkeys(row.cells))
            if len(keys) > MAX_COLUMNS:
                message = Translatable("the objects have more than %(number)s different keys", number=MAX_COLUMNS)
                raise TableError("table-size", message, file, row.line)
    if not keys:
        return
    yield Line(0, list(keys))
    with closing(text_tables.read_rows(_Named(content, file), "jsonl", reader)) as read:
        for row in read:
            yield Line(row.line, [row.cells.get(key, "") for key in keys])


class _Named(io.BytesIO):
    """A file in memory with a name for messages."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name
