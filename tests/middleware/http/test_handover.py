"""A response of the site for a served name: temporary redirects, and a limited size of the header."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import Client as WSGIClient

from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware
from ararat.middleware.http.answer import MAX_HEADER, size_of
from ararat.middleware.http.handover import adapt
from tests.asgi_client import Client

YEAR = "max-age=31536000"


@pytest.mark.parametrize(
    ("site", "sent"),
    [
        pytest.param([], [], id="no freshness"),
        pytest.param([("Cache-Control", YEAR)], [("Cache-Control", "max-age=60")], id="max-age"),
        pytest.param(
            [("cache-control", f"Public, {YEAR}, S-MaxAge=9, immutable")],
            [("cache-control", "Public, max-age=60")],
            id="all directives",
        ),
        pytest.param(
            [("Cache-Control", 'private="a,b", immutable')],
            [("Cache-Control", 'private="a,b", max-age=60')],
            id="quoted text",
        ),
        pytest.param([("Cache-Control", f"{YEAR}, no-store")], [("Cache-Control", "no-store")], id="no-store"),
        pytest.param([("Cache-Control", "no-cache")], [("Cache-Control", "no-cache")], id="no-cache"),
        pytest.param([("Cache-Control", "public")], [("Cache-Control", "public")], id="without a time"),
        pytest.param(
            [("Expires", "Fri, 01 Jan 2100 00:00:00 GMT")], [("Cache-Control", "max-age=60")], id="Expires alone"
        ),
        pytest.param(
            [("Expires", "Fri, 01 Jan 2100 00:00:00 GMT"), ("Cache-Control", "public")],
            [("Cache-Control", "public, max-age=60")],
            id="Expires with Cache-Control",
        ),
        pytest.param(
            [("Cache-Control", "max-age=9, stale-while-revalidate=31536000")],
            [("Cache-Control", "max-age=60")],
            id="stale answers",
        ),
        pytest.param([("CDN-Cache-Control", YEAR)], [("CDN-Cache-Control", "max-age=60")], id="for a CDN"),
        pytest.param([("Surrogate-Control", YEAR)], [("Surrogate-Control", "max-age=60")], id="for a surrogate"),
        pytest.param([("X-Accel-Expires", "31536000")], [("X-Accel-Expires", "60")], id="for nginx"),
        pytest.param([("Set-Cookie", "a=b")], [("Set-Cookie", "a=b")], id="other field"),
    ],
)
def test_a_redirect_that_becomes_temporary_has_the_freshness_of_the_setting(site, sent):
    site = [("Location", "/x"), *[(name, value.replace("S-MaxAge", "s-maxage")) for name, value in site]]
    assert adapt(301, site, [], 60) == (302, [("Location", "/x"), *sent])
    assert adapt(308, site, [], 60) == (307, [("Location", "/x"), *sent])
    for status in (200, 302, 303, 307, 404):
        assert adapt(status, site, [], 60) == (status, site)


LINKS = [("Link", '</x?info>; rel="describedby"'), ("Link", f"<{'y' * 900}>; rel=cite-as")]


@pytest.mark.parametrize(
    ("length", "kept"),
    [
        pytest.param(100, 2, id="short"),
        pytest.param(2600, 1, id="without the longer links"),
        pytest.param(3480, 0, id="without all links"),
        pytest.param(9000, 0, id="longer than the limit alone"),
    ],
)
def test_links_are_omitted_before_the_header_is_too_long(length, kept):
    site = [("Link", "</css>; rel=preload"), ("Location", "/" * (length - 50))]
    _, sent = adapt(302, site, LINKS, 60)
    assert sent == [*site, *LINKS[:kept]]
    assert size_of(sent) <= max(MAX_HEADER, size_of(site))


@pytest.fixture
def store(held, binding):
    return held(
        binding("ark:12345/moved", "/moved", kind="served"),
        binding("ark:12345/large", "/large", kind="served"),
        binding("ark:12345/" + "x" * 240, "https://example.org/" + "y" * 2000),
    )


FIELDS = {
    "/moved": (301, [("Location", "/maps/101/"), ("Cache-Control", f"public, {YEAR}"), ("Expires", "0")]),
    "/large": (200, [("X-Large", "z" * 3300), ("Cache-Control", YEAR)]),
}


def wsgi_site(environ: Any, start_response: Any) -> list[bytes]:
    status, fields = FIELDS[environ["PATH_INFO"]]
    start_response(f"{status} X", fields)
    return [b"x"]


async def asgi_site(scope: Any, receive: Any, send: Any) -> None:
    status, fields = FIELDS[scope["path"]]
    headers = [(name.lower().encode(), value.encode()) for name, value in fields]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"x"})


@pytest.mark.one_setup
@pytest.mark.parametrize("seconds", [0, 300])
def test_a_permanent_redirect_of_the_site_is_not_kept_for_a_year(store, seconds):
    found = WSGIClient(ResolverMiddleware(wsgi_site, store, cache=seconds)).get("/ark:12345/moved")
    assert (found.status_code, found.headers["Cache-Control"]) == (302, f"public, max-age={seconds}")
    assert "Expires" not in found.headers
    other = Client(ResolverASGIMiddleware(asgi_site, store, cache=seconds)).request("/ark:12345/moved")
    assert (other.status, other.header("cache-control")) == (302, f"public, max-age={seconds}")


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["large", "x" * 240])
def test_no_answer_has_a_header_that_proxies_refuse(store, name):
    prefix = f"https://{'r' * 60}.example/{'p' * 100}"
    found = WSGIClient(ResolverMiddleware(wsgi_site, store, prefix=prefix)).get(f"/ark:12345/{name}")
    assert size_of(found.headers) <= MAX_HEADER
    other = Client(ResolverASGIMiddleware(asgi_site, store, prefix=prefix)).request(f"/ark:12345/{name}")
    assert size_of(other.headers) <= MAX_HEADER
    assert (found.status_code, found.headers.get("Location")) == (other.status, other.header("location"))
