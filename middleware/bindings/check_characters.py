"""The check character of NOIDs: one more character, by which a name that was mistyped is found out.

It finds every single wrong character and every exchange of two neighbours in a text shorter than 29 characters.
"""

from __future__ import annotations

BETANUMERIC = "0123456789bcdfghjkmnpqrstvwxz"
"""The characters of opaque names: neither vowels, which would make words, nor l, which looks like 1."""

_VALUES = {character: value for value, character in enumerate(BETANUMERIC)}


def check_character(text: str) -> str:
    """The check character of ``text``, one of :data:`BETANUMERIC`; usually of NAAN, slash and name.

    The value of a character is its place in :data:`BETANUMERIC`, 0 for any other one. The sum of all values, each times
    its position counted from 1, is divided by 29; the remainder is the value of the check character.

    Source: NOID (nice opaque identifier) minter, "NOID Check Digit Algorithm".

    >>> check_character("13030/xf93gt2")
    'q'
    """
    total = sum(position * _VALUES.get(character, 0) for position, character in enumerate(text, 1))
    return BETANUMERIC[total % len(BETANUMERIC)]


def checks(text: str) -> bool:
    """Whether the last character is the check character of what stands before it.

    >>> checks("13030/xf93gt2q"), checks("13030/xf39gt2q")
    (True, False)
    """
    return len(text) > 1 and check_character(text[:-1]) == text[-1]
