"""Fixtures of the tests of verification: logs without a database, of any entries."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.checkpoints import Checkpoint
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.bindings.log.notes.notes import sign_note
from ararat.bindings.log.tree.entries import LogEntry
from ararat.bindings.log.tree.growing_tree import GrowingTree
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.tree.tiles import ENTRIES, WIDTH, entries_of, hash_reader, tile_at
from ararat.bindings.log.tree.tree import inclusion_proof
from ararat.bindings.log.verification.policy import Party, Policy

LOG = SignerKey(name="example.org/log", secret=bytes(range(32)))
WITNESS = SignerKey(name="witness.example", secret=bytes(range(32, 64)), algorithm=COSIGNATURE)
COSIGNED_AT = 1_795_000_000
POLICY = Policy(logs=[Party(key=LOG.verifier)], witnesses={"w": Party(key=WITNESS.verifier)}, groups=[], quorum="w")
_START = datetime(2026, 11, 22, 15, tzinfo=UTC)


@dataclass
class SignedLog:
    """A log in `folder` that is signed by `LOG` and `WITNESS`, with the policy that requires both."""

    folder: LogFolder
    policy: Policy = field(default_factory=lambda: POLICY)
    size: int = 0

    def add(self, contents: Iterable[bytes]) -> None:
        growing = GrowingTree(self.folder, self.size)
        growing.append(contents)
        root = growing.finish()
        self.size = growing.size
        self.sign(Checkpoint(origin=LOG.name, size=self.size, root=root))

    def sign(self, checkpoint: Checkpoint) -> None:
        self.folder.publish(bytes(sign_note(checkpoint.text, [LOG, WITNESS], COSIGNED_AT)))

    def add_entries(self, *changes: tuple[str, int, str, str | None, int | None]) -> None:
        """Add entries: the name, revision, action, resource and the previous entry of each."""
        self.add(entry(*change, number) for number, change in enumerate(changes, self.size))

    def content(self, index: int) -> bytes:
        tile = tile_at(ENTRIES, index // WIDTH, self.size)
        return entries_of(tile, self.folder.read(tile))[index % WIDTH]

    def proof(self, index: int) -> bytes:
        hashes = inclusion_proof(index, self.size, hash_reader(self.size, self.folder.read))
        checkpoint = self.folder.checkpoint() or b""
        return bytes(Proof(index=index, hashes=tuple(hashes), checkpoint=checkpoint, extra=self.content(index)))


def entry(name: str, revision: int, action: str, resource: str | None, before: int | None, number: int) -> bytes:
    return bytes(
        LogEntry(
            key=name,
            revision=revision,
            action=action,
            time=_START + timedelta(seconds=number),
            thing=None if resource is None else sha256(resource.encode()).digest(),
            state=sha256(b"%d" % number).digest(),
            before=before,
        )
    )


@pytest.fixture
def signed_log(tmp_path: Path) -> SignedLog:
    """An empty signed log."""
    log = SignedLog(LogFolder(tmp_path / "signed"))
    log.add([])
    return log


def changes(number: int) -> Sequence[tuple[str, int, str, str | None, int | None]]:
    """Return entries of 100 names: each is bound, relocated, withdrawn and restored."""
    actions = ("bound", "relocated", "updated", "withdrawn", "updated", "redacted", "restored")
    found: list[tuple[str, int, str, str | None, int | None]] = []
    for index in range(number):
        turn, name = divmod(index, 100)
        resource = None if name % 3 == 0 else f"thing {name}"
        found.append((f"ark:12345/x{name}", turn + 1, actions[turn % 7], resource, index - 100 if turn else None))
    return found


@pytest.fixture(scope="session")
def long_log_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = SignedLog(LogFolder(tmp_path_factory.mktemp("long") / "log"))
    log.add_entries(*changes(700))
    return log.folder.path


@pytest.fixture
def long_log(long_log_folder: Path, tmp_path: Path) -> Callable[[], SignedLog]:
    """long_log() returns a copy of a signed log of 700 entries."""

    def copy() -> SignedLog:
        path = tmp_path / "copy"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(long_log_folder, path)
        return SignedLog(LogFolder(path), size=700)

    return copy
