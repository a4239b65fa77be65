"""Registry files: recognition of their form, and limits of their size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.registries import files
from ararat.identifiers.registries.files import read
from ararat.identifiers.registries.source import MAX_TEXT, day_of, text_of, visible
from ararat.identifiers.registries.tables import RegistryError

FORMS = [
    pytest.param("naan-v2.json", None, {"naan": 4, "naan-shoulders": 3}, "2026-07-14", id="JSON, version 2"),
    pytest.param("naan.txt", None, {"naan": 4}, "2020-01-29", id="ANVL"),
    pytest.param("urn-namespaces.xml", None, {"urn-namespaces": 3}, "2026-07-28", id="URN namespaces, XML"),
    pytest.param("uri-schemes.xml", None, {"uri-schemes": 4}, "2026-08-13", id="URI schemes, XML"),
]


@pytest.fixture
def octets(data):
    return lambda name: (data / "registries" / name).read_bytes()


@pytest.mark.one_setup
@pytest.mark.parametrize(("name", "date", "records", "day"), FORMS)
def test_each_official_form_is_recognized_by_its_content(name, date, records, day, octets):
    tables = read(octets(name), name="a-file", date=date)
    assert {table.registry.name: len(table.records) for table in tables} == records
    assert {table.snapshot.date for table in tables} == {day}
    assert all(table.snapshot.source.startswith("https://") for table in tables)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", [row.values[0] for row in FORMS])
def test_persons_are_dropped(name, octets):
    [*tables] = read(octets(name), name=name, date="2026-08-14")
    for table in tables:
        assert "never kept" not in table.text()
        assert "nobody" not in table.text()
        assert "Some" not in table.text()


@pytest.mark.one_setup
@pytest.mark.parametrize("name", [row.values[0] for row in FORMS])
def test_byte_order_mark_and_line_ends_do_not_matter(name, octets):
    plain = read(octets(name), name=name, date="2026-08-14")
    marked = b"\xef\xbb\xbf" + octets(name).replace(b"\n", b"\r\n")
    assert [table.records for table in read(marked, name=name, date="2026-08-14")] == [each.records for each in plain]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "a-file, line 1, column 1: the file is not in an official form", id="empty"),
        pytest.param(b"hello\n", "a-file, line 1, column 1: the file is not in an official form", id="prose"),
        pytest.param(b"<!DOCTYPE html><html></html>", "a-file, line 1: the file has a document type", id="HTML"),
        pytest.param(b"ab\nc\xff", "a-file, line 2, column 2: this byte is not UTF-8", id="not UTF-8"),
        pytest.param(b"\x1f\x8b\x08\x00", "a-file, line 1, column 2: this byte is not UTF-8", id="compressed"),
        pytest.param(
            b"Name,Value\n", "a-file, line 1, column 1: the file is not in an official form", id="another table"
        ),
    ],
)
def test_any_other_file_is_refused_with_a_position(content, message):
    with pytest.raises(RegistryError, match=message):
        read(content, name="a-file")


def test_a_file_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 10)
    with pytest.raises(RegistryError, match="larger than 10 bytes"):
        read(b"x" * 11, name="a-file")


def test_an_invalid_date_raises_value_error():
    with pytest.raises(ValueError, match="expected a date") as refused:
        read(b"", name="a-file", date="yesterday")
    assert not isinstance(refused.value, RegistryError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", None),
        (" \n ", None),
        ("(:unkn)", None),
        ("(:unkn) unknown", None),
        ("  A\n\tB  ", "A B"),
        ("A\u00a0B", "A B"),
        ("A\u202eB\x1b\ufeff\x00", "AB"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("\ud800A", "A"),
    ],
)
def test_hidden_characters_are_removed_from_texts(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize("value", [1, ["a"], {"a": 1}, "x" * (MAX_TEXT + 1)])
def test_a_value_that_is_not_a_text_is_refused(value):
    with pytest.raises(ValueError, match="text"):
        text_of(value)


@given(st.text())
def test_a_visible_text_is_unchanged_and_can_be_encoded(text):
    assert visible(visible(text)) == visible(text)
    visible(text).encode()


@pytest.mark.parametrize(
    ("value", "day"),
    [
        (None, None),
        ("", None),
        ("2005.07.17", "2005-07-17"),
        ("2005-07-17", "2005-07-17"),
        ("2020-06-04T00:00:00+00:00", "2020-06-04"),
    ],
)
def test_dates_are_read_in_both_forms(value, day):
    assert day_of(value) == day


@pytest.mark.parametrize("value", ["2005", "2005-13-01", "2005.02.30", "yesterday", "\u0662\u0660\u0662\u0660-01-01"])
def test_an_invalid_day_is_refused(value):
    with pytest.raises(ValueError, match=r"date|month|day"):
        day_of(value)


starts = st.sampled_from(
    [b'{"metadata":{},"data":[', b"naa:\nwho: ", b"<registry>", b"URI Scheme,Status\n", b"URN Namespace,X\n", b"<", b""]
)


@given(starts, st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode(errors="ignore")))
def test_only_registry_error_is_raised(start, rest):
    said = refusal(start + rest)
    assert said is None or said.startswith("a-file")
    assert said is None or (said.isascii() and said.isprintable())


@given(st.sampled_from([row.values[0] for row in FORMS]), st.floats(0, 1), st.integers(0, 40), st.binary(max_size=3))
def test_a_damaged_file_is_read_or_refused(data, name, part, gone, put):
    content = (data / "registries" / name).read_bytes()
    place = int(part * len(content))
    changed = content[:place] + put + content[place + gone :]
    said = refusal(changed)
    assert said is None or said.startswith("a-file")


def refusal(content: bytes) -> str | None:
    try:
        read(content, name="a-file", date="2026-08-14")
    except RegistryError as error:
        return str(error)
    return None
