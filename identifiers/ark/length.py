"""How long an ARK may be before somebody may refuse it (ARK draft, sections 4 and 7.1.1; decision A-11).

The length that counts is that of the Extended ARK, not of an address around it.
"""

from __future__ import annotations

import re

ALWAYS_ACCEPTED = 255
"""Code points up to which no ARK is ever refused for its length."""

DEFAULT_LIMIT = 3500
"""Octets above which an ARK may be refused: below the request line of common servers, above 255 encoded code points."""

# One UTF-8 sequence, percent-encoded: the code point that it is counts once.
_ENCODED_CODE_POINT = re.compile(
    "%[0-7][0-9A-Fa-f]|%[Cc][2-9A-Fa-f]%[89ABab][0-9A-Fa-f]|%[Dd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]"
    "|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2}|%[Ff][0-4](?:%[89ABab][0-9A-Fa-f]){3}"
)
_NOT_ASCII = bytes(range(0x80, 0x100))
_PLAIN_INFLECTIONS = ("", "?", "??", "?info")


def code_points(text: str) -> int:
    """The number of code points of ``text`` once its percent-encoded UTF-8 sequences are decoded.

    Percent-encoded octets that are no UTF-8 count as the three characters they are written with.

    >>> code_points("ark:12345/%D0%B1"), code_points("ark:12345/%FF")
    (11, 13)
    """
    if "%" not in text:
        return len(text)
    return len(_ENCODED_CODE_POINT.sub("x", text))


def octets(text: str) -> int:
    """The number of octets of ``text`` on the wire, where what is not ASCII is percent-encoded UTF-8.

    >>> octets("ark:12345/4\\u0431")
    17
    """
    if text.isascii():
        return len(text)
    data = text.encode("utf-8", "surrogatepass")
    plain = len(data.translate(None, _NOT_ASCII))
    return plain + 3 * (len(data) - plain)


def may_refuse(extended_ark: str, limit: int = DEFAULT_LIMIT) -> bool:
    """Whether an Extended ARK, as received, may be refused because it is longer than ``limit`` octets.

    Raises ValueError where ``limit`` is below 255: no limit below 255 code points may be imposed (ARK-058).

    >>> may_refuse("ark:12345/" + "x" * 4000), may_refuse("ark:12345/" + "x" * 245, 255)
    (True, False)
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
    requested = extended_ark.partition("#")[0]
    basic, mark, query = requested.partition("?")
    return code_points(basic) > ALWAYS_ACCEPTED or mark + query not in _PLAIN_INFLECTIONS
