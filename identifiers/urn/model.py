"""Uniform Resource Names, by two profiles (URN draft -01, sections 2 to 5; RFC 8141; decisions U-01 to U-09).

The URN draft and RFC 8141 agree on most URNs and differ on some: a slash in the namespace-specific string, what may
follow a question mark, a hyphen at the end of the namespace identifier. One reading serves both: the text is cut
once, then each profile says for itself what it finds. A URN is valid that at least one profile takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any
from urllib.parse import quote

from ..ark.normalization import Step
from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import display, iri
from . import diagnosis, namespaces
from .namespaces import Namespace

DRAFT = "urnbis-01"
RFC8141 = "rfc8141"
PROFILES = (DRAFT, RFC8141)

LABEL = re.compile("[Uu][Rr][Nn]:")
# What both profiles take, and what only one of them takes.
_EITHER = re.compile(
    rf"[Uu][Rr][Nn]:([A-Za-z0-9][A-Za-z0-9\-]{{1,31}}+):({iri.run(iri.PCHAR + '/')})"
    rf"(?:\?({iri.run(iri.PCHAR + '/?', least=0)}))?(?:#{iri.run(iri.PCHAR + '/?', least=0)})?"
)

_PCHAR_MARKS = iri.SUB_DELIMS + ":@"
_PLACE = attrgetter("start", "end")


@dataclass(frozen=True, slots=True, eq=False)
class Urn:
    """A URN. Its parts are as written; two values are equal when they are lexically equivalent by the URN draft.

    ``profiles`` holds what each profile says, under "urnbis-01" and "rfc8141": ``valid``, the parts as that profile
    names them, and the codes of its ``problems``.

    >>> name = parse("URN:ISBN:0451450523")
    >>> name.nid, name.nss, name.normal_form
    ('ISBN', '0451450523', 'urn:isbn:0451450523')
    >>> name == parse("urn:isbn:0451450523")
    True
    """

    text: str
    nid: str
    nss: str
    query: str | None
    fragment: str | None
    profiles: dict[str, dict[str, Any]] = field(repr=False)
    problems: tuple[Problem, ...] = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Urn):
            return self.normal_form == other.normal_form
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.normal_form)

    def __str__(self) -> str:
        return self.normal_form

    @property
    def assigned_name(self) -> str:
        """The name without query and fragment, in normal form: the key under which it is bound and found (U-02).

        >>> parse("URN:FOO:a%2c1?+r").assigned_name
        'urn:foo:a%2C1'
        """
        return f"urn:{self.nid.lower()}:{iri.upper_hex(self.nss)}"

    @property
    def normal_form(self) -> str:
        """The URN with scheme and NID in lower case and percent-encoded octets in upper case; query and fragment stay.

        Nothing is decoded: "any percent-encoded characters in the NSS ... MUST NOT be removed" before comparison
        (URN-051).
        """
        return self.assigned_name + iri.upper_hex(self._tail)

    @property
    def namespace(self) -> Namespace | None:
        """What is known of the namespace, or None where it has no record here."""
        return namespaces.lookup(self.nid)

    @property
    def canonical_name(self) -> str:
        """The assigned name as its namespace writes it: names that it holds equivalent have one (URN-032, URN-053).

        >>> parse("urn:isbn:0-451-45052-3").canonical_name
        'urn:isbn:9780451450524'
        """
        known = self.namespace
        return f"urn:{known.nid}:{known.canonical(self.nss)}" if known else self.assigned_name

    @property
    def canonical(self) -> str:
        """The canonical name with query and fragment. It is ASCII: "all URN transport and interchanges MUST take place
        in this format" (URN-047)."""
        return self.canonical_name + iri.upper_hex(self._tail)

    @property
    def display(self) -> str:
        """The URN as people like to read it, never to be sent: for eyes, and through :func:`display.atoms` (URN-049).

        >>> parse("URN:ISBN:0451450523").display, parse("urn:foo:%C3%A9").display
        ('urn:isbn:0-451-45052-3', 'urn:foo:\u00e9')
        """
        known = self.namespace
        name = known.display(self.nss) if known else display.decoded(self.nss)
        return f"urn:{self.nid.lower()}:{name}{display.decoded(self._tail)}"

    @property
    def details(self) -> dict[str, str]:
        """What the namespace reads off the name, under short labels.

        >>> parse("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6").details["version"]
        '1, from a time since 1582 and a node'
        """
        known = self.namespace
        return known.details(self.nss) if known else {}

    @property
    def findings(self) -> tuple[Problem, ...]:
        """What the namespace has to say against the name: warnings, which do not make the URN invalid (URN-015).

        Kept apart from ``problems``, so that nobody pays for them who only resolves.

        >>> [found.message for found in parse("urn:oid:1.03").findings]
        ['the number begins with a zero']
        """
        known = self.namespace
        return known.check(self.nss, 5 + len(self.nid)) if known else ()

    @property
    def strict(self) -> bool:
        """Whether the default profile, that of the URN draft, takes the URN."""
        return self.profiles[DRAFT]["valid"]

    @property
    def inflection(self) -> str:
        """The query with its question mark, or "" where there is none or RFC 8141 reads it as r- and q-components."""
        components = self.profiles[RFC8141]
        if self.query is None or components["r"] is not None or components["q"] is not None:
            return ""
        return "?" + iri.upper_hex(self.query)

    @property
    def service(self) -> str:
        """What the query asks for, read as for ARKs: "referent", "metadata" or "unknown"."""
        if not self.inflection:
            return "referent"
        return "metadata" if self.inflection in ("?", "??", "?info") else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """What normalization changes, rule by rule (URN draft, section 5)."""
        folded = f"urn:{self.nid}:{self.nss}{self._tail}", f"urn:{self.nid.lower()}:{self.nss}{self._tail}"
        stages = (self.text, *folded, self.normal_form)
        named = zip(STEPS, stages, stages[1:], strict=False)
        return tuple(
            Step(rule, title, before, after, where) for (rule, title, where), before, after in named if before != after
        )

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts with their places in ``text``, in order and without gaps."""
        return tuple(_segments(self.nid, self.nss, self.query, self.fragment))

    @property
    def _tail(self) -> str:
        return self.text[5 + len(self.nid) + len(self.nss) :]


STEPS = (
    ("scheme-case", "Write the label in lower case", "URN draft, section 5, step 1"),
    ("nid-case", "Write the namespace identifier in lower case", "URN draft, section 5, step 2"),
    ("hex-case", "Write percent-encodings in upper case", "URN draft, section 5, step 3"),
)
"""The rules of the normal form, in the draft's order: name, title, where it stands."""


def parse(text: str, profile: str | None = None) -> Urn:
    """Read a URN that ``profile`` takes, or where none is named, one that at least one profile takes.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for everything else and ValueError for an unknown
    profile. The time taken is linear in the length of ``text``.

    Source: URN draft, section 2; RFC 8141, section 2; URN-010 to URN-045.

    >>> parse("urn:example:a/b").profiles["urnbis-01"]["valid"]
    False
    >>> parse("urn:example:a/b", profile="urnbis-01")
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: the namespace-specific string contains a slash (nss-slash)
        urn:example:a/b
                     ^
    expected a slash as %2F; RFC 8141 allows it after the first character (URN draft, section 2.3.1)
    """
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"there is no profile {profile!r}: give one of {', '.join(PROFILES)}")
    if LABEL.match(text) is None:
        raise IdentifierError(text, problem("no-scheme", 0, min(4, len(text))) if text else problem("empty", 0, 0))
    nid, nss, query, fragment = _cut(text)
    shared = sorted(diagnosis.shared(text, nid, nss, query, fragment), key=_PLACE)
    if shared or nss is None:
        raise IdentifierError(text, shared[0])
    faults = {DRAFT: list(diagnosis.draft(nid, nss)), RFC8141: list(diagnosis.rfc8141(nid, nss, query))}
    judged = (profile,) if profile else PROFILES
    if all(faults[each] for each in judged):
        raise IdentifierError(text, min((faults[each][0] for each in judged), key=_PLACE))
    notes = list(diagnosis.notes(nid, nss, query, fragment))
    profiles = {
        DRAFT: _draft(nid, nss, query, fragment, faults[DRAFT], notes),
        RFC8141: _rfc8141(nid, nss, query, fragment, faults[RFC8141]),
    }
    warnings = [
        problem(found.code, found.start, found.end, f"{found.message} ({each})", severity="warning")
        for each in PROFILES
        for found in faults[each]
    ]
    return Urn(text, nid, nss, query, fragment, profiles, tuple(sorted(warnings + notes, key=_PLACE)))


def reads(text: str) -> bool:
    """Whether :func:`parse` reads ``text``. Faster than parse: it looks for no reason and makes no notes.

    >>> reads("urn:example:a/b"), reads("urn:a:b")
    (True, False)
    """
    read = _EITHER.fullmatch(text)
    if read is None:
        return False
    nid, nss, query = read.groups()
    return not (any(diagnosis.draft(nid, nss)) and any(diagnosis.rfc8141(nid, nss, query)))


def build(nid: str, raw_nss: str | tuple[str, ...]) -> str:
    """The URN of a name that may hold any characters: what a URN cannot hold is percent-encoded UTF-8 (URN-033).

    In a name given whole, as a str, the namespace's special characters keep their meaning. In a name given as a tuple
    of its parts they stand for themselves and are percent-encoded, and the parts are joined by the namespace's
    delimiter, a colon where nothing is known of the namespace (URN-040).

    Raises :class:`~ararat.identifiers.problems.IdentifierError` where no URN comes of it, and ValueError for parts in a
    namespace whose names have none.

    >>> build("foo", "\\u00e9/100%")
    'urn:foo:%C3%A9%2F100%25'
    >>> build("foo", "a:b"), build("foo", ("a:b", "c"))
    ('urn:foo:a:b', 'urn:foo:a%3Ab:c')
    """
    if isinstance(raw_nss, str):
        return parse(f"urn:{nid}:{_encoded(raw_nss)}", DRAFT).text
    known = namespaces.lookup(nid)
    delimiter = known.delimiter if known else ":"
    if delimiter is None:
        raise ValueError(f"the names of the namespace {nid} are not made of parts: give the name whole, as a str")
    # "the character used in a literal sense MUST be encoded with "%" followed by the hexadecimal representation of that
    # octet"
    special = {ord(char): f"%{ord(char):02X}" for char in namespaces.special(nid)}
    nss = delimiter.join(_encoded(part).translate(special) for part in raw_nss)
    return parse(f"urn:{nid}:{nss}", DRAFT).text


def _encoded(raw: str) -> str:
    # URN-036 to URN-044: "/", "?", "#", "[", "]", a literal "%" and everything outside the repertoire only
    # percent-encoded.
    try:
        return quote(raw, safe=_PCHAR_MARKS)
    except UnicodeEncodeError as error:
        raise IdentifierError(raw, problem("nss-char", error.start, error.start + 1)) from None


def equivalent(a: Urn, b: Urn, profile: str = DRAFT) -> bool:
    """Whether two URNs are lexically equivalent by a profile: RFC 8141 leaves query and fragment out (U-02).

    >>> one, two = parse("urn:foo:a#s1"), parse("urn:foo:a#s2")
    >>> equivalent(one, two), equivalent(one, two, RFC8141)
    (False, True)
    """
    return a.assigned_name == b.assigned_name if profile == RFC8141 else a == b


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether two URNs are lexically equivalent, and by whose word. It is as true as its ``equivalent``.

    ``by`` names who says so: a profile, "urnbis-01" or "rfc8141", and after it the NID of the namespace whose own rule
    it took. Where the answer is no, it names all who were asked. ``why`` is the reason in words, ``reference`` where it
    stands. Of functional equivalence, which only those who assign names can tell, nothing is said (URN-055).
    """

    equivalent: bool
    by: tuple[str, ...]
    why: str
    reference: str

    def __bool__(self) -> bool:
        return self.equivalent


def equivalence(a: Urn, b: Urn) -> Equivalence:
    """Whether two URNs are lexically equivalent by any rule known here, the one of the widest acceptance first.

    :func:`equivalent` asks one profile; this asks both, and then whether the namespace has a rule of its own, which
    may only add equalities (URN-053).

    >>> equivalence(parse("urn:isbn:0451450523"), parse("urn:isbn:978-0-451-45052-4#p1")).by
    ('rfc8141', 'isbn')
    >>> bool(equivalence(parse("urn:foo:a"), parse("urn:foo:A")))
    False
    """
    if a == b:
        return Equivalence(True, (DRAFT,), "Their normal forms are equal.", "URN draft, section 5")
    leaves_out = "Of query and fragment, RFC 8141 takes no notice."
    if a.assigned_name == b.assigned_name:
        return Equivalence(True, (RFC8141,), leaves_out, "RFC 8141, section 3.1")
    known = a.namespace if a.nid.lower() == b.nid.lower() else None
    if known is None:
        return Equivalence(False, PROFILES, "Their names differ.", "URN draft, section 5")
    if a.canonical_name != b.canonical_name:
        why = "Their names differ, also by the rules of their namespace."
        return Equivalence(False, (*PROFILES, known.nid), why, known.reference)
    if a.canonical == b.canonical:
        return Equivalence(True, (DRAFT, known.nid), known.equivalence, known.reference)
    return Equivalence(True, (RFC8141, known.nid), f"{known.equivalence} {leaves_out}", known.reference)


def _cut(text: str) -> tuple[str, str | None, str | None, str | None]:
    """NID, NSS, query and fragment of what follows the label; the NSS is None where there is no second colon."""
    rest, hash_mark, fragment = text[4:].partition("#")
    path, question_mark, query = rest.partition("?")
    nid, colon, nss = path.partition(":")
    return nid, nss if colon else None, query if question_mark else None, fragment if hash_mark else None


def _segments(nid: str, nss: str, query: str | None, fragment: str | None) -> Iterator[Segment]:
    end = 4 + len(nid)
    yield Segment("label", 0, 4)
    yield Segment("nid", 4, end)
    yield Segment("separator", end, end + 1)
    start, end = end + 1, end + 1 + len(nss)
    yield Segment("nss", start, end)
    for part, written in (("query", query), ("fragment", fragment)):
        if written is not None:
            start, end = end, end + 1 + len(written)
            yield Segment(part, start, end)


def _draft(
    nid: str, nss: str, query: str | None, fragment: str | None, faults: list[Problem], notes: list[Problem]
) -> dict[str, Any]:
    said = [*faults, *(note for note in notes if note.code != "rfc2141-invalid")]
    # "The <query> part MUST NOT be present in any *assigned* URN."
    assigned = not faults and query is None and fragment is None
    parts = {"nid": nid, "nss": nss, "query": query, "fragment": fragment}
    return {"valid": not faults, **parts, "assigned": assigned, "problems": _codes(said)}


def _rfc8141(nid: str, nss: str, query: str | None, fragment: str | None, faults: list[Problem]) -> dict[str, Any]:
    r, q = (None, None) if query is None else diagnosis.components(query) or (None, None)
    return {"valid": not faults, "nid": nid, "nss": nss, "r": r, "q": q, "f": fragment, "problems": _codes(faults)}


def _codes(found: list[Problem]) -> list[str]:
    return list(dict.fromkeys(each.code for each in found))
