"""Lists of events: the changes of all names, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ...identifiers.text.translatable import Translatable
from . import selection, validation
from .binding import ACTIONS, Action, Event
from .errors import BindingError


@dataclass(frozen=True, kw_only=True)
class EventSelection:
    """The conditions that select changes of names for a list. None means no condition, except for ``operation``.

    - ``operation``: the number of the operation whose changes are selected. None selects only the changes that belong
      to no operation, which were made one by one.
    - ``prefix``: the beginning of normal forms. ``actor``: the whole name of the actor.
    - ``since``, ``before``: times in UTC. The time of ``since`` is included, that of ``before`` is not.
    """

    operation: int | None = None
    actor: str | None = None
    prefix: str | None = None
    action: Action | None = None
    since: datetime | None = None
    before: datetime | None = None


class NumberedEvent(NamedTuple):
    """A change of a name, and its number among all changes of a store. Later changes have larger numbers."""

    number: int
    event: Event


class EventPage(NamedTuple):
    """A page of a list of changes. ``next`` is the ``cursor`` of the next page, or None at the end. ``unreadable`` has
    the keys of rows that cannot be read.
    """

    events: list[NumberedEvent]
    next: int | None
    unreadable: list[str]


def select_events(
    *,
    operation: int | None = None,
    actor: str | None = None,
    prefix: str | None = None,
    action: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
) -> EventSelection:
    """Check the conditions for a list of changes that a user entered. ``prefix`` is in any spelling, and ``since`` and
    ``before`` are as in :class:`EventSelection`. Raises :class:`BindingError` (``list-prefix``, ``list-action``).

    >>> select_events(prefix="ark:/12345/X5-", action="bound").prefix
    'ark:12345/X5'
    """
    actions: dict[str, Action] = {each: each for each in ACTIONS}
    if action is not None and action not in actions:
        raise BindingError(
            "list-action", Translatable("the action %(action)s does not exist", action=validation.quote(action))
        )
    return EventSelection(
        operation=operation,
        actor=actor,
        prefix=None if prefix is None else selection.beginning(prefix),
        action=None if action is None else actions[action],
        since=since,
        before=before,
    )
