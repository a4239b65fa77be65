"""A view of all bindings of a database at one moment, for exports, checks and copies."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..names.binding import Binding, rfc3339
from ..names.errors import UnreadableBinding
from ..names.metadata import metadata
from ..names.prefixes.prefixes import PrefixRecord
from ..names.selection import LAST
from ..tables.other_rows import RuleRow, Setting, setting
from .expressions import Dialect
from .kept_counts import KeptCounts
from .protocols import Clock, Connection, Database, LastEvent, Row
from .rows import binding_of, last_event_of, prefix_record_of, rule_of
from .statements import Statements
from .tables.keys import index_key
from .tables.search_indexes import IS_URN

if TYPE_CHECKING:
    from sqlalchemy import Table

    from .integrity import Contradiction


class DatabaseSnapshot:
    """All bindings of a database at one moment, read on one connection (:class:`.stores.Snapshot`). ``clock`` is called
    once, and only if the state of a name depends on it.
    """

    def __init__(self, connection: Connection, statements: Statements, database: Database, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._statements = statements
        self._database = database

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        for row in self._database.stream(self._connection, self._statements.all):
            try:
                binding = binding_of(row)
            except UnreadableBinding as error:
                if unreadable is None:
                    raise
                unreadable(error)
            else:
                yield binding if binding.embargo is None else binding.at(self._now)

    @cached_property
    def _now(self) -> datetime:
        return self._clock()

    def read(self, query: str, parameters: Sequence[Any]) -> list[Row]:
        """Run the SQL ``query`` with its ``parameters`` on the snapshot, and return its rows."""
        return self._connection.execute(query, parameters).fetchall()

    def rows(self, table: Table, since: datetime | None = None, names: Sequence[str] | None = None) -> Iterator[Row]:
        quote = self._database.engine.dialect.identifier_preparer.quote
        columns = ", ".join(quote(name) for name in names or table.columns.keys())
        key = ", ".join(quote(column.name) for column in table.primary_key)
        time = next((name for name in ("recorded", "changed") if name in table.columns), "started")
        where = f" WHERE {time} >= '{rfc3339(since)}'" if since else ""
        return self._database.stream(self._connection, f"SELECT {columns} FROM {table}{where} ORDER BY {key}")

    def last_events(self) -> Iterator[LastEvent]:
        for row in self._database.stream(self._connection, self._statements.last_events):
            yield last_event_of(tuple(row))

    def event(self, key: str, revision: int) -> Row | None:
        row = self._connection.execute(self._statements.one_event, (key, revision)).fetchone()
        return row and tuple(row)

    def faults(self) -> Iterator[Contradiction]:
        """Yield the contradictions between the rows of the tables (:mod:`integrity`)."""
        from .integrity import faults

        return faults(self._connection, self._database)

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        keys = {index_key(name): name for name in identifiers}
        if not keys:
            return set()
        rows = self.read(self._statements.bound, (self._database.array_parameter(list(keys)),))
        return {keys[key] for key, due in rows if due is None or due <= rfc3339(self._now)}

    def in_other_case(self) -> dict[str, str]:
        lives = f"FROM bindings WHERE {IS_URN} AND status = 'live'"
        query = f"SELECT min(key), max(key) {lives} GROUP BY lower(key) HAVING count(*) > 1"
        pairs = self.read(query, ())
        return {name: other for first, last in pairs for name, other in ((first, last), (last, first))}

    def has_names(self, prefix: str) -> bool:
        return bool(self.read(self._statements.begins, (prefix, f"{prefix}{LAST}")))

    def count_served(self) -> tuple[int, str | None]:
        groups = self._counts.groups().items()
        number = sum(names for group, names in groups if group.kind == "served" and group.state == "live")
        rows = self.read(self._statements.first_served, [rfc3339(self._now)]) if number else []
        return number, rows[0][0] if rows else None

    @cached_property
    def _counts(self) -> KeptCounts:
        return KeptCounts(self.read, Dialect(self._database.dialect_name).set_placeholders, lambda: self._now)

    def settings(self) -> Iterator[RuleRow | Setting]:
        rules = map(rule_of, self._database.stream(self._connection, self._statements.rules))
        for rule in sorted(rules, key=lambda rule: rule.prefix):
            yield RuleRow(rule.prefix, rule.template, rule.redirect)
        for name, value in self._database.stream(self._connection, self._statements.settings):
            if (row := setting(name, value)) is not None:
                yield row

    def prefixes(self) -> list[PrefixRecord]:
        rows = self._database.stream(self._connection, self._statements.prefixes)
        return sorted(map(prefix_record_of, rows), key=lambda record: record.prefix)

    def selectors(self) -> list[str]:
        return sorted(self._counts.members("selectors"))

    def elements(self) -> list[str]:
        return sorted(name for name in self._counts.members("elements") if not metadata.has_short_name(name))
