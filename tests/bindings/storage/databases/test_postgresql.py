"""Test behaviour that only PostgreSQL has."""

from __future__ import annotations

import inspect
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import select, text

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings, StatementStopped, TooBroad
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.databases import deadlines, postgresql
from ararat.bindings.storage.databases.postgresql import PostgreSQL
from ararat.bindings.storage.protocols import READ_SECONDS
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.tables import account_tables
from tests.databases import Cluster
from tests.waiting import until

NAME = "ark:12345/doc"


@pytest.fixture
def url(cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty schema, or of a whole database, which takes longer to create."""
    if hasattr(request, "param"):
        yield cluster.new_database()
    else:
        url = cluster.new_schema()
        yield url
        cluster.recycle(url)


WHOLE_DATABASE = pytest.mark.parametrize("url", ["database"], indirect=True)


@pytest.fixture
def bindings(url: str, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(url)


@WHOLE_DATABASE
@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_all_usual_forms_of_the_url_are_accepted(url: str, open_store: Callable[..., Bindings], scheme: str) -> None:
    bindings = open_store(url.replace("postgresql", scheme, 1))
    assert bindings.bind(NAME, "/x") == "bound"
    assert repr(bindings) == f"<Bindings {url.replace('ararat@', '')}>"


def test_a_password_is_never_shown(url: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(url.replace("ararat@", "ararat:secret@"))
    assert "secret" not in repr(bindings)
    assert "secret" not in repr(cast(DatabaseStore, bindings.store)._database.engine)


def test_an_unreachable_server_is_reported_without_password(unused_port: int) -> None:
    with pytest.raises(BindingsUnavailable) as refused:
        open_bindings(f"postgresql://ararat:secret@127.0.0.1:{unused_port}/x", create=True).open()
    chain: BaseException | None = refused.value
    while chain is not None:
        assert "secret" not in f"{chain!r} {chain}"
        chain = chain.__cause__ or chain.__context__


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("postgresql://jane:first@secret@127.0.0.1:1/names", id="an at sign"),
        pytest.param("postgresql://jane:secret/rest@127.0.0.1:1/names", id="a slash"),
        pytest.param("postgresql://jane:12/secret@127.0.0.1:1/names", id="digits and a slash"),
        pytest.param("postgresql://jane:a:secret@127.0.0.1:secret/names", id="a port with letters"),
    ],
)
def test_a_password_that_is_not_encoded_is_never_shown(url: str) -> None:
    with pytest.raises(BindingError, match="%40 for @") as refused:
        open_bindings(url, create=True).open()
    assert refused.value.code == "database-url"
    assert "secret" not in f"{refused.value!r} {refused.value}"


def test_a_url_can_have_several_servers(url: str, unused_port: int, open_store: Callable[..., Bindings]) -> None:
    where = url.partition("@")[2].partition("/")
    several = f"postgresql://ararat@127.0.0.1:{unused_port},{where[0]}/{where[2]}"
    bindings = open_store(several)
    assert bindings.bind(NAME, "/x") == "bound"
    assert f"127.0.0.1:{unused_port},{where[0]}" in repr(bindings)


def test_all_operations_work_after_a_restart_of_the_server(own_cluster: Cluster, open_store) -> None:
    bindings = open_store(own_cluster.new_schema())
    bindings.bind(NAME, "/x")
    assert bindings.lookup(NAME) is not None
    own_cluster.halt()
    for _ in range(2):
        with pytest.raises(BindingsUnavailable):
            bindings.lookup(NAME)
        with pytest.raises(BindingsUnavailable):
            bindings.bind(NAME, "/x")
    own_cluster.resume()
    assert bindings.lookup(NAME) is not None
    assert bindings.bind(NAME, "/x") == "unchanged"
    # A restart between two requests is not noticed.
    own_cluster.halt()
    own_cluster.resume()
    assert bindings.lookup(NAME) is not None


@pytest.fixture
def usual(url: str, open_store: Callable[..., Bindings]) -> Bindings:
    """Bindings with the time limit of a site for each statement."""
    return open_store(url, read_seconds=READ_SECONDS)


def test_a_reader_is_read_only_and_has_a_time_limit(usual: Bindings) -> None:
    with pytest.raises(BindingsUnavailable, match="read-only"):
        cast(DatabaseStore, usual.store)._readers.rows("DELETE FROM ararat", ())
    with pytest.raises(BindingsUnavailable, match="timeout"):
        cast(DatabaseStore, usual.store)._readers.rows("SELECT pg_sleep(3)", ())


def connections(cluster: Cluster) -> int:
    counted = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ararat-test'"
    with psycopg.connect(f"{cluster._url()}/{cluster.database}") as connection:
        [count] = connection.execute(counted).fetchone() or [0]
    return count


@pytest.mark.one_setup
@pytest.mark.parametrize("behind_pooler", [pytest.param(False, id="direct"), pytest.param(True, id="behind a pooler")])
def test_a_reader_starts_no_processes_and_compiles_nothing(bindings: Bindings, behind_pooler: bool) -> None:
    database = cast(PostgreSQL, cast(DatabaseStore, bindings.store)._database)
    database._is_behind_pooler = behind_pooler
    connection = database.connect_to_read()
    settings = "SELECT current_setting('jit'), current_setting('max_parallel_workers_per_gather')"
    assert connection.execute(settings).fetchall() == [("off", "0")]
    connection.close()


def test_few_connections_are_left_after_a_burst_on_a_locked_table(cluster, open_store) -> None:
    bindings = open_store(f"{cluster.new_database()}?application_name=ararat-test", read_seconds=READ_SECONDS)
    bindings.bind(NAME, "/x")
    answers: list[object] = []

    def look_up() -> None:
        try:
            answers.append(bindings.lookup(NAME))
        except BindingsUnavailable as error:
            answers.append(error)

    with cast(DatabaseStore, bindings.store)._database.engine.connect() as other:
        other.execute(text("LOCK TABLE bindings IN ACCESS EXCLUSIVE MODE"))
        threads = [threading.Thread(target=look_up) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        # The server closes a connection that the client has given up after it has cancelled the statement.
        until(lambda: connections(cluster) <= PostgreSQL.most_readers + 1)
        other.rollback()
    assert len(answers) == 30
    assert bindings.lookup(NAME) is not None


def test_a_cancelled_lookup_keeps_its_connection_and_is_not_repeated(
    usual: Bindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The client could give up first, because a busy server cancels late.
    monkeypatch.setattr(deadlines, "ANSWER_SECONDS", 20)
    usual.bind(NAME, "/x")
    usual.lookup(NAME)
    pool = cast(DatabaseStore, usual.store)._readers
    before = [reader.connection for reader in pool._idle]
    with pytest.raises(BindingsUnavailable, match="statement timeout"):
        pool.rows("SELECT pg_sleep(3)", ())
    assert [reader.connection for reader in pool._idle] == before
    assert usual.lookup(NAME) is not None


def test_a_statement_at_the_limit_is_no_outage_and_a_command_has_no_limit(
    bindings: Bindings, url: str, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_ANSWERS_AFTER", 20)
    bindings.bind(NAME, "/x")
    limited = open_store(url, read_seconds=0.5)
    store = cast(DatabaseStore, limited.store)
    with pytest.raises(StatementStopped, match="; the limit is read_seconds") as stopped:
        store._rows("SELECT pg_sleep(3)", ())
    assert (stopped.value.code, stopped.value.entry.status) == ("statement-stopped", 503)
    monkeypatch.setattr(store.lists, "page", lambda read, *_: read("SELECT pg_sleep(3)", ()))
    with pytest.raises(TooBroad) as broad:
        limited.list_names()
    entry = broad.value.entry
    assert (broad.value.code, entry.status, entry.retry_after, entry.exit_code) == ("too-broad", 422, None, 2)
    unlimited = cast(DatabaseStore, open_store(url, read_seconds=None).store)
    # A command has no such setting.
    stopped_by_server = unlimited._database.unavailable(psycopg.errors.QueryCanceled("canceled"))
    assert str(stopped_by_server).endswith("canceled; the limit is the statement_timeout of the user")
    assert unlimited._rows("SELECT 'yes' FROM pg_sleep(1)", ()) == [("yes",)]
    assert unlimited._rows("SHOW default_transaction_read_only", ()) == [("on",)]


def test_a_writer_waits_a_limited_time_for_a_locked_row(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_LOCK_TIMEOUT", "200ms")
    cast(DatabaseStore, bindings.store)._database.close_writers()
    bindings.bind(NAME, "/x")
    with bindings.store.transaction() as transaction:
        transaction.get([NAME])
        with pytest.raises(BindingsUnavailable, match=r"another writer .* \(server process \d+, application ararat\)"):
            bindings.relocate(NAME, "/y")
    assert bindings.relocate(NAME, "/y") == "relocated"


def test_a_change_that_ends_after_close_closes_its_connection(bindings: Bindings) -> None:
    with bindings.store.transaction() as transaction:
        connection: Any = transaction.connection.connection.dbapi_connection
        bindings.close()
        assert not connection.closed
    assert connection.closed


def test_server_messages_do_not_contain_the_user(url: str) -> None:
    with pytest.raises(BindingsUnavailable, match=r'role "\*\*\*" does not exist') as refused:
        open_bindings(url.replace("ararat@", "secretuser:secret@")).lookup(NAME)
    assert "secret" not in str(refused.value)


def test_the_driver_supports_the_connection_time_limit() -> None:
    """``patience.reading`` overrides this method. Without it, a driver would connect without a time limit."""
    assert inspect.isgeneratorfunction(psycopg.Connection._connect_gen)
    assert "_connect_gen" in inspect.getsource(psycopg.Connection.connect)


def test_connecting_to_an_unreachable_host_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_QUICK_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(BindingsUnavailable, match="timeout: the server does not answer"):
            open_bindings(f"postgresql://ararat@127.0.0.1:{silent.getsockname()[1]}/x").lookup(NAME)


SELECT_ONLY = """
CREATE ROLE {role} LOGIN;
GRANT CONNECT ON DATABASE {database} TO {role};
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role};
REVOKE SELECT ON accounts, grants, identities, tokens, sessions, sign_ins, audit, idempotency, jobs FROM {role};
"""


@WHOLE_DATABASE
def test_a_role_with_select_can_read_only(url: str, bindings: Bindings, open_store) -> None:
    bindings.bind(NAME, "/x")
    bindings.rules.set("ark:12345/t5", "/${value}")
    database = url.rpartition("/")[2]
    documented = (Path(__file__).parents[4] / "docs" / "high-availability.md").read_text("utf-8")
    for line in SELECT_ONLY.strip().splitlines():
        assert line.format(role="reader", database="ararat") in documented
    with cast(DatabaseStore, bindings.store)._database.engine.begin() as connection:
        connection.execute(text(SELECT_ONLY.format(role=f"reader_{database}", database=database)))
    reader = open_store(url.replace("ararat@", f"reader_{database}@"), create=False)
    assert reader.lookup(NAME) is not None
    assert reader.history(NAME)
    assert [rule.prefix for rule in reader.rules.list()] == ["ark:12345/t5"]
    with pytest.raises(ReadOnlyBindings, match="is read-only"):
        reader.relocate(NAME, "/y")
    with pytest.raises(ReadOnlyBindings):
        reader.bind("ark:12345/other", "/x")
    for table in account_tables.TABLES:
        with pytest.raises(BindingsUnavailable, match="; grant the user SELECT on this table"):
            cast(DatabaseStore, reader.store).current_rows(select(table))


def test_a_snapshot_has_a_longer_time_limit_than_a_lookup(usual: Bindings) -> None:
    """In ten million bindings the first with alternates can be far away, or none exists."""
    usual.bind(NAME, "/x")
    with cast(DatabaseStore, usual.store)._database.engine.connect() as other, BytesIO() as out:
        other.execute(text("LOCK TABLE bindings IN ACCESS EXCLUSIVE MODE"))
        released = threading.Timer(deadlines.ANSWER_SECONDS + 0.5, other.rollback)
        released.start()
        export_table(usual, out)
        released.join()
        assert NAME.encode() in out.getvalue()


def test_changes_are_detected_on_one_server_only(bindings: Bindings, url: str) -> None:
    database = cast(PostgreSQL, cast(DatabaseStore, bindings.store)._database)
    bindings.bind(NAME, "/x")
    bindings.lookup(NAME)
    first, again = bindings.source.data_version(), bindings.source.data_version()
    assert first == again is not None
    with open_bindings(url) as other:
        other.relocate(NAME, "/y")
    assert bindings.source.data_version() != first
    # Another connection reached another server, which can have an older state.
    database._note_server("another server")
    assert bindings.source.data_version() is None


def test_a_snapshot_cannot_write(bindings: Bindings) -> None:
    with (
        pytest.raises(BindingsUnavailable, match="read-only"),
        cast(DatabaseStore, bindings.store).snapshot() as snapshot,
    ):
        snapshot._connection.execute("DELETE FROM ararat")


def end_other_sessions(connection: psycopg.Connection) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )


@WHOLE_DATABASE
def test_a_standby_is_read_only(bindings: Bindings, url: str) -> None:
    bindings.bind(NAME, "/x")
    with psycopg.connect(url, autocommit=True) as connection:
        name = sql.Identifier(url.rpartition("/")[2])
        connection.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        end_other_sessions(connection)  # a server that becomes a standby restarts
    with pytest.raises(ReadOnlyBindings):
        bindings.relocate(NAME, "/y")
    assert bindings.lookup(NAME) is not None


def test_a_change_finds_the_primary_when_a_kept_session_has_become_read_only(bindings: Bindings) -> None:
    """PgBouncer keeps the connections of its clients when its server becomes a standby."""
    bindings.bind(NAME, "/x")
    with bindings.store.transaction() as transaction:
        transaction.connection.exec_driver_sql("SET default_transaction_read_only = on")
    assert bindings.relocate(NAME, "/y") == "relocated"
    assert bindings.relocate(NAME, "/z") == "relocated"


def test_a_change_survives_the_loss_of_kept_connections(bindings: Bindings, url: str) -> None:
    bindings.bind(NAME, "/x")
    with psycopg.connect(url, autocommit=True) as connection:
        end_other_sessions(connection)
    assert bindings.relocate(NAME, "/y") == "relocated"
    assert bindings.relocate(NAME, "/z") == "relocated"


def test_a_kept_connection_prepares_the_statements_of_changes(bindings: Bindings) -> None:
    """The server then parses and plans each statement once. Only a reader finds out whether there is a pooler."""
    assert bindings.lookup(NAME) is None
    for number in range(8):
        assert bindings.bind(f"ark:12345/p{number}", "/x") == "bound"
        assert bindings.relocate(f"ark:12345/p{number}", "/y") == "relocated"
    with cast(DatabaseStore, bindings.store).transaction() as transaction:
        prepared = transaction.connection.exec_driver_sql("SELECT statement FROM pg_prepared_statements")
        statements = [*prepared.scalars()]
    for beginning in ("SELECT key", "WITH recorded", "UPDATE bindings"):
        assert any(each.startswith(beginning) for each in statements), statements


def test_plans_that_were_made_for_few_names_do_not_read_the_whole_table(bindings: Bindings) -> None:
    """PostgreSQL keeps the plan of a prepared statement until it has new statistics, which can take minutes."""
    for number in range(8):
        bindings.bind(f"ark:12345/p{number}", "/x")
        bindings.relocate(f"ark:12345/p{number}", "/y")
        for count in (1, 2, 20):
            bindings.store.fetch([f"ark:12345/{name}" for name in range(count)])
        bindings.source.stored_redirect(f"ark:12345/p{number}")
    prepared = "SELECT name, statement, cardinality(parameter_types) FROM pg_prepared_statements"
    changing = cast(DatabaseStore, bindings.store)
    with changing.transaction() as transaction:
        ask = transaction.connection.exec_driver_sql
        its_plans = plans_of(bindings_of(ask(prepared)), lambda query: ask(query).fetchall())
    read = changing._readers.rows
    plans = its_plans | plans_of(bindings_of(read(prepared, ())), lambda query: read(query, ()))
    assert len(plans) >= 6, plans
    assert {text: plan for text, plan in plans.items() if "Seq Scan on bindings" in plan} == {}


def bindings_of(rows: Iterable[Any]) -> list[tuple[str, str, int]]:
    """Return the name, text and number of parameters of the statements that find bindings by their keys."""
    return [
        (name, text, count) for name, text, count in rows if re.search(r"bindings .*WHERE key (=|IN)", text, re.DOTALL)
    ]


def plans_of(statements: list[tuple[str, str, int]], ask: Callable[[str], Iterable[Any]]) -> dict[str, str]:
    """Return the plans of prepared statements, by their texts."""
    found = {}
    for name, statement, count in statements:
        null = ", ".join("NULL" for _ in range(count))
        found[statement] = "\n".join(line for (line,) in ask(f"EXPLAIN (COSTS OFF) EXECUTE {name}({null})"))
    return found


def test_a_database_that_is_not_utf8_is_refused(cluster) -> None:
    with pytest.raises(BindingError) as refused:
        open_bindings(cluster.new_database("SQL_ASCII"), create=True).open()
    assert refused.value.code == "database-encoding"


def test_a_missing_driver_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BindingError, match=r"pip install 'ararat\[postgres\]'") as refused:
        open_bindings("postgresql://127.0.0.1/x", create=True).open()
    assert refused.value.code == "driver-missing"


def test_truncate_is_refused(bindings: Bindings) -> None:
    bindings.bind(NAME, "/x")
    for table in ("bindings", "events"):
        with (
            pytest.raises(Exception, match="never emptied"),
            cast(DatabaseStore, bindings.store)._database.engine.begin() as connection,
        ):
            connection.execute(text(f"TRUNCATE {table}"))
    assert bindings.lookup(NAME) is not None
