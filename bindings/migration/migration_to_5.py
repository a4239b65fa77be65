"""Migrate the tables from version 4 to 5: the program declares the kinds of operations, not a CHECK constraint."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy import Connection

from ..storage.tables import schema

Progress = Callable[[str, int, int], object]

_CHECK = re.compile(r",\s*CONSTRAINT action_known CHECK \((?:[^()]|\([^()]*\))*\)")


def migrate_to_5(connection: Connection, progress: Progress) -> None:
    """Remove the list of actions from the table of operations. ``progress`` is called at the end with its name."""
    table = schema.operations.name
    if connection.dialect.name == "sqlite":
        _remove_check(connection, table)
    else:
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS action_known")
    progress(table, 1, 1)


def _remove_check(connection: Connection, table: str) -> None:
    """Edit the recorded statement of the table, as in :mod:`.constraints`."""
    recorded = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    sql = connection.exec_driver_sql(recorded, (table,)).scalar_one()
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (_CHECK.sub("", sql), table)
    )
    # Other connections, and this one, read the statement again.
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
