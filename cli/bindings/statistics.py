"""The command ``stats``: show the counts of requests by name, day, month or year, and delete old ones."""

from __future__ import annotations

import sys
from datetime import date, datetime
from typing import TYPE_CHECKING

import click

from .. import streams
from ..errors import DONE, read_name, store_errors, write
from ..options import WholeNumber, json_option
from ..output import Sheet, format_count, identifier

if TYPE_CHECKING:
    from ...middleware.statistics.counts import CountStore, Total, Unit

_FEW = 20
_COLUMNS = ("resolutions", "descriptions")
_DATE = click.DateTime(["%Y-%m-%d"])


@click.command("stats", short_help="Show how often names were requested.")
@click.argument("name", required=False, metavar="[NAME]")
@click.option(
    "--statistics",
    "place",
    metavar="FILE|URL",
    required=True,
    envvar="ARARAT_STATISTICS",
    show_envvar=True,
    help="The counts: the SQLite file or PostgreSQL database that `ararat serve --statistics` writes.",
)
@click.option("--prefix", metavar="PREFIX", help="Names that begin with PREFIX, such as ark:12345/x5.")
@click.option("--from", "first", type=_DATE, metavar="DATE", help="Days from DATE on, such as 2026-11-23, in UTC.")
@click.option("--to", "last", type=_DATE, metavar="DATE", help="Days up to DATE.")
@click.option(
    "--by",
    type=click.Choice(["name", "day", "month", "year"]),
    help="Sum up the counts of each name, day, month or year.  [default: name, or day for one NAME]",
)
@click.option(
    "--limit",
    type=WholeNumber(1),
    metavar="N",
    help=f"Print at most N lines.  [default: {_FEW} names, else all]",
)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a CSV table of all lines.")
@click.option(
    "--delete-before", "end", type=_DATE, metavar="DATE", help="Delete the counts of all days before DATE, and end."
)
def stats_command(
    name: str | None,
    place: str,
    prefix: str | None,
    first: datetime | None,
    last: datetime | None,
    by: Unit | None,
    limit: int | None,
    as_json: bool,
    as_csv: bool,
    end: datetime | None,
) -> int:
    """Show how often names were requested: the most requested first, or the newest day first.

    A resolution is a redirect or a served answer; a description is an answer to ?info. Requests of programs, such as
    crawlers, are included. A resolver counts if it has the setting statistics (`ararat serve --statistics`).

    Exit code: 0 done, also without requests; 2 an argument is not valid, 69 no statistics.

    \b
      ararat stats --from 2026-01-01 --prefix ark:12345/x5
      ararat stats ark:12345/x6np1 --by month --csv > requests.csv
    """
    from ...bindings.tables import spreadsheet
    from ...middleware.statistics.counts import CountSelection, CountStore

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    if name is not None and prefix is not None:
        raise click.UsageError("NAME and --prefix exclude each other")
    if first is not None and last is not None and last < first:
        raise click.UsageError("--to is before --from")
    if end is not None and (name or prefix or first or last or by):
        raise click.UsageError("--delete-before deletes the counts of all names, so it excludes the other conditions")
    with store_errors():
        counts = CountStore.at(place)
        if end is not None:
            number = counts.delete_before(end.date())
            write([f"Deleted {format_count(number, 'count')} of the days before {end:%Y-%m-%d}."])
            return DONE
        requested = CountSelection(name=_key(name), prefix=_beginning(prefix), first=_day(first), last=_day(last))
        unit: Unit = by or ("name" if name is None else "day")
        if limit is None and unit == "name" and not (as_json or as_csv):
            limit = _FEW
        totals = counts.totals(unit, requested, limit)
        if as_json:
            for each in totals:
                streams.dump({unit: each.label, "resolutions": each.resolutions, "descriptions": each.descriptions})
        elif as_csv:
            for row in ((unit, *_COLUMNS), *totals):
                sys.stdout.write(spreadsheet.line(row, end="\n"))
        elif totals:
            _print(unit, totals, counts.total(requested))
        else:
            _print_nothing(counts)
    return DONE


def _key(name: str | None) -> str | None:
    from ...bindings.names import naming

    return None if name is None else naming.key(read_name(name))


def _beginning(prefix: str | None) -> str | None:
    from ...bindings.names.selection import beginning

    return None if prefix is None else beginning(prefix)


def _day(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _print(unit: Unit, totals: list[Total], total: Total) -> None:
    sheet = Sheet.of(sys.stdout)
    write([sheet.paint(f"{_COLUMNS[0]:>12}{_COLUMNS[1]:>14}  {unit}", "soft")])
    lines = [*((each, identifier(each.label)) for each in totals), (total, "in total")]
    write(sheet.paint(f"{each.resolutions:>12,}{each.descriptions:>14,}  {label}") for each, label in lines)


def _print_nothing(counts: CountStore) -> None:
    sheet = Sheet.of(sys.stderr)
    if any(counts.total()[1:]):
        write(sheet.prose("No request for these names is counted on these days.", style="soft"), to=sys.stderr)
        return
    write(sheet.prose(f"No request is counted in {counts} yet.", style="soft"), to=sys.stderr)
    advice = "run the resolver with this place as --statistics; it adds its counts every ten seconds"
    write(sheet.field("Fix", advice), to=sys.stderr)
