"""Errors of workbooks and of files that are too large."""

from __future__ import annotations

import io

import pytest
from openpyxl import Workbook

from ararat.middleware.errors import TableError
from ararat.webapp.uploads import sheet
from ararat.webapp.uploads.limits import MAX_COLUMNS, MAX_ROWS


def workbook(columns: int) -> bytes:
    book = Workbook()
    book.worksheets[0].append([f"c{number}" for number in range(columns)])
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


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
