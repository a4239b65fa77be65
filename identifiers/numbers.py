"""Read numbers and labels as people write them outside of URNs and ARKs: ISBNs, ISSNs, NBNs, DOIs and Handles.

A bare number is read only if its check digit is right. With its name before it, such as "ISBN", it is read in any case:
the inspection of the URN then reports a wrong digit.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .ark.grammar import BASE29
from .parsing import reads
from .repairs import Suggestion
from .urn.parser import parse

MAX_LENGTH = 300
"""The number of characters above which a text is neither a number nor a damaged label."""

_GAP = r"[\s\-\u2010-\u2015]?"
_ISBN = re.compile(rf"(?i:(ISBN)(?:-1[03])?[\s:]*)?((?:97[89]{_GAP})?[0-9](?:{_GAP}[0-9]){{8}}{_GAP}[0-9Xx])")
_ISSN = re.compile(r"(?i:(e?-?ISSN)[\s:]*)?([0-9]{4}[\-\u2010-\u2015]?[0-9]{3}[0-9Xx])")
_NBN = re.compile(r"(?i:nbn):[A-Za-z]{2}[:\-]\S+")
_SPACED_LABEL = re.compile(rf"(?i:ark)\s*+:?\s*+/?\s*+([{BASE29}\-]{{5,}}+)\s*+/\s*+([^\s/]\S*+)")
_SEPARATORS = re.compile(r"[\s\-\u2010-\u2015]")
_DOI = re.compile(r"(?i:https?://(?:dx\.|www\.)?doi\.org/|doi\s*:\s*)?(10\.[0-9]{4,9}/\S+)")
_HANDLE = re.compile(r"(?i:https?://hdl\.handle\.net/|hdl\s*:\s*)([0-9][0-9A-Za-z.]*/\S+)")


class OtherIdentifier(NamedTuple):
    """An identifier of another scheme: its ``scheme`` ("DOI" or "Handle"), and the ``name`` for its ``resolver``."""

    scheme: str
    name: str
    resolver: str


def other(text: str) -> OtherIdentifier | None:
    """Return the DOI or the Handle that a text is, or None.

    >>> other("doi:10.1000/182"), other("https://hdl.handle.net/2027/uc1.b3").scheme
    (OtherIdentifier(scheme='DOI', name='10.1000/182', resolver='https://doi.org'), 'Handle')
    >>> other("ark:12345/x") is None
    True
    """
    if len(text) > MAX_LENGTH or "/" not in text:
        return None
    text = text.strip()
    if (found := _DOI.fullmatch(text)) is not None:
        return OtherIdentifier("DOI", found[1], "https://doi.org")
    found = _HANDLE.fullmatch(text)
    return None if found is None else OtherIdentifier("Handle", found[1], "https://hdl.handle.net")


def suggestion(text: str) -> Suggestion | None:
    """Return the URN or ARK that a text means without its label, or with spaces in it, or None.

    >>> suggestion("ISBN 978-3-16-148410-0").identifier, suggestion("0028-0836").identifier
    ('urn:isbn:9783161484100', 'urn:issn:0028-0836')
    >>> suggestion("ark: /12148/btv1b8449691v").identifier, suggestion("978-3-16-148410-1")
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
    elif _NBN.fullmatch(text):
        meant = f"urn:{text}"
    elif (found := _SPACED_LABEL.fullmatch(text)) is not None:
        meant = f"ark:/{found[1]}/{found[2]}"
    return Suggestion(meant, ("missing-label",)) if meant is not None and reads(meant) else None


def _is_right(urn: str) -> bool:
    """Return whether a URN follows the rules of its namespace, with the check digit."""
    return not parse(urn).findings
