"""A resolution as HTTP: status, header fields, body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client, create_environ, run_wsgi_app

from ararat.middleware import ResolverMiddleware
from ararat.middleware.http.answer import internal_server_error
from ararat.middleware.resolution.description_formats import FORMATS
from ararat.middleware.resolution.negotiation import choose_media_type


@pytest.fixture
def store(held, binding):
    return held(
        binding("ark:12345/doc", "https://example.org/doc", metadata={"what": "A document"}),
        binding("ark:12345/here", "/a%20page?x=1#part"),
        binding("ark:12345/cat", "https://example.org/cat", kind="related"),
        binding("ark:12345/idea", kind="described"),
        binding("ark:12345/kept", "https://example.org/kept", redirect=307),
        binding("ark:12345/gone", "https://example.org/gone", status="withdrawn"),
        binding("urn:foo:a,b", "https://example.org/urn"),
    )


@pytest.fixture
def client(store):
    def make(**settings):
        return Client(ResolverMiddleware(None, store, **settings))  # type: ignore[arg-type]

    return make


BOUND = [
    "/ark:12345/doc",
    "/ark:12345/doc?info",
    "/ark:12345/doc?foo",
    "/ark:12345/cat",
    "/ark:12345/idea",
    "/ark:12345/kept",
    "/ark:12345/gone",
    "/ark:12345/gone??",
    "/urn:foo:a,b",
]
UNBOUND = [
    "/ark:12345/nope",
    "/ark:12345",
    "/ark:99999/x",
    "/ark:12345/" + "x" * 4000,
    "/ark:12345/nope?info",
    "/urn:foo:",
]


# POL-032: "MUST include a link ... with the "describedby" relation"
# POL-022, POL-034
@pytest.mark.one_setup
@pytest.mark.parametrize("path", BOUND)
@pytest.mark.parametrize(("settings", "root"), [({"prefix": "https://r.example"}, "https://r.example"), ({}, "")])
def test_answers_for_bound_names_link_to_the_description(client, path, settings, root):
    name = path[1:].partition("?")[0]
    links = client(**settings).get(path).headers.getlist("Link")
    assert f'<{root}/{name}?info>; rel="describedby"' in links


@pytest.mark.one_setup
@pytest.mark.parametrize("path", UNBOUND)
def test_answers_for_unbound_names_have_no_description_link(client, path):
    assert "describedby" not in client().get(path).headers.get("Link", "")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "cache"),
    [
        ("/ark:12345/doc", "max-age=300, stale-if-error=86400"),
        ("/ark:12345/idea", "max-age=300, stale-if-error=86400"),
        ("/ark:12345/doc?info", "max-age=300"),
        ("/ark:12345/nope", "max-age=60"),
        ("/ark:12345/doc?foo", "max-age=60"),
        ("/ark:12345/gone", "max-age=60"),
        ("/ark:12345", "no-store"),
        ("/ark:12345/" + "x" * 4000, "no-store"),
    ],
)
def test_every_answer_has_cache_control(client, path, cache):
    assert client().get(path).headers["Cache-Control"] == cache
    assert client().post(path).headers["Cache-Control"] == "no-store"


def test_cache_sets_the_lifetime_of_found_answers(client):
    assert client(cache=0).get("/ark:12345/doc").headers["Cache-Control"] == "max-age=0"
    assert client(cache=86400).get("/ark:12345/doc?info").headers["Cache-Control"] == "max-age=86400"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", BOUND + UNBOUND)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
def test_every_answer_has_the_security_fields(client, path, method):
    headers = client().open(path, method=method).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "Link" in headers["Access-Control-Expose-Headers"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers.get("Content-Security-Policy", "default-src 'none'")
    assert "Set-Cookie" not in headers


@pytest.mark.one_setup
@pytest.mark.parametrize("path", BOUND + UNBOUND)
@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/plain"])
def test_head_returns_no_body(client, path, accept):
    get = client().get(path, headers={"Accept": accept})
    head = client().head(path, headers={"Accept": accept})
    assert (head.status, head.headers.to_wsgi_list()) == (get.status, get.headers.to_wsgi_list())
    assert head.data == b""
    assert int(get.headers["Content-Length"]) == len(get.data)


@pytest.mark.one_setup
@pytest.mark.parametrize("path", BOUND + UNBOUND)
def test_options_lists_the_methods(client, path):
    answer = client().options(
        path, headers={"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "GET"}
    )
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Allow"] == answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "Content-Length" not in answer.headers


@pytest.mark.one_setup
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "PROPFIND", ""])
def test_other_methods_get_405(client, method):
    answer = client().open("/ark:12345/doc", method=method, environ_overrides={"REQUEST_METHOD": method})
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("path", "settings", "mount", "location"),
    [
        pytest.param("/ark:12345/doc", {}, "", "https://example.org/doc", id="address"),
        pytest.param(
            "/ark:12345/here",
            {"prefix": "https://r.example"},
            "",
            "https://r.example/a%20page?x=1#part",
            id="path, after the prefix",
        ),
        pytest.param("/ark:12345/here", {}, "", "/a%20page?x=1#part", id="path"),
        pytest.param("/ark:12345/here", {}, "/a pp", "/a%20pp/a%20page?x=1#part", id="path, below the mount"),
        pytest.param(
            "/ark:12345/here",
            {"prefix": "https://r.example/app"},
            "/app",
            "https://r.example/app/a%20page?x=1#part",
            id="the prefix has the mount in it",
        ),
        pytest.param("/ark:12345/idea", {}, "", "/ark:12345/idea?info", id="description"),
        pytest.param("/ark:12345/idea", {}, "/app", "/app/ark:12345/idea?info", id="description, below the mount"),
        pytest.param(
            "/ark:12345/idea",
            {"prefix": "https://r.example"},
            "",
            "https://r.example/ark:12345/idea?info",
            id="description, after the prefix",
        ),
    ],
)
def test_the_location_is_the_target_or_a_path_of_the_site(store, path, settings, mount, location):
    environ = create_environ(
        path,
        f"http://forged.example{mount}/",
        headers={"X-Forwarded-Host": "forged.example", "X-Forwarded-Proto": "https"},
    )
    environ["SCRIPT_NAME"] = mount
    _, _, headers = run_wsgi_app(ResolverMiddleware(None, store, **settings), environ)  # type: ignore[arg-type]
    assert headers["Location"] == location


def test_a_mount_point_cannot_turn_a_path_into_another_host(store):
    environ = create_environ("/ark:12345/here") | {"SCRIPT_NAME": "//evil.example"}
    _, _, headers = run_wsgi_app(ResolverMiddleware(None, store), environ)  # type: ignore[arg-type]
    assert headers["Location"] == "/evil.example/a%20page?x=1#part"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", BOUND)
def test_answers_contain_nothing_of_host_or_proxy_fields(client, path):
    plain = client(inspector="/").get(path, base_url="http://localhost")
    for field, value in [
        ("Host", "evil.example"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "javascript"),
        ("Forwarded", "host=evil.example"),
        ("Referer", "http://evil.example"),
        ("Origin", "http://evil.example"),
        ("Cookie", "a=b"),
    ]:
        forged = client(inspector="/").get(path, headers={field: value})
        assert (forged.status, forged.headers.to_wsgi_list(), forged.data) == (
            plain.status,
            plain.headers.to_wsgi_list(),
            plain.data,
        )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        pytest.param(None, "text/html; charset=utf-8", id="nothing"),
        pytest.param("*/*", "text/html; charset=utf-8", id="anything"),
        pytest.param(
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/html; charset=utf-8",
            id="a browser",
        ),
        pytest.param("application/json", "application/json", id="JSON"),
        pytest.param("application/json;q=0.5, text/html;q=0.1", "application/json", id="rather JSON"),
        pytest.param("text/plain", "text/plain; charset=utf-8", id="text"),
        pytest.param("text/html;q=0, */*", "application/json", id="anything but HTML"),
        pytest.param("image/png", "text/html; charset=utf-8", id="nothing there is"),
        pytest.param("application/json;q=2, ;;;, ,/", "text/html; charset=utf-8", id="no Accept at all"),
    ],
)
def test_a_description_is_sent_in_the_accepted_form(client, accept, content_type):
    answer = client().get("/ark:12345/doc?info", headers={"Accept": accept} if accept else {})
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["Vary"] == ("Accept, Accept-Language" if "html" in content_type else "Accept")


def test_each_form_of_a_description_links_to_the_others(client):
    # The name has too little metadata for DataCite.
    formats = [form for form in FORMATS if not form.name.startswith("datacite") and form.name != "linkset"]
    for current in formats:
        answer = client(prefix="https://r.example").get("/ark:12345/doc??", headers={"Accept": current.media_type})
        assert answer.headers["Content-Type"] == current.content_type
        links = ", ".join(answer.headers.getlist("Link"))
        found = {form.name for form in FORMATS if f'<?info&format={form.name}>; rel="describedby alternate"' in links}
        assert found == {form.name for form in formats if form is not current}


# ARK-045
@pytest.mark.one_setup
@pytest.mark.parametrize("accept", [form.media_type for form in FORMATS])
def test_all_metadata_inflections_get_the_same_answer(client, accept):
    answers = [
        client().get(f"/ark:12345/doc{inflection}", headers={"Accept": accept}) for inflection in ("?", "??", "?info")
    ]
    assert len({(answer.status, answer.data, tuple(answer.headers.to_wsgi_list())) for answer in answers}) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, "text/html; charset=utf-8"),
        ("application/problem+json", "application/problem+json"),
        ("application/json", "application/problem+json"),
        ("application/*", "application/problem+json"),
        ("text/plain", "text/plain; charset=utf-8"),
    ],
)
def test_a_refusal_is_sent_in_the_accepted_form(client, accept, content_type):
    answer = client().get("/ark:12345/nope", headers={"Accept": accept} if accept else {})
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, content_type)
    assert answer.headers["Vary"] == ("Accept, Accept-Language" if "html" in content_type else "Accept")
    assert answer.headers["X-Robots-Tag"] == "noindex"


def test_a_redirect_depends_on_the_target_and_on_no_redirect(client):
    assert client().get("/ark:12345/doc").headers.getlist("Vary") == ["No-Redirect"]


# ARK-134
def test_hsts_is_sent_only_over_https_and_if_set(client):
    hsts = "max-age=31536000; includeSubDomains"
    for path in ("/ark:12345/doc", "/ark:12345/doc?info", "/ark:12345/nope"):
        assert client(hsts=hsts).get(path, base_url="https://localhost").headers["Strict-Transport-Security"] == hsts
        assert "Strict-Transport-Security" not in client(hsts=hsts).get(path, base_url="http://localhost").headers
        assert "Strict-Transport-Security" not in client().get(path, base_url="https://localhost").headers
    assert (
        client(hsts=hsts).options("/ark:12345/doc", base_url="https://localhost").headers["Strict-Transport-Security"]
        == hsts
    )


def test_a_redirect_has_a_location_and_no_body(held, binding):
    client = Client(ResolverMiddleware(None, held(binding("ark:12345/x", "https://example.org/?a='b'&c=d"))))  # type: ignore[arg-type]
    answer = client.get("/ark:12345/x")
    assert answer.headers["Location"] == "https://example.org/?a='b'&c=d"
    assert answer.headers["Content-Length"] == "0"
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.data == b""


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("cors", "origin", "allowed", "vary"),
    [
        pytest.param(True, "https://a.example", "*", None, id="all"),
        pytest.param(False, "https://a.example", None, None, id="none"),
        pytest.param(["https://A.example/"], "https://a.example", "https://a.example", "Origin", id="one of a list"),
        pytest.param(["https://a.example"], "https://b.example", None, "Origin", id="not in the list"),
        pytest.param(["https://a.example"], None, None, "Origin", id="no origin"),
    ],
)
def test_cors_is_a_setting(client, cors, origin, allowed, vary):
    headers = {} if origin is None else {"Origin": origin}
    for method, path in (("GET", "/ark:12345/doc"), ("GET", "/ark:12345/nope"), ("OPTIONS", "/ark:12345/doc")):
        answer = client(cors=cors).open(path, method=method, headers=headers)
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed
        assert (answer.headers.get("Access-Control-Expose-Headers") is None) == (allowed is None)
        fields = [field.strip() for field in answer.headers.get("Vary", "").split(",")]
        assert ("Origin" in fields) == (vary is not None)
        if method == "OPTIONS":
            assert ("Access-Control-Allow-Methods" in answer.headers) == bool(cors)


@pytest.mark.one_setup
@pytest.mark.parametrize("policy", ["no-referrer", "strict-origin-when-cross-origin", None])
def test_the_referrer_policy_is_a_setting(client, policy):
    for path in ("/ark:12345/doc", "/ark:12345/nope", "/ark:12345/doc?info"):
        assert client(referrer_policy=policy).get(path).headers.get("Referrer-Policy") == policy


def test_the_fallback_error_page_needs_no_template():
    answer = internal_server_error()
    assert answer.status == 500
    assert isinstance(answer.body, bytes)
    assert "Retry-After" not in dict(answer.headers)
    assert dict(answer.headers)["Content-Length"] == str(len(answer.body))


@given(st.text(max_size=60) | st.text('ahtml/*;q=0.1, "\\x', max_size=80))
def test_every_accept_field_selects_a_form(accept):
    media_types = tuple(form.media_type for form in FORMATS)
    assert choose_media_type(accept, media_types) in media_types
