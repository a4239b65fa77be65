"""URNs inside addresses, such as ``https://nbn-resolving.org/urn:nbn:de:101:1-2020``.

National libraries publish their URNs as addresses of a resolver. As for ARKs, the name is what follows the label, with
query and fragment, and the address before it does not count (U-11).
"""

from __future__ import annotations

from ..ark.embedded import IAUTHORITY, ISEGMENT, SCHEME
from ..text import iri
from .grammar import LABEL, LABEL_PATTERN

_PREFIX = rf"{SCHEME}://{IAUTHORITY}/(?:{ISEGMENT}/)*?(?={LABEL_PATTERN})"


def start_in(text: str) -> int | None:
    """Return the start of the URN in an address, or None. The URN can be invalid.

    The label is the first one that starts a segment of the path.

    >>> start_in("http://urn.fi/urn:nbn:fi:lb-1"), start_in("https://example.org/?urn=urn:nbn:fi:lb-1")
    (14, None)
    """
    if LABEL.search(text) is None:
        return None
    found = iri.compiled(_PREFIX, text).match(text)
    return found.end() if found else None
