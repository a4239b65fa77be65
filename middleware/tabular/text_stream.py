"""The lines of a text file, read one by one, for every format of bindings.

The encoding is UTF-8 unless the caller asks for another one, or asks to detect it. A text in the wrong encoding raises
:class:`TableError` with the file, the line and the place, and nothing after it is read.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ..bindings import validation
from ..errors import BindingError, TableError

MOST_OCTETS = 1_000_000
"""The longest line, with all the lines that the same record goes on over."""

_MARK = codecs.BOM_UTF8
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GUESS = "windows-1252"


@dataclass(slots=True)
class ReadAs:
    """How a file was read. ``guessed``: nothing in the file names the encoding, and it is not UTF-8.

    ``delimiter`` is the separator of a CSV or TSV file, ``columns`` are the columns that were read and ``ignored`` the
    columns that were left out. ``unfinished``: the last line has no line end.
    """

    encoding: str = "UTF-8"
    guessed: bool = False
    delimiter: str | None = None
    columns: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unfinished: bool = False


@contextmanager
def opened(
    file: str | Path | BinaryIO, encoding: str | None = "utf-8", read_as: ReadAs | None = None
) -> Iterator[Lines]:
    """The lines of a path, or of a binary file, which stays open. Raises OSError where it cannot be opened.

    ``encoding`` is None to detect it: UTF-16 by its byte order mark, UTF-8 if the lines decode, else Windows-1252.
    """
    if isinstance(file, (str, Path)):
        with Path(file).open("rb") as stream:
            yield Lines(stream, name_of(file), encoding, read_as)
    else:
        yield Lines(file, name_of(file), encoding, read_as)


def name_of(file: str | Path | BinaryIO) -> str:
    """What a table is called in messages, in printable ASCII."""
    named = file if isinstance(file, (str, Path)) else getattr(file, "name", "-")
    return validation.shown(str(named), 200)


def check_encoding(encoding: str) -> str:
    """The name that Python has for an encoding. Raises :class:`BindingError` for one that it does not know.

    >>> check_encoding("Latin-1"), check_encoding("CP1252")
    ('iso8859-1', 'cp1252')
    """
    try:
        b"a\0\0\0".decode(encoding, "replace")
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError):
        said = f"there is no encoding {validation.shown(encoding)}"
        raise BindingError("encoding-unknown", said) from None


class Lines:
    """The lines of a file as text, and those of the record that is being read."""

    def __init__(
        self, stream: BinaryIO, file: str, encoding: str | None = "utf-8", read_as: ReadAs | None = None
    ) -> None:
        """``file`` is what the messages call it, in printable ASCII; ``encoding`` as for :func:`opened`."""
        self._stream = stream
        self.file = file
        self.read_as = ReadAs() if read_as is None else read_as
        self._detecting = encoding is None
        self._decided = False
        self._guessed_at = 0
        self._decoded: Iterator[str] | None = None
        self._ahead: deque[str] = deque()
        self._last_read = 0
        self._number = 0
        self._octets = 0
        self.first = 1
        self.record: list[str] = []
        name = "utf-8" if encoding is None else check_encoding(encoding)
        if name not in ("utf-8", "utf-8-sig"):
            self.read_as.encoding = name
            self._decoded = _decode(b"", stream, name)

    def begin(self) -> None:
        """A new record begins with the next line."""
        self.first = self._number + 1
        self._octets = 0
        self.record.clear()

    def peek(self) -> str:
        """The next line that holds more than separators; it and those before it are still to be read. "" at the end."""
        while text := self._read():
            self._ahead.append(text)
            if text.strip(" \t\r\n\xa0,;\"'"):
                break
        return text

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        text = self._ahead.popleft() if self._ahead else self._read()
        if not text:
            raise StopIteration
        self._number += 1
        self.record.append(text)
        return text

    def _read(self) -> str:
        """The next line of the file, "" at the end."""
        text = self._read_octets() if self._decoded is None else self._read_decoded(self._decoded)
        if "\0" in text:
            said = "a NUL character: the file is not text, or it is UTF-16 without a byte order mark"
            raise TableError("table-nul", said, self.file, self._last_read, text.index("\0") + 1)
        if text and not text.endswith("\n"):
            self.read_as.unfinished = True
        return text

    def _read_octets(self) -> str:
        octets = self._stream.readline(MOST_OCTETS + 1)
        if self._last_read == 0 and self._detecting and octets.startswith(_UTF_16_MARKS):
            self.read_as.encoding = "UTF-16"
            self._decoded = _decode(octets, self._stream, "utf-16")
            return self._read_decoded(self._decoded)
        self._require_length(len(octets))
        self._last_read += 1
        if self._last_read == 1 and octets.startswith(_MARK):
            self._decided = True
            octets = octets[len(_MARK) :]
        return self._text(octets)

    def _read_decoded(self, decoded: Iterator[str]) -> str:
        try:
            text = next(decoded, "")
        except UnicodeError:
            said = f"octets at or after this line are not {self.read_as.encoding}"
            raise TableError("table-encoding", said, self.file, self._last_read + 1) from None
        self._require_length(len(text))
        self._last_read += 1
        return text.removeprefix("\ufeff") if self._last_read == 1 else text

    def _require_length(self, octets: int) -> None:
        self._octets += octets
        if self._octets > MOST_OCTETS:
            unclosed = " or a quote in it is never closed" if self.record else ""
            raise TableError("table-too-long", f"the line is too long{unclosed}", self.file, self.first)

    def _text(self, octets: bytes) -> str:
        """The text of a line in UTF-8; or in Windows-1252, where no line before it was in UTF-8 beyond ASCII.

        Every line beyond ASCII has to agree with the first of them: a mixed file is refused, never guessed at.
        """
        try:
            text = octets.decode()
        except UnicodeDecodeError as error:
            if self._detecting and not self._decided:
                self._decided = True
                self._guessed_at = self._last_read
                self.read_as.encoding, self.read_as.guessed = "Windows-1252", True
            if self._guessed_at:
                return self._guess(octets)
            said = f"the octet {octets[error.start]:02X} is not UTF-8"
            raise self._wrong_octet(said, octets[: error.start].decode()) from None
        if not text.isascii() and self._detecting:
            if self._guessed_at:
                said = f"this line is UTF-8, and line {self._guessed_at} is not"
                raise TableError("table-encoding", f"{said}; {_ADVICE}", self.file, self._last_read)
            self._decided = True
        return text

    def _guess(self, octets: bytes) -> str:
        try:
            return octets.decode(_GUESS)
        except UnicodeDecodeError as error:
            said = f"the octet {octets[error.start]:02X} is neither UTF-8 nor Windows-1252"
            raise self._wrong_octet(said, octets[: error.start].decode(_GUESS)) from None

    def _wrong_octet(self, said: str, before: str) -> TableError:
        advice = f"; {_ADVICE}" if self._detecting else ""
        return TableError("table-encoding", said + advice, self.file, self._last_read, len(before) + 1)


_ADVICE = "give the encoding of the file (--encoding)"


def _decode(octets: bytes, stream: BinaryIO, encoding: str) -> Iterator[str]:
    """The lines of a stream that begins with these octets. Raises UnicodeError."""
    decoder = codecs.getincrementaldecoder(encoding)()
    pieces: list[str] = []
    length = 0
    while True:
        # A "line" of octets, which may end anywhere within a character: a piece of some size is all that is wanted.
        octets = octets or stream.readline(MOST_OCTETS)
        *lines, rest = decoder.decode(octets, final=not octets).split("\n")
        for line in lines:
            yield f"{''.join(pieces)}{line}\n"
            pieces.clear()
            length = 0
        pieces.append(rest)
        length += len(rest)
        if not octets or length > MOST_OCTETS:
            yield "".join(pieces)
            return
        octets = b""
