"""Changes of several names in one transaction, expected revisions, and rows that a callback adds."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Barrier

import pytest
from sqlalchemy import insert, select

from ararat.bindings.changes import MAX_CHANGES, NameChange, change_recorded
from ararat.bindings.creation import MintedChange, create
from ararat.bindings.log.redaction import redact
from ararat.bindings.names import assignment
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.assignment import Change
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, Stale
from ararat.bindings.names.fields import Fields
from ararat.bindings.operations.departure import depart
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.storage.tables import account_tables
from ararat.bindings.storage.writing.transaction import Transaction
from ararat.middleware import Bindings, import_table, mint

NAME, OTHER = "ark:12345/x1", "ark:12345/x2"


def binding(name: str, target: str = "/1", revision: int | None = None) -> NameChange:
    fields = Fields(target=target).for_name(name)

    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        return [assignment.bind(existing, fields, now)]

    return NameChange(fields.key, decide, revision)


def moving(name: str, target: str) -> NameChange:
    return change_recorded(name, lambda existing, now: [assignment.relocate(existing, Fields(target=target), now)])


def note(transaction: Transaction) -> None:
    """Write a row for each change, as the audit of the web application does."""
    common = {"time": "2026-11-23T00:00:00.000000Z", "operation": "test"}
    rows = [{**common, "name": each.after.identifier, "outcome": each.outcome} for each in transaction.written]
    if transaction.begun:
        rows.append({**common, "name": "operation", "outcome": f"{transaction.begun[-1]}"})
    if rows:
        transaction.connection.execute(insert(account_tables.audit), rows)


NOTED = Actor(at_end=(note,))


def noted(bindings: Bindings) -> list[tuple[str, str]]:
    columns = account_tables.audit.c
    with bindings.store.transaction() as transaction:
        rows = transaction.connection.execute(select(columns.name, columns.outcome).order_by(columns.id))
        return [(name, outcome) for name, outcome in rows]


# Expected revisions ---------------------------------------------------------------------------------------------------

OPERATIONS: dict[str, Callable[[Bindings, int | None], object]] = {
    "bind": lambda b, revision: b.bind(NAME, "/1", metadata={"who": "A"}, revision=revision),
    "relocate": lambda b, revision: b.relocate(NAME, "/2", revision=revision),
    "withdraw": lambda b, revision: b.withdraw(NAME, revision=revision),
}
OF_RESERVED: dict[str, Callable[[Bindings, int | None], object]] = {
    "reserve": lambda b, revision: b.reserve(NAME, "/2", revision=revision),
    "delete": lambda b, revision: b.delete(NAME, revision=revision),
}


@pytest.mark.parametrize("operation", [*OPERATIONS, *OF_RESERVED])
def test_a_change_is_made_only_at_the_expected_revision(bindings: Bindings, operation: str) -> None:
    if operation in OF_RESERVED:
        bindings.reserve(NAME, "/1")
    else:
        bindings.bind(NAME, "/1")
    make = {**OPERATIONS, **OF_RESERVED}[operation]
    for wrong in (0, 2, -1):
        with pytest.raises(Stale) as caught:
            make(bindings, wrong)
        assert caught.value.code == "revision-stale"
        assert caught.value.existing == bindings.lookup(NAME)
    assert len(bindings.history(NAME)) == 1
    make(bindings, 1)
    assert len(bindings.history(NAME)) == 2


def test_a_withdrawn_name_is_restored_only_at_the_expected_revision(bindings: Bindings) -> None:
    bindings.bind(NAME, "/1")
    bindings.withdraw(NAME)
    with pytest.raises(Stale, match="revision 2, and the change expects the revision 1"):
        bindings.restore(NAME, revision=1)
    assert bindings.restore(NAME, revision=2) == "restored"


def test_the_revision_0_is_that_of_a_name_without_a_binding(bindings: Bindings) -> None:
    assert bindings.bind(NAME, "/1", revision=0) == "bound"
    with pytest.raises(Stale, match="expects none"):
        bindings.bind(NAME, "/1", revision=0)
    with pytest.raises(Stale, match="no binding, and the change expects the revision 1"):
        bindings.bind(OTHER, "/1", revision=1)
    # A deleted name can be created again; its revisions continue.
    assert (bindings.reserve(OTHER), bindings.delete(OTHER)) == ("reserved", "deleted")
    [made] = bindings.change([binding(OTHER, revision=0)])
    assert (made.outcome, made.before, made.after.revision, made.after) == ("bound", None, 3, bindings.lookup(OTHER))


@pytest.mark.parametrize("first", [0, 1])
def test_one_of_the_concurrent_writers_with_the_same_revision_succeeds(bindings: Bindings, first: int) -> None:
    if first:
        bindings.bind(NAME, "/0", resource="r")
    writers = 8
    barrier = Barrier(writers)

    def write(number: int) -> str:
        barrier.wait()
        try:
            return bindings.bind(NAME, f"/{number}", resource="r", revision=first)
        except Stale:
            return "stale"

    with ThreadPoolExecutor(writers) as pool:
        outcomes = list(pool.map(write, range(1, writers + 1)))
    assert sorted(outcomes) == sorted(["relocated" if first else "bound"] + ["stale"] * (writers - 1))
    found = bindings.lookup(NAME)
    assert found is not None
    assert found.target == f"/{outcomes.index('relocated' if first else 'bound') + 1}"
    assert len(bindings.history(NAME)) == first + 1


# Several names --------------------------------------------------------------------------------------------------------


def test_several_names_are_changed_in_one_transaction(bindings: Bindings) -> None:
    wanted = [binding(f"ark:12345/x{number:03}", f"/{number}", 0) for number in reversed(range(MAX_CHANGES))]
    made = bindings.change(wanted, actor="me")
    assert [each.after.target for each in made] == [f"/{number}" for number in reversed(range(MAX_CHANGES))]
    assert {each.outcome for each in made} == {"bound"}
    assert bindings.count().number == MAX_CHANGES
    assert bindings.store.fetch([each.after.identifier for each in made]) == {
        each.after.identifier: each.after for each in made
    }
    [event] = bindings.history("ark:12345/x500")
    assert (event.actor, event.operation) == ("me", None)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("last", "code"),
    [
        pytest.param(lambda: binding(NAME, "/other"), "bound-otherwise", id="a conflict"),
        pytest.param(lambda: binding(NAME, "/1", 7), "revision-stale", id="another revision"),
        pytest.param(lambda: change_recorded("ark:12345/missing", lambda e, n: []), "not-bound", id="a missing name"),
        pytest.param(lambda: binding("ark:/12345/n-1"), "name-twice", id="the same name in another spelling"),
    ],
)
def test_a_refused_name_stops_the_change_of_all(bindings: Bindings, last: Callable[[], NameChange], code: str) -> None:
    bindings.bind(NAME, "/1")
    wanted = [binding(f"ark:12345/n{number}") for number in range(20)]
    for order in ([*wanted, last()], [last(), *wanted]):
        with pytest.raises(BindingError) as caught:
            bindings.change(order, actor=NOTED)
        assert caught.value.code == code
        assert bindings.count().number == 1
        assert noted(bindings) == []


def test_too_many_names_are_refused(bindings: Bindings) -> None:
    with pytest.raises(BindingError, match="1,001 names") as caught:
        bindings.change([binding(f"ark:12345/n{number}") for number in range(MAX_CHANGES + 1)])
    assert caught.value.code == "changes-count"
    assert bindings.change([]) == []


def test_several_changes_of_one_name_are_separate_events(bindings: Bindings) -> None:
    bindings.bind(NAME, "/1")

    def decide(existing: Binding, now: datetime) -> Sequence[Change]:
        moved = assignment.relocate(existing, Fields(target="/2"), now)
        return [moved, assignment.withdraw(moved.after, "gone", now)]

    [made] = bindings.change([change_recorded(NAME, decide)])
    assert (made.outcome, made.after) == ("withdrawn", bindings.lookup(NAME))
    assert [(event.action, event.revision) for event in bindings.history(NAME)] == [
        ("bound", 1),
        ("relocated", 2),
        ("withdrawn", 3),
    ]


def test_the_policy_check_applies_to_each_change(bindings: Bindings) -> None:
    def refuse(before: Binding | None, change: Change, settings: object) -> Change:
        raise BindingError("name-reserved", identifier=change.after.identifier)

    bindings.check_change = refuse
    with pytest.raises(BindingError, match="reserves this name"):
        bindings.change([binding(NAME)])
    with pytest.raises(BindingError, match="reserves this name"):
        create(bindings, [MintedChange("12345/x5", binding)])


@pytest.mark.timeout(120)
def test_transactions_with_the_same_names_in_another_order_do_not_block_each_other(bindings: Bindings) -> None:
    keys = [f"ark:12345/x{number}" for number in range(50)]
    barrier = Barrier(4)

    def write(number: int) -> None:
        order = keys if number % 2 else keys[::-1]
        barrier.wait()
        for turn in range(5):
            bindings.change([moving(key, f"/{turn}") for key in order])

    bindings.change([binding(key) for key in keys])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert {each.target for each in bindings.store.fetch(keys).values()} == {"/4"}


# Minted and chosen names ----------------------------------------------------------------------------------------------


def test_minted_and_chosen_names_are_created_together(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/t7", pattern="10^2")
    wanted = [binding(NAME), *[MintedChange("12345/t7", binding)] * 60, *[MintedChange("ark:12345/x5", binding)] * 2]
    made = create(bindings, wanted, actor="me")
    keys = [each.after.identifier for each in made]
    assert keys[0] == NAME
    assert len({*keys[1:61]}) == 60
    assert all(key.startswith("ark:12345/t7") and key[-2:].isdigit() and len(key) == 14 for key in keys[1:61])
    assert all(key.startswith("ark:12345/x5") and len(key) == 20 for key in keys[61:])
    # A minted name that is made live at once has one event.
    assert [event.action for event in bindings.history(keys[1])] == ["bound"]
    # All names of the call are one operation.
    (operation,) = bindings.list_operations()
    assert (operation.action, operation.actor, operation.names) == ("mint", "me", 63)
    assert {bindings.history(key)[0].operation for key in keys} == {operation.number}
    with pytest.raises(BindingError, match="not enough") as caught:
        create(bindings, [binding(OTHER), *[MintedChange("12345/t7", binding)] * 41])
    assert caught.value.code == "names-exhausted"
    assert bindings.lookup(OTHER) is None
    assert len(create(bindings, [MintedChange("12345/t7", binding)] * 40)) == 40


def test_a_minted_name_is_none_of_the_chosen_ones(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/t7", pattern="10^1")
    chosen = [binding(f"ark:12345/t7{number}") for number in range(5)]
    made = create(bindings, [*[MintedChange("12345/t7", binding)] * 5, *chosen])
    assert {each.after.identifier for each in made} == {f"ark:12345/t7{number}" for number in range(10)}


def test_concurrent_creations_never_mint_the_same_name(bindings: Bindings) -> None:
    bindings.prefixes.set("12345/t7", pattern="10^3")
    barrier = Barrier(8)

    def write(_: int) -> list[str]:
        barrier.wait()
        return [create(bindings, [MintedChange("12345/t7", binding)])[0].after.identifier for _ in range(6)]

    with ThreadPoolExecutor(8) as pool:
        minted = [name for each in pool.map(write, range(8)) for name in each]
    assert len(set(minted)) == len(minted) == bindings.count().number == 48


# Further rows in the transaction --------------------------------------------------------------------------------------


def test_a_callback_writes_rows_in_the_transaction_of_each_change(bindings: Bindings) -> None:
    bindings.bind(NAME, "https://old.example/1", actor=NOTED)
    bindings.bind(NAME, "https://old.example/1", actor=NOTED)
    bindings.reserve(OTHER, actor=NOTED)
    bindings.delete(OTHER, actor=NOTED)
    [minted] = mint(bindings, "12345/x5", actor=NOTED)
    relocate_prefix(bindings, "old.example", "new.example", dry_run=True, actor=NOTED)
    operation = relocate_prefix(bindings, "old.example", "new.example", actor=NOTED).operation
    table = io.BytesIO(b"identifier,target\nark:12345/i1,/i\n")
    imported = import_table(bindings, table, actor=NOTED).operation
    bindings.bind("ark:12345/unrecorded", "/1")
    assert noted(bindings) == [
        (NAME, "bound"),
        (OTHER, "reserved"),
        (OTHER, "deleted"),
        (minted, "reserved"),
        ("operation", f"{operation}"),
        ("operation", f"{imported}"),
    ]


def test_nothing_is_written_if_the_callback_fails(bindings: Bindings) -> None:
    def fail(transaction: Transaction) -> None:
        note(transaction)
        raise ZeroDivisionError

    failing = Actor(at_end=(fail,))
    changes: list[Callable[[], object]] = [
        lambda: bindings.bind(NAME, "/1", actor=failing),
        lambda: mint(bindings, "12345/x5", actor=failing),
        lambda: import_table(bindings, io.BytesIO(b"identifier,target\nark:12345/i1,/i\n"), actor=failing),
        lambda: bindings.prefixes.set("12345/x5", who="Library", actor=failing),
        lambda: bindings.rules.set("12345/x5", "https://example.org/${value}", actor=failing),
    ]
    for change in changes:
        with pytest.raises(ZeroDivisionError):
            change()
    assert (bindings.count().number, bindings.prefixes.list(), bindings.rules.list(), noted(bindings)) == (
        0,
        [],
        [],
        [],
    )


def test_a_fault_of_the_database_in_the_callback_leaves_nothing(bindings: Bindings) -> None:
    def wrong(transaction: Transaction) -> None:
        transaction.connection.exec_driver_sql("INSERT INTO missing_table VALUES (1)")

    with pytest.raises(BindingsUnavailable, match="missing_table"):
        bindings.bind(NAME, "/1", actor=Actor(at_end=(wrong,)))
    assert bindings.lookup(NAME) is None


def test_each_callback_is_called_in_order_with_the_result_of_the_change(bindings: Bindings) -> None:
    seen: list[tuple[int, object]] = []
    noting = Actor().with_end(lambda each: seen.append((1, each.result)))
    noting = noting.with_end(lambda each: seen.append((2, each.result)))
    bindings.bind(NAME, "https://old.example/1", actor=noting)
    (made,) = seen[0][1]  # type: ignore[misc]
    assert (made.outcome, made.after) == ("bound", bindings.lookup(NAME))
    result = relocate_prefix(bindings, "old.example", "new.example", actor=noting)
    table = io.BytesIO(b"identifier,target\nark:12345/other,/2\n")
    summary = import_table(bindings, table, format="csv", actor=noting)
    assert [number for number, _ in seen] == [1, 2, 1, 2, 1, 2]
    assert seen[3][1] is result
    assert result.written
    assert seen[5][1] is summary
    import_table(bindings, io.BytesIO(table.getvalue()), format="csv", dry_run=True, actor=noting)
    assert len(seen) == 6, "a dry run is rolled back"


def test_an_actor_with_grants_changes_only_names_below_them(bindings: Bindings) -> None:
    jane = Actor(name="jane", grants=("ark:12345/x5",))
    assert bindings.bind("ark:12345/x5g", "https://example.org/1", actor=jane) == "bound"
    bindings.bind("ark:12345/y7g", "https://example.org/1")
    for name in ("ark:12345/y7g", "ark:12345/y7none"):
        with pytest.raises(BindingError) as refused:
            bindings.withdraw(name, actor=jane)
        assert (refused.value.code, refused.value.identifier) == ("not-granted", name)
    acts: list[Callable[[], object]] = [
        lambda: mint(bindings, "12345/z7", actor=jane),
        lambda: redact(bindings, "ark:12345/y7g", actor=jane),
        lambda: depart(bindings, "12345/y7", "https://new.example", actor=jane),
        lambda: bindings.prefixes.set("12345/y7", what="Maps", actor=jane),
        lambda: bindings.prefixes.remove("12345/y7", actor=jane),
        lambda: bindings.rules.set("12345/y7", "https://e.example/${pid}", actor=jane),
        lambda: bindings.rules.remove("12345/y7", actor=jane),
    ]
    table = "identifier,kind,target,what\nark:12345/y7,rule,https://e.example/${pid},\nark:12345/y7,prefix,,Maps\n"
    rows = import_table(bindings, io.BytesIO(table.encode()), actor=jane)
    assert [each.code for each in rows.refused] == ["not-granted", "not-granted"]
    for act in acts:
        with pytest.raises(BindingError) as refused:
            act()
        assert refused.value.code == "not-granted"
    assert (bindings.count().number, bindings.prefixes.list(), bindings.rules.list()) == (2, [], [])
    assert len(bindings.history("ark:12345/y7g")) == 1
