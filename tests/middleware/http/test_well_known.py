"""The path /.well-known/ark: the site answers first, then the resolver."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from wsgiref.validate import validator

import pytest
from werkzeug.test import Client as WSGIClient
from werkzeug.wsgi import ClosingIterator

from ararat.bindings import holding
from ararat.cli.serving.mount import MountedASGI, MountedWSGI, Mounts
from ararat.middleware import ResolverASGIMiddleware, ResolverMiddleware
from ararat.middleware.http import well_known
from tests.asgi_client import Client, run, scope_of

PATH = "/.well-known/ark"
PAGE = b"<h1>Not found</h1>"


class Site:
    """A site with one status for every path, by WSGI and ASGI. It counts its requests and closed bodies."""

    def __init__(self, status: int, *, late: bool = False) -> None:
        self.status, self.late, self.closed, self.asked = status, late, 0, 0

    def wsgi(self, environ: Any, start_response: Any) -> Any:
        self.asked += 1
        if not self.late:
            start_response(f"{self.status} X", [("Content-Type", "text/html")])
        return ClosingIterator(self.body(start_response), self.close)

    def body(self, start_response: Any) -> Any:
        if self.late:
            start_response(f"{self.status} X", [("Content-Type", "text/html")])
        yield PAGE[:3]
        yield PAGE[3:]

    def close(self) -> None:
        self.closed += 1

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        await send({"type": "http.response.start", "status": self.status, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": PAGE[:3], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[3:]})


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        pytest.param(None, "/", id="without a prefix"),
        pytest.param("https://r.example", "/", id="host"),
        pytest.param("https://r.example/ids", "/ids/", id="prefix with a path"),
        pytest.param("https://r.example/a%20b/c", "/a%20b/c/", id="encoded path"),
    ],
)
@pytest.mark.parametrize("status", [404, 405, 410])
def test_the_path_of_the_resolver_replaces_a_missing_page(held, prefix, path, status):
    settings: Any = {} if prefix is None else {"prefix": prefix}
    for late in (False, True):
        site = Site(status, late=late)
        client = WSGIClient(validator(ResolverMiddleware(site.wsgi, held(), **settings)))
        answer = client.get(PATH, buffered=True)
        assert (answer.status_code, answer.text) == (200, f"{path}\n")
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert client.head(PATH, buffered=True).headers["Content-Length"] == str(len(path) + 1)
        assert (site.asked, site.closed) == (2, 2)
    app = ResolverASGIMiddleware(Site(status).asgi, held(), **settings)
    other = Client(app).request(PATH)
    assert (other.status, other.text, other.header("content-type")) == (200, f"{path}\n", "text/plain; charset=utf-8")
    assert [message["type"] for message in other.messages] == ["http.response.start", "http.response.body"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "text/plain; charset=utf-8"),
        ("*/*", "text/plain; charset=utf-8"),
        ("text/html", "text/plain; charset=utf-8"),
        ("application/json", "application/json"),
        ("application/json;q=0.1, text/plain", "text/plain; charset=utf-8"),
    ],
)
def test_the_form_is_negotiated(held, accept, media_type):
    client = WSGIClient(ResolverMiddleware(Site(404).wsgi, held(), prefix="https://r.example/ids", cache=7))
    answer = client.get(PATH, headers={} if accept is None else {"Accept": accept})
    assert (answer.headers["Content-Type"], answer.headers["Vary"]) == (media_type, "Accept")
    assert answer.headers["Cache-Control"] == "max-age=7"
    if media_type == "application/json":
        lists = {"prefixes": [], "delegations": [], "holds": [], "complete": True}
        assert answer.json == {"path": "/ids/", "prefix": "https://r.example/ids", **lists}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("status", "method", "path", "settings"),
    [
        pytest.param(200, "GET", PATH, {}, id="a page of the site"),
        pytest.param(301, "GET", PATH, {}, id="a redirect of the site"),
        pytest.param(500, "GET", PATH, {}, id="an error of the site"),
        pytest.param(200, "POST", PATH, {}, id="another method, to a page of the site"),
        pytest.param(404, "GET", f"{PATH}/", {}, id="another path"),
        pytest.param(404, "GET", f"/x{PATH}", {}, id="a path below a folder"),
        pytest.param(404, "GET", PATH, {"well_known": False}, id="switched off"),
        pytest.param(404, "GET", PATH, {"schemes": ["urn"]}, id="a resolver of URNs"),
    ],
)
def test_the_site_answers_otherwise(held, status, method, path, settings):
    for late in (False, True):
        site = Site(status, late=late)
        answer = WSGIClient(ResolverMiddleware(site.wsgi, held(), **settings)).open(path, method=method, buffered=True)
        assert (answer.status_code, answer.data, site.closed) == (status, PAGE, 1)
    other = Client(ResolverASGIMiddleware(Site(status).asgi, held(), **settings)).request(path, method)
    assert (other.status, other.body) == (status, PAGE)


@pytest.mark.one_setup
@pytest.mark.parametrize("site", [404, 405, 410])
@pytest.mark.parametrize(("method", "status"), [("POST", 405), ("PUT", 405), ("DELETE", 405), ("OPTIONS", 204)])
def test_another_method_is_refused_with_those_that_are_allowed(held, site, method, status):
    answer = WSGIClient(ResolverMiddleware(Site(site).wsgi, held())).open(PATH, method=method, buffered=True)
    assert (answer.status_code, answer.headers["Allow"]) == (status, "GET, HEAD, OPTIONS")
    other = Client(ResolverASGIMiddleware(Site(site).asgi, held())).request(PATH, method)
    assert (other.status, dict(other.headers)["allow"], other.body) == (status, "GET, HEAD, OPTIONS", answer.data)


def test_a_site_at_a_path_is_announced_at_the_root_of_its_host(held):
    mounts = Mounts(["https://r.example/ids"])
    app = ResolverMiddleware(Site(404).wsgi, held(), prefix="https://r.example/ids")
    client = WSGIClient(MountedWSGI(app, mounts))
    for path in (PATH, f"/ids{PATH}"):
        assert client.get(path, base_url="https://r.example").text == "/ids/\n"
    asgi = MountedASGI(ResolverASGIMiddleware(Site(404).asgi, held(), prefix="https://r.example/ids"), mounts)
    for path in (PATH, f"/ids{PATH}"):
        assert Client(asgi).request(path).text == "/ids/\n"


def test_a_mount_is_the_path_without_a_prefix(held):
    app = ResolverMiddleware(Site(404).wsgi, held())
    assert WSGIClient(app).get(PATH, environ_overrides={"SCRIPT_NAME": "/a b"}).text == "/a%20b/\n"


def test_other_events_of_asgi_are_those_of_the_site(held):
    seen = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)

    app = ResolverASGIMiddleware(site, held())
    for scope in (scope_of(PATH) | {"type": "websocket"}, {"type": "http", "path": PATH}, {"type": "lifespan"}):
        run(app(scope, None, None))  # type: ignore[arg-type]
    assert len(seen) == 3


def test_the_json_lists_public_prefixes_delegations_and_holds(open_store: Any, tmp_path: Any) -> None:
    now = datetime(2026, 11, 26, 12, tzinfo=UTC)
    store = open_store(tmp_path / "bindings.sqlite", clock=lambda: now, test_naans=["99999"])
    store.prefixes.set("ark:12345/x5", who="Library", what="Maps", contact="maps@example.org", statement="We keep it.")
    store.prefixes.set("ark:12345/y", who="Archive", state="delegated", resolver="https://lower.example")
    store.prefixes.set("ark:99999/", what="Tests")
    store.prefixes.set("urn:nbn:se:uu:", who="University")
    for name in ("x5a", "x5hidden", "x5ended"):
        store.bind(f"ark:12345/{name}", "https://example.org/", listed=name != "x5hidden")
    store.reserve("ark:12345/x5reserved")
    for of in ("ark:12345/x5a", "ark:12345/x5hidden", "ark:12345/x5reserved", "urn:nbn:se:uu:"):
        holding.hold(store, of, now + timedelta(seconds=90), "<b>why</b>")
    app = ResolverMiddleware(Site(404).wsgi, store, prefix="https://r.example")
    accept = {"Accept": "application/json"}
    answer = WSGIClient(app).get(PATH, headers=accept)
    document: Any = answer.json
    about = "https://r.example/{}?info"
    assert document["prefixes"] == [
        {
            "prefix": "ark:12345/x5",
            "state": "active",
            "who": "Library",
            "what": "Maps",
            "contact": "maps@example.org",
            "description": about.format("ark:12345/x5"),
        },
        {
            "prefix": "ark:12345/y",
            "state": "delegated",
            "who": "Archive",
            "description": about.format("ark:12345/y"),
        },
        {
            "prefix": "urn:nbn:se:uu:",
            "state": "active",
            "who": "University",
            "description": about.format("urn:nbn:se:uu:"),
        },
    ]
    assert document["delegations"] == [{"prefix": "ark:12345/y", "resolver": "https://lower.example"}]
    until = "2026-11-26T12:01:30.000000Z"
    assert document["holds"] == [
        {"name": "ark:12345/x5a", "until": until, "reason": "<b>why</b>"},
        {"prefix": "urn:nbn:se:uu:", "until": until, "reason": "<b>why</b>"},
    ]
    assert document["complete"] is True
    assert answer.headers["Cache-Control"] == "max-age=90"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert WSGIClient(app).get(PATH, headers=accept | {"If-None-Match": answer.headers["ETag"]}).status_code == 304
    asgi = ResolverASGIMiddleware(Site(404).asgi, store, prefix="https://r.example")
    other = Client(asgi).request(PATH, headers=[*accept.items()])
    assert other.text == answer.text
    # A client that reads the path as text gets it as before.
    assert WSGIClient(app).get(PATH).text == "/\n"
    # A long list is cut, and is marked as incomplete.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(well_known, "MAX_BYTES", 250)
        short: Any = WSGIClient(app).get(PATH, headers=accept).json
    assert (len(short["prefixes"]), short["complete"]) == (1, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(well_known, "MAX_HOLDS", 1)
        short = WSGIClient(app).get(PATH, headers=accept).json
    assert (len(short["holds"]), short["complete"]) == (2, False)


def test_the_path_is_answered_without_a_database(open_store: Any, tmp_path: Any) -> None:
    store = open_store(tmp_path / "bindings.sqlite")
    store.close()
    app = ResolverMiddleware(Site(404).wsgi, store, prefix="https://r.example")
    answer = WSGIClient(app).get(PATH, headers={"Accept": "application/json"})
    assert answer.json == {"path": "/", "prefix": "https://r.example"}
    assert answer.headers["Cache-Control"] == "max-age=0"
