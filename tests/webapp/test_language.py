"""The language of a page: chosen, kept from page to page, and nothing on it left untranslated."""

from __future__ import annotations

import dataclasses
import re
import string
import threading

import pytest

from ararat.identifiers import PROBLEMS
from ararat.identifiers.policy.catalogue import FINDINGS
from ararat.webapp import catalogues, language, live, pseudo
from ararat.webapp.application import create_app
from ararat.webapp.tracing.ends import compare_ends
from ararat.webapp.tracing.events import Hop
from ararat.webapp.tracing.hop import FAILURES, HopFailed, HopResponse
from ararat.webapp.tracing.trace import trace

MIRRORED = "lang=ar-XB"
GERMAN = language.of_catalogue(
    "de",
    'msgid "Inspect"\nmsgstr "Untersuchen"\n\nmsgid "Normal form"\nmsgstr "Normalform <i>"\n\n'
    'msgid "%(kind)s, in normal form"\nmsgstr "%(kind)s, in Normalform"\n',
)

# Isolated: identifiers, codes, keys, methods, header fields, names of characters and of organizations.
APART = {"bdi", "code", "kbd", "time"}
# Marked as English in another language, and rightly so: the names of a standard number, of a draft and of a registrant.
ENGLISH_ANYWHERE = {"ISBN-13", "draft-ietf-iri-4395bis-irireg-04", "21206."}
# What is a name, in any language.
NAMES = {"Ararat", "RFC", "bis", "UTF", "GET", "HEAD", "isbn", "example", "ark", "urn", "not", "assigned", "query"}
# A namespace of URNs, and those of the policy.
NAMES |= {"foo", "language", "uuid", "opaque", "datetime", "personal", "miscellaneous"}
NAMES |= {"http", "https", "fragment", "opted", "in", "beta", "dev"}

MAIN = 0
PAGES = [
    pytest.param(address, id=address)
    for address in (
        *("/?", "/?q=ark:/12345/x-1.b.a?info%26&", "/?q=ark:12345&", "/?q=urn:isbn:0451450523&", "/?q=nothing%20here&"),
        *("/?q=ark:12148/btv%E2%80%AE1&", "/?q=urn:example:a%3F%2Br%23f&", "/?q=ark:12345/a%20ark:/12345/a%20ark:B/x&"),
        *("/nowhere?", "/api?", "/problems?", "/traces?", "/trace?", "/trace?q=ark:12345/x&"),
        *("/compare?", "/compare?a=ark:12345/x&b=zz&", "/compare?a=ark:12345/x&b=ark:12345/y-2&", "/policy?"),
        *("/registries?", "/registries/naan?", "/registries/naan?q=qqq&", "/registries/naan/12148?"),
        *("/registries/urn?", "/registries/urn/isbn?", "/schemes/http?"),
        "/schemes?",
        *("/docs?", "/docs/servers?", "/trace?q=ark:12148/x&resolver=https://a.example&"),
        *("/policy?q=http://example.org/id/a&", "/policy?q=%3Curlset%3E&"),
    )
]


def english_words(element):
    """The English words that a reader of another language would meet in an element, text and labels."""
    attributes = element.attributes
    if element.tag in APART or attributes.get("translate") == "no":
        return
    # The handbook is the documents of the project, and these are English.
    if attributes.get("lang") == "en" and (element.tag == "div" or element.text in ENGLISH_ANYWHERE):
        return
    names = {"aria-label", "placeholder"} | ({name for name in attributes if name.startswith("data-")} & SCRIPTED)
    for text in [*(attributes[name] for name in names & attributes.keys()), *filter(_is_text, element.children)]:
        yield from set(re.findall(r"(?<!\{)\b[A-Za-z]{2,}\b", text)) - NAMES
    for child in element.children:
        if not _is_text(child) and child.tag not in {"title", "style"}:
            yield from english_words(child)


def all_texts(element):
    for child in element.children:
        if _is_text(child):
            yield child.strip()
        elif child.tag not in {"pre", "textarea"} and (child.tag != "div" or child.attributes.get("lang") != "en"):
            yield from all_texts(child)


def long_texts(element):
    """What has five English words in a row, isolated or not."""
    return {each for each in all_texts(element) if re.search(r"(?:\b[a-z]+,? ){4}", each)}


SENTENCES = {str(each.id) for each in language.template() if each.context == language.CONTEXT and " " in each.id}
SCRIPTED = {"data-label", "data-copied", "data-kept", "data-forbidden", "data-lost", "data-unreachable", "data-said"}


def _is_text(child):
    return isinstance(child, str)


@pytest.mark.parametrize("address", PAGES)
def test_every_text_of_a_page_is_translated(read_page, address):
    page = read_page(create_app().test_client().get(address + MIRRORED).text)
    html = page.one("html")
    assert (html.attributes["lang"], html.attributes["dir"]) == ("ar-XB", "rtl")
    assert sorted(english_words(html)) == []
    # What is isolated is looked at, too: it may be a sentence of ours that is shown as if it were a stranger's.
    assert SENTENCES & set(all_texts(page.one("main"))) == set()
    # Nor is a sentence inside of one; registries and records are full of strangers' sentences.
    if not address.startswith(("/registries", "/schemes")):
        assert long_texts(page.one("main")) == set()


EXAMPLES = sorted(
    {
        each.example
        for each in (*PROBLEMS.values(), *FINDINGS.values())
        if each.example is not None and each.example.isprintable()
    }
)


@pytest.mark.parametrize("address", ["/", "/policy"])
def test_whatever_is_wrong_is_said_in_the_language_of_the_page(read_page, address):
    client = create_app(policies=["17beta"]).test_client()
    said = {}
    for example in EXAMPLES:
        page = read_page(client.get(address, query_string={"q": example, "lang": "ar-XB"}).text)
        main = page.one("main")
        said[example] = [*english_words(main), *SENTENCES & set(all_texts(main)), *long_texts(main)]
    assert len(said) > 60
    # The words of the package that knows the registry of languages.
    foreign = {each for words in said.values() for each in words if " is not a registered language subtag" in each}
    assert {each.split()[0] for each in foreign} == {"cgi", "zz"}
    assert {example: words for example, words in said.items() if set(words) - foreign} == {}


def test_the_template_holds_every_text_of_the_source():
    assert catalogues.is_current(), "texts were changed: make catalogues"


def test_every_translation_keeps_what_is_filled_in_and_no_markup_of_its_own():
    kept = re.compile(r"%\(\w+\)[^a-z]*[a-z]|</?\w[^>]*>|\{\w+\}|%%")
    for tag in (*language.shipped(), pseudo.TAG):
        catalogue = language.of_name(tag).catalogue
        for message in language.template():
            if message.id and isinstance(message.id, str):
                assert sorted(kept.findall(catalogue.gettext(message.id))) == sorted(kept.findall(message.id))


def test_english_is_the_same_with_and_without_being_asked_for():
    client = create_app().test_client()
    plain = client.get("/?q=ark:/12345/x-1")
    assert plain.text == client.get("/?q=ark:/12345/x-1", headers={"Accept-Language": "ar-XB, de"}).text
    assert '<html lang="en" dir="ltr">' in plain.text
    assert "Accept-Language" not in plain.headers["Vary"]


def test_of_several_languages_the_one_is_spoken_that_a_browser_likes_best():
    client = create_app(languages=[GERMAN]).test_client()
    austrian = client.get("/", headers={"Accept-Language": "fr, de-AT;q=0.8, en;q=0.5"})
    assert "Untersuchen" in austrian.text
    assert '<html lang="de" dir="ltr">' in austrian.text
    assert "Accept-Language" in austrian.headers["Vary"]
    assert ">Inspect<" in client.get("/", headers={"Accept-Language": "fr"}).text
    assert ">Inspect<" in client.get("/?lang=en", headers={"Accept-Language": "de"}).text
    # Nobody is offered the mirrored one.
    assert 'lang="de"' in client.get("/", headers={"Accept-Language": "ar-XB, de;q=0.1"}).text


def test_what_has_no_translation_stays_english():
    shown = create_app(languages=[GERMAN]).test_client().get("/?q=ark:12345/x&lang=de").text
    assert "A valid ARK, in Normalform" in shown
    assert "Part by part" in shown


@pytest.mark.parametrize("asked", ["", "xx", "../../etc/passwd", "<b>", "a" * 5000, "%00", "en"])
def test_a_language_that_there_is_not_is_english(asked):
    response = create_app().test_client().get("/", query_string={"lang": asked})
    assert response.status_code == 200
    assert '<html lang="en" dir="ltr">' in response.text


def test_the_language_goes_on_into_what_a_page_leads_to(read_page):
    client = create_app().test_client()
    page = read_page(client.get(f"/?q=ark:/12345/x-1&{MIRRORED}").text)
    addresses = [each.attributes["href"] for each in page.all("a") if each.attributes["href"].startswith("/")]
    for_pages = [each for each in addresses if not each.startswith(("/api/", "/qr.svg"))]
    assert len(for_pages) > 10
    assert all(MIRRORED in each for each in for_pages)
    assert not any(MIRRORED in each for each in addresses if each not in for_pages)
    assert MIRRORED in page.one("form", id="box").attributes["action"]
    moved = client.post(f"/?{MIRRORED}", data={"q": "ark:12345/x"})
    assert MIRRORED in moved.headers["Location"]
    hidden = read_page(client.get(f"/trace?{MIRRORED}").text).one("input", name="lang")
    assert hidden.attributes["value"] == "ar-XB"


@pytest.mark.parametrize("address", ["/api/inspect?q=ark:12345", "/api/compare?a=ark:12345/x&b=ark:12345/y"])
def test_programs_get_english_whatever_they_ask_for(address):
    client = create_app(languages=[GERMAN]).test_client()
    asked = client.get(f"{address}&{MIRRORED}", headers={"Accept-Language": "de"})
    assert asked.data == client.get(address).data
    assert "Accept-Language" not in asked.headers["Vary"]


def test_a_stream_goes_on_in_the_language_of_its_page():
    streamed = (
        create_app(trace_elsewhere=False)
        .test_client()
        .get(f"/trace?q=ark:12345/x&resolver=https://example.org&{MIRRORED}", headers={"Accept": "text/event-stream"})
    )
    assert pseudo.mirror("Run again") in streamed.text
    assert language.current() is language.ENGLISH


def test_a_hop_of_seconds_is_shown_in_another_language_from_any_thread(read_page):
    events = list(
        trace("ark:12345/x", fetch=lambda *_: HopResponse(302, "", (("Location", "/y"),)), resolver="https://a.example")
    )
    fragments = live.Fragments(create_app().jinja_env, "/again", language=language.of_name(pseudo.TAG))
    shown = []
    slow = dataclasses.replace(next(each for each in events if isinstance(each, Hop)), seconds=12.3, age=61.0)
    thread = threading.Thread(target=lambda: shown.extend((fragments.shown(slow), fragments.record([events[0], slow]))))
    thread.start()
    thread.join()
    assert [sorted(english_words(read_page(each))) for each in shown] == [[], []]


LOCATION = ("Location", "https://b.example/x")
ANSWERS = [
    *(HopResponse(status, "", ()) for status in (200, 204, 400, 403, 404, 405, 410, 500, 503, 599, 799, 300, 302, 303)),
    *(HopResponse(status, "", (LOCATION,)) for status in (301, 302, 303, 307, 308)),
    HopResponse(302, "", (LOCATION, ("Location", "https://c.example/"))),
    *(
        HopResponse(302, "", (("Location", where),))
        for where in ("/y#z", "http://b.example/", "//b.example/a b", "x" * 9000, "ftp://b.example/", "urn:example:a")
    ),
    HopResponse(302, "", (LOCATION, ("Vary", "Accept, Cookie"))),
    HopResponse(200, "", (("Link", '<https://b.example/about>; rel="describedby"'),)),
    *(HopFailed(code) for code in FAILURES),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: str(answer)[:60])
@pytest.mark.parametrize("text", ["ark:12-345/x-1?info", "ark:/12345/\u00e9#f", "zzz"])
def test_what_a_trace_says_is_said_in_the_language_of_the_page(read_page, answer, text):
    def fetch(_method, _url, _deadline):
        if isinstance(answer, HopFailed):
            raise answer
        return answer

    told = list(trace(text, fetch=fetch, resolver="http://a.example", max_redirects=5))
    fragments = live.Fragments(create_app().jinja_env, "/again", language=language.of_name(pseudo.TAG))
    shown = [*(fragments.shown(each) for each in told), fragments.record(told), fragments.pending(told[0])]
    pages = [read_page(each) for each in shown if each]
    assert [sorted(english_words(page)) for page in pages] == [[] for _ in pages]
    assert [long_texts(page) for page in pages] == [set() for _ in pages]


def test_two_resolvers_are_compared_in_the_language_of_the_page(read_page):
    told = [
        list(trace("ark:12345/x", fetch=lambda _method, url, _until: HopResponse(200, "", ()), resolver=resolver))
        for resolver in ("https://a.example", "https://b.example")
    ]
    fragments = live.Fragments(create_app().jinja_env, "/again", pair=True, language=language.of_name(pseudo.TAG))
    compared = read_page(fragments.compared(compare_ends(*told), told))
    assert sorted(english_words(compared)) == []
    assert len(compared.all("th", scope="col")) == 2


def test_the_handbook_is_english_in_any_language_and_leads_to_pages_in_that_of_the_reader(read_page):
    page = read_page(create_app().test_client().get(f"/docs?{MIRRORED}").text)
    body = page.one("div", lang="en", dir="ltr")
    leads = [each.attributes["href"] for each in body.all("a") if each.attributes["href"].startswith("/docs/")]
    assert leads
    assert all(re.fullmatch(rf"/docs/[a-z-]+\?{MIRRORED}(#[a-z0-9-]+)?", each) for each in leads)


def test_a_translated_text_is_filled_with_escaped_values():
    with language.speaking(GERMAN), create_app(languages=[GERMAN]).test_request_context("/?lang=de"):
        environment = create_app().jinja_env
        filled = environment.from_string('{{ _("%(kind)s, in normal form", kind="<b>") }}', {}).render()
    assert filled == "&lt;b&gt;, in Normalform"


def test_the_mirrored_letters_are_all_written_from_right_to_left():
    mirrored = pseudo.mirror(string.ascii_letters)
    assert all("\u05d0" <= letter <= "\u05ea" for letter in mirrored)


@pytest.mark.parametrize("tag", ["xx-nonsense", "no such"])
def test_a_catalogue_of_no_language_is_refused(tag):
    with pytest.raises(ValueError, match=re.escape(tag)):
        language.of_catalogue(tag, "")


def test_there_is_no_catalogue_for_what_does_not_ship():
    with pytest.raises(LookupError):
        language.of_name("tlh")


def test_a_new_catalogue_holds_every_text_and_keeps_what_is_translated(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogues, "FOLDER", tmp_path)
    monkeypatch.setattr(catalogues, "shipped", lambda: ())
    template, made = catalogues.write(["de"])
    assert template.read_text("utf-8") == (language.FOLDER / "ararat.pot").read_text("utf-8")
    translated = made.read_text("utf-8").replace('msgid "Inspect"\nmsgstr ""', 'msgid "Inspect"\nmsgstr "Untersuchen"')
    made.write_text(translated, "utf-8")
    again = catalogues.write(["de"])[1].read_text("utf-8")
    assert language.of_catalogue("de", again).catalogue.gettext("Inspect") == "Untersuchen"
