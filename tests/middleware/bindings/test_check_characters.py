"""The check character of NOIDs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.middleware.bindings.check_characters import BETANUMERIC, check_character, checks

TEXTS = st.text(BETANUMERIC, min_size=2, max_size=27)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("13030/xf93gt2", "q", id="the example of the NOID documentation"),
        # The National Library of France takes its control character over the name alone.
        pytest.param("btv1b8449691", "v", id="a manuscript of the National Library of France"),
        pytest.param("", "0", id="nothing"),
        pytest.param("///", "0", id="characters without a value"),
        pytest.param("/1", "2", id="which have a position all the same"),
        pytest.param("z", "z", id="the last character"),
    ],
)
def test_it_is_that_of_published_names(text: str, expected: str) -> None:
    assert check_character(text) == expected


@given(TEXTS, st.data())
def test_one_wrong_character_is_found_out(text: str, data: st.DataObject) -> None:
    right = text + check_character(text)
    place = data.draw(st.integers(0, len(right) - 1))
    wrong = data.draw(st.sampled_from(BETANUMERIC.replace(right[place], "")))
    assert checks(right)
    assert not checks(right[:place] + wrong + right[place + 1 :])


@given(TEXTS, st.data())
def test_two_neighbours_that_changed_places_are_found_out(text: str, data: st.DataObject) -> None:
    right = text + check_character(text)
    place = data.draw(st.integers(0, len(right) - 2))
    pair = right[place : place + 2]
    assert checks(right[:place] + pair[::-1] + right[place + 2 :]) == (pair[0] == pair[1])
