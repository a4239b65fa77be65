"""Time that is running out, for a whole run, a hop or a part of one. Only the monotonic clock counts."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass

from ..hop import HopFailed

_SLOWEST = 10_000


def share(seconds: float) -> float:
    """How long the bar for a duration is, from 0 to 1: on a logarithmic scale, so that 2 ms and 2 s can both be seen.

    >>> share(0), share(10), share(60)
    (0.0, 1.0, 1.0)
    """
    return min(1.0, math.log10(1 + seconds * 1000) / math.log10(1 + _SLOWEST))


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long something may still take: until a monotonic ``deadline``, or until ``stop`` is set by another thread.

    ``what`` names it for people.
    """

    deadline: float
    stop: threading.Event | None = None
    what: str = "this hop"

    def remaining(self) -> float:
        """The seconds left, more than 0. Raises :class:`~.hop.HopFailed` "timeout" or "stopped"."""
        if self.stop is not None and self.stop.is_set():
            raise HopFailed("stopped")
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise HopFailed("timeout", f"the time for {self.what} was used up")
        return left

    def poll_interval(self) -> float:
        """The seconds to wait before looking again: not more than are left, and few, so that a stop is noticed."""
        return min(self.remaining(), 0.2)

    def sub_deadline(self, seconds: float, what: str) -> Deadline:
        """A deadline for a part of it, which runs out after ``seconds``, or with this one where that is sooner."""
        sooner = time.monotonic() + seconds
        return Deadline(sooner, self.stop, what) if sooner < self.deadline else self
