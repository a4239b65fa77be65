"""The queue of the requests of `ararat serve` that wait for a thread."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ararat.bindings.system.thread_slots import ThreadSlots
from ararat.cli.serving import fair_queue
from ararat.cli.serving.fair_queue import NAMES_AT_ONCE, PAGES_AT_ONCE, FairQueue


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def threads() -> ThreadSlots:
    threads = ThreadSlots()
    threads.use(96)
    return threads


@pytest.fixture
def queue(threads: ThreadSlots, clock: Clock) -> FairQueue:
    return FairQueue(threads.pages)


def add(queue: FairQueue, *requests: str) -> None:
    """Add requests such as "a page" or "b name", of the clients a and b."""
    for request in requests:
        client, _, kind = request.partition(" ")
        queue.append(SimpleNamespace(client=client, is_page=kind == "page", slot=None, shown=request))


def taken(queue: FairQueue) -> list[Any]:
    """Take all requests that can begin."""
    found = []
    while queue:
        found.append(queue.popleft())
    return found


def shown(found: list[Any]) -> list[str]:
    return [each.shown for each in found]


def test_names_pass_pages_that_wait(queue: FairQueue, threads: ThreadSlots) -> None:
    held = [threads.pages.take("z"), threads.pages.take("y")]
    add(queue, "a page", "b page", "c name")
    assert shown(taken(queue)) == ["c name"]
    assert queue.has_waiting
    for page in held:
        assert page is not None
        threads.pages.end(page)
    assert shown(taken(queue)) == ["a page", "b page"]


def test_names_and_pages_take_turns(queue: FairQueue) -> None:
    add(queue, "a name", "a name", "a page", "b page")
    assert shown(taken(queue)) == ["a name", "a page", "a name", "b page"]


def test_clients_take_turns(queue: FairQueue) -> None:
    add(queue, "a name", "a name", "a name", "b name")
    assert shown(taken(queue)) == ["a name", "b name", "a name", "a name"]


def test_few_pages_begin_at_once_and_one_that_takes_long_counts_no_longer(queue: FairQueue, clock: Clock) -> None:
    add(queue, *(f"{client} page" for client in "abcdefghijkl"))
    assert len(taken(queue)) == PAGES_AT_ONCE
    clock.now += fair_queue.PAGE_SECONDS
    assert len(taken(queue)) == PAGES_AT_ONCE
    for _ in range(5):
        clock.now += fair_queue.PAGE_SECONDS
        taken(queue)
    assert len(queue._pages) == 12 - 8


def test_one_client_has_two_pages_at_most(queue: FairQueue, threads: ThreadSlots, clock: Clock) -> None:
    add(queue, "a page", "a page", "a page", "b page")
    first = taken(queue)
    assert shown(first) == ["a page", "b page"]
    clock.now += fair_queue.PAGE_SECONDS
    assert shown(taken(queue)) == ["a page"]
    clock.now += fair_queue.PAGE_SECONDS
    assert not queue
    threads.pages.end(first[0].slot)
    assert shown(taken(queue)) == ["a page"]


def test_few_names_begin_at_once_and_one_that_waits_for_a_database_counts_no_longer(
    queue: FairQueue, clock: Clock
) -> None:
    add(queue, *["a name"] * 12)
    begun = taken(queue)
    assert len(begun) == NAMES_AT_ONCE
    queue.end(begun[0])
    assert len(taken(queue)) == 1
    clock.now += fair_queue.NAME_SECONDS
    assert len(taken(queue)) == NAMES_AT_ONCE


def test_a_thread_is_woken_for_each_further_request_that_can_begin(threads: ThreadSlots) -> None:
    woken: list[int] = []
    queue = FairQueue(threads.pages, notify=lambda: woken.append(len(queue)))
    add(queue, "a name", "b name", "c page")
    queue.popleft()
    assert woken == [2]
