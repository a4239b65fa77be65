"""Rules of the policy for ARKs: shoulders, opaque names, and the equivalent URLs of an ARK (section 3). A shoulder is
the beginning of a Name for one purpose or minter, such as 730 in ark:21206/730591.
"""

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

# Opaque names have no vowels, so words of four letters are rare. Hexadecimal names (of UUIDs) do not count as words.
_LETTERS = re.compile("[A-Za-z]{4,}")
_VOWEL = re.compile("[AEIOUaeiou]")
_HEXADECIMAL = re.compile("[0-9A-Fa-f]{16,}")


class Shoulder(NamedTuple):
    """The shoulder at the start of the Name of an ARK, which names with one purpose share. It is None for a Name
    without one. A name with a ``reserved`` shoulder must not be used yet.
    """

    shoulder: str | None
    reserved: bool


def shoulder(ark: Ark, profile: Profile) -> Shoulder:
    """Return the shoulder of an ARK in normal form (P-16), and whether the policy reserves it. Source: section 3.1;
    POL-028 to POL-031.

    >>> from ..ark.parser import parse
    >>> from .profile import built_in
    >>> shoulder(parse("ark:21206/730591"), built_in("17beta")), shoulder(parse("ark:21206/0abc"), built_in("17beta"))
    (Shoulder(shoulder='730', reserved=False), Shoulder(shoulder='0', reserved=True))
    """
    _, name = naan_and_name(ark)
    match = _DECIMAL.match(name) if profile.shoulders == "decimal" else None
    if match is not None:
        return Shoulder(match[0], match[0] in profile.reserved_shoulders)
    kept = next((each for each in profile.reserved_shoulders if name.startswith(each)), None)
    # "Names that do not begin with a decimal shoulder are reserved."
    return Shoulder(kept, profile.shoulders == "decimal" or kept is not None)


def allows_shoulder(text: str, profile: Profile) -> bool:
    """Return whether the policy permits new names with the shoulder ``text``: the whole shoulder without NAAN, such as
    "730".
    """
    if profile.shoulders == "decimal" and not _DECIMAL.fullmatch(text):
        return False
    return text not in profile.reserved_shoulders


def naan_and_name(ark: Ark) -> tuple[str, str]:
    """Return the NAAN and the Name of an ARK in normal form, without its components and variants."""
    return ark.normal_naan, split_variants(ark.basic.split("/", 2)[1])[0]


def meaning(name: str) -> str | None:
    """Return the part of the Name of an ARK that looks like a word, or None for an opaque one. A word has four or more
    ASCII letters that include a vowel. A name of 16 or more hexadecimal digits is opaque.

    >>> meaning("mtf_pharmacology"), meaning("x6np1"), meaning("00deadbeef00cafe")
    ('pharmacology', None, None)
    """
    if _HEXADECIMAL.fullmatch(name):
        return None
    return next((letters for letters in _LETTERS.findall(name) if _VOWEL.search(letters)), None)


def ark_of(text: str, profile: Profile) -> Ark | None:
    """Return the ARK in ``text``, which is either the ARK alone or its URL at a resolver of the profile. Return None
    for any other text, also for an ARK at another resolver.

    >>> from .profile import built_in
    >>> ark_of("https://n2t.net/ark:21206/10015", built_in("17beta")).name
    '10015'
    >>> ark_of("https://example.org/ark:21206/10015", built_in("17beta")) is None
    True
    """
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
    """Return the texts in normal form that identify the same as an ARK: the ARK, and its URL at each resolver. The
    result is empty for any other text and for an ARK under another resolver (section 3; POL-025, POL-026).

    >>> from .profile import built_in
    >>> equivalence_class("https://n2t.net/ark:/21206/100-15", built_in("17beta"))[:2]
    ('ark:21206/10015', 'https://17beta.top/ark:21206/10015')
    """
    ark = ark_of(text, profile)
    if ark is None:
        return ()
    return (ark.normal_form, *(f"{prefix}/{ark.normal_form}" for prefix in profile.resolvers))
