"""Patterns of minted names: a NAAN, a shoulder or the beginning of URNs, a number of characters, and optionally a check
character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from ....identifiers import IdentifierError
from ....identifiers.ark.check_character import COVERAGES, check_character, covered_text
from ....identifiers.ark.grammar import BETANUMERIC
from ....identifiers.text.display import format_count
from ....identifiers.text.translatable import Translatable
from ....identifiers.urn import parser as urn
from ..errors import BindingError

DEFAULT_LENGTH = 8
"""The number of characters after the shoulder. 29**8 are about 500,000,000,000 names."""

Check = Literal["noid", "name", "nbn"]
"""The check character of a minted name: "noid" covers NAAN and Name of an ARK, and "name" its Name. "nbn" is the check
digit of the German National Library, which covers a whole URN.
"""
CHECKS: tuple[Check, ...] = get_args(Check)

GERMAN = "urn:nbn:de:"
"""The beginning of the URNs for which the German National Library published the rule of the check digit."""

_COVERAGES: dict[str, Check | None] = {"": None, "+check": "noid", "+name": "name", "+nbn": "nbn"}
_SUFFIXES = {covers: suffix for suffix, covers in _COVERAGES.items()}

_FORM = r"(10|29)\^([1-9][0-9]{0,2})(\+check|\+name|\+nbn)?"

COUNTER = re.compile(rf"next (ark:[0-9a-z]+/[0-9a-z]*|urn:[!-~]+) {_FORM}")
"""The name of the counter of a pattern, such as ``next ark:12345/x5 10^4+check``."""

_SAMPLES = 97
"""The number of names of a pattern that are tried before it is refused."""


class Form(NamedTuple):
    """The form of minted names after their beginning. ``length`` is without the check character, and ``digits`` is
    whether only digits are used.
    """

    length: int = DEFAULT_LENGTH
    check: Check | None = None
    digits: bool = False

    @property
    def words(self) -> str:
        """A description of the form in words, for pages and messages.

        >>> Form(4, "noid").words, Form(9, "nbn", True).words
        ('4 betanumeric characters and a check character for NAAN and Name', '9 digits and a check digit for the URN')
        """
        kind = "digit" if self.digits else "betanumeric character"
        covers = {"noid": " and a check character for NAAN and Name", "name": " and a check character for the Name"}
        covers["nbn"] = " and a check digit for the URN"
        number = format_count(self.length, kind)
        return number + (covers[self.check] if self.check else "")


def read_form(text: str) -> Form | None:
    """Parse the form of minted names, or return None for another text. It is the number of different characters (29 or
    10), a circumflex and their count. ``+check`` adds a check character over NAAN and Name, ``+name`` one over the
    Name, and ``+nbn`` the check digit of the German National Library.

    >>> read_form("29^8+check"), read_form("10^6"), read_form("8")
    (Form(length=8, check='noid', digits=False), Form(length=6, check=None, digits=True), None)
    """
    parts = re.fullmatch(_FORM, text)
    return Form(int(parts[2]), _COVERAGES[parts[3] or ""], parts[1] == "10") if parts else None


def require_check(beginning: str, check: Check | None, code: str) -> None:
    """Raise :class:`BindingError` with ``code`` if names with this beginning cannot have the check character. The check
    digit ``+nbn`` belongs to URNs that begin with ``urn:nbn:de:``.
    """
    if check == "nbn" and not beginning.startswith(GERMAN):
        message = Translatable(
            "the check digit +nbn is that of URNs that begin with %(german)s, not with %(beginning)s",
            german=GERMAN,
            beginning=beginning,
        )
        raise BindingError(code, message, identifier=beginning)
    if check in COVERAGES and not beginning.startswith("ark:"):
        message = Translatable(
            "the check characters +check and +name are those of ARKs, and %(beginning)s is the beginning of URNs",
            beginning=beginning,
        )
        raise BindingError(code, message, identifier=beginning)


def _german_check_digit(name: str) -> str | None:
    from ....identifiers.urn.namespaces.bibliographic import german_check_digit  # namespaces take long to load

    return german_check_digit(name)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The form of the names to mint below ``beginning``, such as ``ark:12345/x5`` or ``urn:nbn:se:uu:diva-``.
    ``length`` does not count the check character. With ``digits``, numbers whose check character is a letter are
    skipped.
    """

    beginning: str
    length: int = DEFAULT_LENGTH
    check: Check | None = None
    digits: bool = False

    @property
    def is_ark(self) -> bool:
        """Whether the names are ARKs. False means that they are URNs."""
        return self.beginning.startswith("ark:")

    @property
    def naan(self) -> str:
        """The NAAN of the names, or "" for URNs."""
        return self.beginning[4:].partition("/")[0] if self.is_ark else ""

    @property
    def shoulder(self) -> str:
        """The shoulder of ARKs: what the beginning has after the NAAN. It is "" for URNs."""
        return self.beginning.partition("/")[2] if self.is_ark else ""

    @property
    def radix(self) -> int:
        """The number of different characters at each position: 10 digits or 29 betanumeric characters."""
        return 10 if self.digits else len(BETANUMERIC)

    @property
    def numbers(self) -> int:
        """The number of different names of the pattern, including those that minting skips."""
        return self.radix**self.length

    def name(self, number: int) -> str | None:
        """Return the name of a number from 0 to ``numbers`` - 1. None if minting skips it, as a URN that breaks a rule
        of its namespace, such as the check digit of an ISBN.

        >>> Pattern("ark:13030/xf9", 4, check="noid").name(3 * 29**3 + 14 * 29**2 + 24 * 29 + 2)
        'ark:13030/xf93gt2q'
        >>> Pattern("urn:nbn:de:gbv:089-", 9, check="nbn", digits=True).name(332175294)
        'urn:nbn:de:gbv:089-3321752945'
        """
        characters = []
        for _ in range(self.length):
            number, value = divmod(number, self.radix)
            characters.append(BETANUMERIC[value])
        name = f"{self.beginning}{''.join(reversed(characters))}"
        last = self.check_of(name) if self.check else ""
        if last is None or (self.digits and last.isalpha()):
            return None
        return name + last if self.is_ark or _is_valid(name + last) else None

    def check_of(self, name: str) -> str | None:
        """Return the check character for a name with :attr:`beginning`, or None if it cannot have one."""
        if self.check == "nbn":
            return _german_check_digit(name)
        return check_character(covered_text(self.naan, name.partition("/")[2], self.check or "noid"))

    def require_valid(self, code: str) -> None:
        """Raise :class:`BindingError` with ``code`` if no name of the pattern follows the rules of its URN
        namespace.
        """
        step = max(1, self.numbers // _SAMPLES)
        if self.is_ark or any(self.name(number) for number in range(0, self.numbers, step)):
            return
        sample = f"{self.beginning}{'0' * self.length}"
        of_sample = {"sample": sample, "namespace": sample.split(":")[1]}
        message = Translatable("names like %(sample)s are not valid in %(namespace)s", **of_sample)
        if self.check and _german_check_digit(sample) is None:
            message = Translatable(
                "the German National Library has no check digit for a character of %(beginning)s",
                beginning=self.beginning,
            )
        elif _is_urn(sample) and (faults := urn.parse(sample).findings):
            message = Translatable(
                "names like %(sample)s are not valid in %(namespace)s: %(problem)s; use a longer one",
                **of_sample,
                problem=faults[0].message,
            )
        raise BindingError(code, message, identifier=self.beginning)

    @property
    def counter(self) -> str:
        """The name of the setting with the next number of this pattern. It also records that names were minted, so that
        the resolver can detect typing errors.

        >>> Pattern("ark:12345/x5", 4, "noid").counter, Pattern("ark:12345/x5", 4, "name", digits=True).counter
        ('next ark:12345/x5 29^4+check', 'next ark:12345/x5 10^4+name')
        """
        return f"next {self.beginning} {self.radix}^{self.length}{_SUFFIXES[self.check]}"

    @classmethod
    def of_counter(cls, counter: str) -> Pattern | None:
        """Return the pattern whose next number is in the setting ``counter``, or None for another setting."""
        parts = COUNTER.fullmatch(counter)
        if parts is None:
            return None
        beginning, radix, length, suffix = parts.groups("")
        return cls(beginning, int(length), _COVERAGES[suffix], radix == "10")


def _is_urn(name: str) -> bool:
    try:
        urn.parse(name)
    except IdentifierError:
        return False
    return True


def _is_valid(name: str) -> bool:
    """Return whether a URN is in its normal form, and follows the rules of its namespace."""
    if not _is_urn(name):
        return False
    read = urn.parse(name)
    return read.canonical_name == name and not read.findings
