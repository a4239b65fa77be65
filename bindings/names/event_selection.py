"""Lists of events: the changes of all names, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from . import selection as listing
from . import validation
from .binding import ACTIONS, Action, Event
from .errors import BindingError
from .selection import MAX_PAGE

if TYPE_CHECKING:
    from ..collection import Bindings


@dataclass(frozen=True, kw_only=True)
class EventSelection:
    """The conditions of a list of events. None means no condition.

    - ``operation``: the number of the operation that the events belong to. None selects the changes of one name, and
      not those of operations.
    - ``actor``: the person or program that made the change.
    - ``prefix``: the beginning of the keys.
    - ``action``: what the change did, such as "relocated".
    - ``since``, ``before``: times in UTC. The time of ``since`` is included, that of ``before`` is not.
    """

    operation: int | None = None
    actor: str | None = None
    prefix: str | None = None
    action: Action | None = None
    since: datetime | None = None
    before: datetime | None = None


class NumberedEvent(NamedTuple):
    """An event with its number. Numbers increase with the time of writing."""

    number: int
    event: Event


class EventPage(NamedTuple):
    """A page of events. ``next`` is the argument ``below`` for the next page, or None at the end.

    ``unreadable`` has the keys of rows that another program wrote and that cannot be read.
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
    """Return the selection for the texts of a user.

    ``prefix`` is the beginning of an ARK or URN in any spelling. Raises :class:`BindingError` with the code
    ``list-prefix`` or ``list-action``.

    >>> select_events(prefix="ark:/12345/X5-", action="bound").prefix
    'ark:12345/X5'
    """
    actions: dict[str, Action] = {each: each for each in ACTIONS}
    if action is not None and action not in actions:
        raise BindingError("list-action", f"the action {validation.shown(action)} does not exist")
    return EventSelection(
        operation=operation,
        actor=actor,
        prefix=None if prefix is None else listing.beginning(prefix),
        action=None if action is None else actions[action],
        since=since,
        before=before,
    )


def list_events(
    bindings: Bindings, selection: EventSelection | None = None, *, below: int | None = None, limit: int = 100
) -> EventPage:
    """Return a page of events, the newest first. A file of text has no events.

    ``below`` is :attr:`EventPage.next` of the page before, or None. ``limit`` is from 1 to 1,000. Raises
    :class:`BindingError` with the code ``list-limit``.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x", "/x", actor="jane"), b.relocate("ark:12345/x", "/y", actor="ada")
    ('bound', 'relocated')
    >>> [(each.event.action, each.event.actor) for each in list_events(b).events]
    [('relocated', 'ada'), ('bound', 'jane')]
    >>> b.close(); folder.cleanup()
    """
    if not 1 <= limit <= MAX_PAGE:
        raise BindingError("list-limit", f"a page cannot have {limit:,} events")
    return bindings.store.events(selection or EventSelection(), below, limit)
