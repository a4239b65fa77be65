"""Parse and normalize ARKs (ARK draft, sections 4 and 6), in time linear in the length of the text.

:func:`parse` returns an :class:`Ark` or raises :class:`~ararat.identifiers.problems.IdentifierError` with the first
problem. Text that matches the productions of the grammar is refused if its normal form does not match them. By Theorem
2 it is not an ARK (A-04, A-06).
"""

from __future__ import annotations

import re

from ..problems import IdentifierError, problem
from ..text import iri
from .diagnosis import matched_ark
from .grammar import BASE29, EXTENDED_ARK, LABEL_PATTERN, NAAN, PLAIN_ARK
from .model import Ark
from .normalization import Parts, hyphenless, normal

_matched_plain = PLAIN_ARK.fullmatch
_BEGINNING = re.compile(f"{LABEL_PATTERN}/?({NAAN})/[^/]")
_OUTSIDE_BASE29 = re.compile(f"[^{BASE29}]")


def parse(text: str) -> Ark:
    """Parse the Extended ARK ``text`` from any str, in linear time.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for any other text, also for an embedded ARK. The error
    marks the first wrong place.

    Source: ARK draft, section 4; ARK-047 to ARK-059.

    >>> parse("ark:12345/x.en").variants
    ('en',)
    >>> parse("ark:12345")
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: a NAAN alone is not an ARK (no-name)
        ark:12345
                 ^
    expected a slash and a Name after the NAAN (ARK draft, section 3.2)
    """
    return Ark(text, plain(text) or _normal_form(text))


def reads(text: str) -> bool:
    """Return whether ``text`` is an Extended ARK, which :func:`parse` accepts. It is faster than parse on invalid text.

    >>> reads("ark:12345/x.en"), reads("ark:12345"), reads("ark:12345/-")
    (True, False, False)
    """
    matched = iri.compiled(EXTENDED_ARK, text).fullmatch(text)
    if matched is None:
        return False
    if "%" not in text and "-" not in text:
        return True
    if "%" not in matched["naan"]:
        # Only the removal of hyphens can make a part empty.
        return all(map(hyphenless, text[matched.start("naan") : matched.end("path")].split("/")))
    try:
        _normal_form(text)
    except IdentifierError:
        return False
    return True


def naan_at_start(text: str) -> str | None:
    """Return the NAAN of ``text``, which begins like an ARK, in normal form, also if the rest is not valid. Return None
    for any other text.

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
    """Return the normal form of the Extended ARK ``text``, by the algorithm of the draft.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` with the code ``not-an-extended-ark`` for any other
    string ("This algorithm is explicitly undefined for strings other than Extended ARKs.").

    Source: ARK draft, section 6; ARK-072 to ARK-083.

    >>> normalize("ark:12345/4\\u0431\\u04443\\u04451")
    'ark:12345/4%D0%B1%D1%843%D1%851'
    """
    if (normal_form := plain(text)) is not None:
        return normal_form
    try:
        return _normal_form(text)
    except IdentifierError as error:
        cause = error.problem
        message = f"only an Extended ARK has a normal form: {cause.message}"
        raise IdentifierError(text, problem("not-an-extended-ark", cause.start, cause.end, message)) from None


def plain(text: str) -> str | None:
    """Return the normal form of ``text`` if it is a plain Basic ARK (:data:`~.grammar.PLAIN_ARK`). Return None for any
    other text.

    A plain ARK has only ASCII without percent signs, and a Base29 NAAN. This fast path skips the rules.

    >>> plain("ark:/12345/x/m-ap.pdf.en"), plain("ark:12345/-x"), plain("ark:12345/x?info")
    ('ark:12345/x/map.en.pdf', None, None)
    """
    matched = _matched_plain(text)
    if matched is None:
        return None
    path, tail = matched.groups()
    body = f"ark:{path}"
    if "-" in text:
        body = body.replace("-", "")
    if tail is None:
        return body
    variants = tail.replace("-", "")
    # Most have one variant.
    if variants.count(".") == 1:
        return body + variants
    return ".".join([body, *sorted(set(variants[1:].split(".")))])


def _normal_form(text: str) -> str:
    matched = matched_ark(text)
    body = text[matched.start("naan") : matched.start("tail")]
    normal_parts = normal(Parts(matched["label"], body, matched["tail"]))
    _require_ark(text, matched, normal_parts.body)
    return "".join(normal_parts)


def _require_ark(text: str, matched: re.Match[str], normal_body: str) -> None:
    """Raise IdentifierError if the normal form of the matched text is not an ARK.

    Theorem 2: "An extended ARK is a Basic ARK if and only if its normal form is a Basic ARK."
    """
    start, end = matched.span("naan")
    # characters that the normal form does not decode are not an error.
    if "%" in matched["naan"] and _OUTSIDE_BASE29.search(iri.TRIPLET.sub("", normal_body.partition("/")[0])):
        raise IdentifierError(text, problem("naan-decodes-outside-base29", start, end))
    if normal_body[0] == "/" or normal_body[-1] == "/" or "//" in normal_body:
        for part in text[start : matched.end("path")].split("/"):
            if not hyphenless(part):
                raise IdentifierError(text, problem("empty-after-normalization", start, start + len(part)))
            start += len(part) + 1
