from __future__ import annotations

import pytest

from ararat.middleware.bindings.alternates import check
from ararat.middleware.errors import BindingError


def test_selectors_are_stored_in_lower_case_and_in_order() -> None:
    given = {"text/HTML;EN": "/x.en", "de-AT": "/x.de", "application/pdf": "https://Example.org/x.pdf"}
    assert list(check(given, "located").items()) == [
        ("application/pdf", "https://example.org/x.pdf"),
        ("de-at", "/x.de"),
        ("text/html;en", "/x.en"),
    ]


@pytest.mark.parametrize(
    "selector",
    [
        "",
        "/",
        "text/",
        "text/html;",
        ";en",
        "text/html;q=1",
        "text/html; en",
        "text/html;en;de",
        "e",
        "123",
        "en_US",
        "\u202e",
        "text/html\n",
        "*/*",
        None,
    ],
)
def test_what_chooses_nothing_is_refused(selector: str) -> None:
    with pytest.raises(BindingError) as refused:
        check({selector: "/x"}, "located")
    assert refused.value.code == "alternate-selector"


def test_two_alternates_are_not_chosen_alike() -> None:
    with pytest.raises(BindingError) as refused:
        check({"en": "/a", "EN": "/b"}, "located")
    assert refused.value.code == "alternate-twice"


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [
        pytest.param("located", "javascript:x", "target-scheme", id="a scheme that nobody is sent to"),
        pytest.param("served", "https://example.org", "target-not-local", id="an address for a served name"),
        pytest.param("described", "/x", "target-unwanted", id="a described name"),
        pytest.param("described", None, "target-unwanted", id="a described name, and no target"),
        pytest.param("related", None, "target-missing", id="no target"),
    ],
)
def test_an_alternate_is_held_to_the_rules_of_targets(kind, target: str, code: str) -> None:
    with pytest.raises(BindingError) as refused:
        check({"en": target}, kind)
    assert refused.value.code == code


def test_there_are_not_too_many() -> None:
    with pytest.raises(BindingError, match="there are 51 alternates"):
        check({f"text/x{number}": "/x" for number in range(51)}, "located")
