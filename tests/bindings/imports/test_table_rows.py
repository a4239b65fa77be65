"""Imports in short transactions: the check, an end of the process at each of them, a row that is refused, the undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from ararat.bindings.imports.importing import import_rows
from ararat.bindings.imports.keyed_rows import Mint
from ararat.bindings.imports.summary import Summary
from ararat.bindings.imports.table_rows import ImportedTable, Listeners, TableRows
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations import pace
from ararat.bindings.operations.runner import Hooks, OperationRun, stop_operation
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.tables.columns import Row
from ararat.bindings.tables.text_stream import ReadAs
from ararat.middleware import Bindings

JANE = Actor(name="jane", operation="import")
OBJECTS = [{"resource": f"INV {number}", "what": f"Vase {number}"} for number in range(7)]
NAMES = [{"identifier": f"ark:12345/n{number}", "target": f"/{number}"} for number in range(7)]


Blocks = Callable[..., OperationRun[Summary]]


class Killed(Exception):
    """The end of a process."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "BLOCK", 2)
    monkeypatch.setattr(pace, "_PAUSE", 0)


def table(rows: list[dict[str, str]], *, mint: bool = True) -> ImportedTable:
    def read(read_as: ReadAs) -> Iterator[Row]:
        return (Row(line, cells) for line, cells in enumerate(rows, 2))

    return ImportedTable("a.csv", read, Mint("ark:12345/k1") if mint else None)


@pytest.fixture
def blocks(bindings: Bindings) -> Iterator[Blocks]:
    """blocks(rows, mint=True, kill_at=99) is a new run of the import; the process ends in the transaction with this
    number.
    """
    sources: list[TableRows] = []

    def make(
        rows: list[dict[str, str]],
        *,
        mint: bool = True,
        kill_at: int = 99,
        progress: Callable[[int], object] = lambda number: None,
        **listeners: Any,
    ) -> OperationRun[Summary]:
        begun: list[int] = []

        def beat(connection: Any, number: int) -> None:
            begun.append(number)
            if len(begun) > kill_at:
                raise Killed

        source = TableRows(bindings, table(rows, mint=mint), JANE, Listeners(**listeners))
        sources.append(source)
        return OperationRun(bindings, source, 1, actor=JANE, hooks=Hooks(beat=beat, progress=progress))

    yield make
    for each in sources:
        each.close()


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(each.line, each.code) for each in summary.refused]


@pytest.mark.both_stores
@pytest.mark.parametrize("kill_at", [0, 1, 3])
def test_an_import_that_is_killed_goes_on_and_mints_no_name_twice(
    bindings: Bindings, blocks: Blocks, kill_at: int
) -> None:
    beats: list[int] = []
    first = blocks(OBJECTS, kill_at=kill_at, progress=beats.append)
    checked = first.check()
    assert (checked.reserved, checked.minted, checked.refusals, beats[-1]) == (7, 7, 0, 7)
    assert bindings.count().number == 0
    assert bindings.list_operations() == []
    with pytest.raises(Killed):
        first.write()
    again = blocks(OBJECTS)
    begun = again.continued_operation()
    assert (begun is not None) == (kill_at > 0)
    if begun is None:
        again.check()
    summary = again.write()
    assert (summary.reserved, summary.minted, summary.lines, summary.written) == (7, 7, 7, True)
    assert summary.continued == (kill_at > 0)
    (operation,) = bindings.list_operations()
    assert (operation.names, operation.finished is not None, operation.number) == (7, True, summary.operation)
    sources = {event.source for event in events(bindings, operation.number)}
    assert sources == {f"a.csv, line {line}" for line in range(2, 9)}
    undo_operation(bindings, operation.number)
    assert bindings.count().number == 0


def events(bindings: Bindings, operation: int) -> list[Any]:
    with bindings.transaction() as transaction:
        keys = [*transaction.operations.keys_of(operation)]
    return [event for key in keys for event in bindings.history(key)]


def test_a_check_finds_what_an_import_in_one_transaction_finds(bindings: Bindings, blocks: Blocks) -> None:
    bindings.bind("ark:12345/n9", "/9")
    rows = [
        *NAMES,
        {"identifier": "ark:12345/n0", "target": "/0"},
        {"identifier": "ark:12345/n1", "target": "/other"},
        {"identifier": "ark:12345/n-9", "target": "/9"},
        {"identifier": "ark:12345/m1", "target": "/6"},
        {"identifier": "ark:12345/m2", "target": "/m", "resource": "R 1"},
        {"identifier": "ark:12345/m3", "target": "/n"},
        {"identifier": "ark:12345/m4", "target": "/o", "resource": "R 1"},
        {"identifier": "ark:12345/m5", "status": "withdrawn", "target": "/w", "successor": "ark:12345/m4"},
        {"identifier": "ark:12345/m6", "status": "withdrawn", "target": "/w", "successor": "ark:12345/unknown"},
    ]

    def outcomes(run: Callable[..., Summary]) -> tuple[set[Any], set[Any]]:
        effects: set[Any] = set()
        notes: set[Any] = set()
        run(
            effect=lambda each: effects.add((each.line, each.outcome)),
            report=lambda kind, line, cells: notes.add((kind, *line)),
        )
        return effects, notes

    def at_once(**listeners: Any) -> Summary:
        of = table(rows, mint=False)
        return import_rows(bindings, of, str, atomic=True, dry_run=True, listeners=Listeners(**listeners))

    known = outcomes(at_once)
    assert {(line, code) for _, line, _, code, _ in known[1]} == {
        *((10, "duplicate-line"), (12, "target-shared"), (15, "resource-shared"), (17, "successor-unknown"))
    }
    assert outcomes(lambda **each: blocks(rows, mint=False, **each).check()) == known


def test_a_few_names_are_not_enough_for_all_rows(bindings: Bindings, blocks: Blocks) -> None:
    bindings.prefixes.set("ark:12345/k1", pattern="10^1")
    with pytest.raises(BindingError) as refused:
        blocks([{"resource": f"{number}"} for number in range(11)]).check()
    assert refused.value.code == "names-exhausted"


def test_a_row_that_is_refused_since_the_check_is_reported_and_the_others_go_on(
    bindings: Bindings, blocks: Blocks
) -> None:
    reported: list[tuple[str, int]] = []
    of = blocks(NAMES, mint=False, report=lambda kind, noted, cells: reported.append((kind, noted.line)))
    of.check()
    bindings.bind("ark:12345/n4", "/elsewhere")
    bindings.bind("ark:12345/n5", "/5")  # as the row
    summary = of.write()
    assert (codes(summary), summary.lines, summary.written) == ([(6, "bound-otherwise")], 7, True)
    assert (summary.added, summary.unchanged, reported) == (5, 1, [("refused", 6)])
    (found,) = bindings.list_operations()
    assert (found.names, found.finished is not None) == (5, True)
    undo_operation(bindings, 1)
    kept = {
        each.identifier for each in bindings.store.fetch([row["identifier"] for row in NAMES]).values() if each.is_live
    }
    assert kept == {"ark:12345/n4", "ark:12345/n5"}


def test_a_rule_that_changes_since_the_check_applies(bindings: Bindings, blocks: Blocks) -> None:
    of = blocks(NAMES, mint=False)
    of.check()
    bindings.prefixes.set("ark:12345/", characters="0-9a-m")
    assert [(line, code) for line, code in codes(of.write())] == [(line, "name-characters") for line in range(2, 9)]
    assert bindings.list_operations() == []


def test_the_names_have_the_time_at_which_they_are_written(
    bindings: Bindings, blocks: Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = blocks(
        [*NAMES, {"identifier": "ark:12345/old", "target": "/o", "created": "2020-01-01T00:00:00Z"}], mint=False
    )
    of.check()
    later = bindings.now() + timedelta(hours=1)
    monkeypatch.setattr(bindings, "now", lambda: later)
    of.write()
    written = [bindings.store.fetch([row["identifier"]])[row["identifier"]] for row in NAMES]
    assert {(each.created, each.changed) for each in written} == {(later, later)}
    old = bindings.store.fetch(["ark:12345/old"])["ark:12345/old"]
    assert (old.created.year, old.recorded_at) == (2020, later)


def test_an_import_that_was_ended_does_not_go_on(bindings: Bindings, blocks: Blocks) -> None:
    of = blocks(OBJECTS, kill_at=2)
    of.check()
    with pytest.raises(Killed):
        of.write()
    again, other = blocks(OBJECTS), blocks(OBJECTS)
    assert again.continued_operation() == other.continued_operation() == 1
    other.stop()
    with pytest.raises(BindingError) as ended:
        again.write()
    assert ended.value.code == "operation-ended"


def test_an_import_that_is_undone_meanwhile_ends(bindings: Bindings, blocks: Blocks) -> None:
    of = blocks(OBJECTS, kill_at=2)
    of.check()
    with pytest.raises(Killed):
        of.write()
    with pytest.raises(BindingError) as running:
        undo_operation(bindings, 1)
    assert running.value.code == "operation-running"
    stop_operation(bindings, 1)
    undo_operation(bindings, 1)
    again = blocks(OBJECTS)
    assert again.continued_operation() == 1
    with pytest.raises(BindingError) as ended:
        again.write()
    assert ended.value.code == "operation-undone"


@pytest.mark.parametrize("kill_at", [1, 2, 99])
def test_a_prefix_record_of_the_table_applies_to_none_of_its_names(
    bindings: Bindings, blocks: Blocks, kill_at: int
) -> None:
    rows = [NAMES[0], {"identifier": "ark:12345/", "kind": "prefix", "prefix.characters": "digits"}, *NAMES[1:]]
    of = blocks(rows, mint=False, kill_at=kill_at)
    checked = of.check()
    assert checked.refusals == 0
    if kill_at < len(rows):
        with pytest.raises(Killed):
            of.write()
        of = blocks(rows, mint=False)
        assert of.continued_operation() is not None
    summary = of.write()
    assert (codes(summary), summary.added, summary.prefixes, summary.written) == ([], 7, 1, True)
    with pytest.raises(BindingError, match="digits"):
        bindings.bind("ark:12345/n8", "/8")
