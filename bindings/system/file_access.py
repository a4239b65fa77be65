"""Who can read a file: files with secrets, and databases with accounts, are not for all users of the machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def open_to_others(place: str | Path | os.stat_result) -> str | None:
    """Return the permissions of a file that users outside of its group can read or change, such as "-rw-r--r--".

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
