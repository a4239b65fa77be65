from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from ararat.tracing.keepalive import KeepAlive, iter_with_keepalive


def ended(name: str, seconds: float = 20) -> bool:
    """Return whether every thread with this name ends in time."""
    deadline = time.monotonic() + seconds
    while any(thread.name == name for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def first(watched: Iterator[object]) -> object:
    """Return the first event. On a busy machine, keep-alive events can precede it."""
    return next(event for event in watched if not isinstance(event, KeepAlive))


def test_events_come_in_order_from_another_thread():
    makers = []

    def events() -> Iterator[int]:
        for number in range(5):
            makers.append(threading.current_thread())
            yield number

    assert list(iter_with_keepalive(events(), every=60)) == [0, 1, 2, 3, 4]
    assert threading.current_thread() not in makers


def test_each_event_comes_as_soon_as_it_happens():
    gate = threading.Event()

    def events() -> Iterator[str]:
        yield "first"
        assert gate.wait(20)
        yield "second"

    watched = iter_with_keepalive(events(), every=60)
    assert next(watched) == "first"
    gate.set()
    assert list(watched) == ["second"]


def test_keepalive_events_are_sent_while_nothing_happens():
    gate = threading.Event()

    def events() -> Iterator[str]:
        yield "first"
        assert gate.wait(20)
        yield "second"

    watched = iter_with_keepalive(events(), every=0.02)
    assert first(watched) == "first"
    beats = [beat for beat in (next(watched) for _ in range(3)) if isinstance(beat, KeepAlive)]
    assert len(beats) == 3
    assert [beat.seconds for beat in beats] == sorted(beat.seconds for beat in beats)
    assert beats[0].as_dict()["event"] == "waiting"
    gate.set()
    assert [event for event in watched if not isinstance(event, KeepAlive)] == ["second"]


def test_the_thread_starts_at_the_first_event():
    begun = []
    watched = iter_with_keepalive(begun.append(1) or iter(()) for _ in range(1))
    assert begun == []
    watched.close()
    assert begun == []


def test_an_exception_in_the_thread_is_raised_in_the_caller():
    def events() -> Iterator[str]:
        yield "first"
        raise LookupError("no")

    watched = iter_with_keepalive(events(), every=60)
    assert next(watched) == "first"
    with pytest.raises(LookupError, match="no"):
        next(watched)


def test_closing_stops_the_events_and_the_thread():
    stop, cleaned_up = threading.Event(), threading.Event()

    def events() -> Iterator[str]:
        try:
            yield "first"
            stop.wait(30)
            yield "never seen"
        finally:
            cleaned_up.set()

    watched = iter_with_keepalive(events(), every=0.02, stop=stop)
    assert first(watched) == "first"
    assert isinstance(next(watched), KeepAlive)
    watched.close()
    assert stop.is_set()
    assert cleaned_up.wait(20)
    assert ended("ararat-trace")


def test_an_unclosed_generator_stops_too():
    stop = threading.Event()

    def events() -> Iterator[str]:
        yield "first"
        stop.wait(30)

    watched = iter_with_keepalive(events(), every=60, stop=stop)
    assert next(watched) == "first"
    del watched
    assert stop.wait(20)
    assert ended("ararat-trace")


def test_a_finished_trace_leaves_no_thread():
    assert list(iter_with_keepalive(iter("abc"), every=60)) == ["a", "b", "c"]
    assert ended("ararat-trace")
