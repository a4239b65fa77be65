"""Convert most rows of a table at once: those with a new ARK, its target, and perhaps a resource and elements. The
result is that of :func:`~ararat.bindings.tables.columns.fields` and :func:`~ararat.bindings.names.assignment.bind`,
which take several times as long and convert all other rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, final

from ...identifiers.ark import length
from ...identifiers.ark.grammar import RESERVED_NAAN
from ...identifiers.ark.normalization import plain
from ..names.assignment import Change, bind
from ..names.binding import NOTHING, Binding
from ..names.errors import BindingError
from ..names.fields import MAX_RESOURCE, Fields, check_target
from ..names.metadata.metadata import ELEMENTS, MAX_BYTES, full_name
from ..storage.rows import NewRows

_MOST_CHARACTERS = min(MAX_RESOURCE, MAX_BYTES // 4)
"""The number of characters of a row up to which each of its values is short enough."""


class _Columns(NamedTuple):
    """The columns of a row: its elements by full name in their order, and those that must be empty."""

    elements: tuple[tuple[str, str], ...]
    others: tuple[str, ...]


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> _Columns:
    elements = tuple((full_name(name), name) for name in ELEMENTS if name in names)
    return _Columns(elements, tuple({*names} - {"identifier", "target", "resource", *ELEMENTS}))


@final
class PlainName(NamedTuple):
    """A new and live name of such a row: the values that differ from those of other names.

    ``identifier`` is its normal form, ``spelling`` the text of its cell, and ``row`` its row for the database.
    """

    identifier: str
    spelling: str
    target: str | None
    resource: str | None
    metadata: Mapping[str, str]
    row: list[Any]


class PlainRows:
    """The names of rows that bind new names at the time ``now``, in UTC.

    >>> from datetime import UTC
    >>> rows = PlainRows(datetime(2026, 11, 28, tzinfo=UTC))
    >>> rows.name({"identifier": "ark:/12345/x-1", "target": "HTTPS://example.org/1"}).target
    'https://example.org/1'
    >>> rows.name({"identifier": "ark:/12345/x-1", "target": "", "status": "withdrawn"}) is None
    True
    """

    def __init__(self, now: datetime) -> None:
        first = Fields(target="https://example.org/").for_name("ark:12345/x")
        example = bind(None, first, now).after
        self._rows = NewRows(example)
        self._shared = example.__dict__
        self._columns: tuple[str, ...] = ()
        self._known = _columns(())

    def name(self, cells: Mapping[str, str]) -> PlainName | None:
        """Return the name that a row binds, or None for a row with other values. Whether it is new is not checked."""
        text = "".join(cells.values())
        # No value has a control character, a line break or an unusual space.
        if len(text) > _MOST_CHARACTERS or not text.isprintable():
            return None
        if (columns := (*cells,)) != self._columns:
            self._columns, self._known = columns, _columns(columns)
        elements, others = self._known
        for name in others:
            if cells[name]:
                return None
        identifier = cells.get("identifier", "")
        if len(identifier) > length.ALWAYS_ACCEPTED or identifier[:4] != "ark:":
            return None
        key = plain(identifier)
        if key is None or key.startswith(RESERVED_NAAN):
            return None
        try:
            target = check_target(key, cells.get("target"), "located", False)
        except BindingError:
            return None
        resource = cells.get("resource") or None
        if resource is not None and resource.isspace():
            return None
        metadata: Mapping[str, str] = NOTHING
        if elements:
            metadata = {element: cell for element, name in elements if (cell := cells[name]) and not cell.isspace()}
        row = self._rows.row(key, identifier, target, resource, metadata)
        return PlainName(key, identifier, target, resource, metadata, row)

    def change(self, name: PlainName) -> Change:
        """Return the change that binds a new name."""
        identifier, spelling, target, resource, metadata, _ = name
        values = {"identifier": identifier, "spelling": spelling, "target": target, "resource": resource}
        metadata = MappingProxyType(dict(metadata)) if metadata else NOTHING
        return Change("bound", Binding(**{**self._shared, **values, "metadata": metadata}), "bound")
