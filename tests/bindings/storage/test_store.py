"""The store of a database: the number of its names, and names with the last traces of their targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.binding import NameCount
from ararat.bindings.storage.databases.sqlite import SQLite
from ararat.bindings.storage.rows import LastTrace
from ararat.bindings.storage.store import MAX_COUNTED, count_names
from ararat.tracing.links.model import TracedTarget
from ararat.tracing.links.store import Links


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


def test_a_name_is_read_with_the_last_trace_of_its_target(bindings: Bindings) -> None:
    names = [f"ark:12345/x{number}" for number in range(3)]
    for name in names:
        bindings.bind(name, f"https://old.example/{name[-1]}")
    now = bindings.now()
    said = "The last response was 404."
    traces = [
        TracedTarget(
            identifier=name,
            key=name,
            target=f"https://old.example/{name[-1]}",
            state="dead",
            status=404,
            url=None,
            code="error-status",
            sentence=said,
            since=now,
            traced=now,
        )
        for name in names[:2]
    ]
    Links(bindings).record(traces)
    bindings.relocate(names[1], "https://new.example/1")
    found, traced = bindings.store.fetch_traced(names)
    assert found.keys() == {*names}
    assert list(traced) == names[:1]
    assert traced[names[0]] == LastTrace("dead", 404, None, said, now, now)
