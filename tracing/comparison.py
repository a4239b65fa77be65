"""Compare two traces of one identifier, to find out if two resolvers lead to the same URL (ARK-038)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .events import End, Event, Hop

COMPARED = ("outcome", "state", "url", "fragment", "code")
"""The fields of an end that are compared; the others are counts and texts."""


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """The result of comparing two traces of one identifier. ``same``: both have the same outcome, state and, after
    success, URI with its fragment. ``common_from`` is the first URL that both requested, or None. ``diverge_at`` is the
    last one if their ends differ, else None. ``differences`` are the fields of :data:`COMPARED` that differ.
    """

    same: bool
    common_from: str | None
    diverge_at: str | None
    differences: tuple[str, ...]
    ends: tuple[End, End]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values. ``met`` is :attr:`common_from`, ``parted`` :attr:`diverge_at`, and
        ``differ`` :attr:`differences`. The member ``event`` is "compared".
        """
        return {
            "event": "compared",
            "same": self.same,
            "met": self.common_from,
            "parted": self.diverge_at,
            "differ": list(self.differences),
            "ends": [end.as_dict() for end in self.ends],
            "sentence": self.sentence,
        }


def events_and_comparison(first: Iterable[Event], second: Iterable[Event]) -> Iterator[Event | TraceComparison]:
    """Yield the events of the first trace, those of the second, and last their comparison. Raises ValueError for a
    trace without an end.
    """
    runs: tuple[list[Event], list[Event]] = ([], [])
    for collected, events in zip(runs, (first, second), strict=True):
        for event in events:
            collected.append(event)
            yield event
    yield compare_ends(*runs)


def compare_ends(first: Sequence[Event], second: Sequence[Event]) -> TraceComparison:
    """Return the comparison of two complete traces. Raises ValueError for a trace without an end."""
    one, other = _end(first), _end(second)
    addresses = [[event.url for event in events if isinstance(event, Hop)] for events in (first, second)]
    common = next((address for address in addresses[0] if address in addresses[1]), None)
    same = _result(one) == _result(other)
    diverge = None if same else next((address for address in reversed(addresses[0]) if address in addresses[1]), None)
    if same and one.outcome == "success":
        sentence = f"Both traces end at {_uri(one)}."
    elif same:
        sentence = f"Both traces end with {one.outcome} ({one.code})."
    elif one.outcome == other.outcome == "success" and _uri(one) != _uri(other):
        sentence = f"The traces end at different URLs: {_uri(one)} and {_uri(other)}."
    else:
        sentence = f"The traces end differently: {_words(one)}, and {_words(other)}."
    if common is not None and (common != one.url or not same):
        if same:
            sentence += f" Both requested {common}."
        elif diverge == common:
            sentence += f" Both requested {common} and got different answers there."
        else:
            sentence += f" Both requested {common}; they differ after {diverge}."
    differences = tuple(name for name in COMPARED if getattr(one, name) != getattr(other, name))
    return TraceComparison(same, common, diverge, differences, (one, other), sentence)


def _end(events: Sequence[Event]) -> End:
    last = events[-1] if events else None
    if not isinstance(last, End):
        raise ValueError("a trace without an end cannot be compared")
    return last


def _result(end: End) -> tuple[str, ...]:
    return (end.outcome, end.state, _uri(end)) if end.outcome == "success" else (end.outcome, end.code)


def _uri(end: End) -> str:
    return f"{end.url}#{end.fragment}" if end.fragment is not None else str(end.url)


def _words(end: End) -> str:
    return f"{end.outcome} at {_uri(end)} ({end.state}, {end.code})"
