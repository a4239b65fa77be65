"""Resolve paths that need not be ARKs, such as a region of an IIIF image with ``,`` and ``!``. They are below a name
whose subtree the site serves, or with passthrough "given", and are passed on as received.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ...bindings.names import targets
from ...bindings.names.binding import NOTHING, Binding
from ...bindings.names.error_codes import HTTP_STATUS
from ...bindings.names.errors import BindingError
from ...bindings.names.passthrough import append_path, inherit, is_given, suffix_below
from ...identifiers import Ark, IdentifierError, Problem
from ...identifiers.ark import parser as ark
from ...identifiers.ark.grammar import LABEL
from .description_formats import BY_INFLECTION
from .lookup import MAX_CONTAINERS, Fetch, FoundBinding, find_bound, withdrawing_keys
from .request import ResolutionRequest, inflection
from .settings import Settings

_MAX_TRIES = 4


def nearest_ark(core: str, place: int) -> Ark | None:
    """Return the longest ARK that ends at a slash before the error at ``place``, or None. ``core`` begins like an ARK.

    >>> nearest_ark("ark:12345/x/a,b/c", 13).basic, nearest_ark("ark:12345/x//y", 12).basic, nearest_ark("ark:1/!", 6)
    ('ark:12345/x', 'ark:12345/x', None)
    """
    if not LABEL.match(core):
        return None
    # The shortened text can have another error: a slash at its end, or a component of hyphens alone.
    for _ in range(_MAX_TRIES):
        place = core.rfind("/", 0, place + 1)
        if place < 0:
            return None
        try:
            return ark.parse(core[:place].rstrip("/"))
        except IdentifierError as error:
            place = min(place - 1, error.problem.start)
    return None


def containers(identifier: Ark) -> Iterator[str]:
    """Yield the key of an ARK and of its containers, the nearest first, without the name that it is a variant of."""
    return (key for key in identifier.ancestry() if key != identifier.variant_of)


def site_path(container: Binding, core: str) -> str | None:
    """Return the path at which the site serves an identifier (as received, without query and fragment) below a name.
    Return None if it is not permitted.
    """
    if not (core.isascii() and core.isprintable()):
        return None
    try:
        root = targets.check(container.target, "served")
    except BindingError:
        return None
    path = append_path(root or "", suffix_below(core, container.identifier))
    return None if path is None or targets.is_reserved(path) else path


def find_below(request: ResolutionRequest, container: Binding, settings: Settings) -> FoundBinding | None:
    """Return the binding of an identifier below a name whose whole subtree the site serves, or None. The site answers
    for the container, but a description is about the identifier below it.
    """
    path = site_path(container, request.core)
    if path is None or settings.reserves(path):
        return None
    if request.inflection in BY_INFLECTION:
        below = replace(
            container, identifier=request.key, target=path, resource=None, metadata=NOTHING, spelling=request.key
        )
        return FoundBinding(request, below, container.identifier)
    key = container.identifier
    requested = request.identifier if isinstance(request.identifier, Ark) else None
    # The path is appended after the check of the target, because it can contain characters that no target can have.
    request = request._replace(identifier=ark.parse(key), key=key)
    return FoundBinding(request, replace(container, alternates=NOTHING), below=requested)


def find_below_text(given: str, problem: Problem, fetch: Fetch, settings: Settings) -> FoundBinding | None:
    """Return the binding of a text that is not an ARK, because of ``problem``, from the nearest ARK above it. That must
    have a served subtree or the passthrough "given"; else return None.
    """
    if HTTP_STATUS.get(problem.code, 400) != 400 or problem.code == "dot-segment":
        return None
    core, mark, rest = given.partition("?")
    variant_of = _before_variants(core, problem.start)
    nearest = variant_of or nearest_ark(core, problem.start)
    query = settings.without_ignored(rest) if mark else None
    inflected = inflection(query)
    # These inflections are never passed to the site, and a text that is not an ARK has no description.
    if nearest is None or inflected in BY_INFLECTION:
        return None
    bound, withdrawn = find_bound(islice(containers(nearest), MAX_CONTAINERS), withdrawing_keys(nearest), fetch)
    # A variant of a name is not in its subtree.
    outside = variant_of and variant_of.basic
    container = next(
        (each for each in bound if is_given(each) or (each.scope == "subtree" and each.identifier != outside)), None
    )
    if withdrawn is not None or container is None:
        return None
    request = ResolutionRequest(given, nearest, nearest.basic, query, inflected)
    if container.kind == "served" and container.scope == "subtree":
        return find_below(request, container, settings)
    # The text has no name of its own, so its redirect is that of the container.
    key = container.identifier
    binding = inherit(container, key, core) if is_given(container) else None
    request = request._replace(identifier=ark.parse(key), key=key)
    return binding and FoundBinding(request, binding, key, given=True, below=nearest)


def _before_variants(core: str, place: int) -> Ark | None:
    """Return the ARK before the variants in which the character ``place`` is not allowed, or None."""
    segment = core.rfind("/", 0, place) + 1
    dot = core.find(".", segment + 1, place)
    if dot < 0 or not LABEL.match(core):
        return None
    try:
        return ark.parse(core[:dot])
    except IdentifierError:
        return None
