"""Send no request to a host before the time that it asked for in a field Retry-After."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from werkzeug.http import parse_date

from ..identifiers.text.translatable import Translatable
from . import uri
from .hop import Fetch, HopFailed, HopResponse

MAX_SECONDS = 86_400.0
"""The longest time in seconds for which a host gets no request."""

_STATUSES = frozenset({429, 503})


class RetryAfter:
    """The hosts that asked for a pause, for several traces. All threads can use one object."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def pause(self, host: str, seconds: float) -> None:
        """Send no request to a host for some time. ``host`` is its name; ``seconds`` is at most :data:`MAX_SECONDS`."""
        self._until[host] = self._clock() + min(seconds, MAX_SECONDS)

    @property
    def remaining(self) -> dict[str, float]:
        """The hosts that get no request now, with the seconds until the end of the pause."""
        now = self._clock()
        return {host: until - now for host, until in self._until.copy().items() if until > now}

    def wrap(self, fetch: Fetch) -> Fetch:
        """Return ``fetch`` with the failure "too-often" for a host that asked for a pause."""

        def polite(method: str, url: str, deadline: float) -> HopResponse:
            host = uri.parse(url).host
            if (left := self._until.get(host, 0.0) - self._clock()) > 0:
                sentence = Translatable.counted(
                    "the host asked for no request for %(number)s second (Retry-After)",
                    "the host asked for no request for %(number)s seconds (Retry-After)",
                    round(left),
                )
                raise HopFailed("too-often", sentence)
            response = fetch(method, url, deadline)
            if response.status in _STATUSES and (seconds := seconds_of(response.headers)):
                self.pause(host, seconds)
            return response

        return polite


def seconds_of(fields: Iterable[tuple[str, str]]) -> float:
    """Return the seconds in the first field Retry-After of these header fields, or 0 (RFC 9110, section 10.2.3)."""
    value = next((value for name, value in fields if name.lower() == "retry-after"), "").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    when = parse_date(value)
    return 0.0 if when is None else max(0.0, (when - datetime.now(UTC)).total_seconds())
