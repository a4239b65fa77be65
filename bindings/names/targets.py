"""Check the targets of bindings: when a name is bound, and again before a client is sent there, because another program
or an older version can have written one. A target is an http(s) URL, or a path of this site that begins with exactly
one slash. Refused are credentials, other schemes, and characters that two programs read differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import quote, unquote

from ...identifiers.ark import grammar as ark
from ...identifiers.text import display, iri
from ...identifiers.text.translatable import Translatable
from ...identifiers.urn import grammar as urn
from . import origins, validation
from .binding import NOTHING, Kind
from .errors import BindingError
from .naming import require_visible

MAX_OCTETS = 2048


# RFC 3986, section 3.3:  path-abempty = *( "/" segment )      path-absolute = "/" [ segment-nz *( "/" segment ) ]
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )       fragment has the same characters
# The characters of ucschar (RFC 3987) are allowed where pchar is: they are percent-encoded. Quantifiers are possessive.
def _from_path(char: str) -> str:
    segments, text = iri.run(f"{char}/", least=0), iri.run(f"{char}/?", least=0)
    return rf"(?:/{segments})?+(?:\?{text})?+(?:#{text})?+"


_FROM_PATH = _from_path(iri.IPCHAR)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*+):")
_ORIGIN = "[Hh][Tt][Tt][Pp][Ss]?://[^/?#]*+"
_HTTP = re.compile(_ORIGIN)
# A URL whose path, query and fragment are ASCII. It needs no other check than that of its origin.
_URL = re.compile(f"({_ORIGIN})({_from_path(iri.PCHAR)})")
# A URL without its scheme, such as www.museum.example/x.
_HOST_FIRST = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,63}(?::[0-9]+)?(?:[/?#]|$)")
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )
AS_IT_IS = "%/?:@!$&'()*+,;=~"
"""The argument ``safe`` of ``urllib.parse.quote`` for a path or query; existing percent-encoding is kept."""

_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_RESERVED = re.compile(f"/(?:{ark.LABEL_PATTERN}|{urn.LABEL_PATTERN})")

# RFC 9110, section 8.3.1:  media-type = type "/" subtype parameters  (without the parameters)
# RFC 6838, section 4.2:    type-name = restricted-name      subtype-name = restricted-name; at most 127 characters
_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&\-^_.+]{0,126}"
# RFC 5646, section 2.1: a language tag is a list of subtags of letters and digits, separated by hyphens. The first
# subtag has letters only.
_LANGUAGE = r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,7}"
_SELECTOR = re.compile(rf"(?:{_RESTRICTED_NAME}/{_RESTRICTED_NAME})(?:;{_LANGUAGE})?|{_LANGUAGE}")

_MAX_ALTERNATES = 50


def check(target: str | None, kind: Kind) -> str | None:
    r"""Check a target, and return its stored form: a URI in ASCII with scheme and host in lower case (RFC 3987, section
    3.1).

    The kind "described" has none: None is returned. Checking a stored form again returns it unchanged. Raises
    :class:`BindingError` with a code that begins with ``target-``, or with the code ``reserved-target``.

    >>> check("HTTPS://Example.org/caf\u00e9?a#b", "located")
    'https://example.org/caf%C3%A9?a#b'
    >>> try:
    ...     check("//evil.example", "located")
    ... except BindingError as error:
    ...     print(error.message)
    //evil.example has no scheme: clients would use http or https, depending on the page
    """
    if kind == "described":
        if target is not None:
            raise BindingError("target-unwanted")
        return None
    return _check_uri(target, kind)


def is_stored_url(target: str) -> bool:
    """Return whether a target is an http(s) URL in its stored form. False for some that are: it is faster than
    :func:`check`.

    >>> is_stored_url("https://example.org/1"), is_stored_url("https://EXAMPLE.org/1"), is_stored_url("/about")
    (True, False, False)
    """
    url = _URL.fullmatch(target)
    if url is None or len(target) > MAX_OCTETS:
        return False
    return url[1] in _STORED_ORIGINS or _is_stored_origin(url[1])


def are_stored_urls(texts: Sequence[str]) -> bool:
    """Return whether all ``texts`` are http(s) URLs in their stored form (:func:`is_stored_url`). None has a line feed.

    >>> are_stored_urls(["https://example.org/1", "https://example.org/2"]), are_stored_urls(["/about"])
    (True, False)
    """
    if not texts or (first := _HTTP.match(texts[0])) is None or not is_stored_url(texts[0]):
        return False
    # Most tables have targets of one site.
    if max(map(len, texts)) <= MAX_OCTETS and _lines_of(first[0]).fullmatch("\n".join(texts)):
        return True
    return all(map(is_stored_url, texts))


@lru_cache(maxsize=64)
def _lines_of(origin: str) -> re.Pattern[str]:
    url = re.escape(origin) + _from_path(iri.PCHAR)
    return re.compile(rf"{url}(?:\n{url})*+")


_STORED_ORIGINS: set[str] = set()
"""Origins in their stored form. The targets of a site have few."""
_MOST_ORIGINS = 1000


def _is_stored_origin(origin: str) -> bool:
    try:
        is_stored = _origin(origin) == origin
    except BindingError:
        return False
    if is_stored and len(_STORED_ORIGINS) < _MOST_ORIGINS:
        _STORED_ORIGINS.add(origin)
    return is_stored


def check_alternates(alternates: Mapping[str, str], kind: Kind, *, deletions: bool = False) -> Mapping[str, str]:
    """Check alternate targets by selector, and return them in stored form, sorted. A selector is a media type
    ("text/html"), a language ("en") or both ("text/html;en"). With ``deletions`` a target can be empty. Raises
    :class:`BindingError` with the codes of :func:`check`, or with ``alternate-selector`` or ``alternate-twice``.

    >>> check_alternates({"text/HTML;en": "https://example.org/x.html"}, "located")
    mappingproxy({'text/html;en': 'https://example.org/x.html'})
    """
    if not alternates:
        return NOTHING
    if (count := sum(target != "" for target in alternates.values())) > _MAX_ALTERNATES:
        message = Translatable(
            "the binding has %(number)s alternates; at most %(most)s are allowed", number=count, most=_MAX_ALTERNATES
        )
        raise BindingError("alternate-selector", message)
    checked: dict[str, str] = {}
    for selector, target in alternates.items():
        if not isinstance(selector, str) or not _SELECTOR.fullmatch(selector):
            quoted = validation.quote(selector)
            message = Translatable(
                "the selector %(selector)s of an alternate is not a media type, a language or both", selector=quoted
            )
            raise BindingError("alternate-selector", message)
        if selector.lower() in checked:
            raise BindingError(
                "alternate-twice", Translatable("two alternates have the selector %(lower)s", lower=selector.lower())
            )
        stored = "" if deletions and target == "" else check(target, kind)
        if stored is None:
            raise BindingError(
                "target-unwanted", Translatable("a described name has no target, so it cannot have alternates")
            )
        checked[selector.lower()] = stored
    return MappingProxyType(dict(sorted(checked.items())))


def location(target: str, prefix: str | None = None) -> str:
    """Return a stored target as the value of the header field Location. ``prefix``, of a resolver in stored form,
    precedes a path of this site. Raises like :func:`check`, so that no client is sent to a target that could not be
    bound.

    >>> location("/about", "https://example.org"), location("/about"), location("http://example.com", "https://example.org")
    ('https://example.org/about', '/about', 'http://example.com')
    """
    checked = _check_uri(target, "located")
    return prefix + checked if prefix and checked.startswith("/") else checked


def is_reserved(path: str) -> bool:
    """Return whether a path of this site belongs to the resolver: it begins with ``/ark:`` or ``/urn:``, in any case,
    also percent-encoded.

    >>> is_reserved("/ark:12345/x"), is_reserved("/%41RK%3A12345/x"), is_reserved("/archive")
    (True, True, False)
    """
    return _RESERVED.match(unquote(path)) is not None


def with_query(target: str, query: str | None) -> str:
    """Return ``target`` with a further query after its own query and before its fragment. None adds nothing.

    >>> with_query("https://example.org/a?b=c#d", "e=f g%"), with_query("/a", None)
    ('https://example.org/a?b=c&e=f%20g%25#d', '/a')
    """
    if query is None:
        return target
    address, mark, fragment = target.partition("#")
    joint = "&" if "?" in address else "?"
    return address + joint + percent_encoded(query) + mark + fragment


def percent_encoded(text: str) -> str:
    r"""Percent-encode the characters of a path with its query that no URI has. Raises UnicodeEncodeError for a lone
    surrogate.

    >>> percent_encoded("/caf\u00e9|a%20b?100%")
    '/caf%C3%A9%7Ca%20b?100%25'
    """
    return _LONE_PERCENT.sub("%25", quote(text, safe=AS_IT_IS))


def _check_uri(target: str | None, kind: Kind) -> str:
    if not target:
        raise BindingError(
            "target-missing", Translatable("the target is missing: a %(kind)s name must have one", kind=kind)
        )
    if not isinstance(target, str):
        raise BindingError(
            "target-missing",
            Translatable("the target has the type %(name)s; it must be a text", name=type(target).__name__),
        )
    if len(target) > MAX_OCTETS:
        message = Translatable(
            "the target has %(number)s characters; at most %(most)s bytes are allowed",
            number=len(target),
            most=MAX_OCTETS,
        )
        raise BindingError("target-too-long", message)
    if target.startswith("/"):
        checked = _check_path(target)
    elif (url := _URL.fullmatch(target)) is not None:
        checked = _origin(url[1]) + url[2]
    else:
        checked = _check_url(target)
    if len(checked) > MAX_OCTETS:
        message = Translatable(
            "the target has %(number)s bytes after percent-encoding; at most %(most)s are allowed",
            number=len(checked),
            most=MAX_OCTETS,
        )
        raise BindingError("target-too-long", message)
    if kind == "served":
        _require_servable(checked)
    return checked


def _check_path(target: str) -> str:
    if target.startswith("//"):
        message = Translatable(
            "%(target)s has no scheme: clients would use http or https, depending on the page",
            target=validation.quote(target),
        )
        raise BindingError("target-relative", message)
    path = _check_characters(target).partition("#")[0].partition("?")[0]
    if iri.has_dot_segment(path):
        message = Translatable(
            "the path %(path)s has a segment . or .., which clients remove", path=validation.quote(path)
        )
        raise BindingError("target-dot-segment", message)
    return iri.encode(target)


def _check_url(target: str) -> str:
    match = _HTTP.match(target)
    if match is None:
        raise _not_http(target)
    return _origin(match[0]) + iri.encode(_check_characters(target[match.end() :]))


@lru_cache(maxsize=1024)
def _origin(text: str) -> str:
    require_visible(text, Translatable("Target"), code="target-character")
    scheme, _, authority = text.partition("://")
    if "@" in authority:
        raise BindingError("target-userinfo")
    scheme = scheme.lower()
    try:
        return f"{scheme}://{origins.normalize_authority(authority, scheme)}"
    except ValueError as error:
        raise BindingError("target-host", error.args[0]) from None


def _not_http(target: str) -> BindingError:
    shown = validation.quote(target)
    scheme = _SCHEME.match(target)
    if scheme is None:
        message = Translatable("%(target)s is neither a URL nor a path that begins with /", target=shown)
        if _HOST_FIRST.match(target):
            message = Translatable(
                "%(target)s is neither a URL nor a path that begins with /; did you mean https://%(target)s?",
                target=shown,
            )
        return BindingError("target-relative", message)
    if scheme[1].lower() in ("http", "https"):
        return BindingError(
            "target-host",
            Translatable("%(shown)s has no host: // must follow %(scheme)s", shown=shown, scheme=scheme[0]),
        )
    return BindingError(
        "target-scheme", Translatable("the target has the scheme %(scheme)s", scheme=validation.quote(scheme[1]))
    )


def _check_characters(rest: str) -> str:
    """Return the part of a target after its authority, unchanged, if all of its characters are allowed there."""
    match = iri.compile_rule(_FROM_PATH, rest).match(rest)
    end = match.end() if match else 0
    if end < len(rest):
        raise _wrong_character(rest[end])
    require_visible(rest, Translatable("Target"), code="target-character")
    return rest


def _wrong_character(char: str) -> BindingError:
    named = display.describe_character(char)
    message = Translatable("the target has %(character)s, which is not allowed here", character=named)
    if char == "%":
        message = Translatable("a percent sign in the target is not followed by two hexadecimal digits; write %%25")
    elif "\x20" <= char < "\x7f" and char not in "\\#":
        message = Translatable(
            "the target has %(character)s, which is not allowed here; percent-encode it as %%%(code)s",
            character=named,
            code=f"{ord(char):02X}",
        )
    return BindingError("target-character", message)


def _require_servable(target: str) -> None:
    if not target.startswith("/"):
        raise BindingError("target-not-local")
    if is_reserved(target):
        message = Translatable("%(target)s is a path of the resolver, not of the site", target=validation.quote(target))
        raise BindingError("reserved-target", message)
