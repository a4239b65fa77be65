"""Write the names of a store to a file for nodes that only read (:mod:`.databases.snapshot_file`): bindings, numbers,
rules, prefix records, branding, counters, and the places of names in the log. It has no history, accounts and search.
Names are in the order of their keys without row numbers, so that a lookup reads one tree only.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Table

from .collection import utc_now
from .names.binding import rfc3339
from .storage.databases.snapshot_file import APPLICATION, EXPORTED, NAMES
from .storage.tables import log_tables, schema
from .storage.tables.name_counts import fill
from .storage.tables.triggers import triggers
from .storage.versions import VERSION
from .system.files import disk_error, replaced_file

if TYPE_CHECKING:
    from .collection import Bindings
    from .storage.protocols import Row
    from .stores import Snapshot

_COMPLETE = (schema.bindings, schema.rules, schema.prefixes, schema.meta)
_EVERY = 1000

# The columns of the log that the place of a name needs. A snapshot has no other columns of these tables.
_OF_LOG = {schema.events: ("id", "key", "changed"), log_tables.log_entries: ("entry", "event")}
_LOG_INDEXES = ("CREATE INDEX events_key ON events (key)", "CREATE INDEX log_entries_event ON log_entries (event)")


def write_snapshot(bindings: Bindings, file: Path, *, progress: Callable[[int], object] | None = None) -> int:
    """Write all names of a store to one file, and return their number, with reserved ones. The file is replaced when
    the new one is completely on the disk. ``progress`` is called after each thousand names. Raises
    :class:`BindingsUnavailable`, and OSError if the file cannot be written.
    """
    with (
        bindings.store.snapshot() as snapshot,
        replaced_file(file, private=True) as place,
        _disk_errors(),
        closing(sqlite3.connect(place, isolation_level=None)) as connection,
    ):
        # The file is new, and nothing reads it before it is complete.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"application_id = {APPLICATION}"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("BEGIN")
        names = _write(connection, snapshot, progress)
        _count(connection)
        _write_log(connection, snapshot)
        # The version of the rules must differ from that of another snapshot in the same place.
        exported = rfc3339(utc_now())
        connection.execute("UPDATE ararat SET value = value || ' of ' || ? WHERE name = 'rules'", (exported,))
        connection.executemany("INSERT INTO ararat VALUES (?, ?)", [(NAMES, str(names)), (EXPORTED, exported)])
        connection.execute("COMMIT")
    return names


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise disk_error(error) from error


def _write(connection: sqlite3.Connection, snapshot: Snapshot, progress: Callable[[int], object] | None) -> int:
    names = 0

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal names
        for row in rows:
            names += 1
            if progress and names % _EVERY == 0:
                progress(names)
            yield row

    for table in _COMPLETE:
        columns = [column.name for column in table.columns]
        (key,) = table.primary_key.columns.keys()
        # Without types, SQLite stores each value as it is.
        defined = ", ".join(f'"{column}"{" PRIMARY KEY NOT NULL" if column == key else ""}' for column in columns)
        connection.execute(f"CREATE TABLE {table} ({defined}) WITHOUT ROWID")
        rows = snapshot.rows(table)
        if table is schema.bindings:
            with _numbers(connection):
                _insert(connection, table, columns, counted(rows))
        else:
            _insert(connection, table, columns, rows)
    return names


@contextmanager
def _numbers(connection: sqlite3.Connection) -> Iterator[None]:
    """Write the numbers of things for lookups, which also a table file has, with the names that the block writes."""
    columns = ", ".join(f"{column.name} NOT NULL" for column in schema.name_numbers.columns)
    key = ", ".join(schema.name_numbers.primary_key.columns.keys())
    connection.execute(f"CREATE TABLE name_numbers ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
    (trigger,) = (each for each in triggers("sqlite") if each.name == "bindings_numbers_insert")
    connection.execute(trigger.statement)
    yield
    connection.execute(f"DROP TRIGGER {trigger.name}")
    connection.execute("CREATE INDEX name_numbers_number ON name_numbers (number)")


def _count(connection: sqlite3.Connection) -> None:
    """Write the numbers of names in groups, which a database keeps."""
    columns = ", ".join(schema.name_counts.columns.keys())
    key = ", ".join(schema.name_counts.primary_key.columns.keys())
    connection.execute(f"CREATE TABLE name_counts ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID")
    for statement in fill("sqlite"):
        connection.execute(statement)


def _write_log(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Write the places of the names in the log. A store without a log has none."""
    for table, columns in _OF_LOG.items():
        connection.execute(f"CREATE TABLE {table} ({columns[0]} INTEGER PRIMARY KEY, {', '.join(columns[1:])})")
    connection.execute("CREATE TABLE log_state (name PRIMARY KEY NOT NULL, value) WITHOUT ROWID")
    state = [row for row in snapshot.rows(log_tables.log_state) if row[0] == "key"]
    connection.executemany("INSERT INTO log_state VALUES (?, ?)", state)
    if state:
        for table, columns in _OF_LOG.items():
            places = [table.columns.keys().index(column) for column in columns]
            rows = (tuple(row[place] for place in places) for row in snapshot.rows(table))
            _insert(connection, table, columns, rows)
    for statement in _LOG_INDEXES:
        connection.execute(statement)


def _insert(connection: sqlite3.Connection, table: Table, columns: Iterable[str], rows: Iterable[Row]) -> None:
    names = [f'"{column}"' for column in columns]
    places = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)
