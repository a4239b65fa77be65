"""ARKs under a policy: shoulders, opacity, and under which addresses one is the same name (section 3)."""

from __future__ import annotations

import re
from typing import NamedTuple

from .. import parsing
from ..ark.embedded import EmbeddedArk
from ..ark.model import Ark
from ..ark.normalization import split_variants
from ..problems import IdentifierError
from .iri_parts import split
from .profile import Profile

# Section 3.1: "The shoulder is a sequence of zero or more digits that are 2-9 and exactly 1 digit that is 0-1."
_DECIMAL = re.compile("[2-9]*+[01]")

# Opaque names have no vowels, and chance makes few words of four letters. Hexadecimal names (of UUIDs) are no words.
_LETTERS = re.compile("[A-Za-z]{4,}")
_VOWEL = re.compile("[AEIOUaeiou]")
_HEXADECIMAL = re.compile("[0-9A-Fa-f]{16,}")


class Shoulder(NamedTuple):
    """What a Name begins with, None where that is no shoulder; ``reserved``: whether the name is kept for later."""

    shoulder: str | None
    reserved: bool


def shoulder(ark: Ark, profile: Profile) -> Shoulder:
    """The shoulder of an ARK, read from its normal form: hyphens are void (P-16).

    Source: section 3.1; POL-028 to POL-031.

    >>> from ..ark.model import parse
    >>> from .profile import known
    >>> shoulder(parse("ark:21206/730591"), known("17beta")), shoulder(parse("ark:21206/0abc"), known("17beta"))
    (Shoulder(shoulder='730', reserved=False), Shoulder(shoulder='0', reserved=True))
    """
    _, name = naan_and_name(ark)
    found = _DECIMAL.match(name) if profile.shoulders == "decimal" else None
    if found is not None:
        return Shoulder(found[0], found[0] in profile.reserved_shoulders)
    kept = next((each for each in profile.reserved_shoulders if name.startswith(each)), None)
    # "Names that do not begin with a decimal shoulder are reserved."
    return Shoulder(kept, profile.shoulders == "decimal" or kept is not None)


def allows_shoulder(text: str, profile: Profile) -> bool:
    """Whether new names may be made under a shoulder: whole, and not a reserved one.

    >>> from .profile import known
    >>> [allows_shoulder(text, known("17beta")) for text in ("73", "730", "0", "")]
    [False, True, False, False]
    """
    if profile.shoulders == "decimal" and not _DECIMAL.fullmatch(text):
        return False
    return text not in profile.reserved_shoulders


def naan_and_name(ark: Ark) -> tuple[str, str]:
    """The NAAN and the Name of an ARK, without components and variants, in normal form."""
    return ark.normal_naan, split_variants(ark.basic.split("/", 2)[1])[0]


def meaning(name: str) -> str | None:
    """What of a name looks like a word: its first run of four ASCII letters or more with a vowel among them, or None.

    Names of 16 hexadecimal digits or more are opaque however they look. A heuristic: "tmp1" passes, "x5deaf" does not.

    >>> meaning("mtf_pharmacology"), meaning("x6np1"), meaning("00deadbeef00cafe")
    ('pharmacology', None, None)
    """
    if _HEXADECIMAL.fullmatch(name):
        return None
    return next((letters for letters in _LETTERS.findall(name) if _VOWEL.search(letters)), None)


def ark_of(text: str, profile: Profile) -> Ark | None:
    """The ARK that ``text`` is, alone or under one of the profile's resolvers; None for anything else."""
    try:
        identifier = parsing.parse(text)
    except IdentifierError:
        return None
    if isinstance(identifier, EmbeddedArk):
        parts = split(identifier.prefix)
        prefix = f"{(parts.scheme or '').lower()}://{(parts.authority or '').lower()}{parts.path}"
        return identifier.ark if prefix.endswith("/") and prefix[:-1] in profile.resolvers else None
    return identifier if isinstance(identifier, Ark) else None


def equivalence_class(text: str, profile: Profile) -> tuple[str, ...]:
    """The canonical members of the class that an ARK is in: the ARK, and it under each resolver of the profile.

    Every equivalent spelling of a member is in the class too. Empty for what is in none: no ARK, or one under another
    resolver.

    Source: section 3; POL-025, POL-026.

    >>> from .profile import known
    >>> equivalence_class("https://n2t.net/ark:/21206/100-15", known("17beta"))[:2]
    ('ark:21206/10015', 'https://17beta.top/ark:21206/10015')
    """
    ark = ark_of(text, profile)
    if ark is None:
        return ()
    return (ark.normal_form, *(f"{prefix}/{ark.normal_form}" for prefix in profile.resolvers))
