"""The number of threads of this process, and the slots for work that waits and holds one of them.

A server answers each request in one of its threads. A trace, an upload or a download can wait long for another machine.
If such work held all threads, the server could not answer requests for names. So each kind of work has a limit
(:meth:`ThreadSlots.limit`), and all kinds together never hold the last two threads.

:data:`slots` is the only object of a process. The number of threads is, in this order:

- the number of :meth:`ThreadSlots.use`, which ``ararat serve`` and the settings ``threads`` call;
- the number of gunicorn, uWSGI, mod_wsgi or waitress, if this process is one of them;
- :data:`DEFAULT`.

A lookup of an ASGI application runs in a pool of :data:`DEFAULT` threads (:mod:`ararat.middleware.asgi`).
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from typing import Any, Literal, get_args

from .concurrency import Busy, Slot, client_key
from .fork_safety import AtFork, ForkSafeLock

Work = Literal["traces", "lists of traces", "sign-ins", "uploads", "previews", "downloads", "feeds"]
"""The kinds of work that wait:

- "traces", "lists of traces": for other hosts.
- "sign-ins": for a check of a password.
- "uploads": for the body of a request.
- "previews": for requests to the new targets of a move.
- "downloads", "feeds": for a client that reads a large answer.
"""

WORK: tuple[Work, ...] = get_args(Work)

DEFAULT = 8
"""The number of threads of a process, if it is unknown."""

_SHARES: dict[Work, int] = {
    "traces": 4,
    "lists of traces": 8,
    "sign-ins": 4,
    "uploads": 2,
    "previews": 8,
    "downloads": 4,
    "feeds": 4,
}
_MAX_SIGN_INS = 8
_KEPT_FREE = 2
_PAUSE_SECONDS = 0.01


class ThreadSlots:
    """The threads of a process, and the slots for each kind of work.

    >>> threads = ThreadSlots()
    >>> threads.use(8)
    >>> threads.limit("traces"), threads.limit("previews"), threads.together
    (2, 1, 6)
    >>> with threads.acquire("traces", "192.0.2.7"):
    ...     threads.in_use("traces")
    1
    """

    def __init__(self) -> None:
        self._given: int | None = None
        self._found: int | None = None
        self._taken: Counter[tuple[Work, str]] = Counter()
        self._lock = ForkSafeLock()
        _at_fork.add(self)

    def use(self, number: int | None) -> None:
        """Set the number of threads, at least 1. None: find it out."""
        if number is not None and number < 1:
            raise ValueError(f"threads: {number} is too small; set at least 1")
        self._given = number

    @property
    def number(self) -> int:
        """The number of threads of this process."""
        if self._given is not None:
            return self._given
        if self._found is None:
            self._found = _threads_of_server() or DEFAULT
        return self._found

    @property
    def together(self) -> int:
        """The maximum number of threads that all kinds of work hold together: all but two, at least 1."""
        return max(1, self.number - _KEPT_FREE)

    def limit(self, work: Work) -> int:
        """Return the maximum number of threads that one kind of work holds, at least 1."""
        most = max(1, self.number // _SHARES[work])
        return min(most, _MAX_SIGN_INS) if work == "sign-ins" else most

    def in_use(self, work: Work | None = None) -> int:
        """Return the number of occupied slots of one kind of work, or of all kinds."""
        with self._lock:
            return self._occupied(work)

    def acquire(
        self,
        work: Work,
        client: str | None = None,
        *,
        each: int | None = None,
        most: int | None = None,
        seconds: float = 0.0,
    ) -> Slot:
        """Occupy a slot. Its release frees it.

        :param client: the IP address of the client.
        :param each: the maximum for this kind of work of one client. None: no maximum.
        :param most: a further maximum for this kind of work. None: no further maximum.
        :param seconds: how long to wait for a slot. 0: not at all. A request that waits holds a thread, so the time
            must be short.

        Raises :class:`.Busy` if no slot is free: with the code "busy-client" if this client has its maximum.
        """
        until = time.monotonic() + seconds
        key = work, client_key(client)
        while (refusal := self._take(key, each, most)) is not None:
            if time.monotonic() >= until:
                raise refusal
            time.sleep(_PAUSE_SECONDS)
        return Slot(lambda: self._give_back(key))

    def forget(self) -> None:
        """Free the slots that a forked process inherited from its parent, because their work does not run here."""
        self._taken.clear()
        self._found = None

    def _take(self, key: tuple[Work, str], each: int | None, most: int | None) -> Busy | None:
        work = key[0]
        # Outside of the lock, because it can take a while.
        limit, together = self.limit(work), self.together
        limit = limit if most is None else min(limit, most)
        with self._lock:
            if each is not None and self._taken[key] >= each:
                return Busy("busy-client", f"you already have {each} running {work}, which is the limit")
            if self._occupied(work) >= limit or self._occupied() >= together:
                return Busy("busy", f"all slots for {work} are in use ({limit} at most)")
            self._taken[key] += 1
        return None

    def _give_back(self, key: tuple[Work, str]) -> None:
        with self._lock:
            self._taken[key] -= 1
            if not self._taken[key]:
                del self._taken[key]

    def _occupied(self, work: Work | None = None) -> int:
        return sum(count for (kind, _), count in self._taken.items() if work in (None, kind))


_at_fork = AtFork(after_in_child=ThreadSlots.forget)

slots = ThreadSlots()
"""The threads of this process."""


def _threads_of_server() -> int | None:
    """Return the number of threads by the configuration of the server that runs in this process, or None.

    No server passes it to its application, so the objects of the server are searched.
    """
    if "uwsgi" in sys.modules:
        # https://uwsgi-docs.readthedocs.io/en/latest/PythonModule.html
        return _positive(getattr(sys.modules["uwsgi"], "opt", {}).get("threads", 1))
    if "mod_wsgi" in sys.modules:
        # https://modwsgi.readthedocs.io/en/master/user-guides/configuration-directives.html
        return _positive(getattr(sys.modules["mod_wsgi"], "threads_per_process", None))
    if worker := getattr(sys.modules.get("gunicorn.workers.base"), "Worker", None):
        # A worker also knows its siblings, which the arbiter has started before.
        for found in _instances(worker):
            if getattr(found, "pid", None) == os.getpid():
                return _of_gunicorn(found)
    if adjustments := getattr(sys.modules.get("waitress.adjustments"), "Adjustments", None):
        return max((number for each in _instances(adjustments) if (number := _positive(each.threads))), default=None)
    return None


def _of_gunicorn(worker: Any) -> int | None:
    # https://docs.gunicorn.org/en/stable/settings.html#threads: "This setting only affects the Gthread worker type."
    name = type(worker).__name__
    if "Thread" in name:
        return _positive(worker.cfg.threads)
    # A greenlet is the thread of a request in these workers.
    return _positive(worker.cfg.worker_connections) if "Sync" not in name else 1


def _instances(kind: type) -> list[Any]:
    # Not isinstance(): it reads the attribute __class__, which fails for a proxy object without its context.
    return [each for each in gc.get_objects() if issubclass(type(each), kind)]


def _positive(value: Any) -> int | None:
    try:
        return max(1, int(value))
    except (TypeError, ValueError):
        return None
