"""Answers from elsewhere that are taken a second time: for a minute, and always with their age.

Many people follow the same few links at the same time. What a host has just answered is not asked of it again; a hop
says how old such an answer is, and who wants a new one says so. A host that is not to be asked so soon again
(:mod:`~.pacing`) gives no new one; then the old one is taken.

What is kept is what a hop has: status line and header fields, never a body. It was sent to nobody in particular, since
no request carries cookies, credentials or anything else of the person who wants the trace. A host that says
``no-store`` is taken at its word. Hops of our own site are never kept, for they are answered in process; a network that
the operator opened is as any other.
"""

from __future__ import annotations

import dataclasses
import time
from collections import OrderedDict
from collections.abc import Callable

from ....middleware.fork_safety import ForkSafeLock
from ..hop import Fetch, HopFailed, HopResponse


class ResponseCache:
    """Answers of the last ``seconds``, in about ``octets`` of memory. One object serves all threads of a process."""

    def __init__(
        self, seconds: float = 60.0, octets: int = 4_000_000, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self.octets = octets
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, int, HopResponse]] = OrderedDict()
        self._held = 0
        self._lock = ForkSafeLock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def get(self, method: str, url: str) -> HopResponse | None:
        """The answer that is kept, with its age; None where there is none."""
        with self._lock:
            self._evict_expired()
            if (kept := self._kept.get((method, url))) is None:
                return None
        return dataclasses.replace(kept[2], age=self._clock() - kept[0])

    def put(self, method: str, url: str, answer: HopResponse) -> None:
        """Keep an answer that has just come, in place of an older one. The oldest go where there is no room."""
        if any("no-store" in value.lower() for value in answer.all("cache-control")):
            return
        size = _size(method, url, answer)
        with self._lock:
            self._evict((method, url))
            self._evict_expired()
            while self._kept and self._held + size > self.octets:
                self._evict(next(iter(self._kept)))
            if size <= self.octets:
                self._kept[method, url] = (self._clock(), size, answer)
                self._held += size

    def _evict_expired(self) -> None:
        # They stand in the order in which they came.
        too_old = self._clock() - self.seconds
        while self._kept and next(iter(self._kept.values()))[0] <= too_old:
            self._evict(next(iter(self._kept)))

    def _evict(self, key: tuple[str, str]) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self._held -= kept[1]


def cached_fetch(fetch: Fetch, answers: ResponseCache, *, fresh: bool = False) -> Fetch:
    """A :data:`~.hop.Fetch` that takes what is kept in ``answers``, asks ``fetch`` for the rest, and keeps that.

    With ``fresh`` every request is sent, as long as its host may be asked at all.

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
    # A text takes some 50 octets beside its own, and a field is two and a tuple.
    fields = sum(len(name) + len(value) + 160 for name, value in answer.headers)
    return 500 + len(method) + len(url) + len(answer.reason) + fields
