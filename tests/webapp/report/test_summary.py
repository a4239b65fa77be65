"""The summary of a report: the verdict, and statements that are never made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ararat.identifiers import Match, examine
from ararat.identifiers.text import characters
from ararat.webapp.report import inspection, summary


def finding(
    text: str, bound: Mapping[str, str] | None = None, *, unread: bool = False, policies: Sequence[str] = ()
) -> inspection.InspectedIdentifier:
    report = examine(text, policies=policies)
    return inspection.InspectedIdentifier(Match(0, len(text), text), report, inspection.keys(report), bound, unread)


@pytest.mark.parametrize(
    ("text", "sentence", "status"),
    [
        pytest.param("ark:12345/x", "Valid ARK, in normal form", "good", id="normal"),
        pytest.param("ark:/12345/x", "Valid ARK, not in normal form (1 change)", "good", id="one change"),
        pytest.param("ark:/12345/x-1.b.a", "Valid ARK, not in normal form (3 changes)", "good", id="three changes"),
        pytest.param("https://n2t.net/ark:12345/x", "Valid ARK in a URL, in normal form", "good", id="embedded"),
        pytest.param("ark:12345/x?info", "Valid ARK with a metadata request, in normal form", "good", id="inflected"),
        pytest.param("ark:12345/x?a=b", "Valid ARK with a query, in normal form", "good", id="query"),
        pytest.param("ark:99999/x", "Valid ARK, in normal form", "warn", id="a warning"),
        pytest.param("urn:isbn:0451450523", "Valid URN, in normal form", "good", id="urn"),
        pytest.param(
            "urn:example:a/b",
            "Valid URN in RFC 8141 but not in the 2011 draft, in normal form",
            "warn",
            id="RFC 8141 only",
        ),
        pytest.param(
            "urn:example:a?meta",
            "Valid URN in the 2011 draft but not in RFC 8141, in normal form",
            "warn",
            id="draft only",
        ),
        pytest.param("ark:12345", "Not a valid ARK: a NAAN alone is not an ARK", "bad", id="pseudo-ark"),
        pytest.param(
            "urn:foo",
            "Not a valid URN: there is no colon after the namespace identifier",
            "bad",
            id="no urn",
        ),
        pytest.param("foo", "Not an ARK or a URN: the text starts with neither ark: nor urn:", "bad", id="none"),
    ],
)
def test_the_verdict_comes_first_and_in_words(text, sentence, status):
    report = examine(text)
    assert summary.verdict(report) == sentence
    assert summary.status(report) == status


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("ark:12345/x", "The Name has no qualifier.", id="plain"),
        pytest.param("ark:12345/x/y.a.b", "The Name has one component and two variants.", id="qualified"),
        pytest.param("urn:ISBN:0451450523", "The namespace is isbn.", id="urn"),
        pytest.param("ark:12345", "", id="nothing to say"),
        pytest.param(
            "ark:12345/\u200bx",
            "The Name has no qualifier. The text contains one hidden character.",
            id="hidden",
        ),
    ],
)
def test_the_summary_adds_facts_to_the_verdict(text, words):
    assert summary.summary(examine(text)) == words


@pytest.mark.parametrize(
    ("text", "bound", "words"),
    [
        pytest.param(
            "ark:12345/x", {"ark:12345/x": "located"}, ["valid", "in normal form", "bound here"], id="all three"
        ),
        pytest.param("ark:/12345/x", {}, ["valid", "not in normal form", "not bound here"], id="valid only"),
        pytest.param(
            "ark:/12345/x", {"ark:12345/x": "related"}, ["valid", "not in normal form", "bound here"], id="not normal"
        ),
        pytest.param(
            "ark:12345/x", {"ark:12345/x": "withdrawn"}, ["valid", "in normal form", "withdrawn here"], id="withdrawn"
        ),
        pytest.param("ark:12345/x", None, ["valid", "in normal form", "binding not checked"], id="no bindings"),
        pytest.param("ark:12345", {}, ["not valid", "no normal form", "not bound here"], id="invalid"),
    ],
)
def test_validity_normal_form_and_binding_have_separate_chips(text, bound, words):
    assert [badge.word for badge in summary.badges(finding(text, bound))] == words


def test_an_unread_binding_is_not_reported_as_unbound():
    *_, badge = summary.badges(finding("ark:12345/x", unread=True))
    assert (badge.word, badge.status, badge.detail) == ("binding not checked", "warn", "the bindings cannot be read")


@pytest.mark.parametrize(
    ("text", "detail", "status"),
    [
        pytest.param("ark:12345/x", "strict syntax", "good", id="strict"),
        pytest.param("ark:12-345/x", "lenient syntax", "warn", id="liberal"),
        pytest.param("urn:foo:a", "both specifications", "good", id="both profiles"),
        pytest.param("urn:foo:a/b", "RFC 8141 only", "warn", id="RFC 8141"),
        pytest.param("urn:foo:a?b", "2011 draft only", "warn", id="draft"),
    ],
)
def test_the_first_badge_names_the_syntax(text, detail, status):
    valid, _, _ = summary.badges(finding(text, {}))
    assert (valid.detail, valid.status) == (detail, status)


@pytest.mark.naughty
def test_texts_are_ascii_and_promise_nothing(naughty):
    found = finding(naughty.input[:20_000], {})
    report = found.report
    words = " ".join([summary.verdict(report), summary.summary(report)])
    words += " ".join(f"{badge.word} {badge.detail}" for badge in summary.badges(found))
    assert words.isascii()
    assert not characters.HIDDEN.search(words)
    # ARK-007, and requirements, section 3, item 20
    assert not any(promise in words.lower() for promise in ("persistent", "valid resource", "does not exist"))


@pytest.mark.parametrize(
    ("text", "said", "status", "badge"),
    [
        pytest.param("https://17beta.top/en", ": can be allocated", "good", "allocatable", id="fine"),
        pytest.param("https://17beta.top/en/A", "allocated, but a phrase has", "warn", "allocatable", id="a warning"),
        pytest.param("https://17beta.top/en/", "must not be allocated: a", "bad", "not allocatable", id="an error"),
    ],
)
def test_an_iri_of_a_policy_has_the_verdict_of_the_policy(text, said, status, badge):
    found = finding(text, policies=["17beta"])
    report = found.report
    assert said in summary.verdict(report)
    assert summary.status(report) == status
    assert summary.badges(found)[0].word == badge
