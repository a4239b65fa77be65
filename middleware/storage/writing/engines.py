"""The SQLAlchemy engines for changes. A connection is closed after each change, so that a fork inherits none."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

POLL_MILLISECONDS = 10
"""The maximum time between two attempts of a writer to lock an SQLite file."""


def sqlite_engine(connect: Callable[[], Any], busy_seconds: float) -> Engine:
    """Return an SQLAlchemy engine for an SQLite file. ``connect`` opens a connection of the driver.

    A writer waits for another writer at most ``busy_seconds``.
    """
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    event.listen(engine, "begin", lambda connection: _begin_immediate(connection, busy_seconds))
    event.listen(engine, "commit", _identify)
    return engine


def postgresql_engine(connect: Callable[[], Any], begin: str) -> Engine:
    """Return an SQLAlchemy engine for a PostgreSQL database. ``connect`` opens a connection of the driver.

    Each transaction runs the statement ``begin`` first.
    """
    # The driver runs the statements, and its parameters have positions and no names.
    engine = create_engine(
        "postgresql+psycopg://", creator=connect, poolclass=NullPool, paramstyle="format", hide_parameters=True
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _identify(connection: Any) -> None:
    """Write the first page of the database with its identity to the log, so that the log can be identified."""
    if not connection.connection.dbapi_connection.total_changes:
        return
    identity = connection.exec_driver_sql("PRAGMA application_id").scalar_one() or secrets.randbelow(2**31 - 1) + 1
    connection.exec_driver_sql(f"PRAGMA application_id = {identity}")


def _begin_immediate(connection: Any, seconds: float) -> None:
    """Lock out other writers. The default locks after the first read, and then fails if another writer was faster.

    SQLite waits longer and longer between two attempts, up to 0.1 s. Among many writers, one could wait too long.
    """
    driver = connection.connection.dbapi_connection
    deadline = time.monotonic() + seconds
    driver.execute(f"PRAGMA busy_timeout = {POLL_MILLISECONDS}")
    while True:
        try:
            driver.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                connection.exec_driver_sql("BEGIN IMMEDIATE")  # SQLAlchemy raises its exception for this error
                break
    driver.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
