"""Policy profiles as files, and the errors of invalid ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers import iri_policy
from ararat.identifiers.iri_policy import Profile, ProfileError, evaluate

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


def test_the_built_in_profile_has_the_settings_of_the_document():
    profile = iri_policy.known("17beta")
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
        iri_policy.known("18beta")
