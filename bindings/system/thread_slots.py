"""The number of threads of this process, and the slots for work that waits or computes and holds one of them.

A trace, an upload or a download can wait long for another machine. If such work held all threads, the server could not
answer requests for names. So each kind has a limit (:meth:`ThreadSlots.limit`), and all kinds but changes together
never hold the last two threads. A name waits for each page that computes, so pages have a limit, too
(:class:`PageSlots`). The number of threads is, in this order:

- the number of :meth:`ThreadSlots.use`, which ``ararat serve`` and the settings ``threads`` call;
- the number of gunicorn, uWSGI, mod_wsgi or waitress, if this process is one of them;
- :data:`DEFAULT`, which is also the number of threads for lookups of an ASGI application.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
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

MOST_PAGES = 8
"""The maximum number of threads of a process that compute pages."""

PAGES_EACH = 2
"""The maximum number of threads that compute pages of one client."""

PAGE_SECONDS = 5.0
"""The time in which a page must get a slot."""

_GLANCE_SECONDS = 0.05
"""The time after which a waiting page looks for a slot that became free without a call."""

_PLACES = 2
"""The number of pages that can always wait for a slot in their threads."""


class _Held(NamedTuple):
    work: Work
    client: str
    began: float


class _Limits(NamedTuple):
    """The maximum numbers of threads of all work but changes ``together``, of ``pages``, and of each kind of work."""

    together: int
    pages: int
    kinds: Mapping[Work, int]


@lru_cache(maxsize=16)
def _limits(number: int) -> _Limits:
    """Return the limits of a process with a number of threads. Each is at least 1."""
    kinds: dict[Work, int] = {
        work: min(max(1, number // share), _MOST.get(work, number)) for work, share in _SHARES.items()
    }
    return _Limits(max(1, number - _KEPT_FREE), max(1, min(MOST_PAGES, number // 2)), kinds)


class _OfThread(threading.local):
    is_apart = False


class ThreadSlots:
    """The number of threads of this process, and the slots for work that can hold a thread for long. ``pages`` are
    those of pages.

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
        self.pages = PageSlots(self)
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
        """Set the number of threads of this process. None lets :attr:`number` find it out. Raises ValueError for less
        than 1.
        """
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
        return _limits(self.number).together

    def limit(self, work: Work) -> int:
        """Return the maximum number of threads that this kind of work holds, at least 1."""
        return _limits(self.number).kinds[work]

    def in_use(self, work: Work | None = None) -> int:
        """Return the number of occupied slots of this kind of work; None means all kinds."""
        with self._lock:
            return sum(work in (None, each.work) for each in self._held.values())

    def acquire(
        self,
        work: Work,
        client: str | None = None,
        *,
        each: int | None = None,
        most: int | None = None,
        brief: float = 0.0,
    ) -> Slot:
        """Occupy a slot for one kind of work, such as "traces", until it is released. A page of this thread gives its
        slot to others until then, because it does not compute meanwhile.

        ``each`` is the maximum of one client, and ``most`` a further maximum of this kind of work. ``brief`` is how
        many seconds such work usually takes. If one that began so recently holds a slot, this waits for that time.
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
        page = self.pages.suspend()
        return Slot(lambda: self._give_back(name, page))

    def forget(self) -> None:
        """Free the slots that a forked process inherited from its parent, because their work does not run here."""
        self._held.clear()
        self.pages.forget()
        self._found = None

    @property
    def waiting(self) -> int:
        """The number of threads that traces, downloads and other work holds now, without changes of names."""
        return sum(other.work not in _APART for other in [*self._held.values()])

    def _take(self, name: object, held: _Held, each: int | None, most: int | None) -> Busy | None:
        work = held.work
        # Outside of the lock, because it can take a while.
        together, _, kinds = _limits(self.number)
        limit = kinds[work] if most is None else min(kinds[work], most)
        with self._lock:
            same = [each for each in self._held.values() if each.work == work]
            if each is not None and sum(other.client == held.client for other in same) >= each:
                return Busy("busy-client", f"you already have {each} running {work}, which is the limit")
            waiting = sum(other.work not in _APART for other in self._held.values())
            if len(same) >= limit or (work not in _APART and waiting >= together):
                return Busy("busy", f"all slots for {work} are in use ({limit} at most)")
            self._held[name] = held
        return None

    def _give_back(self, name: object, page: RunningPage | None) -> None:
        with self._lock:
            self._held.pop(name, None)
        self.pages.resume(page)

    def _last_began(self, work: Work) -> float:
        with self._lock:
            return max((each.began for each in self._held.values() if each.work == work), default=0.0)


@dataclass(eq=False, slots=True)
class RunningPage:
    """A page of the desk or inspector that runs, or waits for a slot. ``is_taken`` is whether another thread has taken
    the slot, and frees it. ``suspended`` is the number of slots for other work that it holds. A page that is not
    ``is_open`` has no slot. To set this takes no lock, so that the garbage collector can do it in any thread.
    """

    client: str | None
    is_taken: bool = False
    suspended: int = 0
    is_open: bool = True
    began: float = field(default_factory=lambda: time.monotonic())
    called: threading.Event | None = None
    thread: threading.Thread = field(default_factory=threading.current_thread)


class _PageOfThread(threading.local):
    page: RunningPage | None = None


class PageSlots:
    """The slots of pages: at most :data:`MOST_PAGES` threads, at most half of them, and at most :data:`PAGES_EACH` for
    one client. With work that waits, pages never hold the last two threads, but one page can always be computed.

    >>> threads = ThreadSlots()
    >>> threads.use(8)
    >>> page = threads.pages.begin("192.0.2.7")
    >>> threads.pages.limit, threads.pages.in_use
    (4, 1)
    >>> threads.pages.end(page)
    """

    def __init__(self, threads: ThreadSlots) -> None:
        self._threads = threads
        self._notify: Callable[[], object] | None = None
        self._lock = ForkSafeLock()
        self.forget()

    @property
    def limit(self) -> int:
        """The maximum number of threads that compute pages, at least 1."""
        return _limits(self._threads.number).pages

    @property
    def in_use(self) -> int:
        """The number of threads that compute pages."""
        return sum(page.is_open for page in [*self._running])

    def begun_within(self, seconds: float) -> int:
        """Return the number of pages that run and began in the last ``seconds``."""
        since = time.monotonic() - seconds
        return sum(page.began > since for page in [*self._running])

    def begin(self, client: str | None) -> RunningPage | None:
        """Occupy a slot for the page that this thread computes, and pass the result to :meth:`end`. A part of an open
        page needs no further slot: the result is that page, or None if another thread frees its slot. If all slots are
        in use, the thread waits for up to :data:`PAGE_SECONDS`. Few can wait; a client with fewer pages takes the place
        of one with more. Raises :class:`.Busy`.
        """
        own = self._own.page
        if own is not None and own.is_open:
            # A page that no server has closed ends with the next one of its thread.
            return None if own.is_taken else own
        self._own.page = page = RunningPage(client)
        with self._lock:
            if not self._running or self._fits(page):
                self._running[page] = None
                return page
        self._wait(page)
        return page

    def take(self, client: str) -> RunningPage | None:
        """Occupy a slot for a page that another thread will compute in :meth:`use`, or return None. ``client`` is an IP
        address or a :func:`.client_key`.
        """
        page = RunningPage(client, is_taken=True)
        with self._lock:
            if not self._fits(page):
                return None
            self._running[page] = None
        return page

    @contextmanager
    def use(self, page: RunningPage | None) -> Iterator[None]:
        """Compute a page in the block with a slot of :meth:`take`, which is free at the end. :meth:`when_free` is not
        called then, because this thread looks for the next page.
        """
        self._own.page = page
        if page is not None:
            page.thread = threading.current_thread()
        try:
            yield
        finally:
            self._own.page = None
            if page is not None:
                with self._lock:
                    page.is_open = False
                    self._running.pop(page, None)
                    if self._waiting:
                        self._call()

    def when_free(self, notify: Callable[[], object] | None) -> None:
        """Call ``notify`` after each slot that becomes free. None calls nothing."""
        self._notify = notify

    def end(self, page: RunningPage) -> None:
        """Free the slot of a page. A second call has no effect."""
        with self._lock:
            page.is_open = False
            self._running.pop(page, None)
            if self._waiting:
                self._call()
        if self._notify is not None:
            self._notify()

    def suspend(self) -> RunningPage | None:
        """Give the slot of the page of this thread to others, and return the page; None if it computes no page."""
        page = self._own.page
        if page is None or not page.is_open:
            return None
        with self._lock:
            page.suspended += 1
            self._running.pop(page, None)
            if self._waiting:
                self._call()
        if self._notify is not None:
            self._notify()
        return page

    def resume(self, page: RunningPage | None) -> None:
        """Take the slot of a page back. It gets one beyond the limit, because it already has a thread."""
        with self._lock:
            if page is not None:
                page.suspended -= 1
                if page.is_open and not page.suspended:
                    self._running[page] = None
            if self._waiting:
                self._call()
        if self._notify is not None:
            self._notify()

    def forget(self) -> None:
        """Free the slots that a forked process inherited from its parent."""
        self._running: dict[RunningPage, None] = {}
        self._waiting: dict[RunningPage, None] = {}
        self._own = _PageOfThread()

    def _fits(self, page: RunningPage) -> bool:
        for each in [*self._running]:
            if not each.is_open or not each.thread.is_alive():
                del self._running[each]
        running = len(self._running)
        if not running:
            return True
        client, limits = client_key(page.client), _limits(self._threads.number)
        return (
            running < limits.pages
            and running + self._threads.waiting < limits.together
            and sum(client_key(each.client) == client for each in self._running) < PAGES_EACH
        )

    def _wait(self, page: RunningPage) -> None:
        """Wait for the slot of a page. Raises :class:`.Busy`."""
        page.called = threading.Event()
        with self._lock:
            if self._fits(page):
                self._running[page] = None
                return
            self._enqueue(page)
        deadline = time.monotonic() + PAGE_SECONDS
        while not page.called.wait(min(_GLANCE_SECONDS, max(0, deadline - time.monotonic()))):
            with self._lock:
                self._call()  # for the slot of a page that was closed without the lock
            if time.monotonic() >= deadline:
                break
        with self._lock:
            self._waiting.pop(page, None)
            if page in self._running:
                return
            page.is_open = False
        raise self._busy()

    def _enqueue(self, page: RunningPage) -> None:
        """Let a page wait. Raises :class:`.Busy` without a place."""
        places = self._threads.together - self._threads.waiting - len(self._running)
        if len(self._waiting) >= max(_PLACES, places):
            number = Counter(client_key(each.client) for each in (*self._running, *self._waiting))
            # Of the client with most pages, the one that came last.
            last = max(reversed(self._waiting), key=lambda each: number[client_key(each.client)])
            if number[client_key(last.client)] <= number[client_key(page.client)] + 1:
                page.is_open = False
                raise self._busy()
            del self._waiting[last]
            _wake(last)
        self._waiting[page] = None

    def _call(self) -> None:
        """Let the pages run that have waited longest, as far as the limits permit."""
        for page in [*self._waiting]:
            if self._fits(page):
                del self._waiting[page]
                self._running[page] = None
                _wake(page)

    def _busy(self) -> Busy:
        return Busy("busy", f"all slots for pages are in use ({self.limit} at most)")


def _wake(page: RunningPage) -> None:
    if page.called is not None:
        page.called.set()


_at_fork = AtFork(after_in_child=ThreadSlots.forget)

slots = ThreadSlots()
"""The threads of this process."""


def _threads_of_server() -> int | None:
    """Return the number of threads of the server that runs in this process, or None. No server passes it to its
    application, so its objects are searched.
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
