"""The middleware in front of a site: which requests reach the site, and separation of errors."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from wsgiref.validate import validator

import pytest
from flask import Flask, Response, redirect, request, stream_with_context
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client, create_environ, run_wsgi_app

from ararat.middleware import BindingSource, BindingsUnavailable, ResolverMiddleware, open_bindings


class Site:
    """A plain WSGI function that records its arguments."""

    def __init__(self, body=(b"the ", b"site"), status="200 OK", headers=(("Content-Type", "text/plain"),)):
        self.body, self.status, self.headers = body, status, list(headers)
        self.calls = []

    def __call__(self, environ, start_response):
        self.calls.append((environ, start_response))
        start_response(self.status, self.headers)
        return self.body


@pytest.fixture
def store(held, binding):
    return held(
        binding("ark:12345/doc", "https://example.org/doc"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/x", "https://example.org/x"),
    )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("keys", "identifier", "exact"),
    [
        ({"RAW_URI": "/ark:99999/a%2Fb?"}, "ark:99999/a%2Fb?", True),
        ({}, "ark:99999/a/b", False),
        # An outer middleware rewrote the path.
        ({"RAW_URI": "/ark:99999/other"}, "ark:99999/a/b", False),
    ],
)
def test_a_refusal_contains_the_received_identifier_and_whether_it_is_exact(store, keys, identifier, exact):
    environ = create_environ(headers={"Accept": "application/problem+json"})
    for name in ("RAW_URI", "REQUEST_URI"):
        environ.pop(name)
    environ |= {"PATH_INFO": "/ark:99999/a/b"} | keys
    body, _, _ = run_wsgi_app(ResolverMiddleware(Site(), store), environ)
    document = json.loads(b"".join(body))
    assert (document["identifier"], document["target_exact"]) == (identifier, exact)


# What is not ours -----------------------------------------------------------------------------------------------------

PASSED_THROUGH = [
    pytest.param("/", "/", id="root"),
    pytest.param("", "", id="nothing"),
    pytest.param("/index.html", "/index.html", id="page"),
    pytest.param("/ark/12345/doc", "/ark/12345/doc", id="no colon"),
    pytest.param("/ark", "/ark", id="the label alone, without its colon"),
    pytest.param("/arkx:12345/doc", "/arkx:12345/doc", id="longer label"),
    pytest.param("/x/ark:12345/doc", "/x/ark:12345/doc", id="not in the first segment"),
    pytest.param("/doi:10.1/x", "/doi:10.1/x", id="another scheme"),
    pytest.param("/x:ark:12345/doc", "/x%3Aark%3A12345/doc", id="encoded colon of another scheme"),
    pytest.param("/ark:12345/doc", "/%61rk:12345/doc", id="encoded letter"),
    pytest.param("/ark:12345/doc", "//ark:12345/doc", id="two slashes"),
    pytest.param("*", "*", id="asterisk-form"),
    pytest.param("/\xe2\x84\xaa:1", "/%e2%84%aa:1", id="another letter k"),
]


@pytest.mark.one_setup
@pytest.mark.parametrize(("path_info", "raw"), PASSED_THROUGH)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "BREW"])
def test_unreserved_requests_reach_the_site_unchanged(store, path_info, raw, method):
    site = Site()
    environ = {
        "PATH_INFO": path_info,
        "RAW_URI": raw,
        "REQUEST_METHOD": method,
        "QUERY_STRING": "a=%2",
        "HTTP_X": "\xff",
        "strange.key": object(),
        "wsgi.input": None,
    }
    before = dict(environ)

    def start_response(status, headers, exc_info=None):
        return lambda data: None

    body = ResolverMiddleware(site, store)(environ, start_response)
    assert body is site.body
    ((seen, started),) = site.calls
    assert seen is environ
    assert seen == before
    assert started is start_response
    assert store.asked == []


def test_body_stream_and_close_belong_to_the_site(store):
    class Streamed:
        closed = False

        def __iter__(self):
            yield b"one"
            yield b"two"

        def close(self):
            self.closed = True

    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(f"the request's body was asked for {name}")

    streamed = Streamed()
    environ = create_environ("/page", method="POST") | {"wsgi.input": Untouchable()}
    chunks, _, _ = run_wsgi_app(ResolverMiddleware(Site(streamed), store), environ)
    assert next(iter(chunks)) == b"one"
    assert not streamed.closed
    chunks.close()  # type: ignore[attr-defined]
    assert streamed.closed


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/page", "/ark:12345/page"])
def test_write_works_through_the_middleware(store, path):
    def site(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])(b"written ")
        return [b"returned"]

    assert Client(ResolverMiddleware(site, store)).get(path).text == "written returned"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/page", "/ark:12345/page"])
def test_exc_info_reaches_the_server(store, path):
    def site(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])(b"written ")
        try:
            raise ValueError("late")
        except ValueError:
            start_response("500 Late", [("Content-Type", "text/plain")], sys.exc_info())
        return [b"never sent"]

    # The header fields are already sent: the server raises the exception in exc_info, as PEP 3333 requires.
    with pytest.raises(ValueError, match="late"):
        Client(ResolverMiddleware(site, store)).get(path)


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/page", "/ark:12345/page"])
def test_exceptions_of_the_site_are_raised(store, path):
    def site(environ, start_response):
        raise LookupError("the site's own")

    with pytest.raises(LookupError, match="the site's own"):
        run_wsgi_app(ResolverMiddleware(site, store), create_environ(path))


# What is ours ---------------------------------------------------------------------------------------------------------


# ARK-091
@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["/ark:12345/doc", "/ark:12345/nope", "/ARK:", "/urn:x", "/ark:12345/doc?info", "/ark:12345/doc?x"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "TRACE"])
def test_reserved_requests_do_not_reach_the_site(store, path, method):
    site = Site()
    environ = create_environ(path, method=method) | {"wsgi.input": None}
    run_wsgi_app(ResolverMiddleware(site, store), environ)
    assert site.calls == []


#
def test_a_disabled_scheme_reaches_the_site(store):
    site = Site()
    client = Client(ResolverMiddleware(site, store, schemes=["ark"]))
    assert client.get("/urn:foo:a").text == "the site"
    assert client.get("/ark:12345/doc").status_code == 302


def test_a_rewritten_path_takes_precedence(store):
    environ = create_environ("/ark:12345/doc") | {"PATH_INFO": "/ark:12345/x"}
    _, _, headers = run_wsgi_app(ResolverMiddleware(Site(), store), environ)
    assert headers["Location"] == "https://example.org/x"
    environ = create_environ("/ark:12345/doc") | {"PATH_INFO": "/forbidden"}
    assert b"".join(run_wsgi_app(ResolverMiddleware(Site(), store), environ)[0]) == b"the site"


@pytest.mark.one_setup
@pytest.mark.parametrize("raw", ["/ark:12345/a/../doc", "/x/../ark:12345/doc", "/ark:12345/%2e%2E/ark:12345/doc"])
def test_a_target_with_dot_segments_is_refused_even_if_the_server_removed_them(store, raw):
    environ = create_environ("/ark:12345/doc") | {"REQUEST_URI": raw}
    _, status, _ = run_wsgi_app(ResolverMiddleware(Site(), store), environ)
    assert status == "400 Bad Request"


# Served ---------------------------------------------------------------------------------------------------------------


#
def test_a_served_name_is_answered_by_the_site_at_its_path(store):
    site = Site()
    environ = create_environ("/ark:/12345/pa-ge?page=2&utm_source=x", environ_overrides={"ararat.hop": True})
    started = []
    body = ResolverMiddleware(site, store, prefix="https://r.example")(environ, lambda *answer: started.append(answer))  # type: ignore[arg-type]
    ((seen, _),) = site.calls
    assert (seen["PATH_INFO"], seen["QUERY_STRING"]) == ("/page", "page=2")
    assert seen["REQUEST_URI"] == seen["RAW_URI"] == "/page?page=2"
    assert seen["ararat.ark"] == environ["ararat.ark"] == "ark:12345/page"
    assert seen["ararat.hop"] is True
    assert seen["wsgi.input"] is environ["wsgi.input"]
    assert environ["PATH_INFO"] == "/ark:/12345/pa-ge"
    assert body is site.body
    ((status, (content_type, *links)),) = started
    assert (status, content_type) == ("200 OK", ("Content-Type", "text/plain"))
    assert links[0] == ("Link", '<https://r.example/ark:12345/page?info>; rel="describedby"')
    assert [name for name, _ in links] == ["Link", "Link"]


def test_a_served_name_is_described_by_the_resolver_and_not_by_the_site(store):
    site = Site()
    assert "ark:12345/page" in Client(ResolverMiddleware(site, store)).get("/ark:12345/page?info").text
    assert site.calls == []


@pytest.fixture
def flask_site():
    site = Flask(__name__)

    @site.get("/page")
    def page():
        seen = request.environ
        return f"page {request.args.get('page', '1')} at {seen['REQUEST_URI']}, {seen.get('ararat.ark')}"

    @site.get("/folder/")
    def folder():
        return "folder"

    @site.get("/moved")
    def moved():
        return redirect("/elsewhere", 301)

    @site.get("/stream")
    def stream():
        return Response(stream_with_context(iter(["a", "b"])), content_type="text/plain")

    @site.get("/ark:12345/doc")
    def shadowed():
        return "never seen"

    return site


@pytest.fixture
def flask_client(flask_site, held, binding):
    names = {"page": "/page", "folder": "/folder", "moved": "/moved", "stream": "/stream", "none": "/none"}
    store = held(
        *(binding(f"ark:12345/{name}", path, kind="served") for name, path in names.items()),
        binding("ark:12345/doc", "/page"),
    )
    flask_site.wsgi_app = ResolverMiddleware(flask_site.wsgi_app, store)  # type: ignore[method-assign]
    return flask_site.test_client()


def test_in_front_of_flask(flask_client):
    assert flask_client.get("/page").text == "page 1 at /page, None"
    assert flask_client.get("/ark:12345/page?page=2").text == "page 2 at /page?page=2, ark:12345/page"
    assert flask_client.get("/ark:12345/stream").text == "ab"
    assert flask_client.get("/ark:12345/none").status_code == 404
    assert flask_client.head("/ark:12345/page").data == b""
    assert flask_client.get("/ark:12345/doc").location == "/page"
    assert flask_client.post("/ark:12345/page").status_code == 405


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "status", "location"), [("folder", 307, "http://localhost/folder/"), ("moved", 302, "/elsewhere")]
)
def test_only_permanent_redirects_of_flask_below_an_ark_become_temporary(flask_client, name, status, location):
    served = flask_client.get(f"/ark:12345/{name}")
    assert (served.status_code, served.location) == (status, location)
    assert flask_client.get(f"/{name}").status_code in (301, 308)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/ark:12345/doc", 302),
        ("HEAD", "/ark:/12345/doc", 302),
        ("GET", "/ark:12345/do-c?", 200),
        ("HEAD", "/ark:12345/doc?info", 200),
        ("GET", "/ark:12345/twig", 303),
        ("GET", "/ark:12345/page", 200),
        ("GET", "/ark:12345/moved", 302),
        ("GET", "/ark:12345/gone", 410),
        ("GET", "/ark:12345/x?a=b", 404),
        ("GET", "/ark:", 400),
        ("GET", f"/ark:12345/{'x' * 4000}", 414),
        ("OPTIONS", "/ark:12345/doc", 204),
        ("POST", "/ark:12345/doc", 405),
        ("GET", "/uri-res/N2Ls?ark:12345/doc", 200),
        ("GET", "/oai?verb=Identify", 200),
        ("GET", "/sitemap-names.xml", 200),
        ("GET", "/changes.atom", 200),
    ],
)
def test_the_validator_of_pep_3333_accepts_every_answer(tmp_path, method, path, status):
    def site(environ, start_response):
        moved = environ["PATH_INFO"] == "/moved"
        start_response("301 Moved" if moved else "200 OK", [("Content-Type", "text/plain"), ("Location", "/x")])
        return [b"site"]

    with open_bindings(tmp_path / "n.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/doc", "https://example.org/doc")
        bindings.bind("ark:12345/twig", kind="described")
        bindings.bind("ark:12345/gone", "https://example.org/gone")
        bindings.withdraw("ark:12345/gone", reason="a hoax")
        for name in ("page", "moved"):
            bindings.bind(f"ark:12345/{name}", f"/{name}", kind="served")
        settings: dict[str, Any] = {
            "services": "/uri-res",
            "oai": "/oai",
            "sitemap": "/sitemap-names.xml",
            "atom": "/changes.atom",
        }
        client = Client(validator(ResolverMiddleware(site, bindings, prefix="https://r.example", **settings)))
        answer = client.open(path, method=method, buffered=True)
        assert answer.status_code == status
        if etag := answer.headers.get("ETag"):
            again = client.open(path, method=method, headers={"If-None-Match": etag}, buffered=True)
            assert again.status_code == 304


# Mounts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.one_setup
@pytest.mark.parametrize("mount", ["/app", "/a/b", "/a pp"])
def test_a_mounted_resolver_links_below_its_path(store, mount):
    site = Site()
    mounted = DispatcherMiddleware(Site((b"other",)), {mount: ResolverMiddleware(site, store, inspector="/inspect")})
    client, quoted = Client(mounted), mount.replace(" ", "%20")
    assert client.get(f"{mount}/ark:12345/doc").location == "https://example.org/doc"
    assert f"<{quoted}/ark:12345/doc?info>" in client.get(f"{mount}/ark:12345/doc").headers["Link"]
    assert f'href="{quoted}/ark:12345/doc"' in client.get(f"{mount}/ark:12345/doc?").text
    assert f'href="{quoted}/inspect/?q=ark%3A12345%2Fnope"' in client.get(f"{mount}/ark:12345/nope").text
    assert client.get(f"{mount}/ark:12345/page").text == "the site"
    seen, _ = site.calls[0]
    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"], seen["RAW_URI"]) == (mount, "/page", f"{quoted}/page")
    assert client.get("/ark:12345/doc").text == "other"


def test_a_resolver_around_a_dispatcher_reserves_only_root_paths(store):
    client = Client(ResolverMiddleware(DispatcherMiddleware(Site(), {"/app": Site((b"app",))}), store))
    assert client.get("/ark:12345/doc").status_code == 302
    assert client.get("/app/ark:12345/doc").text == "app"
    assert client.get("/app").text == "app"


# Trouble --------------------------------------------------------------------------------------------------------------


class Broken(BindingSource):
    def __init__(self, error):
        self.error = error

    def fetch(self, keys):
        raise self.error


def test_names_answer_503_and_the_site_works_while_the_store_is_down(caplog):
    client = Client(ResolverMiddleware(Site(), Broken(BindingsUnavailable("no\nhost\u202e"))))  # type: ignore[arg-type]
    for path in ("/ark:12345/doc", "/ark:12345/doc?info", "/urn:foo:a"):
        answer = client.get(path, headers={"Accept": "application/json"})
        assert (answer.status_code, json.loads(answer.data)["code"]) == (503, "bindings-unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["Cache-Control"] == "no-store"
    assert client.get("/ark:12345").status_code == 400
    assert client.options("/ark:12345/doc").status_code == 204
    assert client.get("/index.html").text == "the site"
    assert "no\\u{a}host\\u{202e}" in caplog.text


@pytest.mark.parametrize("error", [RuntimeError("unforeseen"), MemoryError(), AssertionError(), RecursionError()])
def test_an_unexpected_exception_is_logged_and_answered_without_details(error, caplog):
    client = Client(ResolverMiddleware(Site(), Broken(error)))  # type: ignore[arg-type]
    answer = client.get("/ark:12345/doc", headers={"Accept": "application/json"})
    assert (answer.status_code, json.loads(answer.data)["code"]) == (500, "internal-error")
    assert (answer.headers["Cache-Control"], "Retry-After" in answer.headers) == ("no-store", False)
    assert "unforeseen" not in answer.text
    assert client.head("/ark:12345/doc").data == b""
    assert client.get("/index.html").text == "the site"
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.ERROR]
    assert "ark:12345/doc" in caplog.text
    assert "Traceback" in caplog.text


def test_a_failing_error_page_is_answered_with_a_fallback(store, monkeypatch, caplog):
    monkeypatch.setattr("ararat.middleware.views.templates.render", SimpleNamespace())
    client = Client(ResolverMiddleware(Site(), store))
    answer = client.get("/ark:12345/nope")
    assert (answer.status_code, "internal-error" in answer.text, "Retry-After" in answer.headers) == (500, True, False)
    assert client.get("/ark:12345/doc").status_code == 302
    assert "The resolver failed for ark:12345/nope" in caplog.text


def test_on_resolve_is_called_for_every_resolution(store):
    told = []
    client = Client(ResolverMiddleware(Site(), store, on_resolve=told.append))
    for path in (
        "/ark:/12345/doc",
        "/ark:12345/page",
        "/ark:12345/nope",
        "/ark:",
        "/ark:12345/doc?info",
        "/index.html",
    ):
        client.get(path)
    assert [(resolution.given, resolution.key, resolution.status, resolution.outcome) for resolution in told] == [
        ("ark:/12345/doc", "ark:12345/doc", 302, "located"),
        ("ark:12345/page", "ark:12345/page", 200, "served"),
        ("ark:12345/nope", "ark:12345/nope", 404, "refused"),
        ("ark:", None, 400, "refused"),
        ("ark:12345/doc?info", "ark:12345/doc", 200, "metadata"),
    ]


def test_an_exception_of_on_resolve_changes_no_answer(store, caplog):
    def fail(resolution):
        raise KeyError(resolution.given)

    assert Client(ResolverMiddleware(Site(), store, on_resolve=fail)).get("/ark:12345/doc").status_code == 302
    assert "on_resolve raised an exception" in caplog.text


# Random environs ------------------------------------------------------------------------------------------------------

native = st.text(st.characters(max_codepoint=0xFF), max_size=30)
path = st.one_of(
    native,
    st.text("/.:arkARKun%2Fe512345x?#-\xe9\r\n\0", max_size=40).map("/ark:12345/".__add__),
    st.text("/.:arkARKun%2Fe512345x?#-\xe9\r\n\0", max_size=40).map("/urn:".__add__),
)
environs = st.fixed_dictionaries(
    {"PATH_INFO": path, "REQUEST_METHOD": st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "", "\xff"])},
    optional={
        "SCRIPT_NAME": native,
        "QUERY_STRING": native,
        "REQUEST_URI": path | st.none(),
        "RAW_URI": path,
        "HTTP_ACCEPT": native,
        "HTTP_HOST": native,
        "wsgi.url_scheme": st.sampled_from(["http", "https", "\xff"]),
    },
)


class Everything(BindingSource):
    """Bindings in which most keys are bound, in all possible ways."""

    ways = (
        {"target": "https://example.org/"},
        {"target": "/page", "kind": "served"},
        {},
        {"target": "/about", "kind": "related"},
        {"target": "/gone", "status": "withdrawn"},
        {"target": "javascript:alert(1)"},
    )

    def __init__(self, make):
        self.make = make

    def fetch(self, keys):
        return {key: self.make(key, **self.ways[len(key) % 6]) for key in keys if len(key) % 7}


@given(environ=environs)
def test_every_environ_gets_an_answer_and_never_a_permanent_redirect(binding, environ):
    started = []
    site = Site(status="308 Permanent Redirect", headers=[])
    middleware = ResolverMiddleware(site, Everything(binding), hsts="max-age=1")  # type: ignore[arg-type]
    body = middleware(environ, lambda *answer: started.append(answer))  # type: ignore[arg-type]
    assert all(type(chunk) is bytes for chunk in body)
    ((status, headers),) = started
    if site.calls and site.calls[0][0] is environ:
        return
    assert status[:3] in {"200", "204", "302", "303", "307", "400", "404", "405", "410", "414"}
    for name, value in headers:
        assert type(name) is type(value) is str
        assert not set("\r\n\0") & set(name + value)
        assert value.isascii()


def test_importing_the_middleware_loads_nothing_of_the_inspector():
    code = "import sys, ararat.middleware; print(sorted({'flask', 'h11', 'click', 'htmx_flask'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


# ARK-034
def test_the_description_links_to_the_policy_of_the_naming_authority(held, binding):
    store = held(
        binding("ark:12345/doc", "/doc", metadata={"policy": "https://example.org/policy"}),
        binding("ark:12345/bad", "/doc", metadata={"policy": "javascript:x"}),
    )
    client = Client(ResolverMiddleware(Site(), store))
    links = client.get("/ark:12345/doc?info").headers.getlist("Link")
    assert '<https://example.org/policy>; rel="terms-of-service"' in links
    assert "terms-of-service" not in str(client.get("/ark:12345/bad?info").headers)
