"""Identifiers side by side: whether they are equivalent, why, and where their normal forms part.

:func:`compare` and :func:`classify` are total, as :func:`~ararat.identifiers.examine` is that they are made of, and
feed all that shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..identifiers import Report, Urn, display, examine, parse, urn

Verdict = Literal["equivalent", "different", "unreadable"]

_PARTS = {
    "label": "scheme",
    "naan": "NAAN",
    "name": "Name",
    "nid": "namespace identifier",
    "nss": "namespace-specific string",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What :func:`compare` found.

    ``verdict`` is "equivalent", "different", or "unreadable" where one of the two is no identifier; ``sentence`` says
    why, in printable ASCII. Of two different identifiers, ``part`` is what their normal forms differ in first ("Name"),
    ``difference`` the index of the first code point at which they do; else both are None.
    """

    a: Report
    b: Report
    verdict: Verdict
    sentence: str
    part: str | None = None
    difference: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON holds it."""
        return {
            "verdict": self.verdict,
            "equivalent": self.verdict == "equivalent",
            "sentence": self.sentence,
            "part": self.part,
            "difference": self.difference,
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
        }


def compare(a: str, b: str) -> Comparison:
    """Compare two texts, each taken whole and exactly as given. Never raises for two str.

    Two identifiers are equivalent when their normal forms are equal code point by code point; of an address with an ARK
    in it the ARK counts (ARK draft, section 6; URN draft, section 5; ARK-081, N-06, U-02).

    >>> compare("ark:/12345/x6-np1", "https://n2t.net/ark:12345/x6np1").verdict
    'equivalent'
    >>> found = compare("ark:12345/x6", "ark:12345/x7")
    >>> found.verdict, found.part, found.difference
    ('different', 'Name', 11)
    """
    return _compared(examine(a), examine(b))


@dataclass(frozen=True, slots=True)
class Group:
    """Identifiers that are equivalent: their places among all that were given, from zero, and their normal form.

    What cannot be read is a group of its own, with None. ``parting`` compares the first of the group with the first
    that can be read at all; None for the group of that one, and for what cannot be read.
    """

    members: tuple[int, ...]
    normal_form: str | None
    parting: Comparison | None

    def as_dict(self) -> dict[str, Any]:
        """The group as JSON holds it: of where it parts from the first, what a comparison says beside the reports."""
        said = self.parting.as_dict() if self.parting else None
        parting = said and {name: said[name] for name in ("sentence", "part", "difference")}
        return {"members": list(self.members), "normal_form": self.normal_form, "parting": parting}


@dataclass(frozen=True, slots=True)
class Classes:
    """What :func:`classify` found: the reports as given, in groups by their first members, and a sentence on all."""

    reports: tuple[Report, ...]
    groups: tuple[Group, ...]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The classes as JSON holds them: whether all are equivalent, the groups, and the reports that these number."""
        return {
            "equivalent": len(self.groups) == 1 and self.groups[0].normal_form is not None,
            "sentence": self.sentence,
            "groups": [group.as_dict() for group in self.groups],
            "reports": [report.as_dict() for report in self.reports],
        }


def classify(texts: Sequence[str]) -> Classes:
    """Which of ``texts``, each taken whole and exactly as given, are equivalent to which. Never raises for str.

    >>> found = classify(["ark:/12345/x-1", "ark:12345/x2", "https://n2t.net/ark:12345/x1"])
    >>> [group.members for group in found.groups], found.groups[1].parting.part
    ([(0, 2), (1,)], 'Name')
    >>> found.sentence
    'Not all are equivalent: these 3 identifiers are 2 different ones.'
    """
    reports = tuple(map(examine, texts))
    members: dict[str | int, list[int]] = {}
    for place, report in enumerate(reports):
        members.setdefault(report.normal_form or place, []).append(place)
    first = next((report for report in reports if report.normal_form), None)
    groups = tuple(_group(tuple(places), reports, first) for places in members.values())
    return Classes(reports, groups, _classified(reports, groups))


def _group(places: tuple[int, ...], reports: Sequence[Report], first: Report | None) -> Group:
    report = reports[places[0]]
    if first is None or report.normal_form is None or report.normal_form == first.normal_form:
        return Group(places, report.normal_form, None)
    return Group(places, report.normal_form, _compared(first, report))


def _classified(reports: Sequence[Report], groups: Sequence[Group]) -> str:
    if len(reports) == 2:
        return _compared(*reports).sentence
    unreadable = sum(group.normal_form is None for group in groups)
    different = len(groups) - unreadable
    if len(groups) == 1 and not unreadable:
        return f"All {len(reports)} are equivalent: their normal forms are equal."
    said = "None of them can be read as an identifier, and what cannot be read is equivalent to nothing."
    if different:
        readable = len(reports) - unreadable
        said = f"Not all are equivalent: {_readable(readable, different)}."
        if unreadable:
            are = "is" if unreadable == 1 else "are"
            said += f" {unreadable:,} cannot be read as an identifier, and {are} equivalent to nothing."
    return said


def _readable(count: int, different: int) -> str:
    if count == 1:
        return "one of them can be read"
    if different == 1:
        return f"these {count} identifiers are one"
    return f"these {count} identifiers are {different} different ones"


def _compared(first: Report, second: Report) -> Comparison:
    if first.normal_form is None or second.normal_form is None:
        return Comparison(first, second, "unreadable", _unreadable(first, second))
    if first.normal_form == second.normal_form:
        return Comparison(first, second, "equivalent", _equivalent(first, second))
    place = _first_difference(first.normal_form, second.normal_form)
    part = _part(first.normal_form, second.normal_form, place)
    return Comparison(first, second, "different", _different(first, second, part), part, place)


def _unreadable(first: Report, second: Report) -> str:
    if first.normal_form is None and second.normal_form is None:
        return "Neither is an identifier that can be read, and what cannot be read is equivalent to nothing."
    if first.normal_form is None:
        return "The first cannot be read as an identifier, so that it is equivalent to nothing."
    return "The second cannot be read as an identifier, so that it is equivalent to nothing."


def _equivalent(first: Report, second: Report) -> str:
    if first.input == second.input:
        return "They are equivalent: the same text twice."
    why = "They are equivalent: their normal forms are equal."
    if "embedded" in (first.form, second.form):
        why += " Of an address with an ARK in it, only the ARK counts."
    return why


def _different(first: Report, second: Report, part: str) -> str:
    why = f"They are not equivalent: their normal forms differ in the {part}."
    a, b = (parse(report.normal_form or "") for report in (first, second))
    if isinstance(a, Urn) and isinstance(b, Urn) and urn.equivalent(a, b, urn.RFC8141):
        why += " By RFC 8141, which leaves query and fragment out, they would be."
    elif display.is_composed(first.input) != display.is_composed(second.input):
        why += " One has composed characters where the other has not; there is no Unicode normalization in comparing."
    return why


def _first_difference(a: str, b: str) -> int:
    length = min(len(a), len(b))
    return next((place for place in range(length) if a[place] != b[place]), length)


def _part(a: str, b: str, place: int) -> str:
    # Where one ends before the other goes on, the longer one has the part that makes the difference.
    for segment in parse(max(a, b, key=len)).segments:
        if segment.start <= place < segment.end:
            return _PARTS.get(segment.part, segment.part)
    raise AssertionError(f"two normal forms with a difference at {place} have no part there")
