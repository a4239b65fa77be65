"""The SQLAlchemy engines for changes. To connect takes longer than a change, so one connection to an SQLite file is
kept while this is safe (:mod:`.reuse`), and several to PostgreSQL. Idle ones are closed before a fork, and a forked
process forgets those of its parent.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import QueuePool

from ...system.fork_safety import AtFork
from .connections import IDLE_SECONDS

if TYPE_CHECKING:
    from .deadlines import WriterConnection

KEPT = 8
"""The maximum number of idle writing connections to PostgreSQL per process.

`ararat serve` can have more writers at once than that. Each further one opens a connection of its own, which takes
longer than a change.
"""

POLL_MILLISECONDS = 10
"""The maximum time between two attempts of a writer to lock an SQLite file."""

_CHANGES = "ararat changes"
"""The number of rows that a connection had changed before its transaction."""

_at_fork = AtFork(before=Engine.dispose, after_in_child=partial(Engine.dispose, close=False))


@dataclass(slots=True)
class Patience:
    """The time that a writer waits for threads of this process, then for other processes: ``seconds`` for both.
    ``until`` is its end for the writer whose turn it is; None for one that did not wait.
    """

    seconds: float
    until: float | None = None


def sqlite_engine(patience: Patience) -> Engine:
    """Return an SQLAlchemy engine for an SQLite file, whose connections :class:`.reuse.ReusedConnection` opens."""
    engine = create_engine("sqlite://", poolclass=QueuePool, pool_size=1, max_overflow=-1, hide_parameters=True)
    event.listen(engine, "begin", lambda connection: _begin_immediate(connection, patience))
    event.listen(engine, "commit", _identify)
    return engine


def postgresql_engine(connect: Callable[[], WriterConnection]) -> Engine:
    """Return an SQLAlchemy engine for PostgreSQL, whose connections are in autocommit mode and run ``begin_sql``
    first.
    """
    # The pool must not keep the database in memory, so that a database that is not closed is deleted with its pool.
    connect_to = weakref.WeakMethod(connect)

    def create() -> Any:
        connect_now = connect_to()
        if connect_now is None:
            raise RuntimeError("the database of this engine does not exist any more")
        return connect_now()

    # The driver runs the statements, and its parameters have positions and no names.
    engine = create_engine(
        "postgresql+psycopg://",
        creator=create,
        pool_size=KEPT,
        max_overflow=-1,
        pool_use_lifo=True,
        paramstyle="format",
        hide_parameters=True,
        # The cursor of psycopg forgets the number of inserted rows when SQLAlchemy closes it.
        execution_options={"preserve_rowcount": True},
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "checkout", _require_usable)
    event.listen(engine, "checkin", _on_return)
    event.listen(engine, "begin", _begin)
    _at_fork.add(engine)
    weakref.finalize(engine, engine.pool.dispose)
    return engine


def _on_connect(connection: Any, record: Any) -> None:
    record.info["process"] = os.getpid()
    record.info["used"] = time.monotonic()


def _on_return(connection: Any, record: Any) -> None:
    record.info["used"] = time.monotonic()


def _require_usable(connection: Any, record: Any, checked_out: Any) -> None:
    """Raise DisconnectionError for a connection that cannot be used. SQLAlchemy then opens another one."""
    if record.info["process"] != os.getpid():
        # Some servers fork without Python, so the hook below did not run.
        record.dbapi_connection = checked_out.dbapi_connection = None
        raise DisconnectionError("the connection belongs to another process")
    if time.monotonic() - record.info["used"] > IDLE_SECONDS:
        # A firewall or load balancer can have forgotten it, and tells no client.
        raise DisconnectionError("the connection was idle for too long")


def _begin(connection: Connection) -> None:
    driver: Any = connection.connection.dbapi_connection
    # The first statement on a kept connection tests it. Those that follow can take long, unless the caller says less.
    driver.is_large = False
    connection.exec_driver_sql(driver.begin_sql)
    driver.is_large = True


def _identify(connection: Any) -> None:
    """Write the first page of the database with its identity to the log, so that the log can be identified."""
    driver = connection.connection.dbapi_connection
    if driver.total_changes == connection.info[_CHANGES]:
        return
    (identity,) = driver.execute("PRAGMA application_id").fetchone()
    statement = f"PRAGMA application_id = {identity or secrets.randbelow(2**31 - 1) + 1}"
    try:
        driver.execute(statement)
    except sqlite3.Error:
        connection.exec_driver_sql(statement)  # SQLAlchemy raises its exception for this error


def _begin_immediate(connection: Any, patience: Patience) -> None:
    """Lock out other writers. By default SQLite locks after the first read, and fails if another writer was faster. Its
    pauses between attempts grow up to 0.1 s, so that one of many writers could wait too long.
    """
    driver = connection.connection.dbapi_connection
    connection.info[_CHANGES] = driver.total_changes
    deadline = time.monotonic() + patience.seconds if patience.until is None else patience.until
    driver.execute(f"PRAGMA busy_timeout = {POLL_MILLISECONDS}")
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # SQLAlchemy raises its exception for this error
                break
    driver.execute(f"PRAGMA busy_timeout = {patience.seconds * 1000:.0f}")
