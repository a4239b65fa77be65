"""Parse, normalize and compare identifiers of any kind: ARKs, addresses with ARKs, and URNs."""

from __future__ import annotations

from typing import TypeAlias

from .ark import embedded
from .ark import parser as ark
from .ark.embedded import EmbeddedArk
from .ark.grammar import LABEL, LABELS
from .ark.model import Ark
from .problems import IdentifierError, problem, require_text
from .text import lookalikes
from .urn import parser as urn
from .urn.grammar import LABEL as URN_LABEL
from .urn.model import Urn

Identifier: TypeAlias = Ark | EmbeddedArk | Urn
"""The result of :func:`parse`."""

ASCII_SPACE = " \t\r\n"
"""White space around a pasted identifier. str.strip() without arguments removes many more characters."""


def parse(text: str) -> Identifier:
    """Parse an ARK, a URN, or an address that contains one of them. White space is not stripped.

    The result is an :class:`Ark`, an :class:`EmbeddedArk` for an address with an ARK, or a :class:`Urn` that at least
    one profile accepts. Of an address with a URN, the result is the URN. Raises
    :class:`~ararat.identifiers.problems.IdentifierError`, and nothing else, for any other text. Source: ARK draft,
    section 4; URN draft, section 2; ARK-004.

    >>> parse("https://n2t.net/ark:/12345/x").ark.naan
    '12345'
    >>> parse("http://urn.fi/urn:nbn:fi:lb-1").text
    'urn:nbn:fi:lb-1'
    """
    try:
        return read(text, None)
    except TypeError:
        require_text(text)
        raise


def read(text: str, profile: str | None) -> Identifier:
    """Parse ``text`` like :func:`parse`, but accept a URN only if it is valid in ``profile``: "urnbis-01" (the URN
    draft), "rfc8141", or None for both. Raises ValueError for a URN and another profile.
    """
    if text[:4] in LABELS:
        try:
            return ark.parse(text)
        except IdentifierError:
            # "ark:" is a scheme, and a scheme with its colon is a prefix: ark:ark:12345/x is an Embedded ARK (E-03).
            if embedded.split(text) is None:
                raise
            return embedded.parse(text)
    if URN_LABEL.match(text) and embedded.split(text) is None:
        return urn.parse(text, profile)
    if text != text.strip(ASCII_SPACE):
        raise IdentifierError(text, problem("surrounding-space", *_surrounding_space(text)))
    if lookalike := lookalikes.lookalike(text):
        raise IdentifierError(text, problem("transliterated-label", *lookalike.span))
    start = urn.start_in(text)
    if start is None or embedded.split(text) is not None:
        return embedded.parse(text)
    try:
        return urn.parse(text[start:], profile)
    except IdentifierError as error:
        raise IdentifierError(text, embedded.shift(error.problem, start)) from None


def reads(text: str) -> bool:
    """Return whether :func:`parse` accepts ``text``. It is faster than parse."""
    if ark.reads(text) if text[:4] in LABELS else urn.reads(text):
        return True
    match = embedded.split(text) if LABEL.search(text, 1) else None
    if match is not None:
        return match.is_ark
    start = urn.start_in(text)
    return start is not None and urn.reads(text[start:])


def normalize(text: str) -> str:
    """Return the normal form of an ARK, of the ARK in an address, or of a URN. Raises
    :class:`~ararat.identifiers.problems.IdentifierError` like :func:`parse`.

    >>> normalize("https://n2t.net/ark:/12345/c37-009-31--")
    'ark:12345/c3700931'
    """
    return parse(text).normal_form


def is_pseudo_ark(text: str) -> bool:
    """Return whether ``text`` starts with ``ark:``, in any case of the letters. Such a text that :func:`parse` refuses
    is a pseudo-ARK (ARK draft, section 4).
    """
    return text[:4] in LABELS


def _surrounding_space(text: str) -> tuple[int, int]:
    inner = text.lstrip(ASCII_SPACE)
    if len(inner) < len(text):
        return 0, len(text) - len(inner)
    return len(text.rstrip(ASCII_SPACE)), len(text)


def equivalent(a: str, b: str) -> bool:
    """Return whether two texts are equivalent identifiers. An invalid text is equivalent to nothing, not even to
    itself. Only the ARK in an address counts (N-06). URNs are also compared by the rules of their namespace (U-10).

    >>> equivalent("ark:12345/x.pdf.en", "https://n2t.net/ark:/12345/x.en.pdf"), equivalent("ark:12345", "ark:12345")
    (True, False)
    """
    try:
        return _comparison_key(parse(a)) == _comparison_key(parse(b))
    except IdentifierError:
        return False


def _comparison_key(identifier: Identifier) -> str:
    return identifier.canonical if isinstance(identifier, Urn) else identifier.normal_form
