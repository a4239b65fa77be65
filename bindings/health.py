"""Check whether a store can be read and written, and whether its tables have the right version. Nothing is changed.
:func:`health_document` is the body of ``/healthz`` in all applications. Each server of a PostgreSQL URL is checked, and
exactly one must be the primary.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .names.errors import BindingError, BindingsLocked, BindingsUnavailable, ReadOnlyBindings
from .open import database_at, open_file, table_file
from .storage.databases.snapshot_file import SnapshotFile
from .storage.databases.sqlite import SQLite, error_code
from .storage.versions import VERSION_SQL, wrong_version

if TYPE_CHECKING:
    from .collection import Bindings
    from .names.binding import NameCount
    from .storage.protocols import Database


_WRITTEN = 262_144


class Condition(NamedTuple):
    """The condition of a store, or of one server of a PostgreSQL URL, for this process.

    - ``location``: its place without user and password.
    - ``standby``, ``table``, ``snapshot``: true for a copy of another server, for a table file, and for a file of
      ``ararat snapshot``, which are only read.
    - ``fault``, ``code``: what is wrong, in printable ASCII, and its code; or None.
    - ``names``: the number of names, or None if they cannot be read.
    - ``free``: the free bytes on the disk of an SQLite file, or None.
    """

    location: str
    readable: bool
    writable: bool
    standby: bool = False
    table: bool = False
    fault: str | None = None
    code: str | None = None
    names: NameCount | None = None
    snapshot: bool = False
    free: int | None = None


def conditions(url_or_path: str | Path) -> Iterator[Condition]:
    """Check a store at a URL or path, and yield its condition, or one for each server. Raises :class:`BindingError`
    with the code ``database-url``, ``database-in-memory`` or ``driver-missing``.

    >>> [condition] = conditions("/nowhere/bindings.sqlite")
    >>> condition.readable, condition.code
    (False, 'unavailable')
    """
    if (path := table_file(url_or_path)) is not None:
        yield _of_table(path)
        return
    database = database_at(url_or_path)
    for server in database.servers():
        condition = _of(server)
        yield _with_names(condition, server) if condition.readable else condition


def health_document(bindings: Bindings | None) -> dict[str, Any]:
    """Return the JSON document of ``/healthz``. ``status`` is "failing" for bindings that cannot be read, else "ok".
    ``bindings`` is "none", "readable" or "unreadable". Of readable ones, ``names`` is their number, and
    ``names_exact`` is false for an estimate.
    ``file`` of a table file is "served", "refused" or "unrecorded". Counting a large database can take seconds.

    >>> health_document(None)
    {'status': 'ok', 'bindings': 'none'}
    """
    if bindings is None:
        return {"status": "ok", "bindings": "none"}
    try:
        count = bindings.count()
        health: dict[str, Any] = {"status": "ok", "bindings": "readable"}
        health |= {"names": count.number, "names_exact": count.exact}
    except BindingsUnavailable:
        health = {"status": "failing", "bindings": "unreadable"}
    if bindings.kind == "file":
        # The reason can contain parts of the file. It is in the log only.
        health["file"] = (
            "refused" if bindings.source.refusal else "unrecorded" if bindings.source.unrecorded else "served"
        )
    return health


def _of_table(path: Path) -> Condition:
    from .served_file.store import require_succession

    location = str(path)
    try:
        with open_file(path, served=False) as bindings:
            names = bindings.count()
        require_succession(path)
    except (BindingError, BindingsUnavailable) as error:
        code = error.code if isinstance(error, BindingError) else "unavailable"
        return Condition(location, False, False, table=True, fault=str(error).partition("\n")[0], code=code)
    except OSError as error:
        return Condition(location, False, False, table=True, fault=str(error), code="unavailable")
    return Condition(location, True, False, table=True, names=names)


def _with_names(condition: Condition, database: Database) -> Condition:
    """Return the condition of a readable store with the number of names. A damaged file has a fault instead."""
    from .storage.store import count_names

    try:
        connection = database.connect_to_read()
        try:
            return condition._replace(
                names=count_names(lambda query: connection.execute(query, ()).fetchall(), database)
            )
        finally:
            connection.close()
    except (BindingsUnavailable, database.driver_error) as error:
        if database.dialect_name != "sqlite":
            # A busy server can need too long for a count.
            return condition
        failure = error if isinstance(error, BindingsUnavailable) else database.unavailable(error)
        code = failure.code if isinstance(failure, BindingError) else "unavailable"
        fault = str(failure).partition("\n")[0]
        return condition._replace(readable=False, writable=False, fault=fault, code=code)


def _of(database: Database) -> Condition:
    location = str(database)
    try:
        connection = database.connect_to_read()
    except BindingsUnavailable as error:
        code = error.code if isinstance(error, BindingError) else "unavailable"
        return Condition(location, False, False, fault=str(error).partition("\n")[0], code=code)
    standby, can_write = False, True
    try:
        row = connection.execute(VERSION_SQL, ()).fetchone()
        if database.server_state_sql:
            standby, can_write = connection.execute(database.server_state_sql, ()).fetchone()
    except database.driver_error as error:
        if database.is_missing_table(error):
            return Condition(location, False, False, fault="it has no tables of Ararat", code="no-tables")
        return Condition(location, False, False, fault=str(database.unavailable(error)), code="unavailable")
    finally:
        connection.close()
    if fault := wrong_version(database, row and row[0]):
        return Condition(location, False, False, standby, fault=fault, code="schema-version")
    if isinstance(database, SnapshotFile):
        return Condition(location, True, False, snapshot=True)
    if standby:
        return Condition(location, True, False, standby=True)
    if not can_write:
        fault = "the user has no permission to write the tables; grant INSERT and UPDATE"
        return Condition(location, True, False, fault=fault, code="not-writable")
    return _try_to_write(database, location)


def _try_to_write(database: Database, location: str) -> Condition:
    try:
        database.require_writable()
        _begin_and_roll_back(database)
    except ReadOnlyBindings as error:
        return Condition(location, True, False, fault=error.message, code="not-writable")
    except BindingsLocked as error:
        return Condition(location, True, False, fault=str(error), code="locked")
    except BindingsUnavailable as error:
        code = "disk-full" if _is_full(error.__cause__) else "not-written"
        return Condition(location, True, False, fault=str(error), code=code)
    return Condition(location, True, True, free=_free(database))


def _is_full(error: BaseException | None) -> bool:
    """Return whether a driver reports a full disk. SQLite reports a full quota as an error of input and output."""
    full = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return error_code(error) & 0xFF in full or getattr(error, "sqlstate", None) == "53100"


def _free(database: Database) -> int | None:
    try:
        return shutil.disk_usage(database.path.parent).free if isinstance(database, SQLite) else None
    except OSError:
        return None


def _begin_and_roll_back(database: Database) -> None:
    """Write a row that needs new pages, and roll the transaction back: so a full disk is found."""
    from sqlalchemy.exc import DBAPIError

    from .storage.tables.schema import meta
    from .storage.writing.transaction import driver_cause

    row = {"name": "doctor", "value": secrets.token_hex(_WRITTEN // 2)}
    try:
        if database.dialect_name == "sqlite":
            _write_pages(cast("SQLite", database), row)
            return
        with database.engine.connect() as connection:
            connection.execute(meta.insert(), row)
            connection.rollback()
    except DBAPIError as error:
        cause = driver_cause(error)
        raise database.unavailable(cause) from cause


def _write_pages(database: SQLite, row: dict[str, str]) -> None:
    """Let SQLite write the pages of a row to the disk before the end of the transaction."""
    try:
        with closing(database.connect_to_write()) as connection:
            # A small cache is written to the disk when it is full.
            connection.execute("PRAGMA cache_size = 10")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO ararat (name, value) VALUES (?, ?)", (*row.values(),))
            connection.execute("ROLLBACK")
    except database.driver_error as error:
        raise database.unavailable(error) from error
