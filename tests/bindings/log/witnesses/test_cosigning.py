"""Test the publication of a log with witnesses: the quorum, faults of witnesses, and old copies."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import Client

from ararat.bindings.log.errors import LogError
from ararat.bindings.log.notes.checkpoints import read_checkpoint
from ararat.bindings.log.notes.keys import COSIGNATURE, SignerKey
from ararat.bindings.log.notes.notes import sign_note
from ararat.bindings.log.publishing import Publication, publish
from ararat.bindings.log.verification.monitor import Monitor
from ararat.bindings.log.verification.policy import Group, Party, Policy
from ararat.bindings.log.witnesses.cosigning import Witnessing
from ararat.bindings.log.witnesses.witness import Witness
from ararat.middleware import BindingError
from ararat.middleware.log.witnesses.application import witness_application

TIME = 1_795_000_000


class Network:
    """Two witnesses, w0 and w1. `down` are those that do not answer, `answers` replaces answers."""

    def __init__(self, folder: Path) -> None:
        self.down: set[str] = set()
        self.answers: dict[str, tuple[int, str, bytes]] = {}
        self.requests = 0
        self.keys = {
            f"w{number}": SignerKey(name=f"w{number}.example", secret=bytes([number] * 32), algorithm=COSIGNATURE)
            for number in range(2)
        }
        self.witnesses = {name: Witness(folder / f"{name}.sqlite") for name in self.keys}
        for witness in self.witnesses.values():
            witness.create()

    def send(self, url: str, content: bytes) -> tuple[int, str, bytes]:
        parts = urlsplit(url)
        name = parts.netloc
        self.requests += 1
        if name in self.down:
            raise LogError("no answer")
        if name in self.answers:
            return self.answers[name]
        application = witness_application(self.witnesses[name], self.keys[name], lambda: TIME)
        answer = Client(application).post(parts.path, data=content)
        return answer.status_code, answer.mimetype or "", answer.get_data()

    def witnessing(self, threshold: int = 2, *, is_required: bool = True) -> Witnessing:
        policy = Policy(
            witnesses={name: Party(key=key.verifier, url=f"https://{name}/") for name, key in self.keys.items()},
            groups=[Group(name="g", threshold=threshold, members=("w0", "w1"))],
            quorum="g",
        )
        return Witnessing(policy=policy, send=self.send, is_required=is_required)


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return Network(tmp_path)


@pytest.fixture
def witnessed(larger_log: Callable[..., Any], network: Network) -> Any:
    """A log of 5 entries that both witnesses know, with 300 new events."""
    log = larger_log()
    for witness in network.witnesses.values():
        witness.add_log(log.key)
    return log


def run(log: Any, witnessing: Witnessing) -> Publication:
    return publish(log.store, log.folder, log.key_path, witnessing)


def cosigners(log: Any, network: Network) -> list[str]:
    keys = [key.verifier for key in network.keys.values()]
    return [found.key.name for found in read_checkpoint(log.folder.checkpoint(), log.key, keys)[1]]


def refused(log: Any, witnessing: Witnessing) -> BindingError:
    with pytest.raises(BindingError) as caught:
        run(log, witnessing)
    return caught.value


def test_a_publication_is_cosigned(witnessed, network):
    done = run(witnessed, network.witnessing())
    assert (done.added, done.cosigned, done.failures) == (300, ("w0.example", "w1.example"), {})
    assert cosigners(witnessed, network) == ["w0.example", "w1.example"]
    policy = network.witnessing().policy
    policy.logs.append(Party(key=witnessed.key))
    assert list(Monitor(witnessed.folder, policy).findings()) == []
    # Without new events, no witness is asked.
    requests = network.requests
    assert run(witnessed, network.witnessing()).added == 0
    assert network.requests == requests
    witnessed.bindings.bind("ark:12345/y", "/y")
    assert run(witnessed, network.witnessing()).added == 1
    assert [each.logs()[0].size for each in network.witnesses.values()] == [306, 306]


def test_without_the_quorum_nothing_is_published(witnessed, network):
    network.down = {"w1"}
    error = refused(witnessed, network.witnessing())
    assert error.code == "log-quorum"
    assert "the quorum g is missing; w1: no answer" in error.message
    assert witnessed.checkpoint().size == 5
    assert run(witnessed, network.witnessing(threshold=1)).cosigned == ("w0.example",)
    assert witnessed.checkpoint().size == 305
    # The published checkpoint lacks one of two witnesses: the next publication asks both again.
    assert cosigners(witnessed, network) == ["w0.example"]
    network.down = set()
    assert run(witnessed, network.witnessing()).cosigned == ("w0.example", "w1.example")
    assert cosigners(witnessed, network) == ["w0.example", "w1.example"]


def test_a_preferred_quorum_does_not_stop_the_log(witnessed, network):
    network.down = {"w0", "w1"}
    done = run(witnessed, network.witnessing(is_required=False))
    assert (done.added, done.cosigned, set(done.failures)) == (300, (), {"w0", "w1"})
    assert witnessed.checkpoint().size == 305
    network.down = {"w1"}
    assert run(witnessed, network.witnessing(is_required=False)).cosigned == ("w0.example",)
    # A cosignature of the same checkpoint is kept when its witness does not answer later.
    network.down = {"w0"}
    assert run(witnessed, network.witnessing(is_required=False)).cosigned == ("w0.example", "w1.example")


def test_a_witness_that_missed_publications_is_sent_a_longer_proof(witnessed, network):
    network.down = {"w1"}
    for number in range(3):
        witnessed.bindings.bind(f"ark:12345/y{number}", "/y")
        run(witnessed, network.witnessing(threshold=1))
    network.down = set()
    witnessed.bindings.bind("ark:12345/z", "/z")
    assert run(witnessed, network.witnessing()).cosigned == ("w0.example", "w1.example")


def test_a_crash_after_the_cosignatures_is_continued(witnessed, network, monkeypatch):
    def crash(self: object, content: bytes) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(witnessed.folder), "publish", crash)
        with pytest.raises(KeyboardInterrupt):
            run(witnessed, network.witnessing())
    assert [each.logs()[0].size for each in network.witnesses.values()] == [305, 305]
    assert witnessed.checkpoint().size == 5
    witnessed.bindings.bind("ark:12345/y", "/y")
    assert run(witnessed, network.witnessing()).added == 301
    assert len(witnessed.entries()) == 306


def test_old_copies_of_database_and_folder_are_detected_by_a_witness(larger_log, network):
    """Both are restored from one backup, so that they agree. Only the witnesses have seen the newer checkpoint."""
    log, old = larger_log("new"), larger_log("old")
    for witness in network.witnesses.values():
        witness.add_log(log.key)
    run(log, network.witnessing())
    for number in range(2):
        old.bindings.bind(f"ark:12345/y{number}", "/y")
    before = {path: path.read_bytes() for path in old.folder.path.rglob("*") if path.is_file()}
    for _ in range(2):
        error = refused(old, network.witnessing(is_required=False))
        assert error.code == "log-restored"
        assert "the witness w0.example has seen 305 entries, and the database has recorded 5" in error.message
    assert {path: path.read_bytes() for path in old.folder.path.rglob("*") if path.is_file()} == before
    # The newest copy of the folder repairs it.
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)


def test_a_second_history_is_not_cosigned(larger_log, network):
    log, other = larger_log("one"), larger_log("two")
    for witness in network.witnesses.values():
        witness.add_log(log.key)
    run(log, network.witnessing())
    other.publish()  # without witnesses, another order of the same size
    other.bindings.bind("ark:12345/y", "/y")
    assert refused(other, network.witnessing()).code == "log-fork"
    assert [each.logs()[0].size for each in network.witnesses.values()] == [305, 305]


LINE = str(sign_note("x\n", [SignerKey.create("w1.example", COSIGNATURE)], TIME).signatures[0]).encode()


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((200, "text/plain", b""), "the note"),
        ((200, "text/plain", b"\xff\x00"), "UTF-8"),
        ((200, "text/plain", LINE + b"\n"), "no signature of w1.example"),
        ((200, "text/plain", b"x\n\n" + LINE + b"\n"), "not a list of signatures"),
        ((200, "text/html", b"<p>\x1b[2J"), "the note"),
        ((404, "text/plain", b"not known\n"), "it answers 404: not known"),
        ((500, "text/html", b"\x1b[2J\xff"), "it answers 500"),
        ((301, "", b""), "it answers 301"),
        ((409, "text/x.tlog.size", b"x"), "did not return the number"),
        ((409, "text/x.tlog.size", b"3\n"), "it answers 409"),
        ((409, "text/x.tlog.size", b"5\n"), "it answers 409"),
    ],
)
def test_an_answer_of_a_hostile_witness_is_not_used(witnessed, network, answer, reason):
    network.answers["w1"] = answer
    done = run(witnessed, network.witnessing(is_required=False))
    assert done.cosigned == ("w0.example",)
    assert reason in done.failures["w1"]
    assert done.failures["w1"].isprintable()
    assert cosigners(witnessed, network) == ["w0.example"]


def test_two_logs_witness_each_other(larger_log, network, open_store, new_log, tmp_path):
    """Each institution has a log and a witness, and requires the cosignature of the other one."""
    logs = {"w1": larger_log(), "w0": new_log(open_store(tmp_path / "second.sqlite", create=True))}
    for name, log in logs.items():
        network.witnesses[name].add_log(log.key)
    policy = network.witnessing().policy
    for turn in range(3):
        for name, log in logs.items():
            log.bindings.bind(f"ark:12345/turn{turn}", "/turn")
            asked = Policy(witnesses={name: policy.witnesses[name]}, quorum=name)
            assert run(log, Witnessing(policy=asked, send=network.send)).cosigned == (f"{name}.example",)
            reader = Policy(logs=[Party(key=log.key)], witnesses=asked.witnesses, quorum=name)
            assert list(Monitor(log.folder, reader).findings()) == []
