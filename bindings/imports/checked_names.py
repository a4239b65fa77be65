"""The names of the rows of an import that were checked and are not written, in a temporary table. A check in blocks
writes no name, so a later row finds the names, resources and targets of earlier rows here.
"""

from __future__ import annotations

import json
import marshal
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Literal

from ..names.binding import Binding
from ..names.metadata.folding import sorted_title
from ..storage.recorded import RecordedNames
from ..storage.rows import binding_of
from ..storage.spill import Spill
from ..tables.columns import Row
from .decided_blocks import DecidedBlocks
from .plain_rows import PlainNames

_TABLE = """names (
key TEXT NOT NULL, source TEXT NOT NULL, block INTEGER NOT NULL, is_bound INTEGER NOT NULL,
target TEXT, resource TEXT, sort_title TEXT
)"""
_INSERT = "INSERT INTO names (key, source, block, is_bound, target, resource, sort_title) VALUES (?, ?, ?, ?, ?, ?, ?)"
_WAITING = "CREATE TABLE waiting (columns BLOB NOT NULL)"
_NUMBERS = "CREATE TABLE numbers (number TEXT, key TEXT, PRIMARY KEY (number, key)) WITHOUT ROWID"
_WANTED = "(SELECT value FROM json_each(?))"
_MOST_HASHES = 100_000
"""The number of different texts of a column up to which their hashes are in memory, in about 9 MB."""

_Column = Literal["key", "target", "resource", "sort_title"]


class CheckedNames:
    """The names of the rows that a check of an import has accepted, with their lines; ``blocks`` has their values.

    Most tables have no text twice. So the hashes of the texts are compared first. Before two are equal, the columns of
    each block wait in one value, and the table has no row and no index.
    """

    def __init__(self, blocks: DecidedBlocks) -> None:
        self._blocks = blocks
        self._spill = Spill(_TABLE, "the check")
        list(self._spill.rows(_WAITING))
        self._hashes: dict[_Column, set[int] | None] = {"key": set(), "target": set(), "resource": set()}
        self._hashes["sort_title"] = set()
        self._indexed: set[str] = set()
        # The first and last key of each block, to find the key that follows a text.
        self._ranges: list[tuple[str, str]] = []
        self._has_numbers = False

    def add(self, rows: Sequence[tuple[Row, str, Binding]], plain: PlainNames, lines: Sequence[str]) -> None:
        """Add accepted rows of the block that is decided next: each with its line and the future binding of its name,
        and the ``plain`` ones, with their ``lines``.
        """
        block, values, numbers = len(self._blocks), list[tuple[Any, ...]](), list[tuple[str, str]]()
        for row, line, named in rows:
            # A name that was drawn for a row in a check is not that of the import, so no other row can have it.
            source = "" if row.minted else line
            title = sorted_title(named.metadata) if named.metadata else None
            identifier, is_bound = named.identifier, not named.is_reserved
            values.append((identifier, source, block, is_bound, named.target, named.resource, title))
            # Most things have no further number, and no corrected one.
            if named.numbers:
                current, further, _ = named.thing_numbers
                numbers += [(number, identifier) for number in (current, *further) if number]
        if not (values or plain):
            return
        of_rows = zip(*values, strict=True) if values else repeat(())
        sources = ["" if row.minted else line for row, line in zip(plain.rows, lines, strict=True)]
        resources = [text or None for text in plain.resources]
        number = len(plain)
        of_plain = plain.keys, sources, [block] * number, [True] * number, plain.targets, resources, plain.titles
        columns = [[*some, *others] for some, others in zip(of_rows, of_plain, strict=False)]
        if self._indexed:
            self._spill.add(_INSERT, zip(*columns, strict=True))
        else:
            self._spill.add("INSERT INTO waiting VALUES (?)", [(marshal.dumps(columns),)])
        keys, _, _, _, targets, resources, titles = columns
        self._ranges.append((min(keys), max(keys)))
        for column, texts in zip(self._hashes, (keys, targets, resources, titles), strict=True):
            self._remember(column, texts)
        if numbers and not self._has_numbers:
            list(self._spill.rows(_NUMBERS))
            self._has_numbers = True
        if numbers:
            self._spill.add("INSERT OR IGNORE INTO numbers VALUES (?, ?)", numbers)

    def _remember(self, column: _Column, texts: Iterable[str | None]) -> None:
        hashes = self._hashes[column]
        if hashes is not None:
            hashes.update(map(hash, texts))
            if len(hashes) > _MOST_HASHES:
                self._hashes[column] = None

    def _may_have(self, column: _Column, texts: Iterable[str]) -> list[str]:
        """Return those of ``texts`` that a row can have in a column, which then has an index."""
        hashes = self._hashes[column]
        found = [*texts] if hashes is None else [text for text in texts if hash(text) in hashes]
        if found and self._ranges:
            self._index(column)
            return found
        return []

    def _index(self, column: str) -> None:
        if not self._indexed:
            for (columns,) in self._spill.rows("SELECT columns FROM waiting ORDER BY rowid"):
                values = zip(*marshal.loads(columns), strict=True)  # noqa: S302  a table of this process
                self._spill.add(_INSERT, values)
            list(self._spill.rows("DELETE FROM waiting"))
        if column not in self._indexed:
            self._indexed.add(column)
            condition = "" if "key" in column else f" WHERE {column} IS NOT NULL"
            list(self._spill.rows(f"CREATE INDEX by_{len(self._indexed)} ON names ({column}){condition}"))

    def lookup(self, keys: Sequence[str]) -> dict[str, tuple[str, Binding | None]]:
        """Return the line of the first accepted row of each name, and its future binding, or None if it stays as
        it is.
        """
        if not (known := self._may_have("key", keys)):
            return {}
        query = f"SELECT key, source, block FROM names WHERE key IN {_WANTED} AND source != ''"  # noqa: S608  constant
        found = {key: (source, block) for key, source, block in self._spill.rows(query, (json.dumps(known),))}
        after: dict[str, Binding] = {}
        for block in {block for _, block in found.values()}:
            changes = self._blocks.changes(block)
            after |= {each.after.identifier: each.after for each in changes if each.after.identifier in found}
            for _, new in self._blocks.new(block):
                after |= {key: binding_of(new.row(number)) for number, key in enumerate(new.keys) if key in found}
        return {key: (source, after.get(key)) for key, (source, _) in found.items()}

    def bound(self, keys: Sequence[str]) -> list[str]:
        """Return the names that an accepted row makes live or withdrawn."""
        if not (known := self._may_have("key", keys)):
            return []
        query = f"SELECT key FROM names WHERE key IN {_WANTED} AND is_bound"  # noqa: S608  constant
        return [key for (key,) in self._spill.rows(query, (json.dumps(known),))]

    def fetch(self, keys: Sequence[str], recorded: Mapping[str, Binding]) -> dict[str, Binding]:
        """Return the future bindings of the names in ``keys``: those of accepted rows, else the ``recorded`` ones."""
        return {**recorded, **{key: binding for key, (_, binding) in self.lookup(keys).items() if binding}}

    def combine_with(self, recorded: RecordedNames) -> RecordedNames:
        """Return lookups that find both the ``recorded`` names and the names of accepted rows."""
        if not self._ranges:
            return recorded
        both = _Both(*recorded)
        both.names = self
        return both

    def of(self, names: Iterable[str]) -> set[str]:
        """Return those of ``names`` that an accepted row has."""
        if not (known := self._may_have("key", names)):
            return set()
        query = f"SELECT key FROM names WHERE key IN {_WANTED}"  # noqa: S608  constant
        return {key for (key,) in self._spill.rows(query, (json.dumps(known),))}

    def following(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the first name of an accepted row at or after each of ``texts``, by the text."""
        wanted = list(texts)
        # The blocks of most tables are in order.
        if not any(first < text <= last for text in wanted for first, last in self._ranges):
            firsts = sorted(first for first, _ in self._ranges)
            places = {text: bisect_left(firsts, text) for text in wanted}
            return {text: firsts[place] for text, place in places.items() if place < len(firsts)}
        self._index("key")
        first = "SELECT key FROM names WHERE key >= value ORDER BY key LIMIT 1"
        rows = self._spill.rows(f"SELECT value, ({first}) FROM json_each(?)", (json.dumps(wanted),))  # noqa: S608
        return {text: key for text, key in rows if key is not None}

    def in_other_case(self, urns: Iterable[str]) -> dict[str, set[str]]:
        """Return the names of accepted rows that are one of ``urns`` except for the case of their letters."""
        self._index("lower(key)")
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
        distinct_texts, found = list(texts), dict[str, set[str]]()
        condition = f"IN {_WANTED} AND source != ''"
        sources = [(field, "key", "names", self._may_have(field, distinct_texts))]
        if field == "resource" and self._has_numbers:
            self._index("key")
            numbers = "numbers JOIN names ON names.key = numbers.key"
            sources.append(("number", "names.key", numbers, distinct_texts))
        for column, key, tables, wanted in sources:
            if not wanted:
                continue
            query = (
                f"SELECT {column}, min({key}), max({key}) FROM {tables} WHERE {column} {condition} GROUP BY {column}"  # noqa: S608  columns
            )
            for text, first, last in self._spill.rows(query, (json.dumps(wanted),)):
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
