"""Test undo: it adds changes to the history that give names back their former values."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ararat.bindings.checks.name_findings import check
from ararat.bindings.collection import Bindings
from ararat.bindings.names.binding import Binding
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.undo import undo_change, undo_operation
from ararat.bindings.operations.withdrawal import restore_below, withdraw_below
from ararat.middleware import import_table

LIVE, GONE, DRAFT, NEW = "ark:12345/live", "ark:12345/gone", "ark:12345/draft", "ark:12345/new"


def state(bindings: Bindings, name: str) -> Binding | None:
    """Return a binding without its time and revision."""
    found = bindings.store.fetch([name]).get(name)
    return found and replace(found, changed=found.created, revision=0)


@pytest.fixture
def filled(bindings: Bindings) -> Bindings:
    bindings.bind(
        LIVE,
        "https://old.example/1",
        resource="R1",
        metadata={"what": "T", "who": "W", "dc.title": "D"},
        alternates={"de": "/de"},
        redirect=307,
        passthrough=True,
    )
    bindings.bind(GONE, "https://old.example/2")
    bindings.withdraw(GONE, reason="lost", successor=LIVE)
    bindings.reserve(DRAFT, "https://old.example/3", resource="R3", metadata={"what": "T"})
    return bindings


def imported(bindings: Bindings, *lines: str, **options: Any) -> int:
    summary = import_table(bindings, io.BytesIO("\n".join([*lines, ""]).encode()), **options)
    assert summary.refused == []
    assert summary.operation is not None
    return summary.operation


COLUMNS = "identifier,target,kind,resource,status,what,redirect,passthrough,target[de],reason"
OPERATIONS: list[Any] = [
    pytest.param(lambda b: relocate_prefix(b, "old.example", "new.example").operation, id="relocation"),
    pytest.param(lambda b: withdraw_below(b, LIVE, reason="gone").operation, id="withdrawal"),
    pytest.param(lambda b: restore_below(b, GONE).operation, id="restoration"),
    pytest.param(
        lambda b: imported(
            b,
            COLUMNS,
            f"{LIVE},https://new.example/,,R1,,Other,302,false,/deutsch,",
            f"{GONE},,,,withdrawn,Other,,,,another reason",
            f"{DRAFT},/draft,,R4,reserved,Other,,,,",
        ),
        id="import that changes everything",
    ),
    pytest.param(lambda b: imported(b, COLUMNS, f"{LIVE},,,,withdrawn,Other,,,,sorry"), id="import that withdraws"),
    pytest.param(
        lambda b: imported(b, "identifier,target", f"{LIVE},https://other.example/", relocate=True),
        id="import --relocate",
    ),
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_undo_gives_all_names_back_their_values(filled: Bindings, operation: Callable[[Bindings], int]) -> None:
    before = {name: state(filled, name) for name in (LIVE, GONE, DRAFT)}
    lengths = {name: len(filled.history(name)) for name in before}
    number = operation(filled)
    after = {name: state(filled, name) for name in before}
    assert after != before
    undone = undo_operation(filled, number, actor="me")
    assert {name: state(filled, name) for name in before} == before
    changed = {name for name in before if before[name] != after[name]}
    assert {effect.after.identifier for effect in undone.effects} == changed
    for name in changed:
        history = filled.history(name)
        assert len(history) == lengths[name] + 2
        assert (history[-1].actor, history[-1].operation) == ("me", undone.operation)
    # The undo of the undo repeats the operation, and so on.
    for number, expected in ((undone.operation, after), (None, before), (None, after)):
        latest = filled.list_operations()[0].number
        assert number in (None, latest)
        assert undo_operation(filled, latest).written
        assert {name: state(filled, name) for name in before} == expected
    assert [finding for finding in check(filled, naans=["12345"]) if "differ" in finding.message] == []


def test_operations_show_by_which_they_are_undone(filled: Bindings) -> None:
    first = relocate_prefix(filled, "old.example", "new.example", actor="me").operation
    assert first is not None
    second = undo_operation(filled, first).operation
    assert second is not None
    with pytest.raises(BindingError) as refused:
        undo_operation(filled, first)
    assert (refused.value.code, f"operation {second}" in refused.value.message) == ("operation-undone", True)
    third = undo_operation(filled, second).operation
    assert third is not None
    fourth = undo_operation(filled, first).operation
    shown = [(each.number, each.action, each.undoes, each.undone_by) for each in filled.list_operations()]
    assert shown == [
        (fourth, "undo", first, None),
        (third, "undo", second, None),
        (second, "undo", first, third),
        (first, "relocate", None, fourth),
    ]
    assert [each.number for each in filled.list_operations(cursor=third, limit=1)] == [second]
    with pytest.raises(BindingError):
        filled.list_operations(limit=0)


def test_a_refused_undo_names_the_operation_to_undo_first(filled: Bindings) -> None:
    first = relocate_prefix(filled, "old.example", "new.example").operation
    second = relocate_prefix(filled, "new.example", "other.example").operation
    assert first is not None
    refused = undo_operation(filled, first).refused
    assert refused
    assert {each.code for each in refused} == {"undo-changed"}
    assert {f"by the operation {second}; undo that operation first" in each.message for each in refused} == {True}


NEW_NAMES = [
    pytest.param(f"{NEW},/new,,R9,,T,,,,", "withdrawn", "withdrawn", id="live"),
    pytest.param(f"{NEW},/new,,R9,withdrawn,T,,,,lost", None, "withdrawn", id="withdrawn"),
    pytest.param(f"{NEW},/new,,R9,reserved,T,,,,", "deleted", None, id="reserved"),
    pytest.param(f"{DRAFT},/new,,R9,live,T,,,,", "hidden", "reserved", id="reserved name made live"),
]


@pytest.mark.parametrize(("line", "outcome", "status"), NEW_NAMES)
def test_a_new_name_is_withdrawn_or_deleted(
    filled: Bindings, line: str, outcome: str | None, status: str | None
) -> None:
    name = line.partition(",")[0]
    number = imported(filled, COLUMNS, line)
    after = state(filled, name)
    undone = undo_operation(filled, number)
    assert undone.counts == ({outcome: 1} if outcome else {})
    found = state(filled, name)
    assert (found and found.status) == status
    if undone.operation is None:
        assert undone.unchanged == 1
        return
    undo_operation(filled, undone.operation)
    again = state(filled, name)
    assert again is not None
    assert replace(again, once_public=None) == after
    assert [event.action for event in filled.history(name)][-1] in ("restored", "reserved", "bound")


def test_a_recorded_resource_stays(filled: Bindings) -> None:
    filled.bind(NEW, "/1", metadata={"what": "T"})
    number = imported(filled, "identifier,target,resource", f"{NEW},/1,R7")
    undone = undo_operation(filled, number)
    assert [(noted.identifier, noted.code) for noted in undone.left_alone] == [(NEW, "undo-resource")]
    assert undone.operation is None
    number = imported(filled, "identifier,target,what", f"{NEW},/1,Other")
    assert undo_operation(filled, number).counts == {"updated": 1}
    found = filled.lookup(NEW)
    assert found is not None
    assert (found.resource, found.metadata["erc.what"]) == ("R7", "T")


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda b: b.relocate(LIVE, "/elsewhere"), id="relocated"),
        pytest.param(lambda b: b.bind(LIVE, "https://new.example/1", metadata={"what": "X"}), id="described"),
        pytest.param(lambda b: b.withdraw(LIVE), id="withdrawn"),
    ],
)
def test_names_that_changed_since_are_refused_or_left_alone(filled: Bindings, edit: Callable[[Bindings], str]) -> None:
    filled.bind(NEW, "https://old.example/new")
    number = relocate_prefix(filled, "old.example", "new.example").operation
    assert number is not None
    assert edit(filled) in ("relocated", "updated", "withdrawn")
    edited = state(filled, LIVE)
    refused = undo_operation(filled, number)
    assert [(noted.identifier, noted.code) for noted in refused.refused] == [(LIVE, "undo-changed")]
    assert (refused.written, refused.operation) == (False, None)
    assert filled.store.fetch([NEW])[NEW].target == "https://new.example/new"
    skipped = undo_operation(filled, number, skip_changed=True)
    assert [(noted.identifier, noted.code) for noted in skipped.left_alone] == [(LIVE, "undo-changed")]
    assert skipped.counts == {"relocated": 2}
    assert state(filled, LIVE) == edited
    assert filled.store.fetch([NEW])[NEW].target == "https://old.example/new"


def test_a_name_that_was_changed_back_can_be_undone(filled: Bindings) -> None:
    first = relocate_prefix(filled, "old.example", "new.example").operation
    second = relocate_prefix(filled, "new.example", "newer.example").operation
    assert first is not None
    assert second is not None
    assert undo_operation(filled, first, dry_run=True).refusals == 2
    undo_operation(filled, second)
    assert undo_operation(filled, first).counts == {"relocated": 2}


def test_a_deleted_name_is_reserved_again_only_if_it_did_not_change(filled: Bindings) -> None:
    number = imported(filled, COLUMNS, f"{NEW},/new,,R9,reserved,T,,,,")
    undone = undo_operation(filled, number).operation
    assert undone is not None
    filled.bind(NEW, "/other")
    assert [noted.code for noted in undo_operation(filled, undone).refused] == ["undo-changed"]


def test_an_import_in_batches_is_one_operation(bindings: Bindings) -> None:
    lines = [f"ark:12345/x{number},/{number}" for number in range(25)]
    number = imported(bindings, "identifier,target", *lines, batch=10)
    [operation] = bindings.list_operations()
    assert (operation.number, operation.names, operation.finished is not None) == (number, 25, True)
    assert undo_operation(bindings, number).counts == {"withdrawn": 25}


def test_an_import_in_batches_records_the_batches_that_it_keeps(bindings: Bindings) -> None:
    lines = ["identifier,target", *(f"ark:12345/x{number},/{number}" for number in range(15)), "ark:99999/x,/1", ""]
    summary = import_table(bindings, io.BytesIO("\n".join(lines).encode()), batch=10)
    assert (summary.kept, summary.written) == (10, False)
    [operation] = bindings.list_operations()
    assert (operation.number, operation.names) == (summary.operation, 10)


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("lines", "options"),
    [
        pytest.param(["ark:12345/live,https://old.example/1"], {}, id="nothing changes"),
        pytest.param(["ark:12345/n,/1", "ark:99999/x,/1"], {}, id="a line is refused"),
        pytest.param(["ark:12345/n,/1", "ark:99999/x,/1"], {"batch": 5}, id="the first batch is refused"),
        pytest.param(["ark:12345/n,/1"], {"dry_run": True}, id="a dry run"),
    ],
)
def test_an_import_that_writes_nothing_is_no_operation(filled: Bindings, lines: list[str], options: Any) -> None:
    table = "\n".join(["identifier,target", *lines, ""]).encode()
    assert import_table(filled, io.BytesIO(table), **options).operation is None
    assert filled.list_operations() == []


def test_an_undo_of_an_import_keeps_rules_and_counters(bindings: Bindings) -> None:
    number = imported(
        bindings, "identifier,target,kind", "ark:12345/r,https://e.example/${value},rule", "ark:12345/x,/1,"
    )
    undo_operation(bindings, number)
    assert [rule.prefix for rule in bindings.rules.list()] == ["ark:12345/r"]


def test_a_dry_run_writes_nothing(filled: Bindings) -> None:
    number = relocate_prefix(filled, "old.example", "new.example").operation
    assert number is not None
    result = undo_operation(filled, number, dry_run=True)
    assert (result.counts, result.operation) == ({"relocated": 2}, None)
    assert undo_change(filled, LIVE, dry_run=True).counts == {"relocated": 1}
    assert filled.store.fetch([LIVE])[LIVE].target == "https://new.example/1"


CHANGES: list[Any] = [
    pytest.param(lambda b: b.relocate(LIVE, "/x"), LIVE, id="relocate"),
    pytest.param(
        lambda b: b.bind(LIVE, "/x", resource="R1", metadata={"what": ""}, alternates={"de": ""}), LIVE, id="bind"
    ),
    pytest.param(lambda b: b.withdraw(LIVE, reason="x"), LIVE, id="withdraw"),
    pytest.param(lambda b: b.withdraw(GONE, reason="x", successor=NEW), GONE, id="new reason"),
    pytest.param(lambda b: b.restore(GONE), GONE, id="restore"),
    pytest.param(lambda b: b.reserve(DRAFT, "/x", resource="R9"), DRAFT, id="reserve"),
    pytest.param(lambda b: b.delete(DRAFT), DRAFT, id="delete"),
]


@pytest.mark.parametrize(("change", "name"), CHANGES)
def test_the_last_change_of_a_name_can_be_undone_and_repeated(
    filled: Bindings, change: Callable[[Bindings], str], name: str
) -> None:
    before = state(filled, name)
    change(filled)
    after = state(filled, name)
    undone = undo_change(filled, name, actor="me")
    assert undone.written
    assert state(filled, name) == before
    assert filled.list_operations()[0].parameters == {"name": name, "revision": None}
    undo_change(filled, name)
    assert state(filled, name) == after
    assert undone.operation is not None
    assert [noted.code for noted in undo_operation(filled, undone.operation).refused] == ["undo-changed"]


def test_the_revision_must_be_the_last_one(filled: Bindings) -> None:
    filled.relocate(LIVE, "/x")
    assert [noted.code for noted in undo_change(filled, LIVE, revision=1).refused] == ["undo-changed"]
    assert undo_change(filled, LIVE, revision=2).written
    with pytest.raises(BindingError) as refused:
        undo_change(filled, "ark:12345/unknown")
    assert refused.value.code == "not-bound"


def test_an_undo_goes_through_the_policy(filled: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    number = relocate_prefix(filled, "old.example", "new.example").operation
    assert number is not None

    def refuse(before: object, change: object, settings: object) -> Any:
        raise BindingError("uuid-reused")

    monkeypatch.setattr(filled, "check_change", refuse)
    result = undo_operation(filled, number)
    assert (result.refusals, result.written, result.refused[0].code) == (2, False, "uuid-reused")


@pytest.mark.usefixtures("small_blocks")
def test_an_undo_of_many_blocks_restores_every_name(bindings: Bindings) -> None:
    lines = [f"ark:12345/x{number},/old/{number}" for number in range(250)]
    imported(bindings, "identifier,target", *lines)
    number = relocate_prefix(bindings, "/old/", "/new/").operation
    assert number is not None
    assert undo_operation(bindings, number).counts == {"relocated": 250}
    assert relocate_prefix(bindings, "/new/", "/old/", dry_run=True).names == 0
