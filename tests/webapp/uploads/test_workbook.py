"""Workbooks as spreadsheet programs save them, and files that are too large."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from ararat.bindings.names.errors import TableError
from ararat.webapp.uploads import sheet
from ararat.webapp.uploads.model import MAX_COLUMNS, MAX_ROWS


def saved(book: Workbook) -> bytes:
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def workbook(columns: int) -> bytes:
    book = Workbook()
    book.worksheets[0].append([f"c{number}" for number in range(columns)])
    return saved(book)


def cells(content: bytes) -> list[list[str]]:
    stored, reading, _ = sheet.stored(content, "a.xlsx")
    return [line.fields for line in sheet.lines(stored, reading, "a.xlsx")]


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        pytest.param(b"PK\x03\x04" + b"x" * 100, "a.xlsx", "table-workbook", id="damaged"),
        pytest.param(workbook(MAX_COLUMNS + 1), "a.xlsx", "table-size", id="columns"),
        pytest.param(b"identifier\n" + b"x\n" * (MAX_ROWS + 1), "a.csv", "table-size", id="rows"),
    ],
)
def test_a_file_that_cannot_be_stored_is_refused(content: bytes, name: str, code: str) -> None:
    with pytest.raises(TableError) as refused:
        sheet.stored(content, name)
    assert refused.value.code == code


def test_empty_formatted_rows_do_not_count() -> None:
    book = Workbook()
    rows = book.worksheets[0]
    rows.append(["identifier"])
    rows.append(["ark:12345/x1"])
    rows.cell(1_048_576, 1).font = Font(bold=True)
    assert cells(saved(book)) == [["identifier"], ["ark:12345/x1"]]


def test_empty_cells_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ararat.webapp.uploads.workbook._MAX_CELLS", 100)
    book = Workbook()
    rows = book.worksheets[0]
    rows.append(["identifier"])
    for number in range(2, 8):
        rows.cell(number, 20).font = Font(bold=True)
    with pytest.raises(TableError, match="too many empty rows and columns") as refused:
        sheet.stored(saved(book), "a.xlsx")
    assert (refused.value.code, refused.value.line) == ("table-size", 6)


def with_cell(cell: str) -> bytes:
    """Return a workbook with the heading "identifier" in B1 and this XML of the cell B2."""
    book = Workbook()
    book.worksheets[0].append([None, "identifier"])
    book.worksheets[0].append([None, "PLACE"])
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(book))) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb'<c r="B2".*?</c>', cell.encode(), old.read(name)))
    return written.getvalue()


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param('<c r="B2"><f>A1</f></c>', id="no value"),
        pytest.param('<c r="B2"><f>A1</f><v></v></c>', id="an empty value"),
        pytest.param('<c r="B2"><f t="shared" si="0"/><v/></c>', id="a shared formula"),
        pytest.param('<c r="B2" t="str"><f>A1</f></c>', id="a text without value"),
        pytest.param("<c><f>A1</f></c><c><f>A1</f></c>", id="no coordinate"),
    ],
)
def test_a_formula_without_a_saved_result_is_refused(cell: str) -> None:
    message = "has a formula without a saved result; open the file in a spreadsheet program and save it"
    with pytest.raises(TableError, match=rf"the cell [AB]2 {message}") as refused:
        sheet.stored(with_cell(cell), "a.xlsx")
    assert (refused.value.code, refused.value.line) == ("table-workbook", 2)


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        pytest.param('<c r="B2"><f>1+1</f><v>2</v></c>', ["", "2"], id="a number"),
        pytest.param('<c r="B2"><f>1-1</f><v>0</v></c>', ["", "0"], id="zero"),
        pytest.param('<c r="B2" t="str"><f>A1</f><v>a</v></c>', ["", "a"], id="a text"),
        pytest.param('<c r="A2"><v>1</v></c><c r="B2" t="str"><f>A1</f><v></v></c>', ["1", ""], id="an empty text"),
    ],
)
def test_the_saved_result_of_a_formula_is_read(cell: str, read: list[str]) -> None:
    assert cells(with_cell(cell))[1:] == [read]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        pytest.param('<c r="B2" t="e"><f>A1</f><v>#REF!</v></c>', "#REF!", id="a reference"),
        pytest.param('<c r="B2" t="e"><v>#N/A</v></c>', "#N/A", id="no formula"),
        pytest.param('<c r="B2" t="e"><f>A1</f><v>Err:509</v></c>', "Err:509", id="LibreOffice"),
        pytest.param('<c r="B2" t="e"><f>A1</f><v>#GETTING_DATA</v></c>', "#GETTING_DATA", id="data that is missing"),
        pytest.param('<c r="B2" t="str"><f>A1</f><v>#NAME?</v></c>', "#NAME?", id="a text"),
    ],
)
def test_the_error_of_a_formula_is_refused(cell: str, shown: str) -> None:
    message = f"the cell B2 has the error {shown}; correct its formula or value, and save the file"
    with pytest.raises(TableError, match=re.escape(message)) as refused:
        sheet.stored(with_cell(cell), "a.xlsx")
    assert (refused.value.code, refused.value.line) == ("table-workbook", 2)


def test_a_hidden_sheet_is_not_read() -> None:
    book = Workbook()
    book.worksheets[0].append(["old"])
    book.worksheets[0].sheet_state = "hidden"
    book.create_sheet("names").append(["identifier"])
    book.active = 1
    assert cells(saved(book)) == [["identifier"]]


def test_an_escaped_character_of_a_cell_is_read() -> None:
    book = Workbook()
    book.worksheets[0].append(["one_x000D_\ntwo", "_x005F_x000D_", "_xD800_"])
    assert cells(saved(book)) == [["one\r\ntwo", "_x000D_", "_xD800_"]]
