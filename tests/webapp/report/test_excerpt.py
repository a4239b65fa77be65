"""Lines: texts in order, within limits, with visible chips for hidden characters and marked gaps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from ararat.identifiers.text import characters, display
from ararat.webapp.report import excerpt

texts = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("ark:/12345.-%\u202e\u200b\u05d0\u0645")), max_size=60
)


def shown(line, *kinds):
    """Return the joined text of the runs of these kinds, by default of all runs."""
    return "".join(piece.text for run in line if not kinds or run.kind in kinds for piece in run.pieces)


def outline(line):
    return [(run.kind, "".join(piece.text for piece in run.pieces) or run.left_out) for run in line]


def test_a_short_text_is_complete():
    assert outline(excerpt.plain("ark:12345/x")) == [("same", "ark:12345/x")]


def test_the_middle_of_a_long_text_is_omitted_and_counted():
    text = "a" * 5_000 + "z" * 5_000
    line = excerpt.plain(text)
    assert [run.kind for run in line] == ["same", "gap", "same"]
    assert len(shown(line)) == excerpt.MAX_LENGTH
    assert len(shown(line)) + line[1].left_out == len(text)
    assert text.startswith(shown(line[:1]))
    assert text.endswith(shown(line[2:]))


@given(texts)
def test_hidden_characters_are_never_shown_raw(text):
    pieces = [piece for run in excerpt.plain(text) for piece in run.pieces]
    assert not any(characters.HIDDEN.search(piece.text) for piece in pieces if piece.chip is None)
    assert "".join(piece.text for piece in pieces) == text


def test_a_run_of_one_hidden_character_is_one_chip_with_a_count():
    [piece] = excerpt.plain("\u200b" * 40)[0].pieces
    assert (piece.chip, piece.count) == ("U+200B ZWSP", 40)


def test_right_to_left_text_is_isolated():
    html = excerpt.render_pieces(display.atoms("a\u05d0\u05b0\u05d1/\u0645.<b&\u0645>"))
    assert html == Markup(
        'a<bdi dir="ltr">\u05d0\u05b0\u05d1</bdi>/<bdi dir="ltr">\u0645</bdi>.&lt;b&amp;<bdi dir="ltr">\u0645</bdi>&gt;'
    )


def test_a_mark_has_the_position():
    assert outline(excerpt.mark_excerpt("ark:12345/x!y", 11, 12)) == [
        ("same", "ark:12345/x"),
        ("mark", "!"),
        ("same", "y"),
    ]


def test_a_position_between_two_characters_has_no_text():
    assert outline(excerpt.mark_excerpt("ark:12345", 9, 9)) == [("same", "ark:12345"), ("mark", 0)]


def test_a_mark_shows_only_its_surroundings():
    line = excerpt.mark_excerpt("a" * 100 + "!" + "b" * 100, 100, 101)
    assert [run.kind for run in line] == ["gap", "same", "mark", "same", "gap"]
    assert sum(run.left_out for run in line) + len(shown(line)) == 201


@given(texts, st.data())
def test_a_mark_never_changes_the_text(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    line = excerpt.mark_in_whole(text, start, end)
    assert shown(line) == text
    assert shown(line, "mark") == text[start:end]


@pytest.mark.parametrize(
    ("before", "after", "by", "expected"),
    [
        pytest.param(
            "ark:/12345/x",
            "ark:12345/x",
            excerpt.CHARACTERS,
            [("same", "ark:"), ("del", "/"), ("same", "12345/x")],
            id="a deletion",
        ),
        pytest.param(
            "a%c3%a9b",
            "a%C3%A9b",
            excerpt.CHARACTERS,
            [("same", "a"), ("del", "%c3%a9"), ("ins", "%C3%A9"), ("same", "b")],
            id="an octet changes whole",
        ),
        pytest.param(
            "x.pdf.en",
            "x.en.pdf",
            excerpt.VARIANTS,
            [("same", "x"), ("ins", ".en"), ("same", ".pdf"), ("del", ".en")],
            id="a variant moves whole",
        ),
        pytest.param("ARK:1", "ark:1", excerpt.CHARACTERS, [("del", "ARK"), ("ins", "ark"), ("same", ":1")], id="case"),
        pytest.param("same", "same", excerpt.CHARACTERS, [("same", "same")], id="nothing"),
    ],
)
def test_a_comparison_shows_deletions_and_insertions(before, after, by, expected):
    assert outline(excerpt.show_difference(before, after, by)) == expected


@given(texts, texts, st.sampled_from([excerpt.CHARACTERS, excerpt.VARIANTS]))
def test_a_complete_comparison_contains_both_texts(before, after, by):
    line = excerpt.show_difference(before, after, by)
    if not any(run.kind == "gap" for run in line):
        assert shown(line, "same", "del") == before
        assert shown(line, "same", "ins") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a-" * 100_000, "a" * 100_000, id="a change at every second character"),
        pytest.param("a" * 500_000, "b" * 500_000, id="everything changes"),
        pytest.param("x" * 1_000_000 + "-", "x" * 1_000_000, id="one change at the end"),
    ],
)
def test_a_comparison_of_long_texts_is_short(before, after):
    assert len(shown(excerpt.show_difference(before, after))) < 4 * excerpt.MAX_LENGTH


@given(st.text(alphabet="ab-%4", max_size=300), st.text(alphabet="ab-%4", max_size=300))
def test_omitted_text_of_a_comparison_is_marked(before, after):
    line = excerpt.show_difference(before, after)
    left_out = any(run.kind == "gap" and run.left_out > 0 for run in line)
    assert left_out or shown(line, "same", "del") == before
