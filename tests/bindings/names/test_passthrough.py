"""The part of an identifier below a bound name, and how it is appended to the target."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.passthrough import (
    append_path,
    append_received,
    can_append,
    inherit,
    suffix_below,
    with_received_query,
)
from ararat.identifiers.ark import parser as ark

RESTS = [
    pytest.param("ark:12345/x/a", "ark:12345/x", "/a", id="component"),
    pytest.param("ark:12345/x.a", "ark:12345/x", ".a", id="variant"),
    pytest.param("ark:12345/x/a/b.c", "ark:12345/x", "/a/b.c", id="several"),
    pytest.param("ark:12345/x/a/b.c", "ark:12345/x/a/b", ".c", id="variant of a component"),
    pytest.param("ark:12345/x.b.a/c", "ark:12345/x.a.b", "/c", id="container whose variants are in another order"),
    pytest.param("ark:12345/x.a.a/c", "ark:12345/x.a", "/c", id="container whose variants are fewer"),
    pytest.param("ark:12345/a..b", "ark:12345/a.", ".b", id="a dot that begins no variant"),
    pytest.param("ark:/12-345/x-1/a%2fb", "ark:12345/x1", "/a%2fb", id="as it is spelled"),
    pytest.param("ark:12345/x-/a//b/", "ark:12345/x", "/a//b/", id="a text that is not an ARK"),
    pytest.param("ARK:/12345/x-", "ark:12345/x", "", id="nothing"),
    pytest.param("ark:12345/x.b.a", "ark:12345/x.a.b", "", id="another spelling"),
]


@pytest.mark.parametrize(("core", "container", "rest"), RESTS)
def test_the_rest_begins_after_the_container(core, container, rest):
    assert suffix_below(core, container) == rest


@given(st.from_regex(r"[a-z1.\-]{1,4}(/[a-z1.\-]{1,4}){0,4}", fullmatch=True))
def test_the_rest_begins_at_a_boundary(name):
    try:
        found = ark.parse(f"ark:12345/{name}")
    except ValueError:
        return
    key, *containers = found.ancestry()
    for container in containers:
        rest = suffix_below(key, container)
        assert rest[0] in "/."
        assert key.endswith(rest)
        assert ark.parse(key[: -len(rest)]).basic == container


@pytest.mark.parametrize(
    ("target", "rest", "result"),
    [
        pytest.param("https://example.org/a", "/b/c", "https://example.org/a/b/c", id="path"),
        pytest.param("https://example.org/a", ".en", "https://example.org/a.en", id="variant"),
        pytest.param("https://example.org/a/", "/b", "https://example.org/a/b", id="folder"),
        pytest.param("https://example.org/", "/b", "https://example.org/b", id="root"),
        pytest.param("https://example.org/a?q=/x#f/y", "/b", "https://example.org/a/b?q=/x#f/y", id="query, fragment"),
        pytest.param("/a", "/b", "/a/b", id="path of this site"),
        pytest.param("/", "/b", "/b", id="root of this site"),
        pytest.param("https://example.org/a", "/b%2Fc%25", "https://example.org/a/b%2Fc%25", id="triplets stay"),
        pytest.param("https://example.org", ".evil.example", None, id="no path, and a host in the making"),
        pytest.param("https://example.org", "/b", None, id="no path"),
        pytest.param("https://example.org?q", "/b", None, id="no path but a query"),
        pytest.param("https://example.org#f", ".b", None, id="no path but a fragment"),
        pytest.param("https://example.org/", ".evil.example", None, id="variant of a folder"),
        pytest.param("/", "//evil.example", None, id="an authority in the making"),
        pytest.param("https://example.org/a", "/..", None, id="dot-segment"),
        pytest.param("https://example.org/a", "/b/%2e%2E/c", None, id="encoded dot-segment"),
        pytest.param("https://example.org/.", ".", None, id="dot-segment made of two parts"),
        pytest.param("", "/b", None, id="no target"),
    ],
)
def test_the_rest_is_appended_to_the_path_of_the_target(target, rest, result):
    assert append_path(target, rest) == result
    assert can_append(target) is (target.count("/") > 2 or target.startswith("/"))


@given(
    st.sampled_from(["https://example.org/a", "https://example.org:8443/?q#f", "http://[::1]/a/"]),
    st.text("/.%2Ee@:?#\\a", max_size=12).map("/".__add__),
)
def test_the_rest_cannot_change_the_authority(target, rest):
    result = append_path(target, rest)
    if result is not None:
        assert urlsplit(result)[:2] == urlsplit(target)[:2]


def test_metadata_of_a_container_do_not_apply_to_names_below(binding):
    container = binding(
        "ark:12345/x",
        "https://example.org/a",
        kind="related",
        passthrough=True,
        resource="a book",
        metadata={"persistence": "permanent"},
        alternates={"en": "/en"},
    )
    made = inherit(container, "ark:12345/x/1")
    assert made == binding("ark:12345/x/1", "https://example.org/a/1", kind="related")
    assert inherit(binding("ark:12345/x", "https://example.org/a"), "ark:12345/x/1") is None


@pytest.mark.parametrize(
    ("target", "rest", "query", "result"),
    [
        pytest.param("https://e.org/view?id=5", "/page2", None, "https://e.org/view?id=5/page2", id="query"),
        pytest.param("https://e.org/app#/item/5", "/sub", None, "https://e.org/app#/item/5/sub", id="fragment"),
        pytest.param("https://e.org/#q=", "/a b", "x=1", "https://e.org/#q=/a%20b?x=1", id="with a query"),
        pytest.param("https://e.org/view?id=5", "", "page=2", "https://e.org/view?id=5?page=2", id="only a query"),
        pytest.param(
            "https://e.org/view?id=", "/../x", None, "https://e.org/view?id=/../x", id="no path, no dot-segment"
        ),
        pytest.param("https://e.org/a", "/b", None, "https://e.org/a/b", id="path"),
        pytest.param("https://e.org?q", "/b", None, None, id="no path"),
    ],
)
def test_the_rest_as_received_is_appended_as_text_to_a_query_or_fragment(target, rest, query, result):
    extended = append_received(target, rest)
    assert (extended and (with_received_query(extended, query) or extended)) == result
