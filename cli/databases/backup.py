"""The command ``backup``: copy a database into a file while names are written, or check such a file."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import require_database
from ..errors import CANNOT_WRITE, DONE, NO, NO_INPUT, CommandError, store_errors, write
from ..options import json_option, optional_database_option
from ..output import Sheet, format_count
from ..progress import Progress

if TYPE_CHECKING:
    from ...bindings.backups.backup import Backup

_HOURS = {"h": 1, "d": 24}


def _read_hours(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    if not (match := re.fullmatch(r"([1-9][0-9]{0,4})([hd])", value)):
        raise click.BadParameter(f"{value!r} is not a number of hours or days; write 36h or 2d", ctx, param)
    return int(match[1]) * _HOURS[match[2]]


@click.command("backup", short_help="Copy a database into a file while names are written.")
@click.argument("file", metavar="FILE")
@click.option("--check", is_flag=True, help="Verify the existing backup FILE. Write nothing.")
@click.option(
    "--max-age",
    metavar="AGE",
    callback=_read_hours,
    help="With --check: refuse a backup that is older than AGE, such as 36h or 2d.",
)
@click.option(
    "--pg-dump",
    "program",
    metavar="PROGRAM",
    help="The pg_dump for a PostgreSQL database.  [default: the one that fits the server]",
)
@json_option
@optional_database_option
def backup_command(
    file: str, check: bool, max_age: int | None, program: str | None, as_json: bool, database: str | None
) -> int:
    """Copy a database into FILE while names are written, and verify the copy.

    The copy has all names that were acknowledged before the command began. FILE is replaced only by a whole, verified
    copy, which other users cannot read. SQLite is copied in one read transaction. PostgreSQL is dumped by pg_dump in
    its custom format. The database records the time of the backup, and a failure, for `ararat digest`.

    --check verifies FILE: the history of all names of SQLite, or the whole dump of PostgreSQL. Its age is the time of
    the file. So keep this time in copies (cp --preserve, rsync --times).

    Exit code: 0 done, 1 FILE or the copy is damaged or too old, 66 FILE cannot be read, 69 no database, 74 FILE cannot
    be written.
    """
    from ...bindings.backups.backup import back_up, check_backup, record
    from ...bindings.names.errors import BackupError, BindingError, BindingsUnavailable

    if max_age is not None and not check:
        raise click.UsageError("--max-age needs --check")
    with Progress() as progress:
        if check:
            try:
                backup = check_backup(file, progress=progress.show)
            except BackupError as error:
                raise CommandError(
                    str(error), ("Fix", error.fix), exit_code=NO_INPUT if error.is_file else NO
                ) from None
            return _report(backup, file, as_json=as_json, is_check=True, max_age=max_age)
        if database is None:
            raise click.UsageError("Missing option '--database' (or the variable ARARAT_DATABASE).")
        require_database(database)
        try:
            with store_errors():
                result = back_up(database, file, program=program, progress=progress.show)
        except (BackupError, CommandError) as error:
            # A database that cannot be written is the reason of the failure, or a log of the site tells it.
            with suppress(BindingError, BindingsUnavailable):
                record(database, None, str(error))
            if isinstance(error, CommandError):
                raise
            code = CANNOT_WRITE if error.is_file else NO
            raise CommandError(str(error), ("Fix", error.fix), exit_code=code) from None
    try:
        record(database, result)
    except (BindingError, BindingsUnavailable) as error:
        reason = str(error).partition("\n")[0]
        warning = f"ararat: warning: the backup is complete, but the database cannot record it: {reason}"
        write(Sheet.of(sys.stderr).prose(warning, style="warning"), to=sys.stderr)
    return _report(result, file, as_json=as_json)


def _report(backup: Backup, file: str, *, as_json: bool, is_check: bool = False, max_age: int | None = None) -> int:
    from ...bindings.collection import utc_now
    from ...bindings.names.binding import rfc3339

    hours = max(0.0, backup.age(utc_now()))
    is_old = max_age is not None and hours > max_age
    if as_json:
        streams.dump(
            {
                "file": str(backup.file),
                "time": rfc3339(backup.began),
                "names": backup.names,
                "bytes": backup.size,
                "hours": round(hours, 2),
                "ok": not is_old,
            }
        )
        return NO if is_old else DONE
    names = "a database of an older version" if backup.names is None else format_count(backup.names, "name")
    when = f" of {backup.began:%Y-%m-%d %H:%M:%S} UTC" if is_check else ""
    write(Sheet.of(sys.stdout).prose(f"{file}: {names}{when}. Verified."))
    if is_old:
        raise CommandError(
            f"the backup is {_age(hours)} old",
            ("Expected", f"at most {_age(max_age or 0)}"),
            ("Fix", "find out why no newer backup was made, such as with: journalctl -u ararat-backup"),
            exit_code=NO,
        )
    return DONE


def _age(hours: float) -> str:
    return format_count(round(hours / 24), "day") if hours >= 72 else format_count(round(hours), "hour")
