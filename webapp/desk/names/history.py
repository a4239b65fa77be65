"""The history of a name as a timeline: each change with its differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ....bindings.names.binding import NOTHING, Action, Binding, Event
from ....bindings.names.fields import differing
from ....bindings.names.metadata import metadata
from ....identifiers.text.translatable import Translatable
from ....middleware.views import messages
from ...config import site

NUMBER_LABELS = {
    "current": Translatable("Current number"),
    "further": Translatable("Further numbers"),
    "former": Translatable("Former numbers"),
}
"""The names of the kinds of numbers."""

MAX_SHOWN = 100
"""Maximum number of changes on the page of a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A value that a change set. ``field`` is its label. ``before`` is "" for an added value, ``after`` for a removed
    one. ``element`` is the name of a metadata element, or "".
    """

    field: str
    before: str
    after: str
    element: str = dataclasses.field(default="", repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownChange:
    """One change of a name. ``source`` is the file and line of an imported table; ``operation`` the number of the
    operation on many names. ``is_last``: it is the last change of the name, which can be undone.
    """

    revision: int
    action: Action
    actor: str | None
    when: datetime
    source: str | None
    operation: int | None
    differences: Sequence[Difference]
    is_last: bool


def changes_of(events: Sequence[Event]) -> list[ShownChange]:
    """Return the changes of a name to show, the newest first. ``events`` is its history, the oldest change first."""
    return [
        ShownChange(
            revision=event.revision,
            action=event.action,
            actor=event.actor,
            when=event.when,
            source=event.source,
            operation=event.operation,
            differences=tuple(differences(event.before, event.after)),
            is_last=event is events[-1],
        )
        for event in reversed(events)
    ]


def differences(before: Binding | None, after: Binding) -> Iterator[Difference]:
    """Yield the values that differ. ``before`` is None for a new name, whose default values are omitted."""
    for declared, old, new in differing(before, after):
        title = site().settings.resource_label if declared.name == "resource" else declared.title
        yield Difference(field=title, before="" if before is None else old, after=new)
    for each in _of_mapping(before.alternates if before else NOTHING, after.alternates):
        yield replace(each, field=Translatable("Alternate %(selector)s", selector=each.field))
    for each in _of_mapping(before.numbers if before else NOTHING, after.numbers):
        yield replace(each, field=NUMBER_LABELS[each.field])
    elements = metadata.shorten_names(before.metadata) if before else NOTHING
    for each in _of_mapping(elements, metadata.shorten_names(after.metadata)):
        yield replace(each, field=messages.label_of(each.field), element=each.field)


def _of_mapping(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            yield Difference(field=name, before=before.get(name, ""), after=after.get(name, ""))
