from __future__ import annotations

import csv
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ararat.bindings.names.errors import TableError
from ararat.bindings.tables.delimited import Line, read
from ararat.bindings.tables.text_stream import MAX_OCTETS
from ararat.bindings.tables.wrong_files import kind_of


def lines(octets: bytes) -> list[Line]:
    return list(read(BytesIO(octets)))


@pytest.mark.parametrize(
    ("octets", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"a,b\r\nc,d\r\n", [(1, ["a", "b"]), (2, ["c", "d"])], id="lines that end in CR LF"),
        pytest.param(b"a,b\nc,d", [(1, ["a", "b"]), (2, ["c", "d"])], id="lines that end in LF, the last in nothing"),
        pytest.param(b"\xef\xbb\xbfa,b\n", [(1, ["a", "b"])], id="a byte order mark"),
        pytest.param(b'\xef\xbb\xbf"a",b\n', [(1, ["a", "b"])], id="a byte order mark before a quote"),
        pytest.param(b"a\n\n\r\nb\n", [(1, ["a"]), (4, ["b"])], id="empty lines"),
        pytest.param(b'a,"b,""c"""\n', [(1, ["a", 'b,"c"'])], id="quotes"),
        pytest.param(b'"a\r\nb\n",c\nd\n', [(1, ["a\r\nb\n", "c"]), (4, ["d"])], id="line breaks in quotes"),
        pytest.param(b'a"b,c\n', [(1, ['a"b', "c"])], id="a quote within a field"),
        pytest.param(b" a , b \n", [(1, [" a ", " b "])], id="spaces are data"),
        pytest.param("é,א,\U0001f600\n".encode(), [(1, ["é", "א", "\U0001f600"])], id="any script"),
        pytest.param(b",\n", [(1, ["", ""])], id="empty fields"),
    ],
)
def test_csv_is_read_line_by_line(octets: bytes, expected: list[tuple[int, list[str]]]) -> None:
    assert lines(octets) == [Line(*line) for line in expected]


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("octets", "code", "line", "column"),
    [
        pytest.param(b"a,b\nc,\xff\n", "table-encoding", 2, 3, id="a byte that is not UTF-8"),
        pytest.param("é,é".encode() + b"\xc3\n", "table-encoding", 1, 4, id="half a character, counted in characters"),
        pytest.param(b"\xef\xbb\xbfa\xe9\n", "table-encoding", 1, 2, id="Latin-1 after a byte order mark"),
        pytest.param("a,b\n".encode("utf-16"), "table-encoding", 1, 1, id="UTF-16"),
        pytest.param(b"a\nb,\xed\xa0\x80\n", "table-encoding", 2, 3, id="an encoded half of a character"),
        pytest.param(b'"a\nb\xff"', "table-encoding", 2, 2, id="on a later line of a record"),
        pytest.param(b"a,b\n\0\n", "table-nul", 2, 1, id="NUL"),
        pytest.param(b"PK\3\4\x14\0\6\0[Content_Types].xml", "table-spreadsheet", 1, None, id="xlsx"),
        pytest.param(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "table-spreadsheet", 1, None, id="xls"),
        pytest.param(b'a\nb,"c\nd', "table-syntax", 2, 3, id="a quote that is never closed"),
        pytest.param(b'a,"b" c\n', "table-syntax", 1, 6, id="a field that goes on after its quote"),
        pytest.param(b'a\n"b\nc"d\n', "table-syntax", 3, 3, id="the same on a later line"),
        pytest.param(b"a,b\rc,d\r\n", "table-syntax", 1, 4, id="a carriage return inside of a line"),
        pytest.param(b'a,b\rc,"d\r', "table-syntax", 2, 3, id="an open quote in lines that end in CR alone"),
        pytest.param(b"a\n" + b"b" * (MAX_OCTETS + 1), "table-too-long", 2, None, id="a line without end"),
        pytest.param(b'a\n"' + b"b\n" * MAX_OCTETS, "table-too-long", 2, None, id="a quote without end"),
        pytest.param(
            b"a\n" + b"b" * 200_000 + b"\n", "table-too-long", 2, None, id="a field beyond the limit of the csv module"
        ),
    ],
)
def test_invalid_csv_is_reported_with_its_position(
    octets: bytes, code: str, line: int, column: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(octets)
    with pytest.raises(TableError) as fault:
        list(read(file))
    assert (fault.value.code, fault.value.line, fault.value.column) == (code, line, column)
    assert str(fault.value).startswith(f"{file}, line {line}{'' if column is None else f', column {column}'}: ")
    assert str(fault.value).isascii()


def test_lines_before_an_invalid_line_are_read() -> None:
    reading = read(BytesIO(b"a\nb\n\xff\n"))
    assert [next(reading), next(reading)] == [Line(1, ["a"]), Line(2, ["b"])]
    with pytest.raises(TableError):
        next(reading)


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(FileNotFoundError):
        list(read("no such file.csv"))


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])), min_size=2, max_size=4)
    )
)
def test_written_csv_is_read_unchanged(rows: list[list[str]]) -> None:
    out = StringIO()
    csv.writer(out).writerows(rows)
    assert [line.fields for line in lines(out.getvalue().encode())] == rows


def test_tsv_is_like_csv_with_tabs() -> None:
    assert list(read(BytesIO(b'a,b\tc\n"d\te"\t"f""g"\n'), "\t")) == [Line(1, ["a,b", "c"]), Line(2, ["d\te", 'f"g'])]
    with pytest.raises(TableError) as fault:
        list(read(BytesIO(b'a\tb\nc\t"d" e\n'), "\t"))
    assert (fault.value.code, fault.value.line, fault.value.column) == ("table-syntax", 2, 6)


@example(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
@example(b"<!doctype html")
@given(
    st.binary()
    | st.lists(st.sampled_from([b'"', b",", b"\n", b"\r", b"\r\n", b"a", b"\xc3\xa9", b"\xff", b"\0", b" "])).map(
        b"".join
    )
)
def test_any_bytes_are_rows_or_an_error_with_a_position(octets: bytes) -> None:
    found: list[Line] = []
    fault = None
    try:
        found.extend(read(BytesIO(octets)))
    except TableError as error:
        fault = error
    if b"\n" not in octets:
        octets = octets.replace(b"\r", b"\n")
    numbers = [line.number for line in found]
    assert numbers == sorted(set(numbers))
    if fault is not None and fault.column is None:
        # The file is not a table, so no position in the text is meant.
        assert (fault.line, kind_of(octets) is not None) == (1, True)
    elif fault is not None:
        assert isinstance(fault.column, int)
        assert 1 <= fault.line <= octets.count(b"\n") + 1
        assert 1 <= fault.column <= len(octets.split(b"\n")[fault.line - 1]) + 1
