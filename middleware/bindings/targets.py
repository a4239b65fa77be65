"""Where a name may lead: one rule, used when a name is bound and again when it is answered.

A target is an http(s) address, or a path of this site that begins with exactly one slash. Everything else is refused:
an address that depends on where it is read, credentials, schemes that run or read something on the reader's machine,
and every character that would end a header or that two programs read in two ways. What was stored long ago, or by other
means, passes the same test before it is sent to anybody.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, unquote

from ...identifiers.text import display, iri
from ...identifiers.text.characters import BIDI_FORMATTING
from ..errors import BindingError
from . import authority, validation
from .model import Kind

MOST_OCTETS = 2048

# RFC 3986, section 3.3:  path-abempty = *( "/" segment )      path-absolute = "/" [ segment-nz *( "/" segment ) ]
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )       fragment is the same
# Characters of RFC 3987's ucschar may stand wherever pchar may: they are percent-encoded. Quantifiers are possessive.
_PCHARS = iri.run(iri.IPCHAR, least=0)
_TEXT = iri.run(f"{iri.IPCHAR}/?", least=0)
_FROM_PATH = re.compile(rf"(?:/{_PCHARS})*+(?:\?{_TEXT})?(?:#{_TEXT})?")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*+):")
_HTTP = re.compile("(https?)://([^/?#]*+)", re.ASCII | re.IGNORECASE)
# What may be an address without its scheme: www.museum.example/x.
_HOST_FIRST = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,63}(?::[0-9]+)?(?:[/?#]|$)")
_ENCODED_DOT = re.compile("%2e", re.IGNORECASE)
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )
AS_IT_IS = "%/?:@!$&'()*+,;=~"
"""What stands in a path or a query as it is, for ``quote``; what is encoded already is not encoded again."""

_NO_TRIPLET = re.compile("%(?![0-9A-Fa-f]{2})")
# ASCII, or U+212A KELVIN SIGN would match the k.
_RESERVED = re.compile("/(?:ark|urn):", re.ASCII | re.IGNORECASE)


def check(target: str | None, kind: Kind) -> str | None:
    """Return the target as it is stored: a URI in ASCII, scheme and host in lower case; None for the kind "described"
    alone.

    Characters outside ASCII are percent-encoded, those of a host become A-labels; nothing else is changed. What comes
    back, checked again, comes back the same. Raises :class:`BindingError` whose code begins with ``target-``, or is
    ``reserved-target``.

    Source: design, bindings; requirements 3.6 and 3.46; RFC 3987, section 3.1.

    >>> check("HTTPS://Example.org/caf\\u00e9?a#b", "located")
    'https://example.org/caf%C3%A9?a#b'
    >>> check("//evil.example", "located")
    Traceback (most recent call last):
    ararat.middleware.errors.BindingError: //evil.example leaves the scheme to the reader (target-relative)
    expected an http or https address, or a path that begins with exactly one / (Ararat, bindings)
    """
    if kind == "described":
        if target is not None:
            raise BindingError("target-unwanted")
        return None
    return _uri(target, kind)


def location(target: str, prefix: str | None = None) -> str:
    """The target as the Location field of an answer has it: a path of this site after ``prefix``, where there is one.

    Raises :class:`BindingError` like :func:`check`: nobody is sent to what could not be bound today. ``prefix`` is a
    resolver prefix in its stored form.

    >>> location("/about", "https://example.org"), location("/about"), location("http://example.com", "https://example.org")
    ('https://example.org/about', '/about', 'http://example.com')
    """
    checked = _uri(target, "located")
    return prefix + checked if prefix and checked.startswith("/") else checked


def has_dot_segment(path: str) -> bool:
    """Whether a segment of the path is ``.`` or ``..``, encoded or not: whoever reads it next may remove it.

    >>> has_dot_segment("/a/%2e./b"), has_dot_segment("/a/.b")
    (True, False)
    """
    return any(segment in (".", "..") for segment in _ENCODED_DOT.sub(".", path).split("/"))


def is_reserved(path: str) -> bool:
    """Whether a path of this site, percent-encoded or not, is one that the resolver answers itself.

    >>> is_reserved("/ark:12345/x"), is_reserved("/%41RK%3A12345/x"), is_reserved("/archive")
    (True, True, False)
    """
    return _RESERVED.match(unquote(path)) is not None


def with_query(target: str, query: str | None) -> str:
    """The target with a query added to its own, ahead of its fragment.

    >>> with_query("https://example.org/a?b=c#d", "e=f g%"), with_query("/a", None)
    ('https://example.org/a?b=c&e=f%20g%25#d', '/a')
    """
    if query is None:
        return target
    address, mark, fragment = target.partition("#")
    joint = "&" if "?" in address else "?"
    return address + joint + _NO_TRIPLET.sub("%25", quote(query, safe=AS_IT_IS)) + mark + fragment


def _uri(target: str | None, kind: Kind) -> str:
    if not target:
        raise BindingError("target-missing", f"a {kind} name has no target")
    if not isinstance(target, str):
        raise BindingError("target-missing", f"the target is a {type(target).__name__}, not a text")
    if len(target) > MOST_OCTETS:
        raise BindingError(
            "target-too-long", f"the target has {len(target):,} characters; {MOST_OCTETS:,} octets are allowed"
        )
    checked = _path(target) if target.startswith("/") else _address(target)
    if len(checked) > MOST_OCTETS:
        said = f"the target has {len(checked):,} octets when percent-encoded; {MOST_OCTETS:,} are allowed"
        raise BindingError("target-too-long", said)
    if kind == "served":
        _require_servable(checked)
    return checked


def _path(target: str) -> str:
    if target.startswith("//"):
        raise BindingError("target-relative", f"{validation.shown(target)} leaves the scheme to the reader")
    path = _from_path(target).partition("#")[0].partition("?")[0]
    if has_dot_segment(path):
        raise BindingError("target-dot-segment", f"the path {validation.shown(path)} has a segment . or ..")
    return iri.encode(target)


def _address(target: str) -> str:
    read = _HTTP.match(target)
    if read is None:
        raise _no_address(target)
    return _origin(*read.groups()) + iri.encode(_from_path(target[read.end() :]))


@lru_cache(maxsize=1024)
def _origin(scheme: str, host_and_port: str) -> str:
    """What comes before the path. There are far fewer of them than of addresses."""
    if "@" in host_and_port:
        raise BindingError("target-userinfo")
    scheme = scheme.lower()
    try:
        return f"{scheme}://{authority.normal(host_and_port, scheme)}"
    except ValueError as error:
        raise BindingError("target-host", str(error)) from None


def _no_address(target: str) -> BindingError:
    scheme = _SCHEME.match(target)
    if scheme is None:
        said = f"{validation.shown(target)} is neither an address nor a path from the root"
        if _HOST_FIRST.match(target):
            said += f"; did you mean https://{validation.shown(target)}?"
        return BindingError("target-relative", said)
    if scheme[1].lower() in ("http", "https"):
        return BindingError("target-host", f"no host follows {scheme[0]}")
    return BindingError("target-scheme", f"nobody is sent to an address of the scheme {validation.shown(scheme[1])}")


def _from_path(rest: str) -> str:
    """What follows the authority, unchanged, if every character of it may stand there."""
    read = _FROM_PATH.match(rest)
    end = read.end() if read else 0
    if end < len(rest):
        raise _wrong_character(rest[end])
    # "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, LRO, RLO, and PDF)."
    if not rest.isascii() and (found := BIDI_FORMATTING.intersection(rest)):
        raise _wrong_character(min(found))
    return rest


def _wrong_character(char: str) -> BindingError:
    said = f"no address can hold {display.named(char)}"
    if char == "%":
        said = "a percent sign in the target is not followed by two hexadecimal digits"
    elif "\x20" <= char < "\x7f" and char not in "\\#":
        said += f"; percent-encoded it is %{ord(char):02X}"
    return BindingError("target-character", said)


def _require_servable(target: str) -> None:
    if not target.startswith("/"):
        raise BindingError("target-not-local")
    if is_reserved(target):
        raise BindingError("reserved-target", f"{validation.shown(target)} belongs to the resolver itself")
