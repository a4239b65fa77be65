"""Compare two stores, to find out if one is an older copy of the other, such as a restored backup.

For each name, the revision of its last event is compared. The event of the older store is compared with the same event
of the newer one. The comparison changes nothing, and both stores are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..collection import Bindings
from ..names.fields import FIELDS
from ..storage.rows import STATE
from .verification import StoreFinding, finding

if TYPE_CHECKING:
    from ..storage.protocols import LastEvent, Row
    from ..stores import Snapshot


def compare(bindings: Bindings, other: Bindings) -> Iterator[StoreFinding]:
    """Compare two stores, and yield what is older here than in ``other`` or contradicts it: names, rules and counters.

    - ``lost``: a name of ``other`` has no history here.
    - ``older``: ``other`` has later changes of the name, rule or counter.
    - ``diverged``: the histories differ in a change that both have.

    Names that only ``bindings`` has, and its later changes, are right. A file of text has no history. For it, the
    resources are compared, and the times of the last changes if it has them.

    Raises :class:`BindingsUnavailable`.
    """
    with bindings.store.snapshot() as here, other.store.snapshot() as there:
        yield from _counters(here, there)
        yield from _records(here, there)
        if bindings.kind == other.kind == "database":
            yield from _people(here, there)
        yield from _names(here, there, has_history=bindings.kind == other.kind == "database")


def _names(here: Snapshot, there: Snapshot, *, has_history: bool) -> Iterator[StoreFinding]:
    own = here.last_events()
    mine = next(own, None)
    for theirs in there.last_events():
        while mine is not None and mine.key < theirs.key:
            mine = next(own, None)
        if mine is None or mine.key != theirs.key:
            yield finding("lost", theirs.identifier, "the name has no history here, and the other store has it")
        elif fault := _difference(mine, theirs, here, there, has_history=has_history):
            yield finding(*fault)


def _difference(
    mine: LastEvent, theirs: LastEvent, here: Snapshot, there: Snapshot, *, has_history: bool
) -> tuple[str, str, str] | None:
    name = theirs.identifier
    if _facts(mine) == _facts(theirs):
        return None  # entered again after a restore, or changed back
    if _status(mine) == "reserved" != _status(theirs) and _is_hidden(mine):
        return "older", name, f"the name is hidden here, and {_status(theirs)} in the other store"
    if not has_history:
        if theirs.resource is not None and mine.resource not in (None, theirs.resource):
            return "diverged", name, f"the resource is {mine.resource} here, and {theirs.resource} in the other store"
        if mine.changed and theirs.changed and mine.changed < theirs.changed:
            return (
                "older",
                name,
                f"the last change is of {mine.changed} here, and of {theirs.changed} in the other store",
            )
        return None
    first = min(mine.revision, theirs.revision)
    left = mine.state if mine.revision == first else here.event(mine.key, first)
    right = theirs.state if theirs.revision == first else there.event(theirs.key, first)
    if left != right:
        return "diverged", name, f"the change of revision {first} differs from that in the other store"
    if mine.revision < theirs.revision:
        message = f"the last revision is {mine.revision} here, and {theirs.revision} in the other store"
        return "older", name, message
    return None


_FACTS = [
    STATE.index(each.name)
    for each in FIELDS
    if each.name not in ("spelling", "created", "changed", "once_public", "embargo")
]


def _facts(event: LastEvent) -> list[object]:
    """Return what the last event of a name states, without the times and numbers of its history."""
    is_deleted = "deleted" in event.state[len(STATE) : len(STATE) + 1]
    return [is_deleted, *(event.state[place] for place in _FACTS)]


def _status(event: LastEvent) -> object:
    return event.state[STATE.index("status")]


def _is_hidden(event: LastEvent) -> bool:
    return event.state[STATE.index("once_public")] is not None


def _counters(here: Snapshot, there: Snapshot) -> Iterator[StoreFinding]:
    own = _values_of_counters(here)
    for name, value in sorted(_values_of_counters(there).items()):
        if own.get(name, -1) < value:
            message = f"the counter is {own.get(name, 'missing')} here, and {value} in the other store"
            yield finding("older", name.split(" ")[1], message)


def _values_of_counters(snapshot: Snapshot) -> dict[str, int]:
    from ..storage.tables import schema

    rows = list(snapshot.rows(schema.meta))
    return {name: int(value) for name, value in rows if name.startswith("next ") and value.isdecimal()}


def _records(here: Snapshot, there: Snapshot) -> Iterator[StoreFinding]:
    """Compare the histories of rules and prefix records."""
    from ..storage.tables import schema

    for what, table in (("rule", schema.rule_events), ("prefix record", schema.prefix_events)):
        columns = [column.name for column in table.columns]
        place = columns.index("prefix")
        # Without the number, which _by_prefix leaves out.
        facts = [columns.index(each) - 1 for each in columns[1:] if each not in ("changed", "actor", "revision")]
        mine = _by_prefix(here.rows(table), place)
        for prefix, events in sorted(_by_prefix(there.rows(table), place).items()):
            own_events = mine.get(prefix, [])
            both = min(len(own_events), len(events))
            if own_events and all(own_events[-1][each] == events[-1][each] for each in facts):
                continue  # set again after a restore, or changed back
            if own_events[:both] != events[:both]:
                yield finding("diverged", prefix, f"the history of this {what} differs from that in the other store")
            elif len(own_events) < len(events):
                message = (
                    f"the number of changes of this {what} is {len(own_events)} here, {len(events)} in the other store"
                )
                yield finding("older", prefix, message)


def _people(here: Snapshot, there: Snapshot) -> Iterator[StoreFinding]:
    """Yield what an account or token can do here and cannot in the other store, and accounts that are missing here."""
    from .narrowing import People, wider

    mine, theirs = People.of_snapshot(here), People.of_snapshot(there)
    for name in sorted(theirs.accounts.keys() - mine.accounts.keys()):
        yield finding("lost", name, f"the account {name} is missing here")
    for narrowed, _ in wider(mine, theirs):
        yield finding("older", narrowed.of, f"the account {narrowed.of} has in the other store: {narrowed.what}")


def _by_prefix(rows: Iterator[Row], place: int) -> dict[str, list[Row]]:
    """Return the events of each prefix without their numbers, which are the first column."""
    events: dict[str, list[Row]] = {}
    for row in rows:
        events.setdefault(row[place], []).append(row[1:])
    return events
