"""The list of changes, operations with their undo, and the audit."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

import pytest

from ararat.bindings.imports.importing import import_table
from ararat.bindings.operations.relocation import relocate_prefix

HOSTILE = "<b>\u202eMap"


@pytest.fixture
def names(desk):
    """Three names with their changes: two of one name, one bulk relocation, one other change."""
    for number in range(3):
        target = f"https://old.example/{number}"
        desk.bindings.bind(
            f"ark:12345/x5{number}", target, resource=f"R{number}", metadata={"what": HOSTILE}, actor="jane"
        )
    assert relocate_prefix(desk.bindings, "old.example", "new.example", actor="ada").operation == 1
    desk.bindings.bind("ark:67890/y1", "/y", actor="rita")
    desk.bindings.bind("ark:67890/y1", "/y", metadata={"what": "New"}, actor="ada")
    return desk.bindings


def listed(response, read_page):
    """Return who changed what, from the top of the list."""
    assert response.status_code == 200
    rows = read_page(response.text).one("table", "changes").one("tbody").all("tr")
    # A title can be above the name.
    return [(row.all("td")[1].text.strip(), row.all("td")[2].all("a")[0].text.strip()) for row in rows]


def test_changes_of_names_and_operations_are_one_list(jane, names, read_page):
    assert listed(jane.get("/desk/changes"), read_page) == [
        ("ada", "ark:67890/y1"),
        ("rita", "ark:67890/y1"),
        ("ada", "Operation 1: relocate"),
        *(("jane", f"ark:12345/x5{number}") for number in (2, 1, 0)),
    ]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("actor=rita", [("rita", "ark:67890/y1")]),
        ("actor=ada", [("ada", "ark:67890/y1"), ("ada", "Operation 1: relocate")]),
        ("action=updated", [("ada", "ark:67890/y1")]),
        ("action=operations", [("ada", "Operation 1: relocate")]),
        ("prefix=ark:/12345/x-51", [("jane", "ark:12345/x51")]),
        ("prefix=ark:12345/x52", [("jane", "ark:12345/x52")]),
        ("actor=jane&since=2020-01-01&before=2999-01-01&prefix=ark:12345/x50", [("jane", "ark:12345/x50")]),
    ],
)
def test_filters_restrict_the_list(rita, names, read_page, query, expected):
    assert listed(rita.get(f"/desk/changes?{query}"), read_page) == expected


@pytest.mark.one_setup
@pytest.mark.parametrize("query", ["actor=nobody", "since=2999-01-01", "before=2020-01-01", "actor=%ED%A0%80%00"])
def test_list_without_changes_offers_all_changes(jane, names, read_page, query):
    assert "No change found" in read_page(jane.get(f"/desk/changes?{query}").text).one("div", "empty").text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "field"), [("prefix=nonsense", "prefix"), ("action=eaten", "action"), ("since=soon", "since")]
)
def test_wrong_filter_has_its_error_at_the_field(jane, names, query, field):
    assert f'id="{field}-error"' in jane.get(f"/desk/changes?{query}").text


def test_old_and_new_values_are_shown_escaped(jane, names, read_page):
    text = jane.get("/desk/changes?action=updated").text
    assert "<ins" in text
    assert "New" in text
    every = jane.get("/desk/changes").text
    assert "<b>" not in every.replace("<b>Relocated", "")
    assert "\u202e" not in every


def test_pages_continue_until_the_end(desk, jane, names, read_page):
    for number in range(60):
        desk.bindings.bind(f"ark:12345/z{number:02}", "/z", actor="ada")
        if number == 30:
            relocate_prefix(desk.bindings, "new.example", "third.example", actor="ada")
    seen, address = [], "/desk/changes"
    while address:
        response = jane.get(address)
        seen += listed(response, read_page)
        following = read_page(response.text).all("a", rel="next")
        address = following[0].attributes["href"] if following else None
    assert len(seen) == len(set(seen)) == 67
    assert seen.index(("ada", "Operation 2: relocate")) == 29


@pytest.mark.one_setup
@pytest.mark.parametrize("after", ["x", "1", "1.2.3", "-1.2", "1.x", "9" * 30 + ".1", "\u0661.1"])
def test_position_of_another_list_is_refused(jane, names, after):
    assert jane.get(f"/desk/changes?after={after}").status_code == 400


def test_the_values_of_a_long_operation_are_closed(desk, read_page):
    rows = "".join(f"ark:12345/x5l{place:02},https://m.example/{place},Vase {place}\n" for place in range(12))
    table = io.BytesIO(f"identifier,target,what\n{rows}".encode())
    table.name = "vases.csv"
    import_table(desk.bindings, table, renumber=True)
    jane = desk.signed_in("jane")
    listed = read_page(jane.get("/desk/changes/1").text).one("table", "changes").one("tbody").all("tr")
    assert len(listed) == 12
    assert all("open" not in each.one("details").attributes for each in listed)
    assert listed[0].one("summary").text == "Bound from vases.csv, line 13"
    assert "https://m.example/11" in listed[0].one("details").text
    german = jane.get("/desk/changes/1", headers={"Accept-Language": "de"}).text
    assert "vases.csv, Zeile 13" in re.sub("<[^>]+>", "", german)
    assert "Berichtigte Nummern ja" in " ".join(re.sub("<[^>]+>", " ", german).split())


def test_operation_shows_its_names(jane, names, read_page):
    assert "Map" in read_page(jane.get("/desk/changes/1").text).one("tbody").all("td", "named")[0].text
    page = read_page(jane.get("/desk/changes/1").text)
    assert len(page.one("table", "changes").one("tbody").all("tr")) == 3
    assert "old.example" in page.one("div", "desk").text
    assert "The account that made this operation and an administrator can undo it." in page.one("div", "desk").text
    assert jane.get("/desk/changes/2").status_code == 404
    assert jane.get(f"/desk/changes/{10**30}").status_code == 404
    assert jane.get("/desk/changes/1?after=x").status_code == 400


def test_administrator_undoes_an_operation(ada, names, read_page):
    preview = read_page(ada.get("/desk/changes/1/undo").text)
    assert "https://old.example/0" in preview.one("table", "changes").text
    assert names.lookup("ark:12345/x50").target == "https://new.example/0"
    response = ada.post("/desk/changes/1/undo")
    assert (response.status_code, response.location) == (303, "/desk/changes/2")
    assert names.lookup("ark:12345/x50").target == "https://old.example/0"
    shown = read_page(ada.get("/desk/changes/2").text)
    assert "undone for 3 names" in shown.one("p", "message").text
    undone = read_page(ada.get("/desk/changes/1").text)
    assert "Preview the undo" not in undone.one("div", "desk").text
    assert "Operation 2" in undone.one("div", "desk").text
    again = ada.get("/desk/changes/1/undo")
    assert again.status_code == 409
    assert "The operation 1 was undone by the operation 2." in again.text


def test_undo_refuses_names_that_were_changed_since_then(ada, names, read_page):
    names.relocate("ark:12345/x51", "https://fourth.example/1", actor="jane")
    refused = read_page(ada.post("/desk/changes/1/undo").text).one("div", "desk").text
    assert "Nothing is changed: 1 name was changed after the operation" in " ".join(refused.split())
    assert "--skip" not in refused
    preview = read_page(ada.get("/desk/changes/1/undo").text)
    assert " ".join(preview.one("h1").text.split()) == "Undo operation 1: 2 of 3 names get other values."
    assert "1 name stays as it is, because it was changed later." in preview.one("p", "lead").text
    assert "Undo operation 1 for 2 names" in preview.one("form", "tools").text
    assert "open" not in preview.one("div", "desk").one("details").attributes
    assert names.lookup("ark:12345/x50").target == "https://new.example/0"
    assert ada.post("/desk/changes/1/undo", {"skip": "1"}).location == "/desk/changes/2"
    assert names.lookup("ark:12345/x50").target == "https://old.example/0"
    assert names.lookup("ark:12345/x51").target == "https://fourth.example/1"


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["jane", "rita"])
def test_undo_and_audit_need_an_administrator(desk, names, name):
    browser = desk.signed_in(name)
    assert browser.get("/desk/changes/1/undo").status_code == 403
    assert browser.post("/desk/changes/1/undo").status_code == 403
    assert browser.get("/desk/audit").status_code == 403
    assert "/desk/audit" not in browser.get("/desk/changes").text
    assert names.lookup("ark:12345/x50").target == "https://new.example/0"


def test_the_person_who_made_an_operation_undoes_it(desk, jane, names):
    relocate_prefix(desk.bindings, "new.example", "third.example", prefix="ark:12345/x5", actor="jane")
    assert "Preview the undo" in jane.get("/desk/changes/2").text
    assert "Undo operation 2" in jane.get("/desk/changes/2/undo").text
    assert jane.post("/desk/changes/2/undo").location == "/desk/changes/3"
    assert names.lookup("ark:12345/x50").target == "https://new.example/0"


def test_a_lost_grant_or_a_later_change_forbids_the_own_undo(desk, jane, names):
    relocate_prefix(desk.bindings, "new.example", "third.example", actor="jane")
    names.relocate("ark:12345/x51", "https://fourth.example/1", actor="ada")
    assert "Nothing is changed: 1 name" in " ".join(jane.post("/desk/changes/2/undo").text.split())
    desk.accounts.revoke("jane", "ark:12345/x5")
    assert "no grant" in desk.signed_in("jane").post("/desk/changes/2/undo", {"skip": "1"}).text
    assert names.lookup("ark:12345/x50").target == "https://third.example/0"


def test_the_undo_of_an_import_says_what_visitors_get(desk, jane, ada, names, read_page):
    table = "identifier,target\nark:12345/x5i1,https://e.example/1\nark:12345/x5i2,https://e.example/2\n"
    import_table(desk.bindings, io.BytesIO(table.encode()), format="csv", actor="jane")
    number = desk.bindings.list_operations()[0].number
    page = read_page(jane.get(f"/desk/changes/{number}/undo").text)
    title = " ".join(page.one("h1").text.split())
    assert title == f"Undo operation {number}: 2 of 2 names are withdrawn, and visitors get 410."
    assert page.one("button", "risk").text.strip() == f"Undo operation {number}: withdraw 2 names"
    assert "A public name is never deleted." in page.one("div", "desk").text


def test_undo_needs_the_token_of_the_form(ada, names):
    assert ada.client.post("/desk/changes/1/undo").status_code == 403
    assert names.lookup("ark:12345/x50").target == "https://new.example/0"


def test_audit_lists_requests_and_refusals(desk, ada, jane, names, read_page):
    before = f"{datetime.now(UTC):%Y-%m-%d}"
    jane.post("/desk/changes/1/undo")
    after = f"{datetime.now(UTC):%Y-%m-%d}"
    page = read_page(ada.get("/desk/audit?account=jane").text)
    rows = [
        [cell.text.strip() for cell in row.all("td")] for row in page.one("table", "changes").one("tbody").all("tr")
    ]
    assert ("jane", "undo", "role-missing") in [(row[1], row[2], row[4]) for row in rows]
    assert {row[1] for row in rows} == {"jane"}
    assert "jane" in ada.get(f"/desk/audit?operation=undo&since={before}&before={after}").text
    assert "No request found" in ada.get("/desk/audit?account=zoe").text
    assert 'id="since-error"' in ada.get("/desk/audit?since=x").text
    assert ada.get("/desk/audit?after=x").status_code == 400


def test_audit_has_pages(desk, ada, read_page):
    for _ in range(119):  # Each desk begins with one session.
        desk.signed_in("rita")
    first = read_page(ada.get("/desk/audit?account=rita").text)
    link = first.one("a", rel="next").attributes["href"]
    second = read_page(ada.get(link).text)
    lengths = [len(page.one("table", "changes").one("tbody").all("tr")) for page in (first, second)]
    assert lengths == [100, 20]


def test_a_refused_undo_links_the_operation_to_undo_first(desk, names, ada):
    relocate_prefix(desk.bindings, "new.example", "other.example", actor="ada")
    text = ada.get("/desk/changes/1/undo").text
    assert "undo that operation first" in text
    assert 'href="/desk/changes/2"' in text
    assert ada.post("/desk/changes/2/undo").status_code == 303
    again = ada.get("/desk/changes/2/undo")
    assert again.status_code == 409
    assert 'href="/desk/changes/3"' in again.text


def test_a_long_title_is_cut_at_its_end(desk):
    title = "مخطوط في علم الفلك " * 12
    desk.bindings.bind("ark:12345/x5long", "https://example.org/1", metadata={"what": title.strip()})
    page = desk.signed_in("jane").get("/desk/changes").text
    assert f'<span class="words" dir="auto">{title[:80]}&hellip;</span>' in page
