"""Reports are available for every text, complete, and the same on every channel."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import PROBLEMS, equivalent, examine, find, normalize
from ararat.identifiers.report import MAX_HIERARCHY, MAX_HIERARCHY_LENGTH, Limits
from ararat.identifiers.text import characters, iri

FIELDS = [
    *(
        "input",
        "form",
        "valid",
        "conformance",
        "normal_form",
        "kunze",
        "parts",
        "segments",
        "inflection",
        "service",
        "steps",
    ),
    *(
        "hierarchy",
        "variant_of",
        "equivalents",
        "embedding",
        "profiles",
        "registry",
        "check_character",
        "policy",
        "problems",
        "suggestion",
    ),
]


@pytest.mark.parametrize(
    "text",
    [
        "ark:12-345/a.b/c.d/e.b.a.b#f",
        "https://א.example/x-ark:/12345/a.b/c.d/e.f/g?q",
        "ark:12345/x",
        "urn:example:a/b?+r#f",
        "ark:12345",
    ],
)
@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_a_limited_report_has_the_outer_segments_and_the_first_problems(text: str, most: int) -> None:
    whole, limited = examine(text), examine(text, limits=Limits(segments=most, problems=most))
    number, last = min(most, len(whole.segments)), min(most, len(whole.segments)) // 2
    assert limited.segments == whole.segments[: number - last] + whole.segments[len(whole.segments) - last :]
    assert limited.problems == whole.problems[:most]
    assert replace(limited, segments=whole.segments, problems=whole.problems) == whole


# ARK-004
@pytest.mark.parametrize(
    "text", ["", "ark", "ark:12345/x", "https://n2t.net/ark:/12345/x?info", "urn:isbn:0451450523", "\ud800\x00"]
)
def test_every_report_has_every_field(text):
    assert list(examine(text).as_dict()) == FIELDS


def test_the_given_spelling_is_the_first_equivalent():
    report = examine("ark:/12345/x6-np1", prefix="https://example.org/id/")
    assert report.equivalents == (
        "ark:/12345/x6-np1",
        "ark:/12345/x6np1",
        "ark:12345/x6np1",
        "https://n2t.net/ark:/12345/x6-np1",
        "https://example.org/id/ark:12345/x6np1",
    )


# ARK-033
@pytest.mark.parametrize("path", [".en.pdf", ".pdf.en", ".e-n", ".v1", ".%C3%A9", ".a.b.c"])
def test_variants_follow_the_name(path):
    for prefix in ("ark:12345/", "ark:/123-45/", "https://n2t.net/ark:12345/"):
        assert examine(f"{prefix}ax20315{path}").variant_of == "ark:12345/ax20315"


# URN-047
@given(
    st.text(), st.sampled_from(["", "ark:12345/", "ark:/12345/x.", "urn:foo:", "https://n2t.net/ark:12345/x?", "urn:"])
)
def test_examine_never_raises_and_its_json_is_ascii(text, start):
    report = examine(start + text)
    assert report.input == start + text
    line = json.dumps(report.as_dict(), ensure_ascii=True)
    assert json.loads(line)["input"] == start + text
    for problem in report.problems:
        assert problem.code in PROBLEMS
        assert 0 <= problem.start <= problem.end <= len(report.input)
    for spelling in (report.normal_form or "", *report.equivalents, *report.hierarchy):
        assert spelling.isascii()
        assert not characters.HIDDEN.search(spelling)


@given(st.text(), st.sampled_from(["ark:12345/", "https://n2t.net/ark:12345/x?", "ark:/12345/a.b."]))
def test_all_equivalents_are_equivalent(text, start):
    report = examine(start + text, prefix="https://example.org")
    for spelling in report.equivalents:
        assert equivalent(report.normal_form or "", spelling)


@pytest.mark.naughty
def test_hostile_identifiers_get_the_correct_verdict(naughty):
    report = examine(naughty.input)
    if naughty.verdict == "accept":
        assert report.valid
    if naughty.verdict == "reject" and naughty.id != "n0500":
        assert not report.valid
    if report.normal_form is not None:
        assert report.normal_form.isascii()
        assert normalize(report.normal_form) == report.normal_form
        # The hostile identifiers have hexadecimal digits in both cases.
        assert naughty.normal is None or report.normal_form == iri.upper_hex(naughty.normal)
    assert report.valid is (report.normal_form is not None)
    for problem in report.problems:
        assert problem.message.isascii()
        assert problem.message.isprintable()
    json.dumps(report.as_dict())
    assert all(match.literal == naughty.input[match.start : match.end] for match in find(naughty.input))


# URN-044
def test_an_encoded_nul_is_valid_in_rfc8141_but_not_in_the_draft():
    # n0500 of the hostile identifiers expects a refusal. By section 2.7 of the requirements it is valid in one
    # specification.
    report = examine("urn:example:a%00b")
    assert not report.profiles["urnbis-01"]["valid"]
    assert report.profiles["rfc8141"]["valid"]
    assert not examine("urn:example:a%00b", profile="urnbis-01").valid


def test_containers_of_a_very_long_ark_are_limited():
    assert len(examine("ark:12345/x" + "/y" * 200).hierarchy) == MAX_HIERARCHY
    long = examine("ark:12345/x" + "/y" * 400_000)
    assert long.hierarchy == (long.normal_form,)
    wide = examine("ark:12345/x" + "/y" * 10_000)
    assert 2 < len(wide.hierarchy) < 12
    assert sum(map(len, wide.hierarchy[:-1])) <= MAX_HIERARCHY_LENGTH
    assert wide.hierarchy[-1] == wide.normal_form


@pytest.mark.parametrize(("length", "members"), [(MAX_HIERARCHY_LENGTH, 2), (MAX_HIERARCHY_LENGTH + 1, 1)])
def test_a_container_of_the_maximum_length_is_reported(length, members):
    container = "ark:12345/".ljust(length, "x")
    assert len(examine(f"{container}/y").hierarchy) == members


def test_an_address_without_an_ark_becomes_an_iri_by_a_policy():
    report = examine("https://17beta.top/en/", policies=["17beta"])
    assert report.form == "iri"
    assert [found.severity for found in report.problems if found.code == "no-ark-label"] == ["note"]


def test_a_policy_does_not_change_the_form_of_an_ark():
    report = examine("https://17beta.top/ark:21206/10015", policies=["17beta"])
    assert report.policy is not None
    assert report.form == "embedded"


def test_the_parts_of_an_ark_are_reported_as_written():
    report = examine("https://n2t.net/ark:/12345/x-1/a/b.pdf.en?info#p")
    assert report.parts == {
        "prefix": "https://n2t.net/",
        "naan": "12345",
        "name": "x-1",
        "components": ["a", "b"],
        "variants": ["pdf", "en"],
        "query": "info",
        "fragment": "p",
    }
    assert report.hierarchy == ("ark:12345/x1", "ark:12345/x1/a", "ark:12345/x1/a/b", "ark:12345/x1/a/b.en.pdf")


def test_the_parts_of_a_urn_are_reported_as_written():
    assert examine("URN:ISBN:0451450523?+r#p").parts == {
        "nid": "ISBN",
        "nss": "0451450523",
        "query": "+r",
        "fragment": "p",
        "assigned_name": "urn:isbn:0451450523",
        "canonical": "urn:isbn:9780451450524?+r#p",
        "display": "urn:isbn:0-451-45052-3?+r#p",
    } | {"details": examine("urn:isbn:0451450523").parts["details"]}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("ark:12345/x", "basic"),
        ("ark:12345/x?", "extended"),
        ("ark:12345/x#", "extended"),
        ("https://n2t.net/ark:12345/x", "embedded"),
        ("ark:12345", "pseudo-ark"),
        ("urn:foo", "urn"),
        ("https://example.org/", "none"),
    ],
)
def test_the_form_of_a_text_is_reported(text, form):
    assert examine(text).form == form


@pytest.mark.parametrize(
    "text",
    [
        "ark:/12345/x-6/b.pdf.en?info",
        "ark:12345/\u05d0.\u202e.%d7%90",
        "https://n2t.net/ark:/99999/a//../b",
        "ark:12345/-",
        "urn:isbn:0-451-45052-3",
        "https://17beta.top/en/",
    ],
)
def test_a_brief_report_has_the_same_facts_and_fewer(text):
    whole, brief = (examine(text, policies=["17beta"], brief=each) for each in (False, True))
    omitted = ("conformance", "kunze", "parts", "segments", "variant_of", "equivalents")
    omitted += ("embedding", "registry", "check_character", "suggestion")
    if brief.valid and brief.form != "urn":
        whole = replace(whole, **{name: getattr(brief, name) for name in omitted})
        assert not any(getattr(brief, name) for name in omitted)
    assert brief == whole
