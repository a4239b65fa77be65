"""Compare two stores, to find out if one is an older copy of the other, such as a restored backup. The last event of
the older store is compared with the same event of the newer one. Nothing is changed, and both stores are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, cast

from ..collection import Bindings
from ..names.binding import rfc3339
from ..names.branding.stored import NAME as BRANDING
from ..names.branding.stored import version_of
from ..names.fields import FIELDS
from ..storage.rows import STATE
from .verification import StoreFinding, finding

if TYPE_CHECKING:
    from ..storage.protocols import LastEvent, Row
    from ..storage.snapshot import DatabaseSnapshot
    from ..stores import Snapshot
    from .narrowing import People


REDACTED = "the name was redacted in the newer data; run ararat redact for it"
"""The message about a redaction that a restored database lacks."""


def compare(bindings: Bindings, other: Bindings, *, is_history: bool = False) -> Iterator[StoreFinding]:
    """Compare two stores, and yield what is older here than in ``other`` or contradicts it: names, rules, prefix
    records, counters, UUIDs, accounts and the branding.

    - ``lost``: a name of ``other`` has no history here.
    - ``older``: ``other`` has later changes of the name, rule or counter.
    - ``diverged``: the histories differ in a change that both have.

    Further names and changes of ``bindings`` are right. Of a table file, without a history, the resources are compared,
    and the times of the last changes if it has them, else the targets. ``is_history`` states that ``other`` was
    imported from a history, which has no accounts. Raises :class:`BindingsUnavailable`.
    """
    are_databases, now = bindings.kind == other.kind == "database", bindings.now()
    with bindings.store.snapshot() as here, other.store.snapshot() as there:
        yield from _settings(here, there)
        yield from _records(here, there, has_history=are_databases)
        if are_databases and not is_history:
            yield from _people(here, there, now)
        yield from _names(here, there, rfc3339(now), has_history=are_databases)


def _names(here: Snapshot, there: Snapshot, now: str, *, has_history: bool) -> Iterator[StoreFinding]:
    own = here.last_events()
    mine = next(own, None)
    for theirs in there.last_events():
        while mine is not None and mine.key < theirs.key:
            mine = next(own, None)
        if mine is None or mine.key != theirs.key:
            yield finding("lost", theirs.identifier, "the name has no history here, and the other store has it")
        elif fault := _difference(mine, theirs, here, there, now, has_history=has_history):
            code, message = fault
            yield finding(code, theirs.identifier, message)


def _difference(
    mine: LastEvent, theirs: LastEvent, here: Snapshot, there: Snapshot, now: str, *, has_history: bool
) -> tuple[str, str] | None:
    is_equal = _facts(mine, now) == _facts(theirs, now)
    if (
        has_history
        and (not is_equal or _action(theirs.state) == "redacted")
        and _is_redacted(mine, theirs, here, there)
    ):
        return "older", REDACTED
    if is_equal:
        return None  # entered again after a restore, or changed back
    if _status(mine, now) == "reserved" != _status(theirs, now) and _is_hidden(mine):
        return "older", f"the name is hidden here, and {_status(theirs, now)} in the other store"
    if not has_history:
        return _difference_of_file(mine, theirs, now)
    first = min(mine.revision, theirs.revision)
    left = mine.state if mine.revision == first else here.event(mine.key, first)
    right = theirs.state if theirs.revision == first else there.event(theirs.key, first)
    if left != right:
        return "diverged", f"the change of revision {first} differs from that in the other store"
    if mine.revision < theirs.revision:
        last = " (deleted)" if _action(theirs.state) == "deleted" else ""
        return "older", f"the last revision is {mine.revision} here, and {theirs.revision}{last} in the other store"
    return None


def _difference_of_file(mine: LastEvent, theirs: LastEvent, now: str) -> tuple[str, str] | None:
    """Return how a name differs from a line of a file, which has no history, and possibly no times."""
    if theirs.resource is not None and mine.resource not in (None, theirs.resource):
        return "diverged", f"the resource is {mine.resource} here, and {theirs.resource} in the other store"
    if mine.changed and theirs.changed:
        if mine.changed < theirs.changed:
            return "older", f"the last change is of {mine.changed} here, and of {theirs.changed} in the other store"
        return None
    for what in ("status", "target"):
        here, there = (_status(each, now) if what == "status" else _value(each, what) for each in (mine, theirs))
        if here != there:
            return "older", f"the {what} is {here} here, and {there} in the other store"
    return None


def _is_redacted(mine: LastEvent, theirs: LastEvent, here: Snapshot, there: Snapshot) -> bool:
    """Return whether a name has changes here from before its redaction in the other store."""
    events = (there.event(theirs.key, number) for number in range(theirs.revision, 0, -1))
    redaction = next((each for each in events if each and _action(each) == "redacted"), None)
    if redaction is None:
        return False
    own = [here.event(mine.key, number) for number in range(1, mine.revision + 1)]
    changed = STATE.index("changed")
    is_older = own[0] is not None and own[0][changed] < redaction[changed]
    return is_older and all(each is None or _action(each) != "redacted" for each in own)


def _action(state: Row) -> object:
    """Return the action of the columns :attr:`LastEvent.state`. A line of a file has none."""
    return state[len(STATE)] if len(state) > len(STATE) else None


_FACTS = [
    STATE.index(each.name)
    for each in FIELDS
    if each.name not in ("status", "spelling", "created", "changed", "once_public", "embargo")
]


def _facts(event: LastEvent, now: str) -> list[object]:
    """Return what the last event of a name states now, without the times and numbers of its history."""
    is_deleted, status = _action(event.state) == "deleted", _status(event, now)
    embargo = _value(event, "embargo") if status == "reserved" and not is_deleted else None
    return [is_deleted, status, embargo, *(event.state[place] for place in _FACTS)]


def _status(event: LastEvent, now: str) -> object:
    """Return the status of a name by the clock, which publishes it at the end of its embargo."""
    embargo = _value(event, "embargo")
    return "live" if isinstance(embargo, str) and embargo <= now else _value(event, "status")


def _value(event: LastEvent, column: str) -> object:
    return event.state[STATE.index(column)]


def _is_hidden(event: LastEvent) -> bool:
    return _value(event, "once_public") is not None


def _settings(here: Snapshot, there: Snapshot) -> Iterator[StoreFinding]:
    """Compare the counters, the owners of UUIDs, and the branding."""
    from ..storage.tables import schema

    own: dict[str, str] = dict(here.rows(schema.meta))
    for name, value in sorted(there.rows(schema.meta)):
        mine = own.get(name)
        if name.startswith("next ") and value.isdecimal():
            if mine is None or int(mine) < int(value):
                message = f"the counter is {mine or 'missing'} here, and {value} in the other store"
                yield finding("older", name.split(" ")[1], message)
        elif name.startswith("uuid ") and mine != value:
            code, recorded = ("older", "missing") if mine is None else ("diverged", mine)
            message = f"the owner of the UUID is {recorded} here, and {value} in the other store"
            yield finding(code, f"urn:uuid:{name[5:]}", message)
        elif name == BRANDING and (newer := version_of(value)) is not None:
            older = version_of(mine)
            if older is None or older.changed < newer.changed:
                yield finding("older", "", f"the other store has a newer branding, of {rfc3339(newer.changed)}")


def _records(here: Snapshot, there: Snapshot, *, has_history: bool) -> Iterator[StoreFinding]:
    """Compare the histories of rules and prefix records. Those of a file of text have their last values only."""
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
            if not has_history:
                yield finding("older", prefix, f"this {what} differs from that in the other store")
            elif own_events[:both] != events[:both]:
                yield finding("diverged", prefix, f"the history of this {what} differs from that in the other store")
            elif len(own_events) < len(events):
                message = (
                    f"the number of changes of this {what} is {len(own_events)} here, {len(events)} in the other store"
                )
                yield finding("older", prefix, message)


def people_of(snapshot: Snapshot) -> People:
    """Return the accounts of the database of ``snapshot``."""
    from .narrowing import People

    return People.read(lambda query: cast("DatabaseSnapshot", snapshot).read(query, ()))


def _people(here: Snapshot, there: Snapshot, now: datetime) -> Iterator[StoreFinding]:
    """Yield what an account can do here and cannot in the other store, and what it can do only there."""
    from .narrowing import missing, wider

    mine, theirs = people_of(here), people_of(there)
    for each in missing(mine, theirs, now):
        yield finding("lost", each.of, f"the account {each.of} lacks here what the other store has: {each.what}")
    for narrowed, _ in wider(mine, theirs):
        yield finding("older", narrowed.of, f"the account {narrowed.of} has in the other store: {narrowed.what}")


def _by_prefix(rows: Iterator[Row], place: int) -> dict[str, list[Row]]:
    """Return the events of each prefix without their numbers, which are the first column."""
    events: dict[str, list[Row]] = {}
    for row in rows:
        events.setdefault(row[place], []).append(row[1:])
    return events
