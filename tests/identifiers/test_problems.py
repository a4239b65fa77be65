"""The catalogue of problems: no code without an example, no finding without a code."""

from __future__ import annotations

import re

import pytest

from ararat.identifiers import PROBLEMS, IdentifierError, ark, examine


@pytest.mark.parametrize("code", [code for code, known in PROBLEMS.items() if known.example is not None])
def test_the_example_of_a_code_has_that_problem(code):
    report = examine(PROBLEMS[code].example or "")
    by_profile = {found for profile in report.profiles.values() for found in profile["problems"]}
    assert code in {problem.code for problem in report.problems} | by_profile


@pytest.mark.parametrize("code", PROBLEMS)
def test_codes_are_kebab_case_and_their_words_are_plain_ascii(code):
    known = PROBLEMS[code]
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", code)
    for words in (known.title, known.expected, known.reference):
        assert words.isascii()
        assert words
        assert not words.endswith(".")


def test_the_codes_without_an_example_need_a_smaller_function_or_a_site_s_own_namespace():
    without = [code for code, known in PROBLEMS.items() if known.example is None]
    assert without == ["not-an-extended-ark", "fragment-unknown"]
    with pytest.raises(IdentifierError) as refused:
        ark.normalize("urn:foo:a")
    assert refused.value.problem.code == "not-an-extended-ark"


def test_an_error_points_at_the_character_with_a_caret():
    with pytest.raises(IdentifierError) as refused:
        ark.parse("ark:12345/ab\x1bc")
    assert str(refused.value).splitlines() == [
        "U+001B ESCAPE is a control character (control-char)",
        r"    ark:12345/ab\u{1b}c",
        "                ^^^^^^",
        "expected no character of U+0000-001F or U+007F-009F (ARK draft, section 8.1)",
    ]


@pytest.mark.parametrize("length", [10, 1_000, 1_000_000])
def test_an_error_shows_the_surroundings_of_the_place_and_no_more(length):
    with pytest.raises(IdentifierError) as refused:
        ark.parse("ark:12345/" + "x" * length + "!" + "y" * length)
    _, shown, carets, _ = str(refused.value).splitlines()
    assert shown[carets.index("^")] == "!"
    assert len(shown) < 150
