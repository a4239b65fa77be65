"""The turns of the jobs of one process: one of them works at a time, and the others wait for the end of its block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count

from ...bindings.system.fork_safety import ForkSafeLock


class Turns:
    """The turns of the jobs of a worker. Accounts take turns; of one account, changes go before reading.
    A job works within :meth:`taking`, and gives its turn away at each call of :func:`pass_on`.
    """

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._is_taken = False
        self._waiting: list[_Turn] = []
        self._served: dict[int | None, int] = {}
        self._numbers = count(1)

    @contextmanager
    def taking(self, account: int | None, *, is_reading: bool) -> Iterator[None]:
        """Wait for a turn of the job of an account, and end it after the block."""
        turn = _Turn(self, account, is_reading)
        self._take(turn)
        _here.turn = turn
        try:
            yield
        finally:
            _here.turn = None
            self._give()

    @contextmanager
    def leaving(self, turn: _Turn) -> Iterator[None]:
        """Let other jobs work during the block, in which the job of ``turn`` waits for something else."""
        self._give()
        try:
            yield
        finally:
            self._take(turn)

    def pass_on(self, turn: _Turn) -> None:
        """Let a job of another account, or a change of the same one, work first. Return when ``turn`` can go on."""
        with self._lock:
            if self._following(turn) is turn:
                self._begin(turn)
                return
            self._wait(turn)
        turn.begins.wait()

    def _take(self, turn: _Turn) -> None:
        with self._lock:
            if not self._is_taken:
                self._begin(turn)
                return
            self._wait(turn)
        turn.begins.wait()

    def _wait(self, turn: _Turn) -> None:
        turn.begins.clear()
        self._waiting.append(turn)

    def _give(self) -> None:
        with self._lock:
            self._is_taken = False
            if self._waiting:
                self._following()

    def _following(self, *others: _Turn) -> _Turn:
        """Choose the turn of a job that waits, or one of ``others``, and begin it."""
        order: Callable[[_Turn], tuple[int, bool]] = lambda each: (self._served.get(each.account, 0), each.is_reading)  # noqa: E731
        following = min([*self._waiting, *others], key=order)
        if following not in others:
            self._waiting.remove(following)
            self._begin(following)
        return following

    def _begin(self, turn: _Turn) -> None:
        self._is_taken = True
        self._served[turn.account] = next(self._numbers)
        turn.begins.set()


class _Turn:
    """The turn of one job, which ``begins`` when it can work."""

    def __init__(self, turns: Turns, account: int | None, is_reading: bool) -> None:
        self.turns, self.account, self.is_reading = turns, account, is_reading
        self.begins = threading.Event()


class _Here(threading.local):
    turn: _Turn | None = None


_here = _Here()


def pass_on() -> None:
    """Let the jobs of other accounts work, if the caller is a job. Call it between two blocks, not in a transaction."""
    if (turn := _here.turn) is not None:
        turn.turns.pass_on(turn)


@contextmanager
def apart() -> Iterator[None]:
    """Let other jobs work during the block, if the caller is a job. It waits there for another process."""
    turn = _here.turn
    with turn.turns.leaving(turn) if turn is not None else nullcontext():
        yield
