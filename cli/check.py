"""``ararat check``: what is doubtful in the bindings of a database."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..webapp.report import spreadsheet
from . import streams
from .errors import DONE, NO, write
from .names import json_option, opened, optional_database_option
from .output import Sheet, identifier
from .policy_option import policy_option
from .trace import network_option

if TYPE_CHECKING:
    from ..identifiers.iri_policy import Profile
    from ..middleware.bindings.audit import Finding

_WIDTH = 18


@click.command("check", short_help="Look for what is doubtful in the bindings.")
@click.argument("file", metavar="[FILE|-]", required=False)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="A CSV table, whose first line names the columns.")
@click.option("--naan", "naans", metavar="NAAN", multiple=True, help="Right though not registered; repeatable.")
@click.option("--prefix", "prefixes", metavar="URL", multiple=True, help="A resolver prefix of the site; repeatable.")
@click.option("--trace", "tracing", is_flag=True, help="Ask the network where each name leads.")
@click.option("--resume", metavar="FILE", help="With --trace: what is in FILE is not asked again, the rest goes there.")
@click.option(
    "--pause",
    type=click.FloatRange(0, 60),
    metavar="SECONDS",
    default=1.0,
    show_default=True,
    help="With --trace: between two requests to one host.",
)
@click.option(
    "--resolver",
    metavar="URL",
    help="With --trace: the resolver prefix to ask; 'registry' for the one that is known for each name.  "
    "[default: the database for its own names, https://n2t.net for others]",
)
@network_option
@policy_option(also=", to hold names and targets to")
@optional_database_option
def check_command(
    file: str | None,
    as_json: bool,
    as_csv: bool,
    naans: tuple[str, ...],
    prefixes: tuple[str, ...],
    tracing: bool,
    resume: str | None,
    pause: float,
    resolver: str | None,
    networks: tuple[str, ...],
    profile: Profile | None,
    database: str | None,
) -> int:
    """Look for what is doubtful, without asking the network: containers that are not bound, dot-segments, names that
    differ in . and %2E alone, names that look meaningful or are not ASCII, NAANs that are not registered, and targets
    that are paths of the resolver itself.

    With --trace the network is asked instead: each identifier of FILE (- for standard input, one a line) or, without
    FILE, each name of the database that was not withdrawn is traced as ararat trace does, a few at once, but one
    request at a time to each host. A name that the database has an answer for is resolved by the database itself, any
    other name by https://n2t.net. --prefix is the address of this site, for targets that are paths of it and for names
    that it serves. Each name gets a verdict: resolves, related, metadata; declined (403: a browser may be answered),
    dead, unregistered (the NAAN), blocked, unspecified, unreadable, undone; and whether it was led from https to http.
    --resume FILE keeps the result in FILE as JSON Lines while it comes: interrupted, the same command goes on where it
    was. How often a host is asked is for --pause alone to say: there is no limit by the minute, as the page has, for
    this is nobody else's machine.

    Exit code: 0 nothing found (with --trace: all lead somewhere), 1 something, 2 the database is not one of Ararat's,
    or the file to resume from not one of these, 66 a file cannot be read, 69 no database.

    \b
      ararat check --trace --resume traced.jsonl --csv identifiers.txt
    """
    from ..middleware.bindings import origins
    from ..middleware.bindings.audit import Finding, check
    from ..middleware.errors import PrefixError

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    try:
        own = [origins.check_prefix(given) for given in prefixes]
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint="--prefix") from None
    if tracing:
        from .check_traces import check_by_trace

        form = "json" if as_json else "csv" if as_csv else "text"
        return check_by_trace(
            file,
            database,
            form,
            resume=resume,
            resolver=resolver,
            prefix=own[0] if own else None,
            networks=networks,
            pause=pause,
        )
    if file is not None or resume is not None or resolver is not None:
        raise click.UsageError("FILE, --resume and --resolver are for --trace")
    if database is None:
        raise click.UsageError("--database is missing: where the bindings are (or ARARAT_DATABASE)")
    say = _as_json if as_json else _as_csv if as_csv else _as_text
    count = 0
    with opened(database) as bindings:
        for count, finding in enumerate(check(bindings, naans=naans, prefixes=own, profile=profile), 1):
            say(finding, count)
    if as_csv and not count:
        # A table without rows has its columns all the same: an empty file is none.
        sys.stdout.write(spreadsheet.line(Finding._fields, end="\n"))
    if not (as_json or as_csv):
        write(Sheet.of(sys.stdout).prose(f"{count:,} found." if count else "Nothing doubtful was found."))
    return NO if count else DONE


def _as_json(finding: Finding, number: int) -> None:
    streams.dump(finding._asdict())


def _as_csv(finding: Finding, number: int) -> None:
    if number == 1:
        sys.stdout.write(spreadsheet.line(finding._fields, end="\n"))
    sys.stdout.write(spreadsheet.line(finding, end="\n"))


def _as_text(finding: Finding, number: int) -> None:
    sheet = Sheet.of(sys.stdout)
    sys.stdout.write(f"{sheet.paint(finding.code.ljust(_WIDTH), 'doubtful')} {identifier(finding.identifier)}\n")
    write(sheet.prose(finding.message, indent=_WIDTH + 1))
