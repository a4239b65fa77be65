"""Check characters of ARKs by the NOID check digit algorithm, which detect typing errors in names.

An ARK does not show whether it has one. One of 29 names without a check character ends by chance in the right one.
Source: NOID (nice opaque identifier) minter, "NOID Check Digit Algorithm".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from .grammar import BETANUMERIC

Coverage = Literal["noid", "name"]
"""The text that a check character covers: "noid" is the NAAN, a slash and the Name, "name" is the Name alone."""

COVERAGES: tuple[Coverage, ...] = get_args(Coverage)

_VALUES = {character: value for value, character in enumerate(BETANUMERIC)}
_OPAQUE = re.compile(f"ark:([{BETANUMERIC}]+)/([{BETANUMERIC}]{{3,}})(?![^/.])")


@dataclass(frozen=True, slots=True)
class CheckCharacter:
    """The check character at the end of the Name of an ARK, computed from ``text``. ``covers`` is "noid" (``text`` is
    NAAN, slash and Name) or "name" (the Name alone, as at the National Library of France). None: it is wrong for both.
    """

    character: str
    covers: Coverage | None
    text: str

    def as_dict(self) -> Mapping[str, str | bool | None]:
        """Return the JSON members ``character``, ``covers``, ``text``, and ``valid``, which is false if ``covers`` is
        None.
        """
        values = {"character": self.character, "covers": self.covers, "text": self.text}
        return {**values, "valid": self.covers is not None}


def check_character(text: str) -> str:
    """Return the check character of ``text``, one of :data:`~.grammar.BETANUMERIC`.

    The value of a character is its index there, or 0. The products of value and position, from 1, are added modulo 29.
    In a text shorter than 29 characters, it detects one wrong character, or one exchange of two neighbours.

    >>> check_character("13030/xf93gt2"), check_character("btv1b8449691")
    ('q', 'v')
    """
    total = sum(position * _VALUES.get(character, 0) for position, character in enumerate(text, 1))
    return BETANUMERIC[total % len(BETANUMERIC)]


def covered_text(naan: str, name: str, covers: Coverage) -> str:
    """Return the text from which the check character of an ARK is computed. It is NAAN, slash and ``name`` for "noid",
    or ``name`` for "name". The name is without its check character.
    """
    return name if covers == "name" else f"{naan}/{name}"


def find(normal_form: str, *, required: bool = False) -> CheckCharacter | None:
    """Return the check character at the end of the Name of an ARK in normal form, or None without one. If both kinds
    match by chance, "noid" is returned, because it is more frequent.

    Components, variants and query are not covered, and a Name with other characters than :data:`~.grammar.BETANUMERIC`
    has none. If the names of the authority have one (``required``), a wrong one is returned with ``covers`` None.

    >>> find("ark:13030/xf93gt2q/p1.pdf"), find("ark:13030/xf39gt2q")
    (CheckCharacter(character='q', covers='noid', text='13030/xf93gt2'), None)
    >>> find("ark:12148/btv1b8449691v").covers
    'name'
    >>> find("ark:13030/xf39gt2q", required=True)
    CheckCharacter(character='q', covers=None, text='13030/xf39gt2')
    """
    parts = _OPAQUE.match(normal_form.partition("#")[0].partition("?")[0])
    if parts is None:
        return None
    naan, name = parts.groups()
    for covers in COVERAGES:
        text = covered_text(naan, name[:-1], covers)
        if check_character(text) == name[-1]:
            return CheckCharacter(name[-1], covers, text)
    return CheckCharacter(name[-1], None, covered_text(naan, name[:-1], "noid")) if required else None
