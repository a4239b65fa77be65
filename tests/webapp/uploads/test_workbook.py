"""Workbooks as spreadsheet programs save them, and files that are too large."""

from __future__ import annotations

import io

import pytest
from openpyxl import Workbook
from openpyxl.styles import Font

from ararat.middleware.errors import TableError
from ararat.webapp.uploads import sheet
from ararat.webapp.uploads.limits import MAX_COLUMNS, MAX_ROWS


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
