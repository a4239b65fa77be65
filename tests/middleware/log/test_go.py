"""Verify a large log with the libraries of Go's checksum database (Debian: golang-go, golang-golang-x-mod-dev)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ararat.middleware import import_table
from ararat.middleware.log.keys import encode
from ararat.middleware.log.tiles import hash_reader
from ararat.middleware.log.tree import consistency_proof, inclusion_proof, root_hash

PROGRAM = Path(__file__).with_name("verify_log.go")
LIBRARIES = Path("/usr/share/gocode")
SIZE = 70_000


@pytest.fixture
def verifier(tmp_path: Path) -> Path:
    if shutil.which("go") is None or not (LIBRARIES / "src/golang.org/x/mod/sumdb/note").exists():
        pytest.fail("install the libraries of Go: apt-get install golang-go golang-golang-x-mod-dev")
    built = tmp_path / "verify_log"
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": str(LIBRARIES), "GOCACHE": str(tmp_path / "cache")}
    subprocess.run(["go", "build", "-o", str(built), str(PROGRAM)], check=True, env=environment, cwd=tmp_path)
    return built


@pytest.mark.long
@pytest.mark.timeout(600)
def test_go_verifies_notes_roots_and_proofs(log, verifier, tmp_path):
    old = {}
    for start, end in ((0, 1), (1, 300), (300, 65_536), (65_536, SIZE)):
        table = tmp_path / "names.csv"
        rows = [f"ark:12345/n{n},https://example.org/{n},inv. {n}\n" for n in range(start, end)]
        table.write_text("".join(["identifier,target,resource\n", *rows]), "utf-8")
        import_table(log.bindings, table)
        head = log.publish().checkpoint
        old[head.size] = head.root
    assert [*old] == [1, 300, 65_536, SIZE]
    read = hash_reader(SIZE, log.folder.read, kept=1000)
    for size in (2, 255, 256, 257, 69_999):
        old[size] = root_hash(size, read)
    proofs = {
        "inclusion": [
            {"index": index, "hashes": [*map(encode, inclusion_proof(index, SIZE, read))]}
            for index in (0, 1, 255, 256, 299, 65_535, 65_536, SIZE - 1, *range(7, SIZE, 997))
        ],
        "consistency": [
            {"old": size, "root": encode(root), "hashes": [*map(encode, consistency_proof(size, SIZE, read))]}
            for size, root in old.items()
        ],
    }
    (tmp_path / "proofs.json").write_text(json.dumps(proofs), "utf-8")
    command = [verifier, log.folder.path, str(log.key), tmp_path / "proofs.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{SIZE} entries, 79 inclusion proofs and 9 consistency proofs are right\n"
    # Go refuses a log with one changed byte.
    path = log.folder.path / "tile" / "entries" / "100"
    path.write_bytes(path.read_bytes().replace(b"revision 1", b"revision 2", 1))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
