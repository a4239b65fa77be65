"""Check characters by the NOID algorithm."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine, parse
from ararat.identifiers.ark.check_character import COVERAGES, check_character, covered_text, find
from ararat.identifiers.ark.grammar import BETANUMERIC


def has_check_character(text: str) -> bool:
    return check_character(text[:-1]) == text[-1]


TEXTS = st.text(BETANUMERIC, min_size=2, max_size=27)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("13030/xf93gt2", "q", id="the example of the NOID documentation"),
        # The National Library of France computes its check character from the Name alone.
        pytest.param("btv1b8449691", "v", id="a manuscript of the National Library of France"),
        pytest.param("", "0", id="nothing"),
        pytest.param("///", "0", id="characters without a value"),
        pytest.param("/1", "2", id="a character without a value has a position"),
        pytest.param("z", "z", id="the last character"),
    ],
)
def test_check_characters_are_those_of_published_names(text: str, expected: str) -> None:
    assert check_character(text) == expected


@given(TEXTS, st.data())
def test_one_wrong_character_is_detected(text: str, data: st.DataObject) -> None:
    right = text + check_character(text)
    place = data.draw(st.integers(0, len(right) - 1))
    wrong = data.draw(st.sampled_from(BETANUMERIC.replace(right[place], "")))
    assert has_check_character(right)
    assert not has_check_character(right[:place] + wrong + right[place + 1 :])


@given(TEXTS, st.data())
def test_two_exchanged_neighbours_are_detected(text: str, data: st.DataObject) -> None:
    right = text + check_character(text)
    place = data.draw(st.integers(0, len(right) - 2))
    pair = right[place : place + 2]
    assert has_check_character(right[:place] + pair[::-1] + right[place + 2 :]) == (pair[0] == pair[1])


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        pytest.param("ark:13030/xf93gt2q", "noid", id="the example of the NOID documentation"),
        pytest.param("ark:/13030/xf9-3gt2-q", "noid", id="hyphens and the classic form"),
        pytest.param("https://n2t.net/ark:/13960/t6s363150", "noid", id="an address"),
        pytest.param("ark:/87278/s63x8hrv/p1/b.tiff?info", "noid", id="components, a variant and a query"),
        pytest.param("ark:/13960/t00000018", "noid", id="a sequence"),
        pytest.param("ark:/12148/btv1b8449691v", "name", id="a manuscript of the National Library of France"),
        pytest.param("ark:/12148/bpt6k65358454/f1.item", "name", id="a page of the National Library of France"),
        pytest.param("ark:12345/xf39gt2q", None, id="two exchanged characters"),
        pytest.param("ark:13030/xf93gt2Q", None, id="an upper-case letter"),
        pytest.param("ark:12345/museum", None, id="a word"),
        pytest.param("ark:12345/\u0431", None, id="a letter outside ASCII"),
        pytest.param("ark:12345/x5", None, id="a short name"),
        pytest.param("urn:isbn:0451450523", None, id="a URN"),
        pytest.param("ark:12345", None, id="no ARK"),
    ],
)
def test_reports_contain_the_check_character(text: str, covers: str | None) -> None:
    found = examine(text).check_character
    assert (found and found["covers"]) == covers


def test_a_wrong_check_character_is_reported_if_the_naan_has_them() -> None:
    wrong = {"character": "q", "covers": None, "text": "13030/xf39gt2", "valid": False}
    assert examine("ark:/13030/xf3-9gt2q/p1").check_character == wrong
    assert examine("ark:13030/xf93gt2q").check_character == wrong | {
        "covers": "noid",
        "text": "13030/xf93gt2",
        "valid": True,
    }
    assert examine("ark:13030/museum").check_character is None


@given(st.text(BETANUMERIC, min_size=5, max_size=5), st.text(BETANUMERIC, min_size=2, max_size=15), st.booleans())
def test_every_check_character_is_found(naan: str, name: str, whole: bool) -> None:
    character = check_character(covered_text(naan, name, COVERAGES[not whole]))
    found = find(f"ark:{naan}/{name}{character}")
    assert found is not None
    assert found.character == character


@given(st.text(max_size=40))
def test_any_text_is_accepted(name: str) -> None:
    find(f"ark:12345/{name}")
    assert (examine(f"ark:12345/{name}").check_character is None) or parse(f"ark:12345/{name}")
