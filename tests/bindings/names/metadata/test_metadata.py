from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.metadata.metadata import ELEMENTS, MAX_BYTES, check, erc, shorten_names


def test_elements_are_returned_in_the_order_of_the_kernel() -> None:
    given_order = {"policy": "/policy", "when": "2020", "where": "/x", "what": "An Ark", "who": "Noah"}
    assert list(check(given_order)) == ["erc.who", "erc.what", "erc.when", "erc.where", "erc.policy"]


def test_every_element_can_be_set() -> None:
    checked = check(dict.fromkeys(ELEMENTS, "x"))
    assert dict(checked) == {f"erc.{element}": "x" for element in ELEMENTS}
    assert shorten_names(checked) == dict.fromkeys(ELEMENTS, "x")
    assert check(checked) == checked


XML = '<resource xmlns="http://datacite.org/schema/kernel-4">'
LONG = "\u00e9" * 32768


@pytest.mark.parametrize(
    ("element", "text"),
    [
        pytest.param("dc.title", "Line 1\nLine 2\tend", id="dc"),
        pytest.param("dc.title", LONG, id="64 KiB"),
        pytest.param("my-own.x_1", "x", id="another namespace"),
        pytest.param("datacite.title", "x", id="datacite element"),
        pytest.param("datacite", '<?xml version="1.0"?>\n' + XML + "</resource>", id="XML"),
        pytest.param("schema", '{"@context": "https://schema.org/", "@type": "Map"}', id="JSON-LD"),
        pytest.param("who", "(:unav) lost in 1840", id="value code"),
    ],
)
def test_an_element_of_any_namespace_is_kept(element: str, text: str) -> None:
    assert list(shorten_names(check({element: text})).items()) == [(element, text)]


@pytest.mark.parametrize(
    ("element", "text", "code"),
    [
        pytest.param("dc.title", LONG + "x", "metadata-text", id="above 64 KiB"),
        pytest.param("dc.title", "a\x00b", "metadata-text", id="NUL"),
        pytest.param(f"dc.{'x' * 98}", "x", "metadata-key", id="a long name"),
        pytest.param("dc.title.x", "x", "metadata-key", id="three parts"),
        pytest.param("datacite", "<resource>", "metadata-document", id="no XML"),
        pytest.param("datacite", "<resource/>", "metadata-document", id="no namespace"),
        pytest.param("datacite", f"{XML}</resource>&", "metadata-document", id="XML with a rest"),
        pytest.param("datacite", f"<!DOCTYPE resource>{XML}</resource>", "metadata-document", id="DTD"),
        pytest.param(
            "datacite",
            f'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>{XML}&b;</resource>',
            "metadata-document",
            id="entities that expand",
        ),
        pytest.param(
            "datacite",
            f'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>{XML}&a;</resource>',
            "metadata-document",
            id="external entity",
        ),
        pytest.param("datacite", XML + "<a>" * 200 + "</a>" * 200 + "</resource>", "metadata-document", id="deep XML"),
        pytest.param("schema", "[]", "metadata-document", id="JSON array"),
        pytest.param("schema", '{"a": NaN}', "metadata-document", id="NaN"),
        pytest.param("schema", "[" * 60_000, "metadata-document", id="deep JSON"),
    ],
)
def test_an_element_that_is_not_valid_is_refused(element: str, text: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        check({element: text})
    assert refused.value.code == code
    assert str(refused.value).isascii()


def test_one_element_with_both_names_is_refused() -> None:
    with pytest.raises(BindingError) as refused:
        check({"who": "Noah", "erc.who": "Noah"})
    assert refused.value.code == "metadata-twice"


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
        pytest.param("\x00", id="NUL"),
        pytest.param("a\x9bb", id="an 8-bit CSI"),
        pytest.param("a\u2028b", id="a line separator"),
        pytest.param("\udc80", id="half a character"),
        pytest.param("x" * (MAX_BYTES + 1), id="too long"),
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
    assert check({"what": title})["erc.what"] == title


@given(st.dictionaries(st.sampled_from(ELEMENTS), st.text()))
def test_an_erc_has_one_line_for_each_element(elements: dict[str, str]) -> None:
    try:
        checked = shorten_names(check(elements))
    except BindingError:
        return
    assert erc(checked).splitlines() == ["erc:", *(f"{element}: {text}" for element, text in checked.items())]


def test_validated_metadata_is_immutable() -> None:
    with pytest.raises(TypeError):
        check({"what": "x"})["erc.what"] = "y"  # type: ignore[index]
