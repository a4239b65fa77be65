"""Protocols of the storage layer: a store, its snapshot, a database and its connections."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine, Table

    from ..bindings.bulk.operations import Operation
    from ..bindings.listing import Group, Page, Selection
    from ..bindings.model import Binding, Event, NameCount
    from ..bindings.patterns import Pattern
    from ..bindings.prefixes import PrefixEvent, PrefixRecord
    from ..errors import BindingsUnavailable, UnreadableBinding
    from ..resolution.rules import Rule, RuleEvent
    from ..tabular.other_rows import RuleRow, Setting
    from .integrity import Fault
    from .store import Transaction

Row = tuple[Any, ...]


class LastEvent(NamedTuple):
    """The last event of a name, also of a deleted name. The times are RFC 3339.

    ``state`` is all that two equal events have in common. ``changed`` is empty for a line of a file without a time.
    """

    key: str
    identifier: str
    revision: int
    changed: str
    resource: str | None
    state: Row


class Snapshot(Protocol):
    """A consistent view of all bindings at one moment."""

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Return all bindings in the order of their keys, also those of reserved names.

        Pass each row that cannot be read to ``unreadable``. Without ``unreadable``, raise UnreadableBinding.
        """
        ...

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Return the identifiers that are bound, without reserved names."""
        ...

    def rows(self, table: Table, since: datetime | None = None) -> Iterator[Row]:
        """Return the rows of a table; with ``since``, those from that time on.

        A file has the rows of an import into an empty database.
        """
        ...

    def last_events(self) -> Iterator[LastEvent]:
        """Return the last event of each name, in the order of their keys."""
        ...

    def event(self, key: str, revision: int) -> Row | None:
        """Return the state of an event, as in :class:`LastEvent`, or None if there is no such event."""
        ...

    def faults(self) -> Iterator[Fault]:
        """Return the contradictions between the rows of the tables; empty for a file."""
        ...

    def served(self) -> tuple[int, str | None]:
        """Return the number of live names of the kind "served", and the first key."""
        ...

    def settings(self) -> Iterator[RuleRow | Setting]:
        """Return the rules in the order of their prefixes, then counters and UUIDs in the order of their names."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all prefixes in order, without their rules."""
        ...

    def selectors(self) -> list[str]:
        """Return the selectors of all alternates, in order."""
        ...

    def elements(self) -> list[str]:
        """Return the names of all elements of metadata without a short name, in order."""
        ...


class Store(Protocol):
    """A place that keeps bindings: a database or a file. ``str()`` returns its place without a password."""

    @property
    def refusal(self) -> str | None:
        """Why the current version of a file is not served; None if it is served, and for a database."""
        ...

    @property
    def unrecorded(self) -> str | None:
        """Why the copy of the served file cannot be kept; None if it is kept, and for a database."""
        ...

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of these keys; unbound keys are left out."""
        ...

    def history(self, identifier: str) -> list[Event]:
        """Return the changes of a key, oldest first."""
        ...

    def count(self) -> NameCount:
        """Return the number of names, which can be an estimate."""
        ...

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names behind the cursor ``after``."""
        ...

    def count_names(self, selection: Selection, by: Group | None) -> dict[str, int]:
        """Return the numbers of names by group; without groups, the number of all with the key ""."""
        ...

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        """Return operations, the newest first, with numbers below ``before``; empty for a file."""
        ...

    def rules_version(self) -> str:
        """Return a text that changes when a rule changes."""
        ...

    def rules(self) -> list[Rule]:
        """Return all rules."""
        ...

    def patterns(self) -> list[Pattern]:
        """Return the patterns of the names that were minted with a check character."""
        ...

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule for a prefix, oldest first."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all prefixes, without their rules."""
        ...

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a prefix, oldest first."""
        ...

    def transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Transaction]:
        """Begin a transaction. With ``exclusive``, other writers wait until it ends."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Return a view of all bindings at this moment."""
        ...

    def close(self) -> None:
        """Close the store. It cannot be used afterwards."""
        ...


class Connection(Protocol):
    """The methods of a driver's connection that reading needs; sqlite3 and psycopg have them."""

    def execute(self, query: Any, params: Sequence[Any] = ..., /) -> Any:
        """Run a statement and return a cursor."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class ReadableDatabase(Protocol):
    """The part of a database that :class:`~ararat.middleware.storage.databases.connections.Readers` needs."""

    @property
    def driver_error(self) -> type[Exception]:
        """The base class of the driver's exceptions."""
        ...

    @property
    def most_readers(self) -> int:
        """The maximum number of reading connections per process."""
        ...

    def fingerprint(self, in_use: bool = False, /) -> Hashable:
        """Return a value that changes when existing connections must be replaced. Raises BindingsUnavailable.

        ``in_use`` is true if this process has idle connections.
        """
        ...

    def connect_to_read(self) -> Connection:
        """Open a connection that cannot write. Raises BindingsUnavailable."""
        ...

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """Return the exception to raise for an error of the driver, the server or the file system."""
        ...

    def is_transient(self, error: Exception) -> bool:
        """Return whether the connection is still usable after this error, such as a time limit."""
        ...


class Database(ReadableDatabase, Protocol):
    """A kind of SQL database. ``str()`` returns its place without user and password."""

    @property
    def engine(self) -> Engine:
        """The engine of the writing connections."""
        ...

    @property
    def dialect_name(self) -> str:
        """The name of the dialect: "sqlite" or "postgresql"."""
        ...

    @property
    def estimate_sql(self) -> str:
        """The query that estimates the number of names."""
        ...

    @property
    def trigger_names_sql(self) -> str:
        """The query that lists the enabled triggers."""
        ...

    @property
    def exclusive_lock_sql(self) -> str | None:
        """The statement that makes other writers wait; None if each transaction does this."""
        ...

    @property
    def schema_lock_sql(self) -> str | None:
        """The statement that allows one creation or migration of tables at a time; None if each transaction does."""
        ...

    @property
    def server_state_sql(self) -> str | None:
        """The query whether the server is a standby and whether the user can write; None without a server."""
        ...

    @property
    def is_standby_sql(self) -> str | None:
        """The expression whether the server is a standby; None without a server."""
        ...

    def servers(self) -> Sequence[Database]:
        """Return one database for each server that the URL names."""
        ...

    def exists(self) -> bool:
        """Return False if the file does not exist. For a server, return True."""
        ...

    def create(self) -> None:
        """Create the file, or check the encoding of the server's database."""
        ...

    def prepare(self) -> None:
        """Set up an existing database for writing."""
        ...

    def connect_for_snapshot(self) -> Connection:
        """Open a connection that cannot write and that sees the database at one moment."""
        ...

    def stream(self, connection: Any, query: str) -> Iterator[Any]:
        """Return the rows of a query without loading all of them."""
        ...

    def turn_to_write(self) -> AbstractContextManager[object]:
        """Wait until no other thread of this process writes, if the database has only one writer at a time.

        Raises BindingsUnavailable after some seconds.
        """
        ...

    def array_parameter(self, keys: list[str]) -> str | list[str]:
        """Convert keys to the one parameter of a statement for many keys."""
        ...

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a write failed because the database or the user can only read."""
        ...

    def is_conflict(self, error: Exception) -> bool:
        """Return whether a write failed because another writer was faster. Such a write can be repeated."""
        ...

    def is_constraint_violation(self, error: Exception) -> bool:
        """Return whether a trigger or a CHECK of the tables refused a write."""
        ...

    def is_missing_table(self, error: Exception) -> bool:
        """Return whether a statement failed because a table does not exist."""
        ...
