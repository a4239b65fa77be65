"""Convert most rows of a table at once: those with a new ARK, its target, and perhaps a resource and elements. The
result is that of :func:`~ararat.bindings.tables.columns.fields` and :func:`~ararat.bindings.names.assignment.bind`,
which take several times as long and convert all other rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ...identifiers.ark import length
from ...identifiers.ark.grammar import RESERVED_NAAN
from ...identifiers.ark.normalization import plain
from ..names.assignment import Change, bind
from ..names.binding import NOTHING, Binding
from ..names.errors import BindingError
from ..names.fields import MAX_RESOURCE, Fields, check_target
from ..names.metadata.metadata import ELEMENTS, MAX_BYTES, full_name

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


class PlainRows:
    """The changes of rows that bind new names at the time ``now``, in UTC."""

    def __init__(self, now: datetime) -> None:
        first = Fields(target="https://example.org/").for_name("ark:12345/x")
        self.example = bind(None, first, now).after
        self._shared = dict(self.example.__dict__)

    def change(self, cells: Mapping[str, str]) -> Change | None:
        """Return the change that binds a new name, or None for a row with other values. Whether it is new is not
        checked.
        """
        text = "".join(cells.values())
        # No value has a control character, a line break or an unusual space.
        if len(text) > _MOST_CHARACTERS or not text.isprintable():
            return None
        elements, others = _columns(tuple(cells))
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
        values = self._shared.copy()
        values["identifier"], values["spelling"], values["target"] = key, identifier, target
        if resource := cells.get("resource"):
            if resource.isspace():
                return None
            values["resource"] = resource
        if elements:
            metadata = {element: cell for element, name in elements if (cell := cells[name]) and not cell.isspace()}
            values["metadata"] = MappingProxyType(metadata) if metadata else NOTHING
        return Change("bound", Binding(**values), "bound")
