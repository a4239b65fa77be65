"""The identifiers of a paste as rows of a table: counted, filtered, sorted, with what repeats and what is equivalent.

Pure. Page, CSV and the choice of what is compared all start from one :class:`Listing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from . import inspection, spreadsheet, summary
from .inspection import Inspection

SHOWN: Mapping[str, str] = {
    "all": "All",
    "good": "Valid",
    "warn": "Valid, with a warning",
    "bad": "Not valid",
    "same": "Repeated or equivalent",
}
"""What a table can be narrowed to, with its words.

Tones, and what has an equivalent in the same paste.
"""

ORDERS: Mapping[str, str] = {
    "text": "as in the text",
    "verdict": "the gravest first",
    "name": "by normal form, equivalents together",
}
"""How a table can be sorted, with its words."""

_GRAVITY: Mapping[summary.Tone, int] = {"bad": 0, "warn": 1, "good": 2, "plain": 3}
_COLUMNS = (
    *("number", "start", "end", "identifier", "valid", "conformance", "normal_form"),
    *("equivalent_to", "repeated", "bound_here", "problems", "suggestion"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One identifier in the table.

    ``number`` counts from one in the order of the text; ``rank`` is its place when sorted by normal form, equivalents
    side by side. ``alike`` is how many of the paste are equivalent, itself included; ``first`` the number of the first
    of them, None for that one itself; ``repeated``, whether the same text stands further up. ``bound`` is a kind,
    "withdrawn", "" where it is not bound here, None where nobody could be asked.
    """

    number: int
    finding: inspection.Finding
    tone: summary.Tone
    verdict: str
    alike: int
    first: int | None
    repeated: bool
    bound: str | None
    rank: int = 0

    @property
    def gravity(self) -> int:
        """0 for what is not valid, 1 where there is a warning, 2 for the rest."""
        return _GRAVITY[self.tone]


@dataclass(frozen=True, slots=True)
class Listing:
    """All rows in the order of the text, and how many of them there are of each entry of :data:`SHOWN`."""

    rows: tuple[Row, ...]
    counts: Mapping[str, int]

    @property
    def groups(self) -> int:
        """How many sets of two or more equivalent identifiers there are."""
        return sum(row.alike > 1 and row.first is None for row in self.rows)

    @property
    def repeated(self) -> int:
        """How many rows only repeat the text of one further up."""
        return sum(row.repeated for row in self.rows)

    def arranged(self, show: str = "all", order: str = "text") -> list[tuple[Row, bool]]:
        """Every row in an order of :data:`ORDERS`, with whether it is among what is shown, of :data:`SHOWN`."""
        return [(row, _among(row, show)) for row in sorted(self.rows, key=lambda row: _order(row, order))]


def listing(found: Inspection) -> Listing:
    """Make the rows of a paste.

    Two that are no identifiers are equivalent to nothing, not even to one another; the same text twice is repeated all
    the same (N-06).

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
            Row(
                number,
                finding,
                summary.tone(finding.report),
                summary.verdict(finding.report),
                alike[normal_form] if normal_form else 1,
                None if first == number else first,
                finding.match.literal in texts,
                _bound(finding),
            )
        )
        texts.add(finding.match.literal)
    places = {row.number: rank for rank, row in enumerate(sorted(rows, key=_by_name))}
    ranked = tuple(replace(row, rank=places[row.number]) for row in rows)
    return Listing(ranked, {show: sum(_among(row, show) for row in ranked) for show in SHOWN})


def as_csv(rows: Sequence[Row]) -> str:
    """The rows as a file for a spreadsheet: one header, printable ASCII, lines that end in CR LF (RFC 4180).

    >>> as_csv(listing(inspection.inspect("ark:/12345/x-1")).rows).splitlines()[1]
    '1,1,14,ark:/12345/x-1,yes,strict,ark:12345/x1,,no,,,'
    """
    return "".join(spreadsheet.line(record) for record in [_COLUMNS, *map(_record, rows)])


def _record(row: Row) -> Iterator[str]:
    match, report = row.finding.match, row.finding.report
    yield from (str(row.number), str(match.start + 1), str(match.end), match.literal)
    yield from ("yes" if report.valid else "no", report.conformance or "", report.normal_form or "")
    yield from (str(row.first or ""), "yes" if row.repeated else "no", row.bound or "")
    yield " ".join(dict.fromkeys(problem.code for problem in report.problems if problem.severity != "note"))
    yield match.suggestion or report.suggestion or ""


def _among(row: Row, show: str) -> bool:
    if show == "same":
        return row.alike > 1 or row.repeated
    return show not in SHOWN or show in ("all", row.tone)


def _order(row: Row, order: str) -> tuple[int, int]:
    return ({"verdict": row.gravity, "name": row.rank}.get(order, 0), row.number)


def _by_name(row: Row) -> tuple[str, int]:
    report = row.finding.report
    # No normal form begins with a character beyond ASCII: what cannot be read comes last.
    return (report.normal_form or f"\uffff{report.input}", row.number)


def _bound(finding: inspection.Finding) -> str | None:
    if finding.bound is None:
        return None
    name = next(reversed(inspection.keys(finding.report)), None)
    return finding.bound.get(name, "") if name else ""
