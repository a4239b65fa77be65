"""A lock that remains usable in a forked process.

A fork copies a held lock, but not the thread that would release it. Servers can fork workers at any time, so every lock
that can be held during a fork must be a :class:`ForkSafeLock`.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Self


class ForkSafeLock:
    """A lock like :class:`threading.Lock` that is free in every forked process, even if another thread held it at the
    fork.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock like :meth:`threading.Lock.acquire`, and return True if it was acquired."""
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        """Release the lock. A free lock stays free, so that a forked process can call this for its parent's lock."""
        # A thread that forked while it held the lock has a free one in the child.
        if self._lock.locked():
            self._lock.release()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()

    def _renew(self) -> None:
        self._lock = threading.Lock()


_all: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_all):
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
