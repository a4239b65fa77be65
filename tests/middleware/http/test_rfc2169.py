"""The services of RFC 2169 give the same answers as the URL of the identifier."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client, create_environ, run_wsgi_app

from ararat.middleware import ResolverMiddleware

PREFIX = "https://r.example"


def site(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"the site"]


@pytest.fixture(scope="module")
def store(held, binding):
    alternates = {"de": "https://example.org/de", "text/plain": "/plain", "fr": "javascript:alert(1)"}
    return held(
        binding("urn:example:maps", "https://example.org/maps", alternates=alternates, metadata={"what": "Maps"}),
        binding("urn:example:here", "/here?a=b"),
        binding("ark:12345/doc", "https://example.org/doc"),
        binding("ark:12345/cat", "https://example.org/about", kind="related"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/tree", "/iiif", kind="served", scope="subtree"),
        binding("ark:12345/box", "https://example.org/box", passthrough=True),
        binding("ark:12345/files", "https://example.org/files", passthrough="given"),
        binding("urn:example:idea"),
        binding("urn:example:gone", "/gone", status="withdrawn"),
    )


@pytest.fixture(scope="module")
def client(store):
    return Client(ResolverMiddleware(site, store, prefix=PREFIX, services="/uri-res"))


# URN-060
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("asked", "status", "location"),
    [
        ("N2L?urn:example:maps", 302, "https://example.org/maps"),
        ("N2L?URN:EXAMPLE:maps", 302, "https://example.org/maps"),
        ("N2L?urn:example:here", 302, f"{PREFIX}/here?a=b"),
        ("N2L?urn:example:maps?+r", 302, "https://example.org/maps"),
        ("N2L?ark:/12345/d-oc", 302, "https://example.org/doc"),
        ("N2L?ark:12345/box/1.en", 302, "https://example.org/box/1.en"),
        ("N2L?ark:/12345/fil-es/a-b.tar.gz/?c=1", 302, "https://example.org/files/a-b.tar.gz/?c=1"),
        ("N2L?ark:12345/files/full/400,/0/!1.jpg", 302, "https://example.org/files/full/400,/0/!1.jpg"),
        ("N2L?ark:12345/cat", 303, "https://example.org/about"),
        ("N2L?ark:12345/page", 302, f"{PREFIX}/ark:12345/page"),
        ("N2L?ark:12345/page?page=2", 302, f"{PREFIX}/ark:12345/page?page=2"),
        ("N2L?ark:12345/tree/0,0,1/%22", 302, f"{PREFIX}/ark:12345/tree/0,0,1/%22"),
        ("N2L?urn:example:idea", 303, f"{PREFIX}/urn:example:idea?info"),
        ("N2L?ark:12345/doc?info", 303, f"{PREFIX}/ark:12345/doc?info"),
        ("N2C?ark:/12345/doc", 303, f"{PREFIX}/ark:12345/doc?info"),
        ("N2C?urn:example:gone", 303, f"{PREFIX}/urn:example:gone?info"),
        ("N2C?ark:12345/doc??", 303, f"{PREFIX}/ark:12345/doc?info"),
    ],
)
def test_n2l_redirects_to_the_target_and_n2c_to_the_description(client, asked, status, location):
    answer = client.get(f"/uri-res/{asked}")
    assert (answer.status_code, answer.location) == (status, location)
    assert 'rel="describedby"' in answer.headers["Link"]


# URN-060
@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (
            "urn:EXAMPLE:maps",
            ["# urn:example:maps", "https://example.org/maps", "https://example.org/de", f"{PREFIX}/plain"],
        ),
        ("ark:12345/doc", ["# ark:12345/doc", "https://example.org/doc"]),
        ("ark:12345/page", ["# ark:12345/page", f"{PREFIX}/ark:12345/page"]),
        ("ark:12345/cat", ["# ark:12345/cat"]),
        ("urn:example:idea", ["# urn:example:idea"]),
    ],
)
@pytest.mark.parametrize("accept", [None, "text/uri-list", "*/*", "image/png"])
def test_n2ls_lists_all_targets(client, asked, lines, accept):
    answer = client.get(f"/uri-res/N2Ls?{asked}", headers={"Accept": accept} if accept else {})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/uri-list")
    assert answer.data == "".join(f"{line}\r\n" for line in lines).encode()
    assert answer.headers["Vary"] == "Accept"


def test_a_browser_receives_the_list_as_a_page(client):
    answer = client.get("/uri-res/N2Ls?urn:example:maps", headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.text.count("<li><a ") == 3
    assert 'href="https://example.org/maps"' in answer.text
    assert "javascript:" not in answer.text
    assert "knows no location" in client.get("/uri-res/N2Ls?urn:example:idea", headers={"Accept": "text/html"}).text


# URN-060
@pytest.mark.one_setup
@pytest.mark.parametrize("service", ["N2L", "N2Ls", "N2C"])
@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("?urn:example:nope", 404, "not-bound"),
        ("?ark:99999/x", 404, "naan-reserved-invalid"),
        ("?ark:12345", 400, "no-name"),
        ("?urn:example:", 400, "empty-nss"),
        ("?ark:12345/a/../doc", 400, "dot-segment"),
        ("?urn%3Aexample:maps", 400, "no-scheme"),
        ("?doi:10.1/x", 400, "no-scheme"),
        ("?https://n2t.net/ark:12345/doc", 400, "no-scheme"),
        ("?", 400, "no-scheme"),
        ("", 400, "no-scheme"),
        (f"?ark:12345/{'x' * 4000}", 414, "too-long"),
    ],
)
def test_a_refused_identifier_is_refused_by_the_services(client, service, asked, status, code):
    answer = client.get(f"/uri-res/{service}{asked}", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.get_json(force=True)["code"]) == (status, code)


def test_a_withdrawn_name_answers_410(client):
    for service in ("N2L", "N2Ls"):
        assert client.get(f"/uri-res/{service}?urn:example:gone").status_code == 410


def test_services_accept_get_and_head_only(client):
    for service in ("N2L", "N2Ls", "N2C"):
        path = f"/uri-res/{service}?ark:12345/doc"
        assert client.options(path).status_code == 204
        assert client.post(path).status_code == 405
        get, head = client.get(path), client.head(path)
        assert (head.status, head.headers.to_wsgi_list(), head.data) == (get.status, get.headers.to_wsgi_list(), b"")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path",
    [
        "/uri-res",
        "/uri-res/",
        "/uri-res/N2",
        "/uri-res/N2R?urn:example:maps",
        "/uri-res/n2l?urn:example:maps",
        "/uri-res/N2L/?urn:example:maps",
        "/uri-res/N2%4C?urn:example:maps",
        "/x/uri-res/N2L?urn:example:maps",
        "//uri-res/N2L?urn:example:maps",
        "/uri-resN2L?urn:example:maps",
    ],
)
def test_other_paths_reach_the_site(client, path):
    assert client.get("/", environ_overrides=_environ(path)).text == "the site"


def _environ(path):
    environ = create_environ(path)
    return {key: environ[key] for key in ("PATH_INFO", "QUERY_STRING", "REQUEST_URI", "RAW_URI") if key in environ}


def test_without_the_setting_the_path_reaches_the_site(store):
    client = Client(ResolverMiddleware(site, store, prefix=PREFIX))
    assert client.get("/uri-res/N2L?urn:example:maps").text == "the site"


def test_services_resolve_only_enabled_schemes(store):
    client = Client(ResolverMiddleware(site, store, prefix=PREFIX, services="/uri-res", schemes=["ark"]))
    assert client.get("/uri-res/N2L?urn:example:maps").status_code == 400
    assert client.get("/uri-res/N2L?ark:12345/doc").status_code == 302


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"services": "/uri-res", "prefix": None}, "services: the prefix is missing", id="no prefix"),
        pytest.param({"services": "uri-res"}, "services: uri-res is neither a URL nor a path", id="no path"),
        pytest.param({"services": "//uri-res"}, "services: //uri-res has no scheme", id="an authority"),
        pytest.param({"services": "https://example.org/a"}, "is not a path of this site", id="an address"),
        pytest.param({"services": "/"}, "is not an unreserved path like '/uri-res'", id="the root"),
        pytest.param({"services": "/ark:1"}, "is not an unreserved path like '/uri-res'", id="a reserved path"),
        pytest.param({"services": "/a?b"}, "has a query or a fragment", id="a query"),
    ],
)
def test_an_invalid_path_raises_an_error_at_start(store, settings, message):
    with pytest.raises(ValueError, match=message):
        ResolverMiddleware(site, store, **{"prefix": PREFIX} | settings)


@given(st.sampled_from(["N2L", "N2Ls", "N2C"]), st.text(st.characters(max_codepoint=0xFF), max_size=30))
def test_every_request_gets_an_answer(store, service, query):
    environ = create_environ(f"/uri-res/{service}") | {"QUERY_STRING": f"ark:12345/tree/{query}"}
    middleware = ResolverMiddleware(site, store, prefix=PREFIX, services="/uri-res")
    body, status, headers = run_wsgi_app(middleware, environ)
    assert status[:3] in {"200", "302", "303", "400", "404"}
    assert not set('\r\n\0<>" ') & set(headers.get("Location", ""))
    assert b"".join(body) is not None
