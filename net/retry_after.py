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
    """The hosts that asked for a pause (429 or 503 with Retry-After), in memory. Several traces and threads can share
    one object.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def pause(self, host: str, seconds: float) -> None:
        """Refuse requests of :meth:`wrap` to a host for ``seconds``, at most :data:`MAX_SECONDS`. ``host`` is its name
        in lower case.
        """
        self._until[host] = self._clock() + min(seconds, MAX_SECONDS)

    @property
    def remaining(self) -> dict[str, float]:
        """The seconds until the end of the pause by host, without the hosts whose pause is over."""
        now = self._clock()
        return {host: until - now for host, until in self._until.copy().items() if until > now}

    def wrap(self, fetch: Fetch) -> Fetch:
        """Return a :data:`~.hop.Fetch` that sends requests with ``fetch`` and notes the pauses that hosts ask for. For
        a host in a pause it raises :class:`~.hop.HopFailed` "too-often".
        """

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
    """Return the seconds to wait by the first field Retry-After, a number or a date (RFC 9110, section 10.2.3). Without
    a valid one, or for a past date, the result is 0.
    """
    value = next((value for name, value in fields if name.lower() == "retry-after"), "").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    when = parse_date(value)
    return 0.0 if when is None else max(0.0, (when - datetime.now(UTC)).total_seconds())
