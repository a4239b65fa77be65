"""The kept connection for changes of an SQLite file: when it is used again, and when it is closed."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.databases import reuse, sqlite
from ararat.bindings.storage.databases.sqlite import FRESH_SECONDS, SQLite
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.writing import transaction as writing
from ararat.bindings.storage.writing.transaction import Transaction
from tests.forking import exit_code

NAME = "ark:12345/doc"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bindings.sqlite"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The connections for changes that were opened in this test."""
    connections: list[sqlite3.Connection] = []
    connect = SQLite.connect_to_write

    def connect_and_count(database: SQLite) -> sqlite3.Connection:
        connections.append(connect(database))
        return connections[-1]

    monkeypatch.setattr(SQLite, "connect_to_write", connect_and_count)
    return connections


@pytest.fixture
def bindings(file: Path, opened: list[sqlite3.Connection], open_store: Callable[..., Bindings]) -> Bindings:
    """Bindings with one name and a kept connection, which is the only one in ``opened``."""
    bindings = open_store(file)
    assert bindings.lookup(NAME) is None
    opened.clear()
    bindings.bind(NAME, "/x")
    return bindings


def database_of(bindings: Bindings) -> SQLite:
    return cast(SQLite, cast(DatabaseStore, bindings.store)._database)


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def logs(file: Path) -> list[str]:
    return sorted(each.name for each in file.parent.glob(f"{file.name}-*"))


def binds(bindings: Bindings, *names: str) -> None:
    for name in names:
        assert bindings.bind(f"ark:12345/{name}", "/x") == "bound"


def is_intact(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# Reuse ----------------------------------------------------------------------------------------------------------------


def test_changes_use_one_connection_while_the_process_also_reads(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection], open_store: Callable[..., Bindings]
) -> None:
    elsewhere = open_store(file)
    binds(bindings, "a", "b")
    binds(elsewhere, "c")
    connection, another = opened
    bindings.relocate("ark:12345/c", "/y")
    with pytest.raises(BindingError):
        bindings.bind("not a name", "/x")
    binds(bindings, "d")
    assert opened == [connection, another]
    assert not connection.in_transaction
    assert [event.action for event in bindings.history("ark:12345/c")] == ["bound", "relocated"]


def test_nothing_is_kept_without_another_connection(
    file: Path, opened: list[sqlite3.Connection], open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(file, is_read=False)
    binds(bindings, "a", "b")
    assert (logs(file), len(opened)) == ([], 2)
    assert not any(map(is_open, opened))


def test_a_checkpoint_ends_the_use_of_a_connection_and_bounds_the_log(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    binds(bindings, *(f"n{number}" for number in range(300)))
    assert 1 < len(opened) < 20
    assert sum(map(is_open, opened)) == 1
    assert file.with_name(f"{file.name}-wal").stat().st_size < 6_000_000


def test_the_large_cache_is_for_changes_only(bindings: Bindings, opened: list[sqlite3.Connection]) -> None:
    def size() -> object:
        return opened[0].execute("PRAGMA cache_size").fetchone()

    for _ in range(2):
        assert size() == (-512,)
        with bindings.store.transaction():
            assert size() == (-65536,)
    assert len(opened) == 1


def test_a_change_without_rows_leaves_the_log_as_it_is(bindings: Bindings, file: Path) -> None:
    log = file.with_name(f"{file.name}-wal")
    before = log.stat().st_size
    with bindings.store.transaction():
        pass
    assert log.stat().st_size == before


# The end of a connection ----------------------------------------------------------------------------------------------


def test_the_connection_is_closed_with_the_bindings(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    bindings.close()
    assert not is_open(opened[0])
    assert logs(file) == []


def test_a_change_that_ends_after_close_closes_its_connection(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    with bindings.store.transaction():
        bindings.close()
        assert is_open(opened[0])
    assert not is_open(opened[0])
    assert logs(file) == []


def test_a_lookup_closes_a_connection_that_was_idle_for_long(
    bindings: Bindings, opened: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(FRESH_SECONDS)
    bindings.lookup(NAME)
    assert is_open(opened[0])
    monkeypatch.setattr(sqlite, "IDLE_SECONDS", 0.0)
    time.sleep(FRESH_SECONDS)
    bindings.lookup(NAME)
    assert not is_open(opened[0])


def test_bindings_that_are_not_used_any_more_close_their_connection(
    file: Path, opened: list[sqlite3.Connection]
) -> None:
    gc.freeze()  # to collect only what follows
    bindings = open_bindings(file, create=True)
    bindings.lookup(NAME)
    binds(bindings, "a")
    assert is_open(opened[-1])
    del bindings
    gc.collect()
    assert not is_open(opened[-1])
    assert logs(file) == []


ENDING = """
import sys
from ararat.bindings.open import open_bindings
bindings = open_bindings(sys.argv[1])
bindings.lookup("ark:12345/doc")
for number in range(2):
    print(bindings.bind(f"ark:12345/e{number}", "/x"))
"""


def test_the_end_of_a_process_closes_its_connection(
    run_command: Callable[..., Any], file: Path, open_store: Callable[..., Bindings]
) -> None:
    open_store(file).close()
    ran = run_command(sys.executable, "-W", "error", "-c", ENDING, file)
    assert (ran.stdout, ran.stderr, logs(file)) == (b"bound\nbound\n", b"", [])


# Files that are replaced, deleted or restored -------------------------------------------------------------------------


def other_file(file: Path, open_store: Callable[..., Bindings]) -> Path:
    path = file.with_name("other.sqlite")
    with open_store(path) as other:
        binds(other, "other")
    return path


def test_a_change_after_a_replacement_is_in_the_new_file(
    bindings: Bindings, file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last look at the file is recent.
    monkeypatch.setattr(sqlite, "FRESH_SECONDS", 60)
    bindings.lookup(NAME)
    other, old = other_file(file, open_store), file.with_name("old.sqlite")
    for ending in ("", "-wal", "-shm"):
        Path(f"{file}{ending}").rename(f"{old}{ending}")
    before = old.read_bytes()
    other.rename(file)
    binds(bindings, "after")
    assert set(bindings.store.fetch([NAME, "ark:12345/other", "ark:12345/after"])) == {
        "ark:12345/other",
        "ark:12345/after",
    }
    bindings.close()
    assert old.read_bytes() == before
    assert open_store(old).lookup("ark:12345/after") is None
    assert open_store(old).lookup(NAME) is not None
    assert (is_intact(file), is_intact(old)) == (True, True)


def test_a_change_is_refused_if_the_log_is_of_the_replaced_file(
    bindings: Bindings, file: Path, open_store: Callable[..., Bindings]
) -> None:
    other = other_file(file, open_store)
    expected = other.read_bytes()
    other.rename(file)
    for _ in range(2):
        with pytest.raises(BindingsUnavailable, match="the file was replaced"):
            bindings.bind("ark:12345/after", "/x")
    assert file.read_bytes() == expected
    for name in logs(file):
        file.with_name(name).unlink()
    binds(bindings, "after")
    bindings.close()
    assert is_intact(file)


def test_a_file_that_is_replaced_during_a_change_is_not_written_later(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection], open_store: Callable[..., Bindings]
) -> None:
    other = other_file(file, open_store)
    expected = other.read_bytes()
    with bindings.store.transaction():
        other.rename(file)
    assert not is_open(opened[0])
    assert file.read_bytes() == expected


def test_a_deleted_file_is_not_written_and_not_created(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    file.unlink()
    with pytest.raises(BindingsUnavailable, match="the file does not exist"):
        bindings.bind("ark:12345/after", "/x")
    assert not file.exists()


def test_a_file_without_permission_to_read_is_not_written(bindings: Bindings, file: Path) -> None:
    file.chmod(0)
    with pytest.raises(BindingsUnavailable):
        bindings.bind("ark:12345/after", "/x")
    file.chmod(0o644)
    binds(bindings, "after")


@pytest.mark.parametrize("removed", ["file", "folder"])
def test_a_file_without_permission_to_write_is_read_only(public_path: Path, removed: str) -> None:
    folder = public_path / "open"
    folder.mkdir()
    folder.chmod(0o777)

    def work() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        # A subfolder, because this user does not own the folder of the test.
        own = folder / "own"
        own.mkdir()
        place, modes = (own / "b.sqlite", (0o444, 0o644)) if removed == "file" else (own, (0o555, 0o755))
        bindings = open_bindings(own / "b.sqlite", create=True)
        bindings.lookup(NAME)
        binds(bindings, "a", "b")
        place.chmod(modes[0])
        with pytest.raises(ReadOnlyBindings):
            bindings.bind("ark:12345/c", "/x")
        place.chmod(modes[1])
        binds(bindings, "c")

    assert exit_code(work) == 0


def test_deleting_the_log_loses_no_change(
    bindings: Bindings, file: Path, open_store: Callable[..., Bindings], caplog: pytest.LogCaptureFixture
) -> None:
    time.sleep(FRESH_SECONDS)
    assert bindings.lookup(NAME)
    file.with_name(f"{file.name}-wal").unlink()
    time.sleep(FRESH_SECONDS)
    assert bindings.lookup(NAME)
    assert "was deleted or replaced while it was in use" in caplog.text
    binds(bindings, "after")
    bindings.close()
    assert set(open_store(file).store.fetch([NAME, "ark:12345/after"])) == {NAME, "ark:12345/after"}
    assert is_intact(file)


def test_a_restored_backup_has_its_own_names_and_prefixes(
    file: Path, tmp_path: Path, opened: list[sqlite3.Connection], open_store: Callable[..., Bindings]
) -> None:
    """With the same version of the rules before and after."""
    with open_store(file) as before:
        before.prefixes.set("ark:12345/x5", characters="0123456789")
    shutil.copy(file, tmp_path / "backup.sqlite")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE prefixes SET characters = NULL")
    bindings = open_store(file)
    bindings.lookup(NAME)
    opened.clear()
    binds(bindings, "x5b1", "x5b2")
    with closing(sqlite3.connect(tmp_path / "backup.sqlite")) as source, closing(sqlite3.connect(file)) as target:
        source.backup(target)
    with pytest.raises(BindingError):
        bindings.bind("ark:12345/x5b3", "/x")
    assert bindings.bind("ark:12345/x51", "/x") == "bound"
    assert bindings.lookup("ark:12345/x5b1") is None
    bindings.close()
    assert is_intact(file)


# Errors and threads ---------------------------------------------------------------------------------------------------


def test_an_exception_in_a_transaction_leaves_no_lock(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    def fail(transaction: Transaction) -> None:
        transaction.set_setting("never", "written")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bindings.run_in_transaction(fail)
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT count(*) FROM ararat WHERE name = 'never'").fetchone() == (0,)
        other.execute("ROLLBACK")
    binds(bindings, "after")
    assert len(opened) == 1


def test_a_connection_is_not_used_again_after_a_failed_statement(
    bindings: Bindings, opened: list[sqlite3.Connection]
) -> None:
    def fill(transaction: Transaction) -> None:
        transaction.connection.exec_driver_sql("PRAGMA max_page_count = 1")
        transaction.set_setting("large", "x" * 10_000_000)

    with pytest.raises(BindingsUnavailable, match="full"):
        bindings.run_in_transaction(fill)
    assert not is_open(opened[0])
    binds(bindings, "after")
    assert len(opened) == 2


def test_a_connection_is_not_used_again_after_a_failed_query(
    bindings: Bindings, opened: list[sqlite3.Connection]
) -> None:
    with pytest.raises(BindingsUnavailable, match="no such table"):
        bindings.run_in_transaction(lambda transaction: transaction._rows("SELECT 1 FROM no_table"))
    assert not is_open(opened[0])
    binds(bindings, "after")
    assert len(opened) == 2


def test_a_connection_is_not_used_again_after_the_query_of_the_facts_failed(
    bindings: Bindings, opened: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(writing, "_FACTS", "SELECT 1 FROM no_table")
        with pytest.raises(BindingsUnavailable, match="no such table"):
            bindings.bind("ark:12345/never", "/x")
    assert not is_open(opened[0])
    binds(bindings, "after")
    assert len(opened) == 2


def test_an_interrupted_statement_leaves_no_change(bindings: Bindings, opened: list[sqlite3.Connection]) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT interrupt() UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    opened[0].create_function("interrupt", 0, opened[0].interrupt)

    def wait(transaction: Transaction) -> None:
        transaction.set_setting("never", "written")
        transaction.connection.exec_driver_sql(endless)

    with pytest.raises(BindingsUnavailable, match="interrupted"):
        bindings.run_in_transaction(wait)
    binds(bindings, "after")
    with bindings.store.transaction() as transaction:
        assert transaction.setting("never") is None


def test_threads_share_the_connection_one_after_another(
    bindings: Bindings, file: Path, opened: list[sqlite3.Connection]
) -> None:
    outcomes: list[str] = []

    def work(thread: int) -> None:
        for number in range(15):
            outcomes.append(bindings.bind(f"ark:12345/t{thread}x{number}", "/x"))
            assert bindings.lookup(f"ark:12345/t{thread}x{number}")
            if number % 5 == 0:
                database_of(bindings).close_writers()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
    assert outcomes == ["bound"] * 60
    assert sum(map(is_open, opened)) <= 1
    bindings.close()
    assert not any(map(is_open, opened))
    assert is_intact(file)


# Forks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("hook", [True, False], ids=["with the hook", "without the hook"])
def test_a_forked_process_never_uses_or_closes_the_connection_of_its_parent(
    bindings: Bindings,
    file: Path,
    opened: list[sqlite3.Connection],
    monkeypatch: pytest.MonkeyPatch,
    hook: bool,
) -> None:
    if not hook:
        monkeypatch.setattr(reuse._at_fork, "_references", set())
    [inherited] = opened

    def work() -> None:
        bindings.lookup(NAME)
        binds(bindings, "child1", "child2")
        assert len(opened) == 2
        bindings.close()
        assert is_open(inherited) == (not hook)

    def only_close() -> None:
        bindings.close()
        assert is_open(inherited) == (not hook)

    binds(bindings, "before")
    for each in (work, only_close):
        assert exit_code(each) == 0
        binds(bindings, f"after{each.__name__}".replace("_", ""))
    names = ["child1", "child2", "before", "afterwork", "afteronlyclose"]
    assert len(bindings.store.fetch([f"ark:12345/{name}" for name in names])) == 5
    bindings.close()
    assert logs(file) == []
    assert is_intact(file)
