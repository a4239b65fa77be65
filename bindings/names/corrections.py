"""Detect typing errors in unbound ARKs by their check characters, and suggest corrections.

A correction is a name that differs from the ARK by a frequent typing error:

- Names with letters in lower case, and with 0 and 1 instead of o, l and i. Minted names have no o, l and i.
- For a name with a wrong check character: names with a right one that differ in one character, or in the order of two
  neighbouring characters.

Only a lookup shows which of these names exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...identifiers.ark.check_character import check_character, covered
from ...identifiers.ark.grammar import BETANUMERIC
from .prefixes.patterns import Pattern

MISTYPED = "this resolver has no location for this identifier; its check character is wrong, so it is probably mistyped"


def is_mistyped(key: str, patterns: Sequence[Pattern]) -> bool:
    """Return whether the Name of an ARK has a wrong check character, by the patterns of the names minted here.

    ``key`` is a normal form. Only patterns with a check character, and with the longest shoulder that begins the name,
    are compared. A name with another length, or with a character that is not a letter or digit, is of another kind. A
    name with one character more or less can be a typing error.

    >>> minted = [Pattern("13030", "xf9", 4, "noid")]
    >>> is_mistyped("ark:13030/xf93gt2q", minted), is_mistyped("ark:13030/xf93tg2q/p1", minted)
    (False, True)
    >>> is_mistyped("ark:13030/xf9-museum", minted), is_mistyped("ark:13030/x5", minted)
    (False, False)
    """
    naan, _, rest = key.removeprefix("ark:").partition("/")
    name = rest.partition("/")[0].partition(".")[0]
    nearest = _nearest(naan, name, patterns)
    if not any(abs(len(name) - len(each.shoulder) - each.length - 1) <= 1 for each in nearest):
        return False
    return not any(_is_right(naan, name, each) for each in nearest)


def has_check_character(key: str, patterns: Sequence[Pattern]) -> bool:
    """Return whether the Name of an ARK has the length and the right check character of a pattern of minted names.

    >>> has_check_character("ark:13030/xf93gt2q", [Pattern("13030", "xf9", 4, "noid")])
    True
    """
    naan, _, rest = key.removeprefix("ark:").partition("/")
    name = rest.partition("/")[0].partition(".")[0]
    nearest = _nearest(naan, name, patterns)
    return any(len(name) == len(each.shoulder) + each.length + 1 and _is_right(naan, name, each) for each in nearest)


def _nearest(naan: str, name: str, patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return the patterns with a check character that have the longest shoulder which begins the name."""
    if not (name.isascii() and name.isalnum()):
        return []
    own = [each for each in patterns if each.check and each.naan == naan and name.startswith(each.shoulder)]
    longest = max((len(each.shoulder) for each in own), default=0)
    return [each for each in own if len(each.shoulder) == longest]


def _is_right(naan: str, name: str, pattern: Pattern) -> bool:
    return pattern.check is not None and check_character(covered(naan, name[:-1], pattern.check)) == name[-1]


MAX_LENGTH = 32
"""The maximum number of characters of a name whose corrections are computed. Their number grows with the length."""

_LOOK_ALIKES = str.maketrans("oli", "011")


def corrections(key: str, patterns: Sequence[Pattern]) -> list[str]:
    """Return the keys of names that are probable corrections of an unbound ARK, the most probable first.

    ``key`` is the normal form of the ARK. ``patterns`` are those of names with a check character.

    >>> corrections("ark:13030/xf93gt2Q", [])
    ['ark:13030/xf93gt2q']
    >>> found = corrections("ark:13030/xf93tg2q", [Pattern("13030", "xf9", 4, "noid")])
    >>> "ark:13030/xf93gt2q" in found, len(found)
    (True, 9)
    """
    naan, _, rest = key.removeprefix("ark:").partition("/")
    if not 0 < len(rest) <= MAX_LENGTH or not rest.isascii():
        return []
    folded = f"ark:{naan}/{rest.lower()}"
    found = [folded, f"ark:{naan}/{rest.lower().translate(_LOOK_ALIKES)}"]
    if is_mistyped(folded, patterns):
        found += _with_right_character(naan, rest.lower(), patterns)
    return [name for name in dict.fromkeys(found) if name != key]


def _with_right_character(naan: str, rest: str, patterns: Sequence[Pattern]) -> Iterator[str]:
    name = rest[: min((rest.find(mark) for mark in "/." if mark in rest), default=len(rest))]
    own = [each for each in patterns if each.naan == naan and name.startswith(each.shoulder)]
    for changed in _neighbours(name):
        text, last = changed[:-1], changed[-1]
        if any(each.check and check_character(covered(naan, text, each.check)) == last for each in own):
            yield f"ark:{naan}/{changed}{rest[len(name) :]}"


def _neighbours(name: str) -> Iterator[str]:
    """Yield the texts with two neighbouring characters exchanged, then those with another character."""
    for place in range(len(name) - 1):
        yield f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"
    for place in range(len(name)):
        for character in BETANUMERIC:
            yield f"{name[:place]}{character}{name[place + 1 :]}"
