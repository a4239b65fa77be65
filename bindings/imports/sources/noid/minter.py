"""The minter of a noid or egg database: its template and counters, from which the minted names follow.

A template is a prefix, a dot and a mask, such as ``xf.reedeedk``. The first letter of the mask is the order: ``r``
random, ``s`` sequential, ``z`` sequential without end, which repeats the first position. ``e`` is a character of
:data:`~ararat.identifiers.ark.grammar.BETANUMERIC`, ``d`` a digit, and a final ``k`` the check character. A random
minter divides its numbers among about 293 counters. Counter n has minted those from ``n * percounter + 1`` to ``n *
percounter + value``. A sequential minter has minted the numbers below ``oacounter``. Source: NOID (nice opaque
identifier) minter, "Templates"; Noid.pm, genid and n2xdig.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .....identifiers.ark.check_character import check_character
from .....identifiers.ark.grammar import BETANUMERIC
from ....names.prefixes.patterns import Pattern
from ..record import Counter

_TEMPLATE = re.compile(r"(?:.*/)?([^./]*)\.([rsz])([de]+)(k?)")
_EGG_TEMPLATE = re.compile(r"(?:[^/]*/)?([^{/]*)\{([de]+)(k?)\}")
_COUNTER = re.compile(r"c([0-9]{1,6})/value")
MAX_MINTED = 200_000_000
"""The maximum number of names of a minter. They are computed one by one."""

_NAAN = re.compile(r"[0-9a-z]{2,20}")


@dataclass(slots=True)
class Minter:
    """The settings of the minter in a dump of noid or egg by their names without ``:/``, such as "template", with their
    first line.
    """

    line: int
    values: dict[str, str] = field(default_factory=dict)

    def fault(self) -> str | None:
        """Return why the minted names cannot be computed, or None if they can, or if there are none."""
        if not self._minted_count():
            return None
        if self._minted_count() > MAX_MINTED:
            return f"oacounter is larger than {MAX_MINTED:,}"
        if self._template() is None:
            return f"the template {self.values.get('template', '')[:60]!a} is not a template of noid"
        if not self._firstpart():
            return "the NAAN of the minter is missing"
        if self._template()[1] == "r" and sum(value for _, value in self._counters()) != self._minted_count():  # type: ignore[index]
            return "the counters c0/value, c1/value and so on do not have the sum oacounter"
        return None

    def counter(self) -> Counter | None:
        """Return a counter with which ``ararat mint`` continues the series. For a sequential minter, the order is the
        same. None if it cannot, as for names with several kinds of characters, or if :meth:`fault` returns a reason.
        """
        template = self._template()
        if template is None or self.fault():
            return None
        prefix, order, mask, check = template
        naan, slash, shoulder = self._firstpart().partition("/")
        if order == "z" or len(set(mask)) != 1 or not slash:
            return None
        pattern = Pattern(f"ark:{naan}/{shoulder}{prefix}", len(mask), "noid" if check else None, mask[0] == "d")
        if not re.fullmatch(f"[{BETANUMERIC}]*", pattern.shoulder):
            return None
        value = self._minted_count() if order == "s" else 0
        if not value and not check:
            return None
        _, beginning, form = pattern.counter.split(" ")
        return Counter(self.line, beginning, f"next {value} of {form}")

    def names(self) -> Iterator[str]:
        """Yield all names that the minter has minted, also bound ones; none if :meth:`fault` returns a reason."""
        template = self._template()
        if template is None or self.fault():
            return
        prefix, order, mask, check = template
        beginning = f"{self._firstpart()}{prefix}"
        for number in self._numbers(order):
            name = f"{beginning}{_digits(number, mask, endless=order == 'z')}"
            yield f"ark:/{name}{check_character(name) if check else ''}"

    def _template(self) -> tuple[str, str, str, str] | None:
        """Return prefix, order, mask and check of the template."""
        text = self.values.get("template", "").strip()
        if match := _TEMPLATE.fullmatch(text):
            return match[1], match[2], match[3], match[4]
        if match := _EGG_TEMPLATE.fullmatch(text):
            return match[1], "r", match[2], match[3]
        return None

    def _firstpart(self) -> str:
        """Return the NAAN and a slash, and the beginning of the shoulder if it is not in the template."""
        if (first := self.values.get("firstpart", "").strip()) and "/" in first:
            return first
        naan = self.values.get("naan", self.values.get("NAAN", "")).strip()
        if not naan:
            naan = self.values.get("template", "").rpartition("/")[0].rpartition("/")[2]
        return f"{naan}/" if _NAAN.fullmatch(naan) else ""

    def _minted_count(self) -> int:
        return _number(self.values.get("oacounter", ""))

    def _counters(self) -> Iterator[tuple[int, int]]:
        for name, text in self.values.items():
            if match := _COUNTER.fullmatch(name):
                yield int(match[1]), _number(text)

    def _numbers(self, order: str) -> Iterator[int]:
        if order != "r":
            yield from range(self._minted_count())
            return
        each = _number(self.values.get("percounter", ""))
        for number, value in self._counters():
            yield from range(number * each + 1, number * each + value + 1)


def _number(text: str) -> int:
    """Return a number of a minter, or 0 for a text other than a number of at most 18 digits."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else 0


def _digits(number: int, mask: str, *, endless: bool) -> str:
    """Return the characters of a number by a mask.

    >>> _digits(3 * 29 * 10 + 14 * 10 + 5, "eed", endless=False), _digits(1234, "dd", endless=True)
    ('3g5', '1234')
    """
    characters: list[str] = []
    radix = 10
    for kind in reversed(mask):
        radix = 10 if kind == "d" else len(BETANUMERIC)
        number, value = divmod(number, radix)
        characters.append(BETANUMERIC[value])
    while endless and number:
        number, value = divmod(number, radix)
        characters.append(BETANUMERIC[value])
    return "".join(reversed(characters))
