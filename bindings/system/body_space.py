"""The space that this process has for the bodies of requests in memory and temporary files, until these are answered.
All together have the limit of :meth:`BodySpace.use`, and half of the space that is free in the folder of temporary
files.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections import deque

from .fork_safety import AtFork, ForkSafeLock

DEFAULT = 2 * 2**30
"""The maximum in bytes if none is set."""

BRIEF = 65536
"""The bytes up to which a body is refused last: long bodies leave an eighth of the space to such bodies."""

_CHECK_SECONDS = 1.0
_CHECK_BYTES = 2**23


class BodySpace:
    """The space in bytes that this process has for the bodies of requests, until these are answered.

    >>> space = BodySpace()
    >>> space.use(1_000_000)
    >>> space.take(400_000, before=0), space.take(500_000, before=0), space.take(400, before=0), space.used
    (True, False, True, 400400)
    >>> space.give_back(400_400)
    """

    def __init__(self) -> None:
        self._most = DEFAULT
        self._used = 0
        self._free: float = 0
        self._checked = -_CHECK_SECONDS
        self._since_check = 0
        self._returned: deque[int] = deque()
        self._lock = ForkSafeLock()
        _at_fork.add(self)

    def use(self, most: int) -> None:
        """Set the maximum to ``most`` bytes."""
        self._most = most

    @property
    def used(self) -> int:
        """The bytes of all bodies."""
        with self._lock:
            self._settle()
            return self._used

    def take(self, number: int, before: int) -> bool:
        """Take space for ``number`` further bytes of a body that has ``before``, and return whether there is room. An
        eighth of the space is for bodies of at most :data:`BRIEF` bytes.
        """
        with self._lock:
            self._settle()
            now = time.monotonic()
            self._since_check += number
            if now >= self._checked + _CHECK_SECONDS or self._since_check >= _CHECK_BYTES:
                self._checked, self._since_check, self._free = now, 0, _free_bytes()
            # Bodies that have taken as much as is free hold half of the space that was free without them.
            most = min(self._most, self._free)
            if before + number > BRIEF:
                most -= most / 8
            if self._used + number > most:
                return False
            self._used += number
            return True

    def give_back(self, number: int) -> None:
        """Free the space of ``number`` bytes, without a lock: the garbage collector can call it in a thread that holds
        the lock.
        """
        self._returned.append(number)

    def forget(self) -> None:
        """Free the space that a forked process inherited from its parent."""
        self._used = 0
        self._returned.clear()

    def _settle(self) -> None:
        while self._returned:
            self._used = max(0, self._used - self._returned.popleft())


def _free_bytes() -> float:
    with contextlib.suppress(OSError):
        return shutil.disk_usage(tempfile.gettempdir()).free
    return float("inf")


_at_fork = AtFork(after_in_child=BodySpace.forget)

body_space = BodySpace()
"""The space of this process."""
