"""The catalogue of problems: each code has an example, and each finding a code."""

from __future__ import annotations

import re

import pytest

from ararat.identifiers import PROBLEMS, IdentifierError, examine
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.problems import caret


# URN-041
@pytest.mark.parametrize("code", [code for code, known in PROBLEMS.items() if known.example is not None])
def test_the_example_of_a_code_has_that_problem(code):
    report = examine(PROBLEMS[code].example or "")
    by_profile = {found for profile in report.profiles.values() for found in profile["problems"]}
    assert code in {problem.code for problem in report.problems} | by_profile


@pytest.mark.parametrize("code", PROBLEMS)
def test_codes_are_kebab_case_and_texts_are_ascii(code):
    known = PROBLEMS[code]
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", code)
    assert known.severity in ("error", "warning", "note")
    for words in (known.title, known.expected, known.reference):
        assert words.isascii()
        assert words
        assert not words.endswith(".")


def test_codes_without_an_example_are_listed_with_the_reason():
    without = [code for code, known in PROBLEMS.items() if known.example is None]
    assert without == ["not-an-extended-ark", "fragment-unknown"]
    with pytest.raises(IdentifierError) as refused:
        ark.normalize("urn:foo:a")
    assert refused.value.problem.code == "not-an-extended-ark"


def test_an_error_shows_a_caret_at_the_character():
    with pytest.raises(IdentifierError) as refused:
        ark.parse("ark:12345/ab\x1bc")
    assert str(refused.value).splitlines() == [
        "U+001B ESCAPE is a control character (control-char)",
        r"    ark:12345/ab\u{1b}c",
        "                ^^^^^^",
        "expected no character of U+0000-001F or U+007F-009F (ARK draft, section 8.1)",
    ]


@pytest.mark.parametrize("length", [10, 1_000, 1_000_000])
def test_an_error_shows_an_excerpt_around_the_position(length):
    with pytest.raises(IdentifierError) as refused:
        ark.parse("ark:12345/" + "x" * length + "!" + "y" * length)
    _, shown, carets, _ = str(refused.value).splitlines()
    assert shown[carets.index("^")] == "!"
    assert len(shown) < 150


# URN-068
@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("ar", [("no-scheme", 0, 2)]),
        ("hello", [("no-scheme", 0, 4)]),
        (" ark:12345/x", [("surrounding-space", 0, 1)]),
        ("foo ark:12345/x", [("bad-prefix", 0, 4)]),
        ("http://a/b/c", [("no-ark-label", 0, 12)]),
        ("http://a/?ark:12345/x", [("label-in-query", 10, 14)]),
        ("http://a/ark%3a12345/x", [("encoded-label", 9, 15)]),
        ("http://a/park:12345/x", [("label-inside-word", 10, 14)]),
        ("https://n2t.net/ark:1234a/x", [("naan-char", 24, 25)]),
        ("ark://12345/x", [("double-slash", 4, 6)]),
        ("ark:/12345", [("no-name", 10, 10)]),
        ("ark:/12345/", [("empty-name", 11, 11)]),
        ("ark:12345//x", [("empty-segment", 9, 11)]),
        ("ark:12345/a/-", [("empty-after-normalization", 12, 13)]),
        ("ark:12345/-/b", [("empty-after-normalization", 10, 11)]),
        ("ark:/12345/a[b", [("bad-char", 12, 13)]),
        ("ark:12345/x%", [("bad-percent", 11, 12)]),
        ("ark:12345/x%4", [("bad-percent", 11, 13)]),
        ("ark:12345/x%zz1", [("bad-percent", 11, 14)]),
        ("ark:12345/x\x7fy", [("control-char", 11, 12)]),
        ("ark:12345/x\ue000y", [("private-use", 11, 12)]),
        ("ark:12345/x?a[b", [("bad-query", 13, 14)]),
        ("ark:12345/x?a[b#c", [("bad-query", 13, 14)]),
        ("ark:12345/x?a#b[c", [("bad-fragment", 15, 16)]),
        ("ark:/12345/x/a.b/c..d", [("dot-in-name", 12, 16), ("dot-in-name", 16, 19)]),
        ("ark:12345/x/%2e%2E/y", [("dot-segment", 9, 20), ("encoded-dot", 12, 15)]),
        ("ark:/12345/x.b.a.b?q", [("variants-reordered", 12, 18), ("variants-deduplicated", 12, 18)]),
        ("ark:12345/x?#[", [("bad-fragment", 13, 14)]),
        ("ark:/12345/x/a..b", [("dot-in-name", 12, 15)]),
        ("urn::a", [("no-nid", 4, 4)]),
        ("urn:urn:a", [("reserved-nid", 4, 7)]),
        ("urn:f:a", [("nid-length", 4, 5)]),
        ("urn:foo:", [("empty-nss", 8, 8)]),
        ("urn:foo:a%zz", [("bad-percent", 9, 12)]),
        ("urn:foo:a?b%zz", [("bad-percent", 11, 14)]),
        ("urn:foo:a#b[", [("bad-fragment", 11, 12)]),
        ("urn:foo-:a/b?x", [("nid-final-hyphen", 7, 8)]),
        ("urn:foo-:ab", [("nid-final-hyphen", 7, 8)]),
        ("urn:f-:ab", [("nid-final-hyphen", 5, 6)]),
        ("urn:foo:a%2e/b", [("needless-percent-encoding", 9, 12), ("nss-slash", 12, 13)]),
        ("urn:foo:a?+r?=q#f", [("query-not-assigned", 9, 15), ("fragment-not-opted-in", 15, 17)]),
        ("urn:urn-x:y", [("nid-special-form", 4, 9)]),
        ("urn:urn-1:y", [("nid-special-form", 4, 9)]),
        ("URN:URN-X:y", [("nid-special-form", 4, 9)]),
        ("urn:urn:y", [("reserved-nid", 4, 7)]),
        (
            "urn:X-foo:%41&~",
            [("nid-special-form", 4, 9), ("needless-percent-encoding", 10, 13), ("rfc2141-invalid", 13, 14)],
        ),
    ],
)
def test_each_problem_has_its_position(text, places):
    assert [(found.code, found.start, found.end) for found in examine(text).problems] == places


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        pytest.param("x" * 50, 0, 50, "x" * 50, id="whole"),
        pytest.param("x" * 1000, 0, 1, "x" * 72 + "...", id="start"),
        pytest.param("x" * 1000, 999, 1000, "..." + "x" * 37, id="end"),
        pytest.param("x" * 1000, 0, 1000, "x" * 144 + "...", id="long place up to the end"),
        pytest.param("x" * 72 + "y" * 72, 0, 144, "x" * 72 + "y" * 72, id="place of twice the width"),
    ],
)
def test_a_cut_excerpt_is_marked_with_three_dots(text, start, end, shown):
    assert caret(text, start, end, width=72, indent="").splitlines()[0] == shown


def test_all_characters_that_look_like_ascii_are_listed_with_their_places():
    (found,) = [each for each in examine("ark:12345/\u0430b\u0435\u043ex").problems if each.code == "confusable"]
    assert (found.start, found.end) == (10, 11)
    assert found.message == (
        "these characters look like others, at the place in brackets: U+0430 CYRILLIC SMALL LETTER A (11): a; "
        "U+0435 CYRILLIC SMALL LETTER IE (13): e; U+043E CYRILLIC SMALL LETTER O (14): o"
    )
    (found,) = [each for each in examine("ark:12345/b\u0430").problems if each.code == "confusable"]
    assert found.message == "U+0430 CYRILLIC SMALL LETTER A looks like a but is a different character"
