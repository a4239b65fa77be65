"""The parts of an IRI by its delimiters, and its normal form (RFC 3986, appendix B; RFC 3987, section 5.3.2)."""

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
_IRI = re.compile(
    rf"{embedded.SCHEME}://{embedded.IAUTHORITY}(?:/{embedded.ISEGMENT})*+(?:\?{IQUERY})?(?:#{IFRAGMENT})?"
)

# The same with any other scheme, by its characters alone
_ANY = rf"{iri.IPCHAR}{iri.IPRIVATE}/?#\[\]"
_ANY_IRI = re.compile(f"{embedded.SCHEME}:{iri.run(_ANY)}")

LONGEST_COMPOSED = 2000
"""Characters of the longest text that is composed."""


class Parts(NamedTuple):
    """The parts of an IRI reference; ``start`` is where its path begins. What is not there is None, the path apart."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None
    start: int

    @property
    def host(self) -> str:
        """The host in lower case, without user name and port."""
        return re.split(":[0-9]*$", (self.authority or "").rpartition("@")[2])[0].lower()


def split(text: str) -> Parts:
    """The parts of any text, which need be no IRI.

    >>> split("https://17beta.top/en?x")
    Parts(scheme='https', authority='17beta.top', path='/en', query='x', fragment=None, start=18)
    """
    found = _PARTS.match(text)
    if found is None:
        raise AssertionError("every text has such parts")
    return Parts(*found.groups(), start=found.start(3))


def first_fault(text: str) -> int | None:
    """The place of the first character that keeps ``text`` from being an IRI with an authority, or None."""
    found = _IRI.match(text)
    if found is None:
        return 0
    return None if found.end() == len(text) else found.end()


def is_iri(text: str) -> bool:
    """Whether ``text`` may be an IRI of any scheme, by its characters.

    >>> is_iri("mailto:somebody@example.org"), is_iri("two words"), is_iri("/en")
    (True, False, False)
    """
    return _ANY_IRI.fullmatch(text) is not None


def normal_form(text: str) -> str | None:
    """The normal form of an IRI with an authority: case, character, percent-encoding and path segment normalization.

    None where it is not composed and longer than :data:`LONGEST_COMPOSED`: it is not in normal form, and to compose a
    long text can take quadratic time.

    >>> normal_form("HTTPS://17Beta.top/en/../x/%7e%2f")
    'https://17beta.top/x/~%2F'
    """
    composed = text
    # RFC 3987, section 5.3.2.2
    if not display.is_composed(text):
        if len(text) > LONGEST_COMPOSED:
            return None
        composed = unicodedata.normalize("NFC", text)
    # Sections 5.3.2.3 and 5.3.2.1
    decoded = iri.upper_hex(iri.decode(composed, iri.UNRESERVED_TRIPLETS))
    parts = split(decoded)
    if parts.authority is None:
        return decoded
    path = _without_dot_segments(parts.path)
    user, at, host = parts.authority.rpartition("@")
    rest = decoded[parts.start + len(parts.path) :]
    return f"{(parts.scheme or '').lower()}://{user}{at}{iri.upper_hex(host.lower())}{path}{rest}"


def _without_dot_segments(path: str) -> str:
    # RFC 3986, section 5.2.4, for a path that is empty or begins with a slash
    segments = path.split("/")
    if "." not in segments and ".." not in segments:
        return path
    kept: list[str] = []
    for segment in segments[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    # "/a/.." and "/a/." end in the slash that is before their last segment.
    end = [""] if segments[-1] in (".", "..") else []
    return "/" + "/".join(kept + end)
