"""Read files that another program can have replaced by a named pipe or a device."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, limit: int) -> bytes:
    """Return at most ``limit`` bytes of the regular file ``path``. Refuse a named pipe, which could block this process.

    Raises OSError for a file that is not regular. Reading a named pipe would wait for a writer.

    >>> len(read_regular(Path(__file__), 10))
    10
    >>> read_regular(Path(os.devnull), 10)
    Traceback (most recent call last):
    OSError: [Errno 22] it is not a regular file
    """
    with open(path, "rb", opener=_open_at_once) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return stream.read(limit)


def _open_at_once(path: str, flags: int) -> int:
    # Opening a named pipe waits for a writer without this flag, which Windows does not have.
    return os.open(path, flags | os.O_NONBLOCK if os.name == "posix" else flags)
