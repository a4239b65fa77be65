"""Normalization of ARKs, one function per rule (ARK draft, section 6; decisions N-01 to N-05).

Each rule is a function from :class:`Parts` to parts. :func:`normal` applies all rules in order, and :func:`steps` also
reports each change. Both expect an ARK that the grammar accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..problems import IdentifierError, problem
from ..text import iri
from ..text.translatable import Translatable
from .diagnosis import matched_ark
from .grammar import ARK_UNRESERVED, ARK_UNRESERVED_MARKS, BASE29, PLAIN_ARK

_matched_plain = PLAIN_ARK.fullmatch
_NORMAL = rf"ark:[{BASE29}]++(?:/[{ARK_UNRESERVED}]++)++"
_NORMAL_LINES = re.compile(rf"{_NORMAL}(?:\n{_NORMAL})*+")
_OUTSIDE_BASE29 = re.compile(f"[^{BASE29}]")

# N-01: "-" is not ARK-unreserved, but the note below the algorithm decodes it and then removes it.
_BODY_TRIPLETS = iri.triplets(iri.ALPHANUMERIC + ARK_UNRESERVED_MARKS + "-")


@dataclass(frozen=True, slots=True)
class Step:
    """One change of an identifier by a rule of normalization, with the whole identifier before and after it. ``rule``
    is the code of the rule, and ``reference`` its source. The last ``after`` is the normal form.

    >>> from ararat.identifiers import parse
    >>> [(step.rule, step.after) for step in parse("ark:/12345/x-1").steps]
    [('classic-slash', 'ark:12345/x-1'), ('hyphens', 'ark:12345/x1')]
    """

    rule: str
    title: str
    before: str
    after: str
    reference: str

    def as_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


class Parts(NamedTuple):
    """An Extended ARK in three strings: ``label`` (``ark:`` or ``ark:/``, in any case of the letters), ``body`` (NAAN,
    Name, components and variants) and ``tail`` (query and fragment with their marks, or "").
    """

    label: str
    body: str
    tail: str


class NormalizationRule(NamedTuple):
    """A rule of the normalization of ARKs: a stable code, a title for people, and the document and section. ``apply``
    is its function, which returns its argument if nothing changes.
    """

    name: str
    title: str
    reference: str
    apply: Callable[[Parts], Parts]


def hyphenless(part: str) -> str:
    """Remove all hyphens, plain or percent-encoded, from a part of an ARK. The result is empty if and only if its
    normal form is empty, because normalization removes only hyphens.

    >>> hyphenless("a-%2Db%2d"), hyphenless("-%2D")
    ('ab', '')
    """
    if "%2" in part:
        part = part.replace("%2D", "").replace("%2d", "")
    return part.replace("-", "")


def split_variants(segment: str) -> tuple[str, tuple[str, ...]]:
    """Split the last segment of an ARK into its head (the Name or last component) and its variants, as written.

    The draft's grammar is ambiguous, because ``iunreserved`` contains the dot. Decision A-05: the variants are the
    longest run of ``.x`` at the end that leaves a head; without hyphens, neither the head nor any ``x`` is empty.

    >>> split_variants("x.en.pdf"), split_variants("a..b"), split_variants("-.d")
    (('x', ('en', 'pdf')), ('a.', ('b',)), ('-.d', ()))
    """
    if "." not in segment:
        return segment, ()
    _, empty, filled = f"{hyphenless(segment)}.".rpartition("..")
    # Each dot after the last empty part ends a variant. Without an empty part, the first dot after a character ends
    # the head.
    head, *variants = segment.rsplit(".", filled.count(".") if empty else filled.count(".", 1) - 1)
    return head, tuple(variants)


def sort_variants(body: str) -> str:
    """Sort the variants at the end of an ARK, and remove repeated ones. ``body`` has no label, query and fragment.

    >>> sort_variants("12345/a.z.b/x.pdf.en.pdf")
    '12345/a.z.b/x.en.pdf'
    """
    containers, slash, segment = body.rpartition("/")
    if "." not in segment:
        return body
    head, variants = split_variants(segment)
    return containers + slash + ".".join([head, *sorted(set(variants))])


def _scheme_case(ark: Parts) -> Parts:
    # "Convert the scheme to lowercase." The grammar guarantees that the label is ASCII.
    return ark if ark.label.islower() else Parts(ark.label.lower(), ark.body, ark.tail)


def _classic_slash(ark: Parts) -> Parts:
    # 'If the ARK starts with "ark:/" then replace that portion with "ark:".'
    return Parts(ark.label[:4], ark.body, ark.tail) if ark.label[4:] else ark


def _percent_decoding(ark: Parts) -> Parts:
    # "Decode all percent-encoded characters that after decoding would match the ARK-unreserved production rule."
    # Decode once: %2541 stays %2541 (N-03).
    return Parts(ark.label, iri.decode(ark.body, _BODY_TRIPLETS), ark.tail) if "%" in ark.body else ark


def _hex_case(ark: Parts) -> Parts:
    # N-02: not a step of the draft. But its example is in upper case, and the order of variants depends on the case.
    if "%" not in ark.body and "%" not in ark.tail:
        return ark
    return Parts(ark.label, iri.upper_hex(ark.body), iri.upper_hex(ark.tail))


def _hyphens(ark: Parts) -> Parts:
    # 'Delete all instances of "-" (U+002D).'
    return Parts(ark.label, ark.body.replace("-", ""), ark.tail) if "-" in ark.body else ark


def _non_ascii(ark: Parts) -> Parts:
    # "Percent-encode all non-ASCII characters." Composed and decomposed letters stay different.
    return ark if ark.body.isascii() else Parts(ark.label, iri.encode(ark.body), ark.tail)


def _variants(ark: Parts) -> Parts:
    # "separate it into individual matches of suffix, sort by lexicographical order according to codepoint without
    # decoding any remaining percent-encoded characters, delete identical suffixes and join the remaining suffixes in
    # that order"
    return Parts(ark.label, sort_variants(ark.body), ark.tail) if "." in ark.body else ark


def _query_and_fragment(ark: Parts) -> Parts:
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs].
    # Percent-encode all non-ASCII characters."  Hyphens stay (N-05).
    if not ark.tail:
        return ark
    return Parts(ark.label, ark.body, iri.encode(iri.decode(ark.tail, iri.UNRESERVED_TRIPLETS)))


RULES: tuple[NormalizationRule, ...] = (
    NormalizationRule(
        "scheme-case", Translatable("Write the label in lower case"), "ARK draft, section 6, step 1", _scheme_case
    ),
    NormalizationRule(
        "classic-slash", Translatable("Remove the slash after ark:"), "ARK draft, section 6, step 2", _classic_slash
    ),
    NormalizationRule(
        "percent-decoding",
        Translatable("Decode characters that need no percent-encoding"),
        "ARK draft, section 6, step 3.1",
        _percent_decoding,
    ),
    NormalizationRule(
        "hex-case", Translatable("Write percent-encodings in upper case"), "RFC 3986, section 6.2.2.1", _hex_case
    ),
    NormalizationRule("hyphens", Translatable("Remove hyphens"), "ARK draft, section 6, step 3.2", _hyphens),
    NormalizationRule(
        "non-ascii", Translatable("Percent-encode non-ASCII characters"), "ARK draft, section 6, step 3.3", _non_ascii
    ),
    NormalizationRule(
        "variants", Translatable("Sort variants and remove repeated ones"), "ARK draft, section 6, step 3.4", _variants
    ),
    NormalizationRule(
        "query-and-fragment",
        Translatable("Normalize query and fragment like those of any URI"),
        "ARK draft, section 6, step 4",
        _query_and_fragment,
    ),
)
"""The rules in the order of the draft."""


def normal(ark: Parts) -> Parts:
    """Return the parts of an Extended ARK in normal form, by all rules in order.

    >>> "".join(normal(Parts("ark:/", "12345/c37-009-31--", "")))
    'ark:12345/c3700931'
    """
    for rule in RULES:
        ark = rule.apply(ark)
    return ark


def steps(ark: Parts) -> Iterator[Step]:
    """Yield a step for each rule of normalization that changes an Extended ARK, in the order of :data:`RULES`.

    >>> [step.rule for step in steps(Parts("ARK:/", "12345/x", ""))]
    ['scheme-case', 'classic-slash']
    """
    for rule in RULES:
        changed = rule.apply(ark)
        if changed != ark:
            yield Step(rule.name, rule.title, "".join(ark), "".join(changed), rule.reference)
        ark = changed


def plain(text: str) -> str | None:
    """Return the normal form of a plain Basic ARK (:data:`~.grammar.PLAIN_ARK`), and None for any other text. A plain
    ARK has only ASCII without percent signs, and a Base29 NAAN. This fast path skips the rules.

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


def are_normal(texts: Sequence[str]) -> bool:
    """Return whether all ``texts`` are ARKs that :func:`plain` returns unchanged, without variants. None has a line
    feed. It takes a tenth of the time.

    >>> are_normal(["ark:12345/x", "ark:12345/x/Map"]), are_normal(["ark:12345/x-1"])
    (True, False)
    """
    return _NORMAL_LINES.fullmatch("\n".join(texts)) is not None


def by_rules(text: str) -> str:
    """Return the normal form of an Extended ARK by the rules of the draft. For a plain one, :func:`plain` is faster.
    Raises IdentifierError with the first problem for any other text.
    """
    matched = matched_ark(text)
    body = text[matched.start("naan") : matched.start("tail")]
    normal_parts = normal(Parts(matched["label"], body, matched["tail"]))
    _require_ark(text, matched, normal_parts.body)
    return "".join(normal_parts)


def _require_ark(text: str, matched: re.Match[str], normal_body: str) -> None:
    """Raise IdentifierError if the normal form of the matched text is not an ARK. Theorem 2: "An extended ARK is a
    Basic ARK if and only if its normal form is a Basic ARK."
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
