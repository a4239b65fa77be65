"""The resolver as an ASGI middleware, for FastAPI, Starlette, Django, Quart, Datasette and other ASGI sites.

.. code-block:: python

    from ararat.middleware import ResolverASGIMiddleware, open_bindings

    app = ResolverASGIMiddleware(app, open_bindings("bindings.sqlite"), prefix="https://example.org")

It answers like :class:`~ararat.middleware.ResolverMiddleware`. Other HTTP requests, WebSockets and lifespan events
reach the site unchanged. With ``statistics``, lifespan events get another ``send``.

A lookup in SQLite or a file runs in the event loop, because it takes less time than a change of threads. Lookups in
PostgreSQL, feeds, files of the log, and lookups after a failure run in at most :data:`THREADS` threads. The event loop
must be that of asyncio (also uvloop). Source: `ASGI <https://asgi.readthedocs.io/en/stable/specs/www.html>`_.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Unpack

from ..bindings.collection import Bindings
from ..bindings.names.errors import BindingsUnavailable
from ..bindings.storage.databases.connections import KEPT
from ..bindings.system.thread_pool import ThreadPool
from .asgi_detection import describe_application, is_wsgi
from .http.answer import Answer
from .http.asgi import (
    ASGISite,
    Disconnected,
    Message,
    Receive,
    Scope,
    Send,
    add_fields,
    encode_fields,
    local_scope,
    path_below_mount,
    plain_path,
    read_request,
    recover,
    with_body,
)
from .http.handover import Handover
from .http.request import Request
from .http.well_known import ask_asgi_site, is_announcement
from .request_handler import RequestHandler, Respond
from .resolution.result import Resolution
from .resolution.settings import SettingsArguments
from .resolution.source import BindingSource, settings_of, source_of

THREADS = KEPT
"""The number of threads for lookups: as many as the connections that a process keeps open for reading."""

_log = logging.getLogger(__name__)

Find = Callable[..., Answer | BindingsUnavailable | None]
"""A method that answers a request by its path, its mount, its method and ``is_secure``."""


class ResolverASGIMiddleware:
    """An ASGI application that answers for ARKs and URNs and passes other requests to ``app``.

    :param app: the site, an ASGI application.
    :param bindings: the result of :func:`~ararat.middleware.open_bindings`, or another
        :class:`~ararat.middleware.BindingSource`.
    :param on_resolve: a function that is called with each resolution, not a coroutine function. It is called in
        the event loop or in a thread, so it must be fast and safe for threads.
    :param settings: the settings of :class:`~ararat.middleware.ResolverMiddleware`, with the same defaults.

    Raises ValueError if a setting is wrong, and TypeError if ``app`` is a WSGI application.

    For a served name, ``scope["ararat.ark"]`` is the normal form of the identifier.
    """

    def __init__(
        self,
        app: ASGISite,
        bindings: Bindings | BindingSource,
        *,
        on_resolve: Callable[[Resolution], object] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        if is_wsgi(app):
            raise TypeError(
                f"ResolverASGIMiddleware needs an ASGI application, but {describe_application(app)} is a WSGI "
                "application. Use ResolverMiddleware with the same arguments."
            )
        self.app = app
        self.bindings = bindings
        self._source = source_of(bindings)
        self.settings = settings_of(bindings, settings)
        self._handler = RequestHandler(self.settings, bindings, on_resolve)
        self._colon_positions = self._handler.colon_positions
        self._has_resources = self._handler.has_resources
        self._threads = ThreadPool(THREADS)
        fields = self._handler.constant_fields
        self._known = dict(zip(fields, encode_fields(fields), strict=True))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Reserved paths contain a colon, and few other paths do. Most requests for the site need no other check.
        try:
            may_be_ours = ":" in scope["path"] or (self._has_resources and not is_announcement(scope))
        except Exception:  # noqa: BLE001 - lifespan has no path, and the site handles malformed scopes
            may_be_ours = False
            send = self._before_end(scope, send)
        if may_be_ours and scope["type"] == "http":
            if self._source.is_local:
                answer = self._without_request(scope, self._handler.fast_answer)
            else:
                answer = None if self._handler.can_wait else self._without_request(scope, self._handler.cached_answer)
            if isinstance(answer, Answer):
                await self._send(answer, send)
                return
            if (request := self._find(scope)) is not None:
                await self._respond(*request, answer, scope, receive, send)
                return
        elif self._handler.is_announced and is_announcement(scope):
            await self._announce(scope, receive, send)
            return
        await self.app(scope, receive, send)

    async def _announce(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer of the site, or the path of the resolver if the site has no page."""
        if not await ask_asgi_site(self.app, scope, receive, send):
            request = read_request(scope, recover(scope), self.settings.prefix)
            answer = await self._threads.run(self._handler.announcement, request)
            await self._send(answer, send, head=request.method == "HEAD")

    def _without_request(self, scope: Scope, find: Find) -> Answer | BindingsUnavailable | None:
        """Return an answer that needs no :class:`Request`, as :meth:`RequestHandler.fast_answer`."""
        try:
            if (plain := plain_path(scope)) is None:
                return None
            return find(*plain, scope["method"], is_secure=scope.get("scheme") == "https")
        except Exception:  # noqa: BLE001 - _find() logs it
            return None

    def _read(self, scope: Scope, request: Request) -> Answer | Handover:
        answer = self._without_request(scope, self._handler.fast_answer)
        return answer if isinstance(answer, Answer) else self._handler.answer(request, answer)

    def _before_end(self, scope: Scope, send: Send) -> Send:
        """Return ``send`` for the lifespan events of the site, which writes the statistics before the server ends. Some
        servers, such as uvicorn, end by a signal, without the functions that Python calls at exit.
        """
        statistics = self._handler.statistics
        if statistics is None or scope.get("type") != "lifespan":
            return send

        async def send_after_flush(message: Message) -> None:
            if message["type"].startswith("lifespan.shutdown."):
                await self._threads.run(statistics.flush)
            await send(message)

        return send_after_flush

    def _find(self, scope: Scope) -> tuple[Request, Respond | None] | None:
        """Return the request for a name, or for a resource with the function that answers it; None for the site."""
        try:
            path = path_below_mount(scope)
            # Some servers leave a whole address in the path; then the colon can be at any position.
            if path.find(":") in self._colon_positions or path[:1] != "/":
                target = recover(scope)
                if self._handler.is_reserved(target):
                    return read_request(scope, target, self.settings.prefix), None
            respond = self._handler.resource(path, partial(recover, scope)) if self._has_resources else None
            return None if respond is None else (read_request(scope, recover(scope), self.settings.prefix), respond)
        except Exception:  # noqa: BLE001 - it is logged
            _log.exception("The request could not be read, so it is passed to the site")
            return None

    async def _respond(
        self,
        request: Request,
        respond: Respond | None,
        failure: BindingsUnavailable | None,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        if respond is None:
            if self._source.is_local and not self._handler.is_failing:
                answer = self._handler.answer(request, failure)
            else:
                answer = await self._threads.run(self._read, scope, request)
        else:
            if request.method == "POST":
                try:
                    request = await with_body(request, receive)
                except Disconnected:
                    return
            answer = await self._threads.run(respond, request)
        if isinstance(answer, Answer):
            await self._send(answer, send, head=request.method == "HEAD")
        else:
            await self.app(local_scope(scope, answer), receive, add_fields(send, answer))

    async def _send(self, answer: Answer, send: Send, *, head: bool = False) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": encode_fields(answer.headers, self._known),
            }
        )
        body = b"" if head else answer.body
        if not isinstance(body, bytes):
            parts = iter(body)
            try:
                while part := await self._threads.run(next, parts, b""):
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            finally:
                if (close := getattr(body, "close", None)) is not None:
                    close()
            body = b""
        await send({"type": "http.response.body", "body": body})
