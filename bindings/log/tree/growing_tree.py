"""Append entries to the tiles of a log, and compute the root of its tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from ..errors import LogError
from . import tree
from .tiles import ENTRIES, WIDTH, Tile, bundle_of, entries_of, hash_reader, hashes_of, last_tiles
from .tree import leaf_hash, subtree_hash


class TileStore(Protocol):
    """The interface of a place that keeps the tiles of a tree, such as :class:`.folder.LogFolder`. ``read`` raises
    :class:`LogError` for a missing tile, ``write`` adds or replaces one, and ``flush`` waits until all are on the disk.
    """

    def read(self, tile: Tile) -> bytes: ...

    def write(self, tile: Tile, content: bytes) -> None: ...

    def flush(self) -> None: ...


class GrowingTree:
    """The tree of a public log to which entries are appended. The part without a full tile is in memory. Full tiles are
    written at once, partial ones by :meth:`finish`.
    """

    def __init__(self, folder: TileStore, size: int) -> None:
        """Read the right edge of a tree. Raises :class:`LogError` if a tile is missing, or if entries and hashes
        differ.
        """
        self._folder = folder
        self._levels: list[list[bytes]] = []
        self._entries: list[bytes] = []
        self.size = size
        for tile in last_tiles(size):
            content = folder.read(tile)
            if tile.level == ENTRIES:
                self._entries = entries_of(tile, content)
            else:
                level = int(tile.level)
                self._levels += [[] for _ in range(level + 1 - len(self._levels))]
                self._levels[level] = hashes_of(tile, content)
        if self._entries and [*map(leaf_hash, self._entries)] != self._levels[0]:
            raise LogError(f"{folder}: the last tile of entries differs from the last tile of hashes")

    def append(self, entries: Iterable[bytes], hashes: Sequence[bytes] | None = None) -> None:
        """Append entries in order. ``hashes`` are their leaf hashes, if the caller has computed them."""
        self._levels = self._levels or [[]]
        contents = list(entries)
        for entry, digest in zip(contents, map(leaf_hash, contents) if hashes is None else hashes, strict=True):
            self._entries.append(entry)
            self._levels[0].append(digest)
            self.size += 1
            if len(self._entries) == WIDTH:
                self._folder.write(Tile(ENTRIES, self.size // WIDTH - 1), bundle_of(self._entries))
                self._entries = []
                self._fill(0)

    def _fill(self, level: int) -> None:
        """Write the full tile of a level, and append its hash to the level above."""
        number = (self.size >> 8 * (level + 1)) - 1
        hashes = self._levels[level]
        self._folder.write(Tile(level, number), b"".join(hashes))
        if len(self._levels) == level + 1:
            self._levels.append([])
        self._levels[level] = []
        above = self._levels[level + 1]
        above.append(subtree_hash(hashes))
        if len(above) == WIDTH:
            self._fill(level + 1)

    def finish(self) -> bytes:
        """Write the last, incomplete tiles, wait until all tiles are on the disk, and return the root of the tree."""
        for tile in last_tiles(self.size):
            content = bundle_of(self._entries) if tile.level == ENTRIES else b"".join(self._levels[int(tile.level)])
            self._folder.write(tile, content)
        self._folder.flush()
        return self.root()

    def root(self) -> bytes:
        """Return the root hash of the tree of all appended entries (32 bytes)."""
        tiles = [tile for tile in last_tiles(self.size) if tile.level != ENTRIES]
        contents = {tile: b"".join(self._levels[int(tile.level)]) for tile in tiles}
        return tree.root_hash(self.size, hash_reader(self.size, contents.__getitem__))
