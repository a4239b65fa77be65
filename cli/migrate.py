"""``ararat migrate``: a database of an older Ararat, brought up to date."""

from __future__ import annotations

import sys

import click

from .errors import DONE, store_errors, write
from .names import database_option, require_database
from .output import Sheet


@click.command("migrate", short_help="Bring a database of an older Ararat up to date.")
@database_option
def migrate_command(database: str) -> int:
    """Bring a database that an older Ararat made up to date, all or nothing. Make a backup first.

    No server does this by itself: stop those of the older Ararat, migrate, and start the new one. Who writes meanwhile
    waits; two that migrate at once take turns.

    Exit code: 0 the database is up to date, 2 it is newer or not one of Ararat's, 69 no database.
    """
    from ..middleware.storage.migrations import migrate

    require_database(database)
    with store_errors():
        before, after, triggers, keys = migrate(database)
    said = f"Migrated from version {before} of the schema to {after}." if before < after else f"Up to date: {after}."
    if before == after and triggers:
        said = f"Added {triggers} triggers that protect the tables. {said}"
    if keys:
        said += f" Rewrote the keys of {keys} URNs by the rules of their namespaces."
    write(Sheet.of(sys.stdout).prose(said))
    return DONE
