"""CSV, TSV and JSON Lines as one stream of rows."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.errors import BindingError, TableError
from ararat.bindings.tables.columns import COLUMNS, Columns
from ararat.bindings.tables.text_stream import ReadAs
from ararat.bindings.tables.text_tables import FORMATS, Reader, format_of, read_rows
from ararat.identifiers.text import characters

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
def test_all_formats_have_the_same_content(format: str) -> None:
    (row,) = read_rows(BytesIO(SAME[format].encode()), format)
    assert dict(row.cells) == ROW


@pytest.mark.parametrize("format", FORMATS)
def test_all_formats_can_be_imported(format: str, bindings: Bindings, tmp_path: Path) -> None:
    file = tmp_path / f"names.{format}"
    file.write_text(SAME[format], "utf-8")
    assert import_table(bindings, file).added == 1
    found = bindings.lookup("ark:12345/x")
    assert found is not None
    assert (found.target, found.metadata["erc.what"], found.alternates["de"]) == (ROW["target"], ROW["what"], "/d,e")


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
def test_the_extension_selects_the_format_by_default(file: str | Path, said: str | None, format: str) -> None:
    assert format_of(file, said) == format


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(BindingError) as refused:
        format_of("a.csv", "xml")
    assert refused.value.code == "format-unknown"


def test_a_row_has_the_number_of_its_first_line() -> None:
    rows = list(read_rows(BytesIO(b'\xef\xbb\xbf{"identifier":"a"}\n\n{"identifier":"b"}'), "jsonl"))
    assert [row.line for row in rows] == [1, 3]


def test_json_accepts_booleans_numbers_and_null() -> None:
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
        pytest.param("jsonl", b'{"title":"a"}', "table-column", 1, "title", id="an unknown key"),
        pytest.param("jsonl", b'{"what":"\xff"}', "table-encoding", 1, 10, id="no UTF-8 in JSON"),
        pytest.param("tsv", b"identifier\ttarget\na\n", "table-fields", 2, "target", id="a field too few"),
        pytest.param("csv", b"identifier,target,\na,/b,c\n", "table-column", 2, 3, id="a value without a column name"),
        pytest.param("csv", b"identifier,target\na,/\xe9\n", "table-encoding", 2, 4, id="no UTF-8 in CSV"),
    ],
)
def test_an_unreadable_line_is_reported_with_its_position(
    format: str, octets: bytes, code: str, line: int, column: int | str | None
) -> None:
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(octets), format))
    assert (fault.value.code, fault.value.line, fault.value.column) == (code, line, column)
    assert str(fault.value).isascii()


def test_counts_use_singular_and_plural() -> None:
    with pytest.raises(TableError, match="the line has 1 field, but the header has 2"):
        list(read_rows(BytesIO(b"identifier,target\nark:12345/x\n"), "csv"))


ACCENTS = "identifier;target;what\r\nark:12345/a;/1;Été – «Ärger»\r\nark:12345/b;/2;x\r\n"


@pytest.mark.parametrize(
    ("octets", "encoding", "guessed", "delimiter"),
    [
        pytest.param(ACCENTS.encode("cp1252"), "Windows-1252", True, ";", id="CSV of Excel in German"),
        pytest.param(
            b"\xef\xbb\xbf" + ACCENTS.encode(), "UTF-8", False, ";", id="CSV UTF-8 of Excel: a byte order mark"
        ),
        pytest.param(
            b"\xff\xfe" + ACCENTS.replace(";", "\t").encode("utf-16-le"), "UTF-16", False, "\t", id="Unicode text"
        ),
        pytest.param(b"\xfe\xff" + ACCENTS.encode("utf-16-be"), "UTF-16", False, ";", id="UTF-16, big-endian"),
        pytest.param(ACCENTS.replace(";", "\t").encode("cp1252"), "Windows-1252", True, "\t", id="Text (tab)"),
        pytest.param(ACCENTS.replace(";", ",").encode(), "UTF-8", False, ",", id="UTF-8 and commas"),
        pytest.param(ACCENTS.replace("\r\n", "\n").encode(), "UTF-8", False, ";", id="UTF-8 and semicolons"),
    ],
)
@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_files_of_excel_are_read_and_their_encoding_is_reported(
    format: str, octets: bytes, encoding: str, guessed: bool, delimiter: str
) -> None:
    rows = list(read_rows(BytesIO(octets), format, Reader(None), read_as := ReadAs()))
    assert [(row.line, row.cells["what"]) for row in rows] == [(2, "Été – «Ärger»"), (3, "x")]
    assert (read_as.encoding, read_as.guessed, read_as.delimiter) == (encoding, guessed, delimiter)


def test_the_encoding_of_ascii_is_not_reported_as_a_guess() -> None:
    list(read_rows(BytesIO(b"identifier,target\na,/b\n"), "csv", Reader(None), read_as := ReadAs()))
    assert (read_as.encoding, read_as.guessed, read_as.delimiter) == ("UTF-8", False, ",")


@pytest.mark.parametrize(
    ("octets", "line"),
    [
        pytest.param("identifier,what\na,é\n".encode() + b"b,\xe9\n", 3, id="UTF-8, then another encoding"),
        pytest.param(b"identifier,what\na,\xe9\n" + "b,é\n".encode(), 3, id="another encoding, then UTF-8"),
        pytest.param(b"\xef\xbb\xbfidentifier,what\nb,\xe9\n", 2, id="a byte order mark, then another encoding"),
        pytest.param(b"identifier,what\nb,\x81\n", 2, id="neither UTF-8 nor Windows-1252"),
    ],
)
def test_a_mixed_encoding_is_refused(octets: bytes, line: int) -> None:
    with pytest.raises(TableError, match="select its encoding") as fault:
        list(read_rows(BytesIO(octets), "csv", Reader(None)))
    assert (fault.value.code, fault.value.line) == ("table-encoding", line)


@pytest.mark.parametrize(
    ("encoding", "octets"),
    [
        pytest.param("iso-8859-15", "a,/€".encode("iso-8859-15"), id="Latin-9"),
        pytest.param("mac-roman", "a,/é".encode("mac-roman"), id="an old Mac"),
        pytest.param("utf-8-sig", "a,/é".encode(), id="UTF-8"),
    ],
)
def test_an_encoding_can_be_set(encoding: str, octets: bytes) -> None:
    (row,) = read_rows(BytesIO(b"identifier,target\n" + octets), "csv", Reader(encoding))
    assert row.cells["target"] in ("/€", "/é")


def test_a_wrong_encoding_is_reported_with_its_line() -> None:
    octets = b"identifier,target\na,/1\nb,/\x81\n"
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(octets), "csv", Reader("cp1252")))
    assert (fault.value.code, fault.value.line) == ("table-encoding", 3)
    with pytest.raises(BindingError) as refused:
        list(read_rows(BytesIO(octets), "csv", Reader("hex")))
    assert refused.value.code == "encoding-unknown"


def test_a_long_line_in_utf_16_is_refused() -> None:
    octets = "identifier\n".encode("utf-16") + "x".encode("utf-16-le") * 1_100_000
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(octets), "csv", Reader(None)))
    assert fault.value.code == "table-too-long"


@pytest.mark.parametrize("delimiter", ["|", ";", ","])
def test_a_separator_can_be_set(delimiter: str) -> None:
    octets = f"identifier{delimiter}target\na{delimiter}/1\n".encode()
    (row,) = read_rows(BytesIO(octets), "csv", Reader(delimiter=delimiter))
    assert row.cells == {"identifier": "a", "target": "/1"}


@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"'])
def test_a_separator_is_one_character(delimiter: str) -> None:
    with pytest.raises(BindingError) as refused:
        list(read_rows(BytesIO(b""), "csv", Reader(delimiter=delimiter)))
    assert refused.value.code == "delimiter-unknown"


def test_a_semicolon_in_a_selector_is_not_a_separator() -> None:
    octets = b"identifier,target,target[text/html;en]\na,/1,/2\n"
    (row,) = read_rows(BytesIO(octets), "csv")
    assert row.cells["target[text/html;en]"] == "/2"


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_cells_are_trimmed_and_empty_rows_are_skipped(format: str) -> None:
    octets = " Identifier ,\ufeffx,TARGET,,\n ,,,,\n\n a ,,\u00a0/1\u00a0,,\n,,,,\n   \nb,,/2,,,,\n".encode()
    reader = Reader(columns=Columns(ignore_unknown=True))
    rows = list(read_rows(BytesIO(octets), format, reader, read_as := ReadAs()))
    assert [(row.line, row.cells) for row in rows] == [
        (4, {"identifier": "a", "target": "/1"}),
        (7, {"identifier": "b", "target": "/2"}),
    ]
    assert (read_as.columns, read_as.ignored) == (["identifier", "target"], ["\ufeffx"])


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_columns_are_renamed(format: str) -> None:
    octets = {"csv": b"ARK,URL,Notes\na,/1,x\n", "jsonl": b'{"ARK": "a", "url": "/1", "Notes": "x"}\n'}[format]
    reader = Reader(columns=Columns({"ark ": "identifier", "Url": "target"}, ignore_unknown=True))
    (row,) = read_rows(BytesIO(octets), format, reader)
    assert row.cells == {"identifier": "a", "target": "/1"}


def test_only_the_first_of_many_unknown_columns_are_listed() -> None:
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(",".join(f"a{number}" for number in range(50_000)).encode()), "csv"))
    assert "a18, a19, ...;" in fault.value.message
    assert len(fault.value.message) < 500


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_all_unknown_columns_are_listed_with_suggestions(format: str) -> None:
    octets = {"csv": b"Identifer,targets,Titre\na,/1,x\n", "jsonl": b'{"Identifer": "a", "targets": "/1", "Titre": ""}'}
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(octets[format]), format))
    assert fault.value.message.startswith(
        "unknown columns Identifer (did you mean identifier?), targets (did you mean target?), Titre"
    )
    assert fault.value.message.endswith("; map them to columns, or ignore unknown columns")
    assert fault.value.mapping == ("Identifer", "identifier")
    assert ", ".join(COLUMNS) in fault.value.expected


@pytest.mark.parametrize(
    ("headings", "mapping"),
    [
        pytest.param("Targt", ("Targt", "target"), id="a wrong letter"),
        pytest.param("Inv no", ("Inv no", None), id="two words"),
        pytest.param("R\u00e9f,Ident", ("R\u00e9f", None), id="a letter that is not ASCII"),
        pytest.param("R\u202ef,Ident", ("Ident", "identifier"), id="the first one without hidden characters"),
        pytest.param("R\u202ef", ("", None), id="no name without hidden characters"),
    ],
)
def test_an_unknown_column_has_a_probable_column(headings: str, mapping: tuple[str, str | None]) -> None:
    with pytest.raises(TableError) as fault:
        list(read_rows(BytesIO(f"{headings}\nx,y\n".encode()), "csv"))
    assert fault.value.mapping == mapping
    assert not list(characters.hidden_runs(fault.value.message))


def test_a_table_without_a_header_is_reported() -> None:
    with pytest.raises(TableError, match="the first line must contain the names of the columns"):
        list(read_rows(BytesIO(b"ark:12345/a,/1\n"), "csv"))


@pytest.mark.parametrize(
    ("octets", "unfinished"),
    [
        pytest.param(b"identifier\na\n", False, id="a line end"),
        pytest.param(b"identifier\na", True, id="none"),
        pytest.param("identifier\na".encode("utf-16"), True, id="none in UTF-16"),
        pytest.param("identifier\na\n".encode("utf-16"), False, id="a line end in UTF-16"),
    ],
)
def test_a_last_line_without_a_line_end_is_reported(octets: bytes, unfinished: bool) -> None:
    list(read_rows(BytesIO(octets), "csv", Reader(None), read_as := ReadAs()))
    assert read_as.unfinished == unfinished


@given(
    st.sampled_from(FORMATS),
    st.sampled_from(["utf-8", None, "utf-16", "cp1252"]),
    st.binary()
    | st.lists(
        st.sampled_from(
            [
                b"identifier",
                b"target",
                b"\xff\xfe",
                b"\xe9",
                b"\0",
                b"{",
                b"}",
                b'"',
                b":",
                b",",
                b"\t",
                b"\n",
                b"\r",
                b" ",
                b"#",
                b"[",
                b"]",
            ]
        )
    ).map(b"".join),
)
def test_any_bytes_are_rows_or_an_error_with_a_line(format: str, encoding: str | None, octets: bytes) -> None:
    fault = None
    numbers: list[int] = []
    try:
        numbers.extend(row.line for row in read_rows(BytesIO(octets), format, Reader(encoding)))
    except TableError as error:
        fault = error
    assert numbers == sorted(set(numbers))
    # A file without a line feed can have lines that end in a carriage return alone.
    assert fault is None or 1 <= fault.line <= (octets.count(b"\n") or octets.count(b"\r")) + 1
