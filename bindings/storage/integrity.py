"""Find rows that contradict each other: bindings, events, rules, prefix records, operations and counters, and what is
derived from names. Rows are streamed, so that memory does not grow. :mod:`.checks.verification` explains the faults and
compares two stores.
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ...identifiers.text.display import format_count
from ..names.errors import UnreadableBinding
from ..names.prefixes.patterns import Pattern
from .rows import PREFIX, SEARCH, STATE, binding_of, mapping_of, search_of
from .tables import name_counts, search_indexes, triggers
from .tables.keys import MAX_KEY_BYTES, index_key

if TYPE_CHECKING:
    from .protocols import Connection, Database, Row


class Contradiction(NamedTuple):
    """A contradiction between rows. ``code`` is one of :data:`verification.CODES`. ``name`` is a name or prefix,
    or "".
    """

    code: str
    name: str
    message: str


def faults(connection: Connection, database: Database) -> Iterator[Contradiction]:
    """Yield the contradictions between the rows of a database, such as a binding that differs from its last event."""

    def rows(query: str) -> Iterator[Row]:
        return database.stream(connection, query)

    differs = "IS NOT" if database.dialect_name == "sqlite" else "IS DISTINCT FROM"
    yield from _missing_triggers(connection, database)
    yield from _counts(rows, database)
    yield from _searched(rows, database)
    for check in (_differences, _sequences, _records):
        yield from check(rows, differs)
    for find in (_lost_bindings, _keys, _operations, _counters, _numbers, _fields):
        yield from find(rows)


_Rows = Callable[[str], "Iterator[Row]"]


def _missing_triggers(connection: Connection, database: Database) -> Iterator[Contradiction]:
    names = {name for (name,) in connection.execute(database.trigger_names_sql).fetchall()}
    for name, table, _ in triggers.triggers(database.dialect_name):
        if name not in names:
            yield Contradiction(
                "trigger-missing", "", f"the trigger {name} of the table {table} is missing or disabled"
            )


def _counts(rows: _Rows, database: Database) -> Iterator[Contradiction]:
    """Compare the numbers of names that the triggers keep with the names."""
    for kind, value, kept, found in rows(name_counts.differences(database.dialect_name)):
        if kind == "sample":
            yield Contradiction("count-wrong", "", f"the sample of names has the name {value}, which is not recorded")
        else:
            message = (
                f"the group {value} of the {kind} has {format_count(int(kept), 'name')}, but {int(found)} are recorded"
            )
            yield Contradiction("count-wrong", "", message)


def _differences(rows: _Rows, differs: str) -> Iterator[Contradiction]:
    """Compare each binding with its last event."""
    now = ", ".join(f"b.{name}" for name in STATE)
    last = ", ".join(f"e.{name}" for name in STATE)
    newest = "SELECT max(revision) FROM events AS other WHERE other.key = b.key"
    different = " OR ".join(f"b.{name} {differs} e.{name}" for name in STATE)
    width = len(STATE)
    for row in rows(
        f"SELECT {now}, {last} FROM bindings AS b LEFT JOIN events AS e ON e.key = b.key AND e.revision = ({newest}) "
        f"WHERE {different} ORDER BY b.key"
    ):
        left, right = row[:width], row[width:]
        name = _name(*left[:2])
        if right[0] is None:
            yield Contradiction("history-missing", name, "the name is bound, but has no history")
            continue
        columns = [column for column, a, b in zip(STATE, left, right, strict=True) if a != b]
        message = f"the binding differs from the last event of its history in: {', '.join(columns)}"
        yield Contradiction("history-differs", name, message)


def _lost_bindings(rows: _Rows) -> Iterator[Contradiction]:
    """Find names with events and without a binding. A deletion ends the history of a reserved name."""
    last = "SELECT action FROM events AS other WHERE other.key = e.key ORDER BY revision DESC LIMIT 1"
    for key, long in rows(
        "SELECT key, long_identifier FROM events AS e WHERE revision = 1 "
        f"AND NOT EXISTS (SELECT 1 FROM bindings AS b WHERE b.key = e.key) AND ({last}) <> 'deleted' ORDER BY key"
    ):
        yield Contradiction("binding-missing", _name(key, long), "the name has a history, but is not bound")


_BEFORE = ("revision", "status", "action", "resource", "created", "spelling", "once_public")


def _sequences(rows: _Rows, differs: str) -> Iterator[Contradiction]:
    """Check that the events of each name follow each other without a gap, and keep what must not change."""
    before = ", ".join(f"lag({name}) OVER history AS old_{name}" for name in _BEFORE)
    public = "(old_status <> 'reserved' OR old_once_public IS NOT NULL) AND old_action <> 'deleted'"
    broken = {
        "revision-gap": "revision <> coalesce(old_revision, 0) + 1",
        "resource-changed": f"{public} AND old_resource IS NOT NULL AND resource {differs} old_resource",
        "origin-changed": f"{public} AND (created {differs} old_created OR spelling {differs} old_spelling)",
        "reserved-again": f"{public} AND (status = 'reserved' OR old_once_public IS NOT NULL) AND once_public IS NULL",
    }
    columns = ", ".join(f"CASE WHEN {condition} THEN 1 END" for condition in broken.values())
    for row in rows(
        f"SELECT key, long_identifier, revision, {columns} FROM (SELECT events.*, {before} FROM events "
        f"WINDOW history AS (PARTITION BY key ORDER BY revision)) AS sequence "
        f"WHERE {' OR '.join(f'({condition})' for condition in broken.values())} ORDER BY key, revision"
    ):
        key, long, revision, *values = row
        for (code, message), is_broken in zip(_SEQUENCE_MESSAGES.items(), values, strict=True):
            if is_broken:
                yield Contradiction(code, _name(key, long), message.format(revision=revision))


_SEQUENCE_MESSAGES = {
    "revision-gap": "the event before revision {revision} is missing",
    "resource-changed": "the event of revision {revision} gives the name to another resource",
    "origin-changed": "the event of revision {revision} changes the date of creation or the spelling of a public name",
    "reserved-again": "the event of revision {revision} loses the fact that the name was public",
}


def _keys(rows: _Rows) -> Iterator[Contradiction]:
    """Check the names whose keys are shorter texts."""
    shorter = f"long_identifier IS NOT NULL OR length(key) > {MAX_KEY_BYTES} OR key LIKE '%#%'"
    for table in ("bindings", "events"):
        for key, long in rows(f"SELECT DISTINCT key, long_identifier FROM {table} WHERE {shorter}"):
            if index_key(long or key) != key or long == key or "#" in (long or key):
                message = f"a row of the table {table} has a key that does not belong to its identifier"
                yield Contradiction("key-wrong", key, message)


def _operations(rows: _Rows) -> Iterator[Contradiction]:
    for (number,) in rows(
        "SELECT DISTINCT operation FROM events WHERE operation IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM operations WHERE operations.id = events.operation)"
    ):
        yield Contradiction("operation-missing", "", f"events belong to operation {number}, which is not recorded")
    for number, undone in rows(
        "SELECT id, undoes FROM operations WHERE undoes IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM operations AS other WHERE other.id = operations.undoes)"
    ):
        yield Contradiction(
            "operation-missing", "", f"operation {number} undoes operation {undone}, which is not recorded"
        )
    for number, names, events in rows(
        "SELECT id, names, (SELECT count(*) FROM events WHERE operation = operations.id) AS events FROM operations "
        "WHERE names > 0 AND NOT EXISTS (SELECT 1 FROM events WHERE operation = operations.id)"
    ):
        yield Contradiction(
            "operation-missing",
            "",
            f"operation {number} changed {format_count(names, 'name')}, but has {format_count(events, 'event')}",
        )


def _records(rows: _Rows, differs: str) -> Iterator[Contradiction]:
    """Compare rules and prefix records with their history."""
    values = {
        "rule": ("template", "redirect", "changed", "actor"),
        "prefix": PREFIX[1:],
    }
    for kind, table, order in (("rule", "rules", "id"), ("prefix", "prefixes", "revision")):
        events = f"{kind}_events"
        last = f"e.{order} = (SELECT max({order}) FROM {events} AS other WHERE other.prefix = e.prefix)"
        different = " OR ".join(f"r.{name} {differs} e.{name}" for name in values[kind])
        what = "rule" if kind == "rule" else "record"
        for (prefix,) in rows(
            f"SELECT r.prefix FROM {table} AS r LEFT JOIN {events} AS e ON e.prefix = r.prefix AND {last} "
            f"WHERE e.prefix IS NULL OR e.action <> 'set' OR {different}"
        ):
            yield Contradiction(f"{kind}-differs", prefix, f"the {what} of this prefix differs from its last event")
        for (prefix,) in rows(
            f"SELECT e.prefix FROM {events} AS e WHERE {last} AND e.action = 'set' "
            f"AND NOT EXISTS (SELECT 1 FROM {table} AS r WHERE r.prefix = e.prefix)"
        ):
            yield Contradiction(
                f"{kind}-differs", prefix, f"the {what} of this prefix is missing, and its history has one"
            )
    for (prefix,) in rows(
        "SELECT prefix FROM prefix_events GROUP BY prefix HAVING min(revision) <> 1 OR max(revision) <> count(*)"
    ):
        yield Contradiction("prefix-differs", prefix, "the history of this prefix record has a gap")


def _counters(rows: _Rows) -> Iterator[Contradiction]:
    """Find counters whose next name was minted already."""
    for name, value in list(rows("SELECT name, value FROM ararat WHERE name LIKE 'next %'")):
        pattern = Pattern.of_counter(name)
        if pattern is None or not value.isdecimal():
            yield Contradiction("counter-wrong", "", f"the counter {name} has the value {value}")
            continue
        # Names that are minted at random leave the counter at 0.
        minted = int(value) and int(value) < pattern.numbers and pattern.name(int(value))
        if minted and list(rows(f"SELECT 1 FROM events WHERE key = '{minted}' AND action = 'reserved' LIMIT 1")):
            yield Contradiction(
                "counter-behind", minted, f"the name was minted, and the counter of {pattern.beginning} is not above it"
            )


def _numbers(rows: _Rows) -> Iterator[Contradiction]:
    """Compare the table of the numbers with the numbers of the names."""
    found = rows(
        "SELECT b.key, b.long_identifier, b.numbers, n.kind, n.number FROM bindings AS b "
        "LEFT JOIN name_numbers AS n ON n.key = b.key WHERE b.numbers IS NOT NULL ORDER BY b.key"
    )
    for (key, long, numbers), group in groupby(found, itemgetter(0, 1, 2)):
        kept = {(kind, number) for *_, kind, number in group if kind is not None}
        try:
            recorded = {(kind, each) for kind, text in mapping_of(numbers).items() for each in text.split("|")}
        except (TypeError, ValueError, AttributeError):
            continue  # the row is not readable
        if recorded != kept:
            yield Contradiction(
                "number-wrong", _name(key, long), "the table name_numbers has other numbers of the name"
            )
    for (key,) in rows(
        "SELECT DISTINCT key FROM name_numbers AS n "
        "WHERE NOT EXISTS (SELECT 1 FROM bindings AS b WHERE b.key = n.key AND b.numbers IS NOT NULL) ORDER BY key"
    ):
        yield Contradiction("number-wrong", key, "the table name_numbers has a number of a name that has none")


def _searched(rows: _Rows, database: Database) -> Iterator[Contradiction]:
    """Compare the names that have trigrams in SQLite with those that have a search text. PostgreSQL has an index."""
    if database.dialect_name != "sqlite":
        return
    missing = search_indexes.missing_parts({name for (name,) in rows(search_indexes.KNOWN["sqlite"])})
    if len(missing) == len(search_indexes.PARTS):
        return  # a library without FTS5
    for part in missing:
        yield Contradiction("search-wrong", "", f"the {part.lower()} is missing")
    if missing:
        return
    for key, is_added in rows(search_indexes.DIFFERENCES):
        message = "the search has a name that is not recorded" if is_added else "the search does not have the name"
        yield Contradiction("search-wrong", key, message)


def _fields(rows: _Rows) -> Iterator[Contradiction]:
    """Read each name, and compare the texts of its search with its fields."""
    width = len(STATE)
    for row in rows(f"SELECT {', '.join((*STATE, *SEARCH))} FROM bindings"):
        try:
            binding = binding_of(row[:width])
        except UnreadableBinding as error:
            yield Contradiction("row-unreadable", error.identifier or "", error.message)
            continue
        if tuple(row[width:]) != search_of(binding):
            message = f"the columns {' and '.join(SEARCH)} do not belong to the fields of the name"
            yield Contradiction("search-differs", binding.identifier, message)


def _name(key: str, long: str | None) -> str:
    return long if long and index_key(long) == key else key
