"""Compare the tables that triggers write after each way to write many names with those of single changes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.copying import copy_store
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.history import export_history, import_history
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.selection import select
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.writing import transaction as writing

NUMBERS = "SELECT key, kind, number FROM name_numbers"
COUNTS = """SELECT kind, value, sum(number) FROM name_counts WHERE kind <> 'sample'
GROUP BY kind, value HAVING sum(number) <> 0"""
TRIGRAMS = "SELECT search_names.key, term FROM temp.trigrams JOIN search_names ON search_names.id = doc"


def derived(bindings: Bindings) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows that triggers write, and the names of a former target and of a word, which they find."""
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        statements = [NUMBERS, COUNTS]
        if connection.dialect.name == "sqlite":
            vocabulary = "fts5vocab('main', 'search_trigrams', 'instance')"
            connection.exec_driver_sql(f"CREATE VIRTUAL TABLE temp.trigrams USING {vocabulary}")
            statements.append(TRIGRAMS)
        rows = {each: sorted(map(tuple, connection.exec_driver_sql(each))) for each in statements}
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("DROP TABLE temp.trigrams")
    for text in ("karte", "/former"):
        rows[text] = [(each.identifier,) for each in bindings.list_names(select(text=text)).names]
    return rows


def fill(bindings: Bindings) -> None:
    for number in range(1, 5):
        name = f"ark:12345/x5{number}"
        numbers = {"current": f"A {number}", "further": [f"B {number}", "C"]}
        bindings.bind(name, "/former", resource=f"R{number}", numbers=numbers, metadata={"what": f"Karte {number}"})
    bindings.bind("ark:12345/x51", "/former", numbers={"current": "A 9"})
    bindings.relocate("ark:12345/x52", "/new")
    bindings.bind("ark:12345/plain", "/p", alternates={"text/html;en": "/e"})
    bindings.reserve("ark:12345/x59", metadata={"what": "Plan"})


def by_history(old: Bindings, new: Bindings) -> None:
    export_history(old, history := BytesIO())
    import_history(new, BytesIO(history.getvalue()))


@pytest.mark.parametrize("write", [copy_store, by_history])
def test_a_copy_has_what_the_triggers_of_single_changes_wrote(
    write: Callable[[Bindings, Bindings], object],
    bindings: Bindings,
    tmp_path: Path,
    open_store: Callable[..., Bindings],
) -> None:
    old = open_store(tmp_path / "old.sqlite")
    fill(old)
    write(old, bindings)
    found = derived(bindings)
    assert found == {each: rows for each, rows in derived(old).items() if each in found}
    assert list(verify(bindings)) == []


@pytest.mark.parametrize("is_atomic", [False, True], ids=["blocks", "atomic"])
def test_a_table_writes_what_the_triggers_write_for_each_of_its_lines(
    is_atomic: bool,
    bindings: Bindings,
    tmp_path: Path,
    open_store: Callable[..., Bindings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, single = open_store(tmp_path / "old.sqlite"), open_store(tmp_path / "single.sqlite")
    fill(old)
    export_table(old, table := BytesIO())
    heading, *lines = table.getvalue().splitlines(keepends=True)
    assert len(lines) > 4
    for line in lines:
        import_table(single, BytesIO(heading + line))
    monkeypatch.setattr(writing, "_MANY_ROWS", 2)
    import_table(bindings, BytesIO(heading + b"".join(lines)), atomic=is_atomic)
    found = derived(bindings)
    assert len(found[NUMBERS]) > 4
    assert found == {each: rows for each, rows in derived(single).items() if each in found}
    assert list(verify(bindings)) == []


@pytest.mark.parametrize("most", [500, 1], ids=["triggers", "many at once"])
def test_an_undone_import_leaves_what_single_changes_leave(
    most: int, bindings: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_MANY_ROWS", most)
    bindings.bind("ark:12345/x51", "/1", numbers={"current": "A 1"}, metadata={"what": "Karte"})
    before = derived(bindings)
    for status in ("reserved", "live"):
        rows = "".join(f"ark:12345/x6{each},/2,{status},N {each},Karte\n" for each in range(3))
        table = f"identifier,target,status,number,what\n{rows}"
        import_table(bindings, BytesIO(table.encode()))
        after = derived(bindings)
        assert len(after[NUMBERS]) == 4
        assert len(after["karte"]) == 4
        undo_operation(bindings, bindings.list_operations()[0].number)
        if status == "reserved":
            assert derived(bindings) == before
    assert list(verify(bindings)) == []
