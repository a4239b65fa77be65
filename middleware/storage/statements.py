"""Statements of a store, as text for the driver, and how a row becomes a binding and a binding a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Dialect, and_, bindparam, exists, func, literal_column, or_, select, update

from ..bindings.model import NOTHING, Binding, rfc3339
from ..errors import UnreadableBinding
from . import schema
from .connections import Row
from .inserts import Insert

_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Statements:
    """The statements, as text for the driver; each takes its parameters in the order of its columns."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        table, events = schema.bindings, schema.events
        state = [table.c[name] for name in schema.STATE]
        if dialect.name == "sqlite":
            keys = select(func.json_each(bindparam("keys")).table_valued("value").c.value)
            wanted = table.c.key.in_(keys)
        else:
            wanted = table.c.key == func.any(bindparam("keys"))
        self.one = self._text(select(*state).where(table.c.key == bindparam("key")))
        self.many = self._text(select(*state).where(wanted))
        self.hold = self._text(select(*state).where(wanted).with_for_update())
        self.bound = self._text(select(table.c.key).where(wanted))
        self.all = self._text(select(*state).order_by(table.c.key))
        served = table.c.kind == literal_column("'served'"), table.c.status == literal_column("'live'")
        self.served = self._text(select(func.count(), func.min(table.c.key)).where(*served))
        self.alternates = self._text(select(table.c.alternates).where(table.c.alternates.is_not(None)))
        named = "json_each(?) AS name" if dialect.name == "sqlite" else "unnest(%s::text[]) AS name(value)"
        # In the order of octets "." and "/" are neighbours, and "0" comes next.
        self.above = (
            f"SELECT name.value FROM {named} WHERE EXISTS (SELECT 1 FROM bindings "  # noqa: S608 - no text from outside
            "WHERE bindings.key >= name.value || '.' AND bindings.key < name.value || '0')"
        )
        self.insert = Insert(dialect, state)
        self.update = self._text(
            update(table)
            .where(table.c.key == bindparam("old"))
            .values({name: bindparam(name) for name in schema.STATE[1:]})
        )
        recorded = [events.c[name] for name in (*schema.STATE, "action", "actor", "source")]
        self.event = Insert(dialect, recorded)
        self.history = self._text(select(*recorded).where(events.c.key == bindparam("key")).order_by(events.c.revision))

        last, other = events.alias("last"), events.alias("other")
        newest = select(func.max(other.c.revision)).where(other.c.key == table.c.key).scalar_subquery()
        self.astray = self._text(
            select(*state, *(last.c[name] for name in schema.STATE))
            .select_from(table.outerjoin(last, and_(last.c.key == table.c.key, last.c.revision == newest)))
            .where(or_(*(table.c[name].is_distinct_from(last.c[name]) for name in schema.STATE)))
            .order_by(table.c.key)
        )
        self.lost = self._text(
            select(events.c.key)
            .where(events.c.revision == literal_column("1"), ~exists().where(table.c.key == events.c.key))
            .order_by(events.c.key)
        )

        self.rules = self._text(select(schema.rules))
        minted = schema.minted.c.key
        self.reserved = self._text(select(minted).where(~exists().where(table.c.key == minted)).order_by(minted))
        octets = "" if dialect.name == "sqlite" else ' COLLATE "C"'
        kept = "substr(name, 1, 5) IN ('next ', 'uuid ')"
        self.settings = f"SELECT name, value FROM ararat WHERE {kept} ORDER BY name{octets}"  # noqa: S608  ours
        changes = [column for column in schema.rule_events.columns if column.name != "id"]
        self.rule_history = self._text(
            select(*changes).where(schema.rule_events.c.prefix == bindparam("prefix")).order_by(schema.rule_events.c.id)
        )

    def _text(self, statement: Any) -> str:
        return str(statement.compile(dialect=self._dialect))


def binding_of(row: Row) -> Binding:
    """The binding that a row of :data:`schema.STATE` holds. Raises UnreadableBinding for a row of another program."""
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
        changed,
        revision,
    ) = row
    try:
        when = datetime.fromisoformat(changed)
        if when.tzinfo is None:
            raise ValueError(f"{changed} has no time zone")
        if long is not None and schema.index_key(long) != key:
            raise ValueError("its long_identifier is that of another name")
        return Binding(
            long or key,
            kind,
            target,
            status,
            redirect,
            resource,
            passthrough == 1,
            scope,
            _mapping(alternates),
            _mapping(metadata),
            reason,
            when,
            revision,
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise UnreadableBinding(str(key), str(error)) from None


def row_of(binding: Binding) -> Row:
    """The row of :data:`schema.STATE` that holds a binding."""
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
        rfc3339(binding.changed),
        binding.revision,
    )


def selectors_of(alternates: str) -> list[str]:
    """The selectors of alternates as a row holds them."""
    return list(json.loads(alternates))


def _mapping(stored: str | None) -> Mapping[str, str]:
    if stored is None:
        return NOTHING
    read = json.loads(stored)
    for value in read.values():
        if type(value) is not str:
            raise ValueError("a value in its JSON is not a text")
    return MappingProxyType(read)
