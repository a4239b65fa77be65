"""Ready-made tables equal created ones, and have nothing of an earlier test."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.writing import creation

from .ready_tables import create_tables

NAME = "ark:12345/x"
CONTENT = """
SELECT (SELECT count(*) FROM bindings), (SELECT count(*) FROM events), (SELECT max(id) FROM events),
array(SELECT name || value FROM ararat ORDER BY name)
"""


def content(url: str, statement: str = CONTENT) -> Any:
    with psycopg.connect(url) as connection:
        return connection.execute(statement.encode()).fetchone()


def test_a_schema_is_empty_when_it_is_used_again(cluster: Any) -> None:
    first = cluster.new_schema()
    with open_bindings(first, create=True) as bindings:
        new = content(first)
        bindings.bind(NAME, "/1")
        bindings.relocate(NAME, "/2")
        bindings.prefixes.set("12345/x5", what="maps")
    before = content(first, "SELECT 'bindings'::regclass::oid")
    cluster.recycle(first)
    seconds: list[str] = [cluster.new_schema() for _ in range(20)]
    for url in seconds:
        with pytest.raises(psycopg.errors.UndefinedTable):
            content(url)
    tables: list[Any] = []
    for url in seconds:
        with open_bindings(url, create=True) as bindings:
            assert content(url) == new
            assert bindings.bind(NAME, "/1") == "bound"
            assert content(url)[:3] == (1, 1, 1)
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
                content(url, "DELETE FROM events RETURNING 1")
        tables.append(content(url, "SELECT 'bindings'::regclass::oid"))
        if before in tables:
            break
    assert before in tables


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "change",
    [
        pytest.param("ALTER TABLE bindings DISABLE TRIGGER USER", id="a trigger is disabled"),
        pytest.param("CREATE TABLE more (id INTEGER)", id="another table"),
        pytest.param("DROP TABLE links", id="a missing table"),
        pytest.param("ALTER TABLE bindings ALTER COLUMN metadata SET DEFAULT ''", id="another default"),
        pytest.param("ANALYZE bindings", id="other statistics"),
    ],
)
def test_a_changed_schema_is_not_used_again(cluster: Any, open_store: Callable[..., Bindings], change: str) -> None:
    url = cluster.new_schema()
    open_store(url).bind(NAME, "/1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(change.encode())
    schema = content(url, "SELECT current_schema()")[0]
    cluster.recycle(url)
    assert content(url, f"SELECT count(*) FROM pg_namespace WHERE nspname ~ '{schema}$'") == (0,)  # noqa: S608


def test_copied_files_have_the_created_tables_and_their_own_identities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(name: str) -> tuple[list[Any], Any]:
        file = tmp_path / name
        open_bindings(file, create=True).close()
        with closing(sqlite3.connect(file)) as connection:
            tables = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            tables += connection.execute("SELECT name, value FROM ararat ORDER BY name").fetchall()
            tables += connection.execute("PRAGMA journal_mode").fetchall()
            return tables, connection.execute("PRAGMA application_id").fetchone()[0]

    (tables, identity), (same, another) = read("first.sqlite"), read("second.sqlite")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["first.sqlite", "second.sqlite"]
    monkeypatch.setattr(creation, "create_tables", create_tables)
    created, _ = read("created.sqlite")
    assert tables == same == created
    assert identity > 0 < another != identity
