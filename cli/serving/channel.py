"""A connection of the server, which is closed if its client is too slow or has too many others."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import time
from typing import TYPE_CHECKING, Any, cast

from waitress.channel import HTTPChannel

from ...bindings.system.concurrency import client_key
from ...bindings.system.thread_slots import RunningPage, slots
from ...middleware.http.trusted_proxy import client_address
from .request_parser import RequestParser as _Parser

try:
    from fcntl import ioctl
    from termios import TIOCOUTQ

    _UNSENT: int | None = TIOCOUTQ
except ImportError:  # Windows
    ioctl: Any = None
    _UNSENT = None

if TYPE_CHECKING:
    from .fair_queue import FairQueue

_OF_NAMES = re.compile("/(?:ark|urn):", re.IGNORECASE)

HEAD_SECONDS = 15
"""The time in which a client must send the request line and the header fields."""

LEAST_RATE = 256
"""The octets per second that a client must send of a body, or read of an answer that waits for it."""

SLOW_SECONDS = 10
"""The time after which :data:`LEAST_RATE` applies."""

UNREAD_SECONDS = 120
"""A connection is closed after this time if its client reads nothing of an answer, also after it has read much."""

CONNECTIONS_EACH = 100
"""The maximum number of connections of one client address, or of a /56 of IPv6."""

_KEPT_FREE = 50

CHECK_SECONDS = 0.25
"""The time between two checks if the client of a connection is too slow."""


class Pace:
    """The time by which a client must send or read more octets: at first :data:`SLOW_SECONDS`, then as its octets take
    at :data:`LEAST_RATE`. It is at most ``most`` seconds away.

    >>> pace = Pace(0.0, most=30)
    >>> pace.move(512, 1.0)
    >>> pace.deadline
    12.0
    """

    def __init__(self, now: float, most: float) -> None:
        self._most = most
        self.deadline = now + min(SLOW_SECONDS, most)

    def move(self, octets: int, now: float) -> None:
        """Count bytes that a client has sent or read, so that it gets more time. ``now`` is monotonic, in seconds."""
        self.deadline = min(now + self._most, self.deadline + octets / LEAST_RATE)


class Channel(HTTPChannel):
    """A connection that is closed if its client sends or reads too slowly, or has too many others."""

    parser_class = _Parser
    server: Any  # run() has added attributes
    octets = 0
    slot: RunningPage | None = None
    _is_closed = False

    def __init__(self, server: Any, *args: Any, **kwargs: Any) -> None:
        # The bytes that follow the current request. Its parser adds them before a thread can answer it.
        self._ahead = bytearray()
        self.parser_class = cast(
            "Any", functools.partial(_Parser, ahead=self._ahead, mounts=server.mounts, limits=server.limits)
        )
        super().__init__(server, *args, **kwargs)
        self.began = time.monotonic()
        self._head: float | None = self.began  # when the head began to be expected; None outside of a head
        self._body: Pace | None = None
        self._answer: Pace | None = None
        self._read = 0
        self._next_check = self.began
        self._is_closed = self._is_refused = False
        self._limit_client()

    def received(self, data: bytes) -> bool:
        self.octets += len(data)
        self._ahead += data
        # A client must read an answer before its next request is carried out.
        return bool(self.requests or self.total_outbufs_len) or self._read_ahead()

    def _read_ahead(self) -> bool:
        now, before, data = time.monotonic(), self.request, bytes(self._ahead)
        self._ahead.clear()
        result = super().received(data)
        request = self.request
        if request is None:
            self._head = self._body = None
        elif not request.headers_finished:
            self._body = None
            if self._head is None or (request is not before and before is not None):
                self._head = now
        elif self._body is None or request is not before:
            self._head, self._body = None, Pace(now, SLOW_SECONDS)
        else:
            self._body.move(len(data), now)
        return result

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent = super().send(data, do_close)
        self.octets += sent
        return sent

    def readable(self) -> bool:
        """Return whether the channel waits for input. Close it if its client is too slow, for which waitress would wait
        forever. The loop of waitress calls it at least once a second, before it waits for events. A channel that is
        closed later would leave its events to a new connection with the same file descriptor.
        """
        if self._is_refused or time.monotonic() >= self._next_check:
            self._check_pace()
        if self._is_closed or self.requests or self.total_outbufs_len:
            return False
        if self._ahead:
            self._read_ahead()
        return super().readable()

    def writable(self) -> bool:
        return not self._is_closed and super().writable()

    def _check_pace(self) -> None:
        now = time.monotonic()
        self._next_check = now + CHECK_SECONDS
        if not self._is_closed and (self._is_refused or self._is_too_slow(now)):
            self.handle_close()

    def handle_close(self) -> None:
        self._is_closed = True
        super().handle_close()

    def _is_too_slow(self, now: float) -> bool:
        if self.total_outbufs_len:
            if self._is_read_slowly(now):
                return True
        else:
            self._answer = None
        if self.requests or self.total_outbufs_len:
            # Nothing is read from the client meanwhile.
            self._head = None if self._head is None else now
            self._body = None if self._body is None else Pace(now, SLOW_SECONDS)
            return False
        if self._head is not None and now > self._head + HEAD_SECONDS:
            return True
        return self._body is not None and now > self._body.deadline

    def del_channel(self, map: Any = None) -> None:
        super().del_channel(map)
        channels = self.server.by_client
        if channels is not None and (own := channels.get(self.client)):
            own.discard(self)
            if not own:
                del channels[self.client]

    def service(self) -> None:
        slot, self.slot = self.slot, None
        try:
            with slots.pages.use(slot):
                super().service()
        finally:
            cast("FairQueue", self.server.task_dispatcher.queue).end(self)

    @property
    def is_page(self) -> bool:
        """Whether the current request computes, unlike one for a name without a query or a check of the health."""
        request = cast("_Parser", self.requests[0])
        if request.error or request.below == "/healthz":
            return False
        return bool(request.query) or _OF_NAMES.match(request.below) is None

    @property
    def is_unfinished(self) -> bool:
        """Whether the client must still send or read something."""
        return self._head is not None or self._body is not None or bool(self.total_outbufs_len)

    def slowness(self, now: float) -> tuple[bool, bool, bool, float, float]:
        """Return a key by which the slowest connection is the first. ``now`` is monotonic, in seconds."""
        age = now - self.began
        return bool(self.requests), not self.is_unfinished, age < 1, self.octets / max(age, 1.0), self.began

    @property
    def client(self) -> str:
        """The address of the client, or its /56 of IPv6. Behind proxies it is that of the current request."""
        address = str(self.addr[0])
        if self.server.proxies and self.requests:
            fields = {f"HTTP_{name}": value for name, value in self.requests[0].headers.items()}
            address = client_address({**fields, "REMOTE_ADDR": address}, self.server.proxies, self.server.secret)
        return client_key(address)

    def _is_read_slowly(self, now: float) -> bool:
        if self._answer is not None and now <= self._answer.deadline:
            # A call of the system lets other threads compute before the loop goes on, so it is made only when needed.
            return False
        # Octets that the system has taken were not yet read.
        read = self.octets - self._unsent()
        if self._answer is None:
            self._answer = Pace(now, UNREAD_SECONDS)
        else:
            self._answer.move(max(0, read - self._read), now)
        self._read = max(read, self._read)
        return now > self._answer.deadline

    def _unsent(self) -> int:
        """Return the octets in the buffer of the system that the client has not acknowledged; 0 if it is unknown."""
        if _UNSENT is None:
            return 0
        with contextlib.suppress(OSError):
            return int.from_bytes(ioctl(self.socket, _UNSENT, bytes(4)), sys.byteorder)
        return 0

    def _limit_client(self) -> None:
        """Close the slowest connection of a client that has too many, or of the one with most if there are too many."""
        clients: dict[str, set[Any]] | None = self.server.by_client
        if clients is None:
            return
        own = clients.setdefault(self.client, set())
        own.add(self)
        if len(own) > CONNECTIONS_EACH:
            crowd = own
        elif sum(map(_size, clients.values())) > self.adj.connection_limit - _KEPT_FREE:
            crowd = max(clients.values(), key=_size)
        else:
            return
        now = time.monotonic()
        others = [each for each in crowd if each is not self and not each._is_refused]
        if others:
            min(others, key=lambda each: each.slowness(now))._is_refused = True


def _size(channels: set[Any]) -> int:
    return len(channels)
