"""The numbers of names by state, shoulder and month for the overview, and their plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ...identifiers.text.translatable import Translatable

if TYPE_CHECKING:
    from ...middleware import Bindings

STATES: Mapping[str, Translatable] = {
    "live": Translatable("Live"),
    "reserved": Translatable("Reserved"),
    "withdrawn": Translatable("Withdrawn"),
}
"""The titles of lists of names by their state."""

MAX_SHOULDERS = 15
MIN_MONTHS, MAX_MONTHS = 12, 24


class Bar(NamedTuple):
    """A row of a plot: its ``label``, the ``number`` of names, and its ``length`` from 0 to 100."""

    label: str
    number: int
    length: float

    @property
    def title(self) -> str:
        """The label for people: the state of names in the current language."""
        return STATES.get(self.label, self.label)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """The numbers of names, as bars by state, by shoulder (the largest first) and by month of creation, without gaps.
    The shoulders without a bar are counted.
    """

    total: int
    states: Sequence[Bar]
    shoulders: Sequence[Bar]
    other_shoulders: int
    months: Sequence[Bar]
    counted: datetime


def count(bindings: Bindings) -> Counts:
    """Return the counts of all names by state, shoulder and month."""
    states = bindings.count_names(by="state")
    shoulders = bindings.count_names(by="shoulder")
    largest = sorted(shoulders, key=lambda each: (-shoulders[each], each))
    months = bindings.count_names(by="month")
    return Counts(
        total=sum(states.values()),
        states=bars(states, list(states)),
        shoulders=bars(shoulders, largest[:MAX_SHOULDERS]),
        other_shoulders=max(0, len(shoulders) - MAX_SHOULDERS),
        months=bars(months, last_months(months)),
        counted=bindings.now(),
    )


def bars(numbers: Mapping[str, int], labels: Sequence[str]) -> list[Bar]:
    """Return a bar for each label, in this order. The longest one has the length 100; a label without a number is 0.

    >>> bars({"live": 30, "reserved": 10}, ["live", "reserved", "withdrawn"])[1:]
    [Bar(label='reserved', number=10, length=33.3), Bar(label='withdrawn', number=0, length=0.0)]
    """
    most = max((numbers.get(each, 0) for each in labels), default=0) or 1
    return [Bar(each, numbers.get(each, 0), round(100 * numbers.get(each, 0) / most, 1)) for each in labels]


def last_months(numbers: Mapping[str, int]) -> list[str]:
    """Return months as "YYYY-MM" in order: those from the first to the last one with names, at least 12 and at most
    24. Without names there are none.

    >>> last_months({"2026-02": 1, "2025-12": 4})[-3:], len(last_months({"2026-02": 1}))
    (['2025-12', '2026-01', '2026-02'], 12)
    """
    if not numbers:
        return []
    first, last = min(numbers), max(numbers)
    year, month = map(int, last.split("-"))
    found: list[str] = []
    while len(found) < MAX_MONTHS and ((label := f"{year:04}-{month:02}") >= first or len(found) < MIN_MONTHS):
        found.insert(0, label)
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return found
