"""The exports of lists: all pages, the filters of the list, and texts that are safe in spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from typing import Any

import pytest
from werkzeug.test import TestResponse

from ararat.bindings.imports.importing import import_table
from ararat.bindings.minting import mint
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.middleware import open_bindings

from .conftest import Browser, Desk

TITLE = "=HYPERLINK(1) \u202eخريطة\nB"
LISTS = ("names", "changes", "changes/1", "audit", "accounts", "prefixes", "links", "everything")


@pytest.fixture
def filled(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Five names, an operation, a record, and a rule; exports read two rows at a time."""
    for number in range(5):
        name, target = f"ark:12345/x5{number}", f"https://old.example/{number}"
        actor = "jane" if number % 2 else "ada"
        desk.bindings.bind(name, target, metadata={"what": TITLE.replace("\n", " ")}, actor=actor)
    relocate_prefix(desk.bindings, "https://old.example/", "https://new.example/", actor="ada")
    desk.bindings.prefixes.set("ark:12345/x5", what="+Maps", pattern="10^3", actor="ada")
    desk.bindings.rules.set("ark:12345/r", "https://example.org/${value}")
    for module in ("desk.changes.listing", "accounts.audit_listing", "desk.links"):
        monkeypatch.setattr(f"ararat.webapp.{module}._BLOCK", 2)
    return desk


def rows_of(response: TestResponse) -> list[dict[str, str]]:
    assert response.status_code == 200
    assert response.content_type == "text/csv; charset=utf-8; header=present"
    assert response.text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(response.text[1:], newline="")))


def objects_of(response: TestResponse) -> list[dict[str, Any]]:
    assert response.content_type == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


@pytest.mark.one_setup
@pytest.mark.parametrize("address", ["names", "everything", "new/minted", "changes"])
@pytest.mark.parametrize(("separator", "sign"), [("", ","), ("comma", ","), ("semicolon", ";"), ("tab", "\t")])
def test_csv_begins_with_a_byte_order_mark_and_has_the_selected_separator(
    filled: Desk, ada: Browser, address: str, separator: str, sign: str
) -> None:
    response = ada.get(f"/desk/{address}.csv" + (f"?separator={separator}" if separator else ""))
    assert response.status_code == 200
    header = response.text.splitlines()[0]
    assert header.startswith("\ufeff")
    assert sign in header
    assert ada.get(f"/desk/{address}.csv?separator=x").status_code == 400


def test_changes_have_a_row_for_each_value(filled: Desk, rita: Browser) -> None:
    rows = rows_of(rita.get("/desk/changes.csv"))
    assert [(row["action"], row["names"]) for row in rows if row["operation"]] == [("relocate", "5")]
    bound = [row for row in rows if row["name"] == "ark:12345/x54"]
    assert [(row["field"], row["before"], row["after"]) for row in bound] == [
        ("Target", "", "https://old.example/4"),
        ("what", "", "'=HYPERLINK(1) \\u{202e}خريطة B"),
    ]
    assert {row["actor"] for row in bound} == {"ada"}
    assert {row["name"] for row in rows if row["name"]} == {f"ark:12345/x5{number}" for number in range(5)}


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("actor=jane", ["ark:12345/x53", "ark:12345/x51"]),
        ("prefix=ark:/12345/x-52", ["ark:12345/x52"]),
        ("action=withdrawn", []),
        ("action=operations", [None]),
    ],
)
def test_an_export_has_the_filters_of_the_list(filled: Desk, rita: Browser, query: str, names: list[str]) -> None:
    assert (f'href="/desk/changes.jsonl?{query}"' in rita.get(f"/desk/changes?{query}").text) == bool(names)
    found = objects_of(rita.get(f"/desk/changes.jsonl?{query}"))
    assert [each["after"]["identifier"] if "after" in each else None for each in found] == names


def test_an_operation_is_exported_whole(filled: Desk, rita: Browser) -> None:
    found = objects_of(rita.get("/desk/changes/1.jsonl"))
    assert sorted(each["after"]["target"] for each in found) == [f"https://new.example/{each}" for each in range(5)]
    rows = rows_of(rita.get("/desk/changes/1.csv"))
    assert {(row["operation"], row["field"]) for row in rows} == {("1", "Target")}
    assert rita.get("/desk/changes/2.csv").status_code == 404


def test_audit_accounts_and_prefixes_are_exported(filled: Desk, ada: Browser) -> None:
    ada.post("/desk/accounts", {"name": "new", "role": "curator", "prefixes": "ark:12345/x5\nark:12345/y"})
    assert rows_of(ada.get("/desk/audit.csv?account=ada"))[0]["operation"] == "account.add"
    assert len(objects_of(ada.get("/desk/audit.jsonl"))) == len(rows_of(ada.get("/desk/audit.csv")))
    accounts = {row["name"]: row for row in rows_of(ada.get("/desk/accounts.csv"))}
    assert accounts["new"]["prefixes"] == "ark:12345/x5 ark:12345/y"
    assert "password" not in "".join(accounts["new"].values())
    records = rows_of(ada.get("/desk/prefixes.csv"))
    assert [(row["prefix"], row["what"], row["rule"]) for row in records] == [
        ("ark:12345/x5", "'+Maps", ""),
        ("ark:12345/r", "", "https://example.org/${value}"),
    ]
    assert [each["prefix"] for each in objects_of(ada.get("/desk/prefixes.jsonl"))] == ["ark:12345/x5", "ark:12345/r"]


@pytest.mark.one_setup
@pytest.mark.parametrize("list_", ["changes", "audit", "names"])
def test_a_wrong_filter_is_not_ignored(filled: Desk, ada: Browser, list_: str) -> None:
    query = "created_since=yesterday" if list_ == "names" else "since=yesterday"
    response = ada.get(f"/desk/{list_}.csv?{query}")
    assert response.status_code == 400
    assert "Correct it before the export" in response.text


@pytest.mark.one_setup
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_everything_makes_a_copy(filled: Desk, ada: Browser, tmp_path: Any, form: str) -> None:
    minted = mint(filled.bindings, "12345/x6", length=3, sequential=True, count=2)
    response = ada.get(f"/desk/everything.{form}")
    assert response.headers["Content-Disposition"] == f'attachment; filename="everything.{form}"'
    with open_bindings(tmp_path / "copy.sqlite", create=True) as copy:
        assert not import_table(copy, io.BytesIO(response.data), format=form).refused
        assert [each.texts for each in copy.prefixes.list()] == [each.texts for each in filled.bindings.prefixes.list()]
        assert [each.template for each in copy.rules.list()] == ["https://example.org/${value}"]
        assert not set(mint(copy, "12345/x6", length=3, sequential=True, count=2)) & set(minted)


@pytest.mark.one_setup
@pytest.mark.parametrize("list_", LISTS)
def test_each_page_links_to_its_exports(filled: Desk, ada: Browser, list_: str) -> None:
    page = {"everything": "names"}.get(list_, list_)
    text = ada.get(f"/desk/{page}").text
    for form in ("csv", "jsonl"):
        assert (f'href="/desk/{list_}.{form}"' in text) == (list_ != "links")  # There are no traces.
    assert ada.get(f"/desk/{list_}.jsonl").status_code == 200
    assert ada.get(f"/desk/{list_}.xml").status_code == 404


def test_only_administrators_see_the_export_of_everything(filled: Desk, jane: Browser) -> None:
    assert "everything" not in jane.get("/desk/names").text


def finished(browser: Browser) -> str:
    """Wait until all exports have ended, and return the text of their page."""
    deadline = time.monotonic() + 20
    while 'hx-trigger="every 1s"' in (text := browser.get("/desk/exports").text):
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
    return text


def test_a_large_list_is_exported_by_a_job(filled: Desk, rita: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ararat.webapp.desk.names.listing.MAX_STREAMED", 3)
    assert rows_of(rita.get("/desk/names.csv?q=ark:12345/x51"))
    asked = rita.get("/desk/names.csv?q=old.example&in=targets&separator=tab")
    assert rows_of(asked) == []  # the names were moved
    asked = rita.get("/desk/names.csv?q=new.ex&in=targets&separator=semicolon").text
    assert "more than 3 names" in asked
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', asked))
    assert form.pop("csrf_token")
    form.pop("next", None)  # of the choice of the language
    assert form == {"q": "new.ex", "in": "targets", "separator": "semicolon", "form": "csv"}
    started = [rita.post("/desk/exports", form)]
    started.append(rita.post("/desk/names/selected", {"do": "export", "all": "1", "prefix": "ark:12345/x5"}))
    finished(rita)  # An account has at most two unfinished exports.
    started.append(rita.post("/desk/exports", {"form": "jsonl"}))
    assert [each.headers["Location"] for each in started] == ["/desk/exports"] * 3
    text = finished(rita)
    last, picked, first = (rita.get(each) for each in re.findall(r'href="(/desk/exports/\d+)"', text))
    assert [row.partition(";")[0] for row in first.text.splitlines()[1:]] == [
        f"ark:12345/x5{each}" for each in range(5)
    ]
    assert first.text.startswith("\ufeff")
    assert len(rows_of(picked)) == len(last.text.splitlines()) == 5
    number = re.findall(r"/desk/exports/(\d+)", text)[0]
    assert filled.signed_in("jane").get(f"/desk/exports/{number}").status_code == 404
    assert "No file is exported" in filled.signed_in("jane").get("/desk/exports").text
