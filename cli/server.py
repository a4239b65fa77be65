"""The site of ``ararat serve``: inspector, resolver and demo in one WSGI application, and the server that runs it.

:func:`compose` makes the application, :func:`listen` takes an address, :func:`run` serves one at the other until it is
told to stop. The server is waitress: it reads requests and sends answers without a thread for each connection, so that
slow clients hold no thread. A request holds one of :data:`THREADS` only while the application answers it.
"""

from __future__ import annotations

import errno
import logging
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from waitress.server import create_server
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix

from ..middleware import ResolverMiddleware
from ..middleware.settings import SCHEMES
from ..webapp import create_app
from ..webapp.tracing.client.in_process import NamesOnly
from .demo import MOUNT, create_demo
from .logs import FOR_SERVERS, log_plainly

if TYPE_CHECKING:
    from types import FrameType

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ..identifiers.iri_policy import Profile
    from ..middleware import Bindings

FIRST_PORT = 8000
THREADS = 96
"""Fifty traces may hold a thread each; the rest answers everybody else."""

CONNECTIONS = 2000
"""How many clients may be connected at once. waitress accepts no more until one of them leaves."""

SELECT_CONNECTIONS = 400
"""The same on Windows, where select() watches at most 512 sockets."""

OTHER_FILES = 512
"""Files and sockets that the process may open beside the connections: databases, traces, bodies of requests."""

IDLE_SECONDS = 30
"""After how many seconds without an octet a connection is closed, unless its request is being answered."""

CLEANUP_SECONDS = 5

LONGEST_HEADER = 65536
"""Octets of a request's first line and fields. A first line of 8,190 octets fits; longer names are answered by 414."""

LONGEST_BODY = 16 * 2**20
"""Octets of a request's body. The pages take less, and explain their own limit in the answer 413."""

LONGEST_UNREAD = 64 * 2**20
"""Octets of an answer that may wait for a client to read them. Only a longer answer would hold a thread."""

GRACE_SECONDS = 8
"""How long a stopping server waits for answers that have begun. Streams are ended at once."""

TRIED = 100
"""How many ports are tried, one after the other, where none is named."""


def compose(
    bindings: Bindings,
    *,
    prefix: str,
    address: str,
    inspector: str | None = "/",
    trusted_proxies: int = 0,
    demo: bool = False,
    trace_elsewhere: bool = True,
    networks: Sequence[str] = (),
    denied_networks: Sequence[str] = (),
    trusted_hosts: Sequence[str] | None = None,
    policies: Sequence[Profile] = (),
    resolvers: Sequence[str] = (),
    **settings: Any,
) -> WSGIApplication:
    """The whole site: the resolver in front of the inspector, and of the demo site where that is wanted.

    ``prefix`` is the announced resolver prefix, ``address`` where the server can be reached (which may be the same).
    Error pages of names link to ``inspector``: "/" for the root of the prefix, another address, or None for no link.
    A trace's hops at ``address`` are answered in process. At ``prefix`` the names are; everything else is only if
    the inspector is at the root of the prefix. Otherwise another application may answer there.

    ``trusted_proxies`` is how many proxies are in front. So many values at the end of X-Forwarded-For and
    X-Forwarded-Proto are believed. ``trusted_hosts`` are the host names at which the inspector answers, None for any.
    IRIs are judged by ``policies``, and ``resolvers`` can be chosen for a trace. ``settings`` are those of
    :class:`~ararat.middleware.ResolverMiddleware`. Raises ValueError for an invalid setting, network or resolver.
    """
    local: dict[str, WSGIApplication] = {}
    at_root = inspector is not None and inspector.rstrip("/") in ("", prefix.rstrip("/"))
    on_prefix = at_root or (inspector or "").startswith("/")
    app = create_app(
        bindings,
        prefix=prefix,
        inspector=prefix if on_prefix else inspector or address,
        local=local,
        trace_elsewhere=trace_elsewhere,
        networks=networks,
        denied_networks=denied_networks,
        trusted_hosts=trusted_hosts,
        policies=policies,
        resolvers=resolvers,
    )
    site = DispatcherMiddleware(app, {MOUNT: create_demo()} if demo else {})
    also = (address, *settings.pop("also", ()))
    whole = ResolverMiddleware(site, bindings, prefix=prefix, also=also, inspector=inspector, **settings)
    names = NamesOnly(whole, settings.get("schemes") or SCHEMES)
    # The inspector looks at it when a trace starts, and needs what is made of the inspector.
    local.update({prefix: whole if at_root else names, address: whole})
    if not trusted_proxies:
        return whole
    # Hosts, ports and paths never come from a request.
    return ProxyFix(whole, x_for=trusted_proxies, x_proto=trusted_proxies, x_host=0, x_port=0, x_prefix=0)


def hosts_of(listener: socket.socket, *addresses: str) -> list[str]:
    """The host names under which the inspector is asked: those of this machine, of the listener and of ``addresses``.

    Raises ValueError for an address that cannot be read.
    """
    listening = str(listener.getsockname()[0])
    hosts = ["127.0.0.1", "localhost", "::1", listening, *(urlsplit(address).hostname or "" for address in addresses)]
    return list(dict.fromkeys(f"[{host}]" if ":" in host else host for host in hosts if host))


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach a listening socket."""
    return ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


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

    Streams that are open then are ended. Other answers have :data:`GRACE_SECONDS` to finish. Ends with SystemExit.
    """
    log_plainly(FOR_SERVERS)
    # waitress would log a line for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    stoppable = Stoppable(app)
    server: Any = create_server(
        stoppable,
        sockets=[listener],
        threads=THREADS,
        connection_limit=_connection_limit(),
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=CLEANUP_SECONDS,
        max_request_header_size=LONGEST_HEADER,
        max_request_body_size=LONGEST_BODY,
        outbuf_high_watermark=LONGEST_UNREAD,
        asyncore_use_poll=hasattr(select, "poll"),
        # compose() decides how many proxies are trusted. Nothing else reads these fields.
        clear_untrusted_proxy_headers=False,
        # The host of a request without the field Host.
        server_name=str(listener.getsockname()[0]),
        ident=None,
    )
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


class _StopRequested(BaseException):
    """A signal asked the server to stop."""


def _handle_signals() -> None:
    """Let each signal that ends a process stop the server. A signal that the caller ignores stays ignored (nohup)."""

    def stop(number: int, frame: FrameType | None) -> None:
        # Ignore further signals, which would cut the stop short.
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise _StopRequested

    names = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    signals = [each for each in known if signal.getsignal(each) is not signal.SIG_IGN]
    for each in signals:
        signal.signal(each, stop)


def _finish(server: Any, listener: socket.socket) -> None:
    """Refuse new connections, and wait until the running requests are answered and their answers are sent."""
    deadline = time.monotonic() + GRACE_SECONDS
    server.del_channel()
    listener.close()
    # This waits for the threads. The loop of the server goes on and sends what they write.
    server.task_dispatcher.shutdown(timeout=GRACE_SECONDS)
    while time.monotonic() < deadline and _is_sending(server):
        time.sleep(0.02)


def _is_sending(server: Any) -> bool:
    return any(channel.total_outbufs_len for channel in list(server.active_channels.values()))


def _connection_limit() -> int:
    """How many clients may be connected at once. Raises the limit of open files where the system permits it."""
    if not hasattr(select, "poll"):
        return SELECT_CONNECTIONS
    import resource  # Not available on Windows.

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = max(soft, min(wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(wanted - OTHER_FILES, wanted // 2)
