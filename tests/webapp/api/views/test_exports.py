"""Exports of many names as jobs: one snapshot, the file in parts, its deletion, and the permissions."""

from __future__ import annotations

import csv
import io
import json
import threading
import time

import pytest

from ararat.bindings.log import kept_copies
from ararat.bindings.log.redaction import redact
from ararat.bindings.names.errors import BindingError
from ararat.webapp.jobs import exports, turns
from tests.webapp.api.conftest import accounts_of, assert_problem, imports_of
from tests.webapp.api.views.test_imports import finished

NAMES = [f"ark:12345/x5{number}" for number in range(7)]


@pytest.fixture
def bindings(database, clock, open_store, monkeypatch):
    """Seven names and another one, in each kind of database; a file has parts of 16 bytes, a page three names."""
    monkeypatch.setattr(exports, "_PART_BYTES", 16)
    monkeypatch.setattr("ararat.bindings.storage.store.MAX_PAGE", 3)
    bindings = open_store(database, clock=clock)
    for name in NAMES:
        bindings.bind(
            name, f"https://old.example/{name[-1]}", resource=f"INV {name[-1]}", metadata={"what": "Stra\u00dfe"}
        )
    bindings.reserve("ark:12345/y1", "https://old.example/y")
    return bindings


def export(client, format="csv", **more):
    return finished(client, client("POST", "/exports", {"format": format, **more}))


def file_of(client, found):
    return client("GET", found["file"].removeprefix("/api/v1"))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("wanted", "begin", "sign"),
    [
        ({}, "identifier", ","),
        ({"separator": "semicolon", "bom": True}, "\ufeffidentifier", ";"),
        ({"format": "tsv"}, "identifier", "\t"),
    ],
    ids=["csv", "semicolon", "tsv"],
)
def test_a_table_has_the_selected_names(reader, bindings, wanted, begin, sign):
    found = export(reader, **wanted, selection={"q": "strasse", "prefix": "ark:/12345/x5"})
    assert (found["state"], found["names"], found["problem"]) == ("done", len(NAMES), None)
    answer = file_of(reader, found)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="names-{found["number"]}.{found["format"]}"'
    text = answer.data.decode()
    assert text.startswith(begin)
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff")), delimiter=sign))
    assert sorted((row["identifier"], row["target"]) for row in rows) == [
        (name, f"https://old.example/{name[-1]}") for name in NAMES
    ]


def test_json_lines_have_all_names_as_the_list_has_them(curator, bindings):
    found = export(curator, "jsonl")
    rows = [json.loads(line) for line in file_of(curator, found).text.splitlines()]
    assert rows == curator.ok("GET", "/names?limit=100")["names"]
    assert found["names"] == len(NAMES) + 1


def test_a_file_has_one_snapshot(curator, bindings, monkeypatch):
    listed = bindings.store.lists.page

    def page(*arguments):
        found = listed(*arguments)
        if bindings.lookup("ark:12345/x56").target != "https://new.example/":
            bindings.relocate("ark:12345/x56", "https://new.example/")
        return found

    monkeypatch.setattr(type(bindings.store.lists), "page", lambda self, *arguments: page(*arguments))
    text = file_of(curator, export(curator)).text
    assert bindings.lookup("ark:12345/x56").target == "https://new.example/"
    assert "https://old.example/6" in text
    assert "new.example" not in text


def test_only_its_account_and_administrators_get_a_file(curator, reader, administrator, anonymous):
    found = export(curator, selection={"prefix": "ark:12345/x5"})
    assert file_of(administrator, found).status_code == 200
    assert_problem(file_of(reader, found), 404, "not-found")
    assert_problem(file_of(anonymous, found), 401, "credential-missing")
    assert_problem(curator("GET", "/changes/1"), 404, "not-found")
    for wrong in ({}, {"format": "pdf"}, {"format": "csv", "separator": "|"}, {"format": "csv", "other": 1}):
        assert curator("POST", "/exports", wrong).status_code == 422
    assert_problem(curator("POST", "/exports", {"format": "csv", "selection": {"prefix": "x"}}), 422, "list-prefix")


def test_a_revoked_token_ends_an_export(app, client_of, administrator, monkeypatch):
    known, other = imports_of(app), client_of("curator")
    with monkeypatch.context() as waiting:
        waiting.setattr(known.worker, "wake", lambda: None)
        started = other("POST", "/exports", {"format": "csv"})
        assert_problem(other("GET", f"/exports/{started.json['number']}/file"), 409, "export-unfinished")
        [token] = accounts_of(app).tokens.list("curator")
        accounts_of(app).tokens.revoke(token.number)
    found = finished(administrator, started)
    assert (found["state"], found["problem"]["code"], found["file"]) == ("failed", "role-missing", None)


def test_a_file_that_is_deleted_during_a_download_is_not_complete(app, curator):
    known = imports_of(app).exports
    job = known.jobs.get(export(curator)["number"])
    assert job is not None
    parts = known.content(job)
    next(parts)
    export_ids = "DELETE FROM export_parts WHERE place > 0"
    known.accounts.run_in_transaction(lambda connection: connection.exec_driver_sql(export_ids))
    with pytest.raises(BindingError, match="was deleted meanwhile") as caught:
        list(parts)
    assert caught.value.code == "export-deleted"


def test_a_file_is_deleted_by_age_by_number_and_by_a_redaction(app, curator, bindings, clock, monkeypatch):
    monkeypatch.setattr(exports, "MAX_KEPT", 2)
    monkeypatch.setattr(exports, "_NUMBERS", exports._NUMBERS.limit(2))
    old, *kept = (export(curator) for _ in range(3))
    assert_problem(file_of(curator, old), 404, "export-deleted")
    assert [file_of(curator, each).status_code for each in kept] == [200, 200]
    clock.move(days=30, seconds=1)
    new = export(curator)
    accounts = accounts_of(app)
    accounts.run_in_transaction(lambda connection: kept_copies.delete_old(connection, clock()))
    assert_problem(file_of(curator, kept[1]), 404, "export-deleted")
    assert file_of(curator, new).status_code == 200
    with monkeypatch.context() as waiting:
        waiting.setattr(imports_of(app).worker, "wake", lambda: None)
        started = curator("POST", "/exports", {"format": "csv"})
        redact(bindings, NAMES[0])
    assert finished(curator, started)["problem"]["code"] == "name-redacted"
    assert_problem(file_of(curator, new), 404, "export-deleted")


def test_an_account_has_at_most_two_unfinished_exports(reader, client_of, app, monkeypatch):
    monkeypatch.setattr(imports_of(app).worker, "wake", lambda: None)
    assert [reader("POST", "/exports", {"format": "csv"}).status_code for _ in range(2)] == [202, 202]
    # Another token of the account does not help.
    for client in (reader, client_of("reader")):
        refused = client("POST", "/exports", {"format": "csv"})
        assert_problem(refused, 429, "too-many-exports")
        assert int(refused.headers["Retry-After"]) > 0
    assert client_of("curator")("POST", "/exports", {"format": "csv"}).status_code == 202


def test_an_import_waits_for_one_block_of_the_exports_and_checks_of_another_account(
    curator, administrator, app, monkeypatch
):
    began, gate, blocks, ends = threading.Event(), threading.Event(), [], []
    jobs, worker = imports_of(app).jobs, imports_of(app).worker
    finish = jobs.finish

    def pass_on():
        began.set()
        gate.wait(20)
        blocks.append(1)
        turns.pass_on()

    def note(connection, claim, *arguments, **options):
        ends.append((claim.job.kind, len(blocks)))
        finish(connection, claim, *arguments, **options)

    monkeypatch.setattr(exports, "_EVERY", 1)
    monkeypatch.setattr(exports, "pass_on", pass_on)
    monkeypatch.setattr(jobs, "finish", note)
    answers = [administrator("POST", "/exports", {"format": "csv"}).status_code for _ in range(10)]
    assert answers == [202, 202, *[429] * 8]
    check = {"operation": {"action": "edit", "fields": {"listed": False}}, "selection": {}}
    answers = [administrator("POST", "/changes", check).status_code for _ in range(10)]
    assert answers == [*[202] * 8, *[429] * 2]
    assert began.wait(20)
    sent = curator("POST", "/imports", b"identifier,target\nark:12345/x5new,/new\n", Content_Type="text/csv")
    deadline = time.monotonic() + 20
    while not worker._turns._waiting:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    gate.set()
    assert finished(curator, sent)["state"] == "done"
    assert ends[0] == ("import", 1)
