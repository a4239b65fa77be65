"""The command ``migrate``: upgrade the database of an older version."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ...bindings.storage.versions import VERSION
from ..bindings.stores import require_database
from ..errors import CANNOT_WRITE, DONE, CommandError, store_errors, write
from ..options import database_option
from ..output import Sheet, format_count
from ..progress import Progress

if TYPE_CHECKING:
    from ...bindings.migration.migrations import IndexPhase


_MANY_NAMES = 20_000
"""The number of names above which the creation of an index takes seconds."""


@click.command("migrate", short_help="Upgrade the database of an older version.")
@click.option("--no-backup", is_flag=True, help="Write no backup of an SQLite file before the upgrade.")
@database_option
def migrate_command(no_backup: bool, database: str) -> int:
    """Upgrade the database of an older version of Ararat. Make a backup first.

    No other command does this. Stop the servers of the older version, migrate, and start the new version. Other writers
    wait while the tables change. If this fails, nothing is changed. Then it creates the missing indexes one after the
    other, and prints a forecast. The new version can be started at the first one. Run the command again if it is
    interrupted there. Before a new version of the schema, an SQLite database is
    copied into a new file beside it. For PostgreSQL, run `ararat backup` before.

    Exit code: 0 the database is up to date, 2 it is newer or not a database of Ararat, 69 no database, 74 the backup
    cannot be written.
    """
    from ...bindings.migration.migrations import migrate

    require_database(database)
    if not no_backup:
        with store_errors():
            _back_up_before(database)
    with store_errors(), Progress() as progress:
        done = migrate(
            database,
            lambda table, rows, total: progress.show(f"{table}: {rows:,} of {total:,} rows"),
            lambda phase: _tell(phase, progress),
        )
    result = f"Migrated the schema from version {done.before} to {done.after}."
    if done.before == done.after:
        result = f"The schema is up to date, version {done.after}."
        if done.indexes:
            result = f"Added {format_count(done.indexes, 'index', 'indexes')} for lists and search. {result}"
        if done.triggers:
            result = f"Added {done.triggers} triggers that protect the tables. {result}"
        if done.constraints:
            result = f"Replaced {format_count(done.constraints, 'list')} of permitted values. {result}"
    write(Sheet.of(sys.stdout).prose(result))
    return DONE


def _tell(phase: IndexPhase, progress: Progress) -> None:
    """Show which index is created, on a terminal; else print it, if there are many names."""
    begun = f"Index {phase.number} of {phase.total}: {phase.name}, {phase.names:,} names"
    left = "" if phase.seconds is None else f", about {max(1, round(phase.seconds / 60))} min left"
    if sys.stderr.isatty():
        progress.show(f"{begun}{left}")
    elif phase.names > _MANY_NAMES:
        text = f"{begun}{left}."
        if phase.number == 1:
            text = f"The tables have version {VERSION}: the servers can be started. {text}"
        write(Sheet.of(sys.stderr).prose(text), to=sys.stderr)


def _back_up_before(database: str) -> None:
    """Write a backup beside an SQLite file whose schema has an older version, and print its name."""
    from ...bindings.backups.backup import back_up
    from ...bindings.migration.migrations import file_to_migrate
    from ...bindings.names.errors import BackupError

    if (file_and_version := file_to_migrate(database)) is None:
        return
    path, version = file_and_version
    file = path.with_name(f"{path.stem}.before-{version + 1}-{datetime.now(UTC):%Y%m%dT%H%M%S}{path.suffix}")
    try:
        back_up(path, file)
    except BackupError as error:
        fix = f"{error.fix}; or back up the database yourself, and add --no-backup"
        raise CommandError(str(error), ("Fix", fix), exit_code=CANNOT_WRITE) from None
    write(Sheet.of(sys.stdout).prose(f"The backup of version {version} is {file}."))
