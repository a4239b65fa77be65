"""Each repair fixes one problem, and a suggestion is always a valid identifier."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine
from ararat.identifiers.parsing import reads
from ararat.identifiers.repairs import (
    _REPAIRS,
    MAX_SUGGESTIONS,
    REASONS,
    _able_to_change,
    _correct,
    _features,
    is_correctable,
    of_word,
    reasons,
)
from ararat.identifiers.suggestions import suggestions


@pytest.mark.vectors("suggestions")
def test_a_damaged_copy_is_corrected(vector):
    found = [each.identifier for each in suggestions(vector.input)]
    assert found == vector.expect["suggestions"]
    assert examine(vector.input).suggestion == next(iter(found), None)


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("ark:12345/x/", "trailing-slash", "ark:12345/x"),
        ("ark://12345/x", "double-slash", "ark:/12345/x"),
        ("ark:12345//x///y", "empty-segment", "ark:12345/x/y"),
        ("https://n2t.net//ark:12345//x", "empty-segment", "https://n2t.net//ark:12345/x"),
        ("ark:B5072/X", "naan-uppercase", "ark:b5072/X"),
        (" ark:12345/x\n", "surrounding-space", "ark:12345/x"),
        ("\u0410\u0420\u041a: 12345/x", "transliterated-label", "ark:12345/x"),
        ("ark:12345/x \t", "bad-char", "ark:12345/x"),
        ("ark:12345/x 7", "bad-char", "ark:12345/x"),
        ("ark:12345/x?a b", "bad-query", "ark:12345/x?a"),
        ("ark:12345/x#a b", "bad-fragment", "ark:12345/x#a"),
        ("ark:12345/x\n", "control-char", "ark:12345/x"),
        ("urn:foo:a b", "nss-char", "urn:foo:a"),
        ("https://n2t.net/12345/x", "no-ark-label", "https://n2t.net/ark:12345/x"),
        ("12345/x", "no-scheme", "ark:12345/x"),
        ("https://n2t.net/ark%3A/12345/x", "encoded-label", "https://n2t.net/ark:/12345/x"),
        ("https://n2t.net/?id=ark:/12345/x&y=1", "label-in-query", "ark:/12345/x"),
        ("ark:12345/x!", "bad-char", "ark:12345/x"),
        ("https://example.org/x", "no-ark-label", None),
    ],
)
def test_an_invalid_text_has_a_valid_suggestion_or_none(text, code, suggestion):
    report = examine(text)
    assert (report.problems[0].code, report.suggestion) == (code, suggestion)
    assert suggestion is None or reads(suggestion)


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("ark:12345/x\u2010y\u200b", "ark:12345/x-y"),
        ("ark:12345/\u00e9\u00ad1", "ark:12345/\u00e9-1"),
        ("ark:12345/\u00e9", None),
        ("ark:12345/x", None),
    ],
)
def test_a_valid_identifier_with_hidden_characters_has_a_suggestion_without_them(text, suggestion):
    report = examine(text)
    assert (report.valid, report.suggestion) == (True, suggestion)


def test_a_lookup_can_confirm_more_corrections():
    assert suggestions("ark:12345/x6%20np1") == ()
    guessed = suggestions("ark:12345/x6%20np1", guesses=True)
    assert [each.identifier for each in guessed] == ["ark:12345/x6np1", "ark:12345/x6"]


def test_a_check_character_decides_whether_a_broken_identifier_is_joined():
    whole = "ark:13030/xf93gt2q"
    assert suggestions("ark:13030/xf93 gt2q")[0].identifier == whole
    assert suggestions(f"{whole} 7")[0].identifier == whole


_PIECES = [
    *("ark:", "ark:/", "12345/x", "/", ".", ",", " ", "\n", "%20", "%2F", "%3A", "&amp;", "\u200b", "\u2010", "\u201c"),
    *(
        '"',
        "(",
        ")",
        "urn:nbn:de:1",
        "https://n2t.net/",
        "?id=",
        "#",
        "-",
        ":",
        "%",
        "\ud800",
        "12345",
        "\u0430rk:",
        "q",
    ),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join), st.booleans(), st.booleans())
def test_suggestions_are_valid_different_and_have_reasons(text, in_text, guesses):
    found = suggestions(text, in_text=in_text, guesses=guesses)
    assert len(found) <= MAX_SUGGESTIONS
    for each in found:
        assert reads(each.identifier)
        assert each.identifier != text
        assert each.differences
        assert set(each.differences) <= set(REASONS)
        assert reasons(each.differences)
    assert len({each.identifier for each in found}) == len(found)


@given(st.lists(st.sampled_from([*":!'&,;(.@-/[]", "a", "1", "x/y", "ark:"]), min_size=1, max_size=8).map("".join))
def test_the_fast_path_for_words_agrees(rest):
    for prefix in ("ark:12345/x", "https://e.org/a/ark:/12345/x"):
        word = f"{prefix}{rest}"
        fast = of_word(word, len(prefix)) if not reads(f"{prefix}{rest[0]}") else None
        if fast is not None:
            assert fast == suggestions(word, in_text=True)[0]


@given(st.lists(st.sampled_from([*'/%&:?#"()A.', " ", "\u2010", "ark:12345", "ark%3A", "1/x", "n2t.net/"]), max_size=8))
def test_a_repair_that_is_left_out_would_change_nothing(parts):
    text = "".join(parts)
    left_out = {*range(len(_REPAIRS))} - {*_able_to_change(_features(text))}
    assert [_REPAIRS[number][0] for number in left_out if _REPAIRS[number][1](text) != text] == []


_PARTS = ("ark:", "ark%3A", "urn:", "urn%3a", "URN:isbn:1", "ARK:", "1", "B5072", "12345", "/", "%2F", "%2f", "//", "x")


@given(
    st.lists(
        st.sampled_from([*_PARTS, *"-:.,;(#?=a", "https://h/", "%20", "%41", "&#47;", "&lt;", "&amp;"]), max_size=8
    ).map("".join),
    st.booleans(),
)
def test_the_fast_path_for_words_without_a_name_loses_no_suggestion(text, in_text):
    if not is_correctable(text):
        assert not reads(text)
        assert list(_correct(text, in_text=in_text, guesses=False, valid=False)) == []
