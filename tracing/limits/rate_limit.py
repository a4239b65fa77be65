"""Limit the number of requests to another host in a minute, for all clients together and for one client.

A trace costs work on the hosts that it visits, and an unknown user selects them. A request counts for the name of a
host and for each of its addresses, so that many names of one machine do not help. Simultaneous traces have another
limit (:mod:`~.concurrency`). The limits apply to one process and a limited number of hosts. The host that was counted
longest ago is dropped first.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable

from ...bindings.system.concurrency import client_key
from ...bindings.system.fork_safety import ForkSafeLock
from ...identifiers.text.translatable import Translatable
from ...net.allowed_addresses import Address
from ...net.hop import HopFailed

WINDOW_SECONDS = 60.0


class SlidingWindow:
    """A counter of events: it permits ``most`` events with the same key in any period of ``seconds``. Above ``keys``
    keys, the one that was counted longest ago is deleted. The caller must lock it.

    >>> window = SlidingWindow(2, 60.0, clock=lambda: 1000.0)
    >>> [window.wait("a.example"), window.count("a.example"), window.count("a.example"), window.wait("a.example")]
    [0.0, None, None, 60.0]
    """

    def __init__(
        self,
        most: int,
        seconds: float = WINDOW_SECONDS,
        *,
        keys: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.seconds = seconds
        self.keys = keys
        self._clock = clock
        self._counted: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._counted)

    def wait(self, key: Hashable) -> float:
        """Return the seconds until the limit permits another event, or 0.0 if it permits one now."""
        counted = self._counted.get(key)
        if counted is None or len(counted) < self.most:
            return 0.0
        return max(0.0, counted[0] + self.seconds - self._clock())

    def count(self, key: Hashable) -> None:
        """Record an event now, also if the limit is exceeded. Check :meth:`wait` first."""
        # Only the last ``most`` times are needed.
        counted = self._counted.setdefault(key, deque(maxlen=self.most))
        counted.append(self._clock())
        self._counted.move_to_end(key)
        if len(self._counted) > self.keys:
            self._counted.popitem(last=False)


class HostRateLimiter:
    """A limit on the requests to one host in any 60 seconds: ``per_host`` by all clients together, and ``per_client``
    by one client.
    """

    def __init__(
        self, per_host: int = 30, per_client: int = 20, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._hosts = SlidingWindow(per_host, clock=clock)
        self._shares = SlidingWindow(per_client, clock=clock)
        self.min_interval = WINDOW_SECONDS / min(per_host, per_client)
        """Seconds between requests at which a single client reaches no limit."""
        self._lock = ForkSafeLock()

    def acquire(self, client: str | None, host: str, addresses: Iterable[Address]) -> None:
        """Count one request of a client to a host, for its name and each of its addresses. Requests without a client
        share one limit. Raises :class:`~.hop.HopFailed` with the code "too-often", and counts nothing, if a limit is
        reached.
        """
        # A host can own all addresses of a /56, as a client can.
        targets = {host, *(client_key(str(address)) for address in addresses)}
        shares = {(client_key(client), target) for target in targets}
        with self._lock:
            _require(self._hosts, targets, _at_limit)
            _require(self._shares, shares, _at_limit_of_client)
            for target in targets:
                self._hosts.count(target)
            for share in shares:
                self._shares.count(share)


def _at_limit(most: int) -> Translatable:
    return Translatable.counted(
        "this site reached its limit of %(number)s request to this host within a minute",
        "this site reached its limit of %(number)s requests to this host within a minute",
        most,
    )


def _at_limit_of_client(most: int) -> Translatable:
    return Translatable.counted(
        "this site reached its limit of %(number)s request for you to this host within a minute",
        "this site reached its limit of %(number)s requests for you to this host within a minute",
        most,
    )


def _require(window: SlidingWindow, keys: Iterable[Hashable], limit: Callable[[int], Translatable]) -> None:
    if wait := max(map(window.wait, keys)):
        seconds = max(1, math.ceil(wait))
        sentence = Translatable.counted(
            "%(limit)s; try again in %(number)s second",
            "%(limit)s; try again in %(number)s seconds",
            seconds,
            limit=limit(window.most),
        )
        raise HopFailed("too-often", sentence)
