"""Read the visible sheets of a workbook: .xlsx, .xls (:mod:`.old_workbook`) and .ods (:mod:`.open_document`). The
module :mod:`.workbook_process` runs this one as a program with limits of memory and processor time.

Each document of the archive can be hostile. The number of unpacked bytes, elements, rows and columns is limited, and
defusedxml refuses entities. Regular expressions of openpyxl take quadratic time in number formats, names and headers,
so only some parts are read. Formulas are never computed: a cell has the saved value, as its number format shows it.
"""

from __future__ import annotations

import ctypes
import io
import json
import math
import re
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date, datetime, time
from typing import Any

from ..bindings.names.errors import TableError
from ..identifiers.text.translatable import Translatable, pack
from .reading import MAX_COLUMNS, MAX_ROWS
from .sheet_rows import SheetRow, Sheets, WorkbookSheet, fault, is_error, link_of

MAX_UNPACKED = 600_000_000
"""The maximum size of all documents of a workbook, in bytes."""

MAX_CHARACTERS = 150_000_000
"""The maximum number of characters of all cells of a sheet. Many cells can refer to one long text."""

MAX_TAGS = 200_000
"""The maximum number of tags of a document, and of one that is read in parts before, between and after the parts.

The parts are the rows of a sheet, and the texts to which cells refer. An element of four bytes can take a kilobyte of
memory when it is read.
"""

MAX_TEXT_TAGS = 24_000_000
"""The maximum number of tags of the document with the different texts of all cells. Each text has four or more."""

_MAX_MEMBERS = 2000
_COST_OF_OPENING = 10_000
_MAX_FAULT = 100
_MAX_SHEETS = 50
_LAST_ROW = 1_048_576
_MAX_CELLS = MAX_ROWS * 16_384
# ECMA-376, part 1, section 22.9.2.19: a character that XML cannot contain, or an underscore before such a text.
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"

MAX_OTHER_ROWS = 1000
"""The maximum number of rows of a sheet besides those of data, such as title rows and totals."""

TOO_LARGE_TO_READ = Translatable(
    "the workbook takes too much time or memory to read; copy the table to a new workbook, or save it as CSV UTF-8"
)

_TOO_LARGE = Translatable("the workbook has more than %(number)s bytes when it is unpacked", number=MAX_UNPACKED)
_TOO_MANY = Translatable(
    "the workbook has too many elements, such as formats; copy the table to a new workbook, or save it as CSV UTF-8"
)


class _TooMuch(Exception):
    """The documents are too large, have too many elements, or are read again and again."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class _Document(io.BufferedIOBase):
    """A document of an archive of which at most :data:`MAX_TAGS` tags are read. Set ``tags``, the number that was read,
    to 0 after each part of a document that is read in parts. ``all_tags`` is the number in all parts.
    """

    def __init__(self, member: Any) -> None:
        self._member = member
        self.tags = self.all_tags = 0

    def read(self, size: int | None = -1, /) -> bytes:
        content = self._member.read(size)
        # XML has no tag without this byte, in all encodings that the parser of Python accepts.
        tags = content.count(b"<")
        self.tags += tags
        self.all_tags += tags
        if self.tags > MAX_TAGS:
            raise _TooMuch(_TOO_MANY)
        return content

    def close(self) -> None:
        self._member.close()
        super().close()


class _Archive(zipfile.ZipFile):
    """An archive with a limit for all bytes that are read. Python reads no more bytes than a member declares."""

    _left = 3 * MAX_UNPACKED

    def open(self, name: Any, mode: Any = "r", pwd: bytes | None = None, *, force_zip64: bool = False) -> Any:
        info = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        self._left -= info.file_size + _COST_OF_OPENING
        if self._left < 0:
            raise _TooMuch(_TOO_LARGE)
        return _Document(super().open(info, mode, pwd, force_zip64=force_zip64))


def sheets(content: bytes, file: str) -> Sheets:
    """Yield the visible sheets of a workbook with their rows. Empty rows are omitted. Dates become ISO 8601, and truth
    values become "true" and "false". Raises :class:`TableError` with the code ``table-workbook`` or ``table-size``,
    also while the rows are read.
    """
    number = 0
    with _errors(file):
        if content.startswith(_OLE):
            from . import old_workbook

            found = old_workbook.sheets(content)
        elif content[30:].startswith(_OPEN_DOCUMENT):
            from . import open_document

            found = open_document.sheets(_Archive(io.BytesIO(content)))
        else:
            found = map(_of_sheet, _visible_sheets(content))
    iterator = iter(found)
    while True:
        with _errors(file):
            pair = next(iterator, None)
        if pair is None or number >= _MAX_SHEETS:
            return
        number += 1
        sheet, read = pair
        yield sheet, _rows(read, sheet, file)


def _of_sheet(sheet: Any) -> tuple[WorkbookSheet, Iterator[SheetRow]]:
    found = WorkbookSheet(sheet.title)
    return found, _numbered_rows(sheet, found)


@contextmanager
def _errors(file: str) -> Iterator[None]:
    """Raise :class:`TableError` for each error of a reader."""
    try:
        yield
    except TableError:
        raise
    except _TooMuch as error:
        raise TableError("table-workbook", error.reason, file, 1) from None
    except MemoryError:
        raise TableError("table-workbook", TOO_LARGE_TO_READ, file, 1) from None
    except Exception as error:
        message = Translatable("the workbook is damaged, has a password, or is not an .xlsx, .xls or .ods file")
        raise TableError("table-workbook", message, file, 1) from error


def _visible_sheets(content: bytes) -> list[Any]:
    with _Archive(io.BytesIO(content)) as checked:
        members = checked.infolist()
        if len(members) > _MAX_MEMBERS or sum(each.file_size for each in members) > MAX_UNPACKED:
            raise _TooMuch(_TOO_LARGE)
    # Importing it takes a tenth of a second, and only an upload of a workbook needs it.
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet
    from openpyxl.xml.constants import SHARED_STRINGS

    class WholeWorksheet(ReadOnlyWorksheet):
        def _get_size(self) -> None:
            """Do not read the size that the sheet states. It can be wrong, and without it all rows would be read."""

    class WorkbookReader(ExcelReader):
        archive: Any
        parser: Any
        wb: Any

        def read(self) -> None:
            self.read_manifest()
            self.read_strings()
            self.read_workbook()
            self.wb.formats_of_cells, self.wb.struck_styles = _styles(self.archive)
            self.read_worksheets()

        def read_strings(self) -> None:
            if (part := self.package.find(SHARED_STRINGS)) is not None:
                with self.archive.open(part.PartName[1:]) as source:
                    self.shared_strings = list(_texts(source))

        def read_worksheets(self) -> None:
            for each, relation in self.parser.find_sheets():
                if relation.target not in self.valid_files:
                    continue
                if "chartsheet" in relation.Type:
                    self.read_chartsheet(each, relation)
                    continue
                sheet = WholeWorksheet(self.wb, each.name, relation.target, self.shared_strings)
                sheet.sheet_state = each.state
                self.wb._sheets.append(sheet)

    reader: Any = WorkbookReader(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    reader.archive = _Archive(io.BytesIO(content))
    reader.read()
    known = reader.wb.worksheets
    # A user does not see a hidden sheet, which often has old values.
    return [each for each in known if each.sheet_state == "visible"] or known[:1]


def _styles(archive: _Archive) -> tuple[list[str], set[int]]:
    """Return the number format of each style of cells, and the numbers of the styles with a line through the text."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS
    from openpyxl.xml.constants import ARC_STYLE
    from openpyxl.xml.functions import iterparse

    if ARC_STYLE not in archive.namelist():
        return [], set()
    codes: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
    styles: list[str] = []
    fonts: list[str] = []
    struck: list[bool] = []
    part = ""
    with archive.open(ARC_STYLE) as source:
        for event, element in iterparse(source, ("start", "end")):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                part = name if name in ("numFmts", "cellXfs", "fonts") else part
                continue
            if name == "numFmt" and part == "numFmts":
                codes[element.get("numFmtId", "")] = element.get("formatCode", "")
            elif name == "xf" and part == "cellXfs":
                styles.append(element.get("numFmtId", "0"))
                fonts.append(element.get("fontId", "0"))
            elif name == "font" and part == "fonts":
                lines = [each for each in element if each.tag.rpartition("}")[2] == "strike"]
                struck.append(any(each.get("val", "1") not in ("0", "false") for each in lines))
            elif name == part:
                part = ""
            if part != "fonts" or name == "font":  # a font is read with its parts
                element.clear()
    lined = {f"{place}" for place, each in enumerate(struck) if each}
    return [codes.get(number, "") for number in styles], {at for at, font in enumerate(fonts) if font in lined}


def _texts(source: _Document) -> Iterator[str]:
    """Yield the texts that cells refer to. openpyxl limits none of them, and changes those with "x005F_"."""
    from openpyxl.cell.text import Text
    from openpyxl.xml.constants import SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    for _, element in iterparse(source):
        if element.tag == f"{{{SHEET_MAIN_NS}}}si":
            text: Any = Text.from_tree(element)
            yield text.content
            element.clear()
            source.tags = 0
            if source.all_tags > MAX_TEXT_TAGS:
                raise _TooMuch(_TOO_MANY)


def _rows(read: Iterator[SheetRow], found: WorkbookSheet, file: str) -> Iterator[SheetRow]:
    """Yield the rows with a value, without empty cells at their ends, and count them."""
    cells = length = 0
    while True:
        with _errors(file):
            row = next(read, None)
        if row is None:
            return
        number, fields = row.number, row.fields
        cells += len(fields)
        _require_few(number, cells)
        if any(fields[MAX_COLUMNS:]):
            raise TableError(
                "table-size", Translatable("the row has more than %(number)s columns", number=MAX_COLUMNS), file, number
            )
        del fields[MAX_COLUMNS:]
        while fields and not fields[-1] and len(fields) - 1 not in row.faults:
            fields.pop()
        if not fields:
            continue
        found.rows += 1
        found.hidden += row.hidden
        found.struck += row.struck
        length += sum(map(len, fields))
        if length > MAX_CHARACTERS:
            message = Translatable("the cells have more than %(number)s characters", number=MAX_CHARACTERS)
            raise TableError("table-size", message, file, number)
        if found.rows > MAX_ROWS + MAX_OTHER_ROWS:
            raise TableError(
                "table-size", Translatable("the sheet has more than %(number)s rows", number=MAX_ROWS), file, number
            )
        yield row


def _require_few(number: int, cells: int) -> None:
    if number > _LAST_ROW or cells > _MAX_CELLS:
        message = Translatable("the sheet has too many empty rows and columns; delete those below and beside the table")
        raise TableError("table-size", message, "", number)


def _numbered_rows(sheet: Any, found: WorkbookSheet) -> Iterator[SheetRow]:
    """Yield the rows of a sheet of .xlsx, and fill ``found``. A cell without a known value is empty or text."""
    from openpyxl.worksheet._reader import FORMULA_TAG, HYPERLINK_TAG, MERGE_TAG, ROW_TAG, VALUE_TAG, WorkSheetParser
    from openpyxl.worksheet.hyperlink import HyperlinkList
    from openpyxl.worksheet.merge import MergeCells
    from openpyxl.xml.functions import iterparse

    from . import number_formats

    class Parser(WorkSheetParser):
        faults: dict[int, str]
        notes: dict[int, str]
        links: dict[int, str]
        hidden: bool
        filled: int
        struck: int

        def parse(self) -> Any:
            for _, element in iterparse(self.source):
                if element.tag == ROW_TAG:
                    yield self.parse_row(element)
                elif element.tag == HYPERLINK_TAG:
                    links: Any = HyperlinkList.from_tree(element)
                    self.hyperlinks = links
                elif element.tag == MERGE_TAG:
                    merged: Any = MergeCells.from_tree(element)
                    self.merged_cells = merged
                else:
                    continue
                element.clear()

        def parse_row(self, row: Any) -> Any:
            self.faults, self.notes, self.links = {}, {}, {}
            self.hidden = row.get("hidden") in ("1", "true")
            self.filled = self.struck = 0
            return super().parse_row(row)

        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell = super().parse_cell(element)
            value, place = cell["value"], cell["column"] - 1
            formula = element.find(FORMULA_TAG)
            if formula is not None and (address := link_of(formula.text)):
                self.links[place] = address
            if value is None:
                # The saved result of a formula can be an empty text.
                is_text = element.get("t") == "str" and element.find(VALUE_TAG) is not None
                if not is_text and formula is not None:
                    self.faults[place] = fault("")
            elif cell["data_type"] == "e" or (isinstance(value, str) and is_error(value)):
                self.faults[place] = fault(str(value)[:_MAX_FAULT])
                cell["value"] = None
            elif isinstance(value, int | float) and not isinstance(value, bool):
                shown = number_formats.number(value, format_of(cell), from_1904=from_1904)
                cell["value"] = shown.text
                if shown.note:
                    self.notes[place] = shown.note
            elif isinstance(value, str) and "@" in (code := format_of(cell)) and code != "@":
                cell["value"] = number_formats.text(value, code)
            if cell["value"] not in (None, ""):
                self.filled += 1
                self.struck += int(cell["style_id"]) in struck_styles
            return cell

    book, last, cells = sheet.parent, 0, 0
    from_1904 = book.epoch.year == 1904
    formats: list[str] = book.formats_of_cells
    struck_styles: set[int] = book.struck_styles

    def format_of(cell: dict[str, Any]) -> str:
        # A cell can refer to any number.
        style = int(cell["style_id"])
        return formats[style] if 0 <= style < len(formats) else ""

    with sheet._get_source() as source:
        parser = Parser(source, sheet._shared_strings, data_only=True, epoch=book.epoch)
        for number, row in parser.parse():
            # Skip a row that is repeated or out of order, as openpyxl does.
            if number > last:
                last, source.tags = number, 0
                values = sheet._get_row(row, values_only=True)
                # Empty rows do not count as rows: one formatted cell can make a million of them.
                cells += len(values)
                _require_few(number, cells)
                if not (_has_text(values) or parser.faults):
                    continue
                if _has_text(values[MAX_COLUMNS:]):
                    raise TableError(
                        "table-size",
                        Translatable("the row has more than %(number)s columns", number=MAX_COLUMNS),
                        "",
                        number,
                    )
                texts = [_text(value) for value in values[:MAX_COLUMNS]]
                struck = 0 < parser.filled == parser.struck
                yield SheetRow(number, texts, parser.faults, parser.notes, parser.links, parser.hidden, struck)
    found.merged.extend(
        (each.min_row, each.max_row, each.min_col, each.max_col)
        for each in getattr(parser.merged_cells, "mergeCell", ())
    )
    found.links.update(_links(sheet, parser.hyperlinks.hyperlink))


def _links(sheet: Any, links: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield the ranges of links with their addresses. A link to a place of the workbook has none."""
    from openpyxl.packaging.relationship import get_dependents, get_rels_path

    if not links:
        return
    archive, place = sheet.parent._archive, get_rels_path(sheet._worksheet_path)
    if place not in archive.namelist():
        return
    targets = {each.id: each.Target for each in get_dependents(archive, place) if each.TargetMode == "External"}
    for each in links:
        if address := targets.get(each.id):
            yield str(each.ref), f"{address}#{each.location}" if each.location else str(address)


def _has_text(cells: Sequence[object]) -> bool:
    # A few bytes make a row with 16,384 empty cells. Counting them is much faster than converting each.
    return cells.count(None) < len(cells) and any(_text(value) for value in cells if value is not None)


def _text(value: object) -> str:
    r"""Return the value of a cell as text.

    >>> _text("2019"), _text(True), _text(datetime(2019, 5, 1)), _text(None)
    ('2019', 'true', '2019-05-01', '')
    >>> _text("one_x000D_\ntwo_x005F_x000D_")
    'one\r\ntwo_x000D_'
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return _ESCAPE.sub(_unescape, str(value)).strip()


def _unescape(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    # Half of a surrogate pair is not text.
    return escape[0] if 0xD800 <= code <= 0xDFFF else chr(code)


# The program ----------------------------------------------------------------------------------------------------------

_PR_SET_PDEATHSIG = 1

MEMORY = 512 * 2**20
"""The maximum size of the memory of the process in bytes, besides :data:`MEMORY_A_BYTE` for each byte of the file."""

MEMORY_A_BYTE = 20
"""The bytes of memory for each byte of the file: each different text of a cell is kept until all rows are read."""

FIRST_SECONDS = 4
"""The maximum processor time in seconds until the first row, besides :data:`SECONDS_A_MEGABYTE`."""

SECONDS_A_MEGABYTE = 5
"""The further seconds for each megabyte of the file, in which the texts of its cells are read."""

ROWS_A_SECOND = 1000
"""The rows for which one further second is allowed."""


def main() -> None:
    """Read a workbook from standard input. Write the rows of each sheet and then the sheet, as lines of JSON. The last
    line is an error if it has the member "code".
    """
    _end_with_parent()
    content, out = sys.stdin.buffer.read(), sys.stdout.buffer
    # Load it before the processor time is limited.
    import openpyxl  # noqa: F401

    first = int(sys.argv[1]) + SECONDS_A_MEGABYTE * (len(content) // 1_000_000)
    allow_seconds = _limit_memory(first, MEMORY + MEMORY_A_BYTE * len(content))
    number = 0
    try:
        for place, (sheet, read) in enumerate(sheets(content, "")):
            for row in read:
                number += 1
                out.write(_line(row.as_list(place)))
                if number % ROWS_A_SECOND == 0:
                    allow_seconds(first + number // ROWS_A_SECOND)
            out.write(_line(asdict(sheet)))
    except TableError as error:
        refused = {"code": error.code, "message": pack(error.message), "line": error.line, "column": error.column}
        out.write(_line(refused))


def _line(value: object) -> bytes:
    # Escapes of ASCII would take six times as many bytes as the cells have characters.
    return f"{json.dumps(value, ensure_ascii=False)}\n".encode("utf-8", "surrogatepass")


def _end_with_parent() -> None:
    """Let the kernel of Linux end this process when its parent ends. Elsewhere its limits of time end it."""
    if sys.platform == "linux":
        # https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit_memory(first: int, memory: int) -> Callable[[int], None]:
    """Limit the memory in bytes and the processor time of this process, and return a function that allows more seconds.
    The kernel ends a process that takes longer, also in a regular expression.
    """
    try:
        import resource
    except ImportError:
        # Windows. The other process ends this one after a time.
        return lambda seconds: None
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    used = resource.getrusage(resource.RUSAGE_SELF)
    begun = math.ceil(used.ru_utime + used.ru_stime)

    def allow(seconds: int) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (begun + seconds, resource.RLIM_INFINITY))

    allow(first)
    return allow


if __name__ == "__main__":
    main()
