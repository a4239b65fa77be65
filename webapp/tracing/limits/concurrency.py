"""How many traces run at once: in this process, and for one client.

Each trace holds a thread and a connection for up to half a minute, so there is a number of places, and no client may
take more than a few. The limits are of one process; a server with several workers has that many times more.
"""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv6Address, ip_address
from types import TracebackType

from ....middleware.fork_safety import ForkSafeLock


class Busy(Exception):
    """There is no place. ``code`` is "busy" where all are taken, "busy-client" where this client has its share."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(code, sentence)

    def __str__(self) -> str:
        return f"{self.sentence} ({self.code})"


class ConcurrencyLimit:
    """``total`` places, of which one client takes ``per_client`` at most. One object serves all threads of a process.

    >>> places = ConcurrencyLimit(total=50, per_client=1)
    >>> with places.acquire("192.0.2.7"):
    ...     places.in_use
    1
    >>> places.in_use
    0
    """

    def __init__(self, total: int = 50, per_client: int = 3) -> None:
        self.total = total
        self.per_client = per_client
        self._taken: Counter[str] = Counter()
        self._lock = ForkSafeLock()

    @property
    def in_use(self) -> int:
        """The places that are taken now."""
        with self._lock:
            return self._taken.total()

    def acquire(self, client: str | None) -> Slot:
        """Take a place, at once, for the client at this address; it is given back by the :class:`Slot`.

        Raises :class:`Busy`.
        """
        key = client_key(client)
        with self._lock:
            if self._taken[key] >= self.per_client:
                raise Busy("busy-client", f"{self.per_client} traces of yours are running; wait for one of them to end")
            if self._taken.total() >= self.total:
                raise Busy("busy", f"all {self.total} places for traces are taken; try again in half a minute")
            self._taken[key] += 1
        return Slot(self, key)

    def _give_back(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]


class Slot:
    """A place that is taken until :meth:`release` or the end of a ``with`` block; a second release changes nothing."""

    def __init__(self, places: ConcurrencyLimit, key: str) -> None:
        self._places = places
        self._key = key
        self._lock = ForkSafeLock()
        self._held = True

    def release(self) -> None:
        """Give the place back."""
        with self._lock:
            held, self._held = self._held, False
        if held:
            self._places._give_back(self._key)

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def client_key(address: str | None) -> str:
    """What counts as one client: an IPv4 address, the /56 of an IPv6 address, or whatever else stands there.

    A provider gives one customer a /64 or a /56, which is 256 of them (RFC 6177), so the /56 is counted.

    >>> client_key("2001:db9:1:234:5::6"), client_key("::ffff:192.0.2.7"), client_key(None)
    ('2001:db9:1:200::/56', '192.0.2.7', '')
    """
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is None:
            return f"{IPv6Address(int(parsed) >> 72 << 72)}/56"
        parsed = parsed.ipv4_mapped
    return str(parsed)
