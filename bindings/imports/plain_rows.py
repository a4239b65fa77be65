"""Convert most rows of a table at once, column by column: those with a new ARK, its target, and perhaps a resource and
elements. The result is that of :func:`~ararat.bindings.tables.columns.fields` and
:func:`~ararat.bindings.names.assignment.bind`, which take several times as long and convert all other rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from itertools import compress
from types import MappingProxyType
from typing import Any, NamedTuple, final

from ...identifiers.ark import length
from ...identifiers.ark.grammar import RESERVED_NAAN
from ...identifiers.ark.normalization import are_normal, plain
from ..names import targets
from ..names.assignment import Change, bind
from ..names.binding import NOTHING, Binding
from ..names.errors import BindingError
from ..names.fields import MAX_RESOURCE, Fields, check_target
from ..names.metadata import folding
from ..names.metadata.metadata import ELEMENTS, MAX_BYTES, full_name
from ..storage.rows import NewNames, row_of, search_of
from ..tables import wrong_text
from ..tables.columns import Row

_TIME = datetime(2026, 11, 29, tzinfo=UTC)
_MOST_CHARACTERS = min(MAX_RESOURCE, MAX_BYTES // 4)
"""The number of characters of a row up to which each of its values is short enough."""
_TO_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TO_LINES = json.JSONEncoder(ensure_ascii=False, separators=("\n", ":")).encode


class _Columns(NamedTuple):
    """The columns of a row: its elements by full name in their order, and those that must be empty."""

    elements: Mapping[str, str]
    others: tuple[str, ...]


@lru_cache(maxsize=64)
def _columns(names: frozenset[str]) -> _Columns:
    elements = {full_name(name): name for name in ELEMENTS if name in names}
    return _Columns(elements, tuple(names - {"identifier", "target", "resource", *ELEMENTS}))


@final
class PlainNames:
    """New and live names of such rows: what differs from other names, by columns.

    ``places`` are those of their ``rows`` in the block. ``keys`` are the normal forms of the cells ``spellings``.
    ``elements`` has the texts of each element, with "" for none.
    """

    def __init__(
        self,
        example: Mapping[str, object],
        is_ascii: bool,
        rows: Sequence[Row],
        places: Sequence[int],
        keys: Sequence[str],
        spellings: Sequence[str],
        targets: Sequence[str],
        resources: Sequence[str],
        elements: Mapping[str, Sequence[str]],
    ) -> None:
        self._example, self._is_ascii, self.rows, self.places = example, is_ascii, rows, places
        self.keys, self.spellings, self.targets, self.resources = keys, spellings, targets, resources
        self.elements = elements

    def __len__(self) -> int:
        return len(self.keys)

    def without(self, numbers: Collection[int]) -> PlainNames:
        """Return the names without those with these ``numbers``, counted from 0."""
        if not numbers:
            return self
        kept = [number not in numbers for number in range(len(self))]
        columns = (self.rows, self.places, self.keys, self.spellings, self.targets, self.resources)
        elements = {name: [*compress(texts, kept)] for name, texts in self.elements.items()}
        return PlainNames(self._example, self._is_ascii, *([*compress(each, kept)] for each in columns), elements)  # type: ignore[arg-type]

    def metadata(self, number: int) -> Mapping[str, str]:
        """Return the metadata of a name."""
        metadata = {name: text for name, texts in self.elements.items() if (text := texts[number])}
        return MappingProxyType(metadata) if metadata else NOTHING

    def change(self, number: int) -> Change:
        """Return the change that binds a name."""
        values = {
            "identifier": self.keys[number],
            "spelling": self.spellings[number],
            "target": self.targets[number],
            "resource": self.resources[number] or None,
            "metadata": self.metadata(number),
        }
        return Change("bound", Binding(**{**self._example, **values}), "bound")  # type: ignore[arg-type]

    def is_misread(self) -> bool:
        """Return whether a cell has characters of a wrong encoding (:func:`.wrong_text.misread`)."""
        if self._is_ascii:
            return False
        return wrong_text.misread("\n".join("".join(row.cells.values()) for row in self.rows)) is not None

    @cached_property
    def titles(self) -> Sequence[str | None]:
        """The folded title of each name, by which lists are sorted."""
        texts: Sequence[str] = ()
        for element in folding.TITLES:
            if element in self.elements:
                more = self.elements[element]
                texts = [one or other for one, other in zip(texts, more, strict=True)] if texts else more
        return folding.sorted_titles(texts) if texts else [None] * len(self)

    def columns(self) -> dict[str, Sequence[str | None]]:
        """Return the columns of the database (:class:`.NewNames`), without those in which each name has None."""
        spellings = [None if text == key else text for text, key in zip(self.spellings, self.keys, strict=True)]
        columns: dict[str, Sequence[str | None]] = {"key": self.keys, "target": self.targets}
        columns |= {} if self.spellings is self.keys else {"spelling": spellings}
        texts = [*self.elements.values(), self.targets]
        if any(self.resources):
            columns["resource"] = [text or None for text in self.resources]
            texts.insert(-1, self.resources)
        if self.elements:
            columns |= {"metadata": self._json(), "sort_title": self.titles}
        columns["search_text"] = folding.search_texts([*map(" ".join, zip(*texts, strict=True))])
        return columns

    def _json(self) -> list[str | None]:
        # No text in JSON has a line feed.
        columns = [_TO_LINES([*texts])[1:-1].split("\n") for texts in self.elements.values()]
        names = [_TO_JSON(name) for name in self.elements]
        if all(map(all, self.elements.values())):
            pattern = f"{{{','.join(f'{name}:%s' for name in names)}}}"
            return [pattern % texts for texts in zip(*columns, strict=True)]
        parts = [
            [f",{name}:{text}" if text != '""' else "" for text in texts]
            for name, texts in zip(names, columns, strict=True)
        ]
        return [f"{{{text[1:]}}}" if (text := "".join(each)) else None for each in zip(*parts, strict=True)]

    def counted_elements(self) -> dict[str, int]:
        """Return the number of names with each list of elements in JSON."""
        if all(map(all, self.elements.values())):
            return {_TO_JSON([*self.elements]): len(self)} if self.elements and self.keys else {}
        groups = Counter(zip(*([*map(bool, texts)] for texts in self.elements.values()), strict=True))
        return {_TO_JSON([*compress(self.elements, group)]): number for group, number in groups.items() if any(group)}


@cache
def _example() -> tuple[Mapping[str, object], tuple[Any, ...]]:
    """Return the values of such a name, and its row for the database."""
    first = Fields(target="https://example.org/").for_name("ark:12345/x")
    example = bind(None, first, _TIME).after
    return example.__dict__, (*row_of(example), *search_of(example))


class PlainRows:
    """The names of rows that bind new names at the time ``now``, in UTC.

    >>> from datetime import UTC
    >>> rows = PlainRows(datetime(2026, 11, 28, tzinfo=UTC))
    >>> rows.read([Row(2, {"identifier": "ark:/12345/x-1", "target": "HTTPS://example.org/1"})]).targets
    ['https://example.org/1']
    >>> len(rows.read([Row(2, {"identifier": "ark:/12345/x-1", "target": "", "status": "withdrawn"})]))
    0
    """

    def __init__(self, now: datetime) -> None:
        example, shared = _example()
        self._example = {name: now if value == _TIME else value for name, value in example.items()}
        self._shared = shared
        self._now = now

    def new(self, names: PlainNames, sources: Sequence[str]) -> NewNames:
        """Return names for the database, with their sources for the history."""
        new = NewNames(self._shared, names.columns(), sources, names.counted_elements())
        return new.dated_again(_TIME, self._now)

    def read(self, rows: Sequence[Row]) -> PlainNames:
        """Return the names that rows bind, without the rows with other values. Whether they are new is not checked."""
        layouts = {(*row.cells,) for row in rows}
        known = _columns(frozenset().union(*layouts))
        if len(layouts) == 1:
            cells = {name: [row.cells[name] for row in rows] for name in next(iter(layouts))}
        else:
            cells = {name: [row.cells.get(name, "") for row in rows] for layout in layouts for name in layout}
        nothing = [""] * len(rows)
        used = {
            name: cells.get(name, nothing) for name in ("identifier", "target", "resource", *known.elements.values())
        }
        wrong = {number for number, row in enumerate(rows) if row.fault is not None}
        for name in known.others:
            if any(cells[name]):
                wrong.update(number for number, text in enumerate(cells[name]) if text)
        is_ascii = True
        # No value has a control character, a line break or an unusual space.
        for texts in used.values():
            whole = "".join(texts)
            is_ascii = is_ascii and whole.isascii()
            if not whole.isprintable():
                wrong.update(number for number, text in enumerate(texts) if not text.isprintable())
        if sum(max(map(len, texts), default=0) for texts in used.values()) > _MOST_CHARACTERS:
            lengths = (sum(map(len, texts)) for texts in zip(*used.values(), strict=True))
            wrong.update(number for number, characters in enumerate(lengths) if characters > _MOST_CHARACTERS)
        wrong.update(number for number, text in enumerate(used["resource"]) if text.isspace())
        for short in known.elements.values():
            if any(map(str.isspace, used[short])):
                used[short] = ["" if text.isspace() else text for text in used[short]]
        names = PlainNames(
            self._example,
            is_ascii,
            rows,
            range(len(rows)),
            used["identifier"],
            used["identifier"],
            used["target"],
            used["resource"],
            {name: used[short] for name, short in known.elements.items() if any(used[short])},
        ).without(wrong)
        return _checked(names)


def _checked(names: PlainNames) -> PlainNames:
    """Return the names with their normal forms and stored targets, without those that need more."""
    spellings = names.keys
    if not spellings:
        return names
    if max(map(len, spellings)) > length.ALWAYS_ACCEPTED or not are_normal(spellings):
        names.keys = [_key(text) for text in spellings]
    wrong = {number for number, key in enumerate(names.keys) if not key or key.startswith(RESERVED_NAAN)}
    names = names.without(wrong)
    if names.keys and not targets.are_stored_urls(names.targets):
        names.targets = [*map(_target, names.keys, names.targets)]
        names = names.without({number for number, target in enumerate(names.targets) if not target})
    return names


def _key(text: str) -> str:
    if len(text) > length.ALWAYS_ACCEPTED or text[:4] != "ark:":
        return ""
    return plain(text) or ""


def _target(key: str, text: str) -> str:
    try:
        return check_target(key, text, "located", False) or ""
    except BindingError:
        return ""
