"""Lists of names with an SQLite library or file that has no full-text search."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.migration.migrations import migrate
from ararat.bindings.names.selection import select
from ararat.bindings.storage.tables import search_indexes


@pytest.fixture
def without_full_text(created_tables: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An SQLite library without FTS5. Python cannot remove the module from the library."""
    monkeypatch.setattr(search_indexes, "HAS_FULL_TEXT", "SELECT 0")
    monkeypatch.setitem(search_indexes.HAS_TRIGRAMS, "sqlite", "SELECT 0")


TITLES = {"x1": "A map of Yerevan", "x2": "Maps, old", "x3": "Karte von Größe", "x4": '100%_ \\\\ "quoted"'}


@pytest.fixture
def filled(without_full_text: None, tmp_path: Path, open_store: Callable[..., Bindings]) -> Bindings:
    bindings = open_store(tmp_path / "bindings.sqlite")
    for name, title in TITLES.items():
        bindings.bind(f"ark:12345/{name}", "https://example.org/", metadata={"erc.what": title})
    bindings.bind("ark:12345/x5", "https://example.org/map")
    bindings.relocate("ark:12345/x2", "https://example.org/new")
    return bindings


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("maps", {"x2"}, id="word"),
        pytest.param("map", {"x1", "x2", "x5"}, id="part, also of an address"),
        pytest.param("yerevan MAP", {"x1"}, id="both words in any order and case"),
        pytest.param("Größe", {"x3"}, id="not ASCII"),
        pytest.param("100%_", {"x4"}, id="wildcards of LIKE"),
        pytest.param("what", set(), id="no name of a field"),
    ],
)
def test_words_are_found_without_full_text_search(filled: Bindings, text: str, found: set[str]) -> None:
    page = filled.list_names(select(text=text))
    assert {name.identifier.removeprefix("ark:12345/") for name in page.names} == found
    assert page.note is not None
    assert "FTS5" in page.note
    assert filled.count_names(select(text=text)) == ({"": len(found)} if found else {})


def test_pages_follow_each_other_without_full_text_search(filled: Bindings) -> None:
    first = filled.list_names(select(text="map"), limit=1)
    second = filled.list_names(select(text="map"), cursor=first.next, limit=1)
    third = filled.list_names(select(text="map"), cursor=second.next, limit=1)
    found = [each.identifier for each in (*first.names, *second.names, *third.names)]
    assert found == ["ark:12345/x1", "ark:12345/x2", "ark:12345/x5"]
    assert third.next is None


def test_a_migration_with_a_complete_library_adds_the_words(
    filled: Bindings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    path = tmp_path / "bindings.sqlite"
    assert migrate(path).indexes == 0  # the library has not changed
    filled.close()
    monkeypatch.undo()
    assert migrate(path).indexes == 1
    page = open_store(path).list_names(select(text="map"))
    assert [each.identifier for each in page.names] == ["ark:12345/x1", "ark:12345/x2", "ark:12345/x5"]
    assert page.note is None


def test_the_queries_for_the_module_and_the_table_work() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        [(has_module,)] = connection.execute(search_indexes.HAS_FULL_TEXT)
        assert connection.execute(search_indexes.HAS_TRIGRAMS["sqlite"]).fetchone() == (0,)
        if has_module:
            connection.execute("CREATE VIRTUAL TABLE search_trigrams USING fts5 (text)")
            assert connection.execute(search_indexes.HAS_TRIGRAMS["sqlite"]).fetchone() == (1,)
