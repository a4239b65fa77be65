"""The words for a report: a verdict in a sentence, and three answers that are never mixed up. Pure.

Is it valid, is it normal, is it bound here: each has its own chip. Nothing is ever called persistent, and of no
resource is it said that it exists or does not (ARK-007; requirements, section 3, item 20). All of it is printable
ASCII: hostile characters are named by the problems and never repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..identifiers import Report, characters
from .language import figure, marked, ngettext, translated
from .language import gettext as _

Tone = Literal["good", "warn", "bad", "plain"]

GRAVITY = {marked("error"): 0, marked("warning"): 1, marked("note"): 2}
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
        opening = translated(_NONE.get(report.form, _NEITHER))
        return f"{opening}: {reason(report)}" if report.problems else opening
    if not (count := len(report.steps)):
        return _("%(kind)s, in normal form", kind=_kind(report))
    return ngettext(
        "%(kind)s, not in normal form: one change makes it so",
        "%(kind)s, not in normal form: %(num)s changes make it so",
        count,
        kind=_kind(report),
    )


def reason(report: Report) -> str:
    """How the verdict ends where it ends in the words of the report, which are English in every language; else "".

    >>> from ararat.identifiers import examine
    >>> reason(examine("ark:12345"))
    'a NAAN alone is not an ARK'
    """
    if report.policy and report.form == "iri":
        grave = _gravest(report.policy)
        return grave[0]["message"] if grave else ""
    return report.problems[0].message if report.problems and not report.valid else ""


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
        said.append(_("A name in the namespace %(nid)s", nid=report.parts["nid"].lower()))
    elif report.valid:
        components, variants = len(report.parts["components"]), len(report.parts["variants"])
        parts = [counted("%(count)s component", "%(count)s components", components)] if components else []
        parts += [counted("%(count)s variant", "%(count)s variants", variants)] if variants else []
        said.append(_("A Name with %(parts)s", parts=_(" and ").join(parts) or _("no qualifier")))
    if hidden := sum(len(found[0]) for found in characters.HIDDEN.finditer(report.input)):
        unseen = counted(
            "%(count)s character that cannot be seen, shown here by name",
            "%(count)s characters that cannot be seen, shown here by name",
            hidden,
        )
        said.append(unseen.capitalize())
    return ". ".join(said) + "." if said else ""


def counted(singular: str, plural: str, count: int) -> str:
    """A number of things, in words up to nine, where the texts for one and for more have ``%(count)s``.

    >>> [counted("%(count)s change", "%(count)s changes", count) for count in (1, 2, 1200)]
    ['one change', 'two changes', '1,200 changes']
    """
    return ngettext(singular, plural, count, count=in_words(count))


def in_words(count: int) -> str:
    """A number as every sentence has it: in words up to nine, with commas beyond.

    >>> in_words(3), in_words(10), in_words(1200)
    ('three', '10', '1,200')
    """
    return _(_NUMBERS[count]) if count < len(_NUMBERS) else figure(count)


def chips(
    report: Report, name: str | None, bound: Mapping[str, str] | None, *, unread: bool = False
) -> tuple[Chip, Chip, Chip]:
    """Valid, normal, bound here: three answers to three questions.

    ``name`` is the name under which it would be bound, ``bound`` what is bound by kind, None where there is nobody to
    ask, or where the bindings could not be read (``unread``).
    """
    return _validity(report), _normality(report), _binding(name, bound, unread)


_NUMBERS = (
    *(marked("no"), marked("one"), marked("two"), marked("three"), marked("four")),
    *(marked("five"), marked("six"), marked("seven"), marked("eight"), marked("nine")),
)

# How a name can be bound; the words themselves come from the bindings.
_KINDS = (marked("located"), marked("related"), marked("described"), marked("served"), marked("withdrawn"))

_NEITHER = marked("Neither an ARK nor a URN")
_NONE = {
    "pseudo-ark": marked("Begins like an ARK but is none"),
    "urn": marked("Begins like a URN but is none"),
    "iri": marked("An address without an ARK that can be read"),
}


def _kind(report: Report) -> str:
    if report.form == "urn":
        takes = {name: profile["valid"] for name, profile in report.profiles.items()}
        if all(takes.values()):
            return _("A valid URN")
        # U-01: "the headline says which"
        if takes["rfc8141"]:
            return _("A URN by RFC 8141, not by the 2011 draft")
        return _("A URN by the 2011 draft, not by RFC 8141")
    if report.form == "embedded":
        return _("A valid ARK in an address")
    if report.service == "metadata":
        return _("A valid ARK that asks for metadata")
    return _("A valid ARK with a query") if report.inflection else _("A valid ARK")


def _by_policy(verdict: Mapping[str, Any]) -> str:
    """What a policy says of an IRI that is no ARK or URN, in a sentence."""
    grave, where = _gravest(verdict), {"namespace": verdict["namespaces"][0], "profile": verdict["profile"]}
    if not grave:
        return _("An address in the %(namespace)s namespace of %(profile)s: it may be allocated", **where)
    if verdict["allocatable"]:
        opening = _("An address in the %(namespace)s namespace of %(profile)s: it may be allocated, but", **where)
    else:
        opening = _("An address in the %(namespace)s namespace of %(profile)s: not to be allocated, since", **where)
    return f"{opening} {grave[0]['message']}"


def _gravest(verdict: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return sorted(verdict["findings"], key=lambda found: GRAVITY[found["severity"]])


def _validity(report: Report) -> Chip:
    if report.policy and report.form == "iri":
        allocatable = report.policy["allocatable"]
        word = _("allocatable") if allocatable else _("not allocatable")
        return Chip(word, "good" if allocatable else "bad", _("by policy"))
    if not report.valid:
        return Chip(_("not valid"), "bad")
    if report.form != "urn":
        strict = report.conformance == "strict"
        return Chip(_("valid"), "good" if strict else "warn", _("strict reading") if strict else _("liberal reading"))
    takes = [name for name, profile in report.profiles.items() if profile["valid"]]
    if len(takes) > 1:
        return Chip(_("valid"), "good", _("both profiles"))
    return Chip(_("valid"), "warn", _("RFC 8141 only") if takes == ["rfc8141"] else _("2011 draft only"))


def _normality(report: Report) -> Chip:
    if report.normal_form is None:
        return Chip(_("no normal form"), "plain")
    if report.steps:
        return Chip(_("not normal"), "warn", counted("%(count)s change", "%(count)s changes", len(report.steps)))
    return Chip(_("normal"), "good", _("the ARK inside") if report.form == "embedded" else "")


def _binding(name: str | None, bound: Mapping[str, str] | None, unread: bool) -> Chip:
    if name is None:
        return Chip(_("not bound here"), "plain", _("nothing to bind"))
    if unread:
        return Chip(_("bound here?"), "warn", _("the bindings cannot be read at the moment"))
    if bound is None:
        return Chip(_("bound here?"), "plain", _("nobody to ask"))
    kind = bound.get(name)
    if kind is None:
        return Chip(_("not bound here"), "plain")
    return Chip(_("withdrawn here"), "warn") if kind == "withdrawn" else Chip(_("bound here"), "good", translated(kind))
