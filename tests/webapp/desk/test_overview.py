"""The overview of the desk: counts, plots and the last changes."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest

from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links
from ararat.webapp.desk.changes import recent
from ararat.webapp.desk.changes.listing import ChangeEntry


@pytest.fixture
def names(desk):
    for number in range(3):
        desk.bindings.bind(f"ark:12345/x5{number}", f"/{number}", actor="jane")
    desk.bindings.reserve("ark:12345/q71", actor="jane")
    desk.bindings.withdraw("ark:12345/x50", actor="ada")


def table(page, id):
    """Return the rows of a table by its heading."""
    rows = page.one("table", aria_labelledby=id).one("tbody").all("tr")
    return {row.one("th").text.strip(): row.all("td")[0].text.strip() for row in rows}


def test_counts_are_tables_with_links_to_the_names(jane, names, read_page):
    page = read_page(jane.get("/desk").text)
    assert table(page, "by-state") == {"Live": "2", "Reserved": "1", "Withdrawn": "1"}
    assert table(page, "by-shoulder") == {"ark:12345/x5": "3", "ark:12345/q7": "1"}
    months = table(page, "by-month")
    assert len(months) == 12
    assert [*months.values()] == ["4", *(["0"] * 11)]
    links = [link.attributes["href"] for link in page.one("section", id="counts").all("a")]
    assert links[:2] == ["/desk/names?state=live", "/desk/names?state=reserved"]


def test_last_changes_of_one_account_are_one_line(rita, names, read_page):
    page = read_page(rita.get("/desk").text)
    rows = page.one("table", "changes").one("tbody").all("tr")
    assert [row.all("td")[1].text.strip() for row in rows] == ["ada", "jane"]
    line = rows[1].one("a")
    assert line.text == "3 names bound, 1 name reserved"
    listed = read_page(rita.get(line.attributes["href"]).text).one("table", "changes").one("tbody").all("tr")
    assert [row.all("td")[1].text.strip() for row in listed] == ["jane"] * 4


def test_changes_are_one_line_within_ten_minutes_only(desk, rita, names):
    when = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
    seconds = [0, 599, 600, 601, 700]
    entries = [ChangeEntry(when=when - timedelta(seconds=each), actor="jane") for each in seconds]
    assert [len(each.entries) for each in recent.lines(entries)] == [3, 2]


@pytest.mark.parametrize("path", ["/desk", "/desk/new"])
def test_desk_without_a_shoulder_says_what_to_do_first(desk, ada, read_page, path):
    steps = read_page(ada.get(path).text).one("div", "empty")
    assert steps.one("h2").text == "There is no shoulder yet"
    assert "A NAAN is the number of an organization" in steps.text
    assert "Ask an administrator" not in steps.text
    assert "/desk/prefixes/first" in [link.attributes["href"] for link in steps.all("a")]
    desk.accounts.add("joan", "curator")
    joan = read_page(desk.signed_in("joan").get(path).text)
    assert "Ask an administrator for one: ada." in joan.one("div", "empty").text
    assert "Ask an administrator for one: ada." in joan.one("details", "account").text
    assert joan.all("form", action="/desk/new/mint") == []


def test_administrator_without_a_shoulder_can_record_and_not_mint(ada, read_page):
    page = read_page(ada.get("/desk/new").text)
    assert page.all("form", action="/desk/new/mint") == []
    assert page.one("form", action="/desk/new/name")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("ada", ["/desk/new?many=1", "/desk/new", "/desk/tables"]),
        ("jane", ["/desk/new?many=1", "/desk/new", "/desk/tables"]),
        ("rita", []),
    ],
)
def test_desk_without_names_offers_the_three_ways_to_record_some(desk, read_page, name, links):
    desk.bindings.prefixes.set("ark:12345/x5", what="Maps")
    page = read_page(desk.signed_in(name).get("/desk").text)
    steps = page.one("div", "empty")
    assert "There are no names yet" in steps.text
    assert [link.attributes["href"] for link in steps.all("a")] == links
    assert page.all("table") == []


def test_counts_are_current(desk, jane, names, read_page):
    jane.get("/desk")
    desk.bindings.bind("ark:12345/x59", "/9")
    assert table(read_page(jane.get("/desk").text), "by-state")["Live"] == "3"


def test_administrators_see_what_they_must_do(ada, jane, names, read_page):
    todo = read_page(ada.get("/desk").text).one("section", aria_labelledby="waiting")
    assert "No backup was recorded. To correct it: run ararat backup each night." in todo.text
    assert "backup" not in read_page(jane.get("/desk").text).one("section", aria_labelledby="waiting").text


def waiting(browser, read_page):
    """Return the sentences about what waits with their links."""
    section = read_page(browser.get("/desk").text).one("section", aria_labelledby="waiting")
    return {link.text.strip(): link.attributes["href"] for link in section.all("a")}


def test_open_tasks_are_described_in_words_with_links(desk, jane, rita, names, read_page):
    now = desk.bindings.now()
    traces: list[tuple[str, str, State, int]] = [
        ("ark:12345/x51", "/1", "dead", 76),
        ("ark:12345/x52", "/2", "moved", 3),
    ]
    common = {"status": 301, "url": "https://example.org/new", "code": "x", "sentence": "x", "traced": now}
    Links(desk.bindings).record(
        TracedTarget(identifier=name, key=name, target=target, state=state, since=now - timedelta(days=days), **common)
        for name, target, state, days in traces
    )
    jane.post("/desk/tables", {"file": (io.BytesIO(b"identifier,target\nark:12345/x5z,/z\n"), "maps.csv")})
    found = waiting(jane, read_page)
    assert list(found.items())[:2] == [
        ("1 target is dead, for 76 days.", "/desk/links?state=dead"),
        ("1 target has moved permanently: record the new address.", "/desk/links?state=moved"),
    ]
    assert found["The import of maps.csv waits for your check."].startswith("/desk/tables/")
    assert found["1 name is reserved."] == "/desk/names?state=reserved"
    assert not any("import" in text for text in waiting(rita, read_page))


def test_nothing_waits(desk, rita, read_page):
    desk.bindings.bind("ark:12345/x51", "/1")
    section = read_page(rita.get("/desk").text).one("section", aria_labelledby="waiting")
    assert "Nothing waits for you." in section.text
