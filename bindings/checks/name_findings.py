"""Check stored names and targets. The checks read only the store: they send no requests and change nothing.
:mod:`verification` compares bindings with their history.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from ...identifiers import Ark, Urn
from ...identifiers.iri_policy import AllocationFacts, Profile, evaluate, meaning
from ...identifiers.text import iri
from ...identifiers.text.translatable import Translatable, sentence
from ..collection import Bindings
from ..names import corrections, naming, targets, validation
from ..names.binding import Binding
from ..names.error_codes import error_code
from ..names.errors import BindingError, UnreadableBinding
from ..names.metadata import metadata, persistence
from ..names.policy import UNPUBLISHED, is_registered
from ..names.prefixes.prefixes import PrefixRecords
from . import plausibility

CHECKS = {
    "row-unreadable": "Rows cannot be read and were not checked; ararat verify lists them.",
    "unreadable": "A bound name is not a valid identifier by the current rules.",
    "urn-key": "A URN is recorded under another key than equivalent URNs, so that no request finds it.",
    "name-case": sentence(error_code("name-case").title),
    "check-character": sentence(error_code("check-character").title),
    "generic-missing": "A name is bound, but a name that contains it is not (ARK-035).",
    "dot-segment": "A segment is only . or ..: clients remove it from the request.",
    "encoded-dot": "Two names differ only in . and %2E: some software treats them as equal.",
    "not-opaque": "The name has a meaning: meanings change, names do not (ARK-010, POL-024).",
    "naan-unregistered": "The NAAN is not in the registry (ARK-015); reported once for each NAAN.",
    "non-ascii": "The name has characters that are not ASCII (ARK-065).",
    "name-characters": "The name has a character that the prefix record does not permit (ARK-138).",
    "policy": "An IRI policy does not allow the name, or a URL that it leads to.",
    **{code: sentence(error_code(code).title) for code in plausibility.CODES},
    "reserved-target": "The target is a path of the resolver itself: a second redirect, or an endless loop.",
}
"""The checks, by code."""

_BATCH = 500
_NON_ASCII = re.compile("%[89A-F]")


class NameFinding(NamedTuple):
    """A problem of a recorded name or its target, or something unusual about it. ``identifier`` is "" for a finding
    about the database. ``code`` is one of :data:`CHECKS`. ``message`` is in printable ASCII.
    """

    identifier: str
    code: str
    message: str


def check(
    bindings: Bindings,
    *,
    naans: Collection[str] = (),
    prefixes: Collection[str] = (),
    profile: Profile | None = None,
) -> Iterator[NameFinding]:
    """Check all recorded names and their targets, and yield the problems in the order of the names. A last finding
    states whether rows cannot be read.

    ``naans`` are accepted although they are not registered. ``prefixes`` are the resolver prefixes of this site in
    stored form: a target that begins with one is a path of it. ``profile`` is an IRI policy for the live names and
    their targets. The targets of withdrawn names are not checked. One snapshot is streamed. Raises
    :class:`BindingsUnavailable`. Source: ARK-010, ARK-015, ARK-035, ARK-065, ARK-138, POL-024; decision A-08.
    """
    accepted_naans = {*naans}
    with bindings.store.snapshot() as snapshot:
        unreadable: list[UnreadableBinding] = []  # the first only
        records = PrefixRecords(snapshot.prefixes())
        patterns = [*bindings.store.patterns(), *records.patterns]
        other_cases = snapshot.in_other_case()
        every = snapshot.bindings(lambda error: unreadable.append(error) if not unreadable else None)
        batch: list[Binding] | None = None
        while batch is None or batch:
            batch = list(islice(every, _BATCH))
            read = [(binding, _read(binding.identifier)) for binding in batch]
            related = {key for binding, identifier in read for key in _related_keys(binding.identifier, identifier)}
            bound = snapshot.bound(related)
            for binding, identifier in read:
                yield from _name_findings(binding, identifier, bound, accepted_naans, prefixes)
                if other := other_cases.get(binding.identifier):
                    yield NameFinding(binding.identifier, "name-case", naming.why_similar_in_case(other))
                if not binding.is_withdrawn and (wrong := corrections.expected_character(binding.identifier, patterns)):
                    yield NameFinding(binding.identifier, "check-character", corrections.why_mistyped(wrong))
                # A withdrawn name is no longer used, and a record can be newer than a name.
                if not binding.is_withdrawn and (message := records.characters_problem(binding.identifier)):
                    yield NameFinding(binding.identifier, "name-characters", message)
                if profile is not None and binding.is_live:
                    yield from _policy_findings(binding, profile)
    if unreadable:
        yield NameFinding(
            "", "row-unreadable", Translatable("rows cannot be read and were not checked; run ararat verify")
        )


def _read(key: str) -> Ark | Urn | None:
    try:
        return naming.read(key)
    except BindingError:
        return None


def _related_keys(key: str, identifier: Ark | Urn | None) -> list[str]:
    """Return the names whose bindings the checks of this name need."""
    if isinstance(identifier, Urn):
        return [naming.key(identifier)]
    containers = identifier.hierarchy[:-1] if identifier else ()
    return [*containers, *_confusable_keys(key)]


def _confusable_keys(key: str) -> list[str]:
    # One name of each pair has %2E, and the finding belongs to it.
    return naming.confusable(key) if "%2E" in key else []


def _name_findings(
    binding: Binding,
    identifier: Ark | Urn | None,
    bound: Collection[str],
    accepted_naans: set[str],
    prefixes: Iterable[str],
) -> Iterator[NameFinding]:
    key = binding.identifier

    def found(code: str, message: str) -> NameFinding:
        return NameFinding(key, code, message)

    if identifier is None:
        yield found("unreadable", Translatable("the name is not a valid identifier, so no request can resolve it"))
        return
    if iri.has_dot_segment(key):
        yield found(
            "dot-segment", Translatable("the name has a segment . or .., which clients remove from the request")
        )
    if isinstance(identifier, Urn) and binding.is_live and (shared := naming.key(identifier)) != key:
        yield found(
            "urn-key",
            Translatable("no request finds this URN: it is equivalent to %(shared)s, which is bound too", shared=shared)
            if shared in bound
            else Translatable(
                "no request finds this URN: it is equivalent to %(shared)s; export the names, and import them into "
                "a new database",
                shared=shared,
            ),
        )
    if isinstance(identifier, Ark):
        yield from _ark_findings(key, identifier, bound, accepted_naans, found)
    if _NON_ASCII.search(key):
        yield found("non-ascii", Translatable("the name has characters that are not ASCII"))
    for target in filter(None, (binding.target, *binding.alternates.values()) if binding.is_live else ()):
        for warning in plausibility.target_warnings(target):
            yield found(warning.code, f"{warning.message}: {validation.quote(target, 100)}")
        if _is_reserved(target, prefixes):
            yield found(
                "reserved-target",
                Translatable(
                    "the target %(target)s is a path of the resolver itself", target=validation.quote(target, 100)
                ),
            )


def _policy_findings(binding: Binding, profile: Profile) -> Iterator[NameFinding]:
    """Yield the findings of the policy about the name and about its targets on hosts of the policy."""
    elements = metadata.shorten_names(binding.metadata)
    facts = AllocationFacts(
        persistent=not persistence.is_denied(elements.get("persistence", "(:none)")),
        published=elements.get("availability") != UNPUBLISHED,
        availability=elements.get("availability"),
        # "Allocation of IRIs MUST be documented": by a title, a recorded resource, or a link to more information.
        documented=bool(elements.get("what") or elements.get("where") or binding.resource),
    )
    own = f"{profile.schemes[0]}://{profile.hosts[0]}"
    destinations = filter(None, (binding.target, *binding.alternates.values()))
    iris = dict.fromkeys(f"{own}{each}" if each.startswith("/") else each for each in destinations)
    for verdict in (evaluate(binding.identifier, profile, facts), *(evaluate(each, profile) for each in iris)):
        for finding in verdict.findings:
            if finding.severity != "note":
                shown = validation.quote(verdict.iri, 100)
                yield NameFinding(binding.identifier, "policy", f"{shown}: {finding.message} ({finding.code})")


def _ark_findings(
    key: str, ark: Ark, bound: Collection[str], accepted_naans: set[str], finding: Callable[[str, str], NameFinding]
) -> Iterator[NameFinding]:
    missing = [container for container in ark.hierarchy[:-1] if container not in bound]
    if missing:
        yield finding("generic-missing", f"{validation.quote(missing[0], 100)} is not bound")
    for other in _confusable_keys(key):
        if other in bound:
            shown = validation.quote(other, 100)
            yield finding("encoded-dot", f"{shown} is bound too; some software treats the two as equal")
    if word := meaning(unquote(ark.hierarchy[0].partition("/")[2])):
        yield finding("not-opaque", f"the name looks meaningful: {validation.quote(word, 60)}")
    naan = ark.normal_naan
    if naan not in accepted_naans:
        accepted_naans.add(naan)
        if not is_registered(naan):
            yield finding(
                "naan-unregistered", f"NAAN {naan} is not registered: register with the ARK Maintenance Agency"
            )


def _is_reserved(target: str, prefixes: Iterable[str]) -> bool:
    paths = [target[len(prefix) :] for prefix in prefixes if target.startswith(f"{prefix}/")]
    return any(map(targets.is_reserved, [target, *paths]))
