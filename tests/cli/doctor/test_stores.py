"""Findings about stores: the name of each condition, and several servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ararat.bindings.health import Condition
from ararat.bindings.storage.databases import sqlite
from ararat.cli.doctor import stores
from ararat.middleware import open_bindings

PRIMARY = Condition("postgresql://a/x", True, True)
STANDBY = Condition("postgresql://b/x", True, False, standby=True)
GONE = Condition("postgresql://c/x", False, False, fault="postgresql://c/x: no route", code="unavailable")


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ([PRIMARY], [("readable-writable", "ok")]),
        ([STANDBY], [("standby", "warning")]),
        ([PRIMARY, STANDBY], [("readable-writable", "ok"), ("standby", "ok")]),
        ([PRIMARY, GONE], [("readable-writable", "ok"), ("unavailable", "error")]),
        ([GONE, STANDBY], [("unavailable", "error"), ("standby", "ok"), ("no-primary", "error")]),
        ([PRIMARY, PRIMARY], [*[("readable-writable", "ok")] * 2, ("several-primaries", "error")]),
    ],
)
def test_several_servers_need_one_primary(
    conditions: list[Condition], found: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "conditions", lambda url: iter(conditions))
    assert [(finding.code, finding.state) for finding in stores.examine("x")] == found


def test_an_old_schema_is_reported_with_the_command(tmp_path: Path) -> None:
    database = tmp_path / "bindings.sqlite"
    with open_bindings(database, create=True) as bindings, bindings.store.transaction() as transaction:
        transaction.set_setting("schema", "1")
    [finding] = stores.examine(str(database))
    assert (finding.code, finding.state) == ("schema-version", "error")
    assert "ararat migrate" in (finding.remedy or "")


def test_a_missing_file_is_reported_with_the_command(tmp_path: Path) -> None:
    [finding] = stores.examine(str(tmp_path / "bindings.sqlite"))
    assert (finding.code, finding.state) == ("unavailable", "error")
    assert "the file does not exist; restore it, or create a new one" in finding.message
    assert "run: ararat init" in (finding.remedy or "")


def test_an_invalid_store_is_bad() -> None:
    [finding] = stores.examine("bindings\x1b[2J")
    assert (finding.code, finding.state) == ("database-url", "error")
    assert finding.message.isprintable()


def test_an_invalid_file_is_reported_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Condition("names.csv", False, False, table=True, fault="names.csv, line 3: missing", code="name-missing")
    monkeypatch.setattr(stores, "conditions", lambda url: iter([fault]))
    [finding] = stores.examine("names.csv")
    assert finding.message == "names.csv, line 3: missing."
    assert finding.remedy == "Correct the file: names.csv. If the file is correct, delete names.csv.served."


@pytest.mark.parametrize(
    ("version", "full_text", "said"),
    [
        pytest.param((3, 33, 0), "SELECT 1", "is too old", id="old"),
        pytest.param((3, 34, 0), "SELECT 0", "has no full-text search (FTS5)", id="no FTS5"),
        pytest.param((3, 34, 0), "SELECT 1", None, id="oldest with FTS5"),
    ],
)
def test_an_sqlite_library_that_lacks_something_is_reported(
    version: tuple[int, ...], full_text: str, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_bindings(tmp_path / "bindings.sqlite", create=True).close()
    monkeypatch.setattr("sqlite3.sqlite_version_info", version)
    monkeypatch.setattr(sqlite, "HAS_FULL_TEXT", full_text)
    found = [finding for finding in stores.examine(str(tmp_path / "bindings.sqlite")) if finding.shown == "SQLite"]
    assert [(each.code, each.state, said in each.message) for each in found if said] == (
        [("sqlite-library", "warning", True)] if said else []
    )
    assert bool(found) is (said is not None)


def test_a_table_has_no_finding_about_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 7, 0))
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/x,/x\n")
    assert "sqlite-library" not in [finding.code for finding in stores.examine(str(tmp_path / "names.csv"))]
