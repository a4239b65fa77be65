"""Identifiers in running text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import find


@pytest.mark.vectors("ark-extract", "urn-extract")
def test_identifiers_are_found_in_a_sentence(vector):
    found = find(vector.input)
    assert [match.literal for match in found] == vector.expect["found"]
    if "trimmed" in vector.expect:
        assert [match.suggestion for match in found] == vector.expect["trimmed"]


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n", [], id="white space"),
        pytest.param("  ark:12345/x!\n", ["ark:12345/x!"], id="one token is taken whole, wrong as it is"),
        pytest.param("hello", ["hello"], id="one token that is nothing"),
        pytest.param("hello world", [], id="words"),
        pytest.param("<https://n2t.net/ark:/12345/x>", ["https://n2t.net/ark:/12345/x"], id="in angle brackets"),
        pytest.param('"ark:12345/x"', ["ark:12345/x"], id="in quotation marks"),
        pytest.param("ark:12345/x\nark:12345/y\n", ["ark:12345/x", "ark:12345/y"], id="a column"),
        pytest.param("a park:12345/x b", [], id="the end of a word"),
        pytest.param(
            "see urn:isbn:0451450523 and ark:/12345/x-1, please",
            ["urn:isbn:0451450523", "ark:/12345/x-1"],
            id="two schemes",
        ),
        pytest.param(
            "at http://hdl.handle.net/2027/uc2.ark:/13960/t5 now",
            ["http://hdl.handle.net/2027/uc2.ark:/13960/t5"],
            id="inside a segment",
        ),
    ],
)
def test_what_is_found(text, literals):
    assert [match.literal for match in find(text)] == literals


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        pytest.param("(see urn:foo:a)", "urn:foo:a", id="closing bracket"),
        pytest.param("a urn:foo:(a) b", None, id="balanced brackets"),
        pytest.param("is it ark:12345/x?info, or", "ark:12345/x?info", id="comma after an inflection"),
        pytest.param("is it ark:12345/x??!", "ark:12345/x", id="marks of a question"),
    ],
)
def test_closing_punctuation_is_cut_off_in_the_suggestion(text, suggestion):
    (match,) = find(text)
    assert (match.suggestion or match.literal) == (suggestion or match.literal)
    if suggestion:
        assert match.suggestion == suggestion


@given(
    st.lists(
        st.sampled_from(
            ["ark:12345/x", "urn:foo:a", "https://n2t.net/", " ", "\u202e", "ark:", ".", "(", "http://", "\n", "\ud800"]
        )
    ).map("".join)
)
def test_matches_lie_in_order_within_the_text_and_overlap_nowhere(text):
    end = 0
    for match in find(text):
        assert end <= match.start < match.end
        assert text[match.start : match.end] == match.literal
        end = match.end
    assert end <= len(text)


@pytest.mark.parametrize(
    "unit", ["ark:12345/x ", "ark:", "x ark:1/", "http://a/ark:12345/x,", "urn:aa:", "http://", "ark:12345/x?", " ("]
)
@pytest.mark.timeout(30)
def test_a_long_text_is_gone_through_once(unit):
    find("a " + unit * (300_000 // len(unit)))
