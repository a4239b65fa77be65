"""The interfaces of the storage layer: a store, its snapshot, a database and its connections."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine, Table

    from ..names.binding import Action, Binding, Event, NameCount, StoredRedirect
    from ..names.errors import BindingsUnavailable, UnreadableBinding
    from ..names.event_selection import EventPage, EventSelection
    from ..names.operation import Operation
    from ..names.other_rows import RuleRow, Setting
    from ..names.prefixes.patterns import Pattern
    from ..names.prefixes.prefixes import PrefixEvent, PrefixRecord
    from ..names.prefixes.rules import Rule, RuleEvent
    from ..names.selection import Group, Page, Selection
    from .integrity import Fault
    from .name_ranges import NameRanges
    from .writing.transaction import Transaction

Row = tuple[Any, ...]


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


class Snapshot(Protocol):
    """All bindings of a store at one moment. Later changes do not affect it."""

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Yield all bindings in the order of their keys, also those of reserved names.

        ``unreadable`` is called with each row that cannot be read. Without it, such a row raises
        :class:`UnreadableBinding`.
        """
        ...

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Return the keys in ``identifiers`` that are bound. Reserved names are omitted."""
        ...

    def rows(self, table: Table, since: datetime | None = None) -> Iterator[Row]:
        """Return the rows of a database table. ``since`` limits them to rows from that time on.

        For a table file, return the rows that its import into an empty database would create.
        """
        ...

    def last_events(self) -> Iterator[LastEvent]:
        """Yield the last event of each name, also of a deleted name, in the order of the keys."""
        ...

    def event(self, key: str, revision: int) -> Row | None:
        """Return the columns :attr:`LastEvent.state` of one event of a name.

        Return None if the event does not exist.
        """
        ...

    def faults(self) -> Iterator[Fault]:
        """Yield the contradictions between the rows of the tables, such as a binding that differs from its last event.

        A table file has none.
        """
        ...

    def served(self) -> tuple[int, str | None]:
        """Return the number of live names of the kind "served" (the site answers), and the first of their keys."""
        ...

    def settings(self) -> Iterator[RuleRow | Setting]:
        """Yield the rules by prefix, then the counters and the owners of UUIDs by name."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders in the order of their prefixes, with the field ``rule`` not set."""
        ...

    def selectors(self) -> list[str]:
        """Return the selectors of all alternate targets in alphabetical order, such as "text/html;en"."""
        ...

    def elements(self) -> list[str]:
        """Return the names of the metadata elements in use that have no short name, in alphabetical order."""
        ...


class Store(Protocol):
    """A place that keeps bindings: a database or a table file. ``str()`` returns its place without a password.

    The methods raise :class:`BindingsUnavailable` if the store cannot be read.
    """

    @property
    def refusal(self) -> str | None:
        """Why the current version of a table file is not served. It is None if it is served, or for a database."""
        ...

    @property
    def unrecorded(self) -> str | None:
        """Why the copy of the served table file cannot be saved. It is None if it is saved, or for a database."""
        ...

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of these keys, by key. Keys that are not bound are omitted."""
        ...

    def stored_redirect(self, identifier: str) -> StoredRedirect | None:
        """Return the redirect of a live name without alternates that the site does not serve, else None.

        ``identifier`` is a key of at most 255 printable ASCII characters.
        """
        ...

    def data_version(self) -> Hashable | None:
        """Return a value that differs after each change of a binding, also by other processes.

        Return None if changes cannot be detected.
        """
        ...

    def first_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the actors of the first changes of these keys; keys without an actor are left out."""
        ...

    def last_actions(self, identifiers: Iterable[str]) -> dict[str, Action]:
        """Return the actions of the last changes of these keys. Keys that are not bound are omitted."""
        ...

    def history(self, identifier: str) -> list[Event]:
        """Return the changes of the name with this key, the oldest first. The list is empty for an unknown name."""
        ...

    def log_entries(self, identifier: str) -> list[int]:
        """Return the numbers of the entries of the name with this key in the log; empty for a file."""
        ...

    def first_log_entry(self, identifier: str) -> tuple[int, datetime] | None:
        """Return the number and the time of the first entry of the name with this key in the log; None for a file."""
        ...

    def log_key(self) -> str | None:
        """Return the public key of the log; None without a log, and for a file."""
        ...

    def count(self) -> NameCount:
        """Return the number of names, live, reserved or withdrawn. A large number can be an estimate."""
        ...

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names that meet the conditions ``selection``.

        ``after`` is :attr:`Page.next` of the page before, or None.
        """
        ...

    def count_names(self, selection: Selection, by: Group | None) -> dict[str, int]:
        """Return the number of names in each group. If ``by`` is None, the number of all names has the key ""."""
        ...

    def ranges(self) -> NameRanges:
        """Return an object that divides the names into ranges of their keys. A file is read as it is now."""
        ...

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        """Return at most ``limit`` operations, the newest first. ``before`` excludes operations from that number on.

        The list is empty for a table file.
        """
        ...

    def events(self, selection: EventSelection, below: int | None, limit: int) -> EventPage:
        """Return events, the newest first, with numbers below ``below``; empty for a file."""
        ...

    def rules_version(self) -> str:
        """Return a text that differs after each change of a rule, prefix record, the branding or a pattern of names."""
        ...

    def rules(self) -> list[Rule]:
        """Return the rules of all NAANs and shoulders, in any order."""
        ...

    def patterns(self) -> list[Pattern]:
        """Return the patterns of the names that were minted with a check character. They detect typing errors."""
        ...

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule of a NAAN or shoulder, the oldest first."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders, with the field ``rule`` not set."""
        ...

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a NAAN or shoulder, the oldest first."""
        ...

    def recorded_branding(self) -> str | None:
        """Return the recorded branding (:mod:`~ararat.bindings.names.branding.stored`) as JSON; None for a file."""
        ...

    def recorded_brandings(self) -> list[str]:
        """Return the recorded branding and all earlier ones as JSON, in any order. The list is empty for a file."""
        ...

    def transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Transaction]:
        """Return a context manager for a transaction. With ``exclusive``, other writers wait until it ends.

        Raises :class:`ReadOnlyBindings` for a table file.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Return a context manager for a view of all bindings at this moment."""
        ...

    def close(self) -> None:
        """Close the store and its connections. Later uses raise :class:`BindingsUnavailable`."""
        ...


class Connection(Protocol):
    """The methods of a driver's connection that reading needs. Connections of sqlite3 and psycopg have them."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Run a statement with its parameters, and return a cursor for the rows."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class ReadableDatabase(Protocol):
    """The methods of a database that :class:`~ararat.bindings.storage.databases.connections.Readers` calls."""

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the exceptions that the driver raises."""
        ...

    @property
    def most_readers(self) -> int:
        """The maximum number of connections for reading in one process."""
        ...

    def fingerprint(self, in_use: bool = False, /) -> Hashable:
        """Return a value that differs if existing connections must be replaced, because the file was replaced or
        changed.

        ``in_use`` is true if this process has idle connections. Raises :class:`BindingsUnavailable`.
        """
        ...

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return whether two fingerprints are of one file, which was written between them."""
        ...

    @property
    def version_sql(self) -> str | None:
        """A query whose rows differ on one connection after each change of the database by another connection.

        None if connections can lead to databases in different states.
        """
        ...

    def connect_to_read(self) -> Connection:
        """Open a connection that cannot write. Raises BindingsUnavailable."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """Convert an error of the driver, the server or the file system to the exception to raise."""
        ...

    def is_transient(self, error: Exception) -> bool:
        """Return whether the connection can be used again after this error, such as a time limit."""
        ...


class Database(ReadableDatabase, Protocol):
    """One SQLite file or PostgreSQL database. ``str()`` returns its place without user and password."""

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine for changes."""
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
        """A query that returns two values: whether the server is a standby, and whether the user can write. None for a
        file.
        """
        ...

    @property
    def is_standby_sql(self) -> str | None:
        """An SQL expression that is true on a standby server. None for a file."""
        ...

    def servers(self) -> Sequence[Database]:
        """Return a database for each server that the URL names, so that each can be checked.

        A file is its own server.
        """
        ...

    def exists(self) -> bool:
        """Return False if the file does not exist. Return True for a server, which only a connection could check."""
        ...

    def create(self) -> None:
        """Create a missing SQLite file. For PostgreSQL, check the encoding of the database, which must exist."""
        ...

    def prepare(self) -> None:
        """Prepare an existing database for changes, such as turning on the write-ahead log of SQLite."""
        ...

    def require_writable(self) -> None:
        """Raise :class:`ReadOnlyBindings` if this process has no permission to write the file. A server checks it."""
        ...

    def connect_for_snapshot(self) -> Connection:
        """Open a connection that cannot write and that sees the database as it is at its first query."""
        ...

    def stream(self, connection: Any, query: str) -> Iterator[Any]:
        """Run a query and yield its rows, without loading all of them."""
        ...

    def close_writers(self) -> None:
        """Close the idle writing connections."""
        ...

    def turn_to_write(self) -> AbstractContextManager[object]:
        """Wait until no other thread of this process writes, if the database has only one writer at a time.

        Raises BindingsUnavailable after some seconds.
        """
        ...

    def array_parameter(self, keys: list[str]) -> str | list[str]:
        """Return many keys as the one parameter of a statement, in the form that the driver needs."""
        ...

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a change failed because the database cannot be written, or the user has no permission."""
        ...

    def is_conflict(self, error: Exception) -> bool:
        """Return whether a change failed because another writer changed the same row first. The caller can repeat the
        change.
        """
        ...

    def is_constraint_violation(self, error: Exception) -> bool:
        """Return whether a change failed because a trigger or a constraint of the tables forbids it."""
        ...

    def is_missing_table(self, error: Exception) -> bool:
        """Return whether a statement failed because one of its tables does not exist."""
        ...
