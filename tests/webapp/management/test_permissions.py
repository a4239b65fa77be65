"""The permissions of each operation, as a table of operations and callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from ararat.bindings.names.branding.model import Branding
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import select
from ararat.identifiers.text.translatable import Translatable
from ararat.middleware import open_bindings
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.management import Fields, Forbidden, Management, Missing, NewName
from ararat.webapp.management.permissions import require_administrator

from .conftest import ELSEWHERE, GRANTED, audit_of, callers, imported, token_for

NAME, RESERVED, WITHDRAWN, NEW = (f"{GRANTED}{each}" for each in ("live", "reserved", "withdrawn", "new"))
HERE, THERE = "https://old.example/1", "https://new.example/1"

Operation = Callable[[Management, "Caller | None"], Any]

OF_ALL: dict[str, Operation] = {
    "show": lambda m, c: m.show(c, NAME),
}
OF_READERS: dict[str, Operation] = {
    "show a reserved name": lambda m, c: m.show(c, RESERVED),
    "list": lambda m, c: m.list_names(c, select(prefix=GRANTED)),
    "count": lambda m, c: m.count_names(c, by="state"),
    "history": lambda m, c: m.history(c, NAME),
    "prefixes": lambda m, c: m.prefixes.list(c),
    "prefix": lambda m, c: m.prefixes.get(c, GRANTED),
    "history of a prefix": lambda m, c: m.prefixes.history(c, GRANTED),
    "operations": lambda m, c: m.bulk.operations(c),
}
OF_CURATORS: dict[str, Operation] = {
    "save": lambda m, c: m.save(c, NEW, Fields(target=HERE)),
    "replace": lambda m, c: m.save(c, NAME, Fields(target=THERE), relocate=True),
    "reserve": lambda m, c: m.save(c, NEW, Fields(status="reserved")),
    "publish": lambda m, c: m.change(c, RESERVED, Fields(status="live", target=HERE)),
    "change": lambda m, c: m.change(c, NAME, Fields(metadata={"who": "A"})),
    "change or create": lambda m, c: m.change(c, NEW, Fields(metadata={"who": "A"}), create=True),
    "create": lambda m, c: m.create(c, [NewName(Fields(target=HERE), NEW)]),
    "mint": lambda m, c: m.mint(c, GRANTED, Fields(target=HERE)),
    "delete": lambda m, c: m.delete(c, RESERVED),
    "withdraw": lambda m, c: m.withdraw(c, NAME),
    "restore": lambda m, c: m.restore(c, WITHDRAWN),
    "relocate": lambda m, c: m.relocate(c, NAME, Fields(target=THERE)),
    "relocate a prefix": lambda m, c: m.bulk.relocate_prefix(c, "old.example", "new.example"),
    "import": lambda m, c: imported(m, c, f"identifier,target\n{NEW},{HERE}\n".encode()),
}
OF_ADMINISTRATORS: dict[str, Operation] = {
    "set a prefix": lambda m, c: m.prefixes.set(c, GRANTED, {"what": "Maps"}),
    "set a rule": lambda m, c: m.prefixes.set(c, GRANTED, {}, rule="https://rule.example/${value}"),
    "remove a prefix": lambda m, c: m.prefixes.remove(c, GRANTED),
    "undo": lambda m, c: m.bulk.undo(c, 1),
    "undo a change": lambda m, c: m.bulk.undo_change(c, NAME),
}

CURATORS = {"curator", "curator with a token for the names", "curator with a token for too many names"}
ADMINISTRATORS = {"administrator"}
WITH_TOKENS = {"administrator with a token for the names"}
ELSEWHERE_ONLY = {
    "curator of other names",
    "curator with a token for other names",
    "administrator with a token for other names",
}


class Filled(NamedTuple):
    """A management with names, and a caller of each role. ``restore`` undoes the changes of a test."""

    management: Management
    callers: Mapping[str, Caller | None]
    restore: Callable[[], None]


def fill(management: Management) -> None:
    """Record names in each state, an operation that can be undone, and a prefix record."""
    bindings = management.bindings
    bindings.prefixes.set(GRANTED, who="Library")
    bindings.bind(NAME, "https://older.example/1")
    bindings.reserve(RESERVED)
    bindings.bind(WITHDRAWN, HERE)
    bindings.withdraw(WITHDRAWN)
    administrator = Caller(account=management.accounts.add("first", "administrator"))
    assert management.bulk.relocate_prefix(administrator, "older.example", "old.example").operation == 1


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, keep_copy: Callable[..., Callable[[], None]]) -> Iterator[Filled]:
    """One SQLite database for all tests of this file."""
    file = tmp_path_factory.mktemp("permissions") / "names.sqlite"
    with open_bindings(file, create=True) as bindings:
        management = Management(bindings, Accounts(bindings))
        fill(management)
        yield Filled(management, callers(management), keep_copy(file))


@pytest.fixture
def filled(opened: Filled) -> Filled:
    """The database before the change of any test."""
    opened.restore()
    return opened


def refusal(management: Management, operation: Operation, caller: Caller | None) -> str | None:
    """Return the code of the error of an operation or of its refused names, or None if it was permitted."""
    try:
        result = operation(management, caller)
    except (Forbidden, Missing) as error:
        return error.code
    if isinstance(result, Mapping):
        refused_rows = [*result.get("refused", []), *([result["problem"]] if "problem" in result else [])]
        return refused_rows[0]["code"] if refused_rows else None
    refused = getattr(result, "refused", [])
    return refused[0].code if refused else None


def snapshot(management: Management) -> object:
    """Return everything that an operation can change, without the audit."""
    bindings = management.bindings
    with bindings.store.snapshot() as view:
        names = list(view.bindings())
    return names, bindings.prefixes.list(), bindings.rules.list(), management.bindings.store.operations(None, 100)


@pytest.mark.one_setup
@pytest.mark.parametrize("operation", [*OF_ALL, *OF_READERS, *OF_CURATORS, *OF_ADMINISTRATORS])
def test_each_operation_is_permitted_to_its_callers_only(filled: Filled, operation: str) -> None:
    management, everybody, _ = filled
    assert set(everybody) == {"anonymous", "reader", *CURATORS, *ADMINISTRATORS, *WITH_TOKENS, *ELSEWHERE_ONLY}
    before = snapshot(management)
    if operation in OF_ALL:
        refused: dict[str, str] = {}
    elif operation in OF_READERS:
        refused = {"anonymous": "not-bound" if operation == "show a reserved name" else "account-required"}
    else:
        refused = {"anonymous": "account-required", "reader": "role-missing"}
        others = ELSEWHERE_ONLY if operation in OF_CURATORS else {*ELSEWHERE_ONLY, *CURATORS, *WITH_TOKENS}
        refused |= dict.fromkeys(others, "not-granted" if operation in OF_CURATORS else "role-missing")
    known = OF_ALL | OF_READERS | OF_CURATORS | OF_ADMINISTRATORS
    for name, code in refused.items():
        rows = len(audit_of(management))
        assert refusal(management, known[operation], everybody[name]) == code, name
        assert snapshot(management) == before, name
        # Refused changes are in the audit, but requests without an account and refused reads are not.
        is_noted = name != "anonymous" and operation not in OF_READERS
        assert len(audit_of(management)) == rows + is_noted, name


PERMITTED = {
    "anonymous": OF_ALL,
    "reader": OF_ALL | OF_READERS,
    **dict.fromkeys(sorted(CURATORS | WITH_TOKENS), OF_ALL | OF_READERS | OF_CURATORS),
    **dict.fromkeys(sorted(ADMINISTRATORS), OF_ALL | OF_READERS | OF_CURATORS | OF_ADMINISTRATORS),
}
"""The operations of each caller. The table of refusals above has the others."""


@pytest.mark.parametrize(
    ("name", "operation"), [(name, operation) for name, operations in PERMITTED.items() for operation in operations]
)
def test_each_permitted_operation_is_made(filled: Filled, operation: str, name: str) -> None:
    management, caller = filled.management, filled.callers[name]
    before, rows = snapshot(management), len(audit_of(management))
    known = OF_ALL | OF_READERS | OF_CURATORS | OF_ADMINISTRATORS
    assert refusal(management, known[operation], caller) is None
    is_change = operation in OF_CURATORS or operation in OF_ADMINISTRATORS
    assert (snapshot(management) != before) is is_change
    assert (len(audit_of(management)) > rows) is is_change


def test_a_refused_name_stops_an_operation_on_many_names(management: Management, curator: Caller) -> None:
    for name in (f"{GRANTED}a", f"{ELSEWHERE}a"):
        management.bindings.bind(name, HERE)
    result = management.bulk.relocate_prefix(curator, "old.example", "new.example")
    assert (result.written, result.refusals, [each.code for each in result.refused]) == (False, 1, ["not-granted"])
    table = f"identifier,target\n{GRANTED}b,{HERE}\n{ELSEWHERE}b,{HERE}\n".encode()
    result = imported(management, curator, table)
    assert (result["written"], [each["code"] for each in result["refused"]]) == (False, ["not-granted"])
    assert management.bindings.lookup(f"{GRANTED}b") is None
    assert audit_of(management) == [("relocate-prefix", None, "1 refused"), ("import", None, "1 refused")]
    moved = management.bulk.relocate_prefix(curator, "old.example", "new.example", prefix=GRANTED)
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
def test_only_an_administrator_imports_rules_records_and_counters(
    management: Management, curator: Caller, row: str
) -> None:
    table = f"identifier,kind,target,who\n{row}\n".encode()
    administrator = Caller(account=management.accounts.add("root", "administrator"))
    for caller in (curator, token_for(management, administrator, GRANTED)):
        result = imported(management, caller, table)
        assert (result["written"], [each["code"] for each in result["refused"]]) == (False, ["row-only-names"])
    assert (management.bindings.prefixes.list(), management.bindings.rules.list()) == ([], [])
    result = imported(management, administrator, table)
    assert (result["written"], sum(result["counts"].values())) == (True, 1)


def test_only_an_administrator_changes_the_owner(management: Management, curator: Caller) -> None:
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
    before = snapshot(management)
    for attempt in attempts:
        with pytest.raises(Forbidden) as caught:
            attempt()
        assert caught.value.code == "role-missing"
    assert [each["code"] for each in imported(management, curator, table)["refused"]] == ["role-missing"]
    assert snapshot(management) == before
    management.change(administrator, name, Fields(metadata=owned))
    again = management.change(curator, name, Fields(metadata={"erc.who": "Noah"})).after
    assert again.metadata["ezid-setting.owner"] == "first"
    with pytest.raises(Forbidden):
        management.change(curator, name, Fields(metadata={"ezid-setting.owner": ""}))


def test_a_revoked_grant_is_effective_for_the_next_caller(management: Management, curator: Caller) -> None:
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
    management: Management, curator: Caller, revoked: str
) -> None:
    """The caller of a request is read at its beginning. A change can wait for another writer for seconds after that."""
    management.save(curator, NAME, Fields(target=HERE))
    caller = management.accounts.tokens.caller(management.accounts.tokens.create("jane", "repository")[1])
    management.accounts.add("root", "administrator")
    REVOCATIONS[revoked](management.accounts)
    before = snapshot(management)
    for name in ("save", "change", "create", "mint", "withdraw", "relocate a prefix", "import"):
        # A job reads the caller when it begins, so that the prefix is missing then.
        late = ("role-missing", "not-granted") if name == "import" else ("role-missing",)
        assert refusal(management, OF_CURATORS[name], caller) in late
    assert snapshot(management) == before


def test_a_change_of_a_former_administrator_that_waited_is_refused(management: Management) -> None:
    management.accounts.add("first", "administrator")
    former = Caller(account=management.accounts.add("second", "administrator"))
    management.accounts.set_role("second", "curator")
    for change in (
        lambda: management.prefixes.set(former, GRANTED, {"what": "Maps"}),
        lambda: management.branding.set(former, Branding(institution="A library")),
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
def test_no_spelling_reaches_a_name_without_a_grant(management: Management, curator: Caller, name: str) -> None:
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


def test_a_grant_for_an_nbn_ignores_the_case_of_its_prefix(management: Management) -> None:
    account = management.accounts.add("jane", "curator", ["URN:NBN:DE:BSZ"])
    management.save(Caller(account=account), "urn:nbn:de:BSZ-aB1", Fields(target="https://example.org/1"))
    assert management.show(None, "URN:NBN:De:bsz-aB1").target == "https://example.org/1"
    with pytest.raises(Forbidden):
        management.save(Caller(account=account), "urn:nbn:de:bs-1", Fields(target="https://example.org/1"))


@pytest.mark.parametrize("rights", [None, ["read"]], ids=["role", "right"])
def test_each_part_of_a_refusal_is_translatable(management: Management, rights: list[str] | None) -> None:
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
