"""The counts in the database, of SQLite and of PostgreSQL."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date, timedelta

import psycopg
import pytest

from ararat.middleware import BindingError, BindingsUnavailable, open_bindings
from ararat.middleware.statistics.counts import CountSelection, CountStore, DailyCount, Total

X, Y, URN = "ark:12345/x1", "ark:12345/y", "urn:isbn:9780451450524"
LONG = "ark:12345/" + 250 * "%F0%9F%98%80"
FIRST = date(2025, 12, 31)
COUNTS = [
    DailyCount(X, FIRST, 5, 0),
    DailyCount(X, FIRST + timedelta(1), 1, 2),
    DailyCount(X, FIRST + timedelta(40), 1, 1),
    DailyCount(Y, FIRST + timedelta(1), 30, 0),
    DailyCount(URN, FIRST + timedelta(2), 0, 1),
    DailyCount(LONG, FIRST, 1, 0),
]


@pytest.fixture
def counts(database):
    store = CountStore.at(database)
    store.prepare()
    store.prepare()
    return store


def test_counts_are_added_and_summed_up(counts):
    for _ in range(2):
        counts.add(COUNTS)
    names = counts.totals("name")
    assert [(each.label[:12], *each[1:]) for each in names] == [
        (Y, 60, 0), (X, 14, 6), (LONG[:12], 2, 0), (URN[:12], 0, 2)
    ]  # fmt: skip
    assert counts.totals("name", limit=1) == [Total(Y, 60, 0)]
    assert counts.totals("day", CountSelection(name=X)) == [
        Total("2026-02-09", 2, 2), Total("2026-01-01", 2, 4), Total("2025-12-31", 10, 0)
    ]  # fmt: skip
    assert counts.totals("month", CountSelection(prefix="ark:12345/x")) == [
        Total("2026-02", 2, 2), Total("2026-01", 2, 4), Total("2025-12", 10, 0)
    ]  # fmt: skip
    assert counts.totals("year", CountSelection(name=LONG)) == [Total("2025", 2, 0)]
    assert counts.total() == Total("", 76, 8)
    assert counts.total(CountSelection(first=FIRST + timedelta(1), last=FIRST + timedelta(2))) == Total("", 62, 6)
    assert counts.total(CountSelection(name="ark:12345/x' OR '1'='1", prefix="%")) == Total("", 0, 0)
    assert counts.delete_before(date(2026, 1, 1)) == 2
    assert counts.totals("day", CountSelection(name=X))[-1] == Total("2026-01-01", 2, 4)


def test_processes_that_count_the_same_names_lose_nothing(database, counts):
    stores = [CountStore.at(database) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for each in stores:
            for order in (COUNTS, COUNTS[::-1]):
                pool.submit(each.add, order)
    assert counts.total() == Total("", 6 * 38, 6 * 4)


def test_a_file_of_names_is_refused(tmp_path):
    path = str(tmp_path / "names.sqlite")
    open_bindings(path, create=True).close()
    with pytest.raises(BindingError, match="use another file for the statistics") as refused:
        CountStore.at(path).prepare()
    assert refused.value.code == "foreign-database"


def test_rows_of_another_program_are_reported(tmp_path):
    path = str(tmp_path / "counts.sqlite")
    counts = CountStore.at(path)
    counts.prepare()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO daily_counts VALUES (X'FF', '2026-01-01', 1, 1)")
    with pytest.raises(BindingsUnavailable, match="UTF-8"):
        counts.totals("name")


def test_a_place_without_counts_is_named_with_the_setting(tmp_path):
    open_bindings(tmp_path / "names.sqlite", create=True).close()
    for name in ("names.sqlite", "missing.sqlite"):
        counts = CountStore.at(str(tmp_path / name))
        for action in (counts.total, lambda counts=counts: counts.delete_before(FIRST)):
            with pytest.raises(BindingsUnavailable, match="has no statistics; name the place of the setting"):
                action()
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_database_on_a_server_can_have_the_counts_before_the_names(cluster):
    url = cluster.new_schema()
    counts = CountStore.at(url)
    counts.prepare()
    counts.add(COUNTS)
    with open_bindings(url, create=True) as bindings:
        bindings.bind(X, "https://example.org/")
    assert counts.total() == Total("", 38, 4)


def test_a_database_of_names_on_a_server_can_have_the_counts(cluster):
    url = cluster.new_schema()
    with open_bindings(url, create=True) as bindings:
        bindings.bind(X, "https://example.org/")
        counts = CountStore.at(url)
        counts.prepare()
        counts.add(COUNTS)
        assert counts.total() == Total("", 38, 4)
        assert [*bindings.store.fetch([X])] == [X]
    with open_bindings(url) as bindings:
        assert bindings.open().count().number == 1


def test_a_connection_to_a_server_that_became_a_standby_is_not_kept(cluster):
    # PgBouncer keeps the connections of its clients when its server becomes a standby.
    counts = CountStore.at(cluster.new_schema())
    counts.prepare()
    with counts._database.engine.begin() as connection:
        connection.exec_driver_sql("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    with pytest.raises(BindingsUnavailable, match="read-only"):
        counts.add(COUNTS)
    counts.add(COUNTS)
    assert counts.total() == Total("", 38, 4)


def test_a_role_needs_no_other_permission(cluster):
    url = cluster.new_database()
    CountStore.at(url).prepare()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS counter")
        connection.execute("CREATE ROLE counter LOGIN")
        connection.execute("GRANT SELECT, INSERT, UPDATE ON daily_counts TO counter")
    counts = CountStore.at(url.replace("ararat@", "counter@"))
    counts.prepare()
    counts.add(COUNTS)
    assert counts.total() == Total("", 38, 4)


def test_a_place_that_cannot_be_reached_is_reported(tmp_path, unused_port):
    missing = CountStore.at(str(tmp_path / "no" / "counts.sqlite"))
    for action in (missing.prepare, missing.total, lambda: missing.add(COUNTS)):
        with pytest.raises(BindingsUnavailable, match=r"counts\.sqlite"):
            action()
    server = CountStore.at(f"postgresql://ararat:secret@127.0.0.1:{unused_port}/x")
    with pytest.raises(BindingsUnavailable) as refused:
        server.prepare()
    assert "secret" not in f"{refused.value}{server}"
    with pytest.raises(BindingError, match=r"is not the name of a database"):
        CountStore.at("counts.csv")
