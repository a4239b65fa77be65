"""Reading any identifier: which grammar a text is for, and what that grammar makes of it."""

from __future__ import annotations

from typing import TypeAlias

from .ark import embedded
from .ark import model as ark
from .ark.embedded import EmbeddedArk
from .ark.model import Ark
from .problems import IdentifierError, problem
from .text import lookalikes
from .urn import model as urn
from .urn.model import Urn

Identifier: TypeAlias = Ark | EmbeddedArk | Urn
"""What a text can be read as."""

ASCII_SPACE = " \t\r\n"
"""The white space that may surround a pasted identifier. str.strip() alone would take more than twenty characters."""


def parse(text: str) -> Identifier:
    """Read an ARK, an address with an ARK in it, or a URN.

    Parameters: any str, taken whole and exactly as given. Result: :class:`Ark` for an Extended ARK,
    :class:`EmbeddedArk` for an address with one in it, :class:`Urn` for what at least one URN profile takes. Raises
    :class:`~ararat.identifiers.problems.IdentifierError`, and nothing else, where it is none of them.

    Source: ARK draft, section 4; URN draft, section 2; ARK-004.

    >>> parse("https://n2t.net/ark:/12345/x").ark.naan
    '12345'
    """
    return read(text, None)


def read(text: str, profile: str | None) -> Identifier:
    """The same, where a URN has to be one that ``profile`` takes."""
    if text[:4] in ark.LABELS:
        try:
            return ark.parse(text)
        except IdentifierError:
            # "ark:" alone is a scheme, and a scheme and its colon are a prefix: ark:ark:12345/x is an Embedded ARK
            # (E-03).
            if embedded.split(text) is None:
                raise
            return embedded.parse(text)
    if urn.LABEL.match(text) and embedded.split(text) is None:
        return urn.parse(text, profile)
    if text != text.strip(ASCII_SPACE):
        raise IdentifierError(text, problem("surrounding-space", *_surrounding(text)))
    if lookalike := lookalikes.lookalike(text):
        raise IdentifierError(text, problem("transliterated-label", *lookalike.span))
    return embedded.parse(text)


def reads(text: str) -> bool:
    """Whether :func:`parse` reads ``text``. Faster than parse where it does not: it looks for no reason.

    >>> reads("https://n2t.net/ark:/12345/x"), reads("ark:12345")
    (True, False)
    """
    if text[:4] in ark.LABELS and ark.reads(text):
        return True
    if ark.LABEL.search(text, 1) and (found := embedded.split(text)):
        return found.is_ark and lookalikes.lookalike(text) is None
    return urn.reads(text)


def normalize(text: str) -> str:
    """The normal form of whatever :func:`parse` reads: of an ARK, of the ARK in an address, of a URN.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` like :func:`parse`. The draft's own function, whose
    domain is Extended ARKs alone, is :func:`ararat.identifiers.ark.model.normalize`.

    >>> normalize("https://n2t.net/ark:/12345/c37-009-31--")
    'ark:12345/c3700931'
    """
    return parse(text).normal_form


def equivalent(a: str, b: str) -> bool:
    """Whether two texts are equivalent identifiers of one scheme. Never raises for two str.

    What cannot be read is equivalent to nothing, not even to itself. An ARK and an address with an equivalent ARK in
    it name the same thing: only the ARK counts (N-06). The rule of a URN's namespace counts too (U-10).

    >>> equivalent("ark:12345/x.pdf.en", "https://n2t.net/ark:/12345/x.en.pdf"), equivalent("ark:12345", "ark:12345")
    (True, False)
    """
    try:
        return _compared(parse(a)) == _compared(parse(b))
    except IdentifierError:
        return False


def _compared(identifier: Identifier) -> str:
    return identifier.canonical if isinstance(identifier, Urn) else identifier.normal_form


def is_pseudo_ark(text: str) -> bool:
    """Whether ``text`` has the scheme ark: then, where it is no ARK, it is a pseudo-ARK (section 4)."""
    return text[:4] in ark.LABELS


def _surrounding(text: str) -> tuple[int, int]:
    inner = text.lstrip(ASCII_SPACE)
    if len(inner) < len(text):
        return 0, len(text) - len(inner)
    return len(text.rstrip(ASCII_SPACE)), len(text)
