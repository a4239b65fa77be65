"""Run many cases of a test as one item, because pytest needs longer for an item than for most cases.

Only the cases of functions without fixtures are grouped, and only if the run does not select tests by name. With `-k`
or `file::test`, each case is an item with its own name.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from types import FunctionType
from typing import Any, NamedTuple

import pytest
from hypothesis import is_hypothesis_test

SIZE = 50
"""The largest number of cases of an item."""

KEPT = ("long", "timeout")
"""The marks of a test that are also marks of its groups."""

Failures: tuple[type[BaseException], ...] = (Exception, pytest.fail.Exception)
ParameterSet = type(pytest.param())


class Case(NamedTuple):
    """The arguments of one call of a test."""

    name: str
    arguments: Mapping[str, Any]


def is_selective(config: pytest.Config) -> bool:
    """Return whether a run selects tests by name."""
    return bool(config.option.keyword) or any("::" in argument for argument in config.args)


def items(
    module: pytest.Collector,
    name: str,
    test: object,
    vectors: Callable[[Sequence[str]], Iterable[tuple[str, object]]],
) -> list[pytest.Item] | None:
    """Return the items of a test, or None if its cases are not grouped.

    ``vectors`` returns the names and rows of a mark `vectors` with some kinds.
    """
    if is_selective(module.config) or not (isinstance(test, FunctionType) and isinstance(module, pytest.Module)):
        return None
    marks: list[pytest.Mark] = [*getattr(test, "pytestmark", ())]
    kept = [mark for mark in marks if mark.name in KEPT]
    tables = [
        [Case(each, {"vector": row}) for each, row in vectors(mark.args)] if mark.name == "vectors" else rows(mark)
        for mark in marks
        if mark.name in ("parametrize", "vectors")
    ]
    if not (name.startswith("test_") and tables and all(tables)) or len(tables) + len(kept) < len(marks):
        return None
    cases = [
        Case(
            "-".join(part.name for part in parts),
            {each: part.arguments[each] for part in parts for each in part.arguments},
        )
        for parts in product(*tables)
    ]
    if is_hypothesis_test(test) or {*inspect.signature(test).parameters} != {*cases[0].arguments}:
        return None
    groups = [cases[start : start + SIZE] for start in range(0, len(cases), SIZE)]
    return [
        pytest.Function.from_parent(
            module, name=f"{name}[group {number}]", originalname=name, callobj=runner(test, group, kept)
        )
        for number, group in enumerate(groups, 1)
    ]


def rows(mark: pytest.Mark) -> list[Case]:
    """Return the rows of a mark `parametrize`. Return none if they are for fixtures, or if a row has a mark."""
    if len(mark.args) < 2 or mark.kwargs.get("indirect"):
        return []
    names, values = mark.args
    names, is_text = ([each.strip() for each in names.split(",")], True) if isinstance(names, str) else (names, False)
    if iter(values) is values or any(isinstance(value, ParameterSet) and value.marks for value in values):
        return []
    found: list[Case] = []
    for value in values:
        row = value.values if isinstance(value, ParameterSet) else (value,) if is_text and len(names) == 1 else value
        arguments = dict(zip(names, row, strict=True))
        usual = "-".join(f"{each!a:.60}" for each in row)
        found.append(Case(str(value.id or usual) if isinstance(value, ParameterSet) else usual, arguments))
    return found


def runner(test: FunctionType, cases: Sequence[Case], marks: list[pytest.Mark]) -> Callable[[], None]:
    """Return a function that calls a test with each case, in random order. It fails if a case fails."""

    def run() -> None:
        failed: list[tuple[str, BaseException]] = []
        skipped: list[BaseException] = []
        for case in random.sample(cases, len(cases)):
            try:
                test(**case.arguments)
            except pytest.skip.Exception as skip:
                skipped.append(skip)
            except Failures as error:
                failed.append((case.name, error))
        if failed:
            names, errors = zip(*failed, strict=True)
            errors[0].add_note(f"{len(names)} of {len(cases)} cases failed: {', '.join(names)}")
            raise errors[0]
        if skipped:
            raise skipped[0]

    run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
    run.__dict__["pytestmark"] = marks
    return run
