"""Each list of a large database is bounded: the conditions and orders in a table, with the plans of both databases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from ararat.bindings.names.selection import select
from ararat.bindings.open import bindings_at
from ararat.bindings.storage import listing
from ararat.bindings.storage.store import DatabaseStore

FILLING = run_path(str(Path(__file__).parents[2] / "bench" / "filling.py"))
NAMES = 1_000_000
MOST_ROWS = 110_000
"""The most rows that a part of a plan may read: those of a word of the tenth part of the names, in its index."""

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
CONDITIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "state": {"state": "withdrawn"},
    "few of a prefix": {"prefix": "ark:12345/x00000"},
    "many of a prefix": {"prefix": "ark:12345/x0001"},
    "host": {"target": "h45.example.org"},
    "host and word": {"target": "h45.example.org", "text": "map"},
    "word": {"text": "map"},
    "word and state": {"text": "map", "state": "withdrawn"},
    "word and prefix": {"text": "map", "prefix": "ark:12345/x0000"},
    "words that never meet": {"text": "h45 quarter"},
    "a part of an address": {"text": "h45.example.org/c0/12345"},
    "element": {"metadata": "what=Map"},
    "resource": {"resource": "INV 1"},
    "resource and state": {"resource": "INV 1", "state": "withdrawn"},
    "resource and word": {"resource": "INV 1", "text": "map"},
    "hold": {"hold": "yes"},
    "hold and word": {"hold": "yes", "text": "map"},
    "owner": {"owner": "tom"},
    "owner and word": {"owner": "tom", "text": "map"},
    "time": {"changed_since": SINCE},
    "time and prefix": {"changed_since": SINCE, "prefix": "ark:12345/x00000"},
}
SORTS = (None, "-name", "title", "resource", "changed", "created")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseStore]:
    """A database with a million names."""
    url = f"sqlite:///{tmp_path_factory.mktemp('large')}/names.sqlite"
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster").new_database()
    with bindings_at(url, create=True) as bindings:
        bindings.open()
        FILLING["fill"](url, 0, NAMES)
        assert isinstance(bindings.store, DatabaseStore)
        yield bindings.store


@pytest.mark.long
@pytest.mark.timeout(600)
def test_each_list_of_a_million_names_reads_a_bounded_number_of_them(
    large: DatabaseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A list that is not full goes on until its end, so that each of its parts is explained.
    monkeypatch.setattr(listing, "SEARCH_SECONDS", -1)
    is_sqlite = str(large).startswith("sqlite")
    wrong: list[str] = []
    for (what, conditions), sort in product(CONDITIONS.items(), SORTS):
        plans: list[str] = []
        read = explaining(large, plans)
        page = large.lists.page(read, select(**conditions, sort=sort), None, 100)
        # The list has ended, is full, or goes on.
        assert page.names or page.searched or page.next is None
        wrong += [f"{what}, {sort}: {plan}" for plan in plans if not is_bounded(plan, is_sqlite=is_sqlite)]
    assert not wrong, "\n\n".join(wrong)


def explaining(store: DatabaseStore, plans: list[str]) -> Callable[[str, Sequence[Any]], Sequence[Any]]:
    """Return a function that reads rows, and adds the plan of each statement with the number of the rows it read."""
    explain = "EXPLAIN QUERY PLAN" if str(store).startswith("sqlite") else "EXPLAIN (ANALYZE, TIMING OFF)"

    def read(text: str, parameters: Sequence[Any]) -> Sequence[Any]:
        plans.append("\n".join(str(row[-1]) for row in store._rows(f"{explain} {text}", parameters)))
        return store._rows(text, parameters)

    return read


def is_bounded(plan: str, *, is_sqlite: bool) -> bool:
    """Return whether a statement reads a range or few rows, and sorts only few."""
    if is_sqlite:
        # Without a range, a scan must be in the order of an index, whose LIMIT ends it.
        return not re.search(r"SCAN (?:bindings|first|events)\b(?! USING)", plan)
    rows = [int(number) * int(loops) for number, loops in re.findall(r"actual rows=(\d+) loops=(\d+)", plan)]
    rows += map(int, re.findall(r"Rows Removed by Filter: (\d+)", plan))
    return max(rows) <= MOST_ROWS
