"""The overview of the desk: counts, plots and the last changes."""

from __future__ import annotations

import pytest

from ararat.webapp.desk import counts, overview


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


def test_last_changes_are_shown(rita, names, read_page):
    page = read_page(rita.get("/desk").text)
    rows = page.one("table", "changes").one("tbody").all("tr")
    assert [row.all("td")[1].text.strip() for row in rows] == ["ada", "jane", "jane", "jane", "jane"]


def test_empty_desk_explains_the_first_step(jane, read_page):
    page = read_page(jane.get("/desk").text)
    assert "There are no names yet" in page.one("div", "empty").text
    assert page.all("table") == []


def test_many_names_are_counted_on_request(jane, names, read_page, monkeypatch):
    monkeypatch.setattr(overview, "FEW", 2)
    monkeypatch.setattr(counts, "FEW", 2)
    page = read_page(jane.get("/desk").text)
    section = page.one("section", id="counts")
    assert section.all("table") == []
    # The count replaces the section, so the focus must not be in it.
    address = section.one("noscript").one("a").attributes["href"]
    assert section.one("div", hx_get=address, hx_trigger="load")
    assert table(read_page(jane.get(address).text), "by-state")["Live"] == "2"
    assert "<html" not in jane.fragment(address).text


def test_counts_of_many_names_are_kept(desk, jane, names, read_page, monkeypatch):
    monkeypatch.setattr(overview, "FEW", 2)
    monkeypatch.setattr(counts, "FEW", 2)
    jane.get("/desk?count=1")
    desk.bindings.bind("ark:12345/x59", "/9")
    assert table(read_page(jane.get("/desk").text), "by-state")["Live"] == "2"


def test_counts_of_few_names_are_current(desk, jane, names, read_page):
    jane.get("/desk")
    desk.bindings.bind("ark:12345/x59", "/9")
    assert table(read_page(jane.get("/desk").text), "by-state")["Live"] == "3"


def test_administrators_see_what_they_must_do(ada, jane, names, read_page):
    todo = read_page(ada.get("/desk").text).one("section", aria_labelledby="problems")
    assert "No backup was recorded. To correct it: run ararat backup each night." in todo.text
    assert read_page(jane.get("/desk").text).all("section", aria_labelledby="problems") == []
