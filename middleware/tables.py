"""Tables of text as people keep them: CSV and TSV, read line by line and to the letter.

The two differ in what stands between fields and in nothing else: a field with a quote at its start, the separator or a
line break in it is quoted in both, as spreadsheets do. Anything that is no such table in UTF-8 raises
:class:`TableError` with the file, the line and the place, and nothing after it is read. A line costs memory, the table
does not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .errors import TableError
from .lines import Lines, opened


class Line(NamedTuple):
    """One line of a table: the number of its (first) line in the file, from 1, and its fields."""

    number: int
    fields: list[str]


class _Kind(NamedTuple):
    delimiter: str
    field: re.Pattern[str]


def _kind(delimiter: str) -> _Kind:
    # RFC 4180, section 2:  field = (escaped / non-escaped)      non-escaped = *TEXTDATA
    #                       escaped = DQUOTE *(TEXTDATA / COMMA / CR / LF / 2DQUOTE) DQUOTE
    # Beyond it a field without quotes at its start may hold quotes, and lines may end in LF alone.
    return _Kind(delimiter, re.compile(rf'"(?:[^"]|"")*+"|[^"{delimiter}\r\n][^{delimiter}\r\n]*+|'))


_CSV, _TSV = _kind(","), _kind("\t")


def read_csv(file: str | Path | BinaryIO) -> Generator[Line, None, None]:
    r"""The lines of a CSV file, the header among them; empty lines are left out.

    ``file`` is a path, or a binary file. Raises :class:`TableError` with the code ``table-encoding``, ``table-nul``,
    ``table-syntax`` or ``table-too-long``, and OSError where the file cannot be opened or read.

    >>> from io import BytesIO
    >>> list(read_csv(BytesIO(b'identifier,target\r\nark:12345/x,"/a,b"\r\n')))
    [Line(number=1, fields=['identifier', 'target']), Line(number=2, fields=['ark:12345/x', '/a,b'])]
    """
    return _read(file, _CSV)


def read_tsv(file: str | Path | BinaryIO) -> Generator[Line, None, None]:
    """The lines of a TSV file: as :func:`read_csv`, with tabs between the fields."""
    return _read(file, _TSV)


def _read(file: str | Path | BinaryIO, kind: _Kind) -> Generator[Line, None, None]:
    with opened(file) as lines:
        reader = csv.reader(lines, delimiter=kind.delimiter, strict=True)
        while True:
            lines.begin()
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise _fault(lines, str(error), kind) from None
            if fields:
                yield Line(lines.first, fields)


def _fault(lines: Lines, said: str, kind: _Kind) -> TableError:
    """What is wrong with a record that the csv module could not read, for which it said ``said``."""
    if "field larger than" in said:
        return TableError("table-too-long", "a field is too long", lines.file, lines.first)
    record = "".join(lines.record)
    place = 0
    while (field := kind.field.match(record, place)) is not None:
        place = field.end()
        if record[place : place + 1] != kind.delimiter:
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
