"""Test open_bindings: names of databases, and databases of other programs."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ararat.bindings.collection import Bindings
from ararat.bindings.names import assignment
from ararat.bindings.names.errors import BindingError, BindingsUnavailable, NoTables
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.store import DatabaseStore
from ararat.bindings.storage.versions import OLDEST, VERSION
from ararat.middleware import import_table, mint

NAME = "ark:12345/doc"


def execute(database: str, statement: str, **parameters: str) -> None:
    """Run a statement like another program."""
    with create_engine(
        database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool
    ).begin() as connection:
        connection.execute(text(statement), parameters)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        pytest.param("x.txt", "database-url", "x.txt is not the name of a database", id="text"),
        pytest.param("bindings", "database-url", "bindings is not the name of a database", id="a word"),
        pytest.param("", "database-url", "the name of the database is empty", id="nothing"),
        pytest.param("x.\u202eetilqs", "database-url", "{202e}etilqs", id="a disguised ending"),
        pytest.param(
            "mysql://u:secret@h/d",
            "database-url",
            "databases of the kind mysql are not supported",
            id="another database",
        ),
        pytest.param("sqlite://x.sqlite", "database-url", "needs three slashes", id="two slashes"),
        pytest.param("sqlite:///x.sqlite?mode=ro", "database-url", "cannot contain options", id="options"),
        pytest.param("sqlite://", "database-in-memory", "", id="SQLAlchemy's memory"),
        pytest.param("sqlite:///:memory:", "database-in-memory", "", id="memory by URL"),
        pytest.param(":memory:", "database-in-memory", "", id="memory"),
        pytest.param(
            "postgresql://u:secret@[h/d", "database-url", "cannot be parsed", id="a URL that libpq cannot read"
        ),
        pytest.param(
            "postgresql://u:secret@h/\udcff", "database-url", "cannot be parsed", id="a name that is not UTF-8"
        ),
        pytest.param(
            "postgresql://u:secret@h/d?no_such_option=1",
            "database-url",
            "cannot be parsed",
            id="an option that libpq does not know",
        ),
        *(
            pytest.param(given, "database-url", "may contain a password", id=given)
            for given in (
                "postgres//u:secret@h/d",
                "postgresql:/u:secret@h/d",
                "postgresql:u:secret@h",
                "postgresql:/u:secret@h/names.csv",
                "postgresql:/u:secret@h/names.sqlite",
                "postgresql:/h/d?password=secret",
                "u:secret@h/d",
                "host=h user=u password=secret",
                "sqlite:///postgresql:/u:secret@h/d",
                "sqlite:////postgresql:/u:secret@h/d.sqlite",
                "sqlite:///postgresql://u:secret@h/d",
                "sqlite:///host=h user=u password=secret",
            )
        ),
        pytest.param("postgres:u:secret@h://d", "database-url", "databases of this kind", id="a late ://"),
    ],
)
def test_an_invalid_database_name_is_reported_without_its_password(given: Any, code: str, said: str) -> None:
    with pytest.raises(BindingError) as refused:
        open_bindings(given, create=True)
    assert refused.value.code == code
    assert said in str(refused.value)
    assert str(refused.value).isascii()
    chain: BaseException | None = refused.value
    while chain is not None:
        assert "secret" not in f"{chain!r} {chain}"
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)


@pytest.mark.one_setup
@pytest.mark.parametrize("name", ["r@h.sqlite", "a:b@h.sqlite"])
def test_a_file_whose_name_is_similar_to_a_url_is_opened(name: str, tmp_path: Path) -> None:
    open_bindings(f"sqlite:///{tmp_path / name}", create=True).close()
    assert open_bindings(tmp_path / name).lookup(NAME) is None


def test_a_missing_database_is_created_only_on_request(database: str, tmp_path: Path) -> None:
    with pytest.raises(NoTables, match=r"(sqlite|postgresql)\S+ does not exist or has no tables of Ararat\Z"):
        open_bindings(database, missing_ok=True).open()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DBAPIError):
        execute(database, "SELECT * FROM bindings")


@pytest.mark.usefixtures("created_tables")
def test_tables_are_created_once(database: str, open_store: Callable[..., Bindings]) -> None:
    assert open_store(database).bind(NAME, "/x") == "bound"
    assert open_store(database).lookup(NAME) is not None


@pytest.mark.usefixtures("created_tables")
def test_many_processes_can_open_an_empty_database_at_once(database: str, open_store: Callable[..., Bindings]) -> None:
    barrier = threading.Barrier(6, timeout=20)

    def open_and_ask(_: int) -> object:
        barrier.wait()
        return open_store(database).lookup(NAME)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_and_ask, range(6))) == [None] * 6


def test_a_database_with_tables_of_another_program_is_not_changed(database: str) -> None:
    execute(database, "CREATE TABLE customers (id INTEGER)")
    with pytest.raises(BindingError) as refused:
        open_bindings(database, create=True).open()
    assert refused.value.code == "foreign-database"
    assert "customers" in str(refused.value)
    with pytest.raises(DBAPIError):
        execute(database, "SELECT * FROM bindings")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        *[(str(VERSION + 1), "update Ararat"), (str(OLDEST - 1), "export its names with the Ararat that wrote it")],
        *[("0", "restore a backup"), ("x", "restore a backup")],
    ],
)
def test_a_database_of_another_version_is_not_served(
    database: str, open_store: Callable[..., Bindings], version: str, remedy: str
) -> None:
    running = open_store(database)
    running.bind(NAME, "/x")
    cast(DatabaseStore, running.store)._readers.close_idle()
    change = "UPDATE ararat SET value = :version WHERE name = 'schema'"
    execute(database, change, version=version)
    try:
        with pytest.raises(BindingError, match=remedy) as refused:
            open_bindings(database, create=True).open()
        assert refused.value.code == "schema-version"
        with pytest.raises(BindingsUnavailable, match=remedy):
            running.lookup(NAME)
        with pytest.raises(BindingsUnavailable, match=remedy):
            running.bind(NAME, "/x")
    finally:
        execute(database, change, version=str(VERSION))


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM bindings",
        "DELETE FROM events",
        "UPDATE events SET actor = 'another actor'",
        "UPDATE bindings SET resource = 'R2'",
        "UPDATE bindings SET resource = NULL",
        "UPDATE bindings SET key = 'ark:12345/other'",
        "UPDATE bindings SET kind = 'lost'",
        "UPDATE bindings SET status = 'deleted'",
        "UPDATE bindings SET redirect = 301",
        "UPDATE bindings SET target = NULL",
        "UPDATE bindings SET target = '/evil'",
        "UPDATE bindings SET passthrough = 1",
        "UPDATE bindings SET status = 'withdrawn'",
        "UPDATE bindings SET metadata = NULL, revision = revision + 2",
        "UPDATE bindings SET status = 'reserved', revision = revision + 1",
        "UPDATE bindings SET created = '2001-01-01T00:00:00.000000Z', revision = revision + 1",
        "UPDATE bindings SET spelling = 'ark:/12345/d-oc', revision = revision + 1",
        "UPDATE bindings SET successor = 'ark:12345/other', revision = revision + 1",
        "INSERT INTO bindings SELECT * FROM bindings",
        "INSERT INTO bindings SELECT * FROM bindings WHERE 1 = 1 ON CONFLICT (key) DO UPDATE SET target = '/evil'",
        "INSERT INTO events SELECT * FROM events WHERE 1 = 1 ON CONFLICT (id) DO UPDATE SET target = '/evil'",
    ],
)
def test_triggers_protect_names_and_history(database: str, open_store: Callable[..., Bindings], statement: str) -> None:
    bindings = open_store(database)
    bindings.bind(NAME, "/x", resource="R1", actor="me")
    before = bindings.lookup(NAME), bindings.history(NAME)
    with pytest.raises(DBAPIError):
        execute(database, statement)
    assert (bindings.lookup(NAME), bindings.history(NAME)) == before


def test_sqlite_never_replaces_a_row(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    database = f"sqlite:///{tmp_path / 'bindings.sqlite'}"
    bindings = open_store(database)
    bindings.bind(NAME, "/x", resource="R1")
    bindings.rules.set("ark:12345/t5", "/${value}")
    mint(bindings, "12345/x5")
    columns = "key, kind, target, status, redirect, passthrough, scope, created, changed, revision, action"
    rest = ["bindings SELECT * FROM bindings", "events SELECT * FROM events", "rule_events SELECT * FROM rule_events"]
    rest.append(f"events ({columns}) SELECT {columns} FROM events")  # noqa: S608  ours
    for is_imported in (False, True):
        if is_imported:
            # An import of many rows drops the triggers within its transaction.
            rows = "".join(f"ark:12345/i{number},/x\n" for number in range(600))
            assert import_table(bindings, BytesIO(f"identifier,target\n{rows}".encode())).written
        for statement in (f"{verb} INTO {each}" for verb in ("INSERT OR REPLACE", "REPLACE") for each in rest):
            with pytest.raises(DBAPIError, match="never replaced"):
                execute(database, statement)
        with pytest.raises(DBAPIError, match="never renamed"):
            execute(database, "UPDATE OR REPLACE bindings SET key = 'ark:12345/other', revision = revision + 1")


def test_a_change_refused_by_a_trigger_is_not_retried(bindings: Bindings, monkeypatch: pytest.MonkeyPatch) -> None:
    bindings.bind(NAME, "/x")
    tries: list[object] = []
    decide = assignment.relocate

    def relocate(before, *rest, **more):
        tries.append(before)
        change = decide(before, *rest, **more)
        return change._replace(after=replace(change.after, redirect=301))

    monkeypatch.setattr(assignment, "relocate", relocate)
    with pytest.raises(BindingsUnavailable, match="refuses this change"):
        bindings.relocate(NAME, "/y")
    assert len(tries) == 1


def test_no_large_library_is_loaded_before_use() -> None:
    program = (
        "import sys, ararat.bindings.collection, ararat.bindings.imports.importing\n"
        "print(*sorted({'flask', 'h11', 'click', 'sqlalchemy', 'psycopg', 'idna'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "\n"


@pytest.mark.parametrize("name", ["names.sqlite", "names.csv", "names.jsonl", "names.snapshot", "no-folder/names.db"])
def test_a_file_that_does_not_exist_is_an_error_at_the_start(name: str, tmp_path: Path) -> None:
    with pytest.raises(BindingError, match="does not exist") as caught:
        open_bindings(tmp_path / name)
    assert caught.value.code == "database-missing"
    with pytest.raises(BindingError, match="does not exist"):
        open_bindings(str(tmp_path / name))
    with open_bindings(tmp_path / name, missing_ok=True) as bindings, pytest.raises(BindingsUnavailable):
        bindings.lookup(NAME)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["no-folder/names.sqlite", "names.csv", "names.snapshot"])
def test_a_store_that_cannot_be_created_is_an_error_at_the_start(name: str, tmp_path: Path) -> None:
    with pytest.raises(BindingError, match="does not exist") as caught:
        open_bindings(tmp_path / name, create=True)
    assert caught.value.code == "database-missing"


def test_get_raises_an_error_where_lookup_returns_none(database: str, open_store: Callable[..., Bindings]) -> None:
    bindings = open_store(database)
    bindings.bind(NAME, "https://example.org/")
    assert bindings.get(NAME) == bindings.lookup(NAME)
    other = f"{NAME}9"
    assert bindings.lookup(other) is None
    assert NAME in bindings
    assert other not in bindings
    with pytest.raises(BindingError, match=f"{other} is not bound") as caught:
        bindings.get(other)
    assert caught.value.code == "not-bound"
    with pytest.raises(BindingError, match="neither"):
        assert "x" in bindings
