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
    """The last event of a name, also of a deleted one. ``revision`` counts from 1, and ``changed`` is in RFC 3339, or
    "" for a line of a file. ``state`` has the columns that two equal events have in common.
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
        """Run an SQL statement with the values of its placeholders, and return a cursor that yields its rows."""
        ...

    def close(self) -> None:
        """Close the connection to the database."""
        ...


class ReadableDatabase(Protocol):
    """A database for reading, as :class:`~ararat.bindings.storage.databases.connections.Readers` uses it."""

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the exceptions that the driver raises."""
        ...

    @property
    def most_readers(self) -> int:
        """The maximum number of connections for reading in one process."""
        ...

    def fingerprint(self, in_use: bool = False, /) -> Hashable:
        """Return a value that changes if the file was replaced or changed, so that the connections must be replaced.
        With ``in_use``, this process has idle connections. Raises :class:`BindingsUnavailable`.
        """
        ...

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return whether a file is the same one as before, only with other content. Both values are
        fingerprints of it.
        """
        ...

    @property
    def version_sql(self) -> str | None:
        """A query whose rows differ on one connection after each change by another. None if connections can lead to
        databases in different states.
        """
        ...

    def connect_to_read(self) -> Connection:
        """Open a connection to the database that cannot write. Raises :class:`BindingsUnavailable`."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """Convert an exception of the driver, the server or the file system to the exception to raise."""
        ...

    def is_transient(self, error: Exception) -> bool:
        """Return whether a connection can be used again after an error, such as a time limit."""
        ...


class Database(ReadableDatabase, Protocol):
    """One SQLite file or PostgreSQL database. ``str()`` returns its place without user and password."""

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
    def has_row_numbers(self) -> bool:
        """Whether the names have the row numbers of SQLite."""
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
        """A statement that makes another migration of the tables wait, or None if each transaction does (SQLite)."""
        ...

    @property
    def server_state_sql(self) -> str | None:
        """A query for whether the server is a standby, and whether the user can write. None for a file."""
        ...

    @property
    def is_standby_sql(self) -> str | None:
        """An SQL expression that is true on a standby server. It is None for a file."""
        ...

    def servers(self) -> Sequence[Database]:
        """Return a database for each server of the URL, so that each can be checked. A file is its own server."""
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

    def require_writable(self, *, creating: bool = False) -> None:
        """Raise :class:`ReadOnlyBindings` if this process has no permission to write the file. With ``creating``, a
        file that does not exist needs only a folder in which it can be created. A server checks the permission.
        """
        ...

    def connect_for_snapshot(self) -> Connection:
        """Open a connection that cannot write and that sees the database as it is at its first query."""
        ...

    def stream(self, connection: Any, query: str) -> Iterator[Any]:
        """Run a query without parameters and yield its rows, without loading all of them."""
        ...

    def primary(self) -> Database | None:
        """Return a database that reads only from the primary of several servers. Return None for one server."""
        ...

    def shorten_log(self, failure: Exception | None = None) -> None:
        """Shorten the write-ahead log of SQLite after a large change, which ended with ``failure`` if that is set."""
        ...

    def erase_deleted(self) -> bool | None:
        """Erase deleted texts from the files, and return whether they are. None if the server does it later."""
        ...

    def outcome(self, transaction: str) -> bool | None:
        """Return whether a transaction was committed whose connection broke, or None if this cannot be known.
        ``transaction`` is the fact "transaction" that its first statement returned.
        """
        ...

    def close_writers(self) -> None:
        """Close the idle connections to the database for changes."""
        ...

    def turn_to_write(self) -> AbstractContextManager[object]:
        """Wait until no other thread of this process writes, if there is one writer at a time. Raises
        BindingsUnavailable after some seconds.
        """
        ...

    def array_parameter(self, keys: list[str], /) -> str | list[str]:
        """Return texts as one parameter of a statement: a list for PostgreSQL, a JSON array for SQLite."""
        ...

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a change failed because the database cannot be written, or the user has no permission."""
        ...

    def is_conflict(self, error: Exception) -> bool:
        """Return whether a change failed because another writer changed the same row first. The caller can repeat
        it.
        """
        ...

    def is_constraint_violation(self, error: Exception) -> bool:
        """Return whether a change failed because a trigger or a constraint of the tables forbids it."""
        ...

    def is_missing_table(self, error: Exception) -> bool:
        """Return whether a statement failed because one of its tables does not exist."""
        ...
