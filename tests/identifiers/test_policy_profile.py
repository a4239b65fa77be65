"""Policy profiles as files, and the errors of invalid ones."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import iri_policy
from ararat.identifiers.iri_policy import FINDINGS, AllocationFacts, Profile, ProfileError, evaluate
from ararat.identifiers.iri_policy.profile import EXTENSIONS, PARAMETERS, TECHNOLOGY

OURS = """
name = "library"
hosts = ["library.example"]
schemes = ["https"]
naan = "99152"
resolvers = ["https://library.example", "https://n2t.net/"]
languages = ["en", "cy"]
namespaces = ["language", "opaque"]
reserved_schemes = ["ark"]
extensions = ["html"]
"""


# POL-021
def test_the_built_in_profile_has_the_settings_of_the_document():
    profile = iri_policy.built_in("17beta")
    assert profile.hosts == ("17beta.top", "male-to-female.org")
    assert (profile.naan, profile.resolvers) == ("21206", ("https://17beta.top", "https://n2t.net"))
    assert profile.namespaces == iri_policy.NAMESPACES


@pytest.mark.parametrize(
    ("iri", "codes"),
    [
        pytest.param("https://library.example/en/x", (), id="fine"),
        pytest.param("https://library.example/de/x", ("language-unlisted",), id="another language"),
        pytest.param("https://library.example/x-own", (), id="a private tag is of no language"),
        pytest.param("https://library.example/en/x.css", (), id="an extension that is allowed here"),
        pytest.param("ark:99152/whatever", ("not-opaque",), id="shoulders of any kind"),
        pytest.param("https://17beta.top/en/", (), id="the other policy's host"),
    ],
)
def test_a_site_can_write_a_profile(iri, codes):
    assert evaluate(iri, iri_policy.read(OURS)).codes == codes


def test_a_profile_without_a_naan_covers_no_arks():
    profile = Profile("plain", ("example.org",))
    assert evaluate("ark:21206/bcd", profile).in_scope is False
    assert iri_policy.namespaces("https://example.org/ark:/1/bcdf", profile) == ("miscellaneous",)


def test_json_and_toml_give_the_same_profile():
    profile = iri_policy.read(OURS)
    assert iri_policy.read(json.dumps(profile.as_dict())) == profile


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "name is missing", id="empty"),
        pytest.param("name", "the text is not TOML", id="no TOML"),
        pytest.param("{", "line 1, column 2: the text is not JSON", id="no JSON"),
        pytest.param('{"name": "x", "hosts": []}', "hosts: the list is empty", id="no host"),
        pytest.param('{"name": "x", "hosts": ["A.org"]}', 'hosts: "A.org" is not valid', id="upper case"),
        pytest.param('{"name": "x", "hosts": ["a|b"]}', 'hosts: "a|b" is not valid', id="an expression"),
        pytest.param('{"name": "x", "hosts": "a.org"}', "hosts: expected a list", id="no list"),
        pytest.param('{"name": "x", "hosts": ["a.org", "a.org"]}', "hosts: a value is repeated", id="twice"),
        pytest.param('{"name": "X", "hosts": ["a.org"]}', 'name: "X" is not valid', id="name"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "host": 1}', 'the key "host"', id="unknown key"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "naan": 21206}', 'naan: "21206" is not valid', id="a number"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "deepest": 0}', 'deepest: "0" is not valid', id="deepest"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "deepest": true}', 'deepest: "True" is not valid', id="truth"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "schemes": []}', "schemes: expected a list", id="no scheme"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "schemes": ["ftp"]}', "expected https or http", id="scheme"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "resolvers": ["n2t.net"]}', "resolvers:", id="resolver"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "namespaces": ["x"]}', "namespaces:", id="namespace"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "default_availability": "day"}', "is not in", id="default"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "title": "a\\nb"}', "title: expected one line", id="title"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "naans": ["x!"]}', 'naans: "x!"', id="NAANs"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "url": "ours"}', 'url: "ours"', id="url"),
        pytest.param('{"name": "x", "hosts": ["a.org"], "rules": ["off"]}', "rules: expected a table", id="no table"),
        pytest.param(
            '{"name": "x", "hosts": ["a.org"], "rules": {"deep": "off"}}', '"deep" is unknown', id="unknown rule"
        ),
        pytest.param(
            '{"name": "x", "hosts": ["a.org"], "rules": {"deep-path": "no"}}', 'rules.deep-path: "no"', id="severity"
        ),
        pytest.param(
            '{"name": "x", "hosts": ["a.org"], "rules": {"not-an-iri": "off"}}', "cannot be changed", id="fixed rule"
        ),
        pytest.param('{"name": "x", "hosts": ["a.org"], "temporary_paths": ["id"]}', "temporary_paths:", id="path"),
        pytest.param("[" * 5000, "the text is not TOML", id="nested"),
        pytest.param('{"a":' * 200, "the profile is nested too deeply", id="nested JSON"),
        pytest.param("#" * 70_000, "the maximum is 65,536 characters", id="long"),
    ],
)
def test_an_invalid_profile_is_refused_with_a_reason(text, said):
    with pytest.raises(ProfileError) as refused:
        iri_policy.read(text)
    assert said in str(refused.value)
    assert str(refused.value).isascii()


@given(st.text(max_size=80))
def test_every_text_is_a_profile_or_refused(text):
    with pytest.raises(ProfileError):
        iri_policy.read(text)


def test_an_unknown_profile_name_raises_value_error():
    with pytest.raises(ValueError, match='the policy profile "18beta"'):
        iri_policy.built_in("18beta")


@pytest.mark.parametrize("name", iri_policy.SHIPPED)
def test_each_ready_profile_can_be_written_and_read(name):
    profile = iri_policy.built_in(name)
    assert profile.name == name
    assert profile.title
    assert iri_policy.read(json.dumps(profile.as_dict())) == profile
    own = f"https://{profile.hosts[0]}"
    assert evaluate(f"{own}/ark:67890/x", profile).codes == ("naan-foreign",)
    assert "technology" in evaluate(f"{own}/cgi-bin/show.php?id=1", profile).codes


def test_the_sections_of_the_built_in_profile_are_those_of_the_catalogue():
    profile = iri_policy.built_in("17beta")
    assert {code: f"17beta policy, {section}" for code, section in profile.sections} == {
        code: known.reference for code, known in iri_policy.FINDINGS.items() if known.reference.startswith("17beta")
    }


@pytest.mark.parametrize(
    ("severity", "codes", "allocatable"),
    [
        pytest.param("off", (), True, id="off"),
        pytest.param("note", ("empty-segment",), True, id="note"),
        pytest.param("warning", ("empty-segment",), True, id="warning"),
        pytest.param("error", ("empty-segment",), False, id="error"),
    ],
)
def test_a_rule_has_the_severity_and_the_citation_of_the_profile(severity, codes, allocatable):
    ours = f"""
        name = "ours"
        title = "Addresses of the museum"
        url = "https://museum.example/policy"
        hosts = ["museum.example"]
        [sections]
        empty-segment = "rule 7"
        [rules]
        empty-segment = "{severity}"
    """
    verdict = evaluate("https://museum.example/en/", iri_policy.read(ours))
    assert (verdict.codes, verdict.allocatable) == (codes, allocatable)
    for found in verdict.findings:
        assert found.severity == severity
        assert found.reference == "Addresses of the museum, rule 7, https://museum.example/policy"
    # The syntax is that of a standard.
    [found] = evaluate("https://museum.example/a b", iri_policy.read(ours)).findings
    assert found.reference == "RFC 3987, section 2.2"


def test_a_message_expects_the_values_of_the_profile():
    own = Profile(
        "ours", ("a.org",), schemes=("http", "https"), availability=("indefinite",), default_availability=None
    )
    facts = AllocationFacts(persistent=True, availability="lifetime")
    found = (*evaluate("https://a.org/x", own).findings, *evaluate("http://a.org/x", own, facts).findings)
    expected = {each.code: each.expected for each in found}
    assert (expected["prefer-https"], expected["availability-statement"]) == ("http", "indefinite")


def test_the_guide_has_each_key_and_each_rule():
    docs = Path(__file__).parents[2] / "docs"
    guide = "".join((docs / name).read_text("utf-8") for name in ("url-policy.md", "url-policy-rules.md"))
    rows = [line.split(" | ") for line in guide.splitlines() if line.startswith("| `")]
    first = [row[0].strip("| `") for row in rows]
    keys = {field.name for field in fields(Profile)}
    assert keys <= set(first)
    assert set(iri_policy.SHIPPED) <= set(first)
    rules = [(row[0].strip("| `"), row[1], row[2].rstrip(" |")) for row in rows if row[1] in iri_policy.SEVERITIES]
    assert rules == [(code, known.severity, known.title) for code, known in FINDINGS.items()]
    for count, key in (
        (len(EXTENSIONS), "extensions"),
        (len(TECHNOLOGY), "technology"),
        (len(PARAMETERS), "parameters"),
    ):
        assert f"| {count} of them, such as " in next(
            line for line in guide.splitlines() if line.startswith(f"| `{key}` |")
        )
    [example] = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    assert evaluate("https://museum.example/a/", iri_policy.read(example)).codes == ()
