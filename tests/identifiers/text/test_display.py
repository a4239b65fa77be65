"""Hostile text is made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.ark import parser as ark
from ararat.identifiers.text import characters, display, iri


def hex_of(char):
    return f"{ord(char):02x}"


@pytest.mark.vectors("display")
def test_a_bidi_override_becomes_a_chip(vector):
    hidden = vector.expect["terminal_must_not_contain"]
    assert hidden not in display.escape(vector.input)
    assert hidden not in display.percent(vector.input)
    assert [atom.chip for atom in display.atoms(vector.input)] == [None, "U+202E RLO", None]
    assert ark.normalize(vector.input) == vector.expect["normal"]


@given(st.text(st.characters(exclude_categories=[])))
def test_escaped_and_percent_encoded_text_is_printable_ascii(text):
    for shown in (display.escape(text), display.percent(text)):
        assert shown.isascii()
        assert shown.isprintable()


@given(st.text(st.characters(exclude_categories=[])))
def test_atoms_contain_every_character_and_show_no_hidden_ones(text):
    atoms = display.atoms(text)
    assert "".join(atom.text for atom in atoms) == text
    for atom in atoms:
        assert (atom.chip is None) is not bool(characters.HIDDEN.search(atom.text))
        assert atom.count == (1 if atom.chip is None else len(atom.text))


octets = st.integers(0, 255).map("%{:02x}".format) | st.sampled_from([*"%a\u00e9", "%C3%A9", "%E2%80%AE", "%ED%A0%80"])


# URN-049
@given(st.text(st.characters(exclude_categories=[])), st.lists(octets).map("".join))
def test_decoded_text_can_be_encoded_again(text, encoded):
    for identifier in (display.percent(text), encoded):
        shown = display.decode_for_display(identifier)
        assert iri.upper_hex(display.percent(shown)) == iri.upper_hex(display.percent(identifier))
        assert not characters.HIDDEN.search(shown)


def test_a_run_of_one_hidden_character_is_one_chip():
    (chip,) = display.atoms("\u200b" * 1000)
    assert (chip.chip, chip.count) == ("U+200B ZWSP", 1000)
    assert len(display.atoms("\u200b" * 16)) == 16


def test_unusual_characters_are_listed_with_position_and_reason():
    (override, letter) = display.unusual("ark:12345/a\u202e\u00e9")
    assert (override.index, override.code_point, override.utf8, override.percent) == (
        11,
        "U+202E",
        "E2 80 AE",
        "%E2%80%AE",
    )
    assert "not allowed in an IRI" in override.why
    assert letter.name == "LATIN SMALL LETTER E WITH ACUTE"
    assert len(display.unusual("\u200b" * 1000)) == 200


@pytest.mark.parametrize(
    ("char", "reason"),
    [
        pytest.param("\x7f", "a control character; not allowed in an identifier", id="control"),
        pytest.param("\u2067", "can reorder the text around it", id="isolate"),
        pytest.param("\u200b", "is invisible but part of the name", id="format"),
        pytest.param("\u3164", "is invisible but part of the name", id="ignorable"),
        pytest.param("\u00a0", "looks like a space but is part of the name", id="space"),
        pytest.param("\uffff", "never assigned to a character; not allowed in an identifier", id="noncharacter"),
        pytest.param("\ue000", "a private-use character; allowed only in a query", id="private"),
        pytest.param("\ud800", "half of a surrogate pair; not valid in text", id="surrogate"),
        pytest.param("\u0378", "not assigned in Unicode", id="unassigned"),
        pytest.param("\u00e9", "is percent-encoded in the normal form", id="letter"),
    ],
)
def test_an_unusual_character_is_listed_with_the_reason_of_its_kind(char, reason):
    (listed,) = display.unusual(f"ark:12345/a{char}")
    assert listed.why == reason


@pytest.mark.parametrize(
    ("char", "name"),
    [
        (" ", "a space"),
        ("!", "'!'"),
        ("'", '"\'"'),
        ("~", "'~'"),
        ("\x7f", "U+007F DELETE"),
        ("\x1f", "U+001F INFORMATION SEPARATOR ONE"),
        ("\u00e9", "U+00E9 LATIN SMALL LETTER E WITH ACUTE"),
    ],
)
def test_messages_quote_printable_ascii_and_name_other_characters(char, name):
    assert display.describe_character(char) == name


@pytest.mark.parametrize(
    ("escaped", "restored"),
    [
        ("\\u{e9}\\u{674e}", "\u00e9\u674e"),
        ("\\u{5d0}", "\\u{5d0}"),
        ("\\u{627}", "\\u{627}"),
        ("\\u{301}", "\\u{301}"),
        ("\\u{7f}\\u{80}\\u{10ffff}", "\\u{7f}\\u{80}\\u{10ffff}"),
    ],
    ids=["letters", "Hebrew", "Arabic", "mark", "controls and unassigned"],
)
def test_only_characters_that_a_terminal_shows_in_place_are_restored(escaped, restored):
    assert display.restore(escaped) == restored


def test_percent_encoding_escapes_a_lone_surrogate():
    assert display.percent("a\ud800\u00e9") == "a\\u{d800}%C3%A9"


def test_backslashes_are_escaped_so_that_no_escape_can_be_forged():
    assert display.escape(r"\u{202e}") == r"\\u{202e}"


@pytest.mark.parametrize("char", [chr(code) for code in (*range(0x20), *range(0x7F, 0xA1), 0xFF)], ids=hex_of)
def test_characters_outside_printable_ascii_are_escaped_and_percent_encoded(char):
    assert display.escape(f"a{char}b") == f"a\\u{{{ord(char):x}}}b"
    assert display.percent(f"a{char}b") == "a" + "".join(f"%{octet:02X}" for octet in char.encode()) + "b"
    assert display.visible(f"a{char}b", ascii_only=True) == display.escape(f"a{char}b")


def test_printable_ascii_is_unchanged():
    printable = "".join(map(chr, range(0x20, 0x7F)))
    assert display.percent(printable) == display.visible(printable) == printable
    assert display.visible(printable, ascii_only=True) == printable
    assert display.escape(printable) == printable.replace("\\", "\\\\")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("M\u00fcller \u674e \u05d0", "M\u00fcller \u674e \u05d0", id="letters"),
        pytest.param("a\u202eb\x1b\x7f", "a\\u{202e}b\\u{1b}\\u{7f}", id="override and controls"),
        pytest.param("a\x1b\x1b", "a\\u{1b}\\u{1b}", id="controls in ASCII"),
        pytest.param("e" + "\u0301" * 4, "e" + "\u0301" * 4, id="as many marks as there may be"),
        pytest.param("e" + "\u0301" * 5, "e" + "\u0301" * 4 + "\\u{301}", id="one mark more"),
        pytest.param("\u0301e\u0301", "\\u{301}e\u0301", id="mark at the start"),
        pytest.param("\u00e9 \u0301", "\u00e9 \\u{301}", id="mark after a space"),
        pytest.param("\u200b\u0301", "\\u{200b}\\u{301}", id="mark after an escape"),
    ],
)
def test_visible_escapes_hidden_characters_and_keeps_letters(text, shown):
    assert display.visible(text) == shown
    assert display.visible(shown) == shown


@given(st.text(st.characters(exclude_categories=[])))
def test_visible_text_contains_no_hidden_characters(text):
    assert not characters.HIDDEN.search(display.visible(text))
    assert display.visible(text, ascii_only=True).isascii()


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("\u00e9", 1), ("\u674e", 2), ("\uff21", 2), ("\uff71", 1), ("e\u0301", 1), ("a\u20dd", 1)],
)
def test_columns_agree_with_terminals(text, columns):
    assert display.columns(text) == columns


def test_exactly_the_hidden_ascii_characters_are_escaped():
    for char in map(chr, range(128)):
        assert (display.visible(char) != char) == characters.is_hidden(char), char
