"""Read the lines of a text file one by one, for every format of bindings. The encoding is UTF-8, unless the caller sets
another one or requests its detection. A wrong encoding raises :class:`TableError` with file, line and column.
"""

from __future__ import annotations

import codecs
import io
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from ...identifiers.text.translatable import Translatable
from ..names import validation
from ..names.errors import BindingError, TableError
from . import wrong_files

MAX_OCTETS = 1_000_000
"""The maximum length of a record in bytes, including all of its lines."""

_MARK = codecs.BOM_UTF8
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GUESS = "windows-1252"
_BLOCK = 65536


@dataclass(slots=True)
class ReadAs:
    r"""The properties of a table file that were detected while it was read.

    - ``guessed``: the file is not UTF-8, and nothing in it identifies its encoding.
    - ``columns``, ``ignored``: the columns that were read and the headings that were ignored.
    - ``unfinished``: the last line has no line end.
    - ``line_end``: "\r" for a file whose lines end in a carriage return alone; else "\n", also after a carriage return.
    """

    encoding: str = "UTF-8"
    guessed: bool = False
    delimiter: str | None = None
    columns: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unfinished: bool = False
    line_end: str = "\n"


@contextmanager
def open_lines(
    file: str | Path | BinaryIO, encoding: str | None = "utf-8", read_as: ReadAs | None = None
) -> Iterator[Lines]:
    """Open a text file, and yield its lines. A binary file stays open. ``encoding`` is None to detect it: UTF-16 by its
    byte order mark, UTF-8 if the lines are valid, else Windows-1252. ``read_as`` receives the properties of the file.
    Raises OSError if it cannot be opened.
    """
    if isinstance(file, (str, Path)):
        with Path(file).open("rb") as stream:
            yield Lines(stream, name_of(file), encoding, read_as)
    else:
        yield Lines(file, name_of(file), encoding, read_as)


def name_of(file: str | Path | BinaryIO) -> str:
    """Return the name of a file for messages, in printable ASCII. A file object without a name is "-"."""
    named = file if isinstance(file, (str, Path)) else getattr(file, "name", "-")
    return validation.quote(str(named), 200)


def check_encoding(encoding: str) -> str:
    """Return the name that Python uses for an encoding. Raises :class:`BindingError` if Python does not have it.

    >>> check_encoding("Latin-1"), check_encoding("CP1252")
    ('iso8859-1', 'cp1252')
    """
    try:
        b"a\0\0\0".decode(encoding, "replace")
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, ValueError):
        raise BindingError(
            "encoding-unknown",
            Translatable("the encoding %(encoding)s is unknown", encoding=validation.quote(encoding)),
        ) from None


class Lines:
    """The lines of a text file as an iterator of str. ``file`` is its name for messages, and ``encoding`` its encoding,
    or None to detect it. The lines of the current record, a row of a table, are kept for error messages.
    """

    def __init__(
        self, stream: BinaryIO, file: str, encoding: str | None = "utf-8", read_as: ReadAs | None = None
    ) -> None:
        """``file`` is the name in messages, in printable ASCII; ``encoding`` is as for :func:`open_lines`."""
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
            self._decoded = self._decode(b"", name)

    def begin(self) -> None:
        """Begin a record (a row of a table) at the next line. The lines of the record before are no longer kept."""
        self.first = self._number + 1
        self._octets = 0
        self.record.clear()

    def peek(self) -> str:
        """Return the next line that has more than separators and quotes, or "", without consuming it. Call it before
        the first line is read.
        """
        if self._ahead:
            return self._ahead[-1]
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
        """Return the next line of the file; "" at the end."""
        if self._last_read == 0:
            wrong_files.refuse(self._stream, self.file, readable=("empty",))
        text = self._read_octets() if self._decoded is None else self._read_decoded(self._decoded)
        if "\0" in text:
            message = Translatable(
                "the line has a NUL character: the file is not text, or is UTF-16 without a byte order mark"
            )
            raise TableError("table-nul", message, self.file, self._last_read, text.index("\0") + 1)
        if text and not text.endswith("\n"):
            self.read_as.unfinished = True
        return text

    def _read_octets(self) -> str:
        octets = self._stream.readline(MAX_OCTETS + 1)
        if self._last_read == 0 and self._detecting and octets.startswith(_UTF_16_MARKS):
            self.read_as.encoding = "UTF-16"
            self._decoded = self._decode(octets, "utf-16")
            return self._read_decoded(self._decoded)
        if self._last_read == 0 and b"\r" in octets and b"\n" not in octets:
            self.read_as.line_end = "\r"
            self._stream = cast(BinaryIO, _ReturnEnds(octets, self._stream))
            octets = self._stream.readline(MAX_OCTETS + 1)
        self._octets += len(octets)
        if self._octets > MAX_OCTETS:
            raise self._too_long()
        self._last_read += 1
        # A file that was exported, edited and exported can have two marks.
        while self._last_read == 1 and octets.startswith(_MARK):
            self._decided = True
            octets = octets[len(_MARK) :]
        return self._text(octets)

    def _decode(self, octets: bytes, encoding: str) -> Iterator[str]:
        """Decode the lines of the stream, of which these bytes are read already. Raises UnicodeError."""
        decoder = codecs.getincrementaldecoder(encoding)()
        pieces: list[str] = []
        length = 0
        is_first = True
        while True:
            # readline() only limits the size of the piece here: the piece can end within a character.
            octets = octets or self._stream.readline(MAX_OCTETS)
            if is_first and octets.endswith(b"\n"):
                octets += self._stream.read(1)  # the second byte of a line feed in UTF-16
            text = decoder.decode(octets, final=not octets)
            if is_first and text:
                is_first = False
                if "\r" in text and "\n" not in text:
                    self.read_as.line_end = "\r"
            *lines, rest = text.split(self.read_as.line_end)
            for line in lines:
                yield f"{''.join(pieces)}{line}\n"
                pieces.clear()
                length = 0
            pieces.append(rest)
            length += len(rest)
            if not octets or length > MAX_OCTETS:
                yield "".join(pieces)
                return
            octets = b""

    def _read_decoded(self, decoded: Iterator[str]) -> str:
        try:
            text = next(decoded, "")
        except UnicodeError:
            message = Translatable("bytes in or after this line are not %(encoding)s", encoding=self.read_as.encoding)
            raise TableError("table-encoding", message, self.file, self._last_read + 1) from None
        self._octets += len(text)
        if self._octets > MAX_OCTETS:
            raise self._too_long()
        self._last_read += 1
        return text.lstrip("\ufeff") if self._last_read == 1 else text

    def _too_long(self) -> TableError:
        message = Translatable("the line has more than %(number)s bytes", number=MAX_OCTETS)
        if self.record:
            message = Translatable(
                "the line has more than %(number)s bytes, or a quoted field in it has no closing quote",
                number=MAX_OCTETS,
            )
        return TableError("table-too-long", message, self.file, self.first)

    def _text(self, octets: bytes) -> str:
        """Decode a line as UTF-8, or as Windows-1252 if the encoding is detected and the first non-ASCII line is that.
        A file with both raises :class:`TableError`.
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
            message = Translatable("the byte %(octets)s is not UTF-8", octets=f"{octets[error.start]:02X}")
            raise self._wrong_byte(message, octets[: error.start].decode()) from None
        if not text.isascii() and self._detecting:
            if self._guessed_at:
                message = Translatable(
                    "this line is UTF-8, but line %(guessed_at)s is not", guessed_at=self._guessed_at
                )
                raise TableError(
                    "table-encoding",
                    Translatable("%(message)s; %(advice)s", message=message, advice=_ADVICE),
                    self.file,
                    self._last_read,
                )
            self._decided = True
        return text

    def _guess(self, octets: bytes) -> str:
        try:
            return octets.decode(_GUESS)
        except UnicodeDecodeError as error:
            message = Translatable(
                "the byte %(octets)s is neither UTF-8 nor Windows-1252", octets=f"{octets[error.start]:02X}"
            )
            raise self._wrong_byte(message, octets[: error.start].decode(_GUESS)) from None

    def _wrong_byte(self, message: str, before: str) -> TableError:
        advice = f"; {_ADVICE}" if self._detecting else ""
        return TableError("table-encoding", message + advice, self.file, self._last_read, len(before) + 1)


_ADVICE = Translatable("save the file as UTF-8, or select its encoding")


class _ReturnEnds(io.RawIOBase):
    """A stream with line feeds instead of carriage returns, also in quoted fields, for "CSV (Macintosh)" of Excel."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self._held = first
        self._rest = stream

    def readline(self, size: int | None = -1, /) -> bytes:
        most = MAX_OCTETS + 1 if size is None or size < 0 else size
        while (end := self._held.find(b"\r")) < 0 and len(self._held) < most:
            more = self._rest.read(_BLOCK)
            if not more:
                break
            self._held += more
        length = min(len(self._held) if end < 0 else end + 1, most)
        line, self._held = self._held[:length], self._held[length:]
        return line.replace(b"\r", b"\n")
