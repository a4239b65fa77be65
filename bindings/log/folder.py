"""The folder of a log: its checkpoint and its tiles as files, which any web server can serve. A file is written under
another name and renamed, so it is complete or does not exist. :meth:`LogFolder.flush` returns when all are on the disk.
The methods that write raise :class:`~ararat.middleware.BindingError` with the code ``log-write``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from ...identifiers.text import display
from ..system.files import read_regular
from .errors import LogError, write_error
from .notes.notes import MAX_BYTES
from .tree.tiles import MAX_BUNDLE_BYTES, Tile

CHECKPOINT = "checkpoint"
MAX_TILE = MAX_BUNDLE_BYTES + 1
"""The number of bytes that are read of a tile. A tile of this log is shorter."""

_WRITERS = 8
_UNFINISHED = ".unfinished"


class LogFolder:
    """The files of one verifiable log below the folder ``path``: its checkpoint and its tiles."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._written: list[Path] = []

    def __str__(self) -> str:
        return str(self.path)

    @property
    def versions(self) -> Path:
        """The path of the database with the published versions of a table file, next to the folder."""
        return self.path.with_name(f"{self.path.name}.sqlite")

    def checkpoint(self) -> bytes | None:
        """Return the content of the published checkpoint, or None. Raises :class:`LogError` if it cannot be read."""
        try:
            return read_regular(self.path / CHECKPOINT, MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            where = display.escape(str(self.path / CHECKPOINT))
            raise LogError(f"{where} cannot be read: {error.strerror}") from None

    def read(self, tile: Tile) -> bytes:
        """Return the content of a tile. Raises :class:`LogError` if its file cannot be read."""
        try:
            return read_regular(self.path / tile.path, MAX_TILE)
        except OSError as error:
            where = display.escape(str(self.path / tile.path))
            raise LogError(f"{where} cannot be read: {error.strerror}") from None

    def write(self, tile: Tile, content: bytes) -> None:
        """Write the file of a tile. One with the same content is not changed."""
        path = self.path / tile.path
        with _writing(path):
            try:
                is_equal = read_regular(path, MAX_TILE) == content
            except FileNotFoundError:
                is_equal = False
                path.parent.mkdir(parents=True, exist_ok=True)
            if not is_equal:
                unfinished = path.with_name(f"{path.name}{_UNFINISHED}")
                unfinished.write_bytes(content)
                unfinished.replace(path)
        self._written.append(path)  # a file with the same content is possibly not on the disk yet

    def flush(self) -> None:
        """Wait until all files of the public log that were written since the last call are on the disk."""
        folders: set[Path] = set()
        for path in self._written:
            folders.update(parent for parent in path.parents if parent.is_relative_to(self.path))
        # The disk writes many files together faster than one after the other.
        with ThreadPoolExecutor(_WRITERS) as pool:
            deque(pool.map(_sync, self._written), maxlen=0)
            deque(pool.map(_sync, folders), maxlen=0)
        self._written.clear()

    def publish(self, checkpoint: bytes) -> None:
        """Replace the published checkpoint. All other files must be on the disk before."""
        path = self.path / CHECKPOINT
        unfinished = path.with_name(f"{CHECKPOINT}{_UNFINISHED}")
        with _writing(path):
            self.path.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(checkpoint)
            _sync(unfinished)
            unfinished.replace(path)
        _sync(self.path)

    def remove_partial(self, tile: Tile) -> None:
        """Delete the incomplete tiles that a full tile replaces, if it has a file."""
        full = self.path / Tile(tile.level, tile.index).path
        folder = full.with_name(f"{full.name}.p")
        if not full.exists() or not folder.is_dir():
            return
        with _writing(folder):
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def _sync(path: Path) -> None:
    """Wait until a file or the names in a folder are on the disk."""
    with _writing(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
