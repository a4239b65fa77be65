"""The store of a database: the number of its names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.names.binding import NameCount
from ararat.bindings.storage.databases.sqlite import SQLite
from ararat.bindings.storage.store import MAX_COUNTED, count_names


@pytest.mark.parametrize(
    ("few", "estimate", "expected"),
    [
        pytest.param(0, None, NameCount(0, True), id="none"),
        pytest.param(MAX_COUNTED, 3, NameCount(MAX_COUNTED, True), id="as many as are counted"),
        pytest.param(MAX_COUNTED + 1, 2_000_000, NameCount(2_000_000, False), id="an estimate"),
        pytest.param(MAX_COUNTED + 1, 3, NameCount(MAX_COUNTED + 1, False), id="an estimate below the number"),
        pytest.param(MAX_COUNTED + 1, None, NameCount(MAX_COUNTED + 1, False), id="no estimate"),
    ],
)
def test_many_names_are_estimated(few: int, estimate: int | None, expected: NameCount) -> None:
    database: Any = SQLite(Path("names.sqlite"))
    rows = lambda query: [(estimate if query == database.estimate_sql else few,)]  # noqa: E731
    assert count_names(rows, database) == expected
