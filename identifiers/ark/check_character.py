"""Check characters of ARKs, computed by the NOID check digit algorithm. They detect typing errors in names.

Many minters (programs that make names) append a check character to each name. It covers the NAAN, the slash and the
Name ("noid"), or the Name alone ("name"; the National Library of France does so). An ARK does not show whether it has
one: one of 29 names without a check character ends by chance in the right character.

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
    """The check character at the end of the Name of an ARK. ``text`` is the text from which it is computed.

    ``covers`` is the kind of this text. It is None if the character is wrong for both kinds; ``text`` is then the NAAN,
    a slash and the Name without its last character.
    """

    character: str
    covers: Coverage | None
    text: str

    def as_dict(self) -> Mapping[str, str | bool | None]:
        """Return the check character as JSON values: the fields, and ``valid``, which is false if ``covers`` is None.

        >>> CheckCharacter("q", "noid", "13030/xf93gt2").as_dict()["valid"]
        True
        """
        values = {"character": self.character, "covers": self.covers, "text": self.text}
        return {**values, "valid": self.covers is not None}


def check_character(text: str) -> str:
    """Return the check character of ``text``, one of :data:`~.grammar.BETANUMERIC`.

    The value of a character is its index in :data:`~.grammar.BETANUMERIC`, or 0. Each value is multiplied by its
    position, counted from 1. The sum of the products modulo 29 is the value of the check character. It detects one
    wrong character, or one exchange of two neighbouring characters, in a text shorter than 29 characters.

    >>> check_character("13030/xf93gt2"), check_character("btv1b8449691")
    ('q', 'v')
    """
    total = sum(position * _VALUES.get(character, 0) for position, character in enumerate(text, 1))
    return BETANUMERIC[total % len(BETANUMERIC)]


def covered(naan: str, name: str, covers: Coverage) -> str:
    """Return the text from which the check character of an ARK is computed: its Name, with or without the NAAN.

    ``covers`` is "noid" for the NAAN and the Name, or "name".

    >>> covered("12148", "btv1b8449691", "name"), covered("13030", "xf93gt2", "noid")
    ('btv1b8449691', '13030/xf93gt2')
    """
    return name if covers == "name" else f"{naan}/{name}"


def find(normal_form: str, *, required: bool = False) -> CheckCharacter | None:
    """Return the check character at the end of the Name of the ARK ``normal_form`` in normal form, or None without one.

    Set ``required`` if the naming authority states that its names have a check character. A wrong character is then
    returned too, with ``covers`` None.

    Components, variants and query are not covered. Names with other characters than those of
    :data:`~.grammar.BETANUMERIC` have no check character. If both kinds match by chance, "noid" is returned, because it
    is more frequent.

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
        text = covered(naan, name[:-1], covers)
        if check_character(text) == name[-1]:
            return CheckCharacter(name[-1], covers, text)
    return CheckCharacter(name[-1], None, covered(naan, name[:-1], "noid")) if required else None
