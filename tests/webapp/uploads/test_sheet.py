"""Read uploaded files as lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ararat.bindings.names.errors import TableError
from ararat.webapp.uploads import columns, sheet
from ararat.webapp.uploads.model import MAX_ROWS


@pytest.mark.parametrize(
    ("content", "encoding", "separator"),
    [
        pytest.param("ARK,URL\na,b\n".encode("utf-8-sig"), "utf-8", ",", id="byte order mark"),
        pytest.param("ARK\tURL\na\tb\n".encode("utf-16"), "utf-16", "\t", id="Unicode text of Excel"),
        pytest.param("ARK;URL\na;b,5\n".encode("cp1252"), "utf-8", ";", id="decimal comma"),
        pytest.param("ARK;B\u00fccher\na;b\n".encode("cp1252"), "windows-1252", ";", id="Windows"),
        pytest.param(b"\r\n||\r\nARK|URL\r\na|b\r\n", "utf-8", "|", id="vertical line after empty lines"),
        pytest.param(b'"ARK, new";"URL"\na;b\n', "utf-8", ";", id="separator in quotes"),
    ],
)
def test_encoding_and_separator_are_detected(content: bytes, encoding: str, separator: str) -> None:
    data, reading, _ = sheet.stored(content, "names.csv")
    assert (reading.encoding, reading.separator) == (encoding, separator)
    assert [len(line.fields) for line in sheet.lines(data, reading, "names.csv")] == [2, 2]


def test_a_cell_of_a_million_characters_is_refused_with_its_line() -> None:
    data, reading, _ = sheet.stored(b"ARK,URL\na,b\nc," + b"x" * 1_000_000 + b"\n", "names.csv")
    with pytest.raises(TableError) as caught:
        list(sheet.lines(data, reading, "names.csv"))
    assert (caught.value.code, caught.value.line) == ("table-too-long", 3)


def test_too_many_rows_are_refused() -> None:
    sheet.stored(b"ARK\n" + b"a\n" * MAX_ROWS, "names.csv")
    for content, name in (
        (b"ARK\n" + b"a\n" * (MAX_ROWS + 1), "names.csv"),
        (b'{"a": "b"}\n' * (MAX_ROWS + 1), "a.jsonl"),
    ):
        with pytest.raises(TableError, match="more than 20,000 rows"):
            sheet.stored(content, name)


def test_each_choice_of_columns_is_a_column() -> None:
    for choice in columns.CHOICES - {"identifier"}:
        assert columns.check(["identifier", choice], ["a", "b"]) == {}


def test_a_column_is_not_guessed_twice() -> None:
    assert columns.guess(["ARK", "PID", "Title", "Title"], []) == ["identifier", "", "what", ""]


@pytest.mark.parametrize(
    ("row", "rows"),
    [
        pytest.param(b'x,"one\ntwo\nthree"\n' * (MAX_ROWS // 2), MAX_ROWS // 2, id="cells of several lines"),
        pytest.param(b"x,y\n" + b",\n" * MAX_ROWS, 1, id="empty rows"),
    ],
)
def test_rows_are_counted_and_not_lines(row: bytes, rows: int) -> None:
    assert sheet.stored(b"identifier,what\n" + row, "a.csv")[2] == rows


def test_rows_are_counted_again_with_another_separator() -> None:
    content = b'identifier,"what"\n' + b'x,"one\ntwo\nthree"\n' * (MAX_ROWS // 2)
    stored, reading, _ = sheet.stored(content, "a.csv")
    with pytest.raises(TableError, match="more than 20,000 rows"):
        list(sheet.lines(stored, replace(reading, separator="|"), "a.csv"))
