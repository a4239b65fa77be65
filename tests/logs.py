"""Fixtures of the tests of the log: a database with a log, and a complete check of its files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.checkpoints import Checkpoint, read_checkpoint
from ararat.bindings.log.notes.keys import VerifierKey
from ararat.bindings.log.publishing import Publication, initialize, publish, read_state
from ararat.bindings.log.tree.entries import LogEntry
from ararat.bindings.log.tree.tiles import ENTRIES, Tile, entries_of, hashes_of, tile_at
from ararat.bindings.log.tree.tree import EMPTY_ROOT, leaf_hash, node_hash, subtree_hash
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import import_table, open_bindings

ORIGIN = "example.org/log"


@dataclass
class Log:
    """A database with a log: `bindings`, `folder` and the files of the key."""

    bindings: Bindings
    folder: LogFolder
    key_path: Path
    key: VerifierKey

    @property
    def store(self) -> DatabaseStore:
        assert isinstance(self.bindings.store, DatabaseStore)
        return self.bindings.store

    def publish(self) -> Publication:
        return publish(self.store, self.folder, self.key_path)

    def execute(self, statement: str) -> None:
        with self.store.transaction() as transaction:
            transaction.connection.exec_driver_sql(statement)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with self.store.transaction() as transaction:
            return [tuple(row) for row in transaction.connection.exec_driver_sql(query)]

    def checkpoint(self) -> Checkpoint:
        return read_checkpoint(self.folder.checkpoint() or b"", self.key)[0]

    def entries(self) -> list[LogEntry]:
        """Return the published entries after a check of all files: sizes, hashes, root and links."""
        checkpoint = self.checkpoint()
        entries: list[LogEntry] = []
        hashes: list[bytes] = []
        for index in range(-(-checkpoint.size // 256)):
            tile = tile_at(ENTRIES, index, checkpoint.size)
            contents = entries_of(tile, self.folder.read(tile))
            hashes += map(leaf_hash, contents)
            entries += map(LogEntry.of_bytes, contents)
        level, below = 0, hashes
        while below:
            tiles = [
                Tile(level, number, min(256, len(below) - 256 * number)) for number in range(-(-len(below) // 256))
            ]
            found = [each for tile in tiles for each in hashes_of(tile, self.folder.read(tile))]
            assert found == below, f"level {level}"
            level, below = level + 1, [subtree_hash(below[i : i + 256]) for i in range(0, len(below) - 255, 256)]
        assert root_of(hashes) == checkpoint.root
        last: dict[str, int] = {}
        for number, entry in enumerate(entries):
            assert entry.before == last.get(entry.key)
            last[entry.key] = number
        return entries


def root_of(leaves: list[bytes]) -> bytes:
    """Return the root by the definition in RFC 6962, from the right edge to the left."""
    peaks: list[bytes] = []
    start = 0
    for level in range(len(leaves).bit_length() - 1, -1, -1):
        if len(leaves) >> level & 1:
            peaks.append(subtree_hash(leaves[start : start + (1 << level)]))
            start += 1 << level
    root = peaks.pop() if peaks else EMPTY_ROOT
    while peaks:
        root = node_hash(peaks.pop(), root)
    return root


@pytest.fixture
def new_log(tmp_path: Path) -> Callable[[Bindings], Log]:
    """new_log(bindings) creates an empty log of a database."""

    def create(bindings: Bindings) -> Log:
        folder, key_path = LogFolder(tmp_path / "log"), tmp_path / "log.key"
        assert isinstance(bindings.store, DatabaseStore)
        key = initialize(bindings.store, folder, key_path, ORIGIN)
        return Log(bindings, folder, key_path, key)

    return create


@pytest.fixture
def log(tmp_path: Path, open_store: Callable[..., Bindings], new_log: Callable[[Bindings], Log]) -> Log:
    """An empty log of a new SQLite database."""
    return new_log(open_store(tmp_path / "bindings.sqlite", create=True))


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 300 names, of which every third has no resource."""
    path = tmp_path_factory.mktemp("log") / "names.csv"
    lines = [f"ark:12345/n{n},https://example.org/{n},{'' if n % 3 == 0 else n},Map {n}\n" for n in range(300)]
    path.write_text("identifier,target,resource,what\n" + "".join(lines), "utf-8")
    return path


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Path:
    """A folder with a log of 5 entries, and a database with 300 more events."""
    folder = tmp_path_factory.mktemp("prepared")
    with open_bindings(folder / "bindings.sqlite", create=True) as bindings:
        assert isinstance(bindings.store, DatabaseStore)
        initialize(bindings.store, LogFolder(folder / "log"), folder / "log.key", ORIGIN)
        for number in range(5):
            bindings.bind(f"ark:12345/x{number}", f"/{number}", resource=f"thing {number}")
        publish(bindings.store, LogFolder(folder / "log"), folder / "log.key")
        import_table(bindings, table)
    return folder


@pytest.fixture
def larger_log(prepared: Path, tmp_path: Path, open_store: Callable[..., Bindings]) -> Callable[[str], Log]:
    """larger_log(name) returns a copy of a log with 5 published entries and 300 new events."""

    def copy(name: str = "copy") -> Log:
        folder = tmp_path / name
        shutil.copytree(prepared, folder)
        bindings = open_store(folder / "bindings.sqlite")
        assert isinstance(bindings.store, DatabaseStore)
        return Log(bindings, LogFolder(folder / "log"), folder / "log.key", read_state(bindings.store).key)

    return copy
