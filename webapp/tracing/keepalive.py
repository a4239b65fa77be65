"""A run of events in a thread of its own, with a sign of life while nothing happens.

A server learns that a client has gone only when it writes to it. So whoever streams a trace needs something to write at
least every second, also while a hop waits for an answer, and must be able to end that wait.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Nothing has happened for ``seconds`` since the last event, and the run goes on.

    ``waits_for`` says what it waits for, as :attr:`.stages.Progress.now` does; "" where nobody knows.
    """

    seconds: float
    waits_for: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The heartbeat as JSON has it."""
        return {"event": "waiting", "seconds": round(self.seconds, 3), "waits_for": self.waits_for}


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


_ENDED = object()


def iter_with_keepalive(
    events: Iterator[T], *, every: float = 1.0, stop: threading.Event | None = None
) -> Generator[T | KeepAlive, None, None]:
    """The ``events`` as they come, from a thread of their own, and a :class:`KeepAlive` every ``every`` seconds between
    them.

    The thread begins with the first ``next``. When the generator is closed, or collected, ``stop`` is set: whatever
    makes the events and holds the same ``stop`` (:func:`~.guard.guarded_fetch`) gives up what it waits
    for, closes its connection, and the thread ends. What cannot be interrupted ends at its own deadline, and is not
    waited for. What ``events`` raises is raised here.

    >>> list(iter_with_keepalive(iter("ab")))
    ['a', 'b']
    """
    stop = stop or threading.Event()
    happened: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # A daemon: a hop that cannot be interrupted must not keep the process from ending.
    threading.Thread(target=_run, args=(events, happened, stop), name="ararat-trace", daemon=True).start()
    try:
        last = time.monotonic()
        while True:
            try:
                event = happened.get(timeout=every)
            except queue.Empty:
                yield KeepAlive(time.monotonic() - last)
                continue
            if event is _ENDED:
                return
            if isinstance(event, _Raised):
                raise event.error
            last = time.monotonic()
            yield event
    finally:
        stop.set()


def _run(events: Iterator[Any], happened: queue.SimpleQueue[Any], stop: threading.Event) -> None:
    try:
        for event in events:
            happened.put(event)
            if stop.is_set():
                break
        happened.put(_ENDED)
    except BaseException as error:  # noqa: BLE001 - it is raised again where somebody can see it
        happened.put(_Raised(error))
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
