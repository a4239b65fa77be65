"""Keep a copy of the version of a table file that was served last, to check new versions against it. It is
``FILE.served`` in the folder of the file or in another one, written under a temporary name and renamed. Workers wait
for a lock on the folder, and replace only a copy that they have checked.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from ..names import validation

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_log = logging.getLogger(__name__)

Fingerprint = tuple[int, ...]
"""Device, inode, size and times of a file: values that change when the file changes."""


class FileVersion(NamedTuple):
    """The content of a table file at one moment. ``digest`` is its SHA-256, and ``fingerprint`` differs if the file was
    replaced or changed. ``times`` are those of access and modification in nanoseconds.
    """

    path: Path
    content: bytes
    digest: bytes
    fingerprint: Fingerprint
    mode: int
    times: tuple[int, int]

    @property
    def changed(self) -> datetime:
        """The modification time of the file in UTC."""
        return datetime.fromtimestamp(self.times[1] // 1000 / 1_000_000, UTC)

    @property
    def is_cut(self) -> bool:
        """Whether the last line of the file has no line end, so that the file can be incomplete."""
        return bool(self.content) and not self.content.rstrip(b"\0").endswith((b"\n", b"\r"))

    def stream(self) -> BytesIO:
        """Return the content of the file as a binary stream that has the name of the file."""
        return _NamedBytesIO(self.content, self.path)


class _NamedBytesIO(BytesIO):
    def __init__(self, content: bytes, path: Path) -> None:
        super().__init__(content)
        self.name = str(path)


def fingerprint(path: Path) -> Fingerprint | None:
    """Return a value that changes if a file is replaced or changed, or None if it cannot be checked."""
    try:
        return _fingerprint_of(path.stat())
    except OSError:
        return None


def read(path: Path, name: Path | None = None) -> FileVersion:
    """Read a whole file with its properties. The result has the path ``name``. Raises OSError, also for a path that is
    not a regular file, because reading a pipe would never end.
    """
    # O_NONBLOCK: opening a pipe would otherwise wait for a writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        file_stat = os.fstat(handle)
        if not stat.S_ISREG(file_stat.st_mode):
            raise OSError("not a regular file")
        content = stream.read()
        times = file_stat.st_atime_ns, file_stat.st_mtime_ns
        digest = sha256(content).digest()
        return FileVersion(
            name or path, content, digest, _fingerprint_of(file_stat), stat.S_IMODE(file_stat.st_mode), times
        )


def _fingerprint_of(file_stat: os.stat_result) -> Fingerprint:
    return file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns


class ServedCopy:
    """The copy of the version of a table file that was served last. ``is_kept`` is true if this process has seen a copy
    of the version that it serves: if it is missing then, the operator has deleted it. ``failure`` is why it cannot be
    read or written. ``str()`` returns its path.
    """

    def __init__(self, file: Path, folder: Path | None = None) -> None:
        self._file = file
        name = f"{file.name}.served"
        if folder is not None:
            # The folder can be shared by files with the same name.
            name = f"{file.stem}-{sha256(os.fsencode(file)).hexdigest()[:8]}{file.suffix}.served"
        self.path = (folder or file.parent).absolute() / name
        self.is_kept = False
        self.failure: str | None = None
        self._is_readable = True

    def __str__(self) -> str:
        return validation.quote(str(self.path), 200)

    def fingerprint(self) -> Fingerprint | None:
        """Return a value that changes if the copy is replaced or changed, or None if the copy does not exist."""
        return fingerprint(self.path)

    def read(self) -> FileVersion | None:
        """Read the copy, with the path of the table file itself. None if it does not exist, or if it cannot be read
        (``failure``).
        """
        self._is_readable = True
        try:
            return read(self.path, self._file)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._is_readable = False
            self._fail("cannot be read", error)
            return None

    def keep(self, version: FileVersion, previous: FileVersion | None) -> bool:
        """Replace the copy, which must still have the version ``previous``; None for a missing copy. False if another
        process replaced it first. An error is logged once and is in ``failure``.
        """
        if not self._is_readable:
            return True
        if previous is not None and previous.digest == version.digest:
            self._succeed()
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _lock_folder(self.path.parent):
                if self.fingerprint() != (previous.fingerprint if previous else None):
                    return False
                self._write(version)
        except OSError as error:
            self._fail("cannot be written", error)
            return True
        self._succeed()
        return True

    def _write(self, version: FileVersion) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(version.content)
                stream.flush()
                os.fsync(handle)
            # Other workers can run as other users. The time of the file is the time of its bindings.
            Path(temporary).chmod(version.mode | stat.S_IRUSR | stat.S_IWUSR)
            os.utime(temporary, ns=version.times)
            Path(temporary).replace(self.path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise

    def _succeed(self) -> None:
        self.is_kept = True
        self.failure = None

    def _fail(self, what: str, error: OSError) -> None:
        self.is_kept = False
        failure = f"{self} {what}: {error.strerror or error}"
        if failure != self.failure:
            self.failure = failure
            effect = "a restarted worker cannot check the file against the version that was served before"
            _log.warning("%s; %s; make the folder writable, or choose another folder", failure, effect)


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, so that no other process writes a copy to it."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems have no locks. Then workers write without a lock.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # A process that was forked in the meantime has the lock too, until it is released here.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)
