"""The server of ``ararat serve``.

:func:`listen` opens a socket. :func:`run` serves an application until a signal arrives. The server is waitress. It
reads requests and sends answers without a thread for each connection, so slow clients hold no thread. A request holds
one of the threads only while the application answers it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import logging
import re
import select
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from waitress.channel import HTTPChannel
from waitress.server import create_server

from ...bindings.system.concurrency import client_key
from ...bindings.system.thread_slots import RunningPage, slots
from ...middleware.http.trusted_proxy import ProxySecret, client_address
from ...webapp.body_routes import ROUTES, BodyLimits
from .fair_queue import FairQueue
from .logs import FOR_SERVERS, log_plainly
from .mount import Mounts
from .request_parser import NO_MOUNTS
from .request_parser import RequestParser as _Parser

try:
    from fcntl import ioctl
    from termios import TIOCOUTQ

    _UNSENT: int | None = TIOCOUTQ
except ImportError:  # Windows
    ioctl: Any = None
    _UNSENT = None

if TYPE_CHECKING:
    from types import FrameType

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


FIRST_PORT = 8000
THREADS = 96
"""The default number of threads. Work that waits holds a part of them (:mod:`~ararat.bindings.system.thread_slots`)."""

CONNECTIONS = 2000
"""The maximum number of connections. waitress accepts no more until one of them closes."""

SELECT_CONNECTIONS = 400
"""The same on Windows, where select() watches at most 512 sockets."""

OTHER_FILES = 512
"""Files and sockets besides the connections: databases, traces, request bodies."""

IDLE_SECONDS = 30
"""A connection without data is closed after this time, unless its request is being answered."""

CLEANUP_SECONDS = 5

MAX_HEADER = 65536
"""The maximum size of request line and header fields in bytes. A request line over 8,190 bytes gets 414."""

MAX_TABLE = max(route.size for route in ROUTES) + 1
"""The maximum size of a request body with a table."""

_OF_NAMES = re.compile("/(?:ark|urn):", re.IGNORECASE)

MAX_UNREAD = 64 * 2**20
"""The size of the output buffer of a connection in bytes. Only a longer answer holds a thread."""

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

ACCEPTED_AT_ONCE = 5
"""The maximum number of connections of one client that are accepted in one round of the loop.

It is far below :data:`CONNECTIONS_EACH`: a round first notices which connections were closed. Otherwise a client with
short connections would seem to have too many.
"""

ACCEPTED_IN_ALL = 100
"""The maximum number of connections of all clients that are accepted in one round."""

CHECK_SECONDS = 0.25
"""The time between two checks if the client of a connection is too slow."""

GRACE_SECONDS = 8
"""The seconds that a stopping server waits for running answers. Streams end at once."""

TRIED = 100
"""The number of ports to try if no port is given."""


def hosts_of(listener: socket.socket, *addresses: str) -> list[str]:
    """Return the host names at which the inspector answers: those of this machine, of a socket and of URLs.

    ``listener`` is the listening socket. ``addresses`` are the URLs. An IPv6 address is in brackets. Raises ValueError
    for a URL that is not valid.

    >>> with listen("127.0.0.1", 0) as listener:
    ...     hosts_of(listener, "https://example.org")
    ['127.0.0.1', 'localhost', '[::1]', 'example.org']
    """
    return host_names(str(listener.getsockname()[0]), *addresses)


def host_names(listening: str, *addresses: str) -> list[str]:
    """Return the host names at which the inspector answers: those of this machine, of an IP address and of URLs.

    ``listening`` is the IP address of the listening socket. ``addresses`` are the URLs. An IPv6 address is in brackets.

    >>> host_names("127.0.0.1", "https://example.org")
    ['127.0.0.1', 'localhost', '[::1]', 'example.org']
    """
    hosts = ["127.0.0.1", "localhost", "::1", listening, *(urlsplit(address).hostname or "" for address in addresses)]
    return list(dict.fromkeys(f"[{host}]" if ":" in host else host for host in hosts if host))


def is_loopback(listener: socket.socket) -> bool:
    """Return whether ``listener`` has a loopback address, so that only this machine can reach it.

    >>> with listen("127.0.0.1", 0) as listener:
    ...     is_loopback(listener)
    True
    """
    return ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def listen(host: str, port: int | None) -> socket.socket:
    """Return a TCP socket that listens on ``host`` and ``port``.

    Port 0 selects any free port, None the first free one from :data:`FIRST_PORT` on. Raises OSError if the port is in
    use, or if the host is not an address of this machine.
    """
    family, _, _, _, _ = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    ports = range(FIRST_PORT, FIRST_PORT + TRIED) if port is None else [port]
    for each in ports:
        try:
            return socket.create_server((host, each), family=family, backlog=1024)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or each == ports[-1]:
                raise
    raise AssertionError("no port was tried")


def address_of(listener: socket.socket) -> str:
    """Return the URL by which a browser on this machine reaches a server. ``listener`` is its listening socket.

    >>> with listen("127.0.0.1", 0) as listener:
    ...     address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    True
    """
    host, port = str(listener.getsockname()[0]), listener.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a wildcard address includes loopback
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: WSGIApplication,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    trusted_proxies: int = 0,
    secret: ProxySecret | None = None,
    mounts: Mounts | None = None,
    limits: BodyLimits | None = None,
    threads: int = THREADS,
) -> None:
    """Serve an application until a signal such as SIGTERM or SIGINT arrives, then raise SystemExit.

    - ``app``: the WSGI application.
    - ``listener``: the listening socket.
    - ``ready``: a function that is called when the server listens.
    - ``trusted_proxies``: the number of reverse proxies. With a proxy, one address can have any number of connections.
    - ``secret``: the secret of the proxies, or None. ``mounts``: the paths at which the application is mounted.
    - ``limits``: the limits of the bodies of requests. None: those of a site without a user of the web server.
    - ``threads``: the number of threads that answer requests.

    At the end, open streams stop at once and other answers have :data:`GRACE_SECONDS` to finish.
    """
    log_plainly(FOR_SERVERS)
    # waitress would log a line for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    slots.use(threads)
    stoppable = Stoppable(app)
    server: Any = create_server(
        stoppable,
        sockets=[listener],
        threads=threads,
        connection_limit=_connection_limit(),
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=CLEANUP_SECONDS,
        max_request_header_size=MAX_HEADER,
        max_request_body_size=MAX_TABLE,
        outbuf_high_watermark=MAX_UNREAD,
        asyncore_use_poll=hasattr(select, "poll"),
        # The application decides how many proxies are trusted. Nothing else reads these fields.
        clear_untrusted_proxy_headers=False,
        # The host of a request without the field Host.
        server_name=str(listener.getsockname()[0]),
        ident=None,
    )
    server.channel_class = Channel
    _accept_many(server)
    _share_threads(server)
    server.proxies, server.secret = trusted_proxies, secret
    server.mounts, server.limits = mounts or NO_MOUNTS, limits or BodyLimits()
    # The connections by the addresses of their clients. With a proxy, all have its address.
    server.by_client = None if trusted_proxies else {}
    # The main thread only waits for signals, so that a signal never interrupts the loop of the server.
    serving = threading.Thread(target=server.run, name="ararat-server", daemon=True)
    try:
        _handle_signals()
        serving.start()
        ready()
        while serving.is_alive():
            serving.join(1)
    except _StopRequested:
        pass
    stoppable.stopping.set()
    _finish(server, listener)
    raise SystemExit(0)


def _share_threads(server: Any) -> None:
    """Let requests wait in a :class:`FairQueue`, and wake a thread when one of them can begin."""
    dispatcher, accepts = server.task_dispatcher, server.readable
    dispatcher.queue = queue = FairQueue(notify=dispatcher.queue_cv.notify)

    def wake() -> None:
        if queue.has_waiting:
            with dispatcher.lock:
                if queue:
                    dispatcher.queue_cv.notify()

    def add(channel: Any) -> None:
        with dispatcher.lock:
            queue.append(channel)
            if queue:
                dispatcher.queue_cv.notify()

    def readable() -> bool:
        # The loop calls it in each round, at least once a second.
        wake()
        return accepts()

    server.readable, dispatcher.add_task = readable, add
    slots.pages.when_free(wake)


def _accept_many(server: Any) -> None:
    """Let the server accept all waiting connections at once, until one client has :data:`ACCEPTED_AT_ONCE`.

    waitress accepts one in each round of its loop. A round looks at all connections, so that a client would wait for a
    round for each connection that was opened before its own.
    """
    accept_one = server.handle_accept

    # The limit of connections is that of the loop, before each round.
    def accept_many() -> None:
        accepted: Counter[str | None] = Counter()
        while accepted.total() < ACCEPTED_IN_ALL:
            connections = len(server._map)
            accept_one()
            if not connections < len(server._map) < server.adj.connection_limit:
                break
            newest = next(reversed(server._map.values()))
            client = newest.client if isinstance(newest, Channel) else None
            accepted[client] += 1
            if accepted[client] >= ACCEPTED_AT_ONCE:
                break

    server.handle_accept = accept_many


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
        """Count bytes that a client has sent or read, so that it gets more time.

        ``octets`` is the number of bytes. ``now`` is the time in seconds of the monotonic clock.
        """
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
        """Return whether the channel waits for input. Close it if its client is too slow.

        The loop of waitress calls it at least once a second, before it waits for events. A channel that is closed later
        would leave its events to a new connection with the same file descriptor.

        waitress would wait for such a client forever, and so would a thread whose answer is not complete.
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
        """Whether the current request is for a page, which computes: neither for a name without a query, nor a check of
        the health.
        """
        request = cast("_Parser", self.requests[0])
        if request.error or request.below == "/healthz":
            return False
        return bool(request.query) or _OF_NAMES.match(request.below) is None

    @property
    def is_unfinished(self) -> bool:
        """Whether the client must still send or read something."""
        return self._head is not None or self._body is not None or bool(self.total_outbufs_len)

    def slowness(self, now: float) -> tuple[bool, bool, bool, float, float]:
        """Return a key by which the slowest connection is the first. ``now`` is the time in seconds of the monotonic
        clock.
        """
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


class Stoppable:
    """A WSGI application whose streams end when the server stops.

    A stream is an answer with the field ``X-Accel-Buffering``. It yields data at least once a second, and ends after
    that. An event stream ends with an event ``end``, so that its client does not reconnect.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self.app = app
        self.stopping = threading.Event()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        fields: dict[str, str] = {}

        def started(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            fields.update((name.lower(), value) for name, value in headers)
            return start_response(status, headers, *exc_info)

        body = self.app(environ, started)
        if "x-accel-buffering" not in fields:
            return body
        return self._until_stopped(body, fields.get("content-type", "").startswith("text/event-stream"))

    def _until_stopped(self, body: Iterable[bytes], of_events: bool) -> Iterator[bytes]:
        try:
            for chunk in body:
                yield chunk
                if self.stopping.is_set():
                    if of_events:
                        yield b"event: end\ndata: shutdown\n\n"
                    return
        finally:
            close = getattr(body, "close", None)
            if close is not None:
                close()


class _StopRequested(BaseException):
    """A signal asked the server to stop."""


def _handle_signals() -> None:
    """Stop the server on each signal that ends a process. Ignored signals stay ignored (nohup)."""

    def stop(number: int, frame: FrameType | None) -> None:
        # Ignore further signals, which would cut the stop short.
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise _StopRequested

    names = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    signals = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    for each in signals:
        signal.signal(each, stop)


def _finish(server: Any, listener: socket.socket) -> None:
    """Refuse new connections, and wait until the running answers are sent."""
    deadline = time.monotonic() + GRACE_SECONDS
    server.del_channel()
    listener.close()
    # Wait for the worker threads. The loop of the server still sends their output.
    server.task_dispatcher.shutdown(timeout=GRACE_SECONDS)
    while time.monotonic() < deadline and _is_sending(server):
        time.sleep(0.02)


def _is_sending(server: Any) -> bool:
    return any(channel.total_outbufs_len for channel in list(server.active_channels.values()))


def _connection_limit() -> int:
    """Return the maximum number of connections. Raise the limit of open files if the system permits it."""
    if not hasattr(select, "poll"):
        return SELECT_CONNECTIONS
    import resource  # Not available on Windows.

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = CONNECTIONS + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= files:
        return CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        files = max(soft, min(files, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(files - OTHER_FILES, files // 2)
