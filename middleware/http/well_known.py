"""The path ``/.well-known/ark``, at which a client finds the resolver of a host.

Its answer is the path of the resolver, which ends in a slash. The site is asked first. Its 404, 405 or 410 means that
it has no page there, and is replaced.

Source: draft-kunze-ark-42, section 5.6; RFC 8615.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from werkzeug.wsgi import ClosingIterator

from .asgi import ASGISite, Message, Receive, Scope, Send, path_below_mount
from .request import READING

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/.well-known/ark"

_NO_PAGE = (404, 405, 410)


def ask_site(app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes] | None:
    """Return the answer of a WSGI application to a request for :data:`PATH`, or None if it has no page there.

    Other methods than GET and HEAD are those of the site.
    """
    if environ.get("REQUEST_METHOD") not in READING:
        return app(environ, start_response)
    started: list[bool] = []

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Callable[[bytes], object]:
        started[:] = [status[:3] not in map(str, _NO_PAGE)]
        return start_response(status, headers, *exc_info) if started[0] else lambda _: None

    body = app(environ, start)
    if not started:
        # An application can call start_response as late as for the first part of its body.
        parts = iter(body)
        first = [part for part in (next(parts, None),) if part is not None]
        close = getattr(body, "close", None)
        body = ClosingIterator(chain(first, parts), [close] if close else [])
    if started and not started[0]:
        if (close := getattr(body, "close", None)) is not None:
            close()
        return None
    return body


def is_announcement(scope: Scope) -> bool:
    """Return whether an ASGI scope is a request for :data:`PATH`."""
    try:
        return scope["type"] == "http" and scope["path"].endswith(PATH) and _is_path(scope)
    except Exception:  # noqa: BLE001 - the site handles malformed scopes
        return False


def _is_path(scope: Scope) -> bool:
    return path_below_mount(scope) == PATH and scope["method"] in READING


async def ask_asgi_site(app: ASGISite, scope: Scope, receive: Receive, send: Send) -> bool:
    """Send the answer of an ASGI application to a request for :data:`PATH`. Return False if it has no page there."""
    has_page = True

    async def send_page(message: Message) -> None:
        nonlocal has_page
        if message["type"] == "http.response.start":
            has_page = message["status"] not in _NO_PAGE
        if has_page:
            await send(message)

    await app(scope, receive, send_page)
    return has_page
