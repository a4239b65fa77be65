"""Build the SQL of lists and counts of names, and of the list of operations.

A page of names is a range of an index in the order of that index (:mod:`search_indexes`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from ..names.binding import rfc3339
from ..names.errors import UnreadableBinding
from ..names.operation import Operation
from ..names.selection import HOST_ENDS, LAST, Group, Page, Selection, cursor, position, shoulder_of
from .protocols import Row
from .rows import STATE, binding_of
from .statements import marked
from .tables.search_indexes import HAS_WORDS, TARGET, WORDS, words_of

_KEYS_AT_ONCE = 10_000
_FEW_NAMES = 20_000
"""The number of names with a prefix and state up to which SQLite reads them first (:meth:`Lists._narrow`), and of names
with some words up to which PostgreSQL sorts them."""

_FIRST_ROWS = "SELECT count(*) FROM (SELECT 1 FROM bindings{} LIMIT ?) AS first_rows"

# An import can set the time "changed". Readers of changes need the time when this store recorded the change.
_TIMES = {"created": "bindings.created", "changed": "bindings.recorded"}

_EVER_LISTED = (
    "(bindings.listed = 'yes' OR EXISTS (SELECT 1 FROM events WHERE events.key = bindings.key "
    "AND events.listed = 'yes' AND events.status <> 'reserved'))"
)

_OPERATION = "id, action, actor, started, finished, parameters, names, undoes"

WITHOUT_FULL_TEXT = (
    "The SQLite library or file of this server has no full-text search (FTS5). The search reads all names, and finds "
    "the words also inside of other words."
)
"""The note on a page of names with words that were found without an index."""

Read = Callable[[str, Sequence[Any]], Sequence[Any]]
"""A function that returns the rows of a query."""


class _Query(NamedTuple):
    """One query: the tables, the conditions with their parameters, and the order."""

    tables: str
    conditions: list[str]
    parameters: list[object]
    order: tuple[str, ...]
    direction: str = ""


class Lists:
    """Lists and counts of names in a database of the kind ``dialect_name``, "sqlite" or "postgresql"."""

    def __init__(self, dialect_name: str) -> None:
        self._is_sqlite = dialect_name == "sqlite"
        self.marked = partial(marked, dialect_name=dialect_name)
        self._columns = ", ".join(f"bindings.{name}" for name in STATE)
        self._target = TARGET if self._is_sqlite else f'{TARGET} COLLATE "C"'

    def page(self, read: Read, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names that meet the conditions ``selection``.

        ``read`` runs a query. ``after`` is :attr:`Page.next` of the page before, or None.
        """
        found: list[Row] = []
        has_words = self._has_words(read, selection)
        for query in self._queries(selection, after, read, has_words=has_words):
            text, parameters = self._select(query, limit + 1 - len(found))
            found += read(text, parameters)
            if len(found) > limit:
                break
        page = Page([], None, [], None if has_words else WITHOUT_FULL_TEXT)
        width = len(STATE)
        for row in found[:limit]:
            try:
                page.names.append(binding_of(row[:width]))
            except UnreadableBinding:
                page.unreadable.append(str(row[0]))
        return page._replace(next=cursor(*found[limit - 1][width:]) if len(found) > limit else None)

    def count(self, read: Read, selection: Selection, by: Group | None) -> dict[str, int]:
        """Return the number of names in each group. If ``by`` is None, the number of all names has the key ""."""
        if by == "shoulder":
            return self._count_shoulders(read, selection)
        group = {"state": "bindings.status", "month": "substr(bindings.created, 1, 7)", None: "''"}[by]
        counts: Counter[str] = Counter()
        for query in self._queries(selection, None, has_words=self._has_words(read, selection), is_ordered=False):
            text = f"SELECT {group}, count(*) FROM {query.tables}{_where(query.conditions)} GROUP BY 1"  # noqa: S608
            for name, number in read(self.marked(text), query.parameters):
                counts[name] += number
        return dict(sorted(counts.items()))

    def operations(self, read: Read, before: int | None, limit: int) -> list[Operation]:
        """Return at most ``limit`` operations, the newest first. ``before`` excludes operations from that number on."""
        where = "" if before is None else "WHERE id < ? "
        parameters = [limit] if before is None else [before, limit]
        rows = read(self.marked(f"SELECT {_OPERATION} FROM operations {where}ORDER BY id DESC LIMIT ?"), parameters)  # noqa: S608
        undone: dict[int, int] = {}
        for number, undoes in read("SELECT id, undoes FROM operations WHERE undoes IS NOT NULL ORDER BY id DESC", ()):
            # An operation that was undone itself undoes nothing.
            if number not in undone:
                undone[undoes] = number
        return [_operation(row, undone.get(row[0])) for row in rows]

    def _count_shoulders(self, read: Read, selection: Selection) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for query in self._queries(selection, None, has_words=self._has_words(read, selection), is_ordered=False):
            last = ""
            while True:
                conditions, parameters = [*query.conditions], [*query.parameters]
                _begin_at(conditions, parameters, "bindings.key > ?", last)
                text = (
                    f"SELECT bindings.key FROM {query.tables}{_where(conditions)} "  # noqa: S608
                    f"ORDER BY bindings.key LIMIT {_KEYS_AT_ONCE}"
                )
                rows = read(self.marked(text), parameters)
                if not rows:
                    break
                counts.update(shoulder_of(key) for (key,) in rows)
                last = rows[-1][0]
        return dict(sorted(counts.items()))

    def _select(self, query: _Query, limit: int) -> tuple[str, list[object]]:
        columns = ", ".join((self._columns, *query.order))
        order = ", ".join(f"{column}{query.direction}" for column in query.order)
        text = f"SELECT {columns} FROM {query.tables}{_where(query.conditions)} ORDER BY {order} LIMIT ?"  # noqa: S608
        return self.marked(text), [*query.parameters, limit]

    def _narrow(
        self, read: Read | None, selection: Selection, column: str, select: str
    ) -> tuple[list[str], list[object]] | None:
        """Return the conditions for SQLite which compare rows of an index with the names of the prefix and state.

        SQLite has no statistics. So it would read the row of each name with a word or target, also if few have the
        state. Return None if many names have it, because a page is soon full then.
        """
        if not self._is_sqlite or not _are_few(read, selection):
            return None
        conditions, parameters = _conditions(Selection(prefix=selection.prefix, status=selection.status))
        others, values = _conditions(replace(selection, prefix=None, status=None))
        # The plus sign: SQLite would search the index again for each of these names.
        return [f"+{column} IN ({select}{_where(conditions)})", *others], [*parameters, *values]

    def _queries(
        self,
        selection: Selection,
        after: str | None,
        read: Read | None = None,
        *,
        has_words: bool = True,
        is_ordered: bool = True,
    ) -> Iterator[_Query]:
        """Return the queries whose rows, one after the other, are the list.

        With ``read``, the best query for the number of names is chosen.
        """
        order = selection.order
        conditions, parameters = _conditions(selection)
        if order == "words":
            yield self._by_words(selection, after, conditions, parameters, read, has_words)
        elif order == "target":
            yield from self._by_target(selection, after, conditions, parameters, read)
        elif order == "name" or not is_ordered:
            if after is not None:
                [key] = position(after, (str,))
                _begin_at(conditions, parameters, "bindings.key > ?", str(key))
            yield _Query("bindings", conditions, parameters, ("bindings.key",))
        else:
            column = _TIMES[order]
            if self._is_sqlite and not _are_few(read, selection):
                # The plus sign keeps SQLite from reading the index of the keys: it would sort all names of a prefix.
                conditions = [each.replace("bindings.key", "+bindings.key") for each in conditions]
            if after is not None:
                time, key = position(after, (str, str))
                _continue_behind(conditions, parameters, column, (str(time), str(key)), selection.newest_first)
            direction = " DESC" if selection.newest_first else ""
            yield _Query("bindings", conditions, parameters, (column, "bindings.key"), direction)

    def _has_words(self, read: Read, selection: Selection) -> bool:
        """Return False if the search is for words, and the database has no index of words that can be read."""
        return not (self._is_sqlite and selection.words) or bool(read(HAS_WORDS, ())[0][0])

    def _by_words(
        self,
        selection: Selection,
        after: str | None,
        conditions: list[str],
        parameters: list[object],
        read: Read | None,
        has_words: bool,
    ) -> _Query:
        words = [word for word in selection.words if any(char.isalnum() for char in word)]
        if not has_words:
            if after is not None:
                [key] = position(after, (str,))
                _begin_at(conditions, parameters, "bindings.key > ?", str(key))
            contains = f"instr(lower({words_of('bindings')}), ?)"
            wanted = ["bindings.metadata IS NOT NULL", *conditions, *[contains] * len(words)]
            return _Query("bindings", wanted, [*parameters, *map(_lower, words)], ("bindings.key",))
        if self._is_sqlite:
            # CROSS JOIN: in the other order, SQLite evaluates the words again for each name.
            tables = (
                "search_words CROSS JOIN search_names ON search_names.id = search_words.rowid "
                "CROSS JOIN bindings ON bindings.key = search_names.key"
            )
            ids = "SELECT search_names.id FROM bindings JOIN search_names ON search_names.key = bindings.key"
            conditions, parameters = self._narrow(read, selection, "search_words.rowid", ids) or (
                conditions,
                parameters,
            )
            conditions = ["search_words MATCH ?", *conditions]
            quoted = " ".join('"{}"'.format(word.replace('"', '""')) for word in words)
            parameters = [f"{quoted}*", *parameters]
            if after is not None:
                conditions.append("search_words.rowid > ?")
                parameters += position(after, (int,))
            return _Query(tables, conditions, parameters, ("search_words.rowid",))
        quoted = " & ".join("'{}'".format(word.replace("\\", "\\\\").replace("'", "''")) for word in words)
        if after is not None:
            [key] = position(after, (str,))
            _begin_at(conditions, parameters, "bindings.key > ?", str(key))
        matches = ["bindings.metadata IS NOT NULL", f"{WORDS} @@ to_tsquery('simple', ?)"]
        parameters = [f"{quoted}:*", *parameters]
        if _has_few_matches(read, self.marked(_FIRST_ROWS.format(_where(matches))), parameters[:1]):
            # OFFSET 0: PostgreSQL would read all names in their order, because it expects many matches.
            found = f"(SELECT * FROM bindings{_where(matches)} OFFSET 0) AS bindings"  # noqa: S608
            return _Query(found, conditions, parameters, ("bindings.key",))
        return _Query("bindings", [*matches, *conditions], parameters, ("bindings.key",))

    def _by_target(
        self,
        selection: Selection,
        after: str | None,
        conditions: list[str],
        parameters: list[object],
        read: Read | None,
    ) -> Iterator[_Query]:
        target = self._target
        keys = "SELECT bindings.key FROM bindings"
        conditions, parameters = self._narrow(read, selection, "bindings.key", keys) or (conditions, parameters)
        reached = None if after is None else position(after, (str, str))
        for start in sorted(selection.targets):
            end = f"{start}{LAST}"
            if reached is not None and str(reached[0]) >= end:
                continue
            wanted = ["bindings.target IS NOT NULL", f"{target} >= ?", f"{target} < ?", *conditions]
            values: list[object] = [start, end, *parameters]
            if selection.host is not None:
                wanted.append("substr(bindings.target, ?, 1) IN ('', ?, ?, ?, ?)")
                values += [len(start) + 1, *HOST_ENDS]
            if reached is not None:
                _begin_at(wanted, values, f"{target} >= ?", str(reached[0]))
                wanted.append(f"({target} > ? OR bindings.key > ?)")
                values += [reached[0], reached[1]]
            yield _Query("bindings", wanted, values, (target, "bindings.key"))


def _lower(word: str) -> str:
    """Return a word as the function lower() of SQLite does, which changes ASCII letters only."""
    return re.sub("[A-Z]+", lambda found: found[0].lower(), word)


def _are_few(read: Read | None, selection: Selection) -> bool:
    """Return whether SQLite has few names with the prefix and state. Without these conditions there are many."""
    if read is None or not (selection.prefix or selection.status not in (None, "live")):
        return False
    conditions, parameters = _conditions(Selection(prefix=selection.prefix, status=selection.status))
    return _has_few_matches(read, _FIRST_ROWS.format(_where(conditions)), parameters)


def _has_few_matches(read: Read | None, text: str, parameters: list[object]) -> bool:
    """Return whether a statement :data:`_FIRST_ROWS` counts at most :data:`_FEW_NAMES` rows."""
    return read is not None and read(text, [*parameters, _FEW_NAMES + 1])[0][0] <= _FEW_NAMES


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
    if selection.beginnings is not None and "" not in selection.beginnings:
        ranges = " OR ".join(["(bindings.key >= ? AND bindings.key < ?)"] * len(selection.beginnings))
        conditions.append(f"({ranges or '1 = 0'})")
        parameters += [value for each in selection.beginnings for value in (each, f"{each}{LAST}")]
    if selection.owner is not None:
        conditions.append(
            "EXISTS (SELECT 1 FROM events WHERE events.key = bindings.key AND events.revision = 1 AND events.actor = ?)"
        )
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


def _begin_at(conditions: list[str], parameters: list[object], bound: str, value: str) -> None:
    """Add a lower bound of a column, such as ``bindings.key > ?``. It replaces a smaller one.

    SQLite reads an index from one lower bound only. With two, each page would read the list from its beginning.
    """
    existing = f"{bound.rpartition(' >')[0]} >= ?"
    if existing not in conditions:
        conditions.append(bound)
        parameters.append(value)
        return
    place = conditions.index(existing)
    number = sum(condition.count("?") for condition in conditions[:place])
    if value >= str(parameters[number]):
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
