"""The command ``recover``: protect the names that a restored database lacks."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, CommandError, write
from ..log.monitor import source_of
from ..log.remote import Client, is_url
from ..log.trust import policy_file_option, trusted, vkey_option
from ..options import actor_option, database_option, json_option, network_options
from ..output import Sheet, counted, identifier, words
from ..progress import Progress
from .verify import opened

if TYPE_CHECKING:
    from ...bindings.backups.recovery import LostName, Newer, RecoveryResult
    from ...bindings.names.actor import Actor
    from ...middleware import Bindings
    from ...net.allowed_addresses import Destinations

_WIDTH = 12


@click.command("recover", short_help="Protect names that a restored database lacks.")
@click.option(
    "--from",
    "newer",
    metavar="FILE|EXPORT|LOG",
    required=True,
    help="What is newer: the replaced database, an export or history, or the URL or folder of the published log.",
)
@click.option("--dry-run", is_flag=True, help="List the names. Write nothing.")
@policy_file_option
@vkey_option
@network_options()
@actor_option
@json_option
@database_option
def recover_command(
    newer: str,
    dry_run: bool,
    policy_file: str | None,
    vkey: str | None,
    destinations: Destinations,
    actor: Actor,
    as_json: bool,
    database: str,
) -> int:
    """Find the names that were public in a newer source and are missing in a restored database, and protect them.

    Such a name could be minted or bound for another resource. The command reserves it: it answers 410, and cannot be
    deleted or minted. Each name is listed, so that it can be entered again with `ararat bind`. Counters advance. Names
    that were only reserved in the newer source are reserved here. The command can be repeated.

    What only narrows is carried over: withdrawals, hidden names, holds that last, delegated and retired prefixes,
    disabled accounts, revoked tokens, and lost rights. All else that differs is listed, as `ararat verify --against`
    lists it.

    A database of the schema before can be restored after a failed upgrade. It keeps its schema, for the older program.

    A log has no targets. Give its key with --vkey or --policy if its place is a URL. Stop the site first, and run
    `ararat log recover` afterwards if a log is published.

    Exit code: 0 nothing that the newer source knows differs, 1 something differs, 2 the newer source is not valid,
    69 no database.
    """
    from ...bindings.backups.recovery import of_store, recover

    if is_url(newer) or Path(newer).is_dir():
        logged = _names_of_log(newer, policy_file, vkey, destinations)
        with open_store(database, older=True, reading=dry_run) as bindings:
            result = recover(bindings, logged, dry_run=dry_run, actor=actor)
    else:
        with open_store(database, older=True, reading=dry_run) as bindings, opened(newer, older=True) as other:
            _refuse_itself(bindings, other)
            result = recover(bindings, of_store(other), dry_run=dry_run, actor=actor)
    _print(result, as_json=as_json, dry_run=dry_run)
    return NO if result.differing else DONE


def _refuse_itself(bindings: Bindings, other: Bindings) -> None:
    if bindings.where == other.where:
        raise CommandError("--from names the database itself", ("Fix", "name the newer database, an export or a log"))


def _names_of_log(place: str, policy_file: str | None, vkey: str | None, destinations: Destinations) -> Newer:
    from ...bindings.backups.recovery import of_log
    from ...bindings.log.errors import LogError
    from ...bindings.log.notes.checkpoints import Checkpoint
    from ...bindings.log.notes.notes import SignedNote

    policy = trusted(policy_file, vkey)
    if policy is None and is_url(place):
        raise click.UsageError("give the key of the log at this URL with --vkey or --policy")
    with closing(Client(destinations)) as client, Progress("entries") as progress:
        source = source_of(place, client)
        try:
            content = source.checkpoint()
            if content is None:
                raise LogError("the log has no checkpoint")
            if policy is None:
                checkpoint = Checkpoint.of_text(SignedNote.of_bytes(content).text)
            else:
                checkpoint = policy.read(content).checkpoint
            return of_log(source, checkpoint, progress.count)
        except LogError as error:
            raise CommandError(f"the log cannot be used: {error}", ("Fix", "give another copy of the log")) from None


def _print(result: RecoveryResult, *, as_json: bool, dry_run: bool) -> None:
    sheet = Sheet.of(sys.stdout)
    for each in result.lost:
        if as_json:
            streams.dump(_row(each))
        else:
            target = each.binding.target if each.binding else None
            sys.stdout.write(f"{sheet.paint(each.found.ljust(_WIDTH), 'error')} {identifier(each.identifier)}\n")
            if target:
                write(sheet.prose(f"was {target}", indent=_WIDTH + 1))
    for what, of in ((each.what, each.of) for each in result.narrowed):
        if as_json:
            streams.dump({"of": of, "carried_over": what})
        else:
            write(sheet.prose(f"{sheet.paint('carried over'.ljust(_WIDTH), 'strong')} {words(of)}: {words(what)}"))
    lost = {each.identifier for each in result.lost}
    for each in result.differing:
        if as_json:
            streams.dump(each._asdict())
        elif each.identifier not in lost:
            sys.stdout.write(f"{sheet.paint(each.code.ljust(_WIDTH), 'error')} {identifier(each.identifier)}\n")
            write(sheet.prose(each.message, indent=_WIDTH + 1))
    if as_json:
        return
    names = counted(len(result.lost), "public name")
    more = [
        f"{counted(result.reserved, 'name')} that {'was' if result.reserved == 1 else 'were'} only reserved"
        if result.reserved
        else "",
        counted(result.settings, "counter or UUID", "counters or UUIDs") if result.settings else "",
        counted(len(result.narrowed), "restriction") if result.narrowed else "",
    ]
    others = "".join(f", {each}" for each in more if each)
    if dry_run:
        write(sheet.prose(f"Nothing was written. To protect: {names}{others}."))
    else:
        write(sheet.prose(f"Protected: {names}{others}.{' Enter these names again.' if result.lost else ''}"))
        left = len(result.differing)
        write(sheet.prose(f"{left:,} still different." if left else "Nothing that the source knows differs."))
    for each in result.unknown:
        write(sheet.prose(f"The source does not know: {each}."))


def _row(lost: LostName) -> dict[str, object]:
    binding = lost.binding
    return {
        "identifier": lost.identifier,
        "found": lost.found,
        "status": binding.status if binding else None,
        "target": binding.target if binding else None,
        "resource": binding.resource if binding else None,
    }
