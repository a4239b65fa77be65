"""The names of the rows of an import that were checked and are not written, in a temporary table. A check in blocks
writes no name, so a later row finds the names, resources and targets of earlier rows here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..names.binding import Binding
from ..names.metadata.folding import sorted_title
from ..storage.recorded import RecordedNames
from ..storage.rows import STATE, binding_of
from ..storage.spill import Spill
from ..tables.columns import Row
from .decided_blocks import DecidedBlocks
from .plain_rows import PlainName

_TABLE = """names (
key TEXT PRIMARY KEY, source TEXT NOT NULL, block INTEGER NOT NULL, is_bound INTEGER NOT NULL,
target TEXT, resource TEXT, sort_title TEXT
) WITHOUT ROWID"""
_NUMBERS = "CREATE TABLE numbers (number TEXT, key TEXT, PRIMARY KEY (number, key)) WITHOUT ROWID"
_WANTED = "(SELECT value FROM json_each(?))"


class CheckedNames:
    """The names of the rows that a check of an import has accepted, with their lines; ``blocks`` has their values."""

    def __init__(self, blocks: DecidedBlocks) -> None:
        self._blocks = blocks
        self._spill = Spill(_TABLE, "the check")
        self._is_empty = True
        for field in ("target", "resource", "sort_title"):
            list(self._spill.rows(f"CREATE INDEX by_{field} ON names ({field}) WHERE {field} IS NOT NULL"))
        self._finds_cases = False
        self._has_numbers = False

    def add(self, rows: Iterable[tuple[Row, str, Binding | PlainName]]) -> None:
        """Add accepted rows of the block that is decided next, each with its line and the future binding of its
        name.
        """
        block, values, numbers = len(self._blocks), list[tuple[object, ...]](), list[tuple[str, str]]()
        for row, source, named in rows:
            # A name that was drawn for a row in a check is not that of the import, so no other row can have it.
            line = "" if row.minted else source
            if type(named) is PlainName:
                title = named.row[-1] if named.metadata else None
                values.append((named.identifier, line, block, True, named.target, named.resource, title))
                continue
            title = sorted_title(named.metadata) if named.metadata else None
            identifier, is_bound = named.identifier, not named.is_reserved
            values.append((identifier, line, block, is_bound, named.target, named.resource, title))
            # Most things have no further number, and no corrected one.
            if named.numbers:
                current, further, _ = named.thing_numbers
                numbers += [(number, identifier) for number in (current, *further) if number]
        self._is_empty = self._is_empty and not values
        self._spill.add("INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        if numbers and not self._has_numbers:
            list(self._spill.rows(_NUMBERS))
            self._has_numbers = True
        if numbers:
            self._spill.add("INSERT OR IGNORE INTO numbers VALUES (?, ?)", numbers)

    def lookup(self, keys: Sequence[str]) -> dict[str, tuple[str, Binding | None]]:
        """Return the line of the first accepted row of each name, and its future binding, or None if it stays as
        it is.
        """
        if self._is_empty or not keys:
            return {}
        query = f"SELECT key, source, block FROM names WHERE key IN {_WANTED} AND source != ''"  # noqa: S608  constant
        found = {key: (source, block) for key, source, block in self._spill.rows(query, (json.dumps(keys),))}
        after: dict[str, Binding] = {}
        for block in {block for _, block in found.values()}:
            changes = self._blocks.changes(block)
            after |= {each.after.identifier: each.after for each in changes if each.after.identifier in found}
            rows = (row for _, new in self._blocks.new(block) for row, _ in new if row[0] in found)
            after |= {row[0]: binding_of(tuple(row[: len(STATE)])) for row in rows}
        return {key: (source, after.get(key)) for key, (source, _) in found.items()}

    def bound(self, keys: Sequence[str]) -> list[str]:
        """Return the names that an accepted row makes live or withdrawn."""
        query = f"SELECT key FROM names WHERE key IN {_WANTED} AND is_bound"  # noqa: S608  constant
        return [key for (key,) in self._spill.rows(query, (json.dumps(keys),))]

    def fetch(self, keys: Sequence[str], recorded: Mapping[str, Binding]) -> dict[str, Binding]:
        """Return the future bindings of the names in ``keys``: those of accepted rows, else the ``recorded`` ones."""
        return {**recorded, **{key: binding for key, (_, binding) in self.lookup(keys).items() if binding}}

    def combine_with(self, recorded: RecordedNames) -> RecordedNames:
        """Return lookups that find both the ``recorded`` names and the names of accepted rows."""
        if self._is_empty:
            return recorded
        both = _Both(*recorded)
        both.names = self
        return both

    def of(self, names: Iterable[str]) -> set[str]:
        """Return those of ``names`` that an accepted row has."""
        query = f"SELECT key FROM names WHERE key IN {_WANTED}"  # noqa: S608  constant
        return {key for (key,) in self._spill.rows(query, (json.dumps(list(names)),))}

    def following(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the first name of an accepted row at or after each of ``texts``, by the text."""
        first = "SELECT key FROM names WHERE key >= value ORDER BY key LIMIT 1"
        rows = self._spill.rows(f"SELECT value, ({first}) FROM json_each(?)", (json.dumps(list(texts)),))  # noqa: S608
        return {text: key for text, key in rows if key is not None}

    def in_other_case(self, urns: Iterable[str]) -> dict[str, set[str]]:
        """Return the names of accepted rows that are one of ``urns`` except for the case of their letters."""
        if not self._finds_cases:
            # Most tables have ARKs only.
            list(self._spill.rows("CREATE INDEX by_case ON names (lower(key))"))
            self._finds_cases = True
        query = f"SELECT lower(key), key FROM names WHERE lower(key) IN {_WANTED}"  # noqa: S608  constant
        found: dict[str, set[str]] = {}
        for lowered, key in self._spill.rows(query, (json.dumps([urn.lower() for urn in urns]),)):
            found.setdefault(lowered, set()).add(key)
        return found

    def sharing(self, field: Literal["target", "resource", "sort_title"], texts: Iterable[str]) -> dict[str, set[str]]:
        """Return the names of accepted rows that have one of these targets, resources or titles: up to two for each.

        ``field`` is "target", "resource" or "sort_title". ``texts`` are the values to find. A name that is minted for a
        row is left out, because the import mints another one.
        """
        wanted, found = json.dumps(list(texts)), dict[str, set[str]]()
        condition = f"IN {_WANTED} AND source != ''"
        sources = [(field, "key", "names")]
        if field == "resource" and self._has_numbers:
            sources.append(("number", "names.key", "numbers JOIN names ON names.key = numbers.key"))
        for column, key, tables in sources:
            query = (
                f"SELECT {column}, min({key}), max({key}) FROM {tables} WHERE {column} {condition} GROUP BY {column}"  # noqa: S608  columns
            )
            for text, first, last in self._spill.rows(query, (wanted,)):
                found.setdefault(text, set()).update((first, last))
        return found

    def close(self) -> None:
        """Delete the temporary table."""
        self._spill.close()


class _Both(RecordedNames):
    """The lookups of recorded names and of the names of rows."""

    names: CheckedNames

    def of(self, names: Iterable[str]) -> set[str]:
        keys = list(names)
        return super().of(keys) | self.names.of(keys)

    def following(self, texts: Iterable[str]) -> dict[str, str]:
        distinct_texts = list(texts)
        found = self.names.following(distinct_texts)
        for text, key in super().following(distinct_texts).items():
            found[text] = min(key, found.get(text, key))
        return found

    def in_other_case(self, urns: Iterable[str]) -> dict[str, set[str]]:
        keys = list(urns)
        found = super().in_other_case(keys)
        for lowered, several in self.names.in_other_case(keys).items() if keys else ():
            found.setdefault(lowered, set()).update(several)
        return found

    def sharing(
        self,
        field: Literal["target", "resource", "sort_title"],
        texts: Iterable[str],
        prefix: str = "",
        *,
        withdrawn: bool = True,
    ) -> dict[str, set[str]]:
        distinct_texts = list(texts)
        sharing_names = super().sharing(field, distinct_texts, prefix, withdrawn=withdrawn)
        for text, several in self.names.sharing(field, distinct_texts).items():
            sharing_names.setdefault(text, set()).update(several)
        return sharing_names
