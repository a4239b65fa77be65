"""PostgreSQL: what is its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from io import BytesIO

import pytest
from sqlalchemy import text

from ararat.middleware import patience
from ararat.middleware.bindings import Bindings, open_bindings
from ararat.middleware.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ararat.middleware.exporting import export_table

NAME = "ark:12345/doc"


@pytest.fixture
def url(cluster) -> str:
    return cluster.new_database()


@pytest.fixture
def bindings(url: str, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(url)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_the_url_may_be_written_as_hosts_and_sqlalchemy_write_it(
    url: str, open_store: Callable[..., Bindings], scheme: str
) -> None:
    bindings = open_store(url.replace("postgresql", scheme, 1))
    assert bindings.bind(NAME, "/x") == "bound"
    assert repr(bindings) == f"<Bindings {url.replace('ararat@', '')}>"


def test_a_password_is_never_shown(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(url.replace("ararat@", "ararat:secret@"))
    assert "secret" not in repr(bindings)
    assert "secret" not in repr(bindings.store._database.engine)


def test_a_server_that_is_not_there_is_said_without_password(unused_port: int) -> None:
    with pytest.raises(BindingsUnavailable) as refused:
        open_bindings(f"postgresql://ararat:secret@127.0.0.1:{unused_port}/x", create=True)
    chain: BaseException | None = refused.value
    while chain is not None:
        assert "secret" not in f"{chain!r} {chain}"
        chain = chain.__cause__ or chain.__context__


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_several_servers_in_one_url(url: str, unused_port: int, open_store: Callable[..., Bindings]) -> None:
    where = url.partition("@")[2].partition("/")
    several = f"postgresql://ararat@127.0.0.1:{unused_port},{where[0]}/{where[2]}"
    bindings = open_store(several)
    assert bindings.bind(NAME, "/x") == "bound"
    assert f"127.0.0.1:{unused_port},{where[0]}" in repr(bindings)


def test_after_the_server_was_away_everything_goes_on(cluster, bindings: Bindings) -> None:
    bindings.bind(NAME, "/x")
    assert bindings.lookup(NAME) is not None
    cluster.halt()
    try:
        for _ in range(2):
            with pytest.raises(BindingsUnavailable):
                bindings.lookup(NAME)
            with pytest.raises(BindingsUnavailable):
                bindings.bind(NAME, "/x")
    finally:
        cluster.resume()
    assert bindings.lookup(NAME) is not None
    assert bindings.bind(NAME, "/x") == "unchanged"


def test_a_restart_that_nobody_saw_costs_no_answer(cluster, bindings: Bindings) -> None:
    bindings.bind(NAME, "/x")
    assert bindings.lookup(NAME) is not None
    cluster.halt()
    cluster.resume()
    assert bindings.lookup(NAME) is not None


def test_a_reader_cannot_write_and_does_not_wait_for_ever(bindings: Bindings) -> None:
    with pytest.raises(BindingsUnavailable, match="read-only"):
        bindings.store._readers.rows("DELETE FROM ararat", ())
    with pytest.raises(BindingsUnavailable, match="timeout"):
        bindings.store._readers.rows("SELECT pg_sleep(3)", ())


def test_a_look_through_everything_waits_longer_than_a_lookup(bindings: Bindings) -> None:
    """Among ten million bindings the first that has alternates is far away, and there may be none."""
    bindings.bind(NAME, "/x")
    with bindings.store._database.engine.connect() as other, BytesIO() as out:
        other.execute(text("LOCK TABLE bindings IN ACCESS EXCLUSIVE MODE"))
        released = threading.Timer(patience.ANSWER_SECONDS + 0.5, other.rollback)
        released.start()
        export_table(bindings, out)
        released.join()
        assert NAME.encode() in out.getvalue()


def test_a_snapshot_cannot_write(bindings: Bindings) -> None:
    with pytest.raises(BindingsUnavailable, match="read-only"), bindings.store.snapshot() as snapshot:
        snapshot._connection.execute("DELETE FROM ararat")


def test_a_standby_is_read_only(bindings: Bindings, url: str) -> None:
    bindings.bind(NAME, "/x")
    name = url.rpartition("/")[2]
    with bindings.store._database.engine.begin() as connection:
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
    with pytest.raises(ReadOnlyBindings):
        bindings.relocate(NAME, "/y")
    assert bindings.lookup(NAME) is not None


def test_a_database_that_does_not_keep_unicode_is_refused(cluster) -> None:
    with pytest.raises(BindingError) as refused:
        open_bindings(cluster.new_database("SQL_ASCII"), create=True)
    assert refused.value.code == "database-encoding"


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BindingError, match=r"pip install 'ararat\[postgres\]'") as refused:
        open_bindings("postgresql://127.0.0.1/x", create=True)
    assert refused.value.code == "driver-missing"


def test_tables_are_never_emptied(bindings: Bindings) -> None:
    bindings.bind(NAME, "/x")
    for table in ("bindings", "events"):
        with pytest.raises(Exception, match="never emptied"), bindings.store._database.engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {table}"))
    assert bindings.lookup(NAME) is not None
