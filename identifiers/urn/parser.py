"""Parse a URN by two profiles: the URN draft -01 and RFC 8141.

One expression accepts what at least one profile accepts. The parts are checked only to explain a refusal, or on request
(:mod:`.profiles`).
"""

from __future__ import annotations

from ..ark.embedded import IAUTHORITY, ISEGMENT, SCHEME
from ..problems import IdentifierError, problem
from ..text import iri
from .grammar import LABEL, LABEL_PATTERN, PROFILES, URN
from .model import Urn
from .profiles import first_error

_ADDRESS = rf"{SCHEME}://{IAUTHORITY}/(?:{ISEGMENT}/)*?(?={LABEL_PATTERN})"


def parse(text: str, profile: str | None = None) -> Urn:
    """Parse a URN that is valid by the URN draft or by RFC 8141.

    ``profile`` limits the accepted URNs to "urnbis-01" (the URN draft) or "rfc8141". None accepts both.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for any other text and ValueError for an unknown
    profile. The time is linear in the length of ``text``.

    Source: URN draft, section 2; RFC 8141, section 2; URN-010 to URN-045.

    >>> parse("urn:example:a/b").profiles["urnbis-01"]["valid"]
    False
    >>> parse("urn:example:a/b", profile="urnbis-01")
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: the namespace-specific string contains a slash (nss-slash)
        urn:example:a/b
                     ^
    expected a slash as %2F; RFC 8141 allows it after the first character (URN draft, section 2.3.1)
    """
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
    if profile is not None or not URN.fullmatch(text):
        if not LABEL.match(text):
            raise IdentifierError(text, problem("no-scheme", 0, min(4, len(text))) if text else problem("empty", 0, 0))
        if error := first_error(text, (profile,) if profile else PROFILES):
            raise IdentifierError(text, error)
    nid, _, rest = text[4:].partition(":")
    # URN draft, section 5: the label and the NID in lower case, percent-encodings in upper case. Nothing is decoded.
    return Urn(text, f"urn:{nid.lower()}:{iri.upper_hex(rest)}")


def reads(text: str) -> bool:
    """Return whether ``text`` is a URN, which :func:`parse` accepts. It is faster than parse.

    >>> reads("urn:example:a/b"), reads("urn:a:b")
    (True, False)
    """
    return URN.fullmatch(text) is not None


def start_in(text: str) -> int | None:
    """Return the index at which a URN starts in the address ``text``, or None (U-11). The URN can be invalid.

    The label is the first one that starts a segment of the path.

    >>> start_in("http://urn.fi/urn:nbn:fi:lb-1"), start_in("https://example.org/?urn=urn:nbn:fi:lb-1")
    (14, None)
    """
    if LABEL.search(text) is None:
        return None
    match = iri.compiled(_ADDRESS, text).match(text)
    return match.end() if match else None
