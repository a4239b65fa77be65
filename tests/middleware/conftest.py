"""Shared fixtures: header fields that a client can forge, and a check of all answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from ararat.middleware import asgi, wsgi
from ararat.middleware.http.answer import Answer
from ararat.middleware.http.handover import Handover

FORGERIES = (
    ("Host", "evil.test"),
    ("Host", "site.test:8443"),
    ("X-Forwarded-For", "203.0.113.9"),
    ("X-Forwarded-Host", "evil.test"),
    ("X-Forwarded-Port", "81"),
    ("X-Forwarded-Prefix", "/evil"),
    ("X-Forwarded-Proto", "gopher"),
    ("X-Forwarded-Scheme", "javascript"),
    ("X-Forwarded-Server", "evil.test"),
    ("X-Script-Name", "/evil"),
    ("X-Real-IP", "203.0.113.9"),
    ("X-Original-Host", "evil.test"),
    ("X-Original-URL", "/ark:12345/x"),
    ("X-Rewrite-URL", "/ark:12345/x"),
    ("X-HTTP-Method-Override", "DELETE"),
    ("Forwarded", "for=203.0.113.9;host=evil.test;proto=gopher"),
    ("Via", "1.0 evil.test"),
    ("Origin", "https://evil.test"),
    ("Referer", "https://evil.test/ark:12345/x"),
    ("Cookie", "session=1; prefix=https://evil.test"),
    ("Authorization", "Basic ZXZpbDpldmls"),
    ("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1)"),
    ("Accept-Language", "ar, de;q=0.5"),
    ("Accept-Charset", "utf-16"),
    ("Accept-Encoding", "gzip, br"),
    ("Range", "bytes=0-3"),
    ("HX-Request", "true"),
    ("DNT", "1"),
    ("From", "evil@evil.test"),
)
"""Header fields that a client can forge, or that describe the client. Only Accept-Language can change an answer:
that of a name with alternate targets, or of a page."""


@pytest.fixture(scope="session")
def forgeries() -> tuple[tuple[str, str], ...]:
    """The names and values of :data:`FORGERIES`."""
    return FORGERIES


@pytest.fixture(scope="session", autouse=True)
def _nothing_moves_for_good() -> Iterator[None]:
    """Fail if a resolver answers 301 or 308 in any test, or a site below the URL of an identifier.

    "the status code MUST NOT be a permanent redirect (status code 301 or 308)" (17beta policy, section 3.2).
    """
    send, pass_on, send_by_asgi, add_fields = (
        wsgi.send,
        wsgi.pass_on,
        asgi.ResolverASGIMiddleware._send,
        asgi.add_fields,
    )

    def send_(answer: Answer, *rest: Any, **named: Any) -> Iterable[bytes]:
        assert answer.status not in (301, 308)
        return send(answer, *rest, **named)

    def pass_on_(handover: Handover, app: Any, environ: Any, start_response: Any) -> Iterable[bytes]:
        def watched(status: str, *rest: Any) -> Any:
            assert status[:3] not in ("301", "308")
            return start_response(status, *rest)

        return pass_on(handover, app, environ, watched)

    async def send_by_asgi_(middleware: Any, answer: Answer, *rest: Any, **named: Any) -> None:
        assert answer.status not in (301, 308)
        await send_by_asgi(middleware, answer, *rest, **named)

    def add_fields_(send: Any, handover: Handover) -> Any:
        async def watched(message: Any) -> None:
            assert message.get("status") not in (301, 308)
            await send(message)

        return add_fields(watched, handover)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wsgi, "send", send_)
        patch.setattr(wsgi, "pass_on", pass_on_)
        patch.setattr(asgi.ResolverASGIMiddleware, "_send", send_by_asgi_)
        patch.setattr(asgi, "add_fields", add_fields_)
        yield
