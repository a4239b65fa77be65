"""Detect typing errors in unbound names by their check characters.

The patterns of the names that this site minted state which names have a check character. The suggestion "Possible
correction" of an error page is in :mod:`ararat.middleware.views.error_page`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....identifiers.ark.check_character import check_character, covered
from ..prefixes.patterns import Pattern

MESSAGE = "this resolver has no location for this identifier; its check character is wrong, so it is probably mistyped"


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
    if not (name.isascii() and name.isalnum()):
        return False
    own = [each for each in patterns if each.check and each.naan == naan and name.startswith(each.shoulder)]
    longest = max((len(each.shoulder) for each in own), default=0)
    nearest = [each for each in own if len(each.shoulder) == longest]
    if not any(abs(len(name) - longest - each.length - 1) <= 1 for each in nearest):
        return False
    return all(not each.check or check_character(covered(naan, name[:-1], each.check)) != name[-1] for each in nearest)
