"""Turn reports about identifiers, comparisons and found identifiers into lines for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...identifiers.problems import caret
from ...identifiers.segments import LABELS
from ...identifiers.suggestions import reasons, suggestions
from ...identifiers.text import display
from ..output import Sheet, Style, identifier, words

if TYPE_CHECKING:
    from ...identifiers import Match, Problem, Report
    from ...webapp.report.comparison import Comparison, IdentifierVerdict
    from ...webapp.report.site_record import SiteRecord

_MAX_ROWS = 12
_MAX_MEMBER = 300
# The codes of verdicts before this one are shown in the row of an identifier.
_REMARKABLE = 4
_SEVERITIES: dict[str, Style] = {"error": "error", "warning": "warning", "note": "soft"}
_STATUSES: dict[str, Style] = {"good": "good", "warn": "warning", "bad": "error", "plain": ""}
_CONFORMANCE: dict[str | None, Style] = {"strict": "good", "liberal": "warning", "outside": "error", None: "error"}


def conformance(report: Report) -> str:
    """Return how well an identifier follows the syntax: "strict", "liberal", "outside" or "invalid".

    >>> from ...identifiers import examine
    >>> conformance(examine("ark:12345"))
    'invalid'
    """
    return report.conformance or "invalid"


def report_lines(report: Report, sheet: Sheet, site: SiteRecord | None = None) -> Iterator[str]:
    """Yield the lines of the report of ``ararat inspect`` about one identifier. Empty sections are omitted.

    >>> from ...identifiers import examine
    >>> next(report_lines(examine("ark:12345/x"), Sheet(80)))
    'ark:12345/x'
    """
    from ...webapp.report.verdict import verdict

    conformance_text = verdict(report, site)
    yield from sheet.prose(identifier(report.input), style="strong")
    headline = words(conformance_text.headline)
    yield from sheet.prose(
        headline if headline.endswith("?") else f"{headline}.", style=_STATUSES[conformance_text.status]
    )
    if conformance_text.kind:
        about = dict.fromkeys((conformance_text.kind, conformance_text.tag))
        yield from sheet.prose(f"{': '.join(about)}.", style="soft")
    if conformance_text.sentence:
        yield from sheet.prose(words(conformance_text.sentence))
    if other := _other_name(conformance_text):
        yield from sheet.prose(other)
    about = partial(_facts, site=site)
    for section in (_normal_form, _parts, _profiles, _steps, _hierarchy, _same_as, about, _characters, _problems):
        lines = list(section(report, sheet))
        if lines:
            yield ""
            yield from lines


def row(report: Report, sheet: Sheet, site: SiteRecord | None = None) -> Iterator[str]:
    """Yield the line of ``ararat inspect`` about one of several identifiers: its normal form or its first problem.

    >>> from ...identifiers import examine
    >>> list(row(examine("ark:/12345/x-1"), Sheet(80)))
    ['strict   ark:12345/x1']
    """
    from ...webapp.report.standing import TAGS
    from ...webapp.report.verdict import CODES, verdict

    word = sheet.paint(conformance(report).ljust(8), _CONFORMANCE[report.conformance])
    found = verdict(report, site)
    is_remarkable = CODES.index(found.code) < _REMARKABLE or found.code in TAGS
    headline = [*sheet.prose(words(_headline(found)), indent=9)] if is_remarkable else []
    if other := _other_name(found):
        headline += sheet.prose(other, indent=9)
    if report.normal_form is not None:
        yield f"{word} {sheet.paint(identifier(report.normal_form))}"
        yield from headline
        return
    problem = report.problems[0]
    yield f"{word} {sheet.paint(identifier(report.input))}"
    yield from headline
    where = f"{problem.message} at {problem.start + 1}" if report.input else problem.message
    yield from sheet.prose(f"{where} [{problem.code}]", indent=9)
    if report.suggestion is not None:
        yield from sheet.prose(f"suggestion: {identifier(report.suggestion)}", indent=9)


def _headline(found: IdentifierVerdict) -> str:
    """Return the headline of a verdict, with its tag if the headline does not say the same."""
    return f"{found.headline} ({found.added_tag})" if found.added_tag else found.headline


def _other_name(found: IdentifierVerdict) -> str:
    """Return a sentence with the name that replaces a withdrawn one, or that is meant by one not known here, or ""."""
    label = {"withdrawn": "Successor", "not-known": "Similar name"}.get(found.code)
    return f"{label}: {identifier(found.correction)}" if label and found.correction else ""


def comparison_lines(comparison: Comparison, sheet: Sheet, verdicts: Sequence[IdentifierVerdict]) -> Iterator[str]:
    """Yield the lines of ``ararat equal``: the result, both normal forms, and a caret at their first difference."""
    style: dict[str, Style] = {
        "equivalent": "good",
        "different": "warning",
        "undecided": "warning",
        "unreadable": "error",
    }
    yield from sheet.prose(comparison.sentence, style=style[comparison.verdict])
    for note in comparison.notes:
        yield from sheet.prose(note)
    yield ""
    sides = (comparison.a, comparison.b)
    for label, report, found in zip(("First", "Second"), sides, verdicts, strict=True):
        yield from sheet.field(label, identifier(report.input))
        yield from sheet.field("", words(_headline(found)), style=_STATUSES[found.status])
        if other := _other_name(found):
            yield from sheet.field("", other)
        if report.normal_form is None:
            yield from problem_lines(report.problems[0], report.input, sheet)
        elif report.normal_form != report.input:
            yield from sheet.field("", f"= {identifier(report.normal_form)}")
    if comparison.difference is not None:
        yield ""
        place = comparison.difference
        first, second = (
            _point_at(report.normal_form or "", place, place + 1, sheet) for report in (comparison.a, comparison.b)
        )
        yield from sheet.field("Differ at", first[0])
        yield sheet.verbatim(second[0])
        yield sheet.verbatim(second[1], style="warning")


def match_line(match: Match, line: int, column: int, normal_form: str | None, sheet: Sheet) -> str:
    """Return the line of ``ararat find`` about an identifier: place, text, suggestion with its reason, and normal form.
    ``line`` and ``column`` count from 1.

    >>> from ...identifiers import Match
    >>> match_line(Match(4, 15, "ark:12345/x"), 1, 5, "ark:12345/x", Sheet(80))
    '1:5      ark:12345/x'
    """
    meant = match.suggestion or match.literal
    why = ", ".join([*match.corrections, *([f"followed by {identifier(match.rest)}"] if match.rest else [])])
    if "not-valid" in match.differences:
        from ...identifiers import examine  # it loads the registries, which other matches do not need

        why = f"not valid: {examine(match.literal, brief=True).problems[0].message}"
    reading = f" -> {identifier(meant)} ({why})" if match.suggestion else f" ({why})" if why else ""
    meaning = f" = {identifier(normal_form)}" if normal_form not in (None, meant, match.literal) else ""
    place = sheet.paint(f"{line}:{column}".ljust(8), "soft")
    return f"{place} {sheet.paint(identifier(match.literal))}{sheet.paint(reading + meaning, 'soft')}"


def problem_lines(problem: Problem, text: str, sheet: Sheet) -> Iterator[str]:
    """Yield the lines of a problem: severity, message, the place with a caret, the expected input and the rule."""
    style = _SEVERITIES[problem.severity]
    yield from sheet.field(problem.severity.capitalize(), f"{problem.message} [{problem.code}]", style=style)
    line, carets = _point_at(text, problem.start, problem.end, sheet)
    yield sheet.verbatim(line)
    yield sheet.verbatim(carets, style=style)
    yield from sheet.field("", f"expected {problem.expected} ({problem.reference})")


def suggestion_lines(text: str, sheet: Sheet) -> Iterator[str]:
    """Yield a line for each identifier that ``text``, which is not valid, probably means, with the corrections in
    words. ``sheet`` lays out the fields.
    """
    for each in suggestions(text):
        yield from sheet.field("Suggestion", f"{identifier(each.identifier)} ({reasons(each.differences)})")


def _normal_form(report: Report, sheet: Sheet) -> Iterator[str]:
    if report.normal_form is not None:
        yield from sheet.field("Normal form", identifier(report.normal_form), style="name")
        if report.service == "metadata":
            yield from sheet.field("Requests", f"metadata, by {identifier(report.inflection)}")
    yield from suggestion_lines(report.input, sheet)


def _parts(report: Report, sheet: Sheet) -> Iterator[str]:
    named = [segment for segment in report.segments if segment.part != "separator"]
    rows = [(LABELS.get(each.part, each.part), identifier(report.input[each.start : each.end])) for each in named]
    yield from sheet.table("Parts", _few(rows, ("", f"... and {len(rows) - _MAX_ROWS:,} more")))


def _profiles(report: Report, sheet: Sheet) -> Iterator[str]:
    names = {"urnbis-01": "URN draft", "rfc8141": "RFC 8141"}
    rows = [
        (names.get(profile, profile), "valid" if result["valid"] else f"not valid: {', '.join(result['problems'])}")
        for profile, result in report.profiles.items()
    ]
    yield from sheet.table("Profiles", rows)


def _steps(report: Report, sheet: Sheet) -> Iterator[str]:
    rows = [
        (str(number), f"{step.title} ({step.reference})\n{identifier(step.after, most=_MAX_MEMBER)}")
        for number, step in enumerate(report.steps, 1)
    ]
    yield from sheet.table("Steps", rows)


def _hierarchy(report: Report, sheet: Sheet) -> Iterator[str]:
    if len(report.hierarchy) < 2:
        return
    label = "Hierarchy"
    last = len(report.hierarchy) - 1
    for level, member in enumerate(report.hierarchy):
        if level == _MAX_ROWS and last > _MAX_ROWS:
            yield from sheet.field("", f"... and {last - _MAX_ROWS:,} between", level=_MAX_ROWS)
        elif level < _MAX_ROWS or level == last:
            note = "  (a variant of the one above)" if level == last and report.variant_of else ""
            yield from sheet.field(label, identifier(member, most=_MAX_MEMBER) + note, level=min(level, _MAX_ROWS))
        label = ""


def _same_as(report: Report, sheet: Sheet) -> Iterator[str]:
    shown = (report.input, display.percent(report.input), report.normal_form)
    yield from sheet.fields("Same as", [(identifier(each), "") for each in report.equivalents if each not in shown])


def _facts(report: Report, sheet: Sheet, site: SiteRecord | None) -> Iterator[str]:
    from ...webapp.report import facts

    known = facts.collect_facts(report) if site is None else facts.collect_facts(report, site.promises)
    for number, source in enumerate(known):
        if number:
            yield ""
        yield from sheet.prose(source.title, indent=2, style="soft")
        rows = [(each.label, identifier(each.text) if each.identifier else words(each.text)) for each in source.facts]
        yield from sheet.table("", rows)


def _characters(report: Report, sheet: Sheet) -> Iterator[str]:
    unusual = display.unusual(report.input, limit=_MAX_ROWS + 1)
    rows = [(f"{each.index + 1}", f"{each.code_point} {each.name}: {each.why}") for each in unusual]
    yield from sheet.table("Characters", _few(rows, ("", "... and more")))


def _problems(report: Report, sheet: Sheet) -> Iterator[str]:
    shown = [each for each in report.problems if each.code != "non-ascii"] or list(report.problems)
    for number, problem in enumerate(shown[:_MAX_ROWS]):
        if number:
            yield ""
        yield from problem_lines(problem, report.input, sheet)


def _point_at(text: str, start: int, end: int, sheet: Sheet) -> list[str]:
    # A terminal reorders right-to-left letters, so the caret would be under another letter.
    near = text[max(0, start - 60) : start + 120]
    letters = sheet.letters and not any(unicodedata.bidirectional(each) in ("R", "AL", "AN") for each in near)
    shown = words if letters else display.escape
    # Escapes are longer than the characters. Shorten the excerpt until it fits into the line.
    for most in (60, 44, 32, 22, 14, 8, 4):
        lines = caret(text, start, end, width=most, indent="", shown=shown).split("\n")
        if max(map(display.columns, lines)) <= sheet.room:
            break
    return lines


def _few(rows: list[tuple[str, str]], rest: tuple[str, str]) -> list[tuple[str, str]]:
    return rows if len(rows) <= _MAX_ROWS else [*rows[:_MAX_ROWS], rest]
