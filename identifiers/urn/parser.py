"""Parse a URN by two profiles: the URN draft -01 and RFC 8141.

The text is split once. Then each profile reports its own errors. A URN is valid if at least one profile accepts it
(decisions U-01 to U-09).
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ..problems import IdentifierError, Problem, problem
from . import diagnosis
from .grammar import DRAFT, LABEL, PROFILES, RFC8141, URN
from .model import Urn

_PLACE = attrgetter("start", "end")


def parse(text: str, profile: str | None = None) -> Urn:
    """Parse a URN that is valid in ``profile``: "urnbis-01" (the URN draft) or "rfc8141". None: in at least one of
    them.

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
    return URN.fullmatch(text) is not None


def _split(text: str) -> tuple[str, str | None, str | None, str | None]:
    """Split the text after the label into NID, NSS, query and fragment. The NSS is None without a second colon."""
    rest, hash_mark, fragment = text[4:].partition("#")
    path, question_mark, query = rest.partition("?")
    nid, colon, nss = path.partition(":")
    return nid, nss if colon else None, query if question_mark else None, fragment if hash_mark else None


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
