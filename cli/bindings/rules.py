"""The command ``rule``: manage rules, which redirect the unbound names of a prefix."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, NO, CommandError, write
from ..options import WholeNumber, actor_option, database_option, json_option, test_naans_option
from ..output import Sheet, identifier, words
from .stores import open_store

if TYPE_CHECKING:
    from ...bindings.names.actor import Actor


@click.group("rule", short_help="Manage redirect rules for a prefix.")
def rule_command() -> None:
    """Manage redirect rules. A rule redirects all unbound names below a NAAN, a shoulder or
    the beginning of URNs.

    If several prefixes match a name, the rule of the longest prefix applies.
    """


@rule_command.command("set", short_help="Add or change a rule.")
@click.argument("prefix", metavar="PREFIX")
@click.argument("template", metavar="TEMPLATE")
@click.option(
    "--redirect",
    type=WholeNumber(),
    metavar="STATUS",
    default=302,
    show_default=True,
    help="The status of the redirect, 302 or 307.",
)
@actor_option
@test_naans_option
@database_option
def set_command(prefix: str, template: str, redirect: int, actor: Actor, database: str) -> int:
    """Redirect unbound names that begin with PREFIX to TEMPLATE.

    PREFIX is a NAAN or a shoulder, such as 12345 or ark:12345/x5, or the beginning of URNs, such as urn:nbn:se:uu:.
    TEMPLATE is a URL, or a path of the site. It can contain ${pid} (the whole name), ${content} (the same without ark:
    or urn:), ${value} (the same without the NAAN or URN namespace) or ${suffix} (what follows PREFIX). Quote TEMPLATE,
    or the shell replaces these parts.

    Prints set, changed (with the rule before) or unchanged. Exit code: 0 done, 2 refused, 69 no database.
    """
    with open_store(database) as bindings:
        outcome = bindings.rules.set(prefix, template, redirect=redirect, actor=actor)
        *earlier, now = bindings.rules.history(prefix)
    before = earlier[-1] if outcome == "changed" else None
    # The variables of other resolvers, such as $id, are recorded under their names here.
    recorded = now.template or template
    was = f" (was {identifier(before.template)} ({before.redirect}))" if before and before.template else ""
    write([f"{outcome} {identifier(prefix)} -> {identifier(recorded)} ({redirect}){was}"])
    return DONE


@rule_command.command("remove", short_help="Remove a rule.")
@click.argument("prefix", metavar="PREFIX")
@actor_option
@test_naans_option
@database_option
def remove_command(prefix: str, actor: Actor, database: str) -> int:
    """Remove the redirect rule for PREFIX. Its history is kept. Exit code: 0 done, 2 no such rule, 69 no database."""
    with open_store(database) as bindings:
        bindings.rules.remove(prefix, actor=actor)
    write([f"removed {identifier(prefix)}"])
    return DONE


@rule_command.command("history", short_help="Show all changes of a rule.")
@click.argument("prefix", metavar="PREFIX")
@json_option
@test_naans_option
@database_option
def history_command(prefix: str, as_json: bool, database: str) -> int:
    """Show all changes of the redirect rule for PREFIX, the oldest first.

    The history of a removed rule is kept.

    Exit code: 0 changes found, 1 no changes found, 2 PREFIX is not valid, 69 no database.
    """
    from ..render import bindings as records

    with open_store(database, reading=True) as bindings:
        events = bindings.rules.history(prefix)
    if not events:
        raise CommandError(
            f"{prefix} has no rule and never had one", ("Fix", "to list rules, run: ararat rule list"), exit_code=NO
        )
    for event in events:
        if as_json:
            streams.dump(event.as_dict())
        else:
            write(records.rule_event_lines(event, Sheet.of(sys.stdout)))
    return DONE


@rule_command.command("list", short_help="List the rules.")
@json_option
@database_option
def list_command(as_json: bool, database: str) -> int:
    """List the redirect rules, sorted by prefix, with their templates."""
    with open_store(database, reading=True) as bindings:
        rules = bindings.rules.list()
    sheet = Sheet.of(sys.stdout)
    for rule in rules:
        if as_json:
            streams.dump(rule.as_dict())
        else:
            by = f", by {words(rule.actor)}" if rule.actor else ""
            line = f"{identifier(rule.prefix)} -> {identifier(rule.template)} ({rule.redirect}{by})"
            write(sheet.prose(line))
    return DONE
