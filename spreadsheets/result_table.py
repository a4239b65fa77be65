"""Write a table of a user again with the names of its rows, or only its refused rows with their problems.

A file of text keeps its bytes. Only the column of names is new, or its empty cells are filled, and an ARK of another
thing is replaced. A row with a formula gets a mark that makes it a text; an import removes the mark. A workbook is
written new, with text cells only.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, NamedTuple

from ..bindings.imports.summary import ImportEffect
from ..bindings.names import naming
from ..bindings.names.binding import Binding
from ..bindings.names.errors import BindingError
from ..bindings.storage.spill import Spill
from ..bindings.tables import delimited, formulas
from ..bindings.tables.delimited import Line, LineWriter
from ..bindings.tables.text_stream import Lines, ReadAs
from . import returned_workbook, sheet
from .reading import Reading

Kind = Literal["text", "xlsx"]

HEADING = "ARK"
"""The heading of the new column."""

_UTF_8_MARK, _UTF_16_BE = codecs.BOM_UTF8, codecs.BOM_UTF16_BE
# Characters that XML cannot contain.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")

_WAITING = 1000

NameOf = Callable[[int], str | None]
"""Returns the name of a row by its number, or None."""


def replaces_name(given: str, name: str) -> bool:
    """Return whether the cell with the name of a row is written again. It is if it is empty, or has another name than
    the row.

    >>> replaces_name("", "ark:12345/x5"), replaces_name("ark:/12345/x-5", "ark:12345/x5")
    (True, False)
    >>> replaces_name("A1", "ark:1/x")
    False
    """
    if not given.strip():
        return True
    try:
        return naming.key_of(given.strip()) != naming.key_of(name)
    except BindingError:
        return False


class NamesOfRows:
    """The names of the rows of an imported table by row number, in a temporary file if they are many."""

    def __init__(self) -> None:
        self._spill = Spill("names (line INTEGER PRIMARY KEY, name TEXT NOT NULL)", "the import")
        self._waiting: list[tuple[int, str]] = []

    def note(self, imported: ImportEffect) -> None:
        """Record the name of an imported row. A line about another thing than a name, such as a rule, is ignored."""
        if isinstance(imported.after, Binding):
            self.add(imported.line, imported.after.identifier)

    def add(self, line: int, name: str) -> None:
        """Record the name of a row. ``line`` is the number of the row in the table, and ``name`` is its ARK or URN."""
        self._waiting.append((line, name))
        if len(self._waiting) >= _WAITING:
            self._store()

    def get(self, line: int) -> str | None:
        """Return the name (an ARK or URN) that the row at ``line`` has got, or None."""
        if self._waiting:
            self._store()
        return next((name for (name,) in self._spill.rows("SELECT name FROM names WHERE line = ?", (line,))), None)

    def _store(self) -> None:
        self._spill.add("INSERT OR REPLACE INTO names VALUES (?, ?)", self._waiting)
        self._waiting.clear()

    def close(self) -> None:
        """Delete the temporary file with the names of the rows."""
        self._spill.close()


class RowProblem(NamedTuple):
    """The reason why a row of a table is refused (``message``), and how to correct it (``suggestion``)."""

    message: str
    suggestion: str


def with_names(content: bytes, reading: Reading, file: str, name_of: NameOf) -> Iterator[bytes]:
    """Yield the bytes of a stored CSV or JSON Lines file, in its format, with the names of the rows. ``name_of``
    returns the name for the number of a row, or None. Cells that a program would read as formulas are marked as texts.
    """
    if reading.format == "jsonl":
        yield from _json_with_names(content, reading, file, name_of)
        return
    read_as = ReadAs()
    encode = _Encoder(content, reading, read_as)
    lines = Lines(io.BytesIO(content), file, None if reading.detected else reading.encoding, read_as)
    named: _Named | None = None
    head = delimited.stated_delimiter(lines.peek())
    if head:
        yield encode(lines.peek())
    for number, (_, fields) in enumerate(delimited.read_records(lines, reading.separator), 1):
        record = "".join(lines.record)
        text = record.rstrip("\r\n")
        end = record[len(text) :] or ("\n" if named is None else "")
        if named is None and any(map(str.strip, fields)) and number >= reading.heading_row:
            named = _Named(fields, reading)
            fields = named.headings if named.is_new else fields
            safe = [_without_formula(each, reading.separator) for each in fields]
            yield encode(f"{named.row(text if safe == fields else None, safe, reading.separator)}{end}")
        elif named is None or not any(map(str.strip, fields)) or 0 < reading.last_row < number:
            safe = [_without_formula(each, reading.separator) for each in fields]
            yield encode(record if safe == fields else f"{_line(safe, reading.separator, '')}{end}")
        else:
            name, corrected = name_of(number), reading.corrections.get(str(number), {})
            safe = [_without_formula(each, reading.separator) for each in fields]
            marked = {place: formulas.mark_formulas(text, reading.separator) for place, text in corrected.items()}
            cells, is_same = named.cells(safe, name, marked)
            is_same = is_same and safe == fields
            if is_same and not named.is_new:
                yield encode(record)
            else:
                yield encode(f"{named.row(text if is_same else None, cells, reading.separator)}{end}")


def rows_with_names(content: bytes, reading: Reading, file: str, name_of: NameOf) -> Iterator[Line]:
    """Yield all rows of a stored file, with the names and corrected cells of its rows of data. Without a column for
    names, one is added at the end.
    """
    named: _Named | None = None
    width = 0
    if reading.format == "workbook":
        # The row of headings can be shorter than another one.
        width = max((len(row.fields) for row in sheet.all_rows(content, reading, file)), default=0)
    for row in sheet.all_rows(content, reading, file):
        if named is None and row.number >= reading.heading_row:
            named = _Named([*row.fields, *[""] * (width - len(row.fields))], reading)
            row.fields[:] = named.headings
        elif named is not None and not 0 < reading.last_row < row.number:
            corrected = reading.corrections.get(str(row.number), {})
            row.fields[:] = named.cells(row.fields, name_of(row.number), corrected)[0]
        yield row


def workbook_with_names(content: bytes, reading: Reading, file: str, name_of: NameOf, to: BinaryIO) -> None:
    """Write all rows of a stored file with their names as an .xlsx workbook to the binary file ``to``. All cells are
    texts.
    """
    write_workbook(rows_with_names(content, reading, file, name_of), to, reading.sheet)


def own_workbook_with_names(
    original: bytes, content: bytes, reading: Reading, file: str, name_of: NameOf
) -> bytes | None:
    """Return the uploaded .xlsx workbook (``original``) with the names of its rows and its corrected cells, otherwise
    unchanged. Return None if that is not possible, as in :func:`.returned_workbook.with_cells`. ``content`` is the
    converted workbook.
    """
    named: _Named | None = None
    names: dict[int, str] = {}
    corrected: dict[int, dict[int, str]] = {}
    width = 0
    for row in sheet.all_rows(content, reading, file):
        width = max(width, len(row.fields))
        if named is None and row.number >= reading.heading_row:
            named = _Named(row.fields, reading)
            if named.is_new:
                names[row.number] = named.headings[-1]
        elif named is not None and not 0 < reading.last_row < row.number:
            cells = {int(at): text for at, text in reading.corrections.get(str(row.number), {}).items()}
            if cells := {at: text for at, text in cells.items() if text != "".join(row.fields[at : at + 1])}:
                corrected[row.number] = {at: _NO_XML.sub("\ufffd", text) for at, text in cells.items()}
            given = cells.get(named.place) or "".join(row.fields[named.place : named.place + 1])
            if (name := name_of(row.number)) and (named.is_new or replaces_name(given, name)):
                names[row.number] = name
    if named is None:
        return None
    used = sheet.sheet_of(content, reading)
    place = width if named.is_new else named.place
    texts = {number: {**corrected.get(number, {})} for number in {*names, *corrected}}
    for number, name in names.items():
        texts[number][place] = name
    return returned_workbook.with_cells(original, used.name if used else "", texts)


class ProblemColumns(NamedTuple):
    """The headings of the problem and of the suggestion in a table of refused rows. ``shown`` are in the language of
    the reader. ``known`` are those of all languages, in lower case: a table can be uploaded in another one.
    """

    shown: Sequence[str]
    known: Collection[tuple[str, ...]]


def refused_rows(
    content: bytes, reading: Reading, file: str, problems: Mapping[int, RowProblem], columns: ProblemColumns
) -> Iterator[Sequence[str]]:
    """Yield the headings and then the refused rows of a stored file, each with two more cells: the problem and a
    suggestion. ``problems`` has them by row number. The table can be corrected and uploaded as it is, because an upload
    ignores these two columns.
    """
    read = sheet.lines(content, reading, file, None, None)
    first = next(read)
    last = tuple(heading.casefold() for heading in first.fields[-2:])
    known = range(len(first.fields) - 2 if last in columns.known else len(first.fields))
    yield [*(first.fields[place] for place in known), *columns.shown]
    for row in read:
        if problem := problems.get(row.number):
            corrected = reading.corrections.get(str(row.number), {})
            cells = [corrected.get(str(place), row.fields[place]) for place in known]
            yield [*cells, *problem]


def text_lines(rows: Iterator[Sequence[str]], reading: Reading, content: bytes) -> Iterator[bytes]:
    """Yield rows as lines of CSV in the encoding and with the separator of a stored CSV file. For other files, they are
    UTF-8 with a byte order mark, and commas.
    """
    is_csv = reading.format == "csv"
    encode = _Encoder(content if is_csv else _UTF_8_MARK, reading, ReadAs(encoding="utf-8"))
    if is_csv and reading.encoding == "utf-8":
        encode = _Encoder(_UTF_8_MARK, reading, ReadAs(encoding="utf-8"))
    line = LineWriter(reading.separator if is_csv else ",")
    for row in rows:
        yield encode(line(row))


def write_workbook(rows: Iterator[Line], to: BinaryIO, title: str = "") -> None:
    """Write rows as an .xlsx workbook with one sheet, each at its row number, with text cells only. ``title`` is the
    name of the sheet, by default "Table".
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    page: Any = book.create_sheet(re.sub(r"[\\*?:/\[\]]", " ", title)[:31] or "Table")
    last = 0

    def cell(text: str, link: str | None) -> Any:
        made = WriteOnlyCell(page, value=_NO_XML.sub("\ufffd", text)[:32_767])
        # Otherwise a text that begins with "=" would be a formula, and "#N/A" an error.
        made.data_type, made.number_format = "s", "@"
        if link:
            made.hyperlink = link[:2_000]
        return made

    for row in rows:
        for _ in range(row.number - last - 1):
            page.append([])
        last = row.number
        links = row.extras.links if isinstance(row, sheet.RichLine) else {}
        page.append([cell(text, links.get(str(at))) if text else None for at, text in enumerate(row.fields)])
    book.save(to)


class _Named:
    """The columns of a table with its names: a new one at its end, or that of the names."""

    def __init__(self, headings: Sequence[str], reading: Reading) -> None:
        given = list(reading.columns)
        self.is_new = "identifier" not in given
        self.place = len(headings) if self.is_new else given.index("identifier")
        self._width = len(headings)
        self.headings = [*headings, _choose_unused(headings)] if self.is_new else list(headings)

    def cells(self, fields: Sequence[str], name: str | None, corrected: Mapping[str, str]) -> tuple[list[str], bool]:
        """Return the cells of a row with its name, and whether the cells of the file are unchanged."""
        cells = [*fields[: self._width], *[""] * (self._width - len(fields))]
        is_same = len(cells) == len(fields)
        for place, text in corrected.items():
            if int(place) < self._width and cells[int(place)] != text:
                cells[int(place)] = text
                is_same = False
        if self.is_new:
            return [*cells, name or ""], is_same
        if name and replaces_name(cells[self.place], name):
            cells[self.place] = name
            is_same = False
        return cells, is_same

    def row(self, text: str | None, cells: Sequence[str], separator: str) -> str:
        """Return a record without its end: the text of the file with a cell, or the cells written again."""
        if text is None:
            return _line(cells, separator, "")
        return f"{text}{separator}{_line(cells[-1:], separator, '')}" if self.is_new else text


def _choose_unused(headings: Sequence[str]) -> str:
    taken = {heading.strip().casefold() for heading in headings}
    number = 1
    while (heading := HEADING if number == 1 else f"{HEADING} {number}").casefold() in taken:
        number += 1
    return heading


def _line(cells: Sequence[str], separator: str, end: str) -> str:
    # The formulas in the cells are marked already.
    return end if list(cells) == [""] else LineWriter(separator, end=end, formulas="raw")(cells)


def _without_formula(cell: str, separator: str) -> str:
    """Return a cell of the file as it is, or with marks. An import removes white space around it before the marks."""
    safe = formulas.without_formula(cell, separator)
    return cell if safe == cell else formulas.without_formula(cell.strip(), separator)


class _Encoder:
    """Encodes texts as a file of text is encoded, with its byte order mark and its line ends."""

    def __init__(self, content: bytes, reading: Reading, read_as: ReadAs) -> None:
        self._read_as = read_as
        self._mark = b""
        name = reading.encoding
        if name == "utf-16":
            is_big = content.startswith(_UTF_16_BE)
            self._mark = _UTF_16_BE if is_big else codecs.BOM_UTF16_LE
            name = "utf-16-be" if is_big else "utf-16-le"
        elif content.startswith(_UTF_8_MARK):
            self._mark = _UTF_8_MARK
        self._name = name

    def __call__(self, text: str) -> bytes:
        mark, self._mark = self._mark, b""
        if self._read_as.line_end == "\r":
            text = text.replace("\n", "\r")
        return mark + text.encode(self._name, "replace")


def _json_with_names(content: bytes, reading: Reading, file: str, name_of: NameOf) -> Iterator[bytes]:
    keys = next(sheet.lines(content, reading, file, None, None)).fields
    key = keys[list(reading.columns).index("identifier")] if "identifier" in reading.columns else _choose_unused(keys)
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        text = line.rstrip()
        name = name_of(number)
        if not name or (key in keys and not replaces_name(str(json.loads(text).get(key) or ""), name)):
            yield line
        elif key in keys:
            # The value must not be there twice.
            yield f"{json.dumps({**json.loads(text), key: name}, ensure_ascii=False)}\n".encode()
        else:
            inner = text[:-1].rstrip()
            comma = b"" if inner.endswith(b"{") else b", "
            yield b"".join([inner, comma, json.dumps(key).encode(), b": ", json.dumps(name).encode(), b"}\n"])
