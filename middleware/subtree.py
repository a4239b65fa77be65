"""What is below a name whose subtree the site serves: its path on the site, octet for octet as it was asked for.

What is below such a name need be no ARK: a region of IIIF holds ``,`` and ``!``, and a viewer asks for it below the ARK
of its image. The site knows what these mean; here they are neither read nor normalized.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..identifiers import Ark, IdentifierError, ark
from . import destination
from .binding import Binding
from .errors import BindingError
from .passthrough import lowered, rest_of

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
        root = destination.check(container.target, "served")
    except BindingError:
        return None
    path = lowered(root or "", rest_of(core, container.identifier))
    return None if path is None or destination.is_reserved(path) else path
