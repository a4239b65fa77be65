"""Read an SQLite file that no program uses, with its write-ahead log, in a temporary copy, and leave both as they are.
SQLite writes the log into the file when its last connection closes, so reading a backup would change it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from .sqlite import SQLite
from .wal import log_of

# The bytes of an SQLite file that each connection locks while it is open (os_unix.c: SHARED_FIRST, SHARED_SIZE).
_LOCKED, _LENGTH = 0x40000002, 510


class RestingFile(SQLite):
    """A temporary copy of an SQLite file and its log, which is deleted with the object. ``str()`` returns the URL of
    the original.
    """

    def __init__(self, original: SQLite) -> None:
        folder = tempfile.mkdtemp(prefix="ararat-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder, original.path.name)
        shutil.copyfile(original.path, copy)
        shutil.copyfile(log_of(original.path), log_of(copy))
        self._original = str(original)
        super().__init__(copy)

    def __str__(self) -> str:
        return self._original


def at_rest(database: SQLite) -> SQLite:
    """Return a :class:`RestingFile` for a file with a log that no program uses, else ``database`` itself. Call it
    before this process opens the file: closing a file ends the locks of the process.
    """
    before = _times(database.path)
    if before is None or not _is_unused(database.path):
        return database
    try:
        copy = RestingFile(database)
    except OSError:
        return database  # a full disk
    # A program can have opened the file meanwhile.
    return copy if _times(database.path) == before else database


def _times(file: Path) -> tuple[int, ...] | None:
    """Return the sizes and times of a file and its log, or None without a log."""
    try:
        both = file.stat(), log_of(file).stat()
    except OSError:
        return None
    return tuple(number for each in both for number in (each.st_size, each.st_mtime_ns)) if both[1].st_size else None


def _is_unused(file: Path) -> bool:
    if os.name != "posix":
        return False
    import fcntl

    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False  # a process that cannot write changes nothing
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _LENGTH, _LOCKED)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
