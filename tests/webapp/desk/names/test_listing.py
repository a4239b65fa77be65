"""The list of names of the desk."""

from __future__ import annotations

import codecs
import csv
import io
import json

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.errors import TooBroad
from ararat.bindings.storage import listing as storage_listing
from ararat.middleware import open_bindings
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.desk.names import listing
from ararat.webapp.desk.names.search import SCOPES

from ..conftest import Browser, Desk, open_desk

TITLES = ("Map of Yerevan", "Old map", "Letter <b>\u202e", "\u05de\u05e4\u05d4")


@pytest.fixture(autouse=True)
def names(request):
    """Names, unless the test only reads."""
    if "unchanged" not in request.fixturenames:
        add_names(request.getfixturevalue("desk"))


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """A desk with the names, for tests that only read."""
    desk = open_desk(tmp_path_factory.mktemp("desk"))
    add_names(desk)
    yield desk
    desk.bindings.close()


def add_names(desk):
    for number, title in enumerate(TITLES):
        target = f"https://old.example/{number}"
        desk.bindings.bind(
            f"ark:12345/x5{number}", target, metadata={"what": title}, actor="jane", resource=f"R{number}"
        )
    desk.bindings.reserve("ark:12345/x5draft", actor="ada")
    desk.bindings.withdraw("ark:12345/x50", reason="Gone", actor="ada")


def shown(response, read_page):
    assert response.status_code == 200
    page = read_page(response.text)
    return [row.one("th").text.strip() for row in page.all("tr") if row.all("th", scope="row")]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["x50", "x51", "x52", "x53", "x5draft"]),
        ("?q=map", ["x50", "x51"]),
        ("?q=ye", ["x50"]),
        ("?q=x51", ["x51"]),
        ("?q=ark:/12345/X51", []),
        ("?q=ark:/12345/x5-1", ["x51"]),
        ("?q=old.ex", ["x50", "x51", "x52", "x53"]),
        ("?q=old", ["x50", "x51", "x52", "x53"]),
        ("?q=d.example/3", ["x53"]),
        ("?q=r1", ["x51"]),
        ("?resource=R1", ["x51"]),
        ("?q=old&sort=-resource", ["x53", "x52", "x51", "x50"]),
        ("?sort=title&state=live", ["x52", "x51", "x53"]),
        ("?q=old&in=targets", ["x50", "x51", "x52", "x53"]),
        ("?q=map&state=live", ["x51"]),
        ("?state=withdrawn", ["x50"]),
        ("?state=reserved", ["x5draft"]),
        ("?prefix=12345/x5d", ["x5draft"]),
        ("?prefix=67890", []),
        ("?owner=ada", ["x5draft"]),
        ("?created_since=2020-01-01&q=map", ["x50", "x51"]),
        ("?created_before=2020-01-01", []),
        ("?changed_before=2999-01-01", ["x51", "x52", "x53", "x5draft", "x50"]),
        ("?q=\u05de\u05e4\u05d4", ["x53"]),
        ("?q=%00&in=texts", []),
        ("?q=%ED%A0%80", []),
        ("?in=nonsense&state=", ["x50", "x51", "x52", "x53", "x5draft"]),
    ],
)
@pytest.mark.parametrize("name", ["ada", "rita"])
def test_names_are_found(unchanged, read_page, name, query, expected):
    found = shown(unchanged.signed_in(name).get(f"/desk/names{query}"), read_page)
    assert found == [f"ark:12345/{each}" for each in expected]


def test_tabs_count_each_place_and_keep_the_filters(jane, read_page):
    page = read_page(jane.get("/desk/names?q=old&state=live").text)
    tabs = page.one("ul", "scopes").all("a")
    assert [" ".join(each.text.split()) for each in tabs] == ["Names 0", "Texts 3", "Targets 3"]
    assert page.one("ul", "scopes").one("a", aria_current="true").text.startswith("Texts")
    assert "state=live" in tabs[2].attributes["href"]
    assert "in=targets" in tabs[2].attributes["href"]


def test_hostile_title_is_escaped(jane):
    text = jane.get("/desk/names?q=letter").text
    assert "<b>" not in text
    assert "\u202e" not in text
    assert "U+202E" in text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "field"),
    [("prefix=nonsense!", "prefix"), ("created_since=yesterday", "created_since")],
)
def test_wrong_filter_has_its_error_at_the_field(jane, read_page, query, field):
    page = read_page(jane.get(f"/desk/names?{query}").text)
    control = next(each for each in page.walk() if each.attributes.get("id") == field)
    assert control.attributes["aria-invalid"] == "true"
    error = next(each for each in page.walk() if each.attributes.get("id") == f"{field}-error")
    assert "Expected" in error.text
    assert jane.get(f"/desk/names.csv?{query}").status_code == 400


def test_wrong_state_is_ignored_with_a_message(jane):
    assert "This filter is ignored" in jane.get("/desk/names?state=gone").text
    assert jane.get("/desk/names.csv?state=gone").status_code == 400


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["All 5", "Live 3", "Reserved 1", "Withdrawn 1"]),
        ("?q=map&state=live", ["All 2", "Live 1", "Reserved 0", "Withdrawn 1"]),
    ],
)
def test_each_state_is_counted_within_the_other_filters(unchanged, read_page, query, expected):
    page = read_page(unchanged.signed_in("rita").get(f"/desk/names{query}").text)
    assert [" ".join(each.text.split()) for each in page.one("ul", "views").all("a")] == expected


def test_more_names_than_can_be_counted_have_no_numbers(unchanged, read_page, monkeypatch):
    monkeypatch.setattr(listing, "MAX_TOTAL", 0)
    page = read_page(unchanged.signed_in("rita").get("/desk/names?q=map").text)
    assert [" ".join(each.text.split()) for each in page.one("ul", "views").all("a")][:2] == ["All", "Live"]


@pytest.mark.parametrize(
    ("query", "times"), [("metadata=what%3DMap&sort=title", 1), ("state=live", 2), ("q=map", len(SCOPES))]
)
def test_names_that_are_too_many_are_not_counted_again(unchanged, monkeypatch, query, times):
    counted = []

    def count(*_, **__):
        counted.append(query)
        raise TooBroad("the names were counted for 0.25 s", 0)

    client = unchanged.signed_in("rita")
    monkeypatch.setattr(Bindings, "count_names", count)
    assert client.get(f"/desk/names?{query}").status_code == 200
    assert len(counted) == times


def test_the_states_of_no_names_are_not_counted(unchanged, monkeypatch, read_page):
    grouped = []

    def count(bindings, selection=None, by=None, most=None):
        grouped.extend([by] * (by is not None))
        return {}

    client = unchanged.signed_in("rita")
    monkeypatch.setattr(Bindings, "count_names", count)
    page = read_page(client.get("/desk/names?q=nowhere").text)
    assert [" ".join(each.text.split()) for each in page.one("ul", "views").all("a")][:2] == ["All 0", "Live 0"]
    assert grouped == []


def test_a_page_of_a_search_of_too_many_names_leads_to_the_next(unchanged, read_page, monkeypatch):
    for name, value in (("_FEW_MATCHES", 0), ("_FEW_NAMES", 0), ("_MOST_WALKED", 1), ("SEARCH_SECONDS", -1)):
        monkeypatch.setattr(storage_listing, name, value)
    client = unchanged.signed_in("jane")
    page = read_page(client.get("/desk/names?q=map&sort=-name").text)
    assert "The search reached its time limit" in page.text
    assert "after=" in page.one("a", rel="next").attributes["href"]


def test_dead_target_is_said_in_its_row(desk, jane, read_page):
    now, name = desk.bindings.now(), "ark:12345/x51"
    traced = TracedTarget(
        identifier=name,
        key=name,
        target="https://old.example/1",
        state="dead",
        status=404,
        url=None,
        code="error-status",
        sentence="The last response was 404.",
        since=now,
        traced=now,
    )
    Links(desk.bindings).record([traced])
    page = read_page(jane.get("/desk/names").text)
    assert [each.text.split()[1] for each in page.all("td", "state") if "dead" in each.text] == ["dead"]
    assert "Dead targets 1" in " ".join(page.one("ul", "views").text.split())


def test_pages_continue_until_the_end(desk, jane, read_page):
    for number in range(60):
        desk.bindings.bind(f"ark:12345/y{number:02}", "/y")
    first = read_page(jane.get("/desk/names?prefix=12345/y").text)
    link = first.one("a", rel="next").attributes["href"]
    assert "prefix=12345/y" in link
    second = jane.get(link)
    assert len(shown(second, read_page)) == 10
    first_page, previous = read_page(second.text).one("nav", "pages").all("a")
    assert first_page.attributes["href"] == previous.attributes["href"] == "/desk/names?prefix=12345/y"


def test_previous_leads_back_through_all_pages(desk, jane, read_page):
    for number in range(170):
        desk.bindings.bind(f"ark:12345/y{number:03}", "/y")
    page, pages = read_page(jane.get("/desk/names?prefix=12345/y&sort=-name").text), []
    while True:
        pages.append([row.one("th").text for row in page.all("tr") if row.all("th", scope="row")])
        following = page.all("a", rel="next")
        if not following:
            break
        page = read_page(jane.get(following[0].attributes["href"]).text)
    assert [len(each) for each in pages] == [50, 50, 50, 20]
    back = [pages[-1]]
    while previous := page.all("a", rel="prev"):
        page = read_page(jane.get(previous[0].attributes["href"]).text)
        back.append([row.one("th").text for row in page.all("tr") if row.all("th", scope="row")])
    assert back == pages[::-1]


def test_the_last_change_has_its_actor(jane, read_page):
    page = read_page(jane.get("/desk/names?state=withdrawn").text)
    assert page.one("td", "changed").text.split()[-1] == "ada"


@pytest.mark.one_setup
@pytest.mark.parametrize("after", ["x", "0.x", "5.", "0." + "A" * 5000])
def test_position_of_another_list_is_refused(jane, after):
    assert jane.get(f"/desk/names?after={after}").status_code == 400


def test_fragment_has_the_list_and_announces_the_number(jane):
    fragment = jane.fragment("/desk/names?q=map").text
    assert "<html" not in fragment
    assert "2 names found" in fragment


def test_csv_export_can_be_imported(desk, jane, tmp_path):
    response = jane.get("/desk/names.csv?q=old.ex&state=live")
    assert response.headers["Content-Disposition"] == 'attachment; filename="names.csv"'
    assert response.data.startswith(codecs.BOM_UTF8)
    rows = [*csv.DictReader(io.StringIO(response.data.decode("utf-8-sig")))]
    assert [row["identifier"] for row in rows] == [f"ark:12345/x5{number}" for number in (1, 2, 3)]
    with open_bindings(tmp_path / "copy.sqlite", create=True) as copy:
        import_table(copy, io.BytesIO(response.data))
        found = copy.lookup("ark:12345/x52")
        assert found
        assert found.metadata == {"erc.what": TITLES[2]}


def test_json_lines_export_has_all_selected_names(jane):
    lines = [json.loads(line) for line in jane.get("/desk/names.jsonl?q=map").text.splitlines()]
    assert [(line["identifier"], line["state"]) for line in lines] == [
        ("ark:12345/x50", "withdrawn"),
        ("ark:12345/x51", "live"),
    ]
    assert len(jane.get("/desk/names.jsonl").text.splitlines()) == 5


def test_export_needs_a_session(desk):
    assert desk.app.test_client().get("/desk/names.csv").status_code == 303


def test_empty_list_explains_the_next_step(jane, read_page):
    page = read_page(jane.get("/desk/names?q=zzzz").text)
    assert "No name found" in page.one("div", "empty").text
    assert page.one("div", "empty").one("a").attributes["href"] == "/desk/names"


def test_a_search_without_a_result_shows_near_names(desk: Desk, jane: Browser) -> None:
    bind = desk.bindings.bind
    bind("ark:12345/x5a", "https://m.example/1", resource="OB 2026/0017", metadata={"what": "View of the harbour"})
    for text, note in (("OB 2026-17", "the number in another spelling"), ("habour", "differs in one letter")):
        page = jane.get("/desk/names", query_string={"q": text}).text
        assert "View of the harbour" in page
        assert note in page
    bind("ark:12345/x5a", "https://m.example/2", resource="OB 2026/0017")
    page = jane.get("/desk/names?q=https://m.example/1").text
    assert "View of the harbour" in page
    assert "These names had it before." in page
