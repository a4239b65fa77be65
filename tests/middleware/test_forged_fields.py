"""Header fields that a client can forge, one at a time: none of them changes an answer."""

from __future__ import annotations

import pytest
from werkzeug.test import create_environ, run_wsgi_app

from ararat.middleware import ResolverMiddleware

ASKED = [
    pytest.param("GET", "/ark:12345/doc", id="found"),
    pytest.param("HEAD", "/ark:12345/doc", id="found by HEAD"),
    pytest.param("GET", "/ark:12345/here", id="found on this site"),
    pytest.param("GET", "/ark:12345/about", id="something about it"),
    pytest.param("GET", "/ark:12345/what", id="described only"),
    pytest.param("GET", "/ark:12345/page", id="served"),
    pytest.param("GET", "/ark:12345/doc?info", id="description"),
    pytest.param("GET", "/ark:12345/doc?", id="bare question mark"),
    pytest.param("GET", "/ark:12345/gone", id="withdrawn"),
    pytest.param("GET", "/ark:12345/nope", id="unbound"),
    pytest.param("GET", "/ark:12345", id="no identifier"),
    pytest.param("GET", "/ark:12345/x/../doc", id="dot-segment"),
    pytest.param("POST", "/ark:12345/doc", id="another method"),
    pytest.param("OPTIONS", "/ark:12345/doc", id="options"),
]


@pytest.fixture
def store(held, binding):
    return held(
        binding("ark:12345/doc", "https://example.org/doc", metadata={"what": "A document"}),
        binding("ark:12345/here", "/here"),
        binding("ark:12345/about", "/about", kind="related"),
        binding("ark:12345/what", metadata={"what": "A thing"}),
        binding("ark:12345/page", "/page", kind="served"),
        binding("ark:12345/gone", "/gone", status="withdrawn", reason="a hoax"),
        binding("ark:12345/read", "/read", alternates={"de": "/lesen", "ar": "/iqra"}),
    )


@pytest.fixture
def ask(store):
    """ask(prefix, mount, method, target, *forged) returns status, header fields and body of the answer."""

    def site(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [f"{environ['SCRIPT_NAME']} {environ['PATH_INFO']} {environ['RAW_URI']}".encode()]

    resolvers = {
        prefix: ResolverMiddleware(site, store, prefix=prefix, languages=["en"])
        for prefix in (None, "https://r.example")
    }

    def ask_(prefix, mount, method, target, *forged):
        path, mark, query = target.partition("?")
        environ = create_environ(path, base_url="http://site.test" + mount, method=method, headers=[*forged])
        environ["QUERY_STRING"] = query
        environ["REQUEST_URI"] = environ["RAW_URI"] = mount + path + mark + query
        body, status, headers = run_wsgi_app(resolvers[prefix], environ)
        return status, [*headers], b"".join(body)

    return ask_


@pytest.mark.one_setup
@pytest.mark.parametrize(("method", "target"), ASKED)
@pytest.mark.parametrize("mount", ["", "/app"], ids=["at the root", "under a mount"])
@pytest.mark.parametrize("prefix", [None, "https://r.example"], ids=["no prefix", "a prefix"])
def test_forged_fields_do_not_change_an_answer(ask, forgeries, prefix, mount, method, target):
    plain = ask(prefix, mount, method, target)
    for forged in forgeries:
        assert ask(prefix, mount, method, target, forged) == plain, forged
    assert "evil" not in str(plain)


def test_negotiated_answers_vary_by_language(ask, forgeries):
    plain = ask(None, "", "GET", "/ark:12345/read")
    moved = [forged for forged in forgeries if ask(None, "", "GET", "/ark:12345/read", forged) != plain]
    assert [name for name, _ in moved] == ["Accept-Language"]
    for answer in (plain, ask(None, "", "GET", "/ark:12345/read", *moved)):
        assert "Accept-Language" in dict(answer[1])["Vary"]
