"""The normal form of an ARK, rule by rule (ARK draft, section 6).

An Extended ARK is taken as three texts: its label, the body (NAAN, Name and qualifier) and the tail (query and
fragment with their marks). Each rule of the draft is one function from three texts to three texts; the normal form is
what all of them, in order, make of an ARK, and the steps shown to people are the same functions, watched. The domain
is Extended ARKs that the grammar has read: what anything else becomes is undefined, in the draft and here.

The decisions on what the draft leaves open are named where they are taken (N-01 to N-05).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..text import iri

# ARK draft, section 4:  ARK-unreserved = DIGIT / ALPHA / "=" / "~" / "*" / "+" / "@" / "_" / "$"
ARK_UNRESERVED = "0-9A-Za-z=~*+@_$"

# N-01: "-" is not ARK-unreserved, but the note under the algorithm says that it is decoded, then removed.
_BODY_TRIPLETS = iri.triplets(iri.ALPHANUMERIC + "=~*+@_$" + "-")


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that changed something: the whole identifier before and after it, and where the rule stands.

    The ``after`` of a step is the ``before`` of the next; the last ``after`` is the normal form.
    """

    rule: str
    title: str
    before: str
    after: str
    reference: str

    def as_dict(self) -> dict[str, str]:
        """The step as the JSON of a report holds it."""
        return {name: getattr(self, name) for name in self.__slots__}


class Parts(NamedTuple):
    """An Extended ARK in three texts, which joined are the ARK."""

    label: str
    body: str
    tail: str


class Rule(NamedTuple):
    """One rule of a normalization: its stable name, what it says to people, where it stands, what it does."""

    name: str
    title: str
    reference: str
    apply: Callable[[Parts], Parts]


def hyphenless(part: str) -> str:
    """``part`` without hyphens, raw or percent-encoded: empty exactly when the normal form of ``part`` is.

    >>> hyphenless("a-%2Db%2d"), hyphenless("-%2D")
    ('ab', '')
    """
    if "%2" in part:
        part = part.replace("%2D", "").replace("%2d", "")
    return part.replace("-", "")


def split_variants(segment: str) -> tuple[str, tuple[str, ...]]:
    """The last segment of an ARK cut into its head and its variants, both as written.

    By the letter ``iunreserved`` has the dot in it, so that the draft's grammar is ambiguous. Read here (A-05): the
    variants are the longest run of ``.x`` at the end that leaves a head, where neither a head nor an ``x`` is empty
    once hyphens are gone.

    >>> split_variants("x.en.pdf"), split_variants("a..b"), split_variants("-.d")
    (('x', ('en', 'pdf')), ('a.', ('b',)), ('-.d', ()))
    """
    if "." not in segment:
        return segment, ()
    parts = segment.split(".")
    first = len(parts)
    while first > 1 and hyphenless(parts[first - 1]):
        first -= 1
    if first == 1 and not hyphenless(parts[0]):
        first = 2
    return ".".join(parts[:first]), tuple(parts[first:])


def _scheme_case(ark: Parts) -> Parts:
    # "Convert the scheme to lowercase." The grammar has seen that the label is ASCII.
    return ark if ark.label.islower() else Parts(ark.label.lower(), ark.body, ark.tail)


def _classic_slash(ark: Parts) -> Parts:
    # 'If the ARK starts with "ark:/" then replace that portion with "ark:".'
    return Parts(ark.label[:4], ark.body, ark.tail) if ark.label[4:] else ark


def _percent_decoding(ark: Parts) -> Parts:
    # "Decode all percent-encoded characters that after decoding would match the ARK-unreserved production rule."
    # Once: %2541 stays %2541 (N-03).
    return Parts(ark.label, iri.decode(ark.body, _BODY_TRIPLETS), ark.tail) if "%" in ark.body else ark


def _hex_case(ark: Parts) -> Parts:
    # N-02: not in the list of steps, but the draft's worked example is in upper case, and sorting variants needs one
    # case.
    if "%" not in ark.body and "%" not in ark.tail:
        return ark
    return Parts(ark.label, iri.upper_hex(ark.body), iri.upper_hex(ark.tail))


def _hyphens(ark: Parts) -> Parts:
    # 'Delete all instances of "-" (U+002D).'
    return Parts(ark.label, ark.body.replace("-", ""), ark.tail) if "-" in ark.body else ark


def _non_ascii(ark: Parts) -> Parts:
    # "Percent-encode all non-ASCII characters." No Unicode normalization: composed and decomposed stay two ARKs.
    return ark if ark.body.isascii() else Parts(ark.label, iri.encode(ark.body), ark.tail)


def _variants(ark: Parts) -> Parts:
    # "separate it into individual matches of suffix, sort by lexicographical order according to codepoint without
    # decoding any remaining percent-encoded characters, delete identical suffixes and join the remaining suffixes in
    # that order"
    if "." not in ark.body:
        return ark
    containers, slash, segment = ark.body.rpartition("/")
    head, variants = split_variants(segment)
    return Parts(ark.label, containers + slash + ".".join([head, *sorted(set(variants))]), ark.tail)


def _query_and_fragment(ark: Parts) -> Parts:
    # "In the query and fragment: Decode all percent-encoded characters that match the unreserved rule in [URIs].
    # Percent-encode all non-ASCII characters."  Hyphens stay (N-05).
    if not ark.tail:
        return ark
    return Parts(ark.label, ark.body, iri.encode(iri.decode(ark.tail, iri.UNRESERVED_TRIPLETS)))


RULES: tuple[Rule, ...] = (
    Rule("scheme-case", "The label is written in lower case", "ARK draft, section 6, step 1", _scheme_case),
    Rule("classic-slash", "The slash of the classic form goes", "ARK draft, section 6, step 2", _classic_slash),
    Rule(
        "percent-decoding",
        "What needs no percent-encoding is decoded",
        "ARK draft, section 6, step 3.1",
        _percent_decoding,
    ),
    Rule("hex-case", "Percent-encoded octets are written in upper case", "RFC 3986, section 6.2.2.1", _hex_case),
    Rule("hyphens", "Hyphens carry no meaning", "ARK draft, section 6, step 3.2", _hyphens),
    Rule("non-ascii", "Non-ASCII characters are percent-encoded", "ARK draft, section 6, step 3.3", _non_ascii),
    Rule("variants", "Variants are sorted, each stands once", "ARK draft, section 6, step 3.4", _variants),
    Rule(
        "query-and-fragment",
        "Query and fragment are normalized as in any URI",
        "ARK draft, section 6, step 4",
        _query_and_fragment,
    ),
)
"""The rules in the draft's order."""


def normal(ark: Parts) -> Parts:
    """What the rules make of an Extended ARK.

    >>> "".join(normal(Parts("ark:/", "12345/c37-009-31--", "")))
    'ark:12345/c3700931'
    """
    for rule in RULES:
        ark = rule.apply(ark)
    return ark


def steps(ark: Parts) -> Iterator[Step]:
    """The rules that change something, one after the other.

    >>> [step.rule for step in steps(Parts("ARK:/", "12345/x", ""))]
    ['scheme-case', 'classic-slash']
    """
    for rule in RULES:
        changed = rule.apply(ark)
        if changed != ark:
            yield Step(rule.name, rule.title, "".join(ark), "".join(changed), rule.reference)
        ark = changed
