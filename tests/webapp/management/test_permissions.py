"""The permissions of each request to the APIs, as a table of requests and callers."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from flask import Flask

from ararat.bindings.collection import Bindings
from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.errors import BindingError
from ararat.identifiers.text.translatable import Translatable
from ararat.middleware import open_bindings
from ararat.webapp import create_app
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management import Fields, Forbidden, NewName, bulk
from ararat.webapp.management import prefixes as prefix_records
from ararat.webapp.management.acting import acting
from ararat.webapp.management.permissions import require_account, require_administrator, require_curator
from tests.webapp.management.acts import Acts

from .conftest import ELSEWHERE, GRANTED, NAMES_OF_CALLERS, audit_of, imported, token_for, tokens

NAME, RESERVED, WITHDRAWN, NEW = (f"{GRANTED}{each}" for each in ("live", "reserved", "withdrawn", "new"))
HERE, THERE = "https://old.example/1", "https://new.example/1"


class Request(NamedTuple):
    """A request to the JSON API, or to the EZID API: its method, path, and body in JSON or as text."""

    method: str
    path: str
    body: Any = None


API = "/api/v1/"
LIVE, KEPT, GONE = (f"{API}names/{name}" for name in (NAME, RESERVED, WITHDRAWN))
UNTIL = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}"
TABLE = f"identifier,target\n{NEW},{HERE}\n"

OF_ALL = {
    "view by EZID": Request("GET", f"/ezid/id/{NAME}"),
}
OF_ACCOUNTS = {
    "show": Request("GET", LIVE),
    "prefixes": Request("GET", f"{API}prefixes"),
    "prefix": Request("GET", f"{API}prefixes/{GRANTED}"),
}
OF_READERS = {
    "show a reserved name": Request("GET", KEPT),
    "list": Request("GET", f"{API}names?prefix={GRANTED}"),
    "history": Request("GET", f"{LIVE}/history"),
    "operations": Request("GET", f"{API}operations"),
    "operation": Request("GET", f"{API}operations/1"),
    "holds": Request("GET", f"{API}holds"),
}
OF_CURATORS = {
    "save": Request("PUT", f"{API}names/{NEW}", {"target": HERE}),
    "replace": Request("PUT", LIVE, {"target": HERE, "metadata": {"who": "A"}}),
    "reserve": Request("PUT", f"{API}names/{NEW}", {"state": "reserved"}),
    "publish": Request("PATCH", KEPT, {"state": "live", "target": HERE}),
    "change": Request("PATCH", LIVE, {"metadata": {"who": "A"}}),
    "create": Request("POST", f"{API}names", {"names": [{"name": NEW, "target": HERE}]}),
    "mint": Request("POST", f"{API}names", {"names": [{"shoulder": GRANTED, "target": HERE}]}),
    "delete": Request("DELETE", KEPT),
    "withdraw": Request("POST", f"{LIVE}/withdraw", {}),
    "restore": Request("POST", f"{GONE}/restore", {}),
    "relocate": Request("POST", f"{LIVE}/relocate", {"target": THERE}),
    "hold": Request("POST", f"{API}holds", {"name": NAME, "until": UNTIL, "reason": "why"}),
    "hold a prefix": Request("POST", f"{API}holds", {"prefix": GRANTED, "until": UNTIL, "reason": "why"}),
    "relocate a prefix": Request("POST", f"{API}relocations", {"from": "old.example", "to": "new.example"}),
    "import": Request("POST", f"{API}imports", TABLE),
    "create by EZID": Request("PUT", f"/ezid/id/{NEW}", f"_target: {HERE}"),
    "change by EZID": Request("POST", f"/ezid/id/{NAME}", "erc.who: A"),
    "delete by EZID": Request("DELETE", f"/ezid/id/{RESERVED}"),
    "mint by EZID": Request("POST", f"/ezid/shoulder/{GRANTED}", f"_target: {HERE}"),
}
OF_ADMINISTRATORS = {
    "set a prefix": Request("PUT", f"{API}prefixes/{GRANTED}", {"what": "Maps"}),
    "succeed": Request("POST", f"{API}successions", {"prefix": GRANTED, "to": "Archive"}),
    "depart": Request("POST", f"{API}departures", {"prefix": GRANTED, "resolver": "https://there.example"}),
    "undo": Request("POST", f"{API}imports/1/undo"),
}
REQUESTS = OF_ALL | OF_ACCOUNTS | OF_READERS | OF_CURATORS | OF_ADMINISTRATORS

CURATORS = {"curator", "curator with a token for the names", "curator with a token for too many names"}
ADMINISTRATORS = {"administrator"}
WITH_TOKENS = {"administrator with a token for the names"}
ELSEWHERE_ONLY = {
    "curator of other names",
    "curator with a token for other names",
    "administrator with a token for other names",
}
# These are refused before a change begins: a reader adds no job, and the jobs of others are not found.
WITHOUT_ROW = {("reader", "import"), *((name, "undo") for name in NAMES_OF_CALLERS)}


# What a request can change, and the audit of it.
CHANGEABLE = ("bindings", "events", "operations", "prefixes", "prefix_events", "rules", "rule_events")
AUDIT = "SELECT count(*) FROM audit WHERE operation NOT LIKE 'account.%'"


class Filled(NamedTuple):
    """A site with names, and the token of a caller of each role. ``restore`` undoes the changes of a test."""

    bindings: Bindings
    app: Flask
    tokens: Mapping[str, str | None]
    restore: Callable[[], None]
    reader: sqlite3.Connection

    def content(self) -> object:
        """Return everything that a request can change, without the audit."""
        return [self.reader.execute(f"SELECT * FROM {table}").fetchall() for table in CHANGEABLE]  # noqa: S608

    def audited(self) -> int:
        """Return the number of rows of the audit about names."""
        return self.reader.execute(AUDIT).fetchone()[0]

    def send(self, caller: str, request: Request) -> Any:
        token = self.tokens[caller]
        fields = {"Authorization": f"Bearer {token}"} if token else {}
        kind = "text/csv" if request.path.endswith("imports") else None
        body = {"data": request.body, "content_type": kind} if isinstance(request.body, str) else {"json": request.body}
        return self.app.test_client().open(request.path, method=request.method, headers=fields, **body)


def fill(bindings: Bindings) -> None:
    """Record names in each state, an operation that can be undone, and a prefix record."""
    bindings.prefixes.set(GRANTED, who="Library")
    bindings.reserve(RESERVED)
    bindings.bind(WITHDRAWN, HERE)
    bindings.withdraw(WITHDRAWN)
    accounts = Accounts(bindings)
    administrator = Caller(account=accounts.add("first", "administrator"))
    assert imported(Acts(bindings, accounts), administrator, f"identifier,target\n{NAME},{HERE}\n".encode())["written"]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, keep_copy: Callable[..., Callable[[], None]]) -> Iterator[Filled]:
    """One SQLite database for all tests of this file."""
    file = tmp_path_factory.mktemp("permissions") / "names.sqlite"
    with open_bindings(file, create=True) as bindings:
        fill(bindings)
        app = create_app(bindings, ezid="/ezid", prefix="https://ids.example.org")
        with closing(sqlite3.connect(file, check_same_thread=False)) as reader:
            yield Filled(bindings, app, tokens(Accounts(bindings)), keep_copy(file), reader)


@pytest.fixture
def filled(opened: Filled) -> Filled:
    """The database before the change of any test."""
    opened.restore()
    return opened


def refusal(filled: Filled, caller: str, request: Request) -> str | None:
    """Return the code of the error of a request or of its refused names, or None if it was permitted."""
    answer = filled.send(caller, request)
    if request.path.startswith("/ezid"):
        return answer.text.removeprefix("error: ").partition(" -")[0] if answer.text.startswith("error") else None
    if answer.status_code == 202:
        return ended(filled, caller, f"{request.path}/{answer.json['number']}")
    if answer.status_code < 400:
        return None
    refused = answer.json.get("result", {}).get("refused", [])
    return refused[0]["code"] if refused else answer.json["code"]


def ended(filled: Filled, caller: str, path: str) -> str | None:
    """Wait for a job, and return the code of its first refused row or of its problem."""
    deadline = time.monotonic() + 30
    while (job := filled.send(caller, Request("GET", path)).json)["state"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    refused = (job["result"] or {}).get("refused", [])
    return refused[0]["code"] if refused else (job["problem"] or {}).get("code")


def snapshot(bindings: Bindings) -> object:
    """Return the names, records, rules and operations."""
    with bindings.store.snapshot() as view:
        names = list(view.bindings())
    return names, bindings.prefixes.list(), bindings.rules.list(), bindings.store.operations(None, 100)


def expected(name: str, request: str) -> str | None:
    """Return the code with which a request of a caller is refused, or None."""
    of_ezid = request.endswith("by EZID")
    if request in OF_ALL:
        return None
    if name == "anonymous":
        return "unauthorized" if of_ezid else "credential-missing"
    if request in OF_ACCOUNTS or request in OF_READERS:
        return None
    others = {"reader", *ELSEWHERE_ONLY} if request in OF_CURATORS else {"reader", *ELSEWHERE_ONLY, *CURATORS}
    if name not in others and not (request in OF_ADMINISTRATORS and name in WITH_TOKENS):
        return None
    if of_ezid or request == "undo":
        return "forbidden" if of_ezid else "not-found"
    return "role-missing" if name == "reader" or request in OF_ADMINISTRATORS else "not-granted"


@pytest.mark.one_setup
@pytest.mark.parametrize("request_", REQUESTS)
def test_each_request_is_permitted_to_its_callers_only(filled: Filled, request_: str) -> None:
    assert set(filled.tokens) == {"anonymous", "reader", *CURATORS, *ADMINISTRATORS, *WITH_TOKENS, *ELSEWHERE_ONLY}
    before = filled.content()
    for name in filled.tokens:
        if (code := expected(name, request_)) is not None:
            rows = filled.audited()
            assert refusal(filled, name, REQUESTS[request_]) == code, name
            assert filled.content() == before, name
            # Refused changes are in the audit, but requests without an account and refused reads are not.
            is_noted = name != "anonymous" and (name, request_) not in WITHOUT_ROW
            assert filled.audited() == rows + is_noted, name


@pytest.mark.one_setup
@pytest.mark.parametrize("request_", REQUESTS)
def test_each_permitted_request_is_made(opened: Filled, request_: str) -> None:
    is_change = request_ in OF_CURATORS or request_ in OF_ADMINISTRATORS
    opened.restore()
    for name in NAMES_OF_CALLERS:
        if expected(name, request_) is None:
            before, rows = opened.content(), opened.audited()
            assert refusal(opened, name, REQUESTS[request_]) is None, name
            assert (opened.content() != before) is is_change, name
            assert (opened.audited() > rows) is is_change, name
            if is_change:
                opened.restore()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "withdraw", "restore", "relocate"])
def test_a_refusal_does_not_depend_on_a_name_of_others(filled: Filled, method: str) -> None:
    recorded, unknown, reserved = (f"{ELSEWHERE}{each}" for each in ("live", "none", "reserved"))
    filled.bindings.bind(recorded, HERE)
    filled.bindings.reserve(reserved)
    for name in (recorded, unknown, reserved):
        request = Request("POST" if method.islower() else method, f"{API}names/{name}", {"target": THERE})
        if method.islower():
            request = request._replace(
                path=f"{request.path}/{method}", body=request.body if method == "relocate" else {}
            )
        assert refusal(filled, "curator", request) == "not-granted", name


def test_a_refused_name_stops_an_operation_on_many_names(management: Acts, curator: Caller) -> None:
    for name in (f"{GRANTED}a", f"{ELSEWHERE}a"):
        management.bindings.bind(name, HERE)
    result = bulk.relocate_prefix(management.accounts, curator, "old.example", "new.example")
    assert (result.written, result.refusals, [each.code for each in result.refused]) == (False, 1, ["not-granted"])
    table = f"identifier,target\n{GRANTED}b,{HERE}\n{ELSEWHERE}b,{HERE}\n".encode()
    result = imported(management, curator, table)
    assert (result["written"], [each["code"] for each in result["refused"]]) == (False, ["not-granted"])
    assert management.bindings.lookup(f"{GRANTED}b") is None
    assert audit_of(management) == [("relocate-prefix", None, "1 refused"), ("import", None, "1 refused")]
    moved = bulk.relocate_prefix(management.accounts, curator, "old.example", "new.example", prefix=GRANTED)
    assert (moved.written, moved.counts["relocated"]) == (True, 1)
    assert audit_of(management)[-1] == ("relocate-prefix", None, f"operation {moved.operation}")


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("ark:12345/x5,rule,https://rule.example/${value},", id="a rule"),
        pytest.param("ark:12345/x5,prefix,,Library", id="a prefix record"),
        pytest.param("ark:12345/x5,counter,next 17 of 10^4,", id="a counter"),
    ],
)
def test_only_an_administrator_imports_rules_records_and_counters(management: Acts, curator: Caller, row: str) -> None:
    table = f"identifier,kind,target,who\n{row}\n".encode()
    administrator = Caller(account=management.accounts.add("root", "administrator"))
    for caller in (curator, token_for(management, administrator, GRANTED)):
        result = imported(management, caller, table)
        assert (result["written"], [each["code"] for each in result["refused"]]) == (False, ["row-only-names"])
    assert (management.bindings.prefixes.list(), management.bindings.rules.list()) == ([], [])
    result = imported(management, administrator, table)
    assert (result["written"], sum(result["counts"].values())) == (True, 1)


def test_only_an_administrator_changes_the_owner(management: Acts, curator: Caller) -> None:
    administrator = Caller(account=management.accounts.add("first", "administrator"))
    name, owned = f"{GRANTED}np1", {"ezid-setting.owner": "first"}
    management.save(curator, name, Fields(metadata={"erc.what": "Maps"}))
    table = f"identifier,ezid-setting.owner\n{name},first\n".encode()
    attempts: list[Callable[[], object]] = [
        lambda: management.save(curator, name, Fields(metadata=owned)),
        lambda: management.change(curator, name, Fields(metadata=owned)),
        lambda: management.create(curator, [NewName(Fields(metadata=owned), name=f"{GRANTED}np2")]),
        lambda: management.mint(curator, GRANTED, Fields(metadata=owned, status="reserved")),
    ]
    before = snapshot(management.bindings)
    for attempt in attempts:
        with pytest.raises(Forbidden) as caught:
            attempt()
        assert caught.value.code == "role-missing"
    assert [each["code"] for each in imported(management, curator, table)["refused"]] == ["role-missing"]
    assert snapshot(management.bindings) == before
    management.change(administrator, name, Fields(metadata=owned))
    again = management.change(curator, name, Fields(metadata={"erc.who": "Noah"})).after
    assert again.metadata["ezid-setting.owner"] == "first"
    with pytest.raises(Forbidden):
        management.change(curator, name, Fields(metadata={"ezid-setting.owner": ""}))


def test_a_revoked_grant_is_effective_for_the_next_caller(management: Acts, curator: Caller) -> None:
    token, secret = management.accounts.tokens.create("jane", "repository")
    caller = management.accounts.tokens.caller(secret)
    assert caller is not None
    management.save(caller, NAME, Fields(target=HERE))
    management.accounts.revoke("jane", GRANTED)
    with pytest.raises(Forbidden):
        management.withdraw(management.accounts.tokens.caller(secret), NAME)
    management.accounts.tokens.revoke(token.number)
    with pytest.raises(Forbidden, match="needs an account"):
        management.withdraw(management.accounts.tokens.caller(secret), NAME)


REVOCATIONS: dict[str, Callable[[Accounts], object]] = {
    "the account": lambda accounts: accounts.disable("jane"),
    "the token": lambda accounts: accounts.tokens.revoke(accounts.tokens.list("jane")[0].number),
    "the prefix": lambda accounts: accounts.revoke("jane", GRANTED),
    "the role": lambda accounts: accounts.set_role("jane", "reader"),
}


@pytest.mark.parametrize("revoked", [*REVOCATIONS])
def test_a_change_that_waited_while_its_permission_was_revoked_is_refused(
    management: Acts, curator: Caller, revoked: str
) -> None:
    """The caller of a request is read at its beginning. A change can wait for another writer for seconds after that."""
    management.save(curator, NAME, Fields(target=HERE))
    caller = management.accounts.tokens.caller(management.accounts.tokens.create("jane", "repository")[1])
    management.accounts.add("root", "administrator")
    REVOCATIONS[revoked](management.accounts)
    before = snapshot(management.bindings)
    acts: list[Callable[[], object]] = [
        lambda: management.save(caller, f"{NAME}new", Fields(target=HERE)),
        lambda: management.change(caller, NAME, Fields(metadata={"who": "A"})),
        lambda: management.create(caller, [NewName(Fields(target=HERE), f"{NAME}new")]),
        lambda: management.mint(caller, GRANTED, Fields(target=HERE)),
        lambda: management.withdraw(caller, NAME),
        lambda: bulk.relocate_prefix(management.accounts, caller, "old.example", "new.example"),
    ]
    for act in acts:
        with pytest.raises(Forbidden) as refused:
            act()
        assert refused.value.code == "role-missing"
    # A job reads the caller when it begins, so that the prefix is missing then.
    result = imported(management, caller, TABLE.encode())
    codes = [each["code"] for each in result["refused"]] if "refused" in result else [result["problem"]["code"]]
    assert codes in (["role-missing"], ["not-granted"])
    assert snapshot(management.bindings) == before


def save_branding(management: Acts, caller: Caller) -> None:
    with acting(management.accounts, caller, "branding.set", require=require_administrator) as actor:
        management.bindings.branding.set(Branding(institution="A library"), actor=actor)


def test_a_change_of_a_former_administrator_that_waited_is_refused(management: Acts) -> None:
    management.accounts.add("first", "administrator")
    former = Caller(account=management.accounts.add("second", "administrator"))
    management.accounts.set_role("second", "curator")
    for change in (
        lambda: prefix_records.set_record(management.accounts, former, GRANTED, {"what": "Maps"}),
        lambda: save_branding(management, former),
    ):
        with pytest.raises(Forbidden):
            change()
    assert (management.bindings.prefixes.list(), management.bindings.branding.history()) == ([], [])


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("https://n2t.net/ark:/12345/y7a", id="in a URL"),
        pytest.param("ark:/123-45/y-7a", id="with hyphens"),
        pytest.param("ark:12345/%78%35a/../y7a", id="with dot segments"),
        pytest.param("ARK:12345/y7a", id="in capitals"),
        pytest.param("ark:12345/x", id="a part of the prefix"),
        pytest.param("ark:12345/X5a", id="in another case"),
        pytest.param("urn:nbn:de:x5", id="a URN"),
    ],
)
def test_no_spelling_reaches_a_name_without_a_grant(management: Acts, curator: Caller, name: str) -> None:
    for make in (
        lambda: management.save(curator, name, Fields(target=HERE)),
        lambda: management.create(curator, [NewName(Fields(target=HERE), name)]),
    ):
        with pytest.raises(BindingError) as caught:
            make()
        assert caught.value.code in ("not-granted", "dot-segment")
    result = imported(management, curator, f"identifier,target\n{name},{HERE}\n".encode())
    assert [each["code"] for each in result["refused"]] in (["not-granted"], ["dot-segment"])
    assert management.bindings.count().number == 0


def test_a_grant_for_an_nbn_ignores_the_case_of_its_prefix(management: Acts) -> None:
    account = management.accounts.add("jane", "curator", ["URN:NBN:DE:BSZ"])
    management.save(Caller(account=account), "urn:nbn:de:BSZ-aB1", Fields(target="https://example.org/1"))
    assert management.show(None, "URN:NBN:De:bsz-aB1").target == "https://example.org/1"
    with pytest.raises(Forbidden):
        management.save(Caller(account=account), "urn:nbn:de:bs-1", Fields(target="https://example.org/1"))


@pytest.mark.parametrize("rights", [None, ["read"]], ids=["role", "right"])
def test_each_part_of_a_refusal_is_translatable(management: Acts, rights: list[str] | None) -> None:
    accounts = management.accounts
    if rights is None:
        accounts.add("rita", "reader")
        account, token = accounts.get("rita"), None
    else:
        accounts.add("root", "administrator")
        account, token = accounts.get("root"), accounts.tokens.create("root", "script", rights=rights)[0]
    assert account is not None
    with pytest.raises(Forbidden) as refused:
        require_administrator(Caller(account=account, token=token))
    message = refused.value.message
    assert isinstance(message, Translatable)
    assert isinstance(message.values["role" if rights is None else "reason"], Translatable)


@pytest.mark.parametrize("require", [require_account, require_curator, require_administrator])
def test_a_caller_without_an_account_is_refused(require: Callable[[Caller | None], Caller]) -> None:
    with pytest.raises(Forbidden) as caught:
        require(None)
    assert caught.value.code == "account-required"
