"""Store of bindings in an SQL database: fast reads and durable changes. :mod:`assignment` decides about changes.

:meth:`DatabaseStore.fetch` is the hot path: one prepared statement on a connection that is kept. SQLAlchemy builds the
statements once from the tables of :mod:`schema`; the driver runs them. Changes use :meth:`DatabaseStore.transaction`. A
transaction that ends without an exception is durable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection as CoreConnection
from sqlalchemy import SelectBase, Table, delete, func, insert, inspect, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

from ..bindings import metadata, prefixes
from ..bindings.assignment import Change
from ..bindings.bulk.operations import Operation
from ..bindings.listing import Group, Page, Selection
from ..bindings.model import Binding, Event, NameCount, rfc3339
from ..bindings.patterns import Pattern
from ..bindings.prefixes import PrefixEvent, PrefixRecord
from ..errors import BindingError, BindingsUnavailable, Collision, ReadOnlyBindings, UnreadableBinding
from ..resolution.rules import Rule, RuleEvent
from ..tabular.other_rows import RuleRow, Setting, setting
from .databases.connections import Readers
from .integrity import Fault, faults
from .listing import Lists
from .migration import urn_keys
from .opening import CLOSED
from .operations import Operations, operations
from .protocols import Connection, Database, LastEvent, Row
from .sql import Insert, Statements, binding_of, last_event_of, row_of, selectors_of
from .tables import schema, search_indexes, triggers

_MANY = 500
"""The number of new rows from which a transaction drops the triggers against INSERT OR REPLACE while it runs."""

MAX_COUNTED = 10_000
"""The number of names up to which names are counted. Larger numbers are estimated."""

_COUNT = "SELECT count(*) FROM (SELECT 1 FROM bindings LIMIT 10001) AS few"
_VERSION = "SELECT value FROM ararat WHERE name = 'schema'"
_RULES_VERSION = "SELECT value FROM ararat WHERE name = 'rules'"
_NEXT_RULES_VERSION = "UPDATE ararat SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'rules'"


class DatabaseStore:
    """The tables of one database. :func:`open_store` opens it; ``str()`` returns its place without a password."""

    refusal: str | None = None
    unrecorded: str | None = None

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readers = Readers(database, self._verify)
        self._statements = Statements(database.engine.dialect)
        self.lists = Lists(database.dialect_name)
        self._compiled: dict[SelectBase, SQLCompiler] = {}
        self._closed = False

    def __str__(self) -> str:
        return str(self._database)

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of these keys with one statement; unbound keys are left out."""
        # The tables contain only keys of printable ASCII, and no other text reaches the database.
        keys = [schema.index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        if not keys:
            return {}
        if len(keys) == 1:
            rows = self._readers.rows(self._statements.one, keys)
        else:
            rows = self._readers.rows(self._statements.many, (self._database.array_parameter(keys),))
        return {binding.identifier: binding for binding in map(binding_of, rows)}

    def history(self, identifier: str) -> list[Event]:
        """Return the changes of a key, oldest first."""
        before: Binding | None = None
        events: list[Event] = []
        for *state, action, actor, source, operation in self._readers.rows(
            self._statements.history, (schema.index_key(identifier),)
        ):
            after = binding_of(tuple(state))
            events.append(Event(action, actor, source, before, after, operation))
            before = None if action == "deleted" else after
        return events

    def count(self) -> NameCount:
        """Return the number of names: counted up to :data:`MAX_COUNTED`, estimated above."""
        return count_names(lambda query: self._readers.rows(query, ()), self._database)

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names behind the cursor ``after``."""
        return self.lists.page(self._readers.rows, selection, after, limit)

    def count_names(self, selection: Selection, by: Group | None) -> dict[str, int]:
        """Return the numbers of names by group; without groups, the number of all with the key ""."""
        return self.lists.count(self._readers.rows, selection, by)

    def current_rows(self, query: SelectBase, **values: str | int) -> list[Row]:
        """Return the rows of a query at this moment, also if the reading connections are those of a standby.

        A standby can be some seconds old. Its rows are read again from the primary server. ``values`` are the values
        of the parameters. The first column must not be null. Pass the same object for the same query: it is compiled
        once. Raises :class:`BindingsUnavailable` if the primary server cannot be reached.
        """
        if query not in self._compiled:
            self._compiled[query] = query.compile(dialect=self._database.engine.dialect)
        compiled = self._compiled[query]
        given = {**compiled.params, **values}
        text, parameters = str(compiled), tuple(given[name] for name in compiled.positiontup or ())
        if self._database.is_standby_sql is None:
            return self._readers.rows(text, parameters)
        text = (
            f"SELECT server.is_standby, found.* FROM (SELECT {self._database.is_standby_sql} AS is_standby) AS server "  # noqa: S608
            f"LEFT JOIN ({text}) AS found ON TRUE"
        )
        rows: Sequence[Any] = self._readers.rows(text, parameters)
        if rows[0][0]:
            with self.transaction() as transaction:
                rows = transaction.connection.exec_driver_sql(text, parameters).all()
            if rows[0][0]:
                raise BindingsUnavailable(f"{self} is a standby, whose data can be old; name the primary server")
        return [tuple(row[1:]) for row in rows if row[1] is not None]

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        """Return operations, the newest first, with numbers below ``before``."""
        return operations(self._readers.rows, self._database.dialect_name, before, limit)

    def rules_version(self) -> str:
        """Return a counter that each change of a rule increases."""
        return self._readers.rows(_RULES_VERSION, ())[0][0]

    def rules(self) -> list[Rule]:
        """Return all rules of shoulders and NAANs."""
        return [rule_of(row) for row in self._readers.rows(self._statements.rules, ())]

    def patterns(self) -> list[Pattern]:
        """Return the patterns of the names that were minted with a check character."""
        found = (Pattern.of_counter(name) for name, _ in self._readers.rows(self._statements.settings, ()))
        return [pattern for pattern in found if pattern and pattern.check]

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule for a prefix, oldest first."""
        return [
            RuleEvent(action, name, template, redirect, datetime.fromisoformat(changed), actor)
            for action, name, template, redirect, changed, actor in self._readers.rows(
                self._statements.rule_history, (prefix,)
            )
        ]

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all prefixes, without their rules."""
        return [prefix_record_of(row) for row in self._readers.rows(self._statements.prefixes, ())]

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a prefix, oldest first."""
        rows = self._readers.rows(self._statements.prefix_history, (prefix,))
        return [PrefixEvent(action, prefix_record_of(tuple(row))) for action, *row in rows]

    @contextmanager
    def transaction(self, *, exclusive: bool = False) -> Iterator[Transaction]:
        """Begin a transaction. It is durable when the block ends, and rolled back when the block raises an exception.

        With ``exclusive``, other writers wait until it ends. Raises :class:`Collision` if another writer was faster,
        :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
        """
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        try:
            with self._database.turn_to_write(), self._database.engine.connect() as connection:
                self._require_version(connection.exec_driver_sql(_VERSION).scalar_one_or_none())
                if exclusive and self._database.exclusive_lock_sql:
                    connection.exec_driver_sql(self._database.exclusive_lock_sql)
                transaction = Transaction(connection, self._statements, self._database)
                yield transaction
                transaction.restore_triggers()
                connection.commit()
        except DBAPIError as error:
            raise self._failure(error) from error

    @contextmanager
    def snapshot(self) -> Iterator[DatabaseSnapshot]:
        """Return a view of all bindings at this moment."""
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        connection = self._database.connect_for_snapshot()
        try:
            self._verify(connection)
            yield DatabaseSnapshot(connection, self._statements, self._database)
        except self._database.driver_error as error:
            raise self._database.unavailable(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close all connections. The store cannot be used afterwards."""
        self._closed = True
        self._readers.close()

    def _verify(self, connection: Connection) -> None:
        row = connection.execute(_VERSION, ()).fetchone()
        self._require_version(row and row[0])

    def _require_version(self, version: str | None) -> None:
        # The version was right when the store was opened. Since then, the database was replaced or migrated.
        if fault := wrong_version(self._database, version):
            raise BindingsUnavailable(fault)

    def _failure(self, error: DBAPIError) -> Exception:
        cause = driver_cause(error)
        if self._database.is_read_only(cause):
            return ReadOnlyBindings(
                f"{self} is read-only: the server is a standby, or the user has no permission to write; "
                "name the primary server, or grant INSERT and UPDATE on the tables"
            )
        if self._database.is_conflict(cause):
            return Collision(str(cause))
        unavailable = self._database.unavailable(cause)
        if self._database.is_constraint_violation(cause):
            return BindingsUnavailable(
                f"{unavailable}; a trigger or constraint of the tables refuses this change; run: ararat verify"
            )
        return unavailable


class DatabaseSnapshot:
    """A consistent view of all bindings of a database at one moment."""

    def __init__(self, connection: Connection, statements: Statements, database: Database) -> None:
        self._connection = connection
        self._statements = statements
        self._database = database

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Return all bindings in the order of their keys.

        Pass each row that cannot be read to ``unreadable``. Without ``unreadable``, raise UnreadableBinding.
        """
        for row in self._database.stream(self._connection, self._statements.all):
            try:
                binding = binding_of(row)
            except UnreadableBinding as error:
                if unreadable is None:
                    raise
                unreadable(error)
            else:
                yield binding

    def rows(self, table: Table, since: datetime | None = None) -> Iterator[Row]:
        """Return the rows of a table in the order of its key; with ``since``, those from that time on."""
        quote = self._database.engine.dialect.identifier_preparer.quote
        columns = ", ".join(quote(column.name) for column in table.columns)
        key = ", ".join(quote(column.name) for column in table.primary_key)
        time = "changed" if "changed" in table.columns else "started"
        where = f" WHERE {time} >= '{rfc3339(since)}'" if since else ""
        return self._database.stream(self._connection, f"SELECT {columns} FROM {table}{where} ORDER BY {key}")  # noqa: S608

    def last_events(self) -> Iterator[LastEvent]:
        """Return the last event of each name, in the order of their keys."""
        for row in self._database.stream(self._connection, self._statements.last_events):
            yield last_event_of(tuple(row))

    def event(self, key: str, revision: int) -> Row | None:
        """Return the state of an event, as in :class:`LastEvent`, or None if there is no such event."""
        row = self._connection.execute(self._statements.one_event, (key, revision)).fetchone()
        return row and tuple(row)

    def faults(self) -> Iterator[Fault]:
        """Return the contradictions between the rows of the tables (:mod:`integrity`)."""
        return faults(self._connection, self._database)

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Return the identifiers that are bound."""
        keys = {schema.index_key(name): name for name in identifiers}
        if not keys:
            return set()
        parameters = (self._database.array_parameter(list(keys)),)
        return {keys[key] for (key,) in self._connection.execute(self._statements.bound, parameters).fetchall()}

    def served(self) -> tuple[int, str | None]:
        """Return the number of live names of the kind "served", and the first key."""
        ((number, key),) = self._database.stream(self._connection, self._statements.served)
        return number, key

    def settings(self) -> Iterator[RuleRow | Setting]:
        """Return the rules in the order of their prefixes, then counters and UUIDs in the order of their names."""
        rules = map(rule_of, self._database.stream(self._connection, self._statements.rules))
        for rule in sorted(rules, key=lambda rule: rule.prefix):
            yield RuleRow(rule.prefix, rule.template, rule.redirect)
        for name, value in self._database.stream(self._connection, self._statements.settings):
            if (row := setting(name, value)) is not None:
                yield row

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all prefixes in order, without their rules."""
        rows = self._database.stream(self._connection, self._statements.prefixes)
        return sorted(map(prefix_record_of, rows), key=lambda record: record.prefix)

    def selectors(self) -> list[str]:
        """Return the selectors of all alternates, in order."""
        rows = self._database.stream(self._connection, self._statements.alternates)
        return sorted({selector for (alternates,) in rows for selector in selectors_of(alternates)})

    def elements(self) -> list[str]:
        """Return the names of all elements of metadata without a short name, in order."""
        names = (name for (name,) in self._database.stream(self._connection, self._statements.elements))
        return sorted(name for name in names if not metadata.has_short_name(name))


class Transaction:
    """One transaction of a writer.

    - ``written``: the changes of names that were written. Those of operations and imports are left out: they can be too
      many for the memory.
    - ``is_rolled_back``: whether all changes were undone.
    """

    def __init__(self, connection: CoreConnection, statements: Statements, database: Database) -> None:
        self.connection = connection
        self._statements = statements
        self._database = database
        self._has_dropped_triggers = False
        self.operations = Operations(connection, database)
        self.written: list[Change] = []
        self.is_rolled_back = False

    @property
    def dialect_name(self) -> str:
        """The kind of database: "sqlite" or "postgresql"."""
        return self._database.dialect_name

    def get(self, identifiers: Sequence[str]) -> dict[str, Binding]:
        """Return the bindings of these keys, and lock their rows until the end."""
        if not identifiers:
            return {}
        keys = [schema.index_key(name) for name in identifiers]
        parameters = (self._database.array_parameter(keys),)
        rows = self.connection.exec_driver_sql(self._statements.select_for_update, parameters)
        return {binding.identifier: binding for binding in map(binding_of, rows)}

    def deleted(self, identifiers: Sequence[str]) -> dict[str, int]:
        """Return those of the names that were deleted, with the revision of their last deletion."""
        keys = {schema.index_key(name): name for name in identifiers}
        if not keys:
            return {}
        parameters = (self._database.array_parameter(list(keys)),)
        rows = self.connection.exec_driver_sql(self._statements.deleted, parameters)
        return {keys[key]: revision for key, revision in rows}

    def bound(self, identifiers: Sequence[str]) -> list[str]:
        """Return the identifiers that are bound, in their order, without reserved names and without locking rows."""
        keys = {schema.index_key(name): name for name in identifiers}
        if not keys:
            return []
        parameters = (self._database.array_parameter(list(keys)),)
        bound = {key for (key,) in self.connection.exec_driver_sql(self._statements.bound, parameters)}
        return [name for key, name in keys.items() if key in bound]

    def put(
        self,
        changes: Sequence[Change],
        actor: str | None,
        sources: Sequence[str | None] = (None,),
        operation: int | None = None,
    ) -> list[Change]:
        """Write the bindings after these changes, and one event for each. Every change must have an action.

        Return the changes as they are recorded: the history of a deleted name continues with its next revision.

        ``sources`` contains the file and line of each change, or None. ``operation`` is the row of
        :data:`schema.operations` that the changes belong to, or None. The action "deleted" deletes the row of the name.
        """
        deleted_before = self.deleted([change.after.identifier for change in changes if change.is_new])
        new: list[Row] = []
        changed: list[Row] = []
        events: list[Row] = []
        deleted: list[Row] = []
        written: list[Change] = []
        for change, source in zip(changes, sources, strict=True):
            after = change.after
            if revision := deleted_before.get(after.identifier):
                after = replace(after, revision=revision + 1)
            written.append(change._replace(after=after))
            row = row_of(after)
            if change.action == "deleted":
                deleted.append(row[:1])
            elif change.is_new:
                new.append(row)
            else:
                changed.append(row[1:] + row[:1])
            events.append((*row, change.action, actor, source, operation))
        if any(urn_keys.may_be_older(row[0]) for row in new) and self.has_older_keys():
            raise BindingError("keys-older", identifier=f"{self._database}")
        if len(new) >= _MANY:
            self.drop_replacement_triggers()
        self._insert(self._statements.insert, new)
        if changed:
            self.connection.exec_driver_sql(self._statements.update, changed)
        if deleted:
            self.connection.exec_driver_sql(self._statements.delete, deleted)
        self._insert(self._statements.event, events)
        if operation is None and not any(sources):
            self.written += written
        return written

    def has_older_keys(self) -> bool:
        """Return whether URNs have keys of an older Ararat. Then no URN can be added: an equivalent can be bound."""
        return urn_keys.are_older(self.connection)

    def get_rule(self, prefix: str) -> Rule | None:
        """Return the rule for exactly this prefix. Other writers of rules wait until the end."""
        self.connection.exec_driver_sql(_NEXT_RULES_VERSION)
        row = self.connection.execute(select(schema.rules).where(schema.rules.c.prefix == prefix)).fetchone()
        return None if row is None else rule_of(tuple(row))

    def put_rule(self, rule: Rule) -> None:
        """Write a rule and an event. It replaces the rule for the same prefix."""
        row = rule.as_dict()
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == rule.prefix))
        self.connection.execute(insert(schema.rules), [row])
        self.connection.execute(insert(schema.rule_events), [{**row, "action": "set"}])

    def remove_rule(self, prefix: str, now: datetime, actor: str | None) -> None:
        """Delete a rule, and write an event. The history stays."""
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == prefix))
        event = {"action": "removed", "prefix": prefix, "changed": rfc3339(now), "actor": actor}
        self.connection.execute(insert(schema.rule_events), [event])

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of all prefixes, without their rules."""
        return [prefix_record_of(row) for row in self.connection.exec_driver_sql(self._statements.prefixes)]

    def get_prefix(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this prefix. Other writers of records wait until the end."""
        # The resolver reads the records together with the rules.
        self.connection.exec_driver_sql(_NEXT_RULES_VERSION)
        table = schema.prefixes
        row = self.connection.execute(select(table).where(table.c.prefix == prefix)).fetchone()
        return None if row is None else prefix_record_of(tuple(row))

    def put_prefix(self, record: PrefixRecord) -> None:
        """Write a record and an event. It replaces the record of the same prefix."""
        row = self._with_next_revision(record)
        self.connection.execute(delete(schema.prefixes).where(schema.prefixes.c.prefix == record.prefix))
        self.connection.execute(insert(schema.prefixes), [row])
        self.connection.execute(insert(schema.prefix_events), [{**row, "action": "set"}])

    def remove_prefix(self, prefix: str, now: datetime, actor: str | None) -> None:
        """Delete a record, and write an event. The history stays."""
        self.connection.execute(delete(schema.prefixes).where(schema.prefixes.c.prefix == prefix))
        row = self._with_next_revision(prefixes.record(prefix, changed=now, actor=actor))
        self.connection.execute(insert(schema.prefix_events), [{**row, "action": "removed"}])

    def _with_next_revision(self, record: PrefixRecord) -> dict[str, Any]:
        """Return the row of a record. Its revision follows the last event, also of a removed record."""
        events = schema.prefix_events
        last = select(func.max(events.c.revision)).where(events.c.prefix == record.prefix)
        row = record.as_dict()
        del row["rule"]
        return row | {"revision": (self.connection.execute(last).scalar() or 0) + 1}

    def above(self, names: Sequence[str]) -> set[str]:
        """Return the names for which a longer name is bound: the name, then a slash or a dot, then more."""
        parameters = (self._database.array_parameter(list(names)),)
        return set(self.connection.exec_driver_sql(self._statements.above, parameters).scalars())

    def rule_prefixes(self) -> list[str]:
        """Return the prefixes of all rules, so that no name below them is minted."""
        return list(self.connection.execute(select(schema.rules.c.prefix)).scalars())

    def setting(self, name: str) -> str | None:
        """Return a value of the table ``ararat``, or None."""
        return self.connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == name)).scalar()

    def set_setting(self, name: str, value: str) -> None:
        """Write a value to the table ``ararat``."""
        updated = self.connection.execute(
            update(schema.meta).where(schema.meta.c.name == name).values(value=value)
        ).rowcount
        if not updated:
            self.connection.execute(insert(schema.meta).values(name=name, value=value))
            if name.startswith("next "):
                # The resolver reads the patterns of minted names together with the rules.
                self.connection.exec_driver_sql(_NEXT_RULES_VERSION)

    def restore_bindings(self) -> None:
        """Write the binding of each name from its last event."""
        columns = ", ".join(schema.STATE)
        last = "SELECT max(revision) FROM events AS other WHERE other.key = events.key"
        self.connection.exec_driver_sql(
            f"INSERT INTO bindings ({columns}) SELECT {columns} FROM events "  # noqa: S608
            f"WHERE revision = ({last}) AND action <> 'deleted' ORDER BY key"
        )

    def rollback(self) -> None:
        """Undo all changes of this transaction."""
        self._has_dropped_triggers = False
        self.is_rolled_back = True
        self.connection.rollback()

    def restore_triggers(self) -> None:
        """Create the triggers that this transaction dropped."""
        if self._has_dropped_triggers:
            for trigger in triggers.replacement_triggers():
                self.connection.exec_driver_sql(trigger.statement)

    def drop_replacement_triggers(self) -> None:
        """Drop the triggers on INSERT until the end of the transaction, because they are slow for many rows.

        Other connections never see the database without them, and no INSERT of this module replaces a row.
        """
        if self._has_dropped_triggers or self._database.dialect_name != "sqlite":
            return
        self._has_dropped_triggers = True
        for trigger in triggers.replacement_triggers():
            self.connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name}")

    def _insert(self, insert: Insert, rows: list[Row]) -> None:
        for statement, parameters in insert.of(rows):
            self.connection.exec_driver_sql(statement, parameters)


def rule_of(row: Row) -> Rule:
    """Convert a row of the table :data:`schema.rules` to a Rule."""
    prefix, template, redirect, changed, actor = row
    return Rule(prefix, template, redirect, datetime.fromisoformat(changed), actor)


def prefix_record_of(row: Row) -> PrefixRecord:
    """Convert a row of the table :data:`schema.prefixes`."""
    prefix, who, what, contact, statement, pattern, characters, changed, actor, revision = row
    when = datetime.fromisoformat(changed)
    return PrefixRecord(prefix, who, what, contact, statement, pattern, characters, when, actor, revision)


def count_names(rows: Callable[[str], Sequence[Row]], database: Database) -> NameCount:
    """Return the number of names. ``rows`` runs a query and returns its rows."""
    ((few,),) = rows(_COUNT)
    if few <= MAX_COUNTED:
        return NameCount(few, True)
    ((estimate,),) = rows(database.estimate_sql)
    return NameCount(max(int(estimate or 0), few), False)


def open_store(database: Database, *, create: bool = False) -> DatabaseStore:
    """Open the store of a database. With ``create``, make the file and the tables if they are missing.

    Raises :class:`BindingError` with the code ``foreign-database`` for a database with tables of another program and
    none of Ararat, and ``schema-version`` for a database of another version of Ararat. Raises BindingsUnavailable if
    the database cannot be reached.
    """
    if create:
        create_database(database)
    elif not _has_schema(database):
        raise BindingsUnavailable(no_database(database))
    database.prepare()
    return DatabaseStore(database)


def create_database(database: Database) -> bool:
    """Create the file and the tables if they are missing, and return whether they were.

    Raises like :func:`open_store`.
    """
    if _has_schema(database):
        return False
    _create_tables(database)
    return True


def no_database(database: Database) -> str:
    """Return the message for a database that does not exist or has no tables."""
    remedy = f"to create them, run: ararat init --database {database}"
    return f"{database} does not exist or has no tables of Ararat; {remedy}"


def wrong_version(database: Database, version: str | None) -> str | None:
    """Return the message for a schema of another version, or None for the current version."""
    if version == str(schema.VERSION):
        return None
    newer = version is not None and version.isdecimal() and int(version) > schema.VERSION
    remedy = "update Ararat" if newer else f"run: ararat migrate --database {database}"
    return f"{database} has version {version or 'none'} of the schema and this Ararat needs {schema.VERSION}; {remedy}"


def driver_cause(error: DBAPIError) -> Exception:
    """Return the driver's exception in an exception of SQLAlchemy."""
    return error.orig if isinstance(error.orig, Exception) else error


def _has_schema(database: Database) -> bool:
    if not database.exists():
        return False
    connection = database.connect_to_read()
    try:
        row = connection.execute(_VERSION, ()).fetchone()
    except database.driver_error as error:
        if database.is_missing_table(error):
            return False
        raise database.unavailable(error) from error
    finally:
        connection.close()
    if fault := wrong_version(database, row and row[0]):
        raise BindingError("schema-version", fault)
    return True


def _create_tables(database: Database) -> None:
    try:
        database.create()
        with database.engine.begin() as connection:
            if database.schema_lock_sql:
                connection.exec_driver_sql(database.schema_lock_sql)
            tables = set(inspect(connection).get_table_names())
            if schema.meta.name in tables:
                return  # another process created them in the meantime
            if tables:
                raise BindingError(
                    "foreign-database",
                    f"{database} has the table {min(tables)} of another program; use an empty database",
                )
            schema.metadata.create_all(connection)
            search_indexes.create(connection)
            triggers.create(connection, triggers.triggers(database.dialect_name))
            settings = schema.first_settings()
            connection.execute(insert(schema.meta), [{"name": name, "value": settings[name]} for name in settings])
    except DBAPIError as error:
        raise database.unavailable(driver_cause(error)) from error
