"""The language of a page: its choice, the switch, and the fields of the answer."""

from __future__ import annotations

import re
from datetime import date
from http import HTTPStatus

import pytest

from ararat.bindings.imports.importing import import_table
from ararat.identifiers.text.translatable import Translatable
from ararat.webapp import create_app
from ararat.webapp.language import current
from ararat.webapp.language.translation import gettext, translate
from ararat.webapp.report.excerpt import plain
from tests.pseudo import pseudo_language

from ..desk.conftest import open_desk


@pytest.mark.parametrize(
    ("address", "fields", "institution", "language"),
    [
        pytest.param("/", {}, "en", "en", id="nothing"),
        pytest.param("/", {}, "fr", "fr", id="institution"),
        pytest.param("/", {}, "ja", "en", id="institution-without-a-catalogue"),
        pytest.param("/", {"Accept-Language": "de-AT, en;q=0.5"}, "fr", "de", id="browser"),
        pytest.param("/", {"Accept-Language": "ja"}, "fr", "fr", id="browser-without-a-catalogue"),
        pytest.param("/", {"Accept-Language": "de", "cookie": "es"}, "fr", "es", id="cookie"),
        pytest.param("/", {"cookie": "tlh"}, "fr", "fr", id="unknown-cookie"),
        pytest.param("/?lang=nl", {"cookie": "es"}, "fr", "nl", id="address"),
        pytest.param("/?lang=tlh", {"Accept-Language": "de"}, "fr", "de", id="unknown-address"),
        pytest.param("/", {"X-Language": "pl", "Accept-Language": "de"}, "fr", "pl", id="fragment-of-an-address"),
    ],
)
def test_choice(address, fields, institution, language):
    client = create_app(language=institution).test_client()
    if cookie := fields.get("cookie"):
        client.set_cookie("ararat-language", cookie)
    response = client.get(address, headers={name: value for name, value in fields.items() if name != "cookie"})
    assert response.content_language.as_set() == {language}
    assert f'<html lang="{language}" dir="ltr">' in response.text
    assert {"Accept-Language", "Cookie", "X-Language"} <= set(response.vary)


def test_the_switch_sets_a_cookie_and_shows_the_page_again():
    client = create_app().test_client()
    form = {"language": "de", "next": "/compare?a=ark:12345/x"}
    response = client.post("/language", data=form)
    assert (response.status_code, response.location) == (HTTPStatus.SEE_OTHER, form["next"])
    assert client.get("/compare").content_language.as_set() == {"de"}


@pytest.mark.parametrize("address", ["//evil.test/", "https://evil.test/", "/\\evil.test", ""])
def test_the_switch_never_leaves_the_site(address):
    assert create_app().test_client().post("/language", data={"language": "de", "next": address}).location == "/"


def test_an_unknown_language_is_refused():
    response = create_app().test_client().post("/language", data={"language": "tlh", "next": "/"})
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert "Set-Cookie" not in response.headers


def test_a_page_names_its_addresses_in_all_languages():
    text = create_app().test_client().get("/compare?a=x&lang=fr").text
    for language in current.languages():
        assert f'hreflang="{language}" href="/compare?a=x&amp;lang={language}"' in text


def test_the_api_is_in_english():
    client = create_app(language="de").test_client()
    with pseudo_language():
        problem = client.get("/api/v1/nowhere", headers={"Accept-Language": "de"})
    assert problem.json is not None
    assert problem.json["detail"] == "This page does not exist."


def test_use_sets_the_language_without_a_request():
    with current.use("fr"):
        assert current.language() == "fr"
        with current.use("tlh"):
            assert current.language() == "en"
    assert current.language() == "en"


def test_french_has_spaces_before_punctuation_between_values():
    text = Translatable("%(name)s: %(reason)s", name="x", reason="y")
    shown: dict[str, str] = {}
    for tag in ("en", "de", "fr"):
        with current.use(tag):
            shown[tag] = translate(text) + gettext(":")
    assert shown == {"en": "x: y:", "de": "x: y:", "fr": "x\u00a0: y\u00a0:"}


def test_a_question_has_no_full_stop():
    pattern = "%(target)s is neither a URL nor a path that begins with /; did you mean https://%(target)s?"
    text = Translatable(pattern, target="m.example/1").sentence()
    for tag in ("en", "de", "fr"):
        with current.use(tag):
            assert translate(text).endswith("https://m.example/1\u202f?" if tag == "fr" else "https://m.example/1?")


def test_values_have_the_formats_of_the_language():
    text = Translatable("%(day)s, %(number)s", day=date(2026, 11, 26), number=12345)
    shown: dict[str, str] = {}
    for tag in ("en", "de", "pt"):
        with current.use(tag):
            shown[tag] = translate(text)
    assert text == shown["en"] == "2026-11-26, 12,345"
    assert shown["de"] == "26.11.2026, 12.345"
    assert shown["pt"].startswith("26/11/2026")


def test_a_context_tells_two_meanings_apart():
    with current.use("de"):
        assert translate(Translatable("Name")) == "Identifikator"
        assert translate(Translatable.in_context("part of an identifier", "Name")) == "Name"


def test_the_spaces_of_a_language_are_no_hidden_characters() -> None:
    text = Translatable("%(reason)s", reason=Translatable("a number from 1 to %(most)s", most=1000))
    with current.use("fr"):
        runs = plain(text)
    assert "\u202f" in "".join(piece.text for run in runs for piece in run.pieces)
    assert [piece.chip for run in runs for piece in run.pieces if piece.chip] == []
    sent = plain(Translatable("%(value)s", value="1\u202f000"))
    assert any(piece.chip for run in sent for piece in run.pieces)


def test_a_form_with_an_error_offers_the_languages_of_its_own_page(tmp_path):
    jane = open_desk(tmp_path).signed_in("jane")
    fields = {"Accept": "text/html", "Referer": "http://localhost/desk/new?text=x"}
    answer = jane.post("/desk/new/name", {"text": "x", "target": "nonsense"}, headers=fields)
    assert 'name="next" value="/desk/new?text=x"' in jane.get(answer.location).text
    jane.post("/language", {"language": "de", "next": "/desk"})
    kept = jane.get(answer.location)
    assert kept.content_language.as_set() == {"en"}
    assert '<html lang="en"' in kept.text


@pytest.mark.parametrize(
    "beginnings",
    [
        pytest.param(
            ["/", "/?q=ark:12345/x51", "/compare?a=ark:1/x&b=ark:2/x", "/docs?q=hold", "/registries"], id="public"
        ),
        pytest.param(["/desk", "/desk/names", "/desk/name?name=ark:12345/x51", "/desk/changes"], id="desk"),
    ],
)
def test_links_and_forms_keep_the_language_of_the_address(tmp_path, beginnings, read_page):
    """Without a script, a reader who follows the links of a page in a language stays in it."""
    desk = open_desk(tmp_path)
    (table := tmp_path / "names.csv").write_text(
        "identifier,target,what\n" + "".join(f"ark:12345/x5{each},https://example.org/1,Map\n" for each in range(105))
    )
    import_table(desk.bindings, table)
    jane = desk.signed_in("jane")
    seen, queue = set[str](), [f"{each}{'&' if '?' in each else '?'}lang=nl" for each in beginnings]
    while queue and len(seen) < 40:
        path = queue.pop(0)
        # One page of each kind: the address with the names of its parameters.
        kind = re.sub("=[^&]*", "", path)
        if kind in seen:
            continue
        seen.add(kind)
        answer = jane.get(path, headers={"Accept-Language": "de"})
        if answer.mimetype != "text/html":
            answer.get_data()
            continue
        assert answer.status_code == 303 or answer.content_language.as_set() == {"nl"}, path
        if answer.status_code == 303:
            assert "lang=nl" in answer.location, path
            continue
        page = read_page(answer.text)
        for form in page.all("form"):
            action = form.attributes["action"]
            if action.endswith("/language"):
                continue
            fields = [each.attributes.get("value") for each in form.all("input", name="lang")]
            is_query = form.attributes.get("method") == "get"
            assert fields == ["nl"] if is_query else "lang=nl" in action, (path, action)
        for link in page.all("a"):
            href = link.attributes.get("href", "").partition("#")[0]
            if not href.startswith("/") or href.startswith(("/api", "/ark:", "/urn:", "/static", "/qr.svg")):
                continue
            assert "lang=nl" in href, (path, href)
            queue.append(href)
    assert len(seen) > 15


def test_a_form_that_was_sent_keeps_the_language_of_the_address(tmp_path):
    desk = open_desk(tmp_path)
    desk.bindings.bind("ark:12345/x51", "https://example.org/1")
    jane = desk.signed_in("jane")
    answer = jane.post("/desk/name/withdraw?lang=nl", {"name": "ark:12345/x51", "revision": "1", "reason": "sold"})
    assert answer.status_code == 303
    assert "lang=nl" in answer.location
    assert "lang=" not in jane.post("/language?lang=nl", {"language": "fr", "next": "/desk"}).location
    assert "lang=" not in create_app().test_client().get("/opensearch.xml?lang=nl").text
