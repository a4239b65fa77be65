"""Deadlines by the monotonic clock: of a trace, of a hop and of a part of a hop, such as the lookup."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from ..identifiers.text.translatable import Translatable
from .hop import HopFailed


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a wait: the time ``deadline`` by ``time.monotonic()``, or the moment when another thread sets
    ``stop``. ``what`` names the limited action in the message of a timeout, such as "the lookup".
    """

    deadline: float
    stop: threading.Event | None = None
    what: str = Translatable("this hop")

    def remaining(self) -> float:
        """Return the seconds until the deadline, more than 0. Raises :class:`~.hop.HopFailed` with the code "timeout"
        at the deadline, and "stopped" if ``stop`` is set.
        """
        if self.stop is not None and self.stop.is_set():
            raise HopFailed("stopped")
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise HopFailed("timeout", Translatable("the time limit of %(action)s was reached", action=self.what))
        return seconds

    def poll_interval(self) -> float:
        """Return the seconds to block at once, at most 0.2 because of ``stop``. Raises like :meth:`remaining`."""
        return min(self.remaining(), 0.2)

    def sub_deadline(self, seconds: float, what: str) -> Deadline:
        """Return a deadline for the action ``what``, ``seconds`` from now. Return this deadline if it is sooner."""
        sooner = time.monotonic() + seconds
        return Deadline(sooner, self.stop, what) if sooner < self.deadline else self
