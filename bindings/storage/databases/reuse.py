"""Reuse the connection for changes of an SQLite file, while it is as safe as a new one: opening and closing it takes
longer than most changes. A connection is kept if

- the log existed before it was opened, so that another connection uses the log, too,
- the file and its log are those that it opened, nothing else wrote the file since, and both can be written,
- no statement has failed.

Checkpoints write the file, so a connection is used for about a hundred changes. A large change ends with one, too.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Hashable
from typing import Any, Protocol

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

from ...system.fork_safety import AtFork, inherited

_OPENED, _KEPT = "ararat opened", "ararat kept"


class WritableFile(Protocol):
    """The interface to an SQLite file that can be changed, such as :class:`.sqlite.SQLite`."""

    def written_state(self) -> Hashable:
        """Return a value that differs after the file was written or replaced. None if it cannot be written or has no
        log.
        """
        ...

    def connect_to_write(self) -> sqlite3.Connection:
        """Open a connection to the SQLite file for changes, and return it."""
        ...


class ReusedConnection:
    """A pool of at most one idle connection to an SQLite file for changes."""

    def __init__(self, engine: Engine, file: WritableFile, *, writing_cache: int, idle_cache: int) -> None:
        """``engine`` has a QueuePool of size 1, whose connections this object opens from now on. ``writing_cache`` and
        ``idle_cache`` are values of ``PRAGMA cache_size``.
        """
        self._engine = engine
        self._writing_cache, self._idle_cache = writing_cache, idle_cache
        # The events must not keep the file in memory, so that its connection is closed when the file is not used.
        self._file = weakref.ref(file)
        self._process = 0  # of the kept connection
        event.listen(engine, "do_connect", self._open)
        event.listen(engine, "checkout", self._require_usable)
        event.listen(engine, "handle_error", self._stop_reuse)
        event.listen(engine, "checkin", self._keep_or_close)
        weakref.finalize(file, self.close)
        _at_fork.add(self)

    def close(self) -> None:
        """Close the connection to the SQLite file for changes, if it is idle."""
        if self._process == os.getpid():
            self._engine.pool.dispose()

    def forget(self) -> None:
        """Drop the connection that a forked process inherited from its parent, without closing it."""
        inherited.append(self._engine.pool)
        self._engine.dispose(close=False)

    def _state(self) -> Hashable:
        file = self._file()
        return file and file.written_state()

    def _open(self, dialect: object, record: Any, *parameters: object) -> sqlite3.Connection:
        file = self._file()
        if file is None:
            raise RuntimeError("the database of this engine does not exist any more")
        record.info[_OPENED] = file.written_state()
        self._process = os.getpid()
        return file.connect_to_write()

    def _require_usable(self, connection: sqlite3.Connection, record: Any, checked_out: Any) -> None:
        """Raise DisconnectionError for a kept connection that cannot be used. SQLAlchemy then opens another one."""
        if not record.info.pop(_KEPT, False):
            return
        if self._process != os.getpid():
            # Some servers fork without Python, so the hook below did not run.
            inherited.append(connection)
            record.dbapi_connection = checked_out.dbapi_connection = None
            raise DisconnectionError("the connection belongs to another process")
        if record.info[_OPENED] != self._state():
            raise DisconnectionError("the file or its log has changed")
        connection.execute(f"PRAGMA cache_size = {self._writing_cache}")

    def _stop_reuse(self, context: Any) -> None:
        if context.connection is not None:
            context.connection.info[_OPENED] = None

    def _keep_or_close(self, connection: sqlite3.Connection | None, record: Any) -> None:
        if connection is None:
            return
        opened = record.info.get(_OPENED)
        if opened is None or opened != self._state():
            record.invalidate()
            return
        # Records of prefixes are not kept: a backup can be restored that has the same version of the rules.
        record.info.clear()
        record.info.update({_OPENED: opened, _KEPT: True})
        connection.execute(f"PRAGMA cache_size = {self._idle_cache}")


_at_fork = AtFork(before=ReusedConnection.close, after_in_child=ReusedConnection.forget)
