"""Bindings in an SQLite file: how it is opened, and how one knows that it is still the same and whole.

Writing is durable: write-ahead log, ``synchronous=FULL``, one ``BEGIN IMMEDIATE`` transaction for each change. The log
lies beside the file, and even a reader writes there; so the folder has to be writable.

A process that has a file open goes on reading it when its name is gone or its permissions are taken away. What is
served has to be what the operator's hand left there, so a lookup asks the file system which file stands under the name,
and in what state, unless one has just asked. The file itself is never opened but through SQLite: closing it would drop
the locks that SQLite holds on it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from .errors import BindingsUnavailable

BUSY_SECONDS = 5.0
"""How long a writer waits for another one, and a reader for what little it may have to wait for."""

FRESH_SECONDS = 0.01
"""How long what the file system said of the file goes for all lookups.

Each question costs little, but lets go of the interpreter: under load every thread would then wait for every other one.
"""

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
        self._seen: tuple[float, Hashable] = (0.0, None)
        # No connection is kept between two writes: none can be inherited by a fork.
        self.engine: Engine = create_engine(
            "sqlite://", creator=self._connect_to_write, poolclass=NullPool, hide_parameters=True
        )
        event.listen(self.engine, "begin", _begin)

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

    def mark(self) -> Hashable:
        """Which file it is, and whether somebody touched it, at most :data:`FRESH_SECONDS` ago.

        Raises BindingsUnavailable where there is none.
        """
        now = time.monotonic()
        until, mark = self._seen
        if now < until:
            return mark
        try:
            found = os.stat(self.path)  # noqa: PTH116  Path.stat() takes longer
        except OSError as error:
            raise self.unavailable(error) from error
        mark = found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_mtime_ns
        self._seen = now + FRESH_SECONDS, mark
        return mark

    def connect_to_read(self) -> sqlite3.Connection:
        """A connection that cannot write the database."""
        try:
            # There can be a connection for each thread, so the cache of each is small: 512 KiB. With SQLite's own 2 MB
            # a lookup among ten thousand names is a tenth faster, and one among ten million no faster.
            return self._connect("rw", "query_only = ON", "cache_size = -512")
        except sqlite3.Error as error:
            raise self.unavailable(error) from error

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
        return getattr(error, "sqlite_errorcode", 0) in (
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
        # "rw" and not the default: a file that has vanished must not come back empty.
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={mode}",
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

    def _require_permissions(self, *, creating: bool) -> None:
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
            if not os.access(self.path, os.W_OK):
                raise BindingsUnavailable(f"{self}: the file may not be written, not even to keep its log; {_REMEDY}")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise BindingsUnavailable(
                f"{self}: its log cannot be kept in the folder, which reading needs too; {_REMEDY}"
            )


def _begin(connection: Any) -> None:
    # Not the default, which would take the lock after the first read and could then only fail.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
