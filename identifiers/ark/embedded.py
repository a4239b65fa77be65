"""ARKs inside addresses, such as ``https://n2t.net/ark:12345/x``: split an address into a prefix and an ARK. Source:
ARK draft, section 4.1. Decisions: E-01, E-02, E-03, E-04, E-05, E-06, E-07.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import iri
from . import parser as ark
from .character_problems import bidi_formatting, character_notes
from .grammar import ENCODED_COLON, ENCODED_LABEL_PATTERN, LABEL, LABEL_PATTERN, LABELS
from .model import Ark

# RFC 3986, section 3.1:  scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*+"
# RFC 3987, section 2.2:
#     iauthority = [ iuserinfo "@" ] ihost [ ":" port ]
#     ihost = IP-literal / IPv4address / ireg-name
#     isegment = *ipchar      isegment-nz = 1*ipchar
_REG_NAME = f"{iri.UNRESERVED}{iri.SUB_DELIMS}{iri.UCSCHAR}"
IAUTHORITY = (
    f"(?:{iri.run(_REG_NAME + ':', least=0)}@)?"
    rf"(?:\[[0-9A-Fa-f:.vV]++\]|{iri.run(_REG_NAME, least=0)})(?::[0-9]*+)?"
)
ISEGMENT = iri.run(iri.IPCHAR, least=0)
ISEGMENT_NZ = iri.run(iri.IPCHAR)

# ARK draft, section 4.1:
#     prefix = scheme ":" ["/" isegment-nz *("/" isegment)] /
#              scheme "://" iauthority *("/" isegment)
_PREFIX = rf"(?P<scheme>{SCHEME}):(?://(?P<authority>{IAUTHORITY})(?P<path>(?:/{ISEGMENT})*+)|(?:/{ISEGMENT_NZ}(?:/{ISEGMENT})*+)?)"

_PATH = re.compile("[^?#]*+")
_FROM_LABEL = re.compile(rf"(?:{SCHEME}://[^/?#]*+/(?:[^/?#]*+/)*?)?(?P<label>{LABEL_PATTERN})")
_SURROGATE = re.compile("[\ud800-\udfff]")


class SplitAddress(NamedTuple):
    """An address (URL) that is split before the label of the ARK in it. ``rest`` is the ARK as written. ``boundary``:
    the label starts a path segment. ``inside_segment``: it follows a character of its segment that is neither a letter
    nor a digit. If both are false, it only ends a longer word, as in ``https://example.org/park:12345/x``.
    """

    prefix: str
    rest: str
    boundary: bool
    inside_segment: bool

    @property
    def ark(self) -> Ark:
        """The ARK in the address, parsed on each access."""
        return ark.parse(self.rest)

    @property
    def is_ark(self) -> bool:
        """Whether the label begins an ARK, and is not only the end of a longer word, such as "park:" (E-02)."""
        return self.boundary or self.inside_segment


@dataclass(frozen=True, slots=True, eq=False, init=False)
class EmbeddedArk:
    """An address that contains an ARK. Query and fragment belong to the ARK (E-06). Two values are equal if their ARKs
    are equivalent: the prefix does not count (N-06).

    - ``text``: the whole address. ``prefix``: the address up to the label. ``ark``: the ARK after the prefix.
    - ``boundary``: whether the label starts a segment of the path.

    >>> address = parse("https://n2t.net/ark:/12345/x6-np1?info")
    >>> address.prefix, address.ark.text, address.normal_form
    ('https://n2t.net/', 'ark:/12345/x6-np1?info', 'ark:12345/x6np1?info')
    """

    text: str
    prefix: str
    ark: Ark
    boundary: bool

    def __init__(self, text: str, prefix: str = "", ark: Ark | None = None, boundary: bool = True) -> None:
        if ark is None:
            raise TypeError("EmbeddedArk() needs the prefix and the ARK too; to read a text, call ararat.parse(text)")
        for name, value in (("text", text), ("prefix", prefix), ("ark", ark), ("boundary", boundary)):
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EmbeddedArk):
            return self.ark == other.ark
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.ark)

    @property
    def normal_form(self) -> str:
        """The normal form of the ARK, without the prefix."""
        return self.ark.normal_form

    @property
    def strict(self) -> bool:
        """Whether the address has a strict ARK that starts a path segment, without formatting characters before it."""
        return self.boundary and self.ark.strict and next(bidi_formatting(self.prefix), None) is None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts of the address with their places, in order and without gaps. The prefix is the first one."""
        return self.ark.written.segments(self.prefix)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Warnings and notes about the prefix, then those about the ARK. Their places are places in the address."""
        return self.first_problems()

    def first_problems(self, most: int | None = None) -> tuple[Problem, ...]:
        """Return the first ``most`` warnings and notes about the address (:attr:`problems`). None returns all."""
        return tuple(islice(self._problems(most), most))

    def _problems(self, most: int | None) -> Iterator[Problem]:
        start = len(self.prefix)
        yield from bidi_formatting(self.prefix)
        yield from character_notes(self.prefix)
        if not self.boundary:
            yield problem("label-inside-segment", start, start + len(self.ark.label))
        for each in self.ark.first_problems(most):
            yield shift(each, start)


def from_label(text: str) -> str | None:
    """Return the rest of an address from ``ark:`` at its start or at that of a path segment, or None. The rest need not
    be a valid ARK. A text with half of a surrogate pair gives None.

    >>> from_label("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ"), from_label("https://e.org/?ark:12345/x")
    ('ark:/61903/1:1:MW98-MNJ', None)
    """
    match = _FROM_LABEL.match(text)
    return None if match is None or _SURROGATE.search(text) else text[match.start("label") :]


def split(text: str) -> SplitAddress | None:
    """Split an address before its ARK, or return None without one. The last label before a query or fragment counts
    (E-01). It can be the end of a word, as in ``park:``: check :attr:`SplitAddress.is_ark`.

    >>> split("https://example.org/ark:/12345/x?info").rest
    'ark:/12345/x?info'
    """
    # The colon of the label is the last one, because no ARK contains another.
    start = text.rfind(":", 0, _path_end(text)) - 3
    if start <= 0 or text[start : start + 4] not in LABELS:
        return None
    match = iri.compile_rule(_PREFIX, text).fullmatch(text, 0, start)
    if match is None:
        return None
    rest = text[start:]
    if not ark.reads(rest):
        return None
    authority, path = match.group("authority", "path")
    if authority is None:
        boundary = text[start - 1] in ":/"
        in_path = True
    else:
        boundary = text[start - 1] == "/" and bool(path)
        in_path = bool(path)
    before = text[start - 1]
    return SplitAddress(text[:start], rest, boundary, in_path and not boundary and not before.isalnum())


def parse(text: str) -> EmbeddedArk:
    """Parse an address that contains an ARK (ARK draft, section 4.1; ARK-060 to ARK-063). Raises IdentifierError
    without one, and if the label is in the query or ends a longer word (E-02).

    >>> parse("https://n2t.net/ark:12345/x").prefix
    'https://n2t.net/'
    """
    parts = split(text)
    if parts is None:
        raise IdentifierError(text, _problem_of(text))
    if not parts.is_ark:
        start = len(parts.prefix)
        raise IdentifierError(text, problem("label-inside-word", start, start + len(parts.ark.label)))
    return EmbeddedArk(text, parts.prefix, parts.ark, parts.boundary)


def shift(problem: Problem, by: int) -> Problem:
    """Return a copy of ``problem`` whose place is ``by`` characters further to the right, for a text with a prefix."""
    return Problem(
        problem.code,
        problem.severity,
        problem.message,
        problem.start + by,
        problem.end + by,
        problem.expected,
        problem.reference,
    )


def _path_end(text: str) -> int:
    """Return the start of the query or fragment, or the length of ``text``."""
    return _PATH.match(text).end()  # type: ignore[union-attr]


def _last_label(text: str, end: int) -> int:
    """Return the start of the last label before ``end``, or -1."""
    last = -1
    for match in LABEL.finditer(text, 0, end):
        last = match.start()
    return last


# No URN is parsed here. But a message must not deny that an address contains one.
_ENCODED_LABEL = re.compile(f"{ENCODED_LABEL_PATTERN}|[Uu][Rr][Nn]{ENCODED_COLON}")
_LABEL_IN_QUERY = re.compile(
    f"{LABEL_PATTERN}|{ENCODED_LABEL_PATTERN}|(?<![A-Za-z0-9])[Uu][Rr][Nn](?::|{ENCODED_COLON})"
)
_URN_IN_PATH = re.compile("[Uu][Rr][Nn](?=:)")


def _problem_of(text: str) -> Problem:
    end = _path_end(text)
    start = _last_label(text, end)
    if start > 0:
        if iri.compile_rule(_PREFIX, text).fullmatch(text, 0, start) is None:
            return problem("bad-prefix", 0, start)
        try:
            ark.parse(text[start:])
        except IdentifierError as error:
            return shift(error.problem, start)
    if encoded := _ENCODED_LABEL.search(text, 0, end):
        return problem("encoded-label", *encoded.span())
    if inside := _LABEL_IN_QUERY.search(text, end):
        return problem("label-in-query", *inside.span())
    if urn := _URN_IN_PATH.search(text, 0, end):
        return _urn_problem(text, urn.start(), urn.end() + 1)
    if re.match(rf"{SCHEME}://", text):
        return problem("no-ark-label", 0, len(text))
    return problem("no-scheme", 0, min(len(text), 4)) if text else problem("empty", 0, 0)


def _urn_problem(text: str, start: int, end: int) -> Problem:
    """Return why the label ``urn:`` at this place of a path does not begin a URN."""
    if text[start - 1 : start].isalnum():
        message = "the letters urn: are the end of a longer word or of the host name"
        return problem("label-inside-word", start, end, message)
    return problem("bad-prefix", 0, start)
