"""Check the parts of a URN by the URN draft -01 and RFC 8141 (decisions U-01 to U-09). Each profile reports its own
errors. A URN is valid if at least one profile accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from ..problems import Problem, problem
from ..text.translatable import Translatable
from . import diagnosis
from .grammar import DRAFT, PROFILES, RFC8141

_PLACE = attrgetter("start", "end")


class UrnParts(NamedTuple):
    """The parts of a URN as written, without their marks. A missing query or fragment is None."""

    nid: str
    nss: str
    query: str | None
    fragment: str | None

    @classmethod
    def of(cls, text: str) -> UrnParts:
        """Split ``text``, which starts with ``urn:``, into the parts of a URN. Without a second colon, the NSS is
        empty.

        >>> UrnParts.of("URN:ISBN:0451450523#p1")
        UrnParts(nid='ISBN', nss='0451450523', query=None, fragment='p1')
        """
        rest, hash_mark, fragment = text[4:].partition("#")
        path, question_mark, query = rest.partition("?")
        nid, _, nss = path.partition(":")
        return cls(nid, nss, query if question_mark else None, fragment if hash_mark else None)


def first_error(text: str, accepted: Sequence[str] = PROFILES) -> Problem | None:
    """Return the first error of ``text``, which starts with ``urn:``. Return None for a URN in an ``accepted`` profile.

    >>> first_error("urn:example:a/b", ["urnbis-01"]).code, first_error("urn:example:a/b")
    ('nss-slash', None)
    """
    parts = UrnParts.of(text)
    if shared := sorted(diagnosis.shared(text, *parts), key=_PLACE):
        return shared[0]
    errors_by_profile = errors(parts)
    if all(errors_by_profile[each] for each in accepted):
        return min((errors_by_profile[each][0] for each in accepted), key=_PLACE)
    return None


def errors(parts: UrnParts) -> dict[str, list[Problem]]:
    """Return the errors of a URN in "urnbis-01" and in "rfc8141"; [] means valid. Call it only if
    :func:`.diagnosis.shared` finds no errors.
    """
    nid, nss, query, _ = parts
    return {DRAFT: list(diagnosis.draft(nid, nss)), RFC8141: list(diagnosis.rfc8141(nid, nss, query))}


def problems(parts: UrnParts) -> tuple[Problem, ...]:
    """Return the warnings and notes about a valid URN, in the order of their places. The errors of one profile are
    warnings, because the other profile accepts the URN.
    """
    warnings = [
        problem(
            errors_by_profile.code,
            errors_by_profile.start,
            errors_by_profile.end,
            Translatable("%(message)s (%(each)s)", message=errors_by_profile.message, each=each),
            severity="warning",
        )
        for each, found_by_profile in errors(parts).items()
        for errors_by_profile in found_by_profile
    ]
    return tuple(sorted([*warnings, *diagnosis.notes(*parts)], key=_PLACE))


def results(parts: UrnParts) -> dict[str, dict[str, Any]]:
    """Return the validity of a URN in "urnbis-01" and in "rfc8141". Each has ``valid``, the codes of its ``problems``,
    ``nid`` and ``nss``. The draft adds ``query``, ``fragment`` and ``assigned``; RFC 8141 adds the components ``r``,
    ``q`` and ``f``.
    """
    nid, nss, query, fragment = parts
    by_draft, by_rfc8141 = errors(parts).values()
    notes = [note for note in diagnosis.notes(*parts) if note.code != "rfc2141-invalid"]
    # "The <query> part MUST NOT be present in any *assigned* URN."
    assigned = not by_draft and query is None and fragment is None
    r, q = (None, None) if query is None else diagnosis.components(query) or (None, None)
    return {
        DRAFT: {
            "valid": not by_draft,
            **parts._asdict(),
            "assigned": assigned,
            "problems": _codes([*by_draft, *notes]),
        },
        RFC8141: {
            "valid": not by_rfc8141,
            "nid": nid,
            "nss": nss,
            "r": r,
            "q": q,
            "f": fragment,
            "problems": _codes(by_rfc8141),
        },
    }


def _codes(problems: Iterable[Problem]) -> list[str]:
    return list(dict.fromkeys(each.code for each in problems))
