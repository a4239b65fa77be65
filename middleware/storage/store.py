"""Rows of bindings and events: how they are read fast, and changed safely. The rules are not here but in
:mod:`assignment`.

:meth:`Store.fetch` is the hot path: one prepared statement for one key, one for many, on a connection that is kept. The
statements are built with SQLAlchemy from the tables of :mod:`schema`, once, and given to the driver itself. Changes go
through :meth:`Store.transaction`; one that has ended without an exception is durable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection as CoreConnection
from sqlalchemy import delete, func, insert, inspect, select, update
from sqlalchemy.exc import DBAPIError

from ..bindings.assignment import Change
from ..bindings.model import Binding, Event, NameCount, rfc3339
from ..errors import BindingError, BindingsUnavailable, Collision, ReadOnlyBindings, UnreadableBinding
from ..resolution.rules import Rule, RuleEvent
from ..tabular.other_rows import Reserved, RuleRow, Setting, setting
from . import schema
from . import urn_keys as keys
from .connections import Connection, Readers, Row
from .inserts import Insert
from .postgresql import PostgreSQL
from .sqlite import SQLite
from .statements import Statements, binding_of, row_of, selectors_of

# Two servers that start at once make one schema: any number that nobody else locks will do ("ararat").
SCHEMA_LOCK = 0x617261726174
_MANY = 500
"""From how many new rows on the triggers that refuse INSERT OR REPLACE are dropped during a transaction."""

MOST_COUNTED = 10_000
"""Names up to which they are counted; more are estimated, in no time."""
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM bindings LIMIT 10001) AS few"
_VERSION = "SELECT value FROM ararat WHERE name = 'schema'"
_RULES_VERSION = "SELECT value FROM ararat WHERE name = 'rules'"
_NEXT_RULES_VERSION = "UPDATE ararat SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'rules'"


class Store:
    """The tables of one database. It is opened with :func:`open_store`; ``str()`` of it shows where it is."""

    def __init__(self, database: SQLite | PostgreSQL) -> None:
        self._database = database
        self._readers = Readers(database, self._verify)
        self._statements = Statements(database.engine.dialect)
        self._closed = False

    def __str__(self) -> str:
        return str(self._database)

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """The bindings of those identifiers (keys) that have one. One statement, however many they are."""
        # A key is printable ASCII; nothing else is in the tables, and nothing else reaches the database.
        keys = [schema.index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        if not keys:
            return {}
        if len(keys) == 1:
            rows = self._readers.rows(self._statements.one, keys)
        else:
            rows = self._readers.rows(self._statements.many, (self._database.many(keys),))
        return {binding.identifier: binding for binding in map(binding_of, rows)}

    def history(self, identifier: str) -> list[Event]:
        """Every change of a name, the first first."""
        before: Binding | None = None
        events: list[Event] = []
        for *state, action, actor, source in self._readers.rows(
            self._statements.history, (schema.index_key(identifier),)
        ):
            after = binding_of(tuple(state))
            events.append(Event(action, actor, source, before, after))
            before = after
        return events

    def count(self) -> NameCount:
        """The number of names: counted up to :data:`MOST_COUNTED`, estimated above."""
        return counted(lambda query: self._readers.rows(query, ()), self._database)

    def rules_version(self) -> str:
        """A counter that goes up with every change of a rule."""
        return self._readers.rows(_RULES_VERSION, ())[0][0]

    def rules(self) -> list[Rule]:
        """The rules for shoulders and NAANs."""
        return [rule_of(row) for row in self._readers.rows(self._statements.rules, ())]

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Every change of the rule for a prefix, the first first."""
        return [
            RuleEvent(action, name, template, redirect, datetime.fromisoformat(changed), actor)
            for action, name, template, redirect, changed, actor in self._readers.rows(
                self._statements.rule_history, (prefix,)
            )
        ]

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[Transaction]:
        """All or nothing: what is put in it is durable when it ends, and gone when it ends with an exception.

        With ``alone`` every other writer waits for its end. Raises :class:`Collision` where another writer was faster,
        :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
        """
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        try:
            with self._database.engine.connect() as connection:
                self._require_version(connection.exec_driver_sql(_VERSION).scalar_one_or_none())
                if alone and self._database.lock_out_writers:
                    connection.exec_driver_sql(self._database.lock_out_writers)
                transaction = Transaction(connection, self._statements, self._database)
                yield transaction
                transaction.end()
                connection.commit()
        except DBAPIError as error:
            raise self._failure(error) from error

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """All bindings as they are now, for as long as it takes to look through them."""
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        connection = self._database.connect_for_snapshot()
        try:
            self._verify(connection)
            yield Snapshot(connection, self._statements, self._database)
        except self._database.driver_error as error:
            raise self._database.unavailable(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Close every connection; the store cannot be used any more."""
        self._closed = True
        self._readers.close()

    def _verify(self, connection: Connection) -> None:
        row = connection.execute(_VERSION, ()).fetchone()
        self._require_version(row and row[0])

    def _require_version(self, version: str | None) -> None:
        # It was ours when it was opened: somebody has put another database in its place, or is just migrating it.
        if wrong := wrong_version(self._database, version):
            raise BindingsUnavailable(wrong)

    def _failure(self, error: DBAPIError) -> Exception:
        cause = error.orig if isinstance(error.orig, Exception) else error
        if self._database.is_read_only(cause):
            return ReadOnlyBindings(f"{self} can be read, not changed: it is a standby, or this user may only read")
        if self._database.is_collision(cause):
            return Collision(str(cause))
        unavailable = self._database.unavailable(cause)
        if self._database.is_refused(cause):
            return BindingsUnavailable(f"{unavailable}; a rule of the tables refuses this change. Run: ararat check")
        return unavailable


class Snapshot:
    """All bindings of one moment."""

    def __init__(self, connection: Connection, statements: Statements, database: SQLite | PostgreSQL) -> None:
        self._connection = connection
        self._statements = statements
        self._database = database

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Every binding, in the order of the keys.

        A row that cannot be read is given to ``unreadable`` and left out; without one, UnreadableBinding is raised.
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

    def missing_triggers(self) -> list[schema.Trigger]:
        """The triggers that protect the tables and that the database lacks, or has disabled."""
        found = {name for (name,) in self._connection.execute(self._database.triggers).fetchall()}
        return [trigger for trigger in schema.triggers(self._database.dialect_name) if trigger.name not in found]

    def differences(self) -> Iterator[tuple[str, list[str] | None]]:
        """The keys whose binding differs from their last event, in order, with the names of the columns that differ.

        None for the columns: there is no event of the binding. After those come keys with events and no binding, with
        an empty list.
        """
        width = len(schema.STATE)
        for row in self._database.stream(self._connection, self._statements.astray):
            now, last = row[:width], row[width:]
            differing = [name for name, left, right in zip(schema.STATE, now, last, strict=True) if left != right]
            name = now[1] if now[1] and schema.index_key(now[1]) == now[0] else now[0]
            yield name, None if last[0] is None else differing
        for (key,) in self._database.stream(self._connection, self._statements.lost):
            yield key, []

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Those of these identifiers that are bound."""
        keys = {schema.index_key(name): name for name in identifiers}
        if not keys:
            return set()
        found = self._connection.execute(self._statements.bound, (self._database.many(list(keys)),)).fetchall()
        return {keys[key] for (key,) in found}

    def served(self) -> tuple[int, str | None]:
        """Return how many live names the site itself serves, and the key of the first."""
        ((number, key),) = self._database.stream(self._connection, self._statements.served)
        return number, key

    def settings(self) -> Iterator[RuleRow | Setting]:
        """The rules, and the counters and UUIDs, in the order of their prefixes and names."""
        rules = map(rule_of, self._database.stream(self._connection, self._statements.rules))
        for rule in sorted(rules, key=lambda rule: rule.prefix):
            yield RuleRow(rule.prefix, rule.template, rule.redirect)
        for name, value in self._database.stream(self._connection, self._statements.settings):
            if (row := setting(name, value)) is not None:
                yield row

    def reserved(self) -> Iterator[Reserved]:
        """The minted names that are not bound, in order."""
        return (Reserved(key) for (key,) in self._database.stream(self._connection, self._statements.reserved))

    def selectors(self) -> list[str]:
        """What the alternates of any binding are chosen by, in order."""
        held = self._database.stream(self._connection, self._statements.alternates)
        return sorted({selector for (alternates,) in held for selector in selectors_of(alternates)})


class Transaction:
    """Rows as this transaction sees them, and changes that become rows."""

    def __init__(self, connection: CoreConnection, statements: Statements, database: SQLite | PostgreSQL) -> None:
        self.connection = connection
        self._statements = statements
        self._database = database
        self._lifted = False

    def get(self, identifiers: Sequence[str]) -> dict[str, Binding]:
        """The bindings of those identifiers that have one, held against other writers until the end."""
        if not identifiers:
            return {}
        keys = [schema.index_key(name) for name in identifiers]
        found = self.connection.exec_driver_sql(self._statements.hold, (self._database.many(keys),))
        return {binding.identifier: binding for binding in map(binding_of, found)}

    def bound(self, identifiers: Sequence[str]) -> list[str]:
        """Those of these identifiers that are bound, in their order. Their rows are not locked."""
        keys = {schema.index_key(name): name for name in identifiers}
        if not keys:
            return []
        found = self.connection.exec_driver_sql(self._statements.bound, (self._database.many(list(keys)),))
        rows = {key for (key,) in found}
        return [name for key, name in keys.items() if key in rows]

    def put(self, changes: Sequence[Change], actor: str | None, sources: Sequence[str | None] = (None,)) -> None:
        """Write the bindings as they are after these changes, which change something, and one event for each.

        ``sources`` says for each change where it comes from.
        """
        rows = [(change, row_of(change.after)) for change in changes]
        new = [row for change, row in rows if change.after.revision == 1]
        if any(keys.may_be_older(row[0]) for row in new) and self.has_older_keys():
            raise BindingError("keys-older", identifier=f"{self._database}")
        changed = [row[1:] + row[:1] for change, row in rows if change.after.revision > 1]
        events = [(*row, change.action, actor, source) for (change, row), source in zip(rows, sources, strict=True)]
        if len(new) >= _MANY:
            self._lift_replacement_triggers()
        self._insert(self._statements.insert, new)
        if changed:
            self.connection.exec_driver_sql(self._statements.update, changed)
        self._insert(self._statements.event, events)

    def has_older_keys(self) -> bool:
        """Whether URNs have keys of an older Ararat: then equivalent ones can be bound, and none can be added."""
        return keys.are_older(self.connection)

    def get_rule(self, prefix: str) -> Rule | None:
        """The rule for exactly this prefix; from now on other writers of rules wait."""
        self.connection.exec_driver_sql(_NEXT_RULES_VERSION)
        row = self.connection.execute(select(schema.rules).where(schema.rules.c.prefix == prefix)).fetchone()
        return None if row is None else rule_of(tuple(row))

    def put_rule(self, rule: Rule) -> None:
        """Write a rule, in place of the one for its prefix where there is one, and an event."""
        row = rule.as_dict()
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == rule.prefix))
        self.connection.execute(insert(schema.rules), [row])
        self.connection.execute(insert(schema.rule_events), [{**row, "action": "set"}])

    def remove_rule(self, prefix: str, now: datetime, actor: str | None) -> None:
        """Delete a rule; its history stays."""
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == prefix))
        event = {"action": "removed", "prefix": prefix, "changed": rfc3339(now), "actor": actor}
        self.connection.execute(insert(schema.rule_events), [event])

    def minted(self, names: Sequence[str]) -> set[str]:
        """Those of these names that were minted."""
        found = select(schema.minted.c.key).where(schema.minted.c.key.in_(names))
        return set(self.connection.execute(found).scalars())

    def put_minted(self, names: Sequence[str], now: str, actor: str | None) -> None:
        """Put minted names on record."""
        rows = [{"key": name, "changed": now, "actor": actor} for name in names]
        if rows:
            self.connection.execute(insert(schema.minted), rows)

    def above(self, names: Sequence[str]) -> set[str]:
        """Those of these names below which a name is bound: one that a slash or a dot would make of them."""
        found = self.connection.exec_driver_sql(self._statements.above, (self._database.many(list(names)),))
        return set(found.scalars())

    def rule_prefixes(self) -> list[str]:
        """The prefixes of all rules."""
        return list(self.connection.execute(select(schema.rules.c.prefix)).scalars())

    def setting(self, name: str) -> str | None:
        """What the database remembers under a name."""
        return self.connection.execute(select(schema.about.c.value).where(schema.about.c.name == name)).scalar()

    def set_setting(self, name: str, value: str) -> None:
        """Let the database remember something."""
        known = self.connection.execute(
            update(schema.about).where(schema.about.c.name == name).values(value=value)
        ).rowcount
        if not known:
            self.connection.execute(insert(schema.about).values(name=name, value=value))

    def _lift_replacement_triggers(self) -> None:
        """Drop the triggers on INSERT until the end of the transaction: for many rows they take too much time.

        No other connection sees the database without them, and INSERT of this module never replaces a row.
        """
        if self._lifted or self._database.dialect_name != "sqlite":
            return
        self._lifted = True
        for trigger in schema.replacement_triggers():
            self.connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger.name}")

    def end(self) -> None:
        """Create again the triggers that were dropped for this transaction."""
        if self._lifted:
            for trigger in schema.replacement_triggers():
                self.connection.exec_driver_sql(trigger.statement)

    def _insert(self, insert: Insert, rows: list[Row]) -> None:
        for statement, parameters in insert.of(rows):
            self.connection.exec_driver_sql(statement, parameters)

    def undo(self) -> None:
        """Take back everything so far."""
        self._lifted = False
        self.connection.rollback()


def rule_of(row: Row) -> Rule:
    """The rule that a row of :data:`schema.rules` holds."""
    prefix, template, redirect, changed, actor = row
    return Rule(prefix, template, redirect, datetime.fromisoformat(changed), actor)


def counted(rows: Callable[[str], Sequence[Row]], database: SQLite | PostgreSQL) -> NameCount:
    """The number of names, by a function that runs a query."""
    ((few,),) = rows(_COUNT)
    if few <= MOST_COUNTED:
        return NameCount(few, True)
    ((estimate,),) = rows(database.estimate_names)
    return NameCount(max(int(estimate or 0), few), False)


def open_store(database: SQLite | PostgreSQL, *, create: bool = False) -> Store:
    """Open the store in a database. Make the file and the tables where they are missing only with ``create``.

    Raises :class:`BindingError` with the code ``foreign-database`` for a database with tables of somebody else and none
    of ours, ``schema-version`` for one that another version of Ararat made, and BindingsUnavailable where it cannot be
    reached.
    """
    if create:
        create_database(database)
    elif not _has_schema(database):
        raise BindingsUnavailable(no_database(database))
    database.prepare()
    return Store(database)


def create_database(database: SQLite | PostgreSQL) -> bool:
    """Create the file and the tables of a database where they are missing, and return whether they were.

    Raises like :func:`open_store`.
    """
    if _has_schema(database):
        return False
    _make_schema(database)
    return True


def no_database(database: SQLite | PostgreSQL) -> str:
    """State that a database is missing or has no tables, and how to make them."""
    return f"there are no bindings at {database}; to create them, run: ararat init --database {database}"


def _has_schema(database: SQLite | PostgreSQL) -> bool:
    if isinstance(database, SQLite) and not database.is_there():
        return False
    connection = database.connect_to_read()
    try:
        row = connection.execute(_VERSION, ()).fetchone()
    except database.driver_error as error:
        if database.names_no_table(error):
            return False
        raise database.unavailable(error) from error
    finally:
        connection.close()
    if wrong := wrong_version(database, row and row[0]):
        raise BindingError("schema-version", wrong)
    return True


def wrong_version(database: SQLite | PostgreSQL, version: str | None) -> str | None:
    """What is wrong with a schema of this version, and what to do; None for ours."""
    if version == str(schema.VERSION):
        return None
    newer = version is not None and version.isdecimal() and int(version) > schema.VERSION
    remedy = "update Ararat" if newer else f"run: ararat migrate --database {database}"
    return f"{database} has version {version or 'none'} of the schema and this Ararat needs {schema.VERSION}; {remedy}"


def _make_schema(database: SQLite | PostgreSQL) -> None:
    try:
        database.create()
        with database.engine.begin() as connection:
            if isinstance(database, PostgreSQL):
                connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_LOCK)))
            tables = set(inspect(connection).get_table_names())
            if schema.about.name in tables:
                return  # made by somebody else since we looked
            if tables:
                raise BindingError("foreign-database", f"{database} holds the table {min(tables)} and none of Ararat's")
            schema.metadata.create_all(connection)
            versions = {"schema": str(schema.VERSION), "keys": str(schema.KEYS), "rules": "0"}
            connection.execute(insert(schema.about), [{"name": name, "value": versions[name]} for name in versions])
    except DBAPIError as error:
        cause = error.orig if isinstance(error.orig, Exception) else error
        raise database.unavailable(cause) from error
