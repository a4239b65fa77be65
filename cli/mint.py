"""``ararat mint``: new names for a collection, opaque and never made twice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..identifiers.text import display
from . import streams
from .errors import DONE, Refused, store_errors, write
from .names import actor_option, database_option, json_option, opened
from .output import Sheet
from .policy_option import policy_option

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile

_AGENCY = "register it with the ARK Maintenance Agency, or leave --strict out"


@click.command("mint", short_help="Make new names that nobody used.")
@click.argument("namespace", metavar="NAAN[/SHOULDER]")
@click.option("--count", type=int, default=1, show_default=True, help="How many, at most 10,000; all or none.")
@click.option("--length", type=int, default=8, show_default=True, help="Characters after the shoulder.")
@click.option("--check", is_flag=True, help="Add a NOID check character, which finds mistyped names.")
@click.option("--digits", is_flag=True, help="Digits only.")
@click.option("--sequential", is_flag=True, help="Number them instead of drawing them at random.")
@click.option("--under-rule", is_flag=True, help="Make names that a rule answers already, too.")
@click.option("--bind", "target", metavar="TARGET", help="Bind the one new name to TARGET.")
@click.option("--strict", is_flag=True, help="Refuse a NAAN that is not registered, which is only warned of otherwise.")
@policy_option(also=", whose reserved shoulders are refused")
@json_option
@actor_option
@database_option
def mint_command(
    namespace: str,
    count: int,
    length: int,
    check: bool,
    digits: bool,
    sequential: bool,
    under_rule: bool,
    target: str | None,
    strict: bool,
    profile: Profile | None,
    as_json: bool,
    actor: str,
    database: str,
) -> int:
    """Make new names under a NAAN or a shoulder, and print them, one a line.

    The prefix may begin with ark:, as in ark:12345/x5. Names are of the characters 0123456789bcdfghjkmnpqrstvwxz, which
    make no words. What was made is on record, bound or not, and is never made again; nor is a name that was ever bound
    or withdrawn. A name that a rule answers already is made only with --under-rule.

    Exit code: 0 done, 2 no such names can be made, 69 no database.
    """
    from ..middleware.bindings import targets
    from ..middleware.bindings.minting import is_registered, mint, read_pattern

    if target is not None and count != 1:
        raise click.UsageError("--bind binds one name; leave --count out, or bind the names by ararat import")
    with store_errors():
        naan = read_pattern(namespace, length=length, check=check, digits=digits).naan
        if target is not None:
            # A name is spent by being made: better to know before.
            targets.check(target, "located")
    if strict and not is_registered(naan):
        raise Refused(f"NAAN {naan} is not registered", ("Next", _AGENCY))
    with opened(database, profile=profile) as bindings:
        names = mint(
            bindings,
            namespace,
            count=count,
            length=length,
            check=check,
            digits=digits,
            sequential=sequential,
            under_rule=under_rule,
            actor=actor,
        )
        for name in names:
            if target is not None:
                bindings.bind(name, target, actor=actor)
            if as_json:
                streams.dump({"identifier": name, "target": target})
        if not as_json:
            arrow = "" if target is None else f" -> {display.percent(target)}"
            write(Sheet.of(sys.stdout).paint(name + arrow) for name in names)
    return DONE
