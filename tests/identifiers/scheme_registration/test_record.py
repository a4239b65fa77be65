"""Records of schemes are read and written in two forms without changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.scheme_registration import (
    FIELDS,
    Registration,
    RegistrationError,
    read,
    registered_names,
    registration,
)

NAMES = [field.name for field in FIELDS]
a_text = st.text(max_size=60) | st.lists(
    st.sampled_from(["Status: permanent", "Note: x", "  deep", "", "a:b", "{", "\u2028", "\x85", "Name", ":"]),
    max_size=5,
).map("\n".join)
records = st.builds(
    lambda texts, notes: Registration(**texts, notes=tuple(notes)),
    st.dictionaries(st.sampled_from(NAMES), a_text),
    st.lists(a_text, max_size=3),
)


def test_the_template_has_eleven_fields():
    # SCH-048, and SCH-051 for the status
    assert len(NAMES) == 11
    assert "status" in NAMES


@given(records)
def test_a_written_record_is_read_unchanged(record):
    assert read(record.json()) == record
    if record != Registration():
        assert read(record.text()) == record


def read_or_refused(text: str) -> Registration | None:
    try:
        record = read(text)
    except RegistrationError as error:
        refused = str(error)
    else:
        assert read(record.json()) == record
        return record
    assert refused.isascii()
    assert refused.isprintable()
    return None


@given(st.text())
def test_a_text_is_a_record_or_refused(text):
    assert read_or_refused(text) is None or ":" in text or "{" in text


def test_hostile_texts_raise_only_registration_error(every_naughty):
    for naughty in every_naughty:
        for text in (naughty.input, f"Scheme name: {naughty.input}", f'{{"name": {json.dumps(naughty.input)}}}'):
            read_or_refused(text)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        pytest.param("URI scheme name", "name", id="RFC 4395"),
        pytest.param("URI/IRI Scheme Name", "name", id="document 003"),
        pytest.param("Scheme name", "name", id="RFC 7595"),
        pytest.param("Author / Change controller", "controller", id="the author too"),
        pytest.param("Applications/protocols that use this URI scheme", "applications", id="the urn draft's"),
        pytest.param("ENCODING CONSIDERATIONS", "encoding", id="upper case"),
        pytest.param("Security Considerations", "security", id="title case"),
        pytest.param("   References", "references", id="indented as a whole"),
    ],
)
def test_labels_of_all_three_documents_are_accepted(label, name):
    assert getattr(read(f"{label}: some text"), name) == "some text"


def test_a_field_continues_until_the_next_label():
    record = read(
        "Scheme name: atlas\r\nSecurity considerations:\r\n\r\n  One: two.\r\n\r\n\r\n\r\n  Three.\r\nContact: me"
    )
    assert record == Registration(name="atlas", security="One: two.\n\nThree.", contact="me")


def test_an_indented_label_is_part_of_the_text():
    assert read("Contact: me\n  Status: busy").status == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "the text has no field", id="nothing"),
        pytest.param("\n \n", "the text has no field", id="white space"),
        pytest.param("atlas\nStatus: x", "line 1: this line belongs to no field", id="something before"),
        pytest.param("Contact: a\nContact: b", "line 2: Contact is repeated; it is already in line 1", id="twice"),
        pytest.param("{", "line 1: the text begins like JSON but is not valid JSON", id="broken JSON"),
        pytest.param('{"name": 1}', "'name' is not a text", id="a number"),
        pytest.param('{"name": null}', "'name' is not a text", id="null"),
        pytest.param('{"notes": "x"}', "'notes' is not a list of texts", id="notes that are not a list"),
        pytest.param('{"notes": [1]}', "'notes' is not a list of texts", id="a note that is not a text"),
        pytest.param('{"url": "x"}', "'url' is not a field of a record", id="another field"),
        pytest.param('{"a":' * 100_000, "at most 200,000 are allowed", id="too long"),
        pytest.param('{"a":' * 30_000, "begins like JSON", id="too deep"),
        pytest.param("Name: \u202ex\nname: y", r"line 2: Scheme name is repeated", id="hidden characters"),
    ],
)
def test_an_invalid_record_is_refused_with_its_position(text, message):
    with pytest.raises(RegistrationError) as caught:
        read(text)
    assert message in str(caught.value)


def test_a_long_record_is_read_in_linear_time():
    assert read("Scheme name: a\n" + "x: y\n" * 39_000).name.startswith("a")


def test_notes_can_be_added():
    # SCH-053
    record = read("Scheme name: atlas\nNote: A flaw was found.\n   It is mended.\nNote: Another.")
    assert record.notes == ("A flaw was found.\nIt is mended.", "Another.")
    assert read(record.text()) == record


@pytest.mark.parametrize("name", registered_names())
def test_a_built_in_record_has_its_name(name):
    record = registration(name)
    assert record is not None
    assert (record.name, record.status) == (name, "permanent")


def test_records_have_no_end_date():
    # SCH-036: "There is no time limit for provisional registration."
    assert not [name for name in Registration().as_dict() if "expir" in name or "date" in name]
