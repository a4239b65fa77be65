"""Read the numbers of names that the database keeps in groups (:mod:`.tables.name_counts`), without reading names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from ..names.binding import rfc3339
from ..names.selection import Group, Selection, shoulder_of
from .protocols import Row

_COUNTED = """
SELECT value, sum(number) FROM name_counts WHERE kind = ? GROUP BY value HAVING sum(number) > 0"""
_FIRST_EMBARGO = "SELECT min(embargo) FROM bindings WHERE embargo IS NOT NULL"
_DUE = "SELECT key, created, kind, once_public FROM bindings WHERE embargo <= ?"

Read = Callable[[str, Sequence[Any]], Sequence[Row]]
"""A function that returns the rows of a query with the placeholders of the database."""


class CountedGroup(NamedTuple):
    """A group of names: their state, month of creation, kind and shoulder. A reserved name that was public is
    "hidden".
    """

    state: str
    month: str
    kind: str
    shoulder: str


class KeptCounts:
    """The numbers of names that a database keeps. The clock counts a name as live as soon as its embargo ends."""

    def __init__(self, read: Read, marked: Callable[[str], str], clock: Callable[[], datetime]) -> None:
        self._read = read
        self._marked = marked
        self._clock = clock

    def groups(self) -> Counter[CountedGroup]:
        """Return the number of names of each group."""
        rows = self._read(self._marked(_COUNTED), ("names",))
        found = Counter({CountedGroup(*value.split(" ", 3)): int(number) for value, number in rows})
        first = self._read(_FIRST_EMBARGO, ())[0][0]
        now = "" if first is None else rfc3339(self._clock())
        if first is not None and first <= now:
            for key, created, kind, once_public in self._read(self._marked(_DUE), (now,)):
                before = CountedGroup("hidden" if once_public else "reserved", created[:7], kind, shoulder_of(key))
                found[before] -= 1
                found[before._replace(state="live")] += 1
        return +found

    def members(self, kind: str) -> set[str]:
        """Return the metadata elements ("elements") or the selectors of alternate targets ("selectors") in use."""
        rows = self._read(self._marked(_COUNTED), (kind,))
        return {member for value, _ in rows for member in json.loads(value)}

    def count(self, selection: Selection, by: Group | None) -> dict[str, int] | None:
        """Count the names that meet conditions, as :meth:`.Lists.count`, or return None if the groups do not
        suffice.
        """
        order = {"sort": None, "descending": False, "now": None}
        if replace(selection, prefix=None, beginnings=None, status=None, public=False, **order) != Selection():  # type: ignore[arg-type]  values of fields
            return None
        counts: Counter[str] = Counter()
        for group, number in self.groups().items():
            if (group.state == "reserved" and selection.public) or selection.status not in (None, _status(group)):
                continue
            within = _is_within(group.shoulder, selection)
            if within is None:
                return None
            if within:
                counts[_label(group, by)] += number
        return dict(sorted(counts.items()))


def _status(group: CountedGroup) -> str:
    return "reserved" if group.state == "hidden" else group.state


def _label(group: CountedGroup, by: Group | None) -> str:
    return {"shoulder": group.shoulder, "state": _status(group), "month": group.month, None: ""}[by]


def _is_within(shoulder: str, selection: Selection) -> bool | None:
    """Return whether the names of a shoulder meet the conditions for names, or None if only some of them do."""
    conditions = [(selection.prefix or "",), ("",) if selection.beginnings is None else selection.beginnings]
    answers = {_begins(shoulder, each) for each in conditions}
    return False if False in answers else None if None in answers else True


def _begins(shoulder: str, beginnings: Sequence[str]) -> bool | None:
    """Return whether the names of a shoulder have one of some beginnings, or None if only some of them do."""
    if shoulder.startswith(tuple(beginnings)):
        return True
    return None if any(_can_begin(shoulder, each) for each in beginnings) else False


def _can_begin(shoulder: str, beginning: str) -> bool:
    """Return whether a name of a shoulder can have a beginning that is longer than the shoulder."""
    return beginning.startswith(shoulder) and shoulder_of(beginning) == shoulder
