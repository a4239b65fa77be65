"""Tokens with a single right, without the right to read, learn nothing about the reserved names of others.

Each request of the API is sent for a reserved name and for one that does not exist, and the answers are equal.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask

from ararat.bindings.collection import Bindings
from ararat.bindings.holding import hold
from tests.webapp.api.conftest import Client, accounts_of

OTHERS = {"reserved": "ark:12345/y1", "embargoed": "ark:12345/y2", "held": "ark:12345/y3"}
UNKNOWN = "ark:12345/y9"
OWN = "ark:12345/x5own"
SECRETS = ("SECRET", "secret.example")
RIGHTS = ["mint", "bind", "relocate", "describe", "withdraw"]
ELSEWHERE = "https://elsewhere.example/"


@pytest.fixture
def bindings(bindings: Bindings) -> Bindings:
    secret: dict[str, Any] = {"resource": "SECRET 1", "metadata": {"what": "SECRET title"}}
    for state, name in {**OTHERS, "own": OWN}.items():
        embargo = "2999-01-01" if state == "embargoed" else None
        bindings.reserve(name, f"https://secret.example/{name[-2:]}", embargo=embargo, **secret)
    hold(bindings, OTHERS["held"], bindings.now() + timedelta(days=3), reason="SECRET court")
    return bindings


@pytest.fixture
def limited(app: Flask, bindings: Bindings) -> Callable[..., Client]:
    """limited(*rights) returns a client of the curator whose token has only these rights."""
    return lambda *rights: Client(app, accounts_of(app).tokens.create("curator", "limited", rights=rights)[1])


def ended(client: Client, answer: Any) -> Any:
    """Return the answer, or the answer about its job when the job has ended."""
    deadline = time.monotonic() + 20
    while answer.status_code in (200, 202) and (answer.json or {}).get("state") in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
        path = (answer.headers.get("Location") or answer.request.path).removeprefix("/api/v1")
        answer = client("GET", path)
    return answer


def edit(client: Client, name: str) -> Any:
    body = {"operation": {"action": "edit", "fields": {"resource": "other"}}, "names": [name]}
    return ended(client, client("POST", "/changes", body))


def imported(client: Client, name: str, values: str = f"target,resource\n{{}},{ELSEWHERE},other") -> Any:
    table = f"identifier,{values.format(name)}\n".encode()
    return ended(client, client("POST", "/imports?dry_run=1", table, Content_Type="text/csv"))


REQUESTS: dict[str, Callable[[Client, str], Any]] = {
    "show": lambda client, name: client("GET", f"/names/{name}"),
    "history": lambda client, name: client("GET", f"/names/{name}/history"),
    "put": lambda client, name: client("PUT", f"/names/{name}", {"target": ELSEWHERE}),
    "create": lambda client, name: client("POST", "/names", {"names": [{"name": name, "target": ELSEWHERE}]}),
    "patch": lambda client, name: client("PATCH", f"/names/{name}", {"resource": "other"}),
    "patch nothing": lambda client, name: client("PATCH", f"/names/{name}", {"metadata": {}}),
    "relocate": lambda client, name: client("POST", f"/names/{name}/relocate", {"target": ELSEWHERE}),
    "withdraw": lambda client, name: client("POST", f"/names/{name}/withdraw", {}),
    "restore": lambda client, name: client("POST", f"/names/{name}/restore"),
    "delete": lambda client, name: client("DELETE", f"/names/{name}"),
    "stale delete": lambda client, name: client("DELETE", f"/names/{name}", If_Match='"99"'),
    "hold": lambda client, name: client("POST", "/holds", {"name": name, "until": "2999-01-01", "reason": "x"}),
    "release": lambda client, name: client("POST", "/holds/release", {"name": name}),
    "edit": edit,
    "import": imported,
    "import of the state": lambda client, name: imported(client, name, "status\n{},reserved"),
    "import of the name": lambda client, name: imported(client, name, "what\n{},"),
}
LISTS = ["/names", "/operations", "/holds?all=1"]


def text_of(answer: Any, name: str) -> tuple[int, str]:
    text = json.dumps(answer.json) if answer.is_json or answer.json is not None else answer.text
    # The numbers and times of jobs differ.
    text = re.sub(r'"(number|created|changed|expires)": [^,}]*|/(changes|imports)/\d+', "", text)
    return answer.status_code, text.replace(name, "NAME")


# Each right with one state, and one right with each state.
@pytest.mark.parametrize(
    ("right", "states"),
    [
        ("mint", ["reserved"]),
        ("bind", ["reserved", "embargoed", "held"]),
        ("relocate", ["embargoed"]),
        ("describe", ["held"]),
        ("withdraw", ["reserved"]),
    ],
)
def test_an_answer_about_a_reserved_name_of_others_is_that_about_an_unknown_one(
    limited: Callable[..., Client], right: str, states: list[str]
) -> None:
    client = limited(right)
    for title, act in REQUESTS.items():
        expected = text_of(act(client, UNKNOWN), UNKNOWN)
        for state in states:
            name = OTHERS[state]
            found = text_of(act(client, name), name)
            assert found == expected, (title, state)
            assert not any(secret in found[1] for secret in SECRETS), (title, state)


def test_an_import_does_not_warn_of_recorded_values_without_the_right_to_read(
    limited: Callable[..., Client], bindings: Bindings
) -> None:
    texts = {"what": "SECRET secret@secret.example", "availability": "SECRET"}
    bindings.reserve(OWN, "http://localhost/SECRET", metadata=texts)
    result = imported(limited("bind", "relocate"), OWN, "target,status\n{},http://localhost/new,live").json["result"]
    assert (result["counts"], [each["code"] for each in result["warned"]]) == ({"published": 1}, ["target-local"])
    result = imported(limited("bind"), OWN, "status\n{},live").json["result"]
    assert (result["counts"], result["warned"]) == ({"published": 1}, [])
    result = imported(limited("read", "bind"), OWN, "status\n{},live").json["result"]
    assert {"personal-data", "target-local", "persistence-term"} <= {each["code"] for each in result["warned"]}


def test_a_recorded_name_of_the_account_is_not_shown_without_the_right_to_read(limited: Callable[..., Client]) -> None:
    client = limited("mint", "bind", "relocate", "describe", "withdraw")
    for title in ("show", "patch nothing", "put", "create", "stale delete"):
        answer = REQUESTS[title](client, OWN)
        assert not any(secret in answer.text for secret in SECRETS), (title, answer.text)
    changed = client("PATCH", f"/names/{OWN}", {"listed": False}).get_json()
    assert changed.keys() <= {*("identifier", "spelling", "state", "revision", "created", "changed")}


def test_the_entity_tag_of_an_unread_name_permits_the_next_change(limited: Callable[..., Client]) -> None:
    client = limited("mint", "bind", "describe")
    minted = client("POST", "/names", {"names": [{"shoulder": "ark:12345/x5", "state": "reserved"}]})
    name = minted.get_json()["names"][0]["name"]["identifier"]
    assert client("PUT", f"/names/{OWN}", {"state": "reserved"}, If_None_Match="*").status_code == 412
    described = client("PATCH", f"/names/{name}", {"metadata": {"erc.what": "Vase"}}, If_Match=minted.headers["ETag"])
    stale = client("PATCH", f"/names/{name}", {"listed": False}, If_Match=minted.headers["ETag"])
    assert (described.status_code, stale.status_code, "Vase" in stale.text) == (200, 412, False)
    emptied = client("PATCH", f"/names/{name}", {"metadata": None}, If_Match=described.headers["ETag"])
    live = client("PATCH", f"/names/{name}", {"target": ELSEWHERE, "state": "live"}, If_Match=emptied.headers["ETag"])
    assert (live.status_code, live.get_json()["metadata"]) == (200, {})


def check(client: Client, **body: Any) -> Any:
    return ended(client, client("POST", "/changes", body))


def table(client: Client, row: str, **query: str) -> Any:
    path = f"/imports?{'&'.join(map('='.join, query.items()))}"
    return ended(client, client("POST", path, f"identifier,target,resource\n{row}\n".encode(), Content_Type="text/csv"))


UNTIL = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
OF_OWN: dict[str, Callable[[Client, str], Any]] = {
    **{
        f"check of {operation['action']}": lambda client, name, operation=operation: check(
            client, operation=operation, names=[name]
        )
        for operation in (
            {"action": "edit", "fields": {"metadata": {"who": "W"}}},
            {"action": "publish"},
            {"action": "move", "from": "secret.example", "to": "elsewhere.example"},
            {"action": "withdraw"},
            {"action": "restore"},
            {"action": "hold", "until": UNTIL, "reason": "x"},
            {"action": "delete"},
        )
    },
    "relocation": lambda client, name: client(
        "POST", "/relocations?dry_run=1", {"from": "secret.example", "to": "elsewhere.example"}
    ),
    "import of another thing": lambda client, name: table(client, f"{name},,B 2", dry_run="1", relocate="1"),
    "import of a damaged number": lambda client, name: table(client, f"{name},,0.1", dry_run="1", renumber="1"),
    "import of a table": lambda client, name: table(client, f"{name},/x,B 2", dry_run="1", state="live"),
    **REQUESTS,
}


@pytest.mark.parametrize("state", ["reserved", "withdrawn", "held"])
def test_no_answer_about_an_own_name_has_values_that_the_token_cannot_read(
    limited: Callable[..., Client], bindings: Bindings, state: str
) -> None:
    name = "ark:12345/x5" + state
    target = "https://secret.example/hidden"
    if state == "reserved":
        bindings.reserve(name, target, resource="SECRET 1", metadata={"what": "SECRET title"})
    else:
        bindings.bind(name, target, resource="SECRET 1", alternates={"de": target})
    if state == "withdrawn":
        bindings.withdraw(name)
    if state == "held":
        hold(bindings, name, bindings.now() + timedelta(days=3), reason="court")
    client = limited(*RIGHTS)
    texts = {title: act(client, name).get_data(as_text=True) for title, act in OF_OWN.items() if title != "restore"}
    assert {title: text for title, text in texts.items() if "SECRET" in text or "hidden" in text} == {}


@pytest.fixture
def jobs(app: Flask) -> list[str]:
    """The paths of jobs that the account has started with a token of all rights."""
    client = Client(app, accounts_of(app).tokens.create("curator", "all")[1])
    operation = {"action": "edit", "fields": {"metadata": {"who": "W"}}}
    number = check(client, operation=operation, names=[OWN]).get_json()["number"]
    row = f"{OWN},https://elsewhere.example/,SECRET 2"
    numbers = [table(client, row, **more).get_json()["number"] for more in ({"dry_run": "1"}, {"state": "live"})]
    exported = ended(client, client("POST", "/exports", {"format": "csv"})).get_json()["number"]
    return [f"/changes/{number}", *(f"/imports/{each}" for each in numbers), f"/exports/{exported}"]


def test_a_token_without_the_right_to_read_sees_only_the_jobs_that_it_started(
    app: Flask, limited: Callable[..., Client], jobs: list[str]
) -> None:
    all_rights, client = Client(app, accounts_of(app).tokens.create("curator", "other")[1]), limited(*RIGHTS)
    for path in jobs:
        assert all_rights("GET", path).status_code == 200, path
        for method, more in (
            ("GET", ""),
            ("POST", "/apply"),
            ("POST", "/resume"),
            ("GET", "/table"),
            ("POST", "/undo"),
        ):
            answer = client(method, path + more)
            assert answer.status_code in (403, 404, 405), (method, path + more, answer.text)
    own = check(client, operation={"action": "publish"}, names=[OWN]).get_json()["number"]
    assert client("GET", f"/changes/{own}").status_code == 200


def test_an_import_does_not_tell_a_reserved_successor_from_an_unknown_one(
    app: Flask, limited: Callable[..., Client], bindings: Bindings
) -> None:
    bindings.bind("ark:12345/x5live", "/x")
    curator = Client(app, accounts_of(app).tokens.create("curator", "all")[1])

    def warned(client: Client, successor: str) -> Any:
        rows = f"identifier,status,successor\nark:12345/x5live,withdrawn,{successor}\n".encode()
        return ended(client, client("POST", "/imports?dry_run=1", rows, Content_Type="text/csv")).get_json()["result"]

    reserved, unknown = OTHERS["reserved"], UNKNOWN
    assert warned(limited(*RIGHTS), reserved) == warned(limited(*RIGHTS), unknown)
    assert [each["code"] for each in warned(curator, unknown)["warned"]] == ["successor-unknown"]


def test_a_token_without_the_right_to_read_sees_and_stops_no_operation(
    app: Flask, limited: Callable[..., Client]
) -> None:
    client = Client(app, accounts_of(app).tokens.create("curator", "all")[1])
    operation = {"action": "edit", "fields": {"metadata": {"who": "W"}}}
    number = check(client, operation=operation, names=[OWN]).get_json()["number"]
    done = ended(client, client("POST", f"/changes/{number}/apply")).get_json()["result"]["operation"]
    for method, more in (("GET", ""), ("POST", "/stop"), ("POST", "/resume")):
        answer = limited(*RIGHTS)(method, f"/operations/{done}{more}")
        assert (answer.status_code, answer.get_json()["code"]) == (403, "right-missing"), more
    assert client("POST", f"/operations/{done}/stop").status_code == 200


def test_a_token_without_the_right_to_read_gets_no_reply_to_another_one(
    app: Flask, limited: Callable[..., Client]
) -> None:
    request = ("PATCH", f"/names/{OWN}", {"metadata": {"who": "W"}})
    all_rights = Client(app, accounts_of(app).tokens.create("curator", "all")[1])
    assert "SECRET title" in all_rights(*request, Idempotency_Key="a").text
    answer = limited(*RIGHTS)(*request, Idempotency_Key="a")
    assert (answer.status_code, "SECRET" in answer.text) == (422, False)
    assert Client(app, accounts_of(app).tokens.create("curator", "new")[1])(*request, Idempotency_Key="a").headers[
        "Idempotency-Replayed"
    ]


@pytest.mark.parametrize("path", LISTS)
def test_lists_need_the_right_to_read(limited: Callable[..., Client], path: str) -> None:
    assert limited(*RIGHTS)("GET", path).status_code == 403


def test_a_move_and_a_warning_name_no_reserved_name_of_others(limited: Callable[..., Client]) -> None:
    client = limited(*RIGHTS)
    for source in ("secret.example", "https://secret.example/y", "https://secret.example/q"):
        found = client("POST", "/relocations?dry_run=1", {"from": source, "to": ELSEWHERE})
        assert not any(name in found.text for name in OTHERS.values())
        answer = found.get_json()
        assert (answer["refusals"], answer["others"]) == (0, 0)
    new = {"name": "ark:12345/x5new", "target": "https://secret.example/y1", "resource": "SECRET 1"}
    answer = client("POST", "/names", {"names": [new]})
    assert answer.status_code == 201
    assert not any(name in answer.text for name in (*OTHERS.values(), OWN))
