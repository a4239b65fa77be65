"""A view of all bindings of one version of a table file, for exports, checks and copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..names.binding import Binding
from ..names.errors import UnreadableBinding
from ..names.metadata import metadata
from ..names.prefixes.prefixes import PrefixRecord
from ..storage.integrity import Contradiction
from ..storage.protocols import LastEvent, Row
from ..storage.tables.keys import index_key
from ..tables.other_rows import RuleRow, Setting
from . import file_rows
from .table import FileTable

if TYPE_CHECKING:
    from sqlalchemy import Table


class FileSnapshot:
    """A view of all bindings in one version of a table file, for exports, checks and copies. ``name`` is the file in
    the source of the events.
    """

    def __init__(self, table: FileTable, name: str) -> None:
        self._table = table
        self._bindings = table.bindings
        self._others = table.others
        self._name = name
        self._prefixes = table.prefixes()

    def rows(self, table: Table, since: datetime | None = None, names: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows that an import of the file would create. With ``since``, all if the file was changed at that
        time or later, else none.
        """
        if since is not None and self._table.changed < since:
            return iter(())
        rows = file_rows.rows(self._table, self._name, table)
        places = [table.columns.keys().index(name) for name in names or ()]
        return (tuple(row[place] for place in places) for row in rows) if places else rows

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Yield all bindings by key. ``unreadable`` is not called, because a file is read as a whole."""
        return map(self._bindings.__getitem__, sorted(self._bindings, key=index_key))

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Return the keys in ``identifiers`` that are bound. Reserved names are omitted."""
        return {name for name in identifiers if name in self._bindings and not self._bindings[name].is_reserved}

    def in_other_case(self) -> dict[str, str]:
        """Return the live URNs that differ from another live URN in the case of their letters only, with the other."""
        names: dict[str, list[str]] = {}
        for key, binding in self._bindings.items():
            if key.startswith("urn:") and binding.is_live:
                names.setdefault(key.lower(), []).append(key)
        return {
            each: (others[0] if each != others[0] else others[1])
            for others in names.values()
            if others[1:]
            for each in others
        }

    def last_events(self) -> Iterator[LastEvent]:
        """Yield one event for each name, in the order of the keys in a database."""
        return file_rows.last_events(self._table)

    def event(self, key: str, revision: int) -> Row | None:
        """Return None, because a file has no earlier events."""
        return None

    def faults(self) -> Iterator[Contradiction]:
        """Return an empty iterator, because a file has no history that could contradict its bindings."""
        return iter(())

    def has_names(self, prefix: str) -> bool:
        """Return whether a name begins with ``prefix``, which is in normal form."""
        return any(key.startswith(prefix) for key in self._bindings)

    def count_served(self) -> tuple[int, str | None]:
        """Return the number of live names of the kind "served" (the site answers), and the first of their keys."""
        served = [key for key, binding in self._bindings.items() if binding.kind == "served" and binding.is_live]
        return len(served), min(served, default=None)

    def settings(self) -> Iterator[RuleRow | Setting]:
        """Yield the rules by prefix, then the counters and the owners of UUIDs by name."""
        yield from sorted(row for row in self._others if isinstance(row, RuleRow))
        yield from sorted(row for row in self._others if isinstance(row, Setting))

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders in the order of their prefixes."""
        return self._prefixes

    def selectors(self) -> list[str]:
        """Return the selectors of all alternate targets in alphabetical order, such as "text/html;en"."""
        return sorted({selector for binding in self._bindings.values() for selector in binding.alternates})

    def elements(self) -> list[str]:
        """Return the names of the metadata elements in use that have no short name, in alphabetical order."""
        names = {name for binding in self._bindings.values() for name in binding.metadata}
        return sorted(name for name in names if not metadata.has_short_name(name))
