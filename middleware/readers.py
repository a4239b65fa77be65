"""Connections for reading: opened when first needed, kept while they are good, never shared and never taken across a
fork.

A lookup takes an idle connection, or opens one, has it to itself, and puts it back. Whether an idle one is still good
is decided by comparing *marks*: the process, and what the database says of itself at the moment (for a file: which file
it is and in what state). One with another mark is closed, one of another process left alone: SQLite forbids to touch
it.

SQLite's own bookkeeping of locks is inherited by a forked process, which then believes to hold what its parent holds.
So idle connections are closed before a fork; the mark is the second line of defence.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from .errors import BindingsUnavailable

T = TypeVar("T")
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

    def mark(self) -> Hashable:
        """What has to be the same for a connection to be still good. Raises BindingsUnavailable."""
        ...

    def connect_to_read(self) -> Connection:
        """A new connection that cannot write. Raises BindingsUnavailable."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """What to raise for a failure of the driver."""
        ...


class _Reader(NamedTuple):
    mark: Hashable
    pid: int
    connection: Connection


class Readers:
    """The reading connections of one database in this process."""

    def __init__(self, database: Database, verify: Callable[[Connection], None]) -> None:
        """``verify`` is called with each new connection; it raises where that does not lead to what is expected."""
        self._database = database
        self._verify = verify
        self._idle: deque[_Reader] = deque()
        self._closed = False
        _all.add(self)
        weakref.finalize(self, _close_idle, self._idle)

    def rows(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        """The rows that a query gives. Where a kept connection fails, a new one is tried before giving up.

        Raises :class:`BindingsUnavailable`; the next call starts afresh.
        """
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        database = self._database
        mark = database.mark()
        if (reader := self._take(mark)) is not None:
            try:
                found = reader.connection.execute(query, parameters).fetchall()
            except database.driver_error:
                # Whatever made it fail may have reached the others too.
                reader.connection.close()
                self.close_idle()
            else:
                self._idle.append(reader)
                return found
        connection = database.connect_to_read()
        try:
            self._verify(connection)
            found = connection.execute(query, parameters).fetchall()
        except BaseException as error:
            connection.close()
            if isinstance(error, database.driver_error):
                raise database.unavailable(error) from error
            raise
        self._idle.append(_Reader(mark, os.getpid(), connection))
        if self._closed:
            self.close_idle()
        return found

    def _take(self, mark: Hashable) -> _Reader | None:
        while True:
            try:
                reader = self._idle.pop()
            except IndexError:
                return None
            if reader.mark == mark and reader.pid == os.getpid():
                return reader
            _close(reader)

    def close_idle(self) -> None:
        """Close the connections that nobody uses at the moment."""
        _close_idle(self._idle)

    def close(self) -> None:
        """Close the idle connections, and those in use as soon as they are given back."""
        self._closed = True
        self.close_idle()


_all: weakref.WeakSet[Readers] = weakref.WeakSet()
_inherited: list[_Reader] = []


def _close(reader: _Reader) -> None:
    if reader.pid == os.getpid():
        reader.connection.close()
    else:
        _inherited.append(reader)  # Not even closing it is allowed, and to forget it would close it.


def _close_idle(idle: deque[_Reader]) -> None:
    while True:
        try:
            _close(idle.pop())
        except IndexError:
            return


def _before_fork() -> None:
    for readers in list(_all):
        readers.close_idle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
