"""Regular expressions never take more than linear time, so that a text of a person never costs more than its length."""

from __future__ import annotations

import re

import pytest

from tests import patterns
from tests.regular_expressions import growth


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        pytest.param(r"\s*\s*x", "match", id="two runs"),
        pytest.param(r"\s*(?:#c)?\s*x", "match", id="two runs with an optional part between them"),
        pytest.param(r"\d+\.?\d*x", "match", id="two runs around an optional character"),
        pytest.param(r".*,.*x", "match", id="two runs that contain the separator"),
        pytest.param(r"(?:ab)*(?:ab)*c", "match", id="two runs of words"),
        pytest.param(r"(?:%20)*(?:%20|a)*b", "fullmatch", id="two runs of different words"),
        pytest.param(r"a*a*", "fullmatch", id="the whole text"),
        pytest.param(r"(a*)*b", "match", id="a run of runs"),
        pytest.param(r"(?:a?b?)*c", "match", id="a run of two optional characters"),
        pytest.param(r"(?:ab|[ab]b)*c", "match", id="a run of two alternatives"),
        pytest.param(r"(?i:[a-z]*)[A-Z]*1", "match", id="runs without case"),
        pytest.param(r"\s+x", "search", id="a search for a run"),
        pytest.param(r"\[[^\]]*\]", "sub", id="a search for brackets"),
        pytest.param(r" *\r?\n *|\r", "sub", id="a search for line breaks"),
        pytest.param(r"\s*[|;]\s*|\s*,\s+", "search", id="a search for separators"),
        pytest.param(r"a(?=.*b)", "finditer", id="a look-ahead for each match"),
        pytest.param(r"(?:(?=a*b)a)*c", "match", id="a look-ahead in a run"),
        pytest.param(r"(?m)^\s+x", "search", id="a search for lines"),
        pytest.param(r"(?<!a)\s+x", "search", id="a look-behind for another character"),
        pytest.param(rb"<[^>]*>", "search", id="bytes"),
    ],
)
def test_a_pattern_that_takes_more_than_linear_time_is_found(pattern: str, method: str) -> None:
    found = growth(re.compile(pattern), method)
    assert found is not None
    assert found.unit


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        pytest.param(r"a*b*c", "match", id="two runs that do not overlap"),
        pytest.param(r"\s*+\s*x", "match", id="a possessive run"),
        pytest.param(r"a*a*", "match", id="runs after which nothing can fail"),
        pytest.param(r"(?s)a:.*, b:.*", "fullmatch", id="a run of all characters at the end"),
        pytest.param(r"(?:/[^/]*)*x", "fullmatch", id="a run of runs with a separator"),
        pytest.param(r"[a-z]{1,63}[a-z]{1,63}", "fullmatch", id="short runs"),
        pytest.param(r"\s+", "sub", id="a search for a run alone"),
        pytest.param(r"(?:%[0-9A-F]{2})+", "finditer", id="a search for a run of words"),
        pytest.param(r"(?<!\s)\s*+x", "search", id="a look-behind before a run"),
        pytest.param(r"(?:(?<!,)|(?<=&#[0-9]{2},)),+x", "search", id="two look-behinds"),
        pytest.param(r"\b\w+x", "search", id="a boundary before a run"),
        pytest.param(r"\A\s*x", "search", id="a search at the beginning"),
        pytest.param(r"\[[^\[\]]*\]", "sub", id="brackets without brackets"),
        pytest.param(r'(?:[^,"]++|"(?:[^"\\]++|\\.)*+"?)++', "finditer", id="a list of quoted texts"),
        pytest.param(r"(.)\1*", "sub", id="a group that is repeated"),
    ],
)
def test_a_pattern_that_takes_linear_time_is_accepted(pattern: str, method: str) -> None:
    assert growth(re.compile(pattern), method) is None


def test_each_pattern_and_its_door_are_known() -> None:
    assert patterns.unknown() == [], "add these expressions to LOCAL of tests/patterns.py"
    uses = patterns.uses()
    assert [use.module for use in uses if patterns.door(use.module) is None] == [], "add the modules to DOORS"
    assert set(patterns.LOCAL) - {(use.module, use.name) for use in uses} == set()
    assert [each for each in patterns.DOORS if not any(use.module.startswith(each) for use in uses)] == []


def test_no_pattern_takes_more_than_linear_time() -> None:
    """Two adjacent runs that overlap, and a search that begins with a run, try each place of a long text."""
    slow = [
        f"{use.module}: {use.name}.{use.method}, with {found.before!r} and {found.unit!r} many times"
        for use in patterns.uses()
        # The lines of a front server of this machine are cut.
        if patterns.door(use.module) != "configuration" and (found := growth(use.pattern, use.method))
    ]
    assert slow == [], "make a run possessive (*+), or put a look-behind before it"
