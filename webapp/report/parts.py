"""Split an identifier into its labelled parts, each with its meaning, its problems and the steps that changed it.
Parts are numbered from one in the order of the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from typing import Any, NamedTuple

from ...identifiers import Problem, Report, Segment, parse
from ...identifiers.registries.holder_names import HolderName
from ...identifiers.segments import LABELS
from ...identifiers.text.translatable import Translatable
from ..language.current import language
from . import excerpt
from .excerpt import Line
from .facts import detail_label

MAX_SEGMENTS = 24
"""Maximum number of segments that are shown. Of more segments, the middle is omitted."""

MAX_FOLLOWED = 4000
"""Maximum length of an identifier whose segments are followed through the steps, in characters."""


class Meaning(NamedTuple):
    """The meaning of a part in this identifier: a name or a finding, a text, and an identifier that ends the text.
    Each can be ""; ``strong`` and ``identifier`` are not trusted.
    """

    strong: str = ""
    text: str = ""
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an identifier, such as the NAAN, or a "gap" of ``left_out`` omitted parts.
    The positions ``start`` and ``end`` count from one. ``problems`` and ``steps`` are numbers of problems and steps.
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
    meanings: tuple[Meaning, ...] = ()


def show_parts(report: Report, problems: Sequence[Problem]) -> Iterator[Part]:
    """Yield the parts of an identifier, at most :data:`MAX_SEGMENTS` and a gap in the middle.
    ``problems`` are the displayed errors and warnings; a part refers to them by their position, counted from one.

    >>> from ararat.identifiers import examine
    >>> [(part.label, part.steps) for part in show_parts(examine("ark:/12345/x-1"), ())]
    [('label (classic)', (1,)), ('NAAN', ()), ('', ()), ('Name', (2,))]
    """
    segments = segments_of(report)
    half = MAX_SEGMENTS // 2
    last = max(half, len(segments) - half)
    kept = [*range(min(half, len(segments))), *range(last, len(segments))]
    most = max(24, excerpt.MAX_LENGTH // max(1, len(kept)))
    changes = follow_steps(report)
    for index in kept:
        if index == last > half:
            yield Part("gap", left_out=last - half)
        yield _part(index, segments, report, problems, changes, most)


def segments_of(report: Report) -> Sequence[Segment]:
    """Return the segments of an identifier. An ARK outside the specification ends with its query or fragment.

    >>> from ararat.identifiers import examine
    >>> [(each.part, each.end) for each in segments_of(examine("ark:/61903/1:1:MW98?a"))]
    [('label', 5), ('naan', 10), ('separator', 11), ('name', 19), ('query', 21)]
    """
    if report.conformance != "outside":
        return report.segments
    text, start = report.input, len(report.parts["prefix"] or "")
    label = start + (5 if text[start + 4 : start + 5] == "/" else 4)
    naan = text.index("/", label)
    query = min((place for mark in "?#" if (place := text.find(mark, naan)) >= 0), default=len(text))
    ends = [("prefix", start), ("label", label), ("naan", naan), ("separator", naan + 1), ("name", query)]
    ends.append(("fragment" if text[query : query + 1] == "#" else "query", len(text)))
    found, before = [], 0
    for part, end in ends:
        if end > before:
            found.append(Segment(part, before, end))
            before = end
    return found


def touching(place: Problem, report: Report) -> tuple[int, ...]:
    """Return the numbers of the parts that a problem affects, or () if it affects more parts than are shown."""
    segments = segments_of(report)
    first = bisect_right(segments, place.start, key=attrgetter("end"))
    last = bisect_left(segments, max(place.end, place.start + 1), key=attrgetter("start"))
    return tuple(range(first + 1, last + 1)) if last - first <= MAX_SEGMENTS else ()


def follow_steps(report: Report) -> list[tuple[int, ...]]:
    """Return, for each normalization step, the numbers of the parts that it changed, moved or removed.
    They are empty for an identifier of more than :data:`MAX_FOLLOWED` characters.

    >>> from ararat.identifiers import examine
    >>> follow_steps(examine("https://n2t.net/ark:/12345/x-1.b.a.b"))
    [(2,), (5,), (6,)]
    """
    found: list[tuple[int, ...]] = []
    if report.steps and len(report.input) <= MAX_FOLLOWED:
        # The steps refer to the ARK without its prefix.
        alive = [number for number, segment in enumerate(report.segments, 1) if segment.part != "prefix"]
        before = _texts(report.steps[0].before)
        for step in report.steps:
            after = _texts(step.after)
            touched, alive = _match_parts(before, after, alive)
            found.append(touched)
            before = after
    return found or [()] * len(report.steps)


def _texts(text: str) -> list[tuple[str, str]]:
    return [(segment.part, text[segment.start : segment.end]) for segment in parse(text).segments]


def _match_parts(
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
    index: int,
    segments: Sequence[Segment],
    report: Report,
    problems: Sequence[Problem],
    changes: Sequence[tuple[int, ...]],
    most: int,
) -> Part:
    segment, number = segments[index], index + 1
    written = report.input[segment.start : segment.end]
    label = _label(segment.part, written, report)
    return Part(
        segment.part,
        number,
        label,
        _line(segment, written, report, most),
        segment.start + 1,
        segment.end,
        tuple(place for place, found in enumerate(problems, 1) if _affects(found, segment)),
        tuple(place for place, touched in enumerate(changes, 1) if number in touched),
        meanings=tuple(_meanings(segment.part, written, report)) if label else (),
    )


def _line(segment: Segment, written: str, report: Report, most: int) -> Line:
    """Return the text of a part. In an ARK outside the specification, the wrong characters are marked."""
    found = report.problems[0] if report.conformance == "outside" else None
    if found is None or not segment.start <= found.start < segment.end:
        return excerpt.plain(written, most)
    wrong = report.input[found.start : found.end] if found.code == "bad-char" else ""
    if not wrong:
        return excerpt.mark_in_whole(written, found.start - segment.start, min(found.end, segment.end) - segment.start)
    return excerpt.mark_occurrences(written, wrong, most)


def _affects(found: Problem, segment: Segment) -> bool:
    return found.start < segment.end and segment.start < found.end and found.severity != "note"


def _label(part: str, written: str, report: Report) -> str:
    if part == "label" and written.endswith("/"):
        return Translatable("label (classic)")
    if part == "query" and report.service == "metadata":
        return Translatable("inflection")
    return LABELS.get(part, part)


def _meanings(part: str, written: str, report: Report) -> Iterator[Meaning]:
    registry = report.registry or {}
    if part == "prefix":
        yield Meaning(text=Translatable("The web address before the identifier, which does not depend on it."))
    elif part == "label":
        yield Meaning(text=Translatable("The classic form, with a slash.") if written.endswith("/") else "")
    elif part == "naan":
        yield from _naan(registry)
    elif part == "name":
        yield from _name(written, report, registry)
    elif part == "component":
        yield Meaning(text=Translatable("A part of the thing before it."))
    elif part == "variant":
        yield Meaning(text=Translatable("Another form of the same thing. The order of variants has no meaning."))
    elif part == "nid":
        reference = next((each["text"] for each in registry.get("references", ())), "")
        if registry.get("registered"):
            yield Meaning(reference, Translatable("A registered namespace."))
        else:
            yield Meaning(text=Translatable("Not in this copy of the registry."))
    elif part == "nss":
        for label, text in (report.parts.get("details") or {}).items():
            yield Meaning(text=Translatable("%(label)s: %(text)s.", label=detail_label(label), text=text))
    elif part == "query":
        asks = Translatable("Asks for the description.")
        other = Translatable("For the web site. It is not part of the name.")
        yield Meaning(text=asks if report.service == "metadata" else other)
    elif part == "fragment":
        yield Meaning(text=Translatable("A place on the page. Browsers do not send it."))


def _naan(registry: Mapping[str, Any]) -> Iterator[Meaning]:
    if holder := registry.get("holder"):
        yield Meaning(
            HolderName(holder["name"], holder["native_name"], holder["where"]).alone(language()),
            Translatable("Registered: %(date)s.", date=_day(holder["since"])) if holder["since"] else "",
        )
    elif registry.get("registry") == "naan":
        yield Meaning(text=Translatable("Not in this copy of the registry."))
    if explanation := registry.get("explanation"):
        yield Meaning(text=explanation["text"])


def _day(text: str) -> date | str:
    """Return the day of a registry, or its text if it is not a whole day."""
    with suppress(ValueError):
        return date.fromisoformat(text)
    return text


def _name(written: str, report: Report, registry: Mapping[str, Any]) -> Iterator[Meaning]:
    if shoulder := registry.get("shoulder"):
        below = Translatable(
            "Below the shoulder %(shoulder)s, %(name)s.", shoulder=shoulder["shoulder"], name=shoulder["name"].strip()
        )
        yield Meaning(text=below)
    elif not report.check_character:
        yield Meaning(text=Translatable("Chosen by the holder."))
    if check := report.check_character:
        if check["valid"]:
            right = Translatable("\u2713 Check character %(character)s is right.", character=check["character"])
            yield Meaning(text=right)
        else:
            wrong = Translatable("\u25b3 Check character %(character)s does not match.", character=check["character"])
            yield Meaning(text=wrong)
    if "-" in written:
        yield Meaning(text=Translatable("Hyphens have no meaning. The same name:"), identifier=written.replace("-", ""))
