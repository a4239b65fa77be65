"""The command ``redact``: remove personal values from the history of an identifier."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..bindings.stores import open_store
from ..errors import DONE, read_name, write
from ..options import WholeNumber, actor_option, database_option
from ..output import Sheet, format_count

if TYPE_CHECKING:
    from ...bindings.names.actor import Actor


@click.command("redact", short_help="Remove personal values from the history of an identifier.")
@click.argument("identifier", metavar="ID")
@click.option(
    "--revision",
    "revisions",
    metavar="N",
    type=WholeNumber(1),
    multiple=True,
    help="Redact only this change of `ararat history`. Can be repeated.  [default: all, and the binding]",
)
@click.option("--resource", is_flag=True, help="Replace the resource, too. It is the same in all changes.")
@click.option("--reason", metavar="TEXT", help="The reason, for the audit. Do not repeat the removed values.")
@click.option("--prefix", "is_prefix", is_flag=True, help="ID is a prefix: redact the changes of its record.")
@actor_option
@database_option
def redact_command(
    identifier: str,
    revisions: tuple[int, ...],
    resource: bool,
    reason: str | None,
    is_prefix: bool,
    actor: Actor,
    database: str,
) -> int:
    """Remove the metadata, the numbers, the reason, the actor and the source of all changes of the identifier ID.

    Removed values cannot be restored. Target, kind, status and times stay. Entries and proofs of the log stay valid.
    The redaction is a change itself, with the actor of --actor.

    Copies are deleted, too: exported files, answers to forms, replies, the details of checks, changes and imports, and
    uploaded tables with the identifier. Unfinished jobs with the identifier are stopped.

    With --prefix, the command removes the actors and all earlier texts of the record of a prefix, such as its contacts.
    The current record stays.

    Backups and downloaded files can contain the values. Delete them there yourself.

    Exit code: 0 done, 1 not bound, 2 refused, 69 no database.

    \b
      ararat redact ark:12345/x6np1
      ararat redact ark:12345/x6np1 --revision 2
      ararat redact --prefix ark:12345/x6
    """
    from ...bindings.log.prefix_redaction import redact_prefix
    from ...bindings.log.redaction import redact

    if is_prefix and (revisions or resource or reason is not None):
        raise click.UsageError("--prefix redacts the whole record; leave --revision, --resource and --reason out.")
    name = identifier if is_prefix else read_name(identifier)
    with open_store(database) as bindings:
        if is_prefix:
            done = redact_prefix(bindings, identifier, actor=actor)
        else:
            done = redact(bindings, name, revisions=revisions, resource=resource, reason=reason, actor=actor)
    result = f"Redacted {format_count(done.events, 'change')}; {done.logged:,} in the log."
    of = "record" if is_prefix else "name"
    result += f" The {of} was deleted." if done.revision is None else f" The redaction is change {done.revision:,}."
    if done.is_erased is False:
        result += " Another program uses the write-ahead log, which still has the values: run the command again."
    elif done.is_erased is None:
        result += " Run VACUUM to erase the values from the files of PostgreSQL."
    write(Sheet.of(sys.stdout).prose(result))
    return DONE
