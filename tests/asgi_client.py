"""A client of ASGI applications in process, which builds scopes like uvicorn."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

Result = TypeVar("Result")


class Reply(NamedTuple):
    """The answer of an application, and all its messages."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    messages: list[dict[str, Any]]

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name.lower())

    def all(self, name: str) -> list[str]:
        return [value for field, value in self.headers if field == name.lower()]

    @property
    def text(self) -> str:
        return self.body.decode()


def scope_of(
    target: str, method: str = "GET", headers: Iterable[tuple[str, str]] = (), **changes: Any
) -> dict[str, Any]:
    """Return the scope of a request. ``target`` has a character per byte. A change to None removes a key."""
    raw, _, query = target.partition("?")
    fields = (("Host", "site.test"), *headers)
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(raw),
        "raw_path": raw.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in fields],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    return {name: value for name, value in (scope | changes).items() if value is not None}


async def exchange(app: Any, scope: dict[str, Any], body: Sequence[bytes] = (b"",)) -> Reply:
    """Send one request to an application. The body has several parts."""
    incoming: list[dict[str, Any]] = [
        {"type": "http.request", "body": part, "more_body": place < len(body)} for place, part in enumerate(body, 1)
    ]
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop(0) if incoming else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await app(scope, receive, send)
    start = next((each for each in messages if each["type"] == "http.response.start"), {"status": 0, "headers": []})
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    parts = (each.get("body", b"") for each in messages if each["type"] == "http.response.body")
    return Reply(start["status"], headers, b"".join(parts), messages)


class Client:
    """Sends requests to ``app``, each in a new event loop."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(
        self,
        target: str,
        method: str = "GET",
        headers: Iterable[tuple[str, str]] = (),
        body: Sequence[bytes] = (b"",),
        **changes: Any,
    ) -> Reply:
        return run(exchange(self.app, scope_of(target, method, headers, **changes), body))


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a new thread, and return its result.

    The event loop of Playwright runs in the thread of the tests, as soon as a test has opened a browser there.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
