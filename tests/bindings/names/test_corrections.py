"""Corrections of unbound names: names that differ by a frequent typing error, and are live."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.minting import mint
from ararat.bindings.names.corrections import MAX_LENGTH, corrections, is_mistyped
from ararat.bindings.names.prefixes.patterns import Pattern
from ararat.identifiers.ark.check_character import find
from ararat.identifiers.urn.namespaces.bibliographic import german_check_digit
from ararat.middleware import ResolverMiddleware

RIGHT = "ark:13030/xf93gt2q"
CHECKED = [Pattern("ark:13030/xf9", 4, "noid")]


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


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("number", "typed"),
    [
        pytest.param("gbv:46:1-16241", "gbv:46:1-61241", id="two digits exchanged"),
        pytest.param("gbv:46:1-16241", "gbv:46:1-16271", id="another digit"),
        pytest.param("bsz:16-heidok-1234", "bsz:16-heidok-1243", id="a number after a word"),
    ],
)
def test_the_number_of_a_national_library_needs_no_pattern(bindings, number, typed):
    digit = german_check_digit(f"urn:nbn:de:{number}")
    right, wrong = f"urn:nbn:de:{number}{digit}", f"urn:nbn:de:{typed}{digit}"
    bindings.bind(right, "/right")
    client = Client(ResolverMiddleware(None, bindings))  # type: ignore[arg-type]
    answer = client.get(f"/{wrong}", headers={"Accept": "application/json"})
    assert (answer.status_code, json.loads(answer.data)["suggestion"]) == (404, f"/{right}")


def test_letters_that_look_like_digits_are_corrected():
    assert corrections("ark:12345/xO1l/p1", []) == ["ark:12345/xo1l/p1", "ark:12345/x011/p1"]


def test_all_corrections_of_a_checked_name_have_a_right_check_character():
    found = corrections("ark:13030/xf93tg2q/p1.pdf", CHECKED)
    assert "ark:13030/xf93gt2q/p1.pdf" in found
    assert len(found) < 20
    for name in found:
        check = find(name.partition("/p1")[0], required=True)
        assert check
        assert check.covers == "noid"


def test_a_urn_in_capitals_is_corrected_to_small_letters():
    assert corrections("urn:nbn:se:KB-1", [])[0] == "urn:nbn:se:kb-1"


@pytest.mark.parametrize(
    "key", ["ark:12345/x6np1", "ark:12345/", "urn:example:a", f"ark:12345/{'L' * (MAX_LENGTH + 1)}", "ark:12345/\u00e9"]
)
def test_other_names_have_no_corrections(key):
    assert corrections(key, CHECKED) == []


@pytest.fixture
def ask(bindings):
    """ask(identifier, media type) returns the answer of a resolver with one checked name."""
    bindings.prefixes.set("ark:13030/xf9", pattern="29^4+check")
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
    assert f"Did you mean: /{RIGHT}" in ask(wrong, "text/plain").text
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


WHOLE = Pattern("ark:13030/xf9", 4, "noid")
NAME = Pattern("ark:12148/btv1b", 7, "name")
PLAIN = Pattern("ark:13030/x", 6)
NAAN = Pattern("ark:13030/", 8, "noid")


@pytest.mark.parametrize(
    ("key", "patterns", "expected"),
    [
        pytest.param("ark:13030/xf93gt2q", [WHOLE], False, id="right"),
        pytest.param("ark:13030/xf39gt2q", [WHOLE], False, id="another shoulder"),
        pytest.param("ark:13030/xf93tg2q", [WHOLE], True, id="two characters exchanged"),
        pytest.param("ark:13030/xf93gl2q", [WHOLE], True, id="l instead of 1"),
        pytest.param("ark:13030/xf93gt2Q", [WHOLE], True, id="upper case"),
        pytest.param("ark:13030/xf93gtq", [WHOLE], True, id="a character is missing"),
        pytest.param("ark:13030/xf93ggt2q", [WHOLE], True, id="a character twice"),
        pytest.param("ark:13030/xf93gg2q/p1.pdf", [WHOLE], True, id="components and a variant"),
        pytest.param("ark:13030/xf93gt2q/p1.pdf", [WHOLE], False, id="right, with components and a variant"),
        pytest.param("ark:13030/xf9", [WHOLE], False, id="the shoulder alone"),
        pytest.param("ark:13030/xf9museum.of.arks", [WHOLE], True, id="another name of about this length"),
        pytest.param("ark:13030/xf9longmuseumname", [WHOLE], False, id="another name"),
        pytest.param("ark:13030/xf93_t2q", [WHOLE], False, id="a character that is neither letter nor digit"),
        pytest.param("ark:13030/xf93%C3%A9t2q", [WHOLE], False, id="a character outside ASCII"),
        pytest.param("ark:12148/xf93tg2q", [WHOLE], False, id="another NAAN"),
        pytest.param("ark:12148/btv1b8449691v", [NAME], False, id="right by the Name alone"),
        pytest.param("ark:12148/btv1b8446991v", [NAME], True, id="wrong by the Name alone"),
        pytest.param("ark:13030/xf93tg2q", [PLAIN], False, id="minted without check characters"),
        pytest.param("ark:13030/xf93tg2q", [], False, id="nothing was minted"),
        pytest.param("ark:13030/xf93gt2q", [WHOLE, NAAN], False, id="the nearest of two shoulders"),
        pytest.param("ark:13030/bb3gt2qx0", [WHOLE, NAAN], True, id="a NAAN without a shoulder"),
    ],
)
def test_names_with_a_wrong_check_character_are_mistyped(key: str, patterns: list[Pattern], expected: bool) -> None:
    assert is_mistyped(key, patterns) == expected


def site(environ, start_response):
    raise AssertionError("no request reaches the site")


@pytest.mark.parametrize(("check", "sequential"), [("noid", False), ("name", False), ("noid", True), (None, False)])
def test_a_404_hints_at_a_typing_error_where_names_have_check_characters(
    bindings: Bindings, check, sequential: bool
) -> None:
    client = Client(ResolverMiddleware(site, bindings))
    [name] = mint(bindings, "12345/x5", check=check, sequential=sequential, length=6)
    wrong = f"{name[:-1]}{'0' if name[-1] != '0' else '1'}"
    hint = "its check character is wrong, so it is probably mistyped"
    for accept in ("text/html", "application/json", "text/plain"):
        answers = {given: client.get(f"/{given}", headers={"Accept": accept}) for given in (name, wrong)}
        assert {answer.status_code for answer in answers.values()} == {404}
        assert (hint in answers[wrong].text) == (check is not None)
        assert hint not in answers[name].text
    assert hint not in client.get(f"/{wrong.replace('x5', 'x6')}").text
    bindings.bind(wrong, "https://example.org/")
    assert client.get(f"/{wrong}").status_code == 302


def test_a_404_hints_at_a_typing_error_where_a_prefix_record_has_a_check_character(bindings: Bindings) -> None:
    bindings.prefixes.set("ark:13030/xf9", pattern="29^4+check")
    client = Client(ResolverMiddleware(site, bindings))
    assert "mistyped" in client.get("/ark:13030/xf93tg2q").text
    assert "mistyped" not in client.get("/ark:13030/xf93gt2q").text


def test_a_file_knows_its_minted_names_by_its_counters(open_store: Callable[..., Bindings], tmp_path) -> None:
    (tmp_path / "names.csv").write_text("identifier,target,kind\nark:13030/xf9,next 0 of 29^4+check,counter\n")
    client = Client(ResolverMiddleware(site, open_store(tmp_path / "names.csv")))
    assert "mistyped" in client.get("/ark:13030/xf93tg2q").text
    assert "mistyped" not in client.get("/ark:13030/xf93gt2q").text
