"""The command ``check``: find problems in the bindings of a database."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from ...bindings.tables import spreadsheet
from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, write
from ..options import (
    Number,
    check_file,
    json_option,
    naans_option,
    network_options,
    optional_database_option,
    policy_option,
    test_naans_option,
)
from ..output import Sheet, identifier

if TYPE_CHECKING:
    from ...bindings.checks.name_findings import NameFinding
    from ...identifiers.iri_policy import Profile
    from ...net.allowed_addresses import Destinations

_WIDTH = 18


@click.command("check", short_help="Find problems in the bindings.")
@click.argument("file", metavar="[FILE|-]", required=False)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with column names in the first line.")
@naans_option
@click.option(
    "--prefix", "prefixes", metavar="URL", multiple=True, help="A resolver prefix of this site. Can be repeated."
)
@click.option(
    "--url", metavar="URL", help="Ask the running site at URL for each name of FILE, and compare the answers."
)
@click.option(
    "--junit", metavar="FILE", callback=check_file, help="With --url: write a JUnit report for a build server to FILE."
)
@click.option(
    "--promises",
    is_flag=True,
    help="Check only the names that are promised as persistent: dead, withdrawn without a reason, or on another host.",
)
@click.option("--trace", "tracing", is_flag=True, help="Resolve each identifier over the network.")
@click.option(
    "--resume",
    metavar="FILE",
    callback=check_file,
    help="With --trace: keep results in FILE, and skip those that it contains.",
)
@click.option(
    "--pause",
    type=Number(0, 60),
    metavar="SECONDS",
    help="Wait between two requests to the same host.  [default: 1; with --url 0]",
)
@click.option(
    "--resolver",
    metavar="URL",
    help="With --trace: the resolver prefix. 'registry' selects the known resolver of each identifier.  "
    "[default: the database for its own identifiers, https://n2t.net for others]",
)
@network_options(tracing=True)
@test_naans_option
@policy_option("Also check names and targets against this IRI policy.")
@optional_database_option
def check_command(
    file: str | None,
    as_json: bool,
    as_csv: bool,
    naans: tuple[str, ...],
    prefixes: tuple[str, ...],
    url: str | None,
    junit: str | None,
    promises: bool,
    tracing: bool,
    resume: str | None,
    pause: float | None,
    resolver: str | None,
    destinations: Destinations,
    profile: Profile | None,
    database: str | None,
) -> int:
    """Find problems in the bindings of a database, without network access.

    The command reports containers that are not bound, dot-segments, names that differ only in . and %2E, names that
    look meaningful or are not ASCII, names with characters that a prefix record does not permit, and NAANs that are not
    registered. It also reports targets that are paths of the resolver, or almost surely wrong: with &amp; or another
    character reference, on a local or private host, with a session, or signed for some time. `ararat verify` compares
    the bindings with their history.

    With --promises, it reports instead the names that are promised as persistent, and that have a dead target, were
    withdrawn without a reason, or lead to a host of others. A name is promised if its availability is lifetime or
    subinfinite. Dead targets are those that `ararat rounds` recorded. The hosts of the institution are in its prefix
    records (`ararat prefix set --hosts`), and in --prefix.

    With --trace, identifiers are resolved over the network instead: those in FILE (- for standard input, one a line),
    or all names of the database that are not withdrawn. The database resolves its own names. https://n2t.net resolves
    other ARKs, and the known resolver of a namespace other URNs. Several hosts are requested at once, but each host
    gets one request at a time.

    With --url, a running site is asked for each name of FILE instead: a table of names, or a text with one name a line.
    Without FILE, the names are those of the database. No other host gets a request, and no redirect is followed.

    --prefix is the address of this site. It is needed for targets that are paths, and for served names.

    The result of each identifier is one of: resolves, related, metadata, declined (401, 403, 451), unclear (such as
    429, 5xx or a time-out), dead, unregistered (the NAAN), blocked, unspecified, unreadable, undone. A redirect from
    https to http is also reported.

    --resume FILE writes the results to FILE as JSON Lines. After an interruption, run the same command to continue.

    Exit code: 0 nothing found (with --trace: all resolve; with --url: all answers are right), 1 problems found, 2 not a
    database of Ararat, or not a result file, 66 a file cannot be read, 69 no database, or the site does not answer, 74
    a file cannot be written.

    \b
      ararat check --url https://museum.example --junit names.xml names.csv
      ararat check --trace --resume traced.jsonl --csv identifiers.txt
    """
    from ...bindings.checks.name_findings import NameFinding, check
    from ...bindings.checks.promises import check_promises
    from ...bindings.names import origins
    from ...bindings.names.errors import PrefixError
    from ...tracing.links.model import STATES
    from ...tracing.links.store import Links

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    try:
        own = [origins.check_prefix(prefix) for prefix in prefixes]
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint="--prefix") from None
    if url is not None:
        if tracing or as_csv or resume is not None or resolver is not None:
            raise click.UsageError("--url excludes --trace, --csv, --resume and --resolver")
        from ..sites.names import check_names
        from ..sites.requests import RunningSite

        site = RunningSite(url, pause=pause or 0)
        return check_names(site, file, database, as_json=as_json, junit=junit)
    if junit is not None:
        raise click.UsageError("--junit needs --url")
    if promises and (tracing or profile is not None or naans):
        raise click.UsageError("--promises excludes --trace, --policy and --naans")
    if tracing:
        from .check_traces import Form, check_by_trace

        form: Form = "json" if as_json else "csv" if as_csv else "text"
        return check_by_trace(
            file,
            database,
            form,
            resume=resume,
            resolver=resolver,
            prefix=own[0] if own else None,
            destinations=destinations,
            pause=1 if pause is None else pause,
        )
    if file is not None or resume is not None or resolver is not None:
        raise click.UsageError("FILE needs --trace or --url; --resume and --resolver need --trace")
    if database is None:
        raise click.UsageError("no database is given; set --database or ARARAT_DATABASE")
    output = _as_json if as_json else _as_csv if as_csv else _as_text
    count = 0
    with open_store(database, reading=True) as bindings:
        if promises:
            links = Links(bindings)
            hosts = [host for each in own if (host := urlsplit(each).hostname)]
            findings = check_promises(bindings, links.dead_targets, hosts=hosts)
            if not any(links.number(state, 1) for state in STATES):
                note = "ararat: note: no target has been traced; to find dead targets, run ararat rounds first"
                write(Sheet.of(sys.stderr).prose(note, style="warning"), to=sys.stderr)
        else:
            findings = check(bindings, naans=naans, prefixes=own, profile=profile)
        for count, finding in enumerate(findings, 1):
            output(finding, count)
    if as_csv and not count:
        # A table without rows still has its header.
        sys.stdout.write(spreadsheet.line(NameFinding._fields, end="\n"))
    if not (as_json or as_csv):
        write(Sheet.of(sys.stdout).prose(f"{count:,} found." if count else "No problems found."))
    return NO if count else DONE


def _as_json(finding: NameFinding, number: int) -> None:
    streams.dump(finding._asdict())


def _as_csv(finding: NameFinding, number: int) -> None:
    if number == 1:
        sys.stdout.write(spreadsheet.line(finding._fields, end="\n"))
    sys.stdout.write(spreadsheet.line(finding, end="\n"))


def _as_text(finding: NameFinding, number: int) -> None:
    sheet = Sheet.of(sys.stdout)
    sys.stdout.write(f"{sheet.paint(finding.code.ljust(_WIDTH), 'warning')} {identifier(finding.identifier)}\n")
    write(sheet.prose(finding.message, indent=_WIDTH + 1))
