"""Error pages offer the bound name of which the request is a damaged copy. A final dot is ignored (A-13)."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import pytest

from ararat.middleware import ResolverMiddleware

DAMAGED = [
    *("ark:12345/x5m1)", "ark:12345/x5m1,", "ark:12345/x5m1;jsessionid=1", "ark:12345/x5m1&utm_source=x"),
    *("ark:12345/x5m1%20", "ark:12345/x5m1%C2%A0", "ark:12345/x5m1%E2%80%8B", "ark:12345/x5m1%0A", "ark:12345/x5m1%22"),
    *("ark:/12345%2Fx5m1", "ark:%2F12345%2Fx5m1", "ark:12345/x5%C2%ADm1", "ark:12345/x5%E2%80%90m1"),
    *("ark:12345/x5%E2%80%93m1", "ark:12345/x5%20m1", "ark:ark:/12345/x5m1", "ark:/ark:/12345/x5m1"),
    *("ark:12345/X5M1", "ark:12345/X5M1)", "ark:12345//x5m1", "ark:12345/x5m1%E2%80%9D", "ark:12345/x5m1&quot;"),
]


@pytest.fixture
def ask(bindings):
    """ask(path) returns the status, the Location and the problem document of the answer to a raw request path."""
    bindings.bind("ark:12345/x5m1", "https://example.org/1")
    bindings.bind("urn:nbn:de:101:1-2020", "https://example.org/2")
    application = ResolverMiddleware(None, bindings, prefix="https://r.example")  # type: ignore[arg-type]

    def ask(path: str) -> tuple[int, str | None, dict[str, Any]]:
        answered: list[Any] = []
        core, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": "GET",
            "RAW_URI": f"/{path}",
            "PATH_INFO": unquote(f"/{core}", "latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": "r.example",
            "SERVER_PORT": "443",
            "SCRIPT_NAME": "",
            "HTTP_ACCEPT": "application/json",
            "wsgi.url_scheme": "https",
            "wsgi.input": BytesIO(),
        }
        body = b"".join(application(environ, lambda *given: answered.extend(given)))  # type: ignore[arg-type, misc]
        status, location = int(answered[0][:3]), dict(answered[1]).get("Location")
        return status, location, json.loads(body) if status in (400, 404) else {}

    return ask


def test_a_damaged_copy_of_a_bound_name_has_it_as_suggestion(bindings, ask):
    for path in DAMAGED:
        status, _, document = ask(path)
        assert (path, status in (400, 404), document.get("suggestion")) == (
            path,
            True,
            "https://r.example/ark:12345/x5m1",
        )
    for path in ("urn:nbn:de:101:1-2020)", "urn:nbn:de:101:1-2020.", "urn:nbn:de:101:1-2020%20"):
        assert ask(path)[2]["suggestion"] == "https://r.example/urn:nbn:de:101:1-2020"


def test_a_404_suggests_no_name_that_is_not_live(bindings, ask):
    bindings.reserve("ark:12345/x6")
    bindings.bind("ark:12345/x7", "https://example.org/7")
    bindings.withdraw("ark:12345/x7")
    for path in ("ark:12345/x6%20", "ark:12345/x7%20", "ark:12345/x8%20", f"ark:12345/{'x' * 1200}%20"):
        status, _, document = ask(path)
        assert (status, "suggestion" in document) == (404, False)


def test_a_final_dot_is_ignored_unless_the_name_with_the_dot_is_bound(bindings, ask):
    assert ask("ark:12345/x5m1.")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1...")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1./")[:2] == (302, "https://example.org/1")
    assert ask("ark:12345/x5m1.?info")[0] == 200
    assert ask("ark:12345/other.")[0] == 404
    bindings.bind("ark:12345/x5m1.", "https://example.org/dot")
    assert ask("ark:12345/x5m1.")[:2] == (302, "https://example.org/dot")
    assert ask("ark:12345/x5m1")[:2] == (302, "https://example.org/1")
