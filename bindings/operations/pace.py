"""The size of the transactions of an operation in blocks, and the pauses between them, in which others write."""

from __future__ import annotations

import time

BLOCK = 1000
"""The maximum number of names of one transaction. A slow machine changes fewer, so that none takes long."""

_PAUSE = 0.15
"""The seconds of a pause. Another writer of SQLite that waits looks each 0.1 seconds whether the database is free."""

_WORK = 0.5
"""The seconds of work until the next pause. A transaction that takes longer is followed by one with fewer names."""

LEAST = 20
"""The minimum number of names of one transaction, except the last."""


class BlockPace:
    """The pace of a change of many names: the size of the next transaction, and the pause before it. Unless it is
    ``fixed``, a transaction that takes long is followed by a smaller one, of ``least`` names or more.
    """

    def __init__(self, where: str, fixed: int | None = None, least: int = LEAST) -> None:
        self.size = self._most = fixed or BLOCK
        self._least = fixed or min(least, BLOCK)
        self._is_shared = where.startswith("sqlite")
        self._rested = self._begun = time.monotonic()

    def begin(self) -> None:
        """Note that the next transaction begins."""
        self._begun = time.monotonic()

    def rest(self) -> None:
        """Choose the size of the next transaction, and pause on SQLite, so that other writers have their turn."""
        taken = time.monotonic() - self._begun
        if taken > _WORK:
            self.size = max(self._least, self.size // 2)
        elif taken < _WORK / 3:
            self.size = min(self._most, 2 * self.size)
        if time.monotonic() - self._rested > _WORK and self._is_shared:
            time.sleep(_PAUSE)
            self._rested = time.monotonic()
        self.begin()
