"""Locks, and functions to call at a fork, for objects that remain usable in a forked process. A fork copies a held
lock, but not the thread that would release it. So every lock that can be held during a fork must be a
:class:`ForkSafeLock`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

inherited: list[object] = []
"""Connections of the parent process. They stay referenced, because garbage collection would close them."""


class AtFork(Generic[T]):
    """Functions that are called at each fork for every registered object that still exists: ``before`` in the process
    that forks, ``after_in_child`` in the new one. There, the functions of the first AtFork are called first, so that
    all locks of this module are free when others need them.
    """

    def __init__(self, *, before: Callable[[T], object] | None = None, after_in_child: Callable[[T], object]) -> None:
        # Not a WeakSet: an iteration over one fails if another thread adds an object.
        self._references: set[weakref.ref[T]] = set()
        if not hasattr(os, "register_at_fork"):
            return  # Windows has no fork.
        if before is not None:
            os.register_at_fork(before=lambda: self._call(before))
        os.register_at_fork(after_in_child=lambda: self._call(after_in_child))

    def add(self, added: T) -> None:
        """Register an object. As long as it exists, the functions are called for it at each fork."""
        self._references.add(weakref.ref(added, self._references.discard))

    def _call(self, function: Callable[[T], object]) -> None:
        failures: list[Exception] = []
        for reference in list(self._references):
            if (added := reference()) is not None:
                try:
                    function(added)
                except Exception as error:  # noqa: BLE001 - the other objects need their call
                    failures.append(error)
        if failures:
            raise failures[0]  # Python prints it, and continues the fork


class ForkSafeLock:
    """A lock like :class:`threading.Lock` that is free in every forked process, also if another thread held it."""

    def __init__(self) -> None:
        self._renew()
        _at_fork.add(self)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock like :meth:`threading.Lock.acquire`, and return whether it was acquired."""
        return self._lock.acquire(blocking, timeout)

    def release(self, *_: object) -> None:
        """Release the lock. A free lock stays free, so that a forked process can release the lock of its parent."""
        # A thread that forked while it held the lock has a free one in the child.
        if self._lock.locked():
            self._lock.release()

    __enter__, __exit__ = acquire, release

    def _renew(self) -> None:
        self._lock = threading.Lock()


_at_fork = AtFork(after_in_child=ForkSafeLock._renew)
