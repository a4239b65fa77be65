"""What a paste holds: each identifier found in it, the report on it, and whether it is bound here.

Pure but for the one question to the bindings. The page, its fragments and the API all show one :class:`Inspection`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..identifiers import Match, Report, examine, find
from ..middleware import BindingsUnavailable, names

if TYPE_CHECKING:
    from ..identifiers.policy import Profile
    from ..middleware import Bindings

MOST_FOUND = 1000
"""Identifiers of one paste that are reported."""

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
    """A paste and what was found in it, in its order. ``truncated``: there is more than :data:`MOST_FOUND`."""

    text: str
    findings: tuple[Finding, ...]
    truncated: bool

    def as_dict(self) -> dict[str, Any]:
        """The answer of the API. Dump it with ASCII escapes."""
        return {
            "input_length": len(self.text),
            "truncated": self.truncated,
            "found": [finding.as_dict() for finding in self.findings],
        }


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
    reports = [examine(match.literal, prefix=prefix, policies=policies) for match in shown]
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
    return Inspection(text, tuple(findings), len(matches) > len(shown))


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
