"""A transaction of a writer. It is durable when it ends without an exception."""

from __future__ import annotations

import logging
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Connection as CoreConnection
from sqlalchemy import Dialect, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from ...names.actor import NOBODY, Actor
from ...names.assignment import Change
from ...names.binding import Binding, rfc3339
from ...names.branding.stored import NAME, BrandingVersion, version_of
from ...names.errors import BindingsUnavailable, Collision, OutcomeUnknown, ReadOnlyBindings
from ...names.policy import ChangeCheck, check_by
from ...names.prefixes import prefixes
from ...names.prefixes.patterns import Pattern
from ...names.prefixes.prefixes import PrefixRecord, PrefixRecords
from ...names.prefixes.rules import Rule
from ...names.prefixes.texts import RECORDED
from ..protocols import Clock, Database, Row
from ..recorded import RecordedNames
from ..rows import SEARCH, STATE, NewNames, binding_of, prefix_record_of, row_of, rule_of, search_of, search_of_row
from ..statements import EVENT, TIMELINE, Statements
from ..tables import name_counts, schema, search_indexes, triggers
from ..tables.keys import index_key
from ..versions import require_version
from .inserts import MAX_ROWS, Insert, RowBlock
from .operations import Operations

_MANY_ROWS = 500
"""The number of new rows from which a transaction drops the triggers against INSERT OR REPLACE while it runs."""

_ROWS_AT_ONCE = 5000

_LOCK_NUMBER = struct.Struct(">q")

# The versions, and facts that save statements or prevent that they fail. The index of deleted names is small.
_FACTS = """
SELECT name, value FROM ararat WHERE name IN ('schema', 'rules')
UNION ALL SELECT 'has counters', 'yes' WHERE EXISTS (SELECT 1 FROM ararat WHERE substr(name, 1, 5) = 'next ')
UNION ALL SELECT 'has deleted names', 'yes' WHERE EXISTS (SELECT 1 FROM events WHERE action = 'deleted')
"""
# The number of the transaction is read here, because the answer to COMMIT can be lost. A standby gives no numbers.
_SERVER_FACTS = f"""
{_FACTS} UNION ALL SELECT 'is read-only', current_setting('transaction_read_only')
UNION ALL SELECT 'process', pg_backend_pid()::text
UNION ALL SELECT 'transaction', CASE WHEN pg_is_in_recovery() THEN NULL
ELSE pg_current_xact_id()::text || ' ' || {TIMELINE} END
"""
_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
_NUMBERS = STATE.index("numbers")
_NO_ROWS = RowBlock(0)
_NEXT_RULES_VERSION = "UPDATE ararat SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE name = 'rules'"

_logger = logging.getLogger(__name__)

# The names of what a kept connection remembers.
_KEPT_VERSION, _KEPT_RECORDS, _IS_KEPT = "ararat rules version", "ararat prefix records", "ararat kept"


class Inserts(NamedTuple):
    """The builders of INSERT statements for the tables ``bindings`` and ``events``, without the columns ``lacking``."""

    bindings: Insert
    events: Insert
    lacking: Collection[str]

    def row_of(self, binding: Binding) -> Row:
        """Return the row of ``binding`` with those columns of :data:`.STATE` that the tables have."""
        named = zip(STATE, row_of(binding), strict=True)
        return tuple(value for name, value in named if name not in self.lacking)

    def blocks_of(self, new: NewNames, actor: str | None, operation: int | None) -> tuple[RowBlock, RowBlock]:
        """Return the rows of new names, and of their events."""
        shared = dict(zip((*STATE, *SEARCH), new.shared, strict=True)) | {"action": "bound", "actor": actor}
        shared["operation"] = operation
        columns = {**new.columns, "source": new.sources}
        bindings, events = (
            [name for name in named if name not in self.lacking] for named in ((*STATE, *SEARCH), EVENT)
        )

        def block(names: Sequence[str]) -> RowBlock:
            own = {place: columns[name] for place, name in enumerate(names) if name in columns}
            return RowBlock(len(new), columns=own, shared=[shared.get(name) for name in names])

        return block(bindings), block(events)


def inserts(dialect: Dialect, lacking: Collection[str] = ()) -> Inserts:
    """Create the builders of INSERT statements for one kind of database, whose tables can lack columns
    (:data:`.LACKING`).
    """
    bindings, events = schema.bindings.c, schema.events.c
    return Inserts(
        Insert(dialect, [bindings[name] for name in (*STATE, *SEARCH) if name not in lacking]),
        Insert(dialect, [events[name] for name in EVENT if name not in lacking]),
        lacking,
    )


@contextmanager
def begin(
    database: Database,
    statements: Statements,
    inserts: Inserts,
    clock: Clock,
    *,
    exclusive: bool = False,
    large: bool = False,
) -> Iterator[Transaction]:
    """Begin a transaction in a ``with`` block. It is committed at the end of the block, and rolled back after an
    exception. With ``exclusive``, other writers wait until then. ``large`` is whether many names will change.
    """
    failure: Exception | None = None
    try:
        with ExitStack() as stack:
            stack.enter_context(database.turn_to_write())
            connection, facts = _begun(database, is_large=exclusive or large)
            stack.enter_context(connection)
            require_version(database, facts.get("schema"))
            transaction = Transaction(connection, statements, inserts, database, facts, clock)
            if exclusive and database.exclusive_lock_sql:
                transaction.exclude_writers()
            try:
                yield transaction
                if transaction.counted_to is not None:
                    transaction.restore_triggers()
                _commit(database, connection, facts.get("transaction"))
            except BaseException as error:
                _give_up(database, connection, error)
                raise
    except DBAPIError as error:
        failure = driver_cause(error)
        raise _failure(database, failure) from error
    except database.driver_error as error:
        failure = error
        raise _failure(database, error) from error
    finally:
        database.shorten_log(failure)


def _give_up(database: Database, connection: CoreConnection, error: BaseException) -> None:
    """Close a connection that must not be used again after an error. SQLAlchemy does not see the errors of statements
    that the driver runs.
    """
    if connection.invalidated:
        return
    driver: Any = connection.connection.dbapi_connection
    # Such an exception can end the wait for an answer of a server, which is then not read.
    is_ended = not isinstance(error, Exception)
    if database.dialect_name != "sqlite":
        if is_ended or driver.closed:
            connection.invalidate()
    elif is_ended or isinstance(error, database.driver_error):
        # That to a file is used only if no statement has failed.
        # A cursor that is still referenced would keep the lock of a closed connection.
        with suppress(database.driver_error):
            driver.rollback()
        connection.invalidate()


def _commit(database: Database, connection: CoreConnection, number: str | None) -> None:
    """Commit a transaction. If the connection breaks before the answer, find out whether it was committed by its
    ``number`` (None in SQLite). Raises :class:`OutcomeUnknown`.
    """
    driver: Any = connection.connection.dbapi_connection
    try:
        connection.commit()
    except DBAPIError as error:
        if number is None or not driver.closed:
            raise
        cause = database.unavailable(driver_cause(error))
        _logger.warning("the answer to a COMMIT was lost, so the outcome is looked up: %s", cause)
        is_committed = database.outcome(number)
        if is_committed is None:
            _logger.error("it is unknown whether a change was written (transaction %s)", number)
            raise OutcomeUnknown(str(cause)) from error
        if not is_committed:
            raise


def _begun(database: Database, *, is_large: bool) -> tuple[CoreConnection, dict[str, str]]:
    """Return a connection that has begun a transaction, and facts about the database. A kept connection that is broken,
    or whose server is a standby now, is replaced.
    """
    connection = database.engine.connect()
    try:
        facts = _facts(connection, is_large=is_large)
        if facts.get("is read-only") != "on" or _IS_KEPT not in connection.info:
            connection.info[_IS_KEPT] = True
            return connection, facts
        # A server that becomes a standby ends its sessions, but PgBouncer keeps the connections of its clients.
        connection.invalidate()
        database.close_writers()
    except BaseException as error:
        if not connection.invalidated:
            _give_up(database, connection, error)
            connection.close()
            raise
    connection.close()
    connection = database.engine.connect()
    try:
        return connection, _facts(connection, is_large=is_large)
    except BaseException:
        connection.close()
        raise


def _facts(connection: CoreConnection, *, is_large: bool) -> dict[str, str]:
    driver: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite":
        connection.begin()
        return dict(driver.execute(_FACTS))
    facts = {row[0]: row[1] for row in connection.exec_driver_sql(_SERVER_FACTS)}
    driver.backend, driver.is_large = int(facts["process"]), is_large
    return facts


class Transaction:
    """One transaction of a database, in which bindings, rules and prefix records are read and changed (:func:`begin`).

    - ``written``: the changes of names, except those of operations and imports, which can be too many for the memory.
    - ``begun``: the numbers of the operations that began.
    - ``noted``: the outcomes of other changes by name, such as those of a prefix record, for the audit.
    - ``check_change``: checks each change by the policy (:meth:`permit`).
    - ``rules_version``: the version of the rules, prefix records and holds that the transaction reads, which resolvers
      keep in memory; None after it has changed one.
    - ``is_rolled_back``: whether all changes were undone. ``is_exclusive``: whether other writers wait.
    - ``result``: the result of the change, for the functions :attr:`.Actor.at_end`: a list of
      :class:`~ararat.bindings.changes.ChangeResult`, a BulkResult, or the Summary of an import.
    """

    def __init__(
        self,
        connection: CoreConnection,
        statements: Statements,
        inserts: Inserts,
        database: Database,
        facts: Mapping[str, str],
        clock: Clock,
    ) -> None:
        self.connection = connection
        # The connection of the driver runs the statements of one change: a result of SQLAlchemy takes longer than most.
        self.driver: Any = connection.connection.dbapi_connection
        self._statements = statements
        self._inserts = inserts
        self._database = database
        self.is_exclusive = False
        self.rules_version = facts.get("rules")
        self._has_deleted = "has deleted names" in facts
        self._has_counters = "has counters" in facts
        # The last row of the bindings that is counted, while the triggers that count new rows are dropped.
        self.counted_to: int | None = None
        self._numbered_to = 0  # the last row whose numbers are written, while the trigger that writes them is dropped
        self._dropped: list[triggers.Trigger] = []
        self._held: set[str] = set()  # the names that were read with a hold
        self._clock = clock
        # The names that were read after the date of their publication, by key, until it is written.
        self._due: dict[str, Binding] = {}
        self.begun: list[int] = []
        self.written: list[Change] = []
        self.noted: dict[str | None, str] = {}
        self.actor: Actor = NOBODY
        self.check_change: ChangeCheck | None = None
        self.is_rolled_back = False
        self.result: object = None

    @cached_property
    def operations(self) -> Operations:
        """The recorded operations."""
        return Operations(self.connection, self._database, self.begun)

    @property
    def dialect_name(self) -> str:
        """The kind of the database, for statements that differ: "sqlite" or "postgresql"."""
        return self._database.dialect_name

    def exclude_writers(self) -> None:
        """Make other writers wait until the transaction ends. Call it before the transaction locks or writes a row."""
        if not self.is_exclusive and self._database.exclusive_lock_sql:
            # Read the facts again, because a writer can have changed them before the lock was free.
            self.connection.exec_driver_sql(self._database.exclusive_lock_sql)
            facts = _facts(self.connection, is_large=True)
            require_version(self._database, facts.get("schema"))
            self.rules_version = facts.get("rules")
            self._has_deleted = "has deleted names" in facts
            self._has_counters = "has counters" in facts
        self.is_exclusive = True

    def lock_texts(self, texts: Iterable[str]) -> None:
        """Make transactions that lock one of these texts wait until this one ends. In SQLite, all writers wait
        anyway.
        """
        if self._database.dialect_name == "postgresql":
            numbers = sorted({_LOCK_NUMBER.unpack(sha256(text.encode()).digest()[:8])[0] for text in texts})
            query = "SELECT pg_advisory_xact_lock(number) FROM unnest(%s::bigint[]) AS numbers(number)"
            self.connection.exec_driver_sql(query, (numbers,))

    def permit(self, before: Binding | None, change: Change) -> Change:
        """Return the change to write, by the permissions of the actor and the policy. ``before`` is None for a new
        name. Raises :class:`BindingError` if the change is not permitted.
        """
        self.actor.check(before, change)
        if self.check_change is None:
            return change
        return check_by(self.check_change, before, change, self)

    @property
    def permits_all(self) -> bool:
        """Whether :meth:`permit` permits each change of a name, and writes it as it is."""
        actor = self.actor
        return self.check_change is None and actor.grants is None and type(actor).check is Actor.check

    @property
    def recorded(self) -> RecordedNames:
        """The lookups by which the warnings about new names are found. They see the changes of this transaction."""
        return RecordedNames(self._rows, self._database)

    def _rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self.driver.execute(query, parameters).fetchall()

    def erase_deleted(self) -> bool | None:
        """Erase deleted texts from the files, after the transaction, and return whether they are. None if the server
        does it later.
        """
        return self._database.erase_deleted()

    def patterns(self) -> list[Pattern]:
        """Return the patterns of the names that were minted with a check character."""
        if not self._has_counters:
            return []
        patterns = (Pattern.of_counter(name) for name, _ in self._rows(self._statements.settings))
        return [pattern for pattern in patterns if pattern and pattern.check]

    def get(self, identifiers: Sequence[str]) -> dict[str, Binding]:
        """Return the bindings of recorded normal forms by key, and lock their rows. A name whose ``embargo`` is reached
        is live; its first change here also writes the event of its publication.
        """
        if not identifiers:
            return {}
        keys = [index_key(name) for name in identifiers]
        bindings: dict[str, Binding] = {}
        for row in self._rows(self._statements.select_for_update, (self._database.array_parameter(keys),)):
            stored = binding_of(row)
            binding = stored if stored.embargo is None else stored.at(self._clock())
            bindings[stored.identifier] = binding
            if binding is not stored:
                self._due[stored.identifier] = binding
            if binding.hold_until is not None:
                self._held.add(stored.identifier)
        return bindings

    def look_up(self, identifiers: Sequence[str]) -> dict[str, Binding]:
        """Return the bindings of the names ``identifiers`` as :meth:`get`, but without locking their rows."""
        keys = [index_key(name) for name in identifiers if name.isascii() and name.isprintable()]
        rows = self._rows(self._statements.many, (self._database.array_parameter(keys),)) if keys else []
        stored = map(binding_of, rows)
        return {each.identifier: each if each.embargo is None else each.at(self._clock()) for each in stored}

    def publish_due(self) -> list[Binding]:
        """Publish reserved names whose embargo has ended, at most :data:`~.statements.MOST_DUE`. Return their
        bindings.
        """
        now = self._clock()
        keys = [key for (key,) in self._rows(self._statements.due, (rfc3339(now),))]
        due = [binding for key, binding in self.get(keys).items() if key in self._due]
        self.put([self._publication(binding, now) for binding in due], None, [None] * len(due))
        return due

    def _publication(self, due: Binding, now: datetime) -> Change:
        """Return the change that makes a name live at the date of its publication, recorded at the time ``now``."""
        del self._due[due.identifier]
        return Change("published", replace(due, recorded=now) if now > due.changed else due, "bound")

    def deleted_revisions(self, identifiers: Sequence[str]) -> dict[str, int]:
        """Return the names that were deleted, each with the revision of its last deletion."""
        keys = {index_key(name): name for name in identifiers}
        if not keys or not self._has_deleted:
            return {}
        rows = self._rows(self._statements.deleted, (self._database.array_parameter(list(keys)),))
        return {keys[key]: revision for key, revision in rows}

    def bound(self, identifiers: Sequence[str]) -> list[str]:
        """Return the keys that are bound and not reserved, in the same order, without locking rows."""
        keys = {index_key(name): name for name in identifiers}
        if not keys:
            return []
        rows = self._rows(self._statements.bound, (self._database.array_parameter(list(keys)),))
        bound = {key for key, due in rows if due is None or due <= rfc3339(self._clock())}
        return [name for key, name in keys.items() if key in bound]

    def put(
        self,
        changes: Sequence[Change],
        actor: str | None,
        sources: Sequence[str | None] = (None,),
        operation: int | None = None,
    ) -> list[Change]:
        """Write the new binding of each changed name, and an event to its history; the action "deleted" deletes the
        binding. Return the changes as recorded: the history of a deleted name continues with its next revision.
        ``sources`` has the file and line of each change, or None.
        """
        deleted_before: dict[str, int] = {}
        if self._has_deleted:
            deleted_before = self.deleted_revisions([change.after.identifier for change in changes if change.is_new])
        of_binding = self._inserts.row_of if self._inserts.lacking else row_of
        new: list[Row] = []
        changed: list[Row] = []
        events: list[Row] = []
        deleted: list[Row] = []
        written: list[Change] = []
        is_held = False
        for change, source in zip(changes, sources, strict=True):
            if (due := self._due.get(change.after.identifier)) is not None:
                row = of_binding(self._publication(due, change.after.recorded_at).after)
                changed.append(row[1:] + search_of(due) + row[:1])
                events.append((*row, "bound", None, None, None))
            after, is_new = change.after, change.is_new
            if revision := deleted_before.get(after.identifier):
                after = replace(after, revision=revision + 1)
                change = change._replace(after=after)
            written.append(change)
            is_held = is_held or after.hold_until is not None or after.identifier in self._held
            row = of_binding(after)
            if change.action == "deleted":
                deleted.append(row[:1])
            elif is_new:
                new.append(row + search_of(after))
            else:
                changed.append(row[1:] + search_of(after) + row[:1])
            events.append((*row, change.action, actor, source, operation))
        if is_held:
            # The resolver reads the holds of names together with the rules.
            self._raise_rules_version()
        if len(new) >= _MANY_ROWS:
            self.drop_triggers()
        self._insert(RowBlock(len(new), new), _NO_ROWS if changed or deleted else RowBlock(len(events), events))
        if self.counted_to is not None and (changed or deleted):
            self._count_added()
        if len(changed) == 1:
            self.driver.execute(self._statements.update, changed[0])
        elif changed:
            self.connection.exec_driver_sql(self._statements.update, changed)
        if deleted:
            self._has_deleted = True
            self.connection.exec_driver_sql(self._statements.delete, deleted)
            if self.counted_to is not None:
                # The number of a deleted row can be given again.
                self.counted_to = self._numbered_to = self._last_row()
        if changed or deleted:
            self._insert(_NO_ROWS, RowBlock(len(events), events))
        if operation is None and not any(sources):
            self.written += written
        return written

    @property
    def has_deleted(self) -> bool:
        """Whether the history has a deleted name. The history of such a name continues, so that it is not new."""
        return self._has_deleted

    def put_new(self, new: NewNames, actor: str | None, operation: int | None) -> None:
        """Write names that are new and live, with their events. Call it only without :attr:`has_deleted`, and for names
        without a hold.
        """
        if len(new) >= _MANY_ROWS:
            self.drop_triggers()
        self._count_added()
        before = self.counted_to
        self._insert(*self._inserts.blocks_of(new, actor, operation))
        if before is None:
            return
        dropped = {each.name for each in self._dropped}
        if not dropped.isdisjoint(name_counts.ADDED_TRIGGERS):
            stated = dict(zip(STATE, new.shared, strict=False))
            name_counts.add_new(self.connection, stated, new.keys, new.elements, before)
        if search_indexes.ADDED_TRIGGER in dropped:
            search_indexes.add_many(self.connection, before)
        self.counted_to = self._numbered_to

    def get_rule(self, prefix: str) -> Rule | None:
        """Return the rule of exactly this prefix. Other writers of rules wait until the transaction ends."""
        self._raise_rules_version()
        row = self.connection.execute(select(schema.rules).where(schema.rules.c.prefix == prefix)).fetchone()
        return None if row is None else rule_of(tuple(row))

    def put_rule(self, rule: Rule) -> None:
        """Write ``rule``, and add the event "set" to its history. The rule replaces the one of the same prefix."""
        row = rule.as_dict()
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == rule.prefix))
        self.connection.execute(insert(schema.rules), [row])
        self.connection.execute(insert(schema.rule_events), [{**row, "action": "set"}])

    def remove_rule(self, prefix: str, now: datetime, actor: str | None) -> None:
        """Delete the rule of a prefix, and add the event "removed" to its history. Earlier events stay."""
        self.connection.execute(delete(schema.rules).where(schema.rules.c.prefix == prefix))
        event = {"action": "removed", "prefix": prefix, "changed": rfc3339(now), "actor": actor}
        self.connection.execute(insert(schema.rule_events), [event])

    def prefixes(self) -> PrefixRecords:
        """Return the records of NAANs and shoulders, with the field ``rule`` not set."""
        # A kept connection keeps them until the version of the rules changes. Another server has other connections.
        kept = self.connection.info
        if self.rules_version is None or kept.get(_KEPT_VERSION) != self.rules_version:
            kept[_KEPT_RECORDS] = PrefixRecords(map(prefix_record_of, self._rows(self._statements.prefixes)))
            kept[_KEPT_VERSION] = self.rules_version
        return kept[_KEPT_RECORDS]

    def get_prefix(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this prefix. Other writers of records wait until the transaction ends."""
        # The resolver reads the records together with the rules.
        self._raise_rules_version()
        table = schema.prefixes
        row = self.connection.execute(select(table).where(table.c.prefix == prefix)).fetchone()
        return None if row is None else prefix_record_of(tuple(row))

    def put_prefix(self, record: PrefixRecord) -> None:
        """Write the record of a prefix instead of an earlier one, and add the event "set" to its history."""
        row = self._with_next_revision(record)
        self.connection.execute(delete(schema.prefixes).where(schema.prefixes.c.prefix == record.prefix))
        self.connection.execute(insert(schema.prefixes), [row])
        self.connection.execute(insert(schema.prefix_events), [{**row, "action": "set"}])

    def remove_prefix(self, prefix: str, now: datetime, actor: str | None) -> None:
        """Delete the record of a prefix, and add the event "removed" to its history. Earlier events stay."""
        self.connection.execute(delete(schema.prefixes).where(schema.prefixes.c.prefix == prefix))
        row = self._with_next_revision(prefixes.record(prefix, changed=now, actor=actor))
        self.connection.execute(insert(schema.prefix_events), [{**row, "action": "removed"}])

    def _with_next_revision(self, record: PrefixRecord) -> dict[str, Any]:
        """Return the row of a record. Its revision follows the last event, also of a removed record."""
        events = schema.prefix_events
        last = select(func.max(events.c.revision)).where(events.c.prefix == record.prefix)
        row: dict[str, Any] = {**dict.fromkeys(RECORDED), **record.recorded, "state": record.state}
        row |= {"prefix": record.prefix, "changed": rfc3339(record.changed), "actor": record.actor}
        return row | {"revision": (self.connection.execute(last).scalar() or 0) + 1}

    def containers_of_bound(self, names: Sequence[str]) -> set[str]:
        """Return those of ``names`` that are above a bound name, as ark:12345/x is above ark:12345/x/p1."""
        rows = self._rows(self._statements.above, (self._database.array_parameter(list(names)),))
        return {name for (name,) in rows}

    def rule_prefixes(self) -> list[str]:
        """Return the NAANs and shoulders of all rules, because names below them must not be minted."""
        return list(self.connection.execute(select(schema.rules.c.prefix)).scalars())

    def setting(self, name: str) -> str | None:
        """Return a value of the table ``ararat``, or None if it is not set."""
        return self.connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == name)).scalar()

    def set_setting(self, name: str, value: str) -> None:
        """Set a value of the table ``ararat``."""
        updated = self.connection.execute(
            update(schema.meta).where(schema.meta.c.name == name).values(value=value)
        ).rowcount
        if not updated:
            self.connection.execute(insert(schema.meta).values(name=name, value=value))
            if name.startswith("next "):
                self._has_counters = True
                # The resolver reads the patterns of minted names together with the rules.
                self._raise_rules_version()

    def branding(self) -> BrandingVersion | None:
        """Return the recorded branding. Other writers of it wait until the transaction ends."""
        # The resolver reads it together with the rules.
        self._raise_rules_version()
        return version_of(self.setting(NAME))

    def put_branding(self, version: BrandingVersion) -> None:
        """Record ``version``, a branding of the public pages. The version before it stays in the history."""
        if (before := self.setting(NAME)) is not None:
            count = "SELECT count(*) FROM ararat WHERE substr(name, 1, 8) = 'branding'"
            self.set_setting(f"{NAME} {self.connection.exec_driver_sql(count).scalar()}", before)
        self.set_setting(NAME, version.text)

    def restore_bindings(self) -> None:
        """Fill the empty table of bindings from the last event of each name."""
        last = "SELECT max(revision) FROM events AS other WHERE other.key = events.key"
        events = self.connection.exec_driver_sql(
            f"SELECT {', '.join(STATE)} FROM events WHERE revision = ({last}) AND action <> 'deleted' ORDER BY key",  # noqa: S608
            execution_options={"stream_results": True, "yield_per": _ROWS_AT_ONCE},
        )
        for block in events.partitions():
            rows = [tuple(row) + search_of_row(tuple(row)) for row in block]
            self._insert(RowBlock(len(rows), rows), _NO_ROWS)
        held = "SELECT 1 FROM bindings WHERE hold_until IS NOT NULL LIMIT 1"
        if self.connection.exec_driver_sql(held).scalar():
            # The resolver reads the holds of names together with the rules.
            self._raise_rules_version()

    def rollback(self) -> None:
        """Undo all changes of this transaction, which then has no effect."""
        self.counted_to, self._dropped = None, []
        self.is_rolled_back = True
        self.connection.rollback()

    def restore_triggers(self) -> None:
        """Create the triggers again that :meth:`drop_triggers` dropped, and count the names that were added."""
        if self.counted_to is not None:
            self._count_added()
            self.counted_to = None
            for trigger in self._dropped:
                self.connection.exec_driver_sql(trigger.statement)
            self._dropped = []

    def drop_triggers(self) -> None:
        """Drop the triggers of SQLite on INSERT, which are slow for many rows, until the end of the transaction. Other
        connections always see them, and no INSERT of this module replaces a row.
        """
        if self.counted_to is not None or self._database.dialect_name != "sqlite":
            return
        self.counted_to = self._numbered_to = self._last_row()
        # The tables of an older version have no triggers that count.
        existing = set(self.connection.exec_driver_sql(_TRIGGERS).scalars())
        self._dropped = [each for each in triggers.triggers_of_many() if each.name in existing]
        for trigger in self._dropped:
            self.connection.exec_driver_sql(f"DROP TRIGGER {trigger.name}")

    def _count_added(self) -> None:
        """Count the names that were added without the triggers, and add their trigrams, before one is changed. The copy
        of a database inserts names itself, so that their numbers are written here, too.
        """
        if self.counted_to is not None and (last := self._last_row()) > self.counted_to:
            dropped = {each.name for each in self._dropped}
            if triggers.NUMBERS_TRIGGER in dropped and last > self._numbered_to:
                triggers.add_numbers(self.connection, self._numbered_to)
                self._numbered_to = last
            if not dropped.isdisjoint(name_counts.ADDED_TRIGGERS):
                name_counts.add_many(self.connection, self.counted_to)
            if search_indexes.ADDED_TRIGGER in dropped:
                search_indexes.add_many(self.connection, self.counted_to)
            self.counted_to = last

    def _last_row(self) -> int:
        return self.connection.exec_driver_sql("SELECT coalesce(max(rowid), 0) FROM bindings").scalar_one()

    def _raise_rules_version(self) -> None:
        self.connection.exec_driver_sql(_NEXT_RULES_VERSION)
        self.rules_version = None  # what this transaction reads from now on is not kept

    def _insert(self, bindings: RowBlock, events: RowBlock) -> None:
        is_postgresql = self._database.dialect_name == "postgresql"
        if is_postgresql and max(bindings.number, events.number) > MAX_ROWS:
            connection: Any = self.connection.connection.driver_connection
            copies = [(self._inserts.bindings, bindings), (self._inserts.events, events)]
            # The server writes the last rows while the next ones are read. Those of the names take longer. Another
            # order than that of other changes can cause a deadlock, but not in an exclusive transaction.
            for insert_into, block in reversed(copies) if self.is_exclusive else copies:
                insert_into.copy(connection, block.all_rows())
            return
        statements = chain(self._inserts.bindings.of(bindings), self._inserts.events.of(events))
        if is_postgresql and 0 < bindings.number <= MAX_ROWS and 0 < events.number <= MAX_ROWS:
            # PostgreSQL then answers once. It runs the main statement first, in the order of other changes.
            (name, its_values), (event, values) = statements
            statements = iter([(f"WITH recorded AS ({event}) {name}", (*values, *its_values))])
        for statement, parameters in statements:
            self.driver.execute(statement, parameters)
        if self.counted_to is not None and bindings.number:
            is_silent = any(each.name == triggers.NUMBERS_TRIGGER for each in self._dropped)
            if is_silent and bindings.has(_NUMBERS):
                # Later rows of the transaction are found by them.
                triggers.add_numbers(self.connection, self._numbered_to)
            self._numbered_to = self._last_row()


def _failure(database: Database, cause: Exception) -> Exception:
    """Return the exception to raise for an exception of the driver."""
    if database.is_read_only(cause):
        return ReadOnlyBindings(
            f"{database} is read-only: the server is a standby, or the user has no permission to write; "
            "name the primary server, or grant INSERT and UPDATE on the tables"
        )
    if database.is_conflict(cause):
        return Collision(str(cause))
    unavailable = database.unavailable(cause)
    if database.is_constraint_violation(cause):
        return BindingsUnavailable(
            f"{unavailable}; a trigger or constraint of the tables refuses this change; run: ararat migrate, then: "
            "ararat verify"
        )
    return unavailable


def driver_cause(error: DBAPIError) -> Exception:
    """Return the exception of the driver that the exception ``error`` of SQLAlchemy wraps."""
    return error.orig if isinstance(error.orig, Exception) else error
