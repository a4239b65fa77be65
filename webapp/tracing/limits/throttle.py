"""Politeness of somebody who asks much: one request at a time for each host, and a pause after each.

Whoever waits for a turn must not lose time of a run by it, nor seem to have been kept waiting by the host. So each run
has a :class:`PausableClock`, which stands still meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ....middleware.fork_safety import ForkSafeLock
from .. import uri
from ..hop import Fetch, HopFailed, HopResponse

_LOOK_AGAIN = 0.2


@dataclass(slots=True)
class PausableClock:
    """A monotonic clock in seconds, for one run, that does not count the time spent in waiting for turns."""

    now: Callable[[], float] = time.monotonic
    waited: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now() - self.waited


@dataclass(slots=True)
class _Turn:
    """One host: who may ask it now, and when the next may."""

    free: ForkSafeLock = field(default_factory=ForkSafeLock)
    next: float = 0.0


class PerHostThrottle:
    """The turns that all the runs of a round take at their hosts, each run in a thread of its own.

    ``gap`` is the pause after each request to a host, in seconds. There is no pause after an answer of this process.
    When ``stop`` is set, nobody waits any longer.

    >>> turns, clock = PerHostThrottle(min_interval=0.1), PausableClock()
    >>> fetch = turns.wrap(lambda method, url, deadline: HopResponse(200, "OK", ()), clock)
    >>> began = time.monotonic()
    >>> answers = [fetch("GET", "https://n2t.net/", clock() + 10).status for _ in range(3)]
    >>> time.monotonic() - began >= 0.2, clock.waited >= 0.2
    (True, True)
    """

    def __init__(self, min_interval: float = 1.0, *, stop: threading.Event | None = None) -> None:
        self.min_interval = min_interval
        self.stop = stop or threading.Event()
        self._turns: dict[str, _Turn] = {}
        self._lock = ForkSafeLock()

    def wrap(self, fetch: Fetch, clock: PausableClock) -> Fetch:
        """The same fetch, its requests in turn, for the run that has this clock; its deadlines are by that clock."""

        def paced(method: str, url: str, deadline: float) -> HopResponse:
            host = uri.parse(url).host
            with self._lock:
                turn = self._turns.setdefault(host, _Turn())
            asked, gap = clock.now(), self.min_interval
            self._wait(turn)
            try:
                clock.waited += clock.now() - asked
                response = fetch(method, url, deadline + clock.waited)
                if response.where == "here":
                    gap = 0.0
                return response
            finally:
                turn.next = time.monotonic() + gap
                turn.free.release()

        return paced

    def _wait(self, turn: _Turn) -> None:
        # Both waits look up now and then, so that whoever stops the round need not wait for them.
        while not turn.free.acquire(timeout=_LOOK_AGAIN):
            if self.stop.is_set():
                raise HopFailed("stopped")
        if self.stop.wait(max(0.0, turn.next - time.monotonic())):
            turn.free.release()
            raise HopFailed("stopped")
