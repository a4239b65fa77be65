"""The tests of a file, or of a folder with servers, are given to one worker. Those that take longest come first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.scheduling import DESCRIBED, READING, SLOW, TOGETHER, units

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


def test_the_first_run_begins_with_the_slow_files() -> None:
    names = [
        "tests/a.py::test_one",
        *["tests/many.py::test_one"] * 200,
        f"{SLOW[0]}::test_one",
        "tests/e2e/a.py::test_one",
    ]
    session: Any = SimpleNamespace(
        items=[SimpleNamespace(nodeid=name) for name in names],
        config=SimpleNamespace(pluginmanager=SimpleNamespace(has_plugin=lambda name: False)),
    )
    assert [unit[0] for unit in units(session)] == [0, 1, 201, 202]
    root = Path(__file__).parents[1]
    assert [name for name in (*SLOW, *TOGETHER, *DESCRIBED, *READING) if not (root / name).exists()] == []
