"""Checks of texts that users enter, and their quotation in messages."""

from __future__ import annotations

import pytest

from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.validation import check, quote


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("x", False, id="one character"),
        pytest.param("x" * 10, False, id="as long as allowed"),
        pytest.param("a\tb\r\nc", True, id="tab and line end"),
        pytest.param("\u202e\u00e9", False, id="bidi override and letter"),
    ],
)
def test_a_valid_text_is_returned_unchanged(text: str, lines: bool) -> None:
    assert check(text, "metadata-text", "Title", 10, lines=lines) == text


@pytest.mark.parametrize(
    ("text", "lines", "message"),
    [
        pytest.param(7, False, "Title: the value has the type int; it must be a text", id="number"),
        pytest.param(None, False, "Title: the value has the type NoneType; it must be a text", id="none"),
        pytest.param("", False, "Title: the text is empty", id="empty"),
        pytest.param(" \t", False, "Title: the text is empty", id="white space"),
        pytest.param("x" * 11, False, "Title: the text has 11 characters; at most 10 are allowed", id="one too long"),
        pytest.param("a\nb", False, "Title: the text has the control character U+000A at position 2", id="line end"),
        pytest.param(
            "a\x0bb", True, "Title: the text has the control character U+000B at position 2", id="vertical tab"
        ),
        pytest.param("\ud800", True, "Title: the text has the control character U+D800 at position 1", id="surrogate"),
    ],
)
def test_an_invalid_text_is_refused_with_its_reason(text: object, lines: bool, message: str) -> None:
    with pytest.raises(BindingError) as refused:
        check(text, "metadata-text", "Title", 10, lines=lines)
    assert (refused.value.code, refused.value.message) == ("metadata-text", message)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        pytest.param("abc", "abc", id="as long as allowed"),
        pytest.param("abcd", "abc...", id="one too long"),
        pytest.param("\u00e9", "\u00e9", id="not ASCII"),
        pytest.param(7, "7", id="number"),
    ],
)
def test_input_is_quoted_as_short_printable_text(text: object, quoted: str) -> None:
    assert quote(text, 3) == quoted


def test_input_is_quoted_with_at_most_60_characters() -> None:
    assert quote("x" * 60) == "x" * 60
    assert quote("x" * 61) == "x" * 60 + "..."
