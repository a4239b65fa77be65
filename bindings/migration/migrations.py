"""Migrate a database of an older Ararat to the current tables, for the command ``ararat migrate``. A server never does.

Each step leads from one version of :mod:`schema` to the next. All steps run in one transaction. So the database has the
old version or the new one, also after a failure. Two migrations at the same time run one after the other, and the
second has nothing to do. Rows are converted in blocks, so that memory does not grow with the database.

The keys of URNs are rewritten in a second transaction. If it fails, the database has the new schema, and its older keys
still work.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..names import validation
from ..names.errors import BindingError
from ..open import database_at, table_file
from ..storage.versions import VERSION

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..storage.protocols import Database


class Migrated(NamedTuple):
    """The result of a migration.

    - ``before``, ``after``: the version of the schema before and after it.
    - ``triggers``: the number of added triggers.
    - ``keys``: the number of names whose key was rewritten (:mod:`urn_keys`).
    - ``indexes``: the number of added indexes.
    - ``constraints``: the number of replaced constraints (:mod:`constraints`).
    """

    before: int
    after: int
    triggers: int = 0
    keys: int = 0
    indexes: int = 0
    constraints: int = 0


Progress = Callable[[str, int, int], object]
"""A callback with the name of a table, and the numbers of its converted rows and of all its rows."""


def migrate(url_or_path: str | Path, progress: Progress | None = None) -> Migrated:
    """Migrate a database to the version of the schema that this Ararat needs, and add missing triggers and indexes.

    ``url_or_path`` is as in :func:`open_bindings`. Other writers wait until the end, and in PostgreSQL readers too.
    Stop the servers of the older version before, and start this version afterwards. ``progress`` is called after each
    block of rows.

    Raises :class:`BindingError` with these codes: ``schema-version`` for a database of a newer Ararat,
    ``equivalent-urns`` if several bound URNs are one name by the rule of their namespace (decision U-10),
    ``foreign-database`` for a database without tables of Ararat, ``read-only`` for a file that cannot be written, and
    those of :func:`open_bindings`. Raises BindingsUnavailable.
    """
    from sqlalchemy import inspect, select, update
    from sqlalchemy.exc import DBAPIError

    from ..storage.tables import schema
    from ..storage.writing.transaction import driver_cause
    from . import constraints, urn_keys

    if (table := table_file(url_or_path)) is not None:
        message = f"{validation.shown(str(table))} is a file of text and needs no migration; name a database"
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
            before = _parse_version(
                connection.execute(select(schema.meta.c.value).where(is_version)).scalar(), str(database)
            )
            for number in range(before, VERSION):
                _STEPS[number](connection, progress or (lambda table, rows, total: None))
            connection.execute(update(schema.meta).where(is_version).values(value=str(VERSION)))
            for missing in schema.TABLES_SINCE_3:
                missing.create(connection, checkfirst=True)
            replaced = constraints.replace_old(connection)
            added = _add_missing_triggers(connection, database)
            indexes = _add_missing_indexes(connection)
        with database.engine.begin() as connection:
            rewritten = urn_keys.rewrite(connection)
    except DBAPIError as error:
        raise database.unavailable(driver_cause(error)) from error
    return Migrated(before, VERSION, added, rewritten, indexes, replaced)


def _add_missing_triggers(connection: Connection, database: Database) -> int:
    """Create the triggers that are missing or disabled, and return their number."""
    from ..storage.tables import triggers

    found = set(connection.exec_driver_sql(database.trigger_names_sql).scalars())
    missing = [trigger for trigger in triggers.triggers(database.dialect_name) if trigger.name not in found]
    triggers.create(connection, missing)
    return len(missing)


def _add_missing_indexes(connection: Connection) -> int:
    """Create the indexes that are missing, and return their number."""
    from ..storage.tables import schema, search_indexes

    added = search_indexes.create(connection)
    found = search_indexes.existing(connection)
    for index in (index for table in schema.metadata.sorted_tables for index in table.indexes):
        if index.name not in found:
            index.create(connection)
            added += 1
    return added


def _parse_version(version: str | None, database: str) -> int:

    if version is not None and version.isdecimal():
        if int(version) in (*_STEPS, VERSION):
            return int(version)
        if int(version) > VERSION:
            message = f"{database} has version {version} of the schema and this Ararat needs {VERSION}"
            raise BindingError("schema-version", f"{message}; update Ararat")
    raise BindingError("schema-version", f"{database} has an unknown version of the schema; restore a backup")


def _to_2(connection: Connection, progress: Progress) -> None:
    from ..storage.tables import schema

    schema.rule_events.create(connection)


def _to_3(connection: Connection, progress: Progress) -> None:
    from .migration_to_3 import migrate_to_3

    migrate_to_3(connection, progress)


_STEPS: dict[int, Callable[[Connection, Progress], object]] = {1: _to_2, 2: _to_3}
"""The step from each version to the next."""
