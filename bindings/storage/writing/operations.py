"""Read and write the recorded operations in a transaction, and find the names that an operation concerns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Executable,
    Text,
    and_,
    any_,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    update,
)

from ....identifiers.text.translatable import Translatable
from ...names.binding import Binding, rfc3339
from ...names.errors import BindingError, UnreadableBinding
from ...names.operation import Operation, kind_of_action
from ...names.selection import LAST
from ..expressions import Dialect
from ..listing import Lists
from ..rows import STATE, binding_of
from ..tables import schema
from ..tables.keys import KEPT_CHARACTERS, index_key
from ..tables.search_indexes import TARGET

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..protocols import Database

_ROWS_AT_ONCE = 1000

_BINDINGS, _EVENTS, _OPERATIONS = schema.bindings.c, schema.events.c, schema.operations.c
_OTHER = schema.events.alias("other").c
_IS_NEWEST = (
    _EVENTS.revision
    == select(func.max(_OTHER.revision)).where(_OTHER.key == _EVENTS.key).correlate(schema.events).scalar_subquery()
)
"""The condition that an event is the last one of its name."""


class OperationEffect(NamedTuple):
    """The effect of an operation on one name: its binding before the first and after the last of its events, and the
    revision of the latter. None before it is a new name, and after it a deleted one.
    """

    before: Binding | None
    after: Binding | None
    revision: int


_dialect = cache(Dialect)


class Operations:
    """The recorded operations of a database in one transaction. The numbers of new ones are added to ``begun``."""

    def __init__(self, connection: Connection, database: Database, begun: list[int]) -> None:
        self._connection = connection
        self._begun = begun
        self._database = database
        self._dialect = _dialect(database.dialect_name)

    def begin(
        self,
        action: str,
        actor: str | None,
        started: datetime,
        parameters: Mapping[str, Any],
        undoes: int | None = None,
    ) -> int:
        """Record that an operation begins, and return its number. ``parameters`` are recorded as JSON. Raises
        :class:`BindingError` (``operation-kind``) for an action that no kind declares.
        """
        kind_of_action(action)
        row = {
            "action": action,
            "actor": actor,
            "started": rfc3339(started),
            "parameters": json.dumps(dict(parameters), ensure_ascii=False, separators=(",", ":")),
            "names": 0,
            "undoes": undoes,
        }
        inserted = self._connection.execute(insert(schema.operations).values(row)).inserted_primary_key
        self._begun.append(next(iter(inserted or ())))
        return self._begun[-1]

    def finish(self, number: int, names: int, finished: datetime) -> None:
        """Record that an operation has ended and changed a number of names. One that was stopped keeps its end."""
        values = {"names": names, "finished": rfc3339(finished)}
        is_open = schema.operations.c.id == number, schema.operations.c.finished.is_(None)
        self._connection.execute(update(schema.operations).where(*is_open).values(values))

    def get(self, number: int) -> Operation:
        """Return a recorded operation. Raises :class:`BindingError` (``operation-unknown``)."""
        operations = Lists(self._dialect.name).operations(self._read, number + 1, 1) if 0 < number < 2**62 else []
        if not operations or operations[0].number != number:
            raise BindingError(
                "operation-unknown", Translatable("the operation %(number)s does not exist", number=str(number))
            )
        return operations[0]

    def require_in_effect(self, number: int) -> None:
        """Raise :class:`BindingError` (``operation-unknown``, ``operation-undone``) for an operation without effect."""
        self.get(number).require_in_effect()

    def require_undoable(self, number: int) -> None:
        """Raise like :meth:`require_in_effect`, and with the code ``operation-running`` for one that has not ended."""
        self._lock(number)
        self.get(number).require_undoable()

    def stop(self, number: int, when: datetime) -> bool:
        """End an operation, so that no run continues it. False if it has ended. Raises like :meth:`get`."""
        self.get(number)
        return stop(self._connection, number, when)

    def go_on(self, number: int) -> None:
        """Let an operation continue after its job has failed. Raises like :meth:`require_in_effect`."""
        # After the lock: an undo that begins now waits, and is refused.
        of_number = schema.operations.c.id == number
        self._connection.execute(update(schema.operations).where(of_number).values(finished=None))
        self.require_in_effect(number)

    def is_running(self, number: int) -> bool:
        """Return whether an operation has neither ended nor been undone, so that a run can continue it."""
        found = self.get(number)
        return found.finished is None and found.undone_by is None

    def require_running(self, number: int) -> None:
        """Raise :class:`BindingError` (``operation-undone``, ``operation-ended``) if no run may continue an
        operation.
        """
        # A person who stops the operation waits for this transaction, so the undo finds all of its names.
        self._lock(number)
        self.require_in_effect(number)
        found = self.get(number)
        if found.finished is not None:
            raise BindingError(
                "operation-ended",
                Translatable.counted(
                    "the operation %(operation)s was stopped after %(number)s name",
                    "the operation %(operation)s was stopped after %(number)s names",
                    found.names,
                    operation=str(number),
                ),
            )

    def _lock(self, number: int) -> None:
        """Exclude :meth:`stop` and :meth:`go_on` until the end of the transaction."""
        if 0 < number < 2**62:
            # SQLite has no locks of rows, and SQLAlchemy leaves this one out.
            self._rows(select(_OPERATIONS.id).where(_OPERATIONS.id == number).with_for_update(read=True))

    def changed_by(self, number: int, keys: Sequence[str]) -> set[str]:
        """Return those of ``keys`` that an operation has changed."""
        changed = select(_EVENTS.key).distinct().where(self._is_one_of(keys), _EVENTS.operation == number)
        return {key for (key,) in self._rows(changed)}

    def keys_with_targets(self, sources: Sequence[str], ends: str, keys: KeyRange | None) -> Iterator[str]:
        """Yield the keys of the names with a target or alternate that has one of the beginnings ``sources``; a key can
        be repeated. ``ends`` are the characters that can follow it in a target, but not in an alternate; "" permits
        all.
        """
        within = [keys.condition()] if keys else []
        # As in the index of the column. A bound number would not be.
        target: ColumnElement[str] = literal_column(self._dialect.in_bytes(TARGET))
        for source in sources:
            begins = [_BINDINGS.target.is_not(None), target >= source, target < f"{source}{LAST}"]
            if ends:
                begins.append(func.substr(_BINDINGS.target, len(source) + 1, 1).in_(["", *ends]))
            yield from self._stream(select(_BINDINGS.key).where(*begins, *within))
            contains = getattr(func, self._dialect.find)(_BINDINGS.alternates, f'"{source}') > 0
            yield from self._stream(select(_BINDINGS.key).where(_BINDINGS.alternates.is_not(None), contains, *within))

    def keys_in(self, keys: KeyRange) -> Iterator[str]:
        """Yield the keys of all names in the range ``keys``."""
        return self._stream(select(_BINDINGS.key).where(keys.condition()))

    def keys_of(self, number: int) -> Iterator[str]:
        """Yield the keys of the names that an operation changed. A key can be repeated."""
        return self._stream(select(_EVENTS.key).where(_EVENTS.operation == number))

    def keys_withdrawn_by(self, number: int) -> Iterator[str]:
        """Yield the keys of the names that an operation withdrew, unless they were restored."""
        later = schema.events.alias("later").c
        since = select(later.id).where(
            later.key == _EVENTS.key, later.revision > _EVENTS.revision, later.action.in_(["withdrawn", "restored"])
        )
        of_number = _EVENTS.operation == number, _EVENTS.action == "withdrawn"
        return self._stream(select(_EVENTS.key).where(*of_number, ~since.exists()))

    def effects(self, keys: Sequence[str], number: int | None) -> dict[str, OperationEffect]:
        """Return the effect of an operation on names, by key. Without ``number``, that of the last event of each name.
        Raises :class:`UnreadableBinding` for an event of another program.
        """
        earlier = schema.events.alias("earlier")
        before_this = and_(earlier.c.key == _EVENTS.key, earlier.c.revision == _EVENTS.revision - 1)
        both = (table[name] for table in (_EVENTS, earlier.c) for name in (*STATE, "action"))
        found = (
            select(*both)
            .select_from(schema.events.outerjoin(earlier, before_this))
            .where(self._is_one_of(keys), _IS_NEWEST if number is None else _EVENTS.operation == number)
            .order_by(_EVENTS.key, _EVENTS.revision)
        )
        width = len(STATE)
        effects: dict[str, OperationEffect] = {}
        for row in self._rows(found):
            after = binding_of(tuple(row[:width]))
            before = None
            if row[-1] is None and after.revision > 1:
                raise UnreadableBinding(row[0], "its history lacks the change before")
            if row[-1] not in (None, "deleted"):
                before = binding_of(tuple(row[width + 1 : -1]))
            first = effects.get(row[0])
            effects[row[0]] = OperationEffect(
                first.before if first else before, None if row[width] == "deleted" else after, after.revision
            )
        return effects

    def last_of(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the operations of the last changes of names, by key. A change without an operation is left out."""
        is_last = self._is_one_of(keys), _IS_NEWEST, _EVENTS.operation.is_not(None)
        return dict(map(tuple, self._rows(select(_EVENTS.key, _EVENTS.operation).where(*is_last))))

    def _is_one_of(self, keys: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition for the events of ``keys``, with one parameter for all of them."""
        array = self._database.array_parameter([*keys])
        if self._dialect.is_sqlite:
            return _EVENTS.key.in_(select(func.json_each(array).table_valued("value").c.value))
        return _EVENTS.key == any_(literal(array, ARRAY(Text)))

    def _read(self, text: str, parameters: Sequence[Any]) -> Sequence[Any]:
        return self._connection.exec_driver_sql(text, tuple(parameters)).fetchall()

    def _rows(self, query: Executable) -> Sequence[Any]:
        return self._connection.execute(query).fetchall()

    def _stream(self, query: Executable) -> Iterator[str]:
        options = {"stream_results": True, "yield_per": _ROWS_AT_ONCE}
        yield from self._connection.execute(query, execution_options=options).scalars()


def stop(connection: Connection, number: int, when: datetime) -> bool:
    """End an operation in a transaction, and count its names. False if it has ended already, or does not exist."""
    # The lock excludes a block that is being written.
    table, events = schema.operations, schema.events
    is_open = table.c.id == number, table.c.finished.is_(None)
    if not connection.execute(update(table).where(*is_open).values(finished=rfc3339(when))).rowcount:
        return False
    names = select(func.count(events.c.key.distinct())).where(events.c.operation == number).scalar_subquery()
    connection.execute(update(table).where(table.c.id == number).values(names=names))
    return True


class KeyRange(NamedTuple):
    """A range of names: those whose keys begin with a text, or with ``is_below`` the name with this key and all below
    it.

    >>> KeyRange("ark:12345/x").includes("ark:12345/x5"), KeyRange("ark:12345/x", True).includes("ark:12345/x5")
    (True, False)
    """

    beginning: str
    is_below: bool = False

    def condition(self) -> ColumnElement[bool]:
        """Return the condition for the keys of bindings."""
        start, key = self.beginning, _BINDINGS.key
        if not self.is_below:
            return and_(key >= start, key < f"{start}{LAST}")
        # In byte order "." and "/" are adjacent, and "0" follows; "$" follows "#".
        short = start[:KEPT_CHARACTERS]
        long = and_(key >= f"{short}#", key < (f"{short}$" if short != start else ""))
        return or_(key == index_key(start), and_(key >= f"{start}.", key < f"{start}0"), long)

    def includes(self, identifier: str) -> bool:
        """Return whether a normal form is in the range. Check it after a query, which can find other very long
        names.
        """
        start = self.beginning
        return identifier.startswith((f"{start}.", f"{start}/") if self.is_below else start) or identifier == start
