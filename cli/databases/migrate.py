"""The command ``migrate``: upgrade the database of an older version."""

from __future__ import annotations

import sys

import click

from ..bindings.stores import require_database
from ..errors import DONE, store_errors, write
from ..options import database_option
from ..output import Sheet


@click.command("migrate", short_help="Upgrade the database of an older version.")
@database_option
def migrate_command(database: str) -> int:
    """Upgrade the database of an older version of Ararat. Make a backup first.

    No other command does this. Stop the servers of the older version, migrate, and start the new version. Other writers
    wait during the upgrade. If it fails, nothing is changed.

    Exit code: 0 the database is up to date, 2 it is newer or not a database of Ararat, 69 no database.
    """
    from ...middleware.storage.migration.migrations import migrate

    require_database(database)
    shows = sys.stderr.isatty()
    with store_errors():
        try:
            before, after, triggers, keys, indexes = migrate(database, _show_progress if shows else None)
        finally:
            if shows:
                sys.stderr.write("\r\x1b[K")
    result = f"Migrated the schema from version {before} to {after}."
    if before == after:
        result = f"The schema is up to date, version {after}."
        if indexes:
            result = f"Added {indexes} {'index' if indexes == 1 else 'indexes'} for lists and search. {result}"
        if triggers:
            result = f"Added {triggers} triggers that protect the tables. {result}"
    if keys:
        result += f" Rewrote the keys of {keys} URNs by the rules of their namespaces."
    write(Sheet.of(sys.stdout).prose(result))
    return DONE


def _show_progress(table: str, rows: int, total: int) -> None:
    sys.stderr.write(f"\r\x1b[K{table}: {rows:,} of {total:,} rows")
    sys.stderr.flush()
