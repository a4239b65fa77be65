"""List the identifiers of a text as rows of a table, with filters, sort orders, duplicates and equivalents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...bindings.tables import spreadsheet
from ...identifiers.report import OFFICIAL_PREFIX
from ...identifiers.text import display
from ...identifiers.text.translatable import Translatable
from ...tracing.known_resolvers import prefix_for
from . import inspection
from .card import subject
from .inspection import Inspection
from .standing import Status, host_of
from .verdict import IdentifierVerdict

SHOWN: Mapping[str, str] = {
    "all": Translatable("All"),
    "good": Translatable("Fine"),
    "warn": Translatable("To check"),
    "bad": Translatable("Wrong or dead"),
    "same": Translatable("Duplicate or equivalent"),
}
"""The filters of the table with their labels."""

ORDERS: Mapping[str, str] = {
    "text": Translatable("position in the text"),
    "verdict": Translatable("severity"),
    "name": Translatable("normal form"),
}
"""The sort orders of the table with their labels."""

_SEVERITY: Mapping[Status, int] = {"bad": 0, "warn": 1, "good": 2, "plain": 3}
_COLUMNS = (
    *("number", "start", "end", "identifier", "valid", "conformance", "normal_form"),
    *("equivalent_to", "repeated", "bound_here", "problems", "suggestion", "verdict"),
)


@dataclass(frozen=True, slots=True)
class IdentifierRow:
    """One identifier of a text, as a row of the table.
    ``number`` counts from one in the text, ``rank`` from zero when sorted by normal form.

    - ``alike``: the number of equivalent identifiers in the text, with this one. ``first``: the number of the first,
      or None if this is it. ``repeated``: exactly the same text occurs before.
    - ``link``: whether its link works, or the host of the link that its page opens or traces; "" if nothing is known.
    - ``bound``: the kind of the binding, "withdrawn", "" if not bound here, or None if unknown.
    """

    number: int
    finding: inspection.InspectedIdentifier
    verdict: IdentifierVerdict
    alike: int
    first: int | None
    repeated: bool
    bound: str | None
    link: str
    rank: int = 0

    @property
    def leads_to(self) -> str:
        """The host if ``link`` is one, which no language translates; else ""."""
        return "" if isinstance(self.link, Translatable) else self.link

    @property
    def status(self) -> Status:
        """The status of the verdict, which selects the sign and the colour of the row."""
        return self.verdict.status

    @property
    def severity(self) -> int:
        """The sort key for severity: 0 if the identifier is not valid, 1 if it has a warning, 2 otherwise."""
        return _SEVERITY[self.status]


@dataclass(frozen=True, slots=True)
class Listing:
    """All identifiers of a text in their order. ``counts`` has the number of rows for each filter of :data:`SHOWN`."""

    rows: tuple[IdentifierRow, ...]
    counts: Mapping[str, int]

    @property
    def groups(self) -> int:
        """The number of groups of equivalent identifiers in the list, each with two or more."""
        return sum(row.alike > 1 and row.first is None for row in self.rows)

    @property
    def repeated(self) -> int:
        """The number of rows of the list whose text already occurs in an earlier row."""
        return sum(row.repeated for row in self.rows)

    @property
    def has_equivalents(self) -> bool:
        """Whether identifiers in the list are equivalent, but written differently."""
        return any(row.first is not None and not row.repeated for row in self.rows)

    @property
    def has_links(self) -> bool:
        """Whether the rows have facts about links of this site, or links at different hosts."""
        links = {row.link for row in self.rows} - {""}
        return len(links) > 1 or any(row.verdict.code not in _FOREIGN for row in self.rows if row.link)

    def arrange(self, show: str = "all", order: str = "text") -> list[tuple[IdentifierRow, bool]]:
        """Return all rows in an order of :data:`ORDERS`, each with True if a filter of :data:`SHOWN` includes it."""
        return [(row, _among(row, show)) for row in sorted(self.rows, key=lambda row: _order(row, order))]


def listing(found: Inspection) -> Listing:
    """Return the rows of the table with the identifiers of a text.
    Texts that are not valid are not equivalent to each other, but can be duplicates (N-06).

    >>> rows = listing(inspection.inspect("ark:12345/x-1 ark:/12345/x1 ark:12345/x2")).rows
    >>> [(row.number, row.alike, row.first) for row in rows]
    [(1, 2, None), (2, 2, 1), (3, 1, None)]
    """
    rows, firsts, texts = [], dict[str, int](), set[str]()
    alike = Counter(filter(None, (finding.report.normal_form for finding in found.findings)))
    for number, finding in enumerate(found.findings, 1):
        normal_form = finding.report.normal_form
        first = firsts.setdefault(normal_form, number) if normal_form else number
        rows.append(
            IdentifierRow(
                number,
                finding,
                finding.verdict,
                alike[normal_form] if normal_form else 1,
                None if first == number else first,
                finding.match.literal in texts,
                finding.site.kind,
                _link(finding) if len(found.findings) > 1 else "",
            )
        )
        texts.add(finding.match.literal)
    places = {row.number: rank for rank, row in enumerate(sorted(rows, key=_by_name))}
    ranked = tuple(replace(row, rank=places[row.number]) for row in rows)
    return Listing(ranked, {show: sum(_among(row, show) for row in ranked) for show in SHOWN})


def as_csv(rows: Sequence[IdentifierRow]) -> str:
    """Return rows of identifiers as CSV (RFC 4180) with a header line, in printable ASCII with CR LF.

    >>> as_csv(listing(inspection.inspect("ark:/12345/x-1")).rows).splitlines()[1]
    '1,1,14,ark:/12345/x-1,yes,strict,ark:12345/x1,,no,,,,A valid ARK for examples'
    """
    return "".join(spreadsheet.line(record) for record in [_COLUMNS, *map(_record, rows)])


def _record(row: IdentifierRow) -> Iterator[str]:
    match, report = row.finding.match, row.finding.report
    yield from (str(row.number), str(match.start + 1), str(match.end), match.literal)
    yield from ("yes" if report.valid else "no", report.conformance or "", report.normal_form or "")
    yield from (str(row.first or ""), "yes" if row.repeated else "no", row.bound or "")
    yield " ".join(dict.fromkeys(problem.code for problem in report.problems if problem.severity != "note"))
    yield match.suggestion or report.suggestion or ""
    yield display.visible(row.verdict.headline, ascii_only=True)


_LAST: Mapping[str, str] = {
    "works": Translatable("works"),
    "refused": Translatable.in_context("a link", "refused"),
    "unclear": Translatable.in_context("a link", "unclear"),
}

_LINKS: Mapping[str, str] = {
    "link-dead": Translatable("dead"),
    "link-moved": Translatable("moved"),
    "on-hold": Translatable("on hold"),
    "withdrawn": Translatable("withdrawn"),
    "not-known": Translatable("none here"),
    "retired": Translatable("none here"),
    "delegated": Translatable("elsewhere"),
    "unread": Translatable("unknown"),
}


_FOREIGN = ("holder-known", "valid", "outside-the-specification", "policy", "other-scheme", "delegated")


def _link(finding: inspection.InspectedIdentifier) -> str:
    code, site = finding.verdict.code, finding.site
    if code in ("recorded", "part"):
        answer = site.resolution
        # A prefix of this site, and a part of a described thing, have a description, too.
        if site.kind == "described" or (answer is not None and answer.target is None):
            return Translatable.in_context("a link", "description")
        if answer is not None:
            return host_of(answer.target) or Translatable("this site")
        return Translatable("not traced") if site.last is None else _LAST.get(site.last.state, "")
    if code in _FOREIGN:
        return host_of(_link_elsewhere(finding)) or _LINKS.get(code, Translatable("none known"))
    return _LINKS.get(code, "")


def _link_elsewhere(finding: inspection.InspectedIdentifier) -> str | None:
    """Return the address that the page of the identifier opens, or at which its trace starts: that of the pasted link,
    else of the known resolver of its URN namespace, else of the official resolver. None if no resolver is known.
    """
    report, about = finding.report, subject(finding.report)
    if finding.verdict.code == "other-scheme":
        return finding.verdict.correction
    if finding.site.resolution is not None and finding.site.resolution.target:
        return finding.site.resolution.target
    if report.input[:4].lower() == "http":
        return report.input
    if about is None:
        return None
    return prefix_for(about) if report.form == "urn" else OFFICIAL_PREFIX


def _among(row: IdentifierRow, show: str) -> bool:
    if show == "same":
        return row.alike > 1 or row.repeated
    return show not in SHOWN or show in ("all", "good" if row.status == "plain" else row.status)


def _order(row: IdentifierRow, order: str) -> tuple[int, int]:
    return ({"verdict": row.severity, "name": row.rank}.get(order, 0), row.number)


def _by_name(row: IdentifierRow) -> tuple[str, int]:
    report = row.finding.report
    # Normal forms start with ASCII, so texts that are not valid sort last.
    return (report.normal_form or f"\uffff{report.input}", row.number)
