"""Find the address of a name at another resolver. It is that of a delegated prefix
(:mod:`~ararat.bindings.names.prefixes.delegation`), or the one in the registry of NAANs. It has the spelling of the
request, also one that the grammar does not permit (R-06). Only the label is written ``ark:``, and the NAAN has no
hyphens.

Two resolvers that forward to each other make a loop. So an address below a prefix of this resolver is never used. Nor
is one at the official resolver, which can have sent the client here (the flaw ``loop`` in :mod:`target_templates`).
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from ...bindings.names import naming, targets
from ...bindings.names.error_codes import HTTP_STATUS
from ...bindings.names.errors import BindingError
from ...bindings.names.prefixes.prefixes import PrefixRecord
from ...identifiers import Ark, Problem, Urn, registries
from ...identifiers.ark import parser as ark
from ...identifiers.ark.grammar import RESERVED_NAAN
from ...identifiers.registries.holder_names import HolderName
from ...identifiers.registries.target_templates import TemplateParts
from ...identifiers.text import iri
from .result import Resolution
from .settings import Settings


class Forwarding(NamedTuple):
    """The address of an identifier at the resolver of another NAAN, or None with the reason in ``message``."""

    address: str | None
    message: str


def forwarding(given: str, naan: str, settings: Settings) -> Forwarding:
    """Return the address of an identifier, as received, at the resolver of its ``naan`` in normal form.

    >>> settings = Settings(prefix="https://r.example", naans=["12345"], forward=True)
    >>> forwarding("ARK:/12148/bpt6-k1/f1,2?q", "12148", settings).address
    'https://ark.bnf.fr/ark:/12148/bpt6-k1/f1,2?q'
    """
    core, mark, query = given.partition("?")
    # A server can pass on characters that no address has, such as a quotation mark.
    registration = registries.of_template_parts(naan, TemplateParts.of_text(quote(core, safe=targets.AS_IT_IS), naan))
    resolver = registration["resolver"]
    if not registration["registered"]:
        return Forwarding(None, f"NAAN {naan} is not in the registry of {registration['snapshot']['date']}")
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
    return Forwarding(targets.with_query(address, query if mark else None), "")


def redirect_delegated(
    identifier: Ark | Urn, given: str, inflection: str, record: PrefixRecord, settings: Settings
) -> Resolution | None:
    """Return the redirect of an unbound name to the resolver to which its prefix is delegated. Without a resolver the
    answer is 303 to the page for people, because the page is not the thing that is named (X-13). Return None for an
    address that would not be valid, or that is one of this resolver.
    """
    address = record.address_elsewhere(naming.key(identifier), given)
    if address is None or _is_here(address, settings):
        return None
    status = 302 if record.resolver else 303
    return Resolution(
        given=given,
        status=status,
        outcome="forwarded",
        identifier=identifier,
        inflection=inflection,
        target=address,
        record=record,
    )


def forward_text(given: str, problem: Problem, settings: Settings) -> Resolution | None:
    """Return the redirect of an invalid ARK of another NAAN to the resolver of that NAAN, or None. ``problem`` is the
    reason why ``given`` is not an ARK.

    >>> settings = Settings(prefix="https://r.example", naans=["12345"], forward=True)
    >>> from ararat.identifiers.problems import problem
    >>> forward_text("ark:/61903/1:1:MW98-MNJ", problem("bad-char", 12, 13), settings).target
    'https://familysearch.org/ark:/61903/1:1:MW98-MNJ'
    """
    if not settings.forward or HTTP_STATUS.get(problem.code, 400) != 400:
        return None
    naan = ark.naan_at_start(given)
    if naan is None or naan in (settings.naans or ()) or f"ark:{naan}/" == RESERVED_NAAN:
        return None
    if iri.has_dot_segment(given.partition("?")[0]):
        return None
    address = forwarding(given, naan, settings).address
    return None if address is None else Resolution(given=given, status=302, outcome="forwarded", target=address)


def _is_here(address: str, settings: Settings) -> bool:
    place = f"{_without_scheme(address)}/"
    return any(
        place.startswith((f"{own}/", f"{own}?", f"{own}#")) for own in map(_without_scheme, settings.own_prefixes)
    )


def _without_scheme(address: str) -> str:
    # http and https of one host count as one place, because one often redirects to the other.
    return address.partition("://")[2]


class Holder(NamedTuple):
    """The institution of another NAAN: its ``name``, and the ``address`` of an identifier at its resolver."""

    name: HolderName
    address: str


def holder_elsewhere(resolution: Resolution, settings: Settings) -> Holder | None:
    """Return the institution to which an unknown ARK belongs, if the registry has its resolver. Return None for an ARK
    below a prefix of this site, for a probable typing error, and for the NAANs of examples and tests.

    >>> from .resolver import resolve, no_rules
    >>> missing = resolve("ark:/12148/btv1b8449691v/f29", lambda keys: {}, no_rules, Settings())
    >>> holder_elsewhere(missing, Settings())
    Holder(name='the National Library of France', address='https://ark.bnf.fr/ark:/12148/btv1b8449691v/f29')
    """
    name, problem = resolution.identifier, resolution.problem
    if problem is None or problem.code != "not-bound" or not isinstance(name, Ark):
        return None
    naan = name.normal_naan
    if any((resolution.record, resolution.container, resolution.correction)) or naan in (settings.naans or ()):
        return None
    found = registries.authority(naan)
    if found is None or registries.headline_of_naan(naan) is not None:
        return None
    address = forwarding(resolution.given, naan, settings).address
    return None if address is None else Holder(HolderName(found.name, found.native_name, found.where), address)
