"""Run many cases of a test as one item, because pytest needs longer for an item than for most cases.

The cases of functions without fixtures are grouped. So are those of functions with the mark `one_setup`: all cases get
the same fixtures, which are set up once. With `-k` or `file::test`, each case is an item with its own name.
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

KEPT = ("long", "timeout", "usefixtures")
"""The marks of a test that are also marks of its groups."""

ONE_SETUP = "one_setup"
"""The mark of a test whose cases can share the fixtures."""

Failures: tuple[type[BaseException], ...] = (Exception, pytest.fail.Exception)
ParameterSet = type(pytest.param())


class Case(NamedTuple):
    """The arguments of one call of a test. ``long``: the mark of its row."""

    name: str
    arguments: Mapping[str, Any]
    long: bool = False


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
    shares = [mark for mark in marks if mark.name == ONE_SETUP]
    if shares:  # The values of fixtures are not cases.
        kept += [mark for mark in marks if mark.name == "parametrize" and mark.kwargs.get("indirect")]
    tables = [
        [Case(each, {"vector": row}) for each, row in vectors(mark.args)] if mark.name == "vectors" else rows(mark)
        for mark in marks
        if mark.name in ("parametrize", "vectors") and mark not in kept
    ]
    if not (name.startswith("test_") and tables and all(tables)):
        return None
    if len(tables) + len(kept) + len(shares) < len(marks) or is_hypothesis_test(test):
        return None
    cases = [
        Case(
            "-".join(part.name for part in parts),
            {each: part.arguments[each] for part in parts for each in part.arguments},
            any(part.long for part in parts),
        )
        for parts in product(*tables)
    ]
    fixtures = [each for each in inspect.signature(test).parameters if each not in cases[0].arguments]
    long = [case for case in cases if case.long]
    if shares and not long:
        run = runner(test, cases, kept, fixtures)
        made: list[pytest.Item] = []
        for item in module._genfunctions(name, run):  # one for each value of a fixture
            item.obj = run
            made.append(item)
        return made
    if fixtures:
        return None
    usual = [case for case in cases if not case.long]
    groups = [each[start : start + SIZE] for each in (usual, long) for start in range(0, len(each), SIZE)]
    return [
        pytest.Function.from_parent(
            module,
            name=f"{name}[group {number}]",
            originalname=name,
            callobj=runner(test, group, [*kept, pytest.mark.long.mark] if group[0].long else kept),
        )
        for number, group in enumerate(groups, 1)
    ]


def rows(mark: pytest.Mark) -> list[Case]:
    """Return the rows of a mark `parametrize`. Return none if they are for fixtures, or if a row has another mark than
    `long`.
    """
    if len(mark.args) < 2 or mark.kwargs.get("indirect"):
        return []
    names, values = mark.args
    names, is_text = ([each.strip() for each in names.split(",")], True) if isinstance(names, str) else (names, False)
    if iter(values) is values:
        return []
    marked = [{each.name for each in value.marks} if isinstance(value, ParameterSet) else set() for value in values]
    if any(each - {"long"} for each in marked):
        return []
    ids = mark.kwargs.get("ids")
    given = [None] * len(values) if ids is None or callable(ids) else [*ids]
    found: list[Case] = []
    for value, own, marks in zip(values, given, marked, strict=True):
        row = value.values if isinstance(value, ParameterSet) else (value,) if is_text and len(names) == 1 else value
        arguments = dict(zip(names, row, strict=True))
        if callable(ids):
            usual = "-".join(str(ids(each) or f"{each!a:.60}") for each in row)
        else:
            usual = "-".join(f"{each!a:.60}" for each in row)
        own = value.id if isinstance(value, ParameterSet) and value.id else own
        found.append(Case(str(own or usual), arguments, "long" in marks))
    return found


def runner(
    test: FunctionType, cases: Sequence[Case], marks: list[pytest.Mark], fixtures: Sequence[str] = ()
) -> Callable[..., None]:
    """Return a function that calls a test with each case, in random order. It fails if a case fails.

    It takes the fixtures of the test by name, and passes them to each call.
    """

    def run(**shared: object) -> None:
        failed: list[tuple[str, BaseException]] = []
        skipped: list[BaseException] = []
        for case in random.sample(cases, len(cases)):
            try:
                test(**{**shared, **case.arguments})
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
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in fixtures]
    run.__dict__ |= {"pytestmark": marks, "__signature__": inspect.Signature(parameters)}
    return run
