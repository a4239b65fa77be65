"""Archival Resource Keys: parser, structure and normal form (ARK draft, sections 3, 4 and 6).

:func:`parse` returns an :class:`Ark` or raises :class:`~ararat.identifiers.problems.IdentifierError`. The time is
linear in the length of the text. If the grammar refuses a text, :mod:`.diagnosis` finds the first error.

An ARK is *strict* if it follows the grammar as meant. It is *liberal* if only the letter of the productions, or an
example of the draft, allows it: a dot inside a Name (A-05), a hyphen in the NAAN (A-03), a percent-encoded non-ASCII
NAAN (A-04) or raw bidirectional formatting characters (A-09). Text that matches the productions is refused if its
normal form does not match them, because by Theorem 2 it is not an ARK (A-04, A-06).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import characters, confusables, display, iri
from . import diagnosis, length
from .grammar import (
    BASE29,
    BASE29_ONLY,
    EXTENDED_ARK,
    METADATA_INFLECTIONS,
    PLAIN_ARK,
    RESERVED_NAAN,
    naan_of,
)
from .normalization import Parts, Step, hyphenless, normal, split_variants, steps

_OUTSIDE_BASE29 = re.compile(f"[^{BASE29}]")
_ENCODED_DOT = re.compile("%2E", re.IGNORECASE)
_BIDI_FORMATTING = re.compile(f"[{''.join(sorted(characters.BIDI_FORMATTING))}]")


class Written(NamedTuple):
    """The parts of an Extended ARK, as written."""

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
        """Split ``text`` at the delimiters. It must be an Extended ARK."""
        matched = _match(text)
        label, naan, path, tail, query, fragment = matched.group("label", "naan", "path", "tail", "query", "fragment")
        *containers, last = path.split("/")
        head, variants = split_variants(last)
        name, *components = [*containers, head]
        return cls(
            label, naan, name, tuple(components), variants, query, fragment, Parts(label, f"{naan}/{path}", tail)
        )

    def segments(self) -> Iterator[Segment]:
        """Yield the parts with their places, in order and without gaps."""
        start = 0
        for part, written in self._in_order():
            yield Segment(part, start, start + len(written))
            start += len(written)

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
    """An Extended ARK. Its parts are as written. Comparison uses the normal form.

    Equal values are equivalent: "ARKs are said to be equivalent if they have the same normal form."

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
        """The parts as written. Parsed on each access, because most ARKs are only compared and looked up."""
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
        """The query as written, or None. A bare question mark is an empty query."""
        return self.written.query

    @property
    def fragment(self) -> str | None:
        """The fragment as written, or None."""
        return self.written.fragment

    @property
    def basic(self) -> str:
        """The normal form without query and fragment. It is the key of a binding."""
        return self.normal_form.partition("#")[0].partition("?")[0]

    @property
    def normal_naan(self) -> str:
        """The NAAN in normal form.

        >>> parse("ark:/12-345/x").normal_naan
        '12345'
        """
        return naan_of(self.normal_form)

    @property
    def inflection(self) -> str:
        """The query with its question mark, in normal form, or "" if the ARK has no query (section 3.4).

        >>> parse("ark:12345/x?").inflection, parse("ark:12345/x?%69nfo").inflection
        ('?', '?info')
        """
        without_fragment = self.normal_form.partition("#")[0]
        _, mark, query = without_fragment.partition("?")
        return mark + query

    @property
    def service(self) -> str:
        """The service that the inflection requests: "referent", "metadata", or "unknown" if the draft has none."""
        if not self.inflection:
            return "referent"
        return "metadata" if self.inflection in METADATA_INFLECTIONS else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes of normalization, one step per rule that changes something."""
        return tuple(steps(self.written.parts))

    @property
    def hierarchy(self) -> tuple[str, ...]:
        """The containers of the ARK, most general first, then the ARK itself, in normal form (section 3.2, H-01).

        A container has no variants. If the ARK has variants, the last container is the ARK without them.

        >>> parse("ark:/12345/a-x/b.pdf.en").hierarchy
        ('ark:12345/ax', 'ark:12345/ax/b', 'ark:12345/ax/b.en.pdf')
        """
        return tuple(self.ancestry())[::-1]

    def ancestry(self) -> Iterator[str]:
        """Yield the hierarchy from the ARK itself up to its most general container. It can be arbitrarily long."""
        yield self.basic
        if generic := self.variant_of:
            yield generic
        container = self.basic.rpartition("/")[0]
        while "/" in container:
            # Only the last segment has variants. The container that ends at this segment can have some.
            yield "".join(normal(Parts("ark:", container[4:], ""))) if "." in container else container
            container = container.rpartition("/")[0]

    @property
    def variant_of(self) -> str | None:
        """The ARK without its variants, in normal form, or None if it has no variants.

        >>> parse("ark:12345/x.en?info").variant_of
        'ark:12345/x'
        """
        # Without a dot there are no variants. Do not parse the parts: there can be half a million.
        if "." not in self.text or not self.variants:
            return None
        container, slash, segment = self.basic.rpartition("/")
        return container + slash + split_variants(segment)[0]

    @property
    def strict(self) -> bool:
        """Whether the ARK follows the grammar as meant, not only its letter or an example of the draft."""
        return next(self._liberties(), None) is None

    @property
    def dot_segment(self) -> bool:
        """Whether a part of the ARK is "." or "..", which browsers and servers remove from paths (A-07)."""
        return iri.has_dot_segment(self.basic)

    @property
    def reserved_naan(self) -> bool:
        """Whether the NAAN, in any spelling, is 99999, which is reserved for invalid ARKs (ARK-019).

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
        """Warnings and notes about the ARK, in the order of the text."""
        return tuple(sorted(self._problems(), key=lambda found: (found.start, found.end)))

    def _liberties(self) -> Iterator[Problem]:
        """Yield a problem for each place that only the letter of the grammar, or an example, allows."""
        written = self.written
        naan = len(written.label), len(written.label) + len(written.naan)
        if "-" in written.naan:
            yield problem("naan-hyphen", *naan)
        if "%" in written.naan and not BASE29_ONLY.fullmatch(self.normal_naan):
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


def parse(text: str) -> Ark:
    """Parse an Extended ARK from any str, in linear time.

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
    return Ark(text, _normal_form(text))


def reads(text: str) -> bool:
    """Return whether :func:`parse` accepts ``text``. Faster than parse on invalid text: it builds no error.

    >>> reads("ark:12345/x.en"), reads("ark:12345"), reads("ark:12345/-")
    (True, False, False)
    """
    matched = EXTENDED_ARK.fullmatch(text)
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


def normalize(text: str) -> str:
    """Return the normal form of an Extended ARK, by the algorithm of the draft.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` with the code ``not-an-extended-ark`` for any other
    string ("This algorithm is explicitly undefined for strings other than Extended ARKs.").

    Source: ARK draft, section 6; ARK-072 to ARK-083.

    >>> normalize("ark:12345/4\\u0431\\u04443\\u04451")
    'ark:12345/4%D0%B1%D1%843%D1%851'
    """
    try:
        return _normal_form(text)
    except IdentifierError as error:
        cause = error.problem
        message = f"only an Extended ARK has a normal form: {cause.message}"
        raise IdentifierError(text, problem("not-an-extended-ark", cause.start, cause.end, message)) from None


def plain(text: str) -> str | None:
    """Return the normal form of a plain Basic ARK (:data:`~.grammar.PLAIN_ARK`), or None for any other text.

    A plain ARK has no hyphen and no percent sign, only ASCII, and a Base29 NAAN. This fast path skips the rules.

    >>> plain("ark:/12345/x/map.pdf.en"), plain("ark:12345/x-1"), plain("ark:12345/x?info")
    ('ark:12345/x/map.en.pdf', None, None)
    """
    matched = PLAIN_ARK.fullmatch(text)
    if matched is None:
        return None
    body, variants = matched.groups()
    if variants.count(".") > 1:
        variants = "." + ".".join(sorted(set(variants[1:].split("."))))
    return f"ark:{body}{variants}"


def _normal_form(text: str) -> str:
    if (found := plain(text)) is not None:
        return found
    matched = _match(text)
    body = text[matched.start("naan") : matched.start("tail")]
    normal_parts = normal(Parts(matched["label"], body, matched["tail"]))
    _require_ark(text, matched, normal_parts.body)
    return "".join(normal_parts)


def bidi_formatting(text: str) -> Iterator[Problem]:
    """Yield a problem for the first raw bidirectional formatting character of ``text``, if any (A-09)."""
    # RFC 3987, section 4.1: "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, LRO, RLO,
    # and PDF)."
    if found := _BIDI_FORMATTING.search(text):
        yield problem("bidi-formatting", *found.span(), f"{display.named(found[0])} is not allowed in an IRI")


def character_notes(text: str) -> Iterator[Problem]:
    """Yield problems about the non-ASCII characters of ``text``: one per kind, at its first place."""
    if text.isascii():
        return
    first = _first_span(iri.NON_ASCII, text)
    yield problem("non-ascii", *first)
    kinds: dict[str, list[str]] = {}
    for char in set(text) - characters.BIDI_FORMATTING:
        kind = characters.classify(char)
        if kind is not None:
            kinds.setdefault("unassigned" if kind == "unassigned" else "hidden-char", []).append(char)
    for code, chars in kinds.items():
        start, end = _first_span(re.compile(f"[{re.escape(''.join(chars))}]"), text)
        yield problem(code, start, end, f"{display.named(text[start])} {_HIDDEN_MESSAGES[code]}")
    if look := confusables.first(text):
        message = f"{display.named(look[0])} looks like {confusables.looks_like(look[0])} but is a different character"
        yield problem("confusable", *look.span(), message)
    if not display.is_composed(text):
        yield problem("non-nfc", *first)


def _first_span(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    return next(pattern.finditer(text)).span()


_HIDDEN_MESSAGES = {
    "hidden-char": "is invisible but part of the identifier",
    "unassigned": "is not assigned in Unicode",
}


def _variant_notes(variants: tuple[str, ...], end: int) -> Iterator[Problem]:
    start = end - sum(1 + len(variant) for variant in variants)
    compared = normal(Parts("ark:", "/".join(variants), "")).body.split("/")
    if compared != sorted(compared):
        yield problem("variants-reordered", start, end)
    if len(compared) != len(set(compared)):
        yield problem("variants-deduplicated", start, end)


def _match(text: str) -> re.Match[str]:
    matched = EXTENDED_ARK.fullmatch(text)
    if matched is None:
        raise IdentifierError(text, diagnosis.first_problem(text))
    return matched


def _require_ark(text: str, matched: re.Match[str], normal_body: str) -> None:
    """Raise IdentifierError if the normal form of the matched text is not an ARK.

    Theorem 2: "An extended ARK is a Basic ARK if and only if its normal form is a Basic ARK."
    """
    start, end = matched.span("naan")
    if "%" in matched["naan"] and _OUTSIDE_BASE29.search(iri.TRIPLET.sub("", normal_body.partition("/")[0])):
        raise IdentifierError(text, problem("naan-decodes-outside-base29", start, end))
    if normal_body[0] == "/" or normal_body[-1] == "/" or "//" in normal_body:
        for part in text[start : matched.end("path")].split("/"):
            if not hyphenless(part):
                raise IdentifierError(text, problem("empty-after-normalization", start, start + len(part)))
            start += len(part) + 1
