"""Test the functions that are called at a fork, and the locks that are free in a forked process."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import wraps

import pytest

from ararat.bindings.system.fork_safety import AtFork, ForkSafeLock
from tests.forking import exit_code

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def in_a_forked_process(test: Callable[[], None]) -> Callable[[], None]:
    """Run the test in a forked process.

    Nothing can remove a function that is called at each fork, so the forks of all later tests would call it too.
    """

    @wraps(test)
    def run() -> None:
        assert exit_code(test) == 0

    return run


class Thing:
    """An object with the number of calls of its functions in this process."""

    def __init__(self) -> None:
        self.before = self.after = 0

    def count_before(self) -> None:
        self.before += 1

    def count_after(self) -> None:
        self.after += 1


@in_a_forked_process
def test_the_functions_are_called_for_each_object() -> None:
    at_fork = AtFork(before=Thing.count_before, after_in_child=Thing.count_after)
    things = [Thing(), Thing()]
    for thing in things:
        at_fork.add(thing)

    def check() -> None:
        assert [(thing.before, thing.after) for thing in things] == [(1, 1), (1, 1)]

    assert exit_code(check) == 0
    assert [(thing.before, thing.after) for thing in things] == [(1, 0), (1, 0)]


@in_a_forked_process
def test_a_function_that_raises_does_not_prevent_the_other_calls() -> None:
    calls: list[Thing] = []
    reported: list[str] = []
    sys.unraisablehook = lambda unraisable: reported.append(str(unraisable.exc_value))

    def fail(thing: Thing) -> None:
        calls.append(thing)
        raise OSError(f"call {len(calls)}")

    at_fork = AtFork(before=fail, after_in_child=Thing.count_after)
    things = [Thing(), Thing(), Thing()]
    for thing in things:
        at_fork.add(thing)
    assert exit_code(lambda: None) == 0
    assert set(calls) == set(things)
    assert reported == ["call 1"]


@in_a_forked_process
def test_an_object_that_does_not_exist_any_more_is_omitted() -> None:
    at_fork = AtFork(after_in_child=Thing.count_after)
    thing = Thing()
    at_fork.add(thing)
    at_fork.add(Thing())
    assert [reference() for reference in at_fork._references] == [thing]


@in_a_forked_process
def test_objects_can_be_added_by_other_threads_during_a_fork() -> None:
    added = []

    def add(thing: Thing) -> None:
        thing.count_before()
        added.append(Thing())
        thread = threading.Thread(target=at_fork.add, args=[added[-1]])
        thread.start()
        thread.join(20)

    at_fork = AtFork(before=add, after_in_child=Thing.count_after)
    things = [Thing() for _ in range(3)]
    for thing in things:
        at_fork.add(thing)
    assert exit_code(lambda: None) == 0
    assert [thing.before for thing in things] == [1, 1, 1]
    assert len(added) == 3


@in_a_forked_process
def test_locks_are_free_when_the_functions_are_called_in_the_child() -> None:
    lock, acquired = ForkSafeLock(), []

    def acquire(lock: ForkSafeLock) -> None:
        acquired.append(lock.acquire(blocking=False))

    AtFork(after_in_child=acquire).add(lock)

    def check() -> None:
        assert acquired == [True]

    with lock:
        assert exit_code(check) == 0


def test_a_lock_is_free_in_a_forked_process() -> None:
    lock = ForkSafeLock()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            release.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(20)

    def acquire() -> None:
        assert lock.acquire(blocking=False)

    assert exit_code(acquire) == 0
    assert not lock.acquire(blocking=False)
    release.set()
    thread.join(20)
    with lock:
        assert exit_code(lock.release) == 0
