"""Bindings in an SQLite file: open the file, and detect that another program replaced or changed it.

Writes are durable: write-ahead log, ``synchronous=FULL``, one ``BEGIN IMMEDIATE`` transaction for each change. A
process that can only read opens the file as immutable while no log exists. A log of another file is never opened with
it (:mod:`wal`). A process could read a file that was deleted or whose permissions were removed, so lookups check its
identity, permissions and times, at most once per :data:`FRESH_SECONDS`. Only SQLite opens the file: closing another
handle would drop its locks.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Hashable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...names.errors import BindingsLocked, BindingsUnavailable, DatabaseFull, ReadOnlyBindings
from ...system.files import FREE_SPACE, create_private, size_limit, write_remedy
from ...system.fork_safety import ForkSafeLock
from ..tables import search_indexes
from ..tables.search_indexes import HAS_FULL_TEXT
from ..tables.triggers import ROW_EXISTS
from ..versions import VERSION
from . import wal
from .connections import IDLE_SECONDS

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from .engines import Patience
    from .reuse import ReusedConnection

BUSY_SECONDS = 5.0
"""The maximum time that a writer waits for another writer, and that a reader waits for a lock."""

FRESH_SECONDS = 0.01
"""The time for which all lookups use one result of ``stat``.

``stat`` is fast but releases the global interpreter lock. Under load, each thread would then wait for the others.
"""

WRITING_CACHE = -65536
"""The size of the cache of a writing connection during a change, as for ``PRAGMA cache_size``: 64 MB.

An import has names in any order. A large cache keeps the pages of the index in memory.
"""

LOG_BYTES = 16 * 2**20
"""The size of the log from which it is shortened after a change. SQLite writes it into the file at 4 MB."""

SHORTEN_SECONDS = 10.0
SHORTEN_MILLISECONDS = 200
"""The time that a writer waits for readers of a long log, at most once in :data:`SHORTEN_SECONDS`."""

IDLE_CACHE = -512
"""The size of the cache of a writing connection between two changes."""

_MIXED = (
    "the file was replaced, and {log} is the log of the previous file; stop all programs that use them, "
    "move {log} and {shm} to another folder, and start the programs"
)
_REMEDY = "give the user of this process write permission on the file and its folder (chown, or chmod u+w)"
MINIMUM = (3, 34)
"""The oldest version of the SQLite library with which the tests pass. RHEL 9 has it."""

_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "name the file of the database, or restore it from a backup",
    sqlite3.SQLITE_CORRUPT: "restore the file from a backup",
    sqlite3.SQLITE_FULL: FREE_SPACE,
    sqlite3.SQLITE_IOERR: f"{FREE_SPACE}; if there is space, check the disk",
    sqlite3.SQLITE_CANTOPEN: f"check the permissions of the file, its folder and its log, or {FREE_SPACE}",
    sqlite3.SQLITE_ERROR: f"the SQLite library has version {sqlite3.sqlite_version}; use {MINIMUM[0]}.{MINIMUM[1]} or "
    "newer with FTS5 and JSON, or update Ararat",
}
"""The remedies for errors of SQLite that do not pass, by result code."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_OF_FULL_DISKS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""The result codes of SQLite if there is no space, no inode or no quota for a file that it must create."""

_Pair = tuple[tuple[int, int] | None, tuple[int, int] | None]  # device and inode of the file and of its log
_TRIES = 5
_logger = logging.getLogger(__name__)


class SQLite:
    """A database in an SQLite file, which is not opened before it is needed. ``str()`` returns its URL."""

    driver_error = sqlite3.Error
    version = VERSION
    most_readers = 32
    dialect_name = "sqlite"
    has_traces = True
    has_row_numbers = True
    # Only reserved names are deleted, so the last row ID is almost the number of rows.
    estimate_sql = "SELECT max(rowid) FROM bindings"
    # BEGIN IMMEDIATE locks out other writers.
    exclusive_lock_sql = None
    schema_lock_sql = None
    server_state_sql = None
    is_standby_sql = None
    # https://www.sqlite.org/pragma.html#pragma_data_version
    version_sql = "PRAGMA data_version"
    trigger_names_sql = "SELECT name FROM sqlite_master WHERE type = 'trigger'"

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._log = wal.log_of(self.path)
        self._seen: tuple[float, Hashable] = (0.0, None)
        self._pair: _Pair = (None, None)  # the file that was read last, and its log
        self._verified: Hashable = None
        self._logged: tuple[int, int] | None = None  # the file that has a write-ahead log permanently
        self._lost_logs = 0
        self._reads_only = False
        self._is_full = False
        self._shortened = float("-inf")
        self._turn = ForkSafeLock()
        self._engine: Engine | None = None
        self._patience: Patience | None = None
        self._writer: ReusedConnection | None = None
        self._idle_since: float | None = None  # the time of the last change with the idle writing connection

    def __str__(self) -> str:
        return f"sqlite:///{self.path}"

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of the connections that write. The first use loads SQLAlchemy."""
        if self._engine is None:
            from .engines import Patience, sqlite_engine
            from .reuse import ReusedConnection

            self._patience = Patience(BUSY_SECONDS)
            self._engine = sqlite_engine(self._patience)
            self._writer = ReusedConnection(self._engine, self, writing_cache=WRITING_CACHE, idle_cache=IDLE_CACHE)
        return self._engine

    def servers(self) -> list[SQLite]:
        """Return a list with this database alone, because SQLite has no servers."""
        return [self]

    def exists(self) -> bool:
        """Return whether the SQLite file exists. Return True also if this cannot be checked."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def fingerprint(self, in_use: bool = False) -> Hashable:
        """Return a value that changes if the file is replaced or changed, at most :data:`FRESH_SECONDS` old. With
        ``in_use``, this process has idle connections. Raises :class:`BindingsUnavailable` if the file does not exist,
        or if its log belongs to another file.
        """
        now = time.monotonic()
        until, fingerprint = self._seen
        if now < until:
            return fingerprint
        if self._idle_since is not None and now - self._idle_since > IDLE_SECONDS:
            self.close_writers()
        try:
            file_stat = os.stat(self.path)  # noqa: PTH116  Path.stat() is slower
        except OSError as error:
            raise self.unavailable(error) from error
        has_log = self._check_log(file_stat, in_use)
        fingerprint = (
            (file_stat.st_dev, file_stat.st_ino, file_stat.st_mode, file_stat.st_uid, file_stat.st_gid),
            (self._lost_logs, has_log and self._reads_only),
            (file_stat.st_size, file_stat.st_mtime_ns),
        )
        self._seen = now + FRESH_SECONDS, fingerprint
        return fingerprint

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return whether the fingerprints ``before`` and ``now`` differ only in the size and the time of the file."""
        return isinstance(before, tuple) and isinstance(now, tuple) and before[:2] == now[:2]

    def _check_log(self, file_stat: os.stat_result, in_use: bool, is_reading: bool = True) -> bool:
        """Return whether a log exists and is not empty. Raises BindingsUnavailable if it belongs to another file. Only
        readers note a new log: they must see that it was deleted, also if a writer sees it first.
        """
        file, (file_identity, known_log) = (file_stat.st_dev, file_stat.st_ino), self._pair
        if file_identity != file:
            self._log = wal.log_of(self.path)  # a link can lead to another file since
        try:
            log = os.stat(self._log)  # noqa: PTH116
        except OSError:
            log = None
        its_log = log and (log.st_dev, log.st_ino)
        if file_identity != file:
            if file_identity is not None and log is not None and its_log == known_log:
                raise self._mixed_error()
            return log is not None and log.st_size > 0
        if in_use and known_log not in (None, its_log):
            # SQLite deletes a log that no process uses. Closing the readers writes the content of this log to the file.
            self._lost_logs += 1
            _logger.warning(
                "%s was deleted or replaced while it was in use: the latest changes can be lost; check them, "
                "and delete the log only when no program uses the database",
                self._log,
            )
        if is_reading:
            self._pair = file, its_log
        return log is not None and log.st_size > 0

    def _require_own_log(self) -> None:
        """Raise BindingsUnavailable if the log belongs to another file. SQLite opens nothing before this check."""
        try:
            file_stat = self.path.stat()
            if not self._check_log(file_stat, in_use=False, is_reading=False) or not hasattr(os, "pread"):
                return
            log = self._log.stat()
            state = file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, log.st_dev, log.st_ino
            if state == self._verified:
                return
            for _ in range(_TRIES):
                # A checkpoint can change both files in between. The check fails only if the log has not changed.
                before = self._log.stat().st_mtime_ns
                if wal.belongs(wal.header_of(self.path), wal.first_pages(self._log)):
                    self._verified = state
                    return
                if self._log.stat().st_mtime_ns == before:
                    raise self._mixed_error()
        except OSError:
            return  # the file or its log does not exist or cannot be read, which SQLite reports

    def _mixed_error(self) -> BindingsUnavailable:
        message = _MIXED.format(log=self._log.name, shm=f"{self.path.name}-shm")
        return BindingsUnavailable(f"{self}: {message}")

    def connect_to_read(self) -> sqlite3.Connection:
        """Open a connection for reading. Raises :class:`BindingsUnavailable` if it cannot be opened."""
        # A reason for a new connection can be that a log in use was deleted. All connections to it must be closed.
        self.close_writers()
        self._reads_only = self.exists() and not self._can_write()
        if self._reads_only:
            return self._connect_reading_only()
        try:
            return self._connect_beside_log()
        except sqlite3.Error as error:
            if error_code(error) & 0xFF not in _OF_FULL_DISKS or self._has_log():
                raise self.unavailable(error) from error
            # SQLite creates files beside the database even to read. A full disk has no place for them.
            self._reads_only = True
            connection = self._connect_reading_only()
            if not self._is_full:
                self._is_full = True
                _logger.warning("%s can only be read (%s): %s", self, error, _remedy(error))
            return connection

    def _connect_beside_log(self) -> sqlite3.Connection:
        """Open a connection for reading of a process that can write. It raises the errors of SQLite."""
        try:
            # Each thread can have a connection, so each cache is small: 512 KiB. With SQLite's default of 2 MB a
            # lookup is 10 % faster with ten thousand names, and not faster with ten million. With mmap_size a query
            # needs 0.6 of the time, but a file that another program shortens ends the process (SIGBUS).
            connection = self._connect("rw", "query_only = ON", "cache_size = -512")
        except ReadOnlyBindings as error:
            # The file or its permissions have changed since the check above. The next lookup checks them again.
            raise BindingsUnavailable(error.message) from error
        try:
            # SQLite opens the log with the first statement. From now on the log belongs to this file.
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            self._remember_pair()
            self._remember_mode(connection)
        except sqlite3.Error:
            connection.close()
            raise
        self._is_full = False
        return connection

    def _remember_pair(self) -> None:
        try:
            file_stat, log = self.path.stat(), self._log.stat()
        except OSError:
            return
        self._pair = (file_stat.st_dev, file_stat.st_ino), (log.st_dev, log.st_ino)

    def _remember_mode(self, connection: sqlite3.Connection) -> None:
        """Note whether the file has a write-ahead log. Another connection would read the tables first, for a ms."""
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        self._logged = self._pair[0] if mode == "wal" else None

    def _connect_reading_only(self) -> sqlite3.Connection:
        """Open a connection of a process without permission to write the file or its folder."""
        self._require_permissions(creating=False, writing=False)
        self._require_own_log()
        has_log = self._has_log()
        try:
            # Without a log, SQLite creates one even to read, unless the file is opened as immutable.
            return self._connect_and_read("mode=ro" if has_log else "mode=ro&immutable=1", "query_only = ON")
        except sqlite3.Error as error:
            if has_log and self._is_on_read_only_disk():
                # The index of the log (FILE-shm) is missing and cannot be created. No process can write, so no locks
                # are needed, and the index of a connection that excludes others is in its memory.
                with suppress(sqlite3.Error):
                    return self._connect_and_read(
                        "mode=ro&vfs=unix-none", "locking_mode = EXCLUSIVE", "query_only = ON"
                    )
            if not has_log:
                raise self.unavailable(error) from error
            message = f"{error}: changes in {self._log.name} cannot be read by this user; {_REMEDY}"
            raise self.unavailable(RuntimeError(message)) from error

    def _connect_and_read(self, options: str, *pragmas: str) -> sqlite3.Connection:
        """Open a connection, and read from it, because SQLite opens the log with the first statement."""
        connection = self._open(options, *pragmas)
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _has_log(self) -> bool:
        try:
            return self._log.stat().st_size > 0
        except OSError:
            return False

    def _is_on_read_only_disk(self) -> bool:
        try:
            return bool(os.statvfs(self.path).f_flag & os.ST_RDONLY)
        except OSError:
            return False

    def _can_write(self) -> bool:
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK | os.X_OK)

    def connect_for_snapshot(self) -> sqlite3.Connection:
        """Open a connection that cannot write and that sees the database as it is at its first query."""
        connection = self.connect_to_read()
        connection.execute("BEGIN")
        return connection

    @staticmethod
    def stream(connection: Any, query: str) -> Iterator[Any]:
        """Run a query and yield its rows one at a time."""
        return iter(connection.execute(query))

    def create(self) -> None:
        """Create the SQLite file if it does not exist. Other users cannot read it, because it can contain accounts and
        personal data. Raises :class:`BindingsUnavailable` if this fails.
        """
        try:
            self._require_permissions(creating=True)
            with suppress(FileExistsError):
                create_private(self.path)
            self._connect("rwc").close()
            if self.path.stat().st_size == 0:
                self.prepare()
        except (sqlite3.Error, OSError) as error:
            raise self.unavailable(error) from error

    def prepare(self) -> None:
        """Turn on the write-ahead log permanently, if the file can be written: a restored backup can be without it.
        Raises :class:`BindingsUnavailable` if this fails.
        """
        if not self._can_write():
            return
        try:
            file_stat = self.path.stat()
            if self._logged == (file_stat.st_dev, file_stat.st_ino):
                return
            connection = self._connect("rw")
            try:
                (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
                if mode != "wal":
                    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            finally:
                connection.close()
        except OSError as error:
            raise self.unavailable(error) from error
        except sqlite3.Error as error:
            if error_code(error) & 0xFF in _OF_FULL_DISKS and not self._has_log():
                return  # it can be read, and a change reports the reason
            raise self.unavailable(error) from error
        if mode != "wal":
            raise BindingsUnavailable(f"{self}: this file system does not support a write-ahead log; use a local disk")
        self._logged = file_stat.st_dev, file_stat.st_ino

    def require_writable(self, *, creating: bool = False) -> None:
        """Raise :class:`ReadOnlyBindings` if this process has no permission to write the SQLite file or its log. With
        ``creating``, the file can be missing.
        """
        self._require_permissions(creating=creating)

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        if error_code(error) & 0xFF == sqlite3.SQLITE_BUSY:
            return self._locked_error()
        if isinstance(error, FileNotFoundError):
            return BindingsUnavailable(f"{self}: {self._what_is_missing()}")
        if not isinstance(error, (sqlite3.Error, OSError)):
            return BindingsUnavailable(f"{self}: {error}")
        if self.is_missing_table(error):
            return BindingsUnavailable(f"{self}: {error}; run: ararat migrate --database {self}")
        remedy = _remedy(error)
        return (DatabaseFull if remedy == FREE_SPACE else BindingsUnavailable)(f"{self}: {error}; {remedy}")

    def _what_is_missing(self) -> str:
        if not self.path.parent.is_dir():
            return "the folder does not exist; create it, or name a file in another folder"
        return "the file does not exist; restore it, or create a new one"

    def _locked_error(self) -> BindingsUnavailable:
        message = f"another writer has locked the database for {BUSY_SECONDS:g} s; try again later"
        return BindingsLocked(f"{self}: {message}")

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a change failed because this process cannot write the file."""
        return error_code(error) & 0xFF == sqlite3.SQLITE_READONLY

    def is_conflict(self, error: Exception) -> bool:
        # The trigger runs before the check of the unique index, and reports the same fault.
        return ROW_EXISTS in str(error) or error_code(error) in (
            sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
            sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        )

    def is_constraint_violation(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.IntegrityError)

    def is_transient(self, error: Exception) -> bool:
        """Return whether the connection can be used again after an error, such as a lock of another writer."""
        return error_code(error) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT)

    def is_missing_table(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such table")

    def outcome(self, transaction: str) -> bool | None:
        """Return None: the answer of a function of this process cannot be lost."""
        return None

    def close_writers(self) -> None:
        """Close the idle connection to the SQLite file for changes."""
        self._idle_since = None
        if self._writer is not None:
            self._writer.close()

    @contextmanager
    def turn_to_write(self) -> Iterator[None]:
        """Wait until no other thread of this process writes. SQLite itself would poll, with pauses of up to 0.1 s."""
        until = time.monotonic() + BUSY_SECONDS
        if not self._turn.acquire(timeout=BUSY_SECONDS):
            raise self._locked_error()
        try:
            if self.engine and self._patience is not None:
                # The time for threads of this process counts for other processes too.
                self._patience.until = until
            yield
        finally:
            if self._patience is not None:
                self._patience.until = None
            self._idle_since = time.monotonic()
            # The next lookup must read the file that was changed, also if it was replaced a moment ago.
            self._seen = 0.0, None
            self._turn.release()

    array_parameter = staticmethod(json.dumps)
    """Return texts as the one parameter of a statement: a JSON array."""

    def connect_to_write(self) -> sqlite3.Connection:
        """Open a connection to the SQLite file for changes, and return it."""
        cache, limit = f"cache_size = {WRITING_CACHE}", f"journal_size_limit = {LOG_BYTES}"
        # Some libraries do not overwrite deleted texts by default.
        return self._connect("rw", "synchronous = FULL", cache, limit, "secure_delete = ON")

    def primary(self) -> None:
        """Return None, because an SQLite file has no standby servers."""

    def shorten_log(self, failure: Exception | None = None) -> None:
        """Write a long write-ahead log into the file, and shorten it, unless a reader uses it. After ``failure`` on a
        full disk, the pages of the failed change would keep the disk full.
        """
        is_full = failure is not None and error_code(failure) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
        try:
            if not is_full and self._log.stat().st_size <= LOG_BYTES:
                return
            now = time.monotonic()
            if not is_full and now < self._shortened + SHORTEN_SECONDS:
                return  # a reader that reads for long would delay each change
            self._shortened = now
            self.close_writers()
            with closing(self._connect("rw", f"busy_timeout = {SHORTEN_MILLISECONDS}")) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, OSError, BindingsUnavailable) as error:
            _logger.debug("%s: the log cannot be shortened: %s", self, error)

    def erase_deleted(self) -> bool:
        """Erase deleted texts from the full-text index and the log. Return False if another process always uses them.
        The tables have none: each change overwrites what it deletes.
        """
        self.close_writers()
        try:
            with self.turn_to_write(), closing(self.connect_to_write()) as connection:
                search_indexes.erase_deleted(connection)
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return not busy
        except (sqlite3.Error, BindingsUnavailable) as error:
            _logger.debug("%s: deleted texts cannot be erased: %s", self, error)
            return False

    def connect_alone(self) -> sqlite3.Connection:
        """Open the only connection to the file. Raises sqlite3.OperationalError if another connection uses it."""
        connection = self._connect("rw", "busy_timeout = 0", "locking_mode = EXCLUSIVE")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def delete(self) -> None:
        """Delete the SQLite file and its log. Call this only while this process has the only connection."""
        self._log.unlink(missing_ok=True)
        self.path.unlink()

    def written_state(self) -> Hashable:
        try:
            file_stat, log = os.stat(self.path), os.stat(self._log)  # noqa: PTH116
        except OSError:
            return None
        if not self._can_write():
            return None
        return (
            (file_stat.st_dev, file_stat.st_ino, file_stat.st_mode, file_stat.st_uid, file_stat.st_gid),
            (file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns),
            (log.st_dev, log.st_ino),
        )

    def _connect(self, mode: str, *pragmas: str) -> sqlite3.Connection:
        self._require_permissions(creating=mode == "rwc")
        self._require_own_log()
        # With "rw", SQLite does not create a file that was deleted. The default would.
        return self._open(f"mode={mode}", *pragmas)

    def _open(self, options: str, *pragmas: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            # A path consists of bytes, which need not be UTF-8.
            f"file:{quote(os.fsencode(self.path))}?{options}",
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
            file_stat = self.path.stat()
        except FileNotFoundError as error:
            if not (creating and folder.is_dir()):
                raise self.unavailable(error) from error
        except OSError as error:
            raise self.unavailable(error) from error
        else:
            if not stat.S_ISREG(file_stat.st_mode):
                raise BindingsUnavailable(f"{self}: the path is not a regular file; name the file of the database")
            # root can read any file. A file without any read permission is still not served.
            if not file_stat.st_mode & 0o444 or not os.access(self.path, os.R_OK):
                raise BindingsUnavailable(
                    f"{self}: no permission to read the file (mode {stat.filemode(file_stat.st_mode)}); {_REMEDY}"
                )
            if writing and not os.access(self.path, os.W_OK):
                raise ReadOnlyBindings(f"{self} is read-only: no permission to write the file; {_REMEDY}")
        if writing and not os.access(folder, os.W_OK | os.X_OK):
            if creating:
                raise BindingsUnavailable(f"{self}: no permission to create a file in the folder; {_REMEDY}")
            raise ReadOnlyBindings(f"{self} is read-only: no permission to write its log in the folder; {_REMEDY}")


def library_fault() -> tuple[str, str] | None:
    """Return what the SQLite library of this process lacks, and how to fix it. Return None if it lacks nothing."""
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info[:2] < MINIMUM:
        return f"version {version} is too old", f"use SQLite {MINIMUM[0]}.{MINIMUM[1]} or newer"
    with closing(sqlite3.connect(":memory:")) as connection:
        if not connection.execute(HAS_FULL_TEXT).fetchone()[0]:
            return (
                f"version {version} has no full-text search (FTS5), so a search for words reads all names",
                "use an SQLite library with FTS5, then run ararat migrate",
            )
    return None


def _remedy(error: Exception) -> str:
    """Return what to do about an error of SQLite or of the file system."""
    if isinstance(error, OSError):
        return FREE_SPACE if error.errno in _NO_SPACE else _REMEDY
    if error_code(error) & 0xFF == sqlite3.SQLITE_IOERR and size_limit() is not None:
        return f"{FREE_SPACE}; if there is space, {write_remedy(OSError(errno.EFBIG, ''))}"
    return _REMEDIES.get(error_code(error) & 0xFF, "check the file and its disk")


def error_code(error: BaseException | None) -> int:
    """Return the extended result code of an SQLite error (https://www.sqlite.org/rescode.html), or 0 for another
    error.
    """
    return getattr(error, "sqlite_errorcode", 0)
