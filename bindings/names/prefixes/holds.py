"""Holds: a name, or all names below a prefix, are described and do not redirect until a time. A hold of a name includes
the names that continue it with a slash or a dot. Its end stays recorded until it is released. Of several holds, that of
the longest name or prefix is shown.

>>> from datetime import UTC, datetime
>>> holds = Holds([Hold("ark:12345/x", read_end("2027-03-01"), "a court order")])
>>> holds.hold_for("ark:12345/x/p1", datetime(2027, 3, 1, 23, tzinfo=UTC)).reason
'a court order'
>>> holds.hold_for("ark:12345/x/p1", datetime(2027, 3, 2, tzinfo=UTC))
>>> holds.hold_for("ark:12345/x1", datetime.now(UTC))
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta

from ....identifiers.text.translatable import Translatable
from .. import validation
from ..binding import Hold, utc_seconds
from ..errors import BindingError
from ..fields import MAX_REASON

MAX_SECONDS = 300
"""The maximum number of seconds for which a cache can store an answer that a hold changes."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY = timedelta(days=1)


def read_end(text: str) -> datetime:
    """Return the end of a hold in UTC: a time in RFC 3339 with its offset, or a date, whose whole day in UTC is
    included. Raises :class:`BindingError` (``hold-until``).

    >>> print(read_end("2027-03-01"), read_end("2027-03-01T12:00:00+01:00"))
    2027-03-02 00:00:00+00:00 2027-03-01 11:00:00+00:00
    """
    try:
        time = datetime.fromisoformat(text.strip())
        if _DATE.fullmatch(text.strip()):
            return time.replace(tzinfo=UTC) + _DAY
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise BindingError(
        "hold-until", Translatable("%(text)s is not a date or a time with its offset", text=validation.quote(text))
    )


def require_limited(until: datetime, now: datetime) -> None:
    """Raise :class:`BindingError` with the code ``hold-until`` for a hold that ends more than a year after ``now``."""
    try:
        year = now.replace(year=now.year + 1, hour=0, minute=0, second=0, microsecond=0)
    except ValueError:  # 29 February
        year = now.replace(year=now.year + 1, month=3, day=1, hour=0, minute=0, second=0, microsecond=0)
    if until > year + _DAY:
        raise BindingError("hold-until", Translatable("%(until)s is more than a year ahead", until=utc_seconds(until)))


def check(until: datetime, reason: str, now: datetime) -> tuple[datetime, str]:
    """Return the end and the reason of a new hold in stored form. Raises :class:`BindingError` (``hold-until``,
    ``hold-reason``).
    """
    until = until.astimezone(UTC)
    if until <= now:
        raise BindingError("hold-until", Translatable("%(until)s is in the past", until=utc_seconds(until)))
    require_limited(until, now)
    return until, validation.check(reason, "hold-reason", Translatable("Reason of the hold"), MAX_REASON)


def narrowest(holds: Iterable[Hold | None], now: datetime) -> Hold | None:
    """Return the hold of the longest name or prefix that has not ended at ``now``. A name precedes a prefix."""
    current = [each for each in holds if each is not None and each.until > now]
    return max(current, key=lambda each: (len(each.of), not each.is_prefix), default=None)


class Holds:
    """All holds of names and prefixes of a store, for fast lookups by name. Its truth value is whether it
    contains one.
    """

    def __init__(self, holds: Iterable[Hold] = ()) -> None:
        self._names: dict[str, Hold] = {}
        self._prefixes: dict[str, Hold] = {}
        for each in holds:
            (self._prefixes if each.is_prefix else self._names)[each.of] = each
        # One lookup for each length, so that the number of prefixes does not matter.
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def __bool__(self) -> bool:
        return bool(self._names or self._prefixes)

    def current(self, now: datetime) -> list[Hold]:
        """Return the holds of public names and then of prefixes that last at the time ``now``, each in the order of
        keys.
        """
        holds = [*self._names.values(), *self._prefixes.values()]
        return sorted(
            (each for each in holds if each.until > now and each.is_public(now)),
            key=lambda each: (each.is_prefix, each.of),
        )

    def may_cover(self, key: str) -> bool:
        """Return whether a hold can stop the redirect of a name. This is quick, and can be true without a hold."""
        if not self:
            return False
        if self._names and (key in self._names or "/" in key[key.find("/") + 1 :] or "." in key):
            return True
        return any(key[:length] in self._prefixes for length in self._lengths)

    def hold_for(self, key: str, now: datetime, above: Collection[str] = (), *, read: str | None = None) -> Hold | None:
        """Return the narrowest hold that stops the redirect of a name or text at a time, or None. Names that are not
        public have none. ``above`` are names whose holds include it, because it is their variant. ``read`` is a name
        whose record was read, so that its hold here can be older.
        """
        holds = [each for each in self._of_names(key, above, read) if each.is_public(now)]
        holds += [hold for length in self._lengths if (hold := self._prefixes.get(key[:length])) is not None]
        return narrowest(holds, now)

    def begins(self, key: str, now: datetime, above: Collection[str] = ()) -> datetime | None:
        """Return the next time at which a hold begins to stop the redirect of a name, as when a reserved one becomes
        public.
        """
        holds = (each for each in self._of_names(key, above, None) if not each.is_public(now))
        times = (each.public_from for each in holds if each.public_from is not None and each.public_from < each.until)
        return min(times, default=None)

    def _of_names(self, key: str, above: Collection[str], read: str | None) -> list[Hold]:
        # A URN contains no other names.
        within = key[: max(map(len, self._names), default=0) + 1] if key.startswith("ark:") else ""
        places = [place for place, char in enumerate(within) if char in "/."]
        keys = {key, *above, *(key[:place] for place in places)} - {read}
        return [hold for each in keys if (hold := self._names.get(each)) is not None]


NO_HOLDS = Holds()
