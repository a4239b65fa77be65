from __future__ import annotations

import re
from pathlib import Path

import pytest

from ararat.identifiers import PROBLEMS
from ararat.middleware import errors
from ararat.middleware.error_codes import FAULTS, Fault
from ararat.middleware.errors import BindingConflict, BindingError, PrefixError, ReadOnlyBindings, Refused, TableError

TESTS = Path(__file__).parent


def test_no_code_has_two_meanings() -> None:
    assert not FAULTS.keys() & PROBLEMS.keys()


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_code_is_a_word_and_says_what_was_expected_and_why(fault: Fault) -> None:
    assert re.fullmatch("[a-z]+(-[a-z]+)*", fault.code)
    for text in (fault.title, fault.expected, fault.reference):
        assert text.isascii()
        assert text.isprintable()
        assert not text.endswith(".")


@pytest.mark.parametrize("code", FAULTS)
def test_every_code_has_a_test_in_which_it_is_raised(code: str) -> None:
    tests = "".join(file.read_text("utf-8") for file in TESTS.rglob("test_*.py") if file.name != Path(__file__).name)
    assert f'"{code}"' in tests


def test_an_error_says_what_is_wrong_and_what_was_expected() -> None:
    error = BindingError("redirect-status", "a name cannot be answered with 200", identifier="ark:12345/x")
    assert str(error).splitlines() == [
        "ark:12345/x: a name cannot be answered with 200 (redirect-status)",
        "expected 302 or 307 (ARK draft, section 7.1.2)",
    ]


def test_a_long_name_is_cut_in_the_text_alone() -> None:
    name = "ark:12345/" + "x" * 3000
    error = BindingError("not-bound", identifier=name)
    assert error.identifier == name
    assert len(str(error)) < 300


@pytest.mark.parametrize("kind", [BindingError, BindingConflict, ReadOnlyBindings, PrefixError, TableError])
def test_every_refusal_is_a_value_error_with_a_code(kind: type[Exception]) -> None:
    assert issubclass(kind, Refused)
    assert issubclass(kind, ValueError)


def test_what_cannot_be_reached_is_no_refusal() -> None:
    assert not issubclass(errors.BindingsUnavailable, ValueError)
