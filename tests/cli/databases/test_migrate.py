"""`ararat migrate`."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.cli import main
from ararat.middleware import BindingsUnavailable, open_bindings


@pytest.fixture
def file(tmp_path: Path, data: Path) -> Path:
    """A database of schema version 1."""
    made = tmp_path / "bindings.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        for statement in (data / "schemas" / "1-sqlite.sql").read_text().split(";;\n"):
            connection.execute(statement)
        connection.execute("INSERT INTO ararat VALUES ('schema', '1'), ('rules', '0')")
        connection.commit()
    return made


def ararat(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main.main, [*map(str, arguments)])


def test_commands_report_an_old_database_and_migrate_upgrades_it(file: Path) -> None:
    bind = ("bind", "ark:12345/doc", "/x", "--database", file)
    refused = ararat(*bind)
    assert refused.exit_code == 2
    assert "ararat migrate" in refused.stderr.replace("\n", " ")
    migrated = ararat("migrate", "--database", file)
    assert (migrated.exit_code, migrated.stdout) == (0, "Migrated the schema from version 1 to 3.\n")
    assert ararat(*bind).exit_code == 0
    assert ararat("migrate", "--database", file).stdout == "The schema is up to date, version 3.\n"


def test_migrate_shows_progress_on_a_terminal(file: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        state = "'located', '/x', 'live', 302, 0, 'name', '2020-01-01T00:00:00.000000Z', 1"
        columns = "key, kind, target, status, redirect, passthrough, scope, changed, revision"
        connection.execute(f"INSERT INTO bindings ({columns}) VALUES ('ark:12345/x', {state})")  # noqa: S608
        connection.commit()
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ararat", "migrate", "--database", str(file)]
    ran = subprocess.run(command, stderr=theirs, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    os.close(theirs)
    shown = os.read(ours, 1000).decode()
    os.close(ours)
    assert ran.stdout == "Migrated the schema from version 1 to 3.\n"
    assert "\rbindings: 1 of 1 rows" in shown.replace("\x1b[K", "")
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize("create", [False, True], ids=["served", "created"])
def test_serve_does_not_migrate_a_database(file: Path, caplog: pytest.LogCaptureFixture, create: bool) -> None:
    before = file.read_bytes()
    with open_bindings(file, create=create) as bindings, pytest.raises(BindingsUnavailable, match="ararat migrate"):
        bindings.fetch(["ark:12345/x"])
    assert "ararat migrate" in caplog.text
    assert file.read_bytes() == before


def test_migrate_reports_a_missing_database(tmp_path: Path) -> None:
    result = ararat("migrate", "--database", tmp_path / "none.sqlite")
    assert (result.exit_code, result.stdout) == (69, "")
    assert "there is no database" in result.stderr


def test_missing_triggers_are_reported_and_added(file: Path) -> None:
    ararat("migrate", "--database", file)
    ararat("bind", "ark:12345/x5", "/x", "--database", file)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TRIGGER bindings_never_replaced")
        connection.execute("INSERT OR REPLACE INTO bindings SELECT * FROM bindings")
        connection.commit()
    checked = ararat("verify", "--database", file)
    assert checked.exit_code == 1
    assert "trigger-missing" in checked.stdout
    migrated = ararat("migrate", "--database", file)
    assert migrated.stdout == "Added 1 triggers that protect the tables. The schema is up to date, version 3.\n"
    assert ararat("verify", "--database", file).exit_code == 0
