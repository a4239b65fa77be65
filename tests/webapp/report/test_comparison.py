"""The comparison of two identifiers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import equivalent
from ararat.webapp.report.comparison import compare
from ararat.webapp.report.inspection import verdicts


@pytest.mark.parametrize(
    ("a", "b", "part", "difference"),
    [
        pytest.param("ark:12345/x", "ark:12346/x", "NAAN", 8, id="another NAAN"),
        pytest.param("ark:/12345/x6-a", "ark:12345/x7a", "Name", 11, id="another Name, counted in the normal form"),
        pytest.param("ark:12345/x", "ark:12345/x.en", "variant", 11, id="a variant more"),
        pytest.param("ark:12345/x/a", "ark:12345/x/b", "component", 12, id="another component"),
        pytest.param("ark:12345/x?info", "ark:12345/x", "query", 11, id="an inflection more"),
        pytest.param("ark:12345/x#a", "ark:12345/x#b", "fragment", 12, id="another fragment"),
        pytest.param("ark:12345/x", "urn:foo:x", "scheme", 0, id="another scheme"),
        pytest.param("urn:foo:x", "urn:bar:x", "namespace identifier", 4, id="another namespace"),
        pytest.param("urn:foo:x", "urn:foo:X", "namespace-specific string", 8, id="another case, which counts there"),
    ],
)
def test_a_difference_has_a_part_and_a_position(a: str, b: str, part: str, difference: int) -> None:
    found, brief = compare(a, b), compare(a, b, brief=True)
    assert (found.verdict, found.part, found.difference) == ("different", part, difference)
    assert part in found.sentence
    assert (brief.verdict, brief.sentence, brief.part, brief.difference) == (
        "different",
        found.sentence,
        part,
        difference,
    )


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        pytest.param("ark:12345/x", "ark:12345/x", "texts are the same", id="one text"),
        pytest.param("ark:/12345/x-1", "ARK:12345/x1", "normal forms are equal", id="two spellings"),
        pytest.param("https://n2t.net/ark:/12345/x", "ark:12345/x", "only the ARK is compared", id="an address"),
    ],
)
def test_equivalent_identifiers_have_a_reason(a: str, b: str, words: str) -> None:
    found = compare(a, b)
    assert found.verdict == "equivalent"
    assert words in found.sentence


def test_an_invalid_text_is_not_compared_and_named() -> None:
    assert "second" in compare("ark:12345/x", "foo").sentence
    assert "Neither" in compare("foo", "foo").sentence
    assert compare("foo", "foo").verdict == "unreadable"


def test_composed_and_decomposed_characters_are_reported() -> None:
    assert "does not normalize Unicode" in compare("ark:12345/\u00e9", "ark:12345/e\u0301").sentence


@pytest.mark.parametrize(
    ("a", "b", "only"),
    [
        pytest.param("ark:12345/Q7fin", "ark:/12345/q7-fin", True, id="an ARK"),
        pytest.param("ark:12345/q7/Bild.TIFF", "ark:12345/q7/bild.tiff", True, id="parts"),
        pytest.param("urn:example:Weather", "urn:example:weather", True, id="a URN"),
        pytest.param("ark:12345/Q7fin", "ark:12345/q7fix", False, id="also a letter"),
        pytest.param("ark:12345/Q7fin", "ark:12345/q7fin/p", False, id="also a part"),
    ],
)
def test_a_difference_in_case_only_is_stated(a: str, b: str, only: bool) -> None:
    found = compare(a, b)
    assert found.verdict == "different"
    assert ("They differ only in upper and lower case" in found.sentence) == only


def test_urns_that_are_equivalent_in_one_specification_are_reported() -> None:
    assert "RFC 8141" in compare("urn:foo:a?x", "urn:foo:a#y").sentence


NAMES = st.sampled_from(["ark:12345/", "urn:foo:", "https://n2t.net/ark:/12345/", ""])


@given(NAMES, st.text(max_size=8), NAMES, st.text(max_size=8))
def test_the_verdict_agrees_with_equivalent_and_the_sentence_is_ascii(first: str, a: str, second: str, b: str) -> None:
    found = compare(first + a, second + b)
    assert (found.verdict == "equivalent") == equivalent(first + a, second + b)
    assert found.sentence.isascii()
    json.dumps(found.as_dict(verdicts((found.a, found.b), None)))


@pytest.mark.parametrize(
    ("a", "b"),
    [("urn:nbn:de:x-1", "URN:NBN:DE:x-1"), ("urn:isbn:0451450523", "urn:isbn:0-451-45052-3")],
)
def test_the_rule_of_the_namespace_is_applied(a, b):
    found = compare(a, b)
    assert found.verdict == "equivalent"
    assert found.sentence.startswith("Equivalent by the rule of the namespace: ")


def test_the_rule_of_the_namespace_keeps_the_fragment():
    assert compare("urn:nbn:de:x-1#a", "URN:NBN:DE:x-1#b").verdict == "different"


@pytest.mark.parametrize(
    ("a", "b", "verdict", "kunze", "notes"),
    [
        pytest.param("ark:12345/a", "ark:/12345/a", "equivalent", True, [], id="no difference"),
        pytest.param(
            "ark:12345/a.",
            "ark:12345/a",
            "different",
            True,
            ["equivalent", "ark:12345/a they are equivalent"],
            id="dot",
        ),
        pytest.param(
            "ark:12345/a/",
            "ark:12345/a",
            "unreadable",
            True,
            ["equivalent", "ark:12345/a they are equivalent"],
            id="slash",
        ),
        pytest.param(
            "ark:B5072/x", "ark:b5072/x", "unreadable", True, ["equivalent", "ark:b5072/x they are"], id="NAAN"
        ),
        pytest.param("ark:12345/x", "ark:12345/x?info", "different", True, ["equivalent"], id="inflection"),
        pytest.param("ark:12345/a.fr.en", "ark:12345/a.en.fr", "equivalent", False, ["different"], id="variants"),
        pytest.param("ark:12345/\u00e9", "ark:12345/%C3%A9", "equivalent", None, ["first text is not"], id="not ASCII"),
        pytest.param("urn:foo:a", "urn:foo:a", "equivalent", None, [], id="URN"),
        pytest.param(
            "ark:12345/x!", "ark:12345/y", "unreadable", None, ["they are different"], id="suggestion differs"
        ),
    ],
)
def test_the_other_draft_and_the_suggested_spelling_are_stated(a, b, verdict, kunze, notes):
    for brief in (False, True):
        found = compare(a, b, brief=brief)
        assert (found.verdict, found.kunze) == (verdict, kunze)
        assert len(found.notes) == len(notes)
        assert all(words in note and note.isascii() for words, note in zip(notes, found.notes, strict=True))
        assert all("revision 43" in note for note in found.notes if "kunze" in note)
    found = compare(a, b)
    document = found.as_dict(verdicts((found.a, found.b), None))
    assert document["kunze"] == (None if kunze is None else {"revision": 43, "equivalent": kunze})
    assert document["notes"] == list(found.notes)
