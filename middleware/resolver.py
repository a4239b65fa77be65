"""What a resolver answers for an identifier: the order of resolution, without HTTP and without a store.

In comes the identifier as received (what stands below the prefix: ``ark:12345/x?info``), a ``fetch`` that finds
bindings by their keys, the site's rules and its settings; out comes a :class:`Resolution`, which
:mod:`~ararat.middleware.answers` turns into HTTP. Nothing is raised for any str; what ``fetch`` raises goes through.

    1. too long, not an identifier, NAAN 99999, dot-segments      refused, and nothing is looked up
    2. ``?`` ``??`` ``?info``                                     the description of what is bound
    3. the binding of the very name                               redirect, served answer, tombstone
    4. a container that lets what is below it through             the same, its target with the rest appended;
                                                                  of a served subtree also what is no ARK
    5. a rule of the site for a shoulder or a NAAN                a binding made on the spot
    6. another resolver for a NAAN that is not ours               redirect, with its inflection
    7. nothing                                                    404, naming the nearest bound container

Every spelling of an identifier gets the same answer, since only its normal form is looked up: "A HTTP ARK resolver
MUST treat equally all resolution requests for Extended ARKs with the same normal form" (ARK draft, section 7.1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple
from urllib.parse import quote

from ..identifiers import Ark, IdentifierError, Problem, Urn, ark, iri, length, urn
from . import destination, names
from .binding import NOTHING, Binding, Kind
from .errors import BindingError
from .forwarding import elsewhere
from .negotiation import ANYTHING, Accepted, choose
from .passthrough import let_through, lowered, rest_of
from .refusals import refusal, status_of
from .rules import Ruled
from .settings import METADATA_INFLECTIONS, Settings
from .subtree import containers, nearest_ark, site_path

Identifier = Ark | Urn
Fetch = Callable[[Sequence[str]], Mapping[str, Binding]]
"""The bindings of some keys (normal forms), by key; a key that is not bound is not in the answer."""

Rules = Callable[[Identifier], Ruled | None]
"""The binding that a rule of the site makes for an identifier nothing is bound to, or None."""

Outcome = Literal["located", "related", "described", "served", "metadata", "forwarded", "refused"]

NEAREST_CONTAINERS = 16
LONGEST_BOUND = 255
"""Code points of a name beyond which nothing is ever bound, so that nothing need be looked up."""


class Resolution(NamedTuple):
    """What is answered for one identifier.

    ``given``       the identifier as received, with its inflection
    ``status``      the HTTP status; of a served answer 200, though the site may answer otherwise
    ``outcome``     what is done: "located", "related" and "described" redirect, "forwarded" does so to another
                    resolver, "served" hands over to the site, "metadata" describes, "refused" says why not (see
                    ``problem``)
    ``identifier``  what was read, without its inflection; None where nothing could be read
    ``inflection``  in normal form, with its question mark; "" where there is none
    ``binding``     what the answer rests on, of the identifier itself or made for it; None where nothing is bound
    ``target``      where a redirect leads or which path of the site answers; None leads to the description
    ``query``       what a served binding hands on to the site, without its question mark
    ``vary``        the fields of the request that the target was, or could have been, chosen by
    ``problem``     why the answer is a refusal
    ``container``   where the identifier itself is not bound: the container that let it through, or else the nearest
                    that is bound
    ``rule``        the prefix of the rule that made the binding, where one did
    """

    given: str
    status: int
    outcome: Outcome
    identifier: Identifier | None = None
    inflection: str = ""
    binding: Binding | None = None
    target: str | None = None
    query: str | None = None
    vary: tuple[str, ...] = ()
    problem: Problem | None = None
    container: str | None = None
    rule: str | None = None

    @property
    def key(self) -> str | None:
        """The normal form under which the identifier is bound and found, or None where it could not be read."""
        return names.key(self.identifier) if self.identifier is not None else None


class Asked(NamedTuple):
    """A request that was understood: what for, with which inflection, and what is accepted."""

    given: str
    identifier: Identifier
    key: str
    query: str | None
    inflection: str
    accepted: Accepted = ANYTHING


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
        return _below_an_ark(asked, fetch, settings) or asked
    # Whatever binding is found or made, _bound answers by it, inflections first (steps 2 and 3).
    if binding := _exact(asked.key, fetch):
        return _bound(asked, binding, settings)
    near = _containers(asked.identifier, fetch)
    if through := _let_through(asked, near, settings):
        return through
    if ruled := rules(asked.identifier):
        return _bound(asked, ruled.binding, settings)._replace(rule=ruled.prefix)
    return _unbound(asked, near, settings)


def refuse(
    given: str,
    problem: Problem,
    *,
    asked: Asked | None = None,
    binding: Binding | None = None,
    container: str | None = None,
) -> Resolution:
    """The resolution that says why there is no other one."""
    identifier, inflection = (asked.identifier, asked.inflection) if asked else (None, "")
    return Resolution(
        given=given,
        status=status_of(problem.code),
        outcome="refused",
        identifier=identifier,
        inflection=inflection,
        binding=binding,
        problem=problem,
        container=container,
    )


def understand(given: str, settings: Settings, accepted: Accepted = ANYTHING) -> Asked | Resolution:
    """What is asked for, or the refusal of what cannot be asked for."""
    if length.may_refuse(given, settings.max_length):
        # "When a HTTP ARK resolver declines to serve a request for resolution on the basis of length it MUST reply with
        # the HTTP status code 414."  What is long is neither read nor looked up.
        return refuse(given, refusal("too-long", 0, len(given)))
    core, mark, rest = given.partition("?")
    query = settings.without_ignored(rest) if mark else None
    try:
        # The query is no part of what has to be an identifier: request-uri = prefix "/" request-core ["?" query]
        identifier = _read(core, settings)
    except IdentifierError as error:
        return refuse(given, error.problem)
    key = names.key(identifier)
    whole = 0, len(core)
    if isinstance(identifier, Ark):
        # "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
        if key.startswith("ark:99999/"):
            return refuse(given, refusal("naan-reserved-invalid", *whole))
        if identifier.dot_segment:
            return refuse(given, refusal("dot-segment", *whole))
        return Asked(given, identifier, key, query, _inflection(query), accepted)
    # RFC 8141, section 2.3: r- and q-components take no part in what is named. The draft has no such thing.
    if query is not None and query.startswith(("+", "=")):
        query = None
    return Asked(given, identifier, key, query, _inflection(query), accepted)


def _read(core: str, settings: Settings) -> Identifier:
    if urn.LABEL.match(core):
        return urn.parse(core)
    try:
        return ark.parse(core)
    except IdentifierError as error:
        # a slash at the end is let go, with no redirect to say so.
        if error.problem.code == "trailing-slash" and settings.ignore_trailing_slash:
            return ark.parse(core[:-1])
        raise


def _inflection(query: str | None) -> str:
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs]."
    return "" if query is None else "?" + iri.upper_hex(iri.decode(query, iri.UNRESERVED_TRIPLETS))


def _exact(key: str, fetch: Fetch) -> Binding | None:
    return fetch((key,)).get(key) if _may_be_bound(key) else None


def _may_be_bound(key: str) -> bool:
    return length.code_points(key) <= LONGEST_BOUND


def _containers(identifier: Identifier, fetch: Fetch) -> list[Binding]:
    """The bindings of the nearest containers, nearest first; a URN has none."""
    if isinstance(identifier, Urn):
        return []
    # The nearest ones alone: a hostile ARK can have thousands.
    return _bound_of(islice(identifier.ancestry(), 1, 1 + NEAREST_CONTAINERS), fetch)


def _bound_of(nearest: Iterable[str], fetch: Fetch) -> list[Binding]:
    """The bindings that there are, of a few keys, in the order of these."""
    keys = [key for key in nearest if _may_be_bound(key)]
    found = fetch(keys) if keys else {}
    return [found[key] for key in keys if key in found]


def _let_through(asked: Asked, near: list[Binding], settings: Settings) -> Resolution | None:
    """The answer by the nearest container that lets through what is below it: the longest wins."""
    for container in near:
        # What is below a withdrawn name is not brought back by what is above it.
        if not container.is_live:
            return None
        if container.kind == "served" and container.scope == "subtree":
            return _served_below(asked, container)
        if binding := let_through(container, asked.key):
            return _bound(asked, binding, settings, container.identifier)
    return None


def _served_below(asked: Asked, container: Binding) -> Resolution | None:
    """The answer of the site below a name whose subtree it serves; it is told of that name."""
    path = site_path(container, asked.given.partition("?")[0])
    if path is None:
        return None
    if asked.inflection in METADATA_INFLECTIONS:
        below = container._replace(identifier=asked.key, target=path, resource=None, metadata=NOTHING)
        return _found(asked, below, 200, "metadata", None, None, container.identifier)
    asked = asked._replace(identifier=ark.parse(container.identifier), key=container.identifier)
    return _found(asked, container, 200, "served", path, asked.query, None)


def _below_an_ark(refused: Resolution, fetch: Fetch, settings: Settings) -> Resolution | None:
    """The answer for what is no ARK, but below one whose subtree the site serves."""
    problem = refused.problem
    if problem is None or refused.status != 400 or problem.code == "dot-segment":
        return None
    core, mark, rest = refused.given.partition("?")
    found = nearest_ark(core, problem.start)
    query = settings.without_ignored(rest) if mark else None
    inflection = _inflection(query)
    # The three are never handed on, and of what is no ARK there is no description.
    if found is None or inflection in METADATA_INFLECTIONS:
        return None
    near = _bound_of(islice(containers(found), NEAREST_CONTAINERS), fetch)
    container = next((binding for binding in near if not binding.is_live or binding.scope == "subtree"), None)
    if container is None or not container.is_live or container.kind != "served":
        return None
    return _served_below(Asked(refused.given, found, found.basic, query, inflection), container)


def _unbound(asked: Asked, near: list[Binding], settings: Settings) -> Resolution:
    # "The HTTP status code 404 signifies that this resolver does not possess a location for the referent of the ARK."
    # I-03: so it is for the description of what is not bound.
    container = next((binding.identifier for binding in near if binding.is_live), None)
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
                target=_with_query(address, query),
            )
    return refuse(asked.given, refusal("not-bound", 0, len(asked.given), message), asked=asked, container=container)


def _bound(asked: Asked, binding: Binding, settings: Settings, container: str | None = None) -> Resolution:
    """The answer by a binding, which ``container`` has made where the name itself has none."""

    def found(status: int, outcome: Outcome, target: str | None = None, query: str | None = None) -> Resolution:
        return _found(asked, binding, status, outcome, target, query, container, vary)

    vary: tuple[str, ...] = ()
    if asked.inflection in METADATA_INFLECTIONS:
        # I-03: the description outlives what it describes.
        return found(200, "metadata")
    core = asked.given.partition("?")[0]
    if not binding.is_live:
        return refuse(asked.given, refusal("withdrawn", 0, len(core)), asked=asked, binding=binding)
    if asked.inflection and not _passes(asked.inflection, binding, settings):
        place = len(core), len(asked.given)
        return refuse(asked.given, refusal("unknown-inflection", *place), asked=asked, binding=binding)
    if binding.kind == "described":
        # A thing without a page has its description, and that is not the thing itself.
        return found(303, "described")
    alternate, vary = choose(binding.alternates, asked.accepted)
    target = _usable_target(asked, alternate or binding.target, binding.kind, settings, container)
    if target is None:
        unusable = refuse(asked.given, refusal("target-unusable", 0, len(core)), asked=asked, binding=binding)
        return unusable._replace(vary=vary)
    if binding.kind == "served":
        if binding.scope == "subtree":
            # A slash at the end is let go to find the name; the site gets what was asked for.
            target = lowered(target, rest_of(core, binding.identifier)) or target
        return found(200, "served", target, asked.query)
    target = _with_query(target, asked.query)
    if binding.kind == "related":
        # "303 signifies that a resource related to the referent of the ARK is tentatively available"
        return found(303, "related", target)
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    return found(307 if binding.redirect == 307 else 302, "located", target)


def _found(
    asked: Asked,
    binding: Binding,
    status: int,
    outcome: Outcome,
    target: str | None,
    query: str | None,
    container: str | None,
    vary: tuple[str, ...] = (),
) -> Resolution:
    return Resolution(
        given=asked.given,
        status=status,
        outcome=outcome,
        identifier=asked.identifier,
        inflection=asked.inflection,
        binding=binding,
        target=target,
        query=query,
        container=container,
        vary=vary,
    )


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
        target = destination.check(stored, kind)
    except BindingError:
        return None
    return None if target is None or _leads_to_itself(asked, target, settings, container) else target


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


def _with_query(target: str, query: str | None) -> str:
    """The target with a query added to its own, ahead of its fragment.

    >>> _with_query("https://example.org/a?b=c#d", "e=f g%"), _with_query("/a", None)
    ('https://example.org/a?b=c&e=f%20g%25#d', '/a')
    """
    if query is None:
        return target
    address, mark, fragment = target.partition("#")
    joint = "&" if "?" in address else "?"
    return address + joint + _NO_TRIPLET.sub("%25", quote(query, safe=_QUERY)) + mark + fragment


# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )
_QUERY = "%/?:@!$&'()*+,;=~"
_NO_TRIPLET = re.compile("%(?![0-9A-Fa-f]{2})")
