"""Read an uploaded file as lines of cells, before its columns are known.

The first line has the headings. A workbook is converted when it is uploaded, so only :func:`stored` reads its format.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice

from ...bindings.names.errors import TableError
from ...bindings.tables import delimited, text_tables, wrong_files
from ...bindings.tables.columns import Columns, Row
from ...bindings.tables.delimited import Line
from ...bindings.tables.text_stream import Lines, ReadAs
from . import workbook_process
from .model import MAX_COLUMNS, MAX_ROWS, Format, Reading

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "windows-1252": "Windows-1252 (Western Europe)",
    "windows-1250": "Windows-1250 (Central Europe)",
    "windows-1251": "Windows-1251 (Cyrillic)",
    "windows-1253": "Windows-1253 (Greek)",
    "windows-1254": "Windows-1254 (Turkish)",
    "windows-1255": "Windows-1255 (Hebrew)",
    "windows-1256": "Windows-1256 (Arabic)",
    "windows-1257": "Windows-1257 (Baltic)",
    "iso-8859-15": "ISO 8859-15 (Western Europe)",
    "mac-roman": "Mac Roman",
}
"""The encodings that a user can select, with their labels."""

SEPARATORS = {",": "Comma ,", ";": "Semicolon ;", "\t": "Tab", "|": "Vertical line |"}
"""The separators that a user can select, with their labels."""

_ZIP = b"PK\x03\x04"
_JSON_LINES = (".jsonl", ".ndjson")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAMPLE = 65536


def stored(content: bytes, file: str) -> tuple[bytes, Reading, int]:
    """Return the content to store for an uploaded file, how it is read, and the number of its rows.

    A workbook is converted: each line of the result is JSON, the number of a row and its cells. ``file`` is the name of
    the file for messages; its ending selects JSON Lines. Raises :class:`TableError`.
    """
    # A damaged workbook can look like another archive.
    wrong_files.refuse(content, file, readable=("xlsx", "archive") if file.lower().endswith(".xlsx") else ("xlsx",))
    if content.startswith(_ZIP):
        rows = workbook_process.read(content, file)
        converted = "".join(f"{json.dumps([row.number, row.fields])}\n" for row in rows)
        return converted.encode(), Reading(format="xlsx", encoding="utf-8", separator=""), max(len(rows) - 1, 0)
    encoding = _encoding(content)
    # A line of UTF-16 ends with LF and a NUL byte, so LF counts lines there too.
    ends = content.count(b"\n") + (not content.endswith((b"\n", b"\n\0")))
    format: Format = "jsonl" if file.lower().endswith(_JSON_LINES) else "csv"
    separator = "" if format == "jsonl" else _separator(content, encoding)
    reading = Reading(format=format, encoding=encoding, separator=separator, detected=True)
    rows = max(ends - (format == "csv"), 0)
    if rows > MAX_ROWS:
        # Cells can have line breaks, and rows can be empty. Counting these takes longer.
        rows = sum(1 for _ in lines(content, reading, file)) - 1
    return content, reading, rows


def lines(content: bytes, reading: Reading, file: str, read_as: ReadAs | None = None) -> Iterator[Line]:
    """Yield the headings and the rows of a stored file. Empty rows are omitted; each row has all columns.

    ``read_as`` receives whether the end of the file is missing. Raises :class:`TableError`.
    """
    match reading.format:
        case "xlsx":
            read = (Line(number, fields) for number, fields in map(json.loads, content.splitlines()))
        case "jsonl":
            read = _json_lines(content, reading, file)
        case "csv":
            read = delimited.read_lines(Lines(io.BytesIO(content), file, _given(reading), read_as), reading.separator)
    headings: Sequence[str] | None = None
    filled = 0
    for number, fields in read:
        cells = [field.strip() for field in fields]
        if not any(cells):
            continue
        filled += 1
        if filled > MAX_ROWS + 1:
            raise TableError("table-size", f"the file has more than {MAX_ROWS:,} rows", file, number)
        if headings is None:
            if len(cells) > MAX_COLUMNS:
                message = f"the header has {len(cells):,} columns; at most {MAX_COLUMNS} are allowed"
                raise TableError("table-size", message, file, number)
            headings = cells
        elif len(cells) < len(headings) or any(cells[len(headings) :]):
            raise text_tables.wrong_number(headings, len(cells), file, number)
        yield Line(number, cells[: len(headings)])
    if headings is None:
        raise TableError("table-empty", "the file is empty", file, 1)


def rows(content: bytes, reading: Reading, file: str, read_as: ReadAs) -> Iterator[Row]:
    """Yield the rows of a stored file with the cells of columns that are not ignored. Raises :class:`TableError`."""
    wanted = [(place, column) for place, column in enumerate(reading.columns) if column]
    for number, cells in islice(lines(content, reading, file, read_as), 1, None):
        yield Row(number, {column: cells[place] for place, column in wanted})


def _given(reading: Reading) -> str | None:
    """Return the encoding that the user selected, or None: then the reader detects it, and refuses two in one file."""
    return None if reading.detected else reading.encoding


def _encoding(content: bytes) -> str:
    """Return the encoding of a file: UTF-16 by its byte order mark, UTF-8 if all bytes are, else Windows-1252."""
    if content.startswith(_UTF_16):
        return "utf-16"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _separator(content: bytes, encoding: str) -> str:
    """Return the separator that finds the most fields in the first line with text, preferably a comma."""
    text = content[:_SAMPLE].decode(encoding, "replace")
    header = next((line for line in text.splitlines() if line.strip(" \t,;|\"'\ufeff")), "")
    return max(SEPARATORS, key=lambda separator: len(delimited.fields(header, separator)))


class _AsGiven(Columns):
    """Columns that keep the keys of JSON Lines as they are."""

    def find(self, name: str) -> str:
        return name


def _json_lines(content: bytes, reading: Reading, file: str) -> Iterator[Line]:
    """Yield the keys of all objects as headings, then the objects."""
    named = _Named(content, file)
    reader = text_tables.Reader(_given(reading), None, _AsGiven())
    keys: dict[str, None] = {}
    with closing(text_tables.read_rows(named, "jsonl", reader)) as read:
        for row in read:
            keys.update(dict.fromkeys(row.cells))
            if len(keys) > MAX_COLUMNS:
                message = f"the objects have more than {MAX_COLUMNS} different keys"
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
