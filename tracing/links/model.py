"""The state of a target, from the trace of its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from ...bindings.names.binding import rfc3339
from ...identifiers.text.translatable import Translatable, sentence
from ...net.hop import FAILURES
from ..bulk import BulkTraceRow, Verdict, is_temporary
from ..events import Event, Hop
from ..messages import status_words

State = Literal["works", "moved", "refused", "dead", "unclear"]
STATES: tuple[State, ...] = get_args(State)

LABELS: Mapping[State, str] = {
    "works": Translatable("Works"),
    "moved": Translatable.in_context("state of a target", "Moved"),
    "refused": Translatable.in_context("state of a target", "Refused"),
    "dead": Translatable("Dead"),
    "unclear": Translatable("Unclear"),
}
"""The words for the states on pages."""

DESCRIPTIONS: Mapping[State, str] = {
    "works": Translatable("The target answers."),
    "moved": Translatable(
        "The target answers with a permanent redirect to another URL. Relocate the name to this URL."
    ),
    "refused": Translatable("The host refused the request (401, 403, 451). The page may open in a browser."),
    "dead": Translatable("The target does not answer, or answers with an error."),
    "unclear": Translatable(
        "The target gave no clear answer. The sentence states why. After an overload or a time-out it is tried again."
    ),
}

# RFC 9110, sections 15.4.2 and 15.4.9: 301 and 308 state that the target "has been assigned a new permanent URI".
_PERMANENT = frozenset({301, 308})

_STATES: dict[Verdict, State] = {
    "resolves": "works",
    "related": "works",
    "metadata": "works",
    "declined": "refused",
    "dead": "dead",
}


AGAIN = timedelta(hours=1)
"""The time after which a target is traced again that was overloaded or too slow."""

DEAD_AFTER = timedelta(days=3)
"""The time after which such a target is dead, if it was so at each trace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedTarget:
    """The last trace of the target of one name. ``key`` is that in the tables, which is shorter for a very long name.
    ``state`` is one of :data:`STATES`, since the first trace with this state and target, in UTC. ``url`` is where the
    trace ended. ``code`` and ``sentence`` are those of :class:`~ararat.tracing.events.End`.
    """

    identifier: str
    key: str
    target: str
    state: State
    status: int | None
    url: str | None
    code: str
    sentence: str
    since: datetime
    traced: datetime
    title: str = ""
    resource: str | None = None

    @property
    def is_temporary(self) -> bool:
        """Whether the target was overloaded or too slow, so that it can work at another time."""
        return self.state in ("unclear", "dead") and is_temporary(self.code, self.status)

    @property
    def cause(self) -> str:
        """Why the target does not work: its status with the standard phrase, or a sentence. Equal for all targets with
        the same error.
        """
        if self.status is not None:
            return status_words(self.status)
        return sentence(FAILURES[self.code]) if self.code in FAILURES else self.sentence

    def following(self, before: TracedTarget | None) -> TracedTarget:
        """Return this trace with the state that follows from ``before``, the last recorded trace of the name, or None.
        A target that is overloaded or too slow stays "unclear" for :data:`DEAD_AFTER`. Then it is "dead" since the
        first such trace.
        """
        if before is None or before.target != self.target or not (self.is_temporary and before.is_temporary):
            return self
        state = "dead" if self.traced - before.since >= DEAD_AFTER else "unclear"
        return replace(self, state=state, since=before.since)

    def as_dict(self) -> dict[str, Any]:
        """Return the trace for JSON. Times are RFC 3339 in UTC."""
        return {
            "identifier": self.identifier,
            "target": self.target,
            "state": self.state,
            "status": self.status,
            "url": self.url,
            "code": self.code,
            "sentence": self.sentence,
            "since": rfc3339(self.since),
            "traced": rfc3339(self.traced),
            "title": self.title,
            "resource": self.resource,
        }


def state_of(result: BulkTraceRow, events: Sequence[Event]) -> State | None:
    """Return the state of the target of a traced name, or None for the verdict "undone". It is "moved" if its own
    response (hop 2) is a permanent redirect and the trace succeeds.

    >>> from ararat.tracing.events import End
    >>> from ararat.tracing.bulk import row
    >>> end = End("failure", "direct", "https://example.org/", None, 1, 0.1, "dns", "Hop 1 had no answer.")
    >>> state_of(row("ark:12345/x", [end]), [end])
    'dead'
    """
    if result.verdict == "undone":
        return None
    state = _STATES.get(result.verdict, "unclear")
    of_target = next((event for event in events if isinstance(event, Hop) and event.number == 2), None)
    if state == "works" and of_target is not None and of_target.status in _PERMANENT:
        return "moved"
    return state
