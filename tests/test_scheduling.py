"""The tests of a file or of a folder with servers run in one process."""

from __future__ import annotations

import pytest

from tests.scheduling import unit


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tests/e2e/desk/test_lists.py::test_a_list[chromium]", "tests/e2e/desk/"),
        ("tests/e2e/test_lists.py::test_a_list[chromium]", "tests/e2e/"),
        ("tests/bindings/test_open.py::test_one[a::b]", "tests/bindings/test_open.py"),
    ],
)
def test_tests_that_share_servers_run_together(name: str, expected: str) -> None:
    assert unit(name) == expected
