"""Split and normalize IRIs, and check their characters (RFC 3986, appendix B; RFC 3987, sections 2.2 and 5.3.2)."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ..ark import embedded
from ..ark.grammar import IFRAGMENT, IQUERY
from ..text import display, iri

# RFC 3986, appendix B
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
# RFC 3987, section 2.2:  IRI = scheme ":" ihier-part [ "?" iquery ] [ "#" ifragment ]
_IRI = rf"{embedded.SCHEME}://{embedded.IAUTHORITY}(?:/{embedded.ISEGMENT})*+(?:\?{IQUERY})?(?:#{IFRAGMENT})?"

# The same for any other scheme, by characters only
_ANY = rf"{iri.IPCHAR}{iri.IPRIVATE}/?#\[\]"
_ANY_IRI = f"{embedded.SCHEME}:{iri.run(_ANY, least=0)}"
_SCHEME = re.compile(embedded.SCHEME)

MAX_COMPOSED = 2000
"""The maximum length in characters of a text that is converted to Unicode normal form C."""


class IriParts(NamedTuple):
    """The parts of an IRI reference, without their delimiters. Missing ones are None, but a missing ``path`` is "".
    ``start`` is the index of the path in the text.
    """

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None
    start: int

    @property
    def host(self) -> str:
        """The host in lower case, without user name and port, or "" without an authority."""
        return re.split(":[0-9]*$", (self.authority or "").rpartition("@")[2])[0].lower()


def split(text: str) -> IriParts:
    """Split any text into scheme, authority, path, query and fragment, as an IRI reference.

    >>> split("https://17beta.top/en?x")
    IriParts(scheme='https', authority='17beta.top', path='/en', query='x', fragment=None, start=18)
    """
    match = _PARTS.match(text)
    if match is None:
        raise AssertionError("unreachable: the pattern matches every text")
    return IriParts(*match.groups(), start=match.start(3))


def first_fault(text: str) -> int | None:
    """Return the index of the first character of ``text`` that an IRI with an authority cannot contain, or None."""
    return _end_of(_IRI, text)


def first_fault_of_any_scheme(text: str) -> int | None:
    """Return the index of the first character of ``text`` that no IRI of any scheme can contain, or None.

    >>> first_fault_of_any_scheme("mailto:somebody@example.org"), first_fault_of_any_scheme("a:two words")
    (None, 5)
    >>> first_fault_of_any_scheme("mailto:"), first_fault_of_any_scheme("my note: x")
    (None, 2)
    """
    return _end_of(_ANY_IRI, text)


def _end_of(pattern: str, text: str) -> int | None:
    """Return the index after the beginning of a text that matches, or None if all of it matches."""
    match = iri.compile_rule(pattern, text).match(text)
    if match is None:
        scheme = _SCHEME.match(text)
        return scheme.end() if scheme else 0
    return None if match.end() == len(text) else match.end()


def normal_form(text: str) -> str | None:
    """Return the normal form of an IRI: case, characters, percent-encoding and path segments. Without an authority,
    only characters and percent-encoding are normalized. A text that is not in NFC and longer than :data:`MAX_COMPOSED`
    gives None: its conversion can take quadratic time.

    >>> normal_form("HTTPS://17Beta.top/en/../x/%7e%2f")
    'https://17beta.top/x/~%2F'
    """
    composed = text
    # RFC 3987, section 5.3.2.2
    if not display.is_composed(text):
        if len(text) > MAX_COMPOSED:
            return None
        composed = unicodedata.normalize("NFC", text)
    # Sections 5.3.2.3 and 5.3.2.1
    decoded = iri.upper_hex(iri.decode(composed, iri.UNRESERVED_TRIPLETS))
    parts = split(decoded)
    if parts.authority is None:
        return decoded
    path = iri.remove_dot_segments(parts.path)
    user, at, host = parts.authority.rpartition("@")
    rest = decoded[parts.start + len(parts.path) :]
    return f"{(parts.scheme or '').lower()}://{user}{at}{iri.upper_hex(host.lower())}{path}{rest}"
