"""The question before a name is public permanently, in each form and table of the desk."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from werkzeug.test import TestResponse

from ararat.webapp.desk import before_public
from tests.http_servers import Quiet, running

from .conftest import Browser, Desk

NAME, OTHER = "ark:12345/x5new", "ark:12345/x5old"
TARGET = "https://museum.example/vase"


@dataclass
class Door:
    """A form or table: ``prepare`` records the name, and ``send`` sends the form with values and confirmations."""

    prepare: Callable[[Desk, dict[str, str]], None]
    send: Callable[[Desk, Browser, dict[str, str], list[str]], TestResponse]


def nothing(desk: Desk, values: dict[str, str]) -> None:
    """The form creates the name."""


def recorded(status: str) -> Callable[[Desk, dict[str, str]], None]:
    def prepare(desk: Desk, values: dict[str, str]) -> None:
        place = values.get("target", "https://museum.example/own")
        elements = {"what": values.get("title", "Own title")}
        if status == "reserved":
            desk.bindings.reserve(NAME, place, resource=values.get("number"), metadata=elements)
            return
        desk.bindings.bind(NAME, place, resource=values.get("number"), metadata=elements)
        if status == "withdrawn":
            desk.bindings.withdraw(NAME, reason="twice")

    return prepare


def live(desk: Desk, values: dict[str, str]) -> None:
    desk.bindings.bind(NAME, "https://museum.example/own", resource="own", metadata={"what": "Own title"})


def one_name(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
    form = {"text": NAME, "target": values.get("target", ""), "resource": values.get("number", ""), "status": "live"}
    return jane.post("/desk/new/name", {**form, "erc.what": values.get("title", ""), "confirm": confirm})


def of_name(action: str) -> Callable[[Desk, Browser, dict[str, str], list[str]], TestResponse]:
    def send(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
        found = desk.bindings.lookup(NAME)
        assert found is not None
        form = {"name": NAME, "revision": str(found.revision), "confirm": confirm}
        return jane.post(f"/desk/name/{action}", form)

    return send


def metadata(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
    return jane.post(
        "/desk/name/metadata", {"name": NAME, "revision": "1", "m.erc.what": values["title"], "confirm": confirm}
    )


def target(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
    form = {"target": values.get("target", "https://museum.example/own"), "kind": "located", "redirect": "302"}
    form |= {"number": values.get("number", "own"), "same": "1", "listed": "yes", "passthrough": "no"}
    return jane.post("/desk/name/target", {"name": NAME, "revision": "1", **form, "confirm": confirm})


def finish(desk: Desk) -> None:
    deadline = time.monotonic() + 20
    while desk.app.extensions["ararat_imports"].jobs.list_unfinished():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def preview(desk: Desk, jane: Browser, text: str, **choices: str) -> None:
    sent = jane.post("/desk/tables", {"file": (io.BytesIO(text.encode()), "names.csv")})
    page = jane.get(sent.location).text
    form = {}
    for name, options in re.findall(r'<select id="([^"]+)".*?>(.*?)</select>', page, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        form[name] = chosen[1] if chosen else ""
    jane.post(sent.location, {**form, "state": "live", **choices})
    finish(desk)


def import_preview(desk: Desk, jane: Browser, confirm: list[str]) -> TestResponse:
    path = re.search(r"/desk/tables/\d+", jane.get("/desk/tables").text)
    assert path
    job = re.search(r'name="job" value="(\d+)"', jane.get(path[0]).text)
    assert job
    answer = jane.post(f"{path[0]}/import", {"job": job[1], "confirm": confirm})
    finish(desk)
    return answer


def table(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
    if not confirm:
        columns = {"identifier": NAME, "target": values.get("target", f"{TARGET}/own")}
        columns["resource"] = values.get("number", "")
        columns["what"] = values.get("title", "")
        preview(desk, jane, "".join(",".join(each) + "\n" for each in (columns, columns.values())))
    return import_preview(desk, jane, confirm)


def selected(desk: Desk, jane: Browser, values: dict[str, str], confirm: list[str]) -> TestResponse:
    if not confirm:
        jane.post("/desk/names/selected", {"pick": NAME, "do": "publish"})
        finish(desk)
    answer = jane.post("/desk/many/1", {"confirm": confirm})
    finish(desk)
    return answer


DOORS = {
    "one name": Door(nothing, one_name),
    "publish": Door(recorded("reserved"), of_name("publish")),
    "restore": Door(recorded("withdrawn"), of_name("restore")),
    "metadata": Door(live, metadata),
    "target": Door(live, target),
    "table": Door(nothing, table),
    "selected": Door(recorded("reserved"), selected),
}
CONCERNS = {
    "number": ({"number": "INV 3"}, "has the number"),
    "target": ({"target": TARGET}, "leads there, too."),
    "title": ({"title": "vase  with BIRDS"}, "has the same title as"),
}
CASES = [
    pytest.param(door, concern, id=f"{door}-{concern}")
    for door in DOORS
    for concern in CONCERNS
    if (door, concern) not in {("metadata", "number"), ("metadata", "target"), ("target", "title")}
]


def confirmations(page: str) -> list[str]:
    return re.findall(r'name="confirm" value="(\w+)"', page)


@pytest.mark.parametrize(("door", "concern"), CASES)
def test_a_form_asks_once_about_a_shared_value(
    desk: Desk, jane: Browser, read_page: Any, door: str, concern: str
) -> None:
    desk.bindings.bind(OTHER, TARGET, resource="INV 3", metadata={"what": "Vase with birds"})
    values, says = CONCERNS[concern]
    DOORS[door].prepare(desk, values)
    before = desk.bindings.lookup(NAME)
    asked = DOORS[door].send(desk, jane, values, [])
    assert asked.status_code == 422
    assert desk.bindings.lookup(NAME) == before
    question = read_page(asked.text).one(role="alert").text
    assert says in question
    assert "Vase with birds" in question
    assert OTHER in question
    # An answer confirms only its own question.
    assert DOORS[door].send(desk, jane, values, ["0" * 20]).status_code == 422
    assert DOORS[door].send(desk, jane, values, confirmations(asked.text)).status_code == 303
    after = desk.bindings.lookup(NAME)
    assert after is not None
    assert (after.is_live, after != before) == (True, True)


@pytest.mark.parametrize("door", [each for each in DOORS if each not in ("metadata", "target", "table")])
def test_a_form_does_not_ask_about_a_name_without_a_concern(desk: Desk, jane: Browser, door: str) -> None:
    desk.bindings.bind(OTHER, TARGET, resource="INV 3", metadata={"what": "Vase with birds"})
    desk.bindings.withdraw(OTHER, reason="twice")
    values = {"number": "INV 3", "title": "Vase with birds", "target": TARGET}
    DOORS[door].prepare(desk, values)
    assert DOORS[door].send(desk, jane, values, []).status_code == 303


def test_a_reserved_name_is_not_asked_about(desk: Desk, jane: Browser) -> None:
    desk.bindings.bind(OTHER, TARGET)
    assert jane.post("/desk/new/name", {"text": NAME, "target": TARGET}).status_code == 303
    found = desk.bindings.lookup(NAME)
    assert found is not None
    assert found.is_reserved
    # But one that will be public without a further act.
    form = {"text": f"{NAME}2", "target": TARGET, "embargo": "2099-01-01"}
    assert jane.post("/desk/new/name", form).status_code == 422


def test_minted_names_with_one_target_share_it(desk: Desk, jane: Browser) -> None:
    form = {"shoulder": "ark:12345/x5", "count": "3", "state": "live", "template": TARGET}
    asked = jane.post("/desk/new/mint", form)
    assert asked.status_code == 422
    assert asked.text.count(". Another new name leads there, too.") == 1
    assert desk.bindings.count().number == 0
    assert jane.post("/desk/new/mint", {**form, "confirm": confirmations(asked.text)}).status_code == 303
    assert desk.bindings.count().number == 3
    own = {**form, "template": f"{TARGET}/${{identifier}}"}
    assert jane.post("/desk/new/mint", own).status_code == 303


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (21, "There is 1 more point."),
        (30, "There are 10 more points."),
        (39, "There are 19 more points."),
        (40, "There are 20 more points."),
        (41, "There are at least 20 more points."),
    ],
)
def test_a_table_asks_once_about_many_names(
    desk: Desk, jane: Browser, read_page: Any, monkeypatch: pytest.MonkeyPatch, rows: int, says: str
) -> None:
    monkeypatch.setattr(before_public, "_BLOCK", 40)
    lines = ["resource,what,target", *(f"INV {number},View of Roe,{TARGET}/{number}" for number in range(rows))]
    preview(desk, jane, "\n".join(lines) + "\n", names="mint", shoulder="ark:12345/x5")
    asked = import_preview(desk, jane, [])
    assert asked.status_code == 422
    question = read_page(asked.text).one(role="alert").text
    assert "Row 2 View of Roe has the same title as Row 3 View of Roe" in question
    assert "Row 3 View of Roe has the same title as Row 2 View of Roe" in question
    assert says in question
    # Without a confirmation of the points that are not listed, the question is asked again.
    assert import_preview(desk, jane, confirmations(asked.text)[:-1]).status_code == 422
    assert desk.bindings.count().number == 0
    assert import_preview(desk, jane, confirmations(asked.text)).status_code == 303
    assert desk.bindings.count().number == rows


def test_a_second_click_is_not_asked_about_the_names_of_the_first(desk: Desk, jane: Browser) -> None:
    once = re.search(r'name="once" value="([^"]+)"', jane.get("/desk/new").text)
    assert once
    form = {"text": TARGET, "below": "ark:12345/x5", "status": "live", "once": once[1]}
    assert [jane.post("/desk/new/name", form).status_code for _ in range(2)] == [303, 303]
    assert desk.bindings.count().number == 1


class Site(Quiet, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = {"/there": 200, "/login": 403, "/moved": 301, "/loop": 302}.get(self.path, 404)
        self.send_response(status)
        if status in (301, 302):
            self.send_header("Location", "/gone" if status == 301 else "/loop")
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def site() -> Iterator[str]:
    with running(Site) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    ("path", "options", "asks"),
    [
        ("/there", {}, False),
        ("/gone", {}, True),
        ("/moved", {}, True),
        ("/loop", {}, False),
        ("/login", {}, False),
        ("/gone#part", {}, True),
        ("/gone", {"networks": []}, False),
        ("/gone", {"trace_elsewhere": False}, False),
    ],
)
@pytest.mark.usefixtures("requests_to_targets")
def test_a_form_asks_about_a_page_that_does_not_answer(
    make_desk: Callable[..., Desk], site: str, path: str, options: dict[str, Any], asks: bool
) -> None:
    desk = make_desk(**{"networks": ["127.0.0.0/8"], **options})
    jane = desk.signed_in("jane")
    form = {"text": NAME, "target": f"{site}{path}", "status": "live"}
    answer = jane.post("/desk/new/name", form)
    assert answer.status_code == (422 if asks else 303)
    if asks:
        assert "which does not answer: status 404" in answer.text
        assert jane.post("/desk/new/name", {**form, "confirm": confirmations(answer.text)}).status_code == 303


def test_a_name_with_a_date_is_published_early_only_after_a_question(desk: Desk, jane: Browser) -> None:
    desk.bindings.reserve(NAME, TARGET, metadata={"what": "Letters"}, embargo="2099-01-01")
    page = jane.get("/desk/name", query_string={"name": NAME}).text
    assert f'href="/desk/name/publish?name={NAME}"' in page
    form = {"name": NAME, "revision": "1"}
    asked = jane.post("/desk/name/publish", form)
    assert asked.status_code == 422
    assert re.search(r"<h1>Publish [\d,]+ days before its date\?</h1>", asked.text)
    assert re.search(r"Publish [\d,]+ days early</button>", asked.text)
    assert TARGET in asked.text
    assert "It can never be deleted, only withdrawn." in asked.text
    found = desk.bindings.lookup(NAME)
    assert found is not None
    assert found.is_reserved
    assert jane.post("/desk/name/publish", {**form, "confirm": confirmations(asked.text)}).status_code == 303
    assert jane.get("/desk/name/publish", query_string={"name": NAME}).status_code == 303


@pytest.mark.parametrize(("path", "field"), [("/desk/new", "status"), ("/desk/new?many=1", "state")])
def test_reserved_is_the_default_of_new_names(jane: Browser, read_page: Any, path: str, field: str) -> None:
    form = read_page(jane.get(path).text)
    chosen = [each.attributes["value"] for each in form.all("input", name=field) if "checked" in each.attributes]
    assert chosen == ["reserved"]


def test_a_reader_cannot_ask(desk: Desk) -> None:
    desk.bindings.reserve(NAME, TARGET)
    rita = desk.signed_in("rita")
    assert rita.get("/desk/name/publish", query_string={"name": NAME}).status_code == 403
    assert rita.post("/desk/name/publish", {"name": NAME, "revision": "1"}).status_code == 403
