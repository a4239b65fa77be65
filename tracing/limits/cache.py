"""Cache the status lines and header fields of other hosts for a minute. Many people trace the same few links at the
same time. If the rate limit of the host (:mod:`~.rate_limit`) is reached, the cached response is used even if a new one
is requested.

They are not personal: no request of a trace carries cookies, credentials or other data of the client. A response with
``no-store`` is not cached. Responses of this site are made in process, and never cached.
"""

from __future__ import annotations

import dataclasses
import time
from collections import OrderedDict
from collections.abc import Callable

from ...bindings.system.fork_safety import ForkSafeLock
from ...net.hop import Fetch, HopFailed, HopResponse


class ResponseCache:
    """A cache of the responses of other hosts in memory. A response is kept for ``seconds``, and all together use about
    ``max_bytes`` bytes. All threads of a process share one object.
    """

    def __init__(
        self, seconds: float = 60.0, max_bytes: int = 4_000_000, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self.max_bytes = max_bytes
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, int, HopResponse]] = OrderedDict()
        self._held = 0
        self._lock = ForkSafeLock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def get(self, method: str, url: str) -> HopResponse | None:
        """Return the cached response to a request with its ``age`` in seconds, or None."""
        with self._lock:
            self._evict_expired()
            if (kept := self._kept.get((method, url))) is None:
                return None
        return dataclasses.replace(kept[2], age=self._clock() - kept[0])

    def put(self, method: str, url: str, answer: HopResponse) -> None:
        """Cache the response to a request, unless its Cache-Control contains no-store. The oldest ones make room."""
        if any("no-store" in value.lower() for value in answer.all("cache-control")):
            return
        size = _size(method, url, answer)
        with self._lock:
            self._evict((method, url))
            self._evict_expired()
            while self._kept and self._held + size > self.max_bytes:
                self._evict(next(iter(self._kept)))
            if size <= self.max_bytes:
                self._kept[method, url] = (self._clock(), size, answer)
                self._held += size

    def _evict_expired(self) -> None:
        # The entries are in the order of their arrival.
        too_old = self._clock() - self.seconds
        while self._kept and next(iter(self._kept.values()))[0] <= too_old:
            self._evict(next(iter(self._kept)))

    def _evict(self, key: tuple[str, str]) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self._held -= kept[1]


def cached_fetch(fetch: Fetch, answers: ResponseCache, *, fresh: bool = False) -> Fetch:
    """Return a :data:`~.hop.Fetch` that answers from the cache, and else with ``fetch``, whose response it caches. With
    ``fresh``, a cached response is used only if ``fetch`` fails with "too-often".

    >>> replies = iter([HopResponse(200, "OK", ())])
    >>> asking = cached_fetch(lambda method, url, deadline: next(replies), ResponseCache(clock=lambda: 0.0))
    >>> asking("GET", "https://example.org/", 0.0).age, asking("GET", "https://example.org/", 0.0).age
    (None, 0.0)
    """

    def ask(method: str, url: str, deadline: float) -> HopResponse:
        if not fresh and (kept := answers.get(method, url)) is not None:
            return kept
        try:
            answer = fetch(method, url, deadline)
        except HopFailed as failed:
            if failed.code == "too-often" and (kept := answers.get(method, url)) is not None:
                return kept
            raise
        answers.put(method, url, answer)
        return answer

    return ask


def _size(method: str, url: str, answer: HopResponse) -> int:
    # A str has an overhead of about 50 bytes; a field is two of them and a tuple.
    fields = sum(len(name) + len(value) + 160 for name, value in answer.headers)
    return 500 + len(method) + len(url) + len(answer.reason) + fields
