"""Test the migration of a database of schema 3, the tables of which this module creates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from ararat.bindings.checks.verification import verify
from ararat.bindings.collection import Bindings
from ararat.bindings.log.sequencer import recorded_blocks
from ararat.bindings.log.tree.entries import LogEntry
from ararat.bindings.migration import migration_to_4
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names.selection import select
from ararat.bindings.storage.tables import schema

TABLE, SHORT, GIVEN = "ark:12345/table", "ark:12345/x5", "ark:12345/given"
LONG = "ark:12345/" + "%C3%A9" * 200

STATE = """
long_identifier TEXT, kind TEXT NOT NULL, target TEXT, status TEXT NOT NULL, redirect SMALLINT NOT NULL,
resource TEXT, passthrough SMALLINT NOT NULL, scope TEXT NOT NULL, alternates TEXT, metadata TEXT, reason TEXT,
changed TEXT NOT NULL, revision INTEGER NOT NULL"""
LATER = "successor TEXT, spelling TEXT, created TEXT NOT NULL"
NAMES = f"""
key {{bytes}} NOT NULL, {STATE}, {LATER}, PRIMARY KEY (key),
CONSTRAINT kind_known CHECK (kind IN ('located', 'related', 'described', 'served')),
CONSTRAINT status_known CHECK (status IN ('reserved', 'live', 'withdrawn')),
CONSTRAINT redirect_known CHECK (redirect IN (302, 307)),
CONSTRAINT passthrough_known CHECK (passthrough IN (0, 1)),
CONSTRAINT scope_known CHECK (scope IN ('name', 'subtree')),
CONSTRAINT target_unless_described CHECK ((target IS NULL) = (kind = 'described')),
CONSTRAINT successor_of_withdrawn CHECK (successor IS NULL OR status = 'withdrawn')"""
EVENTS = f"""
id {{number}} NOT NULL, key {{bytes}} NOT NULL, {STATE}, action TEXT NOT NULL, actor TEXT, source TEXT, {LATER},
operation {{operation}}, PRIMARY KEY (id), UNIQUE (key, revision),
CONSTRAINT action_known CHECK (action IN
('bound', 'updated', 'relocated', 'withdrawn', 'restored', 'redacted', 'reserved', 'deleted'))"""
TYPES = {
    "sqlite": {"bytes": "TEXT", "number": "INTEGER", "operation": "INTEGER"},
    "postgresql": {"bytes": 'TEXT COLLATE "C"', "number": "BIGSERIAL", "operation": "BIGINT"},
}


def return_to_3(database: str) -> None:
    """Give a database the tables of names of schema 3, with the same rows."""
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.begin() as connection:
        kinds = TYPES[connection.dialect.name]
        cascade = "" if connection.dialect.name == "sqlite" else " CASCADE"
        for table, ddl in (("bindings", NAMES), ("events", EVENTS)):
            connection.exec_driver_sql(f"CREATE TABLE three ({ddl.format(**kinds)})")
            columns = [column["name"] for column in inspect(connection).get_columns("three")]
            values = ", ".join(columns).replace("passthrough", "CASE passthrough WHEN 'no' THEN 0 ELSE 1 END")
            connection.exec_driver_sql(f"INSERT INTO three ({', '.join(columns)}) SELECT {values} FROM {table}")  # noqa: S608
            connection.exec_driver_sql(f"DROP TABLE {table}{cascade}")
            connection.exec_driver_sql(f"ALTER TABLE three RENAME TO {table}")
            if table == "events" and connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SELECT setval('three_id_seq', (SELECT max(id) FROM events))")
        connection.execute(text("UPDATE ararat SET value = '3' WHERE name = 'schema'"))


@pytest.fixture
def log(database: str, open_store: Callable[..., Bindings], new_log: Callable[[Bindings], Any]) -> Any:
    """A log of a database of schema 3 with five names, which is closed."""
    bindings = open_store(database, create=True)
    log = new_log(bindings)
    bindings.bind(TABLE, "https://example.org/t", passthrough=True, metadata={"who": "Noah", "what": "A table"})
    bindings.bind(SHORT, "/x", alternates={"en": "/en"}, resource="R1", redirect=307)
    bindings.relocate(SHORT, "/y")
    bindings.withdraw(SHORT, reason="sold", successor=TABLE)
    bindings.bind(LONG, "/long")
    bindings.reserve("ark:12345/r1")
    bindings.reserve("ark:12345/r2")
    bindings.delete("ark:12345/r2")
    log.publish()
    bindings.close()
    return log


@pytest.mark.parametrize("block", [2, 50_000])
def test_names_history_and_log_of_schema_3_stay(
    log: Any, database: str, open_store: Callable[..., Bindings], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (TABLE, SHORT, LONG, "ark:12345/r1", "ark:12345/r2")
    with open_store(database) as before:
        expected = {name: (before.lookup(name), before.history(name)) for name in names}
    return_to_3(database)
    monkeypatch.setattr(migration_to_4, "_BLOCK", block)
    assert migrate(database)[:2] == (3, 4)
    bindings = open_store(database)
    assert {name: (bindings.lookup(name), bindings.history(name)) for name in names} == expected
    assert list(verify(bindings)) == []
    assert [name.identifier for name in bindings.list_names(select(text="table noah")).names] == [TABLE]
    # The rows give the same hashes as the entries of the log.
    again = replace(log, bindings=bindings)
    size = again.checkpoint().size
    [recorded] = recorded_blocks(again.store, 0, size)
    assert [LogEntry.of_bytes(each) for each in recorded.entries] == again.entries()
    assert bindings.bind(GIVEN, "https://example.org/g", passthrough="given") == "bound"
    assert again.publish().added == 1
    assert len(again.entries()) == size + 1
    assert migrate(database)[:2] == (4, 4)


def test_a_name_that_must_not_be_exported_is_no_longer_listed(
    database: str, open_store: Callable[..., Bindings], new_log: Callable[[Bindings], Any]
) -> None:
    with open_store(database, create=True) as before:
        log = new_log(before)
        before.bind(TABLE, "/1", metadata={"ezid-setting.export": "no", "who": "Noah"})
        before.bind(GIVEN, "/2", metadata={"who": "ezid-setting.export"})
        log.publish()
    return_to_3(database)
    migrate(database)
    bindings = open_store(database)
    found = bindings.lookup(TABLE)
    assert found is not None
    assert (found.listed, dict(found.metadata), found.revision) == (False, {"erc.who": "Noah"}, 2)
    assert [(each.action, each.actor, each.after.listed) for each in bindings.history(TABLE)][1:] == [
        ("updated", "ararat migrate", False)
    ]
    assert [each.after.revision for each in bindings.history(GIVEN)] == [1]
    assert list(verify(bindings)) == []
    assert replace(log, bindings=bindings).publish().added == 1


def collations_of(connection: Connection, table: str) -> dict[str, str | None] | None:
    """Return the collations of the columns of a table of PostgreSQL; None for SQLite, which has one only."""
    if connection.dialect.name == "sqlite":
        return None
    query = (
        "SELECT column_name, collation_name FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND table_name = %s"
    )
    return {str(name): collation for name, collation in connection.exec_driver_sql(query, (table,))}


def test_a_migrated_database_has_the_tables_of_a_new_one(
    log: Any, database: str, open_store: Callable[..., Bindings]
) -> None:
    return_to_3(database)
    migrate(database)
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.connect() as connection:
        found = inspect(connection)
        for table in (schema.bindings, schema.events):
            columns = {
                each["name"]: (str(each["type"]), each["nullable"], each["default"])
                for each in found.get_columns(table.name)
            }
            # An older SQLAlchemy leaves the collation out.
            collations = collations_of(connection, table.name)
            for column in table.columns:
                kind, nullable, default = columns.pop(column.name)
                declared, collate, collation = column.type.compile(engine.dialect).partition(" COLLATE ")
                assert (kind.partition(" COLLATE ")[0], nullable) == (declared, column.nullable) or column.primary_key
                assert collations is None or collations[column.name] == (collation.strip('"') if collate else None)
                assert default is None or column.primary_key
            assert not columns
            assert {each["name"] for each in found.get_check_constraints(table.name)} == {
                str(each.name) for each in table.constraints if type(each).__name__ == "CheckConstraint"
            }
