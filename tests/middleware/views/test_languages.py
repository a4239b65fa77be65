"""The language of a public page: by Accept-Language, or fixed by a setting."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware
from ararat.middleware.resolution.settings import LANGUAGES
from ararat.middleware.views import log_page
from ararat.middleware.views.languages import preferred_language

PATHS = (
    "/ark:12345/doc?info",
    "/ark:12345/part/1?info",
    "/ark:12345/gone",
    "/ark:12345/gone?info",
    "/ark:12345/gone/1",
    "/ark:12345/nope",
    "/ark:12345/doc?odd",
    "/ark:12345/x!",
    "/ark:99999/x",
)
TITLES = {
    "de": "Dieser Identifikator ist hier nicht bekannt.",
    "ar": "\u0647\u0630\u0627 \u0627\u0644\u0645\u0639\u0631\u0651\u0641",
    "ja": "\u3053\u306e\u8b58\u5225\u5b50",
}


@pytest.fixture(scope="module")
def store(held, binding):
    metadata = {"what": "A map", "who": "(:unkn)", "persistence": "lifetime", "policy": "https://example.org/policy"}
    return held(
        binding("ark:12345/doc", "https://example.org/doc", metadata=metadata),
        binding("ark:12345/part", "https://example.org/part/", passthrough=True),
        binding("ark:12345/gone", "/gone", status="withdrawn", successor="ark:12345/new", reason="a hoax"),
    )


@pytest.fixture(scope="module")
def client(store):
    return Client(ResolverMiddleware(None, store))  # type: ignore[arg-type]


@pytest.mark.one_setup
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_is_in_the_language_of_the_visitor(client, language):
    english = {path: client.get(path).text for path in PATHS}
    for path in PATHS:
        answer = client.get(path, headers={"Accept-Language": f"{language}-XX, en;q=0.5"})
        assert answer.headers["Content-Language"] == language
        assert answer.headers["Vary"] == "Accept, Accept-Language"
        assert f'<html lang="{language}" dir="{LANGUAGES[language]}">' in answer.text
        assert (answer.text == english[path]) == (language == "en")
        assert "%(" not in answer.text


@pytest.mark.one_setup
@pytest.mark.parametrize(("language", "title"), TITLES.items())
def test_the_first_sentence_is_translated(client, language, title):
    assert f"<h1>{title}" in client.get("/ark:12345/nope", headers={"Accept-Language": language}).text


@pytest.mark.one_setup
@pytest.mark.parametrize("language", ["ar", "he"])
def test_identifiers_and_technical_details_stay_left_to_right(client, language):
    page = client.get("/ark:12345/x!", headers={"Accept-Language": language}).text
    assert '<bdi dir="ltr" translate="no">ark:12345/x<mark>!</mark></bdi>' in page
    details = page[page.index("<details>") : page.index("</details>")]
    assert '<div lang="en" dir="ltr">' in details
    assert "bad-char" in details
    assert "bad-char" not in page.replace(details, "")


def test_lists_and_numbers_have_no_english_separators(client):
    page = client.get("/ark:12345/doc?info", headers={"Accept-Language": "ar"}).text
    shown = page[page.index('<details class="formats">') :].rpartition("</p>")[0]
    formats = re.sub("<[^>]*>", "", shown)
    # A line does not begin with the dot.
    assert "\u00a0\u00b7\nERC\u00a0\u00b7\n" in formats
    assert "," not in formats
    view = log_page.LogPage(
        origin="x", key=None, size=1234567, published=datetime.now(UTC), witnesses=0, root="", path="/log"
    )
    assert "1\u202f234\u202f567" in view.as_html().decode()


def test_values_in_a_translation_are_escaped_once(held, binding):
    store = held(binding("ark:12345/p", "https://example.org/?a=1&b=2", metadata={"persistence": "<b>&amp; %s %(x)s"}))
    site = Client(ResolverMiddleware(None, store))  # type: ignore[arg-type]
    page = site.get("/ark:12345/p?info", headers={"Accept-Language": "he"}).text
    assert "&lt;b&gt;&amp;amp; %s %(x)s" in page
    assert 'href="https://example.org/?a=1&amp;b=2"' in page


@pytest.mark.one_setup
@pytest.mark.parametrize("accept", ["application/json", "text/plain"])
def test_formats_for_programs_stay_english(client, accept):
    for path in PATHS:
        plain = client.get(path, headers={"Accept": accept})
        french = client.get(path, headers={"Accept": accept, "Accept-Language": "fr"})
        assert (plain.data, plain.headers.to_wsgi_list()) == (french.data, french.headers.to_wsgi_list())
        assert "Content-Language" not in plain.headers


def test_a_setting_fixes_or_restricts_the_languages(store):
    fixed = Client(ResolverMiddleware(None, store, languages=["de"]))  # type: ignore[arg-type]
    answer = fixed.get("/ark:12345/nope", headers={"Accept-Language": "fr"})
    assert (answer.headers["Content-Language"], answer.headers["Vary"]) == ("de", "Accept")
    two = Client(ResolverMiddleware(None, store, languages=["PL", "cs"]))  # type: ignore[arg-type]
    found = [
        two.get("/ark:12345/nope", headers={"Accept-Language": field}).headers["Content-Language"]
        for field in ("de", "cs;q=0.1", "", "pl, cs")
    ]
    assert found == ["pl", "cs", "pl", "pl"]


@pytest.mark.parametrize(
    ("field", "language"),
    [
        pytest.param("de", "de", id="one"),
        pytest.param("DE-at", "de", id="region and case"),
        pytest.param("zh-Hant-TW", "zh", id="script and region"),
        pytest.param("en;q=0.1, fr;q=0.9", "fr", id="by quality"),
        pytest.param("fr, de", "fr", id="by order"),
        pytest.param("xx, nl;q=0.2", "nl", id="the first one that exists"),
        pytest.param("iw", "he", id="an old code"),
        pytest.param("*", "en", id="any"),
        pytest.param("en;q=0, *", "de", id="any other"),
        pytest.param("de;q=0", "en", id="refused"),
        pytest.param("de;q=0, fr;q=0.001", "fr", id="the least quality"),
        pytest.param("deutsch", "en", id="not a tag"),
        pytest.param("", "en", id="empty"),
        pytest.param(";;;, ,=,q=1", "en", id="not a field"),
        pytest.param("de\u202e", "en", id="hidden character"),
        pytest.param(",".join(["xx"] * 2000) + ",de", "de", id="long"),
    ],
)
def test_accept_language_selects_a_language(field, language):
    assert preferred_language(field, tuple(LANGUAGES)) == language


def test_a_page_has_only_text_in_its_language(client):
    english = set(re.findall(r"<(?:h1|h2|dt|summary)>([A-Z][a-z ]+)", client.get("/ark:12345/doc?info").text))
    page = client.get("/ark:12345/doc?info", headers={"Accept-Language": "cs"}).text
    labels = set(re.findall(r"<(?:h1|h2|dt|summary)>([^<]+)", page))
    assert english
    assert not english & labels
