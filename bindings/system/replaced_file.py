"""Replace a file as a whole, so that no reader finds a part of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .file_access import create_private


@contextmanager
def replaced_file(file: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield the path of a new, empty file that replaces ``file`` as a whole at the end of the ``with`` block.

    After a failure the old content remains. A symbolic link remains, too, and its target is replaced. The new file has
    the permissions of the old one. With ``private``, other users cannot read a file that replaces none. Raises OSError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replaced_file(Path(folder, "names.txt")) as place:
    ...         _ = place.write_text("new")
    ...     Path(folder, "names.txt").read_text()
    'new'
    """
    file = file.resolve()
    # A killed process leaves its file. In a container, the next process often has the same number.
    place = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    if private:
        create_private(place)
    else:
        place.touch(exist_ok=False)
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else None
        if mode is not None:
            place.chmod(mode | stat.S_IRUSR | stat.S_IWUSR)
        yield place
        with place.open("rb") as written:
            os.fsync(written.fileno())
        if mode is not None:
            place.chmod(mode)
        place.replace(file)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
