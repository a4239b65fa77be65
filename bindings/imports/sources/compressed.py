"""Open a dump that can be compressed with gzip, or be the only file in a ZIP archive. It is read as a stream, without
unpacking to disk. A content much larger than its archive is refused, so that it cannot keep the import busy.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

from ...names.errors import TableError
from ...tables import wrong_files
from ...tables.text_stream import name_of

MAX_TIMES = 200
"""The maximum ratio of the size of a content to the size of its archive. Dumps of EZID are 5 to 20 times as large."""

ALWAYS_ALLOWED = 64 * 1024 * 1024
"""The number of bytes that is allowed for every archive, however small it is."""

_GZIP, _ZIP, _EMPTY_ZIP = b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"


@contextmanager
def open_dump(file: str | Path | BinaryIO) -> Iterator[io.BufferedReader]:
    """Open a path or binary file, and unpack it if it is gzip or ZIP. A binary file stays open. Raises
    :class:`TableError` (``archive-content``) for an archive that is damaged, encrypted, too large, or has several
    files. Raises like :func:`~.wrong_files.refuse` for a file that is not a dump, and OSError if it cannot be read.
    """
    name = name_of(file)
    with ExitStack() as stack:
        raw = stack.enter_context(Path(file).open("rb")) if isinstance(file, (str, Path)) else file
        stream: io.BufferedReader = io.BufferedReader(_Peeked(raw))
        wrong_files.refuse(raw if raw.seekable() else stream, name, readable=("archive", "gzip"))
        begin = stream.peek(4)[:4]
        if begin.startswith(_GZIP):
            limit = _limit(_size(raw))
            unpacked = stack.enter_context(gzip.GzipFile(fileobj=stream))
            yield _table(_buffer(unpacked, name, limit), name)
        elif begin in (_ZIP, _EMPTY_ZIP):
            yield _table(_buffer(stack.enter_context(_member(raw, name)), name, _limit(_size(raw))), name)
        else:
            yield stream


def _table(content: io.BufferedReader, name: str) -> io.BufferedReader:
    wrong_files.refuse(content, name)
    return content


class _Peeked(io.RawIOBase):
    """The bytes of a file that this object does not close."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        read = self._file.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)


class _Unpacked(io.RawIOBase):
    """An unpacked content of a limited size. Errors of the archive are errors of the table."""

    def __init__(self, content: BinaryIO, name: str, limit: int) -> None:
        self._content, self._name, self._limit = content, name, limit
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            read = self._content.read(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError) as error:
            _refuse(self._name, f"the archive is damaged: {error}; copy the file again")
        self._read += len(read)
        if self._read > self._limit:
            message = f"the content is larger than {self._limit:,} bytes, which is {MAX_TIMES} times the archive"
            _refuse(self._name, f"{message}; unpack the file, check it, and import it without compression")
        buffer[: len(read)] = read
        return len(read)


def _buffer(content: BinaryIO | gzip.GzipFile, name: str, limit: int) -> io.BufferedReader:
    return io.BufferedReader(_Unpacked(content, name, limit), 1 << 16)  # type: ignore[arg-type]


def _size(raw: BinaryIO) -> int:
    """Return the number of bytes of a file, or 0 for a pipe."""
    try:
        here = raw.tell()
        size = raw.seek(0, io.SEEK_END)
        raw.seek(here)
    except (OSError, ValueError):
        return 0
    return size


def _limit(size: int) -> int:
    return ALWAYS_ALLOWED + MAX_TIMES * size


def _member(raw: BinaryIO, name: str) -> BinaryIO:
    if not raw.seekable():
        _refuse(name, "a ZIP archive cannot be read from a pipe; name the file, or unpack it first")
    raw.seek(0)
    try:
        archive = zipfile.ZipFile(raw)
        files = [member for member in archive.infolist() if not member.is_dir()]
        if len(files) != 1:
            _refuse(name, f"the archive has {len(files):,} files, but a dump is one file; unpack the archive")
        if files[0].flag_bits & 1:
            _refuse(name, "the archive is encrypted; unpack it first")
        return archive.open(files[0])  # type: ignore[return-value]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        _refuse(name, f"the archive is damaged: {error}; copy the file again")


def _refuse(name: str, message: str) -> NoReturn:
    raise TableError("archive-content", message, name, 1)
