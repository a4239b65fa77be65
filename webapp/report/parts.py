"""Split an identifier into its labelled parts, each with its problems and the normalization steps that changed it.

Parts are numbered from one in the order of the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ...identifiers import Problem, Report, Segment, parse
from ...identifiers.segments import LABELS
from . import excerpt
from .excerpt import Line

MAX_SEGMENTS = 24
"""Maximum number of segments that are shown. Of more segments, the middle is omitted."""

MAX_FOLLOWED = 4000
"""Maximum length of an identifier whose segments are followed through the steps, in characters."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an identifier, such as the NAAN, or a gap in a long identifier.

    - ``part``: the kind of the part, or "gap" for ``left_out`` omitted parts; ``label``: its displayed name.
    - ``start``, ``end``: the position in the identifier, counted from one.
    - ``problems``: the numbers of the errors and warnings in this part.
    - ``steps``: the numbers of the normalization steps that changed it.
    """

    part: str
    number: int = 0
    label: str = ""
    line: Line = ()
    start: int = 0
    end: int = 0
    problems: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    left_out: int = 0


def shown(report: Report, problems: Sequence[Problem]) -> Iterator[Part]:
    """Yield the parts of an identifier, at most :data:`MAX_SEGMENTS` and a gap in the middle.

    ``problems`` are the displayed errors and warnings; a part refers to them by their position, counted from one.

    >>> from ararat.identifiers import examine
    >>> [(part.label, part.steps) for part in shown(examine("ark:/12345/x-1"), ())]
    [('label (classic)', (1,)), ('NAAN', ()), ('', ()), ('Name', (2,))]
    """
    half = MAX_SEGMENTS // 2
    last = max(half, len(report.segments) - half)
    kept = [*range(min(half, len(report.segments))), *range(last, len(report.segments))]
    most = max(24, excerpt.MAX_LENGTH // max(1, len(kept)))
    changes = followed(report)
    for index in kept:
        if index == last > half:
            yield Part("gap", left_out=last - half)
        yield _part(index, report, problems, changes, most)


def touching(place: Problem, report: Report) -> tuple[int, ...]:
    """Return the numbers of the parts that a problem affects, or () if it affects more parts than are shown."""
    first = bisect_right(report.segments, place.start, key=attrgetter("end"))
    last = bisect_left(report.segments, max(place.end, place.start + 1), key=attrgetter("start"))
    return tuple(range(first + 1, last + 1)) if last - first <= MAX_SEGMENTS else ()


def followed(report: Report) -> list[tuple[int, ...]]:
    """Return, for each normalization step, the numbers of the parts that it changed, moved or removed.

    The tuples are empty for an identifier of more than :data:`MAX_FOLLOWED` characters.

    >>> from ararat.identifiers import examine
    >>> followed(examine("https://n2t.net/ark:/12345/x-1.b.a.b"))
    [(2,), (5,), (6,)]
    """
    found: list[tuple[int, ...]] = []
    if report.steps and len(report.input) <= MAX_FOLLOWED:
        # The steps refer to the ARK without its prefix.
        alive = [number for number, segment in enumerate(report.segments, 1) if segment.part != "prefix"]
        before = _texts(report.steps[0].before)
        for step in report.steps:
            after = _texts(step.after)
            touched, alive = _compared(before, after, alive)
            found.append(touched)
            before = after
    return found or [()] * len(report.steps)


def _texts(text: str) -> list[tuple[str, str]]:
    return [(segment.part, text[segment.start : segment.end]) for segment in parse(text).segments]


def _compared(
    before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]], alive: list[int]
) -> tuple[tuple[int, ...], list[int]]:
    if len(before) == len(after):
        return tuple(number for number, a, b in zip(alive, before, after, strict=True) if a != b), alive
    # Only duplicate variants are removed; the segments before and after them stay.
    head = next((place for place, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(after))
    tail = 0
    while tail < len(after) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = len(alive) - tail
    return tuple(alive[head:end]), [*alive[: len(after) - tail], *alive[end:]]


def _part(
    index: int, report: Report, problems: Sequence[Problem], changes: Sequence[tuple[int, ...]], most: int
) -> Part:
    segment, number = report.segments[index], index + 1
    written = report.input[segment.start : segment.end]
    return Part(
        segment.part,
        number,
        _label(segment.part, written, report),
        excerpt.plain(written, most),
        segment.start + 1,
        segment.end,
        tuple(place for place, found in enumerate(problems, 1) if _affects(found, segment)),
        tuple(place for place, touched in enumerate(changes, 1) if number in touched),
    )


def _affects(found: Problem, segment: Segment) -> bool:
    return found.start < segment.end and segment.start < found.end and found.severity != "note"


def _label(part: str, written: str, report: Report) -> str:
    if part == "label" and written.endswith("/"):
        return "label (classic)"
    if part == "query" and report.service == "metadata":
        return "inflection"
    return LABELS.get(part, part)
