"""The page /compare."""

from __future__ import annotations

import re

import pytest

from ararat.identifiers.text import characters
from ararat.middleware import open_bindings
from ararat.webapp import create_app


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture
def compare(client, read_page):
    """compare(*texts) returns the answer to a form with these lines."""

    def ask(*texts):
        response = client.post("/compare", data={"q": "\n".join(texts)}, follow_redirects=True)
        assert response.status_code == 200
        return read_page(response.text).one("div", id="answer")

    return ask


def parting(part):
    return [[marked.text for marked in side.all("mark")] for side in part.one("div", "parting").all("li")]


def test_two_equivalent_identifiers_are_shown_with_their_rules(compare):
    answer = compare("ark:/12345/x-1", "ark:12345/x1")
    assert answer.one("h2").text.endswith("Equivalent: the normal forms are equal.")
    first, second = (each for each in answer.one("ol", "members").children if not isinstance(each, str))
    assert [rule.text for rule in first.one("ul", "rules").all("li")] == [
        "Remove the slash after ark: ARK draft, section 6, step 2",
        "Remove hyphens ARK draft, section 6, step 3.2",
    ]
    assert "already in normal form" in second.text
    # The two normal forms are under each other, and the steps are closed.
    assert [form.one("bdi").text for form in answer.one("div", "parting").all("li")] == ["ark:12345/x1"] * 2
    assert "open" not in first.one("details").attributes


def test_the_first_difference_is_marked(compare):
    answer = compare("ark:12345/x6a", "ark:12345/x7a")
    assert "differ in the Name" in answer.one("h2").text
    assert parting(answer) == [["6"], ["7"]]
    assert "here" in compare("ark:12345/x", "ark:12345/x.en").one("div", "parting").text


def test_an_invalid_identifier_is_shown_with_its_reason(compare):
    answer = compare("zzz", "ark:12345/x")
    assert "The first text is not a valid ARK or URN" in answer.one("h2").text
    assert "Not an ARK or a URN" in answer.text
    assert answer.all("div", "parting") == []


@pytest.mark.one_setup
@pytest.mark.parametrize("texts", [["ark:12345/x"], ["a", "b", "c"], [""]], ids=["one", "three", "none"])
def test_any_other_number_of_identifiers_shows_a_notice_and_keeps_the_text(client, read_page, texts):
    page = read_page(client.post("/compare", data={"q": "\n".join(texts)}).text)
    assert page.one("p", "notice").text == "Enter two identifiers, one per line."
    assert page.one("textarea").text.strip() == "\n".join(texts)
    assert page.all("article") == []


def test_the_empty_page_has_no_notice(client, read_page):
    assert read_page(client.get("/compare").text).all("p", "notice") == []


def test_a_form_redirects_to_the_permalink(client):
    answer = client.post("/compare", data={"q": "ark:12345/x\n\n  ark:12345/y \n"})
    assert answer.location == "/compare?a=ark:12345/x&b=ark:12345/y"


def test_identifiers_selected_in_a_table_are_compared(client):
    paste = {"q": "See ark:12345/x, urn:foo:a and ark:12345/y", "found": "1"}
    assert client.post("/compare", data={**paste, "pick": ["2", "1"]}).location == "/compare?a=urn:foo:a&b=ark:12345/x"
    for nonsense in (["0", "4", "x", "-1", "\u0663"], []):
        assert client.post("/compare", data={**paste, "pick": nonsense}).status_code == 200


def test_numbers_of_selected_rows_agree_with_the_table(read_page):
    client = create_app(policies=["17beta"]).test_client()
    text = "https://17beta.top/en/ ark:12345/aa ark:12345/bb ark:12345/cc"
    rows = read_page(client.post("/", data={"q": text}, follow_redirects=True).text).all("tbody")[0].all("tr")
    picks = [row.all("td")[0].text for row in rows if "aa" in row.text or "bb" in row.text]
    answer = client.post("/compare", data={"q": text, "found": "1", "pick": picks})
    assert answer.location == "/compare?a=ark:12345/aa&b=ark:12345/bb"


def test_a_comparison_without_a_permalink_is_answered(client, read_page):
    response = client.post("/compare", data={"q": "ark:12345/" + "x" * 3000 + "\nark:12345/" + "x" * 2999 + "y"})
    assert response.status_code == 200
    page = read_page(response.text)
    assert parting(page) == [["x"], ["y"]]
    assert page.all("a", "permalink") == []


def test_input_creates_no_elements(every_naughty, client, read_page):
    lines = [" ".join(each.input[:3000].split()) for each in every_naughty]
    lines = [each for each in lines if each and not re.search("[\ud800-\udfff]", each)]
    for pair in zip(lines[::2], lines[1::2], strict=False):
        page = read_page(client.post("/compare", data={"q": "\n".join(pair)}, follow_redirects=True).text)
        elements = [element for element in page.walk() if element.tag != "textarea"]
        outside = "".join(child for element in elements for child in element.children if isinstance(child, str))
        assert not characters.HIDDEN.search(outside.replace("\n", "")), pair
        names = {name for element in elements for name in element.attributes}
        assert not any(name.startswith("on") or name == "style" for name in names), pair
        assert all(value.isascii() for element in page.walk() for value in element.attributes.values()), pair


def test_json_is_returned_on_request(client):
    query = {"a": "ark:/12345/x-1", "b": "ark:12345/x2"}
    for address, headers in (("/api/compare", {}), ("/compare", {"Accept": "application/json"})):
        found = client.get(address, query_string=query, headers=headers).json
        assert (found["verdict"], found["part"]) == ("different", "Name")


@pytest.mark.one_setup
@pytest.mark.parametrize("query", [{}, {"a": "ark:12345/x"}, {"b": "ark:12345/x"}], ids=["nothing", "a", "b"])
def test_json_requires_both_identifiers(client, query):
    refused = client.get("/compare", query_string=query, headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json["code"]) == (400, "parameter-missing")


def test_the_page_leads_to_its_json(client, read_page):
    page = read_page(client.get("/compare?a=ark:12345/x&b=ark:12345/y").text)
    [address] = {a.attributes["href"] for a in page.all("a") if "/api/compare" in a.attributes["href"]}
    assert client.get(address).json["verdict"] == "different"


def test_each_side_has_the_verdict_of_its_own_page(tmp_path, read_page):
    with open_bindings(tmp_path / "names.sqlite", create=True) as bindings:
        bindings.bind("ark:12345/x5a", "https://museum.example/1", metadata={"what": "A map"})
        bindings.bind("ark:12345/x5b", "https://museum.example/2", metadata={"what": "A vase"})
        bindings.withdraw("ark:12345/x5b", reason="Recorded twice.", successor="ark:12345/x5a")
        bindings.reserve("ark:12345/x5c", "https://museum.example/3", metadata={"what": "Secret"})
        client = create_app(bindings).test_client()

        def sides(a, b):
            page = read_page(client.get("/compare", query_string={"a": a, "b": b}).text)
            return [
                (side.one("span", "tag").text, " ".join(side.one("p", "over").text.split()))
                for side in page.one("ol", "members").children
                if not isinstance(side, str)
            ]

        def own(name):
            found = client.get("/api/inspect", query_string={"q": name}).get_json()["found"]
            return found[0]["verdict"]

        for pair in (
            ("ark:12345/x5a", "ark:12345/x5b"),
            ("ark:12345/X5a", "ark:12345/x5c"),
            ("urn:isbn:9783161484101",) * 2,
        ):
            for name, (tag, words) in zip(pair, sides(*pair), strict=True):
                said, is_title = own(name), own(name)["code"] == "recorded"
                # The tag has no words if the headline says the same.
                assert tag[2:] == (said["tag"] if is_title else ""), name
                assert words.count(said["headline"]) == 1, name
        assert "Secret" not in client.get("/compare?a=ark:12345/x5c&b=ark:12345/x5a").text
        assert 'href="/?q=ark:12345/x5a"' in client.get("/compare?a=ark:12345/X5a&b=ark:12345/x5b").text
