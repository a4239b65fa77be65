"""Test the health check of stores. It reports the condition and changes nothing."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from ararat.bindings.collection import Bindings
from ararat.bindings.health import Condition, conditions
from ararat.bindings.names.errors import BindingError
from ararat.bindings.open import open_bindings

NAME = "ark:12345/doc"


def execute(database: str, *statements: str) -> None:
    with create_engine(
        database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool
    ).begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def one(database: str | Path) -> Condition:
    [condition] = conditions(database)
    return condition


def test_a_healthy_store_is_readable_writable_and_not_changed(
    database: str, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(database)
    bindings.bind(NAME, "/x")
    condition = one(database)
    assert (condition.readable, condition.writable, condition.fault) == (True, True, None)
    assert condition.location == str(bindings.store)
    assert len(bindings.history(NAME)) == 1


@pytest.mark.one_setup
@pytest.mark.parametrize(("version", "remedy"), [("1", "export its names"), ("99", "update Ararat")])
def test_another_schema_version_is_reported_with_its_fix(database: str, version: str, remedy: str) -> None:
    open_bindings(database, create=True).close()
    execute(database, f"UPDATE ararat SET value = '{version}' WHERE name = 'schema'")  # noqa: S608  ours
    condition = one(database)
    assert (condition.readable, condition.code) == (False, "schema-version")
    assert remedy in (condition.fault or "")


def test_a_database_without_tables_is_not_changed(database: str) -> None:
    execute(database, "CREATE TABLE shop (x INTEGER)")
    assert one(database).code == "no-tables"
    assert one(database).code == "no-tables"


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    condition = one(tmp_path / "bindings.sqlite")
    assert (condition.readable, condition.code) == (False, "unavailable")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database " * 200)
    assert one(tmp_path / "x.db").code == "unavailable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_reported_with_its_fix(tmp_path: Path) -> None:
    open_bindings(tmp_path / "bindings.sqlite", create=True).close()
    tmp_path.chmod(0o500)
    try:
        condition = one(tmp_path / "bindings.sqlite")
    finally:
        tmp_path.chmod(0o700)
    assert condition.code == "unavailable"
    assert "no permission to write its log in the folder" in (condition.fault or "")


def test_a_folder_without_write_access_is_reported_with_its_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_bindings(tmp_path / "bindings.sqlite", create=True).close()
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path and may(path, mode))
    assert "no permission to write its log in the folder" in (one(tmp_path / "bindings.sqlite").fault or "")


def test_a_held_lock_is_reported(
    tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.BUSY_SECONDS", 0.1)
    bindings = open_store(tmp_path / "bindings.sqlite")
    with bindings.store.transaction():
        condition = one(tmp_path / "bindings.sqlite")
    assert (condition.readable, condition.writable, condition.code) == (True, False, "locked")
    assert "another writer" in (condition.fault or "")


@pytest.mark.parametrize("when", ["connect_to_write", "execute"])
def test_a_full_disk_is_found_by_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    database = tmp_path / "bindings.sqlite"
    with open_bindings(database, create=True) as bindings:
        bindings.bind(NAME, "/x")
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    class Connection:
        def execute(self, statement: str, *values: Any) -> None:
            if statement.startswith("INSERT"):
                raise full

        def close(self) -> None:
            pass

    def connect(self: Any) -> Connection:
        if when == "connect_to_write":
            raise full
        return Connection()

    monkeypatch.setattr("ararat.bindings.storage.databases.sqlite.SQLite.connect_to_write", connect)
    condition = one(database)
    assert (condition.readable, condition.writable, condition.code) == (True, False, "disk-full")
    assert "free space on its disk" in (condition.fault or "")


@pytest.mark.parametrize(
    ("content", "readable", "code"),
    [
        ("identifier,target\nark:12345/x,/x\n", True, None),
        ("identifier,target\nark:12345/x!,/x\n", False, "bad-char"),
        (None, False, "unavailable"),
    ],
)
def test_a_table_is_read_only(tmp_path: Path, content: str | None, readable: bool, code: str | None) -> None:
    file = tmp_path / "names.csv"
    if content is not None:
        file.write_text(content, "ascii")
    condition = one(file)
    assert (condition.table, condition.readable, condition.writable, condition.code) == (True, readable, False, code)


def test_an_invalid_database_name_is_refused() -> None:
    with pytest.raises(BindingError, match="database-url"):
        one("bindings")


# Servers ------------------------------------------------------------------------------------------------------------


def several(url: str, *ports: int) -> str:
    """The same database at several servers of this machine."""
    user, _, rest = url.partition("@")
    return f"{user}:secret@{','.join(f'127.0.0.1:{port}' for port in ports)}/{rest.partition('/')[2]}"


def test_each_server_of_a_url_is_checked_without_showing_the_password(cluster: Any, unused_port: int) -> None:
    url = cluster.new_schema()
    open_bindings(url, create=True).close()
    there, gone = conditions(several(url, cluster.port, unused_port))
    assert (there.location, there.writable) == (f"postgresql://127.0.0.1:{cluster.port}/{cluster.database}", True)
    assert (gone.location, gone.readable, gone.code) == (
        f"postgresql://127.0.0.1:{unused_port}/{cluster.database}",
        False,
        "unavailable",
    )
    assert "secret" not in repr((there, gone))


def test_a_user_without_write_permission_is_reported(cluster: Any) -> None:
    url = cluster.new_schema()
    open_bindings(url, create=True).close()
    schema = url.rpartition("%3D")[2]
    execute(
        url.replace("postgresql:", "postgresql+psycopg:"),
        f"CREATE ROLE reader_{schema} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}",
    )
    condition = one(url.replace("ararat@", f"reader_{schema}@"))
    assert (condition.readable, condition.writable, condition.code) == (True, False, "not-writable")


@pytest.mark.long
def test_a_standby_is_reported_as_one(replicated: Any, open_store: Callable[..., Bindings]) -> None:
    primary, standby = replicated
    url = f"postgresql://ararat@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres"
    open_store(url).bind(NAME, "/x")
    deadline = time.monotonic() + 20
    while not all(each.readable for each in conditions(url)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [(each.readable, each.writable, each.standby) for each in conditions(url)] == [
        (True, True, False),
        (True, False, True),
    ]
    primary.halt()
    assert [(each.readable, each.writable) for each in conditions(url)] == [(False, False), (True, False)]


def test_a_refused_version_of_a_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("identifier,target\nark:12345/a,/1\n")
    open_bindings(file).close()
    assert one(file).fault is None
    file.write_text("identifier,target\nark:12345/a,/2\n")
    condition = one(file)
    assert (condition.table, condition.readable, condition.code) == (True, False, "bound-otherwise")
    assert "the recorded target is /1, and the new one is /2" in (condition.fault or "")
    file.with_name("names.csv.served").unlink()
    assert one(file).fault is None
    assert [path.name for path in tmp_path.iterdir()] == ["names.csv"]
