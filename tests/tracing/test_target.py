from __future__ import annotations

import pytest

from ararat.identifiers import IdentifierError
from ararat.tracing.target import prepare


@pytest.mark.parametrize(
    ("identifier", "request_path"),
    [
        pytest.param("ark:12345/x", "ark:12345/x", id="as-given"),
        pytest.param("ARK:/12345/X-1", "ARK:/12345/X-1", id="label-and-hyphens-of-the-name-stay"),
        pytest.param("ark:/12-3-45/c37-0", "ark:/12345/c37-0", id="hyphens-of-the-naan-go"),
        pytest.param("ark:1%2D2345/x", "ark:1%2D2345/x", id="an-encoded-hyphen-stays"),
        pytest.param("ark:12345/x.b.a", "ark:12345/x.b.a", id="variants-stay-in-order"),
        pytest.param("ark:12345/a%2fb%41", "ark:12345/a%2fb%41", id="encoding-stays"),
        pytest.param("ark:12345/x?", "ark:12345/x?", id="bare-question-mark"),
        pytest.param("ark:12345/x??", "ark:12345/x??", id="two-question-marks"),
        pytest.param("ark:12345/x?%69nfo#f", "ark:12345/x?%69nfo", id="fragment-goes"),
        pytest.param("ark:12345/\u00e9\u202e?\u00fc", "ark:12345/%C3%A9%E2%80%AE?%C3%BC", id="non-ascii-is-encoded"),
        pytest.param("https://example.org/a/ark:/12-345/x?info", "ark:/12345/x?info", id="the-ark-in-an-address"),
        pytest.param("URN:ISBN:0451450523#p", "URN:ISBN:0451450523", id="urn"),
        pytest.param("urn:example:a/b?+r?=q", "urn:example:a/b?+r?=q", id="urn-with-components"),
    ],
)
def test_an_identifier_is_sent_as_written(identifier, request_path):
    assert prepare(identifier, normalize=False).request_path == request_path


@pytest.mark.parametrize(
    ("identifier", "request_path"),
    [
        pytest.param("ark:/61903/1:1:MW98-MNJ", "ark:/61903/1:1:MW98-MNJ", id="colons"),
        pytest.param("https://www.familysearch.org/ark:/61-903/1:1:M#p", "ark:/61903/1:1:M", id="in-an-address"),
        pytest.param("ark:/12148/x/f1.r=d'Arm,(1)!&a;b?q=1,2", "ark:/12148/x/f1.r=d'Arm,(1)!&a;b?q=1,2", id="others"),
        pytest.param("ark:12345/x/", "ark:12345/x/", id="final-slash"),
        pytest.param("ark:12345/\u00e9:1", "ark:12345/%C3%A9:1", id="non-ascii"),
    ],
)
def test_a_text_with_a_naan_that_breaks_the_grammar_is_sent_as_written(identifier, request_path):
    prepared = prepare(identifier, normalize=False)
    assert prepared.request_path == request_path
    assert [note.code for note in prepared.notes] == ["not-valid"]


def test_the_normal_form_is_sent_on_request():
    assert prepare("ark:/12-345/x-1.b.a?%69nfo#f", normalize=True).request_path == "ark:12345/x1.a.b?info"
    assert prepare("URN:ISBN:0451450523", normalize=True).request_path == "urn:isbn:0451450523"


@pytest.mark.parametrize(
    ("identifier", "codes"),
    [
        pytest.param("ark:12345/x", [], id="nothing"),
        pytest.param("ark:12345/x#", ["fragment-not-sent"], id="fragment"),
        pytest.param("ark:12-345/\u00e9#f", ["fragment-not-sent", "naan-hyphens", "percent-encoded"], id="all"),
    ],
)
def test_changes_have_notes(identifier, codes):
    assert [note.code for note in prepare(identifier, normalize=False).notes] == codes


@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("ark:12345/", "empty-name", id="no-ark"),
        pytest.param("ark:/99999/1:1", "naan-reserved-invalid", id="naan-99999-and-a-colon"),
        pytest.param("ark:12345/1:1/../x", "bad-char", id="dot-segment-and-a-colon"),
        pytest.param("ark:12345/a b", "bad-char", id="space"),
        pytest.param("ark:12345/a%2", "bad-percent", id="lone-percent-sign"),
        pytest.param("ark:99999/x", "naan-reserved-invalid", id="naan-99999"),
        pytest.param("ark:99-999/x", "naan-reserved-invalid", id="naan-99999-with-a-hyphen"),
        pytest.param("ark:%39%39999/x", "naan-reserved-invalid", id="naan-99999-encoded"),
        pytest.param("https://n2t.net/ark:99999/x", "naan-reserved-invalid", id="naan-99999-in-an-address"),
        pytest.param("ark:12345/x/%2E%2e/y", "dot-segment", id="encoded-dot-segment"),
        pytest.param("ark:12345/.-.", "dot-segment", id="dot-segment-in-normal-form"),
    ],
)
def test_an_identifier_that_must_not_be_resolved_is_refused(identifier, code):
    with pytest.raises(IdentifierError) as refused:
        prepare(identifier, normalize=False)
    assert refused.value.problem.code == code
