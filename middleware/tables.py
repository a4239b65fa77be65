"""Tables of text as people keep them: CSV, read line by line and to the letter.

Anything that is not CSV in UTF-8 raises :class:`TableError` with the file, the line and the place, and nothing after it
is read. A line costs memory, the table does not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from . import texts
from .errors import TableError

MOST_OCTETS = 1_000_000
"""The longest line, with all the lines that a quoted field of it goes on over."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# RFC 4180, section 2:  field = (escaped / non-escaped)      non-escaped = *TEXTDATA
#                       escaped = DQUOTE *(TEXTDATA / COMMA / CR / LF / 2DQUOTE) DQUOTE
# Beyond it a field without quotes at its start may hold quotes, and lines may end in LF alone.
_FIELD = re.compile(r'"(?:[^"]|"")*+"|[^",\r\n][^,\r\n]*+|')


class Line(NamedTuple):
    """One line of a table: the number of its (first) line in the file, from 1, and its fields."""

    number: int
    fields: list[str]


def read_csv(file: str | Path | BinaryIO) -> Generator[Line, None, None]:
    r"""The lines of a CSV file, the header among them; empty lines are left out.

    ``file`` is a path, or a binary file. Raises :class:`TableError` with the code ``table-encoding``, ``table-nul``,
    ``table-syntax`` or ``table-too-long``, and OSError where the file cannot be opened or read.

    >>> from io import BytesIO
    >>> list(read_csv(BytesIO(b'identifier,target\r\nark:12345/x,"/a,b"\r\n')))
    [Line(number=1, fields=['identifier', 'target']), Line(number=2, fields=['ark:12345/x', '/a,b'])]
    """
    if isinstance(file, (str, Path)):
        with Path(file).open("rb") as stream:
            yield from _read(stream, str(file))
    else:
        yield from _read(file, name_of(file))


def name_of(file: str | Path | BinaryIO) -> str:
    """What a table is called in messages, in printable ASCII."""
    named = file if isinstance(file, (str, Path)) else getattr(file, "name", "-")
    return texts.shown(str(named), 200)


def _read(stream: BinaryIO, file: str) -> Iterator[Line]:
    lines = _Lines(stream, texts.shown(file, 200))
    reader = csv.reader(lines, strict=True)
    while True:
        lines.begin()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise lines.fault(str(error)) from None
        if fields:
            yield Line(lines.first, fields)


class _Lines:
    """The lines of a file as text, and those of the record that is being read."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        self._stream = stream
        self._file = file
        self._number = 0
        self._octets = 0
        self._record: list[str] = []

    def begin(self) -> None:
        """A new record begins with the next line."""
        self.first = self._number + 1
        self._octets = 0
        self._record.clear()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        octets = self._stream.readline(MOST_OCTETS + 1)
        if not octets:
            raise StopIteration
        self._number += 1
        self._octets += len(octets)
        if self._octets > MOST_OCTETS:
            unclosed = " or a quote in it is never closed" if self._record else ""
            raise TableError("table-too-long", f"the line is too long{unclosed}", self._file, self.first)
        if self._number == 1:
            octets = octets.removeprefix(_BYTE_ORDER_MARK)
        try:
            text = octets.decode("utf-8")
        except UnicodeDecodeError as error:
            column = len(octets[: error.start].decode("utf-8")) + 1
            said = f"the octet {octets[error.start]:02X} is not UTF-8"
            raise TableError("table-encoding", said, self._file, self._number, column) from None
        if "\0" in text:
            raise TableError("table-nul", "a NUL character", self._file, self._number, text.index("\0") + 1)
        self._record.append(text)
        return text

    def fault(self, said: str) -> TableError:
        """What is wrong with a record that the csv module could not read, for which it said ``said``."""
        if "field larger than" in said:
            return TableError("table-too-long", "a field is too long", self._file, self.first)
        record = "".join(self._record)
        place = 0
        while (field := _FIELD.match(record, place)) is not None:
            place = field.end()
            if record[place : place + 1] != ",":
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
        line = self.first + before.count("\n")
        return TableError("table-syntax", said, self._file, line, place - (before.rfind("\n") + 1) + 1)
