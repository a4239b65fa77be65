"""Read and write CSV and TSV line by line, with quotes as in spreadsheets. An error raises :class:`TableError` with
file, line and column. Memory depends on the longest line only.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterable, Iterator
from io import StringIO
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..names.errors import TableError
from .formulas import MARK, mark_formulas, may_have_formula, protect_for_import
from .text_stream import Lines, open_lines

_STATED = re.compile(r'"?sep=([^"\r\n])"?', re.IGNORECASE)

BYTE_ORDER_MARK = "\ufeff"
"""The first character of a file for people. Excel reads UTF-8 only in a file that begins with it."""

Formulas = Literal["marked", "kept", "raw"]
"""The treatment of texts in a file that a spreadsheet program would run as formulas."""


class Line(NamedTuple):
    """A record of a CSV or TSV file, and the number of its first line in the file, from 1."""

    number: int
    fields: list[str]


def read(file: str | Path | BinaryIO, delimiter: str = ",") -> Generator[Line, None, None]:
    r"""Yield the records of a CSV or TSV file with this separator, including the header, without empty lines. A binary
    file is in UTF-8. Raises :class:`TableError` with the code ``table-encoding``, ``table-spreadsheet``, ``table-nul``,
    ``table-syntax`` or ``table-too-long``, and OSError.

    >>> from io import BytesIO
    >>> list(read(BytesIO(b'identifier,target\r\nark:12345/x,"/a,b"\r\n')))
    [Line(number=1, fields=['identifier', 'target']), Line(number=2, fields=['ark:12345/x', '/a,b'])]
    """
    with open_lines(file) as lines:
        for number, fields in read_lines(lines, delimiter):
            yield Line(number, fields)


def read_lines(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each record from open lines (:func:`.text_stream.open_lines`), without empty
    lines and a first line such as ``sep=;``. Raises like :func:`read`.
    """
    return filter(itemgetter(1), read_records(lines, delimiter))


def read_records(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each record from open lines, without a first line such as ``sep=;``, which
    spreadsheet programs do not show. An empty line gives an empty list, because it is a row of the sheet.
    """
    if stated_delimiter(lines.peek()):
        lines.begin()
        next(lines)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.begin()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _syntax_error(lines, str(error), delimiter) from None
        yield lines.first, fields


def stated_delimiter(line: str) -> str | None:
    r"""Return the separator in a first line such as ``sep=;``, which is for spreadsheet programs, or None.

    >>> stated_delimiter("sep=;\r\n"), stated_delimiter("sep=\t"), stated_delimiter("ark;titel")
    (';', '\t', None)
    """
    match = _STATED.fullmatch(line.rstrip("\r\n"))
    return match[1] if match else None


class LineWriter:
    r"""The one writer of lines of CSV and TSV (RFC 4180). ``end`` is the end of a line.

    ``formulas`` is "marked" for a file that people open, which begins with :data:`BYTE_ORDER_MARK`: no text in it is a
    formula. "kept" is for programs. An import of both gives all values back. "raw" is for a format that no import
    reads.

    >>> LineWriter(";", end="\n")(["ark:12345/x", "=1+1", None, 7])
    "ark:12345/x;'=1+1;;7\n"
    """

    def __init__(self, delimiter: str = ",", *, end: str = "\r\n", formulas: Formulas = "marked") -> None:
        self._delimiter = delimiter
        self._formulas = formulas
        self._line = StringIO(newline="")
        self._write = csv.writer(self._line, delimiter=delimiter, lineterminator=end).writerow
        # The csv module quotes only those line breaks that are in the end of a line.
        self._other_breaks = {"\r", "\n"} - {*end}
        self._write_quoted = csv.writer(
            self._line, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL
        ).writerow

    def __call__(self, cells: Iterable[object]) -> str:
        """Return the line of a row. ``cells`` are its values; None is an empty cell."""
        row = list(cells)
        if self._formulas == "marked" and may_have_formula([cell for cell in row if isinstance(cell, str)]):
            row = [mark_formulas(cell, self._delimiter) if isinstance(cell, str) else cell for cell in row]
        line = self._format_row(row)
        if self._formulas == "kept" and (MARK in line or '="' in line):
            row = [protect_for_import(cell, self._delimiter) if isinstance(cell, str) else cell for cell in row]
            line = self._format_row(row)
        if any(each in line for each in self._other_breaks):
            return self._format_row(row, quoted=True)
        return line

    def _format_row(self, row: list[object], *, quoted: bool = False) -> str:
        self._line.seek(0)
        self._line.truncate()
        (self._write_quoted if quoted else self._write)(row)
        return self._line.getvalue()


def fields(text: str, delimiter: str) -> list[str]:
    """Split one line of CSV at a delimiter. Return an empty list if it is not valid CSV."""
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def _syntax_error(lines: Lines, reason: str, delimiter: str) -> TableError:
    """Return the error in a record that the csv module refused with the message ``reason``."""
    if "field larger than" in reason:
        return TableError(
            "table-too-long",
            Translatable(
                "a field has more than %(field_size_limit)s characters", field_size_limit=csv.field_size_limit()
            ),
            lines.file,
            lines.first,
        )
    # RFC 4180, section 2:  field = (escaped / non-escaped)      non-escaped = *TEXTDATA
    #                       escaped = DQUOTE *(TEXTDATA / COMMA / CR / LF / 2DQUOTE) DQUOTE
    # Extensions: an unquoted field can contain quotes, and a line can end with LF only.
    mark = re.escape(delimiter)
    one = re.compile(rf'"(?:[^"]|"")*+"|[^"{mark}\r\n][^{mark}\r\n]*+|')
    record = "".join(lines.record)
    place = 0
    while (field := one.match(record, place)) is not None:
        place = field.end()
        if record[place : place + 1] != delimiter:
            break
        place += 1
    if place == len(record) or record.startswith('"', place):
        message = Translatable("a quoted field has no closing quote")
        place = record.rfind('"', 0, place + 1) if place == len(record) else place
    elif record[place] == "\r":
        message = Translatable("a carriage return has no line feed after it")
    else:
        message = Translatable(
            "a quoted field has text after its closing quote; write a quote inside of a field as two quotes"
        )
    before = record[:place]
    line = lines.first + before.count("\n")
    return TableError("table-syntax", message, lines.file, line, place - (before.rfind("\n") + 1) + 1)
