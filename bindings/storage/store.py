"""A store of bindings in an SQL database: fast lookups and durable changes, about which :mod:`assignment` decides.
:meth:`DatabaseStore.fetch` is the hot path: one prepared statement on a connection that is kept, without SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..names.binding import NOTHING, Action, Binding, Event, Hold, NameCount, StoredRedirect, rfc3339
from ..names.errors import BindingError, BindingsUnavailable, StatementStopped, TooBroad, UnreadableBinding
from ..names.event_selection import EventPage, EventSelection
from ..names.operation import Operation
from ..names.prefixes.patterns import Pattern
from ..names.prefixes.prefixes import PrefixEvent, PrefixRecord
from ..names.prefixes.rules import Rule, RuleEvent
from ..names.selection import MAX_PAGE, Group, Page, Selection
from . import events
from .databases.connections import Readers
from .listing import Lists, SearchLimits
from .protocols import Clock, Connection, Database, Row, utc_now
from .recorded import RecordedNames
from .reopening import CLOSED
from .rows import (
    LastTrace,
    binding_of,
    hold_of,
    prefix_record_of,
    rule_of,
    stored_redirect_of,
    time_of,
    traced_binding_of,
)
from .statements import MOST_FEW, Statements
from .tables.keys import index_key
from .versions import LACKING, VERSION_SQL, no_database, number_of, require_version, wrong_version

if TYPE_CHECKING:
    from sqlalchemy import Connection as CoreConnection
    from sqlalchemy import SelectBase

    from .name_ranges import DatabaseRanges
    from .snapshot import DatabaseSnapshot
    from .writing.transaction import Inserts, Transaction

MAX_COUNTED = 10_000
"""The number of names up to which names are counted. Larger numbers are estimated."""

_COUNT = "SELECT count(*) FROM (SELECT 1 FROM bindings LIMIT 10001) AS few"
_RULES_VERSION_SQL = "SELECT value FROM ararat WHERE name = 'rules'"
_BRANDING_SQL = "SELECT value FROM ararat WHERE name = 'branding'"
_BRANDINGS_SQL = "SELECT value FROM ararat WHERE substr(name, 1, 8) = 'branding'"


_READS_CURRENT: ContextVar[bool] = ContextVar("ararat reads current names", default=False)


def read_current(enabled: bool) -> None:
    """Choose for this thread or task whether it reads from the primary server of PostgreSQL, and so sees all
    acknowledged changes. By default it reads from any server: visitors must be answered also without a primary.
    """
    _READS_CURRENT.set(enabled)


def reads_current() -> bool:
    """Return whether this thread or task reads from the primary server of PostgreSQL (:func:`read_current`)."""
    return _READS_CURRENT.get()


class DatabaseStore:
    """A store of bindings in one SQLite or PostgreSQL database (:class:`.stores.Store`), opened by :func:`open_store`.
    ``str()`` returns its place without a password. All threads can use one object.
    """

    refusal: str | None = None
    unrecorded: str | None = None

    def __init__(
        self,
        database: Database,
        clock: Clock = utc_now,
        limits: SearchLimits = SearchLimits(),  # noqa: B008  it cannot be changed
        reader: tuple[Connection, Hashable] | None = None,
    ) -> None:
        """Keep ``reader`` for the first query: a connection, with the fingerprint from before it was opened."""
        self._database = database
        self._clock = clock
        self._readers = Readers(database, self._verify)
        if reader is not None:
            self._readers.add(*reader)
        self._is_new = database.dialect_name == "sqlite"
        self._lacking = LACKING.get(database.version, ())
        self._statements = Statements(database.dialect_name, self._lacking)
        # Editors must see what they have just written, also if visitors are answered by a standby.
        self._primary = database.primary()
        self._current = None if self._primary is None else Readers(self._primary, self._verify)
        self.lists = Lists(database.dialect_name, clock, limits, has_row_numbers=database.has_row_numbers)
        self._inserts: Inserts | None = None
        self._compiled: dict[SelectBase, tuple[str, Sequence[str], Mapping[str, Any]]] = {}
        self._closed = False

    def __str__(self) -> str:
        return str(self._database)

    def _rows(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        if self._current is not None and _READS_CURRENT.get():
            return self._current.rows(query, parameters)
        return self._readers.rows(query, parameters)

    def _rows_of_list(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        """Return the rows of a query for a list. Raise TooBroad if the database stops it at the limit of its time."""
        try:
            return self._rows(query, parameters)
        except StatementStopped as error:
            raise TooBroad(str(error)) from error

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        # The tables contain only keys of printable ASCII, and no other text reaches the database.
        keys = [index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        if not keys:
            return {}
        if len(keys) <= MOST_FEW:
            rows = self._rows(self._statements.few[len(keys) - 1], keys)
        else:
            rows = self._rows(self._statements.many, (self._database.array_parameter(keys),))
        bindings = map(binding_of, rows)
        return {each.identifier: each if each.embargo is None else each.at(self._clock()) for each in bindings}

    def fetch_traced(self, identifiers: Iterable[str]) -> tuple[dict[str, Binding], dict[str, LastTrace]]:
        """Return bindings as :meth:`fetch`, and the last traces of their present targets, both by key. A snapshot has
        no traces.
        """
        if not self._database.has_traces:
            return self.fetch(identifiers), {}
        keys = [index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        if not keys:
            return {}, {}
        if len(keys) <= MOST_FEW:
            rows = self._rows(self._statements.few_traced[len(keys) - 1], keys)
        else:
            rows = self._rows(self._statements.many_traced, (self._database.array_parameter(keys),))
        found = [traced_binding_of(row) for row in rows]
        bindings = [each if each.embargo is None else each.at(self._clock()) for each, _ in found]
        traces = {each.identifier: last for each, last in found if last is not None}
        return {each.identifier: each for each in bindings}, traces

    def names_below(self, identifier: str, most: int) -> list[Binding]:
        found: list[Binding] = []
        for row in self._rows(self._statements.below, (f"{identifier}.", f"{identifier}0", most)):
            with suppress(UnreadableBinding):
                binding = binding_of(row)
                found.append(binding if binding.embargo is None else binding.at(self._clock()))
        return found

    @property
    def recorded(self) -> RecordedNames:
        return RecordedNames(self._rows, self._database)

    def stored_redirect(self, identifier: str) -> StoredRedirect | None:
        rows = self._readers.rows(self._statements.stored_redirect, (identifier,))
        if not rows:
            return None
        target, status, metadata = rows[0]
        # Most names have no metadata that a redirect needs.
        return StoredRedirect(target, status, NOTHING) if metadata is None else stored_redirect_of(identifier, rows[0])

    def primaries(self) -> list[str] | None:
        """Return the places of the reachable servers of the URL that can be written, or None if it names one server."""
        servers = self._database.servers()
        if len(servers) == 1:
            return None
        found: list[str] = []
        for server in servers:
            with suppress(BindingsUnavailable, server.driver_error), closing(server.connect_to_read()) as connection:
                if not connection.execute(f"SELECT {server.is_standby_sql}", ()).fetchone()[0]:
                    found.append(str(server))
        return found

    def data_version(self) -> int | None:
        """Return a number that differs after each change of the database, or None if changes cannot be detected."""
        return self._readers.version()

    def _now(self) -> str:
        """Return the current time in RFC 3339, or "" without a name with an embargo, whose state depends on it."""
        return rfc3339(self._clock()) if self._rows(self._statements.first_embargo, ())[0][0] else ""

    def has_due(self) -> bool:
        return bool((now := self._now()) and self._rows(self._statements.due, (now,)))

    def first_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        keys = [index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        return dict(self._rows(self._statements.first_actors, (self._database.array_parameter(keys),)))

    def last_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        keys = {index_key(name): name for name in identifiers}
        rows = self._rows(self._statements.last_actors, (self._database.array_parameter(list(keys)),))
        return {keys[key]: actor for key, actor in rows}

    def last_actions(self, identifiers: Iterable[str]) -> dict[str, Action]:
        keys = {index_key(name): name for name in identifiers}
        rows = self._rows(self._statements.last_actions, (self._database.array_parameter(list(keys)),))
        return {keys[key]: action for key, action in rows}

    def history(self, identifier: str) -> list[Event]:
        before: Binding | None = None
        events: list[Event] = []
        for *state, action, actor, source, operation in self._rows(self._statements.history, (index_key(identifier),)):
            after = binding_of(tuple(state))
            events.append(Event(action, actor, source, before, after, operation))
            before = None if action == "deleted" else after
        return events

    def log_entries(self, identifier: str) -> list[int]:
        if not (identifier.isascii() and identifier.isprintable()):
            return []
        rows = self._rows(self._statements.log_entries, (index_key(identifier),))
        return [number for (number,) in rows]

    def first_log_entry(self, identifier: str) -> tuple[int, datetime] | None:
        """Return the number and the time of the first entry of a key in the public log. Raises
        :class:`UnreadableBinding`.
        """
        if not (identifier.isascii() and identifier.isprintable()):
            return None
        for number, changed in self._rows(self._statements.first_log_entry, (index_key(identifier),)):
            return number, time_of(identifier, changed)
        return None

    def log_key(self) -> str | None:
        for (key,) in self._rows(self._statements.log_key, ()):
            return key
        return None

    def count(self) -> NameCount:
        """Return the number of recorded names. Above :data:`MAX_COUNTED` it is an estimate of the database."""
        return count_names(lambda query: self._rows(query, ()), self._database)

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        return self.lists.page(self.lists.at_the_time(self._rows_of_list), selection, after, limit)

    def names_at(self, snapshot: DatabaseSnapshot, selection: Selection) -> Iterator[Binding]:
        """Yield the names of a list as they are in ``snapshot``. Rows that cannot be read are omitted."""
        read, after = self.lists.at_the_time(snapshot.read), None
        while True:
            page = self.lists.page(read, selection, after, MAX_PAGE)
            yield from page.names
            if (after := page.next) is None:
                return

    def count_names(self, selection: Selection, by: Group | None, most: int | None = None) -> dict[str, int]:
        if (kept := self.lists.kept_count(self._rows, selection, by, most)) is not None:
            return kept
        if most is not None or self.count().exact:
            return self.lists.count(self.lists.at_the_time(self._rows_of_list), selection, by, most)
        # To count millions of names takes longer than the time limit of a lookup.
        with self.snapshot() as snapshot:
            return self.lists.count(self.lists.at_the_time(snapshot.read), selection, by)

    def ranges(self) -> DatabaseRanges:
        from .name_ranges import DatabaseRanges

        return DatabaseRanges(self._rows, self.lists.marked("?"), self._now)

    def current_rows(
        self, query: SelectBase, within: CoreConnection | None = None, /, **values: str | int
    ) -> list[Row]:
        """Return the current rows of a query. A standby server can be some seconds old, so its rows are read again from
        the primary server, or on the connection ``within``.

        Pass the same object for the same query: it is compiled once. ``values`` are those of its parameters. Raises
        :class:`BindingsUnavailable` if the primary server cannot be reached.
        """
        if query not in self._compiled:
            compiled = query.compile(dialect=self._database.engine.dialect)
            self._compiled[query] = str(compiled), compiled.positiontup or (), compiled.params
        text, names, constants = self._compiled[query]
        arguments = {**constants, **values}
        parameters = tuple(arguments[name] for name in names)
        if within is not None:
            driver: Any = within.connection.dbapi_connection
            return driver.execute(text, parameters).fetchall()
        if self._database.is_standby_sql is None:
            return self._rows(text, parameters)
        text = (
            f"SELECT server.is_standby, found.* FROM (SELECT {self._database.is_standby_sql} AS is_standby) AS server "  # noqa: S608
            f"LEFT JOIN (SELECT TRUE AS is_found, given.* FROM ({text}) AS given) AS found ON TRUE"
        )
        rows: Sequence[Any] = self._rows(text, parameters)
        if rows[0][0]:
            with self.transaction() as transaction:
                rows = transaction.connection.exec_driver_sql(text, parameters).all()
            if rows[0][0]:
                raise BindingsUnavailable(f"{self} is a standby, whose data can be old; name the primary server")
        return [tuple(row[2:]) for row in rows if row[1]]

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        return self.lists.operations(self._rows_of_list, before, limit)

    def events(self, selection: EventSelection, below: int | None, limit: int) -> EventPage:
        return events.page(self._rows_of_list, self._database.dialect_name, selection, below, limit)

    def moved_from(self, beginning: str, most_moves: int, limit: int) -> list[tuple[str, int | None]]:
        """Return the keys of names whose target began with ``beginning`` before a change, each with the number of its
        operation or None. Only the last ``most_moves`` changes of targets are compared.
        """
        return events.moved_from(self._rows_of_list, self._database.dialect_name, beginning, most_moves, limit)

    def rules_version(self) -> str:
        """Return a counter of the changes of rules, prefix records, holds, the branding and patterns of minted
        names.
        """
        return self._rows(_RULES_VERSION_SQL, ())[0][0]

    def rules(self) -> list[Rule]:
        return [rule_of(row) for row in self._rows(self._statements.rules, ())]

    def holds(self) -> list[Hold]:
        holds = (hold_of(row) for row in self._rows(self._statements.holds, ()))
        return [each for each in holds if each is not None]

    def patterns(self) -> list[Pattern]:
        patterns = (Pattern.of_counter(name) for name, _ in self._rows(self._statements.settings, ()))
        return [pattern for pattern in patterns if pattern and pattern.check]

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        return [
            RuleEvent(action, name, template, redirect, datetime.fromisoformat(changed), actor)
            for action, name, template, redirect, changed, actor in self._rows(self._statements.rule_history, (prefix,))
        ]

    def prefixes(self) -> list[PrefixRecord]:
        return [prefix_record_of(row) for row in self._rows(self._statements.prefixes, ())]

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        rows = self._rows(self._statements.prefix_history, (prefix,))
        return [PrefixEvent(action, prefix_record_of(tuple(row))) for action, *row in rows]

    def recorded_branding(self) -> str | None:
        rows = self._rows(_BRANDING_SQL, ())
        return rows[0][0] if rows else None

    def recorded_brandings(self) -> list[str]:
        return [text for (text,) in self._rows(_BRANDINGS_SQL, ())]

    @contextmanager
    def transaction(self, *, exclusive: bool = False, large: bool = False) -> Iterator[Transaction]:
        """Begin a transaction, which is committed at the end of the ``with`` block, or rolled back after an exception.
        With ``exclusive``, other writers wait. ``large`` permits long statements, too. Raises :class:`Collision` if
        another writer changed the same row first, :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
        """
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        if self._is_new:
            self._is_new = False
            self._readers.close_unused()  # A process that only writes leaves no log beside the file.
        if self._inserts is None:
            # Writing loads SQLAlchemy, which a process that only reads does not need, and possibly cannot load any
            # more. Each later connection checks the permissions again.
            self._database.require_writable()
        from .writing import transaction

        if self._inserts is None:
            self._inserts = transaction.inserts(self._database.engine.dialect, self._lacking)
        try:
            with transaction.begin(
                self._database, self._statements, self._inserts, self._clock, exclusive=exclusive, large=large
            ) as begun:
                yield begun
        finally:
            if self._closed:  # during the transaction
                self._database.close_writers()

    @contextmanager
    def snapshot(self) -> Iterator[DatabaseSnapshot]:
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        from .snapshot import DatabaseSnapshot

        database = self._primary if self._primary is not None and _READS_CURRENT.get() else self._database
        connection = database.connect_for_snapshot()
        try:
            self._verify(connection)
            yield DatabaseSnapshot(connection, self._statements, self._database, self._clock)
        except self._database.driver_error as error:
            raise self._database.unavailable(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connections to the database. Later uses raise :class:`BindingsUnavailable`."""
        self._closed = True
        self._readers.close()
        if self._current is not None:
            self._current.close()
        self._database.close_writers()

    def _verify(self, connection: Connection) -> None:
        row = connection.execute(VERSION_SQL, ()).fetchone()
        require_version(self._database, row and row[0])


def count_names(rows: Callable[[str], Sequence[Row]], database: Database) -> NameCount:
    """Return the number of names in a database: exact up to :data:`MAX_COUNTED`, above it an estimate."""
    ((few,),) = rows(_COUNT)
    if few <= MAX_COUNTED:
        return NameCount(few, True)
    ((estimate,),) = rows(database.estimate_sql)
    return NameCount(max(int(estimate or 0), few), False)


def open_store(
    database: Database,
    *,
    create: bool = False,
    older: bool = False,
    clock: Clock = utc_now,
    limits: SearchLimits = SearchLimits(),  # noqa: B008  it cannot be changed
) -> DatabaseStore:
    """Open the store of a database. With ``create``, create a missing SQLite file and missing tables. With ``older``,
    tables of a version in :data:`.LACKING` are opened and keep their version, but have no lists and searches.

    Raises :class:`BindingError`: ``foreign-database`` for tables of another program, ``schema-version`` for those of
    another version of Ararat. Raises :class:`BindingsUnavailable` if the database cannot be reached.
    """
    reader = _reader_of_tables(database, older=older and not create)
    if reader is None:
        if not create:
            raise no_database(database)
        _create_tables(database)
    try:
        database.prepare()
        return DatabaseStore(database, clock, limits, reader)
    except BaseException:
        if reader is not None:
            reader[0].close()
        raise


def create_database(database: Database, *, partitions: int = 0) -> bool:
    """Create a missing SQLite file and missing tables, or return False if they exist. A PostgreSQL database must exist.
    ``partitions`` divides its names; 0 is one table. Raises like :func:`open_store`.
    """
    if has_tables(database):
        return False
    _create_tables(database, partitions)
    return True


def _create_tables(database: Database, partitions: int = 0) -> None:
    from .writing.creation import create_tables

    create_tables(database, partitions)


def has_tables(database: Database, *, older: bool = False) -> bool:
    """Return whether a database has the tables of Ararat. Takes ``older`` and raises like :func:`open_store`."""
    reader = _reader_of_tables(database, older=older)
    if reader is not None:
        reader[0].close()
    return reader is not None


def _reader_of_tables(database: Database, *, older: bool) -> tuple[Connection, Hashable] | None:
    """Return a connection to a database with tables of a known version, and the fingerprint of the database before it.

    Return None if there are no tables.
    """
    if not database.exists():
        return None
    fingerprint = database.fingerprint()
    connection = database.connect_to_read()
    try:
        row = connection.execute(VERSION_SQL, ()).fetchone()
        number = number_of(row and row[0])
        if older and number is not None and number in LACKING:
            database.version = number
        if fault := wrong_version(database, row and row[0]):
            raise BindingError("schema-version", fault)
    except BaseException as error:
        connection.close()
        if not isinstance(error, database.driver_error):
            raise
        if database.is_missing_table(error):
            return None
        raise database.unavailable(error) from error
    return connection, fingerprint
