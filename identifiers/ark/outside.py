"""Texts outside the specification: a label, a NAAN and a slash are there, but the rest breaks the grammar (A-14). Some
organizations publish such names, for example ``ark:/61903/1:1:MW98-MNJ``.

They have no normal form and are never bound. Their parts are read up to the first error, and the NAAN names the holder.
They can be traced and forwarded as given: only those who assigned the name know what it means.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..problems import IdentifierError, Problem
from . import parser as ark
from .grammar import BASE29_ONLY, LABEL, LABEL_PATTERN, LABELS, NAAN
from .model import ArkParts
from .normalization import hyphenless

_BEGINNING = re.compile(rf"({LABEL_PATTERN}/?)({NAAN})/")
_SPACE_OR_CONTROL = re.compile("[\x00-\x20\x7f-\x9f]")
_MARKS = re.compile("[?#]")


class OutsideText(NamedTuple):
    """A text with a label, a NAAN and a slash whose rest breaks the grammar of ARKs. ``prefix`` is the text before the
    label, in an address. ``read`` is the valid beginning of ``text``, or "" if not even the Name begins with a valid
    character. ``problem`` is the first error, at its place in ``text``.
    """

    prefix: str
    text: str
    label: str
    naan: str
    read: str
    problem: Problem

    @property
    def normal_naan(self) -> str:
        """The NAAN without hyphens, such as "12345" for ``ark:/12-345/1:1``."""
        return hyphenless(self.naan)

    @property
    def written(self) -> ArkParts | None:
        """The parts of the text up to the first error, as those of an ARK. It is None without a valid Name."""
        return ArkParts.of(self.read) if self.read else None


def outside(text: str) -> OutsideText | None:
    """Return the parts of a text that begins like an ARK but breaks the grammar after the NAAN. Return None for a valid
    ARK and any other text. The text can be an address with the ARK at the start of a segment of its path. White space
    and control characters are not allowed.

    >>> parts = outside("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ")
    >>> parts.prefix, parts.naan, parts.read, parts.problem.code
    ('https://www.familysearch.org/', '61903', 'ark:/61903/1', 'bad-char')
    >>> outside("ark:12345/x") is None, outside("ark:B5072/x") is None, outside("ark:12345/x y") is None
    (True, True, True)
    """
    start = _label(text)
    match = _BEGINNING.match(text, start) if start is not None else None
    if match is None or match.end() == len(text) or _SPACE_OR_CONTROL.search(text):
        return None
    ark_text = text[start:]
    try:
        ark.parse(ark_text)
    except IdentifierError as error:
        problem = error.problem
    else:
        return None
    label, naan = match.groups()
    end = problem.start
    if not BASE29_ONLY.fullmatch(hyphenless(naan)) or end < len(label) + len(naan):
        return None
    return OutsideText(text[:start], ark_text, label, naan, _beginning(ark_text, end), problem)


def _label(text: str) -> int | None:
    """Return the start of the label: at the start of ``text``, or of the first segment of an address that has one."""
    if text[:4] in LABELS:
        return 0
    scheme = text.find("://")
    if scheme < 0:
        return None
    mark = _MARKS.search(text)
    for match in LABEL.finditer(text, scheme + 3, mark.start() if mark else len(text)):
        if text[match.start() - 1] == "/":
            return match.start()
    return None


def _beginning(text: str, end: int) -> str:
    """Return the longest valid ARK that ends before ``end`` or at a delimiter before it, or ""."""
    beginning = text[:end].rstrip("/.?#")
    return beginning if ark.reads(beginning) else ""
