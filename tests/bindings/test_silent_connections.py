"""Connections to PostgreSQL that go silent or break, while the server answers all others."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingsUnavailable, OutcomeUnknown
from ararat.bindings.names.selection import select
from ararat.bindings.storage.databases import deadlines, engines
from ararat.bindings.storage.databases.postgresql import PostgreSQL
from ararat.bindings.storage.store import DatabaseStore
from ararat.middleware.statistics.counts import CountStore, DailyCount
from tests.silence import SilentProxy, silent_proxy

COMMIT = b"COMMIT"


@pytest.fixture
def url(cluster: Any) -> Iterator[str]:
    url = cluster.new_schema()
    yield url
    cluster.recycle(url)


@pytest.fixture
def proxy(cluster: Any) -> Iterator[SilentProxy]:
    with silent_proxy(cluster.port) as proxy:
        yield proxy


@pytest.fixture
def bindings(url: str, proxy: SilentProxy, open_store: Callable[..., Bindings]) -> Bindings:
    """Empty bindings behind a proxy."""
    open_store(url)
    parts = urlsplit(url)
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    behind = urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{proxy.port}"))
    bindings = open_store(behind, create=False)
    with bindings.store.transaction():
        pass  # SQLAlchemy asks the server for its version with a transaction of its own
    return bindings


class Clock:
    """The clock of the time limits. A minute passes when a connection goes silent, so that no test waits for a limit,
    and a busy machine reaches none."""

    def __init__(self) -> None:
        self.passed = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.passed

    def once(self, word: bytes) -> Callable[[bytes], bool]:
        """Return a rule that applies to the first data with a word."""
        left = [word]

        def rule(data: bytes) -> bool:
            if not (word in data and left):
                return False
            left.pop()
            self.passed += 60
            return True

        return rule


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(deadlines, "monotonic", clock.monotonic)
    return clock


def test_a_change_on_a_silent_connection_ends_and_the_next_one_works(
    bindings: Bindings, proxy: SilentProxy, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    bindings.bind("ark:12345/a", "https://example.org/a")
    proxy.swallow = clock.once(b"INSERT")
    started = time.monotonic()
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(BindingsUnavailable, match="the connection is silent") as raised,
    ):
        bindings.bind("ark:12345/b", "https://example.org/b")
    assert not isinstance(raised.value, OutcomeUnknown)
    assert time.monotonic() - started < 20
    assert "a connection to PostgreSQL is given up" in caplog.text
    assert bindings.bind("ark:12345/b", "https://example.org/b") == "bound"


def test_a_large_change_on_a_silent_connection_ends(bindings: Bindings, proxy: SilentProxy, clock: Clock) -> None:
    proxy.swallow = clock.once(b"SELECT pg_sleep")
    with (
        pytest.raises(BindingsUnavailable, match="the connection is silent"),
        bindings.store.transaction(large=True) as transaction,
    ):
        transaction.connection.exec_driver_sql("SELECT pg_sleep(0)")


def test_a_long_statement_of_a_large_change_continues_while_its_process_works(
    bindings: Bindings, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "SILENCE_SECONDS", 0.3)
    checks: list[bool] = []

    def responds(*server: object) -> bool:
        clock.passed += 60
        return True

    def works(connection: deadlines.DeadlineConnection) -> bool:
        monkeypatch.setattr(deadlines, "SILENCE_SECONDS", 20)
        checks.append(work(connection))
        monkeypatch.setattr(deadlines, "SILENCE_SECONDS", 0.3)
        return checks[-1]

    work = deadlines.DeadlineConnection._works
    monkeypatch.setattr(deadlines, "responds", responds)
    monkeypatch.setattr(deadlines.DeadlineConnection, "_works", works)
    with bindings.store.transaction(large=True) as transaction:
        transaction.connection.exec_driver_sql("SELECT pg_sleep(1.5)")
    assert checks
    assert all(checks)


def test_an_export_on_a_silent_connection_ends(bindings: Bindings, proxy: SilentProxy, clock: Clock) -> None:
    bindings.bind("ark:12345/a", "https://example.org/a")
    proxy.swallow = clock.once(b"FETCH")
    with pytest.raises(BindingsUnavailable, match="the connection is silent"), bindings.store.snapshot() as snapshot:
        list(snapshot.bindings())


def test_counts_on_a_silent_connection_end(cluster: Any, url: str, proxy: SilentProxy, clock: Clock) -> None:
    CountStore.at(url).prepare()
    counts = CountStore.at(url.replace(f":{cluster.port}", f":{proxy.port}"))
    row = DailyCount("ark:12345/x", date(2026, 11, 23), 1, 0)
    counts.add([row])
    proxy.swallow = clock.once(b"INSERT")
    with pytest.raises(BindingsUnavailable, match="the connection is silent"):
        counts.add([row])
    counts.add([row])
    assert counts.total().resolutions == 2


def test_a_small_change_does_not_limit_the_next_large_one(bindings: Bindings) -> None:
    bindings.bind("ark:12345/a", "https://example.org/a")
    with bindings.store.transaction() as transaction:
        engine = transaction.connection.engine
        assert not transaction.connection.connection.dbapi_connection.is_large  # type: ignore[union-attr]
    with engine.begin() as connection:  # a migration, for example
        assert connection.connection.dbapi_connection.is_large  # type: ignore[union-attr]


def test_an_idle_connection_is_replaced(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    bindings.bind("ark:12345/a", "https://example.org/a")
    monkeypatch.setattr(engines, "IDLE_SECONDS", 0.3)
    with bindings.store.transaction() as transaction:
        first = transaction.connection.connection.dbapi_connection
    time.sleep(0.4)
    with bindings.store.transaction() as transaction:
        assert transaction.connection.connection.dbapi_connection is not first
    assert bindings.bind("ark:12345/b", "https://example.org/b") == "bound"


def test_the_system_checks_connections(url: str) -> None:
    with PostgreSQL(url)._connect() as connection:
        parameters = connection.info.get_parameters()
    assert parameters["tcp_user_timeout"] == "10000"
    assert parameters["keepalives_idle"] == "10"
    separator = "&" if "?" in url else "?"
    with PostgreSQL(f"{url}{separator}tcp_user_timeout=7")._connect() as connection:
        assert connection.info.get_parameters()["tcp_user_timeout"] == "7"


def test_a_lost_answer_to_a_commit_is_looked_up(
    bindings: Bindings, proxy: SilentProxy, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    proxy.deafen = clock.once(COMMIT)
    with caplog.at_level(logging.WARNING):
        assert bindings.bind("ark:12345/a", "https://example.org/a") == "bound"
    assert "the answer to a COMMIT was lost" in caplog.text
    assert len(bindings.history("ark:12345/a")) == 1


def test_names_are_minted_once_if_the_answer_to_the_commit_is_lost(
    bindings: Bindings, proxy: SilentProxy, clock: Clock
) -> None:
    proxy.deafen = clock.once(COMMIT)
    minted = mint(bindings, "12345/x5", count=3)
    assert [name.identifier for name in bindings.list_names(select(prefix="ark:12345/")).names] == sorted(minted)


def test_a_commit_that_did_not_arrive_is_an_error_and_nothing_is_written(
    bindings: Bindings, proxy: SilentProxy, clock: Clock
) -> None:
    proxy.swallow = clock.once(COMMIT)
    with pytest.raises(BindingsUnavailable) as raised:
        bindings.bind("ark:12345/a", "https://example.org/a")
    # The server rolled back when the connection was closed.
    assert not isinstance(raised.value, OutcomeUnknown)
    assert bindings.lookup("ark:12345/a") is None


def test_an_outcome_that_cannot_be_found_out_has_an_error_of_its_own(
    bindings: Bindings, proxy: SilentProxy, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgreSQL, "outcome", lambda self, transaction: None)
    proxy.deafen = clock.once(COMMIT)
    with pytest.raises(OutcomeUnknown, match="closed the connection"):
        bindings.bind("ark:12345/a", "https://example.org/a")


def test_the_outcome_of_a_transaction(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings, database = open_store(url), PostgreSQL(url)
    numbers = []
    query = "SELECT pg_current_xact_id()::text || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
    for ends in ("commit", "rollback"):
        with bindings.store.transaction() as transaction:
            numbers.append(transaction.connection.exec_driver_sql(query).scalar_one())
            if ends == "rollback":
                transaction.rollback()
    committed, rolled_back = numbers
    assert database.outcome(committed) is True
    assert database.outcome(rolled_back) is False
    # A server of another timeline can have used the number for another transaction.
    assert database.outcome(f"{committed.split()[0]} FFFFFFFF") is None


@pytest.mark.long
@pytest.mark.timeout(180)
def test_a_stopped_process_of_the_server_holds_no_change_and_no_publication(
    url: str, open_store: Callable[..., Bindings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bindings = open_store(url)
    assert isinstance(bindings.store, DatabaseStore)
    folder, key = LogFolder(tmp_path / "log"), tmp_path / "log.key"
    initialize(bindings.store, folder, key, "example.org/log")
    bindings.bind("ark:12345/a", "https://example.org/a")

    stopped: list[int] = []

    def stop_the_idle_process() -> None:
        # The next transaction uses the connection that was used last.
        with bindings.store.transaction() as transaction:
            process = transaction.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        os.kill(process, signal.SIGSTOP)
        stopped.append(process)

    stop_the_idle_process()
    try:
        started = time.monotonic()
        # Nothing was sent but BEGIN, so a new connection is used.
        assert bindings.bind("ark:12345/b", "https://example.org/b") == "bound"
        assert 9 < time.monotonic() - started < 40
        stop_the_idle_process()
        started = time.monotonic()
        assert publish(bindings.store, folder, key).added == 2
        assert time.monotonic() - started < 60
    finally:
        for process in stopped:
            os.kill(process, signal.SIGCONT)
