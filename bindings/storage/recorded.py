"""Look up which names are recorded, and which names have the same target or resource as a new one, in batches."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from ..names import validation
from .protocols import Database, Row
from .statements import mark
from .tables.keys import index_key
from .tables.search_indexes import IS_URN, TARGET_CHARACTERS

_AFTER_ALL = "\x7f"
"""A character after all characters of names, which are ASCII."""


class RecordedNames(NamedTuple):
    """Lookups of recorded names in a database, for the warnings about new names.

    ``rows`` reads rows, inside or outside of a transaction.
    """

    rows: Callable[[str, Sequence[Any]], Sequence[Row]]
    database: Database

    def of(self, names: Iterable[str]) -> set[str]:
        """Return the keys of ``names`` that are recorded in any state, also as reserved."""
        keys = {index_key(name): name for name in names}
        if not keys:
            return set()
        rows = self.rows(f"SELECT key FROM bindings WHERE {self._is_wanted()}", [self._array(keys)])
        return {keys[key] for (key,) in rows}

    def following(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the first key at or after each of ``texts`` in the order of the index, by the text.

        A text after all keys is left out.
        """
        distinct_texts = list(dict.fromkeys(texts))
        one = mark(self.database.dialect_name)
        is_sqlite = self.database.dialect_name == "sqlite"
        each = f"json_each({one}) AS wanted" if is_sqlite else f"unnest({one}::text[]) AS wanted(value)"
        first = "SELECT key FROM bindings WHERE key >= wanted.value ORDER BY key LIMIT 1"
        rows = self.rows(f"SELECT wanted.value, ({first}) FROM {each}", [self._array(distinct_texts)])
        return {text: key for text, key in rows if key is not None}

    def in_other_case(self, urns: Iterable[str]) -> dict[str, set[str]]:
        """Return the recorded names that are one of ``urns`` except for the case of their letters, by lower case."""
        lowered = {urn.lower() for urn in urns}
        if not lowered:
            return {}
        wanted = self._is_wanted().replace("key IN", "lower(key) IN", 1)
        found: dict[str, set[str]] = {}
        for (key,) in self.rows(f"SELECT key FROM bindings WHERE {IS_URN} AND {wanted}", [self._array(lowered)]):
            found.setdefault(key.lower(), set()).add(key)
        return found

    def of_things(self, keys: Iterable[str], prefix: str, *, withdrawn: bool = True) -> dict[str, dict[str, str]]:
        """Return the recorded names of things by the ``keys`` of the things, up to two for each spelling of a key, each
        name with its resource.

        The names begin with ``prefix``. A key is a checked resource (:func:`checked_key`). It finds the names with this
        resource; a composed and a decomposed key are equal (NFC). Without ``withdrawn``, withdrawn names are left out.
        """
        spellings = {key: {key, *(() if key.isascii() else _spellings(key))} for key in keys}
        texts = {each for several in spellings.values() for each in several}
        shared = self.sharing("resource", texts, prefix, withdrawn=withdrawn)
        return {
            key: {name: each for each in several for name in shared.get(each, ())} for key, several in spellings.items()
        }

    def sharing(
        self, field: Literal["target", "resource"], texts: Iterable[str], prefix: str = "", *, withdrawn: bool = True
    ) -> dict[str, set[str]]:
        """Return the recorded names that have one of these targets or resources: up to two for each text.

        ``field`` is "target" or "resource", and ``texts`` are its values. The result maps each value to names.

        With ``prefix`` they begin with this text. Without ``withdrawn``, withdrawn names are left out. A text of more
        than :data:`~.search_indexes.TARGET_CHARACTERS` characters is left out.
        """
        distinct_texts = list(dict.fromkeys(text for text in texts if len(text) <= TARGET_CHARACTERS))
        if not distinct_texts:
            return {}
        is_sqlite = self.database.dialect_name == "sqlite"
        text = f"substr({field}, 1, {TARGET_CHARACTERS})" + ("" if is_sqlite else ' COLLATE "C"')
        one = mark(self.database.dialect_name)
        limits = [prefix, f"{prefix}{_AFTER_ALL}"] if prefix else []
        is_below = f" AND key >= {one} AND key < {one}" if prefix else ""
        is_below += "" if withdrawn else " AND status <> 'withdrawn'"
        same = f"FROM bindings WHERE {field} IS NOT NULL AND {text} = wanted.value{is_below}"
        # The first and the last: one of them is another name than the one that is compared.
        columns = " , ".join(
            f"(SELECT coalesce(long_identifier, key) {same} ORDER BY {text} {order}, key {order} LIMIT 1)"
            for order in ("ASC", "DESC")
        )
        each = f"json_each({one}) AS wanted" if is_sqlite else f"unnest({one}::text[]) AS wanted(value)"
        query = f"SELECT wanted.value, {columns} FROM {each} WHERE EXISTS (SELECT 1 {same})"
        rows = self.rows(query, [*limits, *limits, self._array(distinct_texts), *limits])
        return {value: {first, last} for value, first, last in rows}

    def _is_wanted(self) -> str:
        one = mark(self.database.dialect_name)
        is_sqlite = self.database.dialect_name == "sqlite"
        return f"key IN (SELECT {f'value FROM json_each({one})' if is_sqlite else f'unnest({one}::text[])'})"

    def _array(self, texts: Iterable[str]) -> str | list[str]:
        return self.database.array_parameter(list(texts))


def checked_key(text: str) -> str:
    """Return the key of a thing, such as an inventory number, for :meth:`RecordedNames.of_things`.

    ``text`` is its resource. Raises :class:`BindingError` with the code ``resource-text`` for a text that cannot be
    recorded, or that is longer than the index of the resources.
    """
    return validation.check(text, "resource-text", "key", TARGET_CHARACTERS)


def composed(key: str) -> str:
    """Return the composed spelling of a key (NFC), which is equal for keys that find the same names."""
    return key if key.isascii() else unicodedata.normalize("NFC", key)


def _spellings(key: str) -> tuple[str, str]:
    return unicodedata.normalize("NFC", key), unicodedata.normalize("NFD", key)
