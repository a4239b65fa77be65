"""What is to be said of a text that may be an identifier: one value, the same for page, API and terminal.

:func:`examine` is total: it gives a :class:`Report` for any str, however hostile, and never raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from . import registries, suggestions
from .ark import embedded as embedding
from .ark import kunze
from .ark import model as arks
from .ark.embedded import EmbeddedArk
from .ark.model import Ark
from .ark.normalization import Step
from .parsing import is_pseudo_ark, read
from .problems import IdentifierError, Problem
from .segments import Segment
from .text import display
from .urn import model as urn
from .urn.model import Urn

if TYPE_CHECKING:
    from .iri_policy import Profile

Form = Literal["basic", "extended", "embedded", "pseudo-ark", "urn", "iri", "none"]
Conformance = Literal["strict", "liberal"]

DEEPEST = 100
"""Members of a hierarchy that a report gives at most: the ARK itself and its nearest containers."""

WIDEST = 200_000
"""Characters of these containers at most, all together: each of an ARK of a megabyte has nearly a megabyte, too."""

OFFICIAL_PREFIX = "https://n2t.net"
"""ARK draft, section 7.1: "The official resolver for the ARK system has prefix equal to https://n2t.net"."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything known about one text without asking anybody. The fields are those of the JSON, in its order.

    ``valid`` is whether the scheme's own grammar takes the text, for a URN in at least one profile. ``suggestion`` is a
    repaired identifier, offered and never applied. ``parts`` are as written; ``hierarchy``, ``variant_of`` and
    ``normal_form`` are in normal form, of an embedded ARK those of the ARK inside. ``kunze`` is the normal form by
    draft-kunze-ark and the rules by which it differs, where it does.
    """

    input: str
    form: Form
    valid: bool
    conformance: Conformance | None
    normal_form: str | None = None
    kunze: Mapping[str, Any] | None = None
    parts: Mapping[str, Any] = field(default_factory=dict)
    segments: tuple[Segment, ...] = ()
    inflection: str = ""
    service: str = "unknown"
    steps: tuple[Step, ...] = ()
    hierarchy: tuple[str, ...] = ()
    variant_of: str | None = None
    equivalents: tuple[str, ...] = ()
    embedding: Mapping[str, Any] | None = None
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    registry: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    problems: tuple[Problem, ...] = ()
    suggestion: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON holds it. Dump it with ASCII escapes: ``input`` is as hostile as it came."""
        whole = {name: getattr(self, name) for name in self.__slots__}
        for name in ("segments", "steps", "problems"):
            whole[name] = [each.as_dict() for each in whole[name]]
        for name in ("hierarchy", "equivalents"):
            whole[name] = list(whole[name])
        return whole


def examine(
    text: str, *, prefix: str | None = None, profile: str | None = None, policies: Sequence[str | Profile] = ()
) -> Report:
    """Report on ``text``, taken whole and exactly as given. Never raises for a str.

    ``prefix`` is the resolver prefix of this site, under which one of the equivalents is then given; ``profile`` the
    URN profile that decides whether a URN is valid ("urnbis-01" or "rfc8141"; either, if None); ``policies`` are
    IRI policy profiles to judge by, or names of those that ship; the first that speaks of ``text`` is heard. A name
    that is not known is a mistake of the caller: ValueError.

    >>> report = examine("ark:/12345/x6-np1.pdf.en")
    >>> report.form, report.valid, report.conformance, report.normal_form
    ('basic', True, 'strict', 'ark:12345/x6np1.en.pdf')
    >>> examine("ark:12345").problems[0].code
    'no-name'
    >>> examine("https://17beta.top/en/", policies=["17beta"]).policy["codes"]
    ['empty-segment']
    """
    if not policies:
        return _report(text, prefix, profile)
    # Loaded only where a policy is asked for: the resolver needs none.
    from . import iri_policy as policy

    profiles = [policy.known(each) if isinstance(each, str) else each for each in policies]
    report = _report(text, prefix, profile)
    verdict = next((said for each in profiles if (said := policy.judge(text, each)).in_scope), None)
    return report if verdict is None else _judged(report, verdict.as_dict())


def _judged(report: Report, verdict: Mapping[str, Any]) -> Report:
    """The report with what a policy says. An IRI of a policy's host was never taken for an ARK or URN."""
    if report.form != "none":
        return replace(report, policy=verdict)
    problems = tuple(
        replace(found, severity="note") if found.code == "no-ark-label" else found for found in report.problems
    )
    return replace(report, form="iri", policy=verdict, problems=problems)


def _report(text: str, prefix: str | None, profile: str | None) -> Report:
    try:
        identifier = read(text, profile)
    except IdentifierError as error:
        return _unread(text, error.problem)
    if isinstance(identifier, Urn):
        return _urn_report(identifier, prefix)
    return _ark_report(identifier, prefix)


def _ark_report(identifier: Ark | EmbeddedArk, prefix: str | None) -> Report:
    embedded = identifier if isinstance(identifier, EmbeddedArk) else None
    ark = identifier.ark if isinstance(identifier, EmbeddedArk) else identifier
    written = ark.written
    whole = written.query is None and written.fragment is None
    return Report(
        input=identifier.text,
        form="embedded" if embedded else "basic" if whole else "extended",
        valid=True,
        conformance="strict" if identifier.strict else "liberal",
        normal_form=ark.normal_form,
        kunze=_kunze(ark.text, ark.basic),
        parts={
            "prefix": embedded.prefix if embedded else None,
            "naan": written.naan,
            "name": written.name,
            "components": list(written.components),
            "variants": list(written.variants),
            "query": written.query,
            "fragment": written.fragment,
        },
        segments=identifier.segments,
        inflection=ark.inflection,
        service=ark.service,
        steps=ark.steps,
        hierarchy=tuple(_nearest(ark))[::-1],
        variant_of=ark.variant_of,
        equivalents=_unique(_ark_spellings(identifier.text, ark.normal_form, prefix)),
        embedding=embedded and {"prefix": embedded.prefix, "ark": ark.text, "boundary": embedded.boundary},
        registry=registries.of_ark(ark),
        problems=identifier.problems,
        suggestion=suggestions.visible(identifier.text),
    )


def _nearest(ark: Ark) -> Iterator[str]:
    room = WIDEST
    for number, member in enumerate(islice(ark.ancestry(), DEEPEST)):
        room -= len(member) if number else 0
        if room < 0:
            return
        yield member


def _urn_report(name: Urn, prefix: str | None) -> Report:
    spellings = [name.text, name.normal_form]
    if prefix:
        spellings.append(f"{prefix.removesuffix('/')}/{name.normal_form}")
    return Report(
        input=name.text,
        form="urn",
        valid=True,
        conformance="strict" if name.strict else "liberal",
        normal_form=name.normal_form,
        parts={
            "nid": name.nid,
            "nss": name.nss,
            "query": name.query,
            "fragment": name.fragment,
            "assigned_name": name.assigned_name,
            "canonical": name.canonical,
            "display": name.display,
            "details": name.details,
        },
        segments=name.segments,
        inflection=name.inflection,
        service=name.service,
        steps=name.steps,
        equivalents=_unique(iter(spellings)),
        profiles=name.profiles,
        registry=registries.of_urn(name),
        problems=tuple(sorted(name.problems + name.findings, key=lambda found: (found.start, found.end))),
    )


def _unread(text: str, problem: Problem) -> Report:
    found = _embedding(text)
    if is_pseudo_ark(text):
        form: Form = "pseudo-ark"
    elif urn.LABEL.match(text):
        form = "urn"
    else:
        form = "iri" if found else "none"
    return Report(
        input=text,
        form=form,
        valid=False,
        conformance=None,
        kunze=_kunze(text, None) if form == "pseudo-ark" else None,
        embedding=found,
        registry=registries.of_scheme(text) if form in ("iri", "none") else None,
        problems=(problem,),
        suggestion=suggestions.suggestion(text, problem),
    )


def _kunze(text: str, ours: str | None) -> dict[str, Any] | None:
    """The normal form of draft-kunze-ark, where it is an ARK to us too and differs from ours."""
    form = kunze.beside(text, ours)
    return form.as_dict() if form and arks.EXTENDED_ARK.fullmatch(form.normal_form) else None


def _embedding(text: str) -> dict[str, Any] | None:
    cut = embedding.split(text)
    return cut and {"prefix": cut.prefix, "ark": cut.ark.text, "boundary": cut.boundary}


def _ark_spellings(text: str, normal_form: str, prefix: str | None) -> Iterator[str]:
    # 99 of 100 real ARKs are spelled ark:/, and the resolver nearby may know only the spelling that was given: it
    # comes first.
    yield display.percent(text)
    yield normal_form.replace("ark:", "ark:/", 1)
    yield normal_form
    yield f"{OFFICIAL_PREFIX}/{normal_form}"
    if prefix:
        yield f"{prefix.removesuffix('/')}/{normal_form}"


def _unique(spellings: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spellings))
