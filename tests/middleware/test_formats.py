"""CSV, TSV and JSON Lines as one stream of rows."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.middleware.bindings import Bindings
from ararat.middleware.errors import BindingError, TableError
from ararat.middleware.formats import FORMATS, format_of, read_rows
from ararat.middleware.importing import import_table

ROW = {
    "identifier": "ark:12345/x",
    "target": "https://example.org/a%20b",
    "what": "A: \u00e9 100%25",
    "target[de]": "/d,e",
}

SAME = {
    "csv": 'identifier,target,what,target[de]\nark:12345/x,https://example.org/a%20b,A: \u00e9 100%25,"/d,e"\n',
    "tsv": "identifier\ttarget\twhat\ttarget[de]\nark:12345/x\thttps://example.org/a%20b\tA: \u00e9 100%25\t/d,e\n",
    "jsonl": '{"identifier":"ark:12345/x","target":"https://example.org/a%20b",'
    '"what":"A: \\u00e9 100%25","target[de]":"/d,e"}',
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_says_the_same(format: str) -> None:
    (row,) = read_rows(BytesIO(SAME[format].encode()), format)
    assert dict(row.cells) == ROW


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_imported(format: str, bindings: Bindings, tmp_path: Path) -> None:
    file = tmp_path / f"names.{format}"
    file.write_text(SAME[format], "utf-8")
    assert import_table(bindings, file).added == 1
    found = bindings.lookup("ark:12345/x")
    assert found is not None
    assert (found.target, found.metadata["what"], found.alternates["de"]) == (ROW["target"], ROW["what"], "/d,e")


@pytest.mark.parametrize(
    ("file", "said", "format"),
    [
        pytest.param("a.csv", None, "csv", id="CSV"),
        pytest.param(Path("a.TSV"), None, "tsv", id="capitals"),
        pytest.param("a.ndjson", None, "jsonl", id="another name of JSON Lines"),
        pytest.param("a.anvl", None, "csv", id="a format of the past"),
        pytest.param(BytesIO(), None, "csv", id="a stream without a name"),
        pytest.param("a.csv", "jsonl", "jsonl", id="what is said counts"),
    ],
)
def test_the_format_is_that_of_the_suffix_unless_said(file: str | Path, said: str | None, format: str) -> None:
    assert format_of(file, said) == format


def test_a_format_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BindingError) as refused:
        format_of("a.csv", "xml")
    assert refused.value.code == "format-unknown"


def test_rows_are_counted_by_their_first_lines() -> None:
    rows = list(read_rows(BytesIO(b'\xef\xbb\xbf{"identifier":"a"}\n\n{"identifier":"b"}'), "jsonl"))
    assert [row.line for row in rows] == [1, 3]


def test_json_has_truths_numbers_and_nothings() -> None:
    octets = b'{"identifier":"a","passthrough":true,"redirect":307,"what":null}'
    (row,) = read_rows(BytesIO(octets), "jsonl")
    assert dict(row.cells) == {"identifier": "a", "passthrough": "true", "redirect": "307", "what": ""}


@pytest.mark.parametrize(
    ("format", "octets", "code", "line", "column"),
    [
        pytest.param("jsonl", b'{"identifier":"a"}\n{"identifier":', "table-json", 2, 15, id="JSON that ends early"),
        pytest.param("jsonl", b'["a"]\n', "table-json", 1, None, id="JSON, but a list"),
        pytest.param("jsonl", b"[" * 100_000, "table-json", 1, None, id="JSON that is deep"),
        pytest.param("jsonl", b'{"redirect":' + b"9" * 10_000 + b"}", "table-json", 1, None, id="a number without end"),
        pytest.param("jsonl", b'{"redirect":NaN}', "table-json", 1, None, id="what JSON has no word for"),
        pytest.param("jsonl", b'{"what":{"a":1}}', "table-value", 1, "what", id="an object in an object"),
        pytest.param("jsonl", b'{"what":1}', "table-value", 1, "what", id="a number for a text"),
        pytest.param("jsonl", b'{"redirect":true}', "table-value", 1, "redirect", id="a truth for a number"),
        pytest.param("jsonl", b'{"what":"a","what":"b"}', "table-column-twice", 1, "what", id="a key twice"),
        pytest.param("jsonl", b'{"title":"a"}', "table-column", 1, "title", id="a key that nobody knows"),
        pytest.param("jsonl", b'{"what":"\xff"}', "table-encoding", 1, 10, id="no UTF-8 in JSON"),
        pytest.param("tsv", b"identifier\ttarget\na\n", "table-fields", 2, "target", id="a field too few"),
        pytest.param("csv", b"identifier;target\na;/b\n", "table-syntax", 1, 11, id="semicolons for commas"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(
    format: str, octets: bytes, code: str, line: int, column: int | str | None
) -> None:
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(octets), format))
    assert (fault.value.code, fault.value.line, fault.value.column) == (code, line, column)
    assert str(fault.value).isascii()


def test_one_field_is_not_called_fields() -> None:
    with pytest.raises(TableError, match="the line has 1 field, the header 2"):
        list(read_rows(BytesIO(b"identifier,target\nark:12345/x\n"), "csv"))


def test_semicolons_for_commas_are_said_with_what_to_do() -> None:
    with pytest.raises(TableError, match="save the table with commas, or as TSV"):
        list(read_rows(BytesIO(b"\xef\xbb\xbfidentifier;target\r\nark:12345/x;/x\r\n"), "csv"))


@given(
    st.sampled_from(FORMATS),
    st.binary()
    | st.lists(
        st.sampled_from(
            [b"identifier", b"target", b"{", b"}", b'"', b":", b",", b"\t", b"\n", b"\r", b" ", b"#", b"[", b"]"]
        )
    ).map(b"".join),
)
def test_any_octets_are_rows_or_a_fault_with_a_line(format: str, octets: bytes) -> None:
    fault = None
    numbers: list[int] = []
    try:
        numbers.extend(row.line for row in read_rows(BytesIO(octets), format))
    except TableError as error:
        fault = error
    assert numbers == sorted(set(numbers))
    assert fault is None or 1 <= fault.line <= octets.count(b"\n") + 1
