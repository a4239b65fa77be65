"""The selection of an alternate target for a client, and the fields that it depends on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.negotiation import Accepted, choose

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
FORMS = {"application/json": "json", "text/html": "html"}
TONGUES = {"de": "de", "en-gb": "en-gb", "fr": "fr"}
BOTH = {"text/html;de": "html de", "text/html;en": "html en", "application/json": "json", "en": "en"}


# URN-059
@pytest.mark.parametrize(
    ("alternates", "media_types", "languages", "chosen"),
    [
        pytest.param(FORMS, None, None, None, id="no preference"),
        pytest.param(FORMS, "*/*", None, None, id="anything"),
        pytest.param(FORMS, "application/json", None, "json", id="a type"),
        pytest.param(FORMS, "Application/JSON", None, "json", id="a type in capitals"),
        pytest.param(FORMS, "application/*", None, "json", id="a kind of type"),
        pytest.param(FORMS, BROWSER, None, "html", id="browser"),
        pytest.param({"application/json": "json"}, BROWSER, None, None, id="browser, of no type it names"),
        pytest.param(FORMS, "text/html;q=0.2, application/json;q=0.7", None, "json", id="by quality"),
        pytest.param(FORMS, "text/html;q=0, */*;q=0.1", None, None, id="what is not wanted"),
        pytest.param(FORMS, "application/json;q=0, application/*", None, None, id="the more specific range counts"),
        pytest.param(FORMS, "image/png", None, None, id="nothing suits"),
        pytest.param(FORMS, "application/json", "de", "json", id="languages do not matter"),
        pytest.param(FORMS, ",;q=,\x00", None, None, id="no field at all"),
        pytest.param(TONGUES, None, "de", "de", id="a language"),
        pytest.param(TONGUES, None, "en", "en-gb", id="a language of which there is a kind"),
        pytest.param(TONGUES, None, "de-at, en;q=0.9", "de", id="a kind of language of which there is the whole"),
        pytest.param(TONGUES, None, "de;q=0.1, fr;q=0.5", "fr", id="languages by quality"),
        pytest.param(TONGUES, None, "*", None, id="any language"),
        pytest.param(TONGUES, None, "it", None, id="no such language"),
        pytest.param(TONGUES, None, "d", None, id="half a language"),
        pytest.param(TONGUES, None, "-x;q=0.9, de;q=0.5", "de", id="a range that is not a language"),
        pytest.param(
            {"zh-hant-tw": "zh", "fr": "fr"},
            None,
            "zh;q=0.9, zh-hant;q=0.1, fr;q=0.5",
            "fr",
            id="the range that says most of a language counts",
        ),
        pytest.param(TONGUES, "text/html", "fr", "fr", id="types do not matter"),
        pytest.param(BOTH, "text/html", "en", "html en", id="both"),
        pytest.param(BOTH, BROWSER, "de, en;q=0.5", "html de", id="browser, both"),
        pytest.param(BOTH, "application/json", "de", "json", id="a type in no language"),
        pytest.param(BOTH, "image/png", "en", "en", id="a language in no type"),
        pytest.param(BOTH, None, None, None, id="both, no preference"),
        pytest.param(BOTH, None, "de", "html de", id="both, a language only"),
        pytest.param(BOTH, "application/json", None, "json", id="both, a type only"),
        pytest.param(FORMS, "text/html;q=0.5, */*;q=0.8", None, None, id="any other type is preferred"),
        pytest.param(TONGUES, None, "de;q=0.5, *;q=0.8", None, id="any other language is preferred"),
        pytest.param(
            {"application/json;de": "json de", "text/html;en": "html en"},
            "application/*;q=0.1, */*;q=0.9",
            "de, en;q=0.5",
            "html en",
            id="a kind of type is more specific than any type",
        ),
        pytest.param(
            {"text/html;de": "html de", "application/json;fr": "json fr"},
            "text/html, application/json;q=0.5",
            "de-at;q=0.1, *;q=0.9",
            "json fr",
            id="a kind of language is more specific than any language",
        ),
    ],
)
def test_the_preferred_alternate_is_selected(alternates, media_types, languages, chosen):
    assert choose(alternates, Accepted(media_types, languages)).target == chosen


@pytest.mark.parametrize(
    ("alternates", "vary"),
    [
        ({}, ()),
        (FORMS, ("Accept",)),
        (TONGUES, ("Accept-Language",)),
        (BOTH, ("Accept", "Accept-Language")),
        ({"text/html;de": "x"}, ("Accept", "Accept-Language")),
    ],
)
def test_every_selection_lists_the_fields_it_can_depend_on(alternates, vary):
    assert choose(alternates, Accepted()).vary == vary
    assert choose(alternates, Accepted("text/html", "de")).vary == vary


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_accept_field_selects_a_target(media_types, languages):
    assert choose(BOTH, Accepted(media_types, languages)).target in (None, *BOTH.values())


def site(environ, start_response):
    start_response("200 OK", [("Vary", "Cookie"), ("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


@pytest.fixture
def client(held, binding):
    alternates = {"application/json": "https://example.org/json", "de": "/de"}
    store = held(
        binding("ark:12345/doc", "https://example.org/doc", alternates=alternates),
        binding("ark:12345/about", "https://example.org/doc", kind="related", alternates={"de": "/de"}),
        binding("ark:12345/page", "/page", kind="served", alternates={"de": "/seite"}),
        binding("ark:12345/bad", "/page", alternates={"de": "javascript:x"}),
        binding("ark:12345/plain", "https://example.org/plain"),
    )
    return Client(ResolverMiddleware(site, store, prefix="https://r.example"))


# ARK-107
def test_vary_names_the_fields_that_change_the_answer(client):
    answer = client.get("/ark:12345/doc", headers={"Accept": "application/json"})
    assert (answer.status_code, answer.location) == (302, "https://example.org/json")
    assert answer.headers["Vary"] == "Accept, Accept-Language, No-Redirect"
    assert client.get("/ark:12345/doc").location == "https://example.org/doc"
    assert client.get("/ark:12345/doc").headers["Vary"] == "Accept, Accept-Language, No-Redirect"
    related = client.get("/ark:12345/about", headers={"Accept-Language": "de"})
    assert (related.status_code, related.location, related.headers["Vary"]) == (
        303,
        "https://r.example/de",
        "Accept-Language, No-Redirect",
    )
    assert client.get("/ark:12345/plain", headers={"Accept": "application/json"}).headers["Vary"] == "No-Redirect"


def test_a_served_alternate_has_vary(client):
    answer = client.get("/ark:12345/page", headers={"Accept-Language": "de"})
    assert (answer.text, answer.headers.getlist("Vary")) == ("/seite", ["Cookie", "Accept-Language"])
    assert client.get("/ark:12345/page").text == "/page"


def test_an_invalid_alternate_is_not_selected(client):
    answer = client.get("/ark:12345/bad", headers={"Accept-Language": "de"})
    assert (answer.status_code, answer.headers["Vary"]) == (404, "Accept, Accept-Language")
    assert client.get("/ark:12345/bad").location == "https://r.example/page"
