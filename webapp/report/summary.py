"""Summarize a report: a verdict in one sentence, and badges for validity, normal form and binding.

The texts never state that an identifier is persistent or that a resource exists (ARK-007). They are printable ASCII
and contain no characters of the identifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...identifiers.text import characters, display

if TYPE_CHECKING:
    from ...identifiers import Report
    from .inspection import InspectedIdentifier

Status = Literal["good", "warn", "bad", "plain"]

GRAVITY = {"error": 0, "warning": 1, "note": 2}
"""The sort order of severities."""


@dataclass(frozen=True, slots=True)
class Badge:
    """A short statement about an identifier, such as "valid", with a detail such as "strict syntax".

    ``status`` selects the sign and the colour.
    """

    word: str
    status: Status
    detail: str = ""


def verdict(report: Report) -> str:
    """Return one sentence about an identifier: its kind, and whether it is valid and in normal form.

    >>> from ararat.identifiers import examine
    >>> verdict(examine("ark:/12345/x6-np1"))
    'Valid ARK, not in normal form (2 changes)'
    >>> verdict(examine("ark:12345"))
    'Not a valid ARK: a NAAN alone is not an ARK'
    >>> verdict(examine("ark:/61903/1:1:MW98-MNJ"))
    "ARK outside the specification: a Name, component or variant cannot contain ':'"
    """
    if report.policy and report.form == "iri":
        return _by_policy(report.policy)
    if report.conformance == "outside":
        return f"ARK outside the specification: {report.problems[0].message}"
    if not report.valid:
        opening = _NOT_VALID.get(report.form, "Not an ARK or a URN")
        return f"{opening}: {report.problems[0].message}" if report.problems else opening
    if not (count := len(report.steps)):
        return f"{_kind(report)}, in normal form"
    return f"{_kind(report)}, not in normal form ({count:,} change{'' if count == 1 else 's'})"


def status(report: Report) -> Status:
    """Return how an identifier is marked: "bad" if it is not valid, "warn" if it has a warning, else "good"."""
    if report.policy and report.form == "iri":
        return "bad" if not report.policy["allocatable"] else "warn" if report.policy["codes"] else "good"
    if not report.valid:
        return "bad"
    return "warn" if any(problem.severity == "warning" for problem in report.problems) else "good"


def summary(report: Report) -> str:
    """Return one or two sentences about the parts of an identifier and its hidden characters, or "".

    >>> from ararat.identifiers import examine
    >>> summary(examine("ark:12345/x6np1/map.en.pdf"))
    'The Name has one component and two variants.'
    """
    said = []
    if report.form == "urn" and report.valid:
        said.append(f"The namespace is {report.parts['nid'].lower()}")
    elif report.conformance == "outside":
        said.append("A label and a NAAN are there, but the rest breaks the grammar of ARKs")
        registry = report.registry or {}
        if holder := registry.get("holder"):
            said.append(f"NAAN {registry['key']} belongs to {display.escape(holder['name'].strip())}")
            said.append("Only this organization knows whether it assigned this name")
    elif report.valid:
        components, variants = len(report.parts["components"]), len(report.parts["variants"])
        parts = [counted(components, "component")] if components else []
        parts += [counted(variants, "variant")] if variants else []
        said.append(f"The Name has {' and '.join(parts) or 'no qualifier'}")
    if hidden := sum(len(found[0]) for found in characters.hidden_runs(report.input)):
        said.append(f"The text contains {counted(hidden, 'hidden character')}")
    return ". ".join(said) + "." if said else ""


def counted(count: int, thing: str) -> str:
    """Return a number with the noun ``thing`` in singular or plural. Numbers up to nine are words.

    >>> [counted(count, "change") for count in (1, 2, 1200)]
    ['one change', 'two changes', '1,200 changes']
    """
    return f"{in_words(count)} {thing}{'' if count == 1 else 's'}"


def in_words(count: int) -> str:
    """Format a number for a sentence: from zero to nine as a word, above with commas.

    >>> in_words(3), in_words(10), in_words(1200)
    ('three', '10', '1,200')
    """
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def badges(finding: InspectedIdentifier) -> tuple[Badge, Badge, Badge]:
    """Return three badges of an identifier: validity, normal form, and binding at this site."""
    return _validity(finding.report), _normality(finding.report), _binding(finding)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_NOT_VALID = {
    "pseudo-ark": "Not a valid ARK",
    "urn": "Not a valid URN",
    "iri": "A URL without a valid ARK",
}


def _kind(report: Report) -> str:
    if report.form == "urn":
        takes = {name: profile["valid"] for name, profile in report.profiles.items()}
        if all(takes.values()):
            return "Valid URN"
        # U-01: the headline names the specification.
        if takes["rfc8141"]:
            return "Valid URN in RFC 8141 but not in the 2011 draft"
        return "Valid URN in the 2011 draft but not in RFC 8141"
    if report.form == "embedded":
        return "Valid ARK in a URL"
    if report.service == "metadata":
        return "Valid ARK with a metadata request"
    return "Valid ARK with a query" if report.inflection else "Valid ARK"


def _by_policy(verdict: Mapping[str, Any]) -> str:
    """Return the verdict for an IRI that a policy covers."""
    findings = sorted(verdict["findings"], key=lambda found: GRAVITY[found["severity"]])
    opening = f"IRI in the {verdict['namespaces'][0]} namespace of {verdict['profile']}"
    if not findings:
        return f"{opening}: can be allocated"
    result = "can be allocated, but" if verdict["allocatable"] else "must not be allocated:"
    return f"{opening}: {result} {findings[0]['message']}"


def _validity(report: Report) -> Badge:
    if report.policy and report.form == "iri":
        allocatable = report.policy["allocatable"]
        word = "allocatable" if allocatable else "not allocatable"
        return Badge(word, "good" if allocatable else "bad", "by policy")
    if report.conformance == "outside":
        return Badge("outside the specification", "bad")
    if not report.valid:
        return Badge("not valid", "bad")
    if report.form != "urn":
        strict = report.conformance == "strict"
        return Badge("valid", "good" if strict else "warn", "strict syntax" if strict else "lenient syntax")
    takes = [name for name, profile in report.profiles.items() if profile["valid"]]
    if len(takes) > 1:
        return Badge("valid", "good", "both specifications")
    return Badge("valid", "warn", "RFC 8141 only" if takes == ["rfc8141"] else "2011 draft only")


def _normality(report: Report) -> Badge:
    if report.normal_form is None:
        return Badge("no normal form", "plain")
    if report.steps:
        return Badge("not in normal form", "warn", counted(len(report.steps), "change"))
    return Badge("in normal form", "good", "the ARK in the URL" if report.form == "embedded" else "")


def _binding(finding: InspectedIdentifier) -> Badge:
    kind = finding.kind
    if kind is None and finding.key is not None:
        if finding.unread:
            return Badge("binding not checked", "warn", "the bindings cannot be read")
        return Badge("binding not checked", "plain", "no bindings configured")
    if not kind:
        return Badge("not bound here", "plain")
    return Badge("withdrawn here", "warn") if kind == "withdrawn" else Badge("bound here", "good", kind)
