"""Commands that only read leave the files of a copy as they are, also one with a write-ahead log."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.collection import utc_now
from ararat.bindings.digest import LAST_BACKUP
from ararat.cli.main import main
from ararat.middleware import open_bindings
from ararat.webapp.accounts.store import Accounts
from tests.wrapping import unwrapped

IN_LOG = "ark:12345/x5late"
OLD = utc_now().timestamp() - 10 * 24 * 3600
COMMANDS = [
    *("show ark:12345/x5late", "history ark:12345/x5late", "inspect ark:12345/x5late", "list", "count", "holds"),
    *("rule list", "rule history 12345/x5", "prefix list", "prefix show 12345/x5", "prefix history 12345/x5"),
    *("operations", "jobs", "export -", "export --history history.jsonl", "snapshot names.snapshot", "check"),
    *("verify", "digest", "rounds --recorded", "account list", "account tokens me", "account audit"),
    *("recover --from names.csv --dry-run", "verify --against OTHER", "conformance --help"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the copy of a file and of its log, which has the newest name."""
    folder = tmp_path_factory.mktemp("made")
    file = folder / "bindings.sqlite"
    with open_bindings(file, create=True) as bindings:
        bindings.bind("ark:12345/x5a", "https://example.org/a")
        bindings.prefixes.set("ark:12345/x5", who="me")
        Accounts(bindings).add("me", "reader")
    with open_bindings(file) as bindings, closing(sqlite3.connect(file)) as reader:
        # SQLite does not write the log into the file while this transaction reads.
        reader.execute("BEGIN")
        reader.execute("SELECT 1 FROM bindings").fetchone()
        bindings.bind(IN_LOG, "https://example.org/late")
        (folder / "copy").mkdir()
        for name in (file.name, f"{file.name}-wal"):
            shutil.copy(folder / name, folder / "copy")
    return folder / "copy"


@pytest.fixture
def copy(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    Path("names.csv").write_text("identifier,target\nark:12345/x5new,https://example.org/\n")
    for file in folder.iterdir():
        os.utime(file, (OLD, OLD))
    return folder / "bindings.sqlite"


def state(file: Path) -> dict[str, tuple[bytes, float]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime) for each in file.parent.iterdir()}


def ararat(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_reads_leaves_a_copy_as_it_is(command: str, copy: Path) -> None:
    before = state(copy)
    arguments = [str(copy) if each == "OTHER" else each for each in command.split()]
    result = ararat(*arguments, *(["--database", copy] if "--help" not in command else []))
    assert result.exit_code in (0, 1), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert state(copy) == before
    if command in ("show ark:12345/x5late", "list", "export -"):
        assert IN_LOG in result.stdout
    assert tempfile.gettempdir() not in result.output.replace(str(copy.parents[1]), "")


@pytest.mark.parametrize("command", ["list", "verify", "digest"])
def test_a_link_to_a_copy_leaves_it_as_it_is(command: str, copy: Path, tmp_path: Path) -> None:
    link = tmp_path / "latest.sqlite"
    link.symlink_to(copy)
    before = state(copy)
    result = ararat(command, "--database", link)
    assert state(copy) == before
    assert (IN_LOG in result.stdout) == (command == "list")
    log = copy.with_name(f"{copy.name}-wal")
    os.utime(log)
    assert ararat("backup", "--check", "--max-age", "2d", link).exit_code == 0
    assert log.exists()


def test_a_copy_of_a_store_and_of_a_name_leave_the_first_as_it_is(copy: Path) -> None:
    before = state(copy)
    assert ararat("copy", copy, "new.sqlite").exit_code == 0
    assert state(copy) == before
    assert IN_LOG in ararat("list", "--database", "new.sqlite").stdout


def test_a_writing_command_writes_the_file(copy: Path) -> None:
    assert ararat("bind", "ark:12345/x5new", "https://example.org/new", "--database", copy).exit_code == 0
    assert "ark:12345/x5new" in ararat("list", "--database", copy).stdout


def test_the_age_of_a_backup_is_that_of_its_last_change(copy: Path) -> None:
    before = state(copy)
    for _ in range(2):
        assert ararat("backup", "--check", "--max-age", "2d", copy).exit_code == 1
    assert state(copy) == before
    log = copy.with_name(f"{copy.name}-wal")
    os.utime(log, (OLD + 9 * 24 * 3600, OLD + 9 * 24 * 3600))
    assert ararat("backup", "--check", "--max-age", "2d", copy).exit_code == 0


def test_a_log_of_another_file_has_the_right_remedy(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with open_bindings(other, create=True) as bindings:
        bindings.bind("ark:12345/b", "https://example.org/b")
    shutil.copy(other, copy)
    checked = unwrapped(ararat("backup", "--check", copy).output)
    assert f"{copy}-wal is the log of another file Fix move it to another folder" in checked
    for command in ("count", "verify"):
        said = unwrapped(ararat(command, "--database", copy).output)
        assert "move bindings.sqlite-wal and bindings.sqlite-shm to another folder" in said
        assert "user and password" not in said


def test_a_restored_backup_knows_its_own_time(tmp_path: Path) -> None:
    live, backup = tmp_path / "live.sqlite", tmp_path / "backup.sqlite"
    open_bindings(live, create=True).close()
    assert ararat("backup", "--database", live, backup).exit_code == 0
    assert "The last backup is" in unwrapped(ararat("digest", "--database", backup).stdout)
    assert ararat("backup", "--check", backup).exit_code == 0
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT count(*) FROM ararat WHERE name = ?", (LAST_BACKUP,)).fetchone() == (1,)
