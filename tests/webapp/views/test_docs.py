"""The documentation pages: the Markdown of docs/, with working links and no forbidden markup."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client

from ararat.webapp import create_app
from ararat.webapp.views.docs import REPOSITORY_ONLY, names, order, render_markdown

TRANSLATED = sorted((Path(__file__).parents[3] / "docs").glob("*/*.md"))
ALL_FILES = {path.stem: path for path in (Path(__file__).parents[3] / "docs").glob("*.md")}
FILES = {name: path for name, path in ALL_FILES.items() if name not in REPOSITORY_ONLY}


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture(scope="module")
def page_at(client, read_page):
    """page_at(path) returns the page, which exists. It is requested once."""

    @cache
    def read(path):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "style=" not in answer.text, path
        return read_page(answer.text)

    return read


@pytest.fixture(scope="module")
def ids_of(page_at):
    """ids_of(path) returns the ids of a page."""
    return cache(lambda path: {element.attributes.get("id") for element in page_at(path).walk()})


def address(name):
    return "/docs" if name == "index" else f"/docs/{name}"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", FILES)
def test_a_page_has_a_title_and_follows_the_content_security_policy(page_at, name):
    page = page_at(address(name))
    title = FILES[name].read_text("utf-8").partition("\n")[0].removeprefix("# ")
    assert page.all("h1")[0].text == title
    assert page.one("title").text == f"{title} - Ararat"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", FILES)
def test_links_lead_to_existing_pages_and_headings(ids_of, page_at, name):
    here = [link.attributes["href"] for link in page_at(address(name)).one("article").all("a")]
    for link in here:
        to, _, place = link.partition("#")
        if "://" not in to:
            assert {place or None} <= ids_of(to or address(name)), link


def test_links_include_the_mount_point(read_page):
    mounted = DispatcherMiddleware(lambda *request: [], {"/inspect": create_app()})
    assert read_page(Client(mounted).get("/inspect/docs").text).all("a", href="/inspect/docs/first-ark")


def test_every_header_links_to_the_documentation(client, read_page):
    assert read_page(client.get("/").text).one("header", "top").all("a", href="/docs")


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["nothing", "..", "%2e%2e%2fREADME", "INDEX", "inspector-dark.png"])
def test_an_unknown_page_is_not_found(client, name):
    response = client.get(f"/docs/{name}")
    assert response.status_code == 404
    assert "text/html" in response.content_type


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("old", "new"),
    [
        *((f"service#{place}", "go-live") for place in ("install", "the-unit", "rotate-the-log", "send-a-digest")),
        *((f"proxies#{place}", "go-live") for place in ("nginx", "apache", "caddy", "the-address-of-the-client")),
        *((f"{name}#nginx", "go-live") for name in ("sites", "wordpress", "omeka", "static-sites")),
        *((f"deployment#{place}", "high-availability") for place in ("several-workers", "two-roles", "standbys")),
        *((f"deployment#{place}", "high-availability") for place in ("high-availability", "several-machines")),
        *((f"{name}#caddy", "go-live") for name in ("php-sites", "java")),
        ("servers#threads", "request-targets"),
    ],
)
def test_the_address_of_a_replaced_page_leads_to_the_new_one(client, ids_of, old, new):
    name, _, place = old.partition("#")
    answer = client.get(f"/docs/{name}")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/docs/{new}")
    # The browser keeps the anchor.
    assert place in ids_of(f"/docs/{new}")


def test_the_pages_are_those_in_the_folder():
    assert names() == set(FILES)
    assert set(ALL_FILES) > REPOSITORY_ONLY


@pytest.mark.parametrize("name", sorted(REPOSITORY_ONLY))
def test_a_page_for_people_who_change_ararat_is_in_the_repository_only(client, read_page, name):
    assert client.get(f"/docs/{name}").status_code == 404
    start = read_page(client.get("/docs").text).one("article")
    assert not [link for link in start.all("a") if name in link.attributes["href"]]


def test_html_in_a_text_is_escaped():
    page = render_markdown(
        "# <i>a</i>\n\n```x\n<script>\n```\n\n| <b> |\n| --- |\n| [x](javascript:alert(1)) |\n", "/docs"
    )
    assert not {"<i>", "<script>", "<b>"} & set(page.body.replace(">", "> ").split())
    assert 'href="javascript' not in page.body


def test_equal_headings_have_different_ids():
    assert [
        f'id="{place}"' in render_markdown("# A\n\n## A b\n\n## A b\n\n## A b", "/").body
        for place in ("a-b", "a-b-1", "a-b-2")
    ] == [True] * 3


def test_the_pictures_of_a_page_are_served(client, page_at):
    page = page_at("/docs/desk")
    pictures = [each.attributes["src"] for each in page.all("img") if each.attributes["src"].endswith(".webp")]
    assert len(pictures) == 12
    response = client.get(pictures[0], buffered=True)
    assert response.content_type == "image/webp"
    assert response.data[8:12] == b"WEBP"
    assert client.get("/docs/inspector-light.png").status_code == 404


def test_a_picture_has_its_dark_version(page_at):
    page = page_at("/docs/desk")
    for picture in page.all("picture"):
        light, dark = picture.one("img").attributes["src"], picture.one("source").attributes
        assert dark == {"media": "(prefers-color-scheme: dark)", "srcset": light.replace(".webp", "-dark.webp")}
    assert len(page.all("picture")) == len(page.one("article").all("img")) > 0


def test_pages_follow_one_another_in_the_order_of_the_index(page_at):
    for before, after in pairwise(order()):
        assert page_at(address(before)).one("a", rel="next").attributes["href"] == address(after)
        assert page_at(address(after)).one("a", rel="prev").attributes["href"] == address(before)
    assert not page_at("/docs").all("a", rel="prev")
    assert set(order()) == names() - {"index"}


@pytest.mark.one_setup
@pytest.mark.parametrize("name", FILES)
def test_a_page_with_more_than_four_headings_begins_with_their_list(page_at, name):
    page = page_at(address(name)).one("article")
    headings = [(heading.attributes["id"], heading.text) for heading in page.all("h2")]
    shown = [(link.attributes["href"], link.text) for nav in page.all("nav", "outline") for link in nav.all("a")]
    expected = headings if len(headings) > 4 and name != "index" else []
    assert shown == [(f"#{anchor}", text) for anchor, text in expected]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("names answer 404", "/docs/troubleshooting#a-name-answers-404"),
        ("names answer 404, what now?", "/docs/troubleshooting#a-name-answers-404"),
        ("DISK FULL", "/docs/troubleshooting#the-disk-is-full"),
        ("database is locked", "/docs/troubleshooting#database-is-locked"),
        ("how do I restore a backup of SQLite?", "/docs/backup#restore-an-sqlite-database"),
        ("nginx", "/docs/go-live#nginx"),
        # Questions of users of other resolvers.
        ("How do I get a NAAN?", "/docs/questions#do-i-need-a-naan-what-does-it-cost"),
        ("which address do I register for my NAAN", "/docs/questions#do-i-need-a-naan-what-does-it-cost"),
        (
            "is ark:/ with slash the same as ark: without slash",
            "/docs/questions#is-ark12345x-with-a-slash-the-same-as-ark12345x",
        ),
        ("301 or 302 redirect", "/docs/questions#why-302-and-not-a-permanent-redirect-301"),
        ("paths appended to an ARK", "/docs/questions#can-paths-be-appended-to-an-ark-such-as-pages-or-images"),
        ("retire our resolver and move links to another", "/docs/consortia#an-institution-leaves"),
        (
            "withdrawn item tombstone page",
            "/docs/questions#how-do-i-withdraw-or-delete-a-name-published-by-mistake",
        ),
        (
            "same object minted twice",
            "/docs/questions#the-same-object-was-minted-twice-how-do-i-merge-or-split-identifiers",
        ),
        (
            "merge two identifiers",
            "/docs/questions#the-same-object-was-minted-twice-how-do-i-merge-or-split-identifiers",
        ),
        (
            "split one name into two",
            "/docs/questions#the-same-object-was-minted-twice-how-do-i-merge-or-split-identifiers",
        ),
        (
            "delete a name published by mistake",
            "/docs/questions#how-do-i-withdraw-or-delete-a-name-published-by-mistake",
        ),
        ("is a name case sensitive", "/docs/questions#is-ark12345x-with-a-slash-the-same-as-ark12345x"),
        ("content negotiation JSON-LD", "/docs/formats#formats-of-a-description"),
        (
            "our site moves to a new domain",
            "/docs/questions#my-site-moves-to-a-new-domain-or-another-system-what-happens-to-the-names",
        ),
        ("find the ARK of an inventory number", "/docs/questions#which-ark-has-an-inventory-number"),
        ("roll back to the old version", "/docs/questions#how-do-i-roll-back-to-the-old-version"),
        ("import a spreadsheet without ARKs", "/docs/tables#mint-a-name-for-each-row"),
        # Answers come before decisions, speed and style, which are in the repository only.
        ("certificate renewal", "/docs/go-live#tls-and-the-final-check"),
        ("restart without downtime", "/docs/go-live#beside-the-site"),
        ("conformance of another resolver", "/docs/conformance#conformance-of-a-resolver"),
    ],
)
def test_a_search_finds_the_section_that_answers_a_question(client, read_page, question, first):
    found = read_page(client.get("/docs", query_string={"q": question}).text).one("ol", "found-sections").all("a")
    assert first in [link.attributes["href"] for link in found[:3]]


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["zzzzzz", "<script>alert(1)</script>", "\u202e\u05d0", "%", "(" * 200, "'", "\x00"])
def test_a_search_without_a_result_says_how_to_go_on(client, read_page, query):
    response = client.get("/docs", query_string={"q": query})
    page = read_page(response.text)
    assert response.status_code == 200
    assert "<script>alert" not in response.text
    assert "\u202e" not in response.text
    assert page.all("ol", "found-sections") or "Use fewer words" in page.one("article").text


def test_a_search_of_noise_shows_what_has_these_words(client, read_page):
    assert read_page(client.get("/docs?q=how+do+I").text).one("ol", "found-sections").all("li")
    assert read_page(client.get("/docs?q=+").text).one("h1").text == "Documentation"


@pytest.mark.one_setup
@pytest.mark.parametrize("path", TRANSLATED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_translated_page_has_the_parts_of_the_english_page(client, page_at, read_page, path):
    response = client.get(f"/docs/{path.stem}", headers={"Accept-Language": path.parent.name})
    page, english = read_page(response.text).one("article"), page_at(f"/docs/{path.stem}").one("article")
    assert page.all("div")[0].attributes["lang"] == path.parent.name
    assert page.one("h1").text == path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
    for tag, attribute in (("h1", "id"), ("h2", "id"), ("h3", "id"), ("img", "src")):
        both = [[each.attributes[attribute] for each in one.all(tag)] for one in (page, english)]
        assert both[0] == both[1]
    for tag in ("pre", "tr"):
        assert len(page.all(tag)) == len(english.all(tag)), tag
    links = [[each.attributes["href"] for each in one.all("a")] for one in (page, english)]
    assert sorted(links[0]) == sorted(links[1])


def plain(label):
    """Return a label without numbers, in which all spaces are equal."""
    return " ".join(re.sub(r"%\(\w+\)s|…", " ", label).split())


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_the_page_on_the_desk_names_buttons_and_fields_as_they_are(language):
    docs = Path(__file__).parents[3] / "docs"
    text = (docs / "desk.md" if language == "en" else docs / language / "desk.md").read_text("utf-8")
    shown = {plain(label) for label in re.findall(r"\*\*([^*]+)\*\*", text)}
    with (docs.parent / f"webapp/language/po/{'de' if language == 'en' else language}.po").open("rb") as file:
        messages = [message.id if language == "en" else message.string or () for message in read_po(file) if message.id]
    known = {plain(each) for message in messages for each in ([message] if isinstance(message, str) else message)}
    assert len(shown) > 50
    assert shown - known == {"CSV", "JSON Lines"}  # names of formats


def test_the_curators_pages_are_french_and_german():
    assert {f"{path.parent.name}/{path.stem}" for path in TRANSLATED} == {
        f"{language}/{name}" for language in ("de", "fr") for name in ("desk", "first-ark", "tables")
    }


def test_a_program_reads_the_markdown_of_a_page(client):
    answer = client.get("/docs/api.md")
    assert (answer.status_code, answer.mimetype) == (200, "text/markdown")
    assert answer.text == FILES["api"].read_text("utf-8")
    assert client.get("/docs/none.md").status_code == 404


def test_a_browser_can_add_the_inspector_to_its_search_engines(client, read_page):
    link = read_page(client.get("/docs").text).one("link", rel="search")
    answer = client.get(link.attributes["href"])
    assert answer.mimetype == link.attributes["type"] == "application/opensearchdescription+xml"
    assert 'template="http://localhost/?q={searchTerms}"' in answer.text
