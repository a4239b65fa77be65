"""Throttle bulk traces: one request at a time for each host, and a pause after each. A trace has a
:class:`PausableClock`, so that this wait counts neither against its time limit, nor as response time of the host.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..bindings.system.fork_safety import ForkSafeLock
from . import uri
from .hop import Fetch, HopFailed, HopResponse

_POLL_SECONDS = 0.2


@dataclass(slots=True)
class PausableClock:
    """A monotonic clock in seconds for one trace, without the time that it waited for the throttle (``waited``)."""

    now: Callable[[], float] = time.monotonic
    waited: float = 0.0

    def __call__(self) -> float:
        return self.now() - self.waited


@dataclass(slots=True)
class _HostState:
    """The state of one host: a lock for its current request, and the earliest time of the next one."""

    free: ForkSafeLock = field(default_factory=ForkSafeLock)
    next: float = 0.0


class PerHostThrottle:
    """Send the requests of a bulk trace one at a time to each host, with a pause of ``min_interval`` seconds after
    each. A response in process needs no pause. The traces run in several threads and share one object. ``stop`` ends
    all waits.

    >>> throttle, clock = PerHostThrottle(min_interval=0.1), PausableClock()
    >>> fetch = throttle.wrap(lambda method, url, deadline: HopResponse(200, "OK", ()), clock)
    >>> began = time.monotonic()
    >>> answers = [fetch("GET", "https://n2t.net/", clock() + 10).status for _ in range(3)]
    >>> elapsed = time.monotonic() - began
    >>> elapsed >= 0.2, 0 < clock.waited <= elapsed
    (True, True)
    """

    def __init__(self, min_interval: float = 1.0, *, stop: threading.Event | None = None) -> None:
        self.min_interval = min_interval
        self.stop = stop or threading.Event()
        self._hosts: dict[str, _HostState] = {}
        self._lock = ForkSafeLock()

    def wrap(self, fetch: Fetch, clock: PausableClock) -> Fetch:
        """Return a :data:`~.hop.Fetch` that waits until ``fetch`` may send the next request to the host. ``clock``
        excludes this wait, and the deadlines are by it.
        """

        def paced(method: str, url: str, deadline: float) -> HopResponse:
            host = uri.parse(url).host
            with self._lock:
                state = self._hosts.setdefault(host, _HostState())
            asked, gap = clock.now(), self.min_interval
            self._wait(state)
            try:
                clock.waited += clock.now() - asked
                response = fetch(method, url, deadline + clock.waited)
                if response.where == "here":
                    gap = 0.0
                return response
            finally:
                state.next = time.monotonic() + gap
                state.free.release()

        return paced

    def _wait(self, state: _HostState) -> None:
        # Both waits end soon after ``stop`` is set.
        while not state.free.acquire(timeout=_POLL_SECONDS):
            if self.stop.is_set():
                raise HopFailed("stopped")
        if self.stop.wait(max(0.0, state.next - time.monotonic())):
            state.free.release()
            raise HopFailed("stopped")
