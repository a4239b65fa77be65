"""URNs by both specifications (URN draft, sections 2 to 5; RFC 8141)."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError, Urn, equivalent, examine, parse
from ararat.identifiers.urn import model as urn

COLUMNS = {"draft": urn.DRAFT, "rfc8141": urn.RFC8141}
nids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9\-]{1,31}", fullmatch=True)
nsses = st.lists(st.sampled_from([*"aZ09-._~!$&'()*+,;=:@/", "%41", "%c3%A9", "%2f"]), min_size=1, max_size=8).map(
    "".join
)
tails = st.sampled_from(["", "?", "?meta", "?+r", "?=q", "?+r?=q", "#f", "?=a%2f#B%2f"])


@st.composite
def urns(draw: st.DrawFn) -> Urn:
    """Yield URNs that are valid in at least one specification."""
    while True:
        try:
            return urn.parse(
                f"{draw(st.sampled_from(['urn:', 'URN:', 'uRn:']))}{draw(nids)}:{draw(nsses)}{draw(tails)}"
            )
        except IdentifierError:
            continue


@pytest.mark.vectors("urn-parse")
def test_each_specification_has_its_own_verdict(vector):
    profiles: dict[str, dict[str, Any]] = {profile: {"valid": False} for profile in urn.PROFILES}
    with contextlib.suppress(IdentifierError):
        profiles = urn.parse(vector.input).profiles
    for column, expected in vector.expect.items():
        found = profiles[COLUMNS[column]]
        assert set(expected.get("problems", ())) <= set(found.get("problems", ()))
        parts = {part: value for part, value in expected.items() if part != "problems"}
        assert {part: found.get(part) for part in parts} == parts


@pytest.mark.vectors("urn-equivalent")
def test_urns_are_compared_by_the_draft_by_default(vector):
    a, b = map(urn.parse, vector.input)
    assert equivalent(*vector.input) is vector.expect["equivalent"]
    if "rfc8141" in vector.expect:
        assert urn.equivalent(a, b, urn.RFC8141) is vector.expect["rfc8141"]


@pytest.mark.vectors("urn-equivalence-classes")
def test_the_examples_of_the_draft_are_in_its_classes(vector):
    classes: dict[Urn, list[int]] = {}
    for index, text in enumerate(vector.input):
        classes.setdefault(urn.parse(text), []).append(index)
    assert list(classes.values()) == vector.expect["classes"]


@pytest.mark.vectors("urn-build")
def test_build_encodes_characters_that_are_not_allowed(vector):
    assert urn.build(vector.input["nid"], vector.input["raw_nss"]) == vector.expect["urn"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("urn:foo", "no-nid", id="one colon"),
        pytest.param("urn::x", "no-nid", id="empty NID"),
        pytest.param("urn:a:b", "nid-length", id="NID of one"),
        pytest.param("urn:" + "a" * 33 + ":b", "nid-length", id="NID of 33"),
        pytest.param("urn:-ab:b", "nid-char", id="NID begins with a hyphen"),
        pytest.param("urn:foo:", "empty-nss", id="empty NSS"),
        pytest.param("urn:foo:\u00e9", "non-ascii", id="not ASCII"),
        pytest.param("urn:foo:a\x00", "control-char", id="NUL"),
        pytest.param("urn:foo:a%2", "bad-percent", id="cut triplet"),
        pytest.param("urn:foo:a[1]", "nss-char", id="bracket"),
        pytest.param("urn:foo:a?b[", "bad-query", id="bracket in the query"),
        pytest.param("urn:foo:a#b#c", "bad-fragment", id="second number sign"),
        pytest.param("urn:is\u00adbn:1", "non-ascii", id="soft hyphen in the NID"),
    ],
)
def test_a_text_that_is_valid_in_no_specification_is_refused(text, code):
    with pytest.raises(IdentifierError) as refused:
        parse(text)
    assert refused.value.problem.code == code
    report = examine(text)
    assert (report.form, report.valid, report.problems[0].code) == ("urn", False, code)


@pytest.mark.parametrize(
    ("text", "profile", "code"),
    [
        pytest.param("urn:urn:x", urn.DRAFT, "reserved-nid", id="reserved NID"),
        pytest.param("urn:example:a/b", urn.DRAFT, "nss-slash", id="slash"),
        pytest.param("urn:foo:a%00b", urn.DRAFT, "nul", id="encoded NUL"),
        pytest.param("urn:foo-:a", urn.RFC8141, "nid-final-hyphen", id="hyphen at the end"),
        pytest.param("urn:foo:a?meta", urn.RFC8141, "query-component", id="free query"),
        pytest.param("urn:foo:a?+?=q", urn.RFC8141, "query-component", id="empty r-component"),
        pytest.param("urn:foo:a?=/q", urn.RFC8141, "query-component", id="q-component begins with a slash"),
    ],
)
def test_a_text_that_is_valid_in_one_specification_is_accepted(text, profile, code):
    found = urn.parse(text)
    assert not found.profiles[profile]["valid"]
    assert code in found.profiles[profile]["problems"]
    with pytest.raises(IdentifierError) as refused:
        urn.parse(text, profile)
    assert refused.value.problem.code == code
    assert examine(text).conformance == ("liberal" if profile == urn.DRAFT else "strict")


def test_an_unknown_specification_raises_value_error():
    with pytest.raises(ValueError, match="urnbis-01, rfc8141"):
        urn.parse("urn:foo:a", "rfc2141")


@given(urns())
def test_the_normal_form_is_idempotent_and_decodes_nothing(found):
    again = urn.parse(found.normal_form)
    assert again.normal_form == found.normal_form
    assert again == found
    assert found.normal_form.isascii()
    assert len(found.normal_form) == len(found.text)
    assert found.steps == () or found.steps[-1].after == found.normal_form


@given(urns())
def test_the_segments_of_a_urn_cover_it(found):
    assert "".join(found.text[segment.start : segment.end] for segment in found.segments) == found.text


def test_the_segments_of_a_urn_have_the_names_of_its_parts():
    found = parse("urn:foo:a?b#c")
    assert [segment.part for segment in found.segments] == ["label", "nid", "separator", "nss", "query", "fragment"]


NOT_IN_THE_DRAFT = "urn:foo:a/b"
NOT_IN_RFC_8141 = "urn:foo-:ab"


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("urn:foo:a", True),
        (NOT_IN_THE_DRAFT, True),
        (NOT_IN_RFC_8141, True),
        ("urn:foo-:a/b", False),
        ("urn:foo-:a%00", False),
        ("urn:urn:a", True),
        ("urn:urn-:a", True),
        ("urn:foo:/a", False),
        ("urn:foo:%2Fa", True),
        ("urn:" + "a" * 32 + ":b", True),
        ("urn:" + "a" * 33 + ":b", False),
        ("urn:a:b", False),
        (f"{NOT_IN_THE_DRAFT}?b", False),
        (f"{NOT_IN_RFC_8141}?b", True),
        *(
            (f"{NOT_IN_THE_DRAFT}?{query}#f", valid)
            for query, valid in {
                "": False,
                "=q": True,
                "=%41/?=": True,
                "=": False,
                "=/q": False,
                "=?q": False,
                "+r": True,
                "+r/?r": True,
                "+%41r%41": True,
                "+": False,
                "+/r": False,
                "+?r": False,
                "+r?=q": True,
                "+r?=": False,
                "+r?=?q": False,
                "+r?=q?=": True,
                "+?=q": False,
                "=q?+r": True,
                "-q": False,
            }.items()
        ),
    ],
)
def test_reads_accepts_what_one_of_the_specifications_accepts(text, valid):
    assert urn.reads(text) is valid
    if valid:
        parse(text)
    else:
        with pytest.raises(IdentifierError):
            parse(text)


@given(nids, st.text(min_size=1))
def test_a_built_urn_is_valid_in_the_draft_or_refused(nid, raw):
    try:
        built = urn.build(nid, raw)
    except IdentifierError:
        return
    assert urn.parse(built).profiles[urn.DRAFT]["assigned"]


@given(st.text())
def test_parse_raises_only_identifier_error(text):
    for given_text in (text, f"urn:{text}", f"urn:foo:{text}", f"urn:foo:a?{text}"):
        with contextlib.suppress(IdentifierError):
            urn.parse(given_text)
        for problem in examine(given_text).problems:
            assert 0 <= problem.start <= problem.end <= len(given_text)
