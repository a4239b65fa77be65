"""The structure of an Archival Resource Key: parts, normal form, containers and problems (ARK draft, sections 3, 4 and
6).

An ARK is *strict* if it follows the grammar as meant. It is *liberal* if only the letter of the productions, or an
example of the draft, allows it. Examples are a dot inside a Name (A-05), a hyphen in the NAAN (A-03), a percent-encoded
non-ASCII NAAN (A-04) and raw bidirectional formatting characters (A-09).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import NamedTuple

from ..normalized import Normalized
from ..problems import Problem, problem
from ..segments import Segment, outer
from ..text import iri
from . import length
from .character_problems import bidi_formatting, character_notes, encoded_control
from .diagnosis import matched_ark
from .grammar import BASE29_ONLY, METADATA_INFLECTIONS, RESERVED_NAAN, naan_of
from .normalization import Parts, Step, by_rules, normal, plain, sort_variants, split_variants, steps

_ENCODED_DOT = re.compile("%2E", re.IGNORECASE)
_WITH_DOT = re.compile("/[^/.]*+[.][^/]*+")
_MARKED = ("component", "variant", "query", "fragment")


class ArkParts(NamedTuple):
    """The parts of an Extended ARK as written, before normalization. ``label`` ends in a slash in the classic form
    ``ark:/``. Components and variants have no mark before them. ``query`` and ``fragment`` are None if their mark is
    missing. ``parts`` are the strings that the rules of normalization change.
    """

    label: str
    naan: str
    name: str
    components: tuple[str, ...]
    variants: tuple[str, ...]
    query: str | None
    fragment: str | None
    parts: Parts

    @classmethod
    def of(cls, text: str) -> ArkParts:
        """Split an Extended ARK at its delimiters. Raises IdentifierError for any other text.

        >>> ArkParts.of("ark:/12345/x6-np1/map.pdf").variants
        ('pdf',)
        """
        matched = matched_ark(text)
        label, naan, path, tail, query, fragment = matched.group("label", "naan", "path", "tail", "query", "fragment")
        *containers, last = path.split("/")
        head, variants = split_variants(last)
        name, *components = [*containers, head]
        return cls(
            label, naan, name, tuple(components), variants, query, fragment, Parts(label, f"{naan}/{path}", tail)
        )

    @property
    def variants_start(self) -> int:
        """The index of the dot before the first variant of the ARK. Without variants, it is the end of the path."""
        return len(self.label) + len(self.parts.body) - len(self.variants) - sum(map(len, self.variants))

    def segments(self, prefix: str = "", most: int | None = None) -> tuple[Segment, ...]:
        """Return the parts of the ARK with their places, in order and without gaps. The mark before a part belongs to
        it. ``prefix`` is the text before the ARK in an address. Of more than ``most`` parts, the first and last ones
        are returned.

        >>> [segment.part for segment in ArkParts.of("ark:12345/x.pdf").segments()]
        ['label', 'naan', 'separator', 'name', 'variant']
        """
        parts, ends = self._ends(prefix)
        # There can be half a million.
        return tuple(map(Segment, outer(parts, most), outer([0, *ends[:-1]], most), outer(ends, most)))

    def part_at(self, place: int) -> str:
        """Return the name of the part that contains the character ``place``, such as "name" or "variant"."""
        parts, ends = self._ends()
        return parts[bisect_right(ends, place)]

    def _ends(self, prefix: str = "") -> tuple[list[str], list[int]]:
        parts = ["label", "naan", "separator", "name"]
        lengths = [len(self.label), len(self.naan), 1, len(self.name)]
        if prefix:
            parts, lengths = ["prefix", *parts], [len(prefix), *lengths]
        query = () if self.query is None else (self.query,)
        fragment = () if self.fragment is None else (self.fragment,)
        for part, texts in zip(_MARKED, (self.components, self.variants, query, fragment), strict=True):
            parts += [part] * len(texts)
            # The mark before a part belongs to it.
            lengths += [1 + length for length in map(len, texts)]
        return parts, list(accumulate(lengths))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Ark(Normalized):
    """An Extended ARK. Its parts are as written, but comparison uses the normal form.

    Equal values are equivalent: "ARKs are said to be equivalent if they have the same normal form." :meth:`parse`
    creates one from text; so does :func:`ararat.parse`.

    >>> ark = Ark.parse("ark:/12345/x6-np1/map.pdf.en?info")
    >>> ark.naan, ark.name, ark.components, ark.variants, ark.query, ark.fragment
    ('12345', 'x6-np1', ('map',), ('pdf', 'en'), 'info', None)
    >>> ark.basic, ark.inflection
    ('ark:12345/x6np1/map.en.pdf', '?info')
    >>> ark == Ark.parse("ark:12345/x6np1/map.en.pdf?info")
    True
    """

    @classmethod
    def parse(cls, text: str) -> Ark:
        """Parse the Extended ARK ``text``, in linear time (ARK draft, section 4; ARK-047 to ARK-059).

        Raises :class:`~ararat.identifiers.problems.IdentifierError` with the first problem for any other text, also for
        a URN and for an address with an ARK. :func:`ararat.parse` reads identifiers of all kinds.

        >>> Ark.parse("ark:/12345/x-5").normal_form
        'ark:12345/x5'
        >>> Ark.parse("urn:isbn:0451450523")
        Traceback (most recent call last):
        ararat.identifiers.problems.IdentifierError: the text does not start with ark: (no-scheme)
            urn:isbn:0451450523
            ^^^^
        expected an ARK; ararat.parse reads URNs and addresses, too (ARK draft, section 4)
        """
        return cls(text, plain(text) or by_rules(text))

    @property
    def written(self) -> ArkParts:
        """The parts as written. They are parsed on each access, because most ARKs are only looked up."""
        return ArkParts.of(self.text)

    @property
    def label(self) -> str:
        """The label as written: ``ark:``, or ``ark:/`` in the classic form, in any case of the letters."""
        return self.written.label

    @property
    def naan(self) -> str:
        """The NAAN (Name Assigning Authority Number) of the organization that assigns the name, as written."""
        return self.written.naan

    @property
    def name(self) -> str:
        """The Name as written: the text between the NAAN and the first component, variant, query or fragment."""
        return self.written.name

    @property
    def components(self) -> tuple[str, ...]:
        """The components as written: the texts after further slashes, without these slashes."""
        return self.written.components

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants as written: the texts after dots at the end of the path, without the dots."""
        return self.written.variants

    @property
    def query(self) -> str | None:
        """The query as written, without its question mark, or None. A bare question mark is an empty query."""
        return self.written.query

    @property
    def fragment(self) -> str | None:
        """The fragment as written, without its number sign, or None."""
        return self.written.fragment

    @property
    def basic(self) -> str:
        """The normal form without query and fragment. A resolver stores and looks up the ARK by this text.

        >>> Ark.parse("ark:/12345/x-1?info").basic
        'ark:12345/x1'
        """
        return self.normal_form.partition("#")[0].partition("?")[0]

    @property
    def normal_naan(self) -> str:
        """The NAAN in normal form: without hyphens and needless percent-encoding, such as "12345" for ``12-345``."""
        return naan_of(self.normal_form)

    @property
    def inflection(self) -> str:
        """The query with its question mark in normal form, or "" without a query (ARK draft, section 3.4).

        >>> Ark.parse("ark:12345/x?").inflection, Ark.parse("ark:12345/x?%69nfo").inflection
        ('?', '?info')
        """
        without_fragment = self.normal_form.partition("#")[0]
        _, mark, query = without_fragment.partition("?")
        return mark + query

    @property
    def service(self) -> str:
        """The requested service: "referent" (the thing itself), "metadata" (?, ?? or ?info) or "unknown" (others)."""
        if not self.inflection:
            return "referent"
        return "metadata" if self.inflection in METADATA_INFLECTIONS else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The rules of normalization that change this ARK, in order, each with the ARK before and after it.

        >>> [step.rule for step in Ark.parse("ark:/12345/x-1").steps]
        ['classic-slash', 'hyphens']
        """
        return tuple(steps(self.written.parts))

    @property
    def hierarchy(self) -> tuple[str, ...]:
        """The containers of the ARK, most general first, then the ARK itself, in normal form (section 3.2, H-01). A
        container has no variants: that of an ARK with variants is the ARK without them.

        >>> Ark.parse("ark:/12345/a-x/b.pdf.en").hierarchy
        ('ark:12345/ax', 'ark:12345/ax/b', 'ark:12345/ax/b.en.pdf')
        """
        return tuple(self.ancestry())[::-1]

    def ancestry(self) -> Iterator[str]:
        """Yield the members of :attr:`hierarchy`, but the ARK itself first and its most general container last. The
        number of members grows with the length of the ARK, so a caller can stop early.
        """
        yield self.basic
        if generic := self.variant_of:
            yield generic
        container = self.basic.rpartition("/")[0]
        while "/" in container:
            # Only the last segment has variants. The container that ends at this segment can have some. All else of a
            # container is in normal form already, because the ARK is.
            yield f"ark:{sort_variants(container[4:])}" if "." in container else container
            container = container.rpartition("/")[0]

    @property
    def variant_of(self) -> str | None:
        """The normal form of the ARK without its variants, or None if it has no variants.

        >>> Ark.parse("ark:12345/x.en?info").variant_of
        'ark:12345/x'
        """
        # Without a dot there are no variants. Do not parse the parts: there can be half a million.
        if "." not in self.basic:
            return None
        container, slash, segment = self.basic.rpartition("/")
        head, variants = split_variants(segment)
        return container + slash + head if variants else None

    @property
    def strict(self) -> bool:
        """Whether the ARK follows the grammar as meant. If not, it is liberal: see :mod:`.ark.model`.

        >>> Ark.parse("ark:12345/x").strict, Ark.parse("ark:12-345/x").strict
        (True, False)
        """
        return next(self._liberties(self.written), None) is None

    @property
    def dot_segment(self) -> bool:
        """Whether a part is "." or "..", plain or percent-encoded. Browsers and servers remove it from paths (A-07)."""
        return iri.has_dot_segment(self.basic)

    @property
    def reserved_naan(self) -> bool:
        """Whether the NAAN, in any spelling, is 99999, which is reserved for invalid ARKs (ARK-019)."""
        return self.basic.startswith(RESERVED_NAAN)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts with their places in ``text``, in order and without gaps. The mark before a part belongs to it.

        >>> [(part.part, part.start) for part in Ark.parse("ark:12345/x").segments]
        [('label', 0), ('naan', 4), ('separator', 9), ('name', 10)]
        """
        return self.written.segments()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings and notes about this valid ARK, such as characters that can mislead, in the order of their places.

        >>> [problem.code for problem in Ark.parse("ark:99999/x.b.a").problems]
        ['naan-reserved-invalid', 'variants-reordered']
        """
        return self.first_problems()

    def first_problems(self, most: int | None = None) -> tuple[Problem, ...]:
        """Return the first ``most`` members of :attr:`problems` (None: all). There can be a quarter of a million."""
        return tuple(sorted(self._problems(most), key=lambda found: (found.start, found.end))[:most])

    def _liberties(self, written: ArkParts, most: int | None = None) -> Iterator[Problem]:
        """Yield a problem for each place that only the letter of the grammar or an example allows."""
        naan = len(written.label), len(written.label) + len(written.naan)
        if "-" in written.naan:
            yield problem("naan-hyphen", *naan)
        if "%" in written.naan and not BASE29_ONLY.fullmatch(self.normal_naan):
            yield problem("naan-not-base29", *naan)
        for match in islice(_WITH_DOT.finditer(self.text, naan[1], written.variants_start), most):
            # The slash before a component belongs to it, the one before the Name does not.
            yield problem("dot-in-name", match.start() + (match.start() == naan[1]), match.end())
        yield from bidi_formatting(self.text)

    def _problems(self, most: int | None) -> Iterator[Problem]:
        written = self.written
        naan = len(written.label), len(written.label) + len(written.naan)
        body = naan[0], naan[0] + len(written.parts.body)
        yield from self._liberties(written, most)
        if self.reserved_naan:
            yield problem("naan-reserved-invalid", *naan)
        if self.dot_segment:
            yield problem("dot-segment", naan[1], body[1])
        if dot := _ENCODED_DOT.search(written.parts.body):
            yield problem("encoded-dot", body[0] + dot.start(), body[0] + dot.end())
        if control := encoded_control(self.text):
            yield problem("encoded-control", *control.span())
        yield from character_notes(self.text)
        if written.variants:
            yield from _variant_notes(written.variants, written.variants_start, body[1])
        if length.may_refuse(self.text):
            yield problem("too-long", 0, len(self.text))


def _variant_notes(variants: tuple[str, ...], start: int, end: int) -> Iterator[Problem]:
    compared = normal(Parts("ark:", "/".join(variants), "")).body.split("/")
    if compared != sorted(compared):
        yield problem("variants-reordered", start, end)
    if len(compared) != len(set(compared)):
        yield problem("variants-deduplicated", start, end)
