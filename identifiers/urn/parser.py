"""Parse a URN by two profiles: the URN draft -01 and RFC 8141.

One expression accepts what at least one profile accepts. The parts are checked only to explain a refusal, or on request
(:mod:`.profiles`).
"""

from __future__ import annotations

from ..ark.embedded import IAUTHORITY, ISEGMENT, SCHEME
from ..text import iri
from .grammar import LABEL, LABEL_PATTERN, URN
from .model import Urn

_ADDRESS = rf"{SCHEME}://{IAUTHORITY}/(?:{ISEGMENT}/)*?(?={LABEL_PATTERN})"


parse = Urn.parse
"""Parse a URN: :meth:`.Urn.parse`."""


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
    match = iri.compile_rule(_ADDRESS, text).match(text)
    return match.end() if match else None
