"""The home page: the text box, results, fragments, and escaping of input."""

from __future__ import annotations

import functools
import json
import re
from urllib.parse import parse_qs, quote_from_bytes, urlsplit

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client, EnvironBuilder

from ararat.identifiers.text import characters
from ararat.webapp import create_app
from ararat.webapp.config import MAX_BYTES, MAX_URL_LENGTH
from ararat.webapp.report.inspection import inspect
from ararat.webapp.settings import EXAMPLES

HTMX = {"HX-Request": "true"}
HOSTILE = "ark:12345/a\u202eb\u200b/\u05e9\u05dc\u05d5\u05dd<b onclick=x>\"'&amp;"

# The elements and attributes of the templates. Any other one would come from input.
TAGS = {
    *("html", "head", "meta", "title", "link", "script", "body", "header", "main", "footer", "nav"),
    *("svg", "path", "rect"),
    *(
        "form",
        "label",
        "textarea",
        "input",
        "select",
        "option",
        "button",
        "section",
        "article",
        "div",
        "p",
        "span",
        "small",
    ),
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "a",
        "b",
        "br",
        "code",
        "kbd",
        "bdi",
        "mark",
        "del",
        "ins",
    ),
    *("figure", "figcaption", "img"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
}


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture(scope="module")
def answer(client, read_page):
    """answer(text) returns the page for a text of any length: that of its permalink, or of the form of a long text.

    It requests each page once, because several tests check the pages of all hostile identifiers.
    """

    @functools.cache
    def ask(text):
        octets = text.encode("utf-8", "surrogatepass")
        if octets and len(permalink := f"/?q={quote_from_bytes(octets)}") < MAX_URL_LENGTH:
            response = client.get(permalink)
        elif text == sent(text):
            # Without the client, which would keep a file open for each long text.
            body = b'--box\r\nContent-Disposition: form-data; name="q"\r\n\r\n' + octets + b"\r\n--box--\r\n"
            response = client.post(
                "/", data=body, content_type="multipart/form-data; boundary=box", follow_redirects=True
            )
        else:
            response = client.post("/", data={"q": sent(text)}, follow_redirects=True)
        assert response.status_code == (413 if too_long(text) else 200)
        return read_page(response.text)

    return ask


def too_long(text):
    return len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES


def sent(text):
    """Return a text as it arrives: a lone surrogate is not UTF-8, so its bytes stay percent-encoded."""
    return re.sub("[\ud800-\udfff]", lambda half: quote_from_bytes(half[0].encode("utf-8", "surrogatepass")), text)


def outside_the_box(page):
    return [
        child
        for element in page.walk()
        if element.tag != "textarea"
        for child in element.children
        if isinstance(child, str)
    ]


# The empty page -------------------------------------------------------------------------------------------------------


def test_the_home_page_has_a_text_box_and_examples(client, read_page):
    page = read_page(client.get("/").text)
    assert page.one("textarea", id="q").text.strip() == ""
    assert "autofocus" in page.one("textarea", id="q").attributes
    assert page.one("h1").text == "What is this identifier, and where does it lead?"
    assert len(page.one("div", "ways").all("h2")) == 3
    links = [link.attributes["href"] for link in page.one("ul", "tries").all("a")]
    assert len(links) == 4
    for link, example in zip(links, EXAMPLES, strict=True):
        assert parse_qs(urlsplit(link).query)["q"] == [example.text]
        assert client.get(link).status_code == 200


def test_the_form_works_without_javascript(client, read_page):
    form = read_page(client.get("/").text).one("form", "box")
    assert form.attributes["method"] == "post"
    assert form.attributes["action"] == form.attributes["hx-post"] == "/"
    assert form.one("label", for_="q")
    assert form.one("button", type="submit")


# Answers --------------------------------------------------------------------------------------------------------------


def test_the_verdict_comes_first_and_gets_the_focus(client, read_page):
    page = read_page(client.get("/", query_string={"q": "ark:/12345/x-1"}).text)
    card = page.one("article", "card")
    assert page.one("h1") is card.one("h1")
    assert card.one("h1").text == "A valid ARK for examples"
    assert "autofocus" in card.one("h1").attributes
    assert [tag.text.split() for tag in card.all("span", "tag")] == [["\u2713", "valid"]]
    assert page.one("title").text == "A valid ARK for examples - Ararat"
    # The answer, the trace, the parts, then the rest as closed lines.
    assert [heading.text for heading in card.all("h2")][:2] == ["Where does it lead?", "Parts"]
    assert card.one("div", "more").all("summary")[0].text.split()[:2] == ["Normal", "form"]
    assert not any("open" in line.attributes for line in card.all("details"))


def test_each_segment_is_isolated_and_labelled(client, read_page):
    page = read_page(client.get("/", query_string={"q": "ark:/12345/\u05e9\u05dc\u05d5\u05dd/a.b"}).text)
    segments = page.one("ol", "segments").all("li")
    assert [segment.children[0].attributes["dir"] for segment in segments] == ["ltr"] * len(segments)
    assert {segment.children[0].tag for segment in segments} == {"bdi"}
    assert [item.text for item in page.one("dl", "parts").all("dt")] == ["NAAN", "Name", "component", "variant"]
    assert "".join(segment.children[0].text for segment in segments) == "ark:/12345/\u05e9\u05dc\u05d5\u05dd/a.b"


def test_the_steps_mark_their_changes(client, read_page):
    steps = read_page(client.get("/", query_string={"q": "ark:/12345/x-1"}).text).one("ol", "steps")
    assert [[deleted.text for deleted in step.all("del")] for step in steps.all("li")] == [["/"], ["-"]]


def test_members_of_the_hierarchy_are_links(bound, read_page):
    client = create_app(bound({"ark:12345/x": "located"})).test_client()
    tree = read_page(client.get("/?q=ark:12345/x/p.en").text).one("ol", "tree")
    assert [link.attributes["href"] for link in tree.all("a")] == ["/?q=ark:12345/x", "/?q=ark:12345/x/p"]
    assert [member.one("small").text for member in tree.all("li")] == [
        "container, recorded here",
        "base of this variant, implied",
        "this identifier, a variant",
    ]


def test_a_suggestion_is_a_link(client, read_page):
    page = read_page(client.get("/?q=ark:12345/x/").text)
    assert page.one("p", "suggestion").one("a").attributes["href"] == "/?q=ark:12345/x"
    assert page.one("p", "suggestion").one("a").text == "Use ark:12345/x"


def test_a_list_has_one_headline_one_line_for_each_and_no_cards(client, read_page):
    text = "ark:12345/x\nark:99999/y\nurn:foo:a\nark:12345\nnot an id"
    page = read_page(client.get("/", query_string={"q": text}).text)
    assert page.one("section", "found").one("h1").text == (
        "Four identifiers: two fine, one to check, one wrong or dead. One line has no identifier"
    )
    assert page.all("article", "card") == []
    rows = page.one("div", "list").one("tbody").all("tr")
    assert [row.classes for row in rows] == [set(), {"warn"}, set(), {"bad"}]
    assert "not an id" in page.one("p", id="without").text
    link = rows[0].one("a")
    assert (link.attributes["href"], link.text) == ("/?q=ark:12345/x", "ark:12345/x")
    card = read_page(client.get(f"{link.attributes['href']}&row=1", headers=HTMX).text)
    assert card.one("article", id="i1").one("h2", "verdict").text == "A valid ARK for examples"
    assert card.all("title") == []
    assert page.one("button", formaction="/traces").text == "Trace all"


def test_the_page_reports_more_than_a_thousand_identifiers(answer):
    page = answer("\n".join(f"ark:12345/x{number}" for number in range(1_001)))
    assert "The first 1,000 identifiers" in page.one("section", "found").one("h1").text
    assert "more than 1,000 identifiers" in page.all("p", "notice")[0].text
    assert len(page.one("div", "list").one("tbody").all("tr")) == 1_000


def test_an_identifier_in_a_list_is_not_translated_but_the_words_about_it(answer):
    rows = answer("ark:12345/x\nISBN 0-306-40615-3\nark:12345/x").one("div", "list").one("tbody")
    assert rows.attributes["translate"] == "no"
    for row in rows.all("tr"):
        cells = row.all("td")
        assert "translate" not in cells[0].attributes.keys() | cells[1].attributes.keys()
        for cell in [*cells[2:], *cells[1].all("small")]:
            has_words = bool(cell.text.strip()) and "." not in cell.text.strip(".")
            assert ("translate" in cell.attributes) == has_words, cell.text


COLUMN = "ark:12345/c ark:/12345/a- ark:99999/x ark:12345/a urn:foo:a ark:12345/b ark:12345/c"


def shown(page):
    rows = page.one("div", "list").one("tbody").all("tr")
    return [row.all("td")[0].text for row in rows if "hidden" not in row.attributes]


@pytest.mark.one_setup
@pytest.mark.parametrize("text", [pytest.param(COLUMN, id="short"), pytest.param(COLUMN + " " * 5_000, id="long")])
def test_the_table_is_filtered_and_sorted_without_javascript(client, read_page, text):
    wish = {"q": text, "show": "same", "order": "name"}
    page = read_page(client.post("/", data=wish, follow_redirects=True).text)
    assert shown(page) == ["2", "4", "1", "7"]
    controls = page.one("p", "controls").all("select")
    assert {control.attributes["form"] for control in controls} == {page.one("form", "box").attributes["id"]}
    assert [control.one("option", selected="").attributes["value"] for control in controls] == ["same", "name"]
    if text == COLUMN:
        permalink = page.one("a", "permalink").attributes["href"]
        assert permalink.endswith("&show=same&order=name")
        assert shown(read_page(client.get(permalink).text)) == shown(page)


def test_the_table_links_equivalents(client, read_page):
    rows = read_page(client.get("/", query_string={"q": COLUMN}).text).one("div", "list").one("tbody").all("tr")
    assert rows[1].all("td")[3].text.strip() == "2 equivalent"
    assert [link.attributes["href"] for link in rows[3].all("td")[3].all("a")] == ["#n2"]
    assert "duplicate" in rows[6].all("td")[3].text


def test_the_shown_rows_can_be_downloaded(client):
    table = client.post("/list", data={"q": COLUMN, "as": "csv", "show": "same", "order": "name"})
    assert table.headers["Content-Disposition"] == 'attachment; filename="identifiers.csv"'
    assert table.content_type.startswith("text/csv")
    assert [line.split(",")[0] for line in table.text.splitlines()] == ["number", "2", "4", "1", "7"]
    whole = client.post("/list", data={"q": COLUMN, "as": "json", "show": "same"})
    assert whole.json == client.get("/api/inspect", query_string={"q": COLUMN}).json
    assert client.post("/list", data={"q": "x" * (MAX_BYTES + 1)}).status_code == 413


def test_a_thousand_selected_rows_are_accepted(client):
    text = "\n".join(f"ark:12345/x{number}" for number in range(1_000)).ljust(MAX_BYTES)
    answer = client.post("/compare", data={"q": text, "found": "1", "pick": [str(n) for n in range(1, 1_001)]})
    assert answer.status_code == 200
    assert "Enter two identifiers, one per line." in answer.text


def test_a_part_its_row_its_problem_and_its_step_are_linked(client, read_page):
    page = read_page(client.get("/", query_string={"q": "ark:/12345/x-1\u202e"}).text)
    ids = {element.attributes["id"] for element in page.walk() if "id" in element.attributes}
    inner = [link.attributes["href"] for link in page.one("article").all("a") if link.attributes["href"][0] == "#"]
    assert {link[1:] for link in inner} <= ids
    assert page.one("ol", "segments").one("li", "name").attributes["id"] == "i1-p4"
    row = page.one("div", id="i1-r4")
    assert [link.attributes["href"] for link in row.all("a")] == ["#i1-p4", "#i1-problem-1"]
    assert row.attributes["data-part"] == "4"
    for found in ("i1-problem-1", "i1-step-2", "i1-step-3"):
        links = [link.attributes["href"] for link in page.one("li", id=found).all("a")]
        assert [link for link in links if link.startswith("#")] == ["#i1-p4"]


def test_the_qr_code_is_an_image_with_a_text_and_a_download(client, read_page):
    page = read_page(client.get("/", query_string={"q": "ark:/12345/x-1"}).text)
    picture = page.one("details", "qr").one("img")
    assert picture.attributes["alt"] == "QR code of https://n2t.net/ark:/12345/x-1"
    assert client.get(picture.attributes["src"]).content_type == "image/svg+xml"
    assert page.one("details", "qr").one("a", download="qr.svg").attributes["href"] == picture.attributes["src"]
    assert read_page(client.get("/?q=urn:foo:a").text).all("details", "qr") == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "headline"),
    [
        pytest.param("nothing in here, really", "No identifier in these 23 characters", id="running text"),
        pytest.param("  \n ", "The text contains only white space", id="white space"),
    ],
)
def test_the_page_explains_that_nothing_was_found(answer, text, headline):
    found = answer(text).one("section", "found")
    assert found.one("h1").text == headline
    assert "contains no ARK and no URN" in found.text


def test_the_page_works_without_the_bindings(bound, read_page):
    client = create_app(bound({}, reachable=False)).test_client()
    page = read_page(client.get("/?q=ark:/12345/x").text)
    assert page.one("p", "normal").one("bdi").text == "ark:12345/x"
    leads = page.one("section", "leads").text
    assert "The bindings of this site cannot be read, so the trace starts at the official resolver." in leads
    assert "recorded here" not in page.text.lower()


def test_a_card_links_to_its_json(client, read_page):
    page = read_page(client.get("/", query_string={"q": "ark:/12345/x#f"}).text)
    link = next(link for link in page.all("a") if "JSON" in link.text)
    found = json.loads(client.get(link.attributes["href"]).text)["found"]
    assert found[0]["report"]["normal_form"] == page.one("p", "normal").one("bdi").text


# Addresses ------------------------------------------------------------------------------------------------------------


def test_the_url_of_a_result_is_its_permalink(client, read_page):
    text = "ark:/12345/x?info#f & \u05d0"
    response = client.post("/", data={"q": text})
    assert response.status_code == 303
    assert len(response.location) < MAX_URL_LENGTH
    page = read_page(client.get(response.location).text)
    assert page.one("textarea", id="q").text == "\n" + text
    assert page.one("a", "permalink").attributes["href"] == response.location


def test_a_text_without_a_permalink_is_answered(client, read_page):
    response = client.post("/", data={"q": "ark:12345/x " + "z" * MAX_URL_LENGTH})
    assert response.status_code == 200
    page = read_page(response.text)
    assert "no permalink" in page.all("p", "notice")[0].text
    assert page.all("a", "permalink") == []


def test_the_maximum_length_of_a_permalink(client):
    just = MAX_URL_LENGTH - 1 - len("/?q=")
    assert client.post("/", data={"q": "x" * just}).status_code == 303
    assert client.post("/", data={"q": "x" * (just + 1)}).status_code == 200


def test_an_empty_form_redirects_to_the_home_page(client):
    response = client.post("/", data={"q": ""})
    assert (response.status_code, response.location) == (303, "/")


def test_bytes_that_are_not_utf8_are_kept(client, read_page):
    page = read_page(client.get("/?q=ark:12345/%FF").text)
    assert page.one("p", "normal").one("bdi").text == "ark:12345/%FF"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "query",
    [
        pytest.param("q=ark:12345/\xff", id="no utf-8"),
        pytest.param("q=ark:12345/x&q=y", id="twice"),
        pytest.param("&&q=ark:12345/x;=&%", id="odd"),
    ],
)
def test_an_unusual_query_is_answered(client, query):
    environ = EnvironBuilder("/").get_environ() | {"QUERY_STRING": query}
    assert client.open(environ).status_code in (200, 400)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("mount", "most"),
    [pytest.param("/a/b", 30, id="a folder"), pytest.param("/\u00e9", 12, id="a folder not in ASCII")],
)
def test_all_urls_work_below_a_mount_point(read_page, mount, most):
    app = create_app()
    mounted = Client(
        DispatcherMiddleware(lambda environ, start: pytest.fail(environ["PATH_INFO"]), {_environ(mount): app})
    )
    seen = {f"{mount}/", f"{mount}/?q=ark:12345/x/y.z"}
    todo = sorted(seen)
    while todo:
        with mounted.get(todo.pop()) as response:
            assert response.status_code == 200
            if not response.content_type.startswith("text/html"):
                continue
            page = read_page(response.get_data(as_text=True))
        for element in page.walk():
            for name in ("href", "src", "action", "hx-get", "hx-post"):
                address = element.attributes.get(name, "")
                if address and not address.startswith(("#", "http://", "https://")):
                    assert address.startswith(_quoted(mount)), address
                    if address not in seen and "/trace" not in address and name != "action" and len(seen) < most:
                        seen.add(address)
                        todo.append(address)
    assert mounted.post(f"{mount}/", data={"q": "x"}).location == f"{_quoted(mount)}/?q=x"
    assert f"Disallow: {_quoted(mount)}/" in mounted.get(f"{mount}/robots.txt").text


def _environ(path):
    return path.encode().decode("latin-1")


def _quoted(path):
    return path.replace("\u00e9", "%C3%A9")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("address", "kind"),
    [
        pytest.param("/favicon.ico", "image/", id="favicon"),
        pytest.param("/robots.txt", "text/plain", id="robots"),
        pytest.param("/healthz", "application/json", id="health"),
    ],
)
def test_robots_txt_and_favicon_exist(client, address, kind):
    with client.get(address) as response:
        assert response.status_code == 200
        assert response.content_type.startswith(kind)


# Fragments ------------------------------------------------------------------------------------------------------------


def test_htmx_gets_a_fragment_and_other_clients_a_page(client):
    page, fragment = client.get("/?q=ark:12345/x"), client.get("/?q=ark:12345/x", headers=HTMX)
    assert "<html" in page.text
    assert "<html" not in fragment.text
    assert "<article" in fragment.text
    assert "HX-Request" in page.vary
    assert "HX-Request" in fragment.vary


def test_json_is_returned_on_request(client):
    accept = {"Accept": "application/json"}
    asked = client.get("/?q=ark:/12345/x-1", headers=accept)
    assert asked.json == client.get("/api/inspect?q=ark:/12345/x-1").json
    assert client.post("/", data={"q": "ark:/12345/x-1"}, headers=accept).json == asked.json
    assert client.get("/", headers=accept).json["found"] == []
    assert {"Accept", "HX-Request"} <= set(asked.vary)
    assert asked.headers["Access-Control-Allow-Origin"] == "*"


def test_going_back_loads_a_page(client):
    response = client.get("/?q=ark:12345/x", headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in response.text


def test_a_fragment_contains_title_and_announcement(client, read_page):
    fragment = read_page(client.get("/?q=ark:/12345/x", headers=HTMX).text)
    assert fragment.one("title").text == "A valid ARK for examples - Ararat"
    said = fragment.one("p", id="said")
    assert (said.text, said.attributes["hx-swap-oob"]) == (
        "valid",
        "innerHTML",
    )
    assert fragment.one("textarea", id="q").text.strip() == "ark:/12345/x"
    assert read_page(client.post("/", data={"q": "ark:12345/x"}, headers=HTMX).text).all("textarea") == []


def test_a_form_sent_by_htmx_is_answered_with_its_permalink(client):
    response = client.post("/", data={"q": "ark:/12345/x"}, headers=HTMX)
    assert response.status_code == 200
    assert response.headers["HX-Push-Url"] == "/?q=ark:/12345/x"
    long = client.post("/", data={"q": "z" * 5_000}, headers=HTMX)
    assert long.headers["HX-Push-Url"] == "/"


# What no input gets into a page ---------------------------------------------------------------------------------------


def test_hidden_characters_are_replaced_by_chips(client, read_page):
    response = client.get("/", query_string={"q": "ark:12345/a\u202eb"})
    page = read_page(response.text)
    assert "\u202e" not in "".join(outside_the_box(page))
    assert (response.text.count("\u202e"), page.one("textarea", id="q").text.count("\u202e")) == (0, 1)
    assert {chip.text for chip in page.one("ol", "segments").all("span", "cp")} == {"U+202E RLO"}


def test_titles_and_attributes_are_ascii(client, read_page):
    page = read_page(client.get("/", query_string={"q": HOSTILE}).text)
    assert page.one("title").text.isascii()
    assert all(value.isascii() for element in page.walk() for value in element.attributes.values())


@pytest.mark.naughty
def test_input_creates_no_elements(naughty, answer):
    page = answer(naughty.input)
    elements = [*page.walk()]
    assert {element.tag for element in elements} <= TAGS | {"page"}
    names = {name for element in elements for name in element.attributes}
    assert not any(name.startswith("on") or name == "style" for name in names)
    scripts = [element for element in elements if element.tag == "script"]
    assert [script for script in scripts if script.text or "/static/" not in script.attributes["src"]] == []
    shown = "".join(outside_the_box(page)).replace("\n", "")
    assert not characters.HIDDEN.search(shown), characters.HIDDEN.search(shown)
    for element in elements:
        if element.tag == "a":
            assert re.match("[/#]|https?://", element.attributes["href"]), element.attributes["href"]
        elif element.tag == "bdi":
            assert len(element.text) <= 2_000
        # Long input is not repeated.
        assert all(value.isascii() and len(value) <= 2_000 for value in element.attributes.values())


@pytest.mark.naughty
def test_the_page_agrees_with_the_inspection(naughty, answer):
    found = () if too_long(naughty.input) else inspect(sent(naughty.input)).findings
    cards = answer(naughty.input).all("article", "card")
    assert len(cards) == (len(found) == 1)
    for card, finding in zip(cards, found, strict=False):
        report = finding.report
        normal = card.all("p", "normal")
        assert bool(normal) == (report.normal_form is not None)
        if report.normal_form and len(report.normal_form) <= 700:
            assert normal[0].one("bdi").text == report.normal_form


def test_the_text_box_keeps_the_text_unchanged(answer):
    text = "\n  leading, \u202e, <textarea></textarea>, &amp;"
    assert answer(text).one("textarea", id="q").text.replace("\r\n", "\n") == "\n" + text


def test_the_page_states_that_only_a_part_is_recorded_and_which_lines_have_no_identifier(bound, read_page):
    client = create_app(bound({"ark:12345/x5m1": "located"})).test_client()
    page = read_page(client.get("/", query_string={"q": "see ark:12345/x5m1\u3002\u3054\u89a7\u304f"}).text)
    assert "Only this part of it is recorded here." in page.text
    page = read_page(client.get("/", query_string={"q": "ark: 12345 / x5-m1"}).text)
    assert "The text has ark: 12345 / x5-m1. The corrected identifier is recorded here." in " ".join(page.text.split())
    page = read_page(client.get("/", query_string={"q": "ark:12345/x\nhello"}).text)
    assert "1 line without an identifier: hello" in " ".join(page.text.split())


@pytest.mark.parametrize(
    ("text", "headline", "button"),
    [
        ("ISBN 978-3-16-148410-0", "Did you mean urn:isbn:9783161484100?", "Use urn:isbn:9783161484100"),
        ("ark: /12148/btv1b8449691v", "Did you mean ark:/12148/btv1b8449691v?", "Use ark:/12148/btv1b8449691v"),
        ("doi:10.1000/18<2", "A DOI, which is not an ARK or a URN", "Open at doi.org"),
        ("https://hdl.handle.net/2027/uc1.b3", "A Handle, which is not an ARK or a URN", "Open at hdl.handle.net"),
    ],
)
def test_the_identifier_that_was_meant_is_offered(client, read_page, text, headline, button):
    card = read_page(client.get("/", query_string={"q": text}).text).one("article", "card")
    assert card.one("h1").text == headline
    assert [link.text for link in card.all("a", "button") if "quiet" not in link.classes] == [button]


@pytest.mark.parametrize("text", ["hello", "nothing to see here", "one\ntwo"])
def test_a_text_without_an_identifier_gets_examples_of_what_can_be_pasted(client, read_page, text):
    page = read_page(client.get("/", query_string={"q": text}).text)
    assert "Paste an ARK, a URN, a link that contains one" in page.text
    assert len(page.one("ul", "tries").all("a")) == len(EXAMPLES)


def test_a_line_of_a_long_list_has_at_most_300_bytes(client):
    def size(number: int) -> int:
        return len(client.post("/", data={"q": "\n".join(f"ark:/12345/x{each}" for each in range(number))}).data)

    # With the line in the text box.
    assert (size(600) - size(400)) / 200 <= 300


def test_a_duplicate_costs_the_other_lines_of_a_list_nothing(client, read_page):
    kinds = ["ark:/12345/x{}", "urn:nbn:de:101:1-2020{}", "https://n2t.net/ark:/12148/btv{}", "ark:12345/x{}%zz"]
    lines = [kinds[number % 4].format(number) for number in range(200)]
    pages = [client.post("/", data={"q": "\n".join([*lines, each])}).text for each in ("ark:/12345/y", lines[0])]
    assert abs(len(pages[1]) - len(pages[0])) < 1024
    last = read_page(pages[1]).one("div", "list").one("tbody").all("tr")[-1]
    assert last.one("small").text.split() == ["1", "duplicate"]
    assert last.one("small").one("a").attributes["href"] == "#n1"


def test_a_list_has_the_columns_of_its_values_only(answer):
    def headings(text: str) -> list[str]:
        return [each.text.strip() for each in answer(text).one("div", "list").one("thead").all("th")]

    assert headings("ark:/12345/x1\nark:/12345/x2") == ["Select No.", "Identifier", "Result"]
    assert headings("ark:/12345/x1\nurn:isbn:0451450523") == ["Select No.", "Identifier", "Result", "Link"]
    assert headings("ark:/12345/x1\nark:12345/x-1") == ["Select No.", "Identifier", "Result", "Equivalent to"]


def test_a_citation_with_a_doi_leads_to_its_resolver(client, read_page):
    text = "Roe, J. (2020). Maps. https://doi.org/10.1000/182. Also hdl:2027/uc1.b3, and 10.1000/182."
    page = read_page(client.get("/", query_string={"q": text}).text).one("section", "found")
    links = [(link.attributes["href"], link.text) for link in page.all("a", "button")]
    assert links == [
        ("https://doi.org/10.1000/182", "Open at doi.org"),
        ("https://hdl.handle.net/2027/uc1.b3", "Open at hdl.handle.net"),
    ]
    # The identifier that Ararat reads comes first.
    assert "Open at doi.org" not in client.get("/", query_string={"q": f"{text} ark:12345/x"}).text
