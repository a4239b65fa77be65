"""The server of ``ararat serve``: waitress at a socket (:mod:`.listening`), until a signal arrives.
It reads requests and sends answers (:mod:`.channel`) without a thread for each connection. A request holds a thread
only while the application answers it.
"""

from __future__ import annotations

import logging
import select
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from waitress.server import create_server

from ...bindings.system.thread_slots import slots
from ...middleware.http.trusted_proxy import ProxySecret
from ...webapp.body_routes import ROUTES, BodyLimits
from .channel import Channel
from .fair_queue import FairQueue
from .logs import FOR_SERVERS, log_plainly
from .mount import Mounts
from .request_parser import NO_MOUNTS

if TYPE_CHECKING:
    from types import FrameType

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


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

MAX_UNREAD = 64 * 2**20
"""The size of the output buffer of a connection in bytes. Only a longer answer holds a thread."""

ACCEPTED_AT_ONCE = 5
"""The maximum number of connections of one client that are accepted in one round of the loop.

It is far below :data:`.channel.CONNECTIONS_EACH`: a round first notices which connections were closed. Otherwise a
client with short connections would seem to have too many.
"""

ACCEPTED_IN_ALL = 100
"""The maximum number of connections of all clients that are accepted in one round."""

GRACE_SECONDS = 8
"""The seconds that a stopping server waits for running answers. Streams end at once."""


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

    ``ready`` is called when the server listens. With ``trusted_proxies``, one address can have any number of
    connections. The default of ``limits`` is that of a site without a user of the web server. At the end, open streams
    stop at once. Other answers have :data:`GRACE_SECONDS` to finish.
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
    """Let the server accept all waiting connections at once, until one client has :data:`ACCEPTED_AT_ONCE`. waitress
    accepts one in each round of its loop, so that a client would wait for each connection before its own.
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
