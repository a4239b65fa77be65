"""The time of each regular expression grows as the text, used as its caller uses it: :mod:`tests.patterns`.

The texts are made from the words of each run of the pattern, and of signs that people and programs repeat. The time of
a text is compared with that of its first half.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests import patterns
from tests.growth import growth
from tests.regular_expressions import Automaton

pytestmark = [pytest.mark.long, pytest.mark.timeout(24 * 3600)]

LONGEST = 20_000
"""The length of a text if its door permits a longer one: a pattern of quadratic time takes seconds."""

_UNITS = (
    *(" ", "\t", "\n", "\r\n", "\u00a0", "a", "A", "0", ".", "-", "/", ":", ";", ",", "|", "%", "%20", "%2F", "%25"),
    *("<", ">", '"', "'", "\\", '\\"', "=", "&", "?", "#", "(", "[", "{", "@", "+", "_", "*", "~", "$", "\u00e9"),
    *("a.", "a-", "a/", "a:", "a ", "a=", "a;", "a,", "a@", "&a=", ";a=", "&#1;", "&amp;", "<a>", "<a ", "${a}", "[$"),
    *("ark:", "ark:/", "ark:1/", "urn:", "urn:a:", "http://", "https://a/", "../", "/.", "1.", "E+", "next 1", "PT1H"),
)
_ENDS = ("", "\x00", "b\x00", "\ud800")
_SLOWEST = 0.05  # seconds of the processor


def _texts(pattern: re.Pattern[Any], method: str, length: int) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of a text and one that is twice as long."""
    words = list(Automaton(pattern, method).words())
    found = dict.fromkeys((*words, *(("", before + unit) for before, unit in words), *(("", unit) for unit in _UNITS)))
    for before, unit in found:
        for end in _ENDS:
            once, twice = (before + unit * max(1, number // len(unit)) + end for number in (length // 2, length))
            if isinstance(pattern.pattern, str):
                yield once, twice
            elif all(ord(char) < 256 for char in twice):
                yield once.encode("latin-1"), twice.encode("latin-1")


def _of_caller(pattern: re.Pattern[Any], method: str) -> Any:
    function = getattr(pattern, method)
    match method:
        case "sub" | "subn":
            return lambda text: function(lambda found: found[0], text)
        case "finditer":
            return lambda text: sum(1 for _ in function(text))
        case _:
            return function


# The lines of a configuration are cut; each search takes the same time at most.
USES = {
    (use.pattern.pattern, use.pattern.flags, use.method): use
    for use in patterns.uses()
    if patterns.door(use.module) != "configuration"
}


@pytest.mark.parametrize(
    "use", [pytest.param(use, id=f"{use.module}-{use.name}-{use.method}") for use in USES.values()]
)
def test_the_time_of_a_pattern_grows_as_its_text(use: patterns.Use) -> None:
    door = patterns.door(use.module)
    assert door is not None
    function = _of_caller(use.pattern, use.method)
    for once, twice in _texts(use.pattern, use.method, min(patterns.LIMITS[door], LONGEST)):
        assert (twice[:40], growth(function, once, twice, _SLOWEST)) == (twice[:40], None)
