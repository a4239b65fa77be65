"""Divide the names of a store into ranges of keys, and read the live names of a range, for sitemaps.

A range includes its start and not its end. The bounds follow from the keys alone, so all processes find the same. They
are short texts between two names, so that few new names move them, and contain nothing of a reserved name.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from ..names.binding import Binding
from .listing import change_time
from .protocols import Row

KEYS_AT_ONCE = 10_000
"""The maximum number of keys that a statement reads. A reader waits less than a second for its result."""

Read = Callable[[str, Sequence[Any]], Sequence[Row]]
"""A function that returns the rows of a query."""


class LiveName(NamedTuple):
    """A live name for a sitemap. ``identifier`` is its form for links. ``changed`` is in UTC; None if it cannot be
    read.
    """

    key: str
    identifier: str
    changed: datetime | None


class RangeState(NamedTuple):
    """A summary of the public names in a range, which differs after each change of one. ``revisions`` is the sum of
    theirs, and ``changed`` the time of the last change in UTC; None without a name.
    """

    names: int
    revisions: int
    changed: datetime | None


class NameRanges(Protocol):
    """The interface to ranges of the keys of names, for sitemaps. The methods raise :class:`BindingsUnavailable`."""

    def bound(self, start: str, end: str, most: int) -> str | None:
        """Return a text that ends a range from ``start``: the range has ``most`` names of any state or fewer, at
        least half of them. Behind many names that were never public, it ends at the next public one. None if all
        names up to ``end`` fit in one range.
        """
        ...

    def sample(self, start: str, end: str) -> list[str]:
        """Return keys between which there are about :data:`.SAMPLED` names each. The list is empty for a table file."""
        ...

    def first_public(self, start: str, end: str) -> str | None:
        """Return the first key from ``start`` to before ``end`` of a name that is or was public, or None."""
        ...

    def state(self, start: str, end: str) -> RangeState:
        """Return a summary of the public names with keys from ``start`` to before ``end``."""
        ...

    def live(self, start: str, end: str, most: int) -> list[LiveName]:
        """Return the first live and listed names of a range, at most ``most``. It is empty only if there are no
        more.
        """
        ...


class DatabaseRanges:
    """The ranges of the names in a database. ``read`` runs a query, and ``mark`` is the placeholder of the driver.
    ``now`` returns the time in RFC 3339, or "" if no state depends on it.
    """

    def __init__(self, read: Read, mark: str, now: Callable[[], str]) -> None:
        self._read = read
        within = f"key >= {mark} AND key < {mark}"
        reached = f"embargo <= '{now()}'"
        changed = change_time(now())
        public = f"{within} AND (status <> 'reserved' OR once_public IS NOT NULL OR {reached})"
        self.nth_sql = f"SELECT key FROM bindings WHERE {within} ORDER BY key LIMIT 1 OFFSET {mark}"
        self.sample_sql = (
            f"SELECT value FROM name_counts WHERE kind = 'sample' AND value >= {mark} AND value < {mark} ORDER BY value"
        )
        self.last_sql = f"SELECT key FROM bindings WHERE {public} ORDER BY key DESC LIMIT 1"
        self.first_sql = f"SELECT key FROM bindings WHERE {public} ORDER BY key LIMIT 1"
        self.state_sql = f"SELECT count(*), coalesce(sum(revision), 0), max({changed}) FROM bindings WHERE {public}"
        self.live_sql = (
            f"SELECT key, coalesce(long_identifier, key), {changed} FROM bindings "
            f"WHERE {within} AND (status = 'live' OR {reached}) AND listed = 'yes' ORDER BY key LIMIT {mark}"
        )

    def bound(self, start: str, end: str, most: int) -> str | None:
        # Count all names, because the index of the keys has no states.
        last = self._nth(start, end, most)
        middle = last and self._nth(start, behind(last), max(1, most // 2))
        if last is None or middle is None:
            return None
        low = self.first_public(middle, end)
        high = max(self._key_of_each(self.last_sql, middle, behind(last)), default=None)
        return low if low is None or high is None else between(low, high)

    def sample(self, start: str, end: str) -> list[str]:
        return [key for (key,) in self._read(self.sample_sql, (start, end))]

    def first_public(self, start: str, end: str) -> str | None:
        # Most names are public, so the first one is read without the number of the others.
        return self._key(self.first_sql, start, min(end, behind(start))) or next(
            self._key_of_each(self.first_sql, start, end), None
        )

    def state(self, start: str, end: str) -> RangeState:
        rows = [self._read(self.state_sql, step)[0] for step in self._steps(start, end)]
        changed = max((row[2] for row in rows if row[2] is not None), default=None)
        return RangeState(sum(row[0] for row in rows), sum(int(row[1]) for row in rows), _time(changed))

    def live(self, start: str, end: str, most: int) -> list[LiveName]:
        for step in self._steps(start, end):
            if rows := self._read(self.live_sql, (*step, most)):
                return [LiveName(key, identifier, _time(changed)) for key, identifier, changed in rows]
        return []

    def _steps(self, start: str, end: str) -> Iterator[tuple[str, str]]:
        """Divide a range into ranges of at most :data:`KEYS_AT_ONCE` keys."""
        while (bound := self._key(self.nth_sql, start, end, KEYS_AT_ONCE)) is not None:
            yield start, bound
            start = bound
        yield start, end

    def _nth(self, start: str, end: str, number: int) -> str | None:
        """Return the key that follows ``number`` other keys of a range, or None."""
        key: str | None = start
        while number > 0 and key is not None:
            step = min(number, KEYS_AT_ONCE)
            key = self._key(self.nth_sql, key, end, step)
            number -= step
        return key

    def _key_of_each(self, statement: str, start: str, end: str) -> Iterator[str]:
        """Yield the key that a statement finds in each step of a range, in order."""
        return (key for step in self._steps(start, end) if (key := self._key(statement, *step)) is not None)

    def _key(self, statement: str, *parameters: object) -> str | None:
        rows = self._read(statement, parameters)
        return rows[0][0] if rows else None


class FileRanges:
    """The ranges of the names in one version of a table file."""

    def __init__(self, bindings: Mapping[str, Binding]) -> None:
        self._bindings = bindings

    def bound(self, start: str, end: str, most: int) -> str | None:
        keys = self._keys_of(start, end)
        if len(keys) <= most:
            return None
        public = [key for key in keys[max(1, most // 2) :] if _is_public(self._bindings[key])]
        within = [key for key in public if key <= keys[most]]
        return between(within[0], within[-1]) if within else next(iter(public), None)

    def sample(self, start: str, end: str) -> list[str]:
        """Return no keys: the names are in memory."""
        return []

    def first_public(self, start: str, end: str) -> str | None:
        return next((key for key in self._keys_of(start, end) if _is_public(self._bindings[key])), None)

    def state(self, start: str, end: str) -> RangeState:
        public = [each for key in self._keys_of(start, end) if _is_public(each := self._bindings[key])]
        changed = max((each.recorded_at for each in public), default=None)
        return RangeState(len(public), sum(each.revision for each in public), changed)

    def live(self, start: str, end: str, most: int) -> list[LiveName]:
        names: list[LiveName] = []
        for key in self._keys_of(start, end):
            if len(names) == most:
                break
            if (binding := self._bindings[key]).is_live and binding.listed:
                names.append(LiveName(key, key, binding.recorded_at))
        return names

    @cached_property
    def _keys(self) -> list[str]:
        return sorted(self._bindings)

    def _keys_of(self, start: str, end: str) -> list[str]:
        return self._keys[bisect_left(self._keys, start) : bisect_left(self._keys, end)]


def behind(key: str) -> str:
    """Return the smallest text behind a key in the order of keys, because a key contains no space."""
    return f"{key} "


def between(low: str, high: str) -> str:
    """Return a short text greater than ``low`` and not greater than ``high``: their common beginning and one character.
    A check sum selects it, so that most pairs of texts around it have the same result.

    >>> between("ark:12345/x4q7", "ark:12345/x9ab"), between("ark:12345/x", "ark:12345/x")
    ('ark:12345/x9', 'ark:12345/x')
    """
    if low == high:
        return high
    common = next((place for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    first = ord(low[common]) + 1 if len(low) > common else ord("!")
    texts = (f"{high[:common]}{chr(code)}" for code in range(first, ord(high[common]) + 1))
    return min(texts, key=lambda text: crc32(text.encode()))


def _is_public(binding: Binding) -> bool:
    """Return whether a name is or was public."""
    return not binding.is_reserved or binding.is_hidden


def _time(stored: str | None) -> datetime | None:
    try:
        return None if stored is None else datetime.fromisoformat(stored).astimezone(UTC)
    except (TypeError, ValueError):
        return None
