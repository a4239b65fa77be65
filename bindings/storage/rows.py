"""The columns of the tables as texts, and the conversion between rows and values, without SQLAlchemy. A test compares
them with :mod:`ararat.bindings.storage.tables.schema`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from ..names.binding import ALWAYS, NOTHING, Binding, Hold, StoredRedirect, rfc3339
from ..names.errors import UnreadableBinding
from ..names.fields import FIELDS, Field
from ..names.metadata.folding import sorted_title, text_of
from ..names.prefixes.prefixes import PrefixRecord, record
from ..names.prefixes.rules import Rule
from ..names.prefixes.texts import RECORDED
from .protocols import LastEvent, Row
from .tables.keys import index_key

STATE = ("key", "long_identifier", *(field.name for field in FIELDS), "revision", "recorded")
"""The columns of a binding in the order of the rows that are read and written; the key is first."""

SEARCH = ("search_text", "sort_title")
"""The columns of the search: what :func:`search_of` returns. Only the table ``bindings`` has them."""

RULE = ("prefix", "template", "redirect", "changed", "actor")
"""The columns of a rule."""

PREFIX = ("prefix", *RECORDED, "changed", "actor", "revision")
"""The columns of the record of a prefix."""

TRACE = ("state", "status", "url", "sentence", "since", "traced")
"""The columns of the last trace of a target (:class:`LastTrace`), which are those of the table ``links``."""

_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class LastTrace(NamedTuple):
    """The last recorded trace of the target of a name (:mod:`ararat.tracing.links`). ``state`` is such as "works",
    "moved" or "dead", ``since`` the time of the first trace with it, in UTC. ``url`` is where the trace ended.
    ``sentence`` states in words what was found.
    """

    state: str
    status: int | None
    url: str | None
    sentence: str
    since: datetime
    traced: datetime


def traced_binding_of(row: Row) -> tuple[Binding, LastTrace | None]:
    """Convert a row with the columns :data:`STATE` and :data:`TRACE`. Raises like :func:`binding_of`."""
    state, status, url, sentence, since, traced = row[len(STATE) :]
    last = None if state is None else LastTrace(state, status, url, sentence, _time(since), _time(traced))
    return binding_of(row[: len(STATE)]), last


def binding_of(row: Row) -> Binding:
    """Convert a row with the columns :data:`STATE`. Raises :class:`UnreadableBinding` for values of another program."""
    key, long, *fields = row
    values: dict[str, Any] = dict(zip(_FIELDS, fields, strict=True))
    try:
        if long is not None and index_key(long) != key:
            raise ValueError("its long_identifier belongs to another name")
        values["identifier"] = identifier = long or key
        if values["spelling"] is None:
            values["spelling"] = identifier
        for name in _TEXTS:
            stored = values[name]
            values[name] = NOTHING if stored is None else mapping_of(stored)
        for name, choices, _ in _CHOICES:
            values[name] = choices[values[name]]
        created, changed = values["created"], values["changed"]
        values["changed"] = when = _time(changed)
        values["created"] = when if created == changed else _time(created)
        recorded = values["recorded"]
        values["recorded"] = None if recorded == changed else _time(recorded)
        for name in _OPTIONAL_TIMES:
            if (time := values[name]) is not None:
                values[name] = _time(time)
        return Binding(**values)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise UnreadableBinding(str(key), str(error)) from None


def stored_redirect_of(key: str, row: Row) -> StoredRedirect:
    """Convert a row of the query ``stored_redirect``. Raises :class:`UnreadableBinding` for metadata of another
    program.
    """
    target, status, metadata = row
    if metadata is None:
        return StoredRedirect(target, status, NOTHING)
    try:
        return StoredRedirect(target, status, mapping_of(metadata))
    except (TypeError, ValueError, AttributeError) as error:
        raise UnreadableBinding(key, str(error)) from None


def last_event_of(state: Row) -> LastEvent:
    """Convert a row of the query ``last_events`` to the last event of a name."""
    event = dict(zip(STATE, state, strict=False))
    identifier = event["long_identifier"] or event["key"]
    return LastEvent(event["key"], identifier, event["revision"], event["changed"], event["resource"], state)


def row_of(binding: Binding) -> Row:
    """Convert a binding to a row with the columns :data:`STATE`."""
    identifier = binding.identifier
    key = index_key(identifier)
    values: dict[str, Any] = binding.__dict__ | {
        "key": key,
        "long_identifier": None if key == identifier else identifier,
        "spelling": None if binding.spelling == identifier else binding.spelling,
    }
    for name in _TEXTS:
        texts = values[name]
        values[name] = _TO_JSON(dict(texts)) if texts else None
    for name, _, stored in _CHOICES:
        values[name] = stored[values[name]]
    for name in _TIMES:
        values[name] = rfc3339(values[name])
    for name in _OPTIONAL:
        values[name] = getattr(binding, name)
    for name in _OPTIONAL_TIMES:
        time = getattr(binding, name)
        values[name] = None if time is None else rfc3339(time)
    values["recorded"] = values["changed"] if binding.recorded is None else rfc3339(binding.recorded)
    return _row(values)


class NewNames:
    """New live names as columns of the table: all have the values of the row ``shared`` but for the ``columns``, by
    name: "key", "spelling", "target", "resource", "metadata", "search_text" and "sort_title". ``sources`` has a
    text for the history of each, and ``elements`` the number of names with each JSON list of elements. All keys are
    short enough for :func:`~.keys.index_key`.
    """

    __slots__ = ("columns", "elements", "shared", "sources")

    def __init__(
        self,
        shared: Row,
        columns: Mapping[str, Sequence[str | None]],
        sources: Sequence[str | None],
        elements: Mapping[str, int],
    ) -> None:
        self.shared, self.columns, self.sources, self.elements = shared, columns, sources, elements

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def keys(self) -> Sequence[Any]:
        """The normal forms of the names."""
        return self.columns["key"]

    def row(self, number: int) -> Row:
        """Return the row of one name with the columns :data:`STATE`, by its place from 0."""
        own = {name: column[number] for name, column in self.columns.items()}
        return tuple(own.get(name, value) for name, value in zip(STATE, self.shared, strict=False))

    def dated_again(self, before: datetime, now: datetime) -> NewNames:
        """Return the names with the time ``now`` where they have the time ``before``."""
        old, new = rfc3339(before), rfc3339(now)
        shared = [*self.shared]
        for place in _TIME_PLACES:
            if shared[place] == old:
                shared[place] = new
        return NewNames(tuple(shared), self.columns, self.sources, self.elements)


def element_text(element: str, text: str) -> str:
    """Return the part of the JSON in the column ``metadata`` by which an element with a text is found. A text has a
    backslash before each quotation mark, so no other text contains this part.
    """
    return _TO_JSON({element: text})[1:-1]


def search_of(binding: Binding) -> Row:
    """Return the values of the search columns (:data:`SEARCH`) for a binding: its folded texts and its sorted title."""
    return text_of(binding), sorted_title(binding.metadata)


def search_of_row(row: Row) -> Row:
    """Return the search columns (:data:`SEARCH`) for a row. All are None for one that :func:`binding_of` cannot
    read.
    """
    try:
        return search_of(binding_of(row))
    except UnreadableBinding:
        return None, None


def column_value(field: Field, value: Any) -> str | int | None:
    """Convert the value of a field of a binding to the value in its database column."""
    match field.type:
        case "texts":
            return _TO_JSON(dict(value)) if value else None
        case "time":
            return None if value is None else rfc3339(value)
        case _:
            return dict(zip(field.choices, field.stored, strict=True))[value] if field.stored else value


def metadata_of(stored: str | None) -> Mapping[str, str]:
    """Parse the JSON of the column ``metadata``, without values that Ararat does not write."""
    try:
        return mapping_of(stored) if stored else NOTHING
    except (TypeError, ValueError, AttributeError):
        return NOTHING


def rule_of(row: Row) -> Rule:
    """Convert a row of the table ``rules`` to a rule."""
    prefix, template, redirect, changed, actor = row
    return Rule(prefix, template, redirect, datetime.fromisoformat(changed), actor)


def prefix_record_of(row: Row) -> PrefixRecord:
    """Convert a row of the table ``prefixes``, without the field ``rule``."""
    prefix, *texts, changed, actor, revision = row
    recorded = dict(zip(RECORDED, texts, strict=True))
    return record(prefix, recorded, changed=datetime.fromisoformat(changed), actor=actor, revision=revision)


def hold_of(row: Row) -> Hold | None:
    """Convert a row of the query ``holds``. None for an end of another program: the lookup of the name reports it."""
    key, long, until, reason, status, embargo = row
    try:
        public_from = ALWAYS if status != "reserved" else embargo and _time(embargo)
        return Hold(long or key, _time(until), reason, public_from=public_from)
    except (TypeError, ValueError):
        return None


def time_of(key: str, stored: str) -> datetime:
    """Parse the time in the column ``changed``. Raises :class:`UnreadableBinding`."""
    try:
        return _time(stored)
    except (TypeError, ValueError) as error:
        raise UnreadableBinding(key, str(error)) from None


def _time(stored: str) -> datetime:
    time = datetime.fromisoformat(stored)
    if time.tzinfo is None:
        raise ValueError(f"{stored} has no time zone")
    return time


def mapping_of(stored: str) -> Mapping[str, str]:
    try:
        read = json.loads(stored)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    for value in read.values():
        if type(value) is not str:
            raise ValueError("a value in its JSON is not a text")
    return MappingProxyType(read)


_TEXTS = tuple(field.name for field in FIELDS if field.type == "texts")
_TIMES = tuple(field.name for field in FIELDS if field.type == "time" and field.is_required)
# A binding that was made without these fields has the value of the class.
_OPTIONAL = ("once_public", "hold_reason")
_OPTIONAL_TIMES = tuple(field.name for field in FIELDS if field.type == "time" and not field.is_required)
# The fields whose column has other values than the binding: the name, and the values by those of the other.
_CHOICES = tuple(
    (
        field.name,
        dict(zip(field.stored, field.choices, strict=True)),
        dict(zip(field.choices, field.stored, strict=True)),
    )
    for field in FIELDS
    if field.stored
)
_FIELDS = STATE[2:]
_TIME_PLACES = tuple(map(STATE.index, ("created", "changed", "recorded")))
_row = itemgetter(*STATE)
