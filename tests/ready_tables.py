"""Give databases of tests ready-made tables, and compile each statement once, because both take longer than most tests.

Only the result of :func:`creation.create_tables` is replaced: a test still begins with an empty database. The first
databases of each kind, other processes, and tests with the fixture ``created_tables`` create the tables.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import uuid
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, SelectBase, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.util import LRUCache

from ararat.bindings.storage.databases import engines
from ararat.bindings.storage.databases.sqlite import SQLite
from ararat.bindings.storage.protocols import Database
from ararat.bindings.storage.writing import creation
from ararat.bindings.system.files import create_private

create_tables = creation.create_tables

LARGEST = 2_000_000
"""The size in octets of the largest schema that is emptied. It contains the rows that are deleted, too."""

IDENTITY = 68
"""The position of the ``application_id`` in an SQLite file, which Ararat chooses at random for each database."""

# A statement that changes a table, an index, a trigger or a function also changes one of these numbers. ANALYZE
# changes the number of rows.
FINGERPRINT = """
SELECT md5(string_agg(part, ' ' ORDER BY part)) FROM (
SELECT concat_ws('-', 'class', oid, xmin, reltuples) AS part FROM pg_class WHERE relnamespace = {schema}
UNION ALL SELECT concat_ws('-', 'type', oid, xmin) FROM pg_type WHERE typnamespace = {schema}
UNION ALL SELECT concat_ws('-', 'function', oid, xmin) FROM pg_proc WHERE pronamespace = {schema}
UNION ALL SELECT concat_ws('-', 'constraint', oid, xmin) FROM pg_constraint WHERE connamespace = {schema}
UNION ALL SELECT concat_ws('-', 'trigger', pg_trigger.oid, pg_trigger.xmin) FROM pg_trigger
JOIN pg_class ON pg_class.oid = tgrelid WHERE relnamespace = {schema}
UNION ALL SELECT concat_ws('-', 'column', attrelid, attnum, pg_attribute.xmin) FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = {schema}
) AS parts
"""
STATE = """
SELECT ({fingerprint}) = obj_description(oid, 'pg_namespace') AND nspacl IS NULL
AND (SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = pg_namespace.oid) < {largest},
(SELECT array_agg(relname) FROM pg_class WHERE relnamespace = pg_namespace.oid AND relkind = 'r'),
(SELECT array_agg(relname) FROM pg_class WHERE relnamespace = pg_namespace.oid AND relkind = 'S')
FROM pg_namespace WHERE nspname = '{name}'
"""
READY = """
SELECT current_schema(), (SELECT min(nspname) FROM pg_namespace WHERE starts_with(nspname, 'ready'))
WHERE starts_with(current_schema(), 'test')
AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
"""


def recycle(connection: Any, name: str) -> None:
    """Empty a schema of a finished test, and keep it for another test. Drop it if the test changed its tables."""
    schema = f"'{name}'::regnamespace"
    state = STATE.format(fingerprint=FINGERPRINT.format(schema=schema), largest=LARGEST, name=name)
    unchanged, tables, sequences = connection.execute(state).fetchone()
    if not unchanged:
        connection.execute(f"DROP SCHEMA {name} CASCADE")
        return
    rows = creation.first_settings().items()
    statements = [
        # Without triggers and references.
        "SET LOCAL session_replication_role = replica",
        *(f"DELETE FROM {name}.{table}" for table in tables),  # noqa: S608  names of the schema
        *(f"SELECT setval('{name}.{sequence}', 1, false)" for sequence in sequences),
        *(f"INSERT INTO {name}.ararat (name, value) VALUES ('{setting}', '{value}')" for setting, value in rows),  # noqa: S608
        f"ALTER SCHEMA {name} RENAME TO ready_{name}",
    ]
    connection.execute(";".join(statements))


def _has_schemas(database: Database) -> bool:
    """Return whether a database is the one whose schemas are given to tests, not one of a test."""
    return not str(database).rpartition("/")[2].startswith("test")


class _ReadyTables:
    """Replace :func:`creation.create_tables`. ``file`` has the tables of SQLite."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._content = b""
        self._process = os.getpid()

    def take(self, database: Database, partitions: int = 0) -> None:
        """Give a database its tables. Create them if no ready-made ones fit."""
        if partitions or os.getpid() != self._process:
            create_tables(database, partitions)
        elif isinstance(database, SQLite):
            if self._copy(database.path):
                state = database.path.stat()
                database._logged = state.st_dev, state.st_ino
            else:
                create_tables(database)
        elif not self._rename(database):
            create_tables(database)
            self._remember(database)

    def _copy(self, path: Path) -> bool:
        """Make a file with empty tables at once, so that other processes see all of it. Return whether it was made."""
        if path.with_name(f"{path.name}-wal").exists():
            return False
        if not self._content:
            template = SQLite(self._file)
            create_tables(template)
            template.engine.dispose()
            self._content = self._file.read_bytes()
        whole = path.with_name(f"{path.name}-{uuid.uuid4()}")
        try:
            create_private(whole)  # as SQLite.create() does
            with whole.open("wb") as file:
                identity = (secrets.randbelow(2**31 - 1) + 1).to_bytes(4, "big")
                file.write(self._content[:IDENTITY] + identity + self._content[IDENTITY + 4 :])
            path.hardlink_to(whole)
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                whole.unlink()
        return True

    def _rename(self, database: Database) -> bool:
        """Replace an empty schema of a test by a ready-made one. Return whether there was one."""
        if not _has_schemas(database):
            return False
        try:
            with database.engine.begin() as connection:
                connection.exec_driver_sql(str(database.schema_lock_sql))
                empty, ready = connection.exec_driver_sql(READY).one_or_none() or (None, None)
                if ready is None:
                    return False
                connection.exec_driver_sql(f"DROP SCHEMA {empty}")
                connection.exec_driver_sql(f"ALTER SCHEMA {ready} RENAME TO {empty}")
                return True
        except DBAPIError:
            return False

    def _remember(self, database: Database) -> None:
        """Keep the fingerprint of new tables as the comment of their schema."""
        if not _has_schemas(database):
            return
        with database.engine.begin() as connection:
            schema = connection.exec_driver_sql("SELECT current_schema()").scalar()
            if str(schema).startswith("test"):
                query = FINGERPRINT.format(schema=f"'{schema}'::regnamespace")
                found = connection.exec_driver_sql(query).scalar()
                connection.exec_driver_sql(f"COMMENT ON SCHEMA {schema} IS '{found}'")


@pytest.fixture(scope="session", autouse=True)
def _ready_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    ready = _ReadyTables(tmp_path_factory.mktemp("tables") / "empty.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(creation, "create_tables", ready.take)
        yield


@pytest.fixture
def created_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Create the tables of each database in this test."""
    monkeypatch.setattr(creation, "create_tables", create_tables)


class _CompiledStatements(LRUCache[Any, Any]):
    """Compiled statements of all databases of a kind, whose dialects are equal."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


@pytest.fixture(scope="session", autouse=True)
def _compiled_statements() -> Iterator[None]:
    """Share the compiled statements of the databases. Without tests, a process has few databases."""
    statements: dict[str, _CompiledStatements] = {}
    queries: weakref.WeakKeyDictionary[SelectBase, dict[str, Any]] = weakref.WeakKeyDictionary()
    compile_query = SelectBase.compile

    def create(url: Any, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        engine._compiled_cache = statements.setdefault(engine.dialect.name, _CompiledStatements(5000))
        return engine

    def compile_once(query: SelectBase, bind: Any = None, dialect: Any = None, **options: Any) -> Any:
        if dialect is None or options:
            return compile_query(query, bind, dialect, **options)
        known = queries.setdefault(query, {})
        if dialect.name not in known:
            known[dialect.name] = compile_query(query, dialect=dialect)
        return known[dialect.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "create_engine", create)
        patch.setattr(SelectBase, "compile", compile_once)
        yield
