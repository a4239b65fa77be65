"""Test the pool of reading connections: their number, their lifetime, and when they are closed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.storage.databases import connections
from ararat.bindings.storage.databases.connections import KEPT, Readers
from tests.forking import exit_code


class Broken(Exception):
    """The connection is broken."""


class Cancelled(Broken):
    """A statement was cancelled; the connection is still good."""


class Connection:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.closed = False

    def execute(self, query: Any, params: Sequence[Any] = (), /) -> Connection:
        assert not self.closed
        self.database.statements += 1
        if callable(query):
            query()
        return self

    def fetchall(self) -> list[tuple[Any, ...]]:
        return []

    def close(self) -> None:
        self.closed = True


class Database:
    """A database that counts its connections."""

    driver_error = Broken
    most_readers = 3
    version_sql = None

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.statements = 0

    def fingerprint(self, in_use: bool = False, /) -> None:
        return None

    def is_same_file(self, before: object, now: object) -> bool:
        return False

    def connect_to_read(self) -> Connection:
        self.connections.append(Connection(self))
        return self.connections[-1]

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        return BindingsUnavailable(str(error))

    def is_transient(self, error: Exception) -> bool:
        return isinstance(error, Cancelled)

    @property
    def open(self) -> list[Connection]:
        return [connection for connection in self.connections if not connection.closed]


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def pool(database: Database) -> Iterator[Readers]:
    pool = Readers(database, lambda connection: None)
    yield pool
    pool.close()
    assert database.open == []


class Busy:
    """Lookups that run in threads until they are released."""

    def __init__(self, pool: Readers, number: int) -> None:
        self._end = threading.Event()
        self._begun = threading.Barrier(number + 1, timeout=20)
        self._threads = [threading.Thread(target=pool.rows, args=(self._query, ())) for _ in range(number)]
        for thread in self._threads:
            thread.start()
        self._begun.wait()

    def _query(self) -> None:
        self._begun.wait()
        self._end.wait(20)

    def end(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join(20)


def use_at_once(pool: Readers, number: int) -> None:
    Busy(pool, number).end()


def fail(error: Exception) -> Any:
    def query() -> None:
        raise error

    return query


def test_consecutive_lookups_use_one_connection(database: Database, pool: Readers) -> None:
    for _ in range(10):
        pool.rows("", ())
    assert (len(database.connections), database.statements) == (1, 10)


def test_a_cancelled_statement_is_not_repeated_and_closes_no_connection(database: Database, pool: Readers) -> None:
    use_at_once(pool, 3)
    before = database.statements
    with pytest.raises(BindingsUnavailable, match="too slow"):
        pool.rows(fail(Cancelled("too slow")), ())
    assert database.statements == before + 1
    assert len(database.open) == len(database.connections) == 3


def test_a_cancelled_statement_keeps_a_new_connection_too(database: Database, pool: Readers) -> None:
    with pytest.raises(BindingsUnavailable):
        pool.rows(fail(Cancelled()), ())
    pool.rows("", ())
    assert len(database.connections) == 1


def test_a_broken_connection_closes_idle_ones_and_is_retried(database: Database, pool: Readers) -> None:
    use_at_once(pool, 3)
    failures = iter([Broken("broken")])

    def once() -> Any:
        for failure in failures:
            raise failure

    again: Any = once
    assert pool.rows(again, ()) == []
    assert (len(database.connections), len(database.open)) == (4, 1)
    with pytest.raises(BindingsUnavailable):
        pool.rows(fail(Broken("for good")), ())
    assert database.open == []


def test_any_other_exception_closes_its_connection(database: Database, pool: Readers) -> None:
    with pytest.raises(KeyError):
        pool.rows(fail(KeyError()), ())
    assert database.open == []


def test_a_lookup_waits_for_a_returned_connection(database: Database, pool: Readers) -> None:
    busy = Busy(pool, 3)
    waiting = threading.Thread(target=pool.rows, args=("", ()))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    busy.end()
    waiting.join(20)
    assert not waiting.is_alive()
    assert len(database.connections) == 3


def test_a_lookup_waits_a_limited_time_for_a_connection(pool: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "WAIT_SECONDS", 0.1)
    busy = Busy(pool, 3)
    with pytest.raises(BindingsUnavailable, match=r"all 3 connections for reading were in use for 0\.1 s"):
        pool.rows("", ())
    busy.end()
    pool.rows("", ())


def test_a_slot_is_released_if_no_connection_can_be_made(
    database: Database, pool: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "connect_to_read", fail(BindingsUnavailable("down")))
    for _ in range(5):
        with pytest.raises(BindingsUnavailable, match="down"):
            pool.rows("", ())
    monkeypatch.undo()
    use_at_once(pool, 3)


def test_few_connections_are_kept_after_a_burst(
    database: Database, pool: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Database, "most_readers", 20)
    use_at_once(pool, 20)
    assert len(database.open) == KEPT


def test_a_long_idle_connection_is_closed(database: Database, pool: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    use_at_once(pool, 3)
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    pool.rows("", ())
    assert len(database.open) <= 1


def test_a_connection_has_a_maximum_age(database: Database, pool: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.rows("", ())
    monkeypatch.setattr(connections, "LIFETIME_SECONDS", 0.0)
    pool.rows("", ())
    assert [connection.closed for connection in database.connections] == [True, False]


def test_a_connection_returned_to_a_closed_pool_is_closed(database: Database, pool: Readers) -> None:
    pool.rows("", ())
    busy = Busy(pool, 2)
    pool.close()
    assert len(database.open) == 2
    busy.end()
    assert database.open == []
    with pytest.raises(BindingsUnavailable, match="closed"):
        pool.rows("", ())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("hook", [True, False], ids=["with the hook", "without the hook"])
def test_a_forked_process_has_its_own_connections(
    database: Database, pool: Readers, monkeypatch: pytest.MonkeyPatch, hook: bool
) -> None:
    if not hook:
        monkeypatch.setattr(connections._at_fork, "_references", set())
    busy = Busy(pool, 3)

    def use() -> None:
        use_at_once(pool, 3)
        assert len(database.open) == 6

    assert exit_code(use) == 0
    busy.end()
