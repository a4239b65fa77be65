"""The formats and columns of arklet."""

from __future__ import annotations

import io
import json

import pytest

from ararat.bindings.imports.sources import dump
from ararat.bindings.imports.sources.arklet import elements as arklet_elements
from ararat.bindings.imports.sources.record import DumpRecord
from ararat.bindings.names.errors import TableError

HEAD = "COPY public.ark_ark (ark, url, title, metadata, created_at) FROM stdin;\n"


def read(text: str) -> list[DumpRecord]:
    return [entry for entry in dump.read(io.BytesIO(text.encode()), "arklet") if isinstance(entry, DumpRecord)]


def metadata(text: str) -> DumpRecord:
    return arklet_elements.record(1, {"ark": "12345/x5", "url": "https://example.org/", "metadata": text})


@pytest.mark.parametrize(
    ("row", "identifier"),
    [
        ({"ark": "13960/t8s46h68t"}, "ark:/13960/t8s46h68t"),
        ({"ark": "ark:/13960/t8s46h68t"}, "ark:/13960/t8s46h68t"),
        ({"naan": "13960", "shoulder": "/t", "assigned_name": "8s46h68t"}, "ark:/13960/t8s46h68t"),
        ({"naan_id": "13960", "shoulder": "", "assigned_name": "8s46h68t"}, "ark:/13960/8s46h68t"),
        ({"naan": "13960", "shoulder": "/t"}, ""),
        ({}, ""),
    ],
)
def test_the_identifier_is_in_one_column_or_in_three(row: dict[str, str], identifier: str) -> None:
    assert arklet_elements.identifier_of(row) == identifier


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        pytest.param('{"who": "A", "title": "T"}', {"erc.who": "A", "erc.what": "T"}, id="known names"),
        pytest.param('{"dc:date": 1999, "a": [1, null]}', {"dc.date": "1999", "arklet.a": "[1, null]"}, id="values"),
        pytest.param('{"a": null, "b": ""}', {}, id="empty values"),
        pytest.param("erc:\nwho: A\nwhat: B: C", {"erc.who": "A", "erc.what": "B: C"}, id="ANVL"),
        pytest.param("A plain text", {"arklet.metadata": "A plain text"}, id="text"),
        pytest.param("Note: see https://example.org/", {"arklet.Note": "see https://example.org/"}, id="one label"),
        pytest.param("[1, 2]", {"arklet.metadata": "[1, 2]"}, id="another JSON value"),
        pytest.param('{"a": 1', {"arklet.metadata": '{"a": 1'}, id="half a JSON value"),
    ],
)
def test_metadata_is_json_anvl_or_text(text: str, elements: dict[str, str]) -> None:
    found = metadata(text)
    assert (found.elements, found.omitted) == (elements, ())


def test_metadata_with_impossible_or_repeated_names_is_reported() -> None:
    found = metadata(json.dumps({"a b": "x", "who": "A", "erc.who": "B"}))
    assert found.elements == {"erc.who": "A"}
    assert [note.element for note in found.omitted] == ["metadata: a b", "metadata: erc.who"]


def test_an_ark_without_url_and_metadata_is_reserved() -> None:
    [unused, described] = read("ark,url,title\n12345/x51,,\n12345/x52,,A title\n")
    assert (unused.state, unused.target) == ("reserved", None)
    assert (described.state, described.target, described.elements) == ("public", None, {"erc.what": "A title"})


def test_copy_escapes_are_read_and_other_tables_are_skipped() -> None:
    row = "12345/x5\thttps://example.org/\\\\a\tone\\ttwo\\n\\101\\x42\t\\N\t2024-01-02 03:04:05+01\n"
    text = "--\nSET x = 1;\nCOPY public.naan (naan, name) FROM stdin;\nark\tx\n\\.\n" + HEAD + row + "\\.\nCOPY done;\n"
    [found] = read(text)
    assert found.target == r"https://example.org/\a"
    assert found.elements == {"erc.what": "one\ttwo\nAB"}
    assert found.created is not None
    assert found.created.isoformat() == "2024-01-02T02:04:05+00:00"
    assert found.line == 7


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        pytest.param(HEAD + "12345/x5\t\t\t\t\n", 3, "dump-syntax", id="rows without an end"),
        pytest.param(HEAD + "12345/x5\n\\.\n", 2, "table-fields", id="a row with other columns"),
        pytest.param("--\nSET x = 1;\n", 1, "dump-syntax", id="no table"),
        pytest.param("name,url\nx,y\n", 1, "table-column-missing", id="other columns"),
        pytest.param("ark,url\n12345/x5\n", 2, "table-fields", id="a field too few"),
        pytest.param('[{"ark": "12345/x5"},\n{"ark": }]', 2, "dump-syntax", id="not JSON"),
        pytest.param('[{"ark": "12345/x5"}\n,\n1]', 3, "dump-syntax", id="not an object"),
        pytest.param('[{"ark": "12345/x5"}', 1, "dump-syntax", id="half an array"),
        pytest.param('[{"ark": "12345/x5"}] x', 1, "dump-syntax", id="text after the array"),
        pytest.param('{"ark": NaN}', 1, "dump-syntax", id="a number that is not JSON"),
        pytest.param('{"ark": ' + "9" * 5000 + "}", 1, "dump-syntax", id="a number with many digits"),
        pytest.param("[" * 100_000, 1, "dump-syntax", id="too many levels"),
        pytest.param('[{"a": "' + "x" * 3_000_000 + '"}]', 1, "table-too-long", id="a long object"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(text: str, line: int, code: str) -> None:
    with pytest.raises(TableError) as error:
        read(text)
    assert (error.value.line, error.value.code) == (line, code)


def test_dumpdata_of_django_is_read_and_other_models_are_skipped() -> None:
    user = {"model": "auth.user", "pk": 1, "fields": {"username": "x"}}
    ark = {"model": "ark.ark", "pk": "12345/x5", "fields": {"url": "https://example.org/", "naan": 12345}}
    for text in (json.dumps([user, ark]), f"{json.dumps(user)}\n{json.dumps(ark)}\n"):
        assert [(record.identifier, record.target) for record in read(text)] == [
            ("ark:/12345/x5", "https://example.org/")
        ]
