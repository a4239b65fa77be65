"""The command ``policy``: check IRIs against an IRI policy, and show the settings of a policy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click

from ...identifiers import iri_policy
from ...identifiers.iri_policy import Profile, Verdict
from .. import streams
from ..errors import DONE, NO, UNREADABLE, write
from ..options import Number, WholeNumber, check_file, input_option, json_option, policy_option
from ..output import Sheet, Style, identifier
from ..render.reports import problem_lines

_TOGETHER = 100_000
"""The number of IRIs that are checked together, so that each is compared with the others."""


@click.group("policy", short_help="Check IRIs against an IRI policy.")
def policy_command() -> None:
    """Check URLs, ARKs and UUIDs against an IRI policy, and show the settings of a policy."""


_policy_option = policy_option("The policy.", default="17beta", show_default=True)


@policy_command.command("lint", short_help="Check IRIs against an IRI policy.")
@_policy_option
@click.option("--complete", is_flag=True, help="Treat the IRIs as all IRIs of the site, and report missing parents.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@input_option
@click.argument("iris", metavar="IRI...|-", nargs=-1, required=True)
def lint_command(iris: tuple[str, ...], profile: Profile, complete: bool, as_json: bool, form: str) -> int:
    """Report whether a policy permits each IRI, its namespace, and the rules that it breaks.

    With -, read IRIs from standard input, one a line. IRIs of other hosts are not checked.

    Exit code, the highest of all: 0 no findings or only notes, 1 findings, 2 an IRI or the policy is not valid, 66 the
    policy does not exist.

    \b
      ararat policy lint https://17beta.top/en/
      ararat policy lint --policy ours.toml --complete - < sitemap.txt
    """
    worst = DONE
    for number, verdict in enumerate(_verdicts(iris, form, profile, complete)):
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


@policy_command.command("check", short_help="Check the pages of a running site.")
@click.argument("url", metavar="URL")
@click.argument("file", metavar="[FILE|-]", required=False)
@policy_option("The policy.", default="museum", show_default=True)
@click.option("--sitemap", is_flag=True, help="Check all pages of the sitemaps of the site.")
@click.option(
    "--state",
    metavar="FILE",
    callback=check_file,
    help="Keep the URLs in FILE, and report those that work no more or have moved since an earlier check.",
)
@click.option(
    "--limit",
    type=WholeNumber(1, 50_000),
    default=1000,
    show_default=True,
    help="The maximum number of URLs to request.",
)
@click.option(
    "--pause", type=Number(0, 60), metavar="SECONDS", default=0, show_default=True, help="Wait between two requests."
)
@click.option("--junit", metavar="FILE", callback=check_file, help="Write a JUnit report for a build server to FILE.")
@json_option
def check_command(
    url: str,
    file: str | None,
    profile: Profile,
    sitemap: bool,
    state: str | None,
    limit: int,
    pause: float,
    junit: str | None,
    as_json: bool,
) -> int:
    """Request the pages of a running site, and report what breaks its URL policy.

    The pages are the start page, those of the sitemaps (--sitemap), those in FILE, one URL, path or identifier a line,
    and those of earlier checks (--state). The command reports permanent redirects where the policy wants temporary
    ones, technology in URLs, URLs that changed since an earlier check, pages that do not work, and reserved paths
    (/ark:, /urn:, /.well-known/ark) that another application answers.

    No redirect is followed and no other host gets a request. robots.txt is obeyed, with the name ararat. Up to four
    requests are sent at once. A built-in policy is applied to the host of URL. The pages of a copy at 127.0.0.1 or at
    another host are checked as those of the first host of the policy.

    Exit code: 0 no findings or only notes, 1 findings, 2 the policy, a sitemap or the state file is not valid, 66 a
    file cannot be read, 69 the site does not answer, 74 a file cannot be written.

    \b
      ararat policy check https://museum.example --policy ours.toml --sitemap --state urls.json
    """
    from ..sites.policy import check_policy
    from ..sites.requests import RunningSite

    return check_policy(
        RunningSite(url, pause=pause),
        profile,
        is_ready=profile.name in iri_policy.SHIPPED and profile == iri_policy.built_in(profile.name),
        sitemap=sitemap,
        file=file,
        state=state,
        most=limit,
        as_json=as_json,
        junit=junit,
    )


@policy_command.command("show", short_help="Show the settings of a policy.")
@_policy_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, which is a valid policy file.")
def show_command(profile: Profile, as_json: bool) -> int:
    """Show the settings of a policy as TOML.

    To write your own policy, set some of the same keys. The keys name and hosts are required.
    """
    settings = profile.as_dict()
    if as_json:
        streams.dump(settings)
        return DONE
    tables = {key: value for key, value in settings.items() if isinstance(value, dict)}
    for key, value in settings.items():
        # JSON and TOML write texts, numbers and lists of texts alike.
        if key not in tables:
            sys.stdout.write(f"{key} = {json.dumps(value)}\n" if value is not None else f"# {key} is not set\n")
    # The keys of TOML after a table belong to it.
    for key, table in tables.items():
        sys.stdout.write(f"\n[{key}]\n" + "".join(f"{code} = {json.dumps(each)}\n" for code, each in table.items()))
    return DONE


def _verdicts(iris: tuple[str, ...], form: str, profile: Profile, complete: bool) -> Iterator[Verdict | None]:
    """Yield the verdicts in the order of the IRIs. For a line that cannot be read, print an error and yield None."""
    waiting: list[str] = []
    for line in streams.identifiers(iris, form):
        if line.fault is not None:
            write(Sheet.of(sys.stderr).prose(f"ararat: {line.place}: {line.fault}", style="error"), to=sys.stderr)
            yield None
            continue
        waiting.append(line.text)
        # Only --complete needs all IRIs at once. Otherwise the batches bound the memory.
        if len(waiting) >= _TOGETHER and not complete:
            yield from iri_policy.evaluate_all(waiting, profile)
            waiting.clear()
    yield from iri_policy.evaluate_all(waiting, profile, complete=complete)


def _code(verdict: Verdict) -> int:
    if not verdict.readable:
        return UNREADABLE
    return NO if any(each.severity != "note" for each in verdict.findings) else DONE


def _lines(verdict: Verdict, sheet: Sheet) -> Iterator[str]:
    yield from sheet.prose(identifier(verdict.iri), style="strong")
    words, style = _verdict_words(verdict)
    yield from sheet.field("Verdict", words, style=style)
    if verdict.in_scope:
        reserved = ("reserved for a resolver",) if verdict.reserved else ()
        yield from sheet.field("Namespace", ", ".join((*verdict.namespaces, *reserved)))
    for finding in verdict.findings:
        yield from problem_lines(finding, verdict.iri, sheet)


def _verdict_words(verdict: Verdict) -> tuple[str, Style]:
    if not verdict.readable:
        return "not a valid IRI", "error"
    if not verdict.in_scope:
        return f"not covered by the policy {verdict.profile}", "soft"
    return ("permitted", "good") if verdict.allocatable else ("not permitted", "error")
