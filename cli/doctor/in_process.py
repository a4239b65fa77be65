"""Send requests to a WSGI or ASGI application in this process, as a server would that passes on the raw target."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from ...identifiers.text import display
from ...middleware.asgi_detection import is_asgi
from ...net.hop import HopFailed
from ...net.response import PROBLEM, SiteAnswer
from ...net.url import WebURL
from .requests import ProbeClient

_MAX_BODY = 65_536
_SECONDS = 30.0


def client_of(application: Any) -> ProbeClient:
    """Return a client whose requests a WSGI or ASGI application in this process answers.

    >>> from ararat.net import url as weburl
    >>> def site(environ, start_response):
    ...     start_response("204 No Content", [])
    ...     return []
    >>> client_of(site)(weburl.parse("http://a.example/"), "GET", "/x?")
    SiteAnswer(status=204, fields=(), body=b'')
    """
    send = _ask_asgi if is_asgi(application) else _ask_wsgi

    def ask(url: WebURL, method: str, target: str, fields: Mapping[str, str] | None = None) -> SiteAnswer:
        sent = {"Accept": PROBLEM, "User-Agent": "ararat-doctor", **(fields or {})}
        try:
            return send(application, url, method, target, {"Host": url.authority, **sent})
        except HopFailed:
            raise
        except Exception as error:
            reason = display.escape(f"{type(error).__name__}: {error}"[:200])
            raise HopFailed("site-error", f"the application raised {reason}") from error

    return ask


def _ask_wsgi(application: Any, url: WebURL, method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
    path, _, query = target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": target,
        "RAW_URI": target,
        "SERVER_NAME": url.host,
        "SERVER_PORT": str(url.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in fields.items()},
    }
    begun: list[Any] = []
    written: list[bytes] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        begun[:] = [status, headers]
        return written.append

    parts = application(environ, start_response)
    try:
        for part in parts:
            written.append(part)
            if sum(map(len, written)) > _MAX_BODY:
                break
    finally:
        if hasattr(parts, "close"):
            parts.close()
    return SiteAnswer(int(begun[0][:3]), tuple(begun[1]), b"".join(written)[:_MAX_BODY])


def _ask_asgi(application: Any, url: WebURL, method: str, target: str, fields: Mapping[str, str]) -> SiteAnswer:
    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": url.scheme,
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()],
        "client": ("127.0.0.1", 0),
        "server": (url.host, url.port),
        "state": {},
    }

    def answer() -> SiteAnswer:
        return asyncio.run(asyncio.wait_for(_exchange(application, scope), _SECONDS))

    # The calling thread may have a running event loop already, for example in a test of an asynchronous site.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(answer).result()


async def _exchange(application: Any, scope: dict[str, Any]) -> SiteAnswer:
    messages: list[dict[str, Any]] = []
    is_complete = asyncio.Event()
    was_read = False

    async def receive() -> dict[str, Any]:
        nonlocal was_read
        if not was_read:
            was_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await is_complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            is_complete.set()

    running = asyncio.ensure_future(application(scope, receive, send))
    complete = asyncio.ensure_future(is_complete.wait())
    await asyncio.wait({running, complete}, return_when=asyncio.FIRST_COMPLETED)
    complete.cancel()
    # Middleware of Starlette ends only after the client has gone.
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(running, 1.0)
    start = next(each for each in messages if each["type"] == "http.response.start")
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in start.get("headers", ()))
    body = b"".join(each.get("body", b"") for each in messages if each["type"] == "http.response.body")
    return SiteAnswer(start["status"], headers, body[:_MAX_BODY])
