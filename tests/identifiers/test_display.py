"""Hostile text, made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import ark, characters, display, iri


@pytest.mark.vectors("display")
def test_a_bidi_override_is_shown_as_a_chip_and_never_raw(vector):
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
def test_atoms_keep_every_character_and_show_none_of_the_hidden(text):
    atoms = display.atoms(text)
    assert "".join(atom.text for atom in atoms) == text
    for atom in atoms:
        assert (atom.chip is None) is not bool(characters.HIDDEN.search(atom.text))
        assert atom.count == (1 if atom.chip is None else len(atom.text))


octets = st.integers(0, 255).map("%{:02x}".format) | st.sampled_from([*"%a\u00e9", "%C3%A9", "%E2%80%AE", "%ED%A0%80"])


@given(st.text(st.characters(exclude_categories=[])), st.lists(octets).map("".join))
def test_what_is_decoded_for_eyes_is_seen_and_gives_the_identifier_back_when_encoded(text, encoded):
    for identifier in (display.percent(text), encoded):
        shown = display.decoded(identifier)
        assert iri.upper_hex(display.percent(shown)) == iri.upper_hex(display.percent(identifier))
        assert not characters.HIDDEN.search(shown)


def test_a_long_run_of_one_hidden_character_is_one_chip():
    (chip,) = display.atoms("\u200b" * 1000)
    assert (chip.chip, chip.count) == ("U+200B ZWSP", 1000)
    assert len(display.atoms("\u200b" * 16)) == 16


def test_unusual_characters_are_listed_with_their_place_octets_and_why_they_matter():
    (override, letter) = display.unusual("ark:12345/a\u202e\u00e9")
    assert (override.index, override.code_point, override.utf8, override.percent) == (
        11,
        "U+202E",
        "E2 80 AE",
        "%E2%80%AE",
    )
    assert "must not stand in an IRI" in override.why
    assert letter.name == "LATIN SMALL LETTER E WITH ACUTE"
    assert len(display.unusual("\u200b" * 1000)) == 200


def test_a_backslash_is_escaped_so_that_no_escape_can_be_forged():
    assert display.escape(r"\u{202e}") == r"\\u{202e}"
