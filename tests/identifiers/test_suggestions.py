"""Each repair fixes one problem, and a suggestion is always a valid identifier."""

from __future__ import annotations

import pytest

from ararat.identifiers import examine
from ararat.identifiers.parsing import reads


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
