"""Imports together with other features: rules, states, equivalent names, resources, revoked permissions."""

from __future__ import annotations

import io
from typing import Any

import pytest

from ararat.webapp.jobs.imports import Imports

from ..conftest import Browser, Desk
from .conftest import counts, fields, finished, wait_for


def test_names_below_a_rule_are_added(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    desk.bindings.rules.set("ark:12345/x5", "https://rule.example/${suffix}")
    path, page = preview(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    assert counts(page)["Added"] == 1
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.target == "https://example.org/a"


def test_a_withdrawn_name_is_refused_and_can_be_left_out(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://example.org/a")
    desk.bindings.withdraw("ark:12345/x5a", reason="court order")
    path, page = preview(
        jane, "ARK,URL\nark:12345/x5a,https://example.org/other\nark:12345/x5b,https://example.org/b\n"
    )
    assert counts(page)["Refused"] == 1
    assert "Restore the name on its page" in page
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert (found.is_withdrawn, found.reason) == (True, "court order")
    assert desk.bindings.lookup("ark:12345/x5b")


def test_a_table_withdraws_and_reserves_names(desk: Desk, jane: Browser, preview: Any, import_all: Any) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://example.org/a")
    table = "ARK,Status,Reason\nark:12345/x5a,withdrawn,Merged\nark:12345/x5r,reserved,\n"
    path, page = preview(jane, table, **{"column-2": "reason"})
    assert (counts(page)["Changed"], counts(page)["Added"]) == (1, 1)
    import_all(jane, path)
    first, second = desk.bindings.lookup("ark:12345/x5a"), desk.bindings.lookup("ark:12345/x5r")
    assert first
    assert second
    assert (first.status, first.reason, second.status) == ("withdrawn", "Merged", "reserved")


def test_spellings_of_one_name_are_one_name(desk: Desk, jane: Browser, preview: Any) -> None:
    desk.bindings.bind("ark:12345/x5-a", "https://example.org/a")
    _, page = preview(
        jane, "ARK,URL\nark:/12345/x-5a,https://example.org/a\nark:12345/x5\u2010b,https://example.org/b\n"
    )
    assert counts(page)["Unchanged"] == 1


def test_two_rows_for_one_accession_number_explain_the_collision(jane: Browser, preview: Any) -> None:
    """Hyphens are not significant, so two accession numbers can be one name."""
    _, page = preview(
        jane, "ARK,URL\nark:12345/x51-940,https://example.org/1\nark:12345/x519-40,https://example.org/2\n"
    )
    assert counts(page)["Refused"] == 1
    assert "line 2" in page
    assert "hyphen" in page


def test_a_row_with_the_recorded_resource_moves_its_name(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    desk.bindings.bind("ark:12345/x5a", "https://old.example/", resource="INV 1940/41")
    path, page = preview(jane, "ARK,Accession number,URL\nark:12345/x5a,INV 1940/41,https://new.example/\n")
    assert counts(page)["Moved"] == 1
    import_all(jane, path)
    found = desk.bindings.lookup("ark:12345/x5a")
    assert found
    assert found.target == "https://new.example/"
    _, page = preview(jane, "ARK,Accession number,URL\nark:12345/x5a,INV 7,https://other.example/\n")
    assert counts(page)["Refused"] == 1


def test_rules_are_imported_by_administrators_only(
    desk: Desk, jane: Browser, ada: Browser, preview: Any, import_all: Any
) -> None:
    table = "identifier,target,kind\nark:12345/x5,https://example.org/${suffix},rule\n"
    _, page = preview(jane, table)
    assert "Ask an administrator to import this row" in page
    path, page = preview(ada, table)
    assert counts(page)["Added"] == 1
    assert "1 row imported." in import_all(ada, path)
    assert [rule.prefix for rule in desk.bindings.rules.list()] == ["ark:12345/x5"]


def test_an_import_writes_nothing_if_the_grant_is_revoked_after_the_preview(
    desk: Desk, jane: Browser, preview: Any, import_all: Any
) -> None:
    path, _ = preview(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    desk.accounts.revoke("jane", "ark:12345/x5")
    page = import_all(jane, path)
    assert counts(page)["Refused"] == 1
    assert desk.bindings.lookup("ark:12345/x5a") is None


def test_a_job_of_a_disabled_account_fails(desk: Desk, jane: Browser, ada: Browser, upload: Any) -> None:
    worker = desk.app.extensions["ararat_imports"].worker
    path = upload(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    form = fields(jane.get(f"{path}/columns").text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "wake", lambda: None)
        assert jane.post(f"{path}/columns", form).location == path
        desk.accounts.disable("jane")
    worker.wake()
    assert "The account was disabled" in finished(desk, ada, path)


def test_another_process_carries_out_an_import_that_was_interrupted(
    desk: Desk, jane: Browser, preview: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = desk.app.extensions["ararat_imports"]
    path, _ = preview(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    # The thread that made the preview would claim the next job.
    wait_for(lambda: imports.worker._thread is None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports.worker, "wake", lambda: None)
        assert jane.post(f"{path}/import", {"job": "1"}).status_code == 303
        assert 'id="progress"' in jane.get(path).text
        # A process claims the job and ends without finishing it.
        assert imports.jobs.claim()
    later = Imports(desk.accounts, lease=0)
    later.worker.begin()
    assert "1 row imported." in finished(desk, jane, path)
    assert len(desk.bindings.history("ark:12345/x5a")) == 1


def test_too_many_jobs_of_one_account_are_refused(
    desk: Desk, jane: Browser, upload: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.webapp.jobs.queue.MAX_UNFINISHED", 0)
    path = upload(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    sent = jane.post(f"{path}/columns", fields(jane.get(f"{path}/columns").text))
    assert sent.location == f"{path}/columns"
    assert "the maximum. Wait" in jane.get(sent.location).text


def test_the_second_of_two_requests_at_the_same_time_starts_no_job(
    desk: Desk, jane: Browser, upload: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = upload(jane, "ARK,URL\nark:12345/x5a,https://example.org/a\n")
    monkeypatch.setattr("ararat.webapp.uploads.store.Uploads.begin", lambda *_: False)
    sent = jane.post(f"{path}/columns", fields(jane.get(f"{path}/columns").text))
    assert sent.location == f"{path}/columns"
    assert "changed or imported in the meantime" in jane.get(sent.location).text
    assert not desk.app.extensions["ararat_imports"].jobs.list_unfinished()


def test_a_file_with_an_existing_name_is_another_upload(jane: Browser, upload: Any) -> None:
    assert upload(jane, "ARK,URL\n", "a.csv") != upload(jane, "ARK,URL\n", "a.csv")
    assert jane.post("/desk/tables", {"file": (io.BytesIO(b""), "a.csv")}).status_code == 422
