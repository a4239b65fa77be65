"""Resolve an identifier: find or make its binding, and choose the answer. No HTTP and no store.

No str raises an exception; exceptions of ``fetch`` reach the caller. The first step that applies decides:

    1. too long, not an identifier, NAAN 99999, dot-segments      refusal, without a lookup
    2. ``?`` ``??`` ``?info`` ``?info&format=NAME``               the description of the binding
    3. the binding of the identifier itself                       redirect, served answer, tombstone; for a reserved
                                                                  name 404, as for an unknown one
    4. a withdrawn name above it                                  410, which names the withdrawn name
    5. a prefix record                                            its description; also for ``ark:12345/`` and
                                                                  ``urn:nbn:``, which are not names (I-04)
    6. a container with passthrough or a served subtree           as 3, with the rest appended to the target;
                                                                  below a served subtree also texts that are not ARKs
    7. a rule for the beginning of the name                       as 3, with a binding made by the rule; or the resolver
                                                                  of a delegated prefix, if no rule has a longer one
    8. another resolver for a NAAN of others                      redirect, with the spelling of the request; also for
                                                                  texts that are not ARKs
    9. otherwise                                                  404, which names the nearest bound container

A hold replaces each redirect and each answer of the site by 303 to the description (:mod:`.resolution.holds`). Only the
normal form is looked up: "A HTTP ARK resolver MUST treat equally all resolution requests for Extended ARKs with the
same normal form" (ARK draft, section 7.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import assert_never

from ...bindings.names import selection, targets
from ...bindings.names.binding import Binding
from ...bindings.names.error_codes import HTTP_STATUS
from ...bindings.names.errors import BindingError
from ...bindings.names.passthrough import (
    append_path,
    append_received,
    inherit,
    is_given,
    suffix_below,
    with_received_query,
)
from ...bindings.names.prefixes.holds import NO_HOLDS, Holds
from ...bindings.names.prefixes.prefixes import (
    NO_RECORDS,
    NO_STATEMENTS,
    InheritedStatements,
    PrefixRecord,
    PrefixRecords,
)
from ...bindings.names.prefixes.rules import RuleMatch
from ...identifiers import Ark, Problem, Urn
from . import refusals
from .description_formats import BY_INFLECTION
from .forwarding import forward_text, forwarding, redirect_delegated
from .holds import with_hold
from .lookup import Fetch, FoundBinding, find_above, find_exact, withdrawing_keys
from .negotiation import ANYTHING, Accepted, choose
from .request import ResolutionRequest, parse_request, without_final_dot
from .result import Identifier, Outcome, Resolution
from .settings import Settings
from .subtree import find_below, find_below_text, nearest_ark

Rules = Callable[[Identifier], RuleMatch | None]
"""Returns the binding that a rule makes for an identifier that is not bound, or None."""


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


Prefixes = Callable[[], PrefixRecords]
"""Returns the prefix records of the site."""


def no_prefixes() -> PrefixRecords:
    """Return no prefix records, for a site that describes no NAANs and shoulders."""
    return NO_RECORDS


def no_rules(identifier: Identifier) -> None:
    """Return None for each ``identifier``, for a site without redirect rules."""


def resolve(
    given: str,
    fetch: Fetch,
    rules: Rules,
    settings: Settings,
    accepted: Accepted = ANYTHING,
    prefixes: Prefixes = no_prefixes,
    holds: Holds = NO_HOLDS,
    now: Clock = utc_now,
) -> Resolution:
    """Resolve an identifier as received, with its query: look up its binding, and choose the answer for a client.

    ``fetch`` returns the bindings of several keys, and ``prefixes`` the records of prefixes. ``rules`` returns the
    binding that a redirect rule makes for an unbound identifier, or None. ``now`` returns the time that holds are
    compared with.

    >>> resolve("ark:12345/x", lambda keys: {}, no_rules, Settings()).status
    404
    """
    dates: list[datetime] = []
    resolution = with_hold(_resolve(given, _noting(fetch, dates), rules, settings, accepted, prefixes), holds, now())
    if not dates:
        return resolution
    if resolution.status != 410:
        # I-10: a shorter life of the answer would show that the name, or one above it, is reserved.
        return replace(resolution, changes_by_clock=True)
    # The name was public, so that no cache may have the old answer.
    seconds = max(0, int((min(dates) - now()).total_seconds()))
    return replace(
        resolution, fresh_for=seconds if resolution.fresh_for is None else min(seconds, resolution.fresh_for)
    )


def _noting(fetch: Fetch, dates: list[datetime]) -> Fetch:
    """Return ``fetch``, which adds to ``dates`` when the reserved names that it finds become live."""

    def fetch_noting(keys: Sequence[str]) -> Mapping[str, Binding]:
        bindings = fetch(keys)
        dates.extend(each.embargo for each in bindings.values() if each.embargo is not None)
        return bindings

    return fetch_noting


def _resolve(
    given: str, fetch: Fetch, rules: Rules, settings: Settings, accepted: Accepted, prefixes: Prefixes
) -> Resolution:
    request = parse_request(given, settings, accepted)
    if isinstance(request, Problem):
        result = (
            find_below_text(given, request, fetch, settings)
            or _root_alone(given, request, prefixes, settings)
            or forward_text(given, request, settings)
            or refusals.refuse(given, request)
        )
    else:
        dotless = without_final_dot(request, settings)
        if dotless is not None and find_exact(request, fetch) is None:
            # a final dot is ignored like a final slash, unless the name with the dot is bound.
            found = _find(dotless, fetch, rules, settings, prefixes)
            if isinstance(found, FoundBinding) and found.given and found.container is not None:
                # the rest below the name is not a name, so that it is appended as received.
                found = _find(request, fetch, rules, settings, prefixes)
            answer = _answered_for(found, settings, prefixes)
            if answer.outcome != "forwarded" and (answer.problem is None or answer.problem.code != "not-bound"):
                return replace(answer, given=given)
        result = _find(request, fetch, rules, settings, prefixes)
    return _answered_for(result, settings, prefixes)


def _answered_for(result: FoundBinding | Resolution, settings: Settings, prefixes: Prefixes) -> Resolution:
    return result if isinstance(result, Resolution) else _answer(result, settings, prefixes)


def _find(
    request: ResolutionRequest, fetch: Fetch, rules: Rules, settings: Settings, prefixes: Prefixes
) -> FoundBinding | Resolution:
    """Return the binding that answers a request, or the answer if there is none."""
    binding = find_exact(request, fetch)
    if binding is not None and not binding.is_reserved:
        return FoundBinding(request, binding, given=is_given(binding))
    if binding is not None and binding.is_hidden:
        # I-08: the name was public, so it is gone, and nothing about it is shown.
        return _refuse(request, "hidden")
    containers, withdrawn = find_above(request.identifier, fetch)
    if withdrawn is not None and withdrawn.is_hidden:
        return _refuse(request, "hidden")
    if withdrawn is not None:
        # The withdrawal of a name includes all names below it.
        return _refuse(request, "container-withdrawn", container=withdrawn.identifier, successor=withdrawn.successor)
    if _asks_for_record(request) and (record := _record_of(request, prefixes())):
        # I-04: a reserved name of the same text makes no difference, because it is not public.
        return _described_prefix(request.given, record, prefixes, request.inflection, request.identifier)
    nearest = containers[0].identifier if containers else None
    elsewhere = prefixes().delegation(request.key)
    if binding is not None and elsewhere is None:
        # I-05, I-11: a reserved name has the answer of an unknown name, and no container or rule answers for it.
        return _unknown(request, nearest, settings.naan_refusal(request.identifier), prefixes)
    for container in containers if binding is None else ():
        if container.kind == "served" and container.scope == "subtree":
            if below := find_below(request, container, settings):
                return below
            break
        if inherited := inherit(container, request.key, request.core):
            return FoundBinding(request, inherited, container.identifier, given=is_given(container))
    ruled = rules(request.identifier) if binding is None else None
    # The longest prefix wins. Of the same prefix, the delegation does.
    if ruled and (elsewhere is None or len(ruled.prefix) > len(elsewhere.prefix)):
        return FoundBinding(request, ruled.binding, rule=ruled.prefix)
    if elsewhere is not None:
        address = redirect_delegated(request.identifier, request.given, request.inflection, elsewhere, settings)
        return address or _unknown(request, nearest, _no_way(elsewhere), prefixes)
    return _unbound(request, nearest, settings, prefixes)


def _no_way(record: PrefixRecord) -> str:
    return f"{record.prefix} is delegated, and its record has no usable address for this name"


# What is missing between a NAAN or URN namespace and a name.
_SEPARATORS = {"empty-name": "", "empty-nss": "", "no-name": "/", "no-nid": ":"}


def _root_alone(text: str, problem: Problem, prefixes: Prefixes, settings: Settings) -> Resolution | None:
    """Return the record of a NAAN or URN namespace for a request without a name below it, or None (I-04)."""
    separator = _SEPARATORS.get(problem.code)
    if separator is None:
        return None
    # With one more character the text is an ARK or URN.
    core, mark, query = text.partition("?")
    request = parse_request(f"{core}{separator}0{mark}{query}", settings)
    if isinstance(request, Problem) or not _asks_for_record(request):
        return None
    record = prefixes().get(request.key.removesuffix("0"))
    return record and _described_prefix(text, record, prefixes, request.inflection)


def _record_of(request: ResolutionRequest, records: PrefixRecords) -> PrefixRecord | None:
    """Return the record of exactly this prefix, or None."""
    if (record := records.get(request.key)) is not None or not isinstance(request.identifier, Urn):
        return record
    # A URN that is only the beginning of others can have another normal form than a whole name: the case before the
    # first hyphen of an NBN does not matter, and the beginning need not have that hyphen.
    try:
        return records.get(selection.beginning(request.core))
    except BindingError:
        return None


def _asks_for_record(request: ResolutionRequest) -> bool:
    return not request.inflection or request.inflection in BY_INFLECTION


def _described_prefix(
    given: str, record: PrefixRecord, prefixes: Prefixes, inflection: str, identifier: Identifier | None = None
) -> Resolution:
    inherited = prefixes().statements(record.prefix, record.statements)
    return Resolution(
        given=given,
        status=200,
        outcome="prefix",
        identifier=identifier,
        inflection=inflection,
        record=record,
        inherited=inherited,
    )


def _unbound(request: ResolutionRequest, container: str | None, settings: Settings, prefixes: Prefixes) -> Resolution:
    # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the ARK."
    # I-03: the description of an unbound identifier is not found either.
    message = settings.naan_refusal(request.identifier)
    if settings.forward and message is not None and isinstance(request.identifier, Ark):
        address, message = forwarding(request.given, request.identifier.normal_naan, settings)
        if address is not None:
            return Resolution(
                given=request.given,
                status=302,
                outcome="forwarded",
                identifier=request.identifier,
                inflection=request.inflection,
                target=address,
            )
    return _unknown(request, container, message, prefixes)


def _unknown(request: ResolutionRequest, container: str | None, message: str | None, prefixes: Prefixes) -> Resolution:
    record = next(prefixes().records_of(request.key), None)
    return _refuse(request, "not-bound", container=container, message=message, record=record)


def _answer(source: FoundBinding, settings: Settings, prefixes: Prefixes) -> Resolution:
    """Return the answer by a binding."""
    request, binding = source.request, source.binding
    if request.inflection in BY_INFLECTION:
        # I-03: a withdrawn name keeps its description.
        return _answered(source, 200, "metadata", inherited=prefixes().statements(binding.identifier, binding.metadata))
    if not binding.is_live:
        inherited = prefixes().statements(binding.identifier, binding.metadata)
        return _refuse(request, "withdrawn", binding, successor=binding.successor, inherited=inherited)
    if request.inflection and not (source.given or _accepts_inflection(binding, request.inflection, settings)):
        return _refuse(request, "unknown-inflection", binding)
    if binding.kind == "described":
        # 303, because the description is not the resource itself.
        return _answered(source, 303, "described")
    alternate, vary = choose(binding.alternates, request.accepted)
    target = _usable_target(source, alternate or binding.target, settings)
    if target is None:
        return _refuse(request, "target-unusable", binding, vary=vary)
    if binding.scope == "subtree" or (source.given and source.container is None):
        # the name is found without a slash at the end, but the target gets the path as requested.
        suffix = suffix_below(request.core, binding.identifier)
        target = (append_received if source.given else append_path)(target, suffix) or target
    match binding.kind:
        case "served":
            return _answered(source, 200, "served", target, request.query, vary)
        case "related":
            # "303 signifies that a resource related to the referent of the ARK is tentatively available"
            return _answered(source, 303, "related", _with_query(source, target), None, vary)
        case "located":
            # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
            status = 307 if binding.redirect == 307 else 302
            return _answered(source, status, "located", _with_query(source, target), None, vary)
        case _:
            assert_never(binding.kind)


def _with_query(source: FoundBinding, target: str) -> str:
    query = source.request.query
    received = with_received_query(target, query) if source.given else None
    return received or targets.with_query(target, query)


def _answered(
    source: FoundBinding,
    status: int,
    outcome: Outcome,
    target: str | None = None,
    query: str | None = None,
    vary: tuple[str, ...] = (),
    inherited: InheritedStatements = NO_STATEMENTS,
) -> Resolution:
    request, binding = source.request, source.binding
    return Resolution(
        given=request.given,
        status=status,
        outcome=outcome,
        identifier=request.identifier,
        inflection=request.inflection,
        binding=binding,
        target=target,
        query=query,
        vary=vary,
        container=source.container,
        rule=source.rule,
        below=source.below,
        inherited=inherited,
    )


def _refuse(
    request: ResolutionRequest,
    code: str,
    binding: Binding | None = None,
    *,
    container: str | None = None,
    successor: str | None = None,
    message: str | None = None,
    vary: tuple[str, ...] = (),
    inherited: InheritedStatements = NO_STATEMENTS,
    record: PrefixRecord | None = None,
) -> Resolution:
    return Resolution(
        given=request.given,
        status=HTTP_STATUS.get(code, 400),
        outcome="refused",
        identifier=request.identifier,
        inflection=request.inflection,
        binding=binding,
        container=container,
        successor=successor,
        vary=vary,
        problem=refusals.problem(code, request.given, message),
        inherited=inherited,
        record=record,
    )


def _accepts_inflection(binding: Binding, inflection: str, settings: Settings) -> bool:
    # I-02: "a served binding passes any other query on to the site unchanged"
    if binding.kind == "served":
        return True
    is_accepted = settings.forward_query or inflection in settings.inflections
    return is_accepted and binding.kind in ("located", "related")


def _usable_target(source: FoundBinding, stored: str | None, settings: Settings) -> str | None:
    """Return the stored target if it passes today's checks: other programs can write to a store."""
    kind = source.binding.kind
    try:
        target = targets.check(stored, kind)
    except BindingError:
        return None
    if target is None or (kind == "served" and settings.reserves(target)):
        return None
    return None if _leads_to_itself(source, target, settings) else target


def _leads_to_itself(source: FoundBinding, target: str, settings: Settings) -> bool:
    """Return whether a target requests the same name from this resolver, or a name below the same container. The client
    would then be redirected without end.
    """
    own = settings.own_identifier(target)
    if own is None:
        return False
    above = source.container
    request = parse_request(own.partition("#")[0], settings)
    if isinstance(request, Problem):
        nearest = nearest_ark(own.partition("?")[0], request.start) if source.given else None
        return nearest is not None and above in withdrawing_keys(nearest)
    if request.inflection and not source.given:
        return False
    below = above is not None and request.key.startswith((f"{above}/", f"{above}."))
    return below or request.key == source.request.key
