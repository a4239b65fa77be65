"""The body of a request in ANVL."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.webapp.ezid import anvl_body
from ararat.webapp.ezid.answers import Failed


def escaped(text: str) -> str:
    """Escape a text as the documentation of EZID recommends, also the colons of values."""
    return re.sub("[%:\r\n]", lambda found: f"%{ord(found[0]):02X}", text)


@pytest.mark.parametrize(
    ("body", "elements"),
    [
        pytest.param(b"", {}, id="empty"),
        pytest.param(b"a: b", {"a": "b"}, id="without a line end"),
        pytest.param(b"\xef\xbb\xbfa: b\n", {"a": "b"}, id="byte order mark"),
        pytest.param(b"a: 1\rb: 2\r\nc: 3\n", {"a": "1", "b": "2", "c": "3"}, id="all line ends"),
        pytest.param(b"# a: b\n\n  \n#\n", {}, id="comments and empty lines"),
        pytest.param(b"a:b:c\n", {"a": "b:c"}, id="a colon in a value"),
        pytest.param(b"  \na: b\n", {"a": "b"}, id="white space before all lines"),
        pytest.param(b"a%3Ab%25: x%0Dy%0A%20z\n", {"a:b%": "x\ry\n z"}, id="escapes"),
        pytest.param(b"a: %C3%A9\xc3\xa9%41\n", {"a": "ééA"}, id="every escape is decoded"),
        pytest.param(b"a: b\n  c\n\td\n#x\n e\n", {"a": "b c d e"}, id="continuations"),
        pytest.param(b"a:\n  b\n", {"a": "b"}, id="a continuation of an empty value"),
        pytest.param(b"a:\nb: %20\n", {"a": "", "b": ""}, id="empty values"),
    ],
)
def test_a_body_is_read(body: bytes, elements: dict[str, str]) -> None:
    assert anvl_body.read(body) == elements


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        pytest.param(b"a\n", "line 1 is not ANVL", id="no colon"),
        pytest.param(b"a: b\n: c\n", "line 2 is not ANVL", id="no name"),
        pytest.param(b"a: b\n%20: c\n", "line 2 is not ANVL", id="an escaped empty name"),
        pytest.param(b"  c\n", "line 1 begins with white space", id="nothing to continue"),
        pytest.param(b"a: b\n\n  c\n", "line 3 begins with white space", id="nothing to continue after an empty line"),
        pytest.param(b"a: b\n#\na: b\n", "line 3 repeats the element a", id="a name twice"),
        pytest.param(b"a%3A: b\na%3a: b\n", "line 2 repeats the element a:", id="a name twice, escaped"),
        pytest.param(b"a: 100%\n", "line 1 has a percent sign", id="a lone percent sign"),
        pytest.param(b"a: %zz\n", "line 1 has a percent sign", id="not hexadecimal"),
        pytest.param(b"a: b\n  %4\n", "line 2 has a percent sign", id="half an escape"),
        pytest.param(b"a: %FF\n", "line 1 has percent-encoded bytes that are not UTF-8", id="escapes not in UTF-8"),
        pytest.param(b"a: %ED%A0%80\n", "line 1 has percent-encoded bytes that are not UTF-8", id="a surrogate"),
        pytest.param(b"a: \xff\n", "the body is not UTF-8: byte 4 is wrong", id="not UTF-8"),
        pytest.param(b"\xfe\xff\0a\0:", "the body is not UTF-8: byte 1 is wrong", id="UTF-16"),
        pytest.param(b"x" * (2**20 + 1), "the body has 1,048,577 bytes", id="too long"),
        pytest.param(
            b"".join(b"%d:\n" % n for n in range(1001)), "the body has more than 1,000 elements", id="too many elements"
        ),
    ],
)
def test_a_wrong_body_is_refused_with_its_line(body: bytes, detail: str) -> None:
    with pytest.raises(Failed, match=re.escape(f"bad request - {detail}")) as error:
        anvl_body.read(body)
    assert error.value.detail.isascii()
    assert error.value.status == 400


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_all_elements_of_a_client_are_read(elements: dict[str, str]) -> None:
    # White space around names and values is not significant, and continuation lines are those of the client.
    clean = {name.strip(): value.strip() for name, value in elements.items() if name.strip().isprintable()}
    clean = {name: value for name, value in clean.items() if name and not name.startswith("#")}
    body = "\n".join(f"{escaped(name)}: {escaped(value)}" for name, value in clean.items())
    assert anvl_body.read(body.encode()) == clean


@given(st.binary(max_size=300))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        found = anvl_body.read(body)
    except Failed as error:
        assert str(error).isascii()  # noqa: PT017 - the error is one of two results
    else:
        assert all(found)
