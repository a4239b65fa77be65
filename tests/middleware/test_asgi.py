"""The ASGI middleware: it answers like the WSGI middleware, and the site receives all other events unchanged."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from werkzeug.test import create_environ, run_wsgi_app

from ararat.middleware import (
    BindingSource,
    BindingsUnavailable,
    ResolverASGIMiddleware,
    ResolverMiddleware,
    import_table,
    open_bindings,
)
from ararat.middleware.asgi import THREADS
from tests.asgi_client import Client, exchange, run, scope_of

PREFIX = "https://r.example"
CONFIGURED = {
    "prefix": PREFIX,
    "also": ["https://old.example"],
    "inflections": {"?cite": "How to cite it"},
    "services": "/uri-res",
    "sitemap": "/sitemap-names.xml",
    "atom": "/changes.atom",
    "oai": "/oai",
    "log": "/log",
    "hsts": "max-age=9",
    "cors": ["https://pages.example"],
    "inspector": "/inspector",
    "institution": "Museum of Maps",
    "contact": "maps@example.org",
    "colour": "#0b4f6c",
}
ROWS = """\
identifier,target,kind,scope,status,reason,who,what,target[application/json]
ark:12345/doc,https://example.org/doc,located,,live,,Map Office,A map,https://example.org/doc.json
ark:12345/s%2Ft,https://example.org/encoded,located,,live,,,,
ark:12345/s/t,https://example.org/slash,located,,live,,,,
ark:12345/idea,/about,related,,live,,,An idea,
ark:12345/twig,,described,,live,,,A twig,
ark:12345/page,/show?id=3,served,,live,,,A page,
ark:12345/img,/i/7,served,subtree,live,,,,
urn:foo:a,https://example.org/urn,located,,live,,,,
"""


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the path and query, and redirect /moved permanently."""
    status = {"/moved": 301, "/moved-with-method": 308}.get(scope["path"], 200)
    body = f"{scope['path']}?{scope['query_string'].decode()} {scope.get('ararat.ark')}".encode()
    headers = [(b"content-type", b"text/plain"), (b"link", b"</css>; rel=preload")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body[:3], "more_body": True})
    await send({"type": "http.response.body", "body": body[3:]})


def wsgi_site(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("content-type", "text/plain"), ("link", "</css>; rel=preload")])
    return [f"{environ['PATH_INFO']}?{environ['QUERY_STRING']} {environ.get('ararat.ark')}".encode("latin-1")]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The same resolver as WSGI and as ASGI middleware, with all settings."""
    folder = tmp_path_factory.mktemp("asgi")
    (folder / "names.csv").write_text(ROWS, "utf-8")
    (folder / "log").mkdir()
    (folder / "log" / "checkpoint").write_bytes(b"r.example/log\n0\n")
    with open_bindings(folder / "names.sqlite", create=True) as bindings:
        with (folder / "names.csv").open("rb") as table:
            import_table(bindings, table)
        bindings.withdraw("ark:12345/twig", reason="Lost", successor="ark:12345/idea")
        bindings.rules.set("ark:12345/r", "https://example.org/rule/${suffix}")
        settings = CONFIGURED | {"log_folder": str(folder / "log")}
        asgi = ResolverASGIMiddleware(site, bindings, **settings)  # type: ignore[arg-type]
        wsgi = ResolverMiddleware(wsgi_site, bindings, **settings)  # type: ignore[arg-type]
        yield SimpleNamespace(asgi=Client(asgi), wsgi=wsgi, bindings=bindings)


TARGETS = [
    "/ark:12345/doc",
    "/ARK:/12-345/d%6Fc",
    "/ark:12345/doc?info",
    "/ark:12345/doc??",
    "/ark:12345/doc?info&format=bibtex",
    "/ark:12345/doc?info&format=linkset",
    "/ark:12345/doc?cite",
    "/ark:12345/doc?utm_source=x",
    "/ark:12345/doc?unknown",
    "/ark:12345/doc/",
    "/ark:12345/s%2Ft",
    "/ark:12345/s/t",
    "/ark:12345/idea",
    "/ark:12345/twig",
    "/ark:12345/twig?info",
    "/ark:12345/page",
    "/ark:12345/page?q=%2F",
    "/ark:12345/img/a%2Fb//c%C3%A9",
    "/ark:12345/r17",
    "/ark:12345/",
    "/ark:12345/nope",
    "/ark:99999/x",
    "/ark:12345/a b",
    "/ark:12345/%ff%00%E2%80%AE",
    "/ark:12345/x/../doc",
    "/ark:12345/%2E%2E/doc",
    f"/ark:12345/{'y/' * 2000}y",
    "/urn:foo:a",
    "/urn:foo:a?=x",
    "/uri-res/N2L?urn:foo:a",
    "/uri-res/N2Ls?ark:12345/doc",
    "/uri-res/N2C?ark:12345/doc",
    "/uri-res/N2L?doi:10.1/x",
    "/uri-res/N2X?urn:foo:a",
    "/sitemap-names.xml",
    "/sitemap-names.xml?from=",
    "/changes.atom",
    "/oai?verb=Identify",
    "/oai?verb=ListIdentifiers&metadataPrefix=oai_dc",
    "/oai?verb=None",
    "/log/checkpoint",
    "/log/tile/0/000",
    "/log/../names.sqlite",
    "/page?a=1",
    "/x/ark:12345/doc",
    "/ark%3A12345/doc",
    "/ARK%3a/12345/do-c?info",
    "/urn%3Afoo:a",
    "//ark:12345/doc",
]
FIELDS = [
    pytest.param((), id="plain"),
    pytest.param((("Accept", "application/json"), ("Accept-Language", "de"), ("No-Redirect", "true")), id="json"),
    pytest.param(
        (("Origin", "https://pages.example"), ("If-None-Match", "*"), ("Range", "bytes=2-5")), id="conditional"
    ),
]


def by_wsgi(app: Any, target: str, method: str, headers: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return the answer of a WSGI application to a raw target, as gunicorn passes it on."""
    path, _, query = target.partition("?")
    environ = create_environ("/", method=method, headers=list(headers))
    environ |= {"PATH_INFO": unquote_to_bytes(path).decode("latin-1"), "QUERY_STRING": query}
    environ |= {"REQUEST_URI": target, "RAW_URI": target, "wsgi.url_scheme": "https"}
    chunks, status, fields = run_wsgi_app(app, environ)
    headers = sorted((name.lower(), value) for name, value in fields if name.lower() != "date")
    return int(status[:3]), headers, b"".join(chunks)


@pytest.mark.one_setup
@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE"])
def test_answers_are_those_of_the_wsgi_middleware(both, method, fields):
    for target in TARGETS:
        before = by_wsgi(both.wsgi, target, method, fields)
        reply = both.asgi.request(target, method, fields, scheme="https")
        headers = sorted(field for field in reply.headers if field[0] != "date")
        body = reply.body
        if target.startswith("/ark:99999/") and reply.header("content-type") == "application/problem+json":
            # Only this answer, for the probes of `ararat doctor`, has one more member.
            length = next(int(value) for name, value in before[1] if name == "content-length")
            headers = [(name, str(length) if name == "content-length" else value) for name, value in headers]
            body = body.replace(b' "empty_query_visible": false,\n', b"")
        if (reply.status, headers, body) != before:
            # The time in an answer can change once between three answers.
            assert (reply.status, headers, body) == by_wsgi(both.wsgi, target, method, fields), f"{method} {target}"


def test_an_encoded_slash_needs_the_raw_path(both):
    assert both.asgi.request("/ark:12345/s%2Ft").header("location") == "https://example.org/encoded"
    assert both.asgi.request("/ark:12345/s%2Ft", raw_path=None).header("location") == "https://example.org/slash"
    assert both.asgi.request("/ark:12345/doc", raw_path=None).status == 302


def test_a_raw_path_that_disagrees_is_not_used(both):
    # An outer middleware has rewritten or checked the path.
    reply = both.asgi.request("/ark:12345/doc", raw_path=b"/ark:12345/s%2Ft")
    assert reply.header("location") == "https://example.org/doc"
    assert both.asgi.request("/page", raw_path=b"/ark:12345/doc").body.startswith(b"/page")


def test_a_bare_question_mark_is_not_visible(both):
    # Decision I-07.
    assert both.asgi.request("/ark:12345/doc?").status == 302


def test_a_mount_is_removed_from_the_path(tmp_path):
    with open_bindings(tmp_path / "n.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/a%2Fb", "/local")
        bindings.bind("ark:12345/page", "/show?id=3", kind="served")
        client = Client(ResolverASGIMiddleware(site, bindings))
        # uvicorn and Starlette keep the mount in the path, older servers remove it.
        mounted = [
            {"path": "/my app/ark:12345/a/b", "raw_path": b"/my%20app/ark:12345/a%2Fb"},
            {"path": "/my app/ark:12345/a/b", "raw_path": b"/ark:12345/a%2Fb"},
            {"path": "/ark:12345/a/b", "raw_path": b"/ark:12345/a%2Fb"},
            {"path": "/ark:12345/a/b", "raw_path": b"/my%20app/ark:12345/a%2Fb"},
        ]
        for scope in mounted:
            assert client.request("/", root_path="/my app", **scope).header("location") == "/my%20app/local"
        served = client.request("/", root_path="/my app", path="/my app/ark:12345/page", raw_path=None)
        assert served.text == "/my app/show?id=3 ark:12345/page"
        assert client.request("/", root_path="/my app", path="/ark:12345/page").text == "/show?id=3 ark:12345/page"


def test_permanent_redirects_of_served_names_become_temporary(tmp_path):
    with open_bindings(tmp_path / "n.sqlite", create=True) as bindings:
        for name, path in {"a": "/moved", "b": "/moved-with-method"}.items():
            bindings.bind(f"ark:12345/{name}", path, kind="served")
        client = Client(ResolverASGIMiddleware(site, bindings))
        assert [client.request(f"/ark:12345/{name}").status for name in "ab"] == [302, 307]
        assert [client.request(path).status for path in ("/moved", "/moved-with-method")] == [301, 308]


# The site -------------------------------------------------------------------------------------------------------------


class Recorder:
    """A site that records its arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls.append((scope, receive, send))


@pytest.mark.parametrize(
    "scope",
    [
        pytest.param({"type": "lifespan", "asgi": {}, "state": {}}, id="lifespan"),
        pytest.param(scope_of("/chat:1") | {"type": "websocket"}, id="websocket"),
        pytest.param(scope_of("/ark:12345/doc") | {"type": "websocket"}, id="websocket at the path of a name"),
        pytest.param(scope_of("/page", "POST"), id="http"),
        pytest.param(scope_of("/x/ark%3A12345/doc"), id="encoded colon"),
        pytest.param({"type": "future", "path": "/ark:12345/doc"}, id="unknown type"),
        pytest.param({"type": "http"}, id="no path"),
        pytest.param({"type": "http", "path": None}, id="None"),
        pytest.param({"type": "http", "path": b"/ark:12345/doc"}, id="octets"),
        pytest.param({"type": "http", "path": "/ark:12345/doc", "raw_path": 3}, id="a number as raw path"),
        pytest.param({"type": "http", "path": "/ark:12345/doc", "root_path": 3}, id="a number as mount"),
        pytest.param({"type": "http", "path": "/ark:12345/doc", "headers": None}, id="no headers"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"services": "/uri-res", "prefix": PREFIX}], ids=["plain", "services"])
def test_other_events_reach_the_site_unchanged(held, scope, settings, caplog):
    recorder, before = Recorder(), dict(scope)
    app = ResolverASGIMiddleware(recorder, held(), **settings)

    async def receive() -> Any: ...

    async def send(message: Any) -> None: ...

    run(app(scope, receive, send))
    ((seen, received, sent),) = recorder.calls
    assert (seen, received, sent) == (scope, receive, send)
    assert seen is scope
    assert scope == before


@pytest.mark.one_setup
@pytest.mark.parametrize("target", ["/events", "/ark:12345/page"])
def test_a_stream_of_the_site_is_not_delayed(held, binding, target):
    bindings = held(binding("ark:12345/page", "/events", kind="served"))
    arrived: list[Any] = []

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in (b"one", b"two"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
            assert arrived[-1]["body"] == part
        assert await receive() == {"type": "http.disconnect"}
        arrived.append("disconnect")

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        arrived.append(message)

    run(ResolverASGIMiddleware(streaming, bindings)(scope_of(target), receive, send))  # type: ignore[arg-type]
    assert arrived[3:] == ["disconnect"]


def test_an_exception_of_the_site_is_not_handled(held):
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise LookupError("of the site")

    with pytest.raises(LookupError, match="of the site"):
        Client(ResolverASGIMiddleware(broken, held())).request("/page")


def test_a_wsgi_application_is_refused_with_the_fix(held):
    from flask import Flask

    for app in (Flask("x"), wsgi_site):
        with pytest.raises(TypeError, match="Use ResolverMiddleware with the same arguments"):
            ResolverASGIMiddleware(app, held())  # type: ignore[arg-type]


def test_a_wrong_setting_is_refused(held):
    with pytest.raises(ValueError, match="max_length"):
        ResolverASGIMiddleware(site, held(), max_length=3)
    with pytest.raises(ValueError, match="these bindings cannot be listed"):
        ResolverASGIMiddleware(site, held(), prefix=PREFIX, atom="/changes.atom")


# Forms ----------------------------------------------------------------------------------------------------------------


def test_a_form_arrives_in_parts(both):
    reply = both.asgi.request("/oai", "POST", body=[b"ve", b"", b"rb=Identify"])
    assert reply.status == 200
    assert b"<repositoryName>Museum of Maps</repositoryName>" in reply.body


def test_a_large_form_is_refused_before_it_is_read_completely(both):
    async def endless() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 50_000, "more_body": True}

    async def requests() -> list[Any]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await both.asgi.app(scope_of("/oai", "POST"), endless, send)
        return sent

    assert run(requests())[0]["status"] == 413


def test_a_client_that_leaves_before_its_form_ends_gets_no_answer(both):
    assert both.asgi.request("/oai", "POST", body=[]).messages == []


# Threads --------------------------------------------------------------------------------------------------------------


class Slow(BindingSource):
    """Bindings behind a network: each lookup waits until ``go`` is set."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started = threading.Semaphore(0)
        self.running = self.most = 0
        self.lock = threading.Lock()

    def fetch(self, keys):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.started.release()
        assert self.go.wait(10)
        with self.lock:
            self.running -= 1
        return {}


def test_slow_lookups_do_not_stop_the_site_and_use_few_threads():
    slow = Slow()
    app = ResolverASGIMiddleware(site, slow)

    async def requests() -> list[int]:
        waiting = [asyncio.create_task(exchange(app, scope_of(f"/ark:12345/x{n}"))) for n in range(3 * THREADS)]
        while slow.running < THREADS:
            await asyncio.sleep(0.001)
        assert (await exchange(app, scope_of("/page"))).status == 200
        slow.go.set()
        return [(await task).status for task in waiting]

    assert run(requests()) == [404] * 3 * THREADS
    assert slow.most == THREADS


def in_event_loop() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def test_local_bindings_are_read_in_the_event_loop(both, tmp_path):
    used: list[bool] = []
    with open_bindings(tmp_path / "n.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/x")
        app = ResolverASGIMiddleware(site, bindings, on_resolve=lambda _: used.append(in_event_loop()))
        assert Client(app).request("/ark:12345/x").status == 302
    assert used == [True]


def test_after_a_failure_threads_try_again(held, binding, caplog):
    used: list[bool] = []

    class Failing(BindingSource):
        is_local = True  # type: ignore[assignment]
        broken = True

        def fetch(self, keys):
            used.append(in_event_loop())
            if self.broken:
                raise BindingsUnavailable("gone")
            return held(binding("ark:12345/x", "https://example.org/x")).fetch(keys)

    bindings = Failing()
    client = Client(ResolverASGIMiddleware(site, bindings))
    first, second = (client.request("/ark:12345/x") for _ in range(2))
    assert (first.status, second.status, second.header("retry-after")) == (503, 503, "10")
    bindings.broken = False
    assert [client.request("/ark:12345/x").status for _ in range(2)] == [302, 302]
    assert used == [True, False, False, True]


def test_on_resolve_sees_the_context_of_the_request():
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="")
    seen: list[tuple[str, int]] = []

    class Remote(BindingSource):
        def fetch(self, keys):
            return {}

    app = ResolverASGIMiddleware(site, Remote(), on_resolve=lambda found: seen.append((variable.get(), found.status)))

    async def requests() -> None:
        variable.set("this request")
        await exchange(app, scope_of("/ark:12345/x"))

    run(requests())
    assert seen == [("this request", 404)]


def test_a_failure_of_the_resolver_is_answered_with_500(held, caplog):
    class Broken(BindingSource):
        def fetch(self, keys):
            raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        reply = Client(ResolverASGIMiddleware(site, Broken())).request("/ark:12345/x")
    assert (reply.status, "RuntimeError: broken" in caplog.text) == (500, True)


def test_a_sitemap_is_sent_in_parts(tmp_path: Path):
    with open_bindings(tmp_path / "n.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/x")
        client = Client(ResolverASGIMiddleware(site, bindings, prefix=PREFIX, sitemap="/s.xml"))
        reply = client.request("/s.xml?from=")
    bodies = [message for message in reply.messages if message["type"] == "http.response.body"]
    assert [message.get("more_body", False) for message in bodies] == [True, True, True, False]
    assert f"<loc>{PREFIX}/ark:12345/x</loc>" in reply.text
