"""Migrate a database of an older Ararat to the current tables, for the command ``ararat migrate``. A server never does.

Each step leads from one version of :mod:`schema` to the next, all in one transaction, with rows in blocks. A second
migration at the same time has nothing to do. The indexes for lists and search take the longest. They are created behind
this transaction, while the new version answers and writes. A later call adds the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..names import validation
from ..names.errors import BindingError, BindingsUnavailable
from ..open import database_at, table_file
from ..storage.databases.sqlite import SQLite
from ..storage.versions import VERSION, VERSION_SQL, number_of, wrong_version

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..storage.protocols import Database
    from ..storage.tables.search_indexes import MissingIndex


class MigrationResult(NamedTuple):
    """The result of :func:`migrate`: the versions of the schema, and the numbers of added triggers and indexes and of
    replaced constraints (:mod:`constraints`).
    """

    before: int
    after: int
    triggers: int = 0
    indexes: int = 0
    constraints: int = 0


Progress = Callable[[str, int, int], object]
"""A callback with the name of a table, and the numbers of its converted rows and of all its rows."""


class IndexPhase(NamedTuple):
    """The creation of an index that begins in a migration, the ``number`` of ``total`` from 1. ``names`` is about the
    number of names in the database. ``seconds`` is the forecast for this index and the rest; None for the first.
    """

    name: str
    number: int
    total: int
    names: int
    seconds: float | None


def migrate(
    url_or_path: str | Path,
    progress: Progress | None = None,
    phase: Callable[[IndexPhase], object] | None = None,
) -> MigrationResult:
    """Change the tables of a database to the current version of the schema, in one transaction. Then create the indexes
    that it lacks.

    ``url_or_path`` is the path of an SQLite file, or a ``postgresql://`` URL. Other writers wait until the end of the
    transaction, and in PostgreSQL readers too. Stop the servers of the older version before, and start this version
    when ``phase`` is called first. ``progress`` is called after each block of rows, ``phase`` before each index. While
    an index is created, others read, and in PostgreSQL also write. Raises BindingsUnavailable, and
    :class:`BindingError`: ``schema-version`` for a version that it cannot upgrade, ``foreign-database`` without tables
    of Ararat, ``read-only`` for a file that cannot be written, and like :func:`open_bindings`.
    """
    from sqlalchemy import inspect, select, update
    from sqlalchemy.exc import DBAPIError

    from ..storage.tables import schema
    from ..storage.writing.transaction import driver_cause
    from . import constraints

    if (table := table_file(url_or_path)) is not None:
        message = f"{validation.quote(str(table))} is a file of text and needs no migration; name a database"
        raise BindingError("read-only", message)
    database = database_at(url_or_path)
    database.require_writable()
    try:
        with database.engine.begin() as connection:
            if database.schema_lock_sql:
                connection.exec_driver_sql(database.schema_lock_sql)
            tables = inspect(connection).get_table_names()
            if schema.meta.name not in tables:
                raise BindingError("foreign-database", f"{database} has no tables of Ararat; check the URL")
            if database.exclusive_lock_sql:
                connection.exec_driver_sql(database.exclusive_lock_sql)
            is_version = schema.meta.c.name == "schema"
            version = connection.execute(select(schema.meta.c.value).where(is_version)).scalar()
            before = number_of(version)
            if before not in (*_STEPS, VERSION):
                raise BindingError("schema-version", wrong_version(database, version))
            for number in range(before, VERSION):
                _STEPS[number](connection, progress or (lambda table, rows, total: None))
            connection.execute(update(schema.meta).where(is_version).values(value=str(VERSION)))
            schema.metadata.create_all(connection, schema.OTHER_TABLES)
            _add_missing_columns(connection)
            replaced = constraints.replace_old(connection)
            added = _add_missing_triggers(connection, database)
        indexes = _add_missing_indexes(database, phase or (lambda begun: None))
    except DBAPIError as error:
        database.shorten_log(driver_cause(error))
        raise database.unavailable(driver_cause(error)) from error
    database.shorten_log()
    return MigrationResult(before, VERSION, added, indexes, replaced)


def file_to_migrate(url_or_path: str | Path) -> tuple[Path, int] | None:
    """Return the SQLite file that :func:`migrate` would change to a new version of the schema, and its version, or
    None. Raises :class:`BindingError` like :func:`open_bindings`.
    """
    if table_file(url_or_path) is not None:
        return None
    database = database_at(url_or_path)
    if not isinstance(database, SQLite):
        return None
    try:
        with closing(database.connect_to_read()) as connection:
            version = number_of((connection.execute(VERSION_SQL).fetchone() or (None,))[0])
    except (database.driver_error, BindingsUnavailable):
        return None  # the migration reports it
    return (database.path, version) if version in _STEPS else None


def _add_missing_columns(connection: Connection) -> None:
    """Add the columns that the tables lack. They can be null, such as the numbers of the names."""
    from sqlalchemy import inspect

    from ..storage.tables import schema

    for table in (schema.bindings, schema.events, *schema.OTHER_TABLES):
        column_names = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in column_names:
                kind = column.type.compile(connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column.name} {kind}")


def _add_missing_triggers(connection: Connection, database: Database) -> int:
    """Create the triggers that are missing or disabled, and return their number."""
    from ..storage.tables import name_counts, triggers

    trigger_names = set(connection.exec_driver_sql(database.trigger_names_sql).scalars())
    missing = [trigger for trigger in triggers.triggers(database.dialect_name) if trigger.name not in trigger_names]
    triggers.create(connection, missing)
    # Names were written without the triggers, or the operator has emptied the table (:data:`.verification.CODES`).
    is_incomplete = any(each.table == "bindings" for each in missing)
    for table, write_again in (("name_counts", name_counts.count_again), ("name_numbers", triggers.add_numbers_again)):
        if is_incomplete or not connection.exec_driver_sql(f"SELECT 1 FROM {table} LIMIT 1").scalar():  # noqa: S608
            write_again(connection)
    return len(missing)


def _add_missing_indexes(database: Database, phase: Callable[[IndexPhase], object]) -> int:
    """Create the indexes that are missing, each for itself, and return their number."""
    from ..storage.store import count_names

    with ExitStack() as stack:
        if database.schema_lock_sql:
            # Another migration waits for the end of this transaction, which has read nothing.
            guard = stack.enter_context(database.engine.begin())
            guard.exec_driver_sql(database.schema_lock_sql)
        with database.engine.begin() as connection:
            lacking = _missing_indexes(connection)
            names = count_names(lambda query: connection.exec_driver_sql(query).all(), database).number
            is_alone = database.dialect_name == "sqlite" or connection.exec_driver_sql(_KIND).scalar() == "p"
        began = time.monotonic()
        for number, index in enumerate(lacking):
            left = (time.monotonic() - began) / number * (len(lacking) - number) if number else None
            phase(IndexPhase(index.name, number + 1, len(lacking), names, left))
            if is_alone:
                with database.engine.begin() as connection:
                    # Another migration can have been faster.
                    if index.name in {each.name for each in _missing_indexes(connection)}:
                        for statement in index.statements:
                            connection.exec_driver_sql(statement)
            else:
                _create_concurrently(database, index)
    return len(lacking)


def _missing_indexes(connection: Connection) -> list[MissingIndex]:
    from sqlalchemy.schema import CreateIndex

    from ..storage.tables import schema, search_indexes

    lacking = search_indexes.missing(connection)
    known = search_indexes.existing(connection) | {each.name for each in lacking}
    for index in (index for table in schema.metadata.sorted_tables for index in table.indexes):
        if index.name not in known:
            statement = str(CreateIndex(index).compile(dialect=connection.dialect))
            lacking.append(search_indexes.MissingIndex(str(index.name), (statement,)))
    return lacking


def _create_concurrently(database: Database, index: MissingIndex) -> None:
    """Create an index of PostgreSQL outside of a transaction, so that others write meanwhile."""
    (statement,) = index.statements
    connection = database.engine.raw_connection()
    try:
        driver: Any = connection.driver_connection
        # An attempt that failed leaves an index that is not valid.
        driver.execute(f"DROP INDEX IF EXISTS {index.name}")
        driver.execute(statement.replace("CREATE INDEX ", "CREATE INDEX CONCURRENTLY ", 1))
    except database.driver_error as error:
        raise database.unavailable(error) from error
    finally:
        connection.close()


_KIND = "SELECT relkind FROM pg_class WHERE oid = 'bindings'::regclass"
"""The query for the kind of the table in PostgreSQL. Indexes of partitions ("p") are created in a transaction."""


def _to_5(connection: Connection, progress: Progress) -> None:
    from .migration_to_5 import migrate_to_5

    migrate_to_5(connection, progress)


_STEPS: dict[int, Callable[[Connection, Progress], object]] = {4: _to_5}
"""The step from each version to the next, from :data:`OLDEST` on. A step changes the tables and converts their rows."""
