"""Check whether a policy permits the allocation of an IRI, and report the broken rules (POL-001 to POL-060)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .. import parsing, registries
from ..ark.grammar import RESERVED_NAAN
from ..ark.model import Ark
from ..problems import IdentifierError, Problem
from ..text import display
from ..text.translatable import Translatable
from . import grammar, segments, shoulders
from .finding_codes import finding
from .grammar import MISCELLANEOUS
from .hierarchy import DEEPEST, components, parents
from .iri_parts import IriParts, first_fault, first_fault_of_any_scheme, normal_form, split
from .profile import Profile

_NAMED_UUID = "urn:uuid:"
PERMANENT_REDIRECTS = (301, 308)


class AllocationFacts(NamedTuple):
    """Facts about the allocation of an IRI to a resource that the IRI does not contain. None means unknown.

    ``information`` is whether a document can contain the resource, and ``status`` the HTTP status of the answer.
    ``persistent`` and ``published`` are whether the name is, and ``availability`` is its statement, such as "lifetime".
    ``allocated`` is a complete or partial ISO 8601 time in UTC. ``documented`` is whether a document describes the
    allocation. ``others`` are all allocated IRIs, among which parents must be. If the site allocates the text
    (``own``), an ARK of another NAAN is an error.
    """

    information: bool | None = None
    status: int | None = None
    persistent: bool | None = None
    published: bool | None = None
    availability: str | None = None
    allocated: str | None = None
    documented: bool | None = None
    others: Collection[str] | None = None
    own: bool = False


NOTHING = AllocationFacts()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of :func:`evaluate`: whether an IRI policy permits the allocation of an IRI, and the rules that it
    breaks.

    ``namespaces`` has the primary one first. ``reserved`` is whether the path belongs to the resolver of a scheme. The
    ``findings`` are in the order of the text. ``hierarchy`` has the first 100 components of the path, and ``parents``
    the more general IRIs, nearest first.
    """

    iri: str
    profile: str
    in_scope: bool
    namespaces: tuple[str, ...] = ()
    reserved: bool = False
    findings: tuple[Problem, ...] = ()
    hierarchy: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    readable: bool = True

    @property
    def allocatable(self) -> bool:
        """Whether the policy permits the allocation of the IRI, because it breaks no MUST and no MUST NOT."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the broken rules, such as "empty-segment", each once, in the order of the findings."""
        return tuple(dict.fromkeys(finding.code for finding in self.findings))

    def as_dict(self) -> dict[str, Any]:
        """Return all fields but ``iri``, ``in_scope`` and ``readable`` as JSON values, and also ``allocatable`` and
        ``codes``.
        """
        return {
            "profile": self.profile,
            "namespaces": list(self.namespaces),
            "reserved": self.reserved,
            "allocatable": self.allocatable,
            "codes": list(self.codes),
            "findings": [finding.as_dict() for finding in self.findings],
            "hierarchy": list(self.hierarchy),
            "parents": list(self.parents),
        }


def _not_an_iri(text: str, place: int, parts: IriParts) -> Problem:
    if parts.scheme is None:
        return finding("not-an-iri", 0, len(text), Translatable("the scheme is missing"))
    message = f"{display.describe_character(text[place])} is not allowed in an IRI" if place < len(text) else None
    return finding("not-an-iri", place, min(place + 1, len(text)), message)


def evaluate(text: str, profile: Profile, facts: AllocationFacts = NOTHING) -> Verdict:
    """Check the IRI ``text`` by an IRI policy, without trimming it. Accepts any str and never raises.

    The policy covers IRIs of the hosts of the profile, and UUIDs as URNs. It also covers ARKs of its NAAN, alone or
    under one of its resolvers. Any other text is not in scope (POL-001).

    >>> from .profile import built_in
    >>> profile = built_in("17beta")
    >>> evaluate("https://17beta.top/en/", profile).codes, evaluate("https://example.org/en/", profile).codes
    (('empty-segment',), ())
    """
    parts = split(text)
    ark = _own_ark(text, profile, facts)
    at_host = _at_host(parts, profile)
    uuid = "uuid" in profile.namespaces and text[: len(_NAMED_UUID)].lower() == _NAMED_UUID
    if not (at_host or ark or uuid):
        place = first_fault_of_any_scheme(text)
        findings = () if place is None else (_not_an_iri(text, place, parts),)
        return Verdict(text, profile.name, False, findings=findings, readable=place is None)
    if at_host and (place := first_fault(text)) is not None:
        findings = (_not_an_iri(text, place, parts),)
        return Verdict(text, profile.name, True, (MISCELLANEOUS,), findings=findings, readable=False)
    # A bare ARK is the same name as the ARK under a resolver.
    bare = ark is not None and parts.authority is None and profile.resolvers
    classed = f"{profile.resolvers[0]}/{text}" if bare else text
    is_reserved = grammar.is_reserved(text, profile)
    rules = _at_a_host(text, parts, profile, facts, is_reserved) if at_host else iter(())
    findings = [*rules, *_everywhere(text, parts, profile, facts, ark, at_host and is_reserved)]
    return Verdict(
        text,
        profile.name,
        True,
        grammar.namespaces(classed, profile),
        is_reserved,
        _by_the_rules(sorted(findings, key=lambda each: (each.start, each.end)), profile),
        components(text)[:DEEPEST] if parts.authority is not None else (),
        parents(text) if parts.authority is not None else (),
    )


def evaluate_all(texts: Iterable[str], profile: Profile, *, complete: bool = False) -> Iterator[Verdict]:
    """Check IRIs in order, each with regard to the others. UUIDs, and times without a fraction, that several IRIs have
    are reported (POL-048, POL-056). If the list is ``complete``, so are missing parents (POL-010).

    >>> from .profile import built_in
    >>> [verdict.codes for verdict in evaluate_all(["https://17beta.top/en/a"], built_in("17beta"), complete=True)]
    [('parent-unallocated',)]
    """
    iris = list(texts)
    facts = AllocationFacts(own=True, others=frozenset(iris) if complete else None)
    productions = grammar.repaired_grammar(profile).namespaces
    times: Counter[str] = Counter()
    uuids: dict[str, set[str]] = {}
    for text in set(iris):
        if (matcher := productions.get("datetime")) and (match := matcher.fullmatch(text)):
            times[match["timespec"]] += 1
        if (matcher := productions.get("uuid")) and (match := matcher.fullmatch(text)):
            uuids.setdefault((match["uuid"] or match["named"]).lower(), set()).add(text)
    twice = {text for some in uuids.values() if len(some) > 1 for text in some}
    for text in iris:
        verdict = evaluate(text, profile, facts)
        more = []
        if text in twice:
            more.append(finding("uuid-twice", 0, len(text)))
        matcher = productions.get("datetime")
        match = matcher.fullmatch(text) if matcher else None
        if match and "." not in match["timespec"] and times[match["timespec"]] > 1:
            more.append(finding("coarse-timespec", *match.span("timespec")))
        more = _by_the_rules(more, profile)
        yield replace(verdict, findings=(*verdict.findings, *more)) if more else verdict


def _at_host(parts: IriParts, profile: Profile) -> bool:
    if (parts.scheme or "").lower() not in ("http", "https") or parts.authority is None:
        return False
    host = parts.host
    return host in profile.hosts or (host.startswith("www.") and host[4:] in profile.hosts)


def with_policy_severity(problem: Problem, profile: Profile) -> Problem | None:
    """Return a finding with the severity and citation that the policy sets for its rule, or None if it is off."""
    severity = profile.severity(problem.code, problem.severity)
    if severity == "off":
        return None
    # The catalogue has the values of the policy from which the rules come.
    own = {"availability-statement": " or ".join(profile.availability), "prefer-https": profile.schemes[0]}
    expected = own.get(problem.code) or problem.expected
    reference = profile.citation(problem.code, problem.reference)
    return replace(problem, severity=severity, expected=expected, reference=reference)


def _by_the_rules(findings: Iterable[Problem], profile: Profile) -> tuple[Problem, ...]:
    return tuple(each for each in (with_policy_severity(finding, profile) for finding in findings) if each is not None)


def _own_ark(text: str, profile: Profile, facts: AllocationFacts) -> Ark | None:
    """Return the ARK in ``text`` if it has a NAAN of the profile, or if the site allocates the text."""
    if not (profile.own_naans or facts.own):
        return None
    ark = shoulders.ark_of(text, profile)
    if ark is None or ark.normal_naan in profile.own_naans:
        return ark
    return ark if facts.own and (profile.own_naans or ark.reserved_naan) else None


def naan_fault(naan: str, profile: Profile) -> str | None:
    """Return the code of the rule that a new ARK of ``naan`` breaks, or None. A profile without a NAAN makes no
    statement about NAANs, except about the one for tests (P-17).

    >>> from .profile import built_in
    >>> [naan_fault(naan, built_in("17beta")) for naan in ("21206", "20206", "99999")]
    [None, 'naan-foreign', 'naan-reserved-invalid']
    """
    if naan in profile.own_naans:
        return None
    if f"ark:{naan}/" == RESERVED_NAAN:
        return "naan-reserved-invalid"
    return "naan-foreign" if profile.own_naans else None


def _at_a_host(
    text: str, parts: IriParts, profile: Profile, facts: AllocationFacts, is_reserved: bool
) -> Iterator[Problem]:
    """Check the rules of section 1 for IRIs of a host, and those of section 4 for reserved IRIs."""
    scheme = (parts.scheme or "").lower()
    # "For identifiers not intended to be persistent in the span of decades, the scheme https SHOULD be used"
    if profile.schemes and scheme != profile.schemes[0] and not (is_reserved or facts.persistent):
        yield finding(
            "prefer-https",
            0,
            len(scheme),
            Translatable(
                "the scheme is %(scheme)s, but %(schemes)s is preferred", scheme=scheme, schemes=profile.schemes[0]
            ),
        )
    yield from _authority(text, parts, profile)
    # "Allocated IRIs MUST be in normal form as described in [IRI] section 5.3.2."
    normal = normal_form(text)
    if normal != text:
        message = Translatable("the IRI is not in normal form")
        if normal and len(normal) <= 200:
            form = display.escape(normal)
            message = Translatable("the IRI is not in normal form; the normal form is %(form)s", form=form)
        yield finding("not-normal-form", 0, len(text), message)
    start, path = parts.start, parts.path
    # "Allocated IRIs MUST have a non-empty path."
    if not path:
        yield finding("empty-path", start, start)
        return
    # "If the path is other than /, all segments MUST be non-empty."
    if path != "/" and (place := f"{path}/".find("//")) >= 0:
        yield finding("empty-segment", start + place, start + place + 1)
    if is_reserved:
        yield from _check_reserved(text, parts, profile)
        return
    yield from segments.findings(text, parts, profile, facts.allocated)
    if facts.others is not None:
        missing = next((parent for parent in parents(text) if parent not in facts.others), None)
        if missing:
            message = Translatable("%(iri)s is not allocated", iri=display.escape(missing[:200]))
            yield finding("parent-unallocated", start, start + len(path), message)


def _authority(text: str, parts: IriParts, profile: Profile) -> Iterator[Problem]:
    authority = parts.authority or ""
    start = text.index("//") + 2
    if parts.host not in profile.hosts:
        place = start + authority.rfind("@") + 1
        message = f"remove www.: use {parts.host[4:]}" if parts.host.isascii() else None
        yield finding("spurious-www", place, place + 4, message)
    if len(authority) != len(parts.host):
        yield finding("spurious-authority", start, start + len(authority))


def _check_reserved(text: str, parts: IriParts, profile: Profile) -> Iterator[Problem]:
    """Check a reserved path: "allocated only for defined identifier schemes", with "the semantics of that scheme"."""
    start = parts.start + 1
    scheme = text[start : text.index(":", start)]
    is_in_use = scheme.lower() in profile.reserved_schemes
    if not is_in_use and registries.scheme(scheme) is None:
        yield finding(
            "undefined-scheme",
            start,
            start + len(scheme),
            Translatable("the scheme %(scheme)s is not defined", scheme=scheme[:60]),
        )
    if is_in_use and scheme.lower() in ("ark", "urn"):
        try:
            identifier = parsing.parse(text[start:])
        except IdentifierError as error:
            problem = error.problem
            yield finding("scheme-semantics", start + problem.start, start + problem.end, problem.message)
        else:
            if isinstance(identifier, Ark):
                yield from _of_naan(identifier, start, profile)


def _of_naan(ark: Ark, start: int, profile: Profile) -> Iterator[Problem]:
    """Check that a NAA assigns names under its own NAAN: "MUST match the semantics of that scheme" (section 4)."""
    naan = ark.normal_naan
    if (code := naan_fault(naan, profile)) is None:
        return
    place = next((part for part in ark.segments if part.part == "naan"), None)
    message = f"the NAAN {naan} is not of this policy, which has {', '.join(profile.own_naans)}"
    span = (start + place.start, start + place.end) if place else (start, start + len(ark.text))
    yield finding(code, *span, message if code == "naan-foreign" else None)


def _everywhere(
    text: str, parts: IriParts, profile: Profile, facts: AllocationFacts, ark: Ark | None, is_reserved: bool
) -> Iterator[Problem]:
    """Check the rules for all identifiers that the policy covers."""
    whole = 0, len(text)
    if ark is not None:
        yield from _of_ark(text, ark, profile, is_reserved)
    elif facts.persistent:
        # "Persistent IRIs MUST be allocated using the ARK system"
        yield finding("persistent-not-ark", *whole)
    # "the status code MUST NOT be a permanent redirect (status code 301 or 308)"
    is_name = ark is not None or is_reserved
    if facts.status in PERMANENT_REDIRECTS and (is_name or _is_temporary(parts.path, profile)):
        yield finding(
            "permanent-redirect", *whole, Translatable("%(status)s is a permanent redirect", status=facts.status)
        )
    if facts.persistent and facts.published is not False:
        yield from _availability(facts.availability, profile, whole)
    # "Allocation of IRIs MUST be documented."
    if facts.documented is False:
        yield finding("undocumented", *whole)
    if facts.information is False:
        yield from _of_a_thing(parts, facts.status, whole)
    if text[: len(_NAMED_UUID)].lower() == _NAMED_UUID:
        yield from segments.uuid(text, len(_NAMED_UUID))


def _of_ark(text: str, ark: Ark, profile: Profile, is_reserved: bool) -> Iterator[Problem]:
    start = text.rfind(ark.text)
    if ark.normal_naan not in profile.own_naans:
        # A reserved path of a host was already checked.
        if not is_reserved:
            yield from _of_naan(ark, start, profile)
        return
    place = next((part.start + start, part.end + start) for part in ark.segments if part.part == "name")
    shoulder = shoulders.shoulder(ark, profile)
    if shoulder.reserved and shoulder.shoulder is not None:
        yield finding(
            "shoulder-reserved",
            *place,
            Translatable("the shoulder %(shoulder)s is reserved", shoulder=shoulder.shoulder),
        )
    elif shoulder.reserved:
        yield finding("reserved-name", *place)
    # "the Name part of allocated ARKs MUST NOT contain widely recognizable semantic information (to the extent
    # possible)". Only a person can decide this.
    if word := shoulders.meaning(shoulders.naan_and_name(ark)[1]):
        yield finding("not-opaque", *place, Translatable("the name looks meaningful: %(word)s", word=word[:60]))


def _is_temporary(path: str, profile: Profile) -> bool:
    """Return whether the profile wants temporary redirects for a path."""
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in profile.temporary_paths)


def _availability(availability: str | None, profile: Profile, whole: tuple[int, int]) -> Iterator[Problem]:
    """Check "MUST have availability equal to lifetime or subinfinite; if none is explicitly stated ... lifetime"."""
    if (availability or profile.default_availability) not in profile.availability:
        message = (
            f"the availability is {display.escape(availability[:60])}" if availability else "no availability is stated"
        )
        yield finding("availability-statement", *whole, message)


def _of_a_thing(parts: IriParts, status: int | None, whole: tuple[int, int]) -> Iterator[Problem]:
    # Section 5 applies to non-information resources, as its title states (P-06). They "MUST not include an IRI fragment
    # and MUST return either a 404 or a 303 status code on dereference".
    if parts.fragment is not None:
        yield finding("non-information-fragment", whole[1] - len(parts.fragment) - 1, whole[1])
    if status is not None and status not in (303, 404):
        yield finding(
            "non-information-status",
            *whole,
            Translatable("the status of a non-information resource is %(status)s", status=status),
        )
