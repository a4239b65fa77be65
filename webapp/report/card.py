"""Convert the report of one identifier to a card: the content that its page shows.
The size of a card is limited. Positions on a card count from one, positions in a report from zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...bindings.names.branding.model import contact_address
from ...identifiers import Problem, Report
from ...identifiers.report import OFFICIAL_PREFIX
from ...identifiers.suggestions import Suggestion, reasons, suggestions
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable, join_texts
from . import excerpt, facts, inspection, parts, qr
from .excerpt import Line
from .parts import Part
from .standing import host_of, title_of
from .verdict import GRAVITY, IdentifierVerdict, capital

MAX_COPIED = 2000
"""Maximum length of a text that a button copies or a link contains, in characters."""

MAX_REPEATED = 240
"""Maximum number of characters shown of an equivalent or of a member of the hierarchy."""

_UNKNOWN = ("not-known", "retired")
_TO_MEND = (*_UNKNOWN, "link-dead")

MAX_PROBLEMS = 20
MAX_MEMBERS = 8
MAX_UNUSUAL = 50


@dataclass(frozen=True, slots=True)
class NormalizationStep:
    """One step of the normalization, with the section that defines it.
    ``line`` shows its deletions and insertions. ``parts`` are the numbers of the parts that it changes.
    """

    title: str
    reference: str
    line: Line
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """An identifier in the hierarchy of the inspected one: itself or a container, such as ark:12345/x of
    ark:12345/x/p1. ``identifier`` is the target of its link, or None if it is too long. ``role`` is its relation, such
    as "container". ``state`` is whether it is bound here, such as "recorded here", or "" if nothing is known.
    """

    identifier: str | None
    line: Line
    role: str
    state: str
    here: bool


@dataclass(frozen=True, slots=True)
class Spelling:
    """An equivalent spelling of an identifier, with a label such as "classic form".
    ``copy`` is in printable ASCII, or None if it is too long to copy; ``line`` is for display.
    """

    label: str
    text: str
    line: Line
    copy: str | None


@dataclass(frozen=True, slots=True)
class ProblemView:
    """An error, warning or note about an identifier. ``place`` is such as "Characters 12 to 14.", marked in ``line``.
    ``number`` counts from one. ``parts`` is empty if the problem affects more parts than are shown.
    """

    number: int
    severity: str
    message: str
    place: str
    line: Line
    expected: str
    reference: str
    code: str
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of the table that compares the specifications of URNs: a part of the URN by each of them.
    A :class:`Line` has text of the identifier, which needs safe display.
    """

    label: str
    cells: tuple[str | Line, ...]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The facts about an identifier from one source, such as the NAAN registry. A row is a label, a text for display,
    and True if the text is an identifier or a URL.
    """

    title: str
    rows: tuple[tuple[str, Line, bool], ...]


class NextStep(NamedTuple):
    """The next act of a person with an identifier: the words of a button, and the address that it opens."""

    label: str
    address: str


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card for one identifier.

    - ``start``, ``end``: the position in the text, counted from one. ``faults``: errors and warnings.
    - ``taken_from``: the text, if only a part of it is recorded here, or a correction (``corrected``).
    - ``subject``: the identifier that a trace resolves.
    - ``is_answered``: this site answers for it. ``unread``: the names of this site cannot be read.
    - ``drawn``: the URL in the QR code.
    - ``outside``: it has characters that the specification does not allow, as some holders assign.
    - ``pasted``: the address before it. ``copied``: the identifier without that, in printable ASCII.
    - ``step``: the one next step, a filled button. ``ask``: the link to those who can mend a link.
    - ``description``: the address of the description of a name that is recorded here.
    """

    start: int
    end: int
    verdict: IdentifierVerdict
    given: Line
    parts: tuple[Part, ...]
    suggestions: tuple[Spelling, ...]
    rest: Line | None
    faults: tuple[ProblemView, ...]
    notes: tuple[ProblemView, ...]
    problems_left_out: int
    normal: Spelling | None
    changes: tuple[NormalizationStep, ...]
    members: tuple[Member, ...]
    members_left_out: int
    spellings: tuple[Spelling, ...]
    profiles: tuple[ComparisonRow, ...]
    known: tuple[SourceFacts, ...]
    unusual: tuple[display.Character, ...]
    unusual_goes_on: bool
    subject: str | None
    is_answered: bool
    unread: bool
    drawn: Spelling | None = None
    outside: bool = False
    pasted: str = ""
    copied: str | None = None
    step: NextStep | None = None
    ask: NextStep | None = None
    description: str | None = None
    taken_from: Line | None = None
    corrected: bool = False


def card(finding: inspection.InspectedIdentifier, prefix: str | None = None) -> Card:
    """Return the card of one identifier in a text. ``prefix`` is the resolver prefix of this site.

    >>> from ararat.webapp.report.inspection import inspect
    >>> shown = card(inspect("ark:/12345/x6-np1").findings[0])
    >>> shown.verdict.headline, [part.label for part in shown.parts]
    ('A valid ARK for examples', ['label (classic)', 'NAAN', '', 'Name'])
    """
    report = finding.report
    problems = sorted(report.problems, key=lambda found: (GRAVITY[found.severity], found.start, found.end))
    remarks = [_problem_view(number, found, report) for number, found in enumerate(problems[:MAX_PROBLEMS], 1)]
    unusual = display.unusual(report.input, limit=MAX_UNUSUAL + 1)
    # The link of a name that is not known here answers 404. Without the store, it is unknown whose link works.
    has_link = finding.verdict.code not in _UNKNOWN and not finding.site.unread
    drawn = qr.qr_address(report, prefix, bound=finding.site.is_answered) if has_link else None
    about, own = subject(report), f"{prefix.rstrip('/')}/{finding.key}" if prefix and finding.key else None
    copied = display.percent(about) if about and len(about) <= MAX_COPIED else None
    return Card(
        start=finding.match.start + 1,
        end=finding.match.end,
        verdict=finding.verdict,
        given=_given_line(report),
        parts=tuple(parts.show_parts(report, problems[:MAX_PROBLEMS])),
        suggestions=tuple(_suggestions(finding)),
        rest=excerpt.plain(finding.match.rest) if finding.match.rest else None,
        faults=tuple(remark for remark in remarks if remark.severity != "note"),
        notes=tuple(remark for remark in remarks if remark.severity == "note"),
        problems_left_out=max(0, len(problems) - MAX_PROBLEMS),
        normal=_spelling(Translatable("normal form"), report.normal_form, excerpt.MAX_LENGTH)
        if report.normal_form
        else None,
        changes=tuple(_changes(report)),
        members=tuple(
            _member(member, report, finding.site.bound)
            for member in report.hierarchy[-MAX_MEMBERS:]
            if len(report.hierarchy) > 1
        ),
        members_left_out=max(0, len(report.hierarchy) - MAX_MEMBERS),
        spellings=tuple(_spellings(report)),
        profiles=tuple(_profile_rows(list(report.profiles.values()))) if report.profiles else (),
        known=tuple(_source_facts(source) for source in facts.collect_facts(report, finding.site.promises)),
        unusual=tuple(unusual[:MAX_UNUSUAL]),
        unusual_goes_on=len(unusual) > MAX_UNUSUAL,
        subject=about,
        is_answered=finding.site.is_answered,
        unread=finding.site.unread,
        drawn=_spelling("", drawn) if drawn else None,
        outside=finding.is_as_assigned,
        pasted=report.parts.get("prefix") or "",
        copied=copied if copied and len(copied) <= MAX_COPIED else None,
        step=_step(finding, own),
        ask=_ask(finding) if finding.verdict.code in _TO_MEND else None,
        description=f"{own}?info" if own and finding.site.kind else None,
        taken_from=excerpt.plain(finding.match.literal, MAX_REPEATED) if finding.is_suggested else None,
        corrected=finding.is_suggested and report.input not in finding.match.literal,
    )


def _step(finding: inspection.InspectedIdentifier, own: str | None) -> NextStep | None:
    """Return the one next step. ``own`` is the address of the identifier at this site."""
    site, verdict = finding.site, finding.verdict
    match verdict.code:
        case "withdrawn" if (successor := verdict.correction) is not None:
            if not successor.startswith("http"):
                successor = own and f"{own.removesuffix(finding.key or '')}{successor}"
            title = title_of(site.successor) or verdict.correction or ""
            label = Translatable("Open the new identifier: %(title)s", title=title)
            return NextStep(label, successor) if successor else None
        case "link-dead" | "on-hold" if own:
            return NextStep(Translatable("See the description"), f"{own}?info")
        case "recorded" if own and site.kind in ("", "described", None):
            # A prefix of this site has its description at its address.
            return NextStep(Translatable("See the description"), f"{own}?info" if site.kind else own)
        case "recorded" | "link-moved" if own and site.kind == "related":
            return NextStep(Translatable("Open the page about the item"), own)
        case "recorded" | "link-moved" | "part" if own:
            return NextStep(Translatable("Open the item"), own)
        case "other-scheme" if (address := verdict.correction) is not None:
            return NextStep(Translatable("Open at %(host)s", host=host_of(address)), address)
        case "delegated" if site.resolution is not None and (address := site.resolution.target):
            return NextStep(Translatable("Open at %(host)s", host=host_of(address)), address)
        case "not-known" | "hidden-characters" | "mistyped" if verdict.correction:
            return None
        case _ if site.kind or (finding.report.parts.get("prefix") or "")[:4].lower() != "http":
            return None
        case _:
            # The question is whether this link works.
            pasted = display.percent(finding.report.input)
            return NextStep(Translatable("Open at %(host)s", host=host_of(pasted)), pasted) if host_of(pasted) else None


def _ask(finding: inspection.InspectedIdentifier) -> NextStep | None:
    """Return the link to those who can mend a link that does not work."""
    contact = finding.site.contact
    address = contact and contact_address(contact)
    if not contact or not address:
        return None
    return NextStep(Translatable("Report it to %(contact)s", contact=display.visible(contact)), address)


def subject(report: Report) -> str | None:
    """Return the identifier that a trace resolves: the ARK, also if a URL contains it, or the URN; else None.
    A text outside the specification is traced as given.

    >>> from ararat.identifiers import examine
    >>> subject(examine("https://n2t.net/ark:/12345/x")), subject(examine("ark:12345"))
    ('ark:/12345/x', None)
    >>> subject(examine("https://www.familysearch.org/ark:/61903/1:1:MW98-MNJ"))
    'ark:/61903/1:1:MW98-MNJ'
    """
    if report.conformance == "outside":
        return report.input[len(report.parts["prefix"] or "") :]
    if not report.valid:
        return None
    return (report.embedding.get("ark") or report.embedding["urn"]) if report.embedding else report.input


def _given_line(report: Report) -> Line:
    # An identifier that is not valid has no segments, so the text itself marks the first problem.
    if report.valid or not report.problems:
        return excerpt.plain(report.input)
    return excerpt.mark_in_whole(report.input, report.problems[0].start, report.problems[0].end)


def _problem_view(number: int, found: Problem, report: Report) -> ProblemView:
    text = report.input
    if found.end - found.start > 1:
        place = Translatable("Characters %(start)s to %(end)s.", start=found.start + 1, end=found.end)
    elif found.start < len(text):
        place = Translatable("Character %(position)s.", position=found.start + 1)
    else:
        place = Translatable("At the end.")
    line = excerpt.mark_excerpt(text, found.start, found.end)
    return ProblemView(
        number,
        found.severity,
        capital(found.message),
        place,
        line,
        found.expected,
        found.reference,
        found.code,
        parts.touching(found, report),
    )


def _source_facts(source: facts.Facts) -> SourceFacts:
    rows = ((fact.label, excerpt.plain(fact.text), fact.identifier) for fact in source.facts)
    return SourceFacts(source.heading or source.title, tuple(rows))


def _suggestions(finding: inspection.InspectedIdentifier) -> Iterator[Spelling]:
    """Yield the probable identifiers with their reasons, each once."""
    match = finding.match
    meant = finding.verdict.correction
    if meant is not None and finding.verdict.code in ("mistyped", *_UNKNOWN):
        yield _spelling("", meant)
        return
    found = (
        [] if match.suggestion is None or finding.is_suggested else [Suggestion(match.suggestion, match.corrections)]
    )
    if not finding.site.kind:
        found += suggestions(finding.report.input, in_text=True)
    unique = dict[str, tuple[str, ...]]()
    for each in found:
        unique.setdefault(each.identifier, each.differences)
    for text, why in unique.items():
        yield _spelling(capital(reasons(why)), text)


def _changes(report: Report) -> Iterator[NormalizationStep]:
    for step, touched in zip(report.steps, parts.follow_steps(report), strict=True):
        by = excerpt.VARIANTS if step.rule == "variants" else excerpt.CHARACTERS
        yield NormalizationStep(
            step.title, step.reference, excerpt.show_difference(step.before, step.after, by), touched
        )


def _member(member: str, report: Report, bound: Mapping[str, str] | None) -> Member:
    here = member == report.hierarchy[-1]
    if member == report.variant_of:
        role = Translatable("base of this variant")
    elif not here:
        role = Translatable("container")
    elif report.variant_of:
        role = Translatable("this identifier, a variant")
    else:
        role = Translatable("this identifier")
    identifier = member if len(member) <= MAX_COPIED else None
    return Member(identifier, excerpt.plain(member, MAX_REPEATED), role, _state(member, here, bound), here)


def _state(member: str, here: bool, bound: Mapping[str, str] | None) -> str:
    if bound is None:
        return ""
    if member in bound:
        return Translatable("withdrawn") if bound[member] == "withdrawn" else Translatable("recorded here")
    # H-02: a container follows from the identifier. It does not have to be recorded.
    return "" if here else Translatable("implied")


def _spelling(label: str, text: str, most: int = MAX_REPEATED) -> Spelling:
    copied = display.percent(text) if len(text) <= MAX_COPIED else None
    return Spelling(label, text, excerpt.plain(text, most), copied if copied and len(copied) <= MAX_COPIED else None)


def _spellings(report: Report) -> Iterator[Spelling]:
    spellings = dict.fromkeys(text if text.isascii() else display.percent(text) for text in report.equivalents)
    for number, text in enumerate(spellings):
        labels = [_place_text(text, report)]
        if not number:
            labels.insert(0, Translatable("as given") if text == report.input else Translatable("as given, in ASCII"))
        yield _spelling(join_texts(*labels, by=", "), text)


def _place_text(text: str, report: Report) -> str:
    normal_form = report.normal_form or ""
    if text == normal_form:
        return Translatable("normal form")
    if text == normal_form.replace("ark:", "ark:/", 1):
        return Translatable("classic form")
    if text.startswith(f"{OFFICIAL_PREFIX}/"):
        return Translatable("at the official resolver")
    return Translatable("at this site") if text.endswith(f"/{normal_form}") else ""


_PROFILE_ROWS = (
    ("valid", Translatable("Valid")),
    ("nid", "NID"),
    ("nss", "NSS"),
    ("query", Translatable("Query")),
    ("r", "r-component"),
    ("q", "q-component"),
    ("fragment", Translatable("Fragment")),
    ("f", "f-component"),
    ("assigned", Translatable("Assigned name")),
    ("problems", Translatable("Problems")),
)


def _profile_rows(columns: Sequence[Mapping[str, object]]) -> Iterator[ComparisonRow]:
    for name, label in _PROFILE_ROWS:
        if any(column.get(name) is not None for column in columns):
            yield ComparisonRow(label, tuple(_cell(column, name) for column in columns))


def _cell(column: Mapping[str, object], name: str) -> str | Line:
    value = column.get(name)
    if isinstance(value, bool):
        return Translatable("yes") if value else Translatable("no")
    if isinstance(value, str):
        return excerpt.plain(value)
    if isinstance(value, (list, tuple)):
        return excerpt.plain(", ".join(map(str, value))) if value else Translatable("none")
    return Translatable("none") if name in column else ""
