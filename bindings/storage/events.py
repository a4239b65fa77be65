"""The SQL of lists of events. A page is a range of the numbers of events."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..names.binding import Binding, Event, rfc3339
from ..names.errors import UnreadableBinding
from ..names.event_selection import EventPage, EventSelection, NumberedEvent
from ..names.selection import LAST
from .expressions import Dialect, SqlCondition, values_of, where
from .protocols import Row
from .rows import STATE, binding_of

Read = Callable[[str, Sequence[Any]], list[Row]]
"""A function that returns the rows of a query."""

_WIDTH = len(STATE)
_STATE = ", ".join(f"events.{name}" for name in STATE)


def page(read: Read, dialect_name: str, selection: EventSelection, below: int | None, limit: int) -> EventPage:
    """Return a page of the changes of names: at most ``limit`` with numbers below ``below``, the newest first."""
    conditions = _conditions(selection)
    if below is not None:
        conditions.append(SqlCondition("events.id < ?", (below,)))
    text = (
        f"SELECT {_STATE}, events.action, events.actor, events.source, events.operation, events.id FROM events"
        f"{where(conditions)} ORDER BY events.id DESC LIMIT ?"
    )
    rows = read(Dialect(dialect_name).set_placeholders(text), [*values_of(conditions), limit + 1])
    before = _states_before(read, dialect_name, rows[:limit])
    result = EventPage([], rows[limit - 1][-1] if len(rows) > limit else None, [])
    for row in rows[:limit]:
        action, actor, source, operation, number = row[_WIDTH:]
        try:
            event = Event(action, actor, source, before.get(number), binding_of(row[:_WIDTH]), operation)
        except UnreadableBinding:
            result.unreadable.append(str(row[0]))
        else:
            result.events.append(NumberedEvent(number, event))
    return result


def moved_from(
    read: Read, dialect_name: str, beginning: str, most_moves: int, limit: int
) -> list[tuple[str, int | None]]:
    """Return the names whose target began with ``beginning`` before a change, each with the number of its operation.
    Only the last ``most_moves`` changes of targets are compared.
    """
    text = """
SELECT DISTINCT moved.key, moved.operation
FROM (SELECT id, key, revision, operation FROM events WHERE action = 'relocated' ORDER BY id DESC LIMIT ?) AS moved
JOIN events AS earlier ON earlier.key = moved.key AND earlier.revision = moved.revision - 1
WHERE substr(earlier.target, 1, ?) = ? LIMIT ?"""
    rows = read(Dialect(dialect_name).set_placeholders(text), [most_moves, len(beginning), beginning, limit])
    return [(str(key), operation) for key, operation in rows]


def _conditions(selection: EventSelection) -> list[SqlCondition]:
    number = selection.operation
    of_operation = (
        SqlCondition("events.operation IS NULL") if number is None else SqlCondition("events.operation = ?", (number,))
    )
    compared = (
        ("actor", "=", selection.actor),
        ("action", "=", selection.action),
        ("key", ">=", selection.prefix),
        ("key", "<", selection.prefix and f"{selection.prefix}{LAST}"),
        ("recorded", ">=", selection.since and rfc3339(selection.since)),
        ("recorded", "<", selection.before and rfc3339(selection.before)),
    )
    others = (
        SqlCondition(f"events.{column} {sign} ?", (value,)) for column, sign, value in compared if value is not None
    )
    return [of_operation, *others]


def _states_before(read: Read, dialect_name: str, rows: Sequence[Row]) -> dict[int, Binding]:
    """Return the bindings before these events by the numbers of the events; none for the first change of a name."""
    revision = STATE.index("revision")
    numbers = {(row[0], row[revision] - 1): row[-1] for row in rows if row[revision] > 1}
    if not numbers:
        return {}
    either = " OR ".join(["(events.key = ? AND events.revision = ?)"] * len(numbers))
    parameters = [value for key_and_revision in numbers for value in key_and_revision]
    text = f"SELECT {_STATE} FROM events WHERE events.action <> 'deleted' AND ({either})"
    bindings: dict[int, Binding] = {}
    for row in read(Dialect(dialect_name).set_placeholders(text), parameters):
        try:
            bindings[numbers[row[0], row[revision]]] = binding_of(row)
        except UnreadableBinding:
            continue
    return bindings
