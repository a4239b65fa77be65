"""Texts outside the specification: their parts, holder and verdict (A-14)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ararat.identifiers import examine
from ararat.identifiers.ark.outside import outside


@pytest.mark.parametrize(
    ("text", "prefix", "read"),
    [
        pytest.param("ark:/61903/1:1:MW98-MNJ", "", "ark:/61903/1", id="colon"),
        pytest.param("https://e.org/ark:/61903/1:1", "https://e.org/", "ark:/61903/1", id="address"),
        pytest.param("ark:12-345/x!y", "", "ark:12-345/x", id="hyphen in the NAAN"),
        pytest.param("ark:12345/x/!", "", "ark:12345/x", id="after a slash"),
        pytest.param("ark:12345/!x", "", "", id="no Name"),
        pytest.param("ark:12345/x?a[0]", "", "ark:12345/x?a", id="query"),
        pytest.param("ark:12345/x/", "", "ark:12345/x", id="final slash"),
    ],
)
def test_parts_are_read_up_to_the_first_error(text, prefix, read):
    found = outside(text)
    assert found is not None
    assert (found.prefix, found.text, found.read) == (prefix, text[len(prefix) :], read)
    report = examine(text)
    assert (report.valid, report.conformance, report.normal_form) == (False, "outside", None)
    assert report.parts["naan"] == found.naan
    assert report.parts["name"] == (found.written.name if found.written else None)
    assert report.registry is not None
    assert report.registry["registry"] == "naan"


@pytest.mark.parametrize(
    "text",
    [
        *("", "ark:", "ark:12345", "ark:12345/", "ark:12345/x", "ark:B5072/x!", "ark:1234a/x:y", "urn:foo:a[b"),
        *("ark:12345/x y", "ark:12345/x\n", "https://e.org/?u=ark:12345/x:y", "https://e.org/park:12345/x:y"),
        *("ark:%2F12345%2Fx", "ark://12345/x", "foo ark:12345/x:y"),
    ],
)
def test_other_texts_are_not_outside_the_specification(text):
    assert outside(text) is None
    assert examine(text).conformance != "outside"


def test_the_address_at_the_resolver_has_the_text_as_given():
    known = examine("https://x.org/ark:/61903/1:1:MW98-MNJ?a#b").registry or {}
    assert known["resolver"]["address"] == "https://familysearch.org/ark:/61903/1:1:MW98-MNJ?a"
    known = examine("ark:/61903/1:\ud800").registry or {}
    assert known["resolver"]["address"] is None
    assert [each["code"] for each in known["resolver"]["problems"]] == ["surrogate"]


@example("ark:1/1")
@given(st.text(alphabet="ark:/12345x!é\u200b%2F?#\ud800.-"))
def test_any_text_has_a_report(rest):
    for text in (f"ark:12345/{rest}", f"https://e.org/ark:/12345/{rest}"):
        report = examine(text)
        # The parser can read an ARK that begins at a later segment of the address: …/ark:/12345/ark:1/1
        is_read = report.conformance == "strict"
        assert (report.conformance == "outside") is (not is_read and outside(text) is not None)
