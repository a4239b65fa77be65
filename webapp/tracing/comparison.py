"""Whether two resolvers lead to the same place: the ends of two traces of one identifier, side by side (ARK-038)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .events import End, Event, Hop

COMPARED = ("outcome", "state", "url", "fragment", "code")
"""The fields of an end in which two can differ; the others are counts and words."""


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """What two traces have in common.

    ``same`` says whether both ended in one way: with one outcome, in one state, and where that is success at one URI,
    fragments included. ``met`` is the first address that both asked, from which on they go alike as long as its answers
    stay the same; None where there is none. ``parted`` is the last one that both asked, where they end differently all
    the same. ``differ`` has the fields of the two ``ends`` that are not alike, of :data:`COMPARED`. ``sentence`` tells
    it, in printable ASCII.
    """

    same: bool
    met: str | None
    parted: str | None
    differ: tuple[str, ...]
    ends: tuple[End, End]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        return {
            "event": "compared",
            "same": self.same,
            "met": self.met,
            "parted": self.parted,
            "differ": list(self.differ),
            "ends": [end.as_dict() for end in self.ends],
            "sentence": self.sentence,
        }


def compared(first: Iterable[Event], second: Iterable[Event]) -> Iterator[Event | TraceComparison]:
    """The events of one trace, then those of the other, as they come, and at last what they have in common."""
    runs: tuple[list[Event], list[Event]] = ([], [])
    for told, events in zip(runs, (first, second), strict=True):
        for event in events:
            told.append(event)
            yield event
    yield compare_ends(*runs)


def compare_ends(first: Sequence[Event], second: Sequence[Event]) -> TraceComparison:
    """Compare the events of two whole traces.

    Raises ValueError where one of them has no end.

    >>> from ararat.webapp.tracing.hop import HopResponse
    >>> from ararat.webapp.tracing.algorithm import trace
    >>> def fetch(method, url, deadline):
    ...     status = 200 if url.endswith("/x") else 302
    ...     return HopResponse(status, "", (("Location", "/x"),))
    >>> one, other = (list(trace("ark:12345/b", fetch=fetch, resolver=f"https://{host}.example")) for host in "ab")
    >>> compare_ends(one, one).same, compare_ends(one, other).sentence
    (True, 'They end at different places: https://a.example/x and https://b.example/x.')
    """
    one, other = _end(first), _end(second)
    addresses = [[event.url for event in events if isinstance(event, Hop)] for events in (first, second)]
    met = next((address for address in addresses[0] if address in addresses[1]), None)
    same = _way(one) == _way(other)
    parted = None if same else next((address for address in reversed(addresses[0]) if address in addresses[1]), None)
    if same and one.outcome == "success":
        sentence = f"Both end at {_place(one)}."
    elif same:
        sentence = f"Both end with {one.outcome} ({one.code})."
    elif one.outcome == other.outcome == "success" and _place(one) != _place(other):
        sentence = f"They end at different places: {_place(one)} and {_place(other)}."
    else:
        sentence = f"They end differently: {_words(one)}, and {_words(other)}."
    if met is not None and (met != one.url or not same):
        if same:
            sentence += f" They meet at {met}."
        elif parted == met:
            sentence += f" They meet at {met} and part there."
        else:
            sentence += f" They meet at {met} and part again at {parted}."
    differ = tuple(name for name in COMPARED if getattr(one, name) != getattr(other, name))
    return TraceComparison(same, met, parted, differ, (one, other), sentence)


def _end(events: Sequence[Event]) -> End:
    last = events[-1] if events else None
    if not isinstance(last, End):
        raise ValueError("a trace that has no end cannot be compared")
    return last


def _way(end: End) -> tuple[str, ...]:
    return (end.outcome, end.state, _place(end)) if end.outcome == "success" else (end.outcome, end.code)


def _place(end: End) -> str:
    return f"{end.url}#{end.fragment}" if end.fragment is not None else str(end.url)


def _words(end: End) -> str:
    return f"{end.outcome} at {_place(end)} ({end.state}, {end.code})"
