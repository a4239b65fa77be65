"""What a paste holds: each identifier found in it, the report on it, and whether it is bound here.

Pure but for the one question to the bindings. The page, its fragments and the API all show one :class:`Inspection`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...identifiers import Match, Report, examine, find
from ...middleware import BindingsUnavailable
from ...middleware.bindings import names

if TYPE_CHECKING:
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

MOST_FOUND = 1000
"""Identifiers of one paste that are reported."""

MOST_CONTAINED = 2_000_000
"""Characters of the containers of all identifiers together."""

MOST_SEGMENTS, MOST_PROBLEMS = 40_000, 10_000
"""Segments and problems of all identifiers together."""

MOST_JSON = 10_000_000
"""Characters of JSON, after which no further finding is begun."""

ALWAYS = 20
"""Segments and problems that every report has, whatever the others have."""

NEAREST = 16
"""Members of a hierarchy, the identifier itself among them, whose binding is looked up."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One identifier of a paste.

    ``bound`` says for its own name and the containers nearest to it how they are bound: normal form to kind, or to
    "withdrawn". What is not in it is not bound. It is None where there is nobody to ask, and where the bindings could
    not be read, which is ``unread``: then nothing is known of what is bound.
    """

    match: Match
    report: Report
    bound: Mapping[str, str] | None
    unread: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The finding as the JSON of the API holds it."""
        return {
            "start": self.match.start,
            "end": self.match.end,
            "literal": self.match.literal,
            "suggestion": self.match.suggestion,
            "report": self.report.as_dict(),
            "bound": None if self.bound is None else dict(self.bound),
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """A paste and what was found in it, in its order. ``truncated``: there is more than :data:`MOST_FOUND`.

    ``shortened``: reports have fewer containers, segments or problems than there are, so that all of them together
    stay below the limits of this module.
    """

    text: str
    findings: tuple[Finding, ...]
    truncated: bool
    shortened: bool = False

    def as_json(self) -> Iterator[str]:
        """The answer of the API in pieces, one for each finding: JSON in ASCII, a line break at the end.

        It ends early after :data:`MOST_JSON` characters. Whether anything is missing is its last member.

        >>> json.loads("".join(inspect("").as_json()))
        {'input_length': 0, 'found': [], 'truncated': False}
        """
        yield f'{{"input_length": {len(self.text)}, "found": ['
        truncated, length = self.truncated or self.shortened, 0
        for number, finding in enumerate(self.findings):
            if length > MOST_JSON:
                truncated = True
                break
            piece = (", " if number else "") + json.dumps(finding.as_dict())
            length += len(piece)
            yield piece
        yield f'], "truncated": {json.dumps(truncated)}}}\n'


def inspect(
    text: str, *, prefix: str | None = None, bindings: Bindings | None = None, policies: Sequence[Profile] = ()
) -> Inspection:
    """Find and examine the identifiers in ``text``. Never raises for a str.

    ``prefix`` is this site's resolver prefix. Without ``bindings``, or while they cannot be reached, nothing is said of
    what is bound, and everything else all the same. IRIs of the hosts of ``policies`` are found too, and judged.

    >>> [finding.report.normal_form for finding in inspect("See ark:/12345/x-1 and urn:ISBN:0451450523").findings]
    ['ark:12345/x1', 'urn:isbn:0451450523']
    """
    matches = find(text, scope={host for policy in policies for host in policy.hosts})
    shown = matches[:MOST_FOUND]
    room = _Room()
    reports = [room.fitted(examine(match.literal, prefix=prefix, policies=policies)) for match in shown]
    bound, unread = None, False
    try:
        bound = kinds(reports, bindings)
    except BindingsUnavailable:
        unread = True
    findings = [
        Finding(
            match, report, None if bound is None else {key: bound[key] for key in keys(report) if key in bound}, unread
        )
        for match, report in zip(shown, reports, strict=True)
    ]
    return Inspection(text, tuple(findings), len(matches) > len(shown), room.exceeded)


@dataclass(slots=True)
class _Room:
    """What the reports of one paste may still hold together. A megabyte of text could otherwise give a hundred."""

    contained: int = MOST_CONTAINED
    segments: int = MOST_SEGMENTS
    problems: int = MOST_PROBLEMS
    exceeded: bool = False

    def fitted(self, report: Report) -> Report:
        """The report, or one with what fits: the nearest containers, the outer segments, the first problems."""
        members = 1
        for container in report.hierarchy[-2::-1]:
            if len(container) > self.contained:
                break
            self.contained -= len(container)
            members += 1
        segments = min(len(report.segments), max(ALWAYS, self.segments))
        problems = min(len(report.problems), max(ALWAYS, self.problems))
        self.segments = max(0, self.segments - segments)
        self.problems = max(0, self.problems - problems)
        fits = (len(report.hierarchy) <= members, len(report.segments) == segments, len(report.problems) == problems)
        if all(fits):
            return report
        self.exceeded = True
        first, last = segments - segments // 2, len(report.segments) - segments // 2
        return replace(
            report,
            hierarchy=report.hierarchy[-members:],
            segments=report.segments if fits[1] else report.segments[:first] + report.segments[last:],
            problems=report.problems[:problems],
        )


def keys(report: Report) -> tuple[str, ...]:
    """The names under which what is reported on, last, and the containers nearest to it may be bound.

    >>> keys(examine("ark:/12345/x/p-1.en?info"))
    ('ark:12345/x', 'ark:12345/x/p1', 'ark:12345/x/p1.en')
    >>> keys(examine("urn:example:a?+r")), keys(examine("ark:12345"))
    (('urn:example:a',), ())
    """
    if not report.valid:
        return ()
    return report.hierarchy[-NEAREST:] or (names.key(names.read(report.parts["assigned_name"])),)


def kinds(reports: Sequence[Report], bindings: Bindings | None) -> dict[str, str] | None:
    """How the names of ``reports`` are bound: key to kind, or to "withdrawn"; None where there is nobody to ask.

    Raises :class:`BindingsUnavailable`.
    """
    if bindings is None:
        return None
    wanted = list(dict.fromkeys(key for report in reports for key in keys(report)))
    bound = bindings.fetch(wanted) if wanted else {}
    return {key: "withdrawn" if binding.status == "withdrawn" else binding.kind for key, binding in bound.items()}
