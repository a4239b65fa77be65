"""Identifiers in running text.

A paste that is one token is taken whole, so that what is wrong with it can be said. In anything longer ARKs (bare and
in addresses) and URNs are looked for: each match has its place, the text as it stands there, and, where its end looks
like punctuation of the sentence, a suggestion without it. The time taken is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import ark, embedding, iri
from .normalization import ARK_UNRESERVED
from .problems import IdentifierError
from .reading import ASCII_SPACE, parse


@dataclass(frozen=True, slots=True)
class Match:
    """An identifier at ``text[start:end]``, counted in code points.

    ``literal`` is the longest match of the grammar there; ``suggestion`` what it probably is once closing punctuation
    is cut off, or None where nothing is to be cut.
    """

    start: int
    end: int
    literal: str
    suggestion: str | None = None


# The longest match of the *strict* grammar: dots delimit non-empty variants, so that a sentence's full stop is left
# out.
_STRICT_CHARS = iri.run(rf"{ARK_UNRESERVED}\-{iri.UCSCHAR}")
_VARIANT_PATH = rf"(?:\.{_STRICT_CHARS})*+"
_ARK = re.compile(
    rf"[Aa][Rr][Kk]:/?{ark.NAAN}/{_STRICT_CHARS}(?:/{_STRICT_CHARS})*+{_VARIANT_PATH}(?:\?{ark.IQUERY})?(?:#{ark.IFRAGMENT})?"
)
# URN draft, section 2.3.3: in text a NSS ends before the first excluded character (U-04, U-08). RFC 8141's slash is
# let in.
_URN = re.compile(
    rf"[Uu][Rr][Nn]:[A-Za-z0-9][A-Za-z0-9\-]{{1,31}}:{iri.run(iri.PCHAR)}(?:/{iri.run(iri.PCHAR + '/', least=0)})?"
    rf"(?:\?{iri.run(iri.PCHAR + '/?', least=0)})?(?:#{iri.run(iri.PCHAR + '/?', least=0)})?"
)
_LABEL = re.compile("(?<![A-Za-z0-9])(?:[Aa][Rr][Kk]|[Uu][Rr][Nn]):")
_ADDRESS = re.compile(rf"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{{0,30}}://{iri.run(iri.IPCHAR + '/', least=0)}")
_SCHEME = re.compile(rf"{embedding.SCHEME}:")
_CLOSING = ".,;:!?'*_\""


def find(text: str) -> list[Match]:
    """The identifiers in ``text``, in its order, none overlapping another.

    White space (space, tab, CR, LF) around a paste is let go. One token that begins with a scheme, or in which
    nothing is found, is one match whole, whatever it is.

    Source: URN draft, section 2.3.3; ARK-060, URN-045.

    >>> [match.literal for match in find("See ark:12345/x.en. Or https://n2t.net/ark:12345/y?info")]
    ['ark:12345/x.en', 'https://n2t.net/ark:12345/y?info']
    """
    token = text.strip(ASCII_SPACE)
    if not token:
        return []
    if re.search(f"[{ASCII_SPACE}]", token):
        return list(_running(text))
    start = text.index(token[0])
    whole = Match(start, start + len(token), token, _trimmed(token))
    if _SCHEME.match(token):
        return [whole]
    return list(_running(text)) or [whole]


def _running(text: str) -> Iterator[Match]:
    place = 0
    addresses = _Addresses(text)
    while label := _LABEL.search(text, place):
        found = _longest(text, label.start(), addresses.around(label.start(), place))
        if found is None:
            place = label.end()
        else:
            yield found
            place = found.end


class _Addresses:
    """The addresses of a text, found as one walks through it and never looked for twice."""

    def __init__(self, text: str) -> None:
        self._found = _ADDRESS.finditer(text)
        self._span = (0, 0)

    def around(self, place: int, least: int) -> int | None:
        """The start of the address that ``place`` stands in, unless it begins before ``least``."""
        while self._span[1] <= place:
            following = next(self._found, None)
            self._span = following.span() if following else (len(self._span) << 62, 1 << 62)
        start = self._span[0]
        return start if least <= start < place else None


def _longest(text: str, start: int, address: int | None) -> Match | None:
    found = (_ARK if text[start] in "aA" else _URN).match(text, start)
    if found is None:
        return None
    if address is not None and text[start] in "aA":
        embedded = text[address : found.end()]
        if _reads(embedded):
            return Match(address, found.end(), embedded, _trimmed(embedded))
    return Match(start, found.end(), found[0], _trimmed(found[0])) if _reads(found[0]) else None


def _reads(literal: str) -> bool:
    try:
        parse(literal)
    except IdentifierError:
        return False
    return True


def _trimmed(literal: str) -> str | None:
    """``literal`` without the closing punctuation of a sentence, where that can be read; None where it has none."""
    shorter = literal
    while True:
        cut = shorter.rstrip(_CLOSING)
        for opening, closing in ("()", "[]", "{}", "<>"):
            if cut.endswith(closing) and cut.count(closing) > cut.count(opening):
                cut = cut[:-1]
        if cut == shorter:
            break
        shorter = cut
    return shorter if shorter != literal and _reads(shorter) else None
