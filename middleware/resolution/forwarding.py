"""Find the address of an ARK at the resolver that the registry lists for its NAAN.

Two resolvers that forward to each other make a loop. So an address below a prefix of this resolver is never used, with
either scheme. Nor is an address at the official resolver (:mod:`target_templates` names this flaw ``loop``). It reads
the same registry and can have sent the client here.
"""

from __future__ import annotations

from typing import NamedTuple

from ...bindings.names import targets
from ...bindings.names.errors import BindingError
from ...identifiers import Ark, registries
from ...identifiers.ark import parser as ark
from ...identifiers.text import iri
from .settings import Settings


class Forwarding(NamedTuple):
    """The result of :func:`forwarding`: the address at another resolver, or None with the reason in ``message``."""

    address: str | None
    message: str


def forwarding(identifier: Ark, settings: Settings) -> Forwarding:
    """Return the address of an ARK of another NAAN at the resolver of that NAAN, without the inflection.

    >>> from ararat.identifiers.ark import parser as ark
    >>> settings = Settings(prefix="https://r.example", naans=["12345"], forward=True)
    >>> forwarding(ark.parse("ark:12148/bpt6-k1"), settings).address
    'https://ark.bnf.fr/ark:/12148/bpt6k1'
    """
    # The classic form is the one that most resolvers know. All spellings of an ARK get the same address.
    known = registries.of_ark(ark.parse(f"ark:/{identifier.basic[4:]}"))
    naan, resolver = known["key"], known["resolver"]
    if not known["registered"]:
        return Forwarding(None, f"NAAN {naan} is not in the registry of {known['snapshot']['date']}")
    if resolver is None or resolver["address"] is None:
        return Forwarding(None, f"the registry has no address for this ARK of NAAN {naan}")
    try:
        address = targets.location(resolver["address"])
    except BindingError:
        address = ""
    if not address.startswith("http") or iri.has_dot_segment(address.partition("#")[0].partition("?")[0]):
        return Forwarding(None, f"the registry has no usable address for this ARK of NAAN {naan}")
    if _is_here(address, settings):
        message = f"the registry sends NAAN {naan} to this resolver, which does not answer for it"
        return Forwarding(None, message)
    return Forwarding(address, "")


def _is_here(address: str, settings: Settings) -> bool:
    place = f"{_without_scheme(address)}/"
    return any(
        place.startswith((f"{own}/", f"{own}?", f"{own}#")) for own in map(_without_scheme, settings.own_prefixes)
    )


def _without_scheme(address: str) -> str:
    # http and https of one host count as one place, because one often redirects to the other.
    return address.partition("://")[2]
