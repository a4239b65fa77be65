"""Build the SQL of lists and counts of names, and of the list of operations.

A page of names is a range of an index in the order of that index (:mod:`search_indexes`).
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
from time import monotonic
from typing import Any, NamedTuple

from ..names.binding import Binding, rfc3339
from ..names.errors import TooBroad, UnreadableBinding
from ..names.metadata.folding import MIN_PART, parts, rarest, trigrams
from ..names.operation import Operation
from ..names.selection import (
    HOST_ENDS,
    LAST,
    Group,
    Page,
    Selection,
    cursor,
    group_of,
    named_binding,
    named_first,
    position,
    shoulder_of,
)
from .kept_counts import KeptCounts
from .protocols import Clock, Row, utc_now
from .rows import STATE, binding_of, element_text
from .statements import marked
from .tables.search_indexes import HAS_TRIGRAMS, RESOURCE, TARGET, TARGET_CHARACTERS

_KEYS_AT_ONCE = 10_000
_FEW_NAMES = 20_000
"""The number of names with a prefix and state up to which SQLite reads them first (:meth:`Lists._narrow`)."""

_FEW_MATCHES = 5_000
"""The number of names with some words, targets or resources up to which they are read first and then sorted. With more
of them, a page of the sorted list of all names is soon full."""

_MOST_WALKED = 20_000
"""The number of names of an order that one query compares with the other conditions."""

SEARCH_SECONDS = 0.25
"""The time after which a page is returned with the names that were found so far (:attr:`.Page.searched`)."""


class SearchLimits(NamedTuple):
    """The limits of a list, a search or a count. None is the default.

    - ``seconds``: the time after which a page has the names that were found so far; by default :data:`SEARCH_SECONDS`.
    - ``names``: the number of names up to which they are read first and sorted, and that one query compares; by default
      20,000.
    """

    seconds: float | None = None
    names: int | None = None


_FIRST_ROWS = "SELECT count(*) FROM (SELECT 1 FROM bindings{} LIMIT ?) AS first_rows"

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

_OWNED_KEYS = f"SELECT first.key FROM events AS first WHERE {_OWNED}"

_MATCHES = "search_trigrams MATCH ?"

_AFTER_HOST = "substr(bindings.target, ?, 1) IN ('', ?, ?, ?, ?)"
_LAST_CHARACTER = "\U0010ffff"

_FIRST_EMBARGO = "SELECT min(embargo) FROM bindings WHERE embargo IS NOT NULL"

# The condition of a partial index stays: it is true for each name with another state than live.
_RECORDED_STATE = re.compile(r"\+?bindings\.status(?! <> 'live')")

_RECORDED_TIME = re.compile(r"bindings\.recorded")

_BOUND = re.compile(r"bindings\.key [<>]=? \?")

_Condition = tuple[list[str], list[Any]]

_OPERATION = "id, action, actor, started, finished, parameters, names, undoes"

WITHOUT_TRIGRAMS = {
    "sqlite": "The SQLite library or file of this server has no full-text search (FTS5). The search reads all names.",
    "postgresql": "The database has no extension pg_trgm. The search reads all names.",
}
"""The note on a page of names with words that were found without an index."""

Read = Callable[[str, Sequence[Any]], Sequence[Any]]
"""A function that returns the rows of a query."""


class _Query(NamedTuple):
    """One query: the tables, the conditions with their parameters, and the order.

    ``position`` are the expressions of the cursor of a row; by default those of the order.
    """

    tables: str
    conditions: list[str]
    parameters: list[object]
    order: tuple[str, ...]
    direction: str = ""
    position: tuple[str, ...] = ()
    has_few: bool = False

    def walked(self) -> tuple[list[str], list[object], bool]:
        """Return the conditions that are a range of the order, their parameters, and whether there are other ones."""
        within: list[str] = []
        values: list[object] = []
        number, is_filtered = 0, False
        for condition in self.conditions:
            count = condition.count("?")
            if self._is_range(condition):
                within.append(condition)
                values += self.parameters[number : number + count]
            elif not self._is_repeated(condition):
                is_filtered = True
            number += count
        return within, values, is_filtered

    def _is_range(self, condition: str) -> bool:
        first = self.order[0]
        if condition in (_OWNED, _MATCHES):
            return True
        if condition.startswith("bindings.status"):
            # The index of the states has the names of a state in their order.
            return first == "bindings.key" and "bindings.status <> 'live'" in self.conditions
        if condition == _AFTER_HOST or condition.endswith(" IS NOT NULL"):
            column = re.match(r"(?:substr\()?bindings\.(\w+)", condition)
            return column is not None and column[1] in first
        if first not in condition or (first == "first.key" and "bindings.key" in condition):
            return False
        return re.search(r"[a-zA-Z+]", condition.replace(first, "").replace("bindings.key", "")) is None

    def _is_repeated(self, condition: str) -> bool:
        """Return whether a condition only repeats a range, or is true for almost all names of it."""
        if self.order[0] == "first.key":
            return re.search(r"[a-zA-Z+]", condition.replace("bindings.key", "").replace("first.key", "")) is None
        return _MATCHES in self.conditions and "bindings.search_text" in condition

    @property
    def is_bounded(self) -> bool:
        """Whether the conditions have a set of few names."""
        return self.has_few or any(
            each.startswith(("bindings.key IN (SELECT", "bindings.key = ANY(")) for each in self.conditions
        )


def change_time(now: str, table: str = "") -> str:
    """Return the SQL expression for the time of the last change of a name: that of its publication, if it is due.

    ``now`` is the time in RFC 3339, and ``table`` the name of the table with a dot (:meth:`.Binding.at`).
    """
    embargo, changed = f"{table}embargo", f"{table}changed"
    published = f"CASE WHEN {changed} > {embargo} THEN {changed} ELSE {embargo} END"
    return f"CASE WHEN {embargo} <= '{now}' THEN {published} ELSE {table}recorded END"


class Lists:
    """Queries for lists and counts of names in a database of the kind ``dialect_name``, "sqlite" or "postgresql".

    ``clock`` returns the current time in UTC. ``limits`` are those of a page.
    """

    def __init__(self, dialect_name: str, clock: Clock = utc_now, limits: SearchLimits = SearchLimits()) -> None:  # noqa: B008  it cannot be changed
        self._clock = clock
        self._limits = limits
        self._is_sqlite = dialect_name == "sqlite"
        # The placeholder of SQLite is that of the statements here.
        self.marked = str if self._is_sqlite else partial(marked, dialect_name=dialect_name)
        self._columns = ", ".join(f"bindings.{name}" for name in STATE)
        self._dialect = dialect_name
        in_bytes = "" if self._is_sqlite else ' COLLATE "C"'
        # A list of the names of an owner reads the table of events, too.
        self._target, resource = (each.replace("(", "(bindings.", 1) + in_bytes for each in (TARGET, RESOURCE))
        self._ordered = {
            "title": f"bindings.sort_title{in_bytes}",
            "resource": resource,
            **_TIMES,
        }
        # An array: PostgreSQL would read all names in their order, and look up the first event of each.
        self._few_owned = (
            f"bindings.key IN ({_OWNED_KEYS})" if self._is_sqlite else f"bindings.key = ANY(ARRAY({_OWNED_KEYS}))"
        )
        self._contains = (
            "instr(bindings.search_text, ?) > 0" if self._is_sqlite else "strpos(bindings.search_text, ?) > 0"
        )

    @property
    def _seconds(self) -> float:
        return SEARCH_SECONDS if self._limits.seconds is None else self._limits.seconds

    @property
    def _few_names(self) -> int:
        return _FEW_NAMES if self._limits.names is None else self._limits.names

    @property
    def _most_walked(self) -> int:
        return _MOST_WALKED if self._limits.names is None else self._limits.names

    def _are_few(self, read: Read | None, selection: Selection) -> bool:
        """Return whether SQLite has few names with the prefix and state. Without these conditions there are many."""
        if read is None or not (selection.prefix or selection.status not in (None, "live")):
            return False
        conditions, parameters = _conditions(Selection(prefix=selection.prefix, status=selection.status))
        return _has_few_matches(read, _FIRST_ROWS.format(_where(conditions)), parameters, self._few_names)

    def page(self, read: Read, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of a list of names: at most ``limit`` names that meet the conditions ``selection``.

        ``read`` runs a query. ``after`` is :attr:`Page.next` of the page before, or None.
        """
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
        page = Page([], None, [], None if has_trigrams else WITHOUT_TRIGRAMS[self._dialect])
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
        """Yield the queries of a list, each with the position at which it ends, None for the last part of a query.

        A query that compares the names of an order with other conditions is divided, because it could read all names
        for a page. Sets of few names, and ranges of an index without other conditions, are not divided.
        """
        for query in self._queries(selection, after, read, has_trigrams=has_trigrams):
            within, values, is_filtered = query.walked()
            if not is_filtered or query.is_bounded:
                yield query, None
                continue
            begin, end = (" < ", " >= ") if query.direction else (" > ", " <= ")
            # A comparison of both columns is a range of the index.
            place, marks = ", ".join(query.order), ", ".join("?" * len(query.order))
            place, marks = (f"({place})", f"({marks})") if len(query.order) > 1 else (place, marks)
            tables = query.tables.partition(" CROSS JOIN ")[0]
            reached: list[object] = []
            while True:
                here = query._replace(
                    conditions=[*query.conditions, f"{place}{begin}{marks}"] if reached else query.conditions,
                    parameters=[*query.parameters, *reached],
                )
                ahead = query._replace(
                    tables=tables,
                    conditions=[*within, f"{place}{begin}{marks}"] if reached else within,
                    parameters=[*values, *reached],
                )
                text, parameters = self._select(ahead, 1, f"OFFSET {self._most_walked}", columns="")
                rows = read(text, parameters)
                if not rows:
                    yield here, None
                    break
                reached = list(rows[0][-len(query.order) :])
                yield (
                    here._replace(
                        conditions=[*here.conditions, f"{place}{end}{marks}"], parameters=[*here.parameters, *reached]
                    ),
                    rows[0],
                )

    def kept_count(
        self, read: Read, selection: Selection, by: Group | None, most: int | None = None
    ) -> dict[str, int] | None:
        """Count names as :meth:`count` from the numbers that the database keeps. Return None if they do not suffice."""
        kept = KeptCounts(read, self.marked, self._clock).count(selection, by)
        return kept if kept is None or most is None or by is not None else {"": min(most, sum(kept.values()))}

    def count(self, read: Read, selection: Selection, by: Group | None, most: int | None = None) -> dict[str, int]:
        """Count the names that meet conditions, in groups. Return the number of names by group. ``by`` is "shoulder",
        "state" or "month" (of creation); with None, the only key is "".

        ``selection`` contains the conditions for names. ``read`` runs a query and returns its rows.

        With ``most`` and without ``by``, names above this number are not counted, and :class:`TooBroad` is raised if
        few of many names meet the conditions. With ``by``, it is also raised if more than ``most`` names must be read
        for the count.
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
        # Few names of an owner are found faster than many with the words.
        best = read if selection.owner is not None else None
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
            rows = f"FROM {query.tables}{_where(query.conditions)}"
            text = f"SELECT {group}, count(*) {rows} GROUP BY 1"
            for name, number in read(self.marked(text), query.parameters):
                counts[name] += number
        return dict(sorted(counts.items()))

    def _count_some(self, read: Read, selection: Selection, most: int, *, has_trigrams: bool) -> int:
        """Count the names that meet conditions, up to a number. Raise TooBroad if most names do not meet them."""
        total, until = 0, monotonic() + self._seconds
        for query, reached in self._parts(selection, None, read, has_trigrams=has_trigrams):
            text = f"SELECT count(*) FROM (SELECT 1 FROM {query.tables}{_where(query.conditions)} LIMIT ?) AS counted"
            total += read(self.marked(text), [*query.parameters, most - total])[0][0]
            if total >= most:
                break
            if reached and monotonic() > until:
                raise TooBroad(f"the names were counted for {self._seconds:g} s", total)
        return total

    def _current(self, binding: Binding) -> Binding:
        return binding if binding.embargo is None else binding.at(self._clock())

    def at_the_time(self, read: Read) -> Read:
        """Return the query function ``read`` in a form that also sees publications that are due and not written.

        The result is for :meth:`page` and :meth:`count` (:meth:`.Binding.at`).

        While the publication of a name is due and not written, the recorded states and times are replaced in the
        statements.
        """
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
        """Return at most ``limit`` recorded changes of many names, the newest first, with numbers below ``before``.

        ``read`` runs a query and returns its rows.
        """
        where = "" if before is None else "WHERE id < ? "
        # A number of a person can be too great for the database.
        parameters = [limit] if before is None else [min(before, 2**62), limit]
        rows = read(self.marked(f"SELECT {_OPERATION} FROM operations {where}ORDER BY id DESC LIMIT ?"), parameters)
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
                conditions, parameters = [*query.conditions], [*query.parameters]
                _begin_at(conditions, parameters, f"{key} > ?", last)
                text = f"SELECT {key} FROM {query.tables}{_where(conditions)} ORDER BY {key} LIMIT {_KEYS_AT_ONCE}"
                rows = read(self.marked(text), parameters)
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
        where = f"{_where(query.conditions)} ORDER BY {order} LIMIT ? {offset}"
        text = f"SELECT {', '.join(filter(None, wanted))} FROM {query.tables}{where}".rstrip()
        return self.marked(text), [*query.parameters, limit]

    def _narrow(
        self, read: Read | None, selection: Selection, column: str, select: str, *without: str
    ) -> tuple[list[str], list[object]] | None:
        """Return the conditions for SQLite which compare rows of an index with few names.

        These are the names of the prefix and state, or those that the owner bound first. SQLite has no statistics. So
        it would read the row of each name with a word or target, also if few have the state. Return None if many names
        have it, because a page is soon full then.
        """
        if not self._is_sqlite:
            return None
        are_owned = selection.owner is not None and self._owns_few(read, selection.owner)
        if not are_owned and not self._are_few(read, selection):
            return None
        conditions, parameters = _conditions(Selection(prefix=selection.prefix, status=selection.status))
        owner = selection.owner
        if are_owned:
            conditions, parameters = [self._few_owned, *conditions], [owner, *parameters]
            owner = None
        others, values = self._conditions(replace(selection, prefix=None, status=None, owner=owner), *without)
        # The plus sign: SQLite would search the index again for each of these names.
        return [f"+{column} IN ({select}{_where(conditions)})", *others], [*parameters, *values]

    def _queries(
        self,
        selection: Selection,
        after: str | None,
        read: Read | None = None,
        *,
        has_trigrams: bool = True,
        is_ordered: bool = True,
    ) -> Iterator[_Query]:
        """Return the queries whose rows, one after the other, are the list.

        With ``read``, the best query for the number of names is chosen.
        """
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
        return not (selection.words or selection.element) or bool(read(HAS_TRIGRAMS[self._dialect], ())[0][0])

    def _by_name(self, selection: Selection, after: str | None, words: _Condition | None, read: Read | None) -> _Query:
        conditions, parameters, is_sorted = self._conditions_of(replace(selection, owner=None), words, read)
        if after is not None:
            [key] = position(after, (str,))
            sign = "<" if selection.descending else ">"
            _begin_at(conditions, parameters, f"bindings.key {sign} ?", str(key))
        tables, key = "bindings", "bindings.key"
        if selection.owner is not None:
            # CROSS JOIN: SQLite would read all names, and look up the first event of each. The bounds are repeated,
            # because PostgreSQL would read the other table from its beginning.
            tables = "events AS first CROSS JOIN bindings"
            bounds, values = _bounds(conditions, parameters)
            conditions = [
                _OWNED,
                *(each.replace(key, "first.key") for each in conditions),
                "bindings.key = first.key",
                *bounds,
            ]
            parameters = [selection.owner, *parameters, *values]
            key = "first.key"
        order = f"+{key}" if is_sorted else key
        return _Query(tables, conditions, parameters, (order,), " DESC" if selection.descending else "")

    def _by_column(
        self, selection: Selection, after: str | None, words: _Condition | None, read: Read | None
    ) -> Iterator[_Query]:
        """Return the queries for a list in the order of a column. The names without a value are at the end."""
        order = selection.order
        column = self._ordered[order]
        direction = " DESC" if selection.descending else ""
        without = ("resource",) if selection.sort is None and order == "resource" else ()
        conditions, parameters, is_sorted = self._conditions_of(selection, words, read, *without)
        # SQLite then reads the few names of a prefix or state by their index, and sorts them.
        has_few = self._is_sqlite and not is_sorted and self._are_few(read, selection)
        if self._is_sqlite and not is_sorted and not has_few:
            # The plus sign keeps SQLite from reading the index of the keys: it would sort all names of a prefix.
            conditions = [each.replace("bindings.key", "+bindings.key") for each in conditions]
            if order in ("title", "resource"):
                conditions = [each.replace("bindings.status", "+bindings.status") for each in conditions]
        if without:
            its_conditions, values = self._resource(selection)
            conditions, parameters = [*its_conditions, *conditions], [*values, *parameters]
        reached = None if after is None else position(after, (str, str))
        plus = "+" if is_sorted else ""
        if order in _TIMES:
            if reached is not None:
                time, key = map(str, reached)
                _continue_behind(conditions, parameters, column, (time, key), selection.descending)
            ordered = (f"{plus}{column}", f"{plus}bindings.key")
            yield _Query("bindings", conditions, parameters, ordered, direction, has_few=has_few)
            return
        sign = "<" if selection.descending else ">"
        has_value = f"{'bindings.sort_title' if order == 'title' else 'bindings.resource'} IS NOT NULL"
        if reached is None or reached[0]:
            present, values = [has_value, *conditions], [*parameters]
            if reached is not None:
                present.append(f"({column}, bindings.key) {sign} (?, ?)")
                values += reached
            # PostgreSQL has no plus sign for texts, and needs none: it sorts the rows of a subquery.
            columns = (f"{plus}{column}", f"{plus}bindings.key")
            yield _Query("bindings", present, values, columns, direction, has_few=has_few)
        if not without:
            # These names are in the order of their keys, so a prefix is a range of it again.
            conditions = [each.replace("+bindings.key", "bindings.key") for each in conditions]
            present, values = [has_value.replace("IS NOT", "IS"), *conditions], [*parameters]
            if reached is not None and not reached[0]:
                present.append(f"{plus}bindings.key {sign} ?")
                values.append(reached[1])
            order_by = (f"{plus}bindings.key",)
            of_row = ("''", "bindings.key")
            yield _Query("bindings", present, values, order_by, direction, of_row, has_few=has_few)

    def _conditions_of(
        self, selection: Selection, words: _Condition | None, read: Read | None, *without: str
    ) -> tuple[list[str], list[object], bool]:
        """Return the conditions with their parameters for a sorted list of names.

        If only few names have the owner, words, targets or resources, these names are read first, and the last result
        is whether the database must sort them.
        """
        if selection.owner is not None and self._owns_few(read, selection.owner):
            conditions, parameters = self._conditions(replace(selection, owner=None), *without)
            return [self._few_owned, *conditions], [selection.owner, *parameters], self._is_sqlite
        conditions, parameters = self._conditions(selection, *without)
        for which, sources in (
            ("words", words),
            ("resource", self._resource(selection) if selection.resource or selection.resource_prefix else None),
            ("targets", self._targets(selection) if selection.targets else None),
        ):
            if sources is None or which in without or read is None:
                continue
            within, values = sources
            if not self._is_sqlite:
                if (keys := self._few_keys(read, within, values)) is None:
                    continue
                return ["bindings.key = ANY(?)", *conditions], [keys, *parameters], False
            if which == "words":
                keys = f"SELECT search_names.key FROM {_WITH_TRIGRAMS}{_where(within)}"
                matches = f"search_trigrams{_where(within)}"
            else:
                matches = f"bindings{_where(within)}"
                keys = f"SELECT bindings.key FROM {matches}"
            number = f"SELECT count(*) FROM (SELECT 1 FROM {matches} LIMIT ?) AS first_rows"
            if read(self.marked(number), [*values, _FEW_MATCHES + 1])[0][0] > _FEW_MATCHES:
                continue
            return [f"bindings.key IN ({keys})", *conditions], [*values, *parameters], True
        for narrow in self._ranges(selection) if read is not None else ():
            within, values = _conditions(narrow)
            number = self.marked(_FIRST_ROWS.format(_where(within)))
            if _has_few_matches(read, number, values, self._few_names):
                keys = f"SELECT bindings.key FROM bindings{_where(within)}"
                few = f"bindings.key IN ({keys})" if self._is_sqlite else f"bindings.key = ANY(ARRAY({keys}))"
                return [few, *conditions], [*values, *parameters], self._is_sqlite
        return conditions, parameters, False

    def _ranges(self, selection: Selection) -> Iterator[Selection]:
        """Yield the conditions of a list that are a range of another index than that of its order."""
        order = selection.order
        if selection.hold in ("yes", "any"):
            yield Selection(hold=selection.hold, now=selection.now)
        is_narrow = selection.prefix is not None or selection.status not in (None, "live")
        if is_narrow and order not in ("name", "words") and not self._is_sqlite:
            yield Selection(prefix=selection.prefix, status=selection.status)
        if (selection.changed_since or selection.changed_before) and order != "changed":
            yield Selection(changed_since=selection.changed_since, changed_before=selection.changed_before)
        if (selection.created_since or selection.created_before) and order != "created":
            yield Selection(created_since=selection.created_since, created_before=selection.created_before)

    def _few_keys(self, read: Read, within: list[str], values: list[Any]) -> list[str] | None:
        """Return the keys of the names that PostgreSQL finds, or None if there are many.

        With the condition itself, it would read all names in their order, because it expects many matches.
        """
        text = f"SELECT bindings.key FROM bindings{_where(within)} LIMIT ?"
        keys = [str(key) for (key,) in read(self.marked(text), [*values, _FEW_MATCHES + 1])]
        return keys if len(keys) <= _FEW_MATCHES else None

    def _owns_few(self, read: Read | None, owner: str) -> bool:
        """Return whether an account bound only few names first."""
        text = self.marked(f"SELECT count(*) FROM ({_OWNED_KEYS} LIMIT ?) AS first_rows")
        return _has_few_matches(read, text, [owner], self._few_names)

    def _match(self, selection: Selection) -> _Condition | None:
        """Return the condition for the index of trigrams, or None without a word to search for."""
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
            return [_MATCHES], [" AND ".join(f"({word})" for word in words)]
        # Only LIKE uses the index. A part has no percent sign and no underscore.
        likes = ["({})".format(" OR ".join(["bindings.search_text LIKE ?"] * len(word))) for word in long_words]
        return likes, [f"%{rarest(part)}%" for word in long_words for part in word]

    def _conditions(self, selection: Selection, *without: str) -> _Condition:
        """Return all conditions, without those on ``without``: "words", "resource" or "targets".

        They compare the columns of each row, so that SQLite takes no other index than that of the order.
        """
        conditions, parameters = _conditions(selection)
        plus = "+" if self._is_sqlite else ""
        if selection.words and "words" not in without:
            for word in parts(selection.words):
                conditions.append("({})".format(" OR ".join([self._contains] * len(word))))
                parameters += word
        if selection.element:
            find = "instr" if self._is_sqlite else "strpos"
            conditions += ["bindings.metadata IS NOT NULL", f"{find}(bindings.metadata, ?) > 0"]
            parameters.append(element_text(*selection.element))
        if "resource" not in without and (selection.resource or selection.resource_prefix) is not None:
            its_conditions, values = self._resource(selection)
            conditions += [f"{plus}{each}" for each in its_conditions]
            parameters += values
        if selection.targets and "targets" not in without:
            its_conditions, values = self._targets(selection, plus)
            conditions += its_conditions
            parameters += values
        return conditions, parameters

    def _resource(self, selection: Selection) -> _Condition:
        column = self._ordered["resource"]
        conditions: list[str] = []
        parameters: list[object] = []
        if selection.resource is not None:
            same = f"resource IS NOT NULL AND {column} = ?"
            values: list[object] = [selection.resource[:TARGET_CHARACTERS]]
            if len(selection.resource) >= TARGET_CHARACTERS:
                # The plus sign: SQLite would put this value into the expression of the index, and not use the index.
                same += f" AND {'+' if self._is_sqlite else ''}resource = ?"
                values.append(selection.resource)
            of_number = "SELECT name_numbers.key FROM name_numbers WHERE name_numbers.number = ?"
            of_thing = f"SELECT same.key FROM bindings AS same WHERE {same} UNION ALL {of_number}"
            conditions.append(f"bindings.key IN ({of_thing})")
            parameters += [*values, selection.resource]
        if selection.resource_prefix is not None:
            conditions += [f"{column} >= ?", f"{column} < ?"]
            parameters += [selection.resource_prefix, f"{selection.resource_prefix}{_LAST_CHARACTER}"]
        if selection.resource_prefix is not None:
            conditions.insert(0, "bindings.resource IS NOT NULL")
        return conditions, parameters

    def _targets(self, selection: Selection, plus: str = "") -> _Condition:
        ranges: list[str] = []
        parameters: list[object] = []
        for start in selection.targets:
            one = f"{plus}{self._target} >= ? AND {plus}{self._target} < ?"
            parameters += [start, f"{start}{LAST}"]
            if selection.host is not None:
                one += f" AND {_AFTER_HOST}"
                parameters += [len(start) + 1, *HOST_ENDS]
            ranges.append(f"({one})")
        return ["bindings.target IS NOT NULL", f"({' OR '.join(ranges)})"], parameters

    def _by_words(self, selection: Selection, after: str | None, words: _Condition, read: Read | None) -> _Query:
        """Return the query for names with words, in the order in which the database finds them."""
        within, values = words
        if not self._is_sqlite:
            conditions, parameters = self._conditions(selection)
            if after is not None:
                [key] = position(after, (str,))
                _begin_at(conditions, parameters, "bindings.key > ?", str(key))
            keys = None if read is None else self._few_keys(read, within, values)
            if keys is None and selection.owner is not None and self._owns_few(read, selection.owner):
                conditions, parameters = [self._few_owned, *conditions], [selection.owner, *parameters]
            if keys is not None:
                return _Query(
                    "bindings", ["bindings.key = ANY(?)", *conditions], [keys, *parameters], ("bindings.key",)
                )
            if read is not None:
                # Many names have the words, so they are near in the order of the names, and their index is not read.
                return _Query("bindings", conditions, parameters, ("bindings.key",))
            return _Query("bindings", [*within, *conditions], [*values, *parameters], ("bindings.key",))
        ids = "SELECT search_names.id FROM bindings JOIN search_names ON search_names.key = bindings.key"
        narrowed = self._narrow(read, selection, "search_trigrams.rowid", ids)
        conditions, parameters = narrowed or self._conditions(selection)
        conditions, parameters = [*within, *conditions], [*values, *parameters]
        if after is not None:
            conditions.append("search_trigrams.rowid > ?")
            parameters += position(after, (int,))
        tables = f"{_WITH_TRIGRAMS} CROSS JOIN bindings ON bindings.key = search_names.key"
        return _Query(tables, conditions, parameters, ("search_trigrams.rowid",))

    def _by_target(self, selection: Selection, after: str | None, read: Read | None) -> Iterator[_Query]:
        target = self._target
        keys = "SELECT bindings.key FROM bindings"
        narrowed = self._narrow(read, selection, "bindings.key", keys, "targets")
        conditions, parameters = narrowed or self._conditions(selection, "targets")
        reached = None if after is None else position(after, (str, str))
        for start in sorted(selection.targets):
            end = f"{start}{LAST}"
            if reached is not None and str(reached[0]) >= end:
                continue
            all_conditions = ["bindings.target IS NOT NULL", f"{target} >= ?", f"{target} < ?", *conditions]
            values: list[object] = [start, end, *parameters]
            if selection.host is not None:
                all_conditions.append(_AFTER_HOST)
                values += [len(start) + 1, *HOST_ENDS]
            if reached is not None:
                _begin_at(all_conditions, values, f"{target} >= ?", str(reached[0]))
                all_conditions.append(f"({target}, bindings.key) > (?, ?)")
                values += [reached[0], reached[1]]
            yield _Query("bindings", all_conditions, values, (target, "bindings.key"))


def _has_few_matches(read: Read | None, text: str, parameters: list[object], few: int) -> bool:
    """Return whether a statement :data:`_FIRST_ROWS` counts at most ``few`` rows."""
    return read is not None and read(text, [*parameters, few + 1])[0][0] <= few


def _conditions(selection: Selection) -> tuple[list[str], list[object]]:
    """Return the conditions that do not depend on the order, and their parameters."""
    conditions: list[str] = []
    parameters: list[object] = []
    if selection.prefix is not None:
        conditions += ["bindings.key >= ?", "bindings.key < ?"]
        parameters += [selection.prefix, f"{selection.prefix}{LAST}"]
    if selection.status is not None:
        conditions.append(f"bindings.status = '{selection.status}'")
        if selection.status != "live":
            # SQLite uses a partial index only for a query that repeats its condition.
            conditions.append("bindings.status <> 'live'")
    if selection.public:
        conditions.append("(bindings.status <> 'reserved' OR bindings.once_public IS NOT NULL)")
    if selection.listed is not None:
        conditions.append("bindings.listed = 'yes'" if selection.listed == "now" else _EVER_LISTED)
    if selection.hold is not None:
        # SQLite uses a partial index only for a query that repeats its condition.
        time = rfc3339(selection.now or datetime.now(UTC))
        conditions.append(_HOLDS[selection.hold])
        parameters += [time] if "?" in _HOLDS[selection.hold] else []
    if selection.beginnings is not None and "" not in selection.beginnings:
        ranges = " OR ".join(["(bindings.key >= ? AND bindings.key < ?)"] * len(selection.beginnings))
        conditions.append(f"({ranges or '1 = 0'})")
        parameters += [value for each in selection.beginnings for value in (each, f"{each}{LAST}")]
    if selection.owner is not None:
        conditions.append(f"EXISTS (SELECT 1 FROM events AS first WHERE first.key = bindings.key AND {_OWNED})")
        parameters.append(selection.owner)
    for column, sign, time in (
        (_TIMES["created"], ">=", selection.created_since),
        (_TIMES["created"], "<", selection.created_before),
        (_TIMES["changed"], ">=", selection.changed_since),
        (_TIMES["changed"], "<", selection.changed_before),
    ):
        if time is not None:
            conditions.append(f"{column} {sign} ?")
            parameters.append(rfc3339(time))
    return conditions, parameters


def _bounds(conditions: list[str], parameters: list[object]) -> _Condition:
    """Return the conditions that are bounds of the key, with their parameters."""
    bounds: list[str] = []
    values: list[object] = []
    number = 0
    for condition in conditions:
        if _BOUND.fullmatch(condition):
            bounds.append(condition)
            values.append(parameters[number])
        number += condition.count("?")
    return bounds, values


def _begin_at(conditions: list[str], parameters: list[object], bound: str, value: str) -> None:
    """Add a bound of a column, such as ``bindings.key > ?``. It replaces one that is further away.

    SQLite reads an index from one bound only. With two, each page would read the list from its beginning.
    """
    column, sign, _ = bound.rsplit(" ", 2)
    existing = f"{column} {'<' if sign == '<' else '>='} ?"
    if existing not in conditions:
        conditions.append(bound)
        parameters.append(value)
        return
    place = conditions.index(existing)
    number = sum(condition.count("?") for condition in conditions[:place])
    if value <= str(parameters[number]) if sign == "<" else value >= str(parameters[number]):
        conditions[place], parameters[number] = bound, value


def _continue_behind(
    conditions: list[str], parameters: list[object], column: str, reached: tuple[str, str], descends: bool
) -> None:
    """Add the condition that continues a list by time behind ``reached``, a time and a key.

    It replaces the bound at which the list begins, as in :func:`_begin_at`. The comparison of both columns is a range
    of the index. So a page is fast also if many names have the same time, such as those of an import.
    """
    bound, sign = (f"{column} < ?", "<") if descends else (f"{column} >= ?", ">")
    place = len(conditions)
    number = len(parameters)
    if bound in conditions:
        place = conditions.index(bound)
        number = sum(condition.count("?") for condition in conditions[:place])
        begin = str(parameters[number])
        if reached[0] >= begin if descends else reached[0] < begin:
            return
        del conditions[place], parameters[number]
    conditions.insert(place, f"({column}, bindings.key) {sign} (?, ?)")
    parameters[number:number] = reached


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


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""
