"""``ararat check``: what is doubtful in the bindings of a database."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

import click

from ...identifiers import display
from ..terminal.layout import Sheet, identifier
from . import DONE, NO, streams, write
from .binding import database_option, json_option, opened
from .policies import policy_option

if TYPE_CHECKING:
    from ...identifiers.policy import Profile
    from ...middleware.checking import Finding

_WIDTH = 18


@click.command("check", short_help="Look for what is doubtful in the bindings.")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="A CSV table: identifier, code, message.")
@click.option("--naan", "naans", metavar="NAAN", multiple=True, help="Right though not registered; repeatable.")
@click.option("--prefix", "prefixes", metavar="URL", multiple=True, help="A resolver prefix of the site; repeatable.")
@policy_option(also=", to hold names and targets to")
@database_option
def check_command(
    as_json: bool,
    as_csv: bool,
    naans: tuple[str, ...],
    prefixes: tuple[str, ...],
    profile: Profile | None,
    database: str,
) -> int:
    """Look for what is doubtful, without asking the network: containers that are not bound, dot-segments, names that
    differ in . and %2E alone, names that look meaningful or are not ASCII, NAANs that are not registered, and targets
    that are paths of the resolver itself.

    Exit code: 0 nothing found, 1 something, 2 the database is not one of Ararat's, 69 no database.
    """
    from ...middleware import prefix
    from ...middleware.checking import check
    from ...middleware.errors import PrefixError

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    try:
        own = [prefix.check(given) for given in prefixes]
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint="--prefix") from None
    say = _as_json if as_json else _as_csv if as_csv else _as_text
    count = 0
    with opened(database) as bindings:
        for count, finding in enumerate(check(bindings, naans=naans, prefixes=own, profile=profile), 1):
            say(finding, count)
    if not (as_json or as_csv):
        write(Sheet.of(sys.stdout).prose(f"{count:,} found." if count else "Nothing doubtful was found."))
    return NO if count else DONE


def _as_json(finding: Finding, number: int) -> None:
    streams.dump(finding._asdict())


def _as_csv(finding: Finding, number: int) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    if number == 1:
        table.writerow(finding._fields)
    table.writerow([display.percent(finding.identifier), *finding[1:]])


def _as_text(finding: Finding, number: int) -> None:
    sheet = Sheet.of(sys.stdout)
    sys.stdout.write(f"{sheet.paint(finding.code.ljust(_WIDTH), 'doubtful')} {identifier(finding.identifier)}\n")
    write(sheet.prose(finding.message, indent=_WIDTH + 1))
