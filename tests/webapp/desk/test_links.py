"""The page of link health."""

from __future__ import annotations

import csv
import html
import re
from datetime import timedelta
from typing import Any

import pytest

from ararat.tracing.links.model import State, TracedTarget
from ararat.tracing.links.store import Links

from .conftest import Browser, Desk


def traced(desk: Desk, name: str, state: State, url: str | None = None) -> None:
    binding = desk.bindings.lookup(name)
    assert binding is not None
    assert binding.target is not None
    now = desk.bindings.now()
    link = TracedTarget(
        identifier=name,
        key=name,
        target=binding.target,
        state=state,
        status=200,
        url=url,
        code="found",
        sentence="The sentence of the trace.",
        since=now - timedelta(days=3),
        traced=now,
    )
    Links(desk.bindings).record([link])


@pytest.fixture
def bound(desk: Desk) -> Desk:
    for name in ("ark:12345/x5a", "ark:12345/x5b", "ark:12345/y1"):
        desk.bindings.bind(name, f"https://old.example/{name[-1]}")
    traced(desk, "ark:12345/x5a", "dead")
    traced(desk, "ark:12345/x5b", "moved", "https://new.example/b")
    traced(desk, "ark:12345/y1", "moved", "https://new.example/y")
    return desk


def test_without_traces_the_page_states_how_to_start(jane: Browser, ada: Browser) -> None:
    assert "ararat rounds" in ada.get("/desk/links").text
    assert "ask an administrator" in jane.get("/desk/links").text


def test_targets_are_listed_by_state(bound: Desk, jane: Browser) -> None:
    dead, moved = jane.get("/desk/links").text, jane.get("/desk/links?state=moved").text
    assert "ark:12345/x5a" in dead
    assert "ark:12345/x5b" not in dead
    assert "https://new.example/b" in moved
    assert moved.count(">Use the new URL<") == 1
    assert "Use the new URL" not in bound.signed_in("rita").get("/desk/links?state=moved").text
    assert jane.get("/desk/links?state=\u202e").status_code == 200


def test_a_moved_target_is_corrected_with_one_button(bound: Desk, jane: Browser) -> None:
    form = {"name": "ark:12345/x5b", "key": "ark:12345/x5b"}
    assert jane.post("/desk/links/relocate", form).location == "/desk/links?state=moved"
    found = bound.bindings.lookup("ark:12345/x5b")
    assert found is not None
    assert found.target == "https://new.example/b"
    assert "leads to https://new.example/b" in jane.get("/desk/links").text
    # The second time there is nothing to correct.
    assert jane.post("/desk/links/relocate", form).status_code == 303
    assert len(bound.bindings.history("ark:12345/x5b")) == 2


def test_the_selected_moved_targets_are_corrected_with_one_operation(bound: Desk, jane: Browser) -> None:
    bound.bindings.bind("ark:12345/x5c", "https://old.example/c")
    traced(bound, "ark:12345/x5c", "moved", "https://new.example/c")
    picked = ["ark:12345/x5a", "ark:12345/x5b", "ark:12345/x5c"]
    assert jane.post("/desk/links/relocate", {"pick": picked}).location == "/desk/links?state=moved"
    assert "2 targets are replaced." in jane.get("/desk/links").text
    found = bound.bindings.store.fetch(picked)
    assert [found[each].target for each in picked] == [
        "https://old.example/a",
        "https://new.example/b",
        "https://new.example/c",
    ]
    (operation,) = bound.bindings.list_operations()
    assert (operation.action, operation.names) == ("relocate", 2)
    # Another account's name changes nothing; neither does a second click.
    for again in (picked, ["ark:12345/y1"], []):
        jane.post("/desk/links/relocate", {"pick": again})
    assert len(bound.bindings.list_operations()) == 1


def test_the_rows_have_titles_and_can_be_selected_for_the_operations_of_names(
    bound: Desk, jane: Browser, read_page: Any
) -> None:
    bound.bindings.bind("ark:12345/x5a", "https://old.example/a", metadata={"what": "Old map"}, resource="INV 7")
    page = read_page(jane.get("/desk/links").text)
    form = page.one("form", "picking")
    assert form.attributes["action"] == "/desk/names/selected"
    assert [each.attributes["value"] for each in form.all("input", name="pick")] == ["ark:12345/x5a"]
    assert "Old map" in form.text
    assert "INV 7" in form.text


def test_the_same_error_on_a_host_offers_a_move_of_its_targets(bound: Desk, jane: Browser) -> None:
    assert "same error" not in jane.get("/desk/links").text
    for name in ("ark:12345/x5d", "ark:12345/x5e", "ark:12345/y2"):
        bound.bindings.bind(name, f"https://old.example/{name[-1]}")
        traced(bound, name, "dead")
    page = jane.get("/desk/links").text
    assert "3 targets have the same error at" in page
    assert 'href="/desk/moves?source=https://old.example/"' in page
    assert "same error" not in bound.signed_in("rita").get("/desk/links").text


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("account", "name", "status"),
    [("rita", "ark:12345/x5b", 403), ("jane", "ark:12345/y1", 403), ("jane", "ark:12345/x5none", 404)],
)
def test_a_target_outside_the_permission_stays(bound: Desk, account: str, name: str, status: int) -> None:
    browser = bound.signed_in(account)
    assert browser.post("/desk/links/relocate", {"name": name, "key": name}).status_code == status


def test_a_trace_of_another_name_changes_nothing(bound: Desk, jane: Browser) -> None:
    jane.post("/desk/links/relocate", {"name": "ark:12345/x5a", "key": "ark:12345/x5b"})
    assert len(bound.bindings.history("ark:12345/x5a")) == 1


def test_the_list_can_be_downloaded(bound: Desk, jane: Browser) -> None:
    rows = list(csv.DictReader(jane.get("/desk/links.csv?state=moved").text.removeprefix("\ufeff").splitlines()))
    assert [row["identifier"] for row in rows] == ["ark:12345/x5b", "ark:12345/y1"]
    assert rows[0]["url"] == "https://new.example/b"


def test_long_lists_have_pages(desk: Desk, jane: Browser) -> None:
    for number in range(60):
        desk.bindings.bind(f"ark:12345/x5{number:02d}", "/x")
        traced(desk, f"ark:12345/x5{number:02d}", "dead")
    first = jane.get("/desk/links").text
    assert "after=ark:12345/x549" in first
    second = jane.get("/desk/links?state=dead&after=ark:12345/x549").text
    assert "ark:12345/x559" in second
    assert "First page" in second
    assert 'rel="prev" href="/desk/links?state=dead"' in second


def test_promises_that_are_not_kept_are_listed_in_pages(
    bound: Desk, jane: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No name is promised as persistent" in jane.get("/desk/links/promises").text
    bound.bindings.prefixes.set("12345/x5", availability="subinfinite", hosts="old.example")
    page = jane.get("/desk/links/promises").text
    assert "ark:12345/x5a" in page
    assert "Dead target" in page
    assert "ark:12345/x5b" not in page
    bound.bindings.prefixes.set("12345/x5", hosts="museum.example")
    monkeypatch.setattr("ararat.webapp.desk.links._PAGE", 1)
    first = jane.get("/desk/links/promises").text
    following = re.findall(r'rel="next" href="([^"]+)"', first)
    assert "ark:12345/x5b" not in first
    assert "ark:12345/x5b" in jane.get(html.unescape(following[0])).text
    assert jane.get("/desk/links/promises?after=%00").status_code in (200, 400, 422)
