"""Migrate the tables from version 3 to version 4: the columns of fields and of the search that version 3 does not have,
and passthrough.

Version 3 kept ``_export: no`` of EZID as metadata without an effect. Such a name gets a change to the field ``listed``.

The columns are those of :mod:`~ararat.bindings.storage.tables.schema`; a new column gets the default of its field. So a
field that is added to version 4 needs no line here. SQLite cannot change a constraint of a table, so the rows are
copied to new tables. In PostgreSQL the tables are altered. The administrator can have partitioned the tables and
granted permissions on them.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import CheckConstraint, Connection, Table, insert, inspect, select, update
from sqlalchemy.schema import CreateTable

from ..names.assignment import later
from ..names.binding import rfc3339
from ..names.fields import FIELDS
from ..storage.rows import SEARCH, STATE, column_value, search_of_row
from ..storage.tables import schema, search_indexes, triggers

Progress = Callable[[str, int, int], object]

_BLOCK = 50_000
_EXPORT = "ezid-setting.export"
# The new values of columns of version 3.
_CONVERTED = {"passthrough": "CASE passthrough WHEN 0 THEN 'no' ELSE 'normal' END"}
# The time when the store recorded a change. Only the first change of a name can have an earlier time, by an import.
_STARTED = """
SELECT operations.started FROM operations
WHERE operations.id = {event}.operation AND operations.started > {event}.changed
"""
_RECORDED = {
    "events": f"CASE revision WHEN 1 THEN ({_STARTED}) END",
    "bindings": f"""
CASE revision WHEN 1 THEN (
SELECT ({_STARTED.format(event="events")}) FROM events WHERE events.key = {{event}}.key AND events.revision = 1
) END""",
}
_DEFAULTS = {field.name: column_value(field, field.default) for field in FIELDS if field.default is not None}


def migrate_to_4(connection: Connection, progress: Progress) -> None:
    """Change the tables of a database from version 3 to version 4 of the schema, in the transaction of ``connection``.

    ``progress`` is called after each block of rows. Afterwards, SQLite lacks the triggers and indexes of these tables.
    """
    for table in (schema.bindings, schema.events):
        column_names = {column["name"] for column in inspect(connection).get_columns(table.name)}
        if connection.dialect.name == "sqlite":
            _copy(connection, table, column_names, progress)
        else:
            # The migration creates the missing triggers again, in their new form.
            for trigger in triggers.triggers("postgresql"):
                if trigger.table == table.name:
                    connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name} ON {table}")
            _alter(connection, table, column_names)
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("DROP INDEX IF EXISTS bindings_changed, bindings_words")
        for table in (schema.bindings, schema.events):
            _fill_recorded(connection, table)
    elif connection.exec_driver_sql(search_indexes.HAS_FULL_TEXT).scalar():
        connection.exec_driver_sql("DROP TABLE IF EXISTS search_words")
    _hide_unlisted(connection)
    _fill_search(connection, progress)


def _copy(connection: Connection, table: Table, column_names: set[str], progress: Progress) -> None:
    old = f"old_{table}"
    connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {old}")
    connection.execute(CreateTable(table))
    columns = [column.name for column in table.columns]
    values = [_CONVERTED.get(name, name) if name in column_names else _default(name) for name in columns]
    values[columns.index("recorded")] = f"coalesce({_RECORDED[table.name].format(event=old)}, changed)"
    last = connection.exec_driver_sql(f"SELECT max(rowid) FROM {old}").scalar() or 0
    for start in range(0, last, _BLOCK):
        connection.exec_driver_sql(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {old} "
            f"WHERE rowid > {start} AND rowid <= {start + _BLOCK} ORDER BY rowid"
        )
        progress(table.name, min(start + _BLOCK, last), last)
    connection.exec_driver_sql(f"DROP TABLE {old}")


def _alter(connection: Connection, table: Table, column_names: set[str]) -> None:
    checks = {str(each.name): each for each in table.constraints if isinstance(each, CheckConstraint)}
    recorded = {str(each["name"]) for each in inspect(connection).get_check_constraints(table.name)}
    replaced = {f"{name}_known" for name in _CONVERTED} & recorded
    steps = [f"DROP CONSTRAINT {name}" for name in sorted(replaced)]
    for column in table.columns:
        kind = column.type.compile(connection.dialect)
        if column.name not in column_names:
            required = "" if column.nullable or column.name == "recorded" else " NOT NULL"
            steps.append(f"ADD COLUMN {column.name} {kind} DEFAULT {_default(column.name)}{required}")
        elif column.name in _CONVERTED:
            steps.append(f"ALTER COLUMN {column.name} TYPE {kind} USING {_CONVERTED[column.name]}")
    steps += [
        f"ADD CONSTRAINT {name} CHECK ({checks[name].sqltext})" for name in checks if name not in recorded - replaced
    ]
    # One statement, so that PostgreSQL writes each row once.
    connection.exec_driver_sql(f"ALTER TABLE {table} {', '.join(steps)}")
    for column in table.columns:
        if column.name not in column_names:
            connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN {column.name} DROP DEFAULT")
    connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN recorded TYPE TEXT USING changed")
    connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN recorded SET NOT NULL")


def _fill_recorded(connection: Connection, table: Table) -> None:
    """Set the time when a change was recorded, if an import set another time, in PostgreSQL."""
    value = _RECORDED[table.name].format(event=table)
    connection.exec_driver_sql(f"UPDATE {table} SET recorded = coalesce({value}, changed) WHERE revision = 1")


def _hide_unlisted(connection: Connection) -> None:
    """Record that names with the element :data:`_EXPORT` are not listed, as a change of each name.

    Older events stay as they are, because the log has their hashes.
    """
    marked = schema.bindings.c.metadata.contains(f'"{_EXPORT}":', autoescape=True)
    columns = [column for column in schema.bindings.columns if column.name not in SEARCH]
    for row in connection.execute(select(*columns).where(marked)).mappings().all():
        metadata = json.loads(row["metadata"])
        listed = metadata.pop(_EXPORT, "yes")
        changed = later(datetime.now(UTC), datetime.fromisoformat(row["recorded"]))
        after = {
            **row,
            "metadata": json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) if metadata else None,
            "listed": "no" if listed == "no" else "yes",
            "changed": rfc3339(changed),
            "recorded": rfc3339(changed),
            "revision": row["revision"] + 1,
        }
        is_name = schema.bindings.c.key == row["key"]
        connection.execute(update(schema.bindings).where(is_name).values(**after))
        connection.execute(insert(schema.events).values(**after, action="updated", actor="ararat migrate"))


def _fill_search(connection: Connection, progress: Progress) -> None:
    """Fill the columns of the search, block by block in the order of the keys."""
    is_sqlite = connection.dialect.name == "sqlite"
    mark = "?" if is_sqlite else "%s"
    assigned = ", ".join(f"{column} = {mark}" for column in SEARCH)
    write = f"UPDATE bindings SET {assigned} WHERE key = {mark}"
    if not is_sqlite:
        pairs = ", ".join(f"{column} = filled.{column}" for column in SEARCH)
        arrays = ", ".join(["%s::text[]"] * (len(SEARCH) + 1))
        columns = ", ".join((*SEARCH, "key"))
        write = (
            f"UPDATE bindings SET {pairs} FROM unnest({arrays}) AS filled ({columns}) WHERE bindings.key = filled.key"
        )
    total = connection.exec_driver_sql("SELECT count(*) FROM bindings").scalar() or 0
    read = f"SELECT {', '.join(STATE)} FROM bindings WHERE key > {mark} ORDER BY key LIMIT {max(_BLOCK // 10, 1)}"
    done, last = 0, ""
    while rows := [tuple(row) for row in connection.exec_driver_sql(read, (last,))]:
        filled = [(*search_of_row(row), row[0]) for row in rows]
        connection.exec_driver_sql(write, filled if is_sqlite else tuple(map(list, zip(*filled, strict=True))))
        done, last = done + len(rows), rows[-1][0]
        progress("search", done, total)


def _default(name: str) -> str:
    """Return the value of a new column in SQL."""
    value = _DEFAULTS.get(name)
    return "NULL" if value is None else repr(value)
