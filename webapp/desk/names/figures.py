"""The page of figures for a report: names by state and shoulder, and what happened in each month or year.
Each number is counted up to :data:`MOST`, so that the page takes no longer in a large database.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple

from flask import Response, render_template, request

from ....bindings.names.errors import BindingError, BindingsUnavailable, TooBroad
from ....bindings.names.metadata.folding import title_of
from ....bindings.names.selection import Selection, beginning, select
from ....identifiers.text import display
from ....identifiers.text.translatable import Translatable
from ....middleware.statistics.counts import CountSelection, Total
from ....tracing.links.store import Links
from ...config import site, site_bindings
from ...language.translation import translate
from .. import exports
from ..blueprint import blueprint
from ..counts import STATES, Bar, bars
from ..forms import FieldProblem

Unit = Literal["month", "year"]

UNITS: dict[Unit, str] = {"month": Translatable("By month"), "year": Translatable("By year")}

MOST = 20_000
"""The number up to which the names of a figure are counted."""

MONTHS, YEARS = 12, 10
MAX_NAMES, MAX_SHOULDERS = 20, 30
_MAX_DEAD = 1000
_COLUMNS = (Translatable("Figure"), Translatable("Label"), Translatable("Number"), Translatable("Complete"))
_log = logging.getLogger(__name__)


class Counted(NamedTuple):
    """A number of names. ``is_exact`` is false if it is a lower bound."""

    number: int
    is_exact: bool = True


class PeriodFigures(NamedTuple):
    """The figures of a month or year, such as "2026-11" or "2026".
    Older names that were changed, and withdrawn names, count in the period of their last change.
    """

    label: str
    new: Counted
    changed: Counted
    withdrawn: Counted


class Requested(NamedTuple):
    """A name with the ``total`` of its requests, its ``title``, its ``number``, and whether it is recorded."""

    total: Total
    title: str
    number: str
    is_recorded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """The figures of all names, or of the names with a prefix. ``dead`` counts dead links; ``plot`` has the new names.
    Too many names have no ``shoulders``. ``requested`` is None if requests are not counted.
    """

    total: Counted
    states: Sequence[tuple[str, Counted]]
    shoulders: Sequence[Bar]
    periods: Sequence[PeriodFigures]
    plot: Sequence[Bar]
    dead: Counted
    requested: Sequence[Requested] | None


@blueprint.get("/figures", endpoint="figures")
def page() -> str:
    """Return the page to print with the figures of the query parameters ``prefix`` and ``by`` ("month" or "year")."""
    unit, prefix, problem = _read_filters()
    return render_template(
        "desk/figures.html",
        figures=_figures(unit, prefix),
        unit=unit,
        units=UNITS,
        prefix=prefix,
        given=request.args.get("prefix", "").strip()[:400],
        errors={"prefix": problem} if problem else {},
        states=STATES,
        most=MOST,
        counted_at=site_bindings().now(),
        exports=exports.addresses("desk.export_figures", by=unit, prefix=prefix or None),
    )


@blueprint.get("/figures.<any(csv, jsonl):form>", endpoint="export_figures")
def export(form: str) -> Response:
    """Return the figures as a file to save, for the query parameters of the page. ``form`` is "csv" or "jsonl"."""
    unit, prefix, problem = _read_filters()
    exports.require_valid({"prefix": problem} if problem else {})
    columns = [translate(each) for each in _COLUMNS]
    rows = (dict[str, object](zip(columns, each, strict=True)) for each in _rows(_figures(unit, prefix)))
    if form == "csv":
        return exports.csv_file("figures", columns, rows)
    return exports.json_lines_file("figures", rows)


def _rows(figures: Figures) -> Iterator[tuple[str, str, int, str]]:
    yes, no = translate(Translatable("yes")), translate(Translatable("no"))

    def row(figure: str, label: str, counted: Counted) -> tuple[str, str, int, str]:
        return translate(figure), translate(label), counted.number, yes if counted.is_exact else no

    yield row(Translatable("Names"), "", figures.total)
    for state, number in figures.states:
        yield row(Translatable("By state"), STATES.get(state, state), number)
    for bar in figures.shoulders:
        yield row(Translatable("By shoulder"), bar.label, Counted(bar.number))
    for period in figures.periods:
        yield row(Translatable.in_context("names", "New"), period.label, period.new)
        yield row(Translatable.in_context("names", "Changed"), period.label, period.changed)
        yield row(Translatable.in_context("names", "Withdrawn"), period.label, period.withdrawn)
    yield row(Translatable("Dead targets"), "", figures.dead)
    for each in figures.requested or ():
        label = " ".join(filter(None, (each.total.label, each.number, each.title)))
        yield row(
            Translatable("Most requested names"), label, Counted(each.total.resolutions + each.total.descriptions)
        )


def _read_filters() -> tuple[Unit, str, FieldProblem | None]:
    """Return the unit, the beginning of the names in normal form, and the problem of a wrong one."""
    unit: Unit = "year" if request.args.get("by") == "year" else "month"
    text = request.args.get("prefix", "").strip()[:400]
    try:
        return unit, beginning(text) if text else "", None
    except BindingError as error:
        return unit, "", FieldProblem.of(error)


def _figures(unit: Unit, prefix: str) -> Figures:
    now = site_bindings().now()
    within = Selection(prefix=prefix or None)
    try:
        known = site_bindings().count_names(within, by="state", most=MOST)
        numbers = site_bindings().count_names(within, by="shoulder", most=MOST)
    except TooBroad:
        total, numbers = _count(within), {}
        states = [(state, _count(select(prefix=prefix or None, state=state))) for state in STATES]
    else:
        total, states = Counted(sum(known.values())), [(state, Counted(known.get(state, 0))) for state in STATES]
    shoulders = bars(numbers, sorted(numbers, key=lambda each: (-numbers[each], each))[:MAX_SHOULDERS])
    limits = [*_limits(unit, now.date())]
    periods = [_period(label, since, before, prefix) for label, since, before in limits]
    new = {each.label: each.new.number for each in periods}
    return Figures(
        total=total,
        states=states,
        shoulders=shoulders,
        periods=periods,
        plot=bars(new, list(new)),
        dead=_dead(prefix),
        requested=_most_requested(limits[0][1].date(), prefix),
    )


def _limits(unit: Unit, today: date) -> Iterator[tuple[str, datetime, datetime]]:
    """Yield the label, the first moment and the end of the last months or years, the oldest first.

    >>> [each[0] for each in _limits("month", date(2026, 2, 28))][-3:]
    ['2025-12', '2026-01', '2026-02']
    """
    if unit == "year":
        for year in range(today.year - YEARS + 1, today.year + 1):
            yield f"{year:04}", datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
        return
    last = today.year * 12 + today.month - 1
    for month in range(last - MONTHS + 1, last + 1):
        first, end = (datetime(each // 12, each % 12 + 1, 1, tzinfo=UTC) for each in (month, month + 1))
        yield f"{first:%Y-%m}", first, end


def _period(label: str, since: datetime, before: datetime, prefix: str) -> PeriodFigures:
    beginning = prefix or None
    changed = Selection(prefix=beginning, changed_since=since, changed_before=before, created_before=since)
    withdrawn = Selection(prefix=beginning, status="withdrawn", changed_since=since, changed_before=before)
    new = Selection(prefix=beginning, created_since=since, created_before=before)
    return PeriodFigures(label, _count(new), _count(changed), _count(withdrawn))


def _count(selection: Selection) -> Counted:
    try:
        number = site_bindings().count_names(selection, most=MOST + 1).get("", 0)
    except TooBroad as error:
        return Counted(min(error.counted, MOST), is_exact=False)
    return Counted(min(number, MOST), number <= MOST)


def _dead(prefix: str) -> Counted:
    links = Links(site_bindings())
    if not prefix:
        number = links.number("dead", MOST + 1)
        return Counted(min(number, MOST), number <= MOST)
    found = links.of_state("dead", limit=_MAX_DEAD)
    return Counted(sum(each.key.startswith(prefix) for each in found), len(found) < _MAX_DEAD)


def _most_requested(first: date, prefix: str) -> list[Requested] | None:
    counts = site().statistics
    if counts is None:
        return None
    try:
        totals = counts.totals("name", CountSelection(prefix=prefix or None, first=first), MAX_NAMES)
    except BindingsUnavailable as error:
        _log.warning("The statistics cannot be read: %s", display.escape(str(error)))
        return None
    recorded = site_bindings().store.fetch([each.label for each in totals])
    return [
        Requested(
            each,
            title_of(known.metadata) if (known := recorded.get(each.label)) else "",
            (known.thing_numbers.current or "") if known else "",
            known is not None,
        )
        for each in totals
    ]
