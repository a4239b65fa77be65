"""Uniform Resource Names in two profiles: the URN draft -01 (sections 2 to 5) and RFC 8141.

The profiles agree on most URNs. They differ on slashes in the namespace-specific string, on the text after a question
mark, and on a hyphen at the end of the namespace identifier. The text is split once; then each profile reports its own
errors. A URN is valid if at least one profile accepts it (decisions U-01 to U-09).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any
from urllib.parse import quote

from ..ark.grammar import METADATA_INFLECTIONS
from ..ark.normalization import Step
from ..problems import IdentifierError, Problem, problem
from ..segments import Segment
from ..text import display, iri
from . import diagnosis, namespaces
from .namespaces import Namespace

DRAFT = "urnbis-01"
RFC8141 = "rfc8141"
PROFILES = (DRAFT, RFC8141)

LABEL_PATTERN = "[Uu][Rr][Nn]:"
LABEL = re.compile(LABEL_PATTERN)
_NID = r"[A-Za-z0-9][A-Za-z0-9\-]{1,31}+"
_FIRST = f"(?:[{iri.PCHAR}]|{iri.PCT_ENCODED})"
_REST = iri.run(iri.PCHAR + "/?", least=0)
# Draft: the NID is not "urn", and the NSS contains neither a slash nor %00.
_DRAFT = rf"(?!{LABEL_PATTERN}){_NID}:(?:[{iri.PCHAR}]++|(?!%00){iri.PCT_ENCODED})++(?:\?{_REST})?"
# RFC 8141: the NID does not end in a hyphen, and the NSS does not start with a slash. A query consists of an
# r-component, which ends at the first "?=", a q-component, or both (U-09).
_R_COMPONENT = rf"{_FIRST}(?:[{iri.PCHAR}/]++|{iri.PCT_ENCODED}|\?(?!=))*+"
_Q_COMPONENT = f"{_FIRST}{_REST}"
_RFC8141 = (
    f"{_NID}(?<!-):{_FIRST}{iri.run(iri.PCHAR + '/', least=0)}"
    rf"(?:\?(?:\+{_R_COMPONENT}(?:\?={_Q_COMPONENT})?|={_Q_COMPONENT}))?"
)
_VALID = re.compile(f"{LABEL_PATTERN}(?:{_DRAFT}|{_RFC8141})(?:#{_REST})?")

_PCHAR_MARKS = iri.SUB_DELIMS + ":@"
_PLACE = attrgetter("start", "end")


@dataclass(frozen=True, slots=True, eq=False)
class Urn:
    """A URN. Its parts are as written. Two URNs are equal if the URN draft calls them lexically equivalent.

    ``profiles`` maps "urnbis-01" and "rfc8141" to the result of that profile: ``valid``, the parts under the names of
    the profile, and the codes of its ``problems``.

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
        """The normal form without query and fragment (U-02).

        >>> parse("URN:FOO:a%2c1?+r").assigned_name
        'urn:foo:a%2C1'
        """
        return f"urn:{self.nid.lower()}:{iri.upper_hex(self.nss)}"

    @property
    def normal_form(self) -> str:
        """The URN with scheme and NID in lower case and percent-encodings in upper case. Query and fragment stay.

        Nothing is decoded: "any percent-encoded characters in the NSS ... MUST NOT be removed" before comparison
        (URN-051).
        """
        return self.assigned_name + iri.upper_hex(self._tail)

    @property
    def namespace(self) -> Namespace | None:
        """The record of the namespace, or None if Ararat has none."""
        return namespaces.lookup(self.nid)

    @property
    def canonical_name(self) -> str:
        """The assigned name, normalized by the rule of its namespace (URN-032, URN-053).

        >>> parse("urn:isbn:0-451-45052-3").canonical_name
        'urn:isbn:9780451450524'
        """
        known = self.namespace
        return f"urn:{known.nid}:{known.canonical(self.nss)}" if known else self.assigned_name

    @property
    def canonical(self) -> str:
        """The canonical name with query and fragment, in ASCII: the form for transport and interchange (URN-047)."""
        return self.canonical_name + iri.upper_hex(self._tail)

    @property
    def display(self) -> str:
        """The URN in a readable form, for display only (URN-049). Show it through :func:`display.atoms`.

        >>> parse("URN:ISBN:0451450523").display, parse("urn:foo:%C3%A9").display
        ('urn:isbn:0-451-45052-3', 'urn:foo:\u00e9')
        """
        known = self.namespace
        name = known.display(self.nss) if known else display.decoded(self.nss)
        return f"urn:{self.nid.lower()}:{name}{display.decoded(self._tail)}"

    @property
    def details(self) -> dict[str, str]:
        """Facts that the namespace finds in the name, by label.

        >>> parse("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6").details["version"]
        '1, from a time since 1582 and a node'
        """
        known = self.namespace
        return known.details(self.nss) if known else {}

    @property
    def findings(self) -> tuple[Problem, ...]:
        """Warnings by the rules of the namespace. They do not make the URN invalid (URN-015).

        They are not in ``problems``, so that a resolver does not compute them.

        >>> [found.message for found in parse("urn:oid:1.03").findings]
        ['the number begins with a zero']
        """
        known = self.namespace
        return known.check(self.nss, 5 + len(self.nid)) if known else ()

    @property
    def strict(self) -> bool:
        """Whether the URN is valid in the default profile, that of the URN draft."""
        return self.profiles[DRAFT]["valid"]

    @property
    def inflection(self) -> str:
        """The query with its question mark, or "" if there is none or it consists of r- and q-components (RFC 8141)."""
        components = self.profiles[RFC8141]
        if self.query is None or components["r"] is not None or components["q"] is not None:
            return ""
        return "?" + iri.upper_hex(self.query)

    @property
    def service(self) -> str:
        """The service that the query requests, as for ARKs: "referent", "metadata" or "unknown"."""
        if not self.inflection:
            return "referent"
        return "metadata" if self.inflection in METADATA_INFLECTIONS else "unknown"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The changes of normalization, one step per rule that changes something (URN draft, section 5)."""
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
"""The rules of the normal form in the order of the draft: name, title and source."""


def parse(text: str, profile: str | None = None) -> Urn:
    """Parse a URN that is valid in ``profile``. Default: in at least one profile.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for any other text and ValueError for an unknown
    profile. The time is linear in the length of ``text``.

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
        raise ValueError(f"unknown profile {profile!r}: use one of {', '.join(PROFILES)}")
    if LABEL.match(text) is None:
        raise IdentifierError(text, problem("no-scheme", 0, min(4, len(text))) if text else problem("empty", 0, 0))
    nid, nss, query, fragment = _split(text)
    shared = sorted(diagnosis.shared(text, nid, nss, query, fragment), key=_PLACE)
    if shared or nss is None:
        raise IdentifierError(text, shared[0])
    errors = {DRAFT: list(diagnosis.draft(nid, nss)), RFC8141: list(diagnosis.rfc8141(nid, nss, query))}
    accepted = (profile,) if profile else PROFILES
    if all(errors[each] for each in accepted):
        raise IdentifierError(text, min((errors[each][0] for each in accepted), key=_PLACE))
    notes = list(diagnosis.notes(nid, nss, query, fragment))
    profiles = {
        DRAFT: _draft(nid, nss, query, fragment, errors[DRAFT], notes),
        RFC8141: _rfc8141(nid, nss, query, fragment, errors[RFC8141]),
    }
    warnings = [
        problem(found.code, found.start, found.end, f"{found.message} ({each})", severity="warning")
        for each in PROFILES
        for found in errors[each]
    ]
    return Urn(text, nid, nss, query, fragment, profiles, tuple(sorted(warnings + notes, key=_PLACE)))


def reads(text: str) -> bool:
    """Return whether :func:`parse` accepts ``text``. Faster than parse: it builds no errors and notes.

    >>> reads("urn:example:a/b"), reads("urn:a:b")
    (True, False)
    """
    return _VALID.fullmatch(text) is not None


def build(nid: str, raw_nss: str | tuple[str, ...]) -> str:
    """Build a URN from a name with any characters. Percent-encode those that a URN cannot contain (URN-033).

    If ``raw_nss`` is a str, the special characters of the namespace keep their meaning. If it is a tuple of parts, they
    are percent-encoded in each part. The parts are joined by the delimiter of the namespace, by default a colon
    (URN-040).

    Raises :class:`~ararat.identifiers.problems.IdentifierError` if the result is not a URN, and ValueError for parts in
    a namespace whose names have no parts.

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
        raise ValueError(f"names in the namespace {nid} have no parts: pass the whole name as a str")
    # "the character used in a literal sense MUST be encoded with "%" followed by the hexadecimal representation of that
    # octet"
    special = {ord(char): f"%{ord(char):02X}" for char in namespaces.special(nid)}
    nss = delimiter.join(_encoded(part).translate(special) for part in raw_nss)
    return parse(f"urn:{nid}:{nss}", DRAFT).text


def _encoded(raw: str) -> str:
    # URN-036 to URN-044: percent-encode "/", "?", "#", "[", "]", "%" and all characters outside the repertoire.
    try:
        return quote(raw, safe=_PCHAR_MARKS)
    except UnicodeEncodeError as error:
        raise IdentifierError(raw, problem("nss-char", error.start, error.start + 1)) from None


def equivalent(a: Urn, b: Urn, profile: str = DRAFT) -> bool:
    """Return whether two URNs are lexically equivalent in a profile. RFC 8141 ignores query and fragment (U-02).

    >>> one, two = parse("urn:foo:a#s1"), parse("urn:foo:a#s2")
    >>> equivalent(one, two), equivalent(one, two, RFC8141)
    (False, True)
    """
    return a.assigned_name == b.assigned_name if profile == RFC8141 else a == b


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of a comparison of two URNs. Its truth value is that of ``equivalent``.

    ``by`` lists the rules used: a profile ("urnbis-01" or "rfc8141") and, if its rule was needed, the NID of the
    namespace. If the URNs differ, it lists all rules tried. ``why`` is the reason for people, ``reference`` its source.
    Only lexical equivalence is compared, not functional equivalence (URN-055).
    """

    equivalent: bool
    by: tuple[str, ...]
    why: str
    reference: str

    def __bool__(self) -> bool:
        return self.equivalent


def equivalence(a: Urn, b: Urn) -> Equivalence:
    """Compare two URNs by both profiles and then by the rule of their namespace.

    Unlike :func:`equivalent`, which uses one profile. The rule of a namespace can only add equivalences (URN-053).

    >>> equivalence(parse("urn:isbn:0451450523"), parse("urn:isbn:978-0-451-45052-4#p1")).by
    ('rfc8141', 'isbn')
    >>> bool(equivalence(parse("urn:foo:a"), parse("urn:foo:A")))
    False
    """
    if a == b:
        return Equivalence(True, (DRAFT,), "Their normal forms are equal.", "URN draft, section 5")
    leaves_out = "RFC 8141 ignores query and fragment."
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


def _split(text: str) -> tuple[str, str | None, str | None, str | None]:
    """Split the text after the label into NID, NSS, query and fragment. The NSS is None without a second colon."""
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
    nid: str, nss: str, query: str | None, fragment: str | None, errors: list[Problem], notes: list[Problem]
) -> dict[str, Any]:
    problems = [*errors, *(note for note in notes if note.code != "rfc2141-invalid")]
    # "The <query> part MUST NOT be present in any *assigned* URN."
    assigned = not errors and query is None and fragment is None
    parts = {"nid": nid, "nss": nss, "query": query, "fragment": fragment}
    return {"valid": not errors, **parts, "assigned": assigned, "problems": _codes(problems)}


def _rfc8141(nid: str, nss: str, query: str | None, fragment: str | None, errors: list[Problem]) -> dict[str, Any]:
    r, q = (None, None) if query is None else diagnosis.components(query) or (None, None)
    return {"valid": not errors, "nid": nid, "nss": nss, "r": r, "q": q, "f": fragment, "problems": _codes(errors)}


def _codes(found: list[Problem]) -> list[str]:
    return list(dict.fromkeys(each.code for each in found))
