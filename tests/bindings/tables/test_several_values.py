"""Several values in a cell of a table."""

from __future__ import annotations

import pytest

from ararat.bindings.tables import several_values
from ararat.bindings.tables.text_stream import ReadAs
from ararat.spreadsheets import sheet
from ararat.spreadsheets.reading import Reading


@pytest.mark.parametrize(
    ("column", "text", "values"),
    [
        pytest.param("who", "Held, M.|Roe, A.", ["Held, M.", "Roe, A."], id="one vertical line"),
        pytest.param("who", "Held||Roe||Held", ["Held", "Roe"], id="two vertical lines, one value twice"),
        pytest.param("dc.subject", "mill | bridge |", ["mill", "bridge"], id="an empty value at the end"),
        pytest.param("who", "Held; Roe", ["Held; Roe"], id="a semicolon between people stays"),
        pytest.param("former_numbers", "A 1; B 2", ["A 1", "B 2"], id="a semicolon between numbers"),
        pytest.param("what", "Harbour; two boats | sketch", ["Harbour; two boats | sketch"], id="signs in a title"),
        pytest.param("what", "Harbour||Hafen", ["Harbour", "Hafen"], id="two titles"),
        pytest.param("target", "https://m.example/1|2", ["https://m.example/1|2"], id="a target"),
        pytest.param("resource", "A 1|A 2", ["A 1", "A 2"], id="a key"),
        pytest.param("resource", "StA 1; 17", ["StA 1; 17"], id="a semicolon in a key"),
        pytest.param("who", "||", [""], id="only signs"),
        pytest.param("who", "Held|||Roe|Ng", ["Held", "Roe", "Ng"], id="one, two and three vertical lines"),
        pytest.param("what", "Harbour|||Hafen | Boote", ["Harbour", "Hafen | Boote"], id="three vertical lines"),
    ],
)
def test_the_values_in_a_cell(column: str, text: str, values: list[str]) -> None:
    assert several_values.values_in(column, text) == values


def test_each_divided_cell_has_a_warning() -> None:
    cells = {"resource": "A 1|B 7", "who": "Held|Roe", "what": "Vase | rot", "further_numbers": "300017"}
    found, notes = several_values.divide_values(cells)
    assert found == {"resource": "A 1", "who": "Held; Roe", "what": "Vase | rot", "further_numbers": "B 7|300017"}
    assert [code for code, _ in notes] == ["cell-divided", "cell-divided"]
    assert notes[0][1] == "the key A 1 has further numbers in its cell: B 7"


@pytest.mark.parametrize("further", ["C 1|D 2", "C 1;D 2", "C 1 || D 2"])
@pytest.mark.parametrize("is_key_first", [True, False])
def test_the_numbers_of_a_key_and_of_their_own_column_are_kept(further: str, is_key_first: bool) -> None:
    columns = [("resource", "A 1|B 7"), ("further_numbers", further)]
    found, _ = several_values.divide_values(dict(columns if is_key_first else reversed(columns)))
    assert found == {"resource": "A 1", "further_numbers": "B 7|C 1|D 2"}


@pytest.mark.parametrize(
    ("column", "text", "recorded"),
    [
        pytest.param("who", "Held||", "Held", id="two lines at the end"),
        pytest.param("who", "|Held|Held", "Held", id="a value twice"),
        pytest.param("what", "Harbour||", "Harbour", id="a title"),
        pytest.param("what", "Harbour |", "Harbour |", id="one line in a title"),
        pytest.param("resource", "A 1 |", "A 1", id="a key"),
        pytest.param("former_numbers", "A 1;", "A 1", id="a number"),
        pytest.param("who", "||", "", id="only signs"),
        pytest.param("target", "https://m.example/||", "https://m.example/||", id="a target"),
    ],
)
def test_signs_without_a_second_value_are_not_recorded(column: str, text: str, recorded: str) -> None:
    assert several_values.divide_values({column: text}) == ({column: recorded}, [])


@pytest.mark.parametrize(
    ("heading", "who"),
    [pytest.param("who", "Held|Roe", id="an export"), pytest.param("Creator", "Held; Roe", id="a table")],
)
def test_an_export_of_ararat_keeps_its_texts(heading: str, who: str) -> None:
    content = f"identifier,{heading}\nark:12345/x51,Held|Roe\n".encode()
    reading = Reading(format="csv", encoding="utf-8", separator=",", columns=("identifier", "who"))
    (row,) = sheet.rows(content, reading, "a.csv", ReadAs())
    assert row.cells["who"] == who
