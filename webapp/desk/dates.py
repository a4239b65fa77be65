"""Days in forms: a period begins with a day and ends with the end of another day, in the time zone of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ...bindings.names import selection
from ...identifiers.text.translatable import Translatable
from .blueprint import time_zone
from .forms import FieldProblem

_DAY = len("2026-11-23")


def read_since(text: str) -> datetime:
    """Return the time in UTC at which a period begins. A date begins in the time zone of the caller. Raises ValueError
    or OverflowError for another text.
    """
    return _moment(text)


def read_period_end(text: str) -> datetime:
    """Return the time in UTC before which a period ends. A date includes its whole day. Raises ValueError or
    OverflowError for another text.

    >>> f"{read_period_end('2026-11-23'):%Y-%m-%d %H:%M}"
    '2026-11-24 00:00'
    """
    time = _moment(text)
    return time + timedelta(days=1) if len(text) == _DAY else time


def last_day(end: datetime) -> str:
    """Return the last day of a period that ends before ``end``, as "YYYY-MM-DD" in the time zone of the caller."""
    return f"{(end - timedelta(microseconds=1)).astimezone(time_zone()):%Y-%m-%d}"


def _moment(text: str) -> datetime:
    """Return a time. A day begins in the time zone of the caller."""
    time = selection.moment(text)
    return time.replace(tzinfo=time_zone()).astimezone(UTC) if len(text) == _DAY else time


class Period(NamedTuple):
    """A period from ``since``, which is included, to ``before``, which is not, in UTC. None means no such limit."""

    since: datetime | None
    before: datetime | None


def read_period(given: Mapping[str, str], errors: dict[str, FieldProblem]) -> Period:
    """Return the period of the fields ``since`` and ``before``. A wrong date counts as missing, and its problem is
    added to ``errors`` by the name of the field.
    """
    found: list[datetime | None] = []
    for name, read in (("since", read_since), ("before", read_period_end)):
        try:
            found.append(read(given[name]) if name in given else None)
        except (ValueError, OverflowError):
            errors[name] = not_a_date(given[name])
            found.append(None)
    return Period(*found)


def not_a_date(text: str) -> FieldProblem:
    """Return the problem to show for a field that does not have a date."""
    return FieldProblem(
        Translatable("%(text)s is not a date.", text=text),
        Translatable("a date such as %(date)s", date="2026-11-23"),
    )
