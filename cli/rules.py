"""``ararat rule``: where the names of a NAAN or a shoulder lead of which none is bound."""

from __future__ import annotations

import sys

import click

from . import streams
from .errors import DONE, NO, Refused, write
from .names import actor_option, database_option, json_option, opened
from .output import Sheet, identifier, words


@click.group("rule", short_help="Let the names of a NAAN or shoulder lead somewhere by a template.")
def rule_command() -> None:
    """Rules for names that are not bound themselves: the longest prefix counts."""


@rule_command.command("set", short_help="Make or change a rule.")
@click.argument("prefix", metavar="PREFIX")
@click.argument("template", metavar="TEMPLATE")
@click.option("--redirect", type=int, default=302, show_default=True, help="302 or 307.")
@actor_option
@database_option
def set_command(prefix: str, template: str, redirect: int, actor: str, database: str) -> int:
    """Let names that begin with PREFIX lead to TEMPLATE.

    PREFIX is a NAAN or a shoulder, like ark:12345/x5 or 12345/x5. TEMPLATE is an address, or a path of the site, with
    ${content} (NAAN, slash and name), ${pid} (the same after ark:), ${value} (the name) or ${suffix} (what follows the
    shoulder); quote it, or the shell takes these away.

    Prints set, changed (with the rule before) or unchanged. Exit code: 0 done, 2 refused, 69 no database.
    """
    with opened(database) as bindings:
        word = bindings.set_rule(prefix, template, redirect=redirect, actor=actor)
        before = bindings.rule_history(prefix)[-2] if word == "changed" else None
    was = f" (was {identifier(before.template)} ({before.redirect}))" if before and before.template else ""
    write([f"{word} {identifier(prefix)} -> {identifier(template)} ({redirect}){was}"])
    return DONE


@rule_command.command("remove", short_help="Take a rule back.")
@click.argument("prefix", metavar="PREFIX")
@actor_option
@database_option
def remove_command(prefix: str, actor: str, database: str) -> int:
    """Take back the rule for PREFIX; its history stays. Exit code: 0 done, 2 there is none, 69 no database."""
    with opened(database) as bindings:
        bindings.remove_rule(prefix, actor=actor)
    write([f"removed {identifier(prefix)}"])
    return DONE


@rule_command.command("history", short_help="Show all that happened to a rule.")
@click.argument("prefix", metavar="PREFIX")
@json_option
@database_option
def history_command(prefix: str, as_json: bool, database: str) -> int:
    """Show all that happened to the rule for PREFIX, the oldest first; also of one that was removed.

    Exit code: 0 there is something, 1 nothing, 2 PREFIX is none, 69 no database.
    """
    from .render import bindings as records

    with opened(database) as bindings:
        events = bindings.rule_history(prefix)
    if not events:
        raise Refused(f"there was never a rule for {prefix}", ("Next", "ararat rule list"), exit_code=NO)
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
    """List the rules by their prefixes."""
    with opened(database) as bindings:
        rules = bindings.rules()
    sheet = Sheet.of(sys.stdout)
    for rule in rules:
        if as_json:
            streams.dump(rule.as_dict())
        else:
            by = f", by {words(rule.actor)}" if rule.actor else ""
            line = f"{identifier(rule.prefix)} -> {identifier(rule.template)} ({rule.redirect}{by})"
            write(sheet.prose(line))
    return DONE
