"""The users that can read a file: a secret, and a database with accounts, are not for all users of the machine."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o640
"""The permissions of a new database: the owner can write it, and the group can read it."""


def create_private(path: Path) -> None:
    """Create the empty file ``path``, which other users cannot read. It has the group of its folder, if this user may
    set it.

    The group of the folder is usually that of the service. Raises FileExistsError and other OSErrors.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create_private(Path(folder, "names.sqlite"))
    ...     print(open_to_others(Path(folder, "names.sqlite")))
    None
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


def open_to_others(place: str | Path | os.stat_result) -> str | None:
    """Return the permissions of the file ``place`` if other users can read or change it, such as "-rw-r--r--", else
    None.

    Return None for another file, for a missing one, and on Windows, whose permissions these are not.

    >>> print(open_to_others("/nowhere/token.txt"))
    None
    """
    if os.name != "posix":
        return None
    try:
        mode = place.st_mode if isinstance(place, os.stat_result) else Path(place).stat().st_mode
    except (OSError, ValueError):
        return None
    return stat.filemode(mode) if mode & (stat.S_IROTH | stat.S_IWOTH) else None


def can_read(path: Path, user: int, groups: set[int]) -> bool:
    """Return whether the user with the number ``user`` can read the file ``path``, by its permissions and those of its
    folders. ``groups`` are those of the user.

    Access control lists are not read. Raises OSError if this process cannot read the permissions.

    >>> can_read(Path(__file__), 0, {0})
    True
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
