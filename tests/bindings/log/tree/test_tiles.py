"""Test the paths and the contents of tiles."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.tree import tree
from ararat.bindings.log.tree.tiles import (
    ENTRIES,
    WIDTH,
    Tile,
    bundle_of,
    entries_of,
    hash_reader,
    hashes_of,
    last_tiles,
    tile_at,
)

LEVELS = st.one_of(st.just(ENTRIES), st.integers(0, 63))


@given(LEVELS, st.integers(0, 2**63 - 1), st.integers(1, 256))
def test_a_path_is_read_as_it_is_written(level, index, width):
    tile = Tile(level, index, width)
    assert Tile.of_path(tile.path) == tile


@pytest.mark.parametrize(
    "path",
    [
        *("", "tile", "tile/", "tile/0", "tile/0/", "/tile/0/000", "tile/0/000/", "tile//000", "tile/0//000"),
        *("tile/00/000", "tile/01/000", "tile/64/000", "tile/100/000", "tile/-1/000", "tile/+1/000", "tile/x/000"),
        *("tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000/000", "tile/0/x000/001", "tile/0/001/000"),
        *("tile/0/X001/000", "tile/0/x1/000", "tile/0/x001", "tile/0/x001/x002", "tile/0/000.p", "tile/0/000.p/"),
        *("tile/0/000.p/0", "tile/0/000.p/01", "tile/0/000.p/256", "tile/0/000.p/999", "tile/0/000.p/1000"),
        *("tile/0/000.p/1/", "tile/0/000.P/1", "tile/0/x001.p/1/000", "tile/0/000.p/-1", "tile/0/000\n"),
        *("tile/entries", "tile/Entries/000", "tile/entries/000/..", "tile/entries/../000", "tile/../checkpoint"),
        *("tile/0/٠٠٠", "tile/٣/000", "tile/0/000.p/١", "tile/0/0%300", "tile/0/000\0", "tile/0/000?", "tile\\0\\000"),
        "tile/0/x009/x223/x372/x036/x854/x775/808",  # one more than the largest index
        "tile/0/x999/x999/x999/x999/x999/x999/x999/999",
        f"tile/0/{'x999/' * 5000}999",
    ],
)
def test_any_other_path_is_refused(path):
    assert Tile.of_path(path) is None


@given(st.text("tile/0189xp.entris", max_size=30))
def test_an_accepted_path_is_the_path_of_its_tile(text):
    tile = Tile.of_path(text)
    assert tile is None or tile.path == text


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 65_535, 65_536, 70_000, 2**24])
def test_the_partial_tiles_of_a_tree(size):
    widths = {tile.level: tile.width for tile in last_tiles(size)}
    for level in range(5):
        # "The partial tile at level l for a tree of size s has floor(s / 256**l) mod 256 entries."
        assert widths.get(level, 0) == size // 256**level % 256
    assert widths.get(ENTRIES, 0) == size % 256


def test_a_tree_does_not_have_tiles_behind_its_end():
    assert tile_at(0, 0, 256) == Tile(0, 0)
    assert tile_at(1, 0, 256) == Tile(1, 0, 1)
    for level, index, size in ((0, 1, 256), (1, 0, 255), (ENTRIES, 0, 0), (0, -1, 256)):
        with pytest.raises(IndexError):
            tile_at(level, index, size)


@given(st.lists(st.binary(max_size=300), max_size=256))
def test_entries_are_read_as_they_are_written(entries):
    assert entries_of(Tile(ENTRIES, 0, len(entries)), bundle_of(entries)) == entries


@pytest.mark.parametrize(
    ("content", "width", "message"),
    [
        pytest.param(b"\0", 1, "is damaged from byte 0, its entry 0", id="half a length"),
        pytest.param(b"\0\3on", 1, "is damaged from byte 0", id="half an entry"),
        pytest.param(b"\0\1a\0\1b", 1, "is damaged from byte 3, its entry 1", id="one entry more"),
        pytest.param(b"\0\1a", 2, "has 1 entries instead of 2", id="one entry less"),
        pytest.param(b"", 1, "has 0 entries instead of 1", id="empty"),
    ],
)
def test_a_damaged_tile_of_entries_is_refused(content, width, message):
    with pytest.raises(LogError, match=re.escape(message)):
        entries_of(Tile(ENTRIES, 7, width), content)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_tile_of_hashes_with_another_length_is_refused(size):
    with pytest.raises(LogError, match=r"tile/0/000\.p/1 has \d+ bytes instead of 32"):
        hashes_of(Tile(0, 0, 1), bytes(size))


def test_a_long_entry_is_refused():
    with pytest.raises(OverflowError):
        bundle_of([bytes(65_536)])


def test_hashes_of_a_tree_come_from_its_tiles():
    size = 66_000
    entries = [b"%d" % number for number in range(size)]
    levels = [[tree.leaf_hash(entry) for entry in entries]]
    while len(levels[-1]) >= WIDTH:
        below = levels[-1]
        levels.append([tree.subtree_hash(below[i : i + WIDTH]) for i in range(0, len(below) - WIDTH + 1, WIDTH)])
    asked: list[Tile] = []

    def read(tile: Tile) -> bytes:
        asked.append(tile)
        return b"".join(levels[int(tile.level)][tile.index * WIDTH : tile.index * WIDTH + tile.width])

    from_tiles = hash_reader(size, read)
    root = tree.root_hash(size, from_tiles)
    assert sorted(tile.path for tile in asked) == ["tile/0/257.p/208", "tile/1/001.p/1", "tile/2/000.p/1"]
    for index in (0, 255, 256, 40_000, 65_999):
        asked.clear()
        proof = tree.inclusion_proof(index, size, hash_reader(size, read))
        assert len(asked) <= 4
        assert tree.root_of_inclusion(levels[0][index], index, size, proof) == root
    old = 300
    old_root = tree.root_hash(
        old, hash_reader(old, lambda tile: b"".join(levels[int(tile.level)][tile.index * WIDTH :][: tile.width]))
    )
    tree.check_consistency(old, old_root, size, root, tree.consistency_proof(old, size, from_tiles))
    with pytest.raises(IndexError):
        from_tiles(9, 128)
