"""Looking up a host's addresses within a deadline.

The system's resolver can neither be given a time limit nor be cancelled: a call that hangs keeps its thread until it
comes back. So each lookup runs in a thread of its own, whoever waits for it goes on at the deadline, and threads still
held by lookups that nobody waits for count against a limit, above which no lookup is begun. Each client has a share of
it, so that the slow names of one do not stop the traces of all others.
"""

from __future__ import annotations

import logging
import queue
import socket
import threading
from collections import Counter
from collections.abc import Callable, Sequence

from ..hop import HopFailed
from ..limits.concurrency import client_key
from .deadline import Deadline

log = logging.getLogger(__name__)

Resolve = Callable[[str], Sequence[str]]
"""From a host's name to all its addresses, as text; OSError where the name has none or cannot be looked up."""


def system_addresses(host: str) -> list[str]:
    """Every address that the system knows for ``host``, in the order it prefers them. Raises OSError."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class Lookups:
    """At most ``most`` lookups at once, of which one client takes ``each``; abandoned ones count until they return.

    One object serves all the threads of a process.

    >>> import time
    >>> Lookups(lambda host: ["192.0.2.1"]).addresses("example.org", Deadline(time.monotonic() + 5))
    ['192.0.2.1']
    """

    def __init__(self, resolve: Resolve = system_addresses, most: int = 32, each: int = 8) -> None:
        self._resolve = resolve
        self.most = most
        self.each = each
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    def addresses(self, host: str, deadline: Deadline, client: str | None = None) -> list[str]:
        """Look ``host`` up once and return all its addresses, each once, in order.

        ``client`` is the address of the client that has a share; None has no limit of its own.

        Raises :class:`~.hop.HopFailed`: "dns" where the lookup fails, "no-address" where it finds nothing,
        "timeout", "stopped", or "busy" where too many lookups are running already.
        """
        key = "" if client is None else client_key(client)
        with self._lock:
            if self._running.total() >= self.most or (key and self._running[key] >= self.each):
                raise HopFailed("busy")
            self._running[key] += 1
        answer: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
        # A daemon: a resolver that hangs must not keep the process from ending.
        threading.Thread(target=self._look_up, args=(host, key, answer), name="ararat-lookup", daemon=True).start()
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

    def _look_up(self, host: str, key: str, answer: queue.SimpleQueue[list[str] | None]) -> None:
        found = None
        try:
            found = list(self._resolve(host))
        except (OSError, UnicodeError):
            log.info("no lookup of %s", host)
        finally:
            with self._lock:
                self._running[key] -= 1
                if not self._running[key]:
                    del self._running[key]
            answer.put(found)
