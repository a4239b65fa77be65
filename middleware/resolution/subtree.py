"""What is below a name whose subtree the site serves: its path on the site, octet for octet as it was asked for.

What is below such a name need be no ARK: a region of IIIF holds ``,`` and ``!``, and a viewer asks for it below the ARK
of its image. The site knows what these mean; here they are neither read nor normalized.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...identifiers import Ark, IdentifierError
from ...identifiers.ark import model as ark
from ..bindings import targets
from ..bindings.model import NOTHING, Binding
from ..errors import BindingError
from ..settings import METADATA_INFLECTIONS, Settings
from .lookup import NEAREST_CONTAINERS, Fetch, bound_of, covering
from .passthrough import lowered, rest_of
from .request import inflection
from .result import Asked, Resolution, found

_TRIES = 4


def nearest_ark(core: str, place: int) -> Ark | None:
    """The longest ARK that ends at a slash of ``core``, which begins like an ARK and is wrong at ``place``, or None.

    >>> nearest_ark("ark:12345/x/a,b/c", 13).basic, nearest_ark("ark:12345/x//y", 12).basic, nearest_ark("ark:1/!", 6)
    ('ark:12345/x', 'ark:12345/x', None)
    """
    if not ark.LABEL.match(core):
        return None
    # Cut off, it may be wrong earlier: a slash at its end, or nothing but hyphens before it.
    for _ in range(_TRIES):
        place = core.rfind("/", 0, place + 1)
        if place < 0:
            return None
        try:
            return ark.parse(core[:place].rstrip("/"))
        except IdentifierError as error:
            place = min(place - 1, error.problem.start)
    return None


def containers(found: Ark) -> Iterator[str]:
    """The keys of an ARK and of what contains it, the ARK first: what is below a variant is not below its generic."""
    return (key for key in found.ancestry() if key != found.variant_of)


def site_path(container: Binding, core: str) -> str | None:
    """The path of the site for ``core``, an identifier as received below a container, or None where there is none.

    ``core`` has neither query nor fragment.
    """
    if not (core.isascii() and core.isprintable()):
        return None
    try:
        root = targets.check(container.target, "served")
    except BindingError:
        return None
    path = lowered(root or "", rest_of(core, container.identifier))
    return None if path is None or targets.is_reserved(path) else path


def served_below(asked: Asked, container: Binding, settings: Settings) -> Resolution | None:
    """The answer of the site below a name whose subtree it serves; it is told of that name."""
    path = site_path(container, asked.given.partition("?")[0])
    if path is None or settings.reserves(path):
        return None
    if asked.inflection in METADATA_INFLECTIONS:
        below = container._replace(identifier=asked.key, target=path, resource=None, metadata=NOTHING)
        return found(asked, below, 200, "metadata", None, None, container.identifier)
    asked = asked._replace(identifier=ark.parse(container.identifier), key=container.identifier)
    return found(asked, container, 200, "served", path, asked.query, None)


def below_an_ark(refused: Resolution, fetch: Fetch, settings: Settings) -> Resolution | None:
    """The answer for what is no ARK, but below one whose subtree the site serves."""
    problem = refused.problem
    if problem is None or refused.status != 400 or problem.code == "dot-segment":
        return None
    core, mark, rest = refused.given.partition("?")
    nearest = nearest_ark(core, problem.start)
    query = settings.without_ignored(rest) if mark else None
    inflected = inflection(query)
    # The three are never handed on, and of what is no ARK there is no description.
    if nearest is None or inflected in METADATA_INFLECTIONS:
        return None
    near, withdrawn = bound_of(islice(containers(nearest), NEAREST_CONTAINERS), covering(nearest), fetch)
    container = next((binding for binding in near if binding.scope == "subtree"), None)
    if withdrawn is not None or container is None or container.kind != "served":
        return None
    return served_below(Asked(refused.given, nearest, nearest.basic, query, inflected), container, settings)
