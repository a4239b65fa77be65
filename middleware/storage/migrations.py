"""A database of an older Ararat, brought up to date: by whoever runs it, on purpose, and never by a server.

A step leads from one version of :mod:`schema` to the next; all that are needed are taken in one transaction, so that a
database is of the old version or of the new one, whatever happens meanwhile. Two that migrate at once take turns, and
the second finds nothing to do.
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

    from .postgresql import PostgreSQL
    from .sqlite import SQLite


class Migrated(NamedTuple):
    """The version of the schema that was found, the one that is there now, and how many triggers were added.

    ``keys`` counts the names whose key was rewritten (:mod:`keys`).
    """

    before: int
    after: int
    triggers: int = 0
    keys: int = 0


def migrate(url_or_path: str | Path) -> Migrated:
    """Bring the database up to the version of the schema that this Ararat needs, and add triggers that it lacks.

    ``url_or_path`` is that of :func:`open_bindings`. No other writer is in the database meanwhile; servers that run go
    on reading, and have to be started again afterwards with this version.

    Raises :class:`BindingError` with the code ``schema-version`` for a database of a newer Ararat, ``equivalent-urns``
    where URNs are bound that are one name by the rule of their namespace (decision U-10), ``foreign-database``
    for one without Ararat's tables, ``read-only`` for a file of text, those of :func:`open_bindings`, and
    BindingsUnavailable.
    """
    from sqlalchemy import func, inspect, select, update
    from sqlalchemy.exc import DBAPIError

    from . import schema
    from . import urn_keys as keys
    from .postgresql import PostgreSQL
    from .store import SCHEMA_LOCK

    if (table := table_file(url_or_path)) is not None:
        said = f"{validation.shown(str(table))} is a table, not a database: it is never migrated"
        raise BindingError("read-only", said)
    database = database_at(url_or_path)
    try:
        with database.engine.begin() as connection:
            if isinstance(database, PostgreSQL):
                connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_LOCK)))
            tables = inspect(connection).get_table_names()
            if schema.about.name not in tables:
                raise BindingError("foreign-database", f"{database} holds no table of Ararat's")
            if database.lock_out_writers:
                connection.exec_driver_sql(database.lock_out_writers)
            version = schema.about.c.name == "schema"
            before = _number(connection.execute(select(schema.about.c.value).where(version)).scalar(), str(database))
            for number in range(before, schema.VERSION):
                _STEPS[number](connection)
            connection.execute(update(schema.about).where(version).values(value=str(schema.VERSION)))
            rewritten = keys.rewrite(connection)
            added = _add_missing_triggers(connection, database)
    except DBAPIError as error:
        cause = error.orig if isinstance(error.orig, Exception) else error
        raise database.unavailable(cause) from error
    return Migrated(before, schema.VERSION, added, rewritten)


def _add_missing_triggers(connection: Connection, database: SQLite | PostgreSQL) -> int:
    """Create the triggers that a database of the same version lacks, and return how many."""
    from . import schema

    found = set(connection.exec_driver_sql(database.triggers).scalars())
    missing = [trigger for trigger in schema.triggers(database.dialect_name) if trigger.name not in found]
    for trigger in missing:
        of = "" if database.dialect_name == "sqlite" else f" ON {trigger.table}"
        # PostgreSQL can disable a trigger; then it exists and does nothing.
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name}{of}")
        connection.exec_driver_sql(trigger.statement)
    return len(missing)


def _number(version: str | None, database: str) -> int:
    from . import schema

    if version is not None and version.isdecimal():
        if int(version) in (*_STEPS, schema.VERSION):
            return int(version)
        if int(version) > schema.VERSION:
            said = (
                f"{database} has version {version} of the schema and this Ararat knows {schema.VERSION}; update Ararat"
            )
            raise BindingError("schema-version", said)
    raise BindingError("schema-version", f"{database} has a version of the schema that never was; restore a backup")


def _add_minted_names_and_the_history_of_rules(connection: Connection) -> None:
    from . import schema

    for table in (schema.minted, schema.rule_events):
        table.create(connection)


_STEPS: dict[int, Callable[[Connection], object]] = {1: _add_minted_names_and_the_history_of_rules}
"""What leads from a version to the next one."""
