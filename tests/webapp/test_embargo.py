"""Each interface sets, shows, moves and removes the date of a reserved name, and shows the name as live after it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.selection import select
from ararat.bindings.operations import edits
from ararat.bindings.operations.plan import BulkResult, Plan
from ararat.bindings.operations.plan_names import carry_out
from ararat.bindings.operations.undo import undo_change, undo_operation
from ararat.bindings.publication import publish_due
from ararat.cli import main
from ararat.middleware import import_table, open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.store import Accounts

DATE = datetime(2999, 3, 1, tzinfo=UTC)
STORED = "2999-03-01T00:00:00.000000Z"
NAME = "ark:12345/x51"
PATCH = "application/merge-patch+json"


class Clock:
    def __init__(self) -> None:
        self.now = DATE - timedelta(days=30)

    def __call__(self) -> datetime:
        # Sessions and revisions need a clock that advances.
        self.now += timedelta(microseconds=1)
        return self.now


@dataclass
class Site:
    app: Flask
    bindings: Bindings
    clock: Clock
    secret: str
    file: Path

    def api(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.secret}"}
        content_type = PATCH if method == "PATCH" else "application/json"
        data = None if body is None else json.dumps(body)
        return self.app.test_client().open(
            f"/api/v1{path}", method=method, data=data, headers=headers, content_type=body and content_type
        )

    def ezid(self, method: str, path: str, body: str = "") -> str:
        headers = {"Authorization": f"Bearer {self.secret}"}
        return self.app.test_client().open(f"/ezid{path}", method=method, data=body, headers=headers).text

    def found(self) -> tuple[str, datetime | None]:
        binding = self.bindings.lookup(NAME)
        assert binding
        return binding.status, binding.embargo


def change(site: Site, plan: Plan, names: list[str]) -> BulkResult:
    return carry_out(site.bindings, plan._replace(find=lambda transaction: iter(names)))


@pytest.fixture
def site(tmp_path: Path, open_store: Callable[..., Bindings]) -> Site:
    clock, file = Clock(), tmp_path / "names.sqlite"
    bindings = open_store(file, clock=clock)
    accounts = Accounts(bindings)
    accounts.add("ada", "administrator")
    secret = accounts.tokens.create("ada", "test")[1]
    return Site(create_app(bindings, ezid="/ezid", prefix="https://ids.example"), bindings, clock, secret, file)


def test_json_api(site: Site) -> None:
    created = site.api("PUT", f"/names/{NAME}", {"target": "https://example.org/1", "embargo": "2999-03-01"})
    assert (created.status_code, created.json["state"], created.json["embargo"]) == (201, "reserved", STORED)
    moved = site.api("PATCH", f"/names/{NAME}", {"embargo": "2999-03-01T01:00:00+02:00"})
    assert moved.json["embargo"] == "2999-02-28T23:00:00.000000Z"
    assert site.api("PATCH", f"/names/{NAME}", {"embargo": None}).json["embargo"] is None
    assert site.api("PATCH", f"/names/{NAME}", {"embargo": "2999-03-01"}).json["embargo"] == STORED
    # A request that replaces the other values keeps the state, and with it the date.
    assert site.api("PUT", f"/names/{NAME}", {"target": "https://example.org/2"}).json["embargo"] == STORED
    for wrong, code in (("2020-01-01", "embargo-past"), ("soon", "time-text")):
        refused = site.api("PATCH", f"/names/{NAME}", {"embargo": wrong})
        assert (refused.status_code, refused.json["code"]) == (422, code)
    assert site.api("PATCH", f"/names/{NAME}", {"embargo": "2999-03-01", "state": "live"}).status_code == 422
    site.clock.now = DATE
    shown = site.api("GET", f"/names/{NAME}")
    assert (shown.json["state"], shown.json["embargo"]) == ("live", None)
    assert [each["identifier"] for each in site.api("GET", "/names?state=live").json["names"]] == [NAME]
    assert site.api("GET", "/names?state=reserved").json["names"] == []
    for embargo in (None, "2999-09-01"):
        refused = site.api("PATCH", f"/names/{NAME}", {"embargo": embargo})
        assert (refused.status_code, refused.json["code"]) == (409, "embargo-reached")
    assert site.api("DELETE", f"/names/{NAME}").json["code"] == "delete-public"


def test_a_mint_by_the_json_api(site: Site) -> None:
    site.api("PUT", "/prefixes/ark:12345/x5", {"who": "Museum"})
    made = site.api("POST", "/names", {"names": [{"shoulder": "ark:12345/x5", "embargo": "2999-03-01"}] * 2})
    assert [each["name"]["embargo"] for each in made.json["names"]] == [STORED] * 2
    site.clock.now = DATE
    assert site.bindings.count_names(by="state") == {"live": 2}


def test_ezid_api(site: Site) -> None:
    answer = site.ezid("PUT", f"/id/{NAME}", "_target: https://example.org/1\nararat.embargo: 2999-03-01\n")
    assert answer.startswith("success")
    assert site.found() == ("reserved", DATE)
    shown = site.ezid("GET", f"/id/{NAME}")
    assert "_status: reserved" in shown
    assert f"ararat.embargo: {STORED}" in shown
    assert site.ezid("POST", f"/id/{NAME}", "ararat.embargo: 2999-04-01\n").startswith("success")
    assert site.ezid("POST", f"/id/{NAME}", "ararat.embargo: 2020-01-01\n").startswith("error: bad request")
    site.clock.now = DATE + timedelta(days=60)
    shown = site.ezid("GET", f"/id/{NAME}")
    assert "_status: public" in shown
    assert "embargo" not in shown
    assert site.ezid("POST", f"/id/{NAME}", "ararat.embargo: 2999-09-01\n").startswith("error")
    assert site.ezid("DELETE", f"/id/{NAME}").startswith("error: bad request")


def test_command(tmp_path: Path) -> None:
    file = tmp_path / "names.sqlite"

    def run(*arguments: str) -> str:
        result = CliRunner(env={"ARARAT_DATABASE": str(file)}).invoke(main.main, [*arguments])
        return f"{result.exit_code} {result.output}"

    assert run("bind", NAME, "https://example.org/1", "--embargo", "2999-03-01").startswith("0 reserved")
    assert "reserved, live from" in run("show", NAME)
    assert json.loads(run("show", NAME, "--json")[2:])["embargo"] == STORED
    assert run("reserve", NAME, "--embargo", "2999-04-01").startswith("0 updated")
    assert "reserved, live from 2999-04-01 00:00:00Z" in run("history", NAME)
    assert run("reserve", NAME, "--embargo", "2020-01-01").startswith("2 ")
    assert run("mint", "12345/x5", "--count", "2", "--embargo", "2999-03-01").startswith("0 ")
    with open_bindings(file, clock=lambda: DATE + timedelta(days=90)) as bindings:
        assert bindings.count_names(by="state") == {"live": 3}


def test_tables_have_the_date_in_and_out(site: Site, tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text(f"identifier,target,status,embargo\n{NAME},https://example.org/1,reserved,2999-03-01\n")
    import_table(site.bindings, table)
    assert site.found() == ("reserved", DATE)
    assert import_table(site.bindings, table).unchanged == 1

    def exported() -> dict[str, str]:
        file = io.BytesIO()
        export_table(site.bindings, file)
        (row,) = csv.DictReader(io.StringIO(file.getvalue().decode()))
        return row

    row = exported()
    assert (row["status"], row["embargo"]) == ("reserved", STORED)
    # A copy of the export that is restored, and the same tables again, after the date.
    site.clock.now = DATE
    again = import_table(site.bindings, table)
    assert (again.unchanged, again.refusals) == (1, 0)
    row = exported()
    assert (row["status"], row.get("embargo", "")) == ("live", "")
    with open_bindings(tmp_path / "new.sqlite", create=True, clock=site.clock) as restored:
        import_table(restored, table)
        assert restored.count_names(by="state") == {"live": 1}


def test_an_old_table_does_not_publish_a_name_whose_date_was_removed(site: Site, tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text(f"identifier,target,status,embargo\n{NAME},https://example.org/1,reserved,2999-03-01\n")
    import_table(site.bindings, table)
    site.bindings.reserve(NAME, embargo="")
    site.clock.now = DATE
    assert import_table(site.bindings, table).refusals == 1
    assert site.found() == ("reserved", None)


def test_an_undo_publishes_no_name(site: Site) -> None:
    site.bindings.reserve(NAME, "https://example.org/1", embargo="2999-03-01")
    site.bindings.reserve(NAME, embargo="")
    site.clock.now = DATE
    assert undo_change(site.bindings, NAME).counts == {}
    assert site.found() == ("reserved", None)


def test_the_undo_of_a_publication_by_its_date_hides_the_name(site: Site) -> None:
    site.bindings.reserve(NAME, "https://example.org/1", embargo="2999-03-01")
    site.clock.now = DATE
    publish_due(site.bindings.store)
    assert undo_change(site.bindings, NAME).counts == {"hidden": 1}
    hidden = site.bindings.lookup(NAME)
    assert hidden
    assert (hidden.is_hidden, hidden.embargo) == (True, None)


@pytest.mark.parametrize("plan", [edits.publish, edits.delete, lambda: edits.edit(Fields(embargo="2999-09-01"))])
def test_bulk_actions_leave_a_name_alone_whose_date_is_reached(site: Site, plan: Any) -> None:
    site.bindings.reserve(NAME, "https://example.org/1", embargo="2999-03-01")
    site.bindings.reserve("ark:12345/x52")
    site.clock.now = DATE
    result = change(site, plan(), [NAME, "ark:12345/x52"])
    assert (sum(result.counts.values()), result.others) == (1, 1)
    assert site.found() == ("live", None)


def test_a_bulk_edit_sets_the_date_and_is_undone(site: Site) -> None:
    for number in range(3):
        site.bindings.reserve(f"ark:12345/x5{number}", f"https://example.org/{number}")
    names = [each.identifier for each in site.bindings.list_names(select()).names]
    result = change(site, edits.edit(Fields(embargo="2999-03-01")), names)
    assert result.operation
    assert site.found() == ("reserved", DATE)
    assert undo_operation(site.bindings, result.operation).counts == {"updated": 3}
    assert site.found() == ("reserved", None)


def test_desk(site: Site) -> None:
    client = site.app.test_client()
    token = ""

    def sign_in() -> str:
        account = Accounts(site.bindings).get("ada")
        assert account
        client.set_cookie("ararat", Accounts(site.bindings).sessions.start(account))
        found = re.search(r'csrf_token" value="(\w+)"', client.get("/desk/new").text)
        assert found
        return found[1]

    def post(path: str, **form: str) -> Any:
        return client.post(path, data={"csrf_token": token, **form})

    token = sign_in()
    new = {"text": NAME, "target": "https://example.org/1", "status": "reserved"}
    refused = post("/desk/new/name", **new, embargo="2020-01-01")
    assert refused.status_code == 422
    assert 'id="embargo-error"' in refused.text
    assert post("/desk/new/name", **new, embargo="2999-03-01").status_code == 303
    assert site.found() == ("reserved", DATE)
    page = client.get(f"/desk/name?name={NAME}").text
    assert "live from" in page
    assert "2999-03-01 00:00 UTC" in page
    assert "live from" in client.get("/desk/names").text
    form = client.get(f"/desk/name/target?name={NAME}").text
    assert re.search(r'name="embargo"[^>]* value="2999-03-01"', form)
    place = {"name": NAME, "target": "https://example.org/1", "kind": "located"}
    assert post("/desk/name/target", **place, revision="1", embargo="2999-04-01T12:00:00+02:00").status_code == 303
    assert site.found() == ("reserved", datetime(2999, 4, 1, 10, tzinfo=UTC))
    assert post("/desk/name/target", **place, revision="2", embargo="").status_code == 303
    assert site.found() == ("reserved", None)
    assert post("/desk/name/target", **place, revision="3", embargo="2999-03-01").status_code == 303
    site.clock.now = DATE
    token = sign_in()
    # The form was open on the day: the other state is a conflict, not a change of a date that is over.
    assert post("/desk/name/target", **place, revision="4", embargo="2999-05-01").status_code == 409
    assert post("/desk/name/delete", name=NAME, revision="5").status_code == 409
    assert "live from" not in client.get(f"/desk/name?name={NAME}").text
