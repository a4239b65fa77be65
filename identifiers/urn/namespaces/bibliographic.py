"""The namespaces of libraries: ISBN, ISSN and National Bibliography Numbers. Check digits are computed here, because
the keys of bindings depend on them. Without python-stdnum (extra ``app``), which knows the ranges, an ISBN is shown
without hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ...text import display, iri
from ...text.translatable import Translatable
from .model import Fault, GeneralFragments, Namespace

# RFC 8254, section 2.1: "the old ten-character ISBN numbers ... and the thirteen-character identifiers". Hyphens
# separate groups of digits. Their positions do not matter here.
_ISBN = re.compile("(?:[0-9]-?){9}[0-9Xx]|97[89]-?(?:[0-9]-?){9}[0-9]")
# RFC 3044, section 2.2: "eight digits in arabic numerals 0 to 9, except the last digit which is a check digit and can
# be sometimes an X"
_ISSN = re.compile("[0-9]{4}-?[0-9]{3}[0-9Xx]")

# RFC 8458, section 4.2:
#     nbn-nss    = prefix "-" nbn-string
#     prefix     = iso-cc *( ":" subspc )          ; The entire prefix is case insensitive.
#     iso-cc     = 2ALPHA
#     subspc     = 1*(ALPHA / DIGIT)
#     nbn-string = path-rootless
_NBN_PREFIX = re.compile("[A-Za-z]{2}(?::[A-Za-z0-9]++)*+")


# "Description of algorithm for calculation of URN check digit", German National Library,
# http://www.persistent-identifier.de/english/316-check-digit-algorithm.php: the numbers of the characters of a URN.
_GERMAN_NUMBERS = {
    **{digit: str(number) for number, digit in enumerate("012345678", 1)},
    "9": "41",
    "A": "18",
    "B": "14",
    "C": "19",
    "D": "15",
    "E": "16",
    "F": "21",
    "G": "22",
    "H": "23",
    "I": "24",
    "J": "25",
    "K": "42",
    "L": "26",
    "M": "27",
    "N": "13",
    "O": "28",
    "P": "29",
    "Q": "31",
    "R": "12",
    "S": "32",
    "T": "33",
    "U": "11",
    "V": "34",
    "W": "35",
    "X": "36",
    "Y": "37",
    "Z": "38",
    "+": "49",
    ":": "17",
    "_": "43",
    "-": "39",
    ".": "47",
    "/": "45",
}


def german_check_digit(urn: str) -> str | None:
    """Return the check digit that follows a URN of the German National Library (``urn:nbn:de:``). Return None for a URN
    with a character that has no number.

    Each character becomes a number, in which each digit is multiplied by its place. The sum is divided by the last
    digit, and the last digit of the whole quotient is the check digit. Source: German National Library,
    http://www.persistent-identifier.de/english/316-check-digit-algorithm.php

    >>> german_check_digit("urn:nbn:de:gbv:089-332175294"), german_check_digit("urn:nbn:de:gbv:089-~")
    ('5', None)
    """
    try:
        digits = "".join(_GERMAN_NUMBERS[char] for char in urn.upper())
    except KeyError:
        return None
    total = sum(place * int(digit) for place, digit in enumerate(digits, 1))
    return str(total // int(digits[-1]) % 10) if digits else None


def _compact(nss: str) -> str:
    # RFC 3187, section 3.2: "Prior to comparing two ISBN URNs for equivalence, it is appropriate to remove all hyphens,
    # and to convert any occurrences of the letter X to upper case." RFC 3044, section 3.1, has the same rule for ISSNs.
    return nss.replace("-", "").replace("x", "X")


def _mod_11_digit(digits: str) -> str:
    """Return the check digit of an ISBN-10 or ISSN: weights fall to 2, and 10 is written X (ISO 2108; ISO 3297)."""
    total = sum(weight * int(digit) for weight, digit in zip(range(len(digits) + 1, 1, -1), digits, strict=True))
    return "0123456789X"[-total % 11]


def _ean_digit(digits: str) -> str:
    """Return the check digit of an ISBN-13: the weights are 1 and 3 alternately (ISO 2108)."""
    return str(-sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10)


def _isbn_digit(digits: str) -> str:
    return _ean_digit(digits) if len(digits) == 12 else _mod_11_digit(digits)


def _isbn_canonicalize(nss: str) -> str:
    # A book can have two spellings: the ISBN-13 has 978 before the first nine digits, and another check digit. A number
    # with a wrong check digit is not an ISBN, so it is not converted to an ISBN-13.
    number = _compact(nss)
    if len(number) != 10 or not _is_isbn(nss):
        return number
    return f"978{number[:9]}{_ean_digit(f'978{number[:9]}')}"


def _isbn_validate(nss: str) -> Iterator[Fault]:
    if not _ISBN.fullmatch(nss):
        yield Fault(
            0,
            len(nss),
            Translatable("this is not an ISBN"),
            Translatable("10 digits, the last of which may be X, or 13 that begin with 978 or 979"),
        )
    else:
        yield from _check_digit_faults(nss, _isbn_digit)


def _isbn_format(nss: str) -> str:
    if not _is_isbn(nss):
        return display.decode_for_display(nss)
    try:
        from stdnum import isbn
    except ModuleNotFoundError:
        return _compact(nss)
    return isbn.format(_compact(nss))


def _isbn_describe(nss: str) -> Mapping[str, str]:
    if not _is_isbn(nss):
        return {}
    number = _isbn_canonicalize(nss)
    try:
        from stdnum import isbn, numdb
    except ModuleNotFoundError:
        return {"ISBN-13": number}
    _, *groups = numdb.get("isbn").info(number[:-1])
    agency = groups[0][1].get("agency") if groups else None
    return {"ISBN-13": isbn.format(number)} | ({"registration group": f"{groups[0][0]}, {agency}"} if agency else {})


def _is_isbn(nss: str) -> bool:
    return not any(_isbn_validate(nss))


def _issn_canonicalize(nss: str) -> str:
    number = _compact(nss)
    # RFC 3044, section 2.2: "two groups of four digits separated by a hyphen"
    return f"{number[:4]}-{number[4:]}" if _ISSN.fullmatch(number) else number


def _issn_validate(nss: str) -> Iterator[Fault]:
    if not _ISSN.fullmatch(nss):
        yield Fault(
            0,
            len(nss),
            Translatable("this is not an ISSN"),
            Translatable("8 digits, the last of which may be X, and a hyphen after the fourth"),
        )
    else:
        yield from _check_digit_faults(nss, _mod_11_digit)


def _issn_format(nss: str) -> str:
    return _issn_canonicalize(nss) if _ISSN.fullmatch(nss) else display.decode_for_display(nss)


def _check_digit_faults(nss: str, check_digit: Callable[[str], str]) -> Iterator[Fault]:
    number = _compact(nss)
    expected = check_digit(number[:-1])
    if number[-1] != expected:
        yield Fault(
            len(nss) - 1,
            len(nss),
            Translatable("the check digit is wrong: a character was mistyped"),
            Translatable("the check digit %(expected)s", expected=expected),
        )


# The national libraries of Germany and Switzerland have one rule.
_WITH_GERMAN_DIGIT = frozenset(("de", "ch"))


def _nbn_canonicalize(nss: str) -> str:
    # "parsers therefore MUST treat these [NBN strings] as case sensitive"
    prefix, hyphen, string = nss.partition("-")
    return f"{prefix.lower()}-{string}" if hyphen and _NBN_PREFIX.fullmatch(prefix) else nss


def _nbn_validate(nss: str) -> Iterator[Fault]:
    prefix, hyphen, string = nss.partition("-")
    if not _NBN_PREFIX.fullmatch(prefix):
        yield Fault(
            0,
            len(prefix),
            Translatable("this is not a country code, with or without sub-namespaces"),
            Translatable("two letters and, each after a colon, sub-namespaces of letters and digits"),
        )
    elif not hyphen:
        yield Fault(
            len(nss),
            len(nss),
            Translatable("there is no hyphen after the prefix"),
            Translatable("a hyphen and a number assigned by the library"),
        )
    elif not string or string.startswith("/"):
        yield Fault(
            len(prefix),
            len(prefix) + 1,
            Translatable("there is no number after the hyphen"),
            Translatable("a number assigned by the library"),
        )


def _nbn_describe(nss: str) -> Mapping[str, str]:
    prefix, hyphen, string = nss.partition("-")
    if not (hyphen and _NBN_PREFIX.fullmatch(prefix)):
        return {}
    country, colon, below = prefix.lower().partition(":")
    details = {"country": country.upper()} | ({"sub-namespace": below} if colon else {})
    # Not each library below the German National Library adds a check digit, so another character is not a fault.
    if country in _WITH_GERMAN_DIGIT and len(string) > 1 and (expected := german_check_digit(f"urn:nbn:{nss[:-1]}")):
        last = display.decode_for_display(nss)[-1]
        details["check digit"] = (
            f"{expected}, which is right" if last == expected else f"{expected} is expected at the end"
        )
    return details


def expected_nbn_digit(nss: str) -> str | None:
    """Return the check digit that an NBN should end in, if it ends in another digit. Return None for any other NBN, and
    for the countries without this rule.

    >>> expected_nbn_digit("de:gbv:46:1-162418"), expected_nbn_digit("de:gbv:46:1-162417"), expected_nbn_digit("fi-1")
    ('7', None, None)
    """
    prefix, _, string = nss.partition("-")
    country = prefix.lower().partition(":")[0]
    if country not in _WITH_GERMAN_DIGIT or len(string) < 2 or nss[-1] not in "0123456789":
        return None
    expected = german_check_digit(f"urn:nbn:{nss[:-1]}")
    return None if expected == nss[-1] else expected


ISBN = Namespace(
    nid="isbn",
    title="International Standard Book Numbers",
    reference="RFC 8254, section 2.1",
    special="",
    delimiter=None,
    equivalence="Hyphens and the case of x do not matter, and an ISBN-10 equals the ISBN-13 made from it.",
    functional="Each format and edition of a book has its own ISBN, so a work has many. Only a catalogue lists them.",
    security="A check digit detects typing errors, not forgeries. A well-formed ISBN may not be assigned, and some "
    "ISBNs are printed in two different books.",
    example="0451450523",
    canonicalize=_isbn_canonicalize,
    validate=_isbn_validate,
    format=_isbn_format,
    describe=_isbn_describe,
)

ISSN = Namespace(
    nid="issn",
    title="International Standard Serial Numbers",
    reference="RFC 8254, section 2.2",
    special="",
    delimiter=None,
    equivalence="The hyphen and the case of x do not matter.",
    functional="A serial has an ISSN for each medium. Its linking ISSN (ISSN-L) identifies the serial on all media. "
    "Only the ISSN register knows which ISSNs belong together.",
    security="A check digit detects typing errors, not forgeries. A well-formed ISSN may not be assigned.",
    example="0167-6423",
    canonicalize=_issn_canonicalize,
    validate=_issn_validate,
    format=_issn_format,
)

NBN = Namespace(
    nid="nbn",
    title="National Bibliography Numbers",
    reference="RFC 8458, section 4",
    special="",
    # Colons separate the parts of a name. After a hyphen the library can use any characters.
    delimiter=None,
    # RFC 8458, section 4.2.2: "The URN:NBN namespace does not impose any restrictions of its own on f-component usage."
    fragments=(
        # Without a meaning for a resource, the whole resource is retrieved.
        GeneralFragments(re.compile(iri.run(f"{iri.PCHAR}/?", least=0))),
    ),
    equivalence="The case of the prefix, up to the first hyphen, does not matter; that of the rest does.",
    functional="A resource may have several numbers, and each of its manifestations its own number. The library "
    "that assigned them knows them.",
    security="The prefix names the responsible national library. It does not prove an assignment.",
    example="fi-fe201003181510",
    canonicalize=_nbn_canonicalize,
    validate=_nbn_validate,
    describe=_nbn_describe,
)
