"""The command ``mint``: create new opaque names."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from ...bindings.names.prefixes.patterns import CHECKS, Check
from ...identifiers.text import display
from .. import streams
from ..errors import DONE, CommandError, store_errors, write
from ..options import (
    WholeNumber,
    actor_option,
    database_option,
    json_option,
    policy_option,
    strict_option,
    test_naans,
    test_naans_option,
)
from ..output import Sheet
from .names import embargo_option
from .stores import open_store, print_warnings

if TYPE_CHECKING:
    from ...bindings.names.actor import Actor
    from ...bindings.names.fields import Fields
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

_AGENCY = "register it with the ARK Maintenance Agency, or omit --strict"


class _MintCommand(click.Command):
    """The command, for which ``--check`` without a value is ``--check noid``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        following = [*args[1:], ""]
        checks = (*CHECKS, "none")
        return super().parse_args(
            ctx,
            [
                "--check=noid" if arg == "--check" and after not in checks else arg
                for arg, after in zip(args, following, strict=False)
            ],
        )


@click.command("mint", cls=_MintCommand, short_help="Create new opaque identifiers.")
@click.argument("namespace", metavar="PREFIX")
@click.option(
    "--count",
    type=WholeNumber(),
    metavar="N",
    default=1,
    show_default=True,
    help="The number of names, at most 10,000.",
)
@click.option("--length", type=WholeNumber(), metavar="N", help="The number of characters after PREFIX.  [default: 8]")
@click.option(
    "--check",
    type=click.Choice([*CHECKS, "none"]),
    help="Add a check character, which detects typing errors. noid: it covers NAAN and Name. name: it covers the Name "
    "only. nbn: the check digit of URNs below urn:nbn:de:. Without a value: noid.  [default: none]",
)
@click.option("--digits/--no-digits", default=None, help="Use digits only.  [default: --no-digits]")
@click.option("--sequential", is_flag=True, help="Count up instead of choosing at random.")
@click.option("--under-rule", is_flag=True, help="Allow names that a redirect rule already resolves.")
@click.option("--bind", "target", metavar="TARGET", help="Bind the new name to TARGET.")
@click.option(
    "--resource", metavar="TEXT", help="Record TEXT as the resource of the name, such as an inventory number."
)
@click.option(
    "--unless",
    type=click.Choice(["resource"]),
    help="Print the recorded name below PREFIX that has this --resource, and mint one only if there is none.",
)
@embargo_option
@strict_option
@test_naans_option
@policy_option("Refuse the reserved shoulders of this IRI policy.")
@json_option
@actor_option
@database_option
def mint_command(
    namespace: str,
    count: int,
    length: int | None,
    check: Check | Literal["none"] | None,
    digits: bool | None,
    sequential: bool,
    under_rule: bool,
    target: str | None,
    resource: str | None,
    unless: Literal["resource"] | None,
    embargo: str | None,
    strict: bool,
    profile: Profile | None,
    as_json: bool,
    actor: Actor,
    database: str,
) -> int:
    """Create new names below PREFIX, and print them, one a line.

    PREFIX is a NAAN, a shoulder such as 12345/x5 or ark:12345/x5, or the beginning of URNs such as urn:nbn:se:uu:diva-.
    New URNs follow the rules of their namespace. Names consist of the characters 0123456789bcdfghjkmnpqrstvwxz,
    which form no words. The pattern of the prefix record (`ararat prefix`) sets the defaults of --length, --check and
    --digits. Created names are recorded, even if they are never bound. A name that was created, bound or withdrawn is
    never created again.

    Exit code: 0 done, 2 such names cannot be created, 69 no database.
    """
    from ...bindings.checks.new_names import ComparedName, warnings_before
    from ...bindings.minting import mint, read_pattern
    from ...bindings.names import targets
    from ...bindings.names.fields import Fields
    from ...bindings.names.naming import NamingRules
    from ...bindings.names.policy import is_registered

    if target is not None and count != 1:
        raise click.UsageError("--bind needs --count 1; to bind several names, use `ararat import`")
    if resource is not None and (count != 1 or sequential or under_rule or (length, check, digits) != (None,) * 3):
        raise click.UsageError(
            "--resource mints one name by the prefix record; omit --count, --length, --check, --digits, --sequential "
            "and --under-rule"
        )
    if unless and resource is None:
        raise click.UsageError("--unless resource needs --resource TEXT")
    with store_errors():
        pattern = read_pattern(namespace, NamingRules(test_naans=test_naans()))
        # A minted name is used up, so check the target first.
        stored = target and targets.check(target, "located")
    if strict and pattern.is_ark and not is_registered(pattern.naan):
        raise CommandError(f"NAAN {pattern.naan} is not registered", ("Fix", _AGENCY))
    with open_store(database, profile=profile) as bindings:
        if resource is not None:
            _mint_for_thing(
                bindings, namespace, Fields(target=stored, resource=resource, embargo=embargo), unless, actor, as_json
            )
            return DONE
        if stored:
            print_warnings(warnings_before(bindings, [ComparedName("", stored, None)])[0])
        names = mint(
            bindings,
            namespace,
            count=count,
            length=length,
            check=False if check == "none" else check,
            digits=digits,
            sequential=sequential,
            under_rule=under_rule,
            embargo=embargo,
            actor=actor,
        )
        for name in names:
            if target is not None:
                bindings.bind(name, target, embargo=embargo, actor=actor)
            if as_json:
                streams.dump({"identifier": name, "target": target})
        if not as_json:
            _print(names, target)
    return DONE


def _print(names: Sequence[str], target: str | None) -> None:
    arrow = "" if target is None else f" -> {display.percent(target)}"
    write(Sheet.of(sys.stdout).paint(name + arrow) for name in names)


def _mint_for_thing(
    bindings: Bindings,
    namespace: str,
    fields: Fields,
    unless: Literal["resource"] | None,
    actor: Actor,
    as_json: bool,
) -> None:
    """Mint one name with a resource, or find the recorded name that has it, and print the name."""
    from ...bindings.checks.new_names import note_warnings
    from ...bindings.creation import mint_one

    made = mint_one(bindings, namespace, fields, unless=unless, actor=actor.with_end(note_warnings))
    if made.outcome != "exists":
        print_warnings(made.warnings)
    if as_json:
        streams.dump({"identifier": made.after.identifier, "target": made.after.target, "outcome": made.outcome})
    else:
        _print([made.after.identifier], made.after.target)
