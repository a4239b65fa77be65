"""Upload a table, select its columns, preview its rows and import them."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any, cast

import pytest
from openpyxl import Workbook

from ararat.spreadsheets import workbook_process
from ararat.webapp.body_routes import TABLE_TOO_LONG, BodyLimit
from ararat.webapp.uploads.store import LIFETIME
from tests.workbooks import run_here

from ..conftest import Browser, Desk
from .conftest import counts, fields, finished, wait_for

TABLE = "ARK,URL,Title\nark:/12345/x5-a,https://example.org/a,Caf\u00e9\nark:12345/x5b,https://example.org/b,\n"


def test_a_table_is_uploaded_previewed_and_imported(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    path, page = preview(jane, TABLE)
    assert counts(page) == {
        "Added": 2,
        "Published": 0,
        "Changed": 0,
        "Moved": 0,
        "Refused": 0,
        "Warnings": 0,
        "Unchanged": 0,
    }
    assert not desk.bindings.count().number
    page = import_all(jane, path)
    assert "2 rows imported." in page
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert (found.target, found.metadata) == ("https://example.org/a", {"erc.what": "Caf\u00e9"})
    (event,) = desk.bindings.history("ark:12345/x5a")
    assert (event.actor, event.source, event.operation) == ("jane", "names.csv, line 2", 1)
    assert "imported</span>" in jane.get("/desk/tables").text


def test_the_progress_has_no_focus_to_lose(
    desk: Desk, jane: Browser, upload: Any, read_page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(jane, TABLE)
    form = fields(jane.get(f"{path}/columns").text)
    with monkeypatch.context() as patch:
        patch.setattr(desk.app.extensions["ararat_imports"].worker, "wake", lambda: None)
        jane.post(f"{path}/columns", form)
        stage = read_page(jane.get(path).text).one("div", id="stage")
    assert stage.attributes["hx-trigger"] == "every 1s"
    assert stage.all("progress")
    assert stage.all("a") + stage.all("button") + stage.all("summary") == []
    desk.app.extensions["ararat_imports"].worker.wake()
    finished(desk, jane, path)


def test_the_preview_shows_old_and_new_values(desk: Desk, jane: Browser, preview: Any) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://example.org/a", metadata={"what": "Cafe"})
    desk.bindings.bind("ark:12345/x5b", "https://example.org/b")
    _, page = preview(jane, TABLE)
    assert counts(page) == {
        "Added": 0,
        "Published": 0,
        "Changed": 1,
        "Moved": 0,
        "Refused": 0,
        "Warnings": 0,
        "Unchanged": 1,
    }
    row = page[page.index("<tbody>") :]
    assert row.index(">Cafe<") < row.index(">Caf\u00e9<")


def test_a_new_target_needs_a_decision(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://old.example/a")
    table = "identifier,target\nark:12345/x5a,https://new.example/a\n"
    path, page = preview(jane, table)
    assert counts(page)["Refused"] == 1
    assert "Move it: the new address shows the same thing" in page
    path, page = preview(jane, table, relocate="1")
    assert counts(page)["Moved"] == 1
    assert page.index("https://old.example/a") < page.index("https://new.example/a")
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.target == "https://new.example/a"


def test_rows_outside_of_the_grants_are_refused_and_can_be_left_out(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    path, page = preview(jane, f"{TABLE}ark:12345/y1,https://example.org/y,\n")
    assert counts(page)["Refused"] == 1
    assert "The account jane or its token has no grant for ark:12345/y1; an administrator can add one." in page
    assert "Ask an administrator for a grant" in page
    refused = jane.post(f"{path}/import", {"job": "1"})
    assert refused.status_code == 303
    assert not desk.bindings.count().number
    page = import_all(jane, path)
    assert desk.bindings.count().number == 2
    assert counts(page) == {
        "Added": 2,
        "Published": 0,
        "Changed": 0,
        "Moved": 0,
        "Refused": 1,
        "Warnings": 0,
        "Unchanged": 0,
    }


def test_the_report_has_each_row(desk: Desk, jane: Browser, preview: Any) -> None:
    path, _ = preview(jane, f"{TABLE}ark:12345/y1,https://example.org/y,\n=1+1,https://example.org/z,\n")
    response = jane.get(f"{path}/report.csv")
    assert response.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(response.text.removeprefix("\ufeff"))))
    assert [(row["line"], row["outcome"], row["column"]) for row in rows] == [
        ("2", "bound", "target"),
        ("2", "bound", "what"),
        ("3", "bound", "target"),
        ("4", "refused", ""),
        ("5", "refused", ""),
    ]
    assert rows[4]["identifier"] == "'=1+1"
    assert all(row["fix"] for row in rows[3:])
    assert len(jane.get(f"{path}/report.csv?part=refused").text.splitlines()) == 3


def test_encoding_and_separator_are_detected_and_can_be_changed(jane: Browser, upload: Any) -> None:
    path = upload(jane, "ARK;Titel\r\nark:12345/x5a;Stra\u00dfe\r\n".encode("windows-1250"))
    page = jane.get(f"{path}/columns").text
    form = fields(page)
    assert (form["encoding"], form["separator"], form["column-0"]) == ("windows-1252", ";", "identifier")
    sent = jane.post(f"{path}/columns", {**form, "encoding": "windows-1251", "read": "1"})
    assert sent.location == f"{path}/columns"
    assert "Stra\u042fe" in jane.get(f"{path}/columns").text
    jane.post(f"{path}/columns", {**form, "separator": ",", "read": "1"})
    assert "column-1" not in jane.get(f"{path}/columns").text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"column-1": "identifier"}, "Select another column", id="twice"),
        pytest.param({"column-0": ""}, "No column has the names", id="no identifier"),
        pytest.param({"column-1": "", "column-2": ""}, "All columns but the names are ignored", id="only identifiers"),
        pytest.param({"column-1": "other", "other-1": "nonsense"}, "no element nonsense", id="unknown element"),
        pytest.param({"column-1": "other", "other-1": "\0\ufffd"}, "no element", id="hostile element"),
    ],
)
def test_a_wrong_selection_is_explained(jane: Browser, upload: Any, change: dict[str, str], text: str) -> None:
    path = upload(jane, TABLE)
    form = fields(jane.get(f"{path}/columns").text)
    refused = jane.post(f"{path}/columns", {**form, **change})
    assert refused.status_code == 422
    assert text in refused.text


def test_another_element_and_an_alternate_are_imported(desk: Desk, ada: Browser, preview: Any, import_all: Any) -> None:
    table = "ARK,URL,Genre,English\nark:12345/q1,https://example.org/1,map,https://example.org/en\n"
    other = {"column-2": "other", "other-2": "mods.genre", "column-3": "other", "other-3": "target[text/html;en]"}
    path, _ = preview(ada, table, **other)
    import_all(ada, path)
    found = desk.bindings.lookup("ark:12345/q1")
    assert found
    assert found.metadata == {"mods.genre": "map"}
    assert dict(found.alternates) == {"text/html;en": "https://example.org/en"}


def test_columns_without_heading_and_with_the_same_heading_can_be_ignored(jane: Browser, preview: Any) -> None:
    _, page = preview(jane, "ARK,URL,Note,Note,\nark:12345/x5a,https://example.org/a,1,2,3\n")
    assert counts(page)["Added"] == 1


def test_an_error_of_the_file_names_its_line(jane: Browser, preview: Any) -> None:
    more = "".join(f"ark:12345/x5n{number},https://example.org/{number},\n" for number in range(30))
    _, page = preview(jane, f'{TABLE}{more}\nark:12345/x5c,"https://example.org\n')
    assert "Line 35:" in page
    assert "no closing quote" in page


def test_an_error_in_the_first_rows_is_shown_before_the_preview(jane: Browser, upload: Any) -> None:
    path = upload(jane, f"{TABLE}ark:12345/x5c\n")
    page = jane.get(f"{path}/columns").text
    assert "Line 4: The line has 1 field" in page
    assert jane.post(f"{path}/columns", fields(page)).status_code == 422


def test_json_lines_are_read(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    rows = [
        {"identifier": "ark:12345/x5a", "target": "/a"},
        {"identifier": "ark:12345/x5b", "target": "/b", "what": "B"},
    ]
    path, page = preview(jane, "\n".join(map(json.dumps, rows)), "names.jsonl")
    assert counts(page)["Added"] == 2
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5b")
    assert found
    assert found.metadata == {"erc.what": "B"}


def test_a_list_has_pages(jane: Browser, preview: Any) -> None:
    path, page = preview(jane, "ARK,URL\n" + "".join(f"ark:12345/x5n{n},https://example.org/{n}\n" for n in range(70)))
    assert page.count('<th scope="row"') == 50
    following = jane.get(f"{path}?part=added&after=50").text
    assert following.count('<th scope="row"') == 20
    assert "Line 72" not in page
    assert jane.get(f"{path}?part=nonsense&after=-1").status_code == 200


def test_an_administrator_undoes_the_import_as_one_operation(
    desk: Desk, jane: Browser, ada: Browser, preview: Any, import_all: Any
) -> None:
    path, _ = preview(jane, TABLE)
    page = import_all(jane, path)
    assert "Undo this import" not in page
    page = ada.get(path).text
    assert "/desk/changes/1/undo" in page
    assert ada.post("/desk/changes/1/undo").status_code == 303
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.is_withdrawn
    assert "operation 2" in jane.get(path).text


def test_the_import_starts_once(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    path, _ = preview(jane, TABLE)
    import_all(jane, path)
    again = jane.post(f"{path}/import", {"job": "1"})
    assert again.status_code == 303
    finished(desk, jane, path)
    assert len(desk.bindings.store.operations(100, 10)) == 1
    assert jane.post(f"{path}/columns", {"column-0": "identifier"}).location == path


def test_an_older_preview_cannot_be_imported(desk: Desk, jane: Browser, preview: Any, upload: Any) -> None:
    path, _ = preview(jane, TABLE)
    jane.post(f"{path}/columns", fields(jane.get(f"{path}/columns").text))
    finished(desk, jane, path)
    assert jane.post(f"{path}/import", {"job": "1"}).status_code == 303
    assert "changed or imported in the meantime" in jane.get(path).text
    assert not desk.bindings.count().number


def test_names_that_change_after_the_preview_prevent_the_import(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    path, _ = preview(jane, TABLE)
    desk.bindings.bind("ark:12345/x5b", "https://other.example/")
    page = import_all(jane, path)
    assert "Names were changed after the preview" in page
    assert counts(page)["Refused"] == 1
    assert desk.bindings.lookup("ark:12345/x5a") is None
    assert jane.get(f"{path}/columns").status_code == 200


def test_uploads_of_others_are_not_visible(desk: Desk, jane: Browser, ada: Browser, upload: Any) -> None:
    desk.accounts.add("joan", "curator", ["ark:12345/x5"])
    joan, path = desk.signed_in("joan"), upload(jane, TABLE)
    for page in (path, f"{path}/columns", f"{path}/report.csv"):
        assert joan.get(page).status_code == 404
    assert joan.post(f"{path}/delete").status_code == 404
    assert "names.csv" not in joan.get("/desk/tables").text
    assert "names.csv" in ada.get("/desk/tables").text
    assert ada.get(f"{path}/columns").status_code == 200
    assert jane.get("/desk/tables/99999999999999999999").status_code == 404


def test_an_upload_is_deleted_on_request_and_after_a_time(
    desk: Desk, jane: Browser, upload: Any, preview: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = upload(jane, TABLE)
    jane.post(f"{first}/delete")
    assert jane.get(first).status_code == 404
    preview(jane, TABLE, "second.csv")
    now = desk.bindings.now()
    monkeypatch.setattr(desk.bindings, "now", lambda: now + LIFETIME + timedelta(seconds=1))
    account = desk.accounts.get("jane")
    assert account
    jane = desk.signed_in("jane")
    upload(jane, TABLE, "third.csv")
    page = jane.get("/desk/tables").text
    assert "third.csv" in page
    assert "second.csv" not in page


def test_the_number_of_uploads_is_limited(
    desk: Desk, jane: Browser, upload: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.webapp.uploads.store.MAX_UPLOADS", 1)
    upload(jane, TABLE)
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(TABLE.encode()), "names.csv")})
    assert refused.status_code == 422
    assert "the maximum" in refused.text
    # An upload that has expired does not count.
    now = desk.bindings.now()
    monkeypatch.setattr(desk.bindings, "now", lambda: now + LIFETIME + timedelta(seconds=1))
    upload(desk.signed_in("jane"), TABLE)


@pytest.mark.parametrize(("size", "status"), [(2001, 422), (4000, 413)])
def test_a_file_that_is_too_large_is_refused(
    jane: Browser, size: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.webapp.desk.tables.uploads.MAX_BYTES", 2000)
    limits = cast("Any", jane.client.application).wsgi_app.limits
    monkeypatch.setattr(limits, "of", lambda *_: BodyLimit(3000, 100, TABLE_TOO_LONG))
    refused = jane.post("/desk/tables", {"file": (io.BytesIO(b"a" * size), "names.csv")})
    assert refused.status_code == status
    assert "larger than 100 MB" in refused.text


def test_a_reader_and_a_foreign_page_cannot_upload(desk: Desk, rita: Browser, jane: Browser) -> None:
    file = {"file": (io.BytesIO(TABLE.encode()), "names.csv")}
    assert rita.get("/desk/tables").status_code == 403
    assert rita.post("/desk/tables", file).status_code == 403
    forged = {"file": (io.BytesIO(TABLE.encode()), "names.csv"), "csrf_token": "0" * 64}
    assert jane.client.post("/desk/tables", data=forged).status_code == 403
    assert jane.post("/desk/tables").status_code == 422


def test_a_large_workbook_is_read_as_a_job(desk: Desk, jane: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    book = Workbook()
    book.worksheets[0].append(["identifier", "target"])
    book.worksheets[0].append(["ark:12345/x5a", "https://example.org/a"])
    book.save(content)
    monkeypatch.setattr("ararat.spreadsheets.sheet._LARGE_WORKBOOK", 100)
    sent = jane.post("/desk/tables", {"file": (io.BytesIO(content.getvalue()), "names.xlsx")})
    assert re.fullmatch(r"/desk/tables/\d+", sent.location)
    wait_for(lambda: jane.get(sent.location).status_code == 303)
    columns = jane.get(sent.location).location
    assert columns == f"{sent.location}/columns"
    assert "https://example.org/a" in jane.get(columns).text
    jane.post(columns, fields(jane.get(columns).text))
    assert counts(finished(desk, jane, sent.location))["Added"] == 1
    monkeypatch.setattr(workbook_process, "_run", run_here)
    sent = jane.post("/desk/tables", {"file": (io.BytesIO(b"PK\x03\x04" + bytes(200)), "names.xlsx")})
    page = finished(desk, jane, sent.location)
    assert "The workbook is damaged" in page
    assert jane.get(f"{sent.location}/columns").location == sent.location
