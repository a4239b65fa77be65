"""Parsing and normal form of ARKs (ARK draft, sections 4 and 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import Ark, IdentifierError, equivalent, examine, parse
from ararat.identifiers.ark import normalization
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.ark.model import ArkParts
from ararat.identifiers.ark.normalization import normal

from .strategies import arks, candidates, cut


# ARK-004
@pytest.mark.vectors("ark-parse")
def test_texts_are_parsed_as_the_draft_and_the_decisions_require(vector):
    report = examine(vector.input)
    codes = [problem.code for problem in report.problems]
    parts = {**report.parts, "valid": report.valid, "form": report.form, "conformance": report.conformance}
    for field, expected in vector.expect.items():
        if field == "reason":
            assert codes[0] == expected
        elif field == "diagnostics":
            assert set(expected) <= set(codes)
        else:
            assert parts[field] == expected, field


@pytest.mark.vectors("ark-normalize")
def test_only_extended_arks_have_a_normal_form(vector):
    if code := vector.expect.get("error"):
        with pytest.raises(IdentifierError) as refused:
            ark.normalize(vector.input)
        assert refused.value.problem.code == code
    else:
        assert ark.normalize(vector.input) == vector.expect["normal"]


@pytest.mark.vectors("ark-equivalent")
def test_arks_are_equivalent_when_their_normal_forms_are_equal(vector):
    assert equivalent(*vector.input) is vector.expect["equivalent"]


@pytest.mark.parametrize(
    "char", [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))], ids=lambda char: f"U+{ord(char):04X}"
)
def test_control_characters_are_refused(char):
    for text in (f"ark:12345/a{char}b", f"ark:12{char}345/a", f"ark:12345/a?{char}", f"ark:12345/a#{char}"):
        with pytest.raises(IdentifierError) as refused:
            parse(text)
        assert refused.value.problem.code == "control-char"
        assert text[refused.value.problem.start : refused.value.problem.end] == char


# ARK-070
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ar\u212a:12345/x", id="kelvin sign"),
        pytest.param("\uff41\uff52\uff4b:12345/x", id="fullwidth"),
        pytest.param("\u0430rk:12345/x", id="cyrillic a"),
        pytest.param("\u0430\u0440\u043a:12345/437719", id="cyrillic"),
        pytest.param("ark\uff1a12345/x", id="fullwidth colon"),
        pytest.param("a\u200drk:12345/x", id="joiner inside"),
    ],
)
def test_a_lookalike_label_is_refused_and_the_ascii_label_suggested(text):
    report = examine(text)
    assert (report.form, report.valid) == ("none", False)
    assert report.problems[0].code == "transliterated-label"
    assert (report.suggestion or "").startswith("ark:12345/")


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [
        pytest.param("ark:12345/x%zz", "bad-percent", "%zz", id="bad triplet"),
        pytest.param("ark:12345/x%", "bad-percent", "%", id="cut triplet"),
        pytest.param("ark:123\u0664/x", "naan-char", "\u0664", id="arabic digit in the NAAN"),
        pytest.param("ark:/", "no-naan", "", id="nothing after the slash"),
        pytest.param("ark:///", "double-slash", "//", id="slashes alone"),
        pytest.param("ark:12345//", "empty-segment", "//", id="two slashes at the end"),
        pytest.param("ark:12345/a\ud800", "bad-char", "\ud800", id="lone surrogate"),
        pytest.param("ark:12345/x#a#b", "bad-fragment", "#", id="second number sign"),
        pytest.param("ark:12345/x\n", "control-char", "\n", id="line feed at the end"),
        pytest.param("ark:%2D/x", "empty-after-normalization", "%2D", id="NAAN of hyphens"),
    ],
)
def test_an_error_has_a_code_and_a_position(text, code, marked):
    with pytest.raises(IdentifierError) as refused:
        ark.parse(text)
    problem = refused.value.problem
    assert (problem.code, text[problem.start : problem.end]) == (code, marked)
    assert str(refused.value).replace("\n", "").isprintable()
    assert str(refused.value).isascii()


@given(arks())
def test_each_character_is_in_the_part_of_its_segment(found):
    parts = [segment.part for segment in found.segments for _ in range(segment.start, segment.end)]
    assert [found.written.part_at(place) for place in range(len(found.text))] == parts


@given(arks())
def test_normalization_is_idempotent_and_returns_ascii(found):
    assert ark.normalize(found.normal_form) == found.normal_form
    assert found.normal_form.isascii()
    assert found.normal_form.isprintable()


@given(candidates)
def test_theorem_2_a_basic_ark_has_a_basic_normal_form_and_vice_versa(text):
    try:
        found = ark.parse(text)
    except IdentifierError:
        return
    again = ark.parse(found.normal_form)
    assert (found.query is None, found.fragment is None) == (again.query is None, again.fragment is None)
    assert again.strict or not found.strict
    assert len(again.components) == len(found.components)


@given(arks(), st.data())
def test_an_inserted_hyphen_does_not_change_the_normal_form(found, data):
    place = data.draw(st.integers(len(found.label), _body_end(found)))
    if "%" in found.text[max(0, place - 2) : place]:
        return
    hyphen = data.draw(st.sampled_from(["-", "%2D", "%2d"]))
    changed = ark.parse(found.text[:place] + hyphen + found.text[place:])
    assert changed == found
    assert changed.hierarchy == found.hierarchy
    assert len(changed.variants) == len(found.variants)


@given(st.lists(st.text("az-.", min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_fast_path_for_plain_arks_agrees_with_the_rules(path):
    text = f"ARK:/12345/{'/'.join(path)}"
    found = normalization.plain(text)
    if found is not None:
        assert found == "".join(normal(ArkParts.of(text).parts))
        assert ark.parse(found).normal_form == found


@given(st.text())
def test_parse_raises_only_identifier_error(text):
    for read in (ark.parse, parse):
        for given_text in (text, f"ark:12345/{text}", f"ark:{text}", f"https://{text}/ark:12345/{text}"):
            try:
                read(given_text)
            except IdentifierError as error:
                told = str(error)
            else:
                continue
            assert told.isascii()
            assert told.count("\n") == 3


@pytest.mark.parametrize("size", [10_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        pytest.param("ark:12345/", ".a", "!", id="dots"),
        pytest.param("ark:12345/", "a/", "!", id="slashes"),
        pytest.param("ark:12345/", "%41", "%", id="triplets"),
        pytest.param("ark:12345/", "-" * 10, "", id="hyphens"),
        pytest.param("", "ark:" * 5, "", id="labels"),
        pytest.param("ark:12345/", "x/", "y", id="components"),
        pytest.param("http://[", ":::", "]/", id="colons"),
        pytest.param("ark:12345/", "a\u200b", "", id="invisible"),
        pytest.param("", "x" * 100, "", id="one letter"),
    ],
)
@pytest.mark.timeout(30)
def test_long_texts_are_parsed_in_linear_time(before, unit, after, size):
    text = before + unit * size + after
    report = examine(text)
    assert report.input is text
    assert len(report.hierarchy) <= 100


def _body_end(found: Ark) -> int:
    return len(found.label) + len(cut(found.text[len(found.label) :])[0])
