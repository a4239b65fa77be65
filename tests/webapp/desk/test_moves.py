"""The page for moves of targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.http_servers import Quiet, running

from .conftest import Browser, Desk

MOVE = {"source": "old.example", "destination": "https://new.example", "below": ""}


@pytest.fixture
def bound(desk: Desk) -> Desk:
    for number in range(3):
        desk.bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}")
    desk.bindings.bind("ark:12345/x5other", "https://other.example/")
    return desk


def targets(desk: Desk) -> list[str | None]:
    return [each.target for each in desk.bindings.list_names().names]


def test_a_preview_changes_nothing_and_a_button_moves(bound: Desk, jane: Browser) -> None:
    before = targets(bound)
    preview = jane.post("/desk/moves", MOVE)
    assert "3 targets will change" in preview.text
    assert "https://new.example/2" in preview.text
    assert targets(bound) == before
    moved = jane.post("/desk/moves", {**MOVE, "apply": "1"})
    assert moved.status_code == 303
    assert targets(bound) == [f"https://new.example/{number}" for number in range(3)] + ["https://other.example/"]
    page = jane.get(moved.location).text
    assert "3 targets moved." in page
    assert '<a href="/desk/changes/1">Show operation 1</a>' in page


def test_a_move_applies_its_preview(bound: Desk, jane: Browser) -> None:
    preview = re.findall(r'name="preview" value="([0-9a-f]{64})"', jane.post("/desk/moves", MOVE).text)[0]
    bound.bindings.bind("ark:12345/x5new", "https://old.example/new")
    before = targets(bound)
    again = jane.post("/desk/moves", {**MOVE, "apply": "1", "preview": preview})
    assert again.status_code == 409
    assert "Targets have changed since the preview, so nothing was moved." in again.text
    assert "4 targets will change" in again.text
    assert targets(bound) == before
    preview = re.findall(r'name="preview" value="([0-9a-f]{64})"', again.text)[0]
    assert jane.post("/desk/moves", {**MOVE, "apply": "1", "preview": preview}).status_code == 303


def test_the_preview_warns_of_targets_that_are_probably_wrong(bound: Desk, jane: Browser) -> None:
    text = jane.post("/desk/moves", {**MOVE, "destination": "http://localhost"}).text
    assert "3 warnings about new targets." in text
    assert "the host localhost of the target is local or private" in text


def test_the_preview_says_where_a_match_ends(bound: Desk, jane: Browser) -> None:
    bound.bindings.bind("ark:12345/x5long", "https://old.example/12")
    whole = jane.post("/desk/moves", {**MOVE, "source": "https://old.example/1"}).text
    assert "1 target will change" in whole
    inside = jane.post("/desk/moves", {**MOVE, "source": "https://old.example/1*"}).text
    assert "2 targets will change" in inside
    assert inside.count("The match ends after <code") == 2


def test_names_can_be_limited(bound: Desk, jane: Browser) -> None:
    jane.post("/desk/moves", {**MOVE, "below": "ark:12345/x51", "apply": "1"})
    assert targets(bound)[:3] == ["https://old.example/0", "https://new.example/1", "https://old.example/2"]


def test_one_name_outside_the_permission_prevents_the_move(bound: Desk, jane: Browser) -> None:
    bound.bindings.bind("ark:12345/y1", "https://old.example/y")
    refused = jane.post("/desk/moves", {**MOVE, "apply": "1"})
    assert refused.status_code == 422
    assert "1 name cannot be moved" in refused.text
    assert "https://new.example/0" not in targets(bound)


def test_a_reader_cannot_move(bound: Desk) -> None:
    assert bound.signed_in("rita").post("/desk/moves", {**MOVE, "apply": "1"}).status_code == 403


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": ""}, "source"),
        ({"destination": ""}, "destination"),
        ({"destination": "javascript:alert(1)"}, "destination"),
        ({"below": "nonsense"}, "below"),
    ],
)
def test_a_wrong_field_is_explained(bound: Desk, jane: Browser, change: dict[str, str], field: str) -> None:
    refused = jane.post("/desk/moves", {**MOVE, **change})
    assert refused.status_code == 422
    assert f'id="{field}-error"' in refused.text


def test_no_match_is_explained(bound: Desk, jane: Browser) -> None:
    assert "No target begins with this text" in jane.post("/desk/moves", {**MOVE, "source": "none.example"}).text


class Site(Quiet, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/0" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def site() -> Iterator[str]:
    with running(Site) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    ("networks", "found"), [(["127.0.0.0/8"], ["status 200", "status 404"]), ([], ["not an allowed one"])]
)
@pytest.mark.usefixtures("requests_to_targets")
def test_the_preview_requests_a_sample(
    make_desk: Callable[..., Desk], site: str, networks: list[str], found: list[str]
) -> None:
    desk = make_desk(networks=networks)
    for number in range(2):
        desk.bindings.bind(f"ark:12345/x5{number}", f"https://old.example/{number}")
    form: dict[str, Any] = {**MOVE, "destination": site}
    jane = desk.signed_in("jane")
    page = jane.post("/desk/moves", form).text
    assert all(text in page for text in found)
    # In red, and with a question, if none of the targets answers.
    assert ("None of the 2 tested" in page, "targets anyway" in page) == (not networks, not networks)
    assert ("1 of 2 tested new targets answer." in page) == bool(networks)
    if not networks:
        preview = re.search(r'name="preview" value="(\w+)"', page)
        assert preview
        form |= {"apply": "1", "failed": "1", "preview": preview[1]}
        asked = jane.post("/desk/moves", form)
        assert (asked.status_code, 'id="sure-error"' in asked.text) == (422, True)
        assert desk.bindings.list_operations() == []
        assert jane.post("/desk/moves", {**form, "sure": "1"}).status_code == 303
        assert len(desk.bindings.list_operations()) == 1
