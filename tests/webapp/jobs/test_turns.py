"""The turns of the jobs of one process: accounts take turns, and changes go before reading."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from ararat.webapp.jobs import turns
from ararat.webapp.jobs.turns import Turns


def order_of(jobs: list[tuple[int, bool]], blocks: int = 3) -> list[int]:
    """Return the blocks of jobs, by the place of the job, if all of them wait for the first one."""
    shared, done, waiting = Turns(), list[int](), list[threading.Thread]()
    first = threading.Event()

    def work(place: int, account: int, is_reading: bool) -> None:
        with shared.taking(account, is_reading=is_reading):
            for _ in range(blocks):
                first.wait(20)
                done.append(place)
                turns.pass_on()

    for place, (account, is_reading) in enumerate(jobs):
        waiting.append(threading.Thread(target=work, args=(place, account, is_reading)))
        waiting[-1].start()
        deadline = time.monotonic() + 20
        while not (shared._is_taken and len(shared._waiting) == place):
            assert time.monotonic() < deadline
            time.sleep(0.001)
    first.set()
    for each in waiting:
        each.join(20)
    assert not shared._is_taken
    return done


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        pytest.param([(1, True)], [0, 0, 0], id="one job"),
        pytest.param([(1, True), (2, True)], [0, 1, 0, 1, 0, 1], id="two accounts"),
        pytest.param([(1, False), (2, True)], [0, 1, 0, 1, 0, 1], id="accounts before kinds"),
        pytest.param([(1, True), (1, False)], [0, 1, 1, 1, 0, 0], id="changes of an account before reading"),
        pytest.param([(1, True), (2, True), (3, False)], [0, 2, 1, 0, 2, 1, 0, 2, 1], id="three accounts"),
        pytest.param([(1, True), (1, False), (2, True)], [0, 2, 1, 2, 1, 2, 1, 0, 0], id="both"),
    ],
)
def test_a_job_waits_for_one_block_of_each_other_account(jobs: list[tuple[int, bool]], expected: list[int]) -> None:
    assert order_of(jobs) == expected


def test_other_work_has_no_turns() -> None:
    turns.pass_on()
    with turns.apart():
        pass


def test_a_job_that_waits_for_another_process_lets_others_work() -> None:
    shared, done, goes_on = Turns(), list[str](), threading.Event()

    def read() -> None:
        with shared.taking(1, is_reading=True):
            with turns.apart():
                goes_on.wait(20)
            done.append("read")

    thread = threading.Thread(target=read)
    thread.start()
    with shared.taking(2, is_reading=False):
        goes_on.set()
        done.append("import")
    thread.join(20)
    assert done == ["import", "read"]
    assert not shared._is_taken


def test_a_turn_ends_with_an_exception() -> None:
    shared = Turns()

    def fail() -> None:
        with shared.taking(1, is_reading=False):
            raise ZeroDivisionError

    act: Callable[[], None] = fail
    with pytest.raises(ZeroDivisionError):
        act()
    with shared.taking(2, is_reading=False):
        turns.pass_on()
