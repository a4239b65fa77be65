"""Where an ARK of somebody else's NAAN is resolved, by the registry; never here again.

A resolver that sends on what comes back to it makes a circle. So an address that begins with one of its own prefixes,
in either scheme, is none; nor is one at the official resolver, which asks the registry itself and may have sent the
client here (:mod:`target_templates` calls that flaw ``loop``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...identifiers import Ark, registries
from ...identifiers.ark import model as ark
from ..bindings import targets
from ..errors import BindingError
from ..settings import Settings


class Elsewhere(NamedTuple):
    """The address at another resolver, or None and in ``message`` why there is none."""

    address: str | None
    message: str


def elsewhere(identifier: Ark, settings: Settings) -> Elsewhere:
    """Where an ARK is resolved whose NAAN is not answered for here. The inflection is not in it.

    >>> from ararat.identifiers.ark import model as ark
    >>> settings = Settings(prefix="https://r.example", naans=["12345"], forward=True)
    >>> elsewhere(ark.parse("ark:12148/bpt6-k1"), settings).address
    'https://ark.bnf.fr/ark:/12148/bpt6k1'
    """
    # The classic form is what most resolvers know; the spelling that was asked for decides nothing.
    known = registries.of_ark(ark.parse(f"ark:/{identifier.basic[4:]}"))
    naan, resolver = known["key"], known["resolver"]
    if not known["registered"]:
        return Elsewhere(None, f"NAAN {naan} is not in the registry of {known['snapshot']['date']}")
    if resolver is None or resolver["address"] is None:
        return Elsewhere(None, f"the registry has no address for this ARK of NAAN {naan}")
    try:
        address = targets.location(resolver["address"])
    except BindingError:
        address = ""
    if not address.startswith("http") or targets.has_dot_segment(address.partition("#")[0].partition("?")[0]):
        return Elsewhere(None, f"the registry has no usable address for this ARK of NAAN {naan}")
    if _is_here(address, settings):
        return Elsewhere(None, f"the registry sends NAAN {naan} here, where it is not answered for")
    return Elsewhere(address, "")


def _is_here(address: str, settings: Settings) -> bool:
    place = f"{_without_scheme(address)}/"
    return any(
        place.startswith((f"{own}/", f"{own}?", f"{own}#")) for own in map(_without_scheme, settings.own_prefixes)
    )


def _without_scheme(address: str) -> str:
    # A host that is reached by both schemes is one place, since one often leads to the other.
    return address.partition("://")[2]
