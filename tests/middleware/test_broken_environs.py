"""Invalid environs: the site receives them unchanged, and the middleware raises no error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import create_environ

from ararat.identifiers.scheme_registration import read
from ararat.middleware import BindingSource, OwnScheme, ResolverMiddleware


class Refusing(dict):
    """An environ from which only the path can be read."""

    def __missing__(self, key):
        raise RuntimeError(key)

    def get(self, key, default=None):
        raise RuntimeError(key)


class Weird(str):
    """A path that cannot be sliced or searched."""

    def find(self, *args):
        raise RuntimeError("find")

    def __getitem__(self, place):
        raise RuntimeError("slice")


def keep(answers):
    """A start_response that records its arguments."""

    def start_response(status, headers, exc_info=None):
        answers.append((status, headers))
        return lambda data: None

    return start_response


def site(environ, start_response):
    return ["the site", environ, start_response]


class Store(BindingSource):
    """Bindings that must not be read."""

    def fetch(self, keys):
        return {}


OWN = OwnScheme(
    record=read("Scheme name: atlas\nStatus: provisional\nContact: maps@example.org\n"), resolve=lambda identifier: None
)


@pytest.fixture(scope="module", params=["plain", "with a scheme of its own"])
def resolver(request):
    schemes = ["ark", "urn"] if request.param == "plain" else ["ark", "urn", OWN]
    return ResolverMiddleware(site, Store(), prefix="https://r.example", schemes=schemes)  # type: ignore[arg-type]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="empty"),
        pytest.param({"REQUEST_METHOD": "GET"}, id="no path"),
        pytest.param({"PATH_INFO": None}, id="None"),
        pytest.param({"PATH_INFO": 17}, id="a number"),
        pytest.param({"PATH_INFO": b"/ark:12345/x"}, id="octets"),
        pytest.param({"PATH_INFO": ["/", ":"]}, id="a list with a colon"),
        pytest.param({"PATH_INFO": {":": 1}}, id="a mapping with a colon"),
        pytest.param({"PATH_INFO": object()}, id="an object"),
        pytest.param({"PATH_INFO": Weird("/ark:12345/x")}, id="a str that raises"),
        pytest.param({"PATH_INFO": "/wiki/Talk:Ararat", "QUERY_STRING": None}, id="a colon, and no query"),
        pytest.param({"PATH_INFO": "/a:b", "RAW_URI": 3, "SCRIPT_NAME": b"", "REQUEST_METHOD": None}, id="all wrong"),
        pytest.param({"PATH_INFO": ":", "QUERY_STRING": 1, "REQUEST_URI": object()}, id="a colon alone"),
        pytest.param(Refusing(PATH_INFO="/ark:12345/x"), id="an environ that cannot be asked"),
        pytest.param(None, id="no environ at all"),
    ],
)
def test_an_unreadable_request_reaches_the_site_unchanged(resolver, environ):
    def start_response(*answer):
        raise AssertionError(answer)

    answer, seen, started = resolver(environ, start_response)
    assert answer == "the site"
    assert seen is environ
    assert started is start_response


KEYS = [
    "REQUEST_METHOD",
    "QUERY_STRING",
    "SCRIPT_NAME",
    "REQUEST_URI",
    "RAW_URI",
    "HTTP_ACCEPT",
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_IF_MATCH",
    "HTTP_IF_UNMODIFIED_SINCE",
    "HTTP_IF_NONE_MATCH",
    "HTTP_IF_MODIFIED_SINCE",
    "wsgi.url_scheme",
    "SERVER_PROTOCOL",
]
MISSING = object()
ODD = [None, b"GET", 17, ["GET"], object(), "\ud800", "", MISSING]


@pytest.mark.one_setup
@pytest.mark.parametrize("path", ["/ark:12345/doc", "/ark:12345/doc?info", "/ark:12345/page", "/ark:12345/nope"])
@pytest.mark.parametrize("key", KEYS)
def test_any_value_of_an_environ_key_gets_an_answer(held, binding, path, key):
    store = held(
        binding("ark:12345/doc", "https://example.org/doc", alternates={"de": "https://example.org/de"}),
        binding("ark:12345/page", "/page", kind="served"),
    )

    def page(environ, start_response):
        start_response("200 OK", [])
        return [b"page"]

    for odd in ODD:
        environ = create_environ(path) | {key: odd}
        if odd is MISSING:
            del environ[key]
        started = []
        body = ResolverMiddleware(page, store)(environ, keep(started))
        assert all(type(chunk) is bytes for chunk in body)
        ((status, headers),) = started
        assert status[:3] in {"200", "302", "404", "405", "412", "500"}
        assert all(type(name) is type(value) is str for name, value in headers)


values = st.one_of(
    st.none(), st.text(max_size=12), st.binary(max_size=12), st.integers(), st.sampled_from(["/ark:1/x", "/a:b", ":"])
)


@given(environ=st.dictionaries(st.sampled_from(["PATH_INFO", *KEYS]), values, max_size=6))
def test_no_environ_makes_the_middleware_raise(environ):
    before = dict(environ)
    answers = []
    middleware = ResolverMiddleware(site, Store())  # type: ignore[arg-type]
    body = middleware(environ, keep(answers))
    if answers:
        assert answers[0][0][:3] in {"204", "400", "404", "405", "500"}
    else:
        assert body[:2] == ["the site", before]  # type: ignore[index]
