"""Compare two identifiers: whether they are equivalent, why, and where their normal forms differ.

:func:`compare` accepts any two texts, as :func:`~ararat.identifiers.examine` does. Page, API and command line show its
result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...identifiers import Report, Urn, equivalent, examine, parse
from ...identifiers.text import display
from ...identifiers.urn import model as urn
from ...identifiers.urn import namespaces

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
    first, second = examine(a), examine(b)
    if first.normal_form is None or second.normal_form is None:
        return Comparison(first, second, "unreadable", _unreadable(first, second))
    if first.normal_form == second.normal_form:
        return Comparison(first, second, "equivalent", _equivalent(first, second))
    if equivalent(a, b):
        known = namespaces.lookup(first.parts["nid"])
        why = f"They are equivalent by the rule of their namespace: {known.equivalence}" if known else ""
        return Comparison(first, second, "equivalent", why)
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
