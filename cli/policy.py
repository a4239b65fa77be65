"""``ararat policy``: whether IRIs may be allocated by a policy, and the policies that there are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click

from ..identifiers import iri_policy
from ..identifiers.iri_policy import Profile, Verdict
from . import policy_option, streams
from .errors import DONE, NO, UNREADABLE, write
from .output import Sheet, Style, identifier
from .policy_option import load
from .render.reports import problem_lines

_TOGETHER = 100_000
"""IRIs that are held at once, so that each is judged beside the others."""


@click.group("policy", short_help="Say whether IRIs may be allocated by a policy.")
def policy_command() -> None:
    """Policies on the use of IRIs: what they say of addresses, ARKs and UUIDs, and how they are set."""


_profile_option = click.option(
    "--profile",
    metavar="NAME|FILE",
    default="17beta",
    show_default=True,
    envvar=policy_option.VARIABLE,
    show_envvar=True,
    help="The policy: one that ships, or a file of TOML or JSON.",
)


@policy_command.command("lint", short_help="Say what speaks against some IRIs.")
@_profile_option
@click.option("--complete", is_flag=True, help="They are all there are: say which more general ones are missing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option(
    "--input",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How IRIs are given: as they are, or each as a JSON string, so that any string can be.",
)
@click.argument("iris", metavar="IRI...|-", nargs=-1, required=True)
def lint_command(iris: tuple[str, ...], profile: str, complete: bool, as_json: bool, form: str) -> int:
    """Say of IRIs whether a policy lets them be allocated, in which namespace they are, and what speaks against them.

    With - they are read from standard input, one a line. Of the IRIs of other hosts nothing is said.

    Exit code, the worst of many: 0 nothing to say but advice, 1 findings, 2 an IRI or the profile cannot be read, 66
    there is no such profile.

    \b
      ararat policy lint https://17beta.top/en/
      ararat policy lint --profile ours.toml --complete - < sitemap.txt
    """
    chosen = load(profile)
    worst = DONE
    for number, verdict in enumerate(_verdicts(iris, form, chosen, complete)):
        if verdict is None:
            worst = UNREADABLE
            continue
        worst = max(worst, _code(verdict))
        if as_json:
            streams.dump({"iri": verdict.iri, "in_scope": verdict.in_scope, **verdict.as_dict()})
        else:
            write([""] if number else [])
            write(_lines(verdict, Sheet.of(sys.stdout)))
    return worst


@policy_command.command("show", short_help="Show a policy's settings.")
@_profile_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, which is a profile too.")
def show_command(profile: str, as_json: bool) -> int:
    """Show the settings of a policy: whom it speaks of, and how its rules are set.

    A profile of your own has some of the same keys; it needs a name and hosts.
    """
    settings = load(profile).as_dict()
    if as_json:
        streams.dump(settings)
        return DONE
    for key, value in settings.items():
        # Texts, numbers and lists of texts are written alike in JSON and TOML.
        sys.stdout.write(f"{key} = {json.dumps(value)}\n" if value is not None else f"# no {key}\n")
    return DONE


def _verdicts(iris: tuple[str, ...], form: str, profile: Profile, complete: bool) -> Iterator[Verdict | None]:
    """The verdicts, in the order of the IRIs; None for a line that cannot be read, which is said at once."""
    waiting: list[str] = []
    for given in streams.identifiers(iris, form):
        if given.fault is not None:
            write(Sheet.of(sys.stderr).prose(f"ararat: {given.place}: {given.fault}", style="bad"), to=sys.stderr)
            yield None
            continue
        waiting.append(given.text)
        # All of them, to know what is missing; otherwise as many as fit, so that memory stays bounded.
        if len(waiting) >= _TOGETHER and not complete:
            yield from iri_policy.judge_all(waiting, profile)
            waiting.clear()
    yield from iri_policy.judge_all(waiting, profile, complete=complete)


def _code(verdict: Verdict) -> int:
    if not verdict.readable:
        return UNREADABLE
    return NO if any(found.severity != "note" for found in verdict.findings) else DONE


def _lines(verdict: Verdict, sheet: Sheet) -> Iterator[str]:
    yield from sheet.prose(identifier(verdict.iri), style="strong")
    said, style = _said(verdict)
    yield from sheet.field("Verdict", said, style=style)
    if verdict.in_scope:
        reserved = ("reserved for a resolver",) if verdict.reserved else ()
        yield from sheet.field("Namespace", ", ".join((*verdict.namespaces, *reserved)))
    for found in verdict.findings:
        yield from problem_lines(found, verdict.iri, sheet)


def _said(verdict: Verdict) -> tuple[str, Style]:
    if not verdict.readable:
        return "no IRI", "bad"
    if not verdict.in_scope:
        return f"the policy {verdict.profile} says nothing of it", "soft"
    return ("may be allocated", "good") if verdict.allocatable else ("not to be allocated", "bad")
