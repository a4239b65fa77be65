"""The space for the bodies of all requests."""

from __future__ import annotations

import os
import shutil
import time
from types import SimpleNamespace

import pytest

from ararat.bindings.system import body_space
from ararat.bindings.system.body_space import BRIEF, DEFAULT, BodySpace
from tests.forking import exit_code

MB = 2**20


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The free space of the folder of temporary files, which a test can change."""
    disk = SimpleNamespace(free=1000 * DEFAULT)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    return disk


def filled(space: BodySpace, piece: int, before: int = 10**9) -> int:
    """Take pieces of long bodies until one is refused, and return the bytes that are taken."""
    begun = space.used
    while space.take(piece, before=before):
        pass
    return space.used - begun


def test_long_bodies_leave_an_eighth_to_short_ones() -> None:
    space = BodySpace()
    space.use(80 * MB)
    assert filled(space, MB) == 70 * MB
    assert filled(space, BRIEF, before=0) == 10 * MB
    assert not space.take(1, before=0)
    space.give_back(MB)
    assert space.take(BRIEF, before=0)


def test_the_default_is_two_gigabytes() -> None:
    space = BodySpace()
    assert filled(space, 64 * MB) == DEFAULT * 7 // 8 == 1792 * MB


def test_bodies_take_at_most_half_of_the_free_space(free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_space, "_CHECK_SECONDS", 0.0)
    space, whole = BodySpace(), 160 * MB
    free.free = whole
    taken = 0
    while space.take(MB, before=0):
        taken += 1
        free.free = whole - space.used  # they are in files
    assert taken in (74, 75, 80)
    assert space.used <= whole / 2


def test_the_free_space_is_not_asked_for_each_piece(free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: asked.append(1) or free)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    space = BodySpace()
    for _ in range(1000):
        space.take(1000, before=0)
    assert len(asked) == 1


def test_an_unreadable_folder_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError

    monkeypatch.setattr(shutil, "disk_usage", fail)
    assert BodySpace().take(MB, before=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_all_space() -> None:
    space = BodySpace()
    space.take(MB, before=0)

    def work() -> None:
        assert space.used == 0

    assert exit_code(work) == 0
    assert space.used == MB


def test_space_is_given_back_without_the_lock() -> None:
    space = BodySpace()
    assert space.take(MB, before=0)
    with space._lock:
        # As the garbage collector does in a thread that holds the lock.
        space.give_back(MB)
    assert space.used == 0
