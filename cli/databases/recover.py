"""The command ``recover``: protect the names that a restored database lacks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, CommandError, write
from ..log.trust import policy_file_option, vkey_option
from ..options import actor_option, database_option, json_option, network_options
from ..output import Sheet, format_count, identifier, words
from .verify import open_newer, print_unknown

if TYPE_CHECKING:
    from ...bindings.backups.recovery import LostName, RecoveryResult
    from ...bindings.names.actor import Actor
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

    What only narrows is carried over: withdrawals, hidden and unlisted names, later embargoes, holds that last,
    delegated and retired prefixes, disabled accounts, newer passwords, ended sessions, revoked tokens, and lost rights.
    All else that differs is listed, as `ararat verify --against` lists it.

    A database of the schema before can be restored after a failed upgrade. It keeps its schema, for the older program.

    A log has no targets. Give its key with --vkey or --policy if its place is a URL. Stop the site first, and run
    `ararat log recover` afterwards if a log is published.

    Exit code: 0 nothing that the newer source knows differs, 1 something differs, 2 the newer source is not valid,
    69 no database.
    """
    from ...bindings.backups.recovery import recover

    with (
        open_store(database, older=True, reading=dry_run) as bindings,
        open_newer(newer, policy_file, vkey, destinations) as source,
    ):
        if newer == database or _is_one_file(bindings.location, source.location):
            raise CommandError(
                "--from names the database itself", ("Fix", "name the newer database, an export or a log")
            )
        result = recover(bindings, source, dry_run=dry_run, actor=actor)
    _print(result, as_json=as_json, dry_run=dry_run)
    return NO if result.differing else DONE


def _is_one_file(*places: str) -> bool:
    """Return whether the URLs of two databases are those of one file of SQLite."""
    here, there = (Path(place.removeprefix("sqlite:///")) for place in places)
    return here.is_file() and there.is_file() and here.samefile(there)


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
    names = format_count(len(result.lost), "public name")
    more = [
        f"{format_count(result.reserved, 'name')} that {'was' if result.reserved == 1 else 'were'} only reserved"
        if result.reserved
        else "",
        format_count(result.settings, "counter or UUID", "counters or UUIDs") if result.settings else "",
        format_count(len(result.narrowed), "restriction") if result.narrowed else "",
    ]
    others = "".join(f", {each}" for each in more if each)
    if dry_run:
        write(sheet.prose(f"Nothing was written. To protect: {names}{others}."))
    else:
        write(sheet.prose(f"Protected: {names}{others}.{' Enter these names again.' if result.lost else ''}"))
        left = len(result.differing)
        write(sheet.prose(f"{left:,} still different." if left else "Nothing that the source knows differs."))
    print_unknown(result.unknown, sheet)


def _row(lost: LostName) -> dict[str, object]:
    binding = lost.binding
    return {
        "identifier": lost.identifier,
        "found": lost.found,
        "status": binding.status if binding else None,
        "target": binding.target if binding else None,
        "resource": binding.resource if binding else None,
    }
