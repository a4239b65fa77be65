"""Test a witness: its answers to requests of logs, and what it keeps."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.test import Client

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.notes.checkpoints import Checkpoint
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.bindings.log.notes.notes import SignedNote, sign_note
from ararat.bindings.log.tree.tree import EMPTY_ROOT, ReadHash, consistency_proof, leaf_hash, root_hash, subtree_hash
from ararat.bindings.log.witnesses.add_checkpoint import MAX_REQUEST_BYTES, AddCheckpoint, read_size
from ararat.bindings.log.witnesses.witness import CosignatureRefused, Witness
from ararat.middleware import BindingError
from ararat.middleware.log.witnesses.application import witness_application

LOG = SignerKey(name="example.org/log", secret=bytes(range(32)))
WITNESS = SignerKey(name="witness.example", secret=bytes(range(32, 64)), algorithm=COSIGNATURE)
TIME = 1_795_000_000
LEAVES = [leaf_hash(b"%d" % number) for number in range(16)]
OTHER = [leaf_hash(b"other"), *LEAVES[1:]]


def reader(leaves: list[bytes]) -> ReadHash:
    return lambda level, index: subtree_hash(leaves[index << level : (index + 1) << level])


def request(old: int, size: int, leaves: list[bytes] = LEAVES, key: SignerKey = LOG, proof: int | None = None) -> bytes:
    """Return a request for a tree of `size` entries. `proof` replaces the old size of the proof."""
    root = root_hash(size, reader(leaves)) if size else EMPTY_ROOT
    note = sign_note(Checkpoint(origin=key.name, size=size, root=root).text, [key])
    start = min(old, size) if proof is None else proof
    hashes = consistency_proof(start, size, reader(leaves))
    return bytes(AddCheckpoint(old=old, proof=tuple(hashes), checkpoint=bytes(note)))


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    found = Witness(tmp_path / "witness.sqlite")
    found.create()
    found.add_log(LOG.verifier)
    return found


@pytest.fixture
def post(witness: Witness) -> Callable[..., tuple[int, str, str]]:
    """post(body) returns the status, the media type and the body of the answer."""
    client = Client(witness_application(witness, WITNESS, lambda: TIME + 0.5))

    def send(body: bytes, path: str = "/add-checkpoint", method: str = "POST") -> tuple[int, str, str]:
        answer = client.open(path, method=method, data=body)
        return answer.status_code, answer.headers["Content-Type"], answer.get_data(as_text=True)

    return send


def test_a_growing_log_is_cosigned(post, witness):
    for old, size in ((0, 0), (0, 1), (1, 1), (1, 3), (3, 8), (8, 16), (16, 16)):
        body = request(old, size)
        status, media_type, answer = post(body)
        assert (status, media_type) == (200, "text/plain; charset=utf-8")
        note = AddCheckpoint.of_bytes(body).checkpoint.decode()
        (found,) = SignedNote.of_bytes(f"{note}{answer}".encode()).verify([WITNESS.verifier])
        assert (found.key, found.time) == (WITNESS.verifier, TIME)
        assert witness.logs()[0].size == size


def test_the_state_is_on_the_disk_before_the_signature_is_returned(post, witness, tmp_path):
    assert post(request(0, 5))[0] == 200
    again = Witness(tmp_path / "witness.sqlite")
    with pytest.raises(CosignatureRefused) as caught:
        again.cosign(request(0, 4), WITNESS, TIME)
    assert (caught.value.status, caught.value.body) == (409, "5\n")


@pytest.mark.parametrize(
    ("body", "status", "answer"),
    [
        (request(0, 9), 409, "5\n"),
        (request(4, 9), 409, "5\n"),
        (request(6, 9), 409, "5\n"),
        (request(0, 3), 409, "5\n"),
        (request(9, 8), 400, "the old size is larger"),
        # Two histories: another entry before the last checkpoint.
        (request(5, 9, OTHER), 422, "does not begin with the tree of 5 entries"),
        (request(5, 5, OTHER), 409, "the log has two histories"),
        (request(5, 9, proof=4), 422, "the proof of consistency"),
        (request(5, 9, proof=9), 422, "the proof of consistency has 0 hashes"),
        (request(5, 5, proof=3), 422, "the proof of consistency has"),
        (request(5, 9, key=SignerKey.create(LOG.name)), 403, "no signature of example.org/log"),
        (request(0, 9, key=SignerKey.create("example.org/other")), 404, "example.org/other is not known here"),
        (request(5, 9).replace(b"\n9\n", b"\n8\n"), 403, "the signature of example.org/log is wrong"),
        (request(5, 9).replace(b"old 5", b"old 05"), 400, "does not begin with a line such as"),
        (request(5, 9).replace(b"old 5", b"old -5"), 400, "does not begin"),
        (request(5, 9).replace(b"old 5", b"old 9999999999999999999"), 400, "does not begin"),
        (request(5, 9).replace(b"old 5\n", b"old 5\nAAAA\n"), 400, "is not a hash"),
        (request(5, 9).replace(b"old 5\n", b"old 5\n" + b"A" * 43 + b"=\n"), 422, "the proof of consistency has"),
        (request(5, 9).replace(b"old 5\n", b"old 5\n" + (b"A" * 43 + b"=\n") * 64), 400, "at most 63"),
        (b"", 400, "does not begin"),
        (b"old 5\n\n", 400, "the note"),
        (b"\xff\x1b[2J\n\n", 400, "is not ASCII"),
        (b"old 5\n\n\xff", 400, "is not UTF-8"),
        (b"old 5\n\nhello\n\n\xe2\x80\x94 a AAAAAAAA\n", 400, "three lines"),
        (b"A" * (MAX_REQUEST_BYTES + 1), 413, "at most 65,536 bytes"),
    ],
)
def test_other_requests_are_refused(post, witness, body, status, answer):
    assert post(request(0, 5))[0] == 200
    found = post(body)
    assert found[0] == status
    assert answer in found[2]
    assert found[2].replace("\n", "").isprintable()
    assert found[1] == ("text/x.tlog.size" if answer == "5\n" else "text/plain; charset=utf-8")
    assert witness.logs()[0].size == 5
    assert post(request(5, 9))[0] == 200


def test_two_histories_are_in_the_log_of_the_server(post, caplog):
    for body in (request(0, 5), request(0, 9), b"", request(5, 9, OTHER), request(5, 5, OTHER)):
        post(body)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "Refused a checkpoint (422): the tree of 9 entries does not begin with the tree of 5 entries",
        "Refused a checkpoint (409): another checkpoint of 5 entries was cosigned: the log has two histories",
    ]


def test_other_paths_and_methods(post, witness):
    assert post(b"", "/")[0] == 404
    assert post(b"", "/add-checkpoint/")[0] == 404
    assert post(b"", method="GET")[0] == 405
    assert post(b"", method="HEAD") == (405, "text/plain; charset=utf-8", "")
    application = witness_application(witness, WITNESS)
    for length in ("-1", "x", "\u0663", "9" * 30, ""):
        environ = {"PATH_INFO": "/add-checkpoint", "REQUEST_METHOD": "POST", "CONTENT_LENGTH": length}
        statuses: list[str] = []
        body = Client(application).open("/add-checkpoint", method="POST", environ_overrides=environ)
        statuses.append(body.status)
        assert statuses[0].startswith("400")


def test_mutated_requests_never_change_what_the_witness_has_seen(post, witness):
    assert post(request(0, 5))[0] == 200
    body = request(5, 9)
    generator = random.Random(22)  # noqa: S311 - a repeatable test
    for _ in range(150):
        place = generator.randrange(len(body))
        byte = bytes([generator.randrange(256)])
        for mutant in (body[:place] + byte + body[place + 1 :], body[:place] + byte + body[place:], body[:place]):
            if mutant != body:
                status, _, answer = post(mutant)
                assert status in (400, 403, 404, 409, 422), answer
                assert answer.replace("\n", "").isprintable()
    assert witness.logs()[0].size == 5
    assert post(body)[0] == 200


def test_two_histories_at_the_same_time_get_one_cosignature(witness):
    """Many threads offer two trees of the same size. All cosignatures are of one of them."""
    bodies = [request(0, size, leaves) for size in range(1, 9) for leaves in (LEAVES, OTHER)]
    results: list[bytes] = []
    start = threading.Barrier(len(bodies))

    def offer(body: bytes) -> None:
        start.wait()
        try:
            witness.cosign(body, WITNESS, TIME)
        except CosignatureRefused:
            return
        results.append(body)

    threads = [threading.Thread(target=offer, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 1


def test_a_log_has_one_key(witness):
    assert not witness.add_log(LOG.verifier)
    for key in (SignerKey.create(LOG.name).verifier, WITNESS.verifier):
        with pytest.raises(BindingError) as caught:
            witness.add_log(key)
        assert caught.value.code == "witness-log"
    assert [(log.key, log.size) for log in witness.logs()] == [(LOG.verifier, 0)]


@pytest.mark.parametrize("content", [None, b"not a database" * 100])
def test_a_lost_or_damaged_state_is_not_created_again(tmp_path, content):
    path = tmp_path / "witness.sqlite"
    if content is not None:
        path.write_bytes(content)
    answer = Client(witness_application(Witness(path), WITNESS)).post("/add-checkpoint", data=request(0, 1))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert "cannot cosign now" in answer.get_data(as_text=True)
    assert (path.read_bytes() if path.exists() else None) == content


@pytest.mark.parametrize("text", ["", "x", "-1", "01", "1\n\n", "9223372036854775808", "\u0661"])
def test_a_size_is_a_number(text):
    with pytest.raises(LogError):
        read_size(text.encode())
