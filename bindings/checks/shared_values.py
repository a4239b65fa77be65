"""Find the names that share a number, a target or a title with a name, before that name is public permanently. Two
public names for one thing cannot be deleted, so the interfaces ask people about them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from ..collection import Bindings
from ..names.binding import Binding
from ..names.metadata import folding
from ..names.metadata.numbers import numbers_in
from ..tables.columns import cells

Field = Literal["number", "target", "title"]

_TITLES = ("erc.what", "what", "dc.title")
_COLUMNS: dict[Field, Literal["resource", "target", "sort_title"]] = {
    "number": "resource",
    "target": "target",
    "title": "sort_title",
}


class NewValues(NamedTuple):
    """The values that a public name would get, as they are recorded, without those that it has already. ``key`` is ""
    for a name that will be minted. ``label`` tells the name to a reader if it has no title, such as the number of its
    row.
    """

    key: str = ""
    numbers: tuple[str, ...] = ()
    target: str | None = None
    title: str = ""
    label: str = ""

    @classmethod
    def of(cls, before: Binding | None, after: Binding) -> NewValues | None:
        """Return the values with which a change makes or keeps a name public, or None if it is not public then. A name
        with a date of publication counts as public: no person is asked at its date.
        """
        return cls.of_cells(cells(before) if before is not None else {}, cells(after))

    @classmethod
    def of_cells(cls, before: Mapping[str, str], after: Mapping[str, str], label: str = "") -> NewValues | None:
        """Return the values as :meth:`of` does, for the cells of a row of a table by their columns."""
        if not _is_public(after):
            return None
        old = cls._all(before) if _is_public(before) else cls()
        new = cls._all(after)
        return cls(
            new.key,
            tuple(each for each in new.numbers if each not in old.numbers),
            new.target if new.target != old.target else None,
            new.title if new.title != old.title else "",
            label,
        )

    @classmethod
    def _all(cls, row: Mapping[str, str]) -> NewValues:
        current, further = row.get("number") or row.get("resource", ""), row.get("further_numbers", "")
        known = dict.fromkeys(each for each in (current, *numbers_in(further)) if each)
        return cls(row.get("identifier", ""), tuple(known), row.get("target"), title_in(row))


class SharedValue(NamedTuple):
    """A value that two names would share. The ``other`` one is recorded, or was compared, too."""

    field: Field
    text: str
    other: NewValues


def title_in(elements: Mapping[str, str]) -> str:
    """Return the title in the metadata of a name, or "". A code such as ``(:unkn)`` is not a title.

    >>> title_in({"who": "Noah", "dc.title": "Map"}), title_in({"erc.what": "(:unkn)"})
    ('Map', '')
    """
    text = next((text for element in _TITLES if (text := elements.get(element))), "")
    return "" if text.startswith("(:") else text


def shared_values(bindings: Bindings, names: Sequence[NewValues]) -> list[list[SharedValue]]:
    """Return the values that each name would share with another one. Withdrawn names do not count: their thing can have
    another name. Titles are compared without case, accents and spaces.
    """
    recorded = bindings.store.recorded
    wanted: dict[Field, set[str]] = {field: set() for field in _COLUMNS}
    mine: defaultdict[tuple[Field, str], list[tuple[int, NewValues]]] = defaultdict(list)
    for place, each in enumerate(names):
        for field, text, _ in _texts(each):
            wanted[field].add(text)
            mine[field, text].append((place, each))
    found: dict[Field, dict[str, set[str]]] = {
        field: recorded.sharing(_COLUMNS[field], texts, withdrawn=False) if recorded is not None and texts else {}
        for field, texts in wanted.items()
    }
    keys = {key for by_text in found.values() for several in by_text.values() for key in several}
    fetched = bindings.store.fetch(keys) if keys else {}
    others = {key: NewValues._all(cells(binding)) for key, binding in fetched.items()}
    result: list[list[SharedValue]] = []
    for place, each in enumerate(names):
        shared: list[SharedValue] = []
        for field, text, shown in _texts(each):
            known = (others[key] for key in sorted(found[field].get(text, ())) if key in others and key != each.key)
            same = (other for other in known if any(text == its for name, its, _ in _texts(other) if name == field))
            beside = (
                other for at, other in mine[field, text] if at != place and (not each.key or other.key != each.key)
            )
            if (other := next(same, None) or next(beside, None)) is not None:
                shared.append(SharedValue(field, shown, other))
        result.append(shared)
    return result


def _texts(values: NewValues) -> Iterable[tuple[Field, str, str]]:
    """Yield the fields, the texts that are compared, and the texts that a reader sees."""
    for number in values.numbers:
        yield "number", number, number
    if values.target:
        yield "target", values.target, values.target
    if values.title and (folded := folding.sorted_title({"erc.what": values.title})):
        yield "title", folded, values.title


def _is_public(row: Mapping[str, str]) -> bool:
    status = row.get("status")
    return status == "live" or (status == "reserved" and bool(row.get("embargo")))
