"""Find the names that share a number, a target or a title with a name, before that name is public permanently. The
desk asks about them, and all other interfaces report them as warnings (:mod:`.new_names`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..collection import Bindings
from ..names.binding import Binding
from ..names.metadata import folding
from ..names.metadata.numbers import numbers_in

if TYPE_CHECKING:
    from ..storage.recorded import RecordedNames

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
    def of(cls, before: Binding | None, after: Binding, *, reserved: bool = False) -> NewValues | None:
        """Return the values with which a change makes or keeps a name public, or None if it is not public then. A name
        with a date of publication counts as public: no person is asked at its date. With ``reserved``, each reserved
        name counts.
        """
        status = after.status
        if status == "withdrawn" or (status == "reserved" and after.embargo is None and not reserved):
            return None
        if after.numbers:
            current, *further = after.thing_numbers[:2]
            numbers = tuple(dict.fromkeys(each for each in (current, *further[0]) if each))
        else:
            numbers = (after.resource,) if after.resource else ()
        target, title = after.target, title_in(after.metadata) if after.metadata else ""
        if before is None or (old := cls.of(None, before)) is None:
            return cls(after.identifier, numbers, target, title)
        return cls(after.identifier, *_without(old, numbers, target, title))

    @classmethod
    def of_cells(cls, before: Mapping[str, str], after: Mapping[str, str], label: str = "") -> NewValues | None:
        """Return the values as :meth:`of` does, for the cells of a row of a table by their columns."""
        if not _is_public(after):
            return None
        old = cls._all(before) if _is_public(before) else cls()
        new = cls._all(after)
        return cls(new.key, *_without(old, *new[1:4]), label)

    @classmethod
    def _all(cls, row: Mapping[str, str]) -> NewValues:
        current, further = row.get("number") or row.get("resource", ""), row.get("further_numbers", "")
        known = dict.fromkeys(each for each in (current, *numbers_in(further)) if each)
        return cls(row.get("identifier", ""), tuple(known), row.get("target"), title_in(row))

    @property
    def folded_title(self) -> str:
        """The title without case and accents, by which titles are equal."""
        return folding.sorted_title({"erc.what": self.title}) or ""


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
    found = find_shared(bindings.store.recorded, bindings.store.fetch, names)
    return [found.get(place, []) for place in range(len(names))]


def find_shared(
    recorded: RecordedNames | None,
    fetch: Callable[[list[str]], Mapping[str, Binding]],
    names: Iterable[NewValues | None],
    *,
    keys_only: bool = False,
) -> dict[int, list[SharedValue]]:
    """Return the values that :func:`shared_values` finds, by the places of the names that share one.

    ``recorded`` looks names up; without it, only ``names`` are compared. ``fetch`` returns the bindings of keys. With
    ``keys_only``, the other names can be without their values.
    """
    compared = [*names]
    # The first name of each text, and all names of a text that several have: most have texts of their own.
    mine: dict[Field, dict[str, int]] = {"number": {}, "target": {}, "title": {}}
    places: dict[tuple[Field, str], list[int]] = {}
    for place, each in enumerate(compared):
        if each is not None:
            values: list[tuple[Field, str]] = [("number", number) for number in each.numbers]
            if each.target:
                values.append(("target", each.target))
            if each.title and (title := each.folded_title):
                values.append(("title", title))
            for field, text in values:
                if (first := mine[field].setdefault(text, place)) != place:
                    places.setdefault((field, text), [first]).append(place)
    targets = {each.key: each.target for each in compared if each is not None and each.target}
    same: dict[tuple[Field, str], list[tuple[int, NewValues, str]]] = {}
    others: dict[tuple[Field, str], set[str]] = {}
    for field, texts in mine.items():
        sharing = recorded.sharing(_COLUMNS[field], texts, withdrawn=False) if texts and recorded is not None else {}
        for text in [each for each in texts if each in sharing or (field, each) in places]:
            several = places.get((field, text)) or [texts[text]]
            found = [
                (place, each, text if field != "title" else each.title)
                for place in several
                if (each := compared[place])
            ]
            # A name can be recorded already, or get another target in the same list.
            own = {found[0][1].key} if len(found) == 1 else set()
            moved = targets if field == "target" else {}
            others[field, text] = {key for key in sharing.get(text, set()) - own if moved.get(key, text) == text}
            if len(found) > 1 or others[field, text]:
                same[field, text] = found
    # A target is looked up exactly. A number can be a corrected one, and a title a creator.
    needed = {key for (field, text) in same for key in others[field, text] if not (keys_only and field == "target")}
    fetched = fetch([*needed]) if needed else {}
    result: dict[int, list[SharedValue]] = {}
    for (field, text), several in same.items():
        known: list[NewValues] = []
        for key in sorted(others[field, text]):
            other = None if key in needed else NewValues(key)
            if key in fetched and (other := NewValues.of(None, fetched[key], reserved=True)) is not None:
                other = other if _has(other, field, text) else None
            if other is not None:
                known.append(other)
        for place, each, shown in several:
            beside = (other for at, other, _ in several if at != place and (not each.key or other.key != each.key))
            other = next((other for other in known if other.key != each.key), None) or next(beside, None)
            if other is not None:
                result.setdefault(place, []).append(SharedValue(field, shown, other))
    return result


def _has(values: NewValues, field: Field, text: str) -> bool:
    if field == "number":
        return text in values.numbers
    return text == (values.target if field == "target" else values.folded_title)


def _without(
    old: NewValues, numbers: tuple[str, ...], target: str | None, title: str
) -> tuple[tuple[str, ...], str | None, str]:
    """Return the numbers, the target and the title that are not ``old`` ones."""
    return (
        tuple(each for each in numbers if each not in old.numbers),
        target if target != old.target else None,
        title if title != old.title else "",
    )


def _is_public(row: Mapping[str, str]) -> bool:
    status = row.get("status")
    return status == "live" or (status == "reserved" and bool(row.get("embargo")))
