"""Find the identifiers in a text, examine each, and look up its binding. The home page and the API show the result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...bindings.holding import public_answer
from ...bindings.names import naming
from ...bindings.names.binding import NOTHING
from ...bindings.names.prefixes.prefixes import root_of
from ...bindings.names.selection import Selection
from ...identifiers import Match, Report, examine, find
from ...identifiers.report import Limits
from ...identifiers.segments import outer
from ...identifiers.urn import parser as urn
from ...middleware import BindingsUnavailable
from ...middleware.resolution.destination import with_hint
from ...middleware.resolution.resolver import resolve
from ...middleware.resolution.settings import Settings
from .facts import STATEMENTS
from .site_record import NO_SITE, NOT_VALID, UNREAD, SiteRecord
from .verdict import IdentifierVerdict, verdict

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding
    from ...bindings.names.prefixes.holds import Holds
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

MAX_CORRECTED = 20
"""Maximum number of unknown identifiers of a text for which similar names are looked up."""

MAX_ROOTS = 20
"""Maximum number of NAANs and URN namespaces of which it is looked up whether this site has names."""

MAX_READS = 40
"""Maximum number of statements that read containers beyond the nearest ones, successors and similar names."""

_SETTINGS = Settings()

NEAREST = 16
"""Maximum number of members of a hierarchy whose bindings are looked up, including the identifier."""


@dataclass(frozen=True, slots=True)
class InspectedIdentifier:
    """One identifier in a text: its place (``match``), its report, and what this site knows about it.
    The report is that of the suggestion of the match if only this is recorded here (``is_suggested``). ``key`` is the
    normal form, which is the key of its binding; None if it is not valid.
    """

    match: Match
    report: Report
    site: SiteRecord
    verdict: IdentifierVerdict
    key: str | None = None
    is_suggested: bool = False

    @property
    def is_as_assigned(self) -> bool:
        """Whether it has characters that the specification does not allow, as some holders assign."""
        return self.report.conformance == "outside" and self.report.problems[0].code == "bad-char"

    @property
    def meant(self) -> str | None:
        """The identifier that a row of a list suggests, or None."""
        return None if self.is_suggested or self.is_as_assigned else self.match.suggestion

    def as_dict(self) -> dict[str, Any]:
        """Return the identifier for JSON: ``start``, ``end``, ``literal``, ``suggestion``, ``why``, ``report``,
        ``bound``, ``hold`` and ``verdict``.
        """
        return {
            "start": self.match.start,
            "end": self.match.end,
            "literal": self.match.literal,
            "suggestion": self.match.suggestion,
            "why": list(self.match.differences),
            "report": self.report.as_dict(),
            "bound": None if self.site.bound is None else dict(self.site.bound),
            "hold": self.site.hold and self.site.hold.as_dict(),
            "verdict": self.verdict.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """A text, and the identifiers found in it, in their order. ``truncated``: there are more than :data:`MAX_FOUND`.
    ``shortened``: containers, segments or problems were omitted because of the limits of this module.
    ``lines_without``: in a list with an identifier on most lines, the lines that have none.
    """

    text: str
    findings: tuple[InspectedIdentifier, ...]
    truncated: bool
    shortened: bool = False
    lines_without: tuple[str, ...] = ()

    def as_json(self) -> Iterator[str]:
        """Yield this inspection as JSON in ASCII, in one piece per identifier, with a final line break. After
        :data:`MAX_JSON` characters, the other identifiers are omitted, as the member "truncated" states.

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
    """Find and examine the identifiers in a text, and look up their bindings. Any str is accepted. If the bindings
    cannot be read, the result has all other data. IRIs of the hosts of ``policies`` are found, too. ``prefix`` is the
    resolver prefix of this site. Only the first ``detailed`` identifiers have a full report.

    >>> [finding.report.normal_form for finding in inspect("See ark:/12345/x-1 and urn:ISBN:0451450523").findings]
    ['ark:12345/x1', 'urn:isbn:0451450523']
    """
    matches = find(text, scope={host for policy in policies for host in policy.hosts})
    shown = matches[:MAX_FOUND]
    room = _Room()
    reports = [
        room.shorten_report(
            examine(match.literal, prefix=prefix, policies=policies, limits=room.limits, brief=number >= detailed)
        )
        for number, match in enumerate(shown)
    ]
    suggested = set[int]()
    try:
        suggested = _recorded_suggestions(shown, reports, bindings)
        for number in suggested:
            meant = _reading(shown[number], reports[number]) or ""
            reports[number] = room.shorten_report(
                examine(meant, prefix=prefix, policies=policies, limits=room.limits, brief=number >= detailed)
            )
        named = [keys(report) for report in reports]
        sites = look_up(named, bindings)
    except BindingsUnavailable:
        named = [keys(report) for report in reports]
        sites = [UNREAD] * len(named)
    findings = [
        InspectedIdentifier(match, report, site, verdict(report, site), own[-1] if own else None, number in suggested)
        for number, (match, report, own, site) in enumerate(zip(shown, reports, named, sites, strict=True))
    ]
    without = _lines_without(text, matches)
    return Inspection(text, tuple(findings), len(matches) > len(shown), room.exceeded, without)


def _reading(match: Match, report: Report) -> str | None:
    """Return the identifier that was probably meant: the suggestion of the match, or that of the report."""
    return match.suggestion or (None if report.valid else report.suggestion)


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
        """The limits of the next report: one item more than fits, so that :meth:`shorten_report` sees an omission."""
        return Limits(max(ALWAYS, self.segments) + 1, max(ALWAYS, self.problems) + 1)

    def shorten_report(self, report: Report) -> Report:
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
    An invalid identifier has no keys.

    >>> keys(examine("ark:/12345/x/p-1.en?info"))
    ('ark:12345/x', 'ark:12345/x/p1', 'ark:12345/x/p1.en')
    """
    if not report.valid:
        return ()
    return report.hierarchy[-NEAREST:] or (naming.key(urn.parse(report.parts["assigned_name"])),)


def kinds(keys: Iterable[str], bindings: Bindings | None) -> dict[str, str] | None:
    """Return the kind of the binding, or "withdrawn", by key. Unbound and reserved names are omitted. None without
    bindings. Raises :class:`BindingsUnavailable`.
    """
    found = public(keys, bindings)
    return None if found is None else {key: kind_of(binding) for key, binding in found.items()}


def verdicts(reports: Sequence[Report], bindings: Bindings | None) -> list[IdentifierVerdict]:
    """Return the verdict on each identifier, in order. Without readable bindings, it is only about the report."""
    try:
        sites = look_up([keys(report) for report in reports], bindings)
    except BindingsUnavailable:
        sites = [UNREAD] * len(reports)
    return [verdict(report, site) for report, site in zip(reports, sites, strict=True)]


def public(keys: Iterable[str], bindings: Bindings | None) -> dict[str, Binding] | None:
    """Return the bindings of names that are or were public, by their keys; others are omitted. None without bindings.
    Raises :class:`BindingsUnavailable`.
    """
    if bindings is None:
        return None
    wanted = list(dict.fromkeys(keys))
    bound = bindings.store.fetch(wanted) if wanted else {}
    return {key: binding for key, binding in bound.items() if is_public(binding)}


@dataclass(slots=True)
class _Lookup:
    """The bindings that one inspection has read."""

    bindings: Bindings
    found: dict[str, Binding] = field(default_factory=dict[str, "Binding"])
    asked: set[str] = field(default_factory=set[str])
    reads: int = 0
    corrected: int = 0
    roots: dict[str, bool] = field(default_factory=dict[str, bool])

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of several keys, and read those that were not read yet."""
        wanted = list(keys)
        missing = [key for key in wanted if key not in self.asked] if self.reads < MAX_READS else []
        if missing:
            self.reads += 1
            self.asked.update(missing)
            self.found |= self.bindings.store.fetch(missing)
        return {key: self.found[key] for key in wanted if key in self.found}

    def has_names(self, root: str) -> bool:
        """Return whether this site has live names below a NAAN or URN namespace."""
        if root not in self.roots:
            few = len(self.roots) < MAX_ROOTS
            self.roots[root] = few and bool(
                self.bindings.list_names(Selection(prefix=root, status="live"), limit=1).names
            )
        return self.roots[root]

    def unknown(self, key: str, bound: Mapping[str, str], held: Holds, *, is_alone: bool) -> SiteRecord:
        """Return what this site knows about a valid identifier that is not recorded, as the resolver answers it."""
        source = self.bindings.source
        record = next(source.prefix_records().records_of(key), None)
        resolution = resolve(
            key,
            self.fetch,
            source.binding_by_rule,
            _SETTINGS,
            prefixes=source.prefix_records,
            holds=held,
            now=source.now,
        )
        code = None if resolution.problem is None else resolution.problem.code
        is_unknown = code == "not-bound"
        is_answered = code not in ("not-bound", "naan-reserved-invalid")
        is_own = bool(record or bound or is_answered) or self.has_names(_root_of(key))
        if is_unknown and self.corrected < MAX_CORRECTED and (is_own or is_alone):
            self.corrected += 1
            resolution = with_hint(resolution, source)
        return SiteRecord(
            bound=bound,
            kind="",
            resolution=resolution,
            above=self.found.get(resolution.container or ""),
            prefix=record,
            is_own=is_own,
            is_answered=is_answered,
            is_mistyped=is_unknown and source.is_mistyped(naming.read(key)),
            contact=self.contact(key) if is_own else None,
        )

    def contact(self, key: str) -> str | None:
        """Return whom to ask about a name."""
        return contact_of(self.bindings, key)


def _root_of(key: str) -> str:
    """Return the beginning of names that one institution assigns: the NAAN, the URN namespace, or the prefix of an NBN.

    >>> _root_of("urn:nbn:de:bvb:12-bsb1"), _root_of("urn:isbn:9783161484100")
    ('urn:nbn:de:bvb:12-', 'urn:isbn:')
    """
    return f"{key.partition('-')[0]}-" if key.startswith("urn:nbn:") else root_of(key)


def contact_of(bindings: Bindings, key: str) -> str | None:
    """Return the contact for a name: that of the longest prefix record that has one, else of the site, or None."""
    inherited = bindings.source.prefix_records().inherited_text(key, "contact")
    return bindings.source.branding().contact if inherited is None else inherited.text


def look_up(named: Sequence[tuple[str, ...]], bindings: Bindings | None) -> list[SiteRecord]:
    """Return what this site knows about identifiers, given by their :func:`keys`, in their order.
    A reserved name is unknown, as it is to visitors. Raises :class:`BindingsUnavailable`.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x5", "https://example.org/", metadata={"what": "A vase"})
    'bound'
    >>> found, missing = look_up([("ark:12345/x5",), ("ark:12345/X5",)], b)
    >>> found.kind, missing.kind, missing.near.identifier
    ('located', '', 'ark:12345/x5')
    >>> b.close(); folder.cleanup()
    """
    keys = list(dict.fromkeys(key for each in named for key in each))
    if bindings is None:
        return [NO_SITE] * len(named)
    if not keys:
        return [NOT_VALID] * len(named)
    found, traces = bindings.store.fetch_traced(keys)
    lookup = _Lookup(bindings, found, set(keys))
    now, (prefixes, held) = bindings.now(), bindings.source.records_and_holds()
    records: list[SiteRecord] = []
    others: dict[int, tuple[str | None, str | None]] = {}
    for number, own in enumerate(named):
        public = {each: found[each] for each in own if each in found and is_public(found[each])}
        bound = {each: kind_of(binding) for each, binding in public.items()}
        if not own:
            records.append(NOT_VALID)
        elif (binding := public.get(own[-1])) is None:
            unknown = lookup.unknown(own[-1], bound, held, is_alone=len(named) == 1)
            records.append(unknown)
            if unknown.resolution is not None:
                others[number] = unknown.resolution.successor, unknown.resolution.correction
                records[-1] = replace(unknown, last=traces.get(unknown.resolution.container or ""))
        else:
            current, hold = public_answer(binding, held, now)
            hold = hold if current.is_live else None
            last = traces.get(own[-1]) if current.is_live and hold is None else None
            contact = lookup.contact(own[-1]) if last is not None and last.state == "dead" else None
            kind, promises = bound[own[-1]], NOTHING
            if current.is_live and (prefixes.has_statements or not STATEMENTS.isdisjoint(current.metadata)):
                # Its own, and those of its prefixes (P-19).
                stated = {**prefixes.statements(own[-1], current.metadata).texts, **current.metadata}
                promises = {each: stated[each] for each in STATEMENTS & stated.keys()}
            known = SiteRecord(bound, False, kind, current, hold, last, is_own=True, is_answered=True)
            records.append(replace(known, contact=contact, promises=promises))
            if current.successor is not None:
                others[number] = current.successor, None
    return _with_others(records, others, lookup) if others else records


def _without_successor(record: SiteRecord) -> SiteRecord:
    """Return the record of a withdrawn name whose successor is not public yet: its link answers 404."""
    binding = record.binding and replace(record.binding, successor=None)
    resolution = record.resolution and replace(record.resolution, successor=None)
    return replace(record, binding=binding, resolution=resolution)


def is_public(binding: Binding) -> bool:
    """Return whether the public knows a name. One that was public and is hidden is gone, as a withdrawn name."""
    return not binding.is_reserved or binding.is_hidden


def kind_of(binding: Binding) -> str:
    """Return the kind of a binding, or "withdrawn"."""
    return binding.kind if binding.is_live else "withdrawn"


def _with_others(
    records: list[SiteRecord], others: Mapping[int, tuple[str | None, str | None]], lookup: _Lookup
) -> list[SiteRecord]:
    """Return the records with the bindings of the successors and similar names. ``others`` has their keys by number."""
    wanted = [key for each in others.values() for key in each if key is not None and not key.startswith("http")]
    known = lookup.fetch(dict.fromkeys(wanted)) if wanted else {}
    found = {key: each for key, each in known.items() if each.is_live}
    for number, keys in others.items():
        successor, near = (None if key is None else found.get(key) for key in keys)
        if keys[0] in known and not is_public(known[keys[0]]):
            records[number] = _without_successor(records[number])
        if successor is not None or near is not None:
            records[number] = replace(records[number], successor=successor, near=near, is_own=True)
    return records
