"""Corrections of unbound names: names that differ by a frequent typing error, and are live."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.names.corrections.corrections import MAX_LENGTH, corrections
from ararat.bindings.names.prefixes.patterns import Pattern
from ararat.identifiers.ark.check_character import find
from ararat.middleware import ResolverMiddleware

RIGHT = "ark:13030/xf93gt2q"
CHECKED = [Pattern("13030", "xf9", 4, "noid")]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("ark:13030/xf93tg2q", id="two characters exchanged"),
        pytest.param("ark:13030/xf93gt3q", id="another character"),
        pytest.param("ark:13030/xf93gt2r", id="another check character"),
        pytest.param("ark:13030/XF93GT2Q", id="upper case"),
    ],
)
def test_a_typing_error_is_corrected(wrong):
    assert RIGHT in corrections(wrong, CHECKED)


def test_letters_that_look_like_digits_are_corrected():
    assert corrections("ark:12345/xO1l/p1", []) == ["ark:12345/xo1l/p1", "ark:12345/x011/p1"]


def test_all_corrections_of_a_checked_name_have_a_right_check_character():
    found = corrections("ark:13030/xf93tg2q/p1.pdf", CHECKED)
    assert "ark:13030/xf93gt2q/p1.pdf" in found
    assert len(found) < 20
    for name in found:
        check = find(name.partition("/p1")[0], stated=True)
        assert check
        assert check.covers == "noid"


@pytest.mark.parametrize(
    "key", ["ark:12345/x6np1", "ark:12345/", "urn:example:a", f"ark:12345/{'L' * (MAX_LENGTH + 1)}", "ark:12345/\u00e9"]
)
def test_other_names_have_no_corrections(key):
    assert corrections(key, CHECKED) == []


@pytest.fixture
def ask(bindings):
    """ask(identifier, media type) returns the answer of a resolver with one checked name."""
    bindings.set_prefix("ark:13030/xf9", pattern="29^4+check")
    bindings.bind(RIGHT, "/right")
    client = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]

    def ask(identifier: str, form: str = "application/json") -> Any:
        return client.get(f"/{identifier}", headers={"Accept": form})

    return ask


def test_a_404_links_the_name_that_is_meant(ask):
    wrong = "ark:13030/xf93tg2q"
    assert ask(wrong).status_code == 404
    assert json.loads(ask(wrong).data)["suggestion"] == f"/{RIGHT}"
    assert f'href="/{RIGHT}"' in ask(wrong, "text/html").text
    assert f"Possible correction: /{RIGHT}" in ask(wrong, "text/plain").text
    assert "suggestion" not in json.loads(ask("ark:13030/xf9zzzz0").data)


def test_only_one_live_name_is_suggested(bindings, ask):
    other = next(name for name in corrections("ark:13030/xf93tg2q", CHECKED) if name != RIGHT)
    bindings.reserve(other)
    assert json.loads(ask("ark:13030/xf93tg2q").data)["suggestion"] == f"/{RIGHT}"
    bindings.bind(other, "/other")
    assert "suggestion" not in json.loads(ask("ark:13030/xf93tg2q").data)
    bindings.withdraw(RIGHT)
    assert json.loads(ask("ark:13030/xf93tg2q").data)["suggestion"] == f"/{other}"


def test_a_reserved_name_has_the_answer_of_an_unknown_one(bindings, ask):
    unknown = ask("ark:13030/XF93GT2Q")
    bindings.reserve("ark:13030/XF93GT2Q")
    reserved = ask("ark:13030/XF93GT2Q")
    assert (reserved.status_code, reserved.data) == (unknown.status_code, unknown.data)
