"""Update the lists of permitted values in the CHECK constraints of an older Ararat. A new action or state does not
change the version of the schema, so the tables can lack it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlalchemy import CheckConstraint, Connection, inspect

from ..storage.tables import schema

# A text or number in the definition of a constraint. Each database writes the rest of it in another form.
_VALUE = re.compile(r"'[^']*'|\b[0-9]+\b")


def replace_old(connection: Connection) -> int:
    """Replace the CHECK constraints of an older Ararat in the tables of a database. Return their number."""
    old_constraints = list(_old(connection))
    if connection.dialect.name == "sqlite":
        _replace_in_sqlite(connection, old_constraints)
        return len(old_constraints)
    for table, name, _, new in old_constraints:
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({new})")
    return len(old_constraints)


def _old(connection: Connection) -> Iterator[tuple[str, str, str, str]]:
    """Yield the table and the name of each constraint with other values, its condition, and the new condition."""
    recorded = inspect(connection)
    for table in schema.metadata.sorted_tables:
        conditions = {
            str(each.name): str(each.sqltext) for each in table.constraints if isinstance(each, CheckConstraint)
        }
        for each in recorded.get_check_constraints(table.name):
            name, old = str(each["name"]), each["sqltext"]
            new = conditions.get(name, old)
            if {*_VALUE.findall(old)} != {*_VALUE.findall(new)}:
                yield table.name, name, old, new


def _replace_in_sqlite(connection: Connection, old_constraints: list[tuple[str, str, str, str]]) -> None:
    """Edit the recorded statements of the tables; other ways copy all rows
    (https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
    """
    if not old_constraints:
        return
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    for table, name, old, new in old_constraints:
        connection.exec_driver_sql(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = ?",
            (f"CONSTRAINT {name} CHECK ({old})", f"CONSTRAINT {name} CHECK ({new})", table),
        )
    # Other connections, and this one, read the statements again.
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
