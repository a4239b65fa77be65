from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.middleware.bindings.metadata import ELEMENTS, MAX_CHARACTERS, check, erc
from ararat.middleware.errors import BindingError


def test_elements_are_returned_in_the_order_of_the_kernel() -> None:
    given_order = {"policy": "/policy", "when": "2020", "where": "/x", "what": "An Ark", "who": "Noah"}
    assert list(check(given_order)) == ["who", "what", "when", "where", "policy"]


def test_every_element_can_be_set() -> None:
    assert dict(check(dict.fromkeys(ELEMENTS, "x"))) == dict.fromkeys(ELEMENTS, "x")


@pytest.mark.parametrize("element", ["title", "Who", "who ", "", "\u202e", 7, None])
def test_an_unknown_element_is_an_error(element: object) -> None:
    with pytest.raises(BindingError) as refused:
        check({element: "x"})  # type: ignore[dict-item]
    assert refused.value.code == "metadata-key"
    assert str(refused.value).isascii()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \u00a0", id="spaces alone"),
        pytest.param("a\nb", id="a line feed"),
        pytest.param("a\tb", id="a tab"),
        pytest.param("\x00", id="NUL"),
        pytest.param("a\x9bb", id="an 8-bit CSI"),
        pytest.param("a\u2028b", id="a line separator"),
        pytest.param("\udc80", id="half a character"),
        pytest.param("x" * (MAX_CHARACTERS + 1), id="too long"),
        pytest.param(None, id="None"),
        pytest.param(2020, id="a number"),
        pytest.param(["a"], id="a list"),
    ],
)
def test_a_value_must_be_plain_text(text: object) -> None:
    with pytest.raises(BindingError) as refused:
        check({"what": text})  # type: ignore[dict-item]
    assert refused.value.code == "metadata-text"
    assert str(refused.value).isascii()


def test_a_title_can_use_any_script() -> None:
    title = "\u05ea\u05d9\u05d1\u05ea \u05e0\u05d7\u200f (2020)"
    assert check({"what": title})["what"] == title


@given(st.dictionaries(st.sampled_from(ELEMENTS), st.text()))
def test_an_erc_has_one_line_for_each_element(elements: dict[str, str]) -> None:
    try:
        checked = check(elements)
    except BindingError:
        return
    assert erc(checked).splitlines() == ["erc:", *(f"{element}: {text}" for element, text in checked.items())]


def test_validated_metadata_is_immutable() -> None:
    with pytest.raises(TypeError):
        check({"what": "x"})["what"] = "y"  # type: ignore[index]
