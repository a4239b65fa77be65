"""The page that compares."""

from __future__ import annotations

import pytest

from ararat.identifiers import characters
from ararat.webapp import comparing, create_app


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


@pytest.fixture
def compare(client, read_page):
    """compare(*texts) is the answer to a form with these lines."""

    def ask(*texts):
        response = client.post("/compare", data={"q": "\n".join(texts)}, follow_redirects=True)
        assert response.status_code == 200
        return read_page(response.text).one("div", id="answer")

    return ask


def parting(part):
    return [[marked.text for marked in side.all("mark")] for side in part.one("div", "parting").all("li")]


def test_two_that_are_equivalent_are_one_set_with_the_rules_that_make_them_so(compare):
    answer = compare("ark:/12345/x-1", "ark:12345/x1")
    assert answer.one("h2").text.endswith("They are equivalent: their normal forms are equal.")
    [one] = answer.all("section", "set")
    assert [rule.text for rule in one.one("ul", "rules").all("li")] == [
        "The slash of the classic form goes ARK draft, section 6, step 2",
        "Hyphens carry no meaning ARK draft, section 6, step 3.2",
    ]
    assert one.one("p", "normal").one("bdi").text == "ark:12345/x1"
    assert one.all("div", "parting") == []


def test_two_that_differ_are_marked_where_they_part_first(compare):
    answer = compare("ark:12345/x6a", "ark:12345/x7a")
    assert "differ in the Name" in answer.one("h2").text
    assert parting(answer) == [["6"], ["7"]]
    assert "here" in compare("ark:12345/x", "ark:12345/x.en").one("div", "parting").text


def test_of_several_each_set_is_held_against_the_first_that_can_be_read(compare):
    answer = compare("zzz", "ark:/12345/x-1", "urn:foo:a", "https://n2t.net/ark:12345/x1", "ark:12345/x2")
    assert [found.one("h3").text for found in answer.all("section", "set")] == [
        "Cannot be read",
        "Equivalent",
        "By itself",
        "By itself",
    ]
    assert "these 4 identifiers are 3 different ones. 1 cannot be read" in answer.one("h2").text
    assert "Each set is held against number 2." in answer.text
    sets = answer.all("section", "set")
    assert [number.text for number in sets[3].one("div", "parting").all("span", "number")] == ["2", "5"]
    assert parting(sets[3]) == [["1"], ["2"]]


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        pytest.param(["ark:12345/x"] * 3, "All 3 are equivalent", id="all"),
        pytest.param(["a", "b", "c"], "None of them can be read", id="none"),
        pytest.param(["a", "ark:12345/x", "b"], "one of them can be read. 2 cannot be read", id="one alone"),
        pytest.param(["a", "b"], "Neither is an identifier", id="two that are none"),
    ],
)
def test_the_verdict_is_a_sentence(compare, texts, sentence):
    assert sentence in compare(*texts).one("h2").text


def test_one_alone_is_asked_for_another_and_nothing_for_anything(compare):
    assert "second one" in compare("ark:12345/x").one("p", "notice").text
    assert compare("").all("article") == []


def test_the_address_is_a_and_b_for_two_and_id_for_more(client):
    def leads(text):
        return client.post("/compare", data={"q": text}).location

    assert leads("ark:12345/x\n\n  ark:12345/y \n") == "/compare?a=ark:12345/x&b=ark:12345/y"
    assert leads("a\nb\nc") == "/compare?id=a&id=b&id=c"


def test_what_was_ticked_in_a_table_is_taken_from_the_text(client):
    paste = {"q": "See ark:12345/x, urn:foo:a and ark:12345/y", "found": "1"}
    assert client.post("/compare", data={**paste, "pick": ["2", "1"]}).location == "/compare?a=urn:foo:a&b=ark:12345/x"
    for nonsense in (["0", "4", "x", "-1", "\u0663"], []):
        answer = client.post("/compare", data={**paste, "pick": nonsense})
        assert answer.status_code in (200, 303)
    assert client.post("/compare", data=paste).location.count("id=") == 3


def test_what_is_too_long_for_an_address_is_answered_where_it_was_sent(client, read_page):
    response = client.post("/compare", data={"q": "ark:12345/" + "x" * 3000 + "\nark:12345/" + "x" * 2999 + "y"})
    assert response.status_code == 200
    page = read_page(response.text)
    assert parting(page) == [["x"], ["y"]]
    assert page.all("a", "permalink") == []


def test_only_so_many_are_compared_and_it_is_said(compare):
    answer = compare(*(f"ark:12345/x{number}" for number in range(comparing.MOST_COMPARED + 5)))
    assert len(answer.all("section", "set")) == comparing.MOST_COMPARED
    assert "first 50" in answer.one("p", "notice").text


@pytest.mark.naughty
def test_no_input_gets_into_the_page(naughty, client, read_page):
    line = " ".join(naughty.input[:3000].split())
    if not line or any("\ud800" <= char <= "\udfff" for char in line):
        return
    page = read_page(client.post("/compare", data={"q": f"{line}\nark:12345/x"}, follow_redirects=True).text)
    outside = "".join(
        child
        for element in page.walk()
        if element.tag != "textarea"
        for child in element.children
        if isinstance(child, str)
    )
    assert not characters.HIDDEN.search(outside.replace("\n", ""))
    assert all(value.isascii() for element in page.walk() for value in element.attributes.values())
    assert not any(name.startswith("on") or name == "style" for element in page.walk() for name in element.attributes)


def test_programs_get_a_comparison_of_two_and_the_sets_of_more(client):
    two = {"id": ["ark:/12345/x-1", "ark:12345/x2"]}
    for address, headers in (("/api/compare", {}), ("/compare", {"Accept": "application/json"})):
        one = client.get(address, query_string=two, headers=headers)
        assert (one.json["verdict"], one.json["part"]) == ("different", "Name")
        more = client.get(address, query_string={"a": "zzz", "id": [*two["id"], "ark:12345/x1"]}, headers=headers).json
        assert [(group["members"], group["normal_form"]) for group in more["groups"]] == [
            ([0], None),
            ([1, 3], "ark:12345/x1"),
            ([2], "ark:12345/x2"),
        ]
        assert more["groups"][2]["parting"]["part"] == "Name"
        assert [report["input"] for report in more["reports"]] == ["zzz", *two["id"], "ark:12345/x1"]
        assert more["equivalent"] is False


@pytest.mark.parametrize(
    ("query", "code"),
    [
        pytest.param({}, "parameter-missing", id="nothing"),
        pytest.param({"id": "ark:12345/x"}, "parameter-missing", id="one alone"),
        pytest.param({"id": ["ark:12345/x"] * 51}, "too-many", id="51"),
    ],
)
def test_what_programs_cannot_compare_is_refused(client, query, code):
    refused = client.get("/compare", query_string=query, headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json["code"]) == (400, code)


def test_the_page_leads_to_its_json(client, read_page):
    for texts in ("ark:12345/x\nark:12345/y", "ark:12345/x\nark:12345/y\nzzz"):
        page = read_page(client.post("/compare", data={"q": texts}, follow_redirects=True).text)
        [address] = {a.attributes["href"] for a in page.all("a") if "/api/compare" in a.attributes["href"]}
        assert client.get(address).status_code == 200
