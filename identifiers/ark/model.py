"""Archival Resource Keys: grammar, structure, normal form (ARK draft, sections 3, 4 and 6).

Text goes in; an :class:`Ark` comes out, or :class:`~ararat.identifiers.problems.IdentifierError` is raised. One
regular expression, whose quantifiers are all possessive, reads the language of the draft's productions in one pass
whatever the input; what it cannot read goes to :mod:`~ararat.identifiers.ark.diagnosis`, which finds the first place
that is wrong and says why.

Two readings are told apart. *Strict* is the grammar as meant. *Liberal* is what only the letter of the productions or
an example of the draft allows: a dot inside a Name (A-05), a hyphen in the NAAN (A-03), a percent-encoded non-ASCII
NAAN (A-04), raw bidirectional formatting characters (A-09). A string that the productions match but whose normal form
they do not is refused, since Theorem 2 says it is no ARK (A-04, A-06).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import characters, confusables, display, iri
from . import diagnosis, length
from .normalization import ARK_UNRESERVED, Parts, Step, hyphenless, normal, split_variants, steps

# ARK draft, section 4:
#     NAAN = 1*(Base29-char / pct-encoded)
#     Base29-char = DIGIT / "b" / "c" / "d" / "f" / "g" / "h" / "j" / "k" / "m" / "n" / "p" / "q" / "r" / "s" / "t" /
# "v" / "w" / "x" / "z"
BASE29 = "0-9bcdfghjkmnpqrstvwxz"
# the grammar has no "-" here, but the example of section 7.1.1 needs it.
NAAN = iri.run(rf"{BASE29}\-")

#     Name = 1*Name-char
#     Name-char = ARK-unreserved / "-" / pct-encoded / iunreserved
#     Qualifier = ComponentPath / VariantPath / ComponentPath VariantPath
#     ComponentPath = 1*("/" 1*Name-char)
#     VariantPath = 1*("." 1*Name-char)
# iunreserved adds "." and ucschar. Where the dots delimit variants is seen to once the segments are known.
NAME_CHARS = iri.run(rf"{ARK_UNRESERVED}\-.{iri.UCSCHAR}")
PATH = f"{NAME_CHARS}(?:/{NAME_CHARS})*+"

# RFC 3987, section 2.2:  iquery = *( ipchar / iprivate / "/" / "?" )      ifragment = *( ipchar / "/" / "?" )
IQUERY = iri.run(f"{iri.IPCHAR}{iri.IPRIVATE}/?", least=0)
IFRAGMENT = iri.run(f"{iri.IPCHAR}/?", least=0)

#     Extended-ARK = Basic-ARK ["?" iquery] ["#" ifragment]
#     Basic-ARK = ~"ark:" ["/"] NAAN "/" Name [Qualifier]
EXTENDED_ARK = re.compile(
    rf"(?P<label>[Aa][Rr][Kk]:/?)(?P<naan>{NAAN})/(?P<path>{PATH})(?P<tail>(?:\?(?P<query>{IQUERY}))?(?:#(?P<fragment>{IFRAGMENT}))?)"
)
# Nearly every ARK there is holds nothing that a rule of section 6 changes but its label and the order of its
# variants: such a one is read at once.
_PLAIN = re.compile(
    rf"[Aa][Rr][Kk]:/?([{BASE29}]++/[{ARK_UNRESERVED}]++(?:/[{ARK_UNRESERVED}]++)*+)((?:\.[{ARK_UNRESERVED}]++)*+)"
)

LABEL = re.compile("[Aa][Rr][Kk]:")
LABELS = frozenset(map("".join, product("aA", "rR", "kK", ":")))
"""The label in every case. Only ASCII letters are compared, so that no other k is ever folded into this one."""

# "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid"
RESERVED_NAAN = "ark:99999/"
"""What begins the normal form of an ARK that is invalid by its NAAN."""

_NORMAL_NAAN = re.compile(f"[{BASE29}]+")
_OUTSIDE_BASE29 = re.compile(f"[^{BASE29}]")
_ENCODED_DOT = re.compile("%2E", re.IGNORECASE)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2E){1,2}(?:/|\Z)", re.IGNORECASE)
_METADATA = ("?", "??", "?info")


class Written(NamedTuple):
    """The parts of an Extended ARK as they are written."""

    label: str
    naan: str
    name: str
    components: tuple[str, ...]
    variants: tuple[str, ...]
    query: str | None
    fragment: str | None
    parts: Parts

    @classmethod
    def of(cls, text: str) -> Written:
        """The parts of ``text``, which must be an Extended ARK."""
        label, naan, path, tail, query, fragment = _read(text).group(
            "label", "naan", "path", "tail", "query", "fragment"
        )
        *containers, last = path.split("/")
        head, variants = split_variants(last)
        name, *components = [*containers, head]
        return cls(
            label, naan, name, tuple(components), variants, query, fragment, Parts(label, f"{naan}/{path}", tail)
        )

    def segments(self) -> Iterator[Segment]:
        """The parts with their places, in order and without gaps."""
        place = 0
        for part, written in self._in_order():
            yield Segment(part, place, place + len(written))
            place += len(written)

    def _in_order(self) -> Iterator[tuple[str, str]]:
        yield "label", self.label
        yield "naan", self.naan
        yield "separator", "/"
        yield "name", self.name
        for component in self.components:
            yield "component", "/" + component
        for variant in self.variants:
            yield "variant", "." + variant
        if self.query is not None:
            yield "query", "?" + self.query
        if self.fragment is not None:
            yield "fragment", "#" + self.fragment


@dataclass(frozen=True, slots=True, eq=False)
class Ark:
    """An Extended ARK. Its parts are as written; everything that is compared is in normal form.

    Two values are equal when they are equivalent: "ARKs are said to be equivalent if they have the same normal form."

    >>> ark = parse("ark:/12345/x6-np1/map.pdf.en?info")
    >>> ark.naan, ark.name, ark.components, ark.variants, ark.query, ark.fragment
    ('12345', 'x6-np1', ('map',), ('pdf', 'en'), 'info', None)
    >>> ark.basic, ark.inflection
    ('ark:12345/x6np1/map.en.pdf', '?info')
    >>> ark == parse("ark:12345/x6np1/map.en.pdf?info")
    True
    """

    text: str
    normal_form: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ark):
            return self.normal_form == other.normal_form
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.normal_form)

    def __str__(self) -> str:
        return self.normal_form

    @property
    def written(self) -> Written:
        """The parts as written, read from ``text`` each time: most ARKs are only ever compared and looked up."""
        return Written.of(self.text)

    @property
    def label(self) -> str:
        """The label as written, with the slash of the classic form."""
        return self.written.label

    @property
    def naan(self) -> str:
        """The Name Assigning Authority Number as written."""
        return self.written.naan

    @property
    def name(self) -> str:
        """The Name as written."""
        return self.written.name

    @property
    def components(self) -> tuple[str, ...]:
        """The components as written, without their slashes."""
        return self.written.components

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants as written and in that order, without their dots."""
        return self.written.variants

    @property
    def query(self) -> str | None:
        """The query as written, or None: the bare question mark is an empty query, not none."""
        return self.written.query

    @property
    def fragment(self) -> str | None:
        """The fragment as written, or None."""
        return self.written.fragment

    @property
    def basic(self) -> str:
        """The normal form of the Basic ARK, without query and fragment: the key under which it is bound and found."""
        return self.normal_form.partition("#")[0].partition("?")[0]

    @property
    def inflection(self) -> str:
        """The query with its question mark, in normal form; "" where there is none (section 3.4).

        >>> parse("ark:12345/x?").inflection, parse("ark:12345/x?%69nfo").inflection
        ('?', '?info')
        """
        requested = self.normal_form.partition("#")[0]
        _, mark, query = requested.partition("?")
        return mark + query

    @property
    def service(self) -> str:
        """What the inflection asks for: "referent", "metadata" or, where the draft does not say, "unknown"."""
        if not self.inflection:
            return "referent"
        # "It is RECOMMENDED that a ARK resolver gives the inflections ? and ?? the same semantics as ?info"
        return "metadata" if self.inflection in _METADATA else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """What normalization changes, rule by rule."""
        return tuple(steps(self.written.parts))

    @property
    def hierarchy(self) -> tuple[str, ...]:
        """The containers of the ARK, most general first, and the ARK itself, each in normal form (section 3.2, H-01).

        A container has no variants; where the ARK has some, the last but one is the ARK of which it is a variant.

        >>> parse("ark:/12345/a-x/b.pdf.en").hierarchy
        ('ark:12345/ax', 'ark:12345/ax/b', 'ark:12345/ax/b.en.pdf')
        """
        return tuple(self.ancestry())[::-1]

    def ancestry(self) -> Iterator[str]:
        """The same from the ARK itself up to the most general, one by one: an ARK may have any number of components."""
        yield self.basic
        if generic := self.variant_of:
            yield generic
        container = self.basic.rpartition("/")[0]
        while "/" in container:
            # A dot in a segment that is not the last begins no variant, but the container that ends there has one.
            yield "".join(normal(Parts("ark:", container[4:], ""))) if "." in container else container
            container = container.rpartition("/")[0]

    @property
    def variant_of(self) -> str | None:
        """The ARK of which this is a variant, in normal form, or None.

        >>> parse("ark:12345/x.en?info").variant_of
        'ark:12345/x'
        """
        # Where no dot is, the parts need not be read; there may be half a million of them.
        if "." not in self.text or not self.variants:
            return None
        container, slash, segment = self.basic.rpartition("/")
        return container + slash + split_variants(segment)[0]

    @property
    def strict(self) -> bool:
        """Whether the grammar as meant reads the ARK, and not just its letter or an example."""
        return next(self._liberties(), None) is None

    @property
    def dot_segment(self) -> bool:
        """Whether generic software would remove a part of the ARK as a dot-segment (A-07)."""
        basic = self.basic
        return ("/." in basic or "/%2" in basic) and _DOT_SEGMENT.search(basic) is not None

    @property
    def reserved_naan(self) -> bool:
        """Whether the NAAN is the one that is reserved for invalid ARKs, however it is spelled (ARK-019).

        "Applications that handle ARKs ... SHOULD recognize NAAN 99999 as being invalid" (ARK draft, section 3.1)

        >>> parse("ark:/999-99/x").reserved_naan, parse("ark:999990/x").reserved_naan
        (True, False)
        """
        return self.basic.startswith(RESERVED_NAAN)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts with their places in ``text``, in order and without gaps."""
        return tuple(self.written.segments())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What should be known about the ARK though it can be read, in the order of the text."""
        return tuple(sorted(self._problems(), key=lambda found: (found.start, found.end)))

    def _liberties(self) -> Iterator[Problem]:
        """What only the letter of the grammar, or an example, allows."""
        written = self.written
        naan = len(written.label), len(written.label) + len(written.naan)
        if "-" in written.naan:
            yield problem("naan-hyphen", *naan)
        if "%" in written.naan and not _NORMAL_NAAN.fullmatch(self.basic[4:].partition("/")[0]):
            yield problem("naan-not-base29", *naan)
        if "." in written.name or any("." in component for component in written.components):
            for segment in written.segments():
                if segment.part in ("name", "component") and "." in self.text[segment.start : segment.end]:
                    yield problem("dot-in-name", segment.start, segment.end)
        yield from bidi_formatting(self.text)

    def _problems(self) -> Iterator[Problem]:
        written = self.written
        naan = len(written.label), len(written.label) + len(written.naan)
        body = naan[0], naan[0] + len(written.parts.body)
        yield from self._liberties()
        if self.reserved_naan:
            yield problem("naan-reserved-invalid", *naan)
        if self.dot_segment:
            yield problem("dot-segment", naan[1], body[1])
        if dot := _ENCODED_DOT.search(written.parts.body):
            yield problem("encoded-dot", body[0] + dot.start(), body[0] + dot.end())
        if control := diagnosis.encoded_control(self.text):
            yield problem("encoded-control", *control.span())
        yield from character_notes(self.text)
        if written.variants:
            yield from _variant_notes(written.variants, body[1])
        if length.may_refuse(self.text):
            yield problem("too-long", 0, len(self.text))


_BIDI_FORMATTING = re.compile(f"[{''.join(sorted(characters.BIDI_FORMATTING))}]")


def parse(text: str) -> Ark:
    """Read an Extended ARK.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for everything else, embedded ARKs included, pointing
    at the first place that is wrong. Any str can be given; the time taken is linear in its length.

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
    return Ark(text, _normal_form(text))


def reads(text: str) -> bool:
    """Whether :func:`parse` reads ``text``. Faster than parse where it does not: it looks for no reason.

    >>> reads("ark:12345/x.en"), reads("ark:12345"), reads("ark:12345/-")
    (True, False, False)
    """
    read = EXTENDED_ARK.fullmatch(text)
    if read is None:
        return False
    if "%" not in read["path"] and "%" not in read["naan"]:
        # Nothing is decoded, so that only the deletion of hyphens can leave nothing.
        return "-" not in text or all(
            part.strip("-") for part in text[read.start("naan") : read.end("path")].split("/")
        )
    try:
        _normal_form(text)
    except IdentifierError:
        return False
    return True


def normalize(text: str) -> str:
    """The normal form of an Extended ARK: the function of the draft, whose domain is Extended ARKs alone.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` with the code ``not-an-extended-ark`` for any other
    string ("This algorithm is explicitly undefined for strings other than Extended ARKs.").

    Source: ARK draft, section 6; ARK-072 to ARK-083.

    >>> normalize("ark:12345/4\\u0431\\u04443\\u04451")
    'ark:12345/4%D0%B1%D1%843%D1%851'
    """
    try:
        return _normal_form(text)
    except IdentifierError as error:
        why = f"normalization is defined for Extended ARKs alone: {error.problem.message}"
        raise IdentifierError(
            text, problem("not-an-extended-ark", error.problem.start, error.problem.end, why)
        ) from None


def plain(text: str) -> str | None:
    """The normal form of a Basic ARK that holds nothing which a rule of section 6 changes but its label and the order
    of its variants: no hyphen and no percent sign, ASCII alone, and a NAAN of Base29. None for any other text.

    >>> plain("ark:/12345/x/map.pdf.en"), plain("ark:12345/x-1"), plain("ark:12345/x?info")
    ('ark:12345/x/map.en.pdf', None, None)
    """
    read = _PLAIN.fullmatch(text)
    if read is None:
        return None
    named, variants = read.groups()
    if variants.count(".") > 1:
        variants = "." + ".".join(sorted(set(variants[1:].split("."))))
    return f"ark:{named}{variants}"


def _normal_form(text: str) -> str:
    """The normal form of an Extended ARK; raises IdentifierError for what is none."""
    if (found := plain(text)) is not None:
        return found
    read = _read(text)
    normal_parts = normal(Parts(read["label"], text[read.start("naan") : read.start("tail")], read["tail"]))
    _require_ark(text, read, normal_parts.body)
    return "".join(normal_parts)


def bidi_formatting(text: str) -> Iterator[Problem]:
    """The first raw bidirectional formatting character of ``text``, where it has one (A-09)."""
    # RFC 3987, section 4.1: "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, LRO, RLO,
    # and PDF)."
    if found := _BIDI_FORMATTING.search(text):
        yield problem("bidi-formatting", *found.span(), f"{display.named(found[0])} must not stand in an IRI")


def character_notes(text: str) -> Iterator[Problem]:
    """What is to be said of the characters of ``text`` outside ASCII, each kind once, at its first place."""
    if text.isascii():
        return
    first = _place(iri.NON_ASCII, text)
    yield problem("non-ascii", *first)
    kinds: dict[str, list[str]] = {}
    for char in set(text) - characters.BIDI_FORMATTING:
        kind = characters.classify(char)
        if kind is not None:
            kinds.setdefault("unassigned" if kind == "unassigned" else "hidden-char", []).append(char)
    for code, chars in kinds.items():
        start, end = _place(re.compile(f"[{re.escape(''.join(chars))}]"), text)
        yield problem(code, start, end, f"{display.named(text[start])} {_HIDDEN_MESSAGES[code]}")
    if look := confusables.first(text):
        twin = confusables.looks_like(look[0])
        yield problem(
            "confusable", *look.span(), f"{display.named(look[0])} looks like {twin}, but is another character"
        )
    if not display.is_composed(text):
        yield problem("non-nfc", *first)


def _place(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    return next(pattern.finditer(text)).span()


_HIDDEN_MESSAGES = {
    "hidden-char": "cannot be seen, but is part of the identifier",
    "unassigned": "has no character assigned to it",
}


def _variant_notes(variants: tuple[str, ...], end: int) -> Iterator[Problem]:
    start = end - sum(1 + len(variant) for variant in variants)
    compared = normal(Parts("ark:", "/".join(variants), "")).body.split("/")
    if compared != sorted(compared):
        yield problem("variants-reordered", start, end)
    if len(compared) != len(set(compared)):
        yield problem("variants-deduplicated", start, end)


def _read(text: str) -> re.Match[str]:
    read = EXTENDED_ARK.fullmatch(text)
    if read is None:
        raise IdentifierError(text, diagnosis.first_fault(text))
    return read


def _require_ark(text: str, read: re.Match[str], normal_body: str) -> None:
    """Refuse what the productions match though its normal form is no ARK.

    Theorem 2: "An extended ARK is a Basic ARK if and only if its normal form is a Basic ARK."
    """
    start, end = read.span("naan")
    if "%" in read["naan"] and _OUTSIDE_BASE29.search(iri.TRIPLET.sub("", normal_body.partition("/")[0])):
        raise IdentifierError(text, problem("naan-decodes-outside-base29", start, end))
    if normal_body[0] == "/" or normal_body[-1] == "/" or "//" in normal_body:
        for part in text[start : read.end("path")].split("/"):
            if not hyphenless(part):
                raise IdentifierError(text, problem("empty-after-normalization", start, start + len(part)))
            start += len(part) + 1
