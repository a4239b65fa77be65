"""Test a large log with an independent program: the packages of Go's checksum database."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey, encode
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.log.tree.proofs import Proof
from ararat.bindings.log.tree.tiles import ENTRIES, WIDTH, Tile, entries_of, hash_reader, tile_at
from ararat.bindings.log.tree.tree import consistency_proof, inclusion_proof, root_hash
from ararat.bindings.log.verification.monitor import Monitor
from ararat.bindings.log.verification.policy import Party, Policy
from ararat.bindings.log.witnesses.cosigning import Witnessing
from ararat.bindings.log.witnesses.witness import CosignatureRefused, Witness
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware import import_table, open_bindings

WITNESS = SignerKey(name="witness.example", secret=bytes(range(32)), algorithm=COSIGNATURE)
GO_PACKAGES = Path("/usr/share/gocode")
SIZE = 70_000


def names(first: int, end: int, target: str) -> str:
    rows = [f"ark:12345/x{number},https://example.org/{target}/{number},{number}\n" for number in range(first, end)]
    return "identifier,target,resource\n" + "".join(rows)


@pytest.fixture
def verify(data: Path, tmp_path: Path):
    """verify(folder, vkey, proofs) returns the exit code and the output of the program in Go."""
    if shutil.which("go") is None or not (GO_PACKAGES / "src/golang.org/x/mod/sumdb").is_dir():
        pytest.fail("Go is missing; run: apt-get install golang-go golang-golang-x-mod-dev")
    program = tmp_path / "verify_log"
    environ = os.environ | {"GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "GOCACHE": str(tmp_path / "cache")}
    subprocess.run(["go", "build", "-o", program, data / "verify_log.go"], check=True, env=environ)

    def run(folder: Path, vkey: object, proofs: Path) -> tuple[int, str]:
        command = [program, folder, str(vkey), str(WITNESS.verifier), proofs]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.long
@pytest.mark.timeout(600)
def test_go_verifies_a_log_of_70_000_events(verify, tmp_path):
    folder, proofs, table = LogFolder(tmp_path / "log"), tmp_path / "proofs", tmp_path / "names.csv"
    proofs.mkdir()
    witness = Witness(tmp_path / "witness.sqlite")
    witness.create()

    def send(url: str, content: bytes) -> tuple[int, str, bytes]:
        try:
            return 200, "text/plain", f"{witness.cosign(content, WITNESS, 1_795_000_000)}\n".encode()
        except CosignatureRefused as refused:
            return refused.status, refused.media_type, refused.body.encode()

    policy = Policy(witnesses={"w": Party(key=WITNESS.verifier, url="https://w/")}, quorum="w")
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        store = bindings.store
        assert isinstance(store, DatabaseStore)
        key = initialize(store, folder, tmp_path / "log.key", "example.org/log")
        witness.add_log(key)
        # The names are bound in parts, then many of them are moved.
        for first, end, target in ((0, 1, "a"), (1, 300, "a"), (300, 50_000, "a"), (0, SIZE - 50_000, "b")):
            table.write_text(names(first, end, target), "utf-8")
            assert import_table(bindings, table).refused == []
            done = publish(store, folder, tmp_path / "log.key", Witnessing(policy=policy, send=send))
            assert done.added == end - first
            size = done.checkpoint.size
            (proofs / f"{size}.checkpoint").write_bytes(folder.checkpoint() or b"")
    assert size == SIZE
    read = hash_reader(size, folder.read, kept=400)
    for number in (*range(0, size, 1_009), 255, 256, 65_535, 65_536, size - 1):
        tile = tile_at(ENTRIES, number // WIDTH, size)
        entry = entries_of(tile, folder.read(tile))[number % WIDTH]
        hashes = tuple(inclusion_proof(number, size, read))
        proof = Proof(index=number, hashes=hashes, checkpoint=folder.checkpoint() or b"", extra=entry)
        (proofs / f"{number}.tlog-proof").write_bytes(bytes(proof))
    for old in (1, 2, 3, 255, 256, 257, 1_000, 65_535, 65_536, 65_537, size - 1, size):
        lines = [str(old), encode(root_hash(old, read)), *map(encode, consistency_proof(old, size, read))]
        (proofs / f"{old}.consistency").write_text("".join(f"{line}\n" for line in lines), "utf-8")

    code, output = verify(folder.path, key, proofs)
    assert code == 0, output
    assert "checkpoint: 70000 entries" in output
    assert "2 signatures" in output
    assert "entries: 70000 agree with the tiles and the root" in output
    assert "inclusion: 75 proofs of Ararat are right" in output
    assert "consistency: 4 earlier checkpoints are right" in output
    assert "consistency: 12 proofs of Ararat are right" in output
    policy.logs.append(Party(key=key))
    assert list(Monitor(folder, policy).findings()) == []

    # The program detects the same changes as the monitor.
    for tile in (Tile(0, 100), Tile(ENTRIES, 100), Tile(1, 0), Tile(ENTRIES, 273, 112), Tile(2, 0, 1)):
        content = folder.read(tile)
        folder.write(tile, content[:-5] + bytes([content[-5] ^ 1]) + content[-4:])
        assert verify(folder.path, key, proofs)[0] != 0
        assert list(Monitor(folder, policy).findings())
        folder.write(tile, content)
    with pytest.raises(LogError):
        folder.read(Tile(3, 0, 1))
