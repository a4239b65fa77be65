"""Relocations of many names over HTTP."""

from __future__ import annotations

import json

import pytest

from tests.webapp.api.conftest import assert_problem

MOVE = {"from": "https://old.example/", "to": "https://new.example/"}


@pytest.fixture(autouse=True)
def _names(bindings):
    bindings.bind("ark:12345/x51", "https://old.example/1")
    bindings.bind("ark:12345/x52", "https://old.example/2", metadata={"who": "Noah"})


def test_targets_are_moved_in_one_operation(curator, bindings):
    tried = curator.ok("POST", "/relocations?dry_run=1", MOVE)
    assert (tried["operation"], tried["written"], tried["counts"]) == (None, False, {"relocated": 2})
    done = curator.ok("POST", "/relocations", MOVE)
    assert (done["written"], done["counts"], done["names"]) == (True, {"relocated": 2}, 2)
    assert [(each["before"]["target"], each["after"]["target"]) for each in done["effects"]] == [
        (f"https://old.example/{number}", f"https://new.example/{number}") for number in (1, 2)
    ]
    assert bindings.history("ark:12345/x51")[-1].operation == done["operation"]
    assert curator.ok("POST", "/relocations", MOVE)["written"] is False


def test_a_name_that_is_not_granted_refuses_all(curator, bindings, rows):
    bindings.bind("ark:12345/y1", "https://old.example/3")
    before = rows()
    problem = assert_problem(curator("POST", "/relocations", MOVE), 409, "operation-refused")
    assert [(each["identifier"], each["code"]) for each in problem["result"]["refused"]] == [
        ("ark:12345/y1", "not-granted")
    ]
    assert rows() == before
    assert curator.ok("POST", "/relocations?dry_run=1", MOVE)["refusals"] == 1
    assert rows() == before


def test_a_repeated_relocation_has_the_same_response(curator, rows):
    first = curator("POST", "/relocations", MOVE, Idempotency_Key="k")
    after = rows()
    second = curator("POST", "/relocations", MOVE, Idempotency_Key="k")
    assert (first.json["written"], second.data) == (True, first.data)
    assert rows() == after


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("body", "query", "status"),
    [
        pytest.param({"from": "https://old.example/"}, "", 422, id="to is missing"),
        pytest.param({**MOVE, "below": "x"}, "", 422, id="unknown member"),
        pytest.param({"from": "javascript:a", "to": "https://new.example/"}, "", 422, id="scheme"),
        pytest.param({"from": "https://old.example/", "to": "\u202e"}, "", 422, id="hidden character"),
        pytest.param(MOVE, "?dry_run=yes", 400, id="parameter"),
        pytest.param(MOVE, "?dry-run=1", 400, id="unknown parameter"),
    ],
)
def test_requests_that_cannot_be_carried_out_change_nothing(curator, reader, rows, body, query, status):
    before = rows()
    assert curator("POST", f"/relocations{query}", body).status_code == status
    assert rows() == before


def test_a_reader_moves_nothing(reader, rows):
    before = rows()
    assert_problem(reader("POST", "/relocations", MOVE), 403, "role-missing")
    assert rows() == before


def test_an_operation_on_very_many_names_is_refused_before_it_is_carried_out(
    administrator, bindings, rows, monkeypatch
):
    """A name with an old target and an old alternate is one name."""
    bindings.relocate("ark:12345/x51", "https://old.example/1", alternates={"text/html": "https://old.example/1.html"})
    monkeypatch.setattr("ararat.webapp.management.bulk.MAX_NAMES", 2)
    job = administrator.ok("POST", "/relocations", MOVE)
    assert (job["written"], job["names"]) == (True, 2)
    bindings.bind("ark:12345/x53", "https://new.example/3")
    before = rows()
    for query in ("", "?dry_run=1"):
        back = {"from": MOVE["to"], "to": MOVE["from"]}
        problem = assert_problem(administrator("POST", f"/relocations{query}", back), 409, "operation-large")
        assert "more than 2 names" in problem["detail"]
        assert "ararat relocate" in problem["expected"]
    assert rows() == before
    path, body = problem["detail"].partition("send POST ")[2].split(" with ")
    started = administrator.ok("POST", path.partition("/api/v1")[2], json.loads(body.rstrip(".")), status=202)
    assert started["operation"] == {"action": "move", **back}
