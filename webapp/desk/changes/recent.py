"""The last changes for the overview, with those of one account within ten minutes as one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from os.path import commonprefix

from ....bindings.names.binding import Action, rfc3339
from ....bindings.names.event_selection import EventSelection
from ....identifiers.text.translatable import Translatable
from ...config import url
from .listing import ChangeEntry, changes_of

WITHIN = timedelta(minutes=10)
"""The maximum time between the first and the last change of a line."""

LINES = 8
READ = 300
"""The maximum number of lines, and of changes that are read for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeLine:
    """Changes of one account within ten minutes, the newest first; ``when`` is the time of the newest.
    ``has_more``: there can be older ones that were not read.
    """

    actor: str | None
    when: datetime
    entries: Sequence[ChangeEntry]
    has_more: bool = False

    @property
    def text(self) -> str:
        """The numbers of changes, such as "44 names reserved, 1 name updated"."""
        actions: Counter[Action] = Counter(each.event.event.action for each in self.entries if each.event)
        parts = [_count_text(action, number) for action, number in actions.most_common()]
        operations = sum(each.operation is not None for each in self.entries)
        parts += (
            [Translatable.counted("%(number)s operation", "%(number)s operations", operations)] if operations else []
        )
        text = parts[0]
        for part in parts[1:]:
            text = Translatable("%(first)s, %(more)s", first=text, more=part)
        return Translatable("At least %(changes)s", changes=text) if self.has_more else text

    @property
    def beginning(self) -> str:
        """The beginning that all its names share, at least a NAAN and one character; "" for one name or without it."""
        names = [each.event.event.after.identifier for each in self.entries if each.event]
        found = commonprefix(names)  # noqa: RUF071 - a shoulder ends inside a path segment
        return found if len(names) > 1 and not found.endswith("/") and found.count("/") > 0 else ""

    @property
    def address(self) -> str:
        """The URL of the list of changes with its actor and period."""
        until = self.when + timedelta(microseconds=1)
        return url("desk.changes", actor=self.actor, since=rfc3339(self.entries[-1].when), before=rfc3339(until))


def _count_text(action: Action, number: int) -> Translatable:
    """Return a text such as "44 names reserved"."""
    counted = Translatable.counted
    match action:
        case "bound":
            return counted("%(number)s name bound", "%(number)s names bound", number)
        case "updated":
            return counted("%(number)s name updated", "%(number)s names updated", number)
        case "relocated":
            return counted("%(number)s name relocated", "%(number)s names relocated", number)
        case "withdrawn":
            return counted("%(number)s name withdrawn", "%(number)s names withdrawn", number)
        case "restored":
            return counted("%(number)s name restored", "%(number)s names restored", number)
        case "redacted":
            return counted("%(number)s name redacted", "%(number)s names redacted", number)
        case "reserved":
            return counted("%(number)s name reserved", "%(number)s names reserved", number)
        case "deleted":
            return counted("%(number)s name deleted", "%(number)s names deleted", number)
        case "hidden":
            return counted("%(number)s name hidden", "%(number)s names hidden", number)


def recent_lines() -> tuple[list[ChangeLine], Sequence[str]]:
    """Return the last changes as at most :data:`LINES` lines, the newest first, and the names that cannot be read."""
    shown = changes_of(EventSelection(), limit=READ)
    found = lines(shown.entries)
    if shown.next is not None and len(found) <= LINES:
        last = found[-1]
        found[-1] = ChangeLine(actor=last.actor, when=last.when, entries=last.entries, has_more=True)
    return found[:LINES], shown.unreadable


def lines(entries: Iterable[ChangeEntry]) -> list[ChangeLine]:
    """Return lines of changes, the newest first: one for consecutive changes of an actor within ten minutes."""
    found: list[list[ChangeEntry]] = []
    for entry in entries:
        first = found[-1][0] if found else None
        if first and first.actor == entry.actor and abs(first.when - entry.when) <= WITHIN:
            found[-1].append(entry)
        else:
            found.append([entry])
    return [ChangeLine(actor=each[0].actor, when=each[0].when, entries=each) for each in found]
