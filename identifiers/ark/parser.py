"""Parse and normalize ARKs (ARK draft, sections 4 and 6), in time linear in the length of the text. Text whose normal
form does not match the grammar is refused: by Theorem 2 it is not an ARK (A-04, A-06).
"""

from __future__ import annotations

import re

from ..problems import IdentifierError, problem
from ..text import iri
from .grammar import EXTENDED_ARK, LABEL_PATTERN, NAAN
from .model import Ark
from .normalization import by_rules, hyphenless, plain

_BEGINNING = re.compile(f"{LABEL_PATTERN}/?({NAAN})/[^/]")


parse = Ark.parse
"""Parse an Extended ARK: :meth:`.Ark.parse`."""


def reads(text: str) -> bool:
    """Return whether :func:`parse` accepts ``text``. It is faster than parse on invalid text."""
    matched = iri.compile_rule(EXTENDED_ARK, text).fullmatch(text)
    if matched is None:
        return False
    if "%" not in text and "-" not in text:
        return True
    if "%" not in matched["naan"]:
        # Only the removal of hyphens can make a part empty.
        return all(map(hyphenless, text[matched.start("naan") : matched.end("path")].split("/")))
    try:
        by_rules(text)
    except IdentifierError:
        return False
    return True


def naan_at_start(text: str) -> str | None:
    """Return the NAAN, in normal form, of a text that begins like an ARK, or None. The rest need not be valid.

    >>> naan_at_start("ark:/61-903/1:1:MW98-MNJ"), naan_at_start("ark:61903"), naan_at_start("ark:a/x")
    ('61903', None, None)
    """
    begins = _BEGINNING.match(text)
    if begins is None:
        return None
    try:
        return parse(f"ark:{begins[1]}/x").normal_naan
    except IdentifierError:
        return None


def normalize(text: str) -> str:
    """Return the normal form of an Extended ARK, by the algorithm of the draft (section 6; ARK-072 to ARK-083). Raises
    IdentifierError with the code ``not-an-extended-ark`` for any other text ("This algorithm is explicitly undefined
    for strings other than Extended ARKs.").

    >>> normalize("ark:12345/4\\u0431\\u04443\\u04451")
    'ark:12345/4%D0%B1%D1%843%D1%851'
    """
    try:
        return plain(text) or by_rules(text)
    except IdentifierError as error:
        cause = error.problem
        message = f"only an Extended ARK has a normal form: {cause.message}"
        raise IdentifierError(text, problem("not-an-extended-ark", cause.start, cause.end, message)) from None
