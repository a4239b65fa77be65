"""Findings on a terminal: line widths, escaped text, and the summary."""

from __future__ import annotations

import pytest

from ararat.cli.doctor.finding import HealthFinding, State, finding_lines, summary_lines
from ararat.cli.output import Sheet


@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_fit_the_width_and_contain_no_raw_text(width: int) -> None:
    finding = HealthFinding(
        "url", "x", "error", "a bare ?", "lost \x1b[2J\u202e " * 9 + "x" * 99, "nginx: \u202e", "RFC 1"
    )
    sheet = Sheet(width, cut=True)
    for line in [*finding_lines(finding, sheet), *summary_lines([finding, finding], sheet)]:
        assert len(line) <= width
        assert line.isascii()
        assert line.isprintable()


@pytest.mark.parametrize(
    ("states", "last"),
    [
        (["ok", "ok"], "No errors, 0 warnings."),
        (["ok", "warning"], "No errors, 1 warning."),
        (["error", "warning", "error"], "2 to change, 1 warning."),
    ],
)
def test_the_last_line_counts_the_findings(states: list[State], last: str) -> None:
    findings = [HealthFinding("url", "x", state, "x", "It is so.") for state in states]
    assert [*summary_lines(findings, Sheet())][-1] == last


@pytest.mark.parametrize(
    ("fixes", "last"),
    [
        (["one line"] * 5, "1 to change, 0 warnings."),
        (["one line", "another line", "one line"], "2 to change, 0 warnings."),
    ],
)
def test_a_fix_of_several_findings_is_counted_once(fixes: list[str], last: str) -> None:
    findings = [HealthFinding("url", "x", "error", "x", "It is so.", remedy) for remedy in fixes]
    assert [*summary_lines(findings, Sheet())][-1] == last
