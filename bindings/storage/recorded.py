"""Look up which names are recorded, and which names have the same target or resource as a new one, in batches."""

# ruff: noqa: S608 - the statements contain names of the schema only

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice, product, zip_longest
from typing import Any, Literal, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..names import validation
from ..names.selection import NOT_STORED
from .expressions import Dialect
from .protocols import Database, Row
from .tables.keys import index_key
from .tables.search_indexes import IS_URN, TARGET_CHARACTERS

_AFTER_ALL = "\x7f"
"""A character after all characters of names, which are ASCII."""


class RecordedNames(NamedTuple):
    """Lookups of recorded names in a database, for the warnings about new names, also in a transaction."""

    rows: Callable[[str, Sequence[Any]], Sequence[Row]]
    database: Database

    def of(self, names: Iterable[str]) -> set[str]:
        """Return the keys of ``names`` that are recorded in any state, also as reserved."""
        keys = {index_key(name): name for name in names}
        if not keys:
            return set()
        rows = self.rows(_query_of_keys(self.database.dialect_name, "key"), [self.database.array_parameter([*keys])])
        return {keys[key] for (key,) in rows}

    def following(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the first key at or after each text in the order of the index. A text after all keys is left out."""
        array = self.database.array_parameter([*dict.fromkeys(texts)])
        rows = self.rows(_query_of_next(self.database.dialect_name), [array])
        return {text: key for text, key in rows if key is not None}

    def in_other_case(self, urns: Iterable[str]) -> dict[str, set[str]]:
        """Return the recorded names that are one of ``urns`` except for the case of their letters. The keys are URNs in
        lower case; those of no name are left out.
        """
        lowered = {urn.lower() for urn in urns}
        if not lowered:
            return {}
        found: dict[str, set[str]] = {}
        query = _query_of_keys(self.database.dialect_name, "lower(key)", f"{IS_URN} AND ")
        for (key,) in self.rows(query, [self.database.array_parameter([*lowered])]):
            found.setdefault(key.lower(), set()).add(key)
        return found

    def of_things(self, keys: Iterable[str], prefix: str, *, withdrawn: bool = True) -> dict[str, dict[str, str]]:
        """Return the names of things by the ``keys`` of the things (:func:`checked_key`), up to two for each spelling
        of a key, each with its resource; an empty dict for an unknown key. A key is a current or further number of
        a thing, or else its resource, compared in NFC. The names begin with ``prefix``.
        """
        spellings = {key: {key, *(() if key.isascii() else _spellings(key))} for key in keys}
        texts = {each for several in spellings.values() for each in several}
        by_resource: dict[str, dict[str, str]] = {}
        by_number: dict[str, dict[str, str]] = {}
        for text, first, last, resource, kind in self._sharing("resource", texts, prefix, withdrawn=withdrawn):
            found = by_resource if kind is None else by_number
            found.setdefault(text, {}).update(dict.fromkeys((first, last), resource or text))
        return {
            key: {
                name: resource
                for found in (by_number if any(each in by_number for each in several) else by_resource,)
                for each in several
                for name, resource in found.get(each, {}).items()
            }
            for key, several in spellings.items()
        }

    def formerly(self, keys: Iterable[str], prefix: str, *, withdrawn: bool = True) -> dict[str, dict[str, str]]:
        """Return the names with their resources for each key that is a former number of their things. Other keys are
        left out. ``prefix`` and ``withdrawn`` limit the names as in :meth:`of_things`.
        """
        found: dict[str, dict[str, str]] = {}
        for number, name, _, resource, _ in self._sharing("former", keys, prefix, withdrawn=withdrawn):
            found.setdefault(number, {})[name] = resource or number
        return found

    def sharing(
        self,
        field: Literal["target", "resource", "sort_title"],
        texts: Iterable[str],
        prefix: str = "",
        *,
        withdrawn: bool = True,
    ) -> dict[str, set[str]]:
        """Return the names that have one of these targets, resources or folded titles, up to two for each text. Texts
        of no name are left out. Without ``withdrawn``, withdrawn names are, too. A current or further number of a thing
        is like its resource. A text that is longer than :data:`~.search_indexes.TARGET_CHARACTERS`, or that no database
        can store, is left out.
        """
        shared: dict[str, set[str]] = {}
        for value, first, last, *_ in self._sharing(field, texts, prefix, withdrawn=withdrawn, is_bounded=True):
            shared.setdefault(value, set()).update((first, last))
        return shared

    def _sharing(
        self,
        field: Literal["target", "resource", "sort_title", "former"],
        texts: Iterable[str],
        prefix: str,
        *,
        withdrawn: bool,
        is_bounded: bool = False,
    ) -> Sequence[Row]:
        """Return rows of a text, two names, their resource, and the kind of the number. "former" is the former numbers
        alone. With ``is_bounded``, a number has one row without a resource; otherwise one for each name.
        """
        distinct_texts = list(
            dict.fromkeys(text for text in texts if len(text) <= TARGET_CHARACTERS and not NOT_STORED.search(text))
        )
        if not distinct_texts:
            return []
        array = self.database.array_parameter(distinct_texts)
        limits = [prefix, f"{prefix}{_AFTER_ALL}"] if prefix else []
        by_number, query, two_by_number = _queries_of_field(
            self.database.dialect_name, field, is_below=bool(prefix), withdrawn=withdrawn
        )
        if field == "former":
            return self.rows(by_number, [array, *limits])
        parameters = [*limits, *limits, array, *limits]
        if field == "resource" and is_bounded:
            query, parameters = f"{query} UNION ALL {two_by_number}", [*parameters, *parameters]
        elif field == "resource":
            query, parameters = f"{query} UNION ALL {by_number}", [*parameters, array, *limits]
        return self.rows(query, parameters)


_COMPARED_NAMES = 20


@cache
def _query_of_keys(dialect_name: str, column: str, condition: str = "") -> str:
    """Return the query for the keys of recorded names by ``column``, a key or an indexed expression of it."""
    dialect = Dialect(dialect_name)
    return dialect.set_placeholders(f"SELECT key FROM bindings WHERE {condition}{dialect.is_wanted(column)}")


@cache
def _query_of_next(dialect_name: str) -> str:
    dialect = Dialect(dialect_name)
    first = "SELECT key FROM bindings WHERE key >= wanted.value ORDER BY key LIMIT 1"
    return dialect.set_placeholders(f"SELECT wanted.value, ({first}) FROM {dialect.wanted}")


@cache
def _queries_of_field(dialect_name: str, field: str, *, is_below: bool, withdrawn: bool) -> tuple[str, str, str]:
    """Return the queries for all names by a number of their thing, for two names by a field, and for two by a number.
    ``is_below`` adds two bounds of the key.
    """
    dialect = Dialect(dialect_name)
    # As in the index of the column.
    text = dialect.in_bytes(field if field == "sort_title" else f"substr({field}, 1, {TARGET_CHARACTERS})")
    which = " AND bindings.key >= ? AND bindings.key < ?" if is_below else ""
    which += "" if withdrawn else " AND status <> 'withdrawn'"
    name = "coalesce(bindings.long_identifier, bindings.key)"
    by_number = (
        f"SELECT name_numbers.number, {name}, {name}, bindings.resource, name_numbers.kind FROM name_numbers "
        f"JOIN bindings ON bindings.key = name_numbers.key WHERE {dialect.is_wanted('name_numbers.number')} "
        f"AND name_numbers.kind {'=' if field == 'former' else '<>'} 'former'{which}"
    )
    same = f"FROM bindings WHERE {field} IS NOT NULL AND {text} = wanted.value{which}"
    # The first and the last: one of them is another name than the one that is compared.
    columns = ", ".join(
        f"(SELECT {name} {same} ORDER BY {text} {order}, key {order} LIMIT 1)" for order in ("ASC", "DESC")
    )
    query = f"SELECT wanted.value, {columns}, wanted.value, NULL FROM {dialect.wanted} WHERE EXISTS (SELECT 1 {same})"
    # A box can be the number of any number of things, so the first names are enough.
    things = (
        f"FROM name_numbers JOIN bindings ON bindings.key = name_numbers.key "
        f"WHERE name_numbers.number = wanted.value AND name_numbers.kind <> 'former'{which}"
    )
    columns = ", ".join(
        f"(SELECT {end}(first_names.name) FROM (SELECT {name} AS name {things} LIMIT {_COMPARED_NAMES}) AS first_names)"
        for end in ("min", "max")
    )
    two_by_number = (
        f"SELECT wanted.value, {columns}, wanted.value, NULL FROM {dialect.wanted} WHERE EXISTS (SELECT 1 {things})"
    )
    return dialect.set_placeholders(by_number), dialect.set_placeholders(query), dialect.set_placeholders(two_by_number)


def checked_key(text: str) -> str:
    """Return the key of a thing, such as an inventory number, for :meth:`RecordedNames.of_things`. Raises
    :class:`BindingError` (``resource-text``) for a text that cannot be recorded or is longer than the index.
    """
    return validation.check(text, "resource-text", Translatable("Key"), TARGET_CHARACTERS)


def compose_key(key: str) -> str:
    """Return the composed spelling of a key (NFC), which is equal for keys that find the same names."""
    return key if key.isascii() else unicodedata.normalize("NFC", key)


_HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2212"
_NUMBER = re.compile(r"(?<=[^\W\d_])(?=\d)")
_MOST_SHARP = 8


def without_signs(key: str) -> str:
    r"""Return a key in lower case without spaces, and without the other differences of :func:`other_spellings`.

    >>> without_signs("MS. Or. \u2013 17") == without_signs("ms.or.-17")
    True
    """
    plain = unicodedata.normalize("NFKC", key).casefold()
    return "".join("-" if each in _HYPHENS else each for each in plain if not each.isspace())


def other_spellings(key: str) -> list[str]:
    r"""Return the usual spellings of a key that differ in case, spaces, hyphens or compatibility characters.

    >>> "Inv. 12" in other_spellings("INV.12"), "A\u20101" in other_spellings("a-1")
    (True, True)
    """
    plain = "".join("-" if each in _HYPHENS else each for each in unicodedata.normalize("NFKC", key))
    one_space = " ".join(plain.split())
    close = one_space.replace(" ", "")
    spaced = {
        plain,
        one_space,
        close,
        _NUMBER.sub(" ", close),
        close.replace(".", ". "),
        one_space.replace(" ", "\xa0"),
    }
    written = {text.replace("-", each) for text in spaced for each in _HYPHENS}
    found = {
        each for text in (key, *written) for each in (text, text.upper(), text.lower(), text.title(), text.capitalize())
    }
    if "ss" in plain.casefold():
        found.update(each for text in written for each in _with_sharp_s(text.casefold()))
    return sorted(found - {key})


def _with_sharp_s(text: str) -> Iterator[str]:
    """Yield the spellings of a text in lower case with "ss" or a sharp s. They differ in case only."""
    pieces = text.split("ss")
    for signs in islice(product(("ß", "ss"), repeat=len(pieces) - 1), _MOST_SHARP):
        spelled = "".join(chain.from_iterable(zip_longest(pieces, signs, fillvalue="")))
        yield from (spelled, spelled.title(), spelled.capitalize())
        for sharp in "ßẞ" if "ß" in signs else ():
            yield sharp.join(each.upper() for each in spelled.split("ß"))


def _spellings(key: str) -> tuple[str, str]:
    return unicodedata.normalize("NFC", key), unicodedata.normalize("NFD", key)
