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
    ],
)
def test_the_values_in_a_cell(column: str, text: str, values: list[str]) -> None:
    assert several_values.values_in(column, text) == values


def test_each_divided_cell_has_a_warning() -> None:
    cells = {"resource": "A 1|B 7", "who": "Held|Roe", "what": "Vase | rot", "further_numbers": "300017"}
    found, notes = several_values.divided(cells)
    assert found == {"resource": "A 1", "who": "Held; Roe", "what": "Vase | rot", "further_numbers": "B 7|300017"}
    assert [code for code, _ in notes] == ["cell-divided", "cell-divided"]
    assert notes[0][1] == "the key A 1 has further numbers in its cell: B 7"


@pytest.mark.parametrize(
    ("heading", "who"),
    [pytest.param("who", "Held|Roe", id="an export"), pytest.param("Creator", "Held; Roe", id="a table")],
)
def test_an_export_of_ararat_keeps_its_texts(heading: str, who: str) -> None:
    content = f"identifier,{heading}\nark:12345/x51,Held|Roe\n".encode()
    reading = Reading(format="csv", encoding="utf-8", separator=",", columns=("identifier", "who"))
    (row,) = sheet.rows(content, reading, "a.csv", ReadAs())
    assert row.cells["who"] == who
