"""CSV and TSV: tables of text, read line by line and exactly.

The two differ only in the separator of the fields: a field with a quote at its start, the separator or a line break in
it is quoted in both, as spreadsheets do. Anything that is not such a table raises :class:`TableError` with the file,
the line and the place, and nothing after it is read. A line costs memory, the table does not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..errors import TableError
from .text_stream import Lines, opened


class Line(NamedTuple):
    """One line of a table: the number of its (first) line in the file, from 1, and its fields."""

    number: int
    fields: list[str]


def read(file: str | Path | BinaryIO, delimiter: str = ",") -> Generator[Line, None, None]:
    r"""The lines of a file with this separator, the header among them; empty lines are left out.

    ``file`` is a path, or a binary file in UTF-8. Raises :class:`TableError` with the code ``table-encoding``,
    ``table-nul``, ``table-syntax`` or ``table-too-long``, and OSError where the file cannot be opened or read.

    >>> from io import BytesIO
    >>> list(read(BytesIO(b'identifier,target\r\nark:12345/x,"/a,b"\r\n')))
    [Line(number=1, fields=['identifier', 'target']), Line(number=2, fields=['ark:12345/x', '/a,b'])]
    """
    with opened(file) as lines:
        yield from read_lines(lines, delimiter)


def read_lines(lines: Lines, delimiter: str) -> Iterator[Line]:
    """The same of lines that are open already."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.begin()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _fault(lines, str(error), delimiter) from None
        if fields:
            yield Line(lines.first, fields)


def fields(text: str, delimiter: str) -> list[str]:
    """The fields of one line, as far as they can be read.

    >>> fields("identifier;target", ";"), fields("identifier;target", ",")
    (['identifier', 'target'], ['identifier;target'])
    """
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def _fault(lines: Lines, said: str, delimiter: str) -> TableError:
    """What is wrong with a record that the csv module could not read, for which it said ``said``."""
    if "field larger than" in said:
        return TableError("table-too-long", "a field is too long", lines.file, lines.first)
    # RFC 4180, section 2:  field = (escaped / non-escaped)      non-escaped = *TEXTDATA
    #                       escaped = DQUOTE *(TEXTDATA / COMMA / CR / LF / 2DQUOTE) DQUOTE
    # Beyond it a field without quotes at its start may hold quotes, and lines may end in LF alone.
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
        said = "a quote is opened and never closed"
        place = record.rfind('"', 0, place + 1) if place == len(record) else place
    elif record[place] == "\r":
        said = "a carriage return without a line feed"
    else:
        said = "a quoted field goes on after its closing quote"
    before = record[:place]
    line = lines.first + before.count("\n")
    return TableError("table-syntax", said, lines.file, line, place - (before.rfind("\n") + 1) + 1)
