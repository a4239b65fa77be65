"""Open a store at its first use, and try again after a failure, so that a site starts without it. One thread opens the
store. All requests get the last failure until the next attempt, so none waits for a database that is down.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ...identifiers.text import display
from ..names.errors import BindingError, BindingsUnavailable, NoTables
from ..system.fork_safety import ForkSafeLock

CLOSED = "the bindings were closed; open them again with open_bindings"

RETRY_SECONDS = 1.0
"""The minimum time between two attempts."""

RETRY_FACTOR = 5
"""The pause after a failed attempt is at least this multiple of its duration. A worker must not spend its time on
waiting for a dead host."""

QUIET_SECONDS = 10.0
"""The minimum time between two log messages about the same cause."""

_log = logging.getLogger(__name__)


class _Closeable(Protocol):
    def close(self) -> None: ...


S = TypeVar("S", bound=_Closeable)


def next_attempt(began: float, ended: float) -> float:
    """Return the time in seconds of the next attempt after a failed one: the pause is one second, or five times its
    duration.

    >>> next_attempt(10.0, 10.1), next_attempt(10.0, 12.0)
    (11.1, 22.0)
    """
    return ended + max(RETRY_SECONDS, RETRY_FACTOR * (ended - began))


class Opening(Generic[S]):
    """A store that is opened when it is first needed, and again after a failure. ``location`` has no password.
    ``failure`` is the reason of the last attempt in printable ASCII; None if the store is open.
    """

    def __init__(self, location: str, open_: Callable[[], S], clock: Callable[[], float] = time.monotonic) -> None:
        self.location = location
        self.failure: str | None = None
        self._no_tables: NoTables | None = None
        self._open = open_
        self._clock = clock
        self._store: S | None = None
        self._lock = ForkSafeLock()
        self._next_attempt = float("-inf")
        self._closed = False
        self.before_close: list[Callable[[], object]] = []

    @property
    def store(self) -> S:
        """The open store. It is opened if the last attempt did not fail just before. Raises
        :class:`BindingsUnavailable`.
        """
        return self._store if self._store is not None else self._opened()

    @property
    def opened(self) -> S | None:
        """The store if it is open now, else None. No attempt is made to open it."""
        return self._store

    def open(self) -> S:
        """Open the store now. Raises what ``open_`` raises: :class:`BindingError` or :class:`BindingsUnavailable`."""
        with self._lock:
            return self._attempt() if self._store is None else self._store

    def try_to_open(self) -> None:
        """Open the store now. If this fails, log the reason, so that a site starts without its store."""
        try:
            self.open()
        except Exception as error:  # noqa: BLE001 - no error of the store may stop the site
            unexpected = error if not isinstance(error, BindingError | BindingsUnavailable) else None
            sentence = "the bindings cannot be opened, and will be tried again: %s (causes: docs/troubleshooting.md)"
            _log.error(sentence, self.failure, exc_info=unexpected)

    @property
    def is_closed(self) -> bool:
        """Whether the store was closed permanently."""
        return self._closed

    def close(self) -> None:
        """Call the functions in ``before_close``, and close the store for good. Later uses raise
        :class:`BindingsUnavailable`.
        """
        while self.before_close:
            self.before_close.pop()()
        self._closed = True
        if self._store is not None:
            self._store.close()

    def _opened(self) -> S:
        # Wait for the first attempt. Later, answer with the last failure while another thread opens the store.
        if not self._lock.acquire(blocking=self.failure is None):
            raise BindingsUnavailable(self.failure or self.location)
        try:
            if self._store is not None:
                return self._store
            if self.failure is not None and self._clock() < self._next_attempt:
                raise BindingsUnavailable(self.failure) from self._no_tables
            try:
                return self._attempt()
            except BindingsUnavailable:
                raise
            except Exception as error:
                raise BindingsUnavailable(self.failure or self.location) from error
        finally:
            self._lock.release()

    def _attempt(self) -> S:
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        began = self._clock()
        try:
            self._store = self._open()
        except Exception as error:
            self._next_attempt = next_attempt(began, self._clock())
            first_line = str(error).partition("\n")[0]
            if not isinstance(error, BindingError | BindingsUnavailable):
                first_line = f"{self.location}: {type(error).__name__}: {display.escape(first_line)}"
            self.failure = first_line
            self._no_tables = error if isinstance(error, NoTables) else None
            raise
        self.failure = self._no_tables = None
        return self._store


class AvailabilityLog:
    """A logger of failed and successful reads of bindings, which logs each cause of a failure once, and its end. If
    reads fail and succeed in alternation, a cause is logged again after :data:`QUIET_SECONDS`. ``failing`` is true
    until a read succeeds.
    """

    def __init__(
        self,
        failure: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_failure: Callable[[], object] | None = None,
    ) -> None:
        self._on_failure = on_failure
        self.failing = failure is not None
        self._cause = failure
        self._clock = clock
        self._quiet_until = float("-inf")

    def log_failure(self, cause: str) -> None:
        """Log that the bindings cannot be read, with the ``cause``. The same cause is not logged again at once."""
        if self._on_failure is not None:
            self._on_failure()
        if cause == self._cause and (self.failing or self._clock() < self._quiet_until):
            return
        _log.warning("the bindings cannot be read: %s", display.escape(cause))
        self.failing, self._cause = True, cause

    def log_success(self) -> None:
        """Log that the bindings can be read again, if the previous read failed."""
        if self.failing:
            _log.warning("the bindings can be read again")
            self.failing = False
            self._quiet_until = self._clock() + QUIET_SECONDS
