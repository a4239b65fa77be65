"""Export the history of a database, and restore a database from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.history import export_history, import_history, is_history
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.tables import schema
from ararat.cli import main
from ararat.middleware import mint

TABLES = (
    *(schema.meta, schema.operations, schema.bindings, schema.events, schema.rules, schema.rule_events),
    *(schema.prefixes, schema.prefix_events),
)
TIME = "2026-10-04T12:00:00.000000Z"
LONG = "ark:12345/" + 200 * "%E2%82%AC"


def engine(bindings: Bindings):
    return bindings.store._database.engine  # type: ignore[attr-defined]


@pytest.fixture
def full(bindings: Bindings) -> Bindings:
    """Bindings with every kind of record."""
    bindings.bind("ark:/12345/x-5", "/x", resource="R1", metadata={"what": '"\\ \u1e24', "dc.title": "T"}, actor="me")
    bindings.relocate("ark:12345/x5", "/y", actor="you")
    bindings.bind(LONG, "/long", alternates={"text/html": "/html"})
    bindings.withdraw("ark:12345/x5", reason="gone", successor="https://example.org/new")
    mint(bindings, "12345/k5", length=3, sequential=True, count=3)
    bindings.delete("ark:12345/k5000")
    bindings.rules.set("ark:12345/r5", "https://example.org/${value}")
    bindings.rules.set("ark:12345/r6", "https://example.org/${value}")
    bindings.rules.remove("ark:12345/r6")
    prefix = {"prefix": "ark:12345/", "who": "A library", "changed": TIME, "revision": 1}
    rows = (
        (schema.operations, {"action": "import", "started": TIME, "names": 0, "parameters": '{"file":"a.csv"}'}),
        (schema.prefixes, prefix),
        (schema.prefix_events, {**prefix, "action": "set"}),
        (schema.meta, {"name": "uuid f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "value": "R9"}),
    )
    with engine(bindings).begin() as connection:
        for table, row in rows:
            connection.execute(insert(table).values(row))
    return bindings


def rows_of(bindings: Bindings) -> dict[str, list[tuple[object, ...]]]:
    with engine(bindings).connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr) for table in TABLES
        }


def exported(bindings: Bindings, **options) -> bytes:
    export_history(bindings, out := BytesIO(), **options)
    return out.getvalue()


@pytest.fixture
def empty(tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(tmp_path / "empty.sqlite")


def test_a_history_restores_a_database_exactly(full: Bindings, empty: Bindings) -> None:
    progress: list[int] = []
    counts = export_history(full, out := BytesIO(), progress=progress.append)
    assert import_history(empty, BytesIO(out.getvalue())) == counts
    assert rows_of(empty) == rows_of(full)
    assert list(verify(empty)) == []
    assert progress == [sum(counts.values())]
    assert out.getvalue().splitlines()[1:] == exported(empty).splitlines()[1:]
    assert mint(empty, "12345/k5", length=3, sequential=True) == ["ark:12345/k5003"]


def test_postgresql_is_restored_from_sqlite(cluster, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    old, new = open_store(tmp_path / "old.sqlite"), open_store(cluster.new_schema())
    old.bind("ark:12345/x5", "/x", actor="me")
    old.relocate("ark:12345/x5", "/y")
    import_history(new, BytesIO(exported(old)))
    assert new.history("ark:12345/x5") == old.history("ark:12345/x5")
    assert new.bind("ark:12345/x6", "/x") == "bound"
    assert list(verify(new)) == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda lines: lines[:-1], "table-history", id="incomplete"),
        pytest.param(lambda lines: [*lines[:2], *lines[3:]], "table-history", id="a line is missing"),
        pytest.param(lambda lines: lines[1:], "history-partial", id="no first line"),
        pytest.param(lambda lines: [lines[0], b"{", *lines[1:]], "table-json", id="no JSON"),
        pytest.param(lambda lines: [lines[0], b"[]", *lines[1:]], "table-json", id="a list"),
        pytest.param(lambda lines: [lines[0], b'{"record":"x"}', *lines[1:]], "table-history", id="unknown record"),
        pytest.param(lambda lines: [lines[0], b'{"record":"event"}', *lines[1:]], "table-history", id="no identifier"),
        pytest.param(lambda lines: [lines[0], b'{"record":"rule"}', *lines[1:]], "table-value", id="no value"),
        pytest.param(
            lambda lines: [lines[0], b'{"record":"setting","name":"a","value":"b","c":1}', *lines[1:]],
            "table-column",
            id="unknown field",
        ),
    ],
)
def test_a_wrong_history_is_refused(
    full: Bindings, empty: Bindings, change: Callable[[list[bytes]], list[bytes]], code: str
) -> None:
    before = rows_of(empty)
    lines = change(exported(full).splitlines())
    with pytest.raises(BindingError) as refused:
        import_history(empty, BytesIO(b"\n".join(lines) + b"\n"))
    assert refused.value.code == code
    assert isinstance(refused.value, TableError) == (code != "history-partial")
    assert rows_of(empty) == before


def test_a_history_is_restored_into_an_empty_database_only(full: Bindings) -> None:
    with pytest.raises(BindingError) as refused:
        import_history(full, BytesIO(exported(full)))
    assert refused.value.code == "store-not-empty"


def test_a_history_since_a_time_has_only_later_changes(database: str, empty: Bindings) -> None:
    clock = iter(datetime(2026, 10, day, tzinfo=UTC) for day in range(1, 30))
    with open_bindings(database, create=True, clock=lambda: next(clock)) as bindings:
        for number in range(3):
            bindings.bind(f"ark:12345/x{number}", "/x")
        since = datetime(2026, 10, 2, tzinfo=UTC)
        data = exported(bindings, since=since)
        export_table(bindings, table := BytesIO(), since=since)
    events = [json.loads(line).get("identifier") for line in data.splitlines()]
    names = ["ark:12345/x1", "ark:12345/x2"]
    assert [name for name in events if name] == names
    assert [line.partition(",")[0] for line in table.getvalue().decode().splitlines()[1:]] == names
    with pytest.raises(BindingError) as refused:
        import_history(empty, BytesIO(data))
    assert refused.value.code == "history-partial"


def test_the_commands_export_and_restore_a_history(tmp_path: Path) -> None:
    def run(*arguments: str | Path) -> tuple[int, str]:
        result = CliRunner().invoke(main.main, [*map(str, arguments)])
        return result.exit_code, result.output

    old, new, file = tmp_path / "old.sqlite", tmp_path / "new.sqlite", tmp_path / "history.jsonl"
    with open_bindings(old, create=True) as bindings:
        bindings.bind("ark:12345/x5", "/x", actor="me")
    assert run("export", "--history", "--database", old, file) == (0, f"1 event written to {file}\n")
    assert is_history(file)
    assert not is_history(old)
    assert run("import", "--dry-run", "--database", new, file)[0] == 2
    assert run("import", "--database", new, file) == (0, "Restored 1 event.\n")
    assert run("import", "--database", new, file)[0] == 2
    with open_bindings(new) as bindings:
        assert [event.actor for event in bindings.history("ark:12345/x5")] == ["me"]
    assert run("export", "--history", "--format", "csv", "--database", old, file)[0] == 64
    code, printed = run("export", "--since", "2999-01-01", "--database", old, file)
    assert (code, printed) == (0, f"0 bindings written to {file}\n")
    assert run("export", "--since", "yesterday", "--database", old, file)[0] == 64
