"""Test the migration of a database of schema 4, which lists the kinds of operations in a constraint."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.undo import undo_operation
from ararat.bindings.storage.tables import name_counts
from ararat.cli.main import main
from ararat.middleware import mint, open_bindings

KNOWN = "action IN ('import', 'relocate', 'withdraw', 'restore', 'undo', 'edit', 'publish', 'delete', 'mint')"
NAME = "ark:12345/x1"
ADD = "INSERT INTO operations (action, started) VALUES ('archive', '2026-11-24T12:00:00.000000Z')"


def return_to_4(database: str) -> None:
    """Give a database the tables of schema 4, with the same rows."""
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("UPDATE ararat SET value = '4' WHERE name = 'schema'"))
        of_table = "" if connection.dialect.name == "sqlite" else " ON bindings"
        numbers = [f"bindings_numbers_{act}" for act in ("insert", "update", "delete")]
        for trigger in (*numbers, *name_counts.triggers(connection.dialect.name)):
            connection.execute(text(f"DROP TRIGGER {trigger}{of_table}"))
        for table in ("name_numbers", "name_counts"):
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("DROP INDEX bindings_served"))
        later = (("bindings", "numbers"), ("events", "numbers"), ("uploads", "original"))
        for table, column in (*later, ("accounts", "program"), ("identities", "token")):
            connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"ALTER TABLE operations ADD CONSTRAINT action_known CHECK ({KNOWN})"))
            return
        connection.execute(text("PRAGMA writable_schema = ON"))
        connection.exec_driver_sql(
            "UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 2) || ?"
            " WHERE type = 'table' AND name = 'operations'",
            (f",\n\tCONSTRAINT action_known CHECK ({KNOWN})\n)",),
        )


@pytest.fixture
def old(database: str, open_store: Callable[..., Bindings]) -> str:
    bindings = open_store(database)
    bindings.bind(NAME, "https://old.example/1")
    assert relocate_prefix(bindings, "old.example", "new.example", actor="me").operation == 1
    bindings.close()
    return_to_4(database)
    return database


def test_operations_of_schema_4_stay_and_can_be_undone(old: str, open_store: Callable[..., Bindings]) -> None:
    with pytest.raises(BindingError, match="run: ararat migrate") as refused:
        open_store(old).open()
    assert refused.value.code == "schema-version"
    assert migrate(old)[:2] == (4, 5)
    bindings = open_store(old)
    [operation] = bindings.list_operations()
    assert (operation.action, operation.actor, operation.names) == ("relocate", "me", 1)
    assert undo_operation(bindings, 1).operation == 2
    assert bindings.bind(NAME, "https://old.example/1") == "unchanged"
    assert bindings.count_names(by="shoulder") == {"ark:12345/x1": 1}
    assert list(verify(bindings)) == []


@pytest.mark.parametrize("kind", ["database", "export"])
def test_a_restored_database_of_schema_4_is_protected_and_keeps_its_schema(
    kind: str, database: str, open_store: Callable[..., Bindings], tmp_path: Path
) -> None:
    def recovered(*arguments: str) -> int:
        return CliRunner().invoke(main, ["recover", "--database", database, "--from", source, *arguments]).exit_code

    def seen() -> tuple[list[Any], ...]:
        with engine.connect() as connection:
            rows = "SELECT key, status, once_public, resource, revision FROM {} ORDER BY key, revision"
            counters = "SELECT name, value FROM ararat WHERE name <> 'rules' ORDER BY name"
            return tuple(
                [tuple(row) for row in connection.execute(text(query))]
                for query in (rows.format("bindings"), rows.format("events"), counters)
            )

    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    source = str(tmp_path / "newer.sqlite")
    newer, restored = open_store(source), open_store(database)
    for each in (restored, newer):
        each.reserve("ark:12345/later", "https://example.org/later")
        each.bind("ark:12345/gone", "https://example.org/gone")
        assert mint(each, "12345/k5", digits=True, length=4, sequential=True, count=2)[-1] == "ark:12345/k50001"
    restored.close()
    return_to_4(database)
    assert mint(newer, "12345/k5", digits=True, length=4, sequential=True) == ["ark:12345/k50002"]
    newer.bind("ark:12345/k50002", "https://example.org/painting", resource="painting")
    newer.bind("ark:12345/later", "https://example.org/later")
    newer.withdraw("ark:12345/gone")
    newer.reserve("ark:12345/hope")
    newer.close()
    if kind == "export":
        table = str(tmp_path / "newer.csv")
        assert CliRunner().invoke(main, ["export", "--database", source, table]).exit_code == 0
        source = table
    before = seen()
    assert (recovered("--dry-run"), seen()) == (1, before)
    assert recovered() == 1
    names, events, settings = seen()
    assert names == [
        ("ark:12345/gone", "withdrawn", None, None, 2),
        ("ark:12345/hope", "reserved", None, None, 1),
        ("ark:12345/k50000", "reserved", None, None, 1),
        ("ark:12345/k50001", "reserved", None, None, 1),
        ("ark:12345/k50002", "reserved", "yes", "painting", 1),
        ("ark:12345/later", "reserved", "yes", None, 2),
    ]
    assert len(events) == 8
    assert dict(settings) == {"next ark:12345/k5 10^4": "3", "schema": "4"}
    migrate(database)
    with open_store(database) as migrated:
        assert list(verify(migrated)) == []


def test_many_names_of_schema_4_are_protected(old: str, tmp_path: Path) -> None:
    table = tmp_path / "newer.csv"
    rows = "".join(f"ark:12345/n{number},https://example.org/{number}\n" for number in range(1200))
    table.write_text(f"identifier,target\n{rows}")
    assert CliRunner().invoke(main, ["recover", "--database", old, "--from", str(table)]).exit_code == 1
    migrate(old)
    with open_bindings(old) as bindings:
        assert bindings.count().number == 1201
        assert list(verify(bindings)) == []


def test_the_database_has_no_list_of_actions_afterwards(old: str) -> None:
    engine = create_engine(old.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with pytest.raises(DBAPIError), engine.begin() as connection:
        connection.execute(text(ADD))
    migrate(old)
    with engine.begin() as connection:
        connection.execute(text(ADD))
        assert inspect(connection).get_check_constraints("operations") == []
    assert migrate(old)[2:] == (0, 0, 0)


def test_an_action_that_is_not_declared_is_refused(database: str, open_store: Callable[..., Bindings]) -> None:
    with open_store(database).transaction() as transaction, pytest.raises(BindingError) as refused:
        transaction.operations.begin("archive", None, datetime(2026, 11, 24, tzinfo=UTC), {})
    assert refused.value.code == "operation-kind"
