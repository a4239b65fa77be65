"""The page of requests: how often names were requested, by day or month. The page of a name uses its plot."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

from flask import Response, render_template, request

from ...bindings.names.errors import BindingsUnavailable
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from ...middleware.statistics.counts import CountSelection, CountStore, Total
from ..config import site, site_bindings
from . import exports
from .blueprint import blueprint
from .counts import Bar, bars

Period = Literal["days", "months"]

PERIODS: dict[Period, str] = {
    "days": Translatable("The last 30 days"),
    "months": Translatable("The last 12 months"),
}
DAYS, MONTHS = 30, 12
MAX_NAMES = 20
"""The number of names on the page. The exported file has all."""

_COLUMNS = ("name", "resolutions", "descriptions")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Requests:
    """The requests in a period: their sum, and the counts of each day or month without gaps, the oldest first."""

    total: Total
    times: Sequence[Total]
    plot: Sequence[Bar]


def requests_in(counts: CountStore, period: Period, today: date, name: str | None = None) -> Requests:
    """Return the requests in a period that ends ``today``, for the key of a name or for all names. ``period`` is
    "days" or "months". Raises :class:`~ararat.middleware.BindingsUnavailable`.
    """
    requested = CountSelection(name=name, first=_first(period, today))
    found = {each.label: each for each in counts.totals("day" if period == "days" else "month", requested)}
    times = [found.get(label, Total(label, 0, 0)) for label in _labels(period, today)]
    sums = {each.label: each.resolutions + each.descriptions for each in times}
    total = Total("", sum(each.resolutions for each in times), sum(each.descriptions for each in times))
    return Requests(total=total, times=times, plot=bars(sums, list(sums)))


def requests_of_name(counts: CountStore, name: str) -> Requests | None:
    """Return the requests for a name in each of the last months. If they cannot be read, log why and return None."""
    try:
        return requests_in(counts, "months", _today(), name)
    except BindingsUnavailable as error:
        _log.warning("The statistics cannot be read: %s", display.escape(str(error)))
        return None


@blueprint.get("/requests", endpoint="requests")
def page() -> str:
    """Return the HTML page with the requests in the query parameter ``period``, and the most requested names."""
    counts, period, today = site().statistics, _period(), _today()
    found: Requests | None = None
    names: list[Total] = []
    failed = False
    try:
        if counts is not None:
            found = requests_in(counts, period, today)
            names = counts.totals("name", CountSelection(first=_first(period, today)), MAX_NAMES)
    except BindingsUnavailable as error:
        _log.warning("The statistics cannot be read: %s", display.escape(str(error)))
        failed = True
    sums = {each.label: each.resolutions + each.descriptions for each in names}
    return render_template(
        "desk/requests.html",
        exports=exports.addresses("desk.export_requests", period=period),
        failed=failed,
        found=found,
        is_on=counts is not None,
        names=list(zip(names, bars(sums, list(sums)), strict=True)),
        period=period,
        periods=PERIODS,
        # The prefix of a rule has no page.
        recorded=site_bindings().store.fetch([each.label for each in names]),
    )


@blueprint.get("/requests.<any(csv, jsonl):form>")
def export_requests(form: str) -> Response:
    """Return the number of requests for each name in the query parameter ``period`` as a file ("csv" or "jsonl")."""
    counts, period = site().statistics, _period()
    totals = [] if counts is None else counts.totals("name", CountSelection(first=_first(period, _today())))
    rows = (dict[str, object](zip(_COLUMNS, each, strict=True)) for each in totals)
    if form == "csv":
        return exports.csv_file(f"requests-{period}", _COLUMNS, rows)
    return exports.json_lines_file(f"requests-{period}", rows)


def _period() -> Period:
    for period in get_args(Period):
        if period == request.args.get("period"):
            return period
    return "days"


def _today() -> date:
    return site_bindings().now().date()


def _first(period: Period, today: date) -> date:
    if period == "days":
        return today - timedelta(days=DAYS - 1)
    return date.fromisoformat(f"{_labels(period, today)[0]}-01")


def _labels(period: Period, today: date) -> list[str]:
    """Return the days or months of a period, the oldest first.

    >>> _labels("months", date(2026, 2, 28))[0], _labels("days", date(2026, 2, 28))[0]
    ('2025-03', '2026-01-30')
    """
    if period == "days":
        return [(today - timedelta(days=number)).isoformat() for number in reversed(range(DAYS))]
    months = today.year * 12 + today.month - 1
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in range(months - MONTHS + 1, months + 1)]
