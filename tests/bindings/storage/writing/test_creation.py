"""The file or tables of a new database are deleted only if nothing was written and no other connection uses them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ararat.bindings.open import database_at
from ararat.bindings.storage.databases.sqlite import SQLite
from ararat.bindings.storage.writing.creation import delete_if_empty
from ararat.middleware import Bindings, mint, open_bindings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new.sqlite"


def test_an_empty_database_is_deleted_with_its_log(file: Path) -> None:
    open_bindings(file, create=True).close()
    file.with_name("new.sqlite-wal").touch()
    delete_if_empty(SQLite(file))
    assert list(file.parent.iterdir()) == []


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda bindings: bindings.reserve("ark:12345/a"), id="a reserved name"),
        pytest.param(lambda bindings: bindings.prefixes.set("12345", who="A library"), id="a record"),
        pytest.param(lambda bindings: mint(bindings, "12345/x5"), id="a minted name"),
    ],
)
def test_a_database_with_records_is_kept(change: Callable[[Bindings], object], database: str) -> None:
    with open_bindings(database, create=True) as bindings:
        change(bindings)
    delete_if_empty(database_at(database))
    with open_bindings(database) as bindings:
        assert bindings.open().count().exact


def test_tables_in_use_are_kept(database: str) -> None:
    with open_bindings(database, create=True) as bindings, bindings.store.transaction():
        delete_if_empty(database_at(database))
    with open_bindings(database) as bindings:
        assert bindings.open().count().number == 0


def test_a_database_in_use_is_kept(file: Path) -> None:
    with open_bindings(file, create=True) as bindings:
        assert bindings.lookup("ark:12345/a") is None
        delete_if_empty(SQLite(file))
        bindings.bind("ark:12345/a", "/a")
    assert file.exists()


def test_a_database_of_another_program_is_kept(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE notes (text)")
    delete_if_empty(SQLite(file))
    assert file.exists()


def test_a_missing_file_stays_missing(file: Path) -> None:
    delete_if_empty(SQLite(file))
    assert not file.exists()
