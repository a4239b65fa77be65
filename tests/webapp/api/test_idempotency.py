"""Requests with Idempotency-Key: each is carried out once, and repeated requests get the same response."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ararat.bindings.names.errors import BindingsUnavailable
from ararat.webapp.api import idempotency
from tests.waiting import until
from tests.webapp.api.conftest import BASE, Client, accounts_of, assert_problem

MINT = {"names": [{"shoulder": "ark:12345/x5", "target": "https://example.org/1"}]}
KEY = "7c4a8d09-ca37-62af"


@pytest.fixture
def bindings(database, clock, open_store):
    """No bindings, once for each kind of database."""
    return open_store(database, clock=clock)


def test_a_repeated_request_gets_the_same_response_and_changes_nothing(curator, rows):
    first = curator("POST", "/names", MINT, Idempotency_Key=KEY)
    after = rows()
    second = curator("POST", "/names", MINT, Idempotency_Key=KEY)
    assert (second.status_code, second.data) == (first.status_code, first.data)
    assert second.headers["Location"] == first.headers["Location"]
    assert ("Idempotency-Replayed" in first.headers, second.headers["Idempotency-Replayed"]) == (False, "true")
    assert rows() == after


def test_requests_without_a_key_or_with_other_keys_are_carried_out_each_time(curator, bindings):
    for fields in ({}, {}, {"Idempotency_Key": "a"}, {"Idempotency_Key": "b"}):
        curator.ok("POST", "/names", MINT, status=201, **fields)
    assert bindings.count().number == 4


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/names", {"names": [{"shoulder": "ark:12345/x5"}]}, id="body"),
        pytest.param("/names/ark:12345/x51/withdraw", {}, id="path"),
    ],
)
def test_a_key_of_another_request_is_refused(curator, rows, path, body):
    curator.ok("PUT", "/names/ark:12345/x51", {"target": "https://example.org/1"}, status=201)
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    before = rows()
    assert_problem(curator("POST", path, body, Idempotency_Key=KEY), 422, "idempotency-key-used")
    assert rows() == before


def test_a_key_of_a_name_with_an_encoded_slash_is_not_the_one_of_a_name_with_a_slash(curator, rows):
    for name in ("ark:12345/x5a%2Fb", "ark:12345/x5a/b"):
        curator.ok("PUT", f"/names/{name}", {"target": "https://example.org/1"}, status=201)
    # The test client sends the path decoded unless it is in REQUEST_URI.
    withdraw = f"{BASE}/names/ark:12345/x5a%2Fb/withdraw"
    headers = {"Authorization": f"Bearer {curator.secret}", "Idempotency-Key": KEY}
    first = curator.app.test_client().post(
        withdraw.replace("%2F", "/"), headers=headers, environ_overrides={"REQUEST_URI": withdraw}
    )
    assert first.json["identifier"] == "ark:12345/x5a%2Fb"
    before = rows()
    other = withdraw.replace("%2F", "/")
    second = curator.app.test_client().post(other, headers=headers, environ_overrides={"REQUEST_URI": other})
    assert_problem(second, 422, "idempotency-key-used")
    assert rows() == before


def test_a_failed_request_does_not_use_its_key(curator, client_of, rows):
    before = rows()
    wanted = {"names": [{"shoulder": "ark:12345/x5"}, {"name": "ark:12345/y1"}]}
    assert_problem(curator("POST", "/names", wanted, Idempotency_Key=KEY), 403, "not-granted")
    assert rows() == before
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)


def test_keys_belong_to_an_account(curator, administrator, bindings):
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    administrator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    assert bindings.count().number == 2


def test_a_key_expires(curator, bindings, clock, rows):
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key="another")
    clock.move(hours=23)
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    assert bindings.count().number == 2
    clock.move(hours=2)
    assert curator("POST", "/names", MINT, Idempotency_Key=KEY).headers.get("Idempotency-Replayed") is None
    assert bindings.count().number == 3
    keys = rows()[4]
    assert len(keys) == 1, "the other key is deleted"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "key", ["", "a" * 256, "a b", "\xe9", "a\tb"], ids=["empty", "long", "space", "not ASCII", "tab"]
)
def test_a_key_that_cannot_be_stored_is_refused(curator, rows, key):
    before = rows()
    assert_problem(curator("POST", "/names", MINT, Idempotency_Key=key), 400, "idempotency-key")
    assert rows() == before


def test_two_keys_are_refused(curator):
    fields = [("Authorization", f"Bearer {curator.secret}"), ("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    answer = curator.app.test_client().post(f"{BASE}/names", json=MINT, headers=fields)
    assert_problem(answer, 400, "idempotency-key")


@pytest.mark.parametrize("operation", ["withdraw", "restore", "relocate"])
def test_operations_on_a_name_repeat_their_response(curator, operation, rows):
    path = "/names/ark:12345/x51"
    curator.ok("PUT", path, {"target": "https://example.org/1"}, status=201)
    body = {"target": "https://example.org/2"} if operation == "relocate" else {}
    first = curator("POST", f"{path}/{operation}", body, Idempotency_Key=KEY)
    after = rows()
    # In the meantime, another client changes the name.
    curator.ok("PATCH", path, {"redirect": 307}) if operation != "withdraw" else None
    second = curator("POST", f"{path}/{operation}", body, Idempotency_Key=KEY)
    assert (second.data, second.headers["ETag"]) == (first.data, first.headers["ETag"])
    assert first.status_code == 200
    assert len(rows()[1]) == len(after[1]) + (operation != "withdraw")


@pytest.mark.parametrize("of", ["name", "prefix"])
def test_a_hold_and_its_release_repeat_their_response(curator, bindings, of):
    held = {of: "ark:12345/x51" if of == "name" else "ark:12345/x5"}
    tag = curator("PUT", "/names/ark:12345/x51", {"target": "https://example.org/1"}).headers["ETag"]
    match = {"If_Match": tag} if of == "name" else {}
    for path, body in (("/holds", held | {"until": "2026-12-01", "reason": "a claim"}), ("/holds/release", held)):
        answers = [curator.ok("POST", path, body, Idempotency_Key=f"{KEY}{path}", **match) for _ in range(2)]
        assert answers[0] == answers[1]
        assert answers[0]["outcome"] == ("held" if path == "/holds" else "released")
        match = {}
    history = bindings.history("ark:12345/x51") if of == "name" else bindings.prefixes.history("ark:12345/x5")
    assert len(history) == (3 if of == "name" else 2)


def test_a_repeated_request_with_a_precondition_gets_its_response(curator):
    path = "/names/ark:12345/x51"
    tag = curator("PUT", path, {"target": "https://example.org/1"}).headers["ETag"]
    first = curator("POST", f"{path}/withdraw", {}, If_Match=tag, Idempotency_Key=KEY)
    second = curator("POST", f"{path}/withdraw", {}, If_Match=tag, Idempotency_Key=KEY)
    assert (first.status_code, second.status_code, second.data) == (200, 200, first.data)


def test_concurrent_requests_with_one_key_are_carried_out_once(curator, bindings):
    start = threading.Barrier(6)

    def send(_: int) -> bytes:
        start.wait()
        answer = curator("POST", "/names", MINT, Idempotency_Key=KEY)
        assert answer.status_code == 201, answer.text
        return answer.data

    with ThreadPoolExecutor(6) as threads:
        answers = set(threads.map(send, range(6)))
    assert len(answers) == 1
    assert bindings.count().number == 1


@pytest.mark.both_stores
def test_nothing_is_written_if_the_key_was_used_during_the_change(curator, bindings, rows, monkeypatch):
    """The other request commits between the first check of the key and the transaction."""
    earlier = idempotency.OneRequest.earlier_reply

    def late(self):
        monkeypatch.undo()
        curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)

    monkeypatch.setattr(idempotency.OneRequest, "earlier_reply", late)
    answer = curator("POST", "/names", MINT, Idempotency_Key=KEY)
    assert idempotency.OneRequest.earlier_reply is earlier
    assert (answer.status_code, answer.headers["Idempotency-Replayed"]) == (201, "true")
    assert bindings.count().number == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/names/ark:12345/x51/withdraw", {}, id="a precondition that does not hold any more"),
        pytest.param("/imports/1/undo", None, id="an operation that is undone"),
        pytest.param("/relocations", {"from": "https://example.org/", "to": "https://example.com/"}, id="no change"),
    ],
)
def test_a_request_that_was_carried_out_during_its_repetition_gets_its_response(
    administrator, bindings, monkeypatch, path, body
):
    """The first request commits between the first check of the key and the change of the second one."""
    tag = administrator("PUT", "/names/ark:12345/x51", {"target": "https://example.org/1"}).headers["ETag"]
    if path.startswith("/imports"):
        table = b"identifier,target\nark:12345/x52,https://example.org/2\n"
        administrator.ok("POST", "/imports", table, status=202, Content_Type="text/csv")
        until(lambda: administrator.ok("GET", "/imports/1")["state"] == "done")
    fields = {"Idempotency_Key": KEY} | ({"If_Match": tag} if path.endswith("withdraw") else {})
    first = []

    def late(self):
        monkeypatch.undo()
        first.append(administrator("POST", path, body, **fields))

    monkeypatch.setattr(idempotency.OneRequest, "earlier_reply", late)
    second = administrator("POST", path, body, **fields)
    assert (first[0].status_code, "Idempotency-Replayed" in first[0].headers) == (200, False)
    assert (second.status_code, second.data) == (200, first[0].data)
    assert second.headers["Idempotency-Replayed"] == "true"


def test_a_change_that_fails_at_the_end_leaves_no_key(curator, rows, monkeypatch):
    before = rows()
    store = idempotency.OneRequest.store

    def fail(self, connection, reply):
        store(self, connection, reply)
        raise BindingsUnavailable("the disk is full")

    monkeypatch.setattr(idempotency.OneRequest, "store", fail)
    answer = curator("POST", "/names", MINT, Idempotency_Key=KEY)
    assert_problem(answer, 503, "unavailable")
    assert answer.headers["Retry-After"] == "5"
    assert "disk" not in answer.text
    monkeypatch.undo()
    assert rows() == before
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)


def test_a_repeated_request_needs_a_valid_token(app, curator):
    curator.ok("POST", "/names", MINT, status=201, Idempotency_Key=KEY)
    accounts_of(app).disable("curator")
    assert_problem(curator("POST", "/names", MINT, Idempotency_Key=KEY), 401, "token-invalid")
    assert_problem(Client(app, None)("POST", "/names", MINT, Idempotency_Key=KEY), 401, "credential-missing")
