"""A group of cases runs all of them, and names those that fail."""

from __future__ import annotations

import inspect

import pytest

from .case_groups import Case, rows, runner


def test_all_cases_run_and_each_failed_case_is_named() -> None:
    called: list[int] = []

    def test(number: int) -> None:
        called.append(number)
        assert number < 3, "too large"
        if number == 2:
            pytest.fail("two")

    run = runner(test, [Case(f"case {number}", {"number": number}) for number in range(5)], [])  # type: ignore[arg-type]
    with pytest.raises((AssertionError, pytest.fail.Exception)) as failed:
        run()
    [note] = failed.value.__notes__
    assert sorted(called) == [0, 1, 2, 3, 4]
    assert note.startswith("3 of 5 cases failed: case ")
    assert {f"case {number}" in note for number in (2, 3, 4)} == {True}
    assert "case 1" not in note


def test_a_skipped_case_does_not_end_its_group() -> None:
    called: list[int] = []

    def test(number: int) -> None:
        called.append(number)
        pytest.skip("not here")

    run = runner(test, [Case(str(number), {"number": number}) for number in range(3)], [])  # type: ignore[arg-type]
    with pytest.raises(pytest.skip.Exception, match="not here"):
        run()
    assert sorted(called) == [0, 1, 2]


def test_rows_are_read_as_pytest_reads_them() -> None:
    mark = pytest.mark.parametrize
    assert [row.arguments for row in rows(mark("a", [1, (2, 3)]).mark)] == [{"a": 1}, {"a": (2, 3)}]
    assert rows(mark("a, b", [(1, 2), pytest.param(3, 4, id="x")]).mark) == [
        Case("1-2", {"a": 1, "b": 2}),
        Case("x", {"a": 3, "b": 4}),
    ]
    assert [row.arguments for row in rows(mark(("a",), [(1,)]).mark)] == [{"a": 1}]
    assert [row.long for row in rows(mark("a", [1, pytest.param(2, marks=pytest.mark.long)]).mark)] == [False, True]
    assert [row.name for row in rows(mark("a", [1, 2], ids=["x", "y"]).mark)] == ["x", "y"]
    assert [row.name for row in rows(mark("a", [1, 2], ids=lambda value: f"n{value}").mark)] == ["n1", "n2"]


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(pytest.mark.parametrize("a", [1], indirect=True), id="for a fixture"),
        pytest.param(pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.timeout(9))]), id="a mark"),
        pytest.param(pytest.mark.parametrize("a", iter([1])), id="read once"),
    ],
)
def test_other_rows_are_not_grouped(mark: pytest.MarkDecorator) -> None:
    assert rows(mark.mark) == []


def test_cases_share_fixtures_if_asked() -> None:
    called: list[tuple[str, int]] = []

    def test(place: str, number: int) -> None:
        called.append((place, number))

    run = runner(test, [Case(str(number), {"number": number}) for number in range(3)], [], ["place"])  # type: ignore[arg-type]
    assert [*inspect.signature(run).parameters] == ["place"]
    run(place="here")
    assert sorted(called) == [("here", 0), ("here", 1), ("here", 2)]
