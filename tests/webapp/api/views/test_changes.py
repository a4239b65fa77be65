"""Changes of many selected names over HTTP: a check, the change, its undo, and permissions."""

from __future__ import annotations

import time

import pytest

from ararat.bindings.names.binding import rfc3339
from ararat.bindings.operations import pace
from ararat.bindings.operations.undo import undo_operation
from ararat.webapp.accounts.model import Caller
from tests.webapp.api.conftest import Client, accounts_of, assert_problem, imports_of
from tests.webapp.api.views.test_imports import finished


@pytest.fixture
def bindings(database, clock, open_store):
    """Three names below the prefix of the curator, and one of another account, in each kind of database."""
    bindings = open_store(database, clock=clock)
    for number in (1, 2):
        bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}", resource=f"INV {number}")
    bindings.reserve("ark:12345/x53", "https://old.example/3")
    bindings.bind("ark:12345/y1", "https://old.example/4")
    return bindings


def check(client, operation, status=202, **names):
    answer = client(
        "POST", "/changes", {"operation": operation, **(names or {"selection": {"prefix": "ark:12345/x5"}})}
    )
    assert answer.status_code == status, answer.text
    return finished(client, answer) if status == 202 else answer


def recorded(bindings):
    return [bindings.lookup(f"ark:12345/{name}") for name in ("x51", "x52", "x53", "y1")]


def apply(client, number, query=""):
    return client("POST", f"/changes/{number}/apply{query}")


@pytest.mark.parametrize(
    ("operation", "counts"),
    [
        ({"action": "edit", "fields": {"metadata": {"who": "Noah"}}}, {"updated": 3}),
        ({"action": "publish"}, {"bound": 1}),
        ({"action": "move", "from": "old.example", "to": "new.example"}, {"relocated": 3}),
        ({"action": "withdraw", "reason": "sold", "successor": "https://example.org/"}, {"withdrawn": 2}),
        ({"action": "delete"}, {"deleted": 1}),
        ({"action": "hold", "until": "2026-12-24", "reason": "a claim"}, {"held": 3}),
    ],
    ids=lambda value: value.get("action"),
)
def test_selected_names_are_checked_changed_and_given_back(curator, bindings, operation, counts):
    before = recorded(bindings)
    found = check(curator, operation)
    assert (found["kind"], found["state"], found["result"]["counts"], found["problem"]) == (
        "check",
        "done",
        counts,
        None,
    )
    assert found["result"]["effects"][0]["after"]["identifier"].startswith("ark:12345/x5")
    assert recorded(bindings) == before
    changed = finished(curator, apply(curator, found["number"]))
    assert (changed["state"], changed["result"]["counts"], changed["operation"]) == ("done", counts, operation)
    number = changed["result"]["operation"]
    assert [each.actor for each in bindings.list_operations()] == ["curator"]
    assert_problem(apply(curator, found["number"]), 409, "check-used")
    started = curator("POST", "/changes", {"operation": {"action": "undo", "operation": number}})
    undone = finished(curator, apply(curator, finished(curator, started)["number"]))
    assert undone["result"]["names"] == sum(counts.values())
    assert {name: each.target for name in ("ark:12345/x51", "ark:12345/x53") if (each := bindings.lookup(name))} == {
        "ark:12345/x51": "https://old.example/1",
        "ark:12345/x53": "https://old.example/3",
    }
    assert bindings.list_operations()[1].undone_by == bindings.list_operations()[0].number


def test_a_list_of_names_and_a_search_select_names(curator, bindings):
    found = check(curator, {"action": "publish"}, names=["ark:/12345/x5-3", "ark:12345/x53", "ark:12345/x5none"])
    assert (found["result"]["names"], found["result"]["counts"]) == (1, {"bound": 1})
    found = check(
        curator, {"action": "withdraw"}, selection={"q": "inv 2", "state": "live", "changed_since": "2020-01-01"}
    )
    assert [each["after"]["identifier"] for each in found["result"]["effects"]] == ["ark:12345/x52"]


def test_names_of_others_are_refused_or_left_out(curator, bindings):
    found = check(curator, {"action": "withdraw"}, selection={})
    assert [(each["identifier"], each["code"]) for each in found["result"]["refused"]] == [
        ("ark:12345/y1", "not-granted")
    ]
    assert_problem(apply(curator, found["number"]), 409, "names-refused")
    changed = finished(curator, apply(curator, found["number"], "?skip_refused=1"))
    assert changed["result"]["counts"] == {"withdrawn": 2}
    assert bindings.lookup("ark:12345/y1").is_live


def test_a_token_that_does_not_read_learns_nothing_of_reserved_names_of_others(app, bindings):
    bindings.reserve("ark:12345/y2")

    def told(operation, *rights):
        client = Client(app, accounts_of(app).tokens.create("curator", "robot", rights=rights)[1])
        names = ["ark:12345/x51", "ark:12345/x53", "ark:12345/y1", "ark:12345/y2", "ark:12345/y3"]
        answer = client("POST", "/changes", {"operation": operation, "names": names})
        if answer.status_code == 403:
            assert answer.json is not None
            return answer.json["code"]
        result = finished(client, answer)["result"]
        return {each["identifier"][10:]: each["code"] for each in [*result["refused"], *result["left_alone"]]}

    for operation in (
        {"action": "withdraw"},
        {"action": "publish"},
        {"action": "hold", "until": "2027-01-01", "reason": "a claim"},
        {"action": "release"},
        {"action": "edit", "fields": {"redirect": 307}},
        {"action": "edit", "fields": {"listed": False}},
        {"action": "edit", "fields": {"embargo": "2999-01-01"}},
    ):
        assert told(operation, "mint") == "right-missing"
    assert told({"action": "publish"}, "bind") == {"x51": "not-reserved", "y1": "not-reserved"}
    assert told({"action": "publish"}, "bind", "read") == {
        "x51": "not-reserved",
        "y1": "not-reserved",
        "y2": "not-granted",
    }


def test_an_undo_of_a_release_gives_the_hold_back(curator, bindings):
    def change(operation):
        checked = finished(curator, curator("POST", "/changes", operation))
        return finished(curator, apply(curator, checked["number"]))["result"]

    chosen = {"selection": {"prefix": "ark:12345/x5"}}
    change({"operation": {"action": "hold", "until": "2026-12-24T12:00:00+01:00", "reason": "a claim"}, **chosen})
    before = recorded(bindings)
    assert [each.hold_until and rfc3339(each.hold_until) for each in before] == ["2026-12-24T11:00:00.000000Z"] * 3 + [
        None
    ]
    released = change({"operation": {"action": "release"}, **chosen})
    assert (released["counts"], [each.hold_until for each in recorded(bindings)]) == ({"released": 3}, [None] * 4)
    change({"operation": {"action": "undo", "operation": released["operation"]}})
    assert [each.hold for each in recorded(bindings)] == [each.hold for each in before]


def test_an_account_that_is_disabled_before_the_change_changes_nothing(curator, bindings, app):
    found = check(curator, {"action": "withdraw"})
    before = recorded(bindings)
    imports = imports_of(app)
    checked, account = imports.jobs.get(found["number"]), accounts_of(app).get("curator")
    assert checked
    assert account
    caller = Caller(account=account)
    number = (
        accounts_of(app).run_in_transaction(lambda connection: imports.bulk.change(connection, caller, checked)).number
    )
    accounts_of(app).disable("curator")
    imports.worker.wake()
    deadline = time.monotonic() + 20
    while not ((job := imports.jobs.get(number)) and job.is_finished):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert job.result
    assert (job.state, job.result["problem"]["code"]) == ("failed", "role-missing")
    assert recorded(bindings) == before


def test_a_change_is_undone_only_after_it_was_stopped(curator, client_of, bindings, monkeypatch):
    found = check(curator, {"action": "withdraw"})
    before, other = [each.status for each in recorded(bindings)], client_of("curator")
    monkeypatch.setattr(pace, "BLOCK", 1)

    def rest(pace):
        if len(bindings.list_operations()) != 1:
            return
        undo = {"operation": {"action": "undo", "operation": 1}}
        assert_problem(other("POST", "/changes", undo), 409, "operation-running")
        stopped = other.ok("POST", "/operations/1/stop")
        assert (stopped["names"], stopped["finished"] is not None) == (1, True)
        assert other.ok("POST", "/operations/1/stop") == stopped
        undo_operation(bindings, 1)

    monkeypatch.setattr(pace.BlockPace, "rest", rest)
    job = finished(curator, apply(curator, found["number"]))
    assert (job["state"], job["problem"]["code"]) == ("failed", "operation-undone")
    assert [each.status for each in recorded(bindings)] == before


def test_a_stopped_change_says_what_it_changed(curator, reader, bindings, monkeypatch):
    found = check(curator, {"action": "withdraw"})
    monkeypatch.setattr(pace, "BLOCK", 1)
    refused = []

    def rest(pace):
        if len(bindings.list_operations()) == 1 and not refused:
            refused.append(reader("POST", "/operations/1/stop"))
            curator.ok("POST", "/operations/1/stop")

    monkeypatch.setattr(pace.BlockPace, "rest", rest)
    job = finished(curator, apply(curator, found["number"]))
    assert_problem(refused[0], 403, "role-missing")
    assert (job["state"], job["problem"]["code"], job["result"]["operation"]) == ("failed", "operation-ended", 1)
    assert "Operation 1 changed 1 name, and can be undone." in job["problem"]["detail"]
    assert_problem(curator("POST", "/operations/7/stop"), 403, "role-missing")
    assert curator.ok("POST", "/operations/1/resume")["finished"]
    assert sum(each.is_withdrawn for each in recorded(bindings)) == 1


def test_only_the_person_and_administrators_see_and_undo_a_change(curator, administrator, client_of, reader, bindings):
    number = finished(administrator, apply(administrator, check(administrator, {"action": "withdraw"})["number"]))
    operation = number["result"]["operation"]
    assert curator("GET", f"/changes/{number['number']}").status_code == 404
    failed = finished(curator, curator("POST", "/changes", {"operation": {"action": "undo", "operation": operation}}))
    assert (failed["state"], failed["problem"]["code"]) == ("failed", "role-missing")
    assert_problem(
        reader("POST", "/changes", {"operation": {"action": "publish"}, "selection": {}}), 403, "role-missing"
    )


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"operation": {"action": "publish"}}, 422, "body-member"),
        ({"operation": {"action": "undo", "operation": 1}, "selection": {}}, 422, "body-member"),
        ({"operation": {"action": "burn"}, "selection": {}}, 422, "body-member"),
        ({"operation": {"action": "hold", "until": "2027-01-01"}, "selection": {}}, 422, "body-member"),
        (
            {"operation": {"action": "hold", "until": "soon", "reason": "x"}, "names": ["ark:12345/x51"]},
            422,
            "hold-until",
        ),
        ({"operation": {"action": "edit", "fields": {}}, "selection": {}}, 422, "body-member"),
        ({"operation": {"action": "edit", "fields": {"target": "/x"}}, "selection": {}}, 422, "body-member"),
        *(
            ({"operation": {"action": "edit", "fields": {field: None}}, "selection": {}}, 422, "body-member")
            for field in ("metadata", "redirect", "listed", "resource")
        ),
        ({"operation": {"action": "publish"}, "selection": {"state": "gone"}}, 422, "list-state"),
        ({"operation": {"action": "publish"}, "selection": {"changed_since": "soon"}}, 400, "parameter"),
        ({"operation": {"action": "publish"}, "names": ["nonsense"]}, 422, "no-scheme"),
    ],
)
def test_a_wrong_change_is_refused(curator, body, status, code):
    answer = curator("POST", "/changes", body)
    assert (answer.status_code, answer.json["code"]) == (status, code)


def test_a_check_that_has_not_ended_is_not_applied(curator, app):
    imports_of(app).worker.wake = lambda: None
    started = curator("POST", "/changes", {"operation": {"action": "publish"}, "selection": {}})
    assert_problem(apply(curator, started.json["number"]), 409, "check-unfinished")


def test_unknown_changes_are_404(curator):
    assert curator("GET", "/changes/7").status_code == 404
    assert apply(curator, 7).status_code == 404


def test_operations_are_listed_and_undone_by_the_account_that_made_them(curator, administrator, app):
    curator("POST", "/names", {"names": [{"shoulder": "ark:12345/x5", "state": "reserved"}] * 2})
    listed = curator("GET", "/operations?limit=1").json
    [mint] = listed["operations"]
    assert (mint["action"], mint["names"], mint["undone_by"]) == ("mint", 2, None)
    assert curator("GET", f"/operations?before={mint['number']}").json["operations"] == []
    assert curator("GET", f"/operations/{mint['number']}").json == mint
    assert curator("GET", "/operations/999").status_code == 404
    assert curator("GET", "/operations?before=0").status_code == 400
