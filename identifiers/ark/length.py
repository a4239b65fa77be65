"""The length from which a resolver may refuse an ARK (ARK draft, sections 4 and 7.1.1; decision A-11). The length of
the Extended ARK counts, without the address around it.
"""

from __future__ import annotations

import re

from .grammar import METADATA_INFLECTIONS

ALWAYS_ACCEPTED = 255
"""Code points. An ARK of at most this length is never refused for its length."""

DEFAULT_LIMIT = 3500
"""Bytes. Below the limit of common servers for a request line, and above 255 percent-encoded code points."""

# One percent-encoded UTF-8 sequence. Each one counts as one code point.
_ENCODED_CODE_POINT = re.compile(
    "%[0-7][0-9A-Fa-f]|%[Cc][2-9A-Fa-f]%[89ABab][0-9A-Fa-f]|%[Dd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]"
    "|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2}|%[Ff][0-4](?:%[89ABab][0-9A-Fa-f]){3}"
)
_NOT_ASCII = bytes(range(0x80, 0x100))


def code_points(text: str) -> int:
    """Return the length of an ARK in characters, after its percent-encoded UTF-8 was decoded. A percent-encoded byte
    that is not part of valid UTF-8 counts as three.

    >>> code_points("ark:12345/%D0%B1"), code_points("ark:12345/%FF")
    (11, 13)
    """
    if "%" not in text:
        return len(text)
    return len(_ENCODED_CODE_POINT.sub("x", text))


def octets(text: str) -> int:
    """Return the length of an ARK in bytes, with non-ASCII characters percent-encoded (3 for each byte of UTF-8)."""
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "surrogatepass")
    plain = len(data.translate(None, _NOT_ASCII))
    return plain + 3 * (len(data) - plain)


def may_refuse(extended_ark: str, limit: int = DEFAULT_LIMIT) -> bool:
    """Return whether a resolver may refuse an ARK because it is longer than ``limit`` bytes, without the address around
    it. At most 255 code points are never refused. Raises ValueError if ``limit`` is below 255 (ARK-058).
    """
    # "applications MUST NOT impose a limit on length of less than 255 codepoints"
    if limit < ALWAYS_ACCEPTED:
        raise ValueError(f"a limit of {limit} is below 255, the least that the ARK draft allows (sections 4 and 7.1.1)")
    if octets(extended_ark) <= limit:
        return False
    # "The following ARKs MUST NOT be rejected on the basis that they are too long:
    #  1. Any Extended ARK with a total length less or equal than 255 characters.
    #  2. Any Extended ARK that has a Basic ARK part with length less or equal than 255 characters whose inflection is
    #     empty, ?, ?? or ?info."
    if code_points(extended_ark) <= ALWAYS_ACCEPTED:
        return False
    without_fragment = extended_ark.partition("#")[0]
    basic, mark, query = without_fragment.partition("?")
    return code_points(basic) > ALWAYS_ACCEPTED or mark + query not in ("", *METADATA_INFLECTIONS)
