"""Bindings in an SQLite file: how it is opened, and how one knows that it is still the same and whole.

Writing is durable: write-ahead log, ``synchronous=FULL``, one ``BEGIN IMMEDIATE`` transaction for each change. The log
lies beside the file, and even a reader writes there, if it may. A process that may only read opens the file as one that
does not change while there is no log, and looks at the file system again before each lookup.

The log of another file is never opened with the file (:mod:`wal`).

A process that has a file open goes on reading it when its name is gone or its permissions are taken away. What is
served has to be what the operator's hand left there, so a lookup asks the file system which file stands under the name,
and in what state, unless one has just asked. The file itself is never opened but through SQLite: closing it would drop
the locks that SQLite holds on it.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from ..errors import BindingsUnavailable, ReadOnlyBindings
from . import wal
from .schema import ROW_EXISTS

BUSY_SECONDS = 5.0
"""How long a writer waits for another one, and a reader for what little it may have to wait for."""

FRESH_SECONDS = 0.01
"""How long what the file system said of the file goes for all lookups.

Each question costs little, but lets go of the interpreter: under load every thread would then wait for every other one.
"""

_MIXED = (
    "the file was replaced, and {log} is the log of the file before it. Stop all programs that use them, "
    "move {log} and {shm} to another folder, and start the programs"
)
_REMEDY = "give the user that runs this write permission on the file and its folder (chown, or chmod u+w)"


class SQLite:
    """An SQLite file. ``str()`` of it is its URL."""

    driver_error = sqlite3.Error
    most_readers = 32
    dialect_name = "sqlite"
    # No row is ever deleted, so the last number is the number of rows.
    estimate_names = "SELECT max(rowid) FROM bindings"
    lock_out_writers = None  # BEGIN IMMEDIATE did
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._log = self.path.with_name(f"{self.path.name}-wal")
        self._seen: tuple[float, Hashable] = (0.0, None)
        self._pair: _Pair = (None, None)  # the file that was last read, and its log
        self._verified: Hashable = None
        self._logs_lost = 0
        self._reads_only = False
        # No connection is kept between two writes: none can be inherited by a fork.
        self.engine: Engine = create_engine(
            "sqlite://", creator=self._connect_to_write, poolclass=NullPool, hide_parameters=True
        )
        event.listen(self.engine, "begin", _begin)
        event.listen(self.engine, "commit", _identify)

    def __str__(self) -> str:
        return f"sqlite:///{self.path}"

    def is_there(self) -> bool:
        """Whether there may be such a file, as far as this process may look."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def mark(self, in_use: bool = False) -> Hashable:
        """Which file it is, and whether it was changed, at most :data:`FRESH_SECONDS` ago.

        ``in_use`` states that this process has idle connections to it. Raises BindingsUnavailable where there is no
        file, or where the log beside it is that of another one.
        """
        now = time.monotonic()
        until, mark = self._seen
        if now < until:
            return mark
        try:
            found = os.stat(self.path)  # noqa: PTH116  Path.stat() takes longer
        except OSError as error:
            raise self.unavailable(error) from error
        has_log = self._look_at_log(found, in_use)
        mark = (
            *(found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_mtime_ns),
            *(self._logs_lost, has_log and self._reads_only),
        )
        self._seen = now + FRESH_SECONDS, mark
        return mark

    def _look_at_log(self, found: os.stat_result, in_use: bool) -> bool:
        """Whether there is a log that is not empty. Raises BindingsUnavailable where it is that of another file."""
        try:
            log = os.stat(self._log)  # noqa: PTH116
        except OSError:
            log = None
        file, its_log = (found.st_dev, found.st_ino), log and (log.st_dev, log.st_ino)
        known, known_log = self._pair
        if known != file:
            if known is not None and log is not None and its_log == known_log:
                raise self._mixed()
            return log is not None and log.st_size > 0
        if in_use and known_log not in (None, its_log):
            # SQLite deletes a log that no process uses. What was in this one is written when the readers close it.
            self._logs_lost += 1
            _logger.warning(
                "%s was deleted or replaced while it was in use: the latest changes may be lost",
                self._log,
            )
        self._pair = file, its_log
        return log is not None and log.st_size > 0

    def _require_own_log(self) -> None:
        """Raise BindingsUnavailable where the log is that of another file; nothing is opened with SQLite."""
        try:
            found = self.path.stat()
            if not self._look_at_log(found, in_use=False) or not hasattr(os, "pread"):
                return
            log = self._log.stat()
            state = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, log.st_dev, log.st_ino
            if state == self._verified:
                return
            for _ in range(_LOOKS):
                # A checkpoint may change both between two looks: only what stays wrong is wrong.
                before = self._log.stat().st_mtime_ns
                if wal.belongs(wal.header_of(self.path), wal.first_pages(self._log)):
                    self._verified = state
                    return
                if self._log.stat().st_mtime_ns == before:
                    raise self._mixed()
        except OSError:
            return  # the file or its log is gone, or cannot be read: SQLite reports it

    def _mixed(self) -> BindingsUnavailable:
        said = _MIXED.format(log=self._log.name, shm=f"{self.path.name}-shm")
        return BindingsUnavailable(f"{self}: {said}")

    def connect_to_read(self) -> sqlite3.Connection:
        """A connection that cannot write the database."""
        self._reads_only = self.is_there() and not self._may_write()
        if self._reads_only:
            return self._connect_reading_only()
        try:
            # There can be a connection for each thread, so the cache of each is small: 512 KiB. With SQLite's own 2 MB
            # a lookup among ten thousand names is a tenth faster, and one among ten million no faster.
            connection = self._connect("rw", "query_only = ON", "cache_size = -512")
        except sqlite3.Error as error:
            raise self.unavailable(error) from error
        try:
            # SQLite opens the log at the first look. From now on it is known whose it is.
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            self._remember_pair()
        except sqlite3.Error as error:
            connection.close()
            raise self.unavailable(error) from error
        return connection

    def _remember_pair(self) -> None:
        try:
            found, log = self.path.stat(), self._log.stat()
        except OSError:
            return
        self._pair = (found.st_dev, found.st_ino), (log.st_dev, log.st_ino)

    def _connect_reading_only(self) -> sqlite3.Connection:
        """A connection of a process that may not write the file, or not in its folder."""
        self._require_permissions(creating=False, writing=False)
        self._require_own_log()
        try:
            has_log = self._log.stat().st_size > 0
        except OSError:
            has_log = False
        try:
            # Without a log SQLite would have to make one even to read, unless the file does not change.
            connection = self._open("mode=ro" if has_log else "mode=ro&immutable=1", "query_only = ON")
            try:
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.Error:
                connection.close()
                raise
        except sqlite3.Error as error:
            if not has_log:
                raise self.unavailable(error) from error
            said = f"{error}: changes in {self._log.name} cannot be read by this user; {_REMEDY}"
            raise self.unavailable(RuntimeError(said)) from error
        return connection

    def _may_write(self) -> bool:
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK | os.X_OK)

    def connect_for_snapshot(self) -> sqlite3.Connection:
        """A connection that cannot write the database, and sees it as it was at the first look."""
        connection = self.connect_to_read()
        connection.execute("BEGIN")
        return connection

    @staticmethod
    def stream(connection: Any, query: str) -> Iterator[Any]:
        """The rows of a query as they are wanted."""
        return iter(connection.execute(query))

    def create(self) -> None:
        """Make the file where there is none. One that somebody else has filled is left as it is."""
        try:
            self._connect("rwc").close()
            if self.path.stat().st_size == 0:
                self.prepare()
        except (sqlite3.Error, OSError) as error:
            raise self.unavailable(error) from error

    def prepare(self) -> None:
        """Turn the write-ahead log on, which stays on; a copy that a backup made may have lost it."""
        if not self._may_write():
            return
        try:
            connection = self._connect("rw")
            try:
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                if mode != "wal":
                    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise self.unavailable(error) from error
        if mode != "wal":
            raise BindingsUnavailable(f"{self}: this file system keeps no write-ahead log; use a local disk")

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """What to raise for a failure of SQLite or of the file system."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
            return BindingsUnavailable(f"{self}: another writer has not let go of it for {BUSY_SECONDS:g} seconds")
        return BindingsUnavailable(f"{self}: {error}")

    def is_read_only(self, error: Exception) -> bool:
        """Whether a write failed because there is nothing to be written at all."""
        return (
            isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
        )

    def is_collision(self, error: Exception) -> bool:
        """Whether a write failed because another one was faster, and can be tried again."""
        # The trigger comes before the unique index: the two report the same thing.
        return ROW_EXISTS in str(error) or getattr(error, "sqlite_errorcode", 0) in (
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        )

    def is_refused(self, error: Exception) -> bool:
        """Whether a trigger or a CHECK of the tables refused a write."""
        return isinstance(error, sqlite3.IntegrityError)

    def is_passing(self, error: Exception) -> bool:
        """Whether a statement failed for a reason that leaves its connection good."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT)

    def names_no_table(self, error: Exception) -> bool:
        """Whether a read failed because there is no such table."""
        return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such table")

    @staticmethod
    def many(keys: list[str]) -> str:
        """Many keys as the one parameter of a statement."""
        return json.dumps(keys)

    def _connect_to_write(self) -> sqlite3.Connection:
        # Names of an import come in any order, and the places of an index where they go should stay in memory.
        return self._connect("rw", "synchronous = FULL", "cache_size = -65536")

    def _connect(self, mode: str, *pragmas: str) -> sqlite3.Connection:
        self._require_permissions(creating=mode == "rwc")
        self._require_own_log()
        # "rw" and not the default: a file that has vanished must not come back empty.
        return self._open(f"mode={mode}", *pragmas)

    def _open(self, options: str, *pragmas: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?{options}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _require_permissions(self, *, creating: bool, writing: bool = True) -> None:
        folder = self.path.parent
        try:
            found = self.path.stat()
        except FileNotFoundError as error:
            if not (creating and folder.is_dir()):
                raise self.unavailable(error) from error
        except OSError as error:
            raise self.unavailable(error) from error
        else:
            if not stat.S_ISREG(found.st_mode):
                raise BindingsUnavailable(f"{self}: this is not a file")
            # root may read what nobody may, but whoever took every permission away did not mean it to be served.
            if not found.st_mode & 0o444 or not os.access(self.path, os.R_OK):
                raise BindingsUnavailable(
                    f"{self}: the file may not be read (mode {stat.filemode(found.st_mode)}); {_REMEDY}"
                )
            if writing and not os.access(self.path, os.W_OK):
                raise ReadOnlyBindings(f"{self} can be read, not changed: the file may not be written; {_REMEDY}")
        if writing and not os.access(folder, os.W_OK | os.X_OK):
            if creating:
                raise BindingsUnavailable(f"{self}: no file can be made in the folder; {_REMEDY}")
            raise ReadOnlyBindings(f"{self} can be read, not changed: its log cannot be kept in the folder; {_REMEDY}")


_Pair = tuple[tuple[int, int] | None, tuple[int, int] | None]  # device and inode of each
_LOOKS = 5
_logger = logging.getLogger(__name__)


def _identify(connection: Any) -> None:
    """Write the first page of the database, with its identity, into the log: so the log states whose it is."""
    if not connection.connection.dbapi_connection.total_changes:
        return
    identity = connection.exec_driver_sql("PRAGMA application_id").scalar_one() or secrets.randbelow(2**31 - 1) + 1
    connection.exec_driver_sql(f"PRAGMA application_id = {identity}")


def _begin(connection: Any) -> None:
    # Not the default, which would take the lock after the first read and could then only fail.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
