"""The parts of an ARK, its containers, its normalization and its problems (ARK draft, sections 3 and 6)."""

from __future__ import annotations

import pytest
from hypothesis import given

from ararat.identifiers import Ark, equivalent, parse
from ararat.identifiers.ark import parser as ark
from ararat.identifiers.ark.normalization import RULES, Parts, normal

from .strategies import arks, cut


@pytest.mark.vectors("ark-hierarchy")
def test_the_hierarchy_ends_with_the_ark_itself(vector):
    assert list(ark.parse(vector.input).hierarchy) == vector.expect["chain"]


@pytest.mark.vectors("inflection")
def test_the_inflection_is_read_from_the_normal_form(vector):
    found = ark.parse(vector.input)
    assert (found.inflection, found.service) == (vector.expect["inflection"], vector.expect["service"])


@pytest.mark.vectors("bidi-char")
def test_a_raw_bidi_character_causes_a_warning_or_an_error(vector):
    found = ark.parse(f"ark:12345/a{vector.input}b")
    codes = {problem.code for problem in found.problems}
    assert ("bidi-formatting" in codes) is vector.expect["forbidden_by_rfc3987"]
    assert found.strict is not vector.expect["forbidden_by_rfc3987"]
    assert ("hidden-char" in codes) is vector.expect.get("warn", False)
    assert found.normal_form.isascii()


@given(arks())
def test_all_ways_to_the_normal_form_agree(found):
    assert "".join(normal(found.written.parts)) == found.normal_form


# ARK-082
@given(arks(), arks(), arks())
def test_theorem_1_equivalence_is_an_equivalence_relation(a, b, c):
    assert a == ark.parse(a.text)
    assert (a == b) == (b == a) == equivalent(a.text, b.text)
    assert not (a == b and b == c) or a == c
    assert a != b or hash(a) == hash(b)


@given(arks())
def test_replaying_the_steps_gives_the_normal_form(found):
    rules = {rule.name: rule for rule in RULES}
    text = found.text
    parts = Parts(found.label, *cut(found.text[len(found.label) :]))
    for step in found.steps:
        assert step.before == text
        parts = rules[step.rule].apply(parts)
        text = step.after
        assert "".join(parts) == text
        assert step.before != step.after
    assert text == found.normal_form


@given(arks())
def test_members_of_a_hierarchy_are_in_normal_form(found):
    assert found.hierarchy[-1] == found.basic
    for member in found.hierarchy:
        assert ark.parse(member).normal_form == member
    assert len(found.hierarchy) == 1 + len(found.components) + bool(found.variants)


@given(arks())
def test_the_segments_cover_the_text_in_order(found):
    end = 0
    for segment in found.segments:
        assert segment.start == end
        end = segment.end
    assert end == len(found.text)
    assert [found.text[s.start + 1 : s.end] for s in found.segments if s.part == "variant"] == list(found.variants)


def test_a_head_of_hyphens_keeps_its_first_variant_in_the_name():
    # without hyphens, the head is not empty.
    found = parse("ark:12345/-.d.e")
    assert isinstance(found, Ark)
    assert (found.name, found.variants) == ("-.d", ("e",))
