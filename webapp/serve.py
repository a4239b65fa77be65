"""The site of ``ararat serve``: inspector, resolver and demo in one WSGI application, and the server that runs it.

:func:`compose` makes the application, :func:`listen` takes an address, :func:`run` serves one at the other until it is
told to stop: gunicorn with one worker of many threads (a live trace holds one), waitress where a process cannot fork.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from werkzeug.middleware.dispatcher import DispatcherMiddleware

from ..middleware import ResolverMiddleware
from . import create_app
from .demo import MOUNT, create_demo
from .logs import FOR_SERVERS, PlainFormatter, log_plainly

if TYPE_CHECKING:
    from types import FrameType

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ..identifiers.policy import Profile
    from ..middleware import Bindings

FIRST_PORT = 8000
THREADS = 96
"""Fifty traces may hold a thread each; the rest answers everybody else."""

CONNECTIONS = 2000
"""How many clients may keep a connection open. gunicorn's own limit is that of few visitors beside fifty streams."""

LONGEST_REQUEST_LINE = 8190
GRACE_SECONDS = 8
"""How long a stopping server waits for answers that have begun. Streams are ended at once."""

LINGER_SECONDS = 2.0
"""How long a connection that is over waits for its client to close it."""

_OF_UNIX = [getattr(signal, name) for name in ("SIGHUP", "SIGQUIT") if hasattr(signal, name)]

TRIED = 100
"""How many ports are tried, one after the other, where none is named."""


def compose(
    bindings: Bindings,
    *,
    prefix: str,
    address: str,
    demo: bool = False,
    trace_elsewhere: bool = True,
    networks: Sequence[str] = (),
    trusted_hosts: Sequence[str] | None = None,
    policies: Sequence[Profile] = (),
    resolvers: Sequence[str] = (),
    **settings: Any,
) -> WSGIApplication:
    """The whole site: the resolver in front of the inspector, and of the demo site where that is wanted.

    ``prefix`` is the announced resolver prefix, ``address`` where the server can be reached (which may be the same): a
    trace's hops at either are answered in process, by the very application that is returned. ``trusted_hosts`` are the
    host names at which the inspector answers, None for any. IRIs are judged by ``policies``, and ``resolvers`` can be
    chosen for a trace. ``settings`` are those of :class:`~ararat.middleware.ResolverMiddleware`. Raises ValueError for
    a setting, network or resolver that is none.
    """
    local: dict[str, WSGIApplication] = {}
    inspector = create_app(
        bindings,
        prefix=prefix,
        local=local,
        trace_elsewhere=trace_elsewhere,
        networks=networks,
        trusted_hosts=trusted_hosts,
        policies=policies,
        resolvers=resolvers,
    )
    site = DispatcherMiddleware(inspector, {MOUNT: create_demo()} if demo else {})
    also = (address, *settings.pop("also", ()))
    whole = ResolverMiddleware(site, bindings, prefix=prefix, also=also, inspector="/", **settings)
    # The inspector looks at it when a trace starts, and needs what is made of the inspector.
    local.update({prefix: whole, address: whole})
    return whole


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on ``host``: at ``port`` (0: any that is free), or at the first free one from 8000 on.

    Raises OSError where the port is taken, or the host is none of this machine.
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
    """The address under which a browser on this machine reaches a listening socket.

    >>> with listen("127.0.0.1", 0) as listener:
    ...     address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
    True
    """
    host, port = str(listener.getsockname()[0]), listener.getsockname()[1]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - what everybody may reach, we reach there
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: WSGIApplication, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve ``app`` at ``listener`` until SIGTERM or SIGINT; ``ready`` is called once the server listens.

    Streams that are open then are ended, everything else has :data:`GRACE_SECONDS` to finish. Ends with SystemExit.
    """
    log_plainly(FOR_SERVERS)
    if hasattr(os, "fork"):
        _run_gunicorn(app, listener, ready)
    else:
        _run_waitress(app, listener, ready)


class Stoppable:
    """A WSGI application whose streams end when the server is told to stop, instead of holding it up.

    A stream is what asks proxies not to hold it back (``X-Accel-Buffering``). It says something at least every second,
    and ends there; one of events with an event ``end`` first, so that its client does not come back for more.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self.app = app
        self.stopping = threading.Event()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer as the application does."""
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


def _run_gunicorn(app: WSGIApplication, listener: socket.socket, ready: Callable[[], None]) -> None:
    # Here and not above: there is no gunicorn where there is no fork.
    from gunicorn.app.base import BaseApplication
    from gunicorn.arbiter import Arbiter

    stoppable = Stoppable(app)
    to_stop = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
    hang_up = signal.getsignal(signal.SIGHUP)

    def when_ready(arbiter: Any) -> None:
        # gunicorn takes a hang-up for "reload"; who closes the terminal wants this to end, unless nohup said otherwise.
        arbiter.handle_hup = (lambda: None) if hang_up is signal.SIG_IGN else arbiter.handle_term
        ready()

    def post_worker_init(worker: Any) -> None:
        handlers = {
            signal.SIGTERM: worker.handle_exit,
            signal.SIGINT: worker.handle_quit,
            signal.SIGQUIT: worker.handle_quit,
        }

        def stop(number: int, frame: FrameType | None) -> None:
            stoppable.stopping.set()
            handlers[signal.Signals(number)](number, frame)

        for number in handlers:
            signal.signal(number, stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, to_stop)

    class Starter(Arbiter):
        """gunicorn's master, whose workers can be stopped as soon as there are any. One that does not listen yet would
        lose the signal, and the master wait for its end in vain."""

        def spawn_worker(self) -> int:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, to_stop)
            try:
                return super().spawn_worker()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    settings = {
        "worker_class": _worker_class(),
        "workers": 1,
        "threads": THREADS,
        "worker_connections": CONNECTIONS,
        "limit_request_line": LONGEST_REQUEST_LINE,
        "graceful_timeout": GRACE_SECONDS,
        "loglevel": "warning",
        "logger_class": _logger_class(),
        # Nobody is believed about scheme, host or path (security design, section 4).
        "forwarded_allow_ips": "",
        "control_socket_disable": True,
        "when_ready": when_ready,
        "post_worker_init": post_worker_init,
        # gunicorn owns, and closes, the socket with this number from here on.
        "bind": [f"fd://{listener.detach()}"],
    }

    class Server(BaseApplication):
        def load_config(self) -> None:
            config: Any = self.cfg
            for name, value in settings.items():
                # gunicorn before 25 has no control socket, and so nothing to disable it by.
                if name != "control_socket_disable" or name in config.settings:
                    config.set(name, value)

        def load(self) -> Any:
            return stoppable

        def run(self) -> None:
            Starter(self).run()

    try:
        Server().run()
    finally:
        _hear_no_more()


def _hear_no_more() -> None:
    """Ignore from now on that this is to end, since it ends.

    Python lets go of its handlers a moment before the process is gone; whoever says it there once more would kill it.
    """
    for number in (signal.SIGTERM, signal.SIGINT, *_OF_UNIX):
        signal.signal(number, signal.SIG_IGN)


def _worker_class() -> type:
    from gunicorn.workers.gthread import ThreadWorker

    class Worker(ThreadWorker):
        """A worker whose threads see their clients off. gunicorn does it in the one thread that everybody needs, and
        waits there for two seconds for each client that does not close its side."""

        def handle(self, conn: Any) -> Any:
            again = super().handle(conn)
            if again is False:
                _see_off(conn.sock)
            return again

    return Worker


def _see_off(connection: socket.socket) -> None:
    """Say that nothing more comes, and wait a little for the other side to say so too (RFC 9112, section 9.6)."""
    deadline = time.monotonic() + LINGER_SECONDS
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while (left := deadline - time.monotonic()) > 0:
            connection.settimeout(left)
            if not connection.recv(4096):
                break
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _run_waitress(app: WSGIApplication, listener: socket.socket, ready: Callable[[], None]) -> None:
    from waitress.server import create_server

    stoppable = Stoppable(app)

    def stop(number: int, frame: FrameType | None) -> None:
        stoppable.stopping.set()
        _hear_no_more()
        raise SystemExit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    server = create_server(
        stoppable,
        sockets=[listener],
        threads=THREADS,
        ident=None,
        clear_untrusted_proxy_headers=True,
        max_request_header_size=65536,
    )
    ready()
    # It ends at the SystemExit, and keeps that to itself.
    server.run()
    server.close()
    raise SystemExit(0)


def _logger_class() -> type:
    from gunicorn.glogging import Logger

    class PlainLogger(Logger):
        def setup(self, cfg: Any) -> None:
            super().setup(cfg)
            for handler in self.error_log.handlers:
                handler.setFormatter(PlainFormatter(FOR_SERVERS))

    return PlainLogger
