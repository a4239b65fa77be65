"""The parts of an identifier as a reader meets them, each with its problems and the steps that changed it.

Pure. Segments are numbered from one in the order of the text, however many of them are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...identifiers import Problem, Report, Segment, parse
from . import excerpt
from .excerpt import Line

LABELS = {
    "prefix": "resolver prefix",
    "label": "scheme",
    "naan": "NAAN",
    "separator": "",
    "name": "Name",
    "component": "component",
    "variant": "variant",
    "nid": "namespace (NID)",
    "nss": "name in it (NSS)",
    "query": "query",
    "fragment": "fragment",
}
"""What the kinds of segments are called, on a page and in a terminal."""

MOST_SEGMENTS = 24
"""Segments that are shown; of more the middle is left out."""

MOST_FOLLOWED = 4000
"""Characters of the longest identifier whose segments are followed through the steps."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment: what it is, what it is called, how it reads, and the numbers of what touches it.

    It is ``start`` to ``end`` of the identifier, counted from one; ``problems`` and ``steps`` are numbers of problems
    (errors and warnings) and of steps of the normalization. Where segments in the middle are left out, a part "gap"
    stands for ``left_out`` of them.
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
    """The segments of ``report`` with the numbers of those of ``problems``, counted from one, that touch them.

    >>> from ararat.identifiers import examine
    >>> [(part.label, part.steps) for part in shown(examine("ark:/12345/x-1"), ())]
    [('scheme, classic', (1,)), ('NAAN', ()), ('', ()), ('Name', (2,))]
    """
    half = MOST_SEGMENTS // 2
    last = max(half, len(report.segments) - half)
    kept = [*range(min(half, len(report.segments))), *range(last, len(report.segments))]
    most = max(24, excerpt.MOST // max(1, len(kept)))
    changes = followed(report)
    for index in kept:
        if index == last > half:
            yield Part("gap", left_out=last - half)
        yield _part(index, report, problems, changes, most)


def touching(place: Problem, report: Report) -> tuple[int, ...]:
    """The numbers of the segments that a problem lies in; none where it lies in more than are shown."""
    touched = []
    for number, segment in enumerate(report.segments, 1):
        if segment.start < max(place.end, place.start + 1) and place.start < segment.end:
            touched.append(number)
            if len(touched) > MOST_SEGMENTS:
                return ()
    return tuple(touched)


def followed(report: Report) -> list[tuple[int, ...]]:
    """For each step of the normalization the numbers of the segments that it changed, moved or took away.

    Of an identifier of more than :data:`MOST_FOLLOWED` characters none are named.

    >>> from ararat.identifiers import examine
    >>> followed(examine("https://n2t.net/ark:/12345/x-1.b.a.b"))
    [(2,), (5,), (6,)]
    """
    found: list[tuple[int, ...]] = []
    if report.steps and len(report.input) <= MOST_FOLLOWED:
        # The steps are those of the ARK; the prefix before it is no part of them.
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
    # Only variants become fewer: what stands before and after them stays what it is.
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
        tuple(place for place, found in enumerate(problems, 1) if _worth_a_mark(found, segment)),
        tuple(place for place, touched in enumerate(changes, 1) if number in touched),
    )


def _worth_a_mark(found: Problem, segment: Segment) -> bool:
    return found.start < segment.end and segment.start < found.end and found.severity != "note"


def _label(part: str, written: str, report: Report) -> str:
    if part == "label" and written.endswith("/"):
        return "scheme, classic"
    if part == "query" and report.service == "metadata":
        return "inflection"
    return LABELS.get(part, part)
