from __future__ import annotations

import re
from pathlib import Path

import pytest

from ararat.identifiers import PROBLEMS
from ararat.middleware import errors
from ararat.middleware.error_codes import ERROR_CODES, ErrorCode
from ararat.middleware.errors import BindingConflict, BindingError, PrefixError, ReadOnlyBindings, Refused, TableError

TESTS = Path(__file__).parent


def test_the_catalogues_have_no_common_codes() -> None:
    assert not ERROR_CODES.keys() & PROBLEMS.keys()


@pytest.mark.parametrize("entry", ERROR_CODES.values(), ids=ERROR_CODES)
def test_catalogue_entry_is_printable_ascii_without_a_full_stop(entry: ErrorCode) -> None:
    assert re.fullmatch("[a-z]+(-[a-z]+)*", entry.code)
    for text in (entry.title, entry.expected, entry.reference):
        assert text.isascii()
        assert text.isprintable()
        assert not text.endswith(".")


@pytest.mark.parametrize("code", ERROR_CODES)
def test_every_code_has_a_test_in_which_it_is_raised(code: str) -> None:
    tests = "".join(file.read_text("utf-8") for file in TESTS.rglob("test_*.py") if file.name != Path(__file__).name)
    assert f'"{code}"' in tests


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
    assert issubclass(kind, Refused)
    assert issubclass(kind, ValueError)


def test_bindings_unavailable_is_not_a_value_error() -> None:
    assert not issubclass(errors.BindingsUnavailable, ValueError)
