"""The frozen table of hidden characters: from Unicode 17 or later, complete, and the same on every Python."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.text import characters
from ararat.identifiers.text.characters import BIDI_FORMATTING, classify, is_hidden, name, short_name

KINDS = {
    "control",
    "bidi",
    "format",
    "ignorable",
    "space",
    "object",
    "noncharacter",
    "private",
    "surrogate",
    "unassigned",
}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate_characters", Path(__file__).parents[1] / "generate_characters.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def everything() -> str:
    """All characters, in the order of their code points."""
    return "".join(map(chr, range(0x110000)))


@pytest.fixture(scope="module")
def kinds(everything) -> list[str | None]:
    """The kinds of all characters."""
    return [*map(classify, everything)]


@pytest.fixture(scope="module")
def hidden(everything, kinds) -> list[str]:
    """All hidden characters, in the order of their code points."""
    return [*itertools.compress(everything, kinds)]


@pytest.fixture(scope="module")
def committed() -> str:
    return Path(characters.__file__).parents[1].joinpath("data", "characters.json").read_text("ascii")


def test_the_generator_reproduces_the_committed_table(generator, committed):
    assert committed == generator.text(), "run tests/identifiers/generate_characters.py and look at what changed"


def test_the_table_has_unicode_17_or_later(committed):
    assert int(json.loads(committed)["unicode"].partition(".")[0]) >= 17


def test_the_formatting_characters_of_rfc_3987_are_complete():
    # "LRM, RLM, LRE, RLE, LRO, RLO, and PDF"
    assert {short_name(char) for char in BIDI_FORMATTING} == {"LRM", "RLM", "LRE", "RLE", "LRO", "RLO", "PDF"}


def test_every_hidden_character_has_one_kind(committed, hidden):
    members = [
        chr(code_point) for spans in json.loads(committed)["classes"].values() for code_point in _code_points(spans)
    ]
    assert sorted(members) == hidden
    assert all(map(is_hidden, hidden[::97]))


@pytest.mark.parametrize(
    ("char", "kind", "short", "full"),
    [
        pytest.param("\x00", "control", "NUL", "NULL", id="first control"),
        pytest.param("\x1b", "control", "ESC", "ESCAPE", id="escape"),
        pytest.param("\n", "control", "LF", "LINE FEED", id="line feed"),
        pytest.param("\x7f", "control", "DEL", "DELETE", id="delete"),
        pytest.param("\x85", "control", "NEL", "NEXT LINE", id="next line"),
        pytest.param("\x9b", "control", "CSI", "CONTROL SEQUENCE INTRODUCER", id="eight-bit terminal control"),
        pytest.param("\u202e", "bidi", "RLO", "RIGHT-TO-LEFT OVERRIDE", id="override"),
        pytest.param("\u2066", "bidi", "LRI", "LEFT-TO-RIGHT ISOLATE", id="isolate"),
        pytest.param("\u061c", "bidi", "ALM", "ARABIC LETTER MARK", id="Arabic mark"),
        pytest.param("\xad", "format", "SHY", "SOFT HYPHEN", id="soft hyphen"),
        pytest.param("\u200b", "format", "ZWSP", "ZERO WIDTH SPACE", id="zero width space"),
        pytest.param("\ufeff", "format", "ZWNBSP", "ZERO WIDTH NO-BREAK SPACE", id="byte order mark"),
        pytest.param("\u0600", "format", "", "ARABIC NUMBER SIGN", id="format, not ignorable"),
        pytest.param("\ufff9", "format", "", "INTERLINEAR ANNOTATION ANCHOR", id="annotation"),
        pytest.param("\U00013430", "format", "", "EGYPTIAN HIEROGLYPH VERTICAL JOINER", id="hieroglyph joiner"),
        pytest.param("\U000e0041", "format", "", "TAG LATIN CAPITAL LETTER A", id="tag"),
        pytest.param("\u034f", "ignorable", "CGJ", "COMBINING GRAPHEME JOINER", id="joiner that is a mark"),
        pytest.param("\u115f", "ignorable", "", "HANGUL CHOSEONG FILLER", id="filler that is a letter"),
        pytest.param("\u17b4", "ignorable", "", "KHMER VOWEL INHERENT AQ", id="inherent vowel"),
        pytest.param("\u3164", "ignorable", "", "HANGUL FILLER", id="filler"),
        pytest.param("\uffa0", "ignorable", "", "HALFWIDTH HANGUL FILLER", id="halfwidth filler"),
        pytest.param("\ufe0f", "ignorable", "VS16", "VARIATION SELECTOR-16", id="variation selector"),
        pytest.param("\U000e01ef", "ignorable", "VS256", "VARIATION SELECTOR-256", id="last variation selector"),
        pytest.param("\u2065", "ignorable", "", "<unassigned>", id="ignorable though unassigned"),
        pytest.param("\xa0", "space", "NBSP", "NO-BREAK SPACE", id="no-break space"),
        pytest.param("\u3000", "space", "", "IDEOGRAPHIC SPACE", id="ideographic space"),
        pytest.param("\u2028", "space", "", "LINE SEPARATOR", id="line separator"),
        pytest.param("\u2800", "space", "", "BRAILLE PATTERN BLANK", id="symbol that looks like a space"),
        pytest.param("\ufffc", "object", "", "OBJECT REPLACEMENT CHARACTER", id="object replacement"),
        pytest.param("\ufdd0", "noncharacter", "", "<noncharacter>", id="noncharacter"),
        pytest.param("\U0010ffff", "noncharacter", "", "<noncharacter>", id="last code point"),
        pytest.param("\ue000", "private", "", "<private use>", id="private use"),
        pytest.param("\ud800", "surrogate", "", "<surrogate>", id="surrogate"),
        pytest.param("\u0378", "unassigned", "", "<unassigned>", id="unassigned"),
        pytest.param(" ", None, "", "SPACE", id="space itself"),
        pytest.param("~", None, "", "TILDE", id="last printable of ASCII"),
        pytest.param("\u0431", None, "", "CYRILLIC SMALL LETTER BE", id="letter"),
        pytest.param("\u05d0", None, "", "HEBREW LETTER ALEF", id="right-to-left letter"),
        pytest.param("\u0301", None, "", "COMBINING ACUTE ACCENT", id="mark that is seen"),
        pytest.param("\U0001f600", None, "", "GRINNING FACE", id="emoji"),
    ],
)
def test_a_character_has_a_kind_and_names(char, kind, short, full):
    assert (classify(char), short_name(char), name(char)) == (kind, short, full)


def test_a_character_newer_than_python_is_not_unassigned():
    newcomer = "\u088f"  # ARABIC LETTER NOON WITH RING ABOVE, new in Unicode 17
    assert classify(newcomer) is None
    assert name(newcomer) in {"ARABIC LETTER NOON WITH RING ABOVE", "<unnamed>"}


@pytest.mark.vectors("bidi-char")
def test_the_characters_forbidden_by_rfc_3987_are_known(vector):
    assert (vector.input in BIDI_FORMATTING) == vector.expect["forbidden_by_rfc3987"]
    assert classify(vector.input) == "bidi"


def test_every_control_byte_is_a_control(kinds):
    assert [code_point for code_point, kind in enumerate(kinds) if kind == "control"] == [
        *range(0x20),
        *range(0x7F, 0xA0),
    ]


def test_hidden_matches_exactly_the_hidden_characters(everything, hidden):
    assert characters.HIDDEN.findall(everything) == hidden


@given(st.text(st.sampled_from("ab \u0431\U0001f600\u200b\u200c\u202e\x00\ud800\U0010ffff\U000e0041"), max_size=40))
def test_hidden_matches_runs_of_one_character(text):
    assert [run.span() for run in characters.hidden_in(text).finditer(text)] == [
        run.span() for run in characters.HIDDEN.finditer(text)
    ]
    runs = list(characters.HIDDEN.finditer(text))
    assert all(is_hidden(run[1]) and set(run[0]) == {run[1]} for run in runs)
    assert not any(map(is_hidden, characters.HIDDEN.sub("", text)))
    assert all(left.end() < right.start() or left[1] != right[1] for left, right in itertools.pairwise(runs))


@given(st.characters())
def test_every_character_has_a_name_in_printable_ascii(char):
    assert re.fullmatch(r"[A-Z0-9 ()-]+|<[a-z ]+>", name(char))
    assert re.fullmatch(r"[A-Z0-9]*", short_name(char))
    assert classify(char) in KINDS | {None}


@given(st.characters(exclude_categories=["Cn"]))
def test_a_character_known_to_python_is_not_unassigned(char):
    assert classify(char) != "unassigned", unicodedata.name(char, "")


def _code_points(spans: str) -> list[int]:
    bounds = [span.partition("-") for span in spans.split()]
    return [code_point for first, _, last in bounds for code_point in range(int(first, 16), int(last or first, 16) + 1)]


def test_the_hidden_characters_of_a_text_without_supplementary_characters_are_the_same():
    text = "".join(map(chr, range(0x10000)))
    runs, expected = (pattern.finditer(text) for pattern in (characters.hidden_in(text), characters.HIDDEN))
    assert characters.hidden_in(text) is not characters.HIDDEN
    assert [run.span() for run in runs] == [run.span() for run in expected]
