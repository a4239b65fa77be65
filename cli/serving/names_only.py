"""The names role: the resolver in front of a site without pages, which has ``/healthz`` and answers 404 elsewhere.
It reads no accounts and writes nothing, so a role of PostgreSQL that can only SELECT is enough, also on a standby.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...bindings.health import health_document
from ...bindings.system.thread_pool import ThreadPool
from ...middleware import ResolverMiddleware
from ...middleware.http.asgi import path_below_mount
from ...middleware.http.request_target import NO_PATH, is_path
from ...middleware.resolution.settings import SCHEMES
from .mount import MountedWSGI, Mounts

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from ...middleware import Bindings, Resolution
    from ...middleware.http.trusted_proxy import ProxySecret

_NOT_FOUND = b"This server answers only for names, such as /ark:12345/x. Check the address.\n"
# A count takes seconds in a large database, so it runs in a thread. Health checks are rare.
_THREADS = 2


def _answer(bindings: Bindings, path: str) -> tuple[str, str, bytes]:
    """Return the status, the media type and the body for a path that the resolver does not answer."""
    if not is_path(path):
        return "400 Bad Request", "text/plain; charset=utf-8", NO_PATH
    if path != "/healthz":
        return "404 Not Found", "text/plain; charset=utf-8", _NOT_FOUND
    health = health_document(bindings)
    status = "200 OK" if health["status"] == "ok" else "503 Service Unavailable"
    return status, "application/json", json.dumps(health).encode()


class NamesOnlySite:
    """An ASGI application without pages. Its ``/healthz`` is that of the inspector, for the same ``bindings``."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._threads = ThreadPool(_THREADS)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "lifespan":
            event = (await receive())["type"]
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        status, kind, body = await self._threads.run(_answer, self._bindings, path_below_mount(scope))
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": int(status[:3]), "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def names_application(
    bindings: Bindings,
    *,
    prefix: str,
    also: Sequence[str],
    inspector: str | None,
    trusted_proxies: int = 0,
    secret: ProxySecret | None = None,
    on_resolve: Callable[[Resolution], object] | None = None,
    **settings: Any,
) -> WSGIApplication:
    """Return the WSGI application of a server that only resolves names, without the inspector and the desk. ``prefix``
    is the public resolver prefix, ``also`` are further addresses, and ``inspector`` is a URL on another server. The
    fields of ``trusted_proxies``, a number, with their ``secret`` are trusted. ``settings`` are those of the resolver.
    """

    def site(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        status, kind, body = _answer(bindings, environ.get("PATH_INFO", ""))
        fields = [("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")]
        start_response(status, fields)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    linked = inspector if inspector and "://" in inspector else None
    resolver = ResolverMiddleware(
        site, bindings, prefix=prefix, also=also, inspector=linked, on_resolve=on_resolve, **settings
    )
    mounts = Mounts([prefix, *also])
    mounted = MountedWSGI(resolver, mounts) if mounts else resolver
    if not trusted_proxies:
        return mounted
    from ...middleware.http.trusted_proxy import ForwardedFields

    return ForwardedFields(mounted, trusted_proxies, secret)


class WithoutNames:
    """The desk role: ``app`` without names for readers, who use the resolver at ``prefix``.
    It does not redirect to ``prefix``: a front server that sends names here by mistake would redirect without end.
    """

    def __init__(self, app: WSGIApplication, prefix: str, schemes: Iterable[str] | None = None) -> None:
        self._app = app
        self._beginnings = tuple(f"/{scheme}:" for scheme in schemes or SCHEMES)
        self._body = f"This server has the desk and the APIs. Names are answered at {prefix}\n".encode()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("PATH_INFO", "").lower().startswith(self._beginnings):
            return self._app(environ, start_response)
        fields = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(self._body)))]
        start_response("404 Not Found", [*fields, ("Cache-Control", "no-store")])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [self._body]
