"""The tests of a file, or of a folder with servers, are given to one worker. Those that take longest come first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.scheduling import units

NAMES = (
    "tests/bindings/test_open.py::test_one[a::b]",
    "tests/e2e/test_lists.py::test_a_list[chromium]",
    "tests/bindings/test_new.py::test_one",
    "tests/e2e/desk/test_lists.py::test_a_list[chromium]",
    "tests/bindings/test_open.py::test_two",
)


def test_files_are_ordered_by_their_time() -> None:
    known = {"tests/bindings/test_open.py": 90.0}
    cache = SimpleNamespace(get=lambda name, default: known)
    session: Any = SimpleNamespace(
        items=[SimpleNamespace(nodeid=name) for name in NAMES],
        config=SimpleNamespace(cache=cache, pluginmanager=SimpleNamespace(has_plugin=lambda name: True)),
    )
    assert units(session) == [[2], [1, 3], [0, 4]]
