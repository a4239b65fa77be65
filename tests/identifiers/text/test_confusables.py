"""Lookalikes are reported and do not change a verdict."""

from __future__ import annotations

import pytest

from ararat.identifiers import examine
from ararat.identifiers.text import confusables


@pytest.mark.parametrize(
    ("char", "twin"),
    [
        ("\u0430", "a"),
        ("\u03bf", "o"),
        ("\u2010", "-"),
        ("\u2215", "/"),
        ("\uff21", "A"),
        ("\U0001d7d8", "0"),
        ("\u00e9", None),
        ("a", None),
    ],
)
def test_looks_like_returns_the_ascii_character(char, twin):
    assert confusables.looks_like(char) == twin


def test_a_lookalike_is_reported_and_does_not_change_the_verdict():
    report = examine("ark:12345/p\u0430ris")
    (found,) = [problem for problem in report.problems if problem.code == "confusable"]
    assert (found.severity, found.start, found.end) == ("warning", 11, 12)
    assert found.message == "U+0430 CYRILLIC SMALL LETTER A looks like a but is a different character"
    assert (report.valid, report.conformance) == (True, "strict")
    assert examine("ark:12345/paris").problems == ()


@pytest.mark.naughty("confusable-scheme")
def test_a_lookalike_label_is_not_a_label(naughty):
    assert not examine(naughty.input).valid
