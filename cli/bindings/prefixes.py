"""The command ``prefix``: manage the records that describe prefixes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ...bindings.names.prefixes.texts import TEXTS
from .. import streams
from ..errors import DONE, NO, CommandError, write
from ..options import actor_option, database_option, json_option, policy_option, test_naans_option
from ..output import Sheet, identifier, words
from .bulk import atomic_option, dry_run_option, run_bulk
from .stores import open_accounts, open_store

if TYPE_CHECKING:
    from ...bindings.collection import Bindings
    from ...bindings.names.actor import Actor


@click.group("prefix", short_help="Manage the records of prefixes.")
def prefix_command() -> None:
    """Manage prefix records. A record describes a beginning of names: a NAAN, a shoulder, or the beginning of URNs.

    The resolver shows a record at the address of its prefix, such as /ark:12345/x5. Names without a persistence
    statement inherit that of the longest prefix that has one.
    """


def _text_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add an option for each text of a record."""
    for text in reversed(TEXTS):
        if text.group:
            choices = click.Choice([value for value, _ in text.choices]) if text.choices else None
            metavar = None if choices else text.metavar
            option = click.option(f"--{text.name.replace('_', '-')}", type=choices, metavar=metavar, help=text.option)
            command = option(command)
    return command


@prefix_command.command("set", short_help="Add or change a record.")
@click.argument("prefix", metavar="PREFIX")
@_text_options
@click.option("--ask", is_flag=True, help="Ask the questions of a policy, show the record, and ask before saving.")
@actor_option
@test_naans_option
@database_option
def set_command(prefix: str, ask: bool, actor: Actor, database: str, **texts: Any) -> int:
    """Record texts about PREFIX: a NAAN or a shoulder, such as 12345 or ark:12345/x5, or the beginning of URNs, such as
    urn:nbn:se:uu:.

    Only the given texts change. An empty TEXT deletes the recorded one. Without --state, a new record is active: names
    are minted here.

    Prints set, changed or unchanged. Exit code: 0 done, 1 not saved after --ask, 2 refused, 69 no database.

    \b
      ararat prefix set 12345/x5 --what Maps --statement 'We keep these names permanently.'
    """
    with open_store(database) as bindings:
        if ask and not _ask(bindings, prefix, texts):
            write(["nothing is saved"])
            return NO
        outcome = bindings.prefixes.set(prefix, **texts, actor=actor)
    write([f"{outcome} {identifier(prefix)}"])
    return DONE


def _ask(bindings: Bindings, prefix: str, texts: dict[Any, str | None]) -> bool:
    """Ask for the texts of the policy, show the public record, and return whether to save it."""
    from ...bindings.names.metadata import persistence
    from ...bindings.names.prefixes import prefixes
    from ...middleware.views.prefix import describe_prefix

    key = prefixes.check_prefix(prefix, bindings.naming)
    recorded = bindings.prefixes.get(key)
    recorded_texts: dict[Any, str] = dict(recorded.texts) if recorded else {}
    for text in sorted(TEXTS, key=lambda each: each.rank):
        if not text.asked:
            continue
        field = text.name
        for term, definition in persistence.TERMS.get(field, {}).items():
            click.echo(f"  {term}: {definition}", err=True)
        default = texts[field] if texts[field] is not None else recorded_texts.get(field, "")
        texts[field] = click.prompt(text.asked, default=default, err=True)
    checked = prefixes.check(key, texts)
    result = {field: text for field, text in (recorded_texts | checked).items() if text}
    inherited = prefixes.PrefixRecords(bindings.prefixes.list())
    record = prefixes.record(key, result, changed=bindings.now())
    view = describe_prefix(record, "", inherited.statements(key, record.statements))
    click.echo(view.as_text().decode(), err=True)
    return click.confirm("Publish this record?", err=True)


@prefix_command.command("show", short_help="Show a record.")
@click.argument("prefix", metavar="PREFIX")
@json_option
@test_naans_option
@database_option
def show_command(prefix: str, as_json: bool, database: str) -> int:
    """Show the record of PREFIX, and the redirect rule of the same prefix.

    Exit code: 0 found, 1 no record, 2 PREFIX is not valid, 69 no database.
    """
    from ..render import bindings as records

    with open_store(database, reading=True) as bindings:
        record = bindings.prefixes.get(prefix)
    if record is None:
        raise CommandError(f"{prefix} has no record", ("Fix", "to list records, run: ararat prefix list"), exit_code=NO)
    if as_json:
        streams.dump(record.as_dict())
    else:
        write(records.prefix_lines(record, Sheet.of(sys.stdout)))
    return DONE


@prefix_command.command("list", short_help="List the records.")
@json_option
@database_option
def list_command(as_json: bool, database: str) -> int:
    """List the prefixes that have a record, in order, with the kind of things that their names identify."""
    with open_store(database, reading=True) as bindings:
        records = bindings.prefixes.list()
    sheet = Sheet.of(sys.stdout)
    for record in records:
        if as_json:
            streams.dump(record.as_dict())
        else:
            about = record.what or record.who
            state = "" if record.state == "active" else f"  {record.state}"
            write(sheet.prose(f"{identifier(record.prefix)}{f'  {words(about, most=200)}' if about else ''}{state}"))
    return DONE


@prefix_command.command("succeed", short_help="Make another institution responsible.")
@click.argument("prefix", metavar="PREFIX")
@click.option("--to", "institution", metavar="INSTITUTION", required=True, help="The institution after this.")
@click.option("--contact", metavar="TEXT", help="Its contact.  [default: the prefix has no contact]")
@click.option(
    "--account",
    "accounts",
    metavar="NAME",
    multiple=True,
    help="An account of the institution. It gets the grant of PREFIX, and other accounts lose theirs. Repeat the "
    "option for several accounts.  [default: all grants stay]",
)
@click.option("--dry-run", is_flag=True, help="Print the changes. Write nothing.")
@json_option
@actor_option
@test_naans_option
@database_option
def succeed_command(
    prefix: str,
    institution: str,
    contact: str | None,
    accounts: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    actor: Actor,
    database: str,
) -> int:
    """Make INSTITUTION responsible for PREFIX, with its contact and the grants of its accounts. No name changes.

    The record keeps the earlier institution, and its public page shows it. The history has every change.

    Exit code: 0 done, 1 no such account, 2 PREFIX is not valid, 69 no database.

    \b
      ararat prefix succeed 12345/x5 --to 'State Archive' --contact arks@archive.example --account archive
    """
    from ...webapp.management.succession import succeed
    from ..render import bindings as records

    with open_accounts(database) as opened:
        done = succeed(opened, prefix, institution, contact=contact, heirs=accounts, dry_run=dry_run, actor=actor)
    if as_json:
        streams.dump(done.as_dict())
    else:
        write(records.succession_lines(done, Sheet.of(sys.stdout)))
    return DONE


@prefix_command.command("depart", short_help="Retire a prefix and move all its names to another resolver.")
@click.argument("prefix", metavar="PREFIX")
@click.option(
    "--resolver",
    metavar="TEMPLATE",
    required=True,
    help="The other resolver: the address to which a name is appended, or a template as for `ararat rule set`.",
)
@atomic_option
@dry_run_option
@json_option
@policy_option("Refuse changes that break this IRI policy.")
@actor_option
@test_naans_option
@database_option
def depart_command(prefix: str, resolver: str, **options: Any) -> int:
    """Retire PREFIX, move the targets of all its names, and set its rule, so that the leaver has nothing more to do.

    No name changes. Names without a target keep their description, and withdrawn names stay withdrawn. The move is one
    operation, which `ararat undo` takes back. The prefix stays retired.

    Exit code: 0 done, 1 names are refused, 2 not valid, 69 no database.

    \b
      ararat prefix depart 12345/x5 --resolver 'https://new.example/${pid}' --dry-run
    """
    from ...bindings.operations.departure import depart

    return run_bulk(run=lambda bindings, **rest: depart(bindings, prefix, resolver, **rest), **options)


@prefix_command.command("remove", short_help="Remove a record.")
@click.argument("prefix", metavar="PREFIX")
@actor_option
@test_naans_option
@database_option
def remove_command(prefix: str, actor: Actor, database: str) -> int:
    """Remove the record of PREFIX. Its history and its redirect rule are kept.

    Exit code: 0 done, 2 no such record, 69 no database.
    """
    with open_store(database) as bindings:
        bindings.prefixes.remove(prefix, actor=actor)
    write([f"removed {identifier(prefix)}"])
    return DONE


@prefix_command.command("history", short_help="Show all changes of a record.")
@click.argument("prefix", metavar="PREFIX")
@json_option
@test_naans_option
@database_option
def history_command(prefix: str, as_json: bool, database: str) -> int:
    """Show all changes of the record of PREFIX, the oldest first.

    The history of a removed record is kept.

    Exit code: 0 changes found, 1 no changes found, 2 PREFIX is not valid, 69 no database.
    """
    from ..render import bindings as records

    with open_store(database, reading=True) as bindings:
        events = bindings.prefixes.history(prefix)
    if not events:
        fix = "to list records, run: ararat prefix list"
        raise CommandError(f"{prefix} has no record and never had one", ("Fix", fix), exit_code=NO)
    for event in events:
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(records.prefix_event_lines(event, Sheet.of(sys.stdout)))
    return DONE
