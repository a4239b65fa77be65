"""Build the SQL of lists and counts of names, and of the list of operations. A page of names is a range of an index in
its order (:mod:`search_indexes`).
"""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from math import isqrt
from time import monotonic
from typing import Any, Literal, NamedTuple

from ..names.binding import Binding, rfc3339
from ..names.errors import TooBroad, UnreadableBinding
from ..names.metadata.folding import MIN_PART, parts, rarest, trigrams
from ..names.operation import Operation
from ..names.selection import (
    HOST_ENDS,
    LAST,
    Group,
    Order,
    Page,
    Selection,
    cursor,
    group_of,
    named_binding,
    named_first,
    position,
    shoulder_of,
)
from .expressions import Dialect, SqlCondition, values_of, where
from .kept_counts import KeptCounts
from .protocols import Clock, Row, utc_now
from .rows import STATE, binding_of, element_text
from .tables.search_indexes import HAS_TRIGRAMS, RESOURCE, TARGET, TARGET_CHARACTERS

_KEYS_AT_ONCE = 10_000
_FEW_NAMES = 20_000
"""The number of names with a prefix, state, time, hold or owner up to which they are read first and then sorted."""

_FEW_MATCHES = 5_000
"""The number of names with some words, targets or resources up to which they are read first and then sorted. With more
of them, a page of the sorted list of all names is soon full. Among many names in SQLite it is greater
(:meth:`.Lists._most_of`)."""

_VERY_FEW = 500
"""The number of names up to which they are read without looking for a condition that fewer names meet."""

_MOST_WALKED = 5_000
"""The number of names of an order that one query compares with the other conditions."""

SEARCH_SECONDS = 0.1
"""The time after which a page is returned with the names that were found so far (:attr:`.Page.searched`)."""


class SearchLimits(NamedTuple):
    """The limits of a list, a search or a count. A page ends after ``seconds`` with what was found; the default is
    :data:`SEARCH_SECONDS`. Up to ``names`` names are sorted; the default is 20,000. One query compares 5,000, or
    ``names`` if this is less.
    """

    seconds: float | None = None
    names: int | None = None


_FIRST_ROWS = "SELECT count(*) FROM ({} LIMIT ?) AS first_rows"

# An import can set the time "changed". Readers of changes need the time when this store recorded the change.
_HOLDS = {
    "yes": "bindings.hold_until IS NOT NULL AND bindings.hold_until > ?",
    "no": "(bindings.hold_until IS NULL OR bindings.hold_until <= ?)",
    "any": "bindings.hold_until IS NOT NULL",
}

_TIMES = {"created": "bindings.created", "changed": "bindings.recorded"}

_EVER_LISTED = (
    "(bindings.listed = 'yes' OR EXISTS (SELECT 1 FROM events WHERE events.key = bindings.key "
    "AND events.listed = 'yes' AND events.status <> 'reserved'))"
)

_WITH_TRIGRAMS = "search_trigrams CROSS JOIN search_names ON search_names.id = search_trigrams.rowid"
"""The rows of the search in SQLite. CROSS JOIN: in the other order, SQLite evaluates the words again for each name."""

_OWNED = "first.actor = ? AND first.revision = 1"
"""The events of the names that an account bound first. They are a range of the index ``events_first``."""

_FIRST_EVENTS = "events AS first"
_SAME_KEY = "first.key = bindings.key"
_SAME_KEY_BY_BOUNDS = "first.key >= bindings.key AND first.key <= bindings.key"

_OF_ROWS = "bindings.rowid IN (SELECT"
_OF_FEW = (_OF_ROWS, "bindings.key IN (SELECT", "bindings.key = ANY(")
"""The beginnings of the condition that a name is one of few."""

_Range = Literal["owner", "words", "resource", "targets", "hold", "names", "changed", "created"]
_MATCHED = ("words", "resource", "targets")
_NULLABLE = {"title": "bindings.sort_title", "resource": "bindings.resource", "target": "bindings.target"}

_MATCHES = "search_trigrams MATCH ?"
_ROW = "search_trigrams.rowid"
"""The row of a name in the index of its words, which is ``search_names.id``."""

_AFTER_HOST = f"substr(substr(bindings.target, 1, {TARGET_CHARACTERS}), ?, 1) IN ('', ?, ?, ?, ?)"
"""The character behind a host. The index has the inner expression, so that SQLite reads no row for the outer one."""

_LAST_CHARACTER = "\U0010ffff"

_LAST_ROW = "SELECT max(rowid) FROM bindings"
"""The query for about the number of names in SQLite."""

_FIRST_EMBARGO = "SELECT min(embargo) FROM bindings WHERE embargo IS NOT NULL"

# The condition of a partial index stays: it is true for each name with another state than live.
_RECORDED_STATE = re.compile(r"\+?bindings\.status(?! <> 'live')")

_RECORDED_TIME = re.compile(r"bindings\.recorded")

_COLUMN = re.compile(r"\+?\bbindings\.")
_BOUND = re.compile(r"bindings\.key [<>]=? \?")

_OPERATION = "id, action, actor, started, finished, parameters, names, undoes"

WITHOUT_TRIGRAMS = {
    "sqlite": "The SQLite library or file of this server has no full-text search (FTS5). The search reads all names.",
    "postgresql": "The database has no extension pg_trgm. The search reads all names.",
}
"""The note on a page of names with words that were found without an index."""

Read = Callable[[str, Sequence[Any]], Sequence[Any]]
"""A function that returns the rows of a query."""


class _Query(NamedTuple):
    """One query. ``position`` are the expressions of the cursor of a row; by default those of the order."""

    tables: str
    conditions: list[SqlCondition]
    order: tuple[str, ...]
    direction: str = ""
    position: tuple[str, ...] = ()
    values: tuple[object, ...] = ()
    """The values of the placeholders in ``tables``."""

    def split_conditions(self) -> tuple[list[SqlCondition], bool]:
        """Return the conditions that are a range of the order, and whether there are other ones."""
        within = [each for each in self.conditions if self._is_range(each.text)]
        return within, not all(each in within or self._is_repeated(each.text) for each in self.conditions)

    def _has(self, condition: str) -> bool:
        return any(each.text == condition for each in self.conditions)

    def _is_range(self, condition: str) -> bool:
        first = self.order[0]
        if condition in (_OWNED, _MATCHES):
            return True
        if condition.startswith("bindings.status"):
            # The index of the states has the names of a state in their order.
            return first == "bindings.key" and self._has("bindings.status <> 'live'")
        if condition == _AFTER_HOST or condition.endswith(" IS NOT NULL"):
            column = re.match(r"(?:substr\()*bindings\.(\w+)", condition)
            return column is not None and column[1] in first
        if first not in condition or (first == "first.key" and "bindings.key" in condition):
            return False
        return re.search(r"[a-zA-Z+]", condition.replace(first, "").replace("bindings.key", "")) is None

    def _is_repeated(self, condition: str) -> bool:
        """Return whether a condition only repeats a range, or is true for almost all names of it."""
        if self.order[0] == "first.key":
            return re.search(r"[a-zA-Z+]", condition.replace("bindings.key", "").replace("first.key", "")) is None
        return self._has(_MATCHES) and "bindings.search_text" in condition

    @property
    def is_bounded(self) -> bool:
        """Whether the conditions or the table have a set of few names."""
        return bool(self.values) or any(each.text.startswith(_OF_FEW) for each in self.conditions)


class _Indexed(NamedTuple):
    """A condition of a list that an index has as one or more ``ranges``, and the ``rest`` of the selection."""

    name: _Range
    ranges: Sequence[list[SqlCondition]]
    rest: Selection


def change_time(now: str, table: str = "") -> str:
    """Return the SQL expression for the time of the last change of a name, or of its publication if it is due at
    ``now``.
    """
    embargo, changed = f"{table}embargo", f"{table}changed"
    published = f"CASE WHEN {changed} > {embargo} THEN {changed} ELSE {embargo} END"
    return f"CASE WHEN {embargo} <= '{now}' THEN {published} ELSE {table}recorded END"


class Lists:
    """Queries for lists and counts of names in a database."""

    def __init__(
        self,
        dialect_name: str,
        clock: Clock = utc_now,
        limits: SearchLimits = SearchLimits(),  # noqa: B008  it cannot be changed
        *,
        has_row_numbers: bool = True,
    ) -> None:
        self._clock = clock
        self._limits = limits
        self._dialect = Dialect(dialect_name)
        self._is_sqlite = self._dialect.is_sqlite
        self._has_row_numbers = self._is_sqlite and has_row_numbers
        self.marked = self._dialect.set_placeholders
        self._columns = ", ".join(f"bindings.{name}" for name in STATE)
        # A list of the names of an owner reads the table of events, too.
        self._target, resource = (
            self._dialect.in_bytes(each.replace("(", "(bindings.", 1)) for each in (TARGET, RESOURCE)
        )
        self._ordered = {
            "title": self._dialect.in_bytes("bindings.sort_title"),
            "resource": resource,
            **_TIMES,
        }

    @property
    def _seconds(self) -> float:
        return SEARCH_SECONDS if self._limits.seconds is None else self._limits.seconds

    @property
    def _few_names(self) -> int:
        return _FEW_NAMES if self._limits.names is None else self._limits.names

    @property
    def _most_walked(self) -> int:
        return _MOST_WALKED if self._limits.names is None else min(_MOST_WALKED, self._limits.names)

    def page(self, read: Read, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names. ``after`` is :attr:`Page.next` of the page before, or None."""
        if selection.named is not None:
            return named_first(partial(self.page, read), selection, after, limit)
        rows: list[Row] = []
        has_trigrams = not (selection.words or selection.element) or self._has_trigrams(read, selection)
        until = monotonic() + self._seconds
        for query, reached in self._parts(selection, after, read, has_trigrams=has_trigrams):
            text, parameters = self._select(query, limit + 1 - len(rows))
            rows += read(text, parameters)
            if len(rows) > limit or (reached and monotonic() > until):
                break
        else:
            reached = None
        page = Page([], None, [], None if has_trigrams else WITHOUT_TRIGRAMS[self._dialect.name])
        width = len(STATE)
        for row in rows[:limit]:
            try:
                page.names.append(self._current(binding_of(row[:width])))
            except UnreadableBinding:
                page.unreadable.append(str(row[0]))
        if len(rows) > limit:
            return page._replace(next=cursor(*rows[limit - 1][width:]))
        return page if reached is None else page._replace(next=cursor(*reached), searched=str(reached[-1]))

    def _parts(
        self, selection: Selection, after: str | None, read: Read, *, has_trigrams: bool
    ) -> Iterator[tuple[_Query, Row | None]]:
        """Yield the queries of a list, each with the position at which it ends. A query that could read all names for a
        page is divided, but not one of few names or of an index range alone.
        """
        for query in self._queries(selection, after, read, has_trigrams=has_trigrams):
            within, is_filtered = query.split_conditions()
            if not is_filtered or query.is_bounded:
                yield query, None
                continue
            begin, end = ("<", ">=") if query.direction else (">", "<=")
            ahead = query._replace(tables=query.tables.partition(" CROSS JOIN ")[0], conditions=within)
            conditions = query.conditions
            while True:
                text, parameters = self._select(ahead, 1, f"OFFSET {self._most_walked}", columns="")
                rows = read(text, parameters)
                if not rows:
                    yield self._part(query, conditions, ahead.conditions), None
                    break
                reached = tuple(rows[0][-len(query.order) :])
                ends = [self._bounded(each, query.order, end, reached) for each in (conditions, ahead.conditions)]
                yield self._part(query, *ends), rows[0]
                conditions = self._bounded(conditions, query.order, begin, reached)
                ahead = ahead._replace(conditions=self._bounded(ahead.conditions, query.order, begin, reached))

    def _bounded(
        self, conditions: list[SqlCondition], order: tuple[str, ...], sign: str, reached: Row
    ) -> list[SqlCondition]:
        """Return conditions with a bound of an order instead of those that are further away. SQLite reads an index from
        one bound only.
        """
        # A comparison of both columns is a range of the index, but for SQLite not that of an expression.
        first, row, marks = order[0], ", ".join(order), ", ".join("?" * len(order))
        if row != first:
            row, marks = f"({row})", f"({marks})"
        further = {
            f"{column} {sign[0]}{same} {mark}" for column, mark in ((row, marks), (first, "?")) for same in ("", "=")
        }
        nearest = [SqlCondition(f"{row} {sign} {marks}", reached)]
        if self._is_sqlite and row != first and "(" in first:
            nearest.append(SqlCondition(f"{first} {sign[0]}= ?", reached[:1]))
        return [*(each for each in conditions if each.text not in further), *nearest]

    def _part(self, query: _Query, conditions: list[SqlCondition], within: list[SqlCondition]) -> _Query:
        """Return the query for the part of a list with ``conditions``, of which ``within`` are its range."""
        if self._is_sqlite:
            return query._replace(conditions=conditions)
        # PostgreSQL does not know how many names are between two names with the same time, and would read all of a
        # host or prefix again for each part. It reads the rows of a query with a limit first, in their order.
        others = [each for each in conditions if each not in within]
        table, join, joined = query.tables.partition(" CROSS JOIN ")
        order = ", ".join(f"{column}{query.direction}" for column in query.order)
        rows = f"SELECT * FROM {table}{where(within)} ORDER BY {order} LIMIT {2 * self._most_walked + 2}"
        tables = f"({rows}) AS {table.rpartition(' ')[2]}{join}{joined}"
        return query._replace(tables=tables, conditions=others, values=(*values_of(within),))

    def kept_count(
        self, read: Read, selection: Selection, by: Group | None, most: int | None = None
    ) -> dict[str, int] | None:
        """Count names as :meth:`count` from the numbers that the database keeps. Return None if they do not suffice."""
        kept = KeptCounts(read, self.marked, self._clock).count(selection, by)
        return kept if kept is None or most is None or by is not None else {"": min(most, sum(kept.values()))}

    def count(self, read: Read, selection: Selection, by: Group | None, most: int | None = None) -> dict[str, int]:
        """Count names by "shoulder", "state" or "month" (of creation); without ``by``, the only key is "". Without
        ``by``, names above ``most`` are not counted. Raises :class:`TooBroad` if few of many names match, or if groups
        need more than ``most``.
        """
        if selection.named is not None:
            counts = Counter(self.count(read, replace(selection, named=None), by, most))
            found = named_binding(partial(self.page, read), selection)
            if found is not None and not selection.contains_words(found):
                counts[group_of(found, by)] += 1
            return {"": min(most, counts.total())} if most is not None and by is None else dict(sorted(counts.items()))
        # The names are read as in a list without an order, by the index of a condition.
        selection = replace(selection, sort=None, descending=False)
        counts = Counter()
        # Few names of an owner, and in SQLite of each condition, are found faster than many with the words.
        best = read if selection.owner is not None or self._is_sqlite else None
        has_trigrams = self._has_trigrams(read, selection)
        if most is not None:
            number = self._count_some(read, selection, most + (by is not None), has_trigrams=has_trigrams)
            if by is None:
                return {"": number}
            if number > most:
                raise TooBroad(f"more than {most} names are not counted in groups", number)
        if by == "shoulder":
            return self._count_shoulders(read, selection)
        group = {"state": "bindings.status", "month": "substr(bindings.created, 1, 7)", None: "''"}[by]
        for query in self._queries(selection, None, best, has_trigrams=has_trigrams, is_ordered=False):
            rows = f"FROM {query.tables}{where(query.conditions)}"
            text = f"SELECT {group}, count(*) {rows} GROUP BY 1"
            for name, number in read(self.marked(text), [*query.values, *values_of(query.conditions)]):
                counts[name] += number
        return dict(sorted(counts.items()))

    def _count_some(self, read: Read, selection: Selection, most: int, *, has_trigrams: bool) -> int:
        """Count the names that meet conditions, up to a number. Raise TooBroad if most names do not meet them."""
        total, until = 0, monotonic() + self._seconds
        for query, reached in self._parts(selection, None, read, has_trigrams=has_trigrams):
            text = f"SELECT count(*) FROM (SELECT 1 FROM {query.tables}{where(query.conditions)} LIMIT ?) AS counted"
            total += read(self.marked(text), [*query.values, *values_of(query.conditions), most - total])[0][0]
            if total >= most:
                break
            if reached and monotonic() > until:
                raise TooBroad(f"the names were counted for {self._seconds:g} s", total)
        return total

    def _current(self, binding: Binding) -> Binding:
        return binding if binding.embargo is None else binding.at(self._clock())

    def at_the_time(self, read: Read) -> Read:
        """Return ``read`` in a form that also sees publications that are due and not written (:meth:`.Binding.at`)."""
        time: str | None = None

        def read_at(text: str, parameters: Sequence[Any]) -> Sequence[Any]:
            nonlocal time
            if "bindings.status" in text or "bindings.recorded" in text:
                if time is None:
                    rows = read(_FIRST_EMBARGO, ())
                    first = rows[0][0] if rows else None
                    time = rfc3339(self._clock()) if first is not None else ""
                    time = time if first is not None and first <= time else ""
                if time:
                    state = f"(CASE WHEN bindings.embargo <= '{time}' THEN 'live' ELSE bindings.status END)"
                    text = _RECORDED_STATE.sub(state, text)
                    text = _RECORDED_TIME.sub(f"({change_time(time, 'bindings.')})", text)
            return read(text, parameters)

        return read_at

    def operations(self, read: Read, before: int | None, limit: int) -> list[Operation]:
        """Return at most ``limit`` operations with numbers below ``before``, the newest first."""
        # A number of a person can be too great for the database.
        older = [] if before is None else [SqlCondition("id < ?", (min(before, 2**62),))]
        text = f"SELECT {_OPERATION} FROM operations{where(older)} ORDER BY id DESC LIMIT ?"
        rows = read(self.marked(text), [*values_of(older), limit])
        undone: dict[int, int] = {}
        for number, undoes in read("SELECT id, undoes FROM operations WHERE undoes IS NOT NULL ORDER BY id DESC", ()):
            # An operation that was undone itself undoes nothing.
            if number not in undone:
                undone[undoes] = number
        return [_operation(row, undone.get(row[0])) for row in rows]

    def _count_shoulders(self, read: Read, selection: Selection) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for query in self._queries(selection, None, has_trigrams=self._has_trigrams(read, selection), is_ordered=False):
            last = ""
            key = query.order[-1] if query.order[-1].endswith(".key") else "bindings.key"
            while True:
                conditions = _begin_at(query.conditions, f"{key} > ?", last)
                text = f"SELECT {key} FROM {query.tables}{where(conditions)} ORDER BY {key} LIMIT {_KEYS_AT_ONCE}"
                rows = read(self.marked(text), [*query.values, *values_of(conditions)])
                if not rows:
                    break
                counts.update(shoulder_of(key) for (key,) in rows)
                last = rows[-1][0]
        return dict(sorted(counts.items()))

    def _select(
        self, query: _Query, limit: int, offset: str = "", columns: str | None = None
    ) -> tuple[str, list[object]]:
        """Return the statement for rows of a query: ``columns``, by default those of a name, and the position."""
        wanted = [self._columns if columns is None else columns, *(query.position or query.order)]
        order = ", ".join(f"{column}{query.direction}" for column in query.order)
        rows = f"{query.tables}{where(query.conditions)} ORDER BY {order} LIMIT ? {offset}"
        text = f"SELECT {', '.join(filter(None, wanted))} FROM {rows}".rstrip()
        return self.marked(text), [*query.values, *values_of(query.conditions), limit]

    def _queries(
        self,
        selection: Selection,
        after: str | None,
        read: Read | None = None,
        *,
        has_trigrams: bool = True,
        is_ordered: bool = True,
    ) -> Iterator[_Query]:
        """Yield the queries whose rows, one after the other, are the list. ``read`` serves to choose the best ones."""
        words = self._match(selection) if has_trigrams and (selection.words or selection.element) else None
        if selection.sort is None and words is not None and (selection.words or selection.element):
            yield self._by_words(selection, after, words, read)
        elif selection.order == "target":
            yield from self._by_target(selection, after, read)
        elif selection.order in ("words", "name") or (not is_ordered and selection.order != "resource"):
            yield self._by_name(selection, after, words, read)
        else:
            yield from self._by_column(selection, after, words, read)

    def _has_trigrams(self, read: Read, selection: Selection) -> bool:
        """Return False if the search is for words, and the database has no index of their parts that can be read."""
        return not (selection.words or selection.element) or bool(read(HAS_TRIGRAMS[self._dialect.name], ())[0][0])

    def _by_name(
        self, selection: Selection, after: str | None, words: list[SqlCondition] | None, read: Read | None
    ) -> _Query:
        few = self._few(selection, words, read, "names" if selection.owner is None else "owner", by_key=True)
        conditions = self._conditions(replace(selection, owner=None)) if few is None else few
        if after is not None:
            [key] = position(after, (str,))
            plus = "+" if few is not None and self._is_sqlite else ""
            conditions = _begin_at(conditions, f"{plus}bindings.key {'<' if selection.descending else '>'} ?", str(key))
        key = "bindings.key"
        tables, conditions, values = self._first_rows(conditions)
        if selection.owner is not None and few is None:
            # CROSS JOIN: SQLite would read all names, and look up the first event of each. The bounds are repeated,
            # because PostgreSQL would read the other table from its beginning.
            tables = f"{_FIRST_EVENTS} CROSS JOIN bindings"
            conditions = [
                SqlCondition(_OWNED, (selection.owner,)),
                *(_of_first(each) for each in conditions),
                SqlCondition("bindings.key = first.key"),
                *(each for each in conditions if _BOUND.fullmatch(each.text)),
            ]
            key = "first.key"
        # Names that SQLite finds by their row numbers are sorted.
        plus = "+" if few is not None and few[0].text.startswith(_OF_ROWS) else ""
        return _Query(tables, conditions, (f"{plus}{key}",), " DESC" if selection.descending else "", values=values)

    def _by_column(
        self, selection: Selection, after: str | None, words: list[SqlCondition] | None, read: Read | None
    ) -> Iterator[_Query]:
        """Yield the queries for a list in the order of a column. The names without a value are at the end."""
        order = selection.order
        column = self._ordered[order]
        direction = " DESC" if selection.descending else ""
        without = ("resource",) if order == "resource" and selection.resource_prefix is not None else ()
        reached = None if after is None else _text_and_key(after)
        range_of_order = order if order in _TIMES or without else None
        if (few := self._few(selection, words, read, range_of_order)) is not None:
            yield self._sorted(few, order, column, reached, direction)
            return
        conditions = self._conditions(selection, *without)
        if self._is_sqlite:
            # The plus sign keeps SQLite from reading the index of the keys: it would sort all names of a prefix.
            conditions = [each.replace("bindings.key", "+bindings.key") for each in conditions]
            if order in ("title", "resource"):
                conditions = [each.replace("bindings.status", "+bindings.status") for each in conditions]
        if without:
            conditions = [*self._resource(selection), *conditions]
        if order in _TIMES:
            if reached is not None:
                conditions = _continue_behind(conditions, column, reached, selection.descending)
            yield _Query("bindings", conditions, (column, "bindings.key"), direction)
            return
        sign = "<" if selection.descending else ">"
        value = _NULLABLE[order]
        if reached is None or reached[0]:
            is_present = SqlCondition(f"{value} IS NOT NULL")
            # PostgreSQL would expect fewer names for each repetition, and sort all of the range.
            present = [is_present, *(each for each in conditions if each != is_present)]
            if reached is not None:
                if self._is_sqlite and "(" in column:
                    present = _begin_at(present, f"{column} {sign}= ?", reached[0])
                present.append(SqlCondition(f"({column}, bindings.key) {sign} (?, ?)", reached))
            yield _Query("bindings", present, (column, "bindings.key"), direction)
        if not without:
            # These names are in the order of their keys, so a prefix is a range of it again.
            absent = [
                SqlCondition(f"{value} IS NULL"),
                *(each.replace("+bindings.key", "bindings.key") for each in conditions),
            ]
            if reached is not None and not reached[0]:
                absent.append(SqlCondition(f"bindings.key {sign} ?", (reached[1],)))
            yield _Query("bindings", absent, ("bindings.key",), direction, ("''", "bindings.key"))

    def _sorted(
        self, few: list[SqlCondition], order: Order, column: str, reached: tuple[str, str] | None, direction: str
    ) -> _Query:
        """Return the query that reads few names and sorts them by a column, those without a value at the end."""
        sign = "<" if direction else ">"
        behind = SqlCondition(f"({column}, bindings.key) {sign} (?, ?)", reached or ())
        # The plus sign keeps SQLite from reading all names in this order. PostgreSQL has none for texts.
        plus = "+" if self._is_sqlite else ""
        columns = (f"{plus}{column}", f"{plus}bindings.key")
        tables, few, values = self._first_rows(few)
        if order in _TIMES:
            few = few if reached is None else [*few, behind]
            return _Query(tables, few, columns, direction, values=values)
        value = _NULLABLE[order]
        if reached is not None and not reached[0]:
            few = [*few, SqlCondition(f"{value} IS NULL AND bindings.key {sign} ?", (reached[1],))]
        elif reached is not None:
            few = [*few, SqlCondition(f"({value} IS NULL OR {behind.text})", reached)]
        is_last = f"{value} IS {'NOT ' if direction else ''}NULL"
        place = (f"coalesce({column}, '')", "bindings.key")
        return _Query(tables, few, (is_last, *columns), direction, place, values)

    def _first_rows(self, conditions: list[SqlCondition]) -> tuple[str, list[SqlCondition], tuple[object, ...]]:
        """Return the table of a query, its conditions and the values of the table. PostgreSQL reads few names first."""
        if self._is_sqlite or not conditions or not conditions[0].text.startswith(_OF_FEW):
            return "bindings", conditions, ()
        # Without OFFSET, it also reads the index of another condition, such as all names since a time.
        few, *others = conditions
        return f"(SELECT * FROM bindings WHERE {few.text} OFFSET 0) AS bindings", others, few.values

    def _few(
        self,
        selection: Selection,
        words: list[SqlCondition] | None,
        read: Read | None,
        range_of_order: str | None,
        *,
        by_key: bool = False,
    ) -> list[SqlCondition] | None:
        """Return the conditions of a list that reads few names first: those with the condition that the fewest names
        meet. Return None if many names meet each condition, or if the range of the order has fewer names. SQLite finds
        them by their row numbers; with ``by_key`` and without other conditions, in the order of their keys.
        """
        every = [] if read is None else list(self._indexed(selection, words))
        if read is None or [each.name for each in every] == [range_of_order]:
            return None
        few: list[SqlCondition] | None = None
        most = self._most_of(read, every)
        # The range of the order is last, because it is only read if it has fewer names than the others.
        for each in sorted(every, key=lambda each: each.name == range_of_order):
            if few is None and each.name == range_of_order:
                break
            others = self._compared(each.rest)
            number, condition = self._names_with(read, each, most[each.name], by_key=by_key and not others)
            if number > most[each.name]:
                continue
            few = None if each.name == range_of_order else [condition, *others]
            if number <= _VERY_FEW:
                break
            most = {name: min(fewest, number - 1) for name, fewest in most.items()}
        return few

    def _most_of(self, read: Read, every: Sequence[_Indexed]) -> dict[str, int]:
        """Return the numbers up to which the names with conditions are few."""
        # A word or owner gives keys. To find a row by its key takes twice as long as by its number.
        names, matches = self._few_names, _FEW_MATCHES
        if self._has_row_numbers and any(each.name in _MATCHED for each in every):
            # With more matches, fewer names fill a page in the order of all names than are sorted here.
            matches = max(matches, isqrt(100 * (read(_LAST_ROW, ())[0][0] or 0)))
        most = {each.name: min(names, matches) if each.name in _MATCHED else names for each in every}
        return {
            name: min(number, names // 2) if name in ("words", "owner") else number for name, number in most.items()
        }

    def _indexed(self, selection: Selection, words: list[SqlCondition] | None) -> Iterator[_Indexed]:
        """Yield the conditions of a list that are a range of an index."""
        if selection.owner is not None:
            yield _Indexed("owner", [[SqlCondition(_OWNED, (selection.owner,))]], replace(selection, owner=None))
        if words is not None:
            # A name with all trigrams of a word does not always have the word.
            yield _Indexed("words", [words], selection)
        if selection.resource is not None or selection.resource_prefix is not None:
            rest = replace(selection, resource=None, resource_prefix=None)
            yield _Indexed("resource", [self._resource(selection)], rest)
        if selection.targets:
            ranges = [self._target_range(selection, start) for start in sorted(selection.targets)]
            yield _Indexed("targets", ranges, replace(selection, targets=(), host=None))
        alone: dict[_Range, dict[str, Any]] = {
            "hold": {"hold": selection.hold if selection.hold != "no" else None},
            "names": {"prefix": selection.prefix, "status": selection.status if selection.status != "live" else None},
            "changed": {"changed_since": selection.changed_since, "changed_before": selection.changed_before},
            "created": {"created_since": selection.created_since, "created_before": selection.created_before},
        }
        for name, fields in alone.items():
            if any(value is not None for value in fields.values()):
                within = _conditions(Selection(now=selection.now, **fields))
                yield _Indexed(name, [within], replace(selection, **dict.fromkeys(fields)))

    def _names_with(self, read: Read, each: _Indexed, most: int, *, by_key: bool) -> tuple[int, SqlCondition]:
        """Return the number of names with a condition, at most one more than ``most``, and the condition that a name is
        one of them.
        """

        def within(columns: str, tables: str) -> str:
            return " UNION ALL ".join(
                f"SELECT {columns} FROM {tables}{where(conditions)}" for conditions in each.ranges
            )

        values = (*(value for conditions in each.ranges for value in values_of(conditions)),)
        if not self._is_sqlite and each.name in _MATCHED:
            # PostgreSQL would read all names in their order. So it receives the keys.
            text = self.marked(f"{within('bindings.key', 'bindings')} LIMIT ?")
            keys = [str(key) for (key,) in read(text, [*values, most + 1])]
            return len(keys), SqlCondition("bindings.key = ANY(?)", (keys,))
        column = "bindings.key" if by_key or not self._has_row_numbers else "bindings.rowid"
        tables, found, counted = "bindings", column, "bindings"
        if each.name == "owner":
            column, tables, found, counted = "bindings.key", _FIRST_EVENTS, "first.key", _FIRST_EVENTS
        elif each.name == "words":
            column, tables, found, counted = "bindings.key", _WITH_TRIGRAMS, "search_names.key", "search_trigrams"
        number = read(self.marked(_FIRST_ROWS.format(within("1", counted))), [*values, most + 1])[0][0]
        return number, SqlCondition(self._dialect.is_among(column, within(found, tables)), values)

    def _compared(self, selection: Selection) -> list[SqlCondition]:
        """Return conditions that are compared with each name that was found. With the plus sign, SQLite reads no index
        for them.
        """
        conditions = self._conditions(selection)
        return [_without_index(each) for each in conditions] if self._is_sqlite else conditions

    def _match(self, selection: Selection) -> list[SqlCondition] | None:
        """Return the conditions for the index of trigrams, or None without a word to search for."""
        element = selection.element[1].split() if selection.element else ()
        # A single letter beside other words is only compared with the text.
        long_words = [
            word for word in parts((*selection.words, *element)) if all(len(part) >= MIN_PART for part in word)
        ]
        if not long_words:
            return None
        if self._is_sqlite:
            words = (
                " OR ".join(
                    "({})".format(" AND ".join(f'"{each}"' for each in trigrams(rarest(part)))) for part in word
                )
                for word in long_words
            )
            return [SqlCondition(_MATCHES, (" AND ".join(f"({word})" for word in words),))]
        # Only LIKE uses the index. A part has no percent sign and no underscore.
        like = "bindings.search_text LIKE ?"
        return [_any_of(like, [f"%{rarest(part)}%" for part in word]) for word in long_words]

    def _conditions(self, selection: Selection, *without: str) -> list[SqlCondition]:
        """Return all conditions but those in ``without``, spelled so that the index of the order is read."""
        conditions = _conditions(selection)
        if self._is_sqlite:
            # With two bounds, SQLite reads the index of the first events of an owner, and not the rows of events.
            conditions = [each.replace(_SAME_KEY, _SAME_KEY_BY_BOUNDS) for each in conditions]
        if selection.words and "words" not in without:
            contains = self._dialect.contains("bindings.search_text")
            conditions += [_any_of(contains, word) for word in parts(selection.words)]
        if selection.element:
            contains = self._dialect.contains("bindings.metadata")
            conditions += [
                SqlCondition("bindings.metadata IS NOT NULL"),
                SqlCondition(contains, (element_text(*selection.element),)),
            ]
        if "resource" not in without and (selection.resource or selection.resource_prefix) is not None:
            plus = "+" if self._is_sqlite else ""
            conditions += [SqlCondition(f"{plus}{text}", values) for text, values in self._resource(selection)]
        if selection.targets and "targets" not in without:
            ranges = [self._target_range(selection, start, is_compared=True)[1:] for start in selection.targets]
            either = " OR ".join(f"({' AND '.join(each.text for each in every)})" for every in ranges)
            values = (*(value for every in ranges for value in values_of(every)),)
            conditions += [SqlCondition("bindings.target IS NOT NULL"), SqlCondition(f"({either})", values)]
        return conditions

    def _resource(self, selection: Selection) -> list[SqlCondition]:
        column = self._ordered["resource"]
        conditions: list[SqlCondition] = []
        if selection.resource is not None:
            # Each column is that of the inner table: with one of the outer table, each name would be compared.
            same = f"same.resource IS NOT NULL AND {column.replace('bindings.', 'same.')} = ?"
            values: list[object] = [selection.resource[:TARGET_CHARACTERS]]
            if len(selection.resource) >= TARGET_CHARACTERS:
                # The plus sign: SQLite would put this value into the expression of the index, and not use the index.
                same += f" AND {'+' if self._is_sqlite else ''}same.resource = ?"
                values.append(selection.resource)
            of_number = "SELECT name_numbers.key FROM name_numbers WHERE name_numbers.number = ?"
            of_thing = f"SELECT same.key FROM bindings AS same WHERE {same} UNION ALL {of_number}"
            conditions.append(SqlCondition(f"bindings.key IN ({of_thing})", (*values, selection.resource)))
        if (prefix := selection.resource_prefix) is not None:
            bounds = [
                SqlCondition(f"{column} >= ?", (prefix,)),
                SqlCondition(f"{column} < ?", (f"{prefix}{_LAST_CHARACTER}",)),
            ]
            conditions = [SqlCondition("bindings.resource IS NOT NULL"), *conditions, *bounds]
        return conditions

    def _target_range(self, selection: Selection, start: str, *, is_compared: bool = False) -> list[SqlCondition]:
        """Return the conditions for the targets that begin with ``start``, as a range of the index or to compare."""
        target, after_host = self._target, _after_host(selection, start)
        plus = "+" if is_compared and self._is_sqlite else ""
        return [
            SqlCondition("bindings.target IS NOT NULL"),
            SqlCondition(f"{plus}{target} >= ?", (start,)),
            SqlCondition(f"{plus}{target} < ?", (f"{start}{LAST}",)),
            *([SqlCondition(_AFTER_HOST, after_host)] if after_host else []),
        ]

    def _by_words(
        self, selection: Selection, after: str | None, within: list[SqlCondition], read: Read | None
    ) -> _Query:
        """Return the query for names with words, in the order in which the database finds them."""
        if not self._is_sqlite:
            # Without few names, those with the words are near in the order of the names, and their index is not read.
            few = self._few(selection, within, read, "names")
            conditions = [*within, *self._conditions(selection)] if few is None else few
            if after is not None:
                [key] = position(after, (str,))
                conditions = _begin_at(conditions, "bindings.key > ?", str(key))
            tables, conditions, values = self._first_rows(conditions)
            return _Query(tables, conditions, ("bindings.key",), values=values)
        tables, place = f"{_WITH_TRIGRAMS} CROSS JOIN bindings ON bindings.key = search_names.key", _ROW
        if (conditions := self._few(selection, within, read, "words")) is not None:
            # Few names with other conditions are compared with the words, and not many with the words.
            tables, place = "bindings CROSS JOIN search_names ON search_names.key = bindings.key", "search_names.id"
        else:
            # The bounds of a prefix are compared before a name is looked up.
            bounds = [each for each in self._conditions(selection) if _BOUND.fullmatch(each.text)]
            among = [each.replace("bindings.key", "search_names.key") for each in bounds]
            conditions = [*within, *among, *self._conditions(selection)]
        if after is not None:
            conditions.append(SqlCondition(f"{place} > ?", (*position(after, (int,)),)))
        return _Query(tables, conditions, (place,))

    def _by_target(self, selection: Selection, after: str | None, read: Read | None) -> Iterator[_Query]:
        target = self._target
        reached = None if after is None else _text_and_key(after)
        if (few := self._few(selection, None, read, "targets")) is not None:
            yield self._sorted(few, "target", target, reached, "")
            return
        others = self._conditions(selection, "targets")
        for start in sorted(selection.targets):
            if reached is not None and reached[0] >= f"{start}{LAST}":
                continue
            conditions = [*self._target_range(selection, start), *others]
            if reached is not None:
                conditions = _begin_at(conditions, f"{target} >= ?", reached[0])
                conditions.append(SqlCondition(f"({target}, bindings.key) > (?, ?)", reached))
            yield _Query("bindings", conditions, (target, "bindings.key"))


def _text_and_key(after: str) -> tuple[str, str]:
    text, key = position(after, (str, str))
    return str(text), str(key)


def _any_of(condition: str, values: Sequence[object]) -> SqlCondition:
    """Return the condition that one of ``values`` meets ``condition``."""
    return SqlCondition(f"({' OR '.join([condition] * len(values))})", (*values,))


def _after_host(selection: Selection, start: str) -> tuple[object, ...]:
    """Return the values of :data:`_AFTER_HOST` for targets that begin with ``start``; none if any text can follow."""
    return () if selection.host is None else (len(start) + 1, *HOST_ENDS)


def _conditions(selection: Selection) -> list[SqlCondition]:
    """Return the conditions that do not depend on the order."""
    conditions: list[SqlCondition] = []
    if (prefix := selection.prefix) is not None:
        conditions += [
            SqlCondition("bindings.key >= ?", (prefix,)),
            SqlCondition("bindings.key < ?", (f"{prefix}{LAST}",)),
        ]
    if selection.status is not None:
        conditions.append(SqlCondition(f"bindings.status = '{selection.status}'"))
        if selection.status != "live":
            # SQLite uses a partial index only for a query that repeats its condition.
            conditions.append(SqlCondition("bindings.status <> 'live'"))
    if selection.public:
        conditions.append(SqlCondition("(bindings.status <> 'reserved' OR bindings.once_public IS NOT NULL)"))
    if selection.listed is not None:
        conditions.append(SqlCondition("bindings.listed = 'yes'" if selection.listed == "now" else _EVER_LISTED))
    if selection.hold is not None:
        # SQLite uses a partial index only for a query that repeats its condition.
        time = rfc3339(selection.now or datetime.now(UTC))
        conditions.append(SqlCondition(_HOLDS[selection.hold], () if selection.hold == "any" else (time,)))
    if selection.beginnings is not None and "" not in selection.beginnings:
        bounds = [value for each in selection.beginnings for value in (each, f"{each}{LAST}")]
        ranges = " OR ".join(["(bindings.key >= ? AND bindings.key < ?)"] * len(selection.beginnings))
        conditions.append(SqlCondition(f"({ranges or '1 = 0'})", (*bounds,)))
    if selection.owner is not None:
        first = f"SELECT 1 FROM {_FIRST_EVENTS} WHERE {_SAME_KEY} AND {_OWNED}"
        conditions.append(SqlCondition(f"EXISTS ({first})", (selection.owner,)))
    for column, sign, time in (
        (_TIMES["created"], ">=", selection.created_since),
        (_TIMES["created"], "<", selection.created_before),
        (_TIMES["changed"], ">=", selection.changed_since),
        (_TIMES["changed"], "<", selection.changed_before),
    ):
        if time is not None:
            conditions.append(SqlCondition(f"{column} {sign} ?", (rfc3339(time),)))
    return conditions


def _without_index(condition: SqlCondition) -> SqlCondition:
    """Return a condition for which SQLite reads no index of names."""
    text, select, query = condition.text.partition("(SELECT ")
    return SqlCondition(f"{re.sub(_COLUMN, '+bindings.', text)}{select}{query}", condition.values)


def _of_first(condition: SqlCondition) -> SqlCondition:
    """Return a condition for the first event of a name. A query within a condition has names of its own, and would be
    evaluated for each event if it named the event.
    """
    text, select, query = condition.text.partition("(SELECT ")
    return SqlCondition(f"{text.replace('bindings.key', 'first.key')}{select}{query}", condition.values)


def _begin_at(conditions: Sequence[SqlCondition], bound: str, value: str) -> list[SqlCondition]:
    """Return conditions with one bound of a column instead of one that is further away. SQLite reads an index from one
    bound only, so each page would read the list from its beginning.
    """
    column, sign, _ = bound.rsplit(" ", 2)
    existing = f"{column} {'<' if sign[0] == '<' else '>='} ?"
    others = [str(each.values[0]) for each in conditions if each.text == existing]
    if not others:
        return [*conditions, SqlCondition(bound, (value,))]
    if value > others[0] if sign[0] == "<" else value < others[0]:
        return [*conditions]
    return [SqlCondition(bound, (value,)) if each.text == existing else each for each in conditions]


def _continue_behind(
    conditions: list[SqlCondition], column: str, reached: tuple[str, str], descends: bool
) -> list[SqlCondition]:
    """Return conditions that continue a list by time behind ``reached``, a time and a key, as in :func:`_begin_at`.
    Comparing both columns is fast also if many names have the same time, as after an import.
    """
    bound, sign = (f"{column} < ?", "<") if descends else (f"{column} >= ?", ">")
    behind = SqlCondition(f"({column}, bindings.key) {sign} (?, ?)", reached)
    begins = [str(each.values[0]) for each in conditions if each.text == bound]
    if not begins:
        return [*conditions, behind]
    if reached[0] >= begins[0] if descends else reached[0] < begins[0]:
        return conditions
    return [behind if each.text == bound else each for each in conditions]


def _operation(row: Row, undone_by: int | None) -> Operation:
    number, action, actor, started, finished, parameters, names, undoes = row
    return Operation(
        number,
        action,
        actor,
        datetime.fromisoformat(started),
        datetime.fromisoformat(finished) if finished else None,
        json.loads(parameters or "{}"),
        names or 0,
        undoes,
        undone_by,
    )
