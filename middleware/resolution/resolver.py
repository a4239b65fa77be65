"""What a resolver answers for an identifier: the order of resolution, without HTTP and without a store.

In comes the identifier as received (what stands below the prefix: ``ark:12345/x?info``), a ``fetch`` that finds
bindings by their keys, the site's rules and its settings; out comes a :class:`~ararat.middleware.Resolution`, which
:mod:`.http.responses` turns into HTTP. Nothing is raised for any str; what ``fetch`` raises goes through.

    1. too long, not an identifier, NAAN 99999, dot-segments      refused, and nothing is looked up
    2. ``?`` ``??`` ``?info``                                     the description of what is bound
    3. the binding of the very name                               redirect, served answer, tombstone
    4. a withdrawn name above it                                  410, naming the withdrawn name
    5. a container that lets what is below it through             the same, its target with the rest appended;
                                                                  of a served subtree also what is no ARK
    6. a rule of the site for a shoulder or a NAAN                a binding made on the spot
    7. another resolver for a NAAN that is not ours               redirect, with its inflection
    8. nothing                                                    404, naming the nearest bound container

Every spelling of an identifier gets the same answer, since only its normal form is looked up: "A HTTP ARK resolver
MUST treat equally all resolution requests for Extended ARKs with the same normal form" (ARK draft, section 7.1).
"""

from __future__ import annotations

from collections.abc import Callable

from ...identifiers import Ark
from ..bindings import targets
from ..bindings.model import Binding, Kind
from ..errors import BindingError
from ..http.negotiation import ANYTHING, Accepted, choose
from ..settings import METADATA_INFLECTIONS, Settings
from .forwarding import elsewhere
from .lookup import Fetch, above, exact
from .passthrough import let_through, lowered, rest_of
from .refusals import refusal
from .request import understand
from .result import Asked, Identifier, Outcome, Resolution, found, refuse
from .rules import Ruled
from .subtree import below_an_ark, served_below

Rules = Callable[[Identifier], Ruled | None]
"""The binding that a rule of the site makes for an identifier nothing is bound to, or None."""


def no_rules(identifier: Identifier) -> None:
    """The rules of a site that has none."""


def resolve(
    identifier: str, fetch: Fetch, rules: Rules, settings: Settings, accepted: Accepted = ANYTHING
) -> Resolution:
    """What to answer for an identifier, given as it was received, to who accepts this.

    >>> resolve("ark:12345/", lambda keys: {}, no_rules, Settings()).problem.code
    'empty-name'
    >>> resolve("ark:12345/x", lambda keys: {}, no_rules, Settings()).status
    404
    """
    asked = understand(identifier, settings, accepted)
    if isinstance(asked, Resolution):
        return below_an_ark(asked, fetch, settings) or asked
    # Whatever binding is found or made, _bound answers by it, inflections first (steps 2 and 3).
    if binding := exact(asked.identifier, fetch):
        return _bound(asked, binding, settings)
    near, withdrawn = above(asked.identifier, fetch)
    if withdrawn is not None:
        # Withdrawal includes everything below the name.
        problem = refusal("container-withdrawn", 0, len(asked.given.partition("?")[0]))
        return refuse(asked.given, problem, asked=asked, container=withdrawn)
    if through := _let_through(asked, near, settings):
        return through
    if ruled := rules(asked.identifier):
        return _bound(asked, ruled.binding, settings)._replace(rule=ruled.prefix)
    return _unbound(asked, near, settings)


def _let_through(asked: Asked, near: list[Binding], settings: Settings) -> Resolution | None:
    """The answer by the nearest container that lets through what is below it: the longest wins."""
    for container in near:
        if container.kind == "served" and container.scope == "subtree":
            return served_below(asked, container, settings)
        if binding := let_through(container, asked.key):
            return _bound(asked, binding, settings, container.identifier)
    return None


def _unbound(asked: Asked, near: list[Binding], settings: Settings) -> Resolution:
    # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the ARK."
    # I-03: so it is for the description of what is not bound.
    container = near[0].identifier if near else None
    message = settings.not_ours(asked.identifier)
    if isinstance(asked.identifier, Ark) and settings.forwards(asked.identifier):
        address, message = elsewhere(asked.identifier, settings)
        if address is not None:
            query = asked.inflection[1:] if asked.inflection else None
            return Resolution(
                given=asked.given,
                status=302,
                outcome="forwarded",
                identifier=asked.identifier,
                inflection=asked.inflection,
                target=targets.with_query(address, query),
            )
    return refuse(asked.given, refusal("not-bound", 0, len(asked.given), message), asked=asked, container=container)


def _bound(asked: Asked, binding: Binding, settings: Settings, container: str | None = None) -> Resolution:
    """The answer by a binding, which ``container`` has made where the name itself has none."""

    def answer(status: int, outcome: Outcome, target: str | None = None, query: str | None = None) -> Resolution:
        return found(asked, binding, status, outcome, target, query, container, vary)

    vary: tuple[str, ...] = ()
    if asked.inflection in METADATA_INFLECTIONS:
        # I-03: the description outlives what it describes.
        return answer(200, "metadata")
    core = asked.given.partition("?")[0]
    if not binding.is_live:
        return refuse(asked.given, refusal("withdrawn", 0, len(core)), asked=asked, binding=binding)
    if asked.inflection and not _passes(asked.inflection, binding, settings):
        place = len(core), len(asked.given)
        return refuse(asked.given, refusal("unknown-inflection", *place), asked=asked, binding=binding)
    if binding.kind == "described":
        # A thing without a page has its description, and that is not the thing itself.
        return answer(303, "described")
    alternate, vary = choose(binding.alternates, asked.accepted)
    target = _usable_target(asked, alternate or binding.target, binding.kind, settings, container)
    if target is None:
        unusable = refuse(asked.given, refusal("target-unusable", 0, len(core)), asked=asked, binding=binding)
        return unusable._replace(vary=vary)
    if binding.kind == "served":
        if binding.scope == "subtree":
            # A slash at the end is let go to find the name; the site gets what was asked for.
            target = lowered(target, rest_of(core, binding.identifier)) or target
        return answer(200, "served", target, asked.query)
    target = targets.with_query(target, asked.query)
    if binding.kind == "related":
        # "303 signifies that a resource related to the referent of the ARK is tentatively available"
        return answer(303, "related", target)
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    return answer(307 if binding.redirect == 307 else 302, "located", target)


def _passes(inflection: str, binding: Binding, settings: Settings) -> bool:
    # I-02: "a served binding passes any other query on to the site unchanged"
    if binding.kind == "served":
        return True
    known = settings.forward_query or inflection in settings.inflections
    return known and binding.kind in ("located", "related")


def _usable_target(
    asked: Asked, stored: str | None, kind: Kind, settings: Settings, container: str | None
) -> str | None:
    """The stored target if it may still be used: others can write to a store, and rules can have become stricter."""
    try:
        target = targets.check(stored, kind)
    except BindingError:
        return None
    if target is None or (kind == "served" and settings.reserves(target)):
        return None
    return None if _leads_to_itself(asked, target, settings, container) else target


def _leads_to_itself(asked: Asked, target: str, settings: Settings, container: str | None) -> bool:
    """Whether a target asks this resolver for the same name, or for another one below the same container, which would
    be let through again, for ever.
    """
    for prefix in ("", *settings.own_prefixes):
        core = target.removeprefix(f"{prefix}/") if target.startswith(f"{prefix}/") else ""
        if core[:4].lower() in _LABELS:
            understood = understand(core.partition("#")[0], settings)
            if not isinstance(understood, Asked) or understood.inflection:
                return False
            below = container is not None and understood.key.startswith((f"{container}/", f"{container}."))
            return below or understood.key == asked.key
    return False


_LABELS = ("ark:", "urn:")
