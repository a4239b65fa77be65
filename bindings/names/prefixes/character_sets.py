"""Character sets: the permitted characters of the names below a NAAN or shoulder.

    "If a NAA allows a non-trusted party to assign ARKs under its NAAN it SHOULD limit the character set allowed to
    avoid homoglyph attacks and misplaced formatting characters."               (ARK draft, section 8.1; ARK-138)

A character set is "betanumeric" (digits, and letters that form no words), "digits", or characters and ranges such as
``0-9a-fxyz``. Hyphens, slashes and dots are always permitted. Percent-encoded characters are compared decoded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from ....identifiers.ark.grammar import BETANUMERIC
from ....identifiers.text import display
from ....identifiers.text.translatable import Translatable
from .. import validation
from ..errors import BindingError

MAX_CHARACTERS = 4000

NAMED = {"betanumeric": BETANUMERIC, "digits": "0123456789"}
"""The character sets with names."""

_RANGE = re.compile("(.)-(.)|(.)", re.DOTALL)
_DELIMITERS = re.compile("[/.]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def check(text: str) -> str:
    """Return a character set that a user entered: one of :data:`NAMED`, such as "digits", or characters and ranges,
    such as "a-f0-9". Raises :class:`BindingError` with the code ``prefix-characters``, for example for the range "9-0".
    """
    validation.check(text, "prefix-characters", Translatable("Permitted characters"), MAX_CHARACTERS)
    if text in NAMED:
        return text
    for first, last, single in _RANGE.findall(text):
        if single == "-":
            message = Translatable(
                "a hyphen of the character set is not between two characters; hyphens are always permitted"
            )
            raise BindingError("prefix-characters", message)
        if first > last:
            shown = validation.quote(f"{first}-{last}")
            raise BindingError(
                "prefix-characters",
                Translatable("the range %(shown)s of the character set is in the wrong order", shown=shown),
            )
    return text


def first_wrong(name: str, characters: str) -> str | None:
    """Return the first character of a name that is not in a character set, or None. A byte that is not UTF-8 is a
    surrogate.

    >>> first_wrong("12/34.a-b", "0-9"), first_wrong("4%C3%A9", "digits"), first_wrong("x7", "betanumeric")
    ('a', 'é', None)
    """
    wrong = _others(characters)
    for part in _DELIMITERS.split(name):
        text = unquote(part, errors="surrogateescape") if "%" in part else part
        if match := wrong.search(text) or _SURROGATES.search(text):
            return match[0]
    return None


def describe_character(char: str) -> str:
    r"""Return the name of a character that :func:`first_wrong` returned, for a message.

    >>> describe_character("a"), describe_character("\u202e"), describe_character("\udcff")
    ("'a'", 'U+202E RIGHT-TO-LEFT OVERRIDE', 'the byte %FF')
    """
    if _SURROGATES.match(char):
        return Translatable("the byte %(byte)s", byte=f"%{ord(char) - 0xDC00:02X}")
    return display.describe_character(char)


@lru_cache(maxsize=256)
def _others(characters: str) -> re.Pattern[str]:
    """Return the pattern of one character that is not in a character set."""
    parts = _RANGE.findall(NAMED.get(characters, characters))
    inside = [f"{re.escape(first)}-{re.escape(last)}" if first else re.escape(single) for first, last, single in parts]
    return re.compile(f"[^{''.join(inside)}-]")
