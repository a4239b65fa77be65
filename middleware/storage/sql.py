"""SQL statements of a store as text for the driver, and the conversion between rows and bindings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Dialect,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    update,
)

from ..bindings.model import NOTHING, Binding, rfc3339
from ..errors import UnreadableBinding
from .protocols import LastEvent, Row
from .tables import schema

MAX_ROWS = 500
"""The maximum number of rows per INSERT. SQLite is slower with more rows, and allows 32,766 parameters."""

_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Insert:
    """INSERT statements for blocks of rows. The first of the columns must be different in each row.

    Most columns of an imported table have one value in all rows. Passing each value once per block is faster.
    """

    def __init__(self, dialect: Dialect, columns: Sequence[Column[Any]]) -> None:
        quote = dialect.identifier_preparer.quote
        self._table = quote(columns[0].table.name)
        self._columns = [quote(column.name) for column in columns]
        # With arrays, PostgreSQL parses one statement for any number of rows. SQLite has no arrays.
        self._use_arrays = dialect.name == "postgresql"
        self._types = ["bigint[]" if column.type.python_type is int else "text[]" for column in columns]
        self._text = lru_cache(maxsize=64)(self._compose)

    def of(self, rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
        """Return the statements that insert the rows in order, each with its parameters for the driver.

        >>> from sqlalchemy.dialects.sqlite.pysqlite import dialect
        >>> from ararat.middleware.storage.tables import schema
        >>> insert = Insert(dialect(), [schema.events.c.key, schema.events.c.actor])
        >>> for text, parameters in insert.of([("ark:12345/x", "me"), ("ark:12345/y", "me")]):
        ...     print(text, *parameters, sep="; ")
        INSERT INTO events ("key", actor) SELECT v.column1, ? FROM (VALUES (?), (?)) AS v; me; ark:12345/x; ark:12345/y
        """
        for start in range(0, len(rows), MAX_ROWS):
            block = rows[start : start + MAX_ROWS]
            columns = list(zip(*block, strict=True))
            is_constant = [column.count(column[0]) == len(block) for column in columns]
            is_constant[0] = False
            varying = tuple(index for index, constant in enumerate(is_constant) if not constant)
            constants = tuple(column[0] for column, constant in zip(columns, is_constant, strict=True) if constant)
            if self._use_arrays:
                values: Row = tuple(list(columns[index]) for index in varying)
                yield self._text(varying, 0), constants + values
            else:
                values = tuple(chain.from_iterable(zip(*(columns[index] for index in varying), strict=True)))
                yield self._text(varying, len(block)), constants + values

    def _compose(self, varying: tuple[int, ...], rows: int) -> str:
        """Return the statement for these varying columns; ``rows`` is used only without arrays."""
        placeholder = "%s" if self._use_arrays else "?"
        constant = [column for index, column in enumerate(self._columns) if index not in varying]
        into = ", ".join([*(self._columns[index] for index in varying), *constant])
        names = [f"column{number}" for number in range(1, len(varying) + 1)]
        selected = ", ".join([*(f"v.{name}" for name in names), *(placeholder for _ in constant)])
        if self._use_arrays:
            arrays = ", ".join(f"{placeholder}::{self._types[index]}" for index in varying)
            source = f"unnest({arrays}) AS v ({', '.join(names)})"
        else:
            row = f"({', '.join(placeholder for _ in varying)})"
            source = f"(VALUES {', '.join([row] * rows)}) AS v"
        return f"INSERT INTO {self._table} ({into}) SELECT {selected} FROM {source}"  # noqa: S608  names of the schema


class Statements:
    """The statements of a store. Each takes its parameters in the order of its columns."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        table, events = schema.bindings, schema.events
        state = [table.c[name] for name in schema.STATE]

        def one_of_keys(key: Column[Any]) -> ColumnElement[bool]:
            if dialect.name == "sqlite":
                return key.in_(select(func.json_each(bindparam("keys")).table_valued("value").c.value))
            return key == func.any(bindparam("keys"))

        is_wanted = one_of_keys(table.c.key)
        self.one = self._text(select(*state).where(table.c.key == bindparam("key")))
        self.many = self._text(select(*state).where(is_wanted))
        self.select_for_update = self._text(select(*state).where(is_wanted).with_for_update())
        self.bound = self._text(select(table.c.key).where(is_wanted, table.c.status != literal_column("'reserved'")))
        self.delete = self._text(delete(table).where(table.c.key == bindparam("key")))
        self.all = self._text(select(*state).order_by(table.c.key))
        served = table.c.kind == literal_column("'served'"), table.c.status == literal_column("'live'")
        self.served = self._text(select(func.count(), func.min(table.c.key)).where(*served))
        self.alternates = self._text(select(table.c.alternates).where(table.c.alternates.is_not(None)))
        if dialect.name == "sqlite":
            text = "CASE WHEN json_valid(metadata) THEN metadata END"
            self.elements = f"SELECT DISTINCT element.key FROM bindings, json_each({text}) AS element"  # noqa: S608  ours
        else:
            # A quotation mark in a text has a backslash before it, so only names match.
            name = r"""(regexp_matches(metadata, '[{,]\s*"([^"\\]+)"\s*:', 'g'))[1]"""
            self.elements = f"SELECT DISTINCT {name} FROM bindings WHERE metadata IS NOT NULL"  # noqa: S608  ours
        names = "json_each(?) AS name" if dialect.name == "sqlite" else "unnest(%s::text[]) AS name(value)"
        # In byte order "." and "/" are adjacent, and "0" follows.
        self.above = (
            f"SELECT name.value FROM {names} WHERE EXISTS (SELECT 1 FROM bindings "  # noqa: S608 - no text from outside
            "WHERE bindings.key >= name.value || '.' AND bindings.key < name.value || '0')"
        )
        # The index events_deleted makes this fast: it contains deleted names only.
        gone = one_of_keys(events.c.key), events.c.action == literal_column("'deleted'")
        self.deleted = self._text(select(events.c.key, func.max(events.c.revision)).where(*gone).group_by(events.c.key))
        self.insert = Insert(dialect, state)
        self.update = self._text(
            update(table)
            .where(table.c.key == bindparam("old"))
            .ordered_values(*((table.c[name], bindparam(name)) for name in schema.STATE[1:]))
        )
        recorded = [events.c[name] for name in (*schema.STATE, "action", "actor", "source", "operation")]
        self.event = Insert(dialect, recorded)
        self.history = self._text(select(*recorded).where(events.c.key == bindparam("key")).order_by(events.c.revision))

        other = events.alias("other")
        compared = [events.c[name] for name in (*schema.STATE, "action", "actor")]
        last = select(func.max(other.c.revision)).where(other.c.key == events.c.key).scalar_subquery()
        self.last_events = self._text(select(*compared).where(events.c.revision == last).order_by(events.c.key))
        of_revision = events.c.key == bindparam("key"), events.c.revision == bindparam("revision")
        self.one_event = self._text(select(*compared).where(*of_revision))

        self.rules = self._text(select(schema.rules))
        self.prefixes = self._text(select(schema.prefixes))
        events_of_prefix = schema.prefix_events
        record = [events_of_prefix.c[column.name] for column in schema.prefixes.columns]
        self.prefix_history = self._text(
            select(events_of_prefix.c.action, *record)
            .where(events_of_prefix.c.prefix == bindparam("prefix"))
            .order_by(events_of_prefix.c.revision)
        )
        collation = "" if dialect.name == "sqlite" else ' COLLATE "C"'
        exported = "substr(name, 1, 5) IN ('next ', 'uuid ')"
        self.settings = f"SELECT name, value FROM ararat WHERE {exported} ORDER BY name{collation}"  # noqa: S608  ours
        changes = [column for column in schema.rule_events.columns if column.name != "id"]
        self.rule_history = self._text(
            select(*changes).where(schema.rule_events.c.prefix == bindparam("prefix")).order_by(schema.rule_events.c.id)
        )

    def _text(self, statement: Any) -> str:
        return str(statement.compile(dialect=self._dialect))


def binding_of(row: Row) -> Binding:
    """Convert a row with the columns :data:`schema.STATE`.

    Raises UnreadableBinding for a row that another program wrote.
    """
    (
        key,
        long,
        kind,
        target,
        status,
        redirect,
        resource,
        passthrough,
        scope,
        alternates,
        metadata,
        reason,
        successor,
        spelling,
        created,
        changed,
        revision,
    ) = row
    try:
        when = _time(changed)
        if long is not None and schema.index_key(long) != key:
            raise ValueError("its long_identifier belongs to another name")
        return Binding(
            identifier=long or key,
            kind=kind,
            target=target,
            status=status,
            redirect=redirect,
            resource=resource,
            passthrough=passthrough == 1,
            scope=scope,
            alternates=_mapping(alternates),
            metadata=_mapping(metadata),
            reason=reason,
            successor=successor,
            spelling=spelling or long or key,
            created=when if created == changed else _time(created),
            changed=when,
            revision=revision,
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise UnreadableBinding(str(key), str(error)) from None


def last_event_of(state: Row) -> LastEvent:
    """Convert a row of :attr:`Statements.last_events`."""
    event = dict(zip(schema.STATE, state, strict=False))
    identifier = event["long_identifier"] or event["key"]
    return LastEvent(event["key"], identifier, event["revision"], event["changed"], event["resource"], state)


def row_of(binding: Binding) -> Row:
    """Convert a binding to a row with the columns :data:`schema.STATE`."""
    key = schema.index_key(binding.identifier)
    return (
        key,
        None if key == binding.identifier else binding.identifier,
        binding.kind,
        binding.target,
        binding.status,
        binding.redirect,
        binding.resource,
        int(binding.passthrough),
        binding.scope,
        _TO_JSON(dict(binding.alternates)) if binding.alternates else None,
        _TO_JSON(dict(binding.metadata)) if binding.metadata else None,
        binding.reason,
        binding.successor,
        None if binding.spelling == binding.identifier else binding.spelling,
        rfc3339(binding.created),
        rfc3339(binding.changed),
        binding.revision,
    )


def selectors_of(alternates: str) -> list[str]:
    """Return the selectors in the column ``alternates`` of a row."""
    return list(json.loads(alternates))


def _time(stored: str) -> datetime:
    time = datetime.fromisoformat(stored)
    if time.tzinfo is None:
        raise ValueError(f"{stored} has no time zone")
    return time


def _mapping(stored: str | None) -> Mapping[str, str]:
    if stored is None:
        return NOTHING
    read = json.loads(stored)
    for value in read.values():
        if type(value) is not str:
            raise ValueError("a value in its JSON is not a text")
    return MappingProxyType(read)
