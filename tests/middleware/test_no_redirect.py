"""The field No-Redirect: a redirect as text or JSON."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware

NO_REDIRECT = {"No-Redirect": "true"}


@pytest.fixture
def client(held, binding):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc", alternates={"application/json": "https://example.org/j"}),
        binding("ark:12345/kept", "https://example.org/kept", redirect=307),
        binding("ark:12345/about", "https://example.org/about", kind="related"),
        binding("ark:12345/idea"),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/gone", "/gone", status="withdrawn"),
    )

    def site(environ, start_response):
        start_response("302 Found", [("Location", "/elsewhere")])
        return []

    def make(**settings):
        return Client(ResolverMiddleware(site, store, **settings))

    return make


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["doc", "kept", "about", "idea"])
def test_the_redirect_is_the_content(client, name):
    redirect = client().get(f"/ark:12345/{name}")
    shown = client().get(f"/ark:12345/{name}", headers={**NO_REDIRECT, "Accept": "application/json"})
    assert (shown.status_code, shown.mimetype, "Location" in shown.headers) == (200, "application/json", False)
    if name != "doc":
        assert (shown.json["status"], shown.json["location"]) == (redirect.status_code, redirect.location)
        assert sorted(shown.json["headers"]) == sorted({field for field, _ in redirect.headers})
    assert shown.json["identifier"] == f"ark:12345/{name}"
    assert shown.headers.getlist("Link") == redirect.headers.getlist("Link")


def test_the_text_is_the_response(client):
    shown = client().get("/ark:12345/kept", headers=NO_REDIRECT)
    assert shown.headers["Content-Type"] == "text/plain; charset=utf-8"
    lines = shown.text.splitlines()
    assert lines[:2] == ["HTTP/1.1 307 Temporary Redirect", "Location: https://example.org/kept"]
    redirect = client().get("/ark:12345/kept")
    assert lines[1:] == [f"{name}: {value}" for name, value in redirect.headers.to_wsgi_list()]


def test_accept_also_selects_the_target(client):
    shown = client().get("/ark:12345/doc", headers={**NO_REDIRECT, "Accept": "application/json"})
    assert shown.json["location"] == "https://example.org/j"


def test_a_cache_never_returns_it_to_other_clients(client):
    shown = client().get("/ark:12345/doc", headers=NO_REDIRECT)
    assert shown.headers["Cache-Control"] == "no-store"
    assert shown.headers["Vary"] == "Accept, No-Redirect"


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["false", "0", "no", "", "truee", "\u0131"])
def test_other_values_are_ignored(client, value):
    assert client().get("/ark:12345/kept", headers={"No-Redirect": value.encode().decode("latin-1")}).status_code == 307


@pytest.mark.one_setup
@pytest.mark.parametrize("value", ["True", "1", " yes "])
def test_other_words_for_true_are_accepted(client, value):
    assert client().get("/ark:12345/kept", headers={"No-Redirect": value}).status_code == 200


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "path", ["ark:12345/gone", "ark:12345/nope", "ark:12345", "ark:12345/kept?info", "ark:12345/page"]
)
def test_other_answers_are_unchanged(client, path):
    usual, asked = client().get(f"/{path}"), client().get(f"/{path}", headers=NO_REDIRECT)
    assert (asked.status, asked.headers, asked.data) == (usual.status, usual.headers, usual.data)


def test_head_has_the_same_fields(client):
    get, head = (client().open("/ark:12345/kept", method=method, headers=NO_REDIRECT) for method in ("GET", "HEAD"))
    assert (head.status_code, head.data, head.headers) == (200, b"", get.headers)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("cors", "vary"), [(True, "Accept, No-Redirect"), (["https://a.example"], "Origin, Accept, No-Redirect")]
)
def test_scripts_of_other_pages_can_read_it(client, cors, vary):
    headers = {**NO_REDIRECT, "Origin": "https://a.example"}
    shown = client(cors=cors).get("/ark:12345/kept", headers=headers)
    assert shown.headers["Access-Control-Allow-Origin"] in ("*", "https://a.example")
    assert shown.headers["Vary"] == vary
    asked = {"Access-Control-Request-Headers": "no-redirect", "Access-Control-Request-Method": "GET", **headers}
    assert client(cors=cors).options("/ark:12345/kept", headers=asked).headers["Access-Control-Allow-Headers"] == "*"


def test_a_hostile_target_stays_one_line(held, binding):
    store = held(binding("ark:12345/x", "https://example.org/?a=%0D%0ALocation:%20https://evil.example"))
    shown = Client(ResolverMiddleware(None, store)).get("/ark:12345/x", headers=NO_REDIRECT)  # type: ignore[arg-type]
    assert len([line for line in shown.text.splitlines() if line.startswith("Location:")]) == 1
