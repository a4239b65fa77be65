"""A text in English that can be translated: stored and restored."""

from __future__ import annotations

import json
import pickle

import pytest

from ararat.identifiers.text.translatable import FirstWord, Translatable, pack, unpack


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(Translatable("line %(line)s", line=3), id="values"),
        pytest.param(Translatable.counted("%(number)s name", "%(number)s names", 2000), id="number"),
        pytest.param(Translatable("100 %% of %(what)s", what=Translatable("names")).sentence(), id="sentence"),
        pytest.param(Translatable.in_context("state of a target", "Moved"), id="context"),
        pytest.param(Translatable.counted("%(number)s hop", "%(number)s hops", FirstWord(2)), id="number-word"),
        pytest.param(Translatable("it is %(text)s", text="a\x1fb"), id="separator-in-a-value"),
    ],
)
def test_a_text_is_the_same_when_it_is_read_again(text):
    for found in (unpack(pack(text)), pickle.loads(pickle.dumps(text))):  # noqa: S301 - our own text
        assert found == text
        assert isinstance(found, Translatable)
        assert (found.pattern, found.plural, found.context) == (text.pattern, text.plural, text.context)
        assert found.is_sentence == text.is_sentence


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(["%(x)99999999999s", {"x": "a"}, None, False], id="width"),
        pytest.param(["%(x)d", {"x": 1}, None, False], id="another-conversion"),
        pytest.param(["%(y)s", {"x": "a"}, None, False], id="missing-value"),
        pytest.param([7, {}, None, False], id="no-pattern"),
        pytest.param({}, id="no-list"),
        pytest.param("abcd", id="four-characters"),
        pytest.param(["a", [], None, False], id="no-values"),
        pytest.param(["a", {"number": "1"}, "a", False], id="no-number"),
    ],
)
def test_a_text_of_a_person_is_not_restored(packed):
    text = f"a\x1f{json.dumps(packed)}"
    assert unpack(text) == text
    assert not isinstance(unpack(text), Translatable)


def test_a_text_with_another_pattern_is_in_english():
    assert unpack('a\x1f["%(x)s", {"x": "b"}, null, false]') == "a"
