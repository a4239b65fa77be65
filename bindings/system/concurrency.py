"""Limit the work that runs at the same time: in this process, and for one client. Several workers multiply the
limits.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Generic, Self, TypeVar

from .fork_safety import AtFork, ForkSafeLock

T = TypeVar("T")


class Busy(Exception):
    """Raised if no slot is free. ``code`` is "busy" if all slots are in use, and "busy-client" if this client uses its
    maximum.
    """

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        self.sentence = sentence
        super().__init__(code, sentence)

    def __str__(self) -> str:
        return f"{self.sentence} ({self.code})"


class ConcurrencyLimit:
    """A limit on work that runs at the same time: ``total`` slots in all, and ``per_client`` for one client. All
    threads of a process share one object.

    >>> limit = ConcurrencyLimit(total=50, per_client=1)
    >>> with limit.acquire("192.0.2.7"):
    ...     limit.in_use
    1
    """

    def __init__(self, total: int, per_client: int) -> None:
        self.total = total
        self.per_client = per_client
        self._taken: Counter[str] = Counter()
        self._lock = ForkSafeLock()
        _at_fork.add(self)

    @property
    def in_use(self) -> int:
        """The number of slots that are occupied by all clients."""
        with self._lock:
            return self._taken.total()

    def acquire(self, client: str | None) -> Slot:
        """Occupy a slot for work of an IP address, without waiting. Raises :class:`Busy` if no slot is free."""
        key = client_key(client)
        with self._lock:
            if self._taken[key] >= self.per_client:
                raise Busy("busy-client", f"at most {self.per_client} requests of a client can run at the same time")
            if self._taken.total() >= self.total:
                raise Busy("busy", f"at most {self.total} such requests can run at the same time")
            self._taken[key] += 1
        return Slot(lambda: self._give_back(key))

    def _give_back(self, key: str) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    def forget(self) -> None:
        """Free the slots that a forked process inherited from its parent, because their work does not run here."""
        self._taken.clear()


_at_fork = AtFork(after_in_child=ConcurrencyLimit.forget)


class Slot:
    """A permission to do one piece of limited work, which ends with :meth:`release` or a ``with`` block. Then
    ``give_back`` is called, but not in a process that was forked in the meantime: all slots are free there.
    """

    def __init__(self, give_back: Callable[[], object]) -> None:
        self._held = [give_back]
        self._pid = os.getpid()

    def release(self, *_: object) -> None:
        """Free the slot, so that other work can occupy it. A second call has no effect."""
        try:
            # It is atomic: of two threads, one frees the slot.
            give_back = self._held.pop()
        except IndexError:
            return
        if self._pid == os.getpid():
            give_back()

    def __enter__(self) -> Slot:
        return self

    __exit__ = release


class HoldingSlot(Generic[T]):
    """An iterator over the parts of an answer that occupies a slot until its end, an exception, or when it is
    closed.
    """

    def __init__(self, slot: Slot, parts: Iterable[T]) -> None:
        self._slot = slot
        self._parts = parts
        self._iterator = iter(parts)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return next(self._iterator)
        except BaseException:
            self._slot.release()
            raise

    def close(self) -> None:
        """Close the iterator over the parts of the answer, and free its slot."""
        try:
            close = getattr(self._parts, "close", None)
            if close is not None:
                close()
        finally:
            self._slot.release()


@lru_cache(maxsize=256)
def client_key(address: str | None) -> str:
    """Return the key under which the limits count a client: an IPv4 address, the /56 of an IPv6 address, or another
    text. One customer of a provider has a /64, or a /56 that contains 256 of them (RFC 6177).

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
