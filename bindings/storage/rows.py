"""The rows of the tables: their columns, and the conversion between rows and values.

The names of the columns are texts, so that a reader does not load SQLAlchemy. A test compares them with the tables of
:mod:`ararat.bindings.storage.tables.schema`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from ..names.binding import NOTHING, Binding, StoredRedirect, rfc3339
from ..names.errors import UnreadableBinding
from ..names.prefixes.prefixes import PrefixRecord
from ..names.prefixes.rules import Rule
from .protocols import LastEvent, Row
from .tables.keys import index_key

STATE = (
    *("key", "long_identifier", "kind", "target", "status", "redirect", "resource", "passthrough", "scope"),
    *("alternates", "metadata", "reason", "successor", "spelling", "created", "changed", "revision"),
)
"""The columns of a binding in the order of the rows that are read and written; the key is first."""

RULE = ("prefix", "template", "redirect", "changed", "actor")
"""The columns of a rule."""

PREFIX = ("prefix", "who", "what", "contact", "statement", "pattern", "characters", "changed", "actor", "revision")
"""The columns of the record of a prefix."""

_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def binding_of(row: Row) -> Binding:
    """Convert a row with the columns :data:`STATE` to a binding.

    Raises :class:`UnreadableBinding` for values that Ararat does not write, because another program wrote the row.
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
        if long is not None and index_key(long) != key:
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


def stored_redirect_of(key: str, row: Row) -> StoredRedirect:
    """Convert a row of the query ``stored_redirect`` (:class:`.statements.Statements`) for the name with this key.

    Raises :class:`UnreadableBinding` for metadata that Ararat does not write.
    """
    target, status, metadata = row
    if metadata is None:
        return StoredRedirect(target, status, NOTHING)
    try:
        return StoredRedirect(target, status, _mapping(metadata))
    except (TypeError, ValueError, AttributeError) as error:
        raise UnreadableBinding(key, str(error)) from None


def last_event_of(state: Row) -> LastEvent:
    """Convert a row of the query ``last_events`` (:class:`.statements.Statements`) to the last event of a name."""
    event = dict(zip(STATE, state, strict=False))
    identifier = event["long_identifier"] or event["key"]
    return LastEvent(event["key"], identifier, event["revision"], event["changed"], event["resource"], state)


def row_of(binding: Binding) -> Row:
    """Convert a binding to a row with the columns :data:`STATE`."""
    key = index_key(binding.identifier)
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
    """Return the selectors of the alternate targets in the column ``alternates``, which is JSON.

    Values that Ararat does not write have none: :func:`binding_of` reports them.
    """
    try:
        return list(_mapping(alternates))
    except (TypeError, ValueError, AttributeError):
        return []


def rule_of(row: Row) -> Rule:
    """Convert a row of the table ``rules`` to a rule."""
    prefix, template, redirect, changed, actor = row
    return Rule(prefix, template, redirect, datetime.fromisoformat(changed), actor)


def prefix_record_of(row: Row) -> PrefixRecord:
    """Convert a row of the table ``prefixes`` to the record of a NAAN or shoulder, without the field ``rule``."""
    prefix, who, what, contact, statement, pattern, characters, changed, actor, revision = row
    when = datetime.fromisoformat(changed)
    return PrefixRecord(prefix, who, what, contact, statement, pattern, characters, when, actor, revision)


def time_of(key: str, stored: str) -> datetime:
    """Convert the column ``changed`` of the name with this key. Raises :class:`UnreadableBinding`."""
    try:
        return _time(stored)
    except (TypeError, ValueError) as error:
        raise UnreadableBinding(key, str(error)) from None


def _time(stored: str) -> datetime:
    time = datetime.fromisoformat(stored)
    if time.tzinfo is None:
        raise ValueError(f"{stored} has no time zone")
    return time


def _mapping(stored: str | None) -> Mapping[str, str]:
    if stored is None:
        return NOTHING
    try:
        read = json.loads(stored)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    for value in read.values():
        if type(value) is not str:
            raise ValueError("a value in its JSON is not a text")
    return MappingProxyType(read)
