"""Characters of IRIs: the productions of RFC 3987 that the ARK and URN grammars use. Each constant is named after its
production. It is the inside of a character class, except :data:`PCT_ENCODED`, which is an expression.
"""

from __future__ import annotations

import functools
import re

# RFC 3987, section 2.2:
#     ucschar = %xA0-D7FF / %xF900-FDCF / %xFDF0-FFEF / %x10000-1FFFD / %x20000-2FFFD / ... / %xE1000-EFFFD
#     iprivate = %xE000-F8FF / %xF0000-FFFFD / %x100000-10FFFD
UCSCHAR = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane << 16 | (0x1000 if plane == 14 else 0))}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 15)
)
IPRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"

# RFC 3986, section 2.3:  unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"
UNRESERVED = r"A-Za-z0-9\-._~"
# RFC 3986, section 2.2:  sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
SUB_DELIMS = "!$&'()*+,;="
# RFC 3986, section 2.1:  pct-encoded = "%" HEXDIG HEXDIG      (HEXDIG takes either case: RFC 3986, section 6.2.2.1)
PCT_ENCODED = "%[0-9A-Fa-f]{2}"
# RFC 3986, section 3.3:  pchar = unreserved / pct-encoded / sub-delims / ":" / "@"       (octets without pct-encoded)
PCHAR = f"{UNRESERVED}{SUB_DELIMS}:@"
# RFC 3987, section 2.2:  ipchar = iunreserved / pct-encoded / sub-delims / ":" / "@"
IPCHAR = f"{PCHAR}{UCSCHAR}"

TRIPLET = re.compile(PCT_ENCODED)
"""One percent-encoded octet."""

NON_ASCII = re.compile("[^\x00-\x7f]+")
"""A run of characters outside ASCII."""

# RFC 3986, appendix B, for each string without a second "#". The components are then matched with their productions.
COMPONENTS = re.compile(
    r"(?:(?P<scheme>[^:/?#]++):)?(?://(?P<authority>[^/?#]*+))?(?P<path>[^?#]*+)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>[^#]*))?"
)
"""Splits a URI or IRI reference. A component that is missing is None; a missing path is ""."""

_LEADING_DOTS = re.compile(r"\.\.?/")
_DOT_SEGMENT = re.compile(r"/(?:\.|%2[Ee]){1,2}(?:/|\Z)")
_ENCODED = [chr(octet) if octet < 0x80 else f"%{octet:02X}" for octet in range(0x100)]


def triplets(chars: str) -> re.Pattern[str]:
    """Compile a pattern that matches a run of percent-encodings of the ASCII characters in ``chars``, in either case.

    >>> triplets("/-").findall("a%2fb%2Dc%41")
    ['%2f', '%2D']
    """
    second: dict[str, str] = {}
    for octet in sorted(f"{ord(char):02X}" for char in chars):
        second[octet[0]] = second.get(octet[0], "") + octet[1] + octet[1].lower() * octet[1].isalpha()
    return re.compile("(?:%(?:" + "|".join(f"{first}[{digits}]" for first, digits in second.items()) + "))++")


ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
UNRESERVED_TRIPLETS = triplets(ALPHANUMERIC + "-._~")
"""Matches a run of percent-encodings of unreserved characters."""

_LOWER_TRIPLETS = re.compile("(?:%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f]))++")


def compile_rule(expression: str, text: str) -> re.Pattern[str]:
    """Compile an expression for the characters of IRIs, without the slow class :data:`UCSCHAR` for an ASCII ``text``.
    It must be a constant, because the result is kept permanently.
    """
    return _for_ascii(expression) if text.isascii() else _for_any(expression)


@functools.cache
def _for_ascii(expression: str) -> re.Pattern[str]:
    # A class must not be empty, so one character outside ASCII stays in it.
    return re.compile(expression.replace(UCSCHAR, "\u00a0").replace(IPRIVATE, "\u00a0"))


_for_any = functools.cache(re.compile)


def is_ucschar(char: str) -> bool:
    """Return whether ``char`` is one of the non-ASCII characters that IRIs can contain (RFC 3987, section 2.2)."""
    return compile_rule(f"[{UCSCHAR}]", char).match(char) is not None


def run(inside: str, *, least: int = 1) -> str:
    """Return a possessive expression for at least ``least`` (0 or 1) characters of a class, or percent-encoded bytes.

    >>> re.match(run("a-c"), "ab%2Fx")[0]
    'ab%2F'
    """
    return f"(?:[{inside}]++|{PCT_ENCODED})" + ("++" if least else "*+")


def decode(text: str, octets: re.Pattern[str]) -> str:
    """Decode the percent-encodings of ASCII characters that a pattern of :func:`triplets` selects, once.

    >>> decode("%61%2f%2541", UNRESERVED_TRIPLETS)
    'a%2f%2541'
    """
    return octets.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode(), text) if "%" in text else text


def upper_hex(text: str) -> str:
    """Return ``text`` with upper-case hexadecimal digits in its percent-encodings (RFC 3986, section 6.2.2.1)."""
    return _LOWER_TRIPLETS.sub(lambda octets: octets[0].upper(), text) if "%" in text else text


def encode(text: str) -> str:
    """Return ``text`` with its non-ASCII characters as percent-encoded UTF-8 (RFC 3987, section 3.1). Raises
    UnicodeEncodeError for a lone surrogate, which no IRI contains.

    >>> encode("4\\u0431")
    '4%D0%B1'
    """
    if text.isascii():
        return text
    return "".join(map(_ENCODED.__getitem__, text.encode()))


def has_dot_segment(path: str) -> bool:
    """Return whether a path, or an identifier without query and fragment, has a segment ``.`` or ``..``, plain or
    percent-encoded (A-07). Clients, proxies and servers remove such segments (RFC 3986, section 5.2.4).

    >>> has_dot_segment("/a/%2e./b"), has_dot_segment("/a/.b"), has_dot_segment("ark:12345/x/%2E%2E")
    (True, False, True)
    """
    return ("/." in path or "/%2" in path) and _DOT_SEGMENT.search(path) is not None


def remove_dot_segments(path: str) -> str:
    """Return ``path`` without dot-segments, in linear time (RFC 3986, section 5.2.4). A ``..`` also removes the segment
    before it.

    >>> remove_dot_segments("/a/b/c/./../../g"), remove_dot_segments("mid/content=5/../6"), remove_dot_segments("/a/..")
    ('/a/g', 'mid/6', '/')
    """
    output: list[str] = []
    at = 0
    while lead := _LEADING_DOTS.match(path, at):  # A
        at = lead.end()
    if path[at : at + 3] in (".", ".."):  # D
        return ""
    while at < len(path):
        end = path.find("/", at + 1)
        end = len(path) if end < 0 else end
        segment = path[at:end]
        if segment not in ("/.", "/.."):  # E
            output.append(segment)
        else:
            if segment == "/..":  # C
                del output[-1:]
            if end == len(path):  # B and C
                output.append("/")
        at = end
    return "".join(output)
