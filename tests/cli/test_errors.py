"""Each error of a store ends a command with a message, its remedy and an exit code."""

from __future__ import annotations

import pytest

from ararat.bindings.names.errors import (
    BindingsLocked,
    DatabaseFull,
    NoTables,
    OutcomeUnknown,
    ReadOnlyBindings,
    StatementStopped,
    TooBroad,
    UnreadableBinding,
    UnusableSnapshot,
)
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


FIXES: dict[BindingsUnavailable, str] = {
    BindingsUnavailable("names: refused"): "check its address",
    NoTables("names: no tables of Ararat", "postgresql://localhost/names"): "ararat init",
    BindingsLocked("names: another writer has locked the bindings; try again later"): "try again later",
    DatabaseFull("names: the disk is full"): "free space",
    StatementStopped("names: canceled; the limit is read_seconds"): "request less",
    TooBroad("more than 5 names are not counted in groups"): "beginning of the names",
    OutcomeUnknown("names: closed; the answer was lost"): "read the name",
    ReadOnlyBindings("names is read-only"): "can be written",
    UnreadableBinding("ark:12345/x", "its time is wrong"): "restore it",
    UnusableSnapshot("snapshot-damaged", "names.snapshot is cut"): "copied completely",
}


@pytest.mark.parametrize("error", [*FIXES], ids=lambda error: type(error).__name__)
def test_each_error_of_a_database_states_its_fix(error: BindingsUnavailable) -> None:
    with pytest.raises(CommandError) as caught, store_errors():
        raise error
    assert FIXES[error] in "\n".join([caught.value.what, *(text for _, text in caught.value.details)])


def test_the_table_of_fixes_has_each_error_of_a_database() -> None:
    def below(kind: type[BindingsUnavailable]) -> set[type[BindingsUnavailable]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    own = {each for each in below(BindingsUnavailable) if each.__module__.startswith("ararat.")}
    assert own == {type(error) for error in FIXES}
