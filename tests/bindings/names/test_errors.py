from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ararat.bindings.names import errors
from ararat.bindings.names.error_codes import ERROR_CODES, ErrorCode
from ararat.bindings.names.errors import (
    BindingConflict,
    BindingError,
    CatalogueError,
    PrefixError,
    ReadOnlyBindings,
    TableError,
    UnreadableBinding,
)
from ararat.cli import errors as exit_codes
from ararat.identifiers import PROBLEMS
from ararat.middleware import Binding

TESTS = Path(__file__).parents[2]


def test_the_catalogues_have_no_common_codes() -> None:
    assert not ERROR_CODES.keys() & PROBLEMS.keys()


@pytest.mark.parametrize("entry", ERROR_CODES.values(), ids=ERROR_CODES)
def test_catalogue_entry_is_printable_ascii_without_a_full_stop(entry: ErrorCode) -> None:
    assert re.fullmatch("[a-z]+(-[a-z]+)*", entry.code)
    for text in (entry.title, entry.expected, entry.reference, entry.remedy):
        assert text.isascii()
        assert text.isprintable()
        assert not text.endswith(".")


def test_every_code_has_a_test_in_which_it_is_raised() -> None:
    tests = "".join(file.read_text("utf-8") for file in TESTS.rglob("test_*.py") if file != Path(__file__))
    assert [code for code in ERROR_CODES if f'"{code}"' not in tests] == []


def test_error_text_contains_message_code_and_expectation() -> None:
    error = BindingError("redirect-status", "the status 200 is not a redirect", identifier="ark:12345/x")
    assert str(error).splitlines() == [
        "ark:12345/x: the status 200 is not a redirect (redirect-status)",
        "expected 302 or 307 (ARK draft, section 7.1.2)",
    ]


def test_error_text_shortens_a_long_name() -> None:
    name = "ark:12345/" + "x" * 3000
    error = BindingError("not-bound", identifier=name)
    assert error.identifier == name
    assert len(str(error)) < 300


@pytest.mark.parametrize("kind", [BindingError, BindingConflict, ReadOnlyBindings, PrefixError, TableError])
def test_every_refusal_is_a_value_error(kind: type[Exception]) -> None:
    assert issubclass(kind, CatalogueError)
    assert issubclass(kind, ValueError)


def test_the_statuses_and_exit_codes_are_those_of_http_and_of_the_commands() -> None:
    entries = ERROR_CODES.values()
    assert {entry.status for entry in entries} == {403, 404, 409, 412, 422, 503}
    assert {entry.exit_code for entry in entries} == {
        exit_codes.NO,
        exit_codes.UNREADABLE,
        exit_codes.UNAVAILABLE,
        exit_codes.CANNOT_WRITE,
        exit_codes.OUTCOME_UNKNOWN,
    }
    assert {entry.code for entry in entries if entry.retry_after} == {
        entry.code for entry in entries if entry.status == 503 and entry.repeats
    }


def test_the_outcome_of_a_change_can_be_unknown() -> None:
    entry = errors.OutcomeUnknown("the connection broke").entry
    assert (entry.code, entry.status, entry.exit_code) == ("outcome-unknown", 503, 75)
    assert "Idempotency-Key" in entry.remedy


def test_bindings_unavailable_is_not_a_value_error() -> None:
    assert not issubclass(errors.BindingsUnavailable, ValueError)


@pytest.mark.parametrize(
    ("length", "shown"),
    [(100, "ark:12345/" + "x" * 90), (101, "ark:12345/" + "x" * 87 + "...")],
)
def test_a_long_name_is_shortened_in_an_error(length: int, shown: str) -> None:
    name = "ark:12345/".ljust(length, "x")
    assert str(BindingError("not-bound", identifier=name)).partition(": ")[0] == shown


@pytest.mark.parametrize(
    ("column", "place"),
    [
        (None, "names.csv, line 3: "),
        (7, "names.csv, line 3, column 7: "),
        ("target", "names.csv, line 3, column target: "),
    ],
)
def test_an_error_of_a_table_names_its_place(column: int | str | None, place: str) -> None:
    assert str(TableError("table-syntax", "a cell is not closed", "names.csv", 3, column)).startswith(
        f"{place}a cell is not closed"
    )


def test_an_unreadable_row_is_named_by_its_first_100_characters() -> None:
    error = UnreadableBinding("k" * 200, "r" * 200)
    assert error.identifier == "k" * 100
    assert error.message == f"the row of {'k' * 100} in the database cannot be read: {'r' * 100}"


_LONG = "b" * 99


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("code", "changes", "difference"),
    [
        ("bound-otherwise", {"target": "/b"}, "the recorded target is /a, and the new one is /b"),
        ("bound-otherwise", {"kind": "served"}, "the recorded kind is located, and the new one is served"),
        ("bound-otherwise", {"passthrough": True}, "the recorded passthrough is false, and the new one is true"),
        ("bound-otherwise", {"scope": "subtree"}, "the recorded scope is name, and the new one is subtree"),
        (
            "bound-otherwise",
            {"alternates": {"de": "/de", "en": "/en"}},
            "no alternate en is recorded, and the new one is /en",
        ),
        ("bound-otherwise", {"target": f"/{_LONG}"}, f"the recorded target is /a, and the new one is /{_LONG}"),
        ("bound-otherwise", {"target": f"/{_LONG}b"}, f"the recorded target is /a, and the new one is /{_LONG}..."),
        ("other-resource", {"resource": "map 8"}, "no resource is recorded, and the new one is map 8"),
    ],
)
def test_a_conflict_shows_the_first_difference(
    code: str, changes: dict[str, object], difference: str, binding: Callable[..., Binding]
) -> None:
    existing = binding("ark:12345/x", "/a", alternates={"de": "/de"})
    assert BindingConflict(code, existing, replace(existing, **changes)).message == difference


def test_a_conflict_without_a_resource_advises_to_relocate(binding: Callable[..., Binding]) -> None:
    without = binding("ark:12345/x", "/a")
    known = binding("ark:12345/x", "/a", resource="map 7")
    advice = "a relocation, because no resource is recorded"
    assert BindingConflict("bound-otherwise", without, replace(without, target="/b")).expected == advice
    assert BindingConflict("bound-otherwise", known, replace(known, target="/b")).expected != advice
    assert BindingConflict("other-resource", without, known).expected != advice


@pytest.mark.parametrize(
    "code", ["name-characters", "operation-unknown", "prefix-empty", "revision-unknown", "undo-changed"]
)
def test_the_remedy_of_an_error_of_the_desk_and_the_api_names_no_command(code: str) -> None:
    assert not re.search(r"--|\bararat\b|\bcommand\b", ERROR_CODES[code].expected)


@pytest.mark.parametrize("code", ["bound-otherwise", "withdrawn", "reserved", "withdraw-reserved", "delete-public"])
def test_an_error_that_is_also_shown_over_http_names_no_command(code: str) -> None:
    assert "command" not in ERROR_CODES[code].expected
