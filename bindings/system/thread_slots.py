"""The number of threads of this process, and the slots for work that waits and holds one of them.

A server answers each request in one of its threads. A trace, an upload or a download can wait long for another machine.
If such work held all threads, the server could not answer requests for names. So each kind of work has a limit
(:meth:`ThreadSlots.limit`), and all kinds but changes together never hold the last two threads.

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
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, get_args

from .concurrency import Busy, Slot, client_key
from .fork_safety import AtFork, ForkSafeLock

Work = Literal["traces", "lists of traces", "sign-ins", "uploads", "previews", "changes", "downloads", "feeds"]
"""The kinds of work that wait:

- "traces", "lists of traces": for other hosts.
- "sign-ins": for a check of a password.
- "uploads": for the body of a request.
- "previews": for requests to the new targets of a move.
- "changes": for the database, which another change can lock, or whose connection can be silent.
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
    "changes": 2,
    "downloads": 4,
    "feeds": 4,
}
# Further limits: a check of a password needs memory, and a feed processor time.
_MOST: dict[Work, int] = {"sign-ins": 8, "feeds": 4}
# Changes are usually brief and many. They must not refuse the bodies of the next ones, so only their own limit counts.
_APART: tuple[Work, ...] = ("changes",)
_KEPT_FREE = 2
_PAUSE_SECONDS = 0.01


class _Held(NamedTuple):
    work: Work
    client: str
    began: float


class _OfThread(threading.local):
    is_apart = False


class ThreadSlots:
    """The number of threads of this process, and the slots for work that can hold a thread for long.

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
        self._held: dict[object, _Held] = {}
        self._lock = ForkSafeLock()
        self._own = _OfThread()
        _at_fork.add(self)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Run the block in a thread that answers no requests, so that its work needs no slots."""
        self._own.is_apart = True
        try:
            yield
        finally:
            self._own.is_apart = False

    def use(self, number: int | None) -> None:
        """Set the number of threads of this process to ``number``, at least 1. None lets :attr:`number` find it out."""
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
        """The maximum number of threads that all kinds but changes hold together: all but two, at least 1."""
        return max(1, self.number - _KEPT_FREE)

    def limit(self, work: Work) -> int:
        """Return the maximum number of threads that the kind of work ``work`` holds, at least 1."""
        return min(max(1, self.number // _SHARES[work]), _MOST.get(work, self.number))

    def in_use(self, work: Work | None = None) -> int:
        """Return the number of occupied slots of the kind of work ``work``; None means all kinds."""
        with self._lock:
            return len(self._of(work))

    def acquire(
        self,
        work: Work,
        client: str | None = None,
        *,
        each: int | None = None,
        most: int | None = None,
        brief: float = 0.0,
    ) -> Slot:
        """Occupy a slot for one kind of work, and return it. The release of the slot frees it.

        :param work: the kind of work, such as "traces".
        :param client: the IP address of the client, or None.
        :param each: the maximum for this kind of work of one client. None: no maximum.
        :param most: a further maximum for this kind of work. None: no further maximum.
        :param brief: how many seconds such work usually takes at most. If one that began so recently holds a slot, wait
            for this time. Otherwise the work that holds the slots is slow, so that a wait would hold one more thread.

        Raises :class:`.Busy` if no slot is free: with the code "busy-client" if this client has its maximum.
        """
        if self._own.is_apart:
            return Slot(lambda: None)
        until = time.monotonic() + brief
        held, name = _Held(work, client_key(client), time.monotonic()), object()
        while (refusal := self._take(name, held, each, most)) is not None:
            if (now := time.monotonic()) >= until or self._last_began(work) < now - brief:
                raise refusal
            time.sleep(_PAUSE_SECONDS)
        return Slot(lambda: self._give_back(name))

    def forget(self) -> None:
        """Free the slots that a forked process inherited from its parent, because their work does not run here."""
        self._held.clear()
        self._found = None

    def _take(self, name: object, held: _Held, each: int | None, most: int | None) -> Busy | None:
        work = held.work
        # Outside of the lock, because it can take a while.
        limit, together = self.limit(work), self.together
        limit = limit if most is None else min(limit, most)
        with self._lock:
            same = self._of(work)
            apart = [other for other in self._held.values() if other.work in _APART]
            if each is not None and sum(other.client == held.client for other in same) >= each:
                return Busy("busy-client", f"you already have {each} running {work}, which is the limit")
            if len(same) >= limit or (work not in _APART and len(self._held) - len(apart) >= together):
                return Busy("busy", f"all slots for {work} are in use ({limit} at most)")
            self._held[name] = held
        return None

    def _give_back(self, name: object) -> None:
        with self._lock:
            self._held.pop(name, None)

    def _of(self, work: Work | None) -> list[_Held]:
        return [each for each in self._held.values() if work in (None, each.work)]

    def _last_began(self, work: Work) -> float:
        with self._lock:
            return max((each.began for each in self._of(work)), default=0.0)


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
        for server in instances_of(worker):
            if getattr(server, "pid", None) == os.getpid():
                return _of_gunicorn(server)
    if adjustments := getattr(sys.modules.get("waitress.adjustments"), "Adjustments", None):
        return max((number for each in instances_of(adjustments) if (number := _positive(each.threads))), default=None)
    return None


def _of_gunicorn(worker: Any) -> int | None:
    # https://docs.gunicorn.org/en/stable/settings.html#threads: "This setting only affects the Gthread worker type."
    name = type(worker).__name__
    if "Thread" in name:
        return _positive(worker.cfg.threads)
    if "Sync" in name:
        return 1
    # A greenlet is the thread of a request in these workers.
    return _positive(worker.cfg.worker_connections) if name.startswith(("Gevent", "Eventlet")) else None


def instances_of(kind: type) -> list[Any]:
    """Return all objects of a class in this process, such as those of a server that passes none to its application."""
    # Not isinstance(): it reads the attribute __class__, which fails for a proxy object without its context.
    return [each for each in gc.get_objects() if issubclass(type(each), kind)]


def _positive(value: Any) -> int | None:
    try:
        return max(1, int(value))
    except (TypeError, ValueError):
        return None
