"""Opening a store when it is needed, and again after a failure, so that a store never stops a site from starting.

A failure is remembered for a while: until then every request has the same answer at once, and no request waits for a
database that is away. One thread opens the store; the others meanwhile have the remembered failure.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from ...identifiers.text import display
from ..errors import BindingError, BindingsUnavailable
from ..fork_safety import ForkSafeLock

RETRY_SECONDS = 1.0
"""The least time between two attempts."""

RETRY_FACTOR = 5
"""How many times as long as an attempt took nothing is tried again: waiting for a dead host must not fill the time of
a worker."""

QUIET_SECONDS = 10.0
"""The least time between two lines about the same cause."""

_log = logging.getLogger(__name__)


def next_attempt(began: float, ended: float) -> float:
    """The time of the next attempt after one that failed."""
    return ended + max(RETRY_SECONDS, RETRY_FACTOR * (ended - began))


class Opening:
    """A store that may not be open yet. ``where`` shows its place, without a password."""

    def __init__(self, where: str, open_: Callable[[], Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.where = where
        self.failure: str | None = None
        self._open = open_
        self._clock = clock
        self._store: Any = None
        self._lock = ForkSafeLock()
        self._next_attempt = float("-inf")
        self._closed = False

    @property
    def store(self) -> Any:
        """The open store. Raises :class:`BindingsUnavailable` if it cannot be opened."""
        return self._store if self._store is not None else self._opened()

    @property
    def opened(self) -> Any:
        """The store if it is open, or None. Nothing is opened."""
        return self._store

    def open(self) -> Any:
        """Open the store now, and return it. Raises what opening raises, a :class:`BindingError` for one."""
        with self._lock:
            return self._attempt() if self._store is None else self._store

    def try_to_open(self) -> None:
        """Open the store now. Log a failure, and do not raise it."""
        try:
            self.open()
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not stop the site
            unexpected = error if not isinstance(error, BindingError | BindingsUnavailable) else None
            _log.error("the bindings cannot be opened, which is tried again: %s", self.failure, exc_info=unexpected)

    def close(self) -> None:
        """Close the store; it is not opened again."""
        self._closed = True
        if self._store is not None:
            self._store.close()

    def _opened(self) -> Any:
        # The first attempt is waited for; after that there is a failure to answer with.
        if not self._lock.acquire(blocking=self.failure is None):
            raise BindingsUnavailable(self.failure or self.where)
        try:
            if self._store is not None:
                return self._store
            if self.failure is not None and self._clock() < self._next_attempt:
                raise BindingsUnavailable(self.failure)
            try:
                return self._attempt()
            except BindingsUnavailable:
                raise
            except Exception as error:
                raise BindingsUnavailable(self.failure or self.where) from error
        finally:
            self._lock.release()

    def _attempt(self) -> Any:
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        began = self._clock()
        try:
            self._store = self._open()
        except Exception as error:
            self._next_attempt = next_attempt(began, self._clock())
            first_line = str(error).partition("\n")[0]
            if not isinstance(error, BindingError | BindingsUnavailable):
                first_line = f"{self.where}: {type(error).__name__}: {display.escape(first_line)}"
            self.failure = first_line
            raise
        self.failure = None
        return self._store


class AvailabilityLog:
    """Logs that bindings cannot be read: each cause once, and that they can be read again.

    ``failure`` is the cause that was logged already. Where some requests fail and others do not, the same cause is
    logged again only after :data:`QUIET_SECONDS`. ``failing`` is whether a logged failure has not ended yet.
    """

    def __init__(self, failure: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.failing = failure is not None
        self._cause = failure
        self._clock = clock
        self._quiet_until = float("-inf")

    def failed(self, cause: str) -> None:
        """Note that the bindings could not be read."""
        if cause == self._cause and (self.failing or self._clock() < self._quiet_until):
            return
        _log.warning("the bindings cannot be read: %s", display.escape(cause))
        self.failing, self._cause = True, cause

    def succeeded(self) -> None:
        """Note that the bindings could be read."""
        if self.failing:
            _log.warning("the bindings can be read again")
            self.failing = False
            self._quiet_until = self._clock() + QUIET_SECONDS
