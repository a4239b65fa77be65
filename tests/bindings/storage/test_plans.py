"""Each list of a large database is bounded: the conditions and orders in a table, with the plans of both databases."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.selection import select
from ararat.bindings.open import bindings_at
from ararat.bindings.storage import listing
from ararat.bindings.storage.store import DatabaseStore

FILLING = run_path(str(Path(__file__).parents[2] / "bench" / "filling.py"))
NAMES = 1_000_000
MOST_ROWS = 110_000
"""The most rows that a part of a plan may read: those of a word of the tenth part of the names, in its index."""

MOST_STEPS = 1_000_000
"""The most steps of the virtual machine of SQLite for a statement. A comparison of all targets takes eight million."""

WITHOUT_TITLE = 30_000
"""The number of names below ``ark:12345/y``: more than those that are read first."""

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
CONDITIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "state": {"state": "withdrawn"},
    "few of a prefix": {"prefix": "ark:12345/x00000"},
    "many of a prefix": {"prefix": "ark:12345/x0001"},
    "host": {"target": "h45.example.org"},
    "host without names": {"target": "none.example.org"},
    "host and word": {"target": "h45.example.org", "text": "map"},
    "word": {"text": "map"},
    "word and state": {"text": "map", "state": "withdrawn"},
    "word and prefix": {"text": "map", "prefix": "ark:12345/x0000"},
    "word and prefix without it": {"text": "map", "prefix": "ark:12345/y"},
    "words that never meet": {"text": "h45 quarter"},
    "a part of an address": {"text": "h45.example.org/c0/12345"},
    "element": {"metadata": "what=Map"},
    "resource": {"resource": "INV 1"},
    "resource and state": {"resource": "INV 1", "state": "withdrawn"},
    "resource and word": {"resource": "INV 1", "text": "map"},
    "hold": {"hold": "yes"},
    "hold and word": {"hold": "yes", "text": "map"},
    "owner": {"owner": "tom"},
    "few of an owner": {"owner": "jane"},
    "few of an owner and many of a host": {"owner": "jane", "target": "h0.example.org"},
    "rare word and host": {"text": "quarter 976", "target": "h10.example.org"},
    "owner and word": {"owner": "tom", "text": "map"},
    "owner and host": {"owner": "tom", "target": "h11.example.org"},
    "owner and another host": {"owner": "tom", "target": "h45.example.org"},
    "time": {"changed_since": SINCE},
    "time and prefix": {"changed_since": SINCE, "prefix": "ark:12345/x00000"},
}
SORTS = (None, "-name", "title", "resource", "changed", "created")


OF_CONDITION = {
    "search_trigrams": "words",
    "search_text LIKE": "words",
    "events AS first": "owner",
    "bindings.target": "targets",
    "name_numbers": "resource",
    "bindings.hold_until": "hold",
    "bindings.recorded": "time",
    "bindings.key >=": "prefix",
}
"""The conditions by a text in the query for the number of names with them."""


@pytest.mark.parametrize(
    ("conditions", "numbers", "sqlite", "postgresql"),
    [
        ({"text": "map", "hold": "yes", "sort": "title"}, {"words": 4_000, "hold": 900}, "hold", "hold"),
        ({"text": "map", "hold": "yes"}, {"words": 4_000, "hold": 900}, "hold", "hold"),
        ({"text": "map", "hold": "yes"}, {"words": 700, "hold": 900}, None, "words"),
        ({"text": "map", "hold": "yes", "sort": "title"}, {"words": 700, "hold": 900}, "words", "words"),
        ({"text": "map", "owner": "tom", "sort": "changed"}, {"words": 4_000, "owner": 9_000}, "words", "words"),
        ({"owner": "tom", "sort": "changed"}, {"owner": 9_000}, "owner", "owner"),
        ({"owner": "tom", "sort": "changed"}, {"owner": 11_000}, None, None),
        ({"owner": "tom", "hold": "any"}, {"owner": 9_000, "hold": 900}, "hold", "hold"),
        ({"owner": "tom", "hold": "any"}, {"owner": 800, "hold": 900}, None, None),
        ({"target": "a.example", "sort": "title"}, {"targets": 9_000}, "targets", None),
        ({"target": "a.example", "sort": "title"}, {"targets": 11_000}, None, None),
        ({"target": "a.example", "prefix": "ark:12345/x"}, {"targets": 900, "prefix": 700}, "prefix", "prefix"),
        ({"target": "a.example", "prefix": "ark:12345/x"}, {"targets": 600, "prefix": 700}, None, None),
        ({"resource": "INV 1", "changed_since": SINCE}, {"resource": 3, "time": 900}, "resource", "resource"),
        ({"hold": "any", "prefix": "ark:12345/x"}, {"hold": 900, "prefix": 600}, None, None),
        ({"hold": "any", "prefix": "ark:12345/x", "sort": "title"}, {"hold": 900, "prefix": 600}, "prefix", "prefix"),
        ({"hold": "no", "sort": "title"}, {}, None, None),
    ],
)
def test_the_condition_with_the_fewest_names_is_read_first(
    conditions: dict[str, Any], numbers: dict[str, int], sqlite: str | None, postgresql: str | None
) -> None:
    """Unless the range of the order has fewer names, or all conditions have many of a million."""
    assert read_first("sqlite", conditions, numbers) == sqlite
    assert read_first("postgresql", conditions, numbers) == postgresql


def read_first(dialect: str, conditions: dict[str, Any], numbers: dict[str, int]) -> str | None:
    """Return the condition whose names a page reads first, or None if it is read in its order."""
    queries: list[str] = []
    few: list[str] = []

    def read(text: str, parameters: Sequence[Any]) -> Sequence[Any]:
        if re.search(r"LIMIT \S+ OFFSET", text):
            return []
        if text.startswith(("SELECT count(*) FROM (", "SELECT bindings.key FROM")):
            condition = next(name for mark, name in OF_CONDITION.items() if mark in text)
            number = numbers.get(condition, NAMES)
            if number < parameters[-1]:
                few.append(condition)
            number = min(number, parameters[-1])
            return [(number,)] if text.startswith("SELECT count") else [("ark:12345/x",)] * number
        if "bindings.redirect" not in text:
            return [(NAMES,)]
        queries.append(text)
        return []

    listing.Lists(dialect).page(read, select(**conditions), None, 100)
    return few[-1] if any(mark in queries[0] for mark in listing._OF_FEW) else None


@pytest.mark.parametrize("sort", [None, "resource", "-resource"])
def test_a_list_of_resources_requires_one_only_once(sort: str | None) -> None:
    """PostgreSQL expects fewer names for each repetition, and would sort all resources with the beginning."""
    texts: list[str] = []

    def read(text: str, _: Sequence[Any]) -> Sequence[Any]:
        texts.append(text)
        return []

    listing.Lists("postgresql").page(read, select(resource_prefix="INV ", sort=sort), None, 100)
    assert [each.count("bindings.resource IS NOT NULL") for each in texts] == [1]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseStore]:
    """A database with a million names."""
    url = f"sqlite:///{tmp_path_factory.mktemp('large')}/names.sqlite"
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster").new_database()
    with bindings_at(url, create=True) as bindings:
        bindings.open()
        FILLING["fill"](url, 0, NAMES)
        table = tmp_path_factory.mktemp("tables") / "names.csv"
        table.write_text(
            "identifier,target\n"
            + "".join(f"ark:12345/y{number},https://h7.example.org/y\n" for number in range(WITHOUT_TITLE))
        )
        import_table(bindings, table)
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
        if page.next is not None:
            large.lists.page(read, select(**conditions, sort=sort), page.next, 100)
        wrong += [f"{what}, {sort}: {plan}" for plan in plans if not is_bounded(plan, is_sqlite=is_sqlite)]
    assert not wrong, "\n\n".join(wrong)


def explaining(store: DatabaseStore, plans: list[str]) -> Callable[[str, Sequence[Any]], Sequence[Any]]:
    """Return a function that reads rows, and adds the plan of each statement with the number of the rows it read."""
    is_sqlite = str(store).startswith("sqlite")
    explain = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN (ANALYZE, TIMING OFF)"

    def read(text: str, parameters: Sequence[Any]) -> Sequence[Any]:
        lines = [str(row[-1]) for row in store._rows(f"{explain} {text}", parameters)]
        if is_sqlite:
            lines.append(f"steps={count_steps(str(store).removeprefix('sqlite:///'), text, parameters)}")
        plans.append("\n".join([text, *lines]))
        return store._rows(text, parameters)

    return read


def count_steps(file: str, text: str, parameters: Sequence[Any]) -> int:
    """Return the number of the steps of the virtual machine of SQLite for a statement, in whole thousands."""
    number = 0

    def add() -> None:
        nonlocal number
        number += 1

    with closing(sqlite3.connect(file)) as connection:
        connection.set_progress_handler(add, 1000)
        connection.execute(text, parameters).fetchall()
    return number * 1000


def is_bounded(plan: str, *, is_sqlite: bool) -> bool:
    """Return whether a statement reads a range or few rows, and sorts only few."""
    if is_sqlite:
        # Without a range, a scan must be in the order of an index, whose LIMIT ends it.
        steps = int(plan.rpartition("steps=")[2])
        return steps <= MOST_STEPS and not re.search(r"SCAN (?:bindings|first|events)\b(?! USING)", plan)
    rows = [int(number) * int(loops) for number, loops in re.findall(r"actual rows=(\d+) loops=(\d+)", plan)]
    rows += map(int, re.findall(r"Rows Removed by Filter: (\d+)", plan))
    return max(rows) <= MOST_ROWS
