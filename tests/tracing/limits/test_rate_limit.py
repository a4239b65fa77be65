"""The rate limits of hosts, with a clock of the tests."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.net.hop import HopFailed
from ararat.tracing.limits.rate_limit import HostRateLimiter, SlidingWindow


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def asked(pace: HostRateLimiter, client: str | None = "192.0.2.7", host="a.example", addresses=()):
    """Return whether a request to the host is allowed and counted."""
    try:
        pace.acquire(client, host, [ip_address(address) for address in addresses])
    except HopFailed:
        return False
    return True


@given(st.lists(st.floats(0, 40), max_size=60), st.integers(1, 5))
def test_no_window_counts_more_events_than_allowed(steps, most):
    clock, counted = Clock(), []
    rate = SlidingWindow(most, 60.0, clock=clock)
    for step in steps:
        clock.now += step
        if rate.wait("k") == 0:
            rate.count("k")
            counted.append(clock.now)
    assert all(later - first >= 60.0 for first, later in zip(counted, counted[most:], strict=False))


def test_wait_returns_the_remaining_seconds(clock):
    rate = SlidingWindow(2, 60.0, clock=clock)
    rate.count("k")
    clock.now += 20
    rate.count("k")
    assert rate.wait("k") == 40
    clock.now += 40
    assert rate.wait("k") == 0


def test_the_number_of_keys_is_limited_and_the_newest_are_kept(clock):
    rate = SlidingWindow(1, 60.0, keys=100, clock=clock)
    for number in range(1000):
        rate.count(number)
    assert len(rate) == 100
    assert (rate.wait(999), rate.wait(0)) == (60, 0)


def test_a_host_gets_thirty_requests_per_minute(clock):
    pace = HostRateLimiter(clock=clock)
    assert [asked(pace, f"192.0.2.{number}") for number in range(31)] == [True] * 30 + [False]
    assert asked(pace, host="b.example")
    clock.now += 60
    assert asked(pace)


def test_all_addresses_of_a_client_share_its_limit(clock):
    pace = HostRateLimiter(per_host=30, per_client=2, clock=clock)
    assert [asked(pace, f"2001:db9::{number}") for number in range(1, 4)] == [True, True, False]
    assert asked(pace, "2001:db9:0:100::1")
    assert asked(pace, None)


def test_all_names_of_one_machine_share_its_limit(clock):
    pace = HostRateLimiter(per_host=3, clock=clock)
    names = [f"{number}.a.example" for number in range(5)]
    assert [asked(pace, host=name, addresses=["93.184.216.34"]) for name in names] == [True] * 3 + [False] * 2
    # Addresses of one /64 share it, too.
    near = [[f"2606:2800::{number}"] for number in range(1, 5)]
    assert [asked(pace, host=f"v6-{address[0][-1]}.example", addresses=address) for address in near] == [
        True,
        True,
        True,
        False,
    ]


def test_refused_requests_are_not_counted(clock):
    pace = HostRateLimiter(per_host=1, clock=clock)
    assert asked(pace, host="a.example", addresses=["93.184.216.34"])
    assert not asked(pace, host="b.example", addresses=["93.184.216.34"])
    assert asked(pace, host="b.example", addresses=["93.184.216.35"])


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        (0.0, "this site reached its limit of 1 request to this host within a minute; try again in 60 seconds"),
        (59.5, "this site reached its limit of 1 request to this host within a minute; try again in 1 second"),
    ],
)
def test_the_error_states_the_waiting_time(later, sentence, clock):
    pace = HostRateLimiter(per_host=1, clock=clock)
    pace.acquire("192.0.2.7", "a.example", [])
    clock.now += later
    with pytest.raises(HopFailed) as failed:
        pace.acquire("192.0.2.8", "a.example", [])
    assert (failed.value.code, failed.value.sentence) == ("too-often", sentence)


def test_threads_share_one_limit():
    pace = HostRateLimiter(per_host=50, per_client=50)
    begin = threading.Barrier(8)

    def ask_often():
        begin.wait(10)
        return sum(asked(pace) for _ in range(20))

    with ThreadPoolExecutor(8) as pool:
        assert sum(future.result() for future in [pool.submit(ask_often) for _ in range(8)]) == 50


def test_a_thousand_requests_to_one_host_send_thirty(clock):
    pace = HostRateLimiter(clock=clock)
    sent = sum(asked(pace, f"198.51.100.{number % 250}", addresses=["93.184.216.34"]) for number in range(1000))
    assert sent == 30
