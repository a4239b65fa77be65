"""Registry tables: written, read, compared and validated."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.registries.tables import (
    NAANS,
    NAMESPACES,
    SCHEMES,
    SHOULDERS,
    Authority,
    RegisteredNamespace,
    RegistryError,
    Table,
    TableOrigin,
    compare,
    read,
)

DAY = TableOrigin("2026-07-14", "https://registry.ararat/")
HEAD = '{"registry": "uri-schemes", "date": "2026-08-13", "source": "x"}\n'

texts = st.text(st.characters(codec="utf-8"), max_size=8)
authorities = st.builds(
    Authority,
    key=texts,
    name=texts,
    acronym=st.none() | texts,
    since=st.none() | texts,
    template=st.none() | texts,
    policy=st.lists(texts, max_size=2).map(tuple),
    native_name=st.none() | texts,
    status=st.sampled_from([302, 303]),
)


@given(st.lists(authorities, max_size=5, unique_by=lambda each: each.key))
def test_a_written_table_is_read_unchanged(records):
    table = Table.of(NAANS, DAY, records)
    assert read(table.text(), NAANS) == table
    assert read(table.text(), NAANS).text() == table.text()


def test_every_line_is_json_and_the_keys_ascend():
    table = Table.of(
        NAMESPACES,
        DAY,
        [RegisteredNamespace("b", "formal"), RegisteredNamespace("a\u2028", "informal", ("1",), None, "x")],
    )
    head, *rows = [json.loads(line) for line in table.text().split("\n") if line]
    assert head == {"registry": "urn-namespaces", "date": "2026-07-14", "source": "https://registry.ararat/"}
    assert rows == [["a\u2028", "informal", ["1"], None, "x"], ["b", "formal"]]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        pytest.param("", None, "not JSON Lines", id="nothing"),
        pytest.param("<html>", None, "not JSON Lines", id="HTML"),
        pytest.param("[" * 200_000, None, "not JSON Lines", id="nested beyond all measure"),
        pytest.param("{}\n", 1, "not a table of the registry uri-schemes", id="no registry"),
        pytest.param('["uri-schemes"]\n', 1, "not a table of the registry uri-schemes", id="no head"),
        pytest.param(
            HEAD.replace("uri-schemes", "naan"), 1, "not a table of the registry uri-schemes", id="another one"
        ),
        pytest.param(HEAD.replace('"2026-08-13"', "20260813"), 1, "no date and source", id="no date"),
        pytest.param(HEAD + '["a"]\n', 2, "not a record", id="too short"),
        pytest.param(HEAD + '["a","permanent"]\n["b",2]\n', 3, "not a record", id="a number for a text"),
        pytest.param(HEAD + '["a","permanent",null,["x",1]]\n', 2, "not a record", id="a number among texts"),
        pytest.param(HEAD + '["a","permanent",null,"x"]\n', 2, "not a record", id="a text for texts"),
        pytest.param(HEAD + '["a","permanent",true]\n', 2, "not a record", id="a truth for a text"),
        pytest.param(HEAD + '["a","permanent"' + ',"x"' * 20 + "]\n", 2, "not a record", id="too long"),
        pytest.param(HEAD + '{"key":"a"}\n', 2, "not a record", id="an object"),
        pytest.param(HEAD + '["a","permanent"]\n["a","permanent"]\n', 3, "the key a is repeated", id="twice"),
        pytest.param(HEAD + '["a","permanent"]\n\n["b","permanent"]\n', None, "not JSON Lines", id="an empty line"),
    ],
)
def test_an_invalid_table_is_refused(text, line, why):
    with pytest.raises(RegistryError, match=why) as refused:
        read(text, SCHEMES)
    assert (refused.value.file, refused.value.line) == ("uri-schemes.jsonl", line)


@given(st.text() | st.text().map(HEAD.__add__) | st.recursive(st.none() | st.text(), st.lists).map(json.dumps))
def test_only_registry_error_is_raised(text):
    said = ""
    try:
        read(text, SCHEMES)
    except RegistryError as error:
        said = str(error)
    assert said.isascii()
    assert not said or said.isprintable()


def test_an_error_contains_file_line_and_column():
    assert str(RegistryError("no \u202e", "a\x1b.json", 1234, 5)) == r"a\u{1b}.json, line 1,234, column 5: no \u{202e}"


def test_two_snapshots_are_compared():
    old = Table.of(NAANS, DAY, [Authority("1", "A"), Authority("2", "B"), Authority("3", "C")])
    new = Table.of(NAANS, DAY, [Authority("4", "D"), Authority("3", "C", "c", status=303), Authority("2", "B")])
    changes = compare(old, new)
    assert changes.added == ("4",)
    assert changes.changed == {"3": ("acronym", "status")}
    assert changes.vanished == ("1",)
    assert compare(new, new) == ((), {}, ())


# ARK-021
def test_only_the_naan_registry_is_permanent():
    assert [registry.name for registry in (NAANS, SHOULDERS, NAMESPACES, SCHEMES) if registry.permanent] == ["naan"]
