"""Test cells that a spreadsheet program damaged: line breaks, changed numbers, and UTF-8 that was read wrongly."""

from __future__ import annotations

from io import BytesIO

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.tables.wrong_text import is_changed_number, misread, on_one_line

NAME = "ark:12345/k1"


@pytest.mark.parametrize(
    ("number", "text", "is_changed"),
    [
        pytest.param("400676123456", "4,00676E+11", True, id="a power of ten"),
        pytest.param("1E3", "1000", True, id="a number that looks like a power of ten"),
        pytest.param("INF", "4E5", False, id="letters that mean infinity"),
        pytest.param("nan", "4E5", False, id="letters that mean no number"),
        pytest.param("1E999", "17", False, id="a power of ten without a value"),
        pytest.param("9E999", "9E998", False, id="two powers of ten without a value"),
        pytest.param("1_000", "1E3", False, id="a low line"),
    ],
)
def test_a_number_after_a_spreadsheet_program_changed_it(number: str, text: str, is_changed: bool) -> None:
    assert is_changed_number(number, text) == is_changed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Gro\u00c3\u0178e Glocke", ("\u00c3\u0178", "\u00df"), id="Windows-1252"),
        pytest.param("F\u00c3\u00bcr", ("\u00c3\u00bc", "\u00fc"), id="both encodings"),
        pytest.param("\u00e2\u20ac\u201c", ("\u00e2\u20ac\u201c", "\u2013"), id="a dash"),
        pytest.param("Gro\u00dfe Glocke von St. \u00c4nne", None, id="German"),
        pytest.param("N\u00c3O \u00c2GE d\u00e9j\u00e0 vu", None, id="Portuguese and French"),
    ],
)
def test_utf_8_in_another_encoding_is_found(text: str, found: tuple[str, str] | None) -> None:
    assert misread(text) == found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("a  \r\n  b", "a b", id="spaces around it"),
        pytest.param(" a\n\nb ", " a  b ", id="two"),
        pytest.param("a\rb\n", "a b ", id="at the end"),
        pytest.param("a  b", "a  b", id="none"),
    ],
)
def test_a_line_break_becomes_a_space(text: str, line: str) -> None:
    assert on_one_line(text) == line


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        pytest.param(None, "F\u00c3\u00bcr", ["text-misread"], id="a new name"),
        pytest.param("F\u00fcr", "F\u00c3\u00bcr", ["text-misread"], id="a good value"),
        pytest.param("F\u00c3\u00bcr", "F\u00c3\u00bcr!", [], id="a recorded value"),
        pytest.param("F\u00c3\u00bcr", "F\u00fcr", [], id="a correction"),
        pytest.param(None, '"The Ark\nof Noah"', ["cell-line-break"], id="a line break"),
    ],
)
def test_damaged_cells_have_a_warning(bindings: Bindings, before: str | None, after: str, codes: list[str]) -> None:
    if before:
        bindings.bind(NAME, "/1", metadata={"what": before})
    summary = import_table(bindings, BytesIO(f"identifier,target,what\n{NAME},/1,{after}\n".encode()))
    assert ([noted.code for noted in summary.warned], summary.refused) == (codes, [])
    found = bindings.lookup(NAME)
    assert found is not None
    assert "\n" not in found.metadata["erc.what"]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param("ark:/12345/x5m1 | INV-2,/1", "ark:/12345/x5m1, and INV-2", id="an ARK and an inventory number"),
        pytest.param("ark:12345/x5m1 ark:12345/x5m2,/1", "ark:12345/x5m1, and ark:12345/x5m2", id="two ARKs"),
        pytest.param("ark:12345/x5m1;ark:12345/x5m2,/1", "ark:12345/x5m1, and ark:12345/x5m2", id="a semicolon"),
        pytest.param('"ark:12345/x5m1, ark:12345/x5m2",/1', "ark:12345/x5m1, and ark:12345/x5m2", id="a comma"),
        pytest.param(
            f'{NAME},"https://a.example/1\nhttps://b.example/2"',
            "https://a.example/1, and https://b.example/2",
            id="targets on two lines",
        ),
        pytest.param(f"{NAME},https://a.example/1 | https://b.example/2", "https://b.example/2", id="a vertical line"),
        pytest.param("ark:12345/my map,/1", None, id="a space in a name"),
        pytest.param(f"{NAME},https://a.example/my map", None, id="a space in a target"),
        pytest.param("INV-2 | INV-3,/1", None, id="no name"),
    ],
)
def test_a_cell_with_two_values_is_refused_with_both(bindings: Bindings, row: str, message: str | None) -> None:
    summary = import_table(bindings, BytesIO(f"identifier,target\n{row}\n".encode()))
    [refused] = summary.refused
    assert (refused.code == "cell-several") is (message is not None)
    assert message is None or message in refused.message


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("row", "codes"),
    [
        pytest.param("urn:nbn:de:101:1-2;urn:nbn:de:101:1-3,/1", ["name-several"], id="two URNs"),
        pytest.param(f"{NAME},https://a.example/1;https://b.example/2", ["target-several"], id="two targets"),
        pytest.param(f"{NAME},https://a.example/?u=https://b.example/2", [], id="a target in a query"),
        pytest.param(f"{NAME},https://web.archive.example/2020/https://b.example/2", [], id="a target in a path"),
    ],
)
def test_two_values_that_are_valid_as_one_have_a_warning(bindings: Bindings, row: str, codes: list[str]) -> None:
    summary = import_table(bindings, BytesIO(f"identifier,target\n{row}\n".encode()), dry_run=True)
    assert [noted.code for noted in summary.warned] == codes
