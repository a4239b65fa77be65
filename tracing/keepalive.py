"""Iterate over events from another thread, and yield a keep-alive event while nothing happens. A server notices only
when it writes that a client has disconnected, and then the wait for a hop must end. So the stream of a trace writes at
least every second.
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
    """A sign that a trace still runs, ``seconds`` after the last event. ``waits_for`` is
    :attr:`.progress.TraceProgress.now`, or "" if it is unknown.
    """

    seconds: float
    waits_for: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON members ``event`` ("waiting"), ``seconds`` and ``waits_for``."""
        return {"event": "waiting", "seconds": round(self.seconds, 3), "waits_for": self.waits_for}


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


_ENDED = object()


def iter_with_keepalive(
    events: Iterator[T], *, every: float = 1.0, stop: threading.Event | None = None
) -> Generator[T | KeepAlive, None, None]:
    """Yield events from another thread, with a :class:`KeepAlive` after every ``every`` seconds without an event.
    Exceptions of ``events`` are raised here.

    The thread starts at the first ``next``. Closing or collecting the generator sets ``stop``, at which a producer that
    shares it (:class:`.GuardedClient`) ends its wait. The generator does not wait for a call that cannot be
    interrupted.

    >>> list(iter_with_keepalive(iter("ab")))
    ['a', 'b']
    """
    stop = stop or threading.Event()
    happened: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # A daemon thread, so that a request that cannot be interrupted does not keep the process alive.
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
    except BaseException as error:  # noqa: BLE001 - the calling thread raises it again
        happened.put(_Raised(error))
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
