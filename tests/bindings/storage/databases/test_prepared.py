"""The connection for reading gives the same answers and errors as the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import psycopg
import pytest
from psycopg import errors

from ararat.bindings.collection import Bindings
from ararat.bindings.names.selection import select
from ararat.bindings.open import database_at
from ararat.bindings.storage.databases.prepared import MOST, PreparedConnection
from ararat.bindings.storage.store import DatabaseStore, create_database


@pytest.fixture
def driver(cluster) -> Iterator[psycopg.Connection]:
    with psycopg.connect(f"{cluster._url()}/postgres", autocommit=True) as connection:
        yield connection


def prepared_by(connection: psycopg.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM pg_prepared_statements ORDER BY name")
    return [name for (name,) in rows.fetchall()]


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("SELECT 1, 2::bigint, NULL, 'x', true, now() IS NULL", ()),
        ("SELECT %s::text", ("ark:12345/x",)),
        ("SELECT %s::text || %s", ("a", "b")),
        ("SELECT %s::text", ("é € 𝄞 \\ ' \" % $1",)),
        ("SELECT generate_series(1, 3), %s::text", ("",)),
        ("SELECT 1 WHERE %s = 'x'", ("y",)),
        ("SELECT 'x' LIKE 'x%%', %s::text", ("x",)),
        ("SELECT %s::int + 1", (1,)),
        ("SELECT %s::text, %s::int", ("x", 1)),
        ("SELECT value FROM unnest(%s::text[]) AS v(value)", (["a", "b"],)),
        ("SELECT %s::text", (None,)),
    ],
)
def test_answers_are_those_of_the_driver(
    driver: psycopg.Connection, query: str, parameters: tuple[object, ...]
) -> None:
    connection = PreparedConnection(driver)
    expected = driver.execute(query.encode(), parameters).fetchall()
    for _ in range(2):
        assert connection.execute(query, parameters).fetchall() == expected
        assert connection.execute(query, parameters).fetchone() == (expected[0] if expected else None)


def test_a_statement_is_prepared_once(driver: psycopg.Connection) -> None:
    connection = PreparedConnection(driver)
    for letter in "abc":
        assert connection.execute("SELECT %s::text", (letter,)).fetchall() == [(letter,)]
    assert prepared_by(driver) == ["ararat_0"]


def test_the_number_of_prepared_statements_is_limited(driver: psycopg.Connection) -> None:
    connection = PreparedConnection(driver)
    for number in range(MOST + 10):
        assert connection.execute(f"SELECT {number}, %s::text", ("x",)).fetchall() == [(number, "x")]
    assert len(prepared_by(driver)) == MOST


def test_plans_of_lookups_in_partitions_are_kept_and_those_of_lists_are_not(
    cluster: Any, open_store: Callable[..., Bindings]
) -> None:
    url = cluster.new_schema()
    create_database(database_at(url), partitions=4)
    bindings = open_store(url)
    names = [f"ark:12345/x{number}" for number in range(5)]
    for name in names:
        bindings.bind(name, f"https://example.org/{name}")
    for _ in range(6):
        for name in names:
            assert [*bindings.store.fetch([name])] == [name]
        assert sorted(bindings.store.fetch([*names, "ark:12345/y"])) == names
        assert [each.identifier for each in bindings.list_names(select(prefix=names[2])).names] == [names[2]]
    counted = "SELECT name, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"
    read = cast(DatabaseStore, bindings.store)._readers.rows
    [(lookup, *of_one)] = read(counted, ("%WHERE key IN ($1)",))
    assert of_one == [30, 0]
    assert [row[1:] for row in read(counted, ("%WHERE key IN (%$6)",))] == [(6, 0)]
    [(_, generic, custom)] = read(counted, ("%ORDER BY bindings.key%",))
    assert custom >= 5 > generic
    # A kept plan reads only the partition of the key.
    read("SELECT set_config('plan_cache_mode', 'force_generic_plan', false)", ())
    plan = "\n".join(line for (line,) in read(f"EXPLAIN EXECUTE {lookup}('ark:12345/x1')", ()))
    assert "Subplans Removed: 3" in plan


@pytest.mark.parametrize(
    ("query", "parameter", "error"),
    [
        ("SELECT * FROM missing WHERE key = %s", "x", errors.UndefinedTable),
        ("SELECT %s::text::int", "x", errors.InvalidTextRepresentation),
        ("SELECT pg_sleep(%s::text::float)", "5", errors.QueryCanceled),
        # libpq would look up "ark:12345/x".
        ("SELECT %s::text", "ark:12345/x\0y", errors.DataError),
        ("SELECT %s::text", "\ud800", UnicodeEncodeError),
    ],
)
def test_errors_are_those_of_the_driver_and_leave_the_connection_usable(
    driver: psycopg.Connection, query: str, parameter: str, error: type[Exception]
) -> None:
    # A busy server can need longer for the other statements.
    limit = b"SET statement_timeout = %d" % (50 if error is errors.QueryCanceled else 0)
    connection = PreparedConnection(driver)
    driver.execute(limit)
    with pytest.raises(error):
        driver.execute(query.encode(), (parameter,))
    for _ in range(2):
        driver.execute(limit)
        with pytest.raises(error):
            connection.execute(query, (parameter,))
        driver.execute("SET statement_timeout = 0")
        assert connection.execute("SELECT %s::text", ("x",)).fetchall() == [("x",)]


def test_another_encoding_of_the_client_is_left_to_the_driver(driver: psycopg.Connection) -> None:
    driver.execute("SET client_encoding = 'latin1'")
    assert PreparedConnection(driver).execute("SELECT %s::text", ("é",)).fetchall() == [("é",)]
    assert prepared_by(driver) == []


def test_a_lost_connection_is_reported(driver: psycopg.Connection) -> None:
    connection = PreparedConnection(driver)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid()), %s::text", ("x",))
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid()), %s::text", ("x",))
    connection.close()
