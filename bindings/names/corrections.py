"""Detect typing errors in unbound names by their check characters, and suggest corrections.

Candidates are names in lower case, with 0 and 1 for o, l and i, which minted names do not have. For a wrong check
character, they differ in one character or in the order of two neighbours. Case matters in a URN, so it has only the
latter. Only a lookup shows which of these names exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...identifiers.ark.grammar import BETANUMERIC
from ...identifiers.text.translatable import Translatable
from .prefixes.patterns import Pattern

MISTYPED = "this resolver has no location for this identifier; its check character is wrong, so it is probably mistyped"


def _expected_digit(key: str) -> str | None:
    from ...identifiers.urn import namespaces  # it loads modules that ARKs do not need

    return namespaces.expected_nbn_digit(key[8:])


def is_mistyped(key: str, patterns: Sequence[Pattern]) -> bool:
    """Return whether a name probably has a typing error, because its check character is wrong.

    Of an ARK, the part up to a slash or dot is compared with the patterns of the longest prefix that begins it. One
    character more or less can be a typing error. A name of another length is of another kind.

    >>> minted = [Pattern("ark:13030/xf9", 4, "noid")]
    >>> is_mistyped("ark:13030/xf93gt2q", minted), is_mistyped("ark:13030/xf93tg2q/p1", minted)
    (False, True)
    >>> is_mistyped("ark:13030/xf9-museum", minted), is_mistyped("ark:13030/x5", minted)
    (False, False)
    >>> is_mistyped("urn:nbn:de:gbv:46:1-162418", ())
    True
    """
    if key.startswith("urn:nbn:") and _expected_digit(key) is not None:
        return True
    name = _checked_part(key)
    nearest = _nearest(name, patterns)
    if not any(abs(len(name) - len(each.beginning) - each.length - 1) <= 1 for each in nearest):
        return False
    return not any(_is_right(name, each) for each in nearest)


def expected_character(key: str, patterns: Sequence[Pattern]) -> str | None:
    """Return the check character that a name should end in, or None if its own is right or it has none. A name of
    another length than the patterns is of another kind. A URN of the German or the Swiss National Library is always
    compared.

    >>> minted = [Pattern("ark:13030/xf9", 4, "noid")]
    >>> expected_character("ark:13030/xf93gt2r", minted), expected_character("ark:13030/xf93gt2q", minted)
    ('q', None)
    >>> expected_character("urn:nbn:de:gbv:46:1-162418", ())
    '7'
    """
    name = _checked_part(key)
    nearest = [each for each in _nearest(name, patterns) if len(name) == len(each.beginning) + each.length + 1]
    if any(_is_right(name, each) for each in nearest):
        return None
    expected = next(filter(None, (each.check_of(name[:-1]) for each in nearest)), None)
    return _expected_digit(key) if expected is None and key.startswith("urn:nbn:") else expected


def why_mistyped(expected: str) -> Translatable:
    """Return the warning about a name that should end in the character ``expected``."""
    return Translatable(
        "the check character of the name is wrong: %(expected)s is expected at its end", expected=expected
    )


def has_check_character(key: str, patterns: Sequence[Pattern]) -> bool:
    """Return whether a name has the length and the right check character of a minted name.

    >>> has_check_character("ark:13030/xf93gt2q", [Pattern("ark:13030/xf9", 4, "noid")])
    True
    """
    name = _checked_part(key)
    nearest = _nearest(name, patterns)
    return any(len(name) == len(each.beginning) + each.length + 1 and _is_right(name, each) for each in nearest)


def _checked_part(key: str) -> str:
    """Return the part of a name that can have a check character: an ARK up to the qualifier, a whole URN."""
    if key.startswith("urn:"):
        return key
    naan, slash, rest = key.partition("/")
    return f"{naan}{slash}{rest.partition('/')[0].partition('.')[0]}"


def _nearest(name: str, patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return the patterns with a check character that have the longest prefix which begins the name."""
    own = [each for each in patterns if each.check and name.startswith(each.beginning)]
    longest = max((len(each.beginning) for each in own), default=0)
    rest = name[longest:]
    if not (rest.isascii() and rest.isalnum()):
        return []
    return [each for each in own if len(each.beginning) == longest]


def _is_right(name: str, pattern: Pattern) -> bool:
    return pattern.check is not None and pattern.check_of(name[:-1]) == name[-1]


MAX_LENGTH = 32
"""The maximum number of characters of a name whose corrections are computed. Their number grows with the length."""

_NUMBER = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]*\Z")
_LOOK_ALIKES = str.maketrans("oli", "011")


def corrections(key: str, patterns: Sequence[Pattern]) -> list[str]:
    """Return the keys that an unbound name probably means, the most probable first. They are not looked up. An ARK is
    tried in lower case, without look-alikes (1 for l), and with the right check character after one change.

    >>> corrections("ark:13030/xf93gt2Q", [])
    ['ark:13030/xf93gt2q']
    >>> names = corrections("ark:13030/xf93tg2q", [Pattern("ark:13030/xf9", 4, "noid")])
    >>> "ark:13030/xf93gt2q" in names, len(names)
    (True, 9)
    """
    if key.startswith("urn:"):
        return list(_of_urn(key, patterns))
    naan, _, rest = key.removeprefix("ark:").partition("/")
    if not 0 < len(rest) <= MAX_LENGTH or not rest.isascii():
        return []
    folded = f"ark:{naan}/{rest.lower()}"
    candidates = [folded, f"ark:{naan}/{rest.lower().translate(_LOOK_ALIKES)}"]
    if is_mistyped(folded, patterns):
        candidates += _with_right_character(naan, rest.lower(), patterns)
    return [name for name in dict.fromkeys(candidates) if name != key]


def _with_right_character(naan: str, rest: str, patterns: Sequence[Pattern]) -> Iterator[str]:
    name = rest[: min((rest.find(mark) for mark in "/." if mark in rest), default=len(rest))]
    own = [each for each in patterns if each.naan == naan and name.startswith(each.shoulder)]
    for changed in _neighbours(name):
        if any(_is_right(f"ark:{naan}/{changed}", each) for each in own):
            yield f"ark:{naan}/{changed}{rest[len(name) :]}"


def _of_urn(key: str, patterns: Sequence[Pattern]) -> Iterator[str]:
    """Yield the URNs with a right check digit that differ in the characters after the longest prefix."""
    # Catalogues print some URNs in capitals.
    if (lower := key.lower()) != key:
        yield lower
    if not is_mistyped(key, patterns):
        return
    # Without a pattern, it is one of a national library, whose numbers can have any length.
    number = _NUMBER.search(key).start()  # type: ignore[union-attr]
    nearest = _nearest(key, patterns) or [Pattern(key[:number], len(key) - number - 1, "nbn")]
    if len(key) - len(nearest[0].beginning) > MAX_LENGTH:
        return
    beginning = nearest[0].beginning
    for changed in dict.fromkeys(_neighbours(key[len(beginning) :])):
        if any(_is_right(beginning + changed, each) for each in nearest):
            yield beginning + changed


def _neighbours(name: str) -> Iterator[str]:
    """Yield the texts with two neighbouring characters exchanged, then those with another character."""
    for place in range(len(name) - 1):
        yield f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"
    for place in range(len(name)):
        for character in BETANUMERIC:
            yield f"{name[:place]}{character}{name[place + 1 :]}"
