"""The rights of tokens: the same in the APIs, imports, changes of many names, jobs and prefix changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from werkzeug.test import TestResponse

from ararat.bindings.collection import Bindings
from ararat.bindings.names.fields import FIELDS
from ararat.bindings.names.selection import Selection
from ararat.bindings.operations.selected import change_selected
from ararat.cli import main
from ararat.webapp import create_app
from ararat.webapp.accounts import rights
from ararat.webapp.accounts.model import AccountError
from ararat.webapp.accounts.rights import RIGHTS
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.model import caller_of, stored_caller
from ararat.webapp.management import Forbidden, bulk
from tests.webapp.desk.conftest import with_accounts
from tests.webapp.management.acts import Acts
from tests.webapp.management.conftest import imported
from tests.wrapping import unwrapped

PREFIX = "ark:12345/x5"
URL = "https://example.org/"


class Site:
    """A site with a curator and an administrator, and their tokens with some rights."""

    def __init__(self, file: Path, bindings: Bindings) -> None:
        self.file = file
        self.bindings = bindings
        self.accounts = Accounts(bindings)
        self.app: Flask = create_app(self.bindings, ezid="/ezid", prefix="https://ids.example.org")

    def token(self, *permitted: str, name: str = "jane", **options: Any) -> str:
        return self.accounts.tokens.create(name, "robot", rights=permitted or None, **options)[1]

    def send(self, secret: str, method: str, path: str, body: Any = None, **options: Any) -> TestResponse:
        headers = {"Authorization": f"Bearer {secret}", **options.pop("headers", {})}
        return self.app.test_client().open(path, method=method, json=body, headers=headers, **options)


@pytest.fixture
def site(tmp_path: Path, open_store: Callable[..., Bindings]) -> Site:
    file = tmp_path / "bindings.sqlite"
    file.write_bytes(with_accounts()[0])
    return Site(file, open_store(file))


def prepare(site: Site) -> None:
    """Record a live, a reserved, a withdrawn and a described name."""
    site.bindings.bind(f"{PREFIX}live", f"{URL}1", metadata={"who": "Noah"})
    site.bindings.reserve(f"{PREFIX}kept")
    site.bindings.bind(f"{PREFIX}gone", f"{URL}2")
    site.bindings.withdraw(f"{PREFIX}gone", reason="lost")
    site.bindings.prefixes.set(PREFIX, what="Maps")


def names(**fields: Any) -> dict[str, Any]:
    return {"names": [fields]}


PATCH = {"headers": {"Content-Type": "application/merge-patch+json"}}
NAME = "/api/v1/names/"
END = (datetime.now(UTC) + timedelta(days=90)).strftime("%Y-%m-%d")

# A request, and the rights without which it is refused. Each request works with exactly these rights.
REQUESTS: dict[str, tuple[set[str], str, str, Any]] = {
    "mint": ({"mint"}, "POST", "/api/v1/names", names(shoulder=PREFIX, state="reserved")),
    "mint and bind": ({"mint", "bind"}, "POST", "/api/v1/names", names(shoulder=PREFIX, target=f"{URL}3")),
    "mint for a day": (
        *({"mint", "bind"}, "POST", "/api/v1/names"),
        names(shoulder=PREFIX, state="reserved", embargo=END),
    ),
    "bind": ({"bind"}, "POST", "/api/v1/names", names(name=f"{PREFIX}new", target=f"{URL}3", metadata={"who": "Noah"})),
    "reserve a chosen name": ({"bind"}, "POST", "/api/v1/names", names(name=f"{PREFIX}new", state="reserved")),
    "publish": ({"bind"}, "PATCH", f"{NAME}{PREFIX}kept", {"state": "live", "target": f"{URL}3"}),
    "describe": ({"describe"}, "PATCH", f"{NAME}{PREFIX}live", {"metadata": {"who": "Ham"}}),
    "relocate": ({"relocate"}, "POST", f"{NAME}{PREFIX}live/relocate", {"target": f"{URL}3"}),
    "withdraw": ({"withdraw"}, "POST", f"{NAME}{PREFIX}live/withdraw", {"reason": "lost"}),
    "hold": ({"withdraw"}, "POST", "/api/v1/holds", {"name": f"{PREFIX}live", "until": END, "reason": "a claim"}),
    "hold a prefix": ({"withdraw"}, "POST", "/api/v1/holds", {"prefix": PREFIX, "until": END, "reason": "a claim"}),
    "publish at a day": ({"bind"}, "PATCH", f"{NAME}{PREFIX}kept", {"embargo": END}),
    "list holds": ({"read"}, "GET", "/api/v1/holds", None),
    "restore": ({"withdraw"}, "POST", f"{NAME}{PREFIX}gone/restore", {}),
    "delete": ({"withdraw"}, "DELETE", f"{NAME}{PREFIX}kept", None),
    "history": ({"read"}, "GET", f"{NAME}{PREFIX}live/history", None),
    "list": ({"read"}, "GET", "/api/v1/names", None),
    "show a reserved name": ({"read"}, "GET", f"{NAME}{PREFIX}kept", None),
}


@pytest.mark.parametrize("request_", [pytest.param(case, id=name) for name, case in REQUESTS.items()])
def test_each_request_needs_its_rights(site: Site, request_: tuple[set[str], str, str, Any]) -> None:
    needed, method, path, body = request_
    prepare(site)
    options = PATCH if method == "PATCH" else {}
    reading = {"read"} if path.endswith(f"{PREFIX}kept") else set()
    for missing in sorted(needed):
        # The others are not enough.
        answer = site.send(site.token(*({*RIGHTS} - {missing})), method, path, body, **options)
        refused = (answer.status_code, (answer.json or {}).get("code"))
        assert refused in (
            (403, "right-missing"),
            *([(404, "not-bound"), (404, None)] if missing in reading else []),
        ), answer.text
        if refused[0] == 403:
            text = (answer.json or {})["detail"]
            assert RIGHTS[missing].action in text  # type: ignore[index]
            assert "token robot" in text
            assert "the account jane can create one" in text
    answer = site.send(site.token(*needed), method, path, body, **options)
    assert answer.status_code in (200, 201, 204), answer.text


def test_each_field_has_a_right() -> None:
    """A new field needs a decision: here, and in the table of rights unless "describe" is its right."""
    describe = {"listed", "resource", "numbers", "metadata", "spelling", "created"}
    assert {field.name for field in FIELDS} == describe | {*rights._OF_FIELD} | rights._WITHOUT_RIGHT


def test_the_ezid_api_needs_the_same_rights(site: Site) -> None:
    prepare(site)
    text = {"content_type": "text/plain; charset=UTF-8"}
    for needed, path, body, status in (
        ({"mint", "bind"}, f"shoulder/{PREFIX}", f"_target: {URL}3", 201),
        ({"mint", "bind"}, f"shoulder/{PREFIX}", f"_status: reserved\nararat.embargo: {END}", 201),
        ({"bind"}, f"id/{PREFIX}new", f"_target: {URL}3", 201),
        ({"describe"}, f"id/{PREFIX}live", "erc.who: Ham", 200),
        ({"relocate"}, f"id/{PREFIX}live", f"_target: {URL}4", 200),
        ({"withdraw"}, f"id/{PREFIX}live", "_status: unavailable | lost", 200),
    ):
        method = "PUT" if status == 201 and path.startswith("id/") else "POST"
        for missing in needed:
            refused = site.send(site.token(*({*RIGHTS} - {missing})), method, f"/ezid/{path}", data=body, **text)
            assert (refused.status_code, refused.text.startswith("error: forbidden")) == (403, True), refused.text
            assert RIGHTS[missing].action in refused.text  # type: ignore[index]
        answer = site.send(site.token(*needed), method, f"/ezid/{path}", data=body, **text)
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("right", "table", "refused"),
    [
        ("bind", f"{PREFIX}a,{URL}3,\n{PREFIX}live,{URL}1,Noah\n", []),
        ("bind", f"{PREFIX}a,{URL}3,\n{PREFIX}live,{URL}1,Ham\n", ["right-missing"]),
        ("describe", f"{PREFIX}live,{URL}1,Ham\n", []),
        ("describe", f"{PREFIX}a,{URL}3,\n", ["right-missing"]),
    ],
)
def test_an_import_needs_the_rights_of_its_rows(site: Site, right: str, table: str, refused: list[str]) -> None:
    prepare(site)
    caller = site.accounts.tokens.caller(site.token(right))
    done = imported(Acts(site.bindings, site.accounts), caller, f"identifier,target,who\n{table}".encode())
    assert [each["code"] for each in done["refused"]] == refused
    assert (site.bindings.lookup(f"{PREFIX}a") is None) is ("a," not in table or bool(refused))


def test_many_names_and_their_undo_need_the_rights(site: Site) -> None:
    prepare(site)
    known = site.accounts.tokens.caller

    def relocated(*permitted: str, dry_run: bool = False) -> list[str]:
        who = known(site.token(*permitted))
        done = bulk.relocate_prefix(site.accounts, who, "https://example.org", "https://new.example", dry_run=dry_run)
        return [each.code for each in done.refused]

    # A dry run would list the reserved names of others as refused.
    for dry_run in (True, False):
        with pytest.raises(Forbidden) as refused:
            relocated("describe", "withdraw", dry_run=dry_run)
        assert refused.value.code == "right-missing"
    assert relocated("relocate", "withdraw") == []
    number = site.bindings.list_operations(limit=1)[0].number
    undone = bulk.undo(site.accounts, known(site.token("describe")), number)
    assert {each.code for each in undone.refused} == {"right-missing"}
    assert bulk.undo(site.accounts, known(site.token("relocate", "withdraw")), number).refusals == 0


def test_the_undo_of_a_deletion_does_not_show_the_values_to_a_token_without_the_right_to_read(site: Site) -> None:
    name = f"{PREFIX}secret"
    site.bindings.reserve(name, "https://secret.example/", metadata={"what": "SECRET"})
    known = site.accounts.tokens.caller(site.token("bind"))
    assert known is not None
    number = change_selected(site.bindings, "delete", {}, Selection(prefix=name), actor=known.actor).operation
    assert number is not None
    for dry_run in (True, False):
        undone = bulk.undo(site.accounts, known, number, dry_run=dry_run)
        assert (undone.counts, undone.effects) == ({"reserved": 1}, [])


def test_a_job_has_the_rights_of_its_token(site: Site) -> None:
    caller = site.accounts.tokens.caller(site.token("read", "describe"))
    assert caller is not None
    again = caller_of(site.accounts, json.loads(json.dumps(stored_caller(caller))))
    assert (again.may("describe"), again.may("relocate"), again.is_administrator) == (True, False, False)


def test_a_token_for_some_rights_does_not_administrate(site: Site) -> None:
    secret = site.token(*RIGHTS, name="ada")
    for method, path, body in (
        ("PUT", f"/api/v1/prefixes/{PREFIX}", {"what": "Maps"}),
        ("GET", "/api/v1/export.csv", None),
    ):
        answer = site.send(secret, method, path, body)
        if answer.status_code != 404:
            assert (answer.status_code, (answer.json or {})["code"]) == (403, "right-missing"), answer.text
    assert site.send(site.token(name="ada"), "PUT", f"/api/v1/prefixes/{PREFIX}", {"what": "Maps"}).status_code == 201
    # It changes names outside the grants of curators, with its rights only.
    assert site.send(secret, "POST", "/api/v1/names", names(name="ark:12345/y1", target=URL)).status_code == 201


def test_a_token_that_only_reads_changes_nothing_and_shows_the_desk(site: Site) -> None:
    prepare(site)
    secret = site.token("read")
    assert site.send(secret, "GET", "/desk/names").status_code == 200
    answer = site.send(secret, "POST", "/api/v1/names", names(shoulder=PREFIX))
    assert (answer.status_code, (answer.json or {})["code"]) == (403, "right-missing")
    assert site.send(site.token("mint"), "GET", "/desk/names").status_code == 403


def test_each_request_with_an_emergency_token_is_in_the_audit(site: Site) -> None:
    prepare(site)
    end = site.bindings.now() + timedelta(hours=2)
    token, secret = site.accounts.tokens.create("jane", "key in the safe", end, emergency=True)
    site.send(secret, "GET", f"{NAME}{PREFIX}kept")
    site.send(secret, "POST", f"{NAME}{PREFIX}live/relocate", {"target": f"{URL}9"})
    site.send(secret, "POST", "/api/v1/names", names(name="ark:12345/y1", target=URL))
    runner = CliRunner(env={"ARARAT_DATABASE": str(site.file)})
    shown = runner.invoke(main.main, ["account", "audit", "--token", str(token.number), "--json"])
    rows = [json.loads(line) for line in shown.stdout.splitlines()][::-1]
    assert [(row["operation"], row["name"], row["outcome"]) for row in rows] == [
        ("emergency-request", f"GET {NAME}{PREFIX}kept", "received"),
        ("emergency-request", f"POST {NAME}{PREFIX}live/relocate", "received"),
        ("relocate", f"{PREFIX}live", "relocated"),
        ("emergency-request", "POST /api/v1/names", "received"),
        ("create", "ark:12345/y1", "not-granted"),
    ]
    assert all(row["token"] == "key in the safe" for row in rows)
    lines = runner.invoke(main.main, ["account", "audit", "--token", str(token.number)]).stdout
    assert f"jane, token key in the safe: relocate {PREFIX}live, relocated" in unwrapped(lines)
    page = site.send(site.token(name="ada"), "GET", f"/desk/audit?token={token.number}").text
    assert page.count("emergency-request") == 3
    assert site.send(site.token(name="ada"), "GET", "/desk/audit?token=x").text.count("number of a token") > 0


def test_an_ezid_session_of_an_emergency_token_is_in_the_audit(site: Site) -> None:
    prepare(site)
    end = site.bindings.now() + timedelta(hours=2)
    _, secret = site.accounts.tokens.create("jane", "safe", end, emergency=True)
    cookie = site.send(secret, "GET", "/ezid/login").headers["Set-Cookie"].partition(";")[0]
    client = site.app.test_client(use_cookies=False)
    assert client.get(f"/ezid/id/{PREFIX}kept", headers={"Cookie": cookie}).status_code == 200
    page = site.send(site.token(name="ada"), "GET", "/desk/audit").text
    assert f"GET /ezid/id/{PREFIX}kept" in page


def test_a_download_that_an_emergency_token_requested_is_in_the_audit_without_its_secret(site: Site) -> None:
    prepare(site)
    end = site.bindings.now() + timedelta(hours=2)
    _, secret = site.accounts.tokens.create("jane", "safe", end, emergency=True)
    field = {"Authorization": f"Bearer {secret}"}
    client = site.app.test_client(use_cookies=False)
    link = client.post("/ezid/download_request", data={"format": "anvl"}, headers=field).text.strip()
    path = "/ezid" + link.split("/ezid", 1)[1]
    for _ in range(2):
        assert client.get(path).status_code == 200
    number, _, rest = path.rpartition("/")[2].partition("-")
    page = site.send(site.token(name="ada"), "GET", "/desk/audit").text
    assert page.count(f"GET /ezid/download/{number}") == 2
    assert rest.partition(".")[0] not in page


def test_a_token_has_known_rights_and_an_emergency_has_an_end(site: Site) -> None:
    create: Callable[..., Any] = site.accounts.tokens.create
    for options, code in (
        ({"rights": ["fly"]}, "token-right"),
        ({"rights": []}, "token-right"),
        ({"emergency": True}, "token-emergency"),
        ({"emergency": True, "expires": datetime.now(UTC) + timedelta(days=8)}, "token-emergency"),
    ):
        with pytest.raises(AccountError) as refused:
            create("jane", "robot", **options)
        assert refused.value.code == code


def test_commands_create_and_list_tokens_with_rights(site: Site) -> None:
    runner = CliRunner(env={"ARARAT_DATABASE": str(site.file)})
    made = runner.invoke(main.main, ["account", "token", "jane", "--right", "read", "--right", "mint", "--json"])
    assert json.loads(made.stdout)["rights"] == ["read", "mint"]
    runner.invoke(main.main, ["account", "token", "jane", "--label", "safe", "--emergency"])
    shown = runner.invoke(main.main, ["account", "tokens", "jane"]).stdout
    assert "only read mint" in shown
    assert "safe, emergency, expires" in shown
    wrong = runner.invoke(main.main, ["account", "token", "jane", "--right", "fly"])
    assert (wrong.exit_code, "token-right" in wrong.output) == (2, True)
    long = runner.invoke(main.main, ["account", "token", "jane", "--emergency", "--expires", "never"])
    assert (long.exit_code, "token-emergency" in long.output) == (2, True)


def test_a_missing_right_is_forbidden(site: Site) -> None:
    caller = site.accounts.tokens.caller(site.token("read"))
    with pytest.raises(Forbidden) as refused:
        Acts(site.bindings, site.accounts).mint(caller, PREFIX)
    assert refused.value.code == "right-missing"


def test_a_program_can_ask_what_its_token_permits(site: Site) -> None:
    answer = site.send(site.token("mint"), "GET", "/api/v1/account").json or {}
    assert (answer["name"], answer["role"], answer["prefixes"]) == ("jane", "curator", [PREFIX])
    assert (answer["token"]["rights"], answer["token"]["emergency"]) == (["mint"], False)
