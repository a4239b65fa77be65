"""Migrate the tables from version 2 to version 3: states, origins of names, open metadata, and new tables.

SQLite cannot change a constraint of a table, so the rows are copied to new tables. In PostgreSQL the tables are altered
and the rows updated. The administrator can have partitioned the tables and granted permissions on them.

- A minted name that was never bound becomes a reserved name, with the date and the actor of its minting.
- The date of creation of a name is the date of its first event.
- The nine elements of metadata get their full names: ``who`` becomes ``erc.who``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlalchemy import CheckConstraint, Connection, Table, inspect
from sqlalchemy.schema import CreateTable

from ..storage.rows import STATE
from ..storage.tables import schema, search_indexes

Progress = Callable[[str, int, int], object]

_BLOCK = 50_000
_NEW_CONSTRAINTS = ("status_known", "action_known", "successor_of_withdrawn")
_OLD_ELEMENTS = "who|what|when|where|persistence|availability|variance|allocated|policy"
# The name of an element in a JSON object whose values are texts. A quotation mark in a text has a backslash before it.
_ELEMENT = rf'([{{,]\s*)"({_OLD_ELEMENTS})"(\s*:)'

_OLD_STATE = [name for name in STATE if name not in ("successor", "spelling", "created")]
_FIRST_EVENT = "(SELECT changed FROM {events} AS first WHERE first.key = {row}.key AND first.revision = 1)"

# A minted name has neither a target nor a resource. Its row and its event have the same columns.
_RESERVED = (
    "kind, status, redirect, passthrough, scope, changed, revision, created",
    "'described', 'reserved', 302, 0, 'name', minted.changed, 1, minted.changed",
)
_UNBOUND = "FROM minted WHERE NOT EXISTS (SELECT 1 FROM bindings WHERE bindings.key = minted.key) ORDER BY minted.key"


def migrate_to_3(connection: Connection, progress: Progress) -> None:
    """Change the tables from version 2 to version 3 in the transaction of ``connection``.

    ``progress`` is called after each block of rows. Afterwards, the triggers of version 3 are missing.
    """
    has_minted = "minted" in inspect(connection).get_table_names()
    if connection.dialect.name == "sqlite":
        _copy_rows(connection, progress)
    else:
        _alter_tables(connection, progress)
    if has_minted:
        _reserve_minted_names(connection)
    for table in schema.TABLES_SINCE_3:
        table.create(connection)
    search_indexes.create(connection)


def _reserve_minted_names(connection: Connection) -> None:
    columns, values = _RESERVED
    # The events first: they depend on the names without a binding.
    connection.exec_driver_sql(
        f"INSERT INTO events (key, {columns}, action, actor) "
        f"SELECT minted.key, {values}, 'reserved', minted.actor {_UNBOUND}"
    )
    connection.exec_driver_sql(f"INSERT INTO bindings (key, {columns}) SELECT minted.key, {values} {_UNBOUND}")
    connection.exec_driver_sql("DROP TABLE minted")


def _copy_rows(connection: Connection, progress: Progress) -> None:
    """Copy the rows of an SQLite database to new tables."""
    rename = re.compile(_ELEMENT)
    driver: Any = connection.connection.dbapi_connection
    driver.create_function("ararat_elements", 1, lambda text: text and rename.sub(r'\1"erc.\2"\3', text))
    # The triggers of the two other tables are dropped with the tables.
    of_rules = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'rule_events'"
    for name in connection.exec_driver_sql(of_rules).scalars().all():
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    for table in (schema.bindings, schema.events):
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO old_{table}")
        connection.execute(CreateTable(table))
    _copy(connection, schema.bindings, "old_bindings.changed", "", progress)
    _copy(connection, schema.events, "old_events.changed", "id, action, actor, source, ", progress)
    for table in (schema.bindings, schema.events):
        connection.exec_driver_sql(f"DROP TABLE old_{table}")


def _copy(connection: Connection, table: Table, changed: str, more: str, progress: Progress) -> None:
    old = f"old_{table}"
    created = f"coalesce({_FIRST_EVENT.format(events='old_events', row=old)}, {changed})"
    columns = more + ", ".join(_OLD_STATE)
    values = columns.replace("metadata", "ararat_elements(metadata)")
    last = connection.exec_driver_sql(f"SELECT max(rowid) FROM {old}").scalar() or 0  # noqa: S608
    for start in range(0, last, _BLOCK):
        connection.exec_driver_sql(
            f"INSERT INTO {table} ({columns}, created) SELECT {values}, {created} FROM {old} "  # noqa: S608
            f"WHERE rowid > {start} AND rowid <= {start + _BLOCK} ORDER BY rowid"
        )
        progress(table.name, min(start + _BLOCK, last), last)


def _alter_tables(connection: Connection, progress: Progress) -> None:
    """Add the columns in a PostgreSQL database, and fill them."""
    for table in (schema.bindings, schema.events, schema.rule_events):
        _drop_triggers(connection, table)
    for table in (schema.bindings, schema.events):
        columns = ", ".join(f"ADD COLUMN {column.name} text" for column in schema.state_since_3())
        connection.exec_driver_sql(f"ALTER TABLE {table} {columns}")
    connection.exec_driver_sql("ALTER TABLE events ADD COLUMN operation bigint")
    first = _FIRST_EVENT.format(events="events", row="{row}")
    _update(connection, schema.bindings, "key", f"coalesce({first.format(row='bindings')}, changed)", progress)
    _update(connection, schema.events, "id", f"coalesce({first.format(row='events')}, changed)", progress)
    for table in (schema.bindings, schema.events):
        connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN created SET NOT NULL")
        for constraint in table.constraints:
            if isinstance(constraint, CheckConstraint) and constraint.name in _NEW_CONSTRAINTS:
                name = constraint.name
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
                connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({constraint.sqltext})")


def _drop_triggers(connection: Connection, table: Table) -> None:
    of_table = f"SELECT tgname FROM pg_trigger WHERE tgrelid = '{table}'::regclass AND NOT tgisinternal"  # noqa: S608
    for name in connection.exec_driver_sql(of_table).scalars().all():
        if name.startswith(f"{table}_never_"):
            connection.exec_driver_sql(f"DROP TRIGGER {name} ON {table}")


def _update(connection: Connection, table: Table, by: str, created: str, progress: Progress) -> None:
    total = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() or 0  # noqa: S608
    renamed = f"regexp_replace(metadata, '{_ELEMENT}', '\\1\"erc.\\2\"\\3', 'g')"
    last: object = "" if by == "key" else 0
    done = 0
    while done < total:
        block = f"SELECT {by} FROM {table} WHERE {by} > %s ORDER BY {by} LIMIT {_BLOCK}"  # noqa: S608
        end = connection.exec_driver_sql(f"SELECT max({by}) FROM ({block}) AS block", (last,)).scalar()  # noqa: S608
        updated = connection.exec_driver_sql(
            f"UPDATE {table} SET created = {created}, metadata = {renamed} WHERE {by} > %s AND {by} <= %s",  # noqa: S608
            (last, end),
        )
        done += updated.rowcount
        last = end
        progress(table.name, done, total)
