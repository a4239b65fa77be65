"""Changes of many names in short transactions: each operation, interruptions at each transaction, and the undo."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.binding import Binding, rfc3339
from ararat.bindings.names.errors import BindingError, BindingsUnavailable
from ararat.bindings.names.fields import Fields
from ararat.bindings.names.selection import select
from ararat.bindings.operations import edits, job_names, pace
from ararat.bindings.operations.departure import depart
from ararat.bindings.operations.job_names import JobNames
from ararat.bindings.operations.plan import BulkResult, Plan
from ararat.bindings.operations.relocation import relocate_prefix, set_passthrough
from ararat.bindings.operations.runner import Hooks, OperationRun, stop_operation
from ararat.bindings.operations.selected import change_selected
from ararat.bindings.operations.undo import undo_operation, undo_plan
from ararat.bindings.operations.withdrawal import restore_below, restore_withdrawn, withdraw_below

NAMES = [f"ark:12345/x5{number}" for number in range(5)]
RESERVED = NAMES[3:]

PLANS: dict[str, tuple[Plan, dict[str, int]]] = {
    "edit": (edits.edit(Fields(metadata={"who": "Noah", "what": ""}, listed=False)), {"updated": 5}),
    "publish": (edits.publish(), {"bound": 2}),
    "move": (edits.move("old.example", "https://new.example/a"), {"relocated": 5}),
    "withdraw": (edits.withdraw("sold", "https://example.org/new"), {"withdrawn": 3}),
    "delete": (edits.delete(), {"deleted": 2}),
    "hold": (edits.hold(rfc3339(datetime.now(UTC) + timedelta(days=90)), "a claim"), {"held": 5}),
}
WANTED: dict[str, Callable[[Binding | None], bool]] = {
    "edit": lambda name: name is not None and dict(name.metadata) == {"erc.who": "Noah"} and not name.listed,
    "publish": lambda name: name is not None and name.is_live,
    "move": lambda name: name is not None and str(name.target).startswith("https://new.example/a/"),
    "withdraw": lambda name: name is not None and (name.is_withdrawn or name.is_reserved),
    "delete": lambda name: name is None or name.is_live,
    "hold": lambda name: name is not None and name.hold_reason == "a claim",
}


class Killed(Exception):
    """The end of a process."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    monkeypatch.setattr(pace, "_PAUSE", 0)


@pytest.fixture
def filled(bindings: Bindings) -> Bindings:
    for name in NAMES:
        add = bindings.reserve if name in RESERVED else bindings.bind
        add(name, f"http://old.example/{name[-1]}", metadata={"what": "Map"})
    return bindings


def checked(bindings: Bindings, plan: Plan, job: int = 1, names: list[str] = NAMES) -> BulkResult:
    names_of = JobNames(bindings, plan, job)
    assert names_of.add(names, lambda connection, number: None) == len(names)
    return OperationRun(bindings, names_of, job).check()


def changed(bindings: Bindings, plan: Plan, job: int = 1, **hooks: Any) -> BulkResult:
    """Change the names that an earlier check accepted, or those that are left after an interruption."""
    names = JobNames(bindings, plan, job)
    names.begin_change()
    run = OperationRun(bindings, names, job, hooks=Hooks(**hooks))
    run.continued_operation()
    return run.write()


def undone(bindings: Bindings, operation: int) -> BulkResult:
    """Undo an operation as a job."""
    plan = undo_plan(operation)
    names = JobNames(bindings, plan, 2)
    names.add_of_operation(operation)
    assert OperationRun(bindings, names, 2).check().refusals == 0
    return changed(bindings, plan, 2)


def values(bindings: Bindings) -> dict[str, Any]:
    """Return what is recorded about each name, without times and revisions."""
    found = (bindings.lookup(name) for name in NAMES)
    left_out = ("changed", "revision", "recorded", "once_public")
    return {
        each.identifier: {name: value for name, value in each.as_dict().items() if name not in left_out}
        for each in found
        if each
    }


@pytest.mark.parametrize("action", PLANS)
@pytest.mark.parametrize("killed_at", [0, 1])
def test_an_interrupted_operation_is_finished_once_and_undone(filled: Bindings, action: str, killed_at: int) -> None:
    plan, counts = PLANS[action]
    before = values(filled)
    assert dict(checked(filled, plan).counts) == counts
    assert values(filled) == before
    beats, finished = [0], list[BulkResult]()
    killed_at = min(killed_at, (sum(counts.values()) - 1) // 2)

    def beat(connection: Any, number: int) -> None:
        beats[0] += 1
        if beats[0] > killed_at:
            raise Killed

    with pytest.raises(Killed):
        changed(filled, plan, beat=beat)
    result = changed(filled, plan, finish=lambda connection, result: finished.append(result))
    assert (dict(result.counts), finished[-1].counts) == (counts, result.counts)
    assert all(WANTED[action](filled.lookup(name)) for name in NAMES)
    (operation,) = filled.list_operations()
    assert (operation.names, operation.finished is not None) == (sum(counts.values()), True)
    changes = [event for name in NAMES for event in filled.history(name) if event.operation == operation.number]
    assert len(changes) == sum(counts.values())

    assert undone(filled, operation.number).changed == sum(counts.values())
    assert values(filled) == before
    assert filled.list_operations()[-1].undone_by == filled.list_operations()[0].number


def test_a_name_that_was_changed_since_the_check_is_refused_and_the_others_go_on(filled: Bindings) -> None:
    plan, _ = PLANS["edit"]
    checked(filled, plan)
    filled.relocate(NAMES[0], "https://example.org/")
    filled.delete(NAMES[4])
    result = changed(filled, plan)
    assert (dict(result.counts), result.refusals, result.written) == ({"updated": 3}, 1, True)
    assert [(each.identifier, each.code) for each in result.refused] == [(NAMES[0], "changed-meanwhile")]
    assert dict(filled.lookup(NAMES[0]).metadata) == {"erc.what": "Map"}  # type: ignore[union-attr]  it is recorded


def test_refused_names_are_left_out_of_the_change(filled: Bindings) -> None:
    plan = edits.edit(Fields(resource="R 1"))
    filled.bind(NAMES[0], "http://old.example/0", resource="R 2")
    result = checked(filled, plan)
    assert (result.refusals, result.refused[0].code, result.changed) == (1, "other-resource", 4)
    assert changed(filled, plan).changed == 4


def test_a_change_without_names_is_no_operation(filled: Bindings) -> None:
    plan = edits.restore()
    found = checked(filled, plan)
    assert (found.changed, found.others, {each.code for each in found.left_alone}) == (0, 5, {"not-withdrawn"})
    assert changed(filled, plan).operation is None
    assert filled.list_operations() == []


def test_an_operation_that_cannot_go_on_is_ended_and_can_be_undone(filled: Bindings) -> None:
    plan, _ = PLANS["move"]
    checked(filled, plan)
    before = values(filled)

    def beat(connection: Any, number: int) -> None:
        if number > 2:
            raise Killed

    with pytest.raises(Killed):
        changed(filled, plan, beat=beat)
    assert OperationRun(filled, JobNames(filled, plan, 1), 1).stop().changed == 2
    (operation,) = filled.list_operations()
    assert (operation.names, operation.finished is not None) == (2, True)
    undone(filled, operation.number)
    assert values(filled) == before


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "interrupted"])
def test_an_operation_is_undone_only_after_it_was_stopped_and_does_not_go_on(
    filled: Bindings, monkeypatch: pytest.MonkeyPatch, is_running: bool
) -> None:
    plan, _ = PLANS["move"]
    checked(filled, plan)
    before = values(filled)

    def undo() -> None:
        (operation,) = filled.list_operations()
        source = JobNames(filled, undo_plan(operation.number), 2)
        for act in (partial(undo_operation, filled), source.add_of_operation):
            with pytest.raises(BindingError) as running:
                act(operation.number)
            assert running.value.code == "operation-running"
        stopped = stop_operation(filled, operation.number, actor="me")
        assert (stopped.names, stopped.finished is not None) == (2, True)
        assert stop_operation(filled, operation.number) == stopped
        assert undo_operation(filled, operation.number).changed == 2

    if is_running:
        # Between two transactions.
        pauses = iter([undo])
        monkeypatch.setattr(pace.BlockPace, "rest", lambda pace: next(pauses, lambda: None)())
    else:

        def beat(connection: Any, number: int) -> None:
            if number > 2:
                raise Killed

        with pytest.raises(Killed):
            changed(filled, plan, beat=beat)
        undo()
    with pytest.raises(BindingError) as refused:
        changed(filled, plan)
    assert refused.value.code == "operation-undone"
    assert values(filled) == before


def test_an_operation_that_was_stopped_says_how_many_names_it_changed(filled: Bindings) -> None:
    plan, _ = PLANS["move"]
    checked(filled, plan)

    def beat(connection: Any, number: int) -> None:
        if number > 2:
            raise Killed

    with pytest.raises(Killed):
        changed(filled, plan, beat=beat)
    stop_operation(filled, 1)
    with pytest.raises(BindingError, match="operation 1 was stopped after 2 names") as ended:
        changed(filled, plan)
    assert ended.value.code == "operation-ended"
    with pytest.raises(BindingError) as unknown:
        stop_operation(filled, 2)
    assert unknown.value.code == "operation-unknown"


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_an_error_of_the_database_says_how_much_is_written(filled: Bindings, blocks: int) -> None:
    plan = PLANS["edit"][0]
    checked(filled, plan)
    left = iter(range(blocks))

    def beat(connection: Any, number: int) -> None:
        if next(left, None) is None:
            raise BindingsUnavailable("the disk is full; free space on its disk")

    with pytest.raises(BindingsUnavailable) as caught:
        changed(filled, plan, beat=beat)
    operation = filled.list_operations()[0].number if blocks else None
    assert (caught.value.operation, caught.value.written) == (operation, 2 * blocks)
    assert sum(WANTED["edit"](filled.lookup(name)) for name in NAMES) == 2 * blocks


def test_the_same_command_continues_an_undo_that_was_interrupted(filled: Bindings) -> None:
    before = values(filled)
    run_plan(filled, PLANS["move"][0])

    def kill(number: int) -> None:
        if number > 2 and len(filled.list_operations()) == 2:
            raise Killed

    with pytest.raises(Killed):
        undo_operation(filled, 1, progress=kill)
    assert filled.list_operations()[0].finished is None
    assert undo_operation(filled, 1).written
    assert values(filled) == before
    assert [each.undone_by for each in filled.list_operations()] == [None, 2]


def run_plan(bindings: Bindings, plan: Plan) -> None:
    checked(bindings, plan)
    changed(bindings, plan)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: edits.edit(Fields()), "edit-fields"),
        (lambda: edits.edit(Fields(target="/x")), "edit-fields"),
        (lambda: edits.edit(Fields(status="live", metadata={"who": "x"})), "edit-fields"),
        (lambda: edits.edit(Fields(metadata={"nothing": "x"})), "metadata-key"),
        (lambda: edits.move("old.example", "ftp://x"), "target-scheme"),
        (lambda: edits.hold("soon", "a claim"), "hold-until"),
        (lambda: edits.hold("2999-01-01", ""), "hold-reason"),
        (lambda: edits.withdraw(successor="ark:"), "no-naan"),
        (lambda: edits.withdraw(successor="junk"), "successor-text"),
    ],
)
def test_a_wrong_operation_is_refused(make: Callable[[], Plan], code: str) -> None:
    with pytest.raises(BindingError) as refused:
        make()
    assert refused.value.code.startswith(code)
    assert refused.value.identifier is None


@pytest.mark.parametrize("successor", ["ark:12345/x", "ark:99999/fk4new"])
def test_names_are_withdrawn_for_any_successor_that_one_name_can_have(bindings: Bindings, successor: str) -> None:
    live = [name for name in (successor, NAMES[0]) if not name.startswith("ark:99999/")]
    for name in live:
        bindings.bind(name, "https://example.org/")
    is_test = successor.startswith("ark:99999/")
    result = change_selected(bindings, "withdraw", {"successor": successor}, select(prefix=NAMES[0]))
    assert (result.written, result.refusals) == ((False, 1) if is_test else (True, 0))


def test_selected_names_with_another_target_are_not_moved(bindings: Bindings) -> None:
    for name, target in zip(NAMES, ("http://old.example/1", "http://other.example/2", None), strict=False):
        bindings.bind(name, target, metadata={"what": "Map"}) if target else bindings.reserve(name)
    bindings.bind(NAMES[3], "http://other.example/3")
    bindings.withdraw(NAMES[3], reason="sold")
    move = {"from": "old.example", "to": "https://new.example/a"}
    result = change_selected(bindings, "move", move, select(prefix="ark:12345/x5"))
    assert (result.counts, result.left_alone) == ({"relocated": 1}, [])
    assert [len(bindings.history(name)) for name in NAMES[:4]] == [2, 1, 1, 2]


def test_a_dry_run_has_the_warnings_of_the_change(bindings: Bindings) -> None:
    for name in NAMES:
        bindings.bind(name, f"https://example.org/{name[-1]}")
    edit = {"fields": {"metadata": {"what": "Map"}}}
    dry, done = (change_selected(bindings, "edit", edit, select(), dry_run=is_dry) for is_dry in (True, False))
    assert (dry.warnings, dry.warned, dry.counts) == (done.warnings, done.warned, done.counts)
    assert done.warnings >= len(NAMES) // 2


BELOW = "ark:12345/x9"
ACTS: dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    "relocate": (lambda each, **how: relocate_prefix(each, "old.example", "new.example", **how), None),
    "set passthrough": (lambda each, **how: set_passthrough(each, BELOW, True, **how), None),
    "withdraw below": (lambda each, **how: withdraw_below(each, BELOW, **how), None),
    "restore below": (lambda each, **how: restore_below(each, BELOW, **how), lambda each: withdraw_below(each, BELOW)),
    "restore withdrawn": (
        lambda each, **how: restore_withdrawn(each, 1, **how),
        lambda each: withdraw_below(each, BELOW),
    ),
    "edit": (
        lambda each, **how: change_selected(
            each, "edit", {"fields": {"metadata": {"who": "Noah"}}}, select(prefix=BELOW), **how
        ),
        None,
    ),
    "undo": (lambda each, **how: undo_operation(each, 1, **how), lambda each: withdraw_below(each, BELOW)),
    "depart": (lambda each, **how: depart(each, BELOW, "https://other.example", **how), None),
}


@pytest.mark.parametrize("how", [{}, {"atomic": False}, {"atomic": True}], ids=["default", "blocks", "atomic"])
@pytest.mark.parametrize("act", ACTS)
def test_each_act_is_written_in_blocks_unless_it_is_atomic(
    bindings: Bindings, monkeypatch: pytest.MonkeyPatch, act: str, how: dict[str, bool]
) -> None:
    for number in range(3):
        bindings.bind(f"{BELOW}/{number}", f"https://old.example/{number}")
    do, before = ACTS[act]
    if before is not None:
        before(bindings)
    at_once: list[str] = []
    original = OperationRun.at_once

    def counted(run: OperationRun[Any], **others: Any) -> Any:
        at_once.append(act)
        return original(run, **others)

    monkeypatch.setattr(OperationRun, "at_once", counted)
    result = do(bindings, **how)
    assert (result.written, result.counts.total()) == (True, 3)
    assert bool(at_once) == how.get("atomic", False)


def test_more_names_than_the_maximum_are_refused(filled: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_names, "MAX_NAMES", 3)
    with pytest.raises(BindingError, match="more than 3 names"):
        JobNames(filled, edits.publish(), 1).add(NAMES, lambda connection, number: None)
