"""Each change of many names with a second person, a second click, an ended session, and a server that stops."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from ararat.bindings.names.binding import Binding
from ararat.bindings.operations import pace
from tests.webapp.desk.conftest import Browser, Desk

NAMES = [f"ark:12345/x5{number}" for number in range(6)]
DRAFTS = [f"ark:12345/x5d{number}" for number in range(6)]

Act = tuple[dict[str, str], list[str], Callable[[Binding | None], object], object]

# The form, the names, what it changes of each of them, and the value afterwards.
ACTIONS: dict[str, Act] = {
    "edit": (
        {"do": "edit", "element": "erc.who", "value": "Ham"},
        NAMES,
        lambda found: found and found.metadata.get("erc.who"),
        "Ham",
    ),
    "publish on a day": (
        {"do": "edit", "element": "embargo", "value": "2999-03-01"},
        DRAFTS,
        lambda found: found and found.embargo and found.embargo.year,
        2999,
    ),
    "publish": ({"do": "publish"}, DRAFTS, lambda found: found and found.status, "live"),
    "move": (
        {"do": "move", "source": "old.example", "to": "https://new.example"},
        NAMES,
        lambda found: found and (found.target or "")[:19],
        "https://new.example",
    ),
    "withdraw": (
        {"do": "withdraw", "successor": "https://a.example/"},
        NAMES,
        lambda found: found and found.status,
        "withdrawn",
    ),
    "delete": ({"do": "delete"}, DRAFTS, lambda found: found is None, True),
}
of_each_action = pytest.mark.parametrize("action", ACTIONS)
# The same code carries all of them out, so that the usual run has two.
of_each_kind = pytest.mark.parametrize(
    "action", [each if each in ("edit", "delete") else pytest.param(each, marks=pytest.mark.long) for each in ACTIONS]
)


@pytest.fixture(autouse=True)
def names(desk: Desk) -> None:
    for number, (name, draft) in enumerate(zip(NAMES, DRAFTS, strict=True)):
        desk.bindings.bind(name, f"https://old.example/{number}")
        desk.bindings.reserve(draft, f"https://old.example/d{number}")


def finished(browser: Browser, answer: TestResponse) -> tuple[str, str]:
    """Wait for the job of an answer, and return the path and the text of its page."""
    assert answer.status_code == 303, answer.text
    path, deadline = answer.headers["Location"], time.monotonic() + 20
    assert path.startswith("/desk/many/"), path
    while 'hx-trigger="every 1s"' in (text := browser.get(path).text):
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
    return path, " ".join(text.split())


def checked(browser: Browser, action: str) -> str:
    """Return the page of the check of an action."""
    form, names, _, _ = ACTIONS[action]
    address = "/desk/names/selected" if form["do"] in ("publish", "delete") else "/desk/names/change"
    return finished(browser, browser.post(address, {**form, "pick": names}))[0]


def changed(desk: Desk, action: str) -> list[bool]:
    """Return for each name whether the action changed it."""
    _, names, value, after = ACTIONS[action]
    return [value(desk.bindings.lookup(name)) == after for name in names]


@of_each_action
def test_a_name_that_another_person_changed_since_the_check_is_not_overwritten(
    desk: Desk, jane: Browser, action: str
) -> None:
    path = checked(jane, action)
    other = ACTIONS[action][1][0]
    change: Any = desk.bindings.reserve if other in DRAFTS else desk.bindings.bind
    known = desk.bindings.lookup(other)
    assert known
    change(other, known.target, metadata={"what": "A title of Ada"}, actor="ada")
    _, text = finished(jane, jane.post(path))
    assert changed(desk, action) == [False] + [True] * 5
    assert "5 names are changed" in text
    assert other in text
    found = desk.bindings.lookup(other)
    assert found
    assert found.metadata["erc.what"] == "A title of Ada"


@of_each_kind
def test_a_second_click_changes_no_name_again(desk: Desk, jane: Browser, action: str) -> None:
    path = checked(jane, action)
    first, second = jane.post(path), jane.post(path)
    assert second.headers["Location"] == first.headers["Location"]
    assert "this page shows the change that began before" in jane.get(second.headers["Location"]).text
    finished(jane, second)
    assert changed(desk, action) == [True] * 6
    assert [each.names for each in desk.bindings.list_operations()] == [6]


@of_each_kind
def test_the_check_is_found_again_after_the_session_ended(desk: Desk, jane: Browser, action: str) -> None:
    path = checked(jane, action)
    jane.post("/sign-out")
    ended = jane.post(path, headers={"Sec-Fetch-Site": "same-origin"})
    assert ended.status_code in (303, 403)
    assert not any(changed(desk, action))
    again = desk.signed_in("jane")
    assert "6 name" in again.get(path).text
    finished(again, again.post(path))
    assert changed(desk, action) == [True] * 6


@of_each_kind
def test_a_change_whose_server_stopped_is_carried_on(
    desk: Desk, jane: Browser, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = desk.app.extensions["ararat_imports"]
    path = checked(jane, action)
    deadline = time.monotonic() + 20
    while imports.worker._thread is not None:  # it would claim the change, too
        assert time.monotonic() < deadline
        time.sleep(0.01)
    monkeypatch.setattr(pace, "BLOCK", 2)
    monkeypatch.setattr(imports.worker, "wake", lambda: None)
    monkeypatch.setattr(imports.jobs, "lease", -1000.0)
    waiting = jane.post(path).headers["Location"]

    def stop(number: int) -> None:
        if number > 2:
            raise SystemExit

    with pytest.raises(SystemExit):
        imports.bulk.carry_out(imports.jobs.claim(), stop)
    assert 0 < sum(changed(desk, action)) < 6
    imports.bulk.carry_out(imports.jobs.claim(), lambda number: None)
    assert re.search(r"6\s+names are changed", " ".join(jane.get(waiting).text.split()))
    assert changed(desk, action) == [True] * 6
    assert [each.names for each in desk.bindings.list_operations()] == [6]
