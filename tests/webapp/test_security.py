"""The header fields of all answers."""

from __future__ import annotations

import pytest

from ararat.webapp import create_app, security

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
)

answers = pytest.mark.parametrize(
    ("method", "address"),
    [
        pytest.param("GET", "/", id="the empty page"),
        pytest.param("GET", "/?q=ark:12345/x", id="an answer"),
        pytest.param("POST", "/", id="a redirect"),
        pytest.param("GET", "/static/ararat.css", id="an asset"),
        pytest.param("GET", "/favicon.ico", id="the icon"),
        pytest.param("GET", "/api/inspect?q=x", id="json"),
        pytest.param("GET", "/api/inspect", id="a problem"),
        pytest.param("GET", "/trace", id="the trace page"),
        pytest.param("GET", "/problems", id="a page of the reference"),
        pytest.param("GET", "/registries/naan?q=x", id="a search"),
        pytest.param("GET", "/api", id="the page of the API"),
        pytest.param("GET", "/nowhere", id="not found"),
        pytest.param("DELETE", "/", id="not allowed"),
    ],
)


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@answers
def test_every_answer_has_the_security_fields(client, method, address):
    with client.open(address, method=method) as response:
        assert response.headers["Content-Security-Policy"] == security.CONTENT_SECURITY_POLICY == POLICY
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert response.headers["Cache-Control"]
        assert "Set-Cookie" not in response.headers


@answers
def test_no_answer_is_a_permanent_redirect(client, method, address):
    doubled = "/" + address.replace("/", "//")
    for target in (address, doubled, address.partition("?")[0] + "/"):
        with client.open(f"http://localhost{target}", method=method) as response:
            assert response.status_code not in (301, 308)


@pytest.mark.one_setup
@pytest.mark.parametrize("field", ["Host", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Referer", "Origin"])
def test_header_fields_of_a_client_change_nothing(client, field):
    for address in ("/?q=ark:12345/x", "/compare?a=ark:12345/x&b=ark:12345/y"):
        plain = client.get(address)
        said = client.get(address, headers={field: "evil.example.net"})
        assert said.data == plain.data
    assert client.post("/", data={"q": "x"}, headers={field: "evil.example.net"}).location == "/?q=x"


def test_the_content_security_policy_allows_nothing_inline():
    assert "unsafe" not in POLICY
    assert "'none'" in POLICY


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("prefix", "origin"), [("https://r.example/base", "https://r.example"), (None, "")], ids=["announced", "none"]
)
@pytest.mark.parametrize("address", ["/?q=ark:12345/x", "/compare?a=ark:12345/x&b=ark:12345/y"])
def test_a_printed_permalink_begins_with_the_configured_origin(read_page, prefix, origin, address):
    page = read_page(create_app(prefix=prefix).test_client().get(address).text)
    assert page.one("a", "permalink").attributes["data-origin"] == origin


@pytest.mark.one_setup
@pytest.mark.parametrize("address", ["/qr.svg?q=ark:12345/x", "/robots.txt", "/favicon.ico", "/static/ararat.css"])
def test_an_answer_that_is_the_same_for_all_clients_has_no_vary(client, address):
    with client.get(address) as answer:
        assert (answer.status_code, list(answer.vary)) == (200, [])


def test_a_page_has_vary_for_every_field_that_changes_it(client):
    for fields in ({}, {"HX-Request": "true"}, {"HX-Request": "true", "HX-History-Restore-Request": "true"}):
        answer = client.get("/policy", headers=fields)
        assert {"Accept", "HX-Request", "HX-History-Restore-Request"} <= set(answer.vary)
    assert "Accept" in client.get("/qr.svg?q=x").vary


# The environs of servers for `GET *`, `GET foo`, `CONNECT host:443` and `GET http://host/` (wsgiref), and what a
# dispatcher makes of them.
@pytest.mark.parametrize(
    ("path", "mount"),
    [
        pytest.param("*", "", id="asterisk"),
        pytest.param("desk", "", id="no slash"),
        pytest.param("api/v1/names", "", id="no slash of the API"),
        pytest.param("ark:12345/x", "", id="a name"),
        pytest.param("example.org:443", "", id="an authority"),
        pytest.param("http://example.org:99999/desk", "", id="a URL"),
        pytest.param("[", "", id="half an address"),
        pytest.param("\xff", "", id="no ASCII"),
        pytest.param("", "*", id="a dispatcher moved the whole target"),
        pytest.param("//u:p@evil.example/desk", "https:", id="a dispatcher moved the scheme"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_a_target_that_is_not_a_path_gets_400(client, caplog, path, mount, method):
    environ = {"PATH_INFO": path, "SCRIPT_NAME": mount}
    with client.open("/", method=method, environ_overrides=environ) as response:
        assert response.status_code == 400
        assert "not a path" in response.text or method == "HEAD"
        assert response.headers["Content-Security-Policy"] == POLICY
        assert response.headers["Cache-Control"] == "no-store"
    assert not caplog.records


@pytest.mark.one_setup
@pytest.mark.parametrize("referer", ["http://[::1", "http://[foo]/", "//[", "http://localhost:abc/", "x\xff"])
def test_a_referer_that_is_not_a_url_is_never_an_error(client, referer):
    for target in ("/", "/list", "/compare", "/traces", "/language", "/nowhere"):
        with client.post(target, headers={"Referer": referer}) as response:
            assert response.status_code < 500
