"""Count the requests for each name in memory. A thread adds them to the database every :data:`FLUSH_SECONDS`, and when
the process ends. A killed process loses at most the counts of this time. Only bound names are counted. A name below a
container, or of a rule, is counted for the container or the prefix of the rule.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

from ...bindings.names.errors import BindingsUnavailable
from ...bindings.system.fork_safety import ForkSafeLock
from ...identifiers.text import display
from .counts import CountStore, DailyCount

if TYPE_CHECKING:
    from ..resolution.result import Resolution

FLUSH_SECONDS = 10.0
"""The time between two additions to the database."""

MAX_PENDING = 50_000
"""The maximum number of pairs of name and day in memory. Requests for further names are not counted until then."""

_SUCCESSES = frozenset({200, 302, 303, 307})
_DAY_SECONDS = 86_400
_EPOCH = date(1970, 1, 1).toordinal()

_log = logging.getLogger(__name__)


class Statistics:
    """A counter of the requests for each name in the memory of this process. It writes them to ``store`` at most once
    in ``seconds``. ``clock`` returns the seconds since 1970 in UTC. All threads can use one object.
    """

    def __init__(
        self, store: CountStore, *, clock: Callable[[], float] = time.time, seconds: float = FLUSH_SECONDS
    ) -> None:
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._lock = ForkSafeLock()
        self._flushing = ForkSafeLock()
        self._is_prepared = self._is_failing = False
        self._begin()
        atexit.register(_flush, weakref.ref(self))

    def observe(self, resolution: Resolution, method: str | None, status: int, seconds: float) -> None:
        """Count a successful GET request for a bound name that is not on hold. If a container or rule made the binding,
        that is counted. ``seconds`` is ignored.
        """
        binding = resolution.binding
        # A name on hold leads to its description, which the client requests next, and not to a thing.
        if binding is None or resolution.outcome == "held" or method != "GET" or status not in _SUCCESSES:
            return
        name = resolution.rule or resolution.container or binding.identifier
        key = int(self._clock()) // _DAY_SECONDS, name
        with self._lock:
            if self._process != os.getpid():
                self._begin()
            if self._thread is None:
                self._start()
            if (numbers := self._counts.get(key)) is None:
                if len(self._counts) >= MAX_PENDING:
                    self._dropped += 1
                    return
                numbers = self._counts[key] = [0, 0]
                if len(self._counts) == MAX_PENDING // 2:
                    self._wake.set()
            numbers[resolution.outcome == "metadata"] += 1

    def prepare(self) -> None:
        """Create the file or the table of the counts if it is missing. A database that cannot be reached is only
        logged. Raises :class:`~ararat.middleware.BindingError` for a database of another program.
        """
        try:
            self._store.prepare()
        except BindingsUnavailable as error:
            _log.warning("The statistics cannot be written now: %s", display.escape(str(error)))
            self._is_failing = True
        else:
            self._is_prepared = True

    def flush(self) -> None:
        """Write the counts from memory to the database now. If this fails, they stay, and the reason is logged once."""
        with self._flushing:
            with self._lock:
                if self._process != os.getpid():
                    # The counts belong to the parent process, which writes them.
                    self._begin()
                counts, dropped = self._counts, self._dropped
                self._counts, self._dropped = {}, 0
            if not counts:
                return
            try:
                if not self._is_prepared:
                    self._store.prepare()
                    self._is_prepared = True
                self._store.add(DailyCount(name, _date(day), *numbers) for (day, name), numbers in counts.items())
            except Exception as error:  # noqa: BLE001 - it is logged
                self._put_back(counts, dropped)
                if not self._is_failing:
                    _log.warning("The statistics cannot be written now: %s", display.escape(str(error)))
                # The file can be missing.
                self._is_failing, self._is_prepared = True, False
                return
            if self._is_failing:
                _log.warning("The statistics can be written again")
            if dropped:
                _log.warning("%d requests were not counted: too many names were requested", dropped)
            self._is_failing = False

    def _begin(self) -> None:
        """Forget the counts and the thread of a parent process."""
        self._process = os.getpid()
        self._counts: dict[tuple[int, str], list[int]] = {}
        self._dropped = 0
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()

    def _start(self) -> None:
        arguments = weakref.ref(self), self._wake, self._seconds
        thread = threading.Thread(target=_run, args=arguments, name="ararat-statistics", daemon=True)
        # At the limit of threads no thread starts. The next request tries again.
        with suppress(RuntimeError):
            thread.start()
            self._thread = thread

    def _put_back(self, counts: dict[tuple[int, str], list[int]], dropped: int) -> None:
        with self._lock:
            self._dropped += dropped
            for key, (resolutions, descriptions) in counts.items():
                if key in self._counts or len(self._counts) < MAX_PENDING:
                    numbers = self._counts.setdefault(key, [0, 0])
                    numbers[0] += resolutions
                    numbers[1] += descriptions
                else:
                    self._dropped += resolutions + descriptions


def _date(day: int) -> date:
    """Return the date of a day, counted from 1970-01-01."""
    return date.fromordinal(_EPOCH + day)


def _run(reference: weakref.ref[Statistics], wake: threading.Event, seconds: float) -> None:
    while True:
        wake.wait(seconds)
        wake.clear()
        if not _flush(reference):
            return


def _flush(reference: weakref.ref[Statistics]) -> bool:
    """Write the counts, and return whether their owner still exists."""
    statistics = reference()
    if statistics is None:
        return False
    statistics.flush()
    return True
