"""Each error of a store ends a command with a message, its remedy and an exit code."""

from __future__ import annotations

import pytest

from ararat.cli.errors import UNAVAILABLE, CommandError, store_errors
from ararat.middleware import BindingsUnavailable


def test_an_interrupted_operation_says_what_is_written_and_how_to_continue_or_undo_it() -> None:
    error = BindingsUnavailable("names.sqlite: database or disk is full; free space on its disk")
    error.operation, error.written = 7, 40_000
    with pytest.raises(CommandError) as caught, store_errors():
        raise error
    assert (caught.value.what, caught.value.exit_code) == (str(error), UNAVAILABLE)
    assert caught.value.details == (
        ("Written", "40,000 names, by operation 7"),
        ("To continue", "run the same command again"),
        ("To undo", "run: ararat operations --stop 7, then: ararat undo 7"),
    )


def test_an_error_before_the_first_block_says_nothing_of_an_operation() -> None:
    with pytest.raises(CommandError) as caught, store_errors():
        raise BindingsUnavailable("names.sqlite: database or disk is full; free space on its disk")
    assert caught.value.details == ()
