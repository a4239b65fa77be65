"""The command ``log``: create, publish, check and repair the verifiable log of a database."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store, require_database
from ..errors import DONE, NO, CommandError, store_errors, write
from ..options import database_option, json_option, network_options, test_naans_option
from ..output import Sheet, format_count, words
from .trust import policy_file_option, read_trust_policy

if TYPE_CHECKING:
    from ...bindings.log.witnesses.cosigning import Witnessing
    from ...bindings.storage.store import DatabaseStore
    from ...net.allowed_addresses import Destinations

_folder_option = click.option(
    "--dir",
    "folder",
    metavar="DIR",
    required=True,
    envvar="ARARAT_LOG_FOLDER",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="The folder of the published files.",
)
_key_option = click.option(
    "--key",
    metavar="FILE",
    envvar="ARARAT_LOG_KEY",
    show_envvar=True,
    type=click.Path(path_type=Path),
    help="The file of the secret key, outside of DIR.  [default: DIR.key]",
)


@click.group("log", short_help="Publish a log that proves that names are not re-assigned.")
def log_command() -> None:
    """Publish a log of all changes of names. With it, anyone can check that a name was never re-assigned.

    The log is a folder of files, which any web server can serve. `ararat serve --log /log` serves it, too.
    """


@log_command.command("init", short_help="Create an empty log with its key.")
@click.option(
    "--origin",
    metavar="ORIGIN",
    required=True,
    help="The name of the log: its public address without https://, such as example.org/log.",
)
@_key_option
@_folder_option
@test_naans_option
@database_option
def init_command(origin: str, key: Path | None, folder: Path, database: str) -> int:
    """Create the log of a database: the secret key in FILE, and a first checkpoint in DIR. Print the public key.

    Publish the public key, so that others can check the log. Keep a copy of the secret key in another place. A lost key
    cannot be replaced: a new key begins a new log.

    Exit code: 0 done, 2 refused, 69 no database, 74 the key cannot be written.

    \b
      ararat log init --origin example.org/log --database names.sqlite --dir /var/lib/ararat/log
    """
    from ...bindings.log.folder import LogFolder
    from ...bindings.log.publishing import initialize

    where = _key_path(folder, key)
    with _open_database(database, folder, creates=True) as store:
        public = initialize(store, LogFolder(folder), where, origin)
    sheet = Sheet.of(sys.stdout)
    write([f"{public}"])
    write(sheet.prose(f"The secret key is in {words(str(where))}. Keep a copy of it in another place.", style="soft"))
    return DONE


@log_command.command("publish", short_help="Add the new changes to the log.")
@_key_option
@_folder_option
@policy_file_option
@click.option(
    "--quorum",
    type=click.Choice(["require", "prefer"]),
    default="require",
    show_default=True,
    envvar="ARARAT_LOG_QUORUM",
    show_envvar=True,
    help="Without the quorum of the policy: refuse to publish, or publish and print a warning.",
)
@network_options()
@json_option
@test_naans_option
@database_option
def publish_command(
    key: Path | None,
    folder: Path,
    policy_file: str | None,
    quorum: str,
    destinations: Destinations,
    as_json: bool,
    database: str,
) -> int:
    """Add all changes since the last publication to the log, and sign a checkpoint.

    Run this command regularly, for example each minute. After a crash, run it again. For a file of bindings, the
    changes are the differences to the version that was published before. DIR.sqlite keeps this version.

    The command refuses to sign if the database or DIR is an old copy. Restore the newer copy. If it is lost, run
    `ararat log recover`.

    With --policy, the command requests cosignatures from the witnesses that have a URL in the policy.

    Exit code: 0 done, 1 a line of the file is refused, 2 refused, 69 no database, 74 the folder
    cannot be written.
    """
    from ...bindings.log.folder import LogFolder
    from ...bindings.log.notes.keys import encode
    from ...bindings.log.publishing import publish

    witnessing = _witnessing(policy_file, quorum, destinations)
    with _open_database(database, folder, imports=True) as store:
        done = publish(store, LogFolder(folder), _key_path(folder, key), witnessing)
    for name, reason in done.failures.items():
        write(
            Sheet.of(sys.stderr).prose(f"the witness {words(name)} has not cosigned: {reason}", style="warning"),
            to=sys.stderr,
        )
    if as_json:
        members = {"added": done.added, "size": done.checkpoint.size, "root": encode(done.checkpoint.root)}
        if witnessing is not None:
            members |= {"cosigned": list(done.cosigned), "failures": dict(done.failures)}
        streams.dump(members)
    elif done.added:
        write(
            Sheet.of(sys.stdout).prose(f"{_entries(done.added)} added. The log has {_entries(done.checkpoint.size)}.")
        )
    else:
        write(Sheet.of(sys.stdout).prose(f"Nothing to add. The log has {_entries(done.checkpoint.size)}."))
    return DONE


@log_command.command("status", short_help="Show the state of the log.")
@_folder_option
@json_option
@test_naans_option
@database_option
def status_command(folder: Path, as_json: bool, database: str) -> int:
    """Show the public key, the published entries, and the changes that are not published yet. Change nothing.

    Exit code: 0 everything is published, 1 there are new changes or the folder differs, 2 refused, 69 no database.
    """
    from ...bindings.log.folder import LogFolder
    from ...bindings.log.status import log_status

    with _open_database(database, folder) as store:
        status = log_status(store, LogFolder(folder))
    if as_json:
        streams.dump(status.as_dict())
        return DONE if status.is_complete else NO
    sheet = Sheet.of(sys.stdout)
    write(sheet.field("Key", str(status.key)))
    write(sheet.field("Published", "no checkpoint" if status.published is None else _entries(status.published)))
    write(sheet.field("Recorded", _entries(status.recorded)))
    write(sheet.field("New", format_count(status.new, "change")))
    if status.fault:
        write(sheet.field("Fault", status.fault, style="error"))
    return DONE if status.is_complete else NO


@log_command.command("recover", short_help="Repair a log after the database or the folder was lost.")
@_key_option
@_folder_option
@json_option
@database_option
def recover_command(key: Path | None, folder: Path, as_json: bool, database: str) -> int:
    """Make the database and DIR agree after one of them was restored from an older backup.

    Restore the newest backups first. If DIR is older or damaged, its files are written again. If the database is older,
    the published entries are recorded in it. Changes that are in the log and not in the database are printed: repeat
    them, and publish.

    Exit code: 0 done, 1 the database has lost changes, 2 refused, 69 no database, 74 the folder
    cannot be written.
    """
    from ...bindings.log.folder import LogFolder
    from ...bindings.log.recovery import recover

    with _open_database(database, folder) as store:
        recovery = recover(store, LogFolder(folder), _key_path(folder, key))
    if as_json:
        lost = [{"identifier": name, "revision": revision} for name, revision in recovery.lost]
        streams.dump(
            {"adopted": recovery.adopted, "rebuilt": recovery.rebuilt, "lost": recovery.lost_count, "names": lost}
        )
        return NO if recovery.lost_count else DONE
    sheet = Sheet.of(sys.stdout)
    if recovery.adopted:
        write(sheet.prose(f"Recorded {_entries(recovery.adopted)} of the folder in the database."))
    else:
        write(sheet.prose(f"Wrote the files of {_entries(recovery.rebuilt)}."))
    for name, revision in recovery.lost:
        write(sheet.prose(f"lost: {words(name)}, change {revision}", style="error"))
    if more := recovery.lost_count - len(recovery.lost):
        write(sheet.prose(f"and {more:,} more", style="error"))
    return NO if recovery.lost_count else DONE


def _witnessing(policy_file: str | None, quorum: str, destinations: Destinations) -> Witnessing | None:
    policy = read_trust_policy(policy_file, None)
    if policy is None:
        return None
    from ...bindings.log.witnesses.cosigning import Witnessing
    from .remote import Client

    return Witnessing(policy=policy, send=Client(destinations).post, is_required=quorum == "require")


def _entries(number: int) -> str:
    return format_count(number, "entry", "entries")


def _key_path(folder: Path, key: Path | None) -> Path:
    """Return the path of the key, which must be outside of the folder, because the folder is public."""
    path = folder.with_name(f"{folder.name}.key") if key is None else key
    if path.resolve().is_relative_to(folder.resolve()):
        raise CommandError(
            f"the key file {words(str(path))} is inside of the public folder {words(str(folder))}",
            ("Fix", "give --key the path of a file in another folder"),
        )
    return path


@contextmanager
def _open_database(
    database: str, folder: Path, *, creates: bool = False, imports: bool = False
) -> Iterator[DatabaseStore]:
    """Open a database, or for a file of bindings the database next to the folder that has its published versions.
    With ``creates``, create this database. With ``imports``, record the differences to the file in it.
    """
    from ...bindings.log.folder import LogFolder
    from ...bindings.open import table_file
    from ...bindings.storage.store import DatabaseStore

    table = table_file(database)
    place = database if table is None else str(LogFolder(folder).versions)
    if table is not None:
        require_database(database)
        if not creates and streams.does_not_exist(place):
            raise CommandError(f"{words(database)} has no log in {words(str(folder))}", ("Fix", "run: ararat log init"))
    with open_store(place, create=table is not None and creates) as bindings:
        if table is not None and imports:
            from ...middleware import import_table

            summary = import_table(bindings, table)
            if summary.refused:
                line = summary.refused[0]
                what = f"{words(str(table))}, line {line.line}: {line.message} ({line.code})"
                fix = "correct the file; a published name keeps its resource, and a new target needs the resource"
                raise CommandError(what, ("Fix", fix), exit_code=NO)
        if not isinstance(bindings.store, DatabaseStore):
            raise TypeError("the store of a database is not a file")
        with store_errors():
            yield bindings.store
