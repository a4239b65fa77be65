"""Imports in short transactions: the check, an end of the process at each of them, a row that is refused, the undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ararat.bindings.imports import import_blocks, table_rows
from ararat.bindings.imports.import_blocks import ImportBlocks, ImportedTable
from ararat.bindings.imports.importing import import_rows
from ararat.bindings.imports.keyed_rows import Mint
from ararat.bindings.imports.summary import Summary
from ararat.bindings.names.actor import Actor
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations import batches
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.tables.columns import Row
from ararat.bindings.tables.text_stream import ReadAs
from ararat.middleware import Bindings

JANE = Actor(name="jane", operation="import")
OBJECTS = [{"resource": f"INV {number}", "what": f"Vase {number}"} for number in range(7)]
NAMES = [{"identifier": f"ark:12345/n{number}", "target": f"/{number}"} for number in range(7)]


class Killed(Exception):
    """The end of a process."""


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_blocks, "BLOCK", 2)
    monkeypatch.setattr(table_rows, "_CHUNK", 2)
    monkeypatch.setattr(import_blocks, "ONE_BLOCK", 0)
    monkeypatch.setattr(batches, "_PAUSE", 0)


def blocks(bindings: Bindings, rows: list[dict[str, str]], *, mint: bool = True, job: int = 1) -> ImportBlocks:
    def read(read_as: ReadAs) -> Iterator[Row]:
        return (Row(line, cells) for line, cells in enumerate(rows, 2))

    return ImportBlocks(bindings, job, ImportedTable("a.csv", read, Mint("ark:12345/k1") if mint else None))


def written(of: ImportBlocks, checked: Summary, kill_at: int = 99, **options: Any) -> Summary:
    """Write the rows; the process ends in the transaction with this number."""
    begun: list[int] = []

    def beat(connection: Any, number: int) -> None:
        begun.append(number)
        if len(begun) > kill_at:
            raise Killed

    return of.write(checked, JANE, beat, lambda connection, summary: None, **options)


def codes(summary: Summary) -> list[tuple[int, str]]:
    return [(each.line, each.code) for each in summary.refused]


@pytest.mark.parametrize("kill_at", [0, 1, 2, 3])
def test_an_import_that_is_killed_goes_on_and_mints_no_name_twice(bindings: Bindings, kill_at: int) -> None:
    beats: list[int] = []
    checked = blocks(bindings, OBJECTS).check(JANE, beats.append)
    assert (checked.reserved, checked.minted, checked.refusals, beats[-1]) == (7, 7, 0, 7)
    assert bindings.count().number == 0
    assert bindings.list_operations() == []
    with pytest.raises(Killed):
        written(blocks(bindings, OBJECTS), checked, kill_at)
    again = blocks(bindings, OBJECTS)
    assert (again.begun is not None) == (kill_at > 0)
    summary = written(again, checked)
    assert (summary.reserved, summary.minted, summary.lines, summary.written) == (7, 7, 7, True)
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


def test_a_check_finds_what_an_import_in_one_transaction_finds(bindings: Bindings) -> None:
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

    read = [Row(line, cells) for line, cells in enumerate(rows, 2)]
    known = outcomes(lambda **each: import_rows(bindings, "a.csv", iter(read), ReadAs(), dry_run=True, **each))
    assert {(line, code) for _, line, _, code, _ in known[1]} == {
        *((10, "duplicate-line"), (12, "target-shared"), (15, "resource-shared"), (17, "successor-unknown"))
    }
    assert outcomes(lambda **each: blocks(bindings, rows, mint=False).check(JANE, lambda n: None, **each)) == known


def test_a_few_names_are_not_enough_for_all_rows(bindings: Bindings) -> None:
    bindings.prefixes.set("ark:12345/k1", pattern="10^1")
    with pytest.raises(BindingError) as refused:
        blocks(bindings, [{"resource": f"{number}"} for number in range(11)]).check(JANE, lambda number: None)
    assert refused.value.code == "names-exhausted"


def test_an_import_stops_at_a_row_that_is_refused_since_the_check(bindings: Bindings) -> None:
    of = blocks(bindings, NAMES, mint=False)
    checked = of.check(JANE, lambda number: None)
    bindings.bind("ark:12345/n4", "/elsewhere")
    summary = written(of, checked)
    assert (codes(summary), summary.kept, summary.added, summary.written) == ([(6, "bound-otherwise")], 4, 4, False)
    with of.ending() as (_, operation):
        assert operation == 1
    (found,) = bindings.list_operations()
    assert (found.names, found.finished is not None) == (4, True)
    undo_operation(bindings, 1)
    assert {each.status for each in bindings.fetch([row["identifier"] for row in NAMES]).values()} == {
        *("live", "withdrawn")
    }


def test_an_import_that_is_undone_meanwhile_ends(bindings: Bindings) -> None:
    of = blocks(bindings, OBJECTS)
    checked = of.check(JANE, lambda number: None)
    with pytest.raises(Killed):
        written(of, checked, 2)
    undo_operation(bindings, 1)
    with pytest.raises(BindingError) as ended:
        written(of, checked)
    assert ended.value.code == "operation-undone"


@pytest.mark.parametrize("kill_at", [1, 2, 99])
def test_a_prefix_record_of_the_table_applies_to_none_of_its_names(bindings: Bindings, kill_at: int) -> None:
    rows = [NAMES[0], {"identifier": "ark:12345/", "kind": "prefix", "prefix.characters": "digits"}, *NAMES[1:]]
    of = blocks(bindings, rows, mint=False)
    checked = of.check(JANE, lambda number: None)
    assert checked.refusals == 0
    if kill_at < len(rows):
        with pytest.raises(Killed):
            written(of, checked, kill_at)
    summary = written(blocks(bindings, rows, mint=False), checked)
    assert (codes(summary), summary.added, summary.prefixes, summary.written) == ([], 7, 1, True)
    with pytest.raises(BindingError, match="digits"):
        bindings.bind("ark:12345/n8", "/8")
