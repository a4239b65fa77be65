"""Create, read and replace files of the operating system, and find who can read them."""

from __future__ import annotations

import errno
import glob
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

PRIVATE = 0o640
"""The permissions of a new database: the owner can write it, and the group can read it."""

FREE_SPACE = "free space on its disk"
_ANOTHER_FOLDER = "create the folder, or name a file in another folder"
_REMEDIES = {
    errno.ENOSPC: f"{FREE_SPACE}, or name a file on another disk",
    errno.EDQUOT: "delete files of this user, or raise the quota of the user",
    errno.EFBIG: "raise the file size limit of this process, such as with ulimit -f, or LimitFSIZE= of its service",
    errno.EROFS: "name a file on a disk that can be written, or mount this disk to write",
    errno.EACCES: "give the user of this process write permission on the file and its folder, or name another file",
    errno.EPERM: "give the user of this process write permission on the file and its folder, or name another file",
    errno.ENOENT: _ANOTHER_FOLDER,
    errno.ENOTDIR: _ANOTHER_FOLDER,
    errno.EISDIR: "give the name of a file in this folder",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EINVAL: "give another name, without special characters",
    errno.ENXIO: "start the program that reads the pipe, or name a regular file",
    errno.EIO: f"{FREE_SPACE}; if there is space, check the disk",
}
_REST_SECONDS = 60.0
"""The age of a part of a file from which its process has certainly locked it, if it still runs."""


def create_private(path: Path) -> None:
    """Create an empty file that other users cannot read. It has the group of its folder, usually that of the service,
    if this user may set it. Raises FileExistsError and other OSErrors.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        if os.name == "posix":
            group = path.absolute().parent.stat().st_gid
            with suppress(PermissionError):
                if os.fstat(descriptor).st_gid != group:
                    os.fchown(descriptor, -1, group)
            # The umask can have removed the permission of the group.
            os.fchmod(descriptor, PRIVATE)
    finally:
        os.close(descriptor)


def write_remedy(error: OSError) -> str:
    """Return what a person must do about a file that cannot be written, without a capital letter and a full stop.

    >>> write_remedy(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    'create the folder, or name a file in another folder'
    """
    return _REMEDIES.get(error.errno or 0, "check its disk, and the permissions of its folder")


def size_limit() -> int | None:
    """Return the largest size of a file that this process may write in bytes, or None. SQLite reports such a limit as a
    fault of the disk.
    """
    if os.name != "posix":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if limit == resource.RLIM_INFINITY else limit


def disk_error(error: sqlite3.Error) -> OSError:
    """Return the error of the file system for an error of SQLite, which hides it, while it writes a new file."""
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
        return OSError(str(error))
    number = errno.ENOSPC
    if code == sqlite3.SQLITE_IOERR:
        number = errno.EIO if size_limit() is None else errno.EFBIG
    return OSError(number, os.strerror(number))


def open_to_others(place: str | Path | os.stat_result) -> str | None:
    """Return the permissions of a file if other users can read or change it, such as "-rw-r--r--". None for another
    file, for a missing one, and on Windows.
    """
    if os.name != "posix":
        return None
    try:
        mode = place.st_mode if isinstance(place, os.stat_result) else Path(place).stat().st_mode
    except (OSError, ValueError):
        return None
    return stat.filemode(mode) if mode & (stat.S_IROTH | stat.S_IWOTH) else None


def can_read(path: Path, user: int, groups: set[int]) -> bool:
    """Return whether a user can read a file, by its permissions and those of its folders, without access control lists.
    Raises OSError if this process cannot read the permissions.
    """
    if user == 0:
        return True
    path = path.resolve()
    folders = (_may(each.stat(), user, groups, 0o1) for each in path.parents)
    return _may(path.stat(), user, groups, 0o4) and all(folders)


def _may(file_stat: os.stat_result, user: int, groups: set[int], permission: int) -> bool:
    # The first class that matches counts: an owner without a right does not get it from the group.
    shift = 6 if file_stat.st_uid == user else 3 if file_stat.st_gid in groups else 0
    return bool(file_stat.st_mode >> shift & permission)


def read_regular(path: Path, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a regular file. Raises OSError for another one, such as a named pipe, which
    would wait for a writer.
    """
    with open(path, "rb", opener=_open_at_once) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return stream.read(limit)


def _open_at_once(path: str, flags: int) -> int:
    # Opening a named pipe waits for a writer without this flag, which Windows does not have.
    return os.open(path, flags | os.O_NONBLOCK if os.name == "posix" else flags)


@contextmanager
def _lock_file(place: Path) -> Iterator[bool]:
    """Hold a lock on a file, which ends with the process. Yield whether no other process has it."""
    if os.name != "posix":
        yield False
        return
    import fcntl

    with place.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process has the lock, or the file system has no locks
            yield False
        else:
            yield True


def _delete_rests(file: Path) -> None:
    """Delete the parts of ``file`` whose process was killed. Younger ones are possibly not locked yet."""
    for rest in file.parent.glob(f".{glob.escape(file.name)}.????????.part"):
        with suppress(OSError):
            if time.time() - rest.stat().st_mtime > _REST_SECONDS:
                with _lock_file(rest) as is_rest:
                    if is_rest:
                        rest.unlink()


@contextmanager
def replaced_file(file: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield the path of a new file that replaces ``file`` as a whole at the end of the ``with`` block. After a failure
    the old content remains. The target of a symbolic link is replaced. The permissions stay; with ``private``, other
    users cannot read a file that replaces none. Raises OSError.
    """
    file = file.resolve()
    _delete_rests(file)
    # In a container, the next process often has the same number.
    place = file.with_name(f".{file.name}.{os.urandom(4).hex()}.part")
    if private:
        create_private(place)
    else:
        place.touch(exist_ok=False)
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
        if mode is not None:
            place.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)
        with _lock_file(place):
            yield place
        with place.open("rb") as written:
            os.fsync(written.fileno())
        if mode is not None:
            place.chmod(mode)
        place.replace(file)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
