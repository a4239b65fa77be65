"""The settings of a resolver, checked when the middleware is created: an error is found when the site starts, not by
the first visitor. Each setting is declared once, in :class:`Settings`, for all docstrings, options and pages
(:mod:`.declared_settings`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict, TypeVar
from urllib.parse import unquote

from ...bindings.names import targets
from ...bindings.names.branding import model as branding
from ...bindings.names.branding.model import NO_BRANDING, Branding
from ...bindings.names.errors import CatalogueError
from ...bindings.names.naming import naans_for_tests
from ...bindings.names.origins import check_prefix
from ...identifiers import Ark, IdentifierError, Urn
from ...identifiers.ark import length
from ...identifiers.ark import parser as ark
from ...identifiers.ark.grammar import LABEL_PATTERN, METADATA_INFLECTIONS
from ...identifiers.text import iri
from ...identifiers.urn import grammar as urn
from .custom_scheme import OwnScheme
from .declared_settings import setting
from .description_formats import BY_INFLECTION

SCHEMES = ("ark", "urn")
"""The schemes that Ararat resolves. Reserved paths "MUST be allocated only for defined identifier schemes (not
necessarily an URI scheme) and MUST match the semantics of that scheme" (POL-038)."""

# fmt: off
TRACKING = (
    "utm_*", "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "msclkid", "yclid", "ysclid",
    "twclid", "ttclid", "igsh", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi",
    "vero_id", "mtm_*", "pk_*", "piwik_*", "matomo_*", "at_*", "ref", "ref_src",
)
"""Query parameters that platforms and analytics append to shared links; they have no meaning for a resolver (I-02). A
star at the end matches any characters."""
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

Direction = Literal["ltr", "rtl"]

LANGUAGES: Mapping[str, Direction] = {
    "en": "ltr",
    "de": "ltr",
    "fr": "ltr",
    "es": "ltr",
    "it": "ltr",
    "nl": "ltr",
    "pt": "ltr",
    "pl": "ltr",
    "cs": "ltr",
    "ar": "rtl",
    "he": "rtl",
    "ja": "ltr",
    "zh": "ltr",
}
"""The languages of the public pages: their tags (RFC 5646), with the direction of their text. The catalogues are in the
folder ``po``."""

ENGLISH = "en"
"""The language of the source."""

_YEAR = 365 * 24 * 3600

_Value = TypeVar("_Value")

DESCRIBED = dict.fromkeys(METADATA_INFLECTIONS, "The description of the identifier")

# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )
_INFLECTION = re.compile(rf"\?{iri.run(f'{iri.PCHAR}/?', least=0)}")

# RFC 6797, section 6.1:
#     Strict-Transport-Security = "Strict-Transport-Security" ":" [ directive ]  *( ";" [ directive ] )
# max-age is required. The other defined directives have no value.
_HSTS = re.compile(r"max-age=\"?[0-9]+\"?(?:[ \t]*;[ \t]*[a-z]+)*", re.IGNORECASE)


class SettingsArguments(TypedDict, total=False):
    """The keyword arguments of :class:`Settings` with their types, for editors and type checkers."""

    prefix: str | None
    also: Iterable[str]
    naans: Collection[str] | None
    forward: bool
    test_naans: Collection[str]
    schemes: Collection[str | OwnScheme]
    max_length: int
    ignore_trailing_slash: bool
    ignored_parameters: Iterable[str]
    forward_query: bool
    inflections: Mapping[str, str]
    public_numbers: bool
    cache: int
    hsts: str | None
    well_known: bool
    inspector: str | None
    services: str | None
    sitemap: str | None
    atom: str | None
    oai: str | None
    log: str | None
    log_folder: str | None
    metrics: str | None
    metrics_token_file: str | None
    statistics: str | None
    cors: bool | Iterable[str]
    referrer_policy: str | None
    languages: Iterable[str]
    institution: str | None
    logo: str | None
    contact: str | None
    colour: str | None
    statement: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one resolver, with their defaults and descriptions. The constructor checks all values, converts
    them to their normal form, and raises ValueError for a wrong one.

    >>> Settings(prefix="HTTPS://Example.org/").prefix
    'https://example.org'
    >>> Settings(max_length=254)
    Traceback (most recent call last):
    ValueError: max_length: a limit of 254 is below 255, the least that the ARK draft allows (sections 4 and 7.1.1)
    """

    prefix: str | None = setting(
        None,
        "The public address of the resolver (``https://example.org``).",
        "Links begin with it. Without it, links are paths.",
    )
    also: Iterable[str] = setting((), "Other prefixes of the same resolver.", metavar="URL")
    naans: Collection[str] | None = setting(
        None, "The NAANs that this resolver answers for.", metavar="NAAN", shown="all"
    )
    forward: bool = setting(
        False,
        "Redirect ARKs of other NAANs to the resolver in the registry of NAANs; needs ``naans`` and ``prefix``.",
        metavar="",
    )
    test_naans: Collection[str] = setting(
        (),
        "The NAANs below which names can be bound for tests: 99999, which no organization holds.",
        "Such names are marked as tests. They are never in a feed, a sitemap or the log (decision X-06).",
        metavar="NAAN",
        shown="none",
    )
    schemes: Collection[str | OwnScheme] = setting(
        SCHEMES,
        "The schemes to answer for: ark and urn.",
        "In Python also schemes of the site (:class:`~ararat.middleware.OwnScheme`).",
        metavar="SCHEME",
        shown="ark and urn",
    )
    max_length: int = setting(
        length.DEFAULT_LIMIT,
        "The length in bytes, at least 255, above which an identifier can be refused with 414.",
        "Decision L-01 lists identifiers that are never refused.",
        metavar="BYTES",
    )
    ignore_trailing_slash: bool = setting(
        True, "Resolve ``ark:12345/x/`` and ``ark:12345/x.`` as ``ark:12345/x``.", "See decision A-13."
    )
    ignored_parameters: Iterable[str] = setting(
        TRACKING,
        "The query parameters to ignore; ``utm_*`` matches all names that begin with ``utm_``.",
        metavar="NAME",
        shown="parameters of large platforms",
    )
    forward_query: bool = setting(
        False,
        "Append an unknown query to the target of a located or related binding.",
        "Otherwise it is answered with 404.",
    )
    inflections: Mapping[str, str] = setting(
        factory=dict,
        text="Inflections of the site (``?cite``), each with a description (ARK-044).",
        details="They are appended to the target of a located or related binding, and listed in every description.",
    )
    public_numbers: bool = setting(
        False,
        "Show the current and further numbers of a thing, such as its inventory number, in its description.",
        "Without a recorded number, the resource is the current one. Former numbers are never shown.",
    )
    cache: int = setting(
        300, "The seconds that clients can store a redirect or a description, from 0 to a year.", metavar="SECONDS"
    )
    hsts: str | None = setting(
        None,
        "The Strict-Transport-Security field of answers to https requests.",
        "Without it, the field is not sent.",
        metavar="FIELD",
    )
    well_known: bool = setting(
        True, "Answer ``/.well-known/ark`` with the path of the resolver if the site has no page there."
    )
    inspector: str | None = setting(
        None,
        "The path or http(s) address of an inspector, to which error pages link.",
        'Set "/" if the site itself is the inspector. Without it, there are no such links.',
    )
    services: str | None = setting(
        None,
        "The path of the services of RFC 2169 (``/uri-res``); needs ``prefix``.",
        "Without it, they do not exist.",
        metavar="PATH",
    )
    sitemap: str | None = setting(
        None,
        "The path of a sitemap of the live names (``/sitemap-names.xml``); needs ``prefix``.",
        "Without it, the site answers at this path.",
        metavar="PATH",
    )
    atom: str | None = setting(
        None,
        "The path of an Atom feed of the changes of names (``/changes.atom``); needs ``prefix``.",
        "Without it, the site answers at this path.",
        metavar="PATH",
    )
    oai: str | None = setting(
        None,
        "The path of an OAI-PMH repository of the names (``/oai``); needs ``prefix``.",
        "Without it, the site answers at this path.",
        metavar="PATH",
    )
    log: str | None = setting(
        None, "The path below which the files of the log are served (``/log``); needs ``log_folder``.", metavar="PATH"
    )
    log_folder: str | None = setting(None, "The folder of the log, as in ``ararat log init --dir``.", metavar="DIR")
    metrics: str | None = setting(
        None,
        "The path of the metrics for Prometheus (``/metrics``); needs ``metrics_token_file`` and the extra metrics.",
        "Without it, nothing is counted.",
        metavar="PATH",
    )
    metrics_token_file: str | None = setting(
        None,
        "The file with the token for requests of the metrics, in one line of at least 16 characters.",
        metavar="FILE",
    )
    # The URL of a database can contain a password.
    statistics: str | None = setting(
        None,
        "The place of the counts of requests for each name and day, without data of the clients: the path of an SQLite "
        "file, which is created, or a ``postgresql://`` URL.",
        "Without it, nothing is counted.",
        metavar="FILE|URL",
        is_secret=True,
    )
    cors: bool | Iterable[str] = setting(
        True,
        "The pages whose scripts can read the answers (CORS), by their origin (``https://example.org``).",
        "True allows the pages of every site, False none.",
        metavar="ORIGIN|all|none",
        shown="all",
    )
    referrer_policy: str | None = setting(
        "no-referrer",
        "The Referrer-Policy field of all answers.",
        'With "no-referrer" the target does not see which page linked to the identifier; with '
        '"strict-origin-when-cross-origin" it sees the site of that page. With None the field is not sent, and the '
        "policy of that page applies.",
        metavar="POLICY",
    )
    languages: Iterable[str] = setting(
        tuple(LANGUAGES),
        "The languages of the public pages, such as de; the first is the default.",
        "The field Accept-Language of a request selects one.",
        metavar="LANGUAGE",
        shown="all",
    )
    institution: str | None = setting(
        None,
        "The name of the institution, which the public pages show.",
        "A value that is recorded in the database replaces this one, as for the next four settings.",
        metavar="NAME",
    )
    logo: str | None = setting(
        None,
        "The logo on the public pages: a path of this site (``/static/logo.svg``), or a data URL with a PNG, JPEG, GIF "
        "or WebP image of at most 32,768 bytes.",
        metavar="PATH",
    )
    contact: str | None = setting(
        None, "The contact on the public pages: an e-mail address, a URL or another text.", metavar="TEXT"
    )
    colour: str | None = setting(
        None,
        "The colour of the public pages (``#0b4f6c``).",
        "Links get the nearest readable colour, on light and on dark pages.",
        metavar="COLOUR",
    )
    statement: str | None = setting(
        None, "A text at the end of each public page, of at most 1,000 characters.", metavar="TEXT"
    )
    branding: Branding = field(init=False, default=NO_BRANDING)
    cors_origins: frozenset[str] = field(init=False)
    own_prefixes: tuple[str, ...] = field(init=False)
    _own_address: re.Pattern[str] = field(init=False, repr=False)
    _ignored_names: frozenset[str] = field(init=False, repr=False)
    _ignored_beginnings: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ignored = _several("ignored_parameters", self.ignored_parameters)
        self._put(
            prefix=None if self.prefix is None else _prefix("prefix", self.prefix),
            also=tuple(_prefix("also", prefix) for prefix in _several("also", self.also)),
            naans=None if self.naans is None else frozenset(map(_naan, _several("naans", self.naans))),
            test_naans=naans_for_tests(self.test_naans),
            schemes=_schemes(_several("schemes", self.schemes)),
            inspector=None if self.inspector is None else _inspector(self.inspector),
            services=None
            if self.services is None
            else _public_path("services", self.services, self.prefix, "/uri-res"),
            sitemap=None if self.sitemap is None else _sitemap(self.sitemap, self.prefix),
            atom=None if self.atom is None else _public_path("atom", self.atom, self.prefix, "/changes.atom"),
            oai=None if self.oai is None else _public_path("oai", self.oai, self.prefix, "/oai"),
            log=None if self.log is None else _log(self.log, self.log_folder),
            metrics=None if self.metrics is None else _metrics(self.metrics, self.metrics_token_file),
            ignored_parameters=ignored,
            cors=self.cors if isinstance(self.cors, bool) else _origins(self.cors),
            _ignored_names=frozenset(name for name in ignored if not name.endswith("*")),
            _ignored_beginnings=tuple(name[:-1] for name in ignored if name.endswith("*")),
        )
        self._put(cors_origins=frozenset(() if isinstance(self.cors, bool) else self.cors))
        self._put(own_prefixes=tuple(prefix for prefix in (self.prefix, *self.also) if prefix is not None))
        prefixes = "|".join(map(re.escape, self.own_prefixes))
        self._put(_own_address=re.compile(f"(?:{prefixes})?/(?={LABEL_PATTERN}|{urn.LABEL_PATTERN})"))
        self._put(languages=_languages(_several("languages", self.languages)), branding=_branding(self))
        self._put(**self.branding.as_dict())
        _check_length(self.max_length)
        _check_paths(self)
        if self.log_folder is not None and self.log is None:
            raise ValueError("log_folder: the path of the log is missing; set log='/log'")
        if self.metrics_token_file is not None and self.metrics is None:
            raise ValueError("metrics_token_file: the path of the metrics is missing; set metrics='/metrics'")
        _check_forward(self.forward, self.naans, self.prefix)
        self._put(inflections=_inflections(self.inflections, self))
        if not 0 <= self.cache <= _YEAR:
            raise ValueError(f"cache: {self.cache} is out of range; set 0 to {_YEAR} seconds")
        if self.referrer_policy is not None and self.referrer_policy not in REFERRER_POLICIES:
            named = ", ".join(REFERRER_POLICIES)
            raise ValueError(f"referrer_policy: {self.referrer_policy!r} is not one of {named}")
        if self.hsts is not None and not _HSTS.fullmatch(self.hsts):
            raise ValueError(
                f"hsts: {self.hsts!r} is not valid; set a field like 'max-age=31536000; includeSubDomains' (RFC 6797)"
            )

    def without_ignored(self, query: str) -> str | None:
        """Return a query without ignored parameters, or None if it has only ignored ones (I-02).

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
    def feeds(self) -> Mapping[str, str]:
        """The paths of the feeds that are switched on, by the names of their settings."""
        paths = {"sitemap": self.sitemap, "atom": self.atom, "oai": self.oai}
        return {setting: path for setting, path in paths.items() if path is not None}

    @property
    def beginnings(self) -> tuple[str, ...]:
        """The beginnings of the names that this resolver answers for, in normal form; ``("",)`` for all names.

        >>> Settings(naans=["67890", "12345"]).beginnings, Settings(schemes=["urn"]).beginnings, Settings().beginnings
        (('ark:12345/', 'ark:67890/', 'urn:'), ('urn:',), ('',))
        """
        if self.naans is None and {*SCHEMES} <= {*self.schemes}:
            return ("",)
        naans = [""] if self.naans is None else [f"{naan}/" for naan in self.naans]
        starts = {"ark": [f"ark:{naan}" for naan in naans], "urn": ["urn:"]}
        return tuple(sorted(each for scheme in self.schemes if isinstance(scheme, str) for each in starts[scheme]))

    @property
    def all_inflections(self) -> Mapping[str, str]:
        """The inflections that the resolver and the site know, such as "?info", with their descriptions."""
        return {**DESCRIBED, **self.inflections}

    def naan_refusal(self, identifier: Ark | Urn) -> str | None:
        """Return the reason why this resolver does not answer for the NAAN of an ARK. Return None if it does, and for a
        URN.

        >>> from ararat.identifiers import parse
        >>> Settings(naans=["12345"]).naan_refusal(parse("ark:67890/x"))
        'this resolver answers for NAAN 12345, not for NAAN 67890'
        """
        if self.naans is None or isinstance(identifier, Urn):
            return None
        naan = identifier.normal_naan
        return (
            None
            if naan in self.naans or naan in self.test_naans
            else f"this resolver answers for {_list_naans(self.naans)}, not for NAAN {naan}"
        )

    def refuses_naan(self, identifier: Ark) -> bool:
        """Return whether this resolver refuses the NAAN of the ARK ``identifier``, because it is reserved (X-06)."""
        return identifier.reserved_naan and identifier.normal_naan not in self.test_naans

    def own_identifier(self, target: str) -> str | None:
        """Return the identifier with its query and fragment if a target requests it from this resolver, else None.

        >>> Settings(prefix="https://example.org").own_identifier("https://example.org/ark:12345/x?info")
        'ark:12345/x?info'
        """
        # Each redirect checks its target. Most targets are at other sites.
        if target[:1] != "/" and not target.startswith(self.own_prefixes):
            return None
        match = self._own_address.match(target)
        return None if match is None else target[match.end() :]

    def reserves(self, path: str) -> bool:
        """Return whether a path of the site, also percent-encoded, belongs to its own schemes, a service of RFC 2169 or
        the public log. :func:`.targets.is_reserved` rejects "ark" and "urn" for all bindings.

        >>> Settings(prefix="https://example.org", services="/uri-res").reserves("/uri%2Dres/N2L")
        True
        """
        plain = unquote(path)
        if self.services is not None and plain.startswith(f"{self.services}/N2"):
            return True
        if self.log is not None and plain.startswith(f"{self.log}/"):
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
    # A str is a collection of its characters, which is never what the caller means.
    if isinstance(values, str):
        raise ValueError(f"{setting}: {values!r} is a text, but a list is expected; write [{values!r}]")
    return tuple(values)


def _prefix(setting: str, prefix: str) -> str:
    # "The prefix of an HTTP resolver MUST match the http-resolver-prefix production rule."
    try:
        return check_prefix(prefix)
    except CatalogueError as error:
        raise ValueError(f"{setting}: {error}") from None


def _origins(origins: Iterable[str]) -> tuple[str, ...]:
    values = _several("cors", origins)
    if not values:
        raise ValueError("cors: the list is empty; add an origin, or write False to deny all pages of other sites")
    normal = tuple(_prefix("cors", origin) for origin in values)
    for origin in normal:
        if origin.count("/") != 2:
            raise ValueError(f"cors: {origin!r} has a path; an origin has only a scheme, a host and a port")
    return normal


def _inspector(inspector: str) -> str:
    """Return the address or path without a slash at its end."""
    return _local("inspector", inspector) if inspector.startswith("/") else _prefix("inspector", inspector)


def _public_path(setting: str, path: str, prefix: str | None, example: str) -> str:
    """Return the path of answers that contain absolute addresses, so that they need a prefix."""
    # RFC 2169, section 3.2: the result is a list of URLs, and a path is not a URL. Feeds need URLs, too.
    if prefix is None:
        raise ValueError(f"{setting}: the prefix is missing; set prefix=…, because the answers have absolute addresses")
    return _require_unreserved(setting, path, example)


def _require_unreserved(setting: str, text: str, example: str) -> str:
    path = _local(setting, text)
    if not path or targets.is_reserved(path) or "%" in path:
        raise ValueError(f"{setting}: {text!r} is not an unreserved path like {example!r}")
    return path


def _log(log: str, folder: str | None) -> str:
    if folder is None:
        raise ValueError("log: the folder of the log is missing; set log_folder=…, as in ararat log init --dir")
    return _require_unreserved("log", log, "/log")


def _metrics(metrics: str, token_file: str | None) -> str:
    if token_file is None:
        raise ValueError("metrics: the token is missing; set metrics_token_file=…, a file with a token for clients")
    return _require_unreserved("metrics", metrics, "/metrics")


def _sitemap(sitemap: str, prefix: str | None) -> str:
    path = _public_path("sitemap", sitemap, prefix, "/sitemap-names.xml")
    if path.count("/") != 1:
        # sitemaps.org: "The location of a Sitemap file determines the set of URLs that can be included".
        raise ValueError(
            f"sitemap: {sitemap!r} is in a folder, so it cannot list names, which are outside of this folder; "
            "set a path like '/sitemap-names.xml'"
        )
    return path


def _check_paths(settings: Settings) -> None:
    paths = {**settings.feeds, **({} if settings.metrics is None else {"metrics": settings.metrics})}
    for named, path in paths.items():
        if settings.reserves(path):
            raise ValueError(f"{named}: {path!r} belongs to the log or to the services; choose another")
        other = next(name for name, each in paths.items() if each == path)
        if other != named:
            raise ValueError(f"{named}: {path!r} is also the path of {other}; choose another")


def _local(setting: str, text: str) -> str:
    """Return a path of this site without a slash at its end."""
    try:
        path = targets.check(text, "located") or ""
    except CatalogueError as error:
        raise ValueError(f"{setting}: {error}") from None
    if not path.startswith("/"):
        raise ValueError(f"{setting}: {text!r} is not a path of this site; it must begin with /")
    if "?" in path or "#" in path:
        raise ValueError(f"{setting}: {text!r} has a query or a fragment; remove it")
    return path.removesuffix("/")


def _languages(languages: tuple[str, ...]) -> tuple[str, ...]:
    normal = tuple(dict.fromkeys(language.lower() for language in languages))
    for language in normal:
        if language not in LANGUAGES:
            raise ValueError(f"languages: {language!r} is not one of {', '.join(LANGUAGES)}")
    if not normal:
        raise ValueError(f"languages: the list is empty; add at least one of {', '.join(LANGUAGES)}")
    return normal


def _branding(settings: Settings) -> Branding:
    values: dict[branding.Field, str | None] = {
        "institution": settings.institution,
        "logo": settings.logo,
        "contact": settings.contact,
        "colour": settings.colour,
        "statement": settings.statement,
    }
    checked: dict[branding.Field, str | None] = {}
    for name, text in values.items():
        try:
            checked[name] = branding.check_field(name, text)
        except CatalogueError as error:
            # The message of a text begins with the label of the field.
            said = str(error.message).removeprefix(f"{branding.LABELS[name]}: ")
            raise ValueError(f"{name}: {said}; set {error.expected}") from None
    return Branding(**checked)


def _naan(naan: str) -> str:
    try:
        sample = ark.parse(f"ark:{naan}/x")
    except IdentifierError as error:
        raise ValueError(f"naans: {naan!r} is not a NAAN: {error.problem.message}") from None
    if sample.basic != f"ark:{sample.normal_naan}/x":
        raise ValueError(f"naans: {naan!r} is not a NAAN: it contains a slash")
    if sample.reserved_naan:
        raise ValueError("naans: NAAN 99999 is reserved for invalid ARKs; remove it (ARK draft, section 3.1)")
    return sample.normal_naan


def _schemes(schemes: tuple[str | OwnScheme, ...]) -> tuple[str | OwnScheme, ...]:
    seen: set[str] = set()
    for scheme in schemes:
        name = scheme.name if isinstance(scheme, OwnScheme) else scheme
        if not isinstance(scheme, OwnScheme) and name not in SCHEMES:
            raise ValueError(
                f"schemes: {scheme!r} is not one of {', '.join(SCHEMES)}; for a scheme of your own, pass an OwnScheme"
            )
        if isinstance(scheme, OwnScheme) and name in seen:
            raise ValueError(f"schemes: {name!r} occurs twice; remove one")
        seen.add(name)
    if not schemes:
        raise ValueError(f"schemes: the list is empty; add at least one of {', '.join(SCHEMES)}")
    return schemes


def _check_length(max_length: int) -> None:
    try:
        length.may_refuse("", max_length)
    except ValueError as error:
        raise ValueError(f"max_length: {error}") from None


def _check_forward(forward: bool, naans: Collection[str] | None, prefix: str | None) -> None:
    if forward and naans is None:
        raise ValueError(
            "forward: the NAANs of this resolver are missing; set naans=[…], because all other ARKs are forwarded"
        )
    if forward and prefix is None:
        raise ValueError(
            "forward: the prefix is missing; set prefix=…, so that this resolver does not forward to itself"
        )


def _inflections(described: Mapping[str, str], settings: Settings) -> Mapping[str, str]:
    """Return the inflections of the site in normal form. "New inflections SHOULD be documented" (ARK-044)."""
    normal: dict[str, str] = {}
    for inflection, description in described.items():
        if not _INFLECTION.fullmatch(inflection):
            reason = (
                "contains characters that a query cannot have"
                if inflection[:1] == "?"
                else "does not begin with a question mark"
            )
            raise ValueError(f"inflections: {inflection!r} {reason} (ARK draft, section 3.4)")
        decoded = iri.upper_hex(iri.decode(inflection, iri.UNRESERVED_TRIPLETS))
        # "?info MUST NOT be used for a different purpose." "? and ?? are reserved for a possible standard meaning"
        if decoded in BY_INFLECTION:
            raise ValueError(
                f"inflections: {inflection!r} is reserved for the description; choose another (ARK draft, section 3.4)"
            )
        if settings.without_ignored(decoded[1:]) != decoded[1:]:
            raise ValueError(
                f"inflections: {inflection!r} contains a parameter of ignored_parameters; remove it from one of the two"
            )
        if decoded in normal:
            raise ValueError(f"inflections: {inflection!r} occurs twice; remove one")
        if not isinstance(description, str) or not description.strip() or not description.isprintable():
            raise ValueError(f"inflections: {inflection!r} has no description; add one line of printable text")
        normal[decoded] = description
    return normal


def _list_naans(naans: Collection[str]) -> str:
    few = sorted(naans)[:5]
    return f"NAAN {', '.join(few)}" + (" and others" if len(naans) > len(few) else "")
