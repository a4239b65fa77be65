"""Find the known resolver of an identifier, without a request. It is that of its NAAN in the registry
(:mod:`~ararat.identifiers.registries`), or that of its URN namespace. IANA lists no resolvers of URN namespaces, so
those of national bibliography numbers are here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..bindings.names.origins import check_prefix
from ..identifiers import Ark, EmbeddedArk, IdentifierError, Urn, examine, parse, registries
from ..identifiers.ark import embedded
from ..identifiers.ark import parser as ark
from ..identifiers.registries import target_templates
from ..identifiers.registries.target_templates import TemplateParts
from ..identifiers.text.translatable import Translatable
from ..net import uri, url

REGISTRY_KEYWORD = "registry"
"""The word that selects the known resolver in place of a resolver prefix."""

NBN_RESOLVERS = {
    # Links of the Austrian union catalogue, and the table of sphinxcontrib-bibtex-urn.
    "at": "https://resolver.obvsg.at",
    # The general resolver of the German National Library, which resolves urn:nbn:ch itself.
    "ch": "https://nbn-resolving.org",
    # The resolver CZIDLO of the Czech National Library.
    "cz": "https://resolver.nkp.cz/api/v5/resolver",
    # The general resolver of the German National Library.
    "de": "https://nbn-resolving.org",
    # The National Library of Finland.
    "fi": "https://urn.fi",
    # The table of sphinxcontrib-bibtex-urn.
    "hr": "https://urn.nsk.hr",
    # The National Library of Hungary, in the table of sphinxcontrib-bibtex-urn.
    "hu": "https://nbn.urn.hu/resolver",
    # The National Central Library of Florence, in the table of sphinxcontrib-bibtex-urn.
    "it": "http://nbn.depositolegale.it",
    # The National Library of the Netherlands, in the documentation of DANS.
    "nl": "https://persistent-identifier.nl",
    # The National Library of Norway.
    "no": "https://urn.nb.no",
    # The Swedish National Data Service: nbn-resolving.org redirects to urn.kb.se, which has no prefix.
    "se": "https://nbn-resolving.org",
    # The resolver CZIDLO of the Czech National Library, which redirects Slovenian numbers to it.
    "si": "http://www.nbn.si",
}
"""Resolver prefixes of national bibliography numbers, by country code. No registry lists them. The comments name the
places where each is published or used, which were read in November 2026.
"""

# RFC 8458, section 4.2: "prefix = iso-cc *( ":" subspc )", followed by "-" and the string that a library assigned.
_COUNTRY = re.compile("([A-Za-z]{2})[:-]")


@dataclass(frozen=True, slots=True)
class ExpectedResolver:
    """The resolver that a registry lists for ``owner``, such as "NAAN 12148" or a URN namespace. ``prefix`` is its
    resolver prefix, or None if the registered URL has another form.
    """

    owner: str
    host: str
    prefix: str | None


def find_resolver(name: Ark | Urn) -> ExpectedResolver | None:
    """Return the resolver that is known for the NAAN of an ARK, or for the country of a ``urn:nbn:``. Else return None.

    >>> from ararat.identifiers import parse
    >>> find_resolver(parse("ark:12148/bpt6k1")).prefix, find_resolver(parse("urn:nbn:fi-fe20031181")).host
    ('https://ark.bnf.fr', 'urn.fi')
    """
    if isinstance(name, Ark):
        return expected_of_text(name.normal_naan, name.text)
    country = _country(name)
    prefix = NBN_RESOLVERS.get(country) if country else None
    return ExpectedResolver(f"urn:nbn:{country}", url.parse(prefix).host, prefix) if prefix else None


def pasted_prefix(text: str) -> str | None:
    """Return the resolver prefix of a link to an identifier: the text before the identifier, without its last slash.
    Return None for a bare identifier or another text.

    >>> pasted_prefix("https://gallica.bnf.fr/ark:/12148/btv1b8449691v"), pasted_prefix("ark:12345/x")
    ('https://gallica.bnf.fr', None)
    """
    before = examine(text).parts.get("prefix") or ""
    try:
        return check_prefix(before.rstrip("/")) if before else None
    except ValueError:
        return None


def namespace_of(identifier: str) -> str | None:
    """Return the namespace of a URN, with the country of a national bibliography number, or None for another text.

    >>> namespace_of("URN:NBN:SE:uu:diva-3475"), namespace_of("urn:isbn:0451450523"), namespace_of("ark:12345/x")
    ('urn:nbn:se', 'urn:isbn', None)
    """
    try:
        name = parse(identifier)
    except IdentifierError:
        return None
    if not isinstance(name, Urn):
        return None
    country = _country(name)
    return f"urn:nbn:{country}" if country else f"urn:{name.nid.lower()}"


def no_resolver(namespace: str) -> str:
    """Return the phrase, for the end of a sentence, that no resolver of a URN namespace is known.

    >>> no_resolver("urn:isbn")
    'no resolver of urn:isbn is known'
    """
    return Translatable("no resolver of %(namespace)s is known", namespace=namespace)


def _country(name: Urn) -> str | None:
    found = _COUNTRY.match(name.nss) if name.nid.lower() == "nbn" else None
    return found and found[1].lower()


def expected_of(identifier: str) -> ExpectedResolver | None:
    """Return the known resolver of a text: an ARK or URN, a URL that contains one, or an invalid text that begins like
    an ARK. Return None without one.
    """
    try:
        parsed = parse(identifier)
    except IdentifierError:
        written = embedded.from_label(identifier)
        naan = written and ark.naan_at_start(written)
        return expected_of_text(naan, written) if written and naan else None
    return find_resolver(parsed.ark if isinstance(parsed, EmbeddedArk) else parsed)


def prefix_for(identifier: str) -> str | None:
    """Return the resolver prefix of :func:`expected_of`, or None without a known resolver or prefix.

    >>> prefix_for("ark:12148/bpt6k1")
    'https://ark.bnf.fr'
    """
    found = expected_of(identifier)
    return found and found.prefix


def expected_of_text(naan: str, text: str) -> ExpectedResolver | None:
    """Return the known resolver of a text, from its label on, that begins like an ARK, also an invalid one, or None."""
    known = registries.of_template_parts(naan, TemplateParts.of_text(text, naan))
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
