"""Create a missing SQLite file and the tables of a database, and delete them if nothing was written to them."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, inspect
from sqlalchemy.dialects import registry
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from ...names.errors import BindingError, BindingsUnavailable
from ..protocols import Database
from ..tables import schema, search_indexes, triggers
from ..versions import first_settings
from .transaction import driver_cause

if TYPE_CHECKING:
    from sqlalchemy import Connection

# The counts of requests can be in the PostgreSQL database of the names, and before them. In SQLite they have a file.
_OTHERS = {"postgresql": {"daily_counts"}, "sqlite": set[str]()}


def create_tables(database: Database, partitions: int = 0) -> None:
    """Create the tables in a database without tables, and a missing SQLite file. ``partitions`` divides the names in
    PostgreSQL by the hash of the key; 0 is one table. Nothing is done if another process was faster. Raises
    :class:`BindingError` (``foreign-database``) for tables of another program, and :class:`BindingsUnavailable`.
    """
    try:
        database.create()
        with database.engine.begin() as connection:
            if database.schema_lock_sql:
                connection.exec_driver_sql(database.schema_lock_sql)
            if not _has_no_tables(database, connection):
                return  # another process created them in the meantime
            for statement in _table_statements(database.dialect_name):
                connection.exec_driver_sql(statement)
            for statement in _partition_statements(partitions):
                connection.exec_driver_sql(statement)
            search_indexes.create(connection)
            triggers.create(connection, triggers.triggers(database.dialect_name))
            settings = first_settings()
            connection.execute(insert(schema.meta), [{"name": name, "value": settings[name]} for name in settings])
    except DBAPIError as error:
        raise database.unavailable(driver_cause(error)) from error


def require_no_tables(database: Database) -> None:
    """Raise like :func:`create_tables` if a database cannot be read or has tables of another program."""
    try:
        with database.engine.connect() as connection:
            _has_no_tables(database, connection)
    except DBAPIError as error:
        raise database.unavailable(driver_cause(error)) from error
    finally:
        database.close_writers()


def _has_no_tables(database: Database, connection: Connection) -> bool:
    """Return whether a database has no tables. Raises :class:`BindingError` for tables of another program."""
    tables = set(inspect(connection).get_table_names())
    if schema.meta.name in tables:
        return False
    if others := tables - _OTHERS[database.dialect_name]:
        message = f"{database} has the table {min(others)} of another program; use an empty database"
        raise BindingError("foreign-database", message)
    return True


def delete_if_empty(database: Database) -> None:
    """Delete the tables of a database without records, and the file of SQLite, unless they are in use."""
    from ..databases.sqlite import SQLite

    # Nothing is lost if an empty database remains.
    with suppress(sqlite3.Error, OSError, DBAPIError, BindingsUnavailable):
        if isinstance(database, SQLite):
            with closing(database.connect_alone()) as connection:
                if _is_empty(connection.execute):
                    database.delete()
            return
        try:
            with database.engine.begin() as connection:
                _drop_if_empty(connection)
        finally:
            database.close_writers()


def _drop_if_empty(connection: Connection) -> None:
    tables = ", ".join(table.name for table in schema.metadata.sorted_tables)
    connection.exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE NOWAIT")
    if _is_empty(connection.exec_driver_sql):
        connection.exec_driver_sql(f"DROP TABLE {tables}")
        for function in triggers.FUNCTIONS:
            connection.exec_driver_sql(f"DROP FUNCTION {function}")


def _is_empty(run: Callable[[str], Any]) -> bool:
    """Return whether the tables have no records. ``run`` runs a query and returns its cursor."""
    settings = {name for (name,) in run(f"SELECT name FROM {schema.meta}")}
    others = [table for table in schema.metadata.sorted_tables if table is not schema.meta]
    return settings == set(first_settings()) and not any(
        run(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in others
    )


@cache
def _table_statements(dialect_name: str) -> list[str]:
    """Return the statements for all tables and their indexes, in a quarter of the time of ``MetaData.create_all``."""
    dialect = registry.load(dialect_name)()
    return [
        str(element.compile(dialect=dialect))
        for table in schema.metadata.sorted_tables
        for element in (CreateTable(table), *map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name))))
    ]


def _partition_statements(partitions: int) -> list[str]:
    """Return the statements that replace the new, empty table ``bindings`` by a table with partitions."""
    if not partitions:
        return []
    return [
        "ALTER TABLE bindings RENAME TO bindings_columns",
        "CREATE TABLE bindings (LIKE bindings_columns INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (key)",
        "DROP TABLE bindings_columns",
        "ALTER TABLE bindings ADD PRIMARY KEY (key)",
        *(
            f"CREATE TABLE bindings_{number} PARTITION OF bindings"
            f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
            for number in range(partitions)
        ),
    ]
