"""Backups of SQLite and PostgreSQL while names are written, and damaged ones."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.backups import postgresql_dump
from ararat.bindings.backups.backup import Backup, _lock_folder, back_up, check_backup
from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.errors import BackupError
from ararat.middleware import open_bindings
from tests.forking import ForkedCode

# Another process, which prints each name after its change was acknowledged.
_WRITER = """\
import sys, time
from ararat.bindings.minting import mint
from ararat.middleware import open_bindings
bindings, number = open_bindings(sys.argv[1]), 0
while True:
    mint(bindings, "12345/w", length=6, digits=True, check=False, sequential=True)
    print(number, flush=True)
    number += 1
    time.sleep(float(sys.argv[2]))
"""


@contextmanager
def writing(url: str, pause: float) -> Iterator[Callable[[], int]]:
    """Mint names in another process. The function returns the number of acknowledged ones, and is called once."""
    with ForkedCode(_WRITER, url, str(pause)) as process:
        output = process.stdout
        assert output is not None
        assert output.readline() == "0\n"

        def acknowledged() -> int:
            # What is in the pipe now was written before.
            os.set_blocking(output.fileno(), False)
            lines = os.read(output.fileno(), 1 << 16).split() if _is_readable(output.fileno()) else [b"0"]
            os.set_blocking(output.fileno(), True)
            return int(lines[-2 if len(lines) > 1 else -1]) + 1

        try:
            yield acknowledged
        finally:
            process.kill()


def _is_readable(descriptor: int) -> bool:
    import select

    return bool(select.select([descriptor], [], [], 0)[0])


def filled(url: str, count: int, folder: Path) -> None:
    table = folder / "names.csv"
    rows = (f"ark:12345/n{number},https://example.org/{number}\n" for number in range(count))
    table.write_text("identifier,target\n" + "".join(rows))
    with open_bindings(url, create=True) as bindings:
        import_table(bindings, table)


def test_a_backup_during_changes_has_each_name_acknowledged_before(database: str, tmp_path: Path) -> None:
    filled(database, 2_000, tmp_path)
    file = tmp_path / "backup.sqlite"
    with writing(database, 0.002) as acknowledged:
        time.sleep(0.2)
        before = acknowledged()
        made = back_up(database, file)
    assert made.names is not None
    assert made.names >= 2_000 + before
    assert check_backup(file)._replace(began=made.began) == made
    assert abs((check_backup(file).began - made.began).total_seconds()) < 0.001
    assert file.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.glob(".*")] == []
    if not database.startswith("postgresql"):
        with open_bindings(file) as copy:
            assert copy.history(f"ark:12345/w{before - 1:06}")[0].action == "reserved"
            assert copy.history("ark:12345/n7")[0].action == "bound"


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_backup_of_many_names_ends_while_names_are_minted(
    database: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    filled(database, 200_000, tmp_path)
    file = tmp_path / "backup"

    def seconds() -> float:
        started = time.perf_counter()
        back_up(database, file)
        return time.perf_counter() - started

    quiet = seconds()
    with writing(database, 0.03) as acknowledged:
        time.sleep(1)
        before = acknowledged()
        busy = seconds()
    record_property("seconds", f"quiet {quiet:.2f}, with changes {busy:.2f}")
    # Minted names are numbered and never deleted.
    assert (check_backup(file).names or 0) >= 200_000 + before
    # This is not the speed of the machine, but the property that a backup ends.
    assert busy < 10 * quiet, f"{busy:.1f} s, quiet {quiet:.1f} s"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "bindings.sqlite"
    with open_bindings(file, create=True) as bindings:
        bindings.bind("ark:12345/x", "https://example.org/1")
    return file


def damaged_history(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DROP TRIGGER events_never_changed")


def half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def zeros(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(bytes(8192))


def another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE t (x)")


@pytest.mark.one_setup
@pytest.mark.parametrize("damage", [damaged_history, half, zeros, another_program, lambda file: file.write_text("x")])
def test_a_damaged_backup_is_found(damage: Callable[[Path], Any], source: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.sqlite"
    file.unlink(missing_ok=True)
    back_up(source, file)
    damage(file)
    with pytest.raises(BackupError):
        check_backup(file)


def test_a_check_leaves_the_files_of_a_copy_as_they_are(tmp_path: Path) -> None:
    """A snapshot of the file system has the write-ahead log beside the file."""
    database, folder = tmp_path / "b.sqlite", tmp_path / "copy"
    folder.mkdir()
    with open_bindings(database, create=True) as bindings, closing(sqlite3.connect(database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM bindings").fetchone()
        for number in range(20):
            bindings.bind(f"ark:12345/x{number}", "https://example.org/")
        for name in ("b.sqlite", "b.sqlite-wal"):
            shutil.copyfile(tmp_path / name, folder / name)
            os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    before = {each.name: (each.read_bytes(), each.stat().st_mtime) for each in folder.iterdir()}
    for _ in range(2):
        found = check_backup(folder / "b.sqlite")
        assert found.names == 20
        assert {each.name: (each.read_bytes(), each.stat().st_mtime) for each in folder.iterdir()} == before


def test_a_wrong_copy_does_not_replace_a_backup(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.sqlite"
    back_up(source, file)
    before = file.read_bytes()
    damaged_history(source)
    with pytest.raises(BackupError, match="trigger"):
        back_up(source, file)
    assert file.read_bytes() == before
    assert not (tmp_path / ".backup.sqlite.part").exists()


def test_the_rest_of_a_killed_backup_is_deleted(source: Path, tmp_path: Path) -> None:
    rest = tmp_path / ".backup.sqlite.part"
    rest.mkdir()
    (rest / "backup.sqlite").write_bytes(b"half")
    (rest / "backup.sqlite-wal").write_bytes(b"half")
    assert back_up(source, tmp_path / "backup.sqlite").names == 1
    assert not rest.exists()


def test_the_rest_of_a_killed_backup_with_another_name_is_deleted_by_the_next_one(source: Path, tmp_path: Path) -> None:
    """The names of nightly backups have their dates."""
    rests: dict[str, Path] = {}
    for what, more in (("killed", "-wal"), ("running", ""), ("new", ""), ("of another program", "notes.txt")):
        rests[what] = rest = tmp_path / f".{what}.sqlite.part"
        rest.mkdir()
        (rest / f"{what}.sqlite").write_bytes(b"half")
        (rest / (more if "." in more else f"{what}.sqlite{more}")).write_bytes(b"half")
        if what != "new":
            os.utime(rest, (0, 0))
    with _lock_folder(rests["running"]):
        assert back_up(source, tmp_path / "tonight.sqlite").names == 1
    assert [what for what, rest in rests.items() if not rest.exists()] == ["killed"]


def test_a_file_in_use_the_database_itself_and_files_of_text_are_refused(source: Path, tmp_path: Path) -> None:
    used, link = tmp_path / "used.sqlite", tmp_path / "link.sqlite"
    used.with_name("used.sqlite-wal").write_bytes(b"changes")
    link.symlink_to(source)
    for file, what in ((used, "uses"), (source, "itself"), (link, "itself")):
        with pytest.raises(BackupError, match=what):
            back_up(source, file)
    (tmp_path / "names.csv").write_text("identifier,target\n")
    with pytest.raises(BackupError, match="file of text"):
        back_up(tmp_path / "names.csv", tmp_path / "backup.sqlite")


def test_two_backups_to_one_file_at_once_are_refused(source: Path, tmp_path: Path) -> None:
    def second(what: str) -> None:
        if what == "copy":
            with pytest.raises(BackupError, match="another process"):
                back_up(source, tmp_path / "backup.sqlite")

    assert back_up(source, tmp_path / "backup.sqlite", progress=second).names == 1


def test_a_dump_is_read_to_its_end_and_hides_the_password(cluster: Any, open_store: Any, tmp_path: Path) -> None:
    url = cluster.new_schema()
    bindings: Bindings = open_store(url)
    bindings.bind("ark:12345/x", "https://example.org/1")
    file, log = tmp_path / "names.dump", tmp_path / "arguments"
    # A program that notes its arguments before it becomes pg_dump.
    program = tmp_path / "pg_dump"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "${{PGPASSWORD-none}}" > {log}\nexec pg_dump "$@"\n')
    program.chmod(0o755)
    made = back_up(url.replace("ararat@", "ararat:s3cret@"), file, program=str(program))
    *arguments, password = log.read_text().splitlines()
    assert password == "s3cret"
    assert "s3cret" not in " ".join(arguments)
    assert {"--format=custom", "--no-password"} <= {*arguments}
    assert made.names == 1
    half(file)
    with pytest.raises(BackupError, match=r"damaged|lacks"):
        check_backup(file)


@pytest.mark.parametrize(
    ("installed", "server", "expected"),
    [({"13": 13, "15": 15, "17": 17}, 15, 15), ({"13": 13, "17": 17}, 15, 17), ({"13": 13}, 15, None), ({}, 15, None)],
    ids=["the same", "a newer one", "only older ones", "none"],
)
def test_the_program_that_fits_the_server_is_found(
    installed: dict[str, int], server: int, expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, version in installed.items():
        program = tmp_path / folder / "bin" / "pg_dump"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho "pg_dump (PostgreSQL) {version}.4 (Debian {version}.4-1)"\n')
        program.chmod(0o755)
    monkeypatch.setattr(postgresql_dump, "_FOLDERS", ((str(tmp_path), "*/bin"),))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    if expected is None:
        with pytest.raises(BackupError, match="version 13" if installed else "not installed"):
            postgresql_dump._program("pg_dump", server)
    else:
        assert Path(postgresql_dump._program("pg_dump", server)).parts[-3] == str(expected)


def test_the_age_is_that_of_the_content() -> None:
    made = Backup(Path("x"), datetime(2026, 11, 25, 12, tzinfo=UTC), 1, 1)
    assert made.age(datetime(2026, 11, 26, 13, tzinfo=UTC)) == 25


def test_a_backup_replaces_only_a_backup(source: Path, tmp_path: Path) -> None:
    text, pipe, empty, older = (tmp_path / name for name in ("thesis.txt", "pipe", "empty", "older"))
    text.write_text("Chapter 1")
    os.mkfifo(pipe)
    empty.write_bytes(bytes(4096))
    for place, cause in ((text, "is not a backup"), (pipe, "is a device or a pipe"), (tmp_path, "is a folder")):
        with pytest.raises(BackupError, match=cause):
            back_up(source, place)
    assert text.read_text() == "Chapter 1"
    assert pipe.is_fifo()
    for place in (empty, older, older):
        assert back_up(source, place).file == place
