"""The settings of a resolver: what they mean, and that they are right before the first request comes.

A wrong setting raises ValueError when the middleware is made, naming the setting. A resolver that answers wrongly is
worse than one that does not start.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import unquote

from ..identifiers import Ark, IdentifierError, Urn
from ..identifiers.ark import length
from ..identifiers.ark import model as ark
from ..identifiers.text import iri
from .bindings import targets
from .bindings.origins import check_prefix
from .custom_scheme import OwnScheme
from .errors import Refused

SCHEMES = ("ark", "urn")
"""The schemes whose semantics are known here: the reserved paths "MUST be allocated only for defined identifier schemes
(not necessarily an URI scheme) and MUST match the semantics of that scheme" (17beta policy, section 4)."""

METADATA_INFLECTIONS = ("?", "??", "?info")
"""What asks for a description (ARK draft, section 3.4); no setting can make anything else of these."""

# fmt: off
TRACKING = (
    "utm_*", "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "msclkid", "yclid", "ysclid",
    "twclid", "ttclid", "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi",
    "vero_id",
)
"""Parameters that platforms append to the links people share; they ask a resolver for nothing (I-02). A star stands for
any end."""
# fmt: on

REFERRER_POLICIES = (
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
)
"""The values of the field Referrer-Policy (W3C, Referrer Policy, section 3)."""

_YEAR = 365 * 24 * 3600

_Value = TypeVar("_Value")

DESCRIBED = dict.fromkeys(METADATA_INFLECTIONS, "What is known of the identifier")

# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )
_INFLECTION = re.compile(rf"\?{iri.run(f'{iri.PCHAR}/?', least=0)}")

# RFC 6797, section 6.1:
#     Strict-Transport-Security = "Strict-Transport-Security" ":" [ directive ]  *( ";" [ directive ] )
# Of the directives max-age is required; the others that exist are names without a value.
_HSTS = re.compile(r"max-age=\"?[0-9]+\"?(?:[ \t]*;[ \t]*[a-z]+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a site decides about its resolver.

    ``prefix``                the announced resolver prefix (``https://example.org``), with which links begin. None:
                              links are path-absolute
    ``also``                  other prefixes that are this resolver too
    ``naans``                 the NAANs this resolver answers for. None: all
    ``forward``               send ARKs of other NAANs on to the resolver that the registry has for them; needs
                              ``naans`` and ``prefix``
    ``schemes``               the reserved schemes: "ark", "urn", and those of the site's own (``OwnScheme``)
    ``max_length``            octets, at least 255, above which an identifier may be refused: see A-11 for what may not
    ``ignore_trailing_slash`` take ``ark:12345/x/`` for ``ark:12345/x`` (A-13)
    ``ignored_parameters``    names of query parameters that count as not given; ``utm_*`` is every name that so begins
    ``forward_query``         hand an unknown inflection on to the target of a located or related binding
    ``inflections``           inflections of the site's own, each with its description: they are handed on to the target
                              of a located or related binding, and listed with every description
    ``cache``                 seconds for which a found answer may be kept, 0 to a year
    ``hsts``                  the Strict-Transport-Security field of answers to secure requests. None: none
    ``inspector``             where an inspector is, a path of this site or an http(s) address. None: nowhere
    ``cors``                  which pages may read the answers from a script (CORS): True for the pages of every site,
                              False for none, or origins (``https://example.org``)
    ``referrer_policy``       the Referrer-Policy field of all answers. With "no-referrer" the target does not see which
                              page linked to the identifier; "strict-origin-when-cross-origin" shows the site of that
                              page. None: no field, so that the policy of the linking page holds
    ``services``              the path below which the services of RFC 2169 are ("/uri-res"); needs ``prefix``. None:
                              there are none

    >>> Settings(prefix="HTTPS://Example.org/").prefix
    'https://example.org'
    >>> Settings(max_length=254)
    Traceback (most recent call last):
    ValueError: max_length: a limit of 254 is below 255, the least that the ARK draft allows (sections 4 and 7.1.1)
    """

    prefix: str | None = None
    also: Iterable[str] = ()
    naans: Collection[str] | None = None
    forward: bool = False
    schemes: Collection[str | OwnScheme] = SCHEMES
    max_length: int = length.DEFAULT_LIMIT
    ignore_trailing_slash: bool = True
    ignored_parameters: Iterable[str] = TRACKING
    forward_query: bool = False
    inflections: Mapping[str, str] = field(default_factory=dict)
    cache: int = 300
    hsts: str | None = None
    inspector: str | None = None
    services: str | None = None
    cors: bool | Iterable[str] = True
    referrer_policy: str | None = "no-referrer"
    cors_origins: frozenset[str] = field(init=False)
    own_prefixes: tuple[str, ...] = field(init=False)
    _ignored_names: frozenset[str] = field(init=False, repr=False)
    _ignored_beginnings: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ignored = _several("ignored_parameters", self.ignored_parameters)
        self._put(
            prefix=None if self.prefix is None else _prefix("prefix", self.prefix),
            also=tuple(_prefix("also", prefix) for prefix in _several("also", self.also)),
            naans=None if self.naans is None else frozenset(map(_naan, _several("naans", self.naans))),
            schemes=_schemes(_several("schemes", self.schemes)),
            inspector=None if self.inspector is None else _inspector(self.inspector),
            services=None if self.services is None else _services(self.services, self.prefix),
            ignored_parameters=ignored,
            cors=self.cors if isinstance(self.cors, bool) else _origins(self.cors),
            _ignored_names=frozenset(name for name in ignored if not name.endswith("*")),
            _ignored_beginnings=tuple(name[:-1] for name in ignored if name.endswith("*")),
        )
        self._put(cors_origins=frozenset(() if isinstance(self.cors, bool) else self.cors))
        self._put(own_prefixes=tuple(prefix for prefix in (self.prefix, *self.also) if prefix is not None))
        _check_length(self.max_length)
        _check_forward(self.forward, self.naans, self.prefix)
        self._put(inflections=_inflections(self.inflections, self))
        if not 0 <= self.cache <= _YEAR:
            raise ValueError(f"cache: {self.cache} is not a number of seconds from 0 to {_YEAR}")
        if self.referrer_policy is not None and self.referrer_policy not in REFERRER_POLICIES:
            named = ", ".join(REFERRER_POLICIES)
            raise ValueError(f"referrer_policy: {self.referrer_policy!r} is not one of {named}")
        if self.hsts is not None and not _HSTS.fullmatch(self.hsts):
            raise ValueError(f"hsts: {self.hsts!r} is not like 'max-age=31536000; includeSubDomains' (RFC 6797)")

    def without_ignored(self, query: str) -> str | None:
        """A query without the parameters that platforms append; None where nothing else is in it (I-02).

        >>> settings = Settings()
        >>> [settings.without_ignored(query) for query in ("utm_source=x&fbclid=y", "info&gclid=1", "")]
        [None, 'info', '']
        """
        parameters = query.split("&")
        kept = [parameter for parameter in parameters if not self._ignores(parameter)]
        if len(kept) == len(parameters):
            return query
        return "&".join(kept) if any(kept) else None

    @property
    def all_inflections(self) -> Mapping[str, str]:
        """Every inflection that is known here, with its description."""
        return {**DESCRIBED, **self.inflections}

    def forwards(self, identifier: Ark | Urn) -> bool:
        """Whether an identifier that is not bound here is another resolver's to answer."""
        return self.forward and self.not_ours(identifier) is not None

    def not_ours(self, identifier: Ark | Urn) -> str | None:
        """Why this resolver has nothing to say of an ARK, where that is because of its NAAN."""
        if self.naans is None or isinstance(identifier, Urn):
            return None
        naan = identifier.basic[4:].partition("/")[0]
        return None if naan in self.naans else f"this resolver answers for {_listed(self.naans)}, not for NAAN {naan}"

    def reserves(self, path: str) -> bool:
        """Whether a path of this site, percent-encoded or not, is one of a scheme of its own or of a service.

        Of "ark" and "urn" it need not be asked: what is bound never leads there (:func:`destination.is_reserved`).

        >>> Settings(prefix="https://example.org", services="/uri-res").reserves("/uri%2Dres/N2L")
        True
        """
        plain = unquote(path)
        if self.services is not None and plain.startswith(f"{self.services}/N2"):
            return True
        label, colon, _ = plain[1:].partition(":")
        names = (scheme.name for scheme in self.schemes if isinstance(scheme, OwnScheme))
        return bool(colon) and label.lower() in names

    def _ignores(self, parameter: str) -> bool:
        name = unquote(parameter.partition("=")[0])
        return name in self._ignored_names or name.startswith(self._ignored_beginnings)

    def _put(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _several(setting: str, values: Iterable[_Value]) -> tuple[_Value, ...]:
    # A lone str is a collection of its letters, which nobody ever means.
    if isinstance(values, str):
        raise ValueError(f"{setting}: {values!r} is one text where several are expected: write [{values!r}]")
    return tuple(values)


def _prefix(setting: str, prefix: str) -> str:
    # "The prefix of an HTTP resolver MUST match the http-resolver-prefix production rule."
    try:
        return check_prefix(prefix)
    except Refused as error:
        raise ValueError(f"{setting}: {error}") from None


def _origins(origins: Iterable[str]) -> tuple[str, ...]:
    given = _several("cors", origins)
    if not given:
        raise ValueError("cors: no origin is given; write False to let no page of another site read the answers")
    normal = tuple(_prefix("cors", origin) for origin in given)
    for origin in normal:
        if origin.count("/") != 2:
            raise ValueError(f"cors: {origin!r} has a path; an origin is a scheme, a host and a port")
    return normal


def _inspector(inspector: str) -> str:
    """The address or path without a slash at its end: like a prefix it is what a slash and more is added to."""
    return _local("inspector", inspector) if inspector.startswith("/") else _prefix("inspector", inspector)


def _services(services: str, prefix: str | None) -> str:
    # RFC 2169, section 3.2: what is listed are URLs, and a path alone is none.
    if prefix is None:
        raise ValueError("services: say which prefix this resolver has (prefix=…), for what they list are addresses")
    path = _local("services", services)
    if not path or targets.is_reserved(path) or "%" in path:
        raise ValueError(f"services: {services!r} is not like '/uri-res', a path that is not reserved otherwise")
    return path


def _local(setting: str, given: str) -> str:
    """A path of this site, without a slash at its end."""
    try:
        path = targets.check(given, "located") or ""
    except Refused as error:
        raise ValueError(f"{setting}: {error}") from None
    if not path.startswith("/"):
        raise ValueError(f"{setting}: {given!r} is no path of this site")
    if "?" in path or "#" in path:
        raise ValueError(f"{setting}: {given!r} has a query or a fragment; give the path alone")
    return path.removesuffix("/")


def _naan(naan: str) -> str:
    try:
        normal = ark.parse(f"ark:{naan}/x").basic.removesuffix("/x")[4:]
    except IdentifierError as error:
        raise ValueError(f"naans: {naan!r} is no NAAN: {error.problem.message}") from None
    if "/" in normal:
        raise ValueError(f"naans: {naan!r} is no NAAN: it has a slash in it")
    if ark.parse(f"ark:{normal}/x").reserved_naan:
        raise ValueError(
            "naans: NAAN 99999 is reserved for invalid ARKs and never answered for (ARK draft, section 3.1)"
        )
    return normal


def _schemes(schemes: tuple[str | OwnScheme, ...]) -> tuple[str | OwnScheme, ...]:
    seen: set[str] = set()
    for scheme in schemes:
        name = scheme.name if isinstance(scheme, OwnScheme) else scheme
        if not isinstance(scheme, OwnScheme) and name not in SCHEMES:
            raise ValueError(
                f"schemes: {scheme!r} is not one of {', '.join(SCHEMES)}; your own is an OwnScheme, with a record"
            )
        if isinstance(scheme, OwnScheme) and name in seen:
            raise ValueError(f"schemes: {name!r} is there twice")
        seen.add(name)
    if not schemes:
        raise ValueError(f"schemes: name at least one of {', '.join(SCHEMES)}")
    return schemes


def _check_length(max_length: int) -> None:
    try:
        length.may_refuse("", max_length)
    except ValueError as error:
        raise ValueError(f"max_length: {error}") from None


def _check_forward(forward: bool, naans: Collection[str] | None, prefix: str | None) -> None:
    if forward and naans is None:
        raise ValueError("forward: say which NAANs are answered here (naans=[…]), or nothing is left to forward")
    if forward and prefix is None:
        raise ValueError("forward: say which prefix this resolver has (prefix=…), or it could forward to itself")


def _inflections(described: Mapping[str, str], settings: Settings) -> Mapping[str, str]:
    """The site's own inflections in normal form. "New inflections SHOULD be documented" (ARK-044)."""
    normal: dict[str, str] = {}
    for inflection, description in described.items():
        if not _INFLECTION.fullmatch(inflection):
            said = (
                "is not a question mark and a query" if inflection[:1] == "?" else "does not begin with a question mark"
            )
            raise ValueError(f"inflections: {inflection!r} {said} (ARK draft, section 3.4)")
        known = iri.upper_hex(iri.decode(inflection, iri.UNRESERVED_TRIPLETS))
        # "?info MUST NOT be used for a different purpose." "? and ?? are reserved for a possible standard meaning"
        if known in METADATA_INFLECTIONS:
            raise ValueError(f"inflections: {inflection!r} asks for the description, always (ARK draft, section 3.4)")
        if settings.without_ignored(known[1:]) != known[1:]:
            raise ValueError(f"inflections: {inflection!r} has a parameter of ignored_parameters, and is never seen")
        if known in normal:
            raise ValueError(f"inflections: {inflection!r} is there twice")
        if not isinstance(description, str) or not description.strip() or not description.isprintable():
            raise ValueError(f"inflections: {inflection!r} has no description of one line, which the site's users need")
        normal[known] = description
    return normal


def _listed(naans: Collection[str]) -> str:
    few = sorted(naans)[:5]
    return f"NAAN {', '.join(few)}" + (" and others" if len(naans) > len(few) else "")
