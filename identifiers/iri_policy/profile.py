"""The settings of an IRI policy (:class:`Profile`): its hosts, the severity of each rule, and its place in the policy
of the site. The package contains three profiles (:data:`SHIPPED`). A site can write its own as TOML or JSON.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from ..ark.grammar import BASE29
from ..text import display, iri
from .finding_codes import FIXED, SOURCE, SWITCHABLE

NAMESPACES = ("language", "uuid", "opaque", "datetime", "personal")
"""The namespaces of section 6, in order. All other IRIs are in "miscellaneous"."""

SHOULDERS = ("decimal", "any")
"""The division of names: shoulders of digits 2 to 9 and then one 0 or 1 (section 3.1), or no fixed division."""

SHIPPED = ("17beta", "museum", "repository")
"""The profiles in the package: the policy of document 002, cool URLs for a museum, a data repository with ARKs."""

SEVERITIES = ("off", "note", "warning", "error")
"""The values of a rule in a profile."""

PARAMETERS = (
    *("id", "pid", "oid", "uid", "nid", "objid", "objectid", "itemid", "recordid", "page_id", "post", "attachment_id"),
    *("p", "node", "option", "action", "module", "controller", "method", "sid", "phpsessid", "jsessionid"),
)
"""Query parameters that name a resource by a key of a database, a program or a session."""

EXTENSIONS = (
    *("html", "htm", "xhtml", "xht", "shtml", "mht", "mhtml", "css", "js", "mjs", "json", "jsonld", "xml", "xsl"),
    *("xslt", "rss", "atom", "svg", "svgz", "txt", "md", "pdf", "png", "gif", "jpg", "jpeg", "webp", "avif", "ico"),
    *("woff", "woff2", "ttf", "mp3", "mp4", "ogg", "webm", "wasm"),
)
"""Filename extensions of web formats."""

TECHNOLOGY = ("php", "php3", "php4", "php5", "phtml", "asp", "aspx", "jsp", "jspx", "cgi", "pl", "cfm", "do")
"""Filename extensions that name the technology of a site."""

LARGEST = 64 * 1024
"""The maximum length of a profile in characters."""

DEEPEST = 100
"""The maximum depth of the arrays and objects of a profile in JSON."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)

_MAX_TEXTS = 200
"""The maximum number of texts in a list of a profile."""

_MAX_CHARACTERS = 200
"""The maximum number of characters of a text in a profile."""

_HOST = rf"(?=.{{1,253}}\Z)[a-z0-9{iri.UCSCHAR}](?:[a-z0-9\-.{iri.UCSCHAR}]*[a-z0-9{iri.UCSCHAR}])?"
_WORD = r"[a-z0-9][a-z0-9+\-._]{0,62}"
_BASE29 = f"[{BASE29}]{{1,32}}"
_RESOLVER = r"https?://[a-z0-9\-.]{1,253}(?::[0-9]{1,5})?(?:/[A-Za-z0-9\-._~]+)*/?"
_LANGUAGE = "[a-z]{2,3}"
_ADDRESS = r"https?://[!-;=?-\[\]_a-z~]{1,190}"
_PARAMETER = r"[a-z0-9_][a-z0-9_\-.]{0,62}"


class ProfileError(ValueError):
    """Raised for a text that is not a policy profile. The message contains the wrong key and the expected value."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of an IRI policy. Every field is a key of the file of the profile. Only ``name`` and ``hosts`` are
    required.

    - ``hosts``: host names in lower case. The policy covers IRIs of these hosts and of "www." before them (POL-001).
    - ``schemes``: the preferred scheme first. ``resolvers``: prefixes under which an ARK is the same name (POL-025).
    - ``naan``: the policy covers the ARKs of this NAAN. ``naans``: further NAANs.
    - ``namespaces``: the namespaces in use, from :data:`NAMESPACES`.
    - ``languages``: the allowed primary language subtags. Empty: all.
    - ``reserved_schemes``: identifier schemes whose resolver-reserved paths are in use (POL-038).
    - ``shoulders``: one of :data:`SHOULDERS`. ``reserved_shoulders`` must not be used (POL-030).
    - ``availability``: the allowed ones of a published persistent name. ``default_availability``: if none is stated
      (POL-018).
    - ``extensions``, ``technology``: filename extensions that are not allowed. ``parameters``: query parameters.
    - ``deepest``: the maximum number of segments of a path that is not reported as long (POL-012).
    - ``temporary_paths``: paths whose redirects must be temporary, as those of ARKs must be. A final slash means all
      below.
    - ``url``: the address of the written policy. ``sections``: pairs of a rule and its place in the policy.
    - ``rules``: pairs of a rule and its severity, one of :data:`SEVERITIES`. Other rules have that of the catalogue.

    >>> built_in("17beta").naan
    '21206'
    """

    name: str
    hosts: tuple[str, ...]
    title: str = ""
    schemes: tuple[str, ...] = ("https", "http")
    naan: str | None = None
    resolvers: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = NAMESPACES
    languages: tuple[str, ...] = ()
    reserved_schemes: tuple[str, ...] = ("ark", "urn")
    shoulders: str = "any"
    reserved_shoulders: tuple[str, ...] = ()
    availability: tuple[str, ...] = ("lifetime", "subinfinite")
    default_availability: str | None = "lifetime"
    extensions: tuple[str, ...] = EXTENSIONS
    technology: tuple[str, ...] = TECHNOLOGY
    deepest: int = 6
    naans: tuple[str, ...] = ()
    parameters: tuple[str, ...] = PARAMETERS
    temporary_paths: tuple[str, ...] = ()
    url: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    rules: tuple[tuple[str, str], ...] = ()

    @property
    def own_naans(self) -> tuple[str, ...]:
        """The NAANs under which the owner of the policy assigns ARKs: ``naan`` and then ``naans``."""
        return tuple(dict.fromkeys((*filter(None, (self.naan,)), *self.naans)))

    def severity(self, code: str, otherwise: str) -> str:
        """Return the severity that the policy sets for the rule ``code``, or ``otherwise`` if it sets none."""
        return next((severity for each, severity in self.rules if each == code), otherwise)

    def enforces(self, code: str) -> bool:
        """Return whether changes of names that break the rule ``code`` are refused: the policy does not make it a
        warning, note or "off".
        """
        return self.severity(code, "error") == "error"

    def citation(self, code: str, reference: str) -> str:
        """Return where the policy of the site states the rule ``code``, or ``reference``, the default of the catalogue.
        A rule of a standard, such as the syntax of an IRI, keeps its reference.
        """
        if not reference.startswith(SOURCE):
            return reference
        section = next((section for each, section in self.sections if each == code), "")
        return ", ".join(filter(None, (self.title or f"policy {self.name}", section, self.url)))

    def as_dict(self) -> dict[str, Any]:
        """Return all settings of the policy as JSON values. As JSON text, they are a file that :func:`read` accepts."""
        whole = {field.name: getattr(self, field.name) for field in fields(self)}
        for key in _TABLES:
            whole[key] = dict(whole[key])
        return {key: list(value) if isinstance(value, tuple) else value for key, value in whole.items()}

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Profile:
        """Create a policy profile from a mapping of names to values. Raises :class:`ProfileError` for the first invalid
        one.

        >>> Profile.of({"name": "ours", "hosts": ["Example.org"]})
        Traceback (most recent call last):
        ararat...ProfileError: hosts: "Example.org" is not valid; expected a host name in lower case
        """
        for key in settings:
            if key not in _KEYS:
                raise ProfileError(f"the key {_excerpt(key)} is unknown; expected {', '.join(_KEYS)}")
        for key in ("name", "hosts"):
            if key not in settings:
                raise ProfileError(f"{key} is missing; a profile needs at least a name and hosts")
        checked = {key: check(key, settings[key]) for key, check in _KEYS.items() if key in settings}
        if not checked["hosts"]:
            raise ProfileError("hosts: the list is empty; expected at least one host name")
        profile = cls(**checked)
        default = profile.default_availability
        if default is not None and default not in profile.availability:
            allowed = ", ".join(profile.availability)
            raise ProfileError(f"default_availability: {_excerpt(default)} is not in availability; expected {allowed}")
        return profile


def read(text: str) -> Profile:
    """Parse the text of a policy profile: JSON if it begins with a brace, else TOML. Raises :class:`ProfileError`, with
    line and column of a syntax error.

    >>> read('name = "ours"\\nhosts = ["example.org"]').hosts
    ('example.org',)
    """
    if len(text) > LARGEST:
        raise ProfileError(f"the profile is too long; the maximum is {LARGEST:,} characters")
    is_json = text.lstrip()[:1] == "{"
    if is_json and _depth(text) > DEEPEST:
        raise ProfileError(f"the profile is nested too deeply; the maximum is {DEEPEST} levels")
    # Imported late: tomllib is slow to load, and few processes read a profile.
    import tomllib

    try:
        settings = json.loads(text) if is_json else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise ProfileError(f"line {error.lineno}, column {error.colno}: the text is not JSON") from None
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"the text is not TOML: {display.escape(str(error))}") from None
    except (RecursionError, ValueError):
        raise ProfileError("the profile is nested too deeply, or contains a number that is too long") from None
    return Profile.of(settings)


def _depth(text: str) -> int:
    """Return how deep the arrays and objects of a JSON text are nested. The parser of each Python has another limit."""
    depth = deepest = 0
    for match in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        deepest = max(deepest, depth)
    return deepest


@functools.cache
def built_in(name: str) -> Profile:
    """Return a policy profile of the package, such as "17beta" (:data:`SHIPPED`). Raises ValueError for another name.

    >>> built_in("17beta").hosts[0]
    '17beta.top'
    """
    if name not in SHIPPED:
        raise ValueError(f"the policy profile {_excerpt(name)} does not exist; expected one of {', '.join(SHIPPED)}")
    package = __spec__.parent.rpartition(".")[0]
    return read(resources.files(package).joinpath("data", f"policy-{name}.toml").read_text("utf-8"))


def _excerpt(value: object) -> str:
    text = str(value)
    return f'"{display.escape(text[:60])}{"..." if len(text) > 60 else ""}"'


def _matching(expression: str, expected: str) -> Callable[[str, Any], str]:
    def check(key: str, value: Any) -> str:
        if not isinstance(value, str) or not iri.compile_rule(expression, value).fullmatch(value):
            raise ProfileError(f"{key}: {_excerpt(value)} is not valid; expected {expected}")
        return value

    return check


def _each(check: Callable[[str, Any], str]) -> Callable[[str, Any], tuple[str, ...]]:
    def check_all(key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) > _MAX_TEXTS:
            raise ProfileError(f"{key}: expected a list of at most {_MAX_TEXTS} texts")
        checked = tuple(check(key, each) for each in value)
        if len(set(checked)) < len(checked):
            raise ProfileError(f"{key}: a value is repeated")
        return checked

    return check_all


def _one_of(choices: tuple[str, ...]) -> Callable[[str, Any], str]:
    return _matching("|".join(map(re.escape, choices)), " or ".join(choices))


def _resolver(key: str, value: Any) -> str:
    expected = "a resolver prefix, like https://n2t.net/"
    return _matching(_RESOLVER, expected)(key, value).removesuffix("/")


def _title(key: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_CHARACTERS or not value.isprintable():
        raise ProfileError(f"{key}: expected one line of at most {_MAX_CHARACTERS} characters")
    return value


def _url(key: str, value: Any) -> str:
    return _matching(rf"(?:{_ADDRESS})?", "a URL that begins with https://")(key, value)


def _path(key: str, value: Any) -> str:
    return _matching(r"/[A-Za-z0-9\-._~:/]{0,199}", "a path that begins with a slash")(key, value)


def _table(check: Callable[[str, Any], str]) -> Callable[[str, Any], tuple[tuple[str, str], ...]]:
    def check_all(key: str, value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, dict):
            raise ProfileError(f"{key}: expected a table from rules to texts")
        for code in value:
            if code not in SWITCHABLE:
                why = "cannot be changed" if code in FIXED else "is unknown"
                raise ProfileError(f"{key}: the rule {_excerpt(code)} {why}; expected {', '.join(SWITCHABLE)}")
        return tuple((code, check(f"{key}.{code}", each)) for code, each in value.items())

    return check_all


def _number(key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100:
        raise ProfileError(f"{key}: {_excerpt(value)} is not valid; expected a number from 1 to 100")
    return value


_word = _matching(_WORD, "a word in lower case")
_schemes = _each(_one_of(("https", "http")))

_KEYS: dict[str, Callable[[str, Any], Any]] = {
    "name": _word,
    "title": _title,
    "hosts": _each(_matching(_HOST, "a host name in lower case")),
    "schemes": lambda key, value: _schemes(key, value) or _schemes(key, None),
    "naan": _matching(_BASE29, "a NAAN in lower case"),
    "resolvers": _each(_resolver),
    "namespaces": _each(_one_of(NAMESPACES)),
    "languages": _each(_matching(_LANGUAGE, "a language subtag of two or three letters in lower case")),
    "reserved_schemes": _each(_word),
    "shoulders": _one_of(SHOULDERS),
    "reserved_shoulders": _each(_matching(_BASE29, "a shoulder")),
    "availability": _each(_word),
    "default_availability": _word,
    "extensions": _each(_word),
    "technology": _each(_word),
    "deepest": _number,
    "naans": _each(_matching(_BASE29, "a NAAN in lower case")),
    "parameters": _each(_matching(_PARAMETER, "the name of a query parameter in lower case")),
    "temporary_paths": _each(_path),
    "url": _url,
    "sections": _table(_title),
    "rules": _table(_one_of(SEVERITIES)),
}
_TABLES = ("sections", "rules")
