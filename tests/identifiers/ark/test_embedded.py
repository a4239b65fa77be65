"""ARKs in URLs (ARK draft, section 4.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import EmbeddedArk, IdentifierError, examine, parse


@pytest.mark.vectors("embedded-split")
def test_a_url_is_split_at_the_last_label_of_its_path(vector):
    expected = (
        {part: vector.expect[part] for part in ("prefix", "ark", "boundary")} if vector.expect["embedded"] else None
    )
    assert examine(vector.input).embedding == expected


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        pytest.param("https://example.org/park:12345/x", "iri", "label-inside-word", id="end of a word"),
        pytest.param("https://ark:12345/x", "iri", "label-inside-word", id="host and port"),
        pytest.param("https://n2t.netark:12345/x", "iri", "label-inside-word", id="end of the host"),
        pytest.param("https://n2t.net/12345/437719", "none", "no-ark-label", id="no label"),
        pytest.param("https://example.org/?u=ark:12345/x", "none", "label-in-query", id="in the query"),
        pytest.param("https://example.org/ark%3A12345/x", "none", "encoded-label", id="encoded colon"),
        pytest.param("https://n2t.net/ark:12345", "none", "no-name", id="no Name"),
        pytest.param("https://n2t.net/ark:12345/x/", "none", "trailing-slash", id="slash at the end"),
        pytest.param("foo bar ark:12345/x", "none", "bad-prefix", id="no address"),
    ],
)
def test_a_url_without_an_embedded_ark_is_refused_with_a_reason(text, form, code):
    report = examine(text)
    assert (report.form, report.valid, report.problems[0].code) == (form, False, code)
    with pytest.raises(IdentifierError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        pytest.param("https://n2t.net/12345/437719", "https://n2t.net/ark:12345/437719", id="label put in"),
        pytest.param("https://n2t.net/ark:12345/x/", "https://n2t.net/ark:12345/x", id="slash removed"),
        pytest.param("https://example.org/ark%3A12345/x", "https://example.org/ark:12345/x", id="colon decoded"),
        pytest.param("https://example.org/?u=ark:12345/x&v=1", "ark:12345/x", id="taken out of the query"),
        pytest.param("ark://12345/x", "ark:/12345/x", id="one slash"),
        pytest.param("ark:12345/x//y", "ark:12345/x/y", id="empty segment"),
        pytest.param("ark:B5072/x", "ark:b5072/x", id="lower case"),
        pytest.param("ark:B5072/Xy/Z", "ark:b5072/Xy/Z", id="lower case in the NAAN alone"),
        pytest.param("\u0410\u0420\u041a: 12345/437719", "ark:12345/437719", id="transliterated"),
        pytest.param("12345/x54xz321", "ark:12345/x54xz321", id="label missing"),
        pytest.param("ark:12345/x\u20101\u200b", "ark:12345/x-1", id="typographic hyphen and invisible"),
        pytest.param("  ark:12345/x\n", "ark:12345/x", id="white space"),
        pytest.param("ark:12345", None, id="nothing to offer"),
    ],
)
def test_a_corrected_ark_is_suggested(text, suggestion):
    assert examine(text).suggestion == suggestion


def test_a_label_after_punctuation_in_its_segment_is_embedded_with_a_warning():
    report = examine("http://hdl.handle.net/2027/uc2.ark:/13960/t5q81d82b")
    assert (report.form, report.conformance, report.normal_form) == ("embedded", "liberal", "ark:13960/t5q81d82b")
    assert "label-inside-segment" in {problem.code for problem in report.problems}


def test_a_bidi_character_in_the_prefix_is_an_error():
    report = examine("https://example.org/a\u202eb/ark:12345/x")
    assert (report.form, report.conformance) == ("embedded", "liberal")
    assert report.problems[0].code == "bidi-formatting"


def test_comparison_of_urls_ignores_the_prefix():
    a, b = parse("https://n2t.net/ark:/12345/x-1"), parse("http://example.org/a/ark:12345/x1")
    assert isinstance(a, EmbeddedArk)
    assert a == b
    assert hash(a) == hash(b)


# ARK-062
@given(
    st.sampled_from(["https://n2t.net/", "http://a.example:80//b/", "urn:", "file:///srv/"]),
    st.sampled_from(["x", "x/y.pdf?info#f"]),
)
def test_prefix_and_ark_joined_give_the_url(prefix, rest):
    found = parse(f"{prefix}ark:/12345/{rest}")
    assert isinstance(found, EmbeddedArk)
    assert found.prefix + found.ark.text == found.text
    assert "".join(found.text[segment.start : segment.end] for segment in found.segments) == found.text
    for problem in found.problems:
        assert 0 <= problem.start <= problem.end <= len(found.text)


def test_a_scheme_of_one_letter_is_a_prefix():
    found = parse("x:ark:12345/y")
    assert isinstance(found, EmbeddedArk)
    assert (found.prefix, found.boundary) == ("x:", True)
