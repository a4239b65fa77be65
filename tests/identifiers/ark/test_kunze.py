"""The normal form of draft-kunze-ark, compared with that of the ARK draft."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import examine
from ararat.identifiers.ark import kunze

ROWS = [
    pytest.param("ark:12345/x54", "ark:12345/x54", [], id="both alike"),
    pytest.param("ARK:/12345/x-5-4?info", "ark:12345/x54", [], id="label, hyphens and query"),
    pytest.param("https://n2t.net/ark:/12345/x54", "ark:12345/x54", [], id="in an address"),
    pytest.param("ark:12345/%34", "ark:12345/%34", ["percent-decoding"], id="never decoded"),
    pytest.param("ark:12345/%d0", "ark:12345/%D0", [], id="triplets in upper case by both"),
    pytest.param("ark:12345/c37%2D0", "ark:12345/c37%2D0", ["percent-decoding"], id="encoded hyphen stays"),
    pytest.param("ark:12345/x.b.a", "ark:12345/x.b.a", ["variants"], id="variants not sorted"),
    pytest.param("ark:12345/x.v1/c2", "ark:12345/x.v1/c2", [], id="no suffix is moved"),
    pytest.param("ark:12345/a..b", "ark:12345/a.b", ["structure"], id="dots collapse"),
    pytest.param("ark:12345/a.", "ark:12345/a", ["structure"], id="dot at the end"),
    pytest.param("ark:12345/x/", "ark:12345/x", ["structure"], id="slash at the end, where we read no ARK"),
    pytest.param("ark:12345/x./", "ark:12345/x", ["structure"], id="dot and slash at the end"),
    pytest.param("https://n2t.net/ark:12345/x/", "ark:12345/x", ["structure"], id="address where we read no ARK"),
    pytest.param("ark:B5072/x", "ark:b5072/x", ["naan-case"], id="NAAN in lower case, where we read no ARK"),
    pytest.param("ark:12345/x//y", "ark:12345/x/y", ["structure"], id="slashes collapse, where we read no ARK"),
    pytest.param("ark://12345/x/./y", "ark:12345/x/y", ["structure"], id="slash at the start, dot between slashes"),
    pytest.param("ark:12345/x?a=b,c", "ark:12345/x", [], id="any query"),
    pytest.param("ark:12345/x=~*+@_$", "ark:12345/x=~*+@_$", [], id="all characters"),
]


@pytest.mark.vectors("draft-kunze-ark")
def test_the_report_has_the_form_of_draft_kunze(vector):
    beside = examine(vector.input).kunze
    assert beside is not None
    assert {**beside, "differs_by": [rule["rule"] for rule in beside["differs_by"]]} | {"reason": None} == {
        **vector.expect,
        "reason": None,
    }
    assert ("reason" in beside) is (beside["normal_form"] is None)


@pytest.mark.parametrize(("text", "normal_form", "rules"), ROWS)
def test_the_normal_form_of_draft_kunze_differs_by_the_listed_rules(text, normal_form, rules):
    assert kunze.normalize(text) == normal_form
    beside = examine(text).kunze
    assert beside is not None
    assert (beside["revision"], beside["normal_form"]) == (43, normal_form)
    assert [rule["rule"] for rule in beside["differs_by"]] == rules


def test_a_rule_is_reported_with_its_title_and_source():
    beside = examine("ark:12345/x/").kunze
    assert beside is not None
    assert beside["differs_by"] == [
        {
            "rule": "structure",
            "title": "Collapse slashes and dots",
            "reference": "draft-kunze-ark, revision 43, section 3.2, step 8",
        }
    ]


@pytest.mark.parametrize("text", ["", "foo", "urn:isbn:0451450523", "https://n2t.net/12345/x"])
def test_a_text_without_a_label_has_no_normal_form(text):
    with pytest.raises(ValueError, match="no label"):
        kunze.normalize(text)
    assert examine(text).kunze is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("ark:", "NAAN is missing", id="label alone"),
        pytest.param("ark:/?x", "NAAN is missing", id="query alone"),
        pytest.param("ark:12345", "Name is missing", id="no Name"),
        pytest.param("ark:12345/.", "Name is missing", id="no Name but a dot"),
        pytest.param("ark:ABCDE/x", "NAAN consists of", id="vowels in the NAAN"),
        pytest.param("ark:12345/4\u0431", "U\\+0431 .* not a visible ASCII character", id="not ASCII"),
        pytest.param("ark:12345/x 1", "space is not a visible", id="space"),
        pytest.param("ark:12345/x%zz", "percent sign", id="percent sign"),
        pytest.param("ark:/61903/1:1:MW98-MNJ", "':' is not one of", id="colon"),
        pytest.param("https://e.org/ark:12345/\u00e9", "U\\+00E9", id="in an address"),
    ],
)
def test_a_text_that_is_no_ark_there_has_no_normal_form_but_a_reason(text, reason):
    beside = examine(text).kunze
    assert beside is not None
    assert (beside["revision"], beside["normal_form"], beside["differs_by"]) == (43, None, [])
    assert re.search(reason, beside["reason"])
    with pytest.raises(ValueError, match=reason):
        kunze.normalize(text)


@given(st.lists(st.sampled_from([*"aB1-./?#ark", "%2d", "%7E"])).map("".join))
def test_normalization_is_idempotent(rest):
    text = f"ark:12345/x{rest}"
    with contextlib.suppress(ValueError):
        once = kunze.normalize(text)
        assert kunze.normalize(once) == once


@given(st.text())
def test_only_value_error_is_raised(text):
    for given_text in (text, f"ark:{text}"):
        with contextlib.suppress(ValueError):
            assert kunze.normalize(given_text).startswith("ark:")
