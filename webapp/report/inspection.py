"""Find the identifiers in a text, examine each, and look up its binding. The home page and the API show the result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...bindings.holding import public_answer
from ...bindings.names import naming as names
from ...identifiers import Match, Report, examine, find
from ...identifiers.report import Limits
from ...identifiers.segments import outer
from ...identifiers.urn import parser as urn
from ...middleware import BindingsUnavailable
from .verdict import IdentifierVerdict, verdict

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding, Hold
    from ...identifiers.iri_policy import Profile
    from ...middleware import Bindings

MAX_FOUND = 1000
"""Maximum number of reported identifiers."""

MAX_CONTAINED = 2_000_000
"""Maximum total length of the containers of all identifiers, in characters."""

MAX_SEGMENTS, MAX_PROBLEMS = 40_000, 10_000
"""Maximum total numbers of segments and of problems."""

MAX_JSON = 10_000_000
"""Maximum length of the JSON in characters. The finding that exceeds it is the last."""

ALWAYS = 20
"""Minimum number of segments and problems that each report keeps."""

NEAREST = 16
"""Maximum number of members of a hierarchy whose bindings are looked up, including the identifier."""


@dataclass(frozen=True, slots=True)
class InspectedIdentifier:
    """One identifier in a text.

    - ``match``: the place in the text; ``report``: the result of examining the identifier. This is the suggestion of
      the match if only that is recorded here (``is_suggested``), else the literal text.
    - ``keys``: the normal forms of the nearest containers and, last, of the identifier; empty if it is not valid.
    - ``bound``: for each of the keys that is bound here, the kind of its binding or "withdrawn". It is None without
      bindings, and if they cannot be read.
    - ``unread``: whether the bindings could not be read.
    - ``binding``: the public binding of the identifier itself, or None. ``hold``: the hold that stops its redirect now,
      or None.
    - ``is_mistyped``: whether it is not bound here, and its check character is wrong for names that are minted here.
    """

    match: Match
    report: Report
    keys: tuple[str, ...]
    bound: Mapping[str, str] | None
    unread: bool = False
    binding: Binding | None = None
    hold: Hold | None = None
    is_suggested: bool = False
    is_mistyped: bool = False

    @property
    def key(self) -> str | None:
        """The normal form of the identifier, which is the key of its binding; None if the identifier is not valid."""
        return self.keys[-1] if self.keys else None

    @property
    def kind(self) -> str | None:
        """The kind of the binding of this identifier, or "withdrawn". It is "" if not bound, and None if unknown."""
        return None if self.bound is None else self.bound.get(self.key or "", "")

    @property
    def verdict(self) -> IdentifierVerdict:
        """The most important fact about the identifier."""
        return verdict(self.report, self.kind, self.binding, self.hold, is_mistyped=self.is_mistyped)

    def as_dict(self) -> dict[str, Any]:
        """Return the identifier as a mapping for JSON: its place in the text, its text, a suggestion and its report."""
        return {
            "start": self.match.start,
            "end": self.match.end,
            "literal": self.match.literal,
            "suggestion": self.match.suggestion,
            "why": list(self.match.why),
            "report": self.report.as_dict(),
            "bound": None if self.bound is None else dict(self.bound),
            "hold": self.hold and self.hold.as_dict(),
            "verdict": self.verdict.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """A text, and the identifiers found in it, in their order.

    - ``truncated``: the text has more than :data:`MAX_FOUND` identifiers; the others are omitted.
    - ``lines_without``: in a list with an identifier on most lines, the lines that have none.
    - ``shortened``: containers, segments or problems of identifiers were omitted because of the limits of this module.
    """

    text: str
    findings: tuple[InspectedIdentifier, ...]
    truncated: bool
    shortened: bool = False
    lines_without: tuple[str, ...] = ()

    def as_json(self) -> Iterator[str]:
        """Yield this inspection as JSON in ASCII, in one piece per identifier, with a final line break.

        After :data:`MAX_JSON` characters, the other identifiers are omitted. The member "truncated" states whether
        anything was omitted.

        >>> json.loads("".join(inspect("").as_json()))
        {'input_length': 0, 'found': [], 'truncated': False}
        """
        yield f'{{"input_length": {len(self.text)}, "found": ['
        truncated, length = self.truncated or self.shortened, 0
        for number, finding in enumerate(self.findings):
            if length > MAX_JSON:
                truncated = True
                break
            piece = (", " if number else "") + json.dumps(finding.as_dict())
            length += len(piece)
            yield piece
        yield f'], "truncated": {json.dumps(truncated)}}}\n'


def inspect(
    text: str,
    *,
    prefix: str | None = None,
    bindings: Bindings | None = None,
    policies: Sequence[Profile] = (),
    detailed: int = MAX_FOUND,
) -> Inspection:
    """Find and examine the identifiers in ``text``, and look up their bindings. Any str is accepted.

    - ``prefix``: the resolver prefix of this site, or None.
    - ``bindings``: the bindings of this site, or None. If they cannot be read, the result has all other data.
    - ``policies``: IRI policies. IRIs of their hosts are found and checked, too.
    - ``detailed``: the number of identifiers with a full report. The others have a brief one.

    >>> [finding.report.normal_form for finding in inspect("See ark:/12345/x-1 and urn:ISBN:0451450523").findings]
    ['ark:12345/x1', 'urn:isbn:0451450523']
    """
    matches = find(text, scope={host for policy in policies for host in policy.hosts})
    shown = matches[:MAX_FOUND]
    room = _Room()
    reports = [
        room.fitted(
            examine(match.literal, prefix=prefix, policies=policies, limits=room.limits, brief=number >= detailed)
        )
        for number, match in enumerate(shown)
    ]
    known, unread = None, False
    holds: dict[str, Hold] = {}
    suggested = set[int]()
    try:
        suggested = _recorded_suggestions(shown, reports, bindings)
        for number in suggested:
            text = _reading(shown[number], reports[number]) or ""
            reports[number] = room.fitted(
                examine(text, prefix=prefix, policies=policies, limits=room.limits, brief=number >= detailed)
            )
        named = [keys(report) for report in reports]
        known = public((key for each in named for key in each), bindings)
        holds = _holds([known[each[-1]] for each in named if each and each[-1] in known], bindings) if known else {}
    except BindingsUnavailable:
        named = [keys(report) for report in reports]
        unread = True
    findings = []
    for number, (match, report, own) in enumerate(zip(shown, reports, named, strict=True)):
        bound = None if known is None else {key: _kind(known[key]) for key in own if key in known}
        binding = known.get(own[-1]) if known and own else None
        hold = holds.get(own[-1]) if own else None
        is_mistyped = bound is not None and binding is None and _is_mistyped(own, bindings)
        findings.append(
            InspectedIdentifier(match, report, own, bound, unread, binding, hold, number in suggested, is_mistyped)
        )
    without = _lines_without(text, matches)
    return Inspection(text, tuple(findings), len(matches) > len(shown), room.exceeded, without)


def _is_mistyped(keys: Sequence[str], bindings: Bindings | None) -> bool:
    return bool(keys) and bindings is not None and bindings.source.is_mistyped(names.read(keys[-1]))


def _reading(match: Match, report: Report) -> str | None:
    """Return the identifier that was probably meant: the suggestion of the match, or the ARK without a final slash."""
    if match.suggestion is None and any(problem.code == "trailing-slash" for problem in report.problems):
        return report.suggestion
    return match.suggestion


def _holds(recorded: Sequence[Binding], bindings: Bindings | None) -> dict[str, Hold]:
    """Return the holds that stop the redirects of these names now, by their keys."""
    if bindings is None:
        return {}
    now, held = bindings.now(), bindings.source.holds()
    found = {binding.identifier: public_answer(binding, held, now).hold for binding in recorded if binding.is_live}
    return {key: hold for key, hold in found.items() if hold is not None}


def _recorded_suggestions(matches: Sequence[Match], reports: Sequence[Report], bindings: Bindings | None) -> set[int]:
    """Return the numbers of the matches whose suggestion is recorded here, while their literal text is not."""
    readings = dict[int, tuple[str | None, str]]()
    for number, (match, report) in enumerate(zip(matches, reports, strict=True)):
        if bindings is not None and (reading := _reading(match, report)) is not None:
            own, other = keys(report), keys(examine(reading, brief=True))
            if other and own[-1:] != other[-1:]:
                readings[number] = (own[-1] if own else None, other[-1])
    found = public((key for each in readings.values() for key in each if key is not None), bindings) or {}
    return {number for number, (own, other) in readings.items() if other in found and own not in found}


def _lines_without(text: str, matches: Sequence[Match]) -> tuple[str, ...]:
    """Return the lines without an identifier in a list: a text whose lines mostly begin with one."""
    if "\n" not in text or not matches:
        return ()
    without, begun, place, number = list[str](), 0, 0, 0
    for line in text.split("\n"):
        end = place + len(line)
        first = number
        while number < len(matches) and matches[number].start <= end:
            number += 1
        if number > first:
            begun += not text[place : matches[first].start].strip()
        elif line.strip() and not (first and matches[first - 1].end > place):
            without.append(line.strip())
        place = end + 1
    return tuple(without) if begun >= len(without) and begun else ()


@dataclass(slots=True)
class _Room:
    """The remaining limits for the reports of one text. Without them, 1 MB of text can produce 100 MB of reports."""

    contained: int = MAX_CONTAINED
    segments: int = MAX_SEGMENTS
    problems: int = MAX_PROBLEMS
    exceeded: bool = False

    @property
    def limits(self) -> Limits:
        """The limits of the next report: one item more than fits, so that :meth:`fitted` detects an omission."""
        return Limits(max(ALWAYS, self.segments) + 1, max(ALWAYS, self.problems) + 1)

    def fitted(self, report: Report) -> Report:
        """Return the report, shortened if needed to the nearest containers, outer segments and first problems."""
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
        return replace(
            report,
            hierarchy=report.hierarchy[-members:],
            segments=outer(report.segments, segments),
            problems=report.problems[:problems],
        )


def keys(report: Report) -> tuple[str, ...]:
    """Return the keys to look up for an identifier: the normal forms of its nearest containers and, last, its own.

    ``report`` is the result of the inspection. The result is empty if the identifier is not valid.

    >>> keys(examine("ark:/12345/x/p-1.en?info"))
    ('ark:12345/x', 'ark:12345/x/p1', 'ark:12345/x/p1.en')
    >>> keys(examine("urn:example:a?+r")), keys(examine("ark:12345"))
    (('urn:example:a',), ())
    """
    if not report.valid:
        return ()
    return report.hierarchy[-NEAREST:] or (names.key(urn.parse(report.parts["assigned_name"])),)


def kinds(keys: Iterable[str], bindings: Bindings | None) -> dict[str, str] | None:
    """Return the kind of the binding, or "withdrawn", for each key that is bound.

    ``keys`` are the normal forms of names. ``bindings`` is the store; None returns None. Keys without a binding and
    reserved names are omitted. Raises :class:`BindingsUnavailable` if the store cannot be read.
    """
    found = public(keys, bindings)
    return None if found is None else {key: _kind(binding) for key, binding in found.items()}


def public(keys: Iterable[str], bindings: Bindings | None) -> dict[str, Binding] | None:
    """Return the bindings of names that are or were public, by their keys.

    ``keys`` are the normal forms of names. ``bindings`` is the store; None returns None. Raises
    :class:`BindingsUnavailable` if the store cannot be read.
    """
    if bindings is None:
        return None
    wanted = list(dict.fromkeys(keys))
    bound = bindings.fetch(wanted) if wanted else {}
    # A reserved name is not public. One that was public is gone, as a withdrawn name.
    return {key: binding for key, binding in bound.items() if not binding.is_reserved or binding.is_hidden}


def _kind(binding: Binding) -> str:
    return binding.kind if binding.is_live else "withdrawn"
