"""Rounds: trace the targets that were not traced for some time, a few at a time, and record the results."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ...bindings import holding
from ...bindings.digest import MAX_COUNTED
from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import BindingsUnavailable
from ...identifiers.text.display import format_count
from ...net.allowed_addresses import ANYWHERE, Destinations
from ...net.http_client import GuardedClient
from ...net.retry_after import RetryAfter
from ...net.throttle import PausableClock, PerHostThrottle
from ..algorithm import trace
from ..bulk import trace_all
from ..own_names import OwnNames
from .model import AGAIN, State, TracedTarget, state_of
from .store import Due, Links

if TYPE_CHECKING:
    from ...middleware import Bindings
    from ..events import Event

AT_ONCE = 4
"""The number of concurrent traces. Each host gets one request at a time."""

_BLOCK = 20
_BLOCK_SECONDS = 5.0

_log = logging.getLogger(__name__)


_MOST_HOSTS = 100_000


class Forecast(NamedTuple):
    """The work of a round. ``due`` is the number of targets to trace. ``overdue`` is that of names whose target missed
    a whole round, up to :data:`~ararat.bindings.digest.MAX_COUNTED` and one more. ``host`` ("" for paths of this site)
    has the most targets: ``at_host``. ``seconds`` is the least time, because each host gets one request at a time.
    """

    due: int
    overdue: int
    host: str
    at_host: int
    seconds: float


class Round:
    """One round over the names of ``bindings``: trace the targets that were last traced before ``older_than``.

    ``prefix`` is the address of the site, for targets that are paths. ``destinations`` are the servers to which
    requests can be sent; targets elsewhere stay unclear. ``pause`` are the seconds between two requests to one host.
    ``most`` is the maximum number of traces. Setting ``stop`` ends the round; its results stay.
    """

    def __init__(
        self,
        bindings: Bindings,
        *,
        older_than: timedelta,
        prefix: str | None = None,
        destinations: Destinations = ANYWHERE,
        pause: float = 1.0,
        most: int | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.stop = stop or threading.Event()
        self.links = Links(bindings)
        self._bindings = bindings
        self._older_than = older_than
        self._most = most
        self._own = OwnNames(bindings, prefix)
        self._retry_after = RetryAfter()
        self._fetch = self._retry_after.wrap(GuardedClient.to(destinations, stop=self.stop))
        self._pause = pause
        self._throttle = PerHostThrottle(pause, stop=self.stop)

    def run(self, progress: Callable[[TracedTarget], object] | None = None) -> Counter[State]:
        """Trace all targets that are due, and return the number of targets by state. ``progress`` is called with each
        result. Results, and the pauses that hosts asked for, are written in small blocks: the next round respects them.
        Raises BindingsUnavailable.
        """
        for host, seconds in self.links.pauses().items():
            self._retry_after.pause(host, seconds)
        counts: Counter[State] = Counter()
        block: list[TracedTarget] = []
        written = time.monotonic()
        try:
            for link in self._trace_due():
                counts[link.state] += 1
                block.append(link)
                if len(block) >= _BLOCK or time.monotonic() - written > _BLOCK_SECONDS:
                    self._record(block)
                    block, written = [], time.monotonic()
                if progress is not None:
                    progress(link)
        finally:
            self._record(block)
        return counts

    def forecast(self) -> Forecast:
        """Return the number of targets of the round and its least time, and record them. It reads all names."""
        hosts: Counter[str] = Counter()
        number = 0
        for each in islice(self._due(), self._most):
            number += 1
            host = urlsplit(each.target).netloc
            if host in hosts or len(hosts) < _MOST_HOSTS:
                hosts[host] += 1
        now, period = self._bindings.now(), self._older_than
        late = self.links.overdue(now, period) if period else ()
        overdue = sum(1 for _ in islice((each for each in late if not self._is_held(each)), MAX_COUNTED + 1))
        (host, at_host), *_ = hosts.most_common(1) or [("", 0)]
        found = Forecast(number, overdue, host, at_host, at_host * self._pause)
        days = period.total_seconds() / 86_400
        self.links.record_round({"time": rfc3339(now), "days": days, **found._asdict()})
        return found

    def _record(self, block: list[TracedTarget]) -> None:
        if block:
            self.links.record(block)
        self.links.record_pauses(self._retry_after.remaining)

    def _due(self) -> Iterator[Due]:
        now = self._bindings.now()
        found = self.links.due(now - self._older_than, again=now - AGAIN)
        return (each for each in found if not self._is_held(each.identifier))

    def _is_held(self, identifier: str) -> bool:
        """Return whether a hold stops the redirect of a name, so that a trace would not reach the target."""
        if not self._bindings.source.holds().may_cover(identifier):
            return False
        return holding.hold_for(self._bindings, identifier) is not None

    def _trace_due(self) -> Iterator[TracedTarget]:
        due: dict[str, tuple[str, str]] = {}
        events: dict[str, list[Event]] = {}

        def names() -> Iterator[str]:
            for each in islice(self._due(), self._most):
                if self.stop.is_set():
                    return
                due[each.identifier] = each.key, each.target
                yield each.identifier

        def run(identifier: str) -> Sequence[Event]:
            clock = PausableClock()
            fetch = self._own.asking(self._throttle.wrap(self._fetch, clock))
            tests = self._bindings.naming.test_naans
            found = trace(identifier, fetch=fetch, resolver=self._own.prefix, clock=clock, test_naans=tests)
            events[identifier] = list(found)
            return events[identifier]

        for result in trace_all(names(), run, at_once=AT_ONCE):
            key, target = due.pop(result.identifier)
            state = state_of(result, events.pop(result.identifier))
            if state is not None:
                now = self._bindings.now()
                link = TracedTarget(
                    identifier=result.identifier,
                    key=key,
                    target=target,
                    state=state,
                    status=result.status,
                    url=result.url,
                    code=result.code,
                    sentence=result.sentence,
                    since=now,
                    traced=now,
                )
                yield link.following(self.links.of_name(key)) if link.is_temporary else link


def run_continuously(new_round: Callable[[], Round], stop: threading.Event, pause: float = 3600.0) -> None:
    """Run rounds that trace the targets of names, until ``stop`` is set, with ``pause`` seconds between them.
    ``new_round`` makes each round. One that fails because the database cannot be reached is logged, and the next round
    tries again.
    """
    while not stop.is_set():
        try:
            next_round = new_round()
            next_round.forecast()
            counts = next_round.run()
            if counts:
                listed = ", ".join(f"{number:,} {state}" for state, number in counts.items())
                _log.info("Traced the targets of %s: %s", format_count(counts.total(), "name"), listed)
        except BindingsUnavailable as error:
            _log.warning("The round of traces ended early: %s", error)
        stop.wait(pause)
