"""The copy of the version of a file of bindings that was served last: what a new version is compared with.

It is the file itself, octet for octet, under the name ``FILE.served`` beside it or in another folder. A copy is written
beside its place and renamed, so that no reader sees half of it. Workers that write at once take turns by a lock on the
folder, and none replaces a copy that it has not compared.
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

from ..bindings import validation

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_log = logging.getLogger(__name__)

Mark = tuple[int, ...]
"""What changes when a file changes: its device, number, size and times."""


class Version(NamedTuple):
    """A file as it was read at one moment; ``digest`` is a hash of its octets."""

    path: Path
    octets: bytes
    digest: bytes
    mark: Mark
    mode: int
    times: tuple[int, int]

    @property
    def changed(self) -> datetime:
        """When the file was written."""
        return datetime.fromtimestamp(self.times[1] // 1000 / 1_000_000, UTC)

    @property
    def is_cut(self) -> bool:
        """Whether the last line has no end, in UTF-8 or UTF-16."""
        return bool(self.octets) and not self.octets.rstrip(b"\0").endswith((b"\n", b"\r"))

    def stream(self) -> BytesIO:
        """The octets as a file with a name."""
        return _Named(self.octets, self.path)


class _Named(BytesIO):
    def __init__(self, octets: bytes, path: Path) -> None:
        super().__init__(octets)
        self.name = str(path)


def look(path: Path) -> Mark | None:
    """What a file is known by; None where it is not there or may not be looked at."""
    try:
        return _mark(path.stat())
    except OSError:
        return None


def read(path: Path, name: Path | None = None) -> Version:
    """A file as it is now, under another name where one is given.

    Raises OSError, also for what is no regular file: reading a pipe would never end.
    """
    # Without blocking: to open a pipe would wait for a writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is not a regular file")
        octets = stream.read()
        times = found.st_atime_ns, found.st_mtime_ns
        digest = sha256(octets).digest()
        return Version(name or path, octets, digest, _mark(found), stat.S_IMODE(found.st_mode), times)


def _mark(found: os.stat_result) -> Mark:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class ServedCopy:
    """The copy for one file. ``str()`` of it is its path, for messages.

    ``is_kept`` is whether this process has seen a copy of the version that it serves: then a person deleted a missing
    one.
    ``failure`` is why none can be kept, and None where one can.
    """

    def __init__(self, file: Path, folder: Path | None = None) -> None:
        self._file = file
        name = f"{file.name}.served"
        if folder is not None:
            # Two files of one name may share the folder.
            name = f"{file.stem}-{sha256(os.fsencode(file)).hexdigest()[:8]}{file.suffix}.served"
        self.path = (folder or file.parent).absolute() / name
        self.is_kept = False
        self.failure: str | None = None
        self._is_readable = True

    def __str__(self) -> str:
        return validation.shown(str(self.path), 200)

    def look(self) -> Mark | None:
        """What the copy is known by; None where there is none."""
        return look(self.path)

    def read(self) -> Version | None:
        """The copy, under the name of its file so that its format is known; None where there is none."""
        self._is_readable = True
        try:
            return read(self.path, self._file)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._is_readable = False
            self._fail("cannot be read", error)
            return None

    def keep(self, version: Version, before: Version | None) -> bool:
        """Make ``version`` the copy, in place of the copy ``before``; False where another process was faster.

        Where it cannot be written, this is logged once and stays in ``failure``.
        """
        if not self._is_readable:
            return True
        if before is not None and before.digest == version.digest:
            self._succeed()
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _alone(self.path.parent):
                if self.look() != (before.mark if before else None):
                    return False
                self._write(version)
        except OSError as error:
            self._fail("cannot be written", error)
            return True
        self._succeed()
        return True

    def _write(self, version: Version) -> None:
        handle, beside = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(version.octets)
                stream.flush()
                os.fsync(handle)
            # Other workers may run as other users; the time is that of the bindings.
            Path(beside).chmod(version.mode | stat.S_IRUSR | stat.S_IWUSR)
            os.utime(beside, ns=version.times)
            Path(beside).replace(self.path)
        except BaseException:
            with suppress(OSError):
                Path(beside).unlink()
            raise

    def _succeed(self) -> None:
        self.is_kept = True
        self.failure = None

    def _fail(self, what: str, error: OSError) -> None:
        self.is_kept = False
        failure = f"{self} {what}: {error.strerror or error}"
        if failure != self.failure:
            self.failure = failure
            advice = "a restarted worker compares the file with nothing; make the folder writable, or name another one"
            _log.warning("%s; %s", failure, advice)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A time in which no other process writes a copy into the folder."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # A network file system may have no locks; then two workers can write one after the other.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # A process that was forked meanwhile holds the lock, too, until it is given up.
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)
