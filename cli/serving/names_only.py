"""The ASGI site behind the resolver of ``ararat.asgi``: ``/healthz``, and 404 for every other path."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...bindings.health import health_document
from ...bindings.system.thread_pool import ThreadPool
from ...middleware.http.asgi import path_below_mount

if TYPE_CHECKING:
    from ...middleware import Bindings

_NOT_FOUND = b"This server answers only for names, such as /ark:12345/x. Check the address.\n"
# A count takes seconds in a large database, so it runs in a thread. Health checks are rare.
_THREADS = 2


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
        status, kind, body = 404, b"text/plain; charset=utf-8", _NOT_FOUND
        if path_below_mount(scope) == "/healthz":
            health = await self._threads.run(health_document, self._bindings)
            status, kind = (200 if health["status"] == "ok" else 503), b"application/json"
            body = json.dumps(health).encode()
        headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
