from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ararat.bindings.system.concurrency import Busy, ConcurrencyLimit, client_key
from tests.forking import exit_code


def test_a_client_gets_at_most_three_slots():
    places = ConcurrencyLimit(50, 3)
    held = [places.acquire("192.0.2.7") for _ in range(3)]
    with pytest.raises(Busy) as busy:
        places.acquire("192.0.2.7")
    assert busy.value.code == "busy-client"
    places.acquire("192.0.2.8").release()
    held[0].release()
    places.acquire("192.0.2.7").release()


def test_there_are_at_most_fifty_slots():
    places = ConcurrencyLimit(50, 3)
    held = [places.acquire(f"192.0.2.{number}") for number in range(50)]
    with pytest.raises(Busy) as busy:
        places.acquire("192.0.2.99")
    assert busy.value.code == "busy"
    assert busy.value.sentence.isascii()
    for place in held:
        place.release()
    assert places.in_use == 0


def test_a_slot_is_released_once():
    places = ConcurrencyLimit(2, 3)
    first, _second = places.acquire("192.0.2.7"), places.acquire("192.0.2.7")
    first.release()
    first.release()
    with first:
        pass
    assert places.in_use == 1


def test_a_slot_is_released_after_an_exception():
    places = ConcurrencyLimit(50, 3)
    with pytest.raises(RuntimeError), places.acquire("192.0.2.7"):
        raise RuntimeError
    assert places.in_use == 0


def test_a_client_without_slots_is_forgotten():
    places = ConcurrencyLimit(50, 3)
    for number in range(1000):
        places.acquire(f"2001:db9:{number:x}::1").release()
    assert not places._taken


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_all_slots():
    places = ConcurrencyLimit(1, 3)

    def work() -> None:
        with places.acquire("192.0.2.8"):
            held.release()
            assert places.in_use == 1

    with places.acquire("192.0.2.7") as held:
        assert exit_code(work) == 0
        assert places.in_use == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("192.0.2.7", "192.0.2.8", False, id="two-ipv4-addresses"),
        pytest.param("192.0.2.7", "::ffff:192.0.2.7", True, id="ipv4-mapped"),
        pytest.param("2001:db9:1:2::1", "2001:db9:1:2:ffff::2", True, id="one-64"),
        pytest.param("2001:db9:1:2::1", "2001:db9:1:ff::1", True, id="two-64s-of-one-56"),
        pytest.param("2001:db9:1:2::1", "2001:db9:1:102::1", False, id="two-56s"),
        pytest.param("fe80::1%eth0", "fe80::2%eth1", True, id="zones"),
        pytest.param("", None, True, id="no-address"),
        pytest.param("unix:", "127.0.0.1", False, id="a-socket-file"),
    ],
)
def test_client_key_identifies_one_client(one, other, same):
    assert (client_key(one) == client_key(other)) is same


def test_threads_never_get_more_slots_than_exist():
    places = ConcurrencyLimit(total=10, per_client=10)
    start = threading.Barrier(40)

    def rush(_: int) -> bool:
        start.wait(10)
        try:
            places.acquire("192.0.2.7")
        except Busy:
            return False
        return True

    with ThreadPoolExecutor(40) as threads:
        assert sum(threads.map(rush, range(40))) == 10
    assert places.in_use == 10
