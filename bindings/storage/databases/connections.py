"""Reuse connections for reading while they are usable, and never share them between threads or across a fork.

A connection is closed when the *fingerprint* of the database changes (of a file: its identity and state). A lookup uses
a connection alone, and waits :data:`WAIT_SECONDS` if all are in use. At most :data:`KEPT` idle ones are kept, for
:data:`IDLE_SECONDS`; each is used for :data:`LIFETIME_SECONDS` at most. Idle ones are closed before a fork, because
SQLite forbids a child to use or close a connection of its parent. QueuePool of SQLAlchemy takes longer to hand out a
connection than SQLite for a lookup (7 us), psycopg_pool starts threads, and neither supports fingerprints.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...names.errors import BindingsUnavailable
from ...system.fork_safety import AtFork, inherited
from ..protocols import Connection, ReadableDatabase, Row
from ..reopening import CLOSED

KEPT = 8
IDLE_SECONDS = 60.0
LIFETIME_SECONDS = 1800.0
WAIT_SECONDS = 1.0


@dataclass(slots=True)
class _Reader:
    connection: Connection
    fingerprint: Hashable
    pid: int
    opened: float
    used: float
    seen: list[Row] | None = None
    """The rows of the last query for the version of the database."""


class Readers:
    """A pool of connections of this process for reading one database. ``verify`` is called with each new connection.
    All threads can use one object.
    """

    def __init__(self, database: ReadableDatabase, verify: Callable[[Connection], None]) -> None:
        """``verify`` checks each new connection, and raises an exception if the database is not the expected one."""
        self._database = database
        self._verify = verify
        self._closed = False
        # Lookups pop and append at the right, without a lock. The connection at the left has been idle longest.
        self._idle: deque[_Reader] = deque()
        self._open = 0
        self._waiting = 0
        self._changed = threading.Condition()
        # A counter, because two threads can find changes at the same time.
        self._versions = itertools.count()
        self._version = -1
        _at_fork.add(self)
        self._pid = os.getpid()
        weakref.finalize(self, _close_all, self._idle)

    def rows(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        """Run a query on a pooled connection, or on a new one if that is broken. Raises :class:`BindingsUnavailable` if
        the database cannot be read. The next call tries again.
        """
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        if self._pid != os.getpid():
            self.forget()  # Some servers fork without Python, so the hook below did not run.
        database, idle, now = self._database, self._idle, time.monotonic()
        fingerprint = database.fingerprint(bool(idle))
        reader = self._take(fingerprint, now) or self._wait(fingerprint)
        is_new = reader is None
        while True:
            if reader is None:
                reader = self._connect(fingerprint)
            try:
                rows = reader.connection.execute(query, parameters).fetchall()
            except BaseException as error:
                if not isinstance(error, database.driver_error):
                    self._discard(reader)
                    raise
                if database.is_transient(error):
                    idle.append(reader)
                    self._tidy(now)
                    raise database.unavailable(error) from error
                if is_new:
                    self._discard(reader)
                    raise database.unavailable(error) from error
                # The other idle connections can be broken too. The new connection takes the place of this one.
                reader.connection.close()
                self.close_idle()
                reader, is_new = None, True
            else:
                if query is database.version_sql and reader.seen != rows:
                    reader.seen = rows
                    self._version = next(self._versions)
                reader.used = now
                idle.append(reader)
                if len(idle) > 1 or self._waiting or self._closed:
                    self._tidy(now)
                return rows

    def add(self, connection: Connection, fingerprint: Hashable) -> None:
        """Keep an open connection for the first query. ``fingerprint`` is that of the database before it was opened."""
        now = time.monotonic()
        with self._changed:
            self._open += 1
        self._idle.append(_Reader(connection, fingerprint, self._pid, now, math.inf))

    def close_unused(self) -> None:
        """Close the connection of :meth:`add` if no query has used it."""
        if self._idle and self._idle[0].used == math.inf:
            with suppress(IndexError):
                self._discard(self._idle.popleft())

    def version(self) -> int | None:
        """Return a number that increases after each change of the database, or None if changes cannot be detected. Then
        any connection can be used: it sees the change, or it is replaced. Raises :class:`BindingsUnavailable`.
        """
        query = self._database.version_sql
        if query is None:
            return None
        self.rows(query, ())
        # The first connection can show that there are several servers.
        return None if self._database.version_sql is None else self._version

    def _take(self, fingerprint: Hashable, now: float) -> _Reader | None:
        """Return an idle connection that is still usable, or None."""
        while True:
            try:
                reader = self._idle.pop()
            except IndexError:
                return None
            if reader.fingerprint == fingerprint and now - reader.opened < LIFETIME_SECONDS:
                return reader
            if self._database.is_same_file(reader.fingerprint, fingerprint):
                return self._renew(reader, fingerprint)
            self._discard(reader)

    def _renew(self, reader: _Reader, fingerprint: Hashable) -> _Reader:
        """Replace a connection to the same file. The new one is opened before the old one is closed. Otherwise SQLite
        would write the log into the file, and the next lookup would need a new connection again.
        """
        try:
            return self._connect(fingerprint)
        finally:
            reader.connection.close()

    def _wait(self, fingerprint: Hashable) -> _Reader | None:
        """Wait for an idle connection and return it, or None if a new connection can be opened."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._changed:
            self._waiting += 1
            try:
                while True:
                    if (reader := self._take(fingerprint, time.monotonic())) is not None:
                        return reader
                    most = self._database.most_readers
                    if self._open < most:
                        self._open += 1
                        return None
                    if not self._changed.wait(max(0, deadline - time.monotonic())):
                        message = f"all {most} connections for reading were in use for {WAIT_SECONDS:g} s"
                        raise self._database.unavailable(RuntimeError(f"{message}; try again later"))
            finally:
                self._waiting -= 1

    def _connect(self, fingerprint: Hashable) -> _Reader:
        """Open a connection in the place that the caller has reserved, and release the place on failure."""
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
            self._release_place()
            raise
        now = time.monotonic()
        return _Reader(connection, fingerprint, self._pid, now, now)

    def _tidy(self, now: float) -> None:
        """Tell waiting threads that a connection is idle, and close connections that are not needed any longer."""
        idle = self._idle
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
        self._release_place()

    def _release_place(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify()

    def close_idle(self) -> None:
        """Close the pooled connections that are not in use. Later queries open new ones."""
        while True:
            try:
                self._discard(self._idle.pop())
            except IndexError:
                return

    def close(self) -> None:
        """Close all pooled connections: idle ones now, others when their queries end. Later queries raise an error."""
        self._closed = True
        self.close_idle()

    def forget(self) -> None:
        """Drop the pooled connections that a forked process inherited from its parent, without closing them."""
        self._pid = os.getpid()
        inherited.extend(self._idle)
        self._idle.clear()
        self._open = self._waiting = 0
        self._changed = threading.Condition()


_at_fork = AtFork(before=Readers.close_idle, after_in_child=Readers.forget)


def _close_all(idle: deque[_Reader]) -> None:
    while True:
        try:
            reader = idle.pop()
        except IndexError:
            return
        if reader.pid == os.getpid():
            reader.connection.close()
        else:
            inherited.append(reader)
