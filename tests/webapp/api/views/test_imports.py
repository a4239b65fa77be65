"""Imports over HTTP: jobs with progress, dry runs, permissions and undo."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from ararat.bindings.operations import pace
from ararat.webapp.api.views import imports as views
from ararat.webapp.jobs import queue
from ararat.webapp.jobs.worker import Worker
from tests.webapp.api.conftest import Client, accounts_of, assert_problem, imports_of

CSV = "text/csv"
TABLE = b"identifier,target,who\nark:12345/x51,https://example.org/1,Noah\nark:12345/x52,https://example.org/2,\n"


@pytest.fixture
def bindings(database, clock, open_store):
    """No bindings, once for each kind of database."""
    return open_store(database, clock=clock)


def finished(client, answer):
    """Wait until an import has ended, and return it."""
    assert answer.status_code == 202, answer.text
    path = answer.headers["Location"].removeprefix("/api/v1")
    deadline = time.monotonic() + 20
    while (found := client.ok("GET", path))["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    return found


def send(client, table=TABLE, query="", content_type=CSV, **fields):
    return client("POST", f"/imports{query}", table, Content_Type=content_type, **fields)


def test_a_table_is_imported_as_a_job(curator, bindings):
    answer = send(curator)
    assert (answer.json["state"], answer.json["total"], answer.json["result"]) == ("waiting", 2, None)
    found = finished(curator, answer)
    assert found["state"] == "done"
    assert (found["lines"], found["total"], found["problem"]) == (2, 2, None)
    result = found["result"]
    assert (result["written"], result["counts"], result["refusals"]) == (True, {"added": 2}, 0)
    (event,) = bindings.history("ark:12345/x51")
    assert (event.actor, event.source, event.operation) == ("curator", "import-1.csv, line 2", result["operation"])


def test_a_dry_run_warns_of_values_of_other_names(curator):
    finished(curator, send(curator, b"identifier,target,what\nark:12345/x51,https://example.org/1,A map\n"))
    table = b"identifier,target,what\nark:12345/x52,https://example.org/1,a MAP\n"
    for query in ("?dry_run=1", ""):
        warned = finished(curator, send(curator, table, query))["result"]["warned"]
        assert [each["code"] for each in warned] == ["target-shared", "title-shared"]
    assert finished(curator, send(curator, table))["result"]["warnings"] == 0


@pytest.mark.parametrize(
    ("content_type", "table"),
    [
        pytest.param("text/csv; charset=utf-8", TABLE, id="CSV with a charset"),
        pytest.param("text/tab-separated-values", TABLE.replace(b",", b"\t"), id="TSV"),
        pytest.param(
            "application/jsonl",
            b"".join(
                json.dumps({"identifier": f"ark:12345/x5{number}", "target": f"https://example.org/{number}"}).encode()
                + b"\n"
                for number in (1, 2)
            ),
            id="JSON Lines",
        ),
    ],
)
def test_every_format_is_imported(curator, bindings, content_type, table):
    assert finished(curator, send(curator, table, content_type=content_type))["result"]["counts"] == {"added": 2}
    assert bindings.lookup("ark:12345/x52").target == "https://example.org/2"


LATIN = "identifier,target,who\nark:12345/x51,/1,No\u00e9\n".encode("windows-1252")


@pytest.mark.parametrize("bindings", ["sqlite"], indirect=True)
def test_the_encoding_is_that_of_the_content_type_and_is_never_guessed(curator, bindings, rows):
    """Names are permanent, so a wrong guess cannot be corrected."""
    before = rows()[:4]
    failed = finished(curator, send(curator, LATIN))
    assert (failed["state"], failed["problem"]["code"]) == ("failed", "table-encoding")
    assert rows()[:4] == before
    assert finished(curator, send(curator, LATIN, content_type="text/csv; charset=Windows-1252"))["state"] == "done"
    assert bindings.lookup("ark:12345/x51").metadata["erc.who"] == "No\u00e9"


@pytest.mark.one_setup
@pytest.mark.parametrize("bindings", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "content_type",
    ["text/csv; charset=base64", "text/csv; charset=unicode_escape", "application/jsonl; charset=utf-16"],
)
def test_an_unknown_encoding_is_refused(curator, rows, content_type):
    before = rows()
    problem = assert_problem(send(curator, content_type=content_type), 415, "media-type")
    assert "charset" in problem["detail"]
    assert rows() == before


@pytest.mark.one_setup
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", ""])
def test_other_media_types_are_refused(curator, rows, content_type):
    before = rows()
    assert_problem(send(curator, content_type=content_type), 415, "media-type")
    assert rows() == before


def test_a_dry_run_reports_the_effect_and_changes_nothing(curator, bindings):
    found = finished(curator, send(curator, query="?dry_run=1"))
    assert (found["state"], found["dry_run"], found["lines"]) == ("done", True, 2)
    assert (found["result"]["written"], found["result"]["counts"]) == (False, {"added": 2})
    assert bindings.count().number == 0


def test_one_refused_line_refuses_the_import(curator, bindings):
    table = TABLE + b"ark:12345/y1,https://example.org/3,\nark:12345/x53,javascript:x,\n"
    found = finished(curator, send(curator, table))
    assert (found["state"], found["result"]["written"], found["result"]["operation"]) == ("failed", False, None)
    assert [(line["line"], line["code"]) for line in found["result"]["refused"]] == [
        (4, "not-granted"),
        (5, "target-scheme"),
    ]
    assert bindings.count().number == 0
    assert finished(curator, send(curator, table, "?dry_run=1"))["state"] == "done"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("table", "code"),
    [
        pytest.param(b"", None, id="empty"),
        pytest.param(b"colour\nred\n", None, id="unknown column"),
        pytest.param(b"\x00\xff\xfe", None, id="binary"),
        pytest.param(b'identifier\n"ark:12345/x5', None, id="open quotation mark"),
    ],
)
def test_a_table_that_cannot_be_read_fails_with_its_problem(curator, bindings, table, code):
    found = finished(curator, send(curator, table))
    assert (found["state"], found["result"]) == ("failed", None)
    assert set(found["problem"]) == {"code", "detail"}
    assert found["problem"]["detail"].isascii()
    assert bindings.count().number == 0


def test_a_moved_name_needs_relocate(curator, bindings):
    bindings.bind("ark:12345/x51", "https://old.example/1")
    assert finished(curator, send(curator))["result"]["refused"][0]["code"] == "bound-otherwise"
    assert finished(curator, send(curator, query="?relocate=1"))["result"]["counts"] == {"added": 1, "relocated": 1}


def test_only_an_administrator_imports_rules_and_prefix_records(curator, administrator, bindings):
    table = b"identifier,kind,target\nark:12345/x5,rule,https://example.org/${value}\n"
    assert finished(curator, send(curator, table))["result"]["refusals"] == 1
    assert bindings.rules.list() == []
    assert finished(administrator, send(administrator, table))["result"]["counts"] == {"rules": 1}


def test_a_reader_cannot_import(reader, rows):
    before = rows()
    assert_problem(send(reader), 403, "role-missing")
    assert rows() == before


def test_an_import_is_shown_only_to_its_account_and_to_administrators(app, curator, administrator, client_of):
    finished(curator, send(curator))
    accounts_of(app).add("other", "curator", ["ark:12345/x5"])
    assert_problem(client_of("other")("GET", "/imports/1"), 404, "not-found")
    assert administrator.ok("GET", "/imports/1")["state"] == "done"
    for number in ("2", "0", str(2**31), "9" * 100):
        assert_problem(administrator("GET", f"/imports/{number}"), 404, "not-found")


def test_the_permissions_are_those_of_the_moment_of_the_import(app, curator, bindings, monkeypatch):
    imports = imports_of(app)
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    for _ in range(2):
        send(curator)
    accounts_of(app).tokens.revoke(accounts_of(app).tokens.list("curator")[0].number)
    monkeypatch.undo()
    imports.worker.wake()
    deadline = time.monotonic() + 20
    while imports.jobs.list_unfinished():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    job = imports.jobs.get(2)
    assert job is not None
    assert job.result is not None
    assert (job.state, job.result["problem"]["code"]) == ("failed", "role-missing")
    assert bindings.count().number == 0


def test_a_token_for_some_prefixes_limits_the_import(client_of, bindings):
    limited = client_of("curator", ["ark:12345/x51"])
    found = finished(limited, send(limited))
    assert [line["identifier"] for line in found["result"]["refused"]] == ["ark:12345/x52"]


def test_a_repeated_request_starts_one_import(curator, rows):
    first = send(curator, Idempotency_Key="k")
    finished(curator, first)
    second = send(curator, Idempotency_Key="k")
    assert (second.data, second.headers["Location"]) == (first.data, first.headers["Location"])
    assert len(rows()[5]) == 1
    assert_problem(send(curator, TABLE + b"\n", Idempotency_Key="k"), 422, "idempotency-key-used")


def test_the_number_of_imports_that_wait_is_limited(app, curator, monkeypatch, rows):
    monkeypatch.setattr(imports_of(app).worker, "wake", lambda: None)
    for _ in range(queue.MAX_UNFINISHED):
        assert send(curator).status_code == 202
    before = rows()
    refused = send(curator)
    assert_problem(refused, 429, "too-many-imports")
    assert refused.headers["Retry-After"] == "30"
    assert rows() == before


def test_a_table_that_is_too_long_is_refused(curator, rows, monkeypatch):
    monkeypatch.setattr(views, "MAX_BYTES", 1000)
    before = rows()
    assert_problem(send(curator, b"x" * 1001), 413, "body-too-long")
    assert rows() == before


def test_an_import_is_undone_by_its_account(curator, administrator):
    finished(curator, send(curator))
    finished(administrator, send(administrator, TABLE.replace(b"x5", b"x5z")))
    assert_problem(curator("POST", "/imports/2/undo"), 404, "not-found")
    assert curator.ok("POST", "/imports/1/undo")["counts"] == {"withdrawn": 2}


def test_an_import_is_undone_by_an_administrator(curator, administrator, bindings):
    finished(curator, send(curator))
    tried = administrator.ok("POST", "/imports/1/undo?dry_run=1")
    assert (tried["written"], tried["counts"]) == (False, {"withdrawn": 2})
    first = administrator("POST", "/imports/1/undo", Idempotency_Key="u")
    assert (first.status_code, first.json["written"], first.json["counts"]) == (200, True, {"withdrawn": 2})
    assert administrator("POST", "/imports/1/undo", Idempotency_Key="u").data == first.data
    assert_problem(administrator("POST", "/imports/1/undo"), 409, "operation-undone")
    assert bindings.lookup("ark:12345/x51").is_withdrawn


def test_an_import_that_runs_is_stopped_before_it_is_undone(curator, client_of, bindings, monkeypatch):
    monkeypatch.setattr(pace, "BLOCK", 1)
    other, answers = client_of("curator"), []

    def rest(self):
        if bindings.list_operations() and not answers:
            answers.append(other("POST", "/imports/1/undo"))
            answers.append(other("POST", "/operations/1/stop"))

    monkeypatch.setattr(pace.BlockPace, "rest", rest)
    job = finished(curator, send(curator))
    assert_problem(answers[0], 409, "operation-running")
    assert answers[1].json["names"] == 1
    assert (job["state"], job["problem"]["code"]) == ("failed", "operation-ended")
    assert curator.ok("POST", "/imports/1/undo")["counts"] == {"withdrawn": 1}


def test_an_undo_of_changed_names_is_refused_and_changes_nothing(curator, administrator, rows):
    finished(curator, send(curator))
    curator.ok("PATCH", "/names/ark:12345/x51", {"redirect": 307})
    before = rows()
    problem = assert_problem(administrator("POST", "/imports/1/undo"), 409, "operation-refused")
    assert [each["code"] for each in problem["result"]["refused"]] == ["undo-changed"]
    assert "--" not in json.dumps(problem)
    assert rows() == before


def test_an_import_that_changed_nothing_cannot_be_undone(administrator):
    finished(administrator, send(administrator, query="?dry_run=1"))
    assert_problem(administrator("POST", "/imports/1/undo"), 409, "nothing-to-undo")
    assert_problem(administrator("POST", "/imports/1/undo", {}), 400, "body-unwanted")


def test_an_import_that_has_not_ended_is_not_said_to_have_changed_nothing(administrator, monkeypatch):
    monkeypatch.setattr(Worker, "wake", lambda worker: None)
    number = send(administrator, query="?atomic=1").json["number"]
    assert_problem(administrator("POST", f"/imports/{number}/undo"), 409, "import-unfinished")


MUSEUM = "Liste;;\r\n\r\nInventarnummer;Titel;Weblink\r\nINV 1;Gro\u00dfe Glocke;https://m.example/1\r\nINV 2;Vase;\r\n"
MINT = "?mint=ark:12345/x5&key=Inventarnummer"


@pytest.mark.both_stores
def test_a_table_of_a_museum_comes_back_with_names(curator, bindings):
    """The encoding, separator, heading row and columns are proposed, as by the command."""
    table = MUSEUM.encode("windows-1252")
    answer = send(curator, table, MINT)
    assert answer.json["table"] == "/api/v1/imports/1/table"
    found = finished(curator, answer)
    assert found["result"]["counts"] == {"reserved": 2}
    again = curator("GET", "/imports/1/table")
    assert again.headers["Content-Type"] == "text/csv; charset=windows-1252"
    lines = again.data.decode("windows-1252").split("\r\n")
    assert lines[2] == "Inventarnummer;Titel;Weblink;ARK"
    assert lines[3].startswith("INV 1;Gro\u00dfe Glocke;https://m.example/1;ark:12345/x5")
    assert curator("GET", "/imports/1/table?format=xlsx").data.startswith(b"PK")
    assert finished(curator, send(curator, again.data, MINT))["result"]["counts"] == {"unchanged": 2}
    assert finished(curator, send(curator, table, f"{MINT}&dry_run=1"))["table"] is None
    assert_problem(curator("GET", "/imports/3/table"), 404, "not-found")


@pytest.mark.usefixtures("workbooks_here")
def test_a_workbook_comes_back_with_its_sheets(curator):
    book, sent = Workbook(), io.BytesIO()
    for row in (("Inventarnummer", "Titel"), ("INV 1", "Vase")):
        book.worksheets[0].append(row)
    book.create_sheet("Notizen").append(["bleibt"])
    book.save(sent)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    found = finished(curator, send(curator, sent.getvalue(), "?mint=ark:12345/x5", content_type=kind))
    returned = load_workbook(io.BytesIO(curator("GET", f"/imports/{found['number']}/table").data))
    assert returned.sheetnames[1:] == ["Notizen"]
    assert str(returned.worksheets[0]["C2"].value).startswith("ark:12345/x5")


@pytest.mark.usefixtures("workbooks_here")
def test_a_workbook_is_imported_with_its_sheet(curator, bindings):
    table = (Path(__file__).parents[3] / "data" / "tables" / "objets.ods").read_bytes()
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    found = finished(curator, send(curator, table, "?mint=ark:12345/x5&sheet=Objets&omit_hidden=1", content_type=kind))
    assert found["result"]["counts"] == {"reserved": 4}
    assert curator("GET", f"/imports/{found['number']}/table").data.startswith(b"PK")
    refused = assert_problem(send(curator, table, "?mint=ark:12345/x5&sheet=X", content_type=kind), 422, "table-sheet")
    assert "Info, Objets" in refused["detail"]


def test_questions_about_keys_are_answered_by_a_parameter(curator, bindings):
    bindings.bind("ark:12345/x5a", "https://m.example/1", resource="A-1", numbers={"former": ["B 1"]})
    table = b"Inventarnummer;Titel\na-1;Vase\n"
    query = "?mint=ark:12345/x5&key=Inventarnummer"
    refused = finished(curator, send(curator, table, query))["result"]["refused"]
    assert [each["code"] for each in refused] == ["key-similar"]
    found = finished(curator, send(curator, table, f"{query}&confirm=key-damaged,key-same"))
    assert found["result"]["counts"] == {"updated": 1}
    find = "?find=ark:12345/x5&key=Inventarnummer"
    unknown = finished(curator, send(curator, table, find))["result"]["refused"]
    assert [each["code"] for each in unknown] == ["key-unknown"]
    former = finished(curator, send(curator, table.replace(b"a-1", b"B 1"), f"{find}&confirm=key-former"))
    assert former["result"]["counts"] == {"unchanged": 1}


@pytest.mark.parametrize(("key", "code"), [("a-1", "key-similar"), ("B 1", "key-former"), ("C 1", "key-ambiguous")])
def test_no_question_names_a_reserved_name_to_a_token_that_cannot_read(app, curator, bindings, key, code):
    bindings.reserve("ark:12345/x5a", resource="A-1", numbers={"former": ["B 1"]})
    for name in ("ark:12345/x5aa", "ark:12345/x5b"):
        bindings.reserve(name, resource="C 1")
    rights = ["mint", "bind", "describe", "relocate"]
    client = Client(app, accounts_of(app).tokens.create("curator", "test", rights=rights)[1])
    table, query = f"Inventarnummer;Titel\n{key};Vase\n".encode(), "?mint=ark:12345/x5&key=Inventarnummer"
    (refused,) = finished(client, send(client, table, query))["result"]["refused"]
    assert (refused["code"], "x5a" in refused["message"], "A-1" in refused["message"]) == (code, False, False)
    (shown,) = finished(curator, send(curator, table, query))["result"]["refused"]
    assert ("A-1" if code == "key-similar" else "x5a") in shown["message"]


def test_a_corrected_number_needs_renumber(curator, bindings):
    bindings.bind("ark:12345/x5a", "https://m.example/1", resource="A 1")
    table = b"identifier,resource\nark:12345/x5a,A 10\n"
    refused = finished(curator, send(curator, table))["result"]["refused"]
    assert [each["code"] for each in refused] == ["other-resource"]
    assert finished(curator, send(curator, table, "?renumber=1"))["result"]["counts"] == {"updated": 1}
    assert bindings.lookup("ark:12345/x5a").numbers["current"] == "A 10"


def test_a_number_that_a_spreadsheet_changed_needs_keep_numbers(curator, bindings):
    bindings.bind("ark:12345/x5a", "https://m.example/1", resource="000030")
    table = b"identifier,resource,what\nark:12345/x5a,30,Vase\n"
    refused = finished(curator, send(curator, table))["result"]["refused"]
    assert [each["code"] for each in refused] == ["number-damaged"]
    for query, title in (("?keep_numbers=1", b"Vase"), ("?keep_numbers=1&find=ark:12345/x5", b"Bowl")):
        result = finished(curator, send(curator, table.replace(b"Vase", title), query))["result"]
        assert result["counts"] == {"updated": 1}
    found = bindings.lookup("ark:12345/x5a")
    assert (found.resource, found.numbers, found.metadata["erc.what"]) == ("000030", {}, "Bowl")


def test_a_row_with_the_ark_of_another_thing_gets_one_of_its_own(curator, bindings):
    bindings.bind("ark:12345/x5a", "https://m.example/1", resource="AUTO 6")
    table = b"identifier,resource,what\nark:12345/x5a,INV 3006,Sketch\n"
    for door in ("mint", "find"):
        refused = finished(curator, send(curator, table, f"?{door}=ark:12345/x5"))["result"]["refused"]
        assert [each["code"] for each in refused] == ["other-resource"]
    counts = finished(curator, send(curator, table, "?find=ark:12345/x5&confirm=other-thing"))["result"]["counts"]
    assert counts == {"reserved": 1}
    assert bindings.lookup("ark:12345/x5a").revision == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        pytest.param("?mint=ark:12345/x5&find=ark:12345/x5", 400, "parameter", id="mint and find"),
        pytest.param("?mint=ark:12345/x5&confirm=yes", 400, "parameter", id="an unknown answer"),
        pytest.param("?mint=ark:12345/x5&key=Nummer", 422, "table-column", id="an unknown heading"),
        pytest.param("?mint=ark:12345/x5&columns=Inventarnummer", 400, "parameter", id="columns"),
        pytest.param("?mint=ark:12345/x5&state=withdrawn", 400, "parameter", id="state"),
        pytest.param("?mint=ark:12345/x5&heading_row=0", 400, "parameter", id="row"),
        pytest.param("?key=Titel", 422, "table-column-missing", id="no shoulder"),
    ],
)
def test_wrong_options_of_a_table_are_refused(curator, query, status, code):
    assert_problem(send(curator, MUSEUM.encode("windows-1252"), query), status, code)


def test_a_shoulder_without_a_grant_is_refused(curator, bindings):
    found = finished(curator, send(curator, MUSEUM.encode("windows-1252"), "?mint=ark:12345/q7&key=Inventarnummer"))
    assert (found["state"], found["problem"]["code"], bindings.count().number) == ("failed", "not-granted", 0)
