"""Migrate a database of an older Ararat. The operator does this with ``ararat migrate``; a server never does.

Each step leads from one version of :mod:`schema` to the next. All steps run in one transaction, so the database has the
old version or the new one, also after a failure. Two migrations at the same time run one after the other, and the
second has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..bindings import validation
from ..bindings.collection import database_at, table_file
from ..errors import BindingError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from .protocols import Database


class Migrated(NamedTuple):
    """The version of the schema before and after a migration, and the number of added triggers.

    ``keys`` is the number of names whose key was rewritten (:mod:`urn_keys`).
    """

    before: int
    after: int
    triggers: int = 0
    keys: int = 0


def migrate(url_or_path: str | Path) -> Migrated:
    """Migrate a database to the version of the schema that this Ararat needs, and add missing triggers.

    ``url_or_path`` is as in :func:`open_bindings`. Other writers wait until the end. Running servers continue to read;
    restart them afterwards with this version of Ararat.

    Raises :class:`BindingError` with these codes: ``schema-version`` for a database of a newer Ararat,
    ``equivalent-urns`` if several bound URNs are one name by the rule of their namespace (decision U-10),
    ``foreign-database`` for a database without tables of Ararat, ``read-only`` for a file of text, and those of
    :func:`open_bindings`. Raises BindingsUnavailable.
    """
    from sqlalchemy import inspect, select, update
    from sqlalchemy.exc import DBAPIError

    from . import schema, urn_keys
    from .store import driver_cause

    if (table := table_file(url_or_path)) is not None:
        message = f"{validation.shown(str(table))} is a file of text and needs no migration; name a database"
        raise BindingError("read-only", message)
    database = database_at(url_or_path)
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
            for number in range(before, schema.VERSION):
                _STEPS[number](connection)
            connection.execute(update(schema.meta).where(is_version).values(value=str(schema.VERSION)))
            rewritten = urn_keys.rewrite(connection)
            added = _add_missing_triggers(connection, database)
    except DBAPIError as error:
        raise database.unavailable(driver_cause(error)) from error
    return Migrated(before, schema.VERSION, added, rewritten)


def _add_missing_triggers(connection: Connection, database: Database) -> int:
    """Create the triggers that are missing or disabled, and return their number."""
    from . import schema

    found = set(connection.exec_driver_sql(database.trigger_names_sql).scalars())
    missing = [trigger for trigger in schema.triggers(database.dialect_name) if trigger.name not in found]
    for trigger in missing:
        on = "" if database.dialect_name == "sqlite" else f" ON {trigger.table}"
        # In PostgreSQL a trigger can exist and be disabled.
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name}{on}")
        connection.exec_driver_sql(trigger.statement)
    return len(missing)


def _parse_version(version: str | None, database: str) -> int:
    from . import schema

    if version is not None and version.isdecimal():
        if int(version) in (*_STEPS, schema.VERSION):
            return int(version)
        if int(version) > schema.VERSION:
            message = f"{database} has version {version} of the schema and this Ararat needs {schema.VERSION}"
            raise BindingError("schema-version", f"{message}; update Ararat")
    raise BindingError("schema-version", f"{database} has an unknown version of the schema; restore a backup")


def _add_minted_names_and_the_history_of_rules(connection: Connection) -> None:
    from . import schema

    for table in (schema.minted, schema.rule_events):
        table.create(connection)


_STEPS: dict[int, Callable[[Connection], object]] = {1: _add_minted_names_and_the_history_of_rules}
"""The step from each version to the next."""
