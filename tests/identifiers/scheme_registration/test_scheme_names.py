"""Names of schemes: valid, registrable and similar names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import registries
from ararat.identifiers.registries.tables import SCHEMES
from ararat.identifiers.scheme_registration import VALID, read_name, similar_names


@pytest.mark.vectors("scheme-name")
def test_names_are_valid_and_registrable_as_the_vectors_state(vector):
    reading = read_name(vector.input)
    assert (reading.valid, reading.registrable) == (vector.expect["valid"], vector.expect["registrable"])


def test_a_hostile_text_is_a_name_only_if_its_characters_are(every_naughty):
    for naughty in every_naughty:
        reading = read_name(naughty.input)
        assert reading.valid == bool(VALID.fullmatch(naughty.input)), naughty.id
        assert not reading.registrable or naughty.input.isascii(), naughty.id


@given(st.text())
def test_every_text_has_properties(text):
    reading = read_name(text)
    assert reading.registrable <= reading.valid


@pytest.mark.parametrize("name", ["ark\n", "\u212aark", "a\u0440k", "ark ", "a:b", "-a", "+", "a_b", "a/b"])
def test_an_almost_valid_name_is_not_valid(name):
    assert not read_name(name).valid


def test_every_registered_name_is_valid_and_not_available():
    for name in registries.current().table(SCHEMES).records:
        reading = read_name(name)
        assert reading.status
        assert not reading.registrable


# SCH-008
@pytest.mark.parametrize(
    ("name", "similar"),
    [
        pytest.param("mail-to", "mailto", id="a separator"),
        pytest.param("htt9s", "https", id="one character"),
        pytest.param("htto", "http", id="one character in place of another"),
        pytest.param("telnett", "telnet", id="one more"),
        pytest.param("g0pher", "gopher", id="a digit for a letter"),
    ],
)
def test_similar_registered_names_are_found(name, similar):
    assert similar in list(similar_names(name))


def test_a_name_is_not_similar_to_itself():
    assert [name for name in ("ark", "urn", "HTTPS", "example") if name.lower() in list(similar_names(name))] == []
