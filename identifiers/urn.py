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

from . import display, iri
from .normalization import Step
from .problems import IdentifierError, Problem, problem
from .segments import Segment

DRAFT = "urnbis-01"
RFC8141 = "rfc8141"
PROFILES = (DRAFT, RFC8141)

LABEL = re.compile("[Uu][Rr][Nn]:")

# URN draft, section 2.1:  NID = ( ALPHA / DIGIT ) 1*31( ALPHA / DIGIT / "-" )
_NID_CHARS = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-]*+")
# URN draft, section 2.2:  NSS = 1*pchar          RFC 8141, section 2:  NSS = pchar *(pchar / "/")
_NSS_CHARS = re.compile(iri.run(f"{iri.PCHAR}/", least=0))
# RFC 3986, section 3.4:  query = *( pchar / "/" / "?" )      fragment is the same
_QUERY_CHARS = re.compile(iri.run(f"{iri.PCHAR}/?", least=0))
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
        named = zip(_STEPS, stages, stages[1:], strict=False)
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


_STEPS = (
    ("scheme-case", "The label is written in lower case", "URN draft, section 5, step 1"),
    ("nid-case", "The namespace identifier is written in lower case", "URN draft, section 5, step 2"),
    ("hex-case", "Percent-encoded octets are written in upper case", "URN draft, section 5, step 3"),
)


def parse(text: str, profile: str | None = None) -> Urn:
    """Read a URN that ``profile`` takes, or where none is named, one that at least one profile takes.

    Raises :class:`~ararat.identifiers.problems.IdentifierError` for everything else and ValueError for an unknown
    profile. The time taken is linear in the length of ``text``.

    Source: URN draft, section 2; RFC 8141, section 2; URN-010 to URN-045.

    >>> parse("urn:example:a/b").profiles["urnbis-01"]["valid"]
    False
    >>> parse("urn:example:a/b", profile="urnbis-01")
    Traceback (most recent call last):
    ararat.identifiers.problems.IdentifierError: a slash stands in the namespace-specific string (nss-slash)
        urn:example:a/b
                     ^
    expected a slash as %2F; RFC 8141 allows it after the first character (URN draft, section 2.3.1)
    """
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"there is no profile {profile!r}: give one of {', '.join(PROFILES)}")
    if LABEL.match(text) is None:
        raise IdentifierError(text, problem("no-scheme", 0, min(4, len(text))) if text else problem("empty", 0, 0))
    nid, nss, query, fragment = _cut(text)
    shared = sorted(_shared_faults(text, nid, nss, query, fragment), key=_PLACE)
    if shared or nss is None:
        raise IdentifierError(text, shared[0])
    faults = {DRAFT: list(_draft_faults(nid, nss)), RFC8141: list(_rfc8141_faults(nid, nss, query))}
    judged = (profile,) if profile else PROFILES
    if all(faults[each] for each in judged):
        raise IdentifierError(text, min((faults[each][0] for each in judged), key=_PLACE))
    notes = list(_notes(nid, nss, query, fragment))
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


def build(nid: str, raw_nss: str) -> str:
    """The URN of a name that may hold any characters: what a URN cannot hold is percent-encoded UTF-8 (URN-033).

    Raises :class:`~ararat.identifiers.problems.IdentifierError` where no URN comes of it.

    >>> build("foo", "\\u00e9/100%")
    'urn:foo:%C3%A9%2F100%25'
    """
    # URN-036 to URN-044: "/", "?", "#", "[", "]", a literal "%" and everything outside the repertoire only
    # percent-encoded.
    try:
        nss = quote(raw_nss, safe=_PCHAR_MARKS)
    except UnicodeEncodeError as error:
        raise IdentifierError(raw_nss, problem("nss-char", error.start, error.start + 1)) from None
    return parse(f"urn:{nid}:{nss}", DRAFT).text


def equivalent(a: Urn, b: Urn, profile: str = DRAFT) -> bool:
    """Whether two URNs are lexically equivalent by a profile: RFC 8141 leaves query and fragment out (U-02).

    >>> one, two = parse("urn:foo:a#s1"), parse("urn:foo:a#s2")
    >>> equivalent(one, two), equivalent(one, two, RFC8141)
    (False, True)
    """
    return a.assigned_name == b.assigned_name if profile == RFC8141 else a == b


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


def _shared_faults(text: str, nid: str, nss: str | None, query: str | None, fragment: str | None) -> Iterator[Problem]:
    """What both profiles refuse."""
    end = 4 + len(nid)
    wrong = _first_wrong(_NID_CHARS, nid)
    if not nid:
        yield problem("no-nid", 4, 4)
    elif wrong is not None:
        yield _wrong_char(text, 4 + wrong, "nid-char", "a namespace identifier")
    elif not 2 <= len(nid) <= 32:
        yield problem("nid-length", 4, end, f"the namespace identifier has {len(nid)} characters")
    if nss is None:
        yield problem("no-nid", end, end, "there is no colon after the namespace identifier")
        return
    if not nss:
        yield problem("empty-nss", end + 1, end + 1)
    starts = end + 1, end + 2 + len(nss), end + 2 + len(nss) + (0 if query is None else len(query) + 1)
    for start, written, allowed, code, where in (
        (starts[0], nss, _NSS_CHARS, "nss-char", "a namespace-specific string"),
        (starts[1], query, _QUERY_CHARS, "bad-query", "a query"),
        (starts[2], fragment, _QUERY_CHARS, "bad-fragment", "a fragment"),
    ):
        wrong = None if written is None else _first_wrong(allowed, written)
        if wrong is not None:
            yield _wrong_char(text, start + wrong, code, where)


def _draft_faults(nid: str, nss: str) -> Iterator[Problem]:
    """What the URN draft refuses and RFC 8141 does not."""
    start = 5 + len(nid)
    # "the string "urn" (in any combination of upper and lower case) MUST NOT be used as a NID"
    if nid.lower() == "urn" and nid.isascii():
        yield problem("reserved-nid", 4, 7)
    if "/" in nss:
        yield problem("nss-slash", start + nss.index("/"), start + nss.index("/") + 1)
    # URN-044: NUL is refused, raw and as %00.
    if "%00" in nss:
        yield problem("nul", start + nss.index("%00"), start + nss.index("%00") + 3)


def _rfc8141_faults(nid: str, nss: str, query: str | None) -> Iterator[Problem]:
    """What RFC 8141 refuses and the URN draft does not."""
    start = 5 + len(nid)
    if len(nid) > 1 and nid.endswith("-"):
        yield problem("nid-final-hyphen", start - 2, start - 1)
    if nss.startswith("/"):
        yield problem("nss-slash", start, start + 1)
    if query is not None and _components(query) is None:
        end = start + len(nss)
        yield problem("query-component", end, end + 1 + len(query))


def _notes(nid: str, nss: str, query: str | None, fragment: str | None) -> Iterator[Problem]:
    start = 5 + len(nid)
    if needless := iri.UNRESERVED_TRIPLETS.search(nss):
        # "Unreserved characters MUST NOT be percent-encoded" (U-03): they are read, and stay as they are.
        yield problem("needless-percent-encoding", start + needless.start(), start + needless.end())
    if older := re.search("[&~]", nss):
        yield problem("rfc2141-invalid", start + older.start(), start + older.end())
    end = start + len(nss)
    if query is not None:
        yield problem("query-not-assigned", end, end + 1 + len(query))
        end += 1 + len(query)
    if fragment is not None:
        yield problem("fragment-not-opted-in", end, end + 1 + len(fragment))


def _draft(
    nid: str, nss: str, query: str | None, fragment: str | None, faults: list[Problem], notes: list[Problem]
) -> dict[str, Any]:
    said = [*faults, *(note for note in notes if note.code != "rfc2141-invalid")]
    # "The <query> part MUST NOT be present in any *assigned* URN."
    assigned = not faults and query is None and fragment is None
    parts = {"nid": nid, "nss": nss, "query": query, "fragment": fragment}
    return {"valid": not faults, **parts, "assigned": assigned, "problems": _codes(said)}


def _rfc8141(nid: str, nss: str, query: str | None, fragment: str | None, faults: list[Problem]) -> dict[str, Any]:
    r, q = (None, None) if query is None else _components(query) or (None, None)
    return {"valid": not faults, "nid": nid, "nss": nss, "r": r, "q": q, "f": fragment, "problems": _codes(faults)}


def _components(query: str) -> tuple[str | None, str | None] | None:
    """The r- and q-component that RFC 8141 reads in a query, or None where it reads neither.

    rq-components = [ "?+" r-component ] [ "?=" q-component ]      each = pchar *( pchar / "/" / "?" )
    An r-component may hold "?=" by the ABNF, but by the prose ends at the first one (U-09).
    """
    r, mark, q = None, query[:1] == "=", query[1:]
    if query[:1] == "+":
        r, sign, q = query[1:].partition("?=")
        mark = bool(sign)
    elif not mark:
        return None
    if any(component[:1] in ("", "/", "?") for component in ([] if r is None else [r]) + ([q] if mark else [])):
        return None
    return r, q if mark else None


def _first_wrong(allowed: re.Pattern[str], written: str) -> int | None:
    found = allowed.match(written)
    end = found.end() if found else 0
    return end if end < len(written) else None


def _wrong_char(text: str, place: int, code: str, where: str) -> Problem:
    char, named = text[place], display.named(text[place])
    if char == "%":
        return problem("bad-percent", place, min(len(text), place + 3))
    if char < " " or "\x7f" <= char <= "\x9f":
        return problem("control-char", place, place + 1, f"{named} is a control character")
    if char > "\x7f":
        # "all URNs are ASCII" (URN-058); the builder percent-encodes.
        return problem(
            "non-ascii", place, place + 1, f"{where} cannot hold {named} unless percent-encoded", severity="error"
        )
    return problem(code, place, place + 1, f"{where} cannot hold {named}")


def _codes(found: list[Problem]) -> list[str]:
    return list(dict.fromkeys(each.code for each in found))
