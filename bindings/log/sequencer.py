"""Assign the numbers of entries to events, and build the entries from the rows of the database. A number is assigned
once, together with a salt, so that a repeated publication writes the same bytes. Changes of names wait at most for one
transaction of at most :data:`BATCH` events.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import func, select

from ...identifiers.ark.grammar import RESERVED_NAAN
from ..names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ..names.fields import FIELDS
from ..storage.expressions import Dialect
from ..storage.protocols import Row
from ..storage.rows import column_value
from ..storage.store import DatabaseStore
from ..storage.tables.keys import index_key
from ..storage.tables.log_tables import log_entries, log_salts
from ..storage.tables.schema import events
from ..storage.writing.transaction import Transaction
from . import state
from .errors import LogError
from .tree.entries import SALT_BYTES, LogEntry, entry_bytes, state_hash, thing_hash, value_text
from .tree.tree import HASH_BYTES, leaf_hash

BATCH = 2_000
"""The number of events that one transaction adds to the log. SQLite makes other writers wait meanwhile."""

# The fields of an event that its hash covers, in the order of their names. A field with texts by key is several values.
_HASHED = sorted((field for field in FIELDS if field.hashed != "apart"), key=lambda field: field.name)
_VALUES = tuple(field.name for field in _HASHED if field.type != "texts")
_TEXTS = tuple(field.name for field in _HASHED if field.type == "texts")
_COLUMNS = ("id", "key", "long_identifier", "revision", "action", "changed", "resource", *_TEXTS, *_VALUES)
_FIRST_TEXT = len(_COLUMNS) - len(_VALUES) - len(_TEXTS)
_EVENT = ", ".join(f"e.{name}" for name in _COLUMNS)

_decoder: Any = json.JSONDecoder()  # scan_once is in no type stub

# A reserved name is not public. It enters the log when it becomes live, and stays there if it is hidden later. A name
# for tests never enters it. Without the second comparison with the mark, PostgreSQL reads all entries of the log
# for each batch.
_IS_NEW = f"""
e.id > {{mark}} AND (e.status <> 'reserved' OR e.once_public IS NOT NULL) AND e.action <> 'deleted'
AND substr(e.key, 1, {len(RESERVED_NAAN)}) <> '{RESERVED_NAAN}'
AND NOT EXISTS (SELECT 1 FROM log_entries l WHERE l.event = e.id AND l.event > {{mark}})
"""
_NEW = f"SELECT {_EVENT} FROM events e WHERE {_IS_NEW} ORDER BY e.id LIMIT {BATCH}"
_COUNT = f"SELECT count(*), min(e.changed) FROM events e WHERE {_IS_NEW}"
_RECORDED = f"""
SELECT l.entry, l.salt, l.hash, s.salt, {_EVENT} FROM log_entries l LEFT JOIN events e ON e.id = l.event
LEFT JOIN log_salts s ON s.key = e.key WHERE l.entry >= {{mark}} AND l.entry < {{mark}} ORDER BY l.entry
"""
_LOGGED = f"""
SELECT l.entry, l.salt, s.salt, {_EVENT} FROM events e JOIN log_entries l ON l.event = e.id
LEFT JOIN log_salts s ON s.key = e.key WHERE e.key = {{mark}} ORDER BY l.entry
"""
# An event of PostgreSQL can have a lower number than one that was committed before it. After this lock, all
# transactions that have a number are committed.
_LOCK = "LOCK TABLE events IN SHARE MODE NOWAIT"


class EventRow(NamedTuple):
    """The row of a change in the table ``events``, with the values that a log entry covers: ``texts`` has the JSON of
    the fields with texts by key, and ``values`` the other columns of the hash. ``changed`` is in RFC 3339.
    """

    id: int
    key: str
    long_identifier: str | None
    revision: int
    action: str
    changed: str
    resource: str | None
    texts: Row
    values: Row

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> EventRow:
        """Convert a row of the table ``events``, with the columns of the queries of this module."""
        first_value = _FIRST_TEXT + len(_TEXTS)
        return cls._make([*row[:_FIRST_TEXT], tuple(row[_FIRST_TEXT:first_value]), tuple(row[first_value:])])

    def text(self) -> str:
        """Return the text of the values of the event that the hash ``state`` of its log entry covers."""
        *values, target = self.values
        before_target = _text_before_target(*values)
        if target is not None:
            before_target += value_text("target", target)
        for name, text in zip(_TEXTS, self.texts, strict=True):
            if text is not None:
                before_target += _of_json(name, text)
        return before_target

    def state(self, salt: bytes) -> bytes:
        """Return the field ``state`` of the entry: the hash of all values after the change, with the salt of the
        event.
        """
        return salt if len(salt) == HASH_BYTES else state_hash(salt, self.text())

    def thing(self, salt: bytes | None) -> bytes | None:
        """Return the field ``thing`` of the entry: the hash of the resource with the salt of the name. None without
        one.
        """
        if self.resource is None or salt is None:
            return None
        return salt if len(salt) == HASH_BYTES else thing_hash(salt, self.resource)

    def entry(self, salt: bytes, name_salt: bytes | None, before: int | None) -> bytes:
        """Return the log entry of this event; ``before`` is the number of the previous entry of the name. Raises
        :class:`BindingError` (``log-event``) for values that Ararat does not write.
        """
        try:
            return entry_bytes(
                self.long_identifier or self.key,
                self.revision,
                self.action,
                self.changed,
                self.thing(name_salt),
                self.state(salt),
                before,
            )
        except LogError as error:
            raise BindingError("log-event", str(error)) from None


# How the log writes the values of passthrough. Entries of schema 3 have the numbers of its column.
_WRITTEN = {"passthrough": {"no": "0", "normal": "1"}}
# The values of later fields that are not in the hash, so that the hashes of older entries stay right (L-02).
_LEFT_OUT = {field.name: column_value(field, field.default) for field in _HASHED if field.hashed == "set"}


@lru_cache(256)
def _text_before_target(*values: object) -> str:
    """Return the text of the values before the target. They are the same in most events of an import."""
    return "".join(
        [
            value_text(name, _WRITTEN.get(name, {}).get(str(value), str(value)))
            for name, value in zip(_VALUES[:-1], values, strict=True)
            if value is not None and value != _LEFT_OUT.get(name)
        ]
    )


def _of_json(column: str, text: str) -> str:
    """Return the text of the values of a JSON object by name. An object that Ararat does not write is one value."""
    try:
        # decode() takes longer, and also accepts spaces around the object.
        members, end = _decoder.scan_once(text, 0) if text[:1] == "{" else ({}, -1)
        if end != len(text):
            members = _decoder.decode(text)
        return "".join([value_text(f"{column}.{name}", value) for name, value in sorted(members.items())])
    except (StopIteration, ValueError, TypeError, AttributeError):
        return value_text(column, text)


class Block(NamedTuple):
    """Neighbouring log entries as bytes, and their leaf hashes."""

    entries: list[bytes]
    hashes: list[bytes]


class Sequencer:
    """A source of the log entries of a database, which numbers new events. ``size`` is the number of entries after
    :meth:`blocks`.
    """

    def __init__(self, store: DatabaseStore, size: int, searched: int) -> None:
        self._store = store
        self.size = size
        self._after = searched
        self.searched = searched

    def blocks(self) -> Iterator[Block]:
        """Yield the log entries from the number ``size`` on, also of new events. Raises :class:`BindingError`:
        ``log-event`` or ``log-changed`` if another program changed an event, ``log-busy`` if another process adds
        entries.
        """
        with self._store.transaction(large=True) as transaction:
            assigned = state.count_numbered(transaction.connection)
        for block in recorded_blocks(self._store, self.size, assigned):
            self.size += len(block.entries)
            yield block
        searched = self._last_complete()
        while block := self._assign():
            self.size += len(block.entries)
            yield block
        self.searched = searched

    def _last_complete(self) -> int:
        """Return the number of an event up to which all events are visible now, if that is known."""
        try:
            with self._store.transaction(large=True) as transaction:
                if transaction.dialect_name == "postgresql":
                    transaction.connection.exec_driver_sql(_LOCK)
        except (BindingsUnavailable, ReadOnlyBindings):
            return self.searched  # another transaction adds events
        with self._store.transaction(large=True) as transaction:
            return transaction.connection.execute(select(func.max(events.c.id))).scalar() or 0

    def _assign(self) -> Block | None:
        """Assign the next numbers to new events, and return their entries, or None without new events."""
        with self._store.transaction(large=True) as transaction:
            if state.count_numbered(transaction.connection) != self.size:
                raise BindingError("log-busy")
            rows = _rows(transaction, _NEW, self._after, self._after)
            event_rows = [EventRow.of_row(row) for row in rows]
            if not event_rows:
                return None
            salts, before = _known_names(transaction, [event.key for event in event_rows if event.revision > 1])
            new_salts: list[Row] = []
            recorded: list[Row] = []
            block = Block([], [])
            random = secrets.token_bytes(2 * SALT_BYTES * len(event_rows))
            for number, event in enumerate(event_rows, self.size):
                start = 2 * SALT_BYTES * len(recorded)
                salt, name_salt = random[start : start + SALT_BYTES], salts.get(event.key)
                if name_salt is None:
                    name_salt = salts[event.key] = random[start + SALT_BYTES : start + 2 * SALT_BYTES]
                    new_salts.append((event.key, name_salt))
                entry = event.entry(salt, name_salt, before.get(event.key))
                before[event.key] = number
                digest = leaf_hash(entry)
                recorded.append((number, event.id, salt, digest))
                block.entries.append(entry)
                block.hashes.append(digest)
            one = Dialect(transaction.dialect_name).mark
            for table, values in ((log_salts, new_salts), (log_entries, recorded)):
                if values:
                    marks = ", ".join([one] * len(table.columns))
                    transaction.connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({marks})", values)
        self._after = event_rows[-1].id
        return block


class LoggedEvent(NamedTuple):
    """A change of a name in the public log, with the number of its entry and the salts of the event and the name."""

    number: int
    salt: bytes
    name_salt: bytes | None
    event: EventRow


def logged_events(transaction: Transaction, key: str) -> list[LoggedEvent]:
    """Return the changes of a key that have an entry in the public log, in the order of their revisions."""
    rows = transaction.connection.exec_driver_sql(_LOGGED.format(mark=Dialect(transaction.dialect_name).mark), (key,))
    return [LoggedEvent(number, salt, name_salt, EventRow.of_row(event)) for number, salt, name_salt, *event in rows]


def new_events(transaction: Transaction, searched: int) -> tuple[int, str | None]:
    """Return the number of changes behind the event ``searched`` that are not in the public log, and the time of the
    first.
    """
    number, since = _rows(transaction, _COUNT, searched, searched)[0]
    return number, since


def _raise_lost(number: int) -> bytes:
    raise BindingError("log-changed", f"the database does not have the event of entry {number}")


def recorded_blocks(
    store: DatabaseStore, start: int, end: int, lost: Callable[[int], bytes] = _raise_lost
) -> Iterator[Block]:
    """Yield the log entries from ``start`` to before ``end`` from the rows of the database. ``lost`` returns an entry
    whose event it lacks. Raises :class:`BindingError` (``log-changed``) if rows do not have the hash of their entry.
    """
    before: dict[str, int] = {}
    for first in range(start, end, BATCH):
        with store.transaction(large=True) as transaction:
            rows = _rows(transaction, _RECORDED, first, min(first + BATCH, end))
            event_rows = [
                (number, salt, digest, name_salt, EventRow.of_row(event))
                for number, salt, digest, name_salt, *event in rows
            ]
            unknown = {event.key for *_, event in event_rows if event.id is not None} - before.keys()
            before |= _last_entries(transaction, list(unknown), first)
        block = Block([], [])
        for number, salt, digest, name_salt, event in event_rows:
            if event.id is None:
                entry = lost(number)
                key = index_key(LogEntry.of_bytes(entry).key)
            else:
                entry = event.entry(salt, name_salt, before.get(event.key))
                key = event.key
            if leaf_hash(entry) != digest:
                message = f"the change {event.revision} differs from entry {number}"
                raise BindingError("log-changed", message, identifier=event.long_identifier or key)
            before[key] = number
            block.entries.append(entry)
            block.hashes.append(digest)
        if len(block.entries) != min(BATCH, end - first):
            raise BindingError("log-changed", f"the database does not have all entries from {first} on")
        yield block


def _known_names(transaction: Transaction, keys: list[str]) -> tuple[dict[str, bytes], dict[str, int]]:
    """Return the salts of names by their keys, and the numbers of their last entries."""
    if not keys:
        return {}, {}
    rows = transaction.connection.execute(select(log_salts.c.key, log_salts.c.salt).where(log_salts.c.key.in_(keys)))
    return {row.key: row.salt for row in rows}, _last_entries(transaction, keys)


def _last_entries(transaction: Transaction, keys: list[str], below: int | None = None) -> dict[str, int]:
    """Return the numbers of the last entries of names by their keys. ``below`` excludes entries from that number on."""
    if not keys:
        return {}
    key, number = events.c.key, log_entries.c.entry
    query = select(key, func.max(number)).join(log_entries, log_entries.c.event == events.c.id).group_by(key)
    if below is not None:
        query = query.where(number < below)
    return {row[0]: row[1] for row in transaction.connection.execute(query.where(key.in_(keys)))}


def _rows(transaction: Transaction, query: str, *parameters: int) -> Sequence[Row]:
    result = transaction.connection.exec_driver_sql(
        query.format(mark=Dialect(transaction.dialect_name).mark), parameters
    )
    # The rows of the driver: those of SQLAlchemy take a tenth of the time of a publication.
    return result.cursor.fetchall() if result.cursor else []
