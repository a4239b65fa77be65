"""Connections for reading: opened when needed, kept while they are good, never shared, never taken across a fork.

A lookup takes an idle connection, or opens one, has it to itself, and puts it back. Whether an idle connection is still
good is decided by its *mark*: what the database states about itself at the moment (for a file: which file it is, and in
what state). A connection with another mark is closed.

The number of connections is limited. A lookup that finds all of them in use waits :data:`WAIT_SECONDS` for one. At
most :data:`KEPT` idle connections are kept, for :data:`IDLE_SECONDS`; each is used for :data:`LIFETIME_SECONDS` at
most. The lookups themselves close what is too old or too many: there is no thread for it.

A forked process must not use or close a connection of its parent: SQLite forbids it, because the child inherits the
parent's list of locks. So idle connections are closed before a fork, and the child forgets the others.

SQLAlchemy's QueuePool and psycopg_pool were compared. The first takes longer to hand out a connection than SQLite takes
for a lookup (7 us), and neither knows marks. The second starts threads, and works with PostgreSQL alone.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import BindingsUnavailable

KEPT = 8
IDLE_SECONDS = 60.0
LIFETIME_SECONDS = 1800.0
WAIT_SECONDS = 1.0

Row = tuple[Any, ...]


class Connection(Protocol):
    """As much of a driver's connection as reading needs; those of sqlite3 and psycopg have it."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Run a statement and return a cursor."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Database(Protocol):
    """What a kind of database says about itself to :class:`Readers`."""

    @property
    def driver_error(self) -> type[Exception]:
        """The class of every exception that the driver raises."""
        ...

    def mark(self, in_use: bool = False, /) -> Hashable:
        """What has to be the same for a connection to be still good. Raises BindingsUnavailable.

        ``in_use`` states that this process has idle connections.
        """
        ...

    def connect_to_read(self) -> Connection:
        """A new connection that cannot write. Raises BindingsUnavailable."""
        ...

    @property
    def most_readers(self) -> int:
        """How many connections for reading one process has open at most."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """What to raise for a failure of the driver."""
        ...

    def is_passing(self, error: Exception) -> bool:
        """Whether a statement failed for a reason that leaves its connection good, such as a time limit."""
        ...


@dataclass(slots=True)
class _Reader:
    connection: Connection
    mark: Hashable
    pid: int
    opened: float
    used: float


class Readers:
    """The reading connections of one database in this process."""

    def __init__(self, database: Database, verify: Callable[[Connection], None]) -> None:
        """``verify`` is called with each new connection; it raises where that does not lead to what is expected."""
        self._database = database
        self._verify = verify
        self._closed = False
        # Taken from and put back at the right, without a lock; the one that has waited longest is at the left.
        self._idle: deque[_Reader] = deque()
        self._open = 0
        self._waiting = 0
        self._changed = threading.Condition()
        _all.add(self)
        self._pid = os.getpid()
        weakref.finalize(self, _close_all, self._idle)

    def rows(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        """The rows that a query gives. Where a kept connection is broken, a new one is tried before giving up.

        Raises :class:`BindingsUnavailable`; the next call starts afresh.
        """
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        if self._pid != os.getpid():
            self.forget()  # Some servers fork without telling Python, so the hook below did not run.
        database = self._database
        mark = database.mark(bool(self._idle))
        reader = self._take(mark) or self._wait(mark)
        is_new = reader is None
        while True:
            if reader is None:
                reader = self._connect(mark)
            try:
                found = reader.connection.execute(query, parameters).fetchall()
            except BaseException as error:
                if not isinstance(error, database.driver_error):
                    self._discard(reader)
                    raise
                if database.is_passing(error):
                    self._give_back(reader)
                    raise database.unavailable(error) from error
                if is_new:
                    self._discard(reader)
                    raise database.unavailable(error) from error
                # What broke it may have broken the others too. Its place is kept for a new one.
                reader.connection.close()
                self.close_idle()
                reader, is_new = None, True
            else:
                self._give_back(reader)
                return found

    def _take(self, mark: Hashable) -> _Reader | None:
        """An idle connection that is still good, or None."""
        while True:
            try:
                reader = self._idle.pop()
            except IndexError:
                return None
            if reader.mark == mark and time.monotonic() - reader.opened < LIFETIME_SECONDS:
                return reader
            self._discard(reader)

    def _wait(self, mark: Hashable) -> _Reader | None:
        """An idle connection, or None for the place of a new one, as soon as there is either."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._changed:
            self._waiting += 1
            try:
                while True:
                    if (reader := self._take(mark)) is not None:
                        return reader
                    most = self._database.most_readers
                    if self._open < most:
                        self._open += 1
                        return None
                    if not self._changed.wait(max(0, deadline - time.monotonic())):
                        said = f"all {most} connections for reading were in use for {WAIT_SECONDS:g} s; try again later"
                        raise self._database.unavailable(RuntimeError(said))
            finally:
                self._waiting -= 1

    def _connect(self, mark: Hashable) -> _Reader:
        """A new connection, for which there is a place; the place is given up where it fails."""
        try:
            connection = self._database.connect_to_read()
            try:
                self._verify(connection)
            except BaseException as error:
                connection.close()
                if isinstance(error, self._database.driver_error):
                    raise self._database.unavailable(error) from error
                raise
        except BaseException:
            self._vacate()
            raise
        now = time.monotonic()
        return _Reader(connection, mark, self._pid, now, now)

    def _give_back(self, reader: _Reader) -> None:
        now = reader.used = time.monotonic()
        idle = self._idle
        idle.append(reader)
        if self._closed:
            self.close_idle()
            return
        if self._waiting:
            with self._changed:
                self._changed.notify()
        try:
            while len(idle) > KEPT or idle[0].used < now - IDLE_SECONDS:
                self._discard(idle.popleft())
        except IndexError:
            return

    def _discard(self, reader: _Reader) -> None:
        reader.connection.close()
        self._vacate()

    def _vacate(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify()

    def close_idle(self) -> None:
        """Close the connections that are not in use at the moment."""
        while True:
            try:
                self._discard(self._idle.pop())
            except IndexError:
                return

    def close(self) -> None:
        """Close the idle connections, and those in use as soon as they are given back."""
        self._closed = True
        self.close_idle()

    def forget(self) -> None:
        """Forget, in a forked process, the connections of its parent, without closing them."""
        self._pid = os.getpid()
        _inherited.extend(self._idle)
        self._idle.clear()
        self._open = self._waiting = 0
        self._changed = threading.Condition()


_all: weakref.WeakSet[Readers] = weakref.WeakSet()
_inherited: list[_Reader] = []
"""What a forked process must not even close: to forget a connection would close it."""


def _close_all(idle: deque[_Reader]) -> None:
    while True:
        try:
            reader = idle.pop()
        except IndexError:
            return
        if reader.pid == os.getpid():
            reader.connection.close()
        else:
            _inherited.append(reader)


def _before_fork() -> None:
    for readers in list(_all):
        readers.close_idle()


def _after_fork() -> None:
    for readers in list(_all):
        readers.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
