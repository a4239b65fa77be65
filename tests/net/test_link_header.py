from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.net.link_header import MAX_LINKS, describedby


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(['<?info>; rel="describedby"'], ["?info"], id="quoted"),
        pytest.param(["<?info>;rel=describedby"], ["?info"], id="token"),
        pytest.param(["<?info>; REL=DescribedBy"], ["?info"], id="any-case"),
        pytest.param(["< https://e.example/a,b;c > ; rel = describedby"], ["https://e.example/a,b;c"], id="spaces"),
        pytest.param(['<a>; rel="x describedby y"'], ["a"], id="one-of-several-relations"),
        pytest.param(['<a>; rel=next, <b>; rel="describedby", <c>; rel=describedby'], ["b", "c"], id="several-links"),
        pytest.param(["<a>; rel=next", "<b>; rel=describedby"], ["b"], id="several-fields"),
        pytest.param(['<a>; title="x, <no>; rel=describedby"; rel=describedby'], ["a"], id="comma-in-a-string"),
        pytest.param([r'<a>; title="\"; rel=x"; rel=describedby'], ["a"], id="quoted-pair"),
        pytest.param(["<a>; rel=next; rel=describedby"], [], id="only-the-first-rel-counts"),
        pytest.param(['<a>; rel=describedby; anchor="/other"'], [], id="about-something-else"),
        pytest.param(["<a>; rel=describedbyx"], [], id="another-relation"),
        pytest.param(["<a>; x; y=; rel=describedby"], ["a"], id="parameters-without-value"),
        pytest.param(["nonsense, <a>; rel=describedby"], ["a"], id="nonsense-before"),
        pytest.param(["<a; rel=describedby"], [], id="never-closed"),
        pytest.param(['<a>; rel="describedby'], ["a"], id="string-never-closed"),
        pytest.param(
            ['<a>; rel=describedby; type="text/html", <b>; rel=describedby; type="a/b"'], ["a"], id="page-first"
        ),
        pytest.param(["<b>; rel=describedby; type=a/b", "<a>; rel=describedby"], ["a"], id="page-last"),
        pytest.param(["<b>; rel=describedby; type=a/b, <c>; rel=describedby; type=c/d"], ["b", "c"], id="no-page"),
        pytest.param([""], [], id="empty"),
        pytest.param([], [], id="none"),
    ],
)
def test_describedby_links_are_found(fields, expected):
    assert describedby(fields) == expected


def test_the_number_of_links_is_limited():
    assert len(describedby(["<a>; rel=describedby, " * 5000])) == MAX_LINKS


@given(st.lists(st.text('<>;,="\\ \tabrel', max_size=80), max_size=3))
def test_every_field_gives_a_list(fields):
    assert all(isinstance(target, str) for target in describedby(fields))


@pytest.mark.parametrize("text", ['<a>; rel="' + "\\" * 60_000, "<" * 60_000, ";" * 60_000, "<a>" + "; x" * 20_000])
def test_parsing_is_linear(text):
    assert len(describedby([text])) <= MAX_LINKS


# Parsing a field of four times the length takes about four times the time, and not 16 times.
UNITS = [
    ",",
    " ,",
    ",\t",
    "<",
    "<,",
    "<a",
    "<a>",
    "<a>;",
    "<a>; ",
    "<a>;a=",
    '<a>;a="',
    '\\"',
    ";",
    " ",
    "a,",
    "=",
    ">,<",
]


@pytest.mark.parametrize("begin", ["", "<a>", '<a>;a="'], ids=["alone", "after a link", "in a string"])
@pytest.mark.parametrize("unit", UNITS)
def test_parsing_time_depends_only_on_the_length(unit, begin):
    def took(octets):
        field = begin + (unit * octets)[:octets]
        start = time.process_time()
        describedby([field])
        return time.process_time() - start

    assert any(took(100_000) < 8 * max(took(25_000), 0.0005) for _ in range(6))
