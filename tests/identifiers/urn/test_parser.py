"""Parsing of URNs by both specifications (URN draft, section 2; RFC 8141)."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import IdentifierError, examine, parse
from ararat.identifiers.urn import parser as urn
from ararat.identifiers.urn.grammar import DRAFT, PROFILES, RFC8141
from ararat.identifiers.urn.profiles import first_error

COLUMNS = {"draft": DRAFT, "rfc8141": RFC8141}


@pytest.mark.vectors("urn-parse")
def test_each_specification_has_its_own_verdict(vector):
    profiles: dict[str, dict[str, Any]] = {profile: {"valid": False} for profile in PROFILES}
    with contextlib.suppress(IdentifierError):
        profiles = urn.parse(vector.input).profiles
    for column, expected in vector.expect.items():
        found = profiles[COLUMNS[column]]
        assert set(expected.get("problems", ())) <= set(found.get("problems", ()))
        parts = {part: value for part, value in expected.items() if part != "problems"}
        assert {part: found.get(part) for part in parts} == parts


# URN-044
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
        pytest.param("urn:urn:x", DRAFT, "reserved-nid", id="reserved NID"),
        pytest.param("urn:example:a/b", DRAFT, "nss-slash", id="slash"),
        pytest.param("urn:foo:a%00b", DRAFT, "nul", id="encoded NUL"),
        pytest.param("urn:foo-:a", RFC8141, "nid-final-hyphen", id="hyphen at the end"),
        pytest.param("urn:foo:a?meta", RFC8141, "query-component", id="free query"),
        pytest.param("urn:foo:a?+?=q", RFC8141, "query-component", id="empty r-component"),
        pytest.param("urn:foo:a?=/q", RFC8141, "query-component", id="q-component begins with a slash"),
    ],
)
def test_a_text_that_is_valid_in_one_specification_is_accepted(text, profile, code):
    found = urn.parse(text)
    assert not found.profiles[profile]["valid"]
    assert code in found.profiles[profile]["problems"]
    with pytest.raises(IdentifierError) as refused:
        urn.parse(text, profile)
    assert refused.value.problem.code == code
    assert examine(text).conformance == ("liberal" if profile == DRAFT else "strict")


def test_an_unknown_specification_raises_value_error():
    with pytest.raises(ValueError, match="urnbis-01, rfc8141"):
        urn.parse("urn:foo:a", "rfc2141")


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


@given(st.text("au-%02F:/?+=#", max_size=14))
def test_the_expression_accepts_the_texts_without_an_error_in_a_profile(rest):
    text = f"urn:{rest}"
    accepted = [profile for profile in PROFILES if first_error(text, [profile]) is None]
    assert urn.reads(text) is bool(accepted)
    if accepted:
        found = urn.parse(text)
        assert [profile for profile, result in found.profiles.items() if result["valid"]] == accepted
        assert found.strict is (DRAFT in accepted)


@given(st.text())
def test_parse_raises_only_identifier_error(text):
    for given_text in (text, f"urn:{text}", f"urn:foo:{text}", f"urn:foo:a?{text}"):
        with contextlib.suppress(IdentifierError):
            urn.parse(given_text)
        for problem in examine(given_text).problems:
            assert 0 <= problem.start <= problem.end <= len(given_text)
