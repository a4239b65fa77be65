"""The interfaces of the storage layer: a store, its snapshot, a database and its connections."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ..names.errors import BindingsUnavailable

Row = tuple[Any, ...]

READ_SECONDS = 0.7
"""The time after which PostgreSQL stops a statement of a reader, if no other limit is set."""

Clock = Callable[[], datetime]
"""A function that returns the current time in UTC. It decides from when a name with an embargo is live."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class LastEvent(NamedTuple):
    """The last event of a name, also of a deleted name.

    - ``key``: the key in the tables; ``identifier``: the normal form of the name.
    - ``revision``: the number of the event, from 1.
    - ``changed``: its time in RFC 3339; "" for a line of a file without a time.
    - ``state``: the columns that two equal events have in common.
    """

    key: str
    identifier: str
    revision: int
    changed: str
    resource: str | None
    state: Row


class Connection(Protocol):
    """The methods of a driver's connection that reading needs. Connections of sqlite3 and psycopg have them."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Run the SQL statement ``query``, and return a cursor that yields its rows. ``params`` are the values of the
        placeholders in the statement, in order.
        """
        ...

    def close(self) -> None:
        """Close the connection to the database."""
        ...


class ReadableDatabase(Protocol):
    """The interface to a database for reading, which :class:`~ararat.bindings.storage.databases.connections.Readers`
    uses.
    """

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the exceptions that the driver raises."""
        ...

    @property
    def most_readers(self) -> int:
        """The maximum number of connections for reading in one process."""
        ...

    def fingerprint(self, in_use: bool = False, /) -> Hashable:
        """Return a value that changes if the connections must be replaced, because the database file was replaced or
        changed. ``in_use`` is true if this process has idle connections. Raises :class:`BindingsUnavailable`.
        """
        ...

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return whether the fingerprints ``before`` and ``now`` are of one file that was written between them. Both
        are results of :meth:`fingerprint`.
        """
        ...

    @property
    def version_sql(self) -> str | None:
        """A query whose rows differ on one connection after each change of the database by another connection. None if
        connections can lead to databases in different states.
        """
        ...

    def connect_to_read(self) -> Connection:
        """Open a connection to the database that cannot write. Raises :class:`BindingsUnavailable`."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """Convert ``error``, an exception of the driver, the server or the file system, to the exception that the
        caller must raise.
        """
        ...

    def is_transient(self, error: Exception) -> bool:
        """Return whether a connection can be used again after the error ``error``, such as a time limit."""
        ...


class Database(ReadableDatabase, Protocol):
    """The interface to one SQLite file or PostgreSQL database. ``str()`` returns its place without user and
    password.
    """

    version: int
    """The version of the schema that its tables must have: the current one, unless an older one is opened
    (:data:`.versions.LACKING`)."""

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine whose connections write to the database."""
        ...

    @property
    def dialect_name(self) -> str:
        """The kind of the database, for statements that differ: "sqlite" or "postgresql"."""
        ...

    @property
    def estimate_sql(self) -> str:
        """A query that returns an estimate of the number of names."""
        ...

    @property
    def has_traces(self) -> bool:
        """Whether it has the table of the last traces of targets. A snapshot has none."""
        ...

    @property
    def trigger_names_sql(self) -> str:
        """A query that returns the names of the enabled triggers."""
        ...

    @property
    def exclusive_lock_sql(self) -> str | None:
        """A statement that makes other writers wait. It is None if each transaction makes them wait (SQLite)."""
        ...

    @property
    def schema_lock_sql(self) -> str | None:
        """A statement that makes another creation or migration of the tables wait. It is None if each transaction does
        (SQLite).
        """
        ...

    @property
    def server_state_sql(self) -> str | None:
        """A query that returns two values: whether the server is a standby, and whether the user can write. It is None
        for a file.
        """
        ...

    @property
    def is_standby_sql(self) -> str | None:
        """An SQL expression that is true on a standby server. It is None for a file."""
        ...

    def servers(self) -> Sequence[Database]:
        """Return a database for each server that the URL names, so that each can be checked. A file is its own
        server.
        """
        ...

    def exists(self) -> bool:
        """Return whether the database file exists. Return True for a server, which only a connection can check."""
        ...

    def create(self) -> None:
        """Create a missing SQLite file. For PostgreSQL, check the encoding of the database, which must exist."""
        ...

    def prepare(self) -> None:
        """Prepare an existing database for changes: turn on the write-ahead log of SQLite."""
        ...

    def require_writable(self) -> None:
        """Raise :class:`ReadOnlyBindings` if this process has no permission to write the file. A server checks it."""
        ...

    def connect_for_snapshot(self) -> Connection:
        """Open a connection that cannot write and that sees the database as it is at its first query."""
        ...

    def stream(self, connection: Any, query: str) -> Iterator[Any]:
        """Run a query and yield its rows, without loading all of them. ``connection`` is an open connection of the
        driver. ``query`` is the SQL text of a query without parameters. Each row is a sequence of column values.
        """
        ...

    def primary(self) -> Database | None:
        """Return a database that reads only from the primary of several servers. Return None for one server."""
        ...

    def shorten_log(self, failure: Exception | None = None) -> None:
        """Shorten the write-ahead log of SQLite after a large change, so that its file needs less space on disk.
        ``failure`` is the exception that ended the change, or None if it succeeded. A PostgreSQL server shortens its
        log itself: nothing is done.
        """
        ...

    def erase_deleted(self) -> bool | None:
        """Erase deleted texts from the files of the database. Return whether they are erased, or None if the server
        does it later.
        """
        ...

    def outcome(self, transaction: str) -> bool | None:
        """Return whether a transaction was committed whose connection broke. Return None if this cannot be known.
        ``transaction`` is the fact "transaction" that its first statement returned.
        """
        ...

    def close_writers(self) -> None:
        """Close the idle connections to the database for changes."""
        ...

    def turn_to_write(self) -> AbstractContextManager[object]:
        """Wait until no other thread of this process writes, if the database has only one writer at a time. Raises
        BindingsUnavailable after some seconds.
        """
        ...

    def array_parameter(self, keys: list[str]) -> str | list[str]:
        """Return the texts ``keys`` as the one parameter of a statement, in the form that the driver needs. The result
        is a list for PostgreSQL, and a JSON array in a str for SQLite.
        """
        ...

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a change failed because the database cannot be written, or the user has no permission."""
        ...

    def is_conflict(self, error: Exception) -> bool:
        """Return whether a change failed because another writer changed the same row first. The caller can repeat the
        change. ``error`` is the exception of the driver, the server or the file system.
        """
        ...

    def is_constraint_violation(self, error: Exception) -> bool:
        """Return whether a change failed because a trigger or a constraint of the tables forbids it. ``error`` is the
        exception of the driver, the server or the file system.
        """
        ...

    def is_missing_table(self, error: Exception) -> bool:
        """Return whether a statement failed because one of its tables does not exist. ``error`` is the exception of the
        driver, the server or the file system.
        """
        ...
