"""Test the migration of a database of schema 4, which lists the kinds of operations in a constraint."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names.errors import BindingError
from ararat.bindings.operations.relocation import relocate_prefix
from ararat.bindings.operations.undo import undo_operation

KNOWN = "action IN ('import', 'relocate', 'withdraw', 'restore', 'undo', 'edit', 'publish', 'delete', 'mint')"
NAME = "ark:12345/x1"
ADD = "INSERT INTO operations (action, started) VALUES ('archive', '2026-11-24T12:00:00.000000Z')"


def return_to_4(database: str) -> None:
    """Give a database the table of operations of schema 4, with the same rows."""
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("UPDATE ararat SET value = '4' WHERE name = 'schema'"))
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
