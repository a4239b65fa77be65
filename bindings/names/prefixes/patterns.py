"""Patterns of minted names: a NAAN, a shoulder, a number of characters, and optionally a check character.

The templates of rules are checked in :mod:`ararat.bindings.names.prefixes.rule_templates`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from ....identifiers.ark.check_character import Coverage, check_character, covered
from ....identifiers.ark.grammar import BETANUMERIC
from ....identifiers.text.display import counted

DEFAULT_LENGTH = 8
"""The number of characters after the shoulder. 29**8 are about 500,000,000,000 names."""

_COVERAGES: dict[str, Coverage | None] = {"": None, "+check": "noid", "+name": "name"}
_SUFFIXES = {covers: suffix for suffix, covers in _COVERAGES.items()}

_FORM = r"(10|29)\^([1-9][0-9]{0,2})(\+check|\+name)?"

COUNTER = re.compile(rf"next ark:([0-9a-z]+)/([0-9a-z]*) {_FORM}")
"""The name of the counter of a pattern, such as ``next ark:12345/x5 10^4+check``."""


class Form(NamedTuple):
    """The part of a pattern of minted names after the shoulder. The fields are those of :class:`Pattern`."""

    length: int = DEFAULT_LENGTH
    check: Coverage | None = None
    digits: bool = False

    @property
    def words(self) -> str:
        """A description of the names in words, for pages and messages.

        >>> Form(4, "noid").words
        '4 betanumeric characters and a check character for NAAN and Name'
        """
        kind = "digit" if self.digits else "betanumeric character"
        covers = {"noid": " and a check character for NAAN and Name", "name": " and a check character for the Name"}
        number = counted(self.length, kind)
        return number + (covers[self.check] if self.check else "")


def read_form(text: str) -> Form | None:
    """Parse the text of a form, such as ``29^8+check``. Return None for another text.

    The text is the number of different characters (29 or 10), a circumflex and the number of characters. ``+check``
    adds a check character that covers the NAAN and the Name, and ``+name`` one that covers only the Name.

    >>> read_form("29^8+check"), read_form("10^6"), read_form("8")
    (Form(length=8, check='noid', digits=False), Form(length=6, check=None, digits=True), None)
    """
    parts = re.fullmatch(_FORM, text)
    return Form(int(parts[2]), _COVERAGES[parts[3] or ""], parts[1] == "10") if parts else None


@dataclass(frozen=True, slots=True)
class Pattern:
    """The form of the names to mint below a NAAN and shoulder.

    - ``length``: the number of characters after the shoulder, without the check character.
    - ``check``: what the check character covers, or None for names without one.
    - ``digits``: whether all characters are digits. Numbers whose check character is a letter are then skipped.
    """

    naan: str
    shoulder: str
    length: int = DEFAULT_LENGTH
    check: Coverage | None = None
    digits: bool = False

    @property
    def beginning(self) -> str:
        """The text before the minted characters, such as "ark:12345/x5"."""
        return f"ark:{self.naan}/{self.shoulder}"

    @property
    def radix(self) -> int:
        """The number of different characters at each position: 10 digits or 29 betanumeric characters."""
        return 10 if self.digits else len(BETANUMERIC)

    @property
    def numbers(self) -> int:
        """The number of different names, including those that are skipped because of their check character."""
        return self.radix**self.length

    def name(self, number: int) -> str | None:
        """Return the ARK that a number from 0 to ``numbers`` - 1 becomes. Return None if the number is skipped.

        >>> Pattern("13030", "xf9", 4, check="noid").name(3 * 29**3 + 14 * 29**2 + 24 * 29 + 2)
        'ark:13030/xf93gt2q'
        """
        characters = []
        for _ in range(self.length):
            number, value = divmod(number, self.radix)
            characters.append(BETANUMERIC[value])
        name = f"{self.shoulder}{''.join(reversed(characters))}"
        last = check_character(covered(self.naan, name, self.check)) if self.check else ""
        return None if self.digits and last.isalpha() else f"ark:{self.naan}/{name}{last}"

    @property
    def counter(self) -> str:
        """The name of the setting of the store that has the next number of a sequence of names.

        It also records that names of this pattern were minted, so that the resolver can detect typing errors.

        >>> Pattern("12345", "x5", 4, "noid").counter, Pattern("12345", "x5", 4, "name", digits=True).counter
        ('next ark:12345/x5 29^4+check', 'next ark:12345/x5 10^4+name')
        """
        return f"next {self.beginning} {self.radix}^{self.length}{_SUFFIXES[self.check]}"

    @classmethod
    def of_counter(cls, counter: str) -> Pattern | None:
        """Return the pattern for the name of a setting that :attr:`counter` returns. Return None for another setting.

        >>> Pattern.of_counter("next ark:12345/x5 29^4+check")
        Pattern(naan='12345', shoulder='x5', length=4, check='noid', digits=False)
        """
        parts = COUNTER.fullmatch(counter)
        if parts is None:
            return None
        naan, shoulder, radix, length, suffix = parts.groups("")
        return cls(naan, shoulder, int(length), _COVERAGES[suffix], radix == "10")
