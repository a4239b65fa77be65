"""The length rule (ARK draft, section 7.1.1; decision A-11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.ark import length


@pytest.mark.vectors("length")
def test_an_ark_of_up_to_255_code_points_is_never_refused(vector):
    text, limit = (
        (vector.input["ark"], vector.input["configured_limit"])
        if isinstance(vector.input, dict)
        else (vector.input, 255)
    )
    assert length.may_refuse(text, limit) is not vector.expect["must_accept"]
    if "wire_length" in vector.expect:
        assert length.octets(text) == vector.expect["wire_length"]
    if "basic_length" in vector.expect:
        assert length.code_points(text.partition("?")[0]) == vector.expect["basic_length"]


@pytest.mark.parametrize("limit", [254, 0, -1])
def test_a_limit_below_255_raises_an_error(limit):
    with pytest.raises(ValueError, match="255"):
        length.may_refuse("ark:12345/x", limit)


@pytest.mark.parametrize(
    ("ark", "refused"),
    [
        pytest.param("ark:12345/" + "x" * 245 + "?info", False, id="255 and ?info"),
        pytest.param("ark:12345/" + "x" * 245 + "?info#" + "f" * 4000, False, id="any fragment"),
        pytest.param("ark:12345/" + "x" * 245 + "?other" + "y" * 4000, True, id="another inflection"),
        pytest.param("ark:12345/" + "x" * 246, True, id="256"),
        pytest.param("ark:12345/" + "%D0%B1" * 245, False, id="255 encoded code points"),
        pytest.param("ark:12345/" + "%FF" * 245, True, id="bytes that are not UTF-8"),
        pytest.param("ark:12345/" + "%D0%B1" * 239 + "?other", False, id="255 with another inflection"),
        pytest.param("ark:12345/" + "%D0%B1" * 240 + "?other", True, id="256 with another inflection"),
    ],
)
def test_longer_arks_can_be_refused_above_the_minimum_limit(ark, refused):
    assert length.may_refuse(ark, 255) is refused


@pytest.mark.parametrize(
    ("encoded", "count"),
    [
        pytest.param("%7E", 1, id="1 byte"),
        pytest.param("%DF%BF", 1, id="2 bytes"),
        pytest.param("%E2%82%AC", 1, id="3 bytes"),
        pytest.param("%F0%9F%98%80", 1, id="4 bytes"),
        pytest.param("%F0%9F%98", 9, id="4 bytes without the last"),
        pytest.param("%E2%82", 6, id="3 bytes without the last"),
    ],
)
def test_an_encoded_code_point_counts_once(encoded, count):
    assert length.code_points(f"ark:12345/{encoded}") == 10 + count


def test_ascii_characters_count_one_byte_beside_others():
    assert length.octets("\x7f\u0080\u00e9") == 1 + 6 + 6


def test_an_ark_at_a_higher_limit_is_accepted():
    assert not length.may_refuse("ark:12345/" + "x" * 390, 400)
    assert length.may_refuse("ark:12345/" + "x" * 391, 400)
    assert not length.may_refuse("ark:12345/" + "x" * 3490)
    assert length.may_refuse("ark:12345/" + "x" * 3491)


@given(st.text(max_size=245, alphabet=st.characters(exclude_categories=["Cs"])))
def test_the_length_counts_percent_encoded_bytes(text):
    assert length.octets(text) == sum(1 if char < "\x80" else 3 * len(char.encode()) for char in text)
    assert not length.may_refuse("ark:12345/" + text.replace("%", ""), 255)
