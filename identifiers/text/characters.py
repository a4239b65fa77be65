"""Hidden characters: which characters must never be shown raw, their kinds and their names.

The table is frozen, so that results do not depend on the Unicode version of Python. It contains the general categories
Cc, Cf, Cn, Co, Cs, Zl, Zp and Zs, the properties Bidi_Control, Default_Ignorable_Code_Point and
Noncharacter_Code_Point, and U+2800 and U+FFFC, without U+0020 SPACE. Source: the Unicode Character Database
(``tests/identifiers/generate_characters.py``); ARK draft, section 8.1.1 (ARK-143).
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# RFC 3987, section 4.1: "IRIs MUST NOT contain bidirectional formatting characters (LRM, RLM, LRE, RLE, LRO, RLO, and
# PDF)."
BIDI_FORMATTING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e")

HIDDEN: re.Pattern[str]
"""Matches a run of one repeated hidden character; group 1 is the character. The time is linear in the text.

>>> [match.span() for match in HIDDEN.finditer("a\\u200b\\u200b\\u200cb")]
[(1, 3), (3, 4)]
"""

_NAMELESS = {
    "surrogate": "<surrogate>",
    "private": "<private use>",
    "noncharacter": "<noncharacter>",
    "ignorable": "<unassigned>",
    "unassigned": "<unassigned>",
}


def classify(char: str) -> str | None:
    """Return the kind of a hidden character, or None for one that can be shown.

    The kinds do not overlap: "control" (Cc), "bidi" (Bidi_Control), "format" (the rest of Cf), "ignorable" (the rest of
    Default_Ignorable_Code_Point), "space" (Zs, Zl, Zp and U+2800, but not U+0020), "object" (U+FFFC), "noncharacter",
    "private" (Co), "surrogate" (Cs) and "unassigned" (the rest of Cn).

    >>> [classify(char) for char in "a \\x00\\u2067\\u200b\\u3164\\xa0"]
    [None, None, 'control', 'bidi', 'format', 'ignorable', 'space']
    >>> [classify(char) for char in "\\ufffc\\uffff\\ue000\\ud800\\u0378"]
    ['object', 'noncharacter', 'private', 'surrogate', 'unassigned']
    """
    if "\x20" <= char <= "\x7e":
        return None
    table = _table()
    code_point = ord(char)
    index = bisect_right(table.starts, code_point) - 1
    return table.kinds[index] if code_point <= table.ends[index] else None


def is_hidden(char: str) -> bool:
    """Return whether ``char`` must not be shown as it is, because it is invisible or changes the text around it."""
    return classify(char) is not None


def short_name(char: str) -> str:
    """Return Unicode's abbreviation for a hidden character, or "" (NameAliases.txt, type "abbreviation"; for controls
    without one, "figment").

    >>> [short_name(char) for char in "\\x1b\\u200b\\xa0\\ufe0f\\ufffc"]
    ['ESC', 'ZWSP', 'NBSP', 'VS16', '']
    """
    return _table().short.get(ord(char), "")


def name(char: str) -> str:
    """Return the Unicode name of a character, its alias for a control, or a label in angle brackets. The names of
    hidden characters do not depend on the version of Python. A visible one that is too new for Python is "<unnamed>".

    >>> [name(char) for char in "a\\x00\\xad\\ue000"]
    ['LATIN SMALL LETTER A', 'NULL', 'SOFT HYPHEN', '<private use>']
    """
    character_name = _table().names.get(ord(char))
    return character_name or _NAMELESS.get(classify(char) or "") or unicodedata.name(char, "<unnamed>")


def hidden_runs(text: str) -> Iterator[re.Match[str]]:
    """Find the runs of one repeated hidden character, as :data:`HIDDEN` does, which is not loaded for printable ASCII.

    >>> [match.span() for match in hidden_runs("a\\u200b\\u200b")], list(hidden_runs("a b"))
    ([(1, 3)], [])
    """
    return iter(()) if text.isascii() and text.isprintable() else hidden_in(text).finditer(text)


def hidden_in(text: str) -> re.Pattern[str]:
    """Return a pattern with the matches of :data:`HIDDEN` in ``text``. It is faster for characters up to U+FFFF."""
    return _hidden() if _BEYOND.search(text) else _basic_hidden()


@dataclass(frozen=True, slots=True)
class _Table:
    # Range i contains the code points from starts[i] to ends[i], all of kinds[i]. Ranges ascend and do not overlap.
    starts: Sequence[int]
    ends: Sequence[int]
    kinds: Sequence[str]
    names: dict[int, str]
    short: dict[int, str]


@functools.cache
def _table() -> _Table:
    from importlib import resources  # it loads tempfile and more, and most texts are printable ASCII

    data = json.loads(
        resources.files(__spec__.parent.rpartition(".")[0]).joinpath("data", "characters.json").read_text("ascii")
    )
    ranges = sorted((*_bounds(span), kind) for kind, spans in data["classes"].items() for span in spans.split())
    starts, ends, kinds = zip(*ranges, strict=True)
    names, short = ({int(code_point, 16): text for code_point, text in data[key].items()} for key in ("names", "short"))
    return _Table(starts, ends, kinds, names, short)


def _bounds(span: str) -> tuple[int, int]:
    first, _, last = span.partition("-")
    return int(first, 16), int(last or first, 16)


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


@functools.cache
def _hidden() -> re.Pattern[str]:
    basic, beyond = _ranges()
    return re.compile(f"({_class(basic)}|(?={_BEYOND.pattern}){_search(beyond)})\\1*")


@functools.cache
def _basic_hidden() -> re.Pattern[str]:
    return re.compile(f"({_class(_ranges()[0])})\\1*")


def _ranges() -> tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]:
    """Return the ranges of hidden characters in the Basic Multilingual Plane, and those above it."""
    table = _table()
    ranges = list(zip(table.starts, table.ends, strict=True))
    # No range crosses the end of the Basic Multilingual Plane, because U+FFFF and U+10000 differ in kind.
    basic = [span for span in ranges if span[1] <= 0xFFFF]
    return basic, ranges[len(basic) :]


def _search(ranges: Sequence[tuple[int, int]]) -> str:
    # In a character class, Python's re tests ranges beyond the Basic Multilingual Plane one after another. Bisect them
    # with lookaheads until few are left.
    if len(ranges) <= 16:
        return _class(ranges)
    half = len(ranges) // 2
    pivot = ranges[half][0]
    below = f"(?=[\U00010000-{chr(pivot - 1)}]){_search(ranges[:half])}"
    above = f"(?=[{chr(pivot)}-\U0010ffff]){_search(ranges[half:])}"
    return f"(?:{below}|{above})"


def _class(ranges: Sequence[tuple[int, int]]) -> str:
    return "[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges) + "]"


def __getattr__(attribute: str) -> re.Pattern[str]:
    # Compile HIDDEN on first use, so that importing the module reads no file.
    if attribute == "HIDDEN":
        return _hidden()
    raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
