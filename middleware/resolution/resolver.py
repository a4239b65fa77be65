"""Resolve an identifier: find or make its binding, and choose the answer. No HTTP and no store.

The arguments of :func:`resolve` are the identifier as received (``ark:12345/x?info``), a function ``fetch`` that
returns bindings by their keys, the rules and the settings of the site. The result is a
:class:`~ararat.middleware.Resolution`, which :mod:`.http.responses` turns into HTTP. No str raises an exception;
exceptions of ``fetch`` reach the caller. The first step that applies decides:

    1. too long, not an identifier, NAAN 99999, dot-segments      refusal, without a lookup
    2. ``?`` ``??`` ``?info``                                     the description of the binding
    3. the binding of the identifier itself                       redirect, served answer, tombstone
    4. a withdrawn name above it                                  410, which names the withdrawn name
    5. a container with passthrough or a served subtree           as 3, with the rest appended to the target;
                                                                  below a served subtree also texts that are no ARKs
    6. a rule for a shoulder or a NAAN                            as 3, with a binding made by the rule
    7. another resolver for a NAAN of others                      redirect, with the inflection
    8. otherwise                                                  404, which names the nearest bound container

Every spelling of an identifier gets the same answer, because only the normal form is looked up: "A HTTP ARK resolver
MUST treat equally all resolution requests for Extended ARKs with the same normal form" (ARK draft, section 7.1).
"""

from __future__ import annotations

from collections.abc import Callable

from ...identifiers import Ark
from ...identifiers.ark.grammar import METADATA_INFLECTIONS
from ..bindings import targets
from ..bindings.model import Binding, Kind
from ..errors import BindingError
from ..http.negotiation import ANYTHING, Accepted, choose
from ..settings import Settings
from .forwarding import forwarding
from .lookup import Fetch, find_above, find_exact
from .passthrough import append_path, inherit, suffix_below
from .request import ResolutionRequest, parse_request
from .result import Identifier, Resolution
from .rules import Ruled
from .subtree import serve_below, serve_below_ark

Rules = Callable[[Identifier], Ruled | None]
"""Returns the binding that a rule makes for an identifier that is not bound, or None."""


def no_rules(identifier: Identifier) -> None:
    """Return None: a site without rules."""


def resolve(given: str, fetch: Fetch, rules: Rules, settings: Settings, accepted: Accepted = ANYTHING) -> Resolution:
    """Resolve an identifier as received, for a client with these Accept fields.

    >>> resolve("ark:12345/", lambda keys: {}, no_rules, Settings()).problem.code
    'empty-name'
    >>> resolve("ark:12345/x", lambda keys: {}, no_rules, Settings()).status
    404
    """
    request = parse_request(given, settings, accepted)
    if isinstance(request, Resolution):
        return serve_below_ark(request, fetch, settings) or request
    if binding := find_exact(request.identifier, fetch):
        return _answer_by(binding, request, settings)
    containers, withdrawn = find_above(request.identifier, fetch)
    if withdrawn is not None:
        # The withdrawal of a name includes all names below it.
        return request.refuse("container-withdrawn", end=len(request.request_core), container=withdrawn)
    if inherited := _answer_by_container(request, containers, settings):
        return inherited
    if ruled := rules(request.identifier):
        return _answer_by(ruled.binding, request, settings)._replace(rule=ruled.prefix)
    return _unbound(request, containers, settings)


def _answer_by_container(
    request: ResolutionRequest, containers: list[Binding], settings: Settings
) -> Resolution | None:
    """Return the answer by the nearest container with a served subtree or a passthrough, or None."""
    for container in containers:
        if container.kind == "served" and container.scope == "subtree":
            return serve_below(request, container, settings)
        if binding := inherit(container, request.key):
            return _answer_by(binding, request, settings, container.identifier)
    return None


def _unbound(request: ResolutionRequest, containers: list[Binding], settings: Settings) -> Resolution:
    # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the ARK."
    # I-03: the description of an unbound identifier is not found either.
    identifier, inflection = request.identifier, request.inflection
    message = settings.not_ours(identifier)
    if isinstance(identifier, Ark) and settings.forwards(identifier):
        address, message = forwarding(identifier, settings)
        if address is not None:
            return Resolution(
                given=request.given,
                status=302,
                outcome="forwarded",
                identifier=identifier,
                inflection=inflection,
                target=targets.with_query(address, inflection[1:] if inflection else None),
            )
    return request.refuse("not-bound", message=message, container=containers[0].identifier if containers else None)


def _answer_by(
    binding: Binding, request: ResolutionRequest, settings: Settings, container: str | None = None
) -> Resolution:
    """Return the answer by a binding of the identifier, or by one that ``container`` made for it."""
    if request.inflection in METADATA_INFLECTIONS:
        # I-03: a withdrawn name keeps its description.
        return request.answer(binding, 200, "metadata", container=container)
    core = request.request_core
    if not binding.is_live:
        return request.refuse("withdrawn", end=len(core), binding=binding)
    if request.inflection and not _accepts_inflection(binding, request.inflection, settings):
        return request.refuse("unknown-inflection", start=len(core), binding=binding)
    if binding.kind == "described":
        # 303, because the description is not the resource itself.
        return request.answer(binding, 303, "described", container=container)
    alternate, vary = choose(binding.alternates, request.accepted)
    target = _usable_target(request, alternate or binding.target, binding.kind, settings, container)
    if target is None:
        return request.refuse("target-unusable", end=len(core), binding=binding)._replace(vary=vary)
    if binding.kind == "served":
        if binding.scope == "subtree":
            # the name is found without a slash at the end, but the site gets the path as requested.
            target = append_path(target, suffix_below(core, binding.identifier)) or target
        return request.answer(binding, 200, "served", target, query=request.query, container=container, vary=vary)
    target = targets.with_query(target, request.query)
    if binding.kind == "related":
        # "303 signifies that a resource related to the referent of the ARK is tentatively available"
        return request.answer(binding, 303, "related", target, container=container, vary=vary)
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    status = 307 if binding.redirect == 307 else 302
    return request.answer(binding, status, "located", target, container=container, vary=vary)


def _accepts_inflection(binding: Binding, inflection: str, settings: Settings) -> bool:
    # I-02: "a served binding passes any other query on to the site unchanged"
    if binding.kind == "served":
        return True
    known = settings.forward_query or inflection in settings.inflections
    return known and binding.kind in ("located", "related")


def _usable_target(
    request: ResolutionRequest, stored: str | None, kind: Kind, settings: Settings, container: str | None
) -> str | None:
    """Return the stored target if it passes today's checks: other programs can write to a store."""
    try:
        target = targets.check(stored, kind)
    except BindingError:
        return None
    if target is None or (kind == "served" and settings.reserves(target)):
        return None
    return None if _leads_to_itself(request, target, settings, container) else target


def _leads_to_itself(request: ResolutionRequest, target: str, settings: Settings, container: str | None) -> bool:
    """Return whether a target requests the same name from this resolver, or a name below the same container.

    The container would make another such target, so that the client would be redirected without end.
    """
    for prefix in ("", *settings.own_prefixes):
        core = target.removeprefix(f"{prefix}/") if target.startswith(f"{prefix}/") else ""
        if core[:4].lower() in _LABELS:
            next_request = parse_request(core.partition("#")[0], settings)
            if isinstance(next_request, Resolution) or next_request.inflection:
                return False
            below = container is not None and next_request.key.startswith((f"{container}/", f"{container}."))
            return below or next_request.key == request.key
    return False


_LABELS = ("ark:", "urn:")
