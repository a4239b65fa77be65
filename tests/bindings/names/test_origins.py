from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.errors import PrefixError
from ararat.bindings.names.origins import check_prefix, join
from ararat.identifiers.text import characters


@pytest.mark.vectors("resolver-prefix")
def test_prefixes_follow_the_grammar_of_the_draft(vector) -> None:
    if vector.expect["valid"]:
        assert check_prefix(vector.input) == vector.expect["stored"]
    else:
        with pytest.raises(PrefixError):
            check_prefix(vector.input)


@pytest.mark.parametrize(
    ("prefix", "stored"),
    [
        pytest.param("https://N2T.net:443", "https://n2t.net", id="host in lower case, own port dropped"),
        pytest.param("http://x.example:8080/", "http://x.example:8080", id="another port stays"),
        pytest.param("https://x.example/a//", "https://x.example/a/", id="exactly one slash is stripped"),
        pytest.param("https://x.example/A%2fb", "https://x.example/A%2fb", id="the path stays as it is"),
        pytest.param("https://b\u00fccher.example", "https://xn--bcher-kva.example", id="A-labels"),
        pytest.param("http://x.example:1", "http://x.example:1", id="the lowest port"),
        pytest.param("http://x.example:65535", "http://x.example:65535", id="the highest port"),
        pytest.param("http://[::1]:8000", "http://[::1]:8000", id="an IPv6 address"),
        pytest.param("http://127.0.0.1:5000/app", "http://127.0.0.1:5000/app", id="a server on this machine"),
    ],
)
def test_a_prefix_has_one_stored_form(prefix: str, stored: str) -> None:
    assert check_prefix(prefix) == stored


@pytest.mark.parametrize(
    ("prefix", "code"),
    [
        pytest.param("ftp://x.example", "prefix-scheme", id="another scheme"),
        pytest.param("https:x.example", "prefix-scheme", id="no slashes"),
        pytest.param("x.example", "prefix-scheme", id="no scheme"),
        pytest.param("", "prefix-scheme", id="nothing"),
        pytest.param(" https://x.example", "prefix-scheme", id="a space"),
        pytest.param("http\u017f://x.example", "prefix-scheme", id="a long s"),
        pytest.param("https://user@x.example", "prefix-userinfo", id="a user"),
        pytest.param("https:///a", "prefix-host", id="no host"),
        pytest.param("https://x.example:port", "prefix-host", id="a word as port"),
        pytest.param("https://x.example:0", "prefix-host", id="port 0"),
        pytest.param("https://x.example:65536", "prefix-host", id="port 65536"),
        pytest.param("https://x.example\n", "prefix-host", id="a line feed"),
        pytest.param("https://x.example/a\n", "prefix-path", id="a line feed in the path"),
        pytest.param("https://x.example?", "prefix-path", id="an empty query"),
        pytest.param("https://x.example/a#", "prefix-path", id="an empty fragment"),
        pytest.param("https://x.example/caf\u00e9", "prefix-path", id="a path outside ASCII"),
    ],
)
def test_an_invalid_prefix_is_refused_with_a_reason(prefix: str, code: str) -> None:
    with pytest.raises(PrefixError) as refused:
        check_prefix(prefix)
    assert refused.value.code == code


@pytest.mark.parametrize("prefix", ["https://x.example?", "https://x.example/a#", "https://x.example/a?b#c"])
def test_a_prefix_with_query_or_fragment_is_refused_with_that_reason(prefix: str) -> None:
    with pytest.raises(PrefixError, match="cannot have a query or a fragment"):
        check_prefix(prefix)


@given(st.text() | st.text().map("https://".__add__) | st.text().map("http://x.example/".__add__))
def test_the_stored_form_of_a_prefix_is_ascii_and_idempotent(prefix: str) -> None:
    refused = stored = ""
    try:
        stored = check_prefix(prefix)
    except PrefixError as error:
        refused = str(error)
    assert re.fullmatch(r"[\x20-\x7e]+", stored) if stored else refused
    assert not list(characters.hidden_runs(refused.replace("\n", " ")))
    assert not stored or check_prefix(stored) == stored.removesuffix("/")


def test_prefix_and_name_are_joined_by_one_slash() -> None:
    assert join(check_prefix("https://n2t.net/"), "ark:12345/x") == "https://n2t.net/ark:12345/x"
