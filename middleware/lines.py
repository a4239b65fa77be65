"""The lines of a text in UTF-8, read as they come and never held whole, for every format that bindings are kept in.

What is no text in UTF-8 raises :class:`TableError` with the file, the line and the place, and nothing after it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from . import texts
from .errors import TableError

MOST_OCTETS = 1_000_000
"""The longest line, with all the lines that the same record goes on over."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def opened(file: str | Path | BinaryIO) -> Iterator[Lines]:
    """The lines of a path, or of a binary file, which stays open. Raises OSError where it cannot be opened."""
    if isinstance(file, (str, Path)):
        with Path(file).open("rb") as stream:
            yield Lines(stream, name_of(file))
    else:
        yield Lines(file, name_of(file))


def name_of(file: str | Path | BinaryIO) -> str:
    """What a table is called in messages, in printable ASCII."""
    named = file if isinstance(file, (str, Path)) else getattr(file, "name", "-")
    return texts.shown(str(named), 200)


class Lines:
    """The lines of a file as text, and those of the record that is being read."""

    def __init__(self, stream: BinaryIO, file: str) -> None:
        """``file`` is what the messages call it, in printable ASCII."""
        self._stream = stream
        self.file = file
        self._number = 0
        self._octets = 0
        self.first = 1
        self.record: list[str] = []

    def begin(self) -> None:
        """A new record begins with the next line."""
        self.first = self._number + 1
        self._octets = 0
        self.record.clear()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        octets = self._stream.readline(MOST_OCTETS + 1)
        if not octets:
            raise StopIteration
        self._number += 1
        self._octets += len(octets)
        if self._octets > MOST_OCTETS:
            unclosed = " or a quote in it is never closed" if self.record else ""
            raise TableError("table-too-long", f"the line is too long{unclosed}", self.file, self.first)
        if self._number == 1:
            octets = octets.removeprefix(_BYTE_ORDER_MARK)
        try:
            text = octets.decode("utf-8")
        except UnicodeDecodeError as error:
            column = len(octets[: error.start].decode("utf-8")) + 1
            said = f"the octet {octets[error.start]:02X} is not UTF-8"
            raise TableError("table-encoding", said, self.file, self._number, column) from None
        if "\0" in text:
            raise TableError("table-nul", "a NUL character", self.file, self._number, text.index("\0") + 1)
        self.record.append(text)
        return text
