"""Reports: all facts about a text that can be found without a network. The page, the API and the command show the same
:class:`Report`. :func:`examine` never raises for a str.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import registries, suggestions
from .ark import check_character, kunze
from .ark import embedded as embedding
from .ark.embedded import EmbeddedArk
from .ark.grammar import LABEL_PATTERN
from .ark.model import Ark, ArkParts
from .ark.normalization import Step, steps
from .ark.outside import OutsideText, outside
from .parsing import is_pseudo_ark, read
from .problems import IdentifierError, Problem, require_text
from .registries.target_templates import TemplateParts
from .segments import Segment, outer
from .text import display
from .urn import grammar as urn
from .urn.model import Urn

if TYPE_CHECKING:
    from .iri_policy import Profile

Form = Literal["basic", "extended", "embedded", "pseudo-ark", "urn", "iri", "none"]
Conformance = Literal["strict", "liberal", "outside"]

MAX_HIERARCHY = 100
"""The maximum number of members of a hierarchy in a report: the ARK itself and its nearest containers."""

MAX_HIERARCHY_LENGTH = 200_000
"""The maximum number of characters of all containers together. Each container of a long ARK is nearly as long."""

OFFICIAL_PREFIX = "https://n2t.net"
"""ARK draft, section 7.1: "The official resolver for the ARK system has prefix equal to https://n2t.net"."""


@dataclass(frozen=True, slots=True)
class Report:
    """All facts about one text that can be found without a network. The fields are those of the JSON, in the same
    order.

    - ``input``: the text as received. ``embedding``: the address around an ARK, or None.
    - ``form``: "basic" (an ARK without query and fragment), "extended" (an ARK with one), "embedded" (an ARK in an
      address), "pseudo-ark" (starts with ark: but is not an ARK), "urn", "iri" (another address) or "none".
    - ``valid``: whether the grammar accepts the text; for a URN, that of at least one profile.
    - ``conformance``: "strict" or "liberal" (:mod:`.ark.model`) for a valid text, "outside" (:mod:`.ark.outside`) or
      None.
    - ``parts``: the parts as written; outside the specification, up to the first error.
    - ``segments``: the same parts with their places. ``steps``: the rules of normalization that change the text.
    - ``normal_form``, ``hierarchy``, ``variant_of``: see :class:`.Ark`; for an embedded ARK, those of the ARK inside.
    - ``inflection``, ``service``: the query with its question mark, and what it requests (:attr:`.Ark.service`).
    - ``profiles``: the verdict of each URN profile. ``problems``: errors, warnings and notes, in order.
    - ``equivalents``: spellings of the identifier, first as given, as text or as the URL at a resolver.
    - ``check_character``: the last character of the Name, if it is or must be a check character, with its verdict.
    - ``kunze``: the normal form by draft-kunze-ark and why it differs (:mod:`.ark.kunze`), or None without a label.
    - ``registry``: the registration of the NAAN, namespace or URI scheme (:mod:`.registries.descriptions`).
    - ``policy``: the verdict of the first IRI policy that applies to the text, or None.
    - ``suggestion``: the most probable corrected identifier (:mod:`.suggestions`). It is never applied automatically.
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
    check_character: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    problems: tuple[Problem, ...] = ()
    suggestion: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values. Serialize it with ASCII escapes, because ``input`` is untrusted.

        >>> report = examine("ark:/12345/x6-np1?info").as_dict()
        >>> report["form"], report["normal_form"], report["service"], report["parts"]["naan"]
        ('extended', 'ark:12345/x6np1?info', 'metadata', '12345')
        """
        values = {name: getattr(self, name) for name in self.__slots__}
        for name in ("segments", "steps", "problems"):
            values[name] = [each.as_dict() for each in values[name]]
        for name in ("hierarchy", "equivalents"):
            values[name] = list(values[name])
        return values


class Limits(NamedTuple):
    """The maximum numbers of ``segments`` and ``problems`` in a report, at least 1, or None. Of more segments, the
    first and the last ones are kept, of more problems the first ones. An ARK of 1 MiB can have half a million segments.
    """

    segments: int | None = None
    problems: int | None = None


_NO_LIMITS = Limits()


def examine(
    text: str,
    *,
    prefix: str | None = None,
    profile: str | None = None,
    policies: Sequence[str | Profile] = (),
    limits: Limits = _NO_LIMITS,
    brief: bool = False,
) -> Report:
    """Return a report of all facts about a text, exactly as given. Never raises for a str.

    - ``prefix``: the resolver prefix of this site. Adds the identifier below this prefix to the equivalents.
    - ``profile``: the URN profile that decides whether a URN is valid, "urnbis-01" or "rfc8141". Default: either.
    - ``policies``: IRI policy profiles, or names of built-in ones. The first that applies to ``text`` is used.
    - ``brief``: only the form, normal form, steps, hierarchy, service and problems of an ARK, for a row of a list.

    Raises ValueError for an unknown profile or policy.

    >>> report = examine("ark:/12345/x6-np1.pdf.en")
    >>> report.form, report.valid, report.conformance, report.normal_form
    ('basic', True, 'strict', 'ark:12345/x6np1.en.pdf')
    >>> examine("ark:12345").problems[0].code, examine("https://17beta.top/en/", policies=["17beta"]).policy["codes"]
    ('no-name', ['empty-segment'])
    """
    if not isinstance(text, str):
        require_text(text)
    if not policies:
        return _report(text, prefix, profile, limits, brief)
    # Loaded only where a policy is asked for: the resolver needs none.
    from . import iri_policy as policy

    profiles = [policy.built_in(each) if isinstance(each, str) else each for each in policies]
    report = _report(text, prefix, profile, limits, brief)
    verdict = next(
        (verdict_by_policy for each in profiles if (verdict_by_policy := policy.evaluate(text, each)).in_scope), None
    )
    return report if verdict is None else _with_policy(report, verdict.as_dict())


def _with_policy(report: Report, verdict: Mapping[str, Any]) -> Report:
    """Add the verdict of a policy. A text that is not an ARK or URN becomes an "iri", and its missing label a note."""
    if report.form != "none":
        return replace(report, policy=verdict)
    problems = tuple(
        replace(problem, severity="note") if problem.code == "no-ark-label" else problem for problem in report.problems
    )
    return replace(report, form="iri", policy=verdict, problems=problems)


def _report(text: str, prefix: str | None, profile: str | None, limits: Limits, brief: bool) -> Report:
    try:
        identifier = read(text, profile)
    except IdentifierError as error:
        return _invalid_report(text, error.problem)
    if isinstance(identifier, Urn):
        return _urn_report(text, identifier, prefix, limits)
    report = _brief_report(identifier, limits)
    return report if brief else _ark_report(identifier, report, prefix, limits)


def _brief_report(identifier: Ark | EmbeddedArk, limits: Limits) -> Report:
    ark = identifier.ark if isinstance(identifier, EmbeddedArk) else identifier
    written = ark.written
    basic = written.query is None and written.fragment is None
    return Report(
        input=identifier.text,
        form="embedded" if isinstance(identifier, EmbeddedArk) else "basic" if basic else "extended",
        valid=True,
        conformance=None,
        normal_form=ark.normal_form,
        inflection=ark.inflection,
        service=ark.service,
        steps=tuple(steps(written.parts)),
        hierarchy=tuple(_nearest_containers(ark))[::-1],
        problems=identifier.first_problems(limits.problems),
    )


def _ark_report(identifier: Ark | EmbeddedArk, brief: Report, prefix: str | None, limits: Limits) -> Report:
    embedded = identifier if isinstance(identifier, EmbeddedArk) else None
    ark = identifier.ark if isinstance(identifier, EmbeddedArk) else identifier
    written = ark.written
    registry = registries.of_ark(ark)
    return replace(
        brief,
        conformance="strict" if identifier.strict else "liberal",
        kunze=_kunze(identifier.text, ark.basic, brief.steps),
        parts=_parts(written, embedded.prefix if embedded else None),
        segments=written.segments(embedded.prefix if embedded else "", limits.segments),
        variant_of=ark.variant_of,
        equivalents=_unique(_ark_spellings(identifier.text, ark, prefix)),
        embedding=embedded and {"prefix": embedded.prefix, "ark": ark.text, "boundary": embedded.boundary},
        registry=registry,
        check_character=_check_character(ark, registry),
        suggestion=_suggestion(identifier.text),
    )


def _parts(written: ArkParts, prefix: str | None) -> dict[str, Any]:
    return {
        "prefix": prefix,
        "naan": written.naan,
        "name": written.name,
        "components": list(written.components),
        "variants": list(written.variants),
        "query": written.query,
        "fragment": written.fragment,
    }


def _suggestion(text: str) -> str | None:
    return next((each.identifier for each in suggestions.suggestions(text)), None)


def _check_character(ark: Ark, registry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    holder = registry["holder"] if registry["registered"] else None
    required = bool(holder) and registries.HAS_CHECK_CHARACTER in holder["policy"]
    character = check_character.find(ark.normal_form, required=required)
    return character and character.as_dict()


def _nearest_containers(ark: Ark) -> Iterator[str]:
    remaining = MAX_HIERARCHY_LENGTH
    for number, member in enumerate(islice(ark.ancestry(), MAX_HIERARCHY)):
        remaining -= len(member) if number else 0
        if remaining < 0:
            return
        yield member


def _urn_report(text: str, name: Urn, prefix: str | None, limits: Limits) -> Report:
    # A URN in an address goes to the end of the address.
    before = text[: len(text) - len(name.text)]
    spellings = [text, name.text, name.normal_form]
    if prefix:
        spellings.append(f"{prefix.removesuffix('/')}/{name.normal_form}")
    problems = sorted(name.problems + name.findings, key=lambda problem: (problem.start, problem.end))[
        : limits.problems
    ]
    segments = [Segment(each.part, each.start + len(before), each.end + len(before)) for each in name.segments]
    if before:
        segments.insert(0, Segment("prefix", 0, len(before)))
    return Report(
        input=text,
        form="urn",
        valid=True,
        conformance="strict" if name.strict else "liberal",
        normal_form=name.normal_form,
        parts={
            **({"prefix": before} if before else {}),
            "nid": name.nid,
            "nss": name.nss,
            "query": name.query,
            "fragment": name.fragment,
            "assigned_name": name.assigned_name,
            "canonical": name.canonical,
            "display": name.display,
            "details": name.details,
        },
        segments=outer(segments, limits.segments),
        inflection=name.inflection,
        service=name.service,
        steps=name.steps,
        equivalents=_unique(iter(spellings)),
        embedding={"prefix": before, "urn": name.text, "boundary": True} if before else None,
        profiles=name.profiles,
        registry=registries.of_urn(name),
        problems=tuple(embedding.shift(problem, len(before)) for problem in problems),
        suggestion=_suggestion(text),
    )


def _invalid_report(text: str, problem: Problem) -> Report:
    beyond = outside(text)
    embedding = _embedding(text)
    if is_pseudo_ark(text):
        form: Form = "pseudo-ark"
    elif urn.LABEL.match(text):
        form = "urn"
    else:
        form = "iri" if embedding else "none"
    registry = registries.of_scheme(text) if form in ("iri", "none") else None
    return Report(
        input=text,
        form=form,
        valid=False,
        conformance="outside" if beyond else None,
        kunze=_kunze(text) if beyond or form in ("pseudo-ark", "iri") or _MAY_BE_ARK.search(text) else None,
        parts=_read_parts(beyond) if beyond else {},
        embedding=embedding,
        registry=_registration(beyond) if beyond else registry,
        problems=(problem,),
        suggestion=_suggestion(text),
    )


_MAY_BE_ARK = re.compile(f"/{LABEL_PATTERN}")


def _read_parts(text: OutsideText) -> dict[str, Any]:
    """Return the parts of a text outside the specification, up to the first error."""
    if text.written is not None:
        return _parts(text.written, text.prefix or None)
    empty: dict[str, Any] = {"name": None, "components": [], "variants": [], "query": None, "fragment": None}
    return {"prefix": text.prefix or None, "naan": text.naan, **empty}


def _registration(text: OutsideText) -> dict[str, Any]:
    try:
        parts = TemplateParts.of_text(text.text, text.normal_naan)
    except UnicodeEncodeError:
        # No address contains a lone surrogate.
        parts = TemplateParts(text.label, f"{text.normal_naan}/", "", ("surrogate",))
    return registries.of_template_parts(text.normal_naan, parts)


def _kunze(text: str, normal_form: str | None = None, changes: Iterable[Step] = ()) -> dict[str, Any] | None:
    form = kunze.compare(text, normal_form, changes)
    return form and form.as_dict()


def _embedding(text: str) -> dict[str, Any] | None:
    cut = embedding.split(text)
    return cut and {"prefix": cut.prefix, "ark": cut.ark.text, "boundary": cut.boundary}


def _ark_spellings(text: str, ark: Ark, prefix: str | None) -> Iterator[str]:
    # Most ARKs in use are spelled ark:/. The given spelling comes first: some resolvers know only that one.
    yield display.percent(text)
    yield ark.normal_form.replace("ark:", "ark:/", 1)
    yield ark.normal_form
    yield f"{OFFICIAL_PREFIX}/{_sent(ark)}"
    if prefix:
        yield f"{prefix.removesuffix('/')}/{ark.normal_form}"


def _sent(ark: Ark) -> str:
    """Return the spelling of an ARK for another resolver: as given, with the label in lower case and a plain NAAN."""
    label = "ark:/" if ark.text[4] == "/" else "ark:"
    return label + ark.normal_naan + display.percent(ark.text[ark.text.index("/", 5) :])


def _unique(spellings: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spellings))
