"""Test a database that replaces another one whose log still exists."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.open import open_bindings
from ararat.bindings.storage.databases.sqlite import FRESH_SECONDS
from ararat.middleware import import_table
from tests.forking import exit_code

pytestmark = pytest.mark.usefixtures("durable_sqlite")

NAMES = [f"ark:12345/n{number}" for number in range(12)]
REPLACED = "the file was replaced, and bindings.sqlite-wal is the log of the previous file"
BACKUP_PAGE = Path(__file__).parents[4] / "docs" / "backup.md"


def fill(path: Path, tag: str) -> None:
    """Create a database with 12 names. The log is written to the file."""
    with open_bindings(path, create=True) as bindings:
        for name in NAMES:
            bindings.bind(name, f"/{tag}/{name}")


def target(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    assert found is not None
    return found.target


def by_backup(file: Path, copy: Path) -> None:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def by_vacuum(file: Path, copy: Path) -> None:
    with closing(sqlite3.connect(file)) as source:
        source.execute("VACUUM INTO ?", (str(copy),))


def by_copy(file: Path, copy: Path) -> None:
    shutil.copy(file, copy)


def of_another_database(file: Path, copy: Path) -> None:
    shutil.copy(file.with_name("other.sqlite"), copy)


COPIES = [by_backup, by_vacuum, by_copy, of_another_database]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two databases."""
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "bindings.sqlite", "first")
    fill(folder / "other.sqlite", "other")
    return folder


@pytest.fixture(scope="module")
def left(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the log of a killed process beside one of the databases."""
    folder = tmp_path_factory.mktemp("left")
    left_behind(Path(shutil.copy(filled / "bindings.sqlite", folder)))
    return folder


@pytest.fixture
def file(filled: Path, tmp_path: Path) -> Path:
    shutil.copy(filled / "other.sqlite", tmp_path)
    return Path(shutil.copy(filled / "bindings.sqlite", tmp_path))


def change(bindings: Bindings, to: str = "/moved") -> None:
    """Make changes that are only in the log."""
    for name in NAMES[:6]:
        bindings.relocate(name, to)
    for number in range(3):
        bindings.bind(f"ark:12345/m{number}", "/new")


def move(copy: Path, file: Path) -> None:
    copy.rename(file)


def overwrite(copy: Path, file: Path) -> None:
    file.write_bytes(copy.read_bytes())


def without_log(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(f"{file.name}{ending}").unlink()


@pytest.mark.parametrize("copied", COPIES)
def test_a_running_process_refuses_a_file_with_the_log_of_another(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings], copied: Callable[[Path, Path], None]
) -> None:
    copy = tmp_path / "copy.sqlite"
    copied(file, copy)
    expected = copy.read_bytes()
    served = open_store(file)
    assert served.lookup(NAMES[0])
    change(open_store(file))
    time.sleep(FRESH_SECONDS)
    assert target(served, NAMES[0]) == "/moved"
    copy.rename(file)
    time.sleep(FRESH_SECONDS)
    for _ in range(2):
        with pytest.raises(BindingsUnavailable, match=REPLACED):
            served.lookup(NAMES[0])
        with pytest.raises(BindingsUnavailable, match=REPLACED):
            served.bind("ark:12345/after", "/x")
    assert file.read_bytes() == expected
    without_log(file)
    tag = "other" if copied is of_another_database else "first"
    assert [target(served, name) for name in NAMES] == [f"/{tag}/{name}" for name in NAMES]
    assert served.bind("ark:12345/after", "/x") == "bound"
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def left_behind(file: Path, to: str = "/moved") -> None:
    """Leave a log with changes, like a killed process."""

    def leave() -> None:
        bindings = open_bindings(file)
        bindings.lookup(NAMES[0])
        change(bindings, to)
        # The end of the function would close the file.
        os._exit(0)

    assert exit_code(leave) == 0
    assert file.with_name(f"{file.name}-wal").stat().st_size > 0


@pytest.mark.skipif(not hasattr(os, "pread"), reason="reads the file as POSIX does")
@pytest.mark.parametrize("put", [move, overwrite])
@pytest.mark.parametrize("copied", [by_backup, by_vacuum, of_another_database])
def test_a_new_process_refuses_a_file_with_the_log_of_another(
    file: Path,
    left: Path,
    tmp_path: Path,
    copied: Callable[[Path, Path], None],
    put: Callable[[Path, Path], None],
) -> None:
    copy = tmp_path / "copy.sqlite"
    copied(file, copy)
    for each in left.iterdir():
        shutil.copy(each, tmp_path)
    put(copy, file)
    before = file.read_bytes()
    with pytest.raises(BindingsUnavailable, match=REPLACED), open_bindings(file) as bindings:
        bindings.lookup(NAMES[0])
    assert file.read_bytes() == before
    without_log(file)
    tag = "other" if copied is of_another_database else "first"
    with open_bindings(file) as bindings:
        found = bindings.lookup(NAMES[0])
        assert found is not None
        assert found.target == f"/{tag}/{NAMES[0]}"


def test_an_older_copy_is_recognized_by_its_counter(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    by_copy(file, copy)
    left_behind(file)
    with open_bindings(file) as bindings:
        bindings.lookup(NAMES[0])  # closing the last connection writes the log to the file
    left_behind(file, "/moved-again")
    copy.rename(file)
    with pytest.raises(BindingsUnavailable, match=REPLACED), open_bindings(file) as bindings:
        bindings.lookup(NAMES[0])


def test_committed_changes_are_read_from_the_log_after_a_kill(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    for turn in range(2):
        left_behind(file, f"/turn-{turn}")
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    left_behind(file)
    moved = tmp_path / "moved with its log"
    moved.mkdir()
    for ending in ("", "-wal", "-shm"):
        shutil.copy(f"{file}{ending}", moved)
    for each in (file, moved / file.name):
        assert target(open_store(each), NAMES[0]) == "/moved"


def test_every_kind_of_change_writes_the_log_of_its_file(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    """A new process opens the file after any program has written it."""
    bindings = open_store(file)
    table = tmp_path / "table.csv"
    table.write_text("identifier,target\n" + "".join(f"ark:12345/i{number},/x\n" for number in range(700)))
    by_hand = [
        "CREATE INDEX i ON bindings (target)",
        "VACUUM",
        "PRAGMA wal_checkpoint",
        "PRAGMA wal_checkpoint(RESTART)",
    ]
    for turn in range(3):
        bindings.bind(f"ark:12345/turn{turn}", "/x")
        open_store(file).lookup(NAMES[0])
        import_table(bindings, table)
        open_store(file).lookup(NAMES[0])
        for statement in by_hand:
            with closing(sqlite3.connect(file)) as connection:
                connection.execute(statement.replace("INDEX i", f"INDEX i{turn}"))
            assert open_store(file).lookup(NAMES[0])
            bindings.relocate(NAMES[0], f"/{turn}{statement}".replace(" ", "-").replace("(", "-").replace(")", ""))
            assert open_store(file).lookup(NAMES[0])


def test_deleting_the_log_in_use_is_reported_and_loses_no_changes(
    file: Path, open_store: Callable[..., Bindings], caplog: pytest.LogCaptureFixture
) -> None:
    served = open_store(file)
    served.bind("ark:12345/in-the-log", "/x")
    assert served.lookup("ark:12345/in-the-log")
    assert caplog.records == []
    time.sleep(FRESH_SECONDS)
    assert served.lookup("ark:12345/in-the-log")
    file.with_name(f"{file.name}-wal").unlink()
    time.sleep(FRESH_SECONDS)
    assert served.lookup("ark:12345/in-the-log") is not None
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "bindings.sqlite-wal was deleted or replaced while it was in use" in record.getMessage()


def test_changes_continue_after_a_lookup_if_the_log_in_use_was_deleted(
    file: Path, open_store: Callable[..., Bindings]
) -> None:
    served = open_store(file)
    assert served.lookup(NAMES[0])
    served.bind("ark:12345/before", "/x")
    file.with_name(f"{file.name}-wal").unlink()
    with pytest.raises(BindingsUnavailable):
        served.bind("ark:12345/after", "/x")
    time.sleep(FRESH_SECONDS)
    assert served.lookup("ark:12345/before") is not None
    assert served.bind("ark:12345/after", "/x") == "bound"
    served.close()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="the program sqlite3 is not installed")
@pytest.mark.parametrize("number", [0, 1], ids=["while the site is stopped", "while the site runs"])
def test_backup_is_restored_by_the_commands_of_the_documentation(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings], number: int
) -> None:
    chapter = BACKUP_PAGE.read_text("utf-8").partition("## Restore an SQLite database")[2]
    commands = re.findall(r"^```sh\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)[number]
    by_backup(file, tmp_path / "backup.sqlite")
    served = open_store(file)
    served.lookup(NAMES[0])
    change(served)
    if number == 0:
        served.close()
    subprocess.run(["/bin/sh", "-euc", commands], cwd=tmp_path, check=True, timeout=100)
    time.sleep(FRESH_SECONDS)
    restored = open_store(file) if number == 0 else served
    assert [target(restored, name) for name in NAMES] == [f"/first/{name}" for name in NAMES]
    assert restored.lookup("ark:12345/m0") is None
