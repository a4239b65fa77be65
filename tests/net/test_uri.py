from __future__ import annotations

import contextlib
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.text.iri import remove_dot_segments
from ararat.net.uri import BadReference, parse, resolve

BASE = parse("http://a/b/c/d;p?q")

# RFC 3986, section 5.4.1, and the rows of 5.4.2 on which strict parsers agree
EXAMPLES = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "http:g": "http:g",
}


@pytest.mark.parametrize(("text", "expected"), [pytest.param(*row, id=row[0] or "empty") for row in EXAMPLES.items()])
def test_the_examples_of_rfc_3986_are_resolved(text, expected):
    assert str(resolve(BASE, parse(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("?", "http://a/b/c/d;p?", id="bare-question-mark"),
        pytest.param("g?", "http://a/b/c/g?", id="bare-question-mark-after-path"),
        pytest.param("g??", "http://a/b/c/g??", id="two-question-marks"),
        pytest.param("#", "http://a/b/c/d;p?q#", id="bare-hash"),
        pytest.param("a%2E%2e/b", "http://a/b/c/a%2E%2e/b", id="encoded-dots"),
        pytest.param("%2e%2e/b", "http://a/b/c/%2e%2e/b", id="encoded-dot-segment"),
        pytest.param("a//b", "http://a/b/c/a//b", id="empty-segment"),
        pytest.param("https://X.example/a/../b/./c", "https://X.example/a/../b/./c", id="a-uri-is-left-alone"),
        pytest.param("//h/a/../b", "http://h/b", id="with-an-authority-dots-go"),
    ],
)
def test_only_dot_segments_are_removed(text, expected):
    assert str(resolve(BASE, parse(text))) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../a", "a"),
        ("./a", "a"),
        (".", ""),
        ("..", ""),
        ("", ""),
        ("mid/content=5/../6", "mid/6"),
        ("/a/b/c/./../../g", "/a/g"),
    ],
)
def test_dot_segments_are_removed_as_in_section_5_2_4(path, expected):
    assert remove_dot_segments(path) == expected


def test_a_base_without_a_path_gets_one():
    assert str(resolve(parse("https://n2t.net"), parse("x"))) == "https://n2t.net/x"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/a b", id="space"),
        pytest.param("/a\r\nSet-Cookie: x", id="crlf"),
        pytest.param("/a\n", id="final-newline"),
        pytest.param("/a\x00", id="nul"),
        pytest.param("/a\x1b[2J", id="escape"),
        pytest.param("/\u00e9", id="non-ascii"),
        pytest.param("/\ud800", id="lone-surrogate"),
        pytest.param("http:\\\\h\\", id="backslash"),
        pytest.param("<script>", id="angle-brackets"),
        pytest.param("/a|b", id="bar"),
        pytest.param('/a"b', id="quotation-mark"),
        pytest.param("/%", id="lone-percent"),
        pytest.param("/%4", id="half-triplet"),
        pytest.param("/%gg", id="no-triplet"),
        pytest.param("/a[1]", id="bracket-in-path"),
        pytest.param("/a?b[]=1", id="bracket-in-query"),
        pytest.param("/a#b#c", id="two-hashes"),
        pytest.param("1a:b", id="scheme-begins-with-digit"),
        pytest.param("http://[::1", id="open-bracket"),
        pytest.param("http://a]b/", id="bracket-in-host"),
        pytest.param("http://h:8x/", id="port-with-letter"),
        pytest.param("http://a@b@c/", id="two-at-signs"),
        pytest.param("java\tscript:alert(1)", id="tab-in-scheme"),
        pytest.param("h\u017ftp://example.com/", id="long-s-in-scheme"),
    ],
)
def test_an_invalid_reference_is_refused_with_an_ascii_text(text):
    with pytest.raises(BadReference) as refused:
        parse(text)
    assert str(refused.value).isascii()
    assert str(refused.value).isprintable()


URI_CHARS = st.text("ab:/?#[]@!$&'()*+,;=%-._~0", max_size=30)


@given(URI_CHARS)
def test_joined_parts_are_the_original_text(text):
    try:
        read = parse(text)
    except BadReference:
        return
    assert str(read) == text


@given(st.text(max_size=60))
def test_only_bad_reference_is_ever_raised(text):
    with contextlib.suppress(BadReference):
        parse(text)


@given(st.lists(st.sampled_from([".", "..", "a", "b;c"]), max_size=8))
def test_dot_segments_are_removed_as_by_the_standard_library(segments):
    # urljoin follows RFC 3986 here, except that it also removes empty segments.
    path = "/x/" + "/".join(segments)
    assert remove_dot_segments(path) == urljoin("http://h/", path).removeprefix("http://h")


@pytest.mark.parametrize(
    ("text", "host"),
    [
        pytest.param("https://user:pw@Example.ORG:8443/x", "example.org", id="name"),
        pytest.param("http://[2001:DB8::1]/", "[2001:db8::1]", id="ipv6"),
        pytest.param("mailto:x@example.org", "", id="none"),
    ],
)
def test_the_host_has_no_port_or_user(text, host):
    assert parse(text).host == host
