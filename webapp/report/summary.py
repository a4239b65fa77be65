"""The words for a report: a verdict in a sentence, and three answers that are never mixed up. Pure.

Is it valid, is it normal, is it bound here: each has its own chip. Nothing is ever called persistent, and of no
resource is it said that it exists or does not (ARK-007; requirements, section 3, item 20). All of it is printable
ASCII: hostile characters are named by the problems and never repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...identifiers import Report
from ...identifiers.text import characters

Tone = Literal["good", "warn", "bad", "plain"]

GRAVITY = {"error": 0, "warning": 1, "note": 2}
"""Severities, the gravest first."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One answer in a word or two, with what narrows it; ``tone`` picks its sign and its colour."""

    word: str
    tone: Tone
    detail: str = ""


def verdict(report: Report) -> str:
    """The verdict in a sentence.

    >>> from ararat.identifiers import examine
    >>> verdict(examine("ark:/12345/x6-np1"))
    'A valid ARK, not in normal form: 2 changes make it so'
    >>> verdict(examine("ark:12345"))
    'Begins like an ARK but is none: a NAAN alone is not an ARK'
    """
    if report.policy and report.form == "iri":
        return _by_policy(report.policy)
    if not report.valid:
        opening = _NONE.get(report.form, "Neither an ARK nor a URN")
        return f"{opening}: {report.problems[0].message}" if report.problems else opening
    if not (count := len(report.steps)):
        return f"{_kind(report)}, in normal form"
    changes = "one change makes" if count == 1 else f"{count:,} changes make"
    return f"{_kind(report)}, not in normal form: {changes} it so"


def tone(report: Report) -> Tone:
    """How the verdict sounds: "bad" for what is none, "warn" where there is a warning, else "good"."""
    if report.policy and report.form == "iri":
        return "bad" if not report.policy["allocatable"] else "warn" if report.policy["codes"] else "good"
    if not report.valid:
        return "bad"
    return "warn" if any(problem.severity == "warning" for problem in report.problems) else "good"


def summary(report: Report) -> str:
    """What the verdict leaves out, in a sentence or two; "" where that is nothing.

    >>> from ararat.identifiers import examine
    >>> summary(examine("ark:12345/x6np1/map.en.pdf"))
    'A Name with one component and two variants.'
    """
    said = []
    if report.form == "urn" and report.valid:
        said.append(f"A name in the namespace {report.parts['nid'].lower()}")
    elif report.valid:
        components, variants = len(report.parts["components"]), len(report.parts["variants"])
        parts = [counted(components, "component")] if components else []
        parts += [counted(variants, "variant")] if variants else []
        said.append(f"A Name with {' and '.join(parts) or 'no qualifier'}")
    if hidden := sum(len(found[0]) for found in characters.HIDDEN.finditer(report.input)):
        said.append(f"{counted(hidden, 'character').capitalize()} that cannot be seen, shown here by name")
    return ". ".join(said) + "." if said else ""


def counted(count: int, thing: str) -> str:
    """Return a number of things, in words up to nine.

    >>> [counted(count, "change") for count in (1, 2, 1200)]
    ['one change', 'two changes', '1,200 changes']
    """
    return f"{in_words(count)} {thing}{'' if count == 1 else 's'}"


def in_words(count: int) -> str:
    """A number as every sentence has it: in words up to nine, with commas beyond.

    >>> in_words(3), in_words(10), in_words(1200)
    ('three', '10', '1,200')
    """
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def chips(
    report: Report, name: str | None, bound: Mapping[str, str] | None, *, unread: bool = False
) -> tuple[Chip, Chip, Chip]:
    """Valid, normal, bound here: three answers to three questions.

    ``name`` is the name under which it would be bound, ``bound`` what is bound by kind, None where there is nobody to
    ask, or where the bindings could not be read (``unread``).
    """
    return _validity(report), _normality(report), _binding(name, bound, unread)


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_NONE = {
    "pseudo-ark": "Begins like an ARK but is none",
    "urn": "Begins like a URN but is none",
    "iri": "An address without an ARK that can be read",
}


def _kind(report: Report) -> str:
    if report.form == "urn":
        takes = {name: profile["valid"] for name, profile in report.profiles.items()}
        if all(takes.values()):
            return "A valid URN"
        # U-01: "the headline says which"
        if takes["rfc8141"]:
            return "A URN by RFC 8141, not by the 2011 draft"
        return "A URN by the 2011 draft, not by RFC 8141"
    if report.form == "embedded":
        return "A valid ARK in an address"
    if report.service == "metadata":
        return "A valid ARK that asks for metadata"
    return "A valid ARK with a query" if report.inflection else "A valid ARK"


def _by_policy(verdict: Mapping[str, Any]) -> str:
    """What a policy says of an IRI that is no ARK or URN, in a sentence."""
    grave = _gravest(verdict)
    opening = f"An address in the {verdict['namespaces'][0]} namespace of {verdict['profile']}"
    if not grave:
        return f"{opening}: it may be allocated"
    judged = "it may be allocated, but" if verdict["allocatable"] else "not to be allocated, since"
    return f"{opening}: {judged} {grave[0]['message']}"


def _gravest(verdict: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(verdict["findings"], key=lambda found: GRAVITY[found["severity"]])


def _validity(report: Report) -> Chip:
    if report.policy and report.form == "iri":
        allocatable = report.policy["allocatable"]
        word = "allocatable" if allocatable else "not allocatable"
        return Chip(word, "good" if allocatable else "bad", "by policy")
    if not report.valid:
        return Chip("not valid", "bad")
    if report.form != "urn":
        strict = report.conformance == "strict"
        return Chip("valid", "good" if strict else "warn", "strict reading" if strict else "liberal reading")
    takes = [name for name, profile in report.profiles.items() if profile["valid"]]
    if len(takes) > 1:
        return Chip("valid", "good", "both profiles")
    return Chip("valid", "warn", "RFC 8141 only" if takes == ["rfc8141"] else "2011 draft only")


def _normality(report: Report) -> Chip:
    if report.normal_form is None:
        return Chip("no normal form", "plain")
    if report.steps:
        return Chip("not normal", "warn", counted(len(report.steps), "change"))
    return Chip("normal", "good", "the ARK inside" if report.form == "embedded" else "")


def _binding(name: str | None, bound: Mapping[str, str] | None, unread: bool) -> Chip:
    if name is None:
        return Chip("not bound here", "plain", "nothing to bind")
    if unread:
        return Chip("bound here?", "warn", "the bindings cannot be read at the moment")
    if bound is None:
        return Chip("bound here?", "plain", "nobody to ask")
    kind = bound.get(name)
    if kind is None:
        return Chip("not bound here", "plain")
    return Chip("withdrawn here", "warn") if kind == "withdrawn" else Chip("bound here", "good", kind)
