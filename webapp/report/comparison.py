"""Compare two identifiers: whether they are equivalent, why, and where their normal forms differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...identifiers import Ark, Report, Urn, equivalent, examine, parse
from ...identifiers.report import Limits
from ...identifiers.text import display
from ...identifiers.urn import equivalence, namespaces
from ...identifiers.urn.grammar import RFC8141

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
    """The result of :func:`compare`.

    - ``verdict``: "equivalent", "different", or "unreadable" if one of the texts is not a valid identifier.
    - ``sentence``: the reason, in printable ASCII.
    - ``part``: the first part in which the normal forms differ ("Name"), or None.
    - ``difference``: the index of the first code point that differs, or None.
    """

    a: Report
    b: Report
    verdict: Verdict
    sentence: str
    part: str | None = None
    difference: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "equivalent": self.verdict == "equivalent",
            "sentence": self.sentence,
            "part": self.part,
            "difference": self.difference,
            "a": self.a.as_dict(),
            "b": self.b.as_dict(),
        }


def compare(a: str, b: str, *, brief: bool = False) -> Comparison:
    """Compare two identifiers by their normal forms. Any two str are accepted, and white space is not removed.

    With ``brief``, the reports are brief (:func:`examine`), and have one problem at most.

    Two identifiers are equivalent if their normal forms have equal code points, or by the rule of their URN namespace.
    In a URL that contains an ARK, only the ARK is compared (ARK draft, section 6; URN draft, section 5; ARK-081, N-06,
    U-02).

    >>> compare("ark:/12345/x6-np1", "https://n2t.net/ark:12345/x6np1").verdict
    'equivalent'
    >>> found = compare("ark:12345/x6", "ark:12345/x7")
    >>> found.verdict, found.part, found.difference
    ('different', 'Name', 11)
    """
    limits = Limits(problems=1) if brief else Limits()
    first, second = (examine(text, limits=limits, brief=brief) for text in (a, b))
    if first.normal_form is None or second.normal_form is None:
        return Comparison(first, second, "unreadable", _unreadable(first, second))
    if first.normal_form == second.normal_form:
        return Comparison(first, second, "equivalent", _equivalent(first, second))
    if equivalent(a, b):
        known = namespaces.lookup(first.parts["nid"])
        why = f"Equivalent by the rule of the namespace: {known.equivalence}" if known else ""
        return Comparison(first, second, "equivalent", why)
    place = _first_difference(first.normal_form, second.normal_form)
    part = _part(first.normal_form, second.normal_form, place)
    return Comparison(first, second, "different", _different(first, second, part), part, place)


def _unreadable(first: Report, second: Report) -> str:
    if first.normal_form is None and second.normal_form is None:
        return "Neither text is a valid ARK or URN, so they cannot be compared."
    if first.normal_form is None:
        return "The first text is not a valid ARK or URN, so they cannot be compared."
    return "The second text is not a valid ARK or URN, so they cannot be compared."


def _equivalent(first: Report, second: Report) -> str:
    if first.input == second.input:
        return "Equivalent: both texts are the same."
    why = "Equivalent: the normal forms are equal."
    if "embedded" in (first.form, second.form):
        why += " In a URL that contains an ARK, only the ARK is compared."
    return why


def _different(first: Report, second: Report, part: str) -> str:
    why = f"Not equivalent: the normal forms differ in the {part}."
    a, b = (parse(report.normal_form or "") for report in (first, second))
    if isinstance(a, Urn) and isinstance(b, Urn) and equivalence.equivalent(a, b, RFC8141):
        why += " They are equivalent by RFC 8141, which ignores query and fragment."
    elif display.is_composed(first.input) != display.is_composed(second.input):
        why += " One text has composed characters, the other decomposed ones. Comparison does not normalize Unicode."
    return why


def _first_difference(a: str, b: str) -> int:
    length = min(len(a), len(b))
    return next((place for place in range(length) if a[place] != b[place]), length)


def _part(a: str, b: str, place: int) -> str:
    # If one normal form is the beginning of the other, the longer one contains the differing part.
    longer = parse(max(a, b, key=len))
    if isinstance(longer, Ark):
        part = longer.written.part_at(place)
    else:
        part = next(segment.part for segment in longer.segments if segment.start <= place < segment.end)
    return _PARTS.get(part, part)
