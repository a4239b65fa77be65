"""The names below a name: its parts and variants, in each store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.selection import Selection

NAME = "ark:12345/x5"
BELOW = [f"{NAME}.pdf", f"{NAME}/a", f"{NAME}/a/b", f"{NAME}/b.en"]
OTHERS = [NAME, f"{NAME}a", f"{NAME}0", f"{NAME}-", f"{NAME}~", "ark:12345/x4/a", "ark:12345/x6"]


@pytest.fixture(params=["sqlite", "postgresql", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    """A store with names below a name and beside it."""
    names = [*BELOW, *(name for name in OTHERS if not name.endswith("-"))]
    if request.param == "file":
        table = tmp_path / "names.csv"
        table.write_text("identifier,target\n" + "".join(f"{name},https://example.org/\n" for name in names))
        return open_store(table, create=False)
    url = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster").new_schema()
    bindings = open_store(url)
    for name in names:
        bindings.bind(name, "https://example.org/")
    return bindings


@pytest.mark.one_setup
@pytest.mark.parametrize("limit", [1, 3, 4, 100])
def test_parts_and_variants_are_below_a_name(store, limit):
    assert [each.identifier for each in store.store.names_below(NAME, limit)] == BELOW[:limit]


def test_a_name_without_others_below_has_none(store):
    assert store.store.names_below(f"{NAME}/b.en", 100) == []
    assert [each.identifier for each in store.store.names_below(f"{NAME}/b", 100)] == [f"{NAME}/b.en"]


def test_they_are_those_of_two_lists(store):
    listed = [each for sign in "./" for each in store.list_names(Selection(prefix=f"{NAME}{sign}")).names]
    assert store.store.names_below(NAME, 100) == listed


def test_reserved_and_withdrawn_names_and_due_publications_are_stated(database, open_store):
    now = datetime(2026, 11, 26, tzinfo=UTC)
    bindings = open_store(database, clock=lambda: now)
    bindings.bind(f"{NAME}/a", "https://example.org/", status="reserved")
    bindings.bind(f"{NAME}/b", "https://example.org/")
    bindings.withdraw(f"{NAME}/b")
    bindings.bind(f"{NAME}/c", "https://example.org/", status="reserved", embargo="2026-11-27")
    assert [each.status for each in bindings.store.names_below(NAME, 100)] == ["reserved", "withdrawn", "reserved"]
    now += timedelta(days=2)
    assert [each.status for each in bindings.store.names_below(NAME, 100)] == ["reserved", "withdrawn", "live"]


def test_a_row_that_cannot_be_read_is_left_out(tmp_path, open_store):
    file = tmp_path / "bindings.sqlite"
    bindings = open_store(file)
    for name in (f"{NAME}/a", f"{NAME}/b"):
        bindings.bind(name, "https://example.org/", metadata={"what": "A map"})
    with closing(sqlite3.connect(file)) as connection, connection:
        for trigger in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {json.dumps(trigger[0])}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE bindings SET created = 'yesterday' WHERE key = ?", (f"{NAME}/a",))
    assert [each.identifier for each in bindings.store.names_below(NAME, 100)] == [f"{NAME}/b"]
