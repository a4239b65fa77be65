"""How often other hosts are asked: so often in a minute, whoever wants it and by whatever name.

A trace is work for those it asks, and what a stranger names here would be asked by us. So a host is asked a number of
times in any minute and not more, and one client gets a share of that, for there are others. A host counts under its
name, and under each address that it has: a domain in which every name leads to one machine is no way around.

What is not counted, and why: the traces of a client in a minute (those of this site cost nobody else anything, and the
number at once is limited), how many ask one host at the same time (each asks for a header and closes, and a minute has
its number), and whether an address is this machine's own public one (a site behind its own proxy is asked there by
right; a trace that comes back to a trace starts none).

The limits are of one process. They are kept in memory, and of a bounded number of hosts; what was counted longest ago
is forgotten first.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable

from ....middleware.fork_safety import ForkSafeLock
from ..client.addresses import Address
from ..hop import HopFailed
from .concurrency import client_key

WINDOW_SECONDS = 60.0


class SlidingWindow:
    """At most ``most`` times in any ``seconds``, for each key by itself. Whoever shares it among threads locks it.

    ``keys`` is how many are remembered; beyond that the one that was counted longest ago is forgotten.

    >>> rate = SlidingWindow(2, 60.0, clock=lambda: 1000.0)
    >>> [rate.wait("a.example"), rate.count("a.example"), rate.count("a.example"), rate.wait("a.example")]
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
        """The seconds until this key may be counted once more; 0.0 where it may now."""
        counted = self._counted.get(key)
        if counted is None or len(counted) < self.most:
            return 0.0
        return max(0.0, counted[0] + self.seconds - self._clock())

    def count(self, key: Hashable) -> None:
        """Count one, whatever :meth:`wait` says."""
        # No more times are kept than decide, and each deque is made for just so many.
        counted = self._counted.setdefault(key, deque(maxlen=self.most))
        counted.append(self._clock())
        self._counted.move_to_end(key)
        if len(self._counted) > self.keys:
            self._counted.popitem(last=False)


class HostRateLimiter:
    """How often a host is asked in a minute: ``per_host`` times by all together, ``per_client`` times for one of them.

    >>> pace = HostRateLimiter(per_host=30, per_client=1)
    >>> pace.acquire("192.0.2.7", "a.example", [])
    >>> try:
    ...     pace.acquire("192.0.2.7", "a.example", [])
    ... except HopFailed as failed:
    ...     failed.code
    'too-often'
    """

    def __init__(
        self, per_host: int = 30, per_client: int = 20, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._hosts = SlidingWindow(per_host, clock=clock)
        self._shares = SlidingWindow(per_client, clock=clock)
        self.min_interval = WINDOW_SECONDS / min(per_host, per_client)
        """Seconds between the requests of one client that meets no limit, where it is the only one."""
        self._lock = ForkSafeLock()

    def acquire(self, client: str | None, host: str, addresses: Iterable[Address]) -> None:
        """Count one request to a host at these addresses, for the client at this address.

        Raises :class:`~.hop.HopFailed` "too-often" where one of the limits is reached; then nothing was counted.
        """
        # As for clients: one host can have all addresses of a /56.
        targets = {host, *(client_key(str(address)) for address in addresses)}
        shares = {(client_key(client), target) for target in targets}
        with self._lock:
            _require(self._hosts, targets, "")
            _require(self._shares, shares, " for you")
            for target in targets:
                self._hosts.count(target)
            for share in shares:
                self._shares.count(share)


def _require(rate: SlidingWindow, keys: Iterable[Hashable], whom: str) -> None:
    if wait := max(map(rate.wait, keys)):
        seconds = max(1, math.ceil(wait))
        often = "once" if rate.most == 1 else f"{rate.most} times"
        raise HopFailed(
            "too-often",
            f"this site asked it {often}{whom} within a minute, and asks again in {seconds} "
            f"second{'' if seconds == 1 else 's'}",
        )
