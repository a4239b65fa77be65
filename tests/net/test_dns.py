from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence

import pytest

from ararat.net.deadline import Deadline
from ararat.net.dns import Lookups, system_addresses
from ararat.net.hop import HopFailed
from tests.forking import exit_code


def soon(seconds: float = 30.0, stop: threading.Event | None = None) -> Deadline:
    return Deadline(time.monotonic() + seconds, stop)


def failing(error: Exception) -> Lookups:
    def resolve(host: str) -> Sequence[str]:
        raise error

    return Lookups(resolve)


def wait_for_threads(name: str) -> None:
    """Wait until no thread with this name is left."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(20)


def test_addresses_are_unique_and_ordered():
    lookups = Lookups(lambda host: ["192.0.2.2", "2001:db9::1", "192.0.2.2", "192.0.2.1"])
    assert lookups.addresses("a.example", soon()) == ["192.0.2.2", "2001:db9::1", "192.0.2.1"]


def test_a_name_is_looked_up_once():
    asked = []
    Lookups(lambda host: asked.append(host) or ["192.0.2.1"]).addresses("a.example", soon())
    assert asked == ["a.example"]


@pytest.mark.parametrize(
    "error", [OSError(-2, "unknown"), UnicodeError("label too long")], ids=["no-such-name", "no-name"]
)
def test_a_failed_lookup_has_a_code(error):
    with pytest.raises(HopFailed) as failed:
        failing(error).addresses("a.example", soon())
    assert failed.value.code == "dns"


def test_a_lookup_without_a_thread_does_not_count(monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    lookups = Lookups(lambda host: ["192.0.2.1"], total=1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(HopFailed) as failed:
            lookups.addresses("a.example", soon(), "192.0.2.7")
    assert failed.value.code == "busy"
    assert lookups.addresses("a.example", soon(), "192.0.2.7") == ["192.0.2.1"]


def test_a_name_without_addresses_is_not_a_failed_lookup():
    with pytest.raises(HopFailed) as failed:
        Lookups(lambda host: []).addresses("a.example", soon())
    assert failed.value.code == "no-address"


def hanging(
    gate: threading.Event, *, total: int = 32, per_client: int = 8, begun: threading.Event | None = None
) -> Lookups:
    """Lookups that do not return before the gate is open."""

    def resolve(host: str) -> Sequence[str]:
        if begun:
            begun.set()
        assert gate.wait(30)
        return ["192.0.2.1"]

    return Lookups(resolve, total, per_client)


def test_a_hanging_lookup_ends_at_the_deadline():
    gate = threading.Event()
    lookups = hanging(gate)
    began = time.monotonic()
    with pytest.raises(HopFailed) as failed:
        lookups.addresses("a.example", soon(0.1))
    assert failed.value.code == "timeout"
    assert time.monotonic() - began < 20
    gate.set()


def test_a_stop_ends_the_lookup():
    gate, stop = threading.Event(), threading.Event()
    lookups = hanging(gate, begun=stop)
    with pytest.raises(HopFailed) as failed:
        lookups.addresses("a.example", soon(30, stop))
    assert failed.value.code == "stopped"
    gate.set()


def test_hanging_lookups_count_until_they_return():
    gate = threading.Event()
    lookups = hanging(gate, total=3)
    for _ in range(3):
        with pytest.raises(HopFailed, match="timeout"):
            lookups.addresses("a.example", soon(0.01))
    with pytest.raises(HopFailed) as failed:
        lookups.addresses("a.example", soon())
    assert failed.value.code == "busy"
    gate.set()
    wait_for_threads("ararat-lookup")
    assert lookups.addresses("a.example", soon()) == ["192.0.2.1"]


def test_a_client_has_a_limited_number_of_lookups():
    gate = threading.Event()
    lookups = hanging(gate, total=8, per_client=2)
    for client in ("192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2"):
        with pytest.raises(HopFailed, match="timeout"):
            lookups.addresses("slow.example", soon(0.01), client)
    # The addresses of one /64 are one client.
    for client in ("192.0.2.1", "2001:db8::3"):
        with pytest.raises(HopFailed) as failed:
            lookups.addresses("slow.example", soon(), client)
        assert failed.value.code == "busy"
    with pytest.raises(HopFailed, match="timeout"):
        lookups.addresses("slow.example", soon(0.01), "192.0.2.2")
    gate.set()
    wait_for_threads("ararat-lookup")
    assert lookups.addresses("a.example", soon(), "192.0.2.1") == ["192.0.2.1"]


def test_without_a_client_all_lookups_are_available():
    gate = threading.Event()
    lookups = hanging(gate, total=4, per_client=2)
    for _ in range(4):
        with pytest.raises(HopFailed, match="timeout"):
            lookups.addresses("slow.example", soon(0.01))
    gate.set()


def test_a_failed_lookup_releases_its_slot():
    def resolve(host: str) -> Sequence[str]:
        raise OSError

    lookups = Lookups(resolve, total=1)
    for _ in range(10):
        with pytest.raises(HopFailed) as failed:
            lookups.addresses("a.example", soon())
        assert failed.value.code == "dns"


def test_the_system_resolver_resolves_localhost():
    assert set(system_addresses("localhost")) & {"127.0.0.1", "::1"}


def test_a_sub_deadline_never_exceeds_the_deadline():
    whole = soon(30)
    assert whole.sub_deadline(60, "the part") is whole
    part = whole.sub_deadline(0.01, "the part")
    assert part.deadline < whole.deadline
    time.sleep(0.02)
    with pytest.raises(HopFailed, match="the time limit of the part was reached"):
        part.remaining()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_does_not_count_the_lookups_of_its_parent():
    gate, parent = threading.Event(), os.getpid()

    def resolve(host: str) -> Sequence[str]:
        assert os.getpid() != parent or gate.wait(30)
        return ["192.0.2.1"]

    lookups = Lookups(resolve, total=1)
    with pytest.raises(HopFailed, match="timeout"):
        lookups.addresses("slow.example", soon(0.01))
    assert exit_code(lambda: lookups.addresses("a.example", soon())) == 0
    gate.set()
    wait_for_threads("ararat-lookup")
