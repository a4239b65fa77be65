"""The command ``rounds``: trace the targets of a database, and record which are dead, moved or refused."""

from __future__ import annotations

import math
import sys
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from .. import streams
from ..bindings.stores import open_store
from ..errors import DONE, NO, write
from ..options import (
    ALLOW_NETWORK,
    NETWORK_CODES,
    Number,
    WholeNumber,
    database_option,
    json_option,
    network_options,
    test_naans_option,
)
from ..output import Sheet, Style, format_count, identifier
from ..progress import Progress

if TYPE_CHECKING:
    from ...net.allowed_addresses import Destinations
    from ...tracing.links.model import State, TracedTarget
    from ...tracing.links.rounds import Forecast

_WIDTH = 9
_STYLES: dict[State, Style] = {"works": "good", "moved": "warning", "refused": "warning", "unclear": "warning"}


@click.command("rounds", short_help="Trace targets, and record which are dead, moved or refused.")
@json_option
@click.option(
    "--days",
    type=Number(0, 3650),
    metavar="N",
    default=30,
    show_default=True,
    help="Trace the targets that were not traced for N days.",
)
@click.option("--limit", type=WholeNumber(1), metavar="N", help="Trace at most N targets.")
@click.option(
    "--pause",
    type=Number(0, 60),
    metavar="SECONDS",
    default=1,
    show_default=True,
    help="Wait between two requests to the same host.",
)
@click.option("--prefix", metavar="URL", help="The address of this site, for targets that are paths.")
@click.option("--recorded", is_flag=True, help="Print the recorded results, and trace nothing.")
@network_options(tracing=True)
@test_naans_option
@database_option
def rounds_command(
    as_json: bool,
    days: float,
    limit: int | None,
    pause: float,
    prefix: str | None,
    recorded: bool,
    destinations: Destinations,
    database: str,
) -> int:
    """Trace the target of each live name, and record the result with the time since when it is so.

    The states are: works, moved (a permanent redirect to another URL), refused (401, 403, 451), dead, and unclear. A
    target with 408, 425, 429, 5xx or a time-out is unclear. It is traced again after an hour, and is dead if it stays
    so for three days. Names without a target and served names are left out. Several hosts are requested at once, but
    each host gets one request at a time, and none before the time in its Retry-After, which is
    recorded. Results are recorded in small
    blocks: after an interruption, run the same command to continue.

    `ararat serve --rounds DAYS` does the same while the server runs. To correct the target of a name, run
    `ararat relocate`.

    Exit code: 0 all traced targets work, 1 some do not, 2 not a database of Ararat, 69 no database.

    \b
      ararat rounds --days 7 --limit 1000
      ararat rounds --recorded
    """
    from ...bindings.names import origins
    from ...bindings.names.errors import PrefixError
    from ...tracing.links.rounds import Round

    try:
        own = None if prefix is None else origins.check_prefix(prefix)
    except PrefixError as error:
        raise click.BadParameter(error.message, param_hint="--prefix") from None
    with open_store(database, reading=recorded) as bindings:
        one = Round(
            bindings,
            older_than=timedelta(days=days),
            prefix=own,
            destinations=destinations,
            pause=pause,
            most=limit,
        )
        report = _Report(as_json=as_json)
        if recorded:
            counts = Counter(one.links.count())
            for state in counts:
                after = ""
                while state != "works" and (links := one.links.of_state(state, after)):
                    for link in links:
                        report.add(link)
                    after = links[-1].key
        else:
            try:
                report.begin(one.forecast(), pause, days)
                counts = one.run(report.add)
            except KeyboardInterrupt:
                one.stop.set()
                report.clear()
                raise
        report.end(counts, "recorded" if recorded else "traced")
    return NO if counts.total() > counts["works"] else DONE


def _time(seconds: float) -> str:
    minutes, hours, days = (math.ceil(seconds / each) for each in (60, 3_600, 86_400))
    if minutes < 120:
        return format_count(minutes, "minute")
    return format_count(hours, "hour") if hours < 48 else format_count(days, "day")


class _Report:
    """Prints the targets that do not work, and the progress on a terminal."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._sheet = Sheet.of(sys.stdout)
        self._progress = Progress("traced")
        self._traced = 0

    def begin(self, forecast: Forecast, pause: float, days: float) -> None:
        """Say how long a round takes at least, if it takes more than a minute."""
        if self._as_json or forecast.seconds <= 60:
            return
        host = forecast.host or "this site"
        text = (
            f"{forecast.due:,} targets are due, {forecast.at_host:,} of them at {identifier(host)}. "
            f"With one request in {pause:g} s to a host, the round takes at least {_time(forecast.seconds)}."
        )
        if days and forecast.seconds > days * 86_400:
            text += f" This is longer than {days:g} days: set a shorter --pause, or more --days."
        write(self._sheet.prose(text))
        sys.stdout.flush()

    def add(self, link: TracedTarget) -> None:
        self._traced += 1
        if self._as_json:
            streams.dump(link.as_dict())
        elif link.state != "works":
            self.clear()
            style = _STYLES.get(link.state, "error")
            write([f"{self._sheet.paint(link.state.ljust(_WIDTH), style)}{identifier(link.identifier)}"])
            write(self._sheet.prose(f"-> {identifier(link.target)}", indent=_WIDTH, style="soft"))
            since = f" Since {link.since:%Y-%m-%d}." if link.since < link.traced else ""
            advice = f" {ALLOW_NETWORK}" if link.code in NETWORK_CODES else ""
            write(self._sheet.prose(f"{link.sentence}{since}{advice}", indent=_WIDTH, style="soft"))
        sys.stdout.flush()
        self._progress.count(self._traced)

    def clear(self) -> None:
        self._progress.clear()

    def end(self, counts: Counter[State], done: str) -> None:
        self.clear()
        if not self._as_json:
            listed = ", ".join(f"{number:,} {state}" for state, number in counts.items() if number)
            write(self._sheet.prose(f"{counts.total():,} {done}{': ' if listed else ''}{listed}."))
