"""The resolver that is expected to know an identifier: the NAAN's own, as the registry has it, or a URN namespace's.

Nobody is asked: what the NAAN registry says is in the tables of :mod:`~ararat.identifiers.registries`. IANA's registry
of URN namespaces has no resolvers; for national bibliography numbers the libraries make known where theirs is, and that
is the table here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...identifiers import Ark, EmbeddedArk, IdentifierError, Urn, parse, registries
from ...identifiers.registries import target_templates
from . import uri
from .client import url

REGISTRY_KEYWORD = "registry"
"""What stands for the expected resolver where a resolver is named."""

NBN_RESOLVERS = {
    "at": "https://resolver.obvsg.at",
    "ch": "https://nbn-resolving.org",
    "de": "https://nbn-resolving.org",
    "fi": "https://urn.fi",
    "hr": "https://urn.nsk.hr",
    "it": "http://nbn.depositolegale.it",
    "nl": "https://persistent-identifier.nl",
    "no": "https://urn.nb.no",
}
"""Resolver prefixes of national bibliography numbers, by the country's code.

Each is how the numbers of that country are written as links: the Norwegian and the Dutch library name theirs, and the
others stand in publications and in software that cites such numbers. No registry has them.

Left out are those that take a URN as a parameter, since a resolver prefix with the identifier after it is no address
there.
"""

# RFC 8458, section 4.2: "prefix = iso-cc *( ":" subspc )", followed by "-" and the string that a library gave out.
_COUNTRY = re.compile("([A-Za-z]{2})[:-]")


@dataclass(frozen=True, slots=True)
class ExpectedResolver:
    """Where an identifier of ``whose`` ("NAAN 12148") is expected to be resolved: at ``host``.

    ``prefix`` is the resolver prefix to ask, None where the registry has an address of another form.
    """

    owner: str
    host: str
    prefix: str | None


def expected(name: Ark | Urn) -> ExpectedResolver | None:
    """The expected resolver, or None where nobody is known to be one.

    >>> from ararat.identifiers import parse
    >>> expected(parse("ark:12148/bpt6k1")).prefix, expected(parse("urn:nbn:fi-fe20031181")).host
    ('https://ark.bnf.fr', 'urn.fi')
    """
    if isinstance(name, Ark):
        return _of_naan(name)
    country = _COUNTRY.match(name.nss) if name.nid.lower() == "nbn" else None
    prefix = NBN_RESOLVERS.get(country[1].lower()) if country else None
    return (
        ExpectedResolver(f"urn:nbn:{country[1].lower()}", url.parse(prefix).host, prefix)
        if country and prefix
        else None
    )


def expected_of(identifier: str) -> ExpectedResolver | None:
    """The expected resolver of an identifier as it is written; None where nobody is known to be one, or it is none.

    >>> expected_of("https://n2t.net/ark:12148/bpt6k1").owner
    'NAAN 12148'
    """
    try:
        parsed = parse(identifier)
    except IdentifierError:
        return None
    return expected(parsed.ark if isinstance(parsed, EmbeddedArk) else parsed)


def prefix_for(identifier: str) -> str | None:
    """The resolver prefix at which ``identifier`` is expected to be known; None where there is none, or no identifier.

    >>> prefix_for("ark:bbbbb/x") is None
    True
    """
    found = expected_of(identifier)
    return found and found.prefix


def _of_naan(name: Ark) -> ExpectedResolver | None:
    known = registries.of_ark(name)
    resolver = known["resolver"]
    if resolver is None or resolver["address"] is None:
        return None
    try:
        host = uri.parse(resolver["address"]).host
    except uri.BadReference:
        return None
    return (
        ExpectedResolver(f"NAAN {known['key']}", host, target_templates.read(resolver["template"]).prefix)
        if host
        else None
    )
