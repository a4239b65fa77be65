"""The command ``migrate``: upgrade the database of an older version."""

from __future__ import annotations

import sys

import click

from ..bindings.stores import require_database
from ..errors import DONE, store_errors, write
from ..options import database_option
from ..output import Sheet, counted
from ..progress import Progress


@click.command("migrate", short_help="Upgrade the database of an older version.")
@database_option
def migrate_command(database: str) -> int:
    """Upgrade the database of an older version of Ararat. Make a backup first.

    No other command does this. Stop the servers of the older version, migrate, and start the new version. Other writers
    wait during the upgrade. If it fails, nothing is changed.

    Exit code: 0 the database is up to date, 2 it is newer or not a database of Ararat, 69 no database.
    """
    from ...bindings.migration.migrations import migrate

    require_database(database)
    with store_errors(), Progress() as progress:
        done = migrate(database, lambda table, rows, total: progress.show(f"{table}: {rows:,} of {total:,} rows"))
    result = f"Migrated the schema from version {done.before} to {done.after}."
    if done.before == done.after:
        result = f"The schema is up to date, version {done.after}."
        if done.indexes:
            result = f"Added {counted(done.indexes, 'index', 'indexes')} for lists and search. {result}"
        if done.triggers:
            result = f"Added {done.triggers} triggers that protect the tables. {result}"
        if done.constraints:
            result = f"Replaced {counted(done.constraints, 'list')} of permitted values. {result}"
    write(Sheet.of(sys.stdout).prose(result))
    return DONE
