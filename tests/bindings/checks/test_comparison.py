"""Comparison of a store with a newer one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from ararat.bindings.checks.comparison import compare
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import copy_store
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.history import export_history
from ararat.bindings.open import open_bindings
from ararat.cli import main
from ararat.middleware import mint

NAME = "ark:12345/x5"


@pytest.fixture(params=["sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path: Path, bindings: Bindings, open_store: Callable[..., Bindings]):
    """A store, and a copy of it in each kind of database, with some names."""
    for number in range(8):
        bindings.bind(f"ark:12345/x{number}", "/x", resource="R1")
    for prefix in ("ark:12345/r5", "ark:12345/r6"):
        bindings.rules.set(prefix, "https://example.org/${value}")
    mint(bindings, "12345/k5", length=3, sequential=True)
    postgresql = request.param == "postgresql"
    copy = open_store(request.getfixturevalue("cluster").new_schema() if postgresql else tmp_path / "copy.sqlite")
    copy_store(bindings, copy)
    return bindings, copy


def found(bindings: Bindings, other: Bindings) -> list[tuple[str, str]]:
    return [(finding.identifier, finding.code) for finding in compare(bindings, other)]


CHANGES: dict[Callable[[Bindings], object], tuple[str, str]] = {
    lambda b: b.relocate(NAME, "/y"): (NAME, "older"),
    lambda b: b.withdraw("ark:12345/x6"): ("ark:12345/x6", "older"),
    lambda b: b.bind("ark:12345/x9", "/y"): ("ark:12345/x9", "lost"),
    lambda b: b.bind("ark:12345/a", "/y"): ("ark:12345/a", "lost"),  # before the others
    lambda b: b.delete("ark:12345/k5000"): ("ark:12345/k5000", "older"),
    lambda b: b.rules.set("ark:12345/r5", "/${value}"): ("ark:12345/r5", "older"),
    lambda b: b.rules.remove("ark:12345/r6"): ("ark:12345/r6", "older"),
}


def test_an_older_store_is_recognized(pair: tuple[Bindings, Bindings]) -> None:
    old, new = pair
    assert found(old, new) == found(new, old) == []
    for change in CHANGES:
        change(new)
    assert sorted(found(old, new)) == sorted(CHANGES.values())
    assert found(new, old) == []


def test_an_older_counter_is_recognized(pair: tuple[Bindings, Bindings]) -> None:
    old, new = pair
    mint(new, "12345/k5", length=3, sequential=True)
    assert found(old, new) == [("ark:12345/k5", "older"), ("ark:12345/k5001", "lost")]
    assert found(new, old) == []


def test_changes_in_both_stores_are_recognized(pair: tuple[Bindings, Bindings]) -> None:
    old, new = pair
    old.relocate(NAME, "/a")
    new.relocate(NAME, "/b")
    new.relocate(NAME, "/c")
    old.rules.set("ark:12345/r7", "/a/${value}")
    new.rules.set("ark:12345/r7", "/b/${value}")
    assert found(old, new) == found(new, old) == [("ark:12345/r7", "diverged"), (NAME, "diverged")]


def verify(database: Path, against: Path) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main.main, ["verify", "--database", str(database), "--against", str(against)])
    return result.exit_code, [line for line in result.output.splitlines() if line and not line.startswith(" ")]


def test_the_command_recognizes_a_restored_backup(tmp_path: Path) -> None:
    file, backup = tmp_path / "bindings.sqlite", tmp_path / "backup.sqlite"
    times = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days) for days in range(9))
    with open_bindings(file, create=True, clock=lambda: next(times)) as bindings:
        bindings.bind(NAME, "/x", resource="R1")
    shutil.copy(file, backup)
    history, table = tmp_path / "history.jsonl", tmp_path / "names.jsonl"
    with open_bindings(file, clock=lambda: next(times)) as bindings:
        bindings.relocate(NAME, "/y")
        bindings.bind("ark:12345/x6", "/x")
        with history.open("wb") as stream:
            export_history(bindings, stream)
        with table.open("wb") as stream:
            export_table(bindings, stream, format="jsonl")
    served = tmp_path / "names.jsonl.served"
    shutil.copy(table, served)
    for newer in (file, history, table, served):
        code, lines = verify(backup, newer)
        assert code == 1, newer
        assert [line.split() for line in lines[:2]] == [["older", NAME], ["lost", "ark:12345/x6"]], newer
        code, lines = verify(file, newer)
        assert (code, lines[0]) == (0, "Everything is right."), newer
    assert verify(file, backup)[0] == 0
    assert verify(file, tmp_path / "none.csv.served")[0] == 69
    table.write_text(f'{{"identifier": "{NAME}", "target": "/x", "resource": "R2"}}\n')
    code, lines = verify(backup, table)
    assert (code, lines[0].split()) == (1, ["diverged", NAME])
