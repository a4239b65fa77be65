"""Names of schemes: valid, registrable and similar names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import registries
from ararat.identifiers.registries.tables import SCHEMES
from ararat.identifiers.scheme_registration import VALID, private_name, read_name, similar_names
from ararat.identifiers.scheme_registration.scheme_names import is_private


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


@pytest.mark.parametrize(
    ("domain", "name", "profile", "whole"),
    [
        pytest.param("example.com", "info", "4395bis", "com-example-info", id="hyphens in 4395bis"),
        pytest.param("example.com", "info", "7595", "com.example.info", id="dots in RFC 7595"),
        pytest.param("maps.Example.org", "ark", "4395bis", "org-example-maps-ark", id="a longer domain"),
    ],
)
def test_a_private_name_begins_with_the_domain_reversed(domain, name, profile, whole):
    assert private_name(domain, name, profile) == whole
    assert is_private(whole)
    assert read_name(whole).registrable


@pytest.mark.parametrize(
    ("domain", "name", "profile"),
    [
        pytest.param("localhost", "x", "4395bis", id="no dot"),
        pytest.param("ex ample.com", "x", "4395bis", id="a space"),
        pytest.param("example.com", "", "4395bis", id="nothing added"),
        pytest.param("example.com", "X", "4395bis", id="upper case"),
        pytest.param("example.com", "a_b", "7595", id="no scheme name"),
        pytest.param("example.com", "x", "2717", id="another profile"),
        pytest.param("b\u00fccher.example", "x", "7595", id="no ASCII"),
        pytest.param(f"{'a.' * 200}com", "x", "7595", id="too long"),
    ],
)
def test_an_invalid_private_name_is_refused(domain, name, profile):
    with pytest.raises(ValueError, match=r"is no|is not one of"):
        private_name(domain, name, profile)
