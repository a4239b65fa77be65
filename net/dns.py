"""Look up the addresses of a host within a deadline. The resolver of the system has no time limit and cannot be
cancelled. So each lookup runs in its own thread, and the caller continues at the deadline. Abandoned lookups count
against a limit. Each client has a share of it, so that slow names of one client do not stop others.
"""

from __future__ import annotations

import logging
import queue
import socket
import threading
from collections import Counter
from collections.abc import Callable, Sequence

from ..bindings.system.concurrency import client_key
from ..bindings.system.fork_safety import AtFork, ForkSafeLock
from .deadline import Deadline
from .hop import HopFailed

log = logging.getLogger(__name__)

Resolve = Callable[[str], Sequence[str]]
"""Return all addresses of a host as text. Raises OSError if the name has none or cannot be looked up."""


def system_addresses(host: str) -> list[str]:
    """Return all addresses of ``host`` as texts, in the order of preference of the system. Raises OSError if it has
    none.
    """
    return [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class Lookups:
    """A limit on host lookups: at most ``total`` at the same time, and ``per_client`` for one client. A lookup that the
    caller no longer waits for counts until it ends. All threads of a process share one object.
    """

    def __init__(self, resolve: Resolve = system_addresses, total: int = 32, per_client: int = 8) -> None:
        self._resolve = resolve
        self.total = total
        self.per_client = per_client
        self._running: Counter[str] = Counter()
        self._lock = ForkSafeLock()
        _at_fork.add(self)

    def addresses(self, host: str, deadline: Deadline, client: str | None = None) -> list[str]:
        """Look up a host name once, and return all its addresses in order, without duplicates. ``client`` is the
        address of the client that started the trace; None counts only for ``total``. Raises :class:`~.hop.HopFailed`:
        "dns", "no-address", "timeout", "stopped", or "busy" if too many lookups are running.
        """
        key = "" if client is None else client_key(client)
        with self._lock:
            if self._running.total() >= self.total or (key and self._running[key] >= self.per_client):
                raise HopFailed("busy")
            self._running[key] += 1
        answer: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
        # A daemon thread, so that a resolver that hangs does not keep the process alive.
        thread = threading.Thread(target=self._look_up, args=(host, key, answer), name="ararat-lookup", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the process has too many threads
            self._release(key)
            raise HopFailed("busy") from None
        while True:
            try:
                found = answer.get(timeout=deadline.poll_interval())
            except queue.Empty:
                continue
            break
        if found is None:
            raise HopFailed("dns")
        if not found:
            raise HopFailed("no-address")
        return list(dict.fromkeys(found))

    def forget(self) -> None:
        """Drop the lookups that a forked process inherited from its parent, because their threads do not exist."""
        self._running.clear()

    def _look_up(self, host: str, key: str, answer: queue.SimpleQueue[list[str] | None]) -> None:
        found = None
        try:
            found = list(self._resolve(host))
        except (OSError, UnicodeError):
            log.info("no lookup of %s", host)
        finally:
            self._release(key)
            answer.put(found)

    def _release(self, key: str) -> None:
        with self._lock:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]


class FixedAddress(Lookups):
    """Lookups that return one given address for each host name: to request a single one of the addresses of a host."""

    def __init__(self, address: str) -> None:
        super().__init__(lambda host: [address])


_at_fork = AtFork(after_in_child=Lookups.forget)
