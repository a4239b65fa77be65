"""Tiles: files with 256 neighbouring hashes of level 0, 8, 16 … of the tree (:mod:`tree`), or 256 entries. The last one
of a level can have fewer: it is *partial*. Source: `C2SP tlog-tiles <https://c2sp.org/tlog-tiles>`_.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..errors import LogError
from .tree import HASH_BYTES, ReadHash, subtree_hash

HEIGHT = 8
"""The number of levels of the tree that a tile replaces."""

WIDTH = 1 << HEIGHT
"""The number of hashes or entries of a full tile."""

ENTRIES = "entries"
"""The level of tiles that contain entries in their paths."""

MAX_LEVEL = 63
MAX_INDEX = 2**63 - 1
MAX_ENTRY_BYTES = 2**16 - 1
"""The maximum length of an entry: a tile states it with two bytes."""

MAX_BUNDLE_BYTES = WIDTH * (2 + MAX_ENTRY_BYTES)
"""The maximum length of a tile of entries."""

# path    = "tile/" level "/" *( "x" 3DIGIT "/" ) 3DIGIT [ ".p/" width ]
# level   = "entries" / 1*2DIGIT       ; 0 to 63, without a leading zero
# width   = 1*3DIGIT                   ; 1 to 255, without a leading zero
_PATH = re.compile(r"tile/(entries|0|[1-9][0-9]?)/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """The place of a tile. ``level`` is 0 to 63, where level 1 has the hashes above full tiles of level 0, or
    :data:`ENTRIES`. ``width`` is the number of its hashes or entries: 256, or 1 to 255 for a partial tile.

    >>> Tile(0, 1234067).path, Tile(ENTRIES, 3, 112).path
    ('tile/0/x001/x234/067', 'tile/entries/003.p/112')
    """

    level: int | str
    index: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """The path of the tile below the URL or the folder of its log, such as ``tile/0/x001/234``."""
        digits = f"{self.index:03}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        groups = [digits[i : i + 3] for i in range(0, len(digits), 3)]
        number = "/".join([*(f"x{group}" for group in groups[:-1]), groups[-1]])
        return f"tile/{self.level}/{number}" + (f".p/{self.width}" if self.width < WIDTH else "")

    @classmethod
    def of_path(cls, path: str) -> Tile | None:
        """Return the tile with exactly this path, or None.

        >>> Tile.of_path("tile/0/x001/x234/067"), Tile.of_path("tile/0/67")
        (Tile(level=0, index=1234067, width=256), None)
        """
        match = _PATH.fullmatch(path)
        if match is None:
            return None
        level, number, width = match.groups()
        index = int(number.replace("/", "").replace("x", ""))
        tile = cls(ENTRIES if level == ENTRIES else int(level), index, int(width or WIDTH))
        if index > MAX_INDEX or (level != ENTRIES and int(level) > MAX_LEVEL) or tile.path != path:
            return None
        return tile


def last_tiles(size: int) -> Iterator[Tile]:
    """Yield the incomplete tiles of a tree of ``size`` entries: at most one of each level, and one of entries.

    >>> [tile.path for tile in last_tiles(70_000)]
    ['tile/entries/273.p/112', 'tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1']
    """
    if size % WIDTH:
        yield Tile(ENTRIES, size // WIDTH, size % WIDTH)
    level = 0
    while size:
        if size % WIDTH:
            yield Tile(level, size // WIDTH, size % WIDTH)
        size //= WIDTH
        level += 1


def tile_at(level: int | str, index: int, size: int) -> Tile:
    """Return a tile in a tree of ``size`` entries; the last one can be incomplete. Raises IndexError if there is
    none.
    """
    hashes = size if level == ENTRIES else size >> HEIGHT * int(level)
    width = min(WIDTH, hashes - index * WIDTH)
    if width <= 0 or index < 0:
        raise IndexError(f"a tree of {size} entries does not have tile {index} of level {level}")
    return Tile(level, index, width)


def hashes_of(tile: Tile, content: bytes) -> list[bytes]:
    """Return the hashes in the content of a tile. Raises :class:`LogError` for another length than the width of the
    tile.
    """
    if len(content) != tile.width * HASH_BYTES:
        raise LogError(f"{tile.path} has {len(content):,} bytes instead of {tile.width * HASH_BYTES:,}")
    return [content[i : i + HASH_BYTES] for i in range(0, len(content), HASH_BYTES)]


def bundle_of(entries: Sequence[bytes]) -> bytes:
    r"""Return the content of a tile of entries: each after its length, two bytes in big-endian order.

    >>> bundle_of([b"one", b""])
    b'\x00\x03one\x00\x00'
    """
    return b"".join([len(entry).to_bytes(2, "big") + entry for entry in entries])


def entries_of(tile: Tile, content: bytes) -> list[bytes]:
    """Return the entries in the content of a tile. Raises :class:`LogError` if their number is not its width."""
    entries: list[bytes] = []
    position = 0
    while position < len(content):
        end = position + 2 + int.from_bytes(content[position : position + 2], "big")
        if end > len(content) or position + 2 > len(content) or len(entries) == tile.width:
            raise LogError(f"{tile.path} is damaged from byte {position:,}, its entry {len(entries)}")
        entries.append(content[position + 2 : end])
        position = end
    if len(entries) != tile.width:
        raise LogError(f"{tile.path} has {len(entries)} entries instead of {tile.width}")
    return entries


def hash_reader(size: int, read: Callable[[Tile], bytes], kept: int = 64) -> ReadHash:
    """Return a function that reads the hashes of a tree from its tiles, for :mod:`tree`. The last ``kept`` tiles stay
    in memory. It raises :class:`LogError` for a tile of another length, and IndexError for a hash outside the tree.
    """

    @lru_cache(kept)
    def hashes(level: int, index: int) -> list[bytes]:
        tile = tile_at(level, index, size)
        return hashes_of(tile, read(tile))

    def read_hash(level: int, index: int) -> bytes:
        height, inner = divmod(level, HEIGHT)
        first = index << inner
        start = first % WIDTH
        subtrees = hashes(height, first // WIDTH)[start : start + (1 << inner)]
        if len(subtrees) != 1 << inner:
            raise IndexError(f"a tree of {size} entries does not have subtree {index} of level {level}")
        return subtree_hash(subtrees)

    return read_hash
