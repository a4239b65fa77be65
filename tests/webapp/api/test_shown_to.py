"""Tokens with a single right, without the right to read, learn nothing about the reserved names of others.

Each request of the API is sent for a reserved name and for one that does not exist, and the answers are equal.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from datetime import timedelta
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


def imported(client: Client, name: str) -> Any:
    table = f"identifier,target,resource\n{name},{ELSEWHERE},other\n".encode()
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
