"""Back up a database into a file while names are written, and check such a file.

SQLite is copied in one read transaction: its page-by-page backup begins again after each change, and ``VACUUM INTO``
numbers the rows again. PostgreSQL is dumped by its own program (:mod:`.postgresql_dump`). The copy has a temporary name
until it is verified and on the disk, so FILE is always a whole backup.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from sqlalchemy import literal_column, select

from ..checks.verification import verify
from ..collection import Bindings, utc_now
from ..digest import BEGUN_BACKUP, FAILED_BACKUP, LAST_BACKUP
from ..log.kept_copies import delete_all_old
from ..names.binding import rfc3339
from ..names.errors import BackupError, BindingError, BindingsUnavailable, ReadOnlyBindings
from ..open import bindings_at, database_at, table_file
from ..storage.databases import wal
from ..storage.databases.snapshot_file import SnapshotFile
from ..storage.databases.sqlite import SQLite
from ..storage.reopening import Opening
from ..storage.store import open_store
from ..storage.tables.schema import meta
from ..storage.versions import VERSION, VERSION_SQL, number_of
from ..system.files import create_private, disk_error, write_remedy
from .postgresql_dump import dump, names_of

if TYPE_CHECKING:
    from ..storage.databases.postgresql import PostgreSQL
    from ..storage.writing.transaction import Transaction
    from ..stores import Store

_SQLITE = b"SQLite format 3\x00"
_DUMP = b"PGDMP"
_MOST_SHOWN = 5
_SQLITE_FILES = ("journal", "wal", "shm")
_REST_SECONDS = 60.0
"""The age of the folder of a backup from which its process has certainly locked it, if it still runs."""

Progress = Callable[[str], object]
"""A callback with what is done now, such as "copy" or "verify"."""


class Backup(NamedTuple):
    """The result of a backup: the absolute path of a file that contains a whole database, and its size in bytes.

    - ``began``: the moment of its content in UTC. All changes that were acknowledged before it are in the file.
    - ``names``: the number of names, also withdrawn and reserved ones; None for a database of an older schema.
    """

    file: Path
    began: datetime
    names: int | None
    size: int

    def age(self, now: datetime) -> float:
        """Return the age of the backup in hours: the time from :attr:`began` to ``now``. Both are in UTC."""
        return (now - self.began).total_seconds() / 3600


def back_up(
    url_or_path: str | Path,
    file: str | Path,
    *,
    clock: Callable[[], datetime] = utc_now,
    program: str | None = None,
    progress: Progress = lambda what: None,
) -> Backup:
    """Copy a database to ``file`` while other programs write it, and verify the copy. An existing file is replaced only
    by a whole copy.

    ``url_or_path`` is the path of an SQLite file, or a ``postgresql://`` URL. ``program`` is the path of pg_dump; by
    default the one that fits the server is found. ``progress`` is called with the name of each step. Only the owner and
    the group can read the file, and its time is the moment of its content. Raises :class:`BackupError` if the file
    cannot be written or the copy is not right, :class:`BindingsUnavailable` if the database cannot be read, and
    :class:`BindingError` for another ``url_or_path``.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bindings = open_bindings(f"{folder}/names.sqlite", create=True)
    ...     bindings.bind("ark:12345/x5", "https://example.org/5")
    ...     bindings.close()
    ...     back_up(f"{folder}/names.sqlite", f"{folder}/backup.sqlite").names
    'bound'
    1
    """
    if (table := table_file(url_or_path)) is not None:
        raise BackupError(f"{table} is a file of text", "copy the file")
    database = database_at(url_or_path)
    if isinstance(database, SnapshotFile):
        raise BackupError(f"{database} is a snapshot without a history", "back up the database that it was made from")
    new = Path(file).absolute()
    _refuse_other_files(new)
    if isinstance(database, SQLite):
        _refuse_itself(database, new)
    _refuse_database_in_use(new)
    with _new_file_beside(new) as copy:
        began = clock()
        progress("copy")
        if isinstance(database, SQLite):
            _copy(database, copy)
            _note(copy, LAST_BACKUP, _fact(new, began))
        else:
            _begin(url_or_path, _fact(new, began))
            dump(cast("PostgreSQL", database), copy, program)
        progress("verify")
        names = _names_of(copy)
        _move(copy, new, began)
    return Backup(new, began, names, new.stat().st_size)


def check_backup(file: str | Path, *, progress: Progress = lambda what: None) -> Backup:
    """Read a whole backup file, verify it like :func:`~ararat.bindings.checks.verification.verify` or read the dump to
    its end, and return its time, size and number of names. ``progress`` is called with the name of each step. Raises
    :class:`BackupError` for a file that is damaged, cannot be read, or is not a backup.
    """
    path = Path(file).absolute()
    progress("verify")
    try:
        file_stat = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    changed = file_stat.st_mtime
    # The last changes of SQLite are in the log.
    with suppress(OSError):
        log = wal.log_of(path).stat()
        changed = max(changed, log.st_mtime) if log.st_size else changed
    return Backup(path, datetime.fromtimestamp(changed, UTC), _names_of(path), file_stat.st_size)


def record(
    url_or_path: str | Path, backup: Backup | None, why: str = "", *, clock: Callable[[], datetime] = utc_now
) -> None:
    """Record in the database that a backup succeeded, or why it failed, for ``ararat digest`` and ``/healthz``. Delete
    old copies of texts, too: the database can be without a server that does it. Raises :class:`BindingsUnavailable` and
    :class:`BindingError` if the database cannot be written.
    """
    name = FAILED_BACKUP if backup is None else LAST_BACKUP
    fact = {"time": rfc3339(clock()), "why": why[:500]}
    if backup is not None:
        fact = _fact(backup.file, backup.began)
    with bindings_at(url_or_path, clock=clock, read_seconds=None).open() as bindings:
        bindings.run_in_transaction(lambda transaction: transaction.set_setting(name, json.dumps(fact)))
        delete_all_old(bindings)


def _begin(url: str | Path, fact: Mapping[str, str]) -> None:
    """Record in a PostgreSQL database that its dump began, so that a database that is restored from it knows it."""

    def write(transaction: Transaction) -> None:
        transaction.set_setting(BEGUN_BACKUP, json.dumps(fact))
        query = select(literal_column("CAST(ararat.xmin AS text)")).where(meta.c.name == BEGUN_BACKUP)
        xmin = transaction.connection.execute(query).scalar_one()
        transaction.set_setting(BEGUN_BACKUP, json.dumps({**fact, "xmin": xmin}))

    # A role that can only read makes backups, too.
    with suppress(ReadOnlyBindings), bindings_at(url, read_seconds=None, older=True).open() as bindings:
        bindings.run_in_transaction(write)


def _fact(file: Path, began: datetime) -> dict[str, str]:
    return {"time": rfc3339(began), "file": str(file)}


def _note(copy: Path, name: str, fact: Mapping[str, str]) -> None:
    """Record a fact in the copy of an SQLite database, so that a restored database knows its own backup."""
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        # The copy stays one file, without a log.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        value = json.dumps(fact)
        if not connection.execute("UPDATE ararat SET value = ? WHERE name = ?", (value, name)).rowcount:
            connection.execute("INSERT INTO ararat (name, value) VALUES (?, ?)", (name, value))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


_BEGINNINGS = (b"SQLite format 3\0", b"PGDMP")
"""The beginning of the file of a backup: an SQLite database, or a dump of pg_dump."""


def _refuse_other_files(new: Path) -> None:
    """Refuse to replace what is not a backup: a folder, a device, or a file with another content."""
    with suppress(OSError):
        if new.is_dir():
            raise BackupError(f"{new} is a folder", "name a file in it", is_file=True)
        if new.exists() and not new.is_file():
            raise BackupError(f"{new} is a device or a pipe", "name a file", is_file=True)
        with new.open("rb") as stream:
            start = stream.read(len(_BEGINNINGS[0]))
        # After a power failure, a backup can be empty or have zeros. The next one replaces it.
        if start.strip(b"\0") and not start.startswith(_BEGINNINGS):
            raise BackupError(f"{new} is not a backup, and would be lost", "name another file", is_file=True)


def _refuse_itself(database: SQLite, new: Path) -> None:
    with suppress(OSError):
        if new.samefile(database.path):
            raise BackupError(f"{new} is the database itself", "name another file")


def _refuse_database_in_use(new: Path) -> None:
    """Refuse to replace a database beside its log, which SQLite would apply to the new file."""
    log = wal.log_of(new)
    with suppress(OSError):
        if log.stat().st_size:
            raise BackupError(f"{log} exists, so a program uses {new}", "name another file", is_file=True)


@contextmanager
def _new_file_beside(new: Path) -> Iterator[Path]:
    """Yield the path of a new file in a folder beside ``new``. The rests of backups that were killed are deleted."""
    folder = new.with_name(f".{new.name}.part")
    try:
        _delete_rests(new.parent)
        folder.mkdir(0o700, exist_ok=True)
        with _lock_folder(folder):
            try:
                _empty(folder)
                copy = folder / new.name
                create_private(copy)
                yield copy
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise BackupError(
            f"cannot write {new}: {error.strerror or error}", write_remedy(error), is_file=True
        ) from error


def _delete_rests(folder: Path) -> None:
    """Delete the folders of backups to other names whose process was killed: without a lock, older than
    :data:`_REST_SECONDS`, and with nothing but the copy.
    """
    for rest in folder.glob(".*.part") if os.name == "posix" else ():
        copy = rest.name.removeprefix(".").removesuffix(".part")
        with suppress(OSError, BackupError):
            if rest.is_dir() and not rest.is_symlink() and time.time() - rest.stat().st_mtime > _REST_SECONDS:
                with _lock_folder(rest):
                    if {each.name for each in rest.iterdir()} <= {copy, *(f"{copy}-{end}" for end in _SQLITE_FILES)}:
                        shutil.rmtree(rest)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, which ends with the process."""
    if os.name != "posix":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(
                "another process writes a backup to this file", "wait until it ends", is_file=True
            ) from None
        yield
    finally:
        os.close(descriptor)


def _copy(database: SQLite, copy: Path) -> None:
    try:
        with closing(database.connect_for_snapshot()) as source, closing(sqlite3.connect(copy)) as target:
            # The data is written to the disk once, at the end.
            target.execute("PRAGMA synchronous = OFF")
            # Without its rollback journal: a copy that fails is deleted.
            target.execute("PRAGMA journal_mode = OFF").fetchone()
            source.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            # All pages in one step: SQLite would begin again if another process wrote between two steps.
            source.backup(target, pages=-1)
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise disk_error(error) from error
        raise database.unavailable(error) from error
    except sqlite3.Error as error:
        raise database.unavailable(error) from error


def _names_of(file: Path) -> int | None:
    """Verify a backup and return its number of names, or None for a database of an older schema."""
    try:
        with file.open("rb") as stream:
            first = stream.read(len(_SQLITE))
    except OSError as error:
        raise _unreadable(file, error) from error
    if first.startswith(_DUMP):
        return names_of(file)
    if first != _SQLITE:
        what = f"{file} is neither an SQLite database nor a dump of pg_dump --format=custom"
        raise BackupError(what, "use another backup")
    return _names_of_sqlite(file)


def _names_of_sqlite(file: Path) -> int | None:
    """Return the number of names in a copy of a database, which stays as it is, with its write-ahead log."""
    log = wal.log_of(file)
    if not (log.exists() and log.stat().st_size):
        return _count_names(file, file)
    if not wal.belongs(wal.header_of(file), wal.first_pages(log)):
        raise BackupError(f"{log} is the log of another file", "move it to another folder, and check the backup again")
    # SQLite writes the log into the file when the last connection is closed.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, file.name)
        shutil.copyfile(file, copy)
        shutil.copyfile(log, wal.log_of(copy))
        return _count_names(copy, file)


def _count_names(copy: Path, file: Path) -> int | None:
    """Return the number of names in the database ``copy``. The errors name ``file``."""
    database = SQLite(copy)
    try:
        with closing(database.connect_to_read()) as connection:
            (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                raise BackupError(f"{file} is damaged: {result}", "use another backup, and check the disk")
            (version,) = connection.execute(VERSION_SQL).fetchone() or (None,)
            if number_of(version) not in (None, VERSION):
                return None
            (names,) = connection.execute("SELECT count(*) FROM bindings").fetchone()
        opening: Opening[Store] = Opening(str(database), lambda: open_store(database, create=False))
        with Bindings(opening, utc_now, None, is_local=True).open() as bindings:
            findings = [f"{result.identifier} {result.message}".strip() for result in verify(bindings)]
    except (sqlite3.Error, BindingsUnavailable, BindingError) as error:
        reason = str(error).partition("\n")[0].replace(str(copy), str(file))
        raise BackupError(f"{file} is not a backup of Ararat: {reason}", "use another backup") from error
    if findings:
        more = len(findings) - _MOST_SHOWN
        shown = "; ".join([*findings[:_MOST_SHOWN], *([f"{more:,} more"] if more > 0 else [])])
        raise BackupError(f"the names do not agree with their history: {shown}", "run ararat verify for the database")
    return names


def _move(copy: Path, new: Path, began: datetime) -> None:
    """Write a file to the disk, and rename it. Its time is that of its content."""
    with copy.open("rb") as stream:
        os.fsync(stream.fileno())
    os.utime(copy, (began.timestamp(), began.timestamp()))
    copy.replace(new)
    if os.name == "posix":
        folder = os.open(new.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _unreadable(file: Path, error: OSError) -> BackupError:
    return BackupError(f"cannot read {file}: {error.strerror or error}", "give the path of a backup", is_file=True)
