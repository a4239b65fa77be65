"""Read numbers and labels as people write them outside of URNs and ARKs: ISBNs, ISSNs, NBNs, DOIs and Handles. A bare
number needs a right check digit. A number after its name, such as "ISBN", is always read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from .ark.grammar import BASE29
from .parsing import reads
from .repairs import Suggestion, without_closing
from .urn.parser import parse

MAX_LENGTH = 300
"""The number of characters above which a text is neither a number nor a damaged label."""

_GAP = r"[\s\-\u2010-\u2015]?"
_URN = r"(?:URN[\s:]++)?"
_AFTER = r"(?:\s*+\([^()]{1,40}\))?[.,;]?"  # such as "(online)"
_ISBN_DIGITS = rf"(?:97[89]{_GAP})?[0-9](?:{_GAP}[0-9]){{8}}{_GAP}[0-9Xx]"
_ISSN_DIGITS = r"[0-9]{4}[\-\u2010-\u2015]?[0-9]{3}[0-9Xx]"
_ISBN = re.compile(rf"(?i:{_URN}(ISBN)(?:-?1[03])?[\s:]*)?({_ISBN_DIGITS}){_AFTER}")
_ISSN = re.compile(rf"(?i:{_URN}([ep]?-?ISSN(?:-L)?)[\s:]*)?({_ISSN_DIGITS}){_AFTER}")
_NBN = re.compile(r"(?i:(?:URN[\s:]++)?nbn)[\s:]\s*+([A-Za-z]{2}[:\-]\S+)")
_UUID = re.compile(r"(\{)?([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})(?(1)\})")
# The number in an address, such as that of the ISSN Portal.
_NAMED = re.compile("[Ii][Ss][Bb][Nn]|[Ii][Ss][Ss][Nn]")
_IN_ADDRESS = re.compile(rf"(?<=[/?&])(?i:(ISBN)|(ISSN))[/=:]({_ISBN_DIGITS}|{_ISSN_DIGITS})(?![\w\-])")
_LABELLED = re.compile(
    rf"(?<![\w:./\-])(?i:ISBN(?:-?1[03])?[\s:]{{1,3}}{_ISBN_DIGITS}|[ep]?-?ISSN(?:-L)?[\s:]{{1,3}}{_ISSN_DIGITS})(?![\w\-])"
)
_WRONG_SLASHES = str.maketrans("\uff0f\uff1a\\", "/:/")
_ARK_WITH_WRONG_SLASHES = re.compile(rf"(?i:ark)[:\uff1a][/\uff0f\\]?[{BASE29}\-]{{5,}}[/\uff0f\\]\S+")
_SPACED_LABEL = re.compile(
    rf"(?i:ark(?:[\s\-]?(?:ID|identifier|number|no\.?|nr\.?))?)\s*+:?\s*+/?\s*+([{BASE29}\-]{{5,}}+)\s*+/\s*+([^\s/]\S*+)"
)
_MISTYPED_LABEL = re.compile(rf"(?i:ark|arc|akr)[:;.,|]?[/\\]{{0,2}}([{BASE29}]{{5}})/(\S+)")
# Some sites have no colon in their addresses.
_LABEL_IN_ADDRESS = re.compile(rf"(?i:https?://)[^\s?#]*?/(?i:ark)/([{BASE29}]{{5}})/([^\s?#]++)")
_SEPARATORS = re.compile(r"[\s\-\u2010-\u2015]")
_DOI = re.compile(r"(?i:((?:https?://)?(?:dx\.|www\.)?doi\.org/)|doi\s*+:?\s*+)?(10\.[0-9]{4,9}/\S+)")
_HANDLE = re.compile(r"(?i:((?:https?://)?hdl\.handle\.net/)|(?:hdl|handle)\s*+:?\s*+)([0-9][0-9A-Za-z.]*/\S+)")
_OPENING = " \t\r\n\"'<([{\u2018-\u201e\u00ab"


class OtherIdentifier(NamedTuple):
    """An identifier of another scheme than ARK and URN. ``scheme`` is "DOI" or "Handle", ``name`` such as
    "10.1000/182", and ``resolver`` the URL before it.
    """

    scheme: str
    name: str
    resolver: str

    @property
    def address(self) -> str:
        """The link to it at its resolver."""
        return f"{self.resolver}/{quote(self.name, safe=':/;()@!$*,')}"


def other(text: str) -> OtherIdentifier | None:
    """Return the DOI or the Handle that a text is, or None.

    >>> other("doi:10.1000/182"), other("https://hdl.handle.net/2027/uc1.b3").scheme
    (OtherIdentifier(scheme='DOI', name='10.1000/182', resolver='https://doi.org'), 'Handle')
    >>> other("(doi.org/10.1000/182?utm_source=mail).").name
    '10.1000/182'
    """
    if len(text) > MAX_LENGTH or "/" not in text:
        return None
    text = without_closing(text.strip().lstrip(_OPENING))
    if (found := _DOI.fullmatch(text)) is not None:
        return OtherIdentifier("DOI", _name_in(found), "https://doi.org")
    if (found := _HANDLE.fullmatch(text)) is not None:
        return OtherIdentifier("Handle", _name_in(found), "https://hdl.handle.net")
    return None


def others(text: str, most: int) -> list[OtherIdentifier]:
    """Return the first ``most`` DOIs and Handles, each once, that are words of a text such as a citation.

    >>> [each.name for each in others("Roe (2020). Maps. https://doi.org/10.1000/182. Also hdl:2027/uc1.b3", 5)]
    ['10.1000/182', '2027/uc1.b3']
    """
    found = dict.fromkeys(filter(None, map(other, text.split())))
    return list(found)[:most]


def _name_in(found: re.Match[str]) -> str:
    """Return the name of another scheme. In an address it is percent-encoded, and a query can follow."""
    return unquote(re.split("[?#]", found[2], maxsplit=1)[0]) if found[1] else found[2]


def suggestion(text: str) -> Suggestion | None:
    """Return the URN or ARK that a text means without its label, or with spaces in it, or None.

    >>> suggestion("ISBN 978-3-16-148410-0").identifier, suggestion("0028-0836").identifier
    ('urn:isbn:9783161484100', 'urn:issn:0028-0836')
    >>> suggestion("ark: /12148/btv1b8449691v").identifier, suggestion("9783161484101")
    ('ark:/12148/btv1b8449691v', None)
    """
    if len(text) > MAX_LENGTH:
        return None
    text = text.strip()
    meant = None
    if (found := _ISSN.fullmatch(text)) is not None:
        digits = _SEPARATORS.sub("", found[2]).upper()
        urn = f"urn:issn:{digits[:4]}-{digits[4:]}"
        if found[1] or (found[2] != digits and _is_right(urn)):
            meant = urn
    elif (found := _ISBN.fullmatch(text)) is not None:
        digits = _SEPARATORS.sub("", found[2]).upper()
        urn = f"urn:isbn:{digits}"
        # Many numbers of ten digits are not ISBNs.
        if found[1] or ((len(digits) == 13 or found[2].upper() != digits) and _is_right(urn)):
            meant = urn
    elif (found := _NBN.fullmatch(text)) is not None:
        meant = f"urn:nbn:{found[1]}"
    elif (found := _UUID.fullmatch(text)) is not None:
        meant = f"urn:uuid:{found[2]}"
    elif _ARK_WITH_WRONG_SLASHES.fullmatch(text):
        meant = text.translate(_WRONG_SLASHES)
    elif (found := _SPACED_LABEL.fullmatch(text)) is not None:
        meant = f"ark:/{found[1]}/{found[2]}"
    elif (found := _MISTYPED_LABEL.fullmatch(text) or _LABEL_IN_ADDRESS.match(text)) is not None:
        meant = f"ark:/{found[1]}/{without_closing(found[2])}"
    elif "://" in text and _NAMED.search(text) is not None and (found := _IN_ADDRESS.search(text)) is not None:
        return suggestion(f"{found[1] or found[2]} {found[3]}")
    return Suggestion(meant, ("missing-label",)) if meant is not None and reads(meant) else None


def find_labelled(text: str) -> Iterator[tuple[int, int, Suggestion]]:
    """Yield the ISBNs and ISSNs with their names in a longer text: start, end, and the URN that each means. Wrong
    numbers are omitted.

    >>> [found[2].identifier for found in find_labelled("In ISBN 978-3-16-148410-0, and ISSN 0028-0836.")]
    ['urn:isbn:9783161484100', 'urn:issn:0028-0836']
    """
    for found in _LABELLED.finditer(text):
        if (meant := suggestion(found[0])) is not None:
            yield found.start(), found.end(), meant


def _is_right(urn: str) -> bool:
    """Return whether a URN follows the rules of its namespace, with the check digit."""
    return not parse(urn).findings
