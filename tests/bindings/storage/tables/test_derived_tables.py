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
from ararat.bindings.migration.migrations import migrate
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


def execute(bindings: Bindings, *statements: str) -> None:
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


EMPTY, ADD = "DELETE FROM name_numbers", "INSERT INTO name_numbers VALUES"
WRONG_NUMBERS = {
    "a number is missing": (f"{EMPTY} WHERE number = 'B 1'", ["x51"]),
    "all numbers are missing": (EMPTY, ["x51", "x52", "x53", "x54"]),
    "another number": ("UPDATE name_numbers SET number = 'Z' WHERE number = 'A 2'", ["x52"]),
    "another kind": ("UPDATE name_numbers SET kind = 'former' WHERE number = 'A 2'", ["x52"]),
    "a number of a name that is not recorded": (f"{ADD} ('ark:12345/none', 'current', 'A')", ["none"]),
    "a number of a name without numbers": (f"{ADD} ('ark:12345/plain', 'current', 'A')", ["plain"]),
}


@pytest.mark.parametrize(("statement", "names"), WRONG_NUMBERS.values(), ids=WRONG_NUMBERS.keys())
def test_verify_compares_the_numbers_and_its_remedy_mends_them(
    statement: str, names: list[str], database: str, bindings: Bindings
) -> None:
    fill(bindings)
    before = derived(bindings)
    execute(bindings, statement)
    assert [(each.identifier, each.code) for each in verify(bindings)] == [
        (f"ark:12345/{name}", "number-wrong") for name in names
    ]
    execute(bindings, EMPTY)
    migrate(database)
    assert list(verify(bindings)) == []
    assert derived(bindings) == before


def test_a_migration_writes_the_numbers_that_were_recorded_without_the_triggers(
    database: str, bindings: Bindings
) -> None:
    of_table = " ON bindings" if database.startswith("postgresql") else ""
    execute(bindings, f"DROP TRIGGER bindings_numbers_insert{of_table}")
    fill(bindings)
    assert {each.code for each in verify(bindings)} == {"trigger-missing", "number-wrong"}
    migrate(database)
    assert list(verify(bindings)) == []


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("DELETE FROM search_names WHERE key = 'ark:12345/x51'", "ark:12345/x51", id="a name is missing"),
        pytest.param("INSERT INTO search_names (key) VALUES ('ark:12345/none')", "ark:12345/none", id="another name"),
        pytest.param("DROP TRIGGER bindings_search_changed", "", id="a trigger is missing"),
        pytest.param("DROP TABLE search_names", "", id="a table is missing"),
        pytest.param("DROP TABLE search_trigrams", "", id="the trigrams are missing"),
    ],
)
def test_verify_compares_the_search_of_sqlite_and_its_remedy_mends_it(
    statement: str, expected: str, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    file = tmp_path / "names.sqlite"
    bindings = open_store(file)
    fill(bindings)
    before = derived(bindings)
    execute(bindings, statement)
    assert [(each.identifier, each.code) for each in verify(bindings)] == [(expected, "search-wrong")]
    execute(bindings, "DROP TABLE IF EXISTS search_names")
    migrate(file)
    assert list(verify(bindings)) == []
    assert derived(bindings) == before
