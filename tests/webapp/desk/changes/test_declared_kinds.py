"""An operation and a right that a test declares at run time: the interfaces have them without further code."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ararat.bindings.names import assignment
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.operation import KINDS, FormField, OperationKind, declare, kind_of, kind_of_action
from ararat.bindings.operations.edits import plan_of_selected
from ararat.bindings.operations.undo import undo_operation
from ararat.webapp.accounts import rights
from ararat.webapp.accounts.rights import RIGHTS, RightText

from ...desk.conftest import Browser, Desk
from .test_many import finished

NAMES = ["ark:12345/x51", "ark:12345/x52"]


def archive(box: str) -> Any:
    def decide(binding: Binding, now: Any) -> Change:
        fields = assignment.with_recorded_place(Fields(metadata={"erc.where": box}), binding)
        return assignment.bind(binding, fields.for_key(binding.identifier), now)

    return plan_of_selected("archive", {"box": box}, decide)


@pytest.fixture
def archiving(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The right "archive", and the operation "archive", which needs it."""
    texts: Any = dict(RIGHTS) | {"archive": RightText("archive names", "Archive names")}
    for name, text in texts.items():
        monkeypatch.setitem(RIGHTS, name, text)  # type: ignore[arg-type]
    monkeypatch.setitem(rights._OF_FIELD, "metadata", "archive")  # type: ignore[arg-type]
    declare(
        OperationKind(
            name="archive",
            audit="archive-names",
            label=lambda number: f"Operation {number}: archive",
            title="Archive names",
            plan=lambda arguments: archive(arguments["box"]),
            body={"box": {"type": "string", "minLength": 1, "maxLength": 40}},
            required=("box",),
            rights=("archive",),
            button="Archive",
            form=(FormField("box", "Box"),),
            heading=lambda number: f"Archive {number} names",
            read_form=lambda values: {"box": values["box"]},
            field_of=lambda error, values: "box",
        )
    )
    yield
    del KINDS["archive"]


@pytest.fixture
def names(desk: Desk) -> None:
    for name in NAMES:
        desk.bindings.bind(name, "https://example.org/1")


def boxes(desk: Desk) -> list[str | None]:
    return [desk.bindings.store.fetch([name])[name].metadata.get("erc.where") for name in NAMES]


@pytest.mark.usefixtures("archiving", "names")
def test_a_declared_operation_is_used_in_the_desk_and_undone(desk: Desk, jane: Browser) -> None:
    assert '<button class="button quiet" name="do" value="archive">Archive</button>' in jane.get("/desk/names").text
    asked = jane.post("/desk/names/selected", {"do": "archive", "pick": NAMES})
    form = jane.get(asked.headers["Location"]).text
    assert "Archive 2 names" in html.unescape(form)
    assert 'name="box"' in form
    text, path = finished(jane, jane.post("/desk/names/change", {"do": "archive", "pick": NAMES, "box": "7"}))
    assert "This changes 2 names" in text
    assert boxes(desk) == [None, None]
    finished(jane, jane.post(path))
    assert boxes(desk) == ["7", "7"]
    [operation] = desk.bindings.list_operations()
    assert operation.action == "archive"
    assert f"Operation {operation.number}: archive" in jane.get(f"/desk/changes/{operation.number}").text
    assert undo_operation(desk.bindings, operation.number).counts == {"updated": 2}
    assert boxes(desk) == [None, None]


@pytest.fixture
def brief() -> Iterator[None]:
    """The operation "store", of which only what is necessary is declared."""

    def plan(arguments: Any) -> Any:
        if not arguments["box"]:
            raise BindingError("list-text", "the box is missing")
        return archive(arguments["box"])._replace(action="store")

    declare(
        OperationKind(
            name="store",
            audit="store-names",
            label=lambda number: f"Operation {number}: store",
            plan=plan,
            body={"box": {"type": "string"}},
            rights=(),
            button="Store",
            form=(FormField("box", "Box"),),
        )
    )
    yield
    del KINDS["store"]


@pytest.mark.usefixtures("brief", "names")
def test_an_operation_with_the_fewest_declarations_is_used_in_the_desk(desk: Desk, jane: Browser) -> None:
    form = jane.get(jane.post("/desk/names/selected", {"do": "store", "pick": NAMES}).headers["Location"]).text
    assert "<h1>Store" in form
    refused = jane.post("/desk/names/change", {"do": "store", "pick": NAMES, "box": ""})
    assert refused.status_code == 422
    assert 'href="#box"' in refused.text
    text, path = finished(jane, jane.post("/desk/names/change", {"do": "store", "pick": NAMES, "box": "7"}))
    assert "Store" in text
    finished(jane, jane.post(path))
    assert boxes(desk) == ["7", "7"]


@pytest.mark.usefixtures("archiving", "names")
def test_a_declared_operation_and_its_right_are_in_the_api(desk: Desk) -> None:
    def send(right: str, method: str, path: str, body: Any = None) -> Any:
        _, secret = desk.accounts.tokens.create("jane", right, None, None, rights=["read", right])
        fields = {"Authorization": f"Bearer {secret}"}
        return desk.app.test_client().open(f"/api/v1{path}", method=method, json=body, headers=fields)

    body = {"operation": {"action": "archive", "box": "8"}, "names": NAMES}
    refused = send("describe", "POST", "/changes", body)
    assert (refused.status_code, refused.json["code"]) == (403, "right-missing")
    assert "archive names" in refused.json["detail"]
    answer, deadline = send("archive", "POST", "/changes", body), time.monotonic() + 20
    assert answer.status_code == 202, answer.text
    number = answer.json["number"]
    while (job := send("archive", "GET", f"/changes/{number}").json)["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert job["result"]["counts"] == {"updated": 2}
    described = send("archive", "GET", "/openapi.json").json["components"]["schemas"]
    assert "archive" in described["RecordedOperation"]["properties"]["action"]["enum"]
    assert "archive" in described["Token"]["properties"]["rights"]["anyOf"][0]["items"]["enum"]
    assert send("archive", "GET", "/account").json["token"]["rights"] == ["read", "archive"]


@pytest.mark.usefixtures("archiving")
def test_a_token_with_all_boxes_has_no_list_of_rights(desk: Desk, jane: Browser) -> None:
    page = jane.get("/desk/tokens").text
    assert "Archive names" in page
    form = {"label": "all", "expires": "2099-12-31", "prefixes": "", "rights": ["", *RIGHTS]}
    assert jane.post("/desk/tokens", form).status_code == 303
    assert [each.rights for each in desk.accounts.tokens.list("jane")] == [None]


@pytest.mark.usefixtures("names")
def test_an_operation_that_is_not_declared_is_refused_everywhere(desk: Desk, jane: Browser) -> None:
    for find in (kind_of, kind_of_action):
        with pytest.raises(BindingError) as refused:
            find("archive")
        assert refused.value.code == "operation-kind"
    with pytest.raises(BindingError):
        kind_of("import")  # no one requests it for selected names
    with desk.bindings.transaction() as transaction, pytest.raises(BindingError):
        transaction.operations.begin("archive", None, desk.bindings.now(), {})
    assert jane.post("/desk/names/selected", {"do": "archive", "pick": NAMES}).headers["Location"].startswith("/desk/n")
    assert jane.post("/desk/names/change", {"do": "archive", "pick": NAMES}).status_code == 303
    _, secret = desk.accounts.tokens.create("jane", "all", None, None)
    answer = desk.app.test_client().post(
        "/api/v1/changes",
        json={"operation": {"action": "archive"}, "names": NAMES},
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 422
    imports = desk.app.extensions["ararat_imports"]
    caller = desk.accounts.tokens.caller(secret)
    with pytest.raises(BindingError) as unknown:
        desk.accounts.run_in_transaction(
            lambda each: imports.bulk.check(each, caller, {"action": "archive"}, names=NAMES)
        )
    assert unknown.value.code == "operation-kind"
