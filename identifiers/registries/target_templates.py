"""Target templates: the address of the ARKs of a NAAN or shoulder in the registry, with variables.

Variables, for ark:/12345/x6np1/c3?q: ``${content}`` 12345/x6np1/c3?q, ``${pid}`` ark:/12345/x6np1/c3?q, ``${value}``
x6np1/c3?q, ``${prefix}`` 12345, ``${suffix}`` what follows the NAAN and the shoulder that matched, ``${scheme}`` ark.
Those of the older resolver of N2T are accepted, too. A template with flaws, such as a typing error, is never expanded.

An ARK is sent to the resolver of its holder in the spelling of the request, because many know only their own spelling.
A rule sends the normal form, and variables with ``:given`` the spelling of the request. In a query, ``+`` and ``&`` of
a value are percent-encoded: programs read ``+`` there as a space.

>>> from ararat.identifiers.ark import parser as ark
>>> read("https://example.museum/show?id=${value}").expand(TemplateParts.of(ark.parse("ark:12345/x6-np1+a"))).address
'https://example.museum/show?id=x6-np1%2Ba'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..ark.grammar import LABEL_PATTERN
from ..ark.model import Ark
from ..ark.normalization import RULES, Parts
from ..text import iri
from ..text.translatable import Translatable

_FLAWS = {
    "bad-character": Translatable("The template contains a character that is not allowed in a URL"),
    "doubled-label": Translatable("The address would contain two consecutive ark: labels"),
    "doubled-variable": Translatable("The address would contain the name more than once"),
    "example-left-in": Translatable("The template contains an example in the place of the name"),
    "glued": Translatable("The name would directly follow a letter or digit"),
    "loop": Translatable("The template leads back to the official resolver, which asks the registry again"),
    "no-variable": Translatable(
        "The template has no variable for the name, so every name would lead to the same address"
    ),
    "not-web": Translatable("The template is not an http or https URL with a host"),
    "reserved-host": Translatable("The host of the template is reserved for examples or for local use"),
    "unknown-variable": Translatable("The template has a variable that is not defined"),
    "userinfo": Translatable("The template contains a user name or password"),
    "variable-in-host": Translatable("The name would be a part of the host name"),
    # -- flaws of the ARK, not of the template
    # --------------------------------------------------------------------------
    "dot-segment": Translatable("The ARK has a dot-segment, so browsers and proxies would change the address"),
    "reserved-naan": Translatable("ARKs with this NAAN must not be resolved"),
    "surrogate": Translatable("The ARK has half of a surrogate pair, which no URL can contain"),
    "too-long": Translatable("The address would be too long"),
}

FLAWS = {code: text.sentence() for code, text in _FLAWS.items()}
"""The reasons why a template has no address for an ARK."""

MAX_ADDRESS = 4000
# A percent-encoded byte may be decoded.
_MAX_ARK = 3 * MAX_ADDRESS

OFFICIAL_HOSTS = frozenset({"arks.org", "www.arks.org", "n2t.net", "www.n2t.net"})
"""Hosts of the official resolver, which uses the NAAN registry itself."""

# RFC 6761, RFC 6762, RFC 2606: names that are not resolved, or differ between networks.
_RESERVED_HOST = re.compile(r"(?:.*\.)?(?:example(?:\.(?:com|net|org|edu))?|invalid|test|local|localhost|internal)\.?")

VARIABLES = ("content", "pid", "value", "prefix", "suffix", "scheme")
_LEGACY = {"id": "content", "nlid": "value", "arkid": "pid", "arkpid": "pid"}
_WRITTEN = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
_VARIABLE = re.compile(r"\$\{((?:" + "|".join(VARIABLES) + r")(?::given)?)\}")
GIVEN = ":given"
"""The end of the name of a variable whose value is spelled as in the request."""
_LABEL = re.compile(f"(?<![A-Za-z0-9]){LABEL_PATTERN}/?")
_FINAL_LABEL = re.compile(f"{LABEL_PATTERN}/?$")
_WEB = re.compile(r"https?://(?P<authority>[^/?#]*+)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"(?P<user>[^@]*@)?(?P<host>[A-Za-z0-9.\-]+)(?::[0-9]{1,5})?")
_URI_CHARS = re.compile(iri.run(f"{iri.PCHAR}/?#", least=0))
# The normalizations that a resolver applies before a lookup. They keep the order of variants.
_EQUALIZING = [rule for rule in RULES if rule.name in ("percent-decoding", "hex-case", "hyphens", "non-ascii")]
_OCTET = re.compile(f"{iri.PCT_ENCODED}|.", re.DOTALL)


class TemplateParts(NamedTuple):
    """The parts of an ARK or URN that replace the variables of a target template, without the fragment.

    - ``label``: "ark:", or "ark:/" in the classic form, or "urn:".
    - ``path``: NAAN, slash, Name and qualifier, in ASCII. ``query``: includes its question mark, or is "".
    - ``problems``: the codes of :data:`FLAWS` because of which this ARK must not be resolved.
    - ``given``: the path in the spelling of the request, for variables with ``:given``; "" if ``path`` has it.
    """

    label: str
    path: str
    query: str
    problems: tuple[str, ...] = ()
    given: str = ""

    @classmethod
    def of(cls, ark: Ark) -> TemplateParts:
        """Return the parts of an ARK in its own spelling. Only hyphens in the NAAN are removed.

        >>> from ararat.identifiers.ark import parser as ark
        >>> TemplateParts.of(ark.parse("ARK:/12-345/x-5/%61-b?q-r#f"))
        TemplateParts(label='ark:/', path='12345/x-5/%61-b', query='?q-r', problems=(), given='')
        """
        problems = ("dot-segment",) if ark.dot_segment else ()
        return cls.of_text(ark.text, ark.normal_naan, problems)

    @classmethod
    def of_text(cls, text: str, naan: str, problems: tuple[str, ...] = ()) -> TemplateParts:
        """Return the parts of a text that begins like an ARK of ``naan``, in normal form. The rest can be invalid.
        ``problems`` are codes because of which it must not be resolved.
        """
        if len(text) > _MAX_ARK:
            problems = ("too-long",)
        label = "ark:/" if text[4:5] == "/" else "ark:"
        # The beginning of an extremely long ARK is enough to find its shoulder.
        requested = text[len(label) : _MAX_ARK].partition("#")[0]
        body, mark, query = requested.partition("?")
        _, slash, rest = body.partition("/")
        return cls(label, iri.encode(naan + slash + rest), iri.encode(mark + query), problems)

    @property
    def key(self) -> str:
        """The path as registered shoulders are spelled: percent-decoded and without hyphens, such as "12345/x5/ab"."""
        return _equalize(self.path)


class Expansion(NamedTuple):
    """The address that a target template makes for an ARK, or None with the codes of :data:`FLAWS` that prevent one."""

    address: str | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A target template, which makes the address of an ARK at its resolver. ``text`` is as registered. A template with
    ``flaws`` (codes of :data:`FLAWS`) has no addresses.
    """

    text: str
    flaws: tuple[str, ...]

    @property
    def prefix(self) -> str | None:
        """The resolver prefix: the text before the ARK, without a final slash and label. It is None for a template with
        flaws, and for an ARK in a query or fragment.
        """
        before = _VARIABLE.split(self.text, maxsplit=1)[0]
        if self.flaws or "?" in before or "#" in before:
            return None
        return _FINAL_LABEL.sub("", before).removesuffix("/")

    def expand(self, parts: TemplateParts, shoulder: str = "") -> Expansion:
        """Return the address of an ARK by this template, or None with the reasons. ``shoulder`` is the registered
        beginning of the name that matched, without the NAAN, or "".

        >>> parts = TemplateParts("ark:/", "12345/fk4/a", "?b")
        >>> read("https://vocab.museum/terms${suffix}").expand(parts, "fk4")
        Expansion(address='https://vocab.museum/terms/a?b', problems=())
        >>> read("https://data.museum").expand(parts)
        Expansion(address=None, problems=('no-variable',))
        """
        if problems := self.flaws or parts.problems:
            return Expansion(None, problems)
        values = _values(parts, shoulder)

        def value(match: re.Match[str]) -> str:
            path, rest = values[match[1]]
            before = self.text[: match.start()]
            in_query = "?" in before and "#" not in before
            return (path.replace("+", "%2B").replace("&", "%26") if in_query else path) + rest

        address = _VARIABLE.sub(value, self.text)
        return Expansion(None, ("too-long",)) if len(address) > MAX_ADDRESS else Expansion(address)


@lru_cache(maxsize=1024)
def read(text: str) -> Template:
    """Parse a target template in the current syntax or with the variables of N2T. Never raises: errors become flaws.

    >>> read("https://data.museum/ark:$id")
    Template(text='https://data.museum/ark:/${content}', flaws=())
    >>> read("https://data.museum/ark:12345/x8rd9${pid}").flaws
    ('example-left-in', 'glued')
    """
    modern = _WRITTEN.sub(_rename, text)
    return Template(modern, tuple(sorted(set(_flaws(modern)))))


def from_base(where: str) -> tuple[int, str]:
    """Convert the base URL of a NAAN, in the text form of the registry, to a redirect status and a target template. The
    default status is 302. The ARK is appended where the URL has no variable.

    >>> from_base("303 http://n2t.net"), from_base("https://example.museum/id?ark=")
    ((303, 'http://arks.org/ark:/${content}'), (302, 'https://example.museum/id?ark=${pid}'))
    """
    coded = re.fullmatch("(30[1-8]) ++(.*)", where, re.DOTALL)
    status, address = (int(coded[1]), coded[2]) if coded else (302, where)
    address = re.sub("^(https?://)n2t[.]net(?=[/?#:]|$)", r"\1arks.org", _WRITTEN.sub(_rename, address))
    if _VARIABLE.search(address):
        return status, address
    if "?" in address and address[-1] in "?=":
        return status, address + "${pid}"
    path = re.split("[?#]", address, maxsplit=1)[0]
    end = "${content}" if path.endswith(("ark:", "ark:/")) else "/ark:/${content}"
    return status, (path if end[0] == "$" else path.removesuffix("/")) + end + address[len(path) :]


def _rename(match: re.Match[str]) -> str:
    braced, bare = match.groups()
    name = _LEGACY.get(braced or bare, braced or bare)
    if name not in VARIABLES:
        return match[0]
    # N2T inserted a slash before the value of a bare $id.
    before = match.string[max(0, match.start() - 1) : match.start()]
    slash = "/" if bare == "id" and before != "/" else ""
    return f"{slash}${{{name}}}"


def _values(parts: TemplateParts, shoulder: str) -> dict[str, tuple[str, str]]:
    """Return the values of the variables: the part in the path of the ARK, and its query if the variable has it."""
    values = _variables(parts.label, parts.path, parts.query, shoulder)
    spelled = _variables(parts.label, parts.given, parts.query, shoulder) if parts.given else values
    return values | {f"{name}{GIVEN}": value for name, value in spelled.items()}


def _variables(label: str, path: str, query: str, shoulder: str) -> dict[str, tuple[str, str]]:
    # The namespace identifier of a URN ends in a colon.
    naan, _, name = path.partition(":" if label == "urn:" else "/")
    return {
        "scheme": (label[:3], ""),
        "prefix": (naan, ""),
        "value": (name, query),
        "suffix": (_after_urn(name, shoulder) if label == "urn:" else _after(name, shoulder), query),
        "content": (path, query),
        "pid": (label + path, query),
    }


def _after(name: str, shoulder: str) -> str:
    """Return what follows a shoulder in any spelling of a name, such as "-1" in "x-5-1" for "x5"."""
    if name.startswith(shoulder):
        return name[len(shoulder) :]
    for match in _OCTET.finditer(name):
        read = _equalize(name[: match.end()])
        if read == shoulder:
            return name[match.end() :]
        if len(read) > len(shoulder):
            break
    return name


def _after_urn(name: str, beginning: str) -> str:
    """Return what follows the beginning of a namespace-specific string, whose case can differ."""
    return name[len(beginning) :] if name[: len(beginning)].lower() == beginning.lower() else name


def _equalize(path: str) -> str:
    if "%" in path or "-" in path or not path.isascii():
        parts = Parts("", path, "")
        for rule in _EQUALIZING:
            parts = rule.apply(parts)
        return parts.body
    return path


def _flaws(text: str) -> Iterator[str]:
    # Literals and names of variables alternate. The first and the last are literals.
    pieces = _VARIABLE.split(text)
    literals, names = pieces[::2], [name.removesuffix(GIVEN) for name in pieces[1::2]]
    if any("$" in literal for literal in literals):
        yield "unknown-variable"
    if any(_URI_CHARS.fullmatch(literal) is None for literal in literals):
        yield "bad-character"
    yield from _carrier_flaws(names)
    web = _WEB.fullmatch(literals[0])
    if web is None:
        yield "not-web"
        return
    yield from _host_flaws(web["authority"])
    if names and not web["rest"]:
        yield "variable-in-host"
    following = [*names, ""]
    for literal, name in zip([web["rest"], *literals[1:]], following, strict=True):
        yield from _label_flaws(literal, name)
    for literal, name in zip([web["rest"], *literals[1:]], names, strict=False):
        if name not in ("suffix", "scheme") and literal[-1:].isalnum():
            yield "glued"


def _carrier_flaws(names: list[str]) -> Iterator[str]:
    carriers = [name for name in names if name in ("content", "pid", "value", "suffix")]
    if not carriers:
        yield "no-variable"
    elif len(carriers) > 1 or ("prefix" in names and carriers[0] in ("content", "pid")):
        yield "doubled-variable"


def _host_flaws(authority: str) -> Iterator[str]:
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        yield "userinfo" if "@" in authority else "not-web"
        return
    host = match["host"].lower()
    if match["user"]:
        yield "userinfo"
    if host in OFFICIAL_HOSTS:
        yield "loop"
    if _RESERVED_HOST.fullmatch(host):
        yield "reserved-host"


def _label_flaws(literal: str, name: str) -> Iterator[str]:
    """Yield the flaws in the labels of a literal. ``name`` is the next variable, or "" at the end."""
    places = [match.span() for match in _LABEL.finditer(literal)]
    for (_, end), (following, _) in pairwise([*places, (len(literal), 0)]):
        last = following == len(literal)
        if end < following or (last and name not in ("content", "prefix", "pid")):
            yield "example-left-in"
        elif not last or name == "pid":
            yield "doubled-label"
