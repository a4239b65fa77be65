"""Comparison of identifiers of any kind."""

from __future__ import annotations

import pytest

from ararat.identifiers import equivalent


@pytest.mark.parametrize("text", ["", "ark:12345", "urn:foo", "hello", "https://example.org/"])
def test_an_invalid_text_is_equivalent_to_no_other(text):
    assert not equivalent(text, text)
    assert not equivalent(text, "ark:12345/x")
    assert not equivalent("ark:12345/x", text)


def test_arks_that_differ_in_the_fragment_are_not_equivalent():
    # N-07
    assert not equivalent("ark:12345/x#a", "ark:12345/x#b")
