"""The requests of ``ararat serve`` that wait for a thread. They wait in a queue, and hold no thread meanwhile.
The threads share one interpreter, and the loop that reads requests and sends answers waits for all of them. So few
requests begin at once. One that takes longer usually waits for a database, so that another one can begin.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ...bindings.system.thread_slots import PageSlots, slots

PAGES_AT_ONCE = 2
"""The maximum number of pages that run and began within :data:`PAGE_SECONDS`."""

PAGE_SECONDS = 0.5

NAMES_AT_ONCE = 4
"""The maximum number of other requests that run and began within :data:`NAME_SECONDS`."""

NAME_SECONDS = 0.02


class FairQueue:
    """A queue of the requests that wait for a thread, in which clients take turns.

    A page also waits for a slot of ``pages``. Requests for names do not wait for pages. A request is a connection with
    the attributes ``client`` and ``is_page``, and gets its slot as the attribute ``slot``. ``notify`` wakes a thread,
    which then looks for a request. Waitress holds a lock when it calls the methods, which are those of a deque.

    >>> from types import SimpleNamespace
    >>> queue = FairQueue()
    >>> for client, number in ("a", 1), ("a", 2), ("a", 3), ("b", 4):
    ...     queue.append(SimpleNamespace(client=client, is_page=False, number=number))
    >>> [queue.popleft().number for _ in range(len(queue))]
    [1, 4, 2, 3]
    """

    def __init__(self, pages: PageSlots = slots.pages, notify: Callable[[], object] = lambda: None) -> None:
        self._slots = pages
        self._notify = notify
        self._names = _Turns()
        self._pages = _Turns()
        self._running: dict[int, float] = {}
        self._ready: Any = None
        self._is_turn_of_pages = False

    def append(self, channel: Any) -> None:
        """Add a waiting request at the end of those of its client."""
        (self._pages if channel.is_page else self._names).append(channel)

    def popleft(self) -> Any:
        """Remove and return the oldest waiting request of the client whose turn it is, of those that can begin."""
        page = self._next_page()
        if page is not None and (self._is_turn_of_pages or not self._room()):
            found, self._ready = page, None
        else:
            found = self._names.popleft(self._names.clients[0])
            self._running[id(found)] = time.monotonic()
        self._is_turn_of_pages = found is not page
        if self:
            self._notify()
        return found

    def end(self, channel: Any) -> None:
        """Note that the request of a connection, ``channel``, is answered."""
        self._running.pop(id(channel), None)

    @property
    def has_waiting(self) -> bool:
        """Whether requests wait, also those that cannot begin."""
        return bool(self._pages or self._names)

    def __len__(self) -> int:
        """Return the number of requests that can begin."""
        return self._room() + (self._next_page() is not None)

    def _room(self) -> int:
        """Return the number of requests that are not pages and can begin."""
        if not self._names:
            return 0
        since = time.monotonic() - NAME_SECONDS
        recent = sum(began > since for began in [*self._running.values()])
        return max(0, min(len(self._names), NAMES_AT_ONCE - recent))

    def _next_page(self) -> Any:
        """Return the next page, which then has a slot; None if no page can begin."""
        if self._ready is None and self._pages and self._slots.begun_within(PAGE_SECONDS) < PAGES_AT_ONCE:
            for client in self._pages.clients:
                if (slot := self._slots.take(client)) is not None:
                    self._ready = self._pages.popleft(client)
                    self._ready.slot = slot
                    break
                if self._slots.in_use >= self._slots.limit:
                    break
        return self._ready


class _Turns:
    """Requests by their clients. The first client is the one whose turn it is."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Any]] = {}
        self._number = 0

    @property
    def clients(self) -> list[str]:
        return [*self._waiting]

    def append(self, channel: Any) -> None:
        self._waiting.setdefault(channel.client, deque()).append(channel)
        self._number += 1

    def popleft(self, client: str) -> Any:
        channels = self._waiting.pop(client)
        channel = channels.popleft()
        if channels:
            self._waiting[client] = channels  # at the end
        self._number -= 1
        return channel

    def __len__(self) -> int:
        return self._number
