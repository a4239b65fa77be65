"""Deadlines of a trace, of a hop and of a part of a hop, by the monotonic clock."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from ..hop import HopFailed


@dataclass(frozen=True, slots=True)
class Deadline:
    """A limit on a wait: the monotonic time ``deadline``, or the moment when another thread sets ``stop``.

    ``what`` names the limited action in messages.
    """

    deadline: float
    stop: threading.Event | None = None
    what: str = "this hop"

    def remaining(self) -> float:
        """Return the remaining seconds, more than 0. Raises :class:`~.hop.HopFailed` "timeout" or "stopped"."""
        if self.stop is not None and self.stop.is_set():
            raise HopFailed("stopped")
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise HopFailed("timeout", f"the time limit of {self.what} was reached")
        return seconds

    def poll_interval(self) -> float:
        """Return the seconds of one wait: at most the remaining ones, and few, so that a stop is noticed."""
        return min(self.remaining(), 0.2)

    def sub_deadline(self, seconds: float, what: str) -> Deadline:
        """Return a deadline ``seconds`` from now, or this one if it is sooner."""
        sooner = time.monotonic() + seconds
        return Deadline(sooner, self.stop, what) if sooner < self.deadline else self
