"""`ararat migrate`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ararat.bindings.migration import migrations
from ararat.bindings.storage import versions
from ararat.bindings.storage.versions import VERSION
from ararat.cli import main
from ararat.cli.progress import Progress
from ararat.middleware import BindingsUnavailable, open_bindings
from tests.wrapping import unwrapped


@pytest.fixture
def current(tmp_path: Path) -> Path:
    """An empty database."""
    file = tmp_path / "bindings.sqlite"
    open_bindings(file, create=True).close()
    return file


@pytest.fixture
def file(current: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of the version before the current one, with a step that leads to it."""
    with closing(sqlite3.connect(current)) as connection:
        connection.execute("UPDATE ararat SET value = ? WHERE name = 'schema'", (str(VERSION - 1),))
        connection.commit()
    monkeypatch.setattr(versions, "OLDEST", VERSION - 1)
    monkeypatch.setitem(migrations._STEPS, VERSION - 1, lambda connection, progress: progress("bindings", 1, 1))
    return current


def ararat(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main.main, [*map(str, arguments)])


def test_commands_report_an_old_database_and_migrate_upgrades_it(file: Path) -> None:
    bind = ("bind", "ark:12345/doc", "/x", "--database", file)
    refused = ararat(*bind)
    assert refused.exit_code == 2
    assert "ararat migrate" in unwrapped(refused.stderr)
    migrated = ararat("migrate", "--database", file, "--no-backup")
    assert (migrated.exit_code, migrated.stdout) == (
        0,
        f"Migrated the schema from version {VERSION - 1} to {VERSION}.\n",
    )
    assert ararat(*bind).exit_code == 0
    assert ararat("migrate", "--database", file).stdout == f"The schema is up to date, version {VERSION}.\n"


def test_migrate_shows_progress_on_a_terminal(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(Progress, "show", lambda self, text: shown.append(text))
    assert ararat("migrate", "--database", file).exit_code == 0
    assert shown == ["bindings: 1 of 1 rows"]


@pytest.mark.parametrize("create", [False, True], ids=["served", "created"])
def test_serve_does_not_migrate_a_database(file: Path, caplog: pytest.LogCaptureFixture, create: bool) -> None:
    before = file.read_bytes()
    with open_bindings(file, create=create) as bindings, pytest.raises(BindingsUnavailable, match="ararat migrate"):
        bindings.store.fetch(["ark:12345/x"])
    assert "ararat migrate" in caplog.text
    assert file.read_bytes() == before


def test_migrate_reports_a_missing_database(tmp_path: Path) -> None:
    result = ararat("migrate", "--database", tmp_path / "none.sqlite")
    assert (result.exit_code, result.stdout) == (69, "")
    assert "there is no database" in unwrapped(result.stderr)


def test_missing_triggers_are_reported_and_added(current: Path) -> None:
    file = current
    ararat("bind", "ark:12345/x5", "/x", "--database", file)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TRIGGER bindings_never_replaced")
        connection.execute("INSERT OR REPLACE INTO bindings SELECT * FROM bindings")
        connection.commit()
    checked = ararat("verify", "--database", file)
    assert checked.exit_code == 1
    assert "trigger-missing" in checked.stdout
    migrated = ararat("migrate", "--database", file)
    assert migrated.stdout == (
        f"Added 1 triggers that protect the tables. The schema is up to date, version {VERSION}.\n"
    )
    assert ararat("verify", "--database", file).exit_code == 0


def test_a_backup_is_written_beside_the_file_before_a_new_version(file: Path) -> None:
    result = ararat("migrate", "--database", file)
    [backup] = file.parent.glob("bindings.before-*.sqlite")
    assert f"The backup of version {VERSION - 1} is {backup}." in unwrapped(result.stdout)
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT value FROM ararat WHERE name = 'schema'").fetchone() == (str(VERSION - 1),)
    # The second migration has nothing to do.
    ararat("migrate", "--database", file)
    assert len([*file.parent.glob("bindings.before-*.sqlite")]) == 1


def test_a_migration_without_a_backup(file: Path) -> None:
    assert ararat("migrate", "--database", file, "--no-backup").exit_code == 0
    assert [*file.parent.glob("bindings.before-*")] == []


_ARGUMENTS = {
    "bind": ["ark:12345/n", "https://example.org/"],
    "relocate": ["ark:12345/n", "https://example.org/"],
    "passthrough": ["ark:12345/n", "normal"],
    "hold": ["ark:12345/n", "--until", "2999-01-01", "--reason", "x"],
    "change": ["publish", "--prefix", "12345/n"],
    "rule set": ["12345/n", "https://example.org/${suffix}"],
    "prefix depart": ["12345/n", "--resolver", "https://example.org/${value}"],
    "prefix set": ["12345/n", "--who", "M"],
    "prefix succeed": ["12345/n", "--to", "M"],
    "undo": ["1"],
    "restore": ["ark:12345/n"],
    "jobs": [],
    "import": ["names.csv"],
    "export": ["-"],
    "copy": ["OLD", "new.sqlite"],
    "snapshot": ["names.snapshot"],
    "log init": ["--origin", "example.org/log", "--dir", "log", "--key", "key"],
    "log publish": ["--dir", "log", "--key", "key"],
    "log recover": ["--dir", "log"],
    "log status": ["--dir", "log"],
    "account add": ["me", "--role", "reader"],
    "account grant": ["me", "12345/"],
    "account link": ["me", "--issuer", "https://example.org", "--subject", "s"],
    "account password": ["me", "--remove"],
    "account revoke": ["me", "12345/"],
    "account revoke-token": ["1"],
    "account role": ["me", "reader"],
}
_OTHERS = ("migrate", "recover", "backup", "serve", "stats")
"""The commands that read or upgrade a database of an older schema, or answer without a database."""


def _commands(group: click.Group, *above: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        if isinstance(command, click.Group):
            yield from _commands(command, *above, name)
        elif any(option.name == "database" for option in command.params) or name == "copy":
            yield " ".join((*above, name)), command


def test_every_command_says_what_to_do_with_an_older_schema(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.csv").write_text("identifier,target\nark:12345/n,https://example.org/\n")
    before = file.read_bytes()
    for name, command in _commands(main.main):
        if name in _OTHERS:
            continue
        required = [each for each in command.params if isinstance(each, click.Argument) and each.required]
        arguments = [
            str(file) if each == "OLD" else each for each in _ARGUMENTS.get(name, ["ark:12345/n"] * len(required))
        ]
        if name != "copy":
            arguments += ["--database", str(file)]
        result = ararat(*name.split(), *arguments)
        said = unwrapped(result.output)
        assert f"run: ararat migrate --database sqlite:///{file}" in said, (name, said)
        assert result.exit_code == (1 if name == "doctor" else 2), name
    assert file.read_bytes() == before
