"""Parsing of any identifier."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError, equivalent, examine, find, normalize, parse
from ararat.identifiers.parsing import reads

PIECES = ["ark:", "ark%3A", "urn:", "ARK:", "12345", "/", "x", "-", "%2D", "%41", "%", ":", "foo", "a-", "?", "#", "."]
MORE = ["?+", "?=", "%00", " ", "\u00e9", "\u200b", "http://a/", "https://n2t.net/", "\u0430rk:", "\n", "@", "!", "b"]


def parses(text):
    try:
        parse(text)
    except IdentifierError:
        return False
    return True


@given(st.lists(st.sampled_from(PIECES + MORE), max_size=12).map("".join))
@example("ark:12345/-")
@example("ark:%41bc/x")
@example("urn:foo-:a/b")
@example("ark:ark:12345/x")
@example("urn:ark:12345/x")
@example("http://a/park:12345/x")
@example("http://a/\u0430rk:/ark:12345/x")
@example("\u0430rk:/ark:12345/x")
def test_reads_agrees_with_parse(text):
    assert reads(text) == parses(text)


def is_x(value):
    return equivalent(value, "ark:12345/x")


@pytest.mark.parametrize("read", [parse, normalize, examine, find, is_x])
@pytest.mark.parametrize(
    ("value", "kind"), [(b"ark:12345/x", "bytes"), (None, "NoneType"), (parse("ark:12345/x"), "Ark"), (12345, "int")]
)
def test_a_value_that_is_not_a_text_is_named(read, value, kind):
    with pytest.raises(TypeError, match=f"an identifier to read must be a str, and this is of the type {kind}"):
        read(value)


def test_an_error_has_the_code_and_the_message_of_its_problem():
    with pytest.raises(IdentifierError) as caught:
        parse("ark:12345")
    assert (caught.value.code, caught.value.message) == ("no-name", caught.value.problem.message)


def test_reads_agrees_with_parse_for_hostile_texts(every_naughty):
    for naughty in every_naughty:
        assert reads(naughty.input) == parses(naughty.input)


@pytest.mark.parametrize("text", ["", "ark:12345", "urn:foo", "hello", "https://example.org/"])
def test_an_invalid_text_is_equivalent_to_no_other(text):
    assert not equivalent(text, text)
    assert not equivalent(text, "ark:12345/x")
    assert not equivalent("ark:12345/x", text)


def test_arks_that_differ_in_the_fragment_are_not_equivalent():
    # N-07
    assert not equivalent("ark:12345/x#a", "ark:12345/x#b")
