"""ANVL: records, continued lines, comments, escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.identifiers.text.anvl import AnvlError, element, parse


def elements(text: str) -> list[list[tuple[str, str]]]:
    return [[(element.label, element.value) for element in record.elements] for record in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("\n\n# a comment\n\n", [], id="no record"),
        pytest.param("who: A\nwhat: B", [[("who", "A"), ("what", "B")]], id="a record"),
        pytest.param(
            "who: A\r\nwhat:B\r\n\r\nwho: C\r", [[("who", "A"), ("what", "B")], [("who", "C")]], id="CR and LF"
        ),
        pytest.param("erc:\nwho: A", [[("erc", ""), ("who", "A")]], id="a label alone opens it"),
        pytest.param("who: A\n  and\n\tB\nwhat: C", [[("who", "A and B"), ("what", "C")]], id="continued"),
        pytest.param("who:\n  A", [[("who", "A")]], id="begun on the next line"),
        pytest.param("who: A\n# no\nwhat: B", [[("who", "A"), ("what", "B")]], id="a comment ends no record"),
        pytest.param("where: x\nwhere: y", [[("where", "x"), ("where", "y")]], id="a label twice"),
        pytest.param("who: A\n \nwho: B", [[("who", "A")], [("who", "B")]], id="a line of spaces is blank"),
        pytest.param("a%3Ab%25: c", [[("a:b%", "c")]], id="escapes in a label"),
        pytest.param("where: a/b%2Fc%20d?e=1%25", [[("where", "a/b%2Fc%20d?e=1%")]], id="escapes in a value"),
        pytest.param("who: A\u2028B\x0bC", [[("who", "A\u2028B\x0bC")]], id="other line breaks do not count"),
    ],
)
def test_text_is_parsed_into_records(text, expected):
    assert elements(text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("who: A\nno colon\n", 2, id="no colon"),
        pytest.param("\n: B", 2, id="no label"),
        pytest.param("\n  has no value to continue", 2, id="has no value to continue"),
        pytest.param("who: A\n\n  has no value to continue", 3, id="continues a record that has ended"),
    ],
)
def test_an_invalid_line_is_refused_with_its_number(text, line):
    with pytest.raises(AnvlError) as refused:
        list(parse(text))
    assert refused.value.line == line


def test_a_record_has_the_number_of_its_first_line():
    assert [record.line for record in parse("\nwho: A\nwhat: B\n\n# a comment\nwho: C\n")] == [2, 6]


@given(st.text(st.sampled_from("ab:# \t\r\n%3A") | st.characters()))
def test_only_anvl_error_is_raised(text):
    line = 1
    try:
        list(parse(text))
    except AnvlError as error:
        line = error.line
    assert 1 <= line <= text.count("\n") + text.count("\r") + 1


names = st.text(st.characters(codec="utf-8", exclude_characters="%:\r\n#"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(names, names), min_size=1))
def test_a_written_record_is_read_unchanged(pairs):
    text = "".join(f"{label}: {value}\n" for label, value in pairs)
    assert elements(text) == [pairs]


@pytest.mark.parametrize(
    ("label", "value", "line"),
    [
        ("what", "100% flood:\nthe Ark\r", "what: 100%25 flood:%0Athe Ark%0D\n"),
        ("a:b%", "c", "a%3Ab%25: c\n"),
        ("who", "", "who:\n"),
        ("X-where", "%X: Y", "X-where: %25X: Y\n"),
    ],
)
def test_a_read_element_is_written_unchanged(label, value, line):
    assert element(label, value) == line
