"""Snapshot files: which files are refused, and that none is ever changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ararat.bindings.checks.verification import verify
from ararat.bindings.copying import copy_store
from ararat.bindings.health import conditions
from ararat.bindings.names.errors import BindingError, UnusableSnapshot
from ararat.bindings.open import bindings_at
from ararat.bindings.snapshots import write_snapshot
from ararat.bindings.storage.databases.snapshot_file import SnapshotFile
from ararat.middleware import Bindings, BindingsUnavailable, ReadOnlyBindings, open_bindings


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of 300 names."""
    folder = tmp_path_factory.mktemp("snapshot")
    rows = "".join(f"ark:12345/n{number},https://example.org/{number}\n" for number in range(300))
    (folder / "names.csv").write_text(f"identifier,target\n{rows}")
    with open_bindings(folder / "names.csv") as table:
        write_snapshot(table, folder / "names.snapshot")
    return folder / "names.snapshot"


@pytest.fixture
def file(written: Path, tmp_path: Path) -> Path:
    """A copy of the snapshot, which a test can damage."""
    return Path(shutil.copy(written, tmp_path / "copy.snapshot"))


def refused(file: Path) -> str:
    with pytest.raises(UnusableSnapshot) as error:
        bindings_at(file).open()
    [condition] = conditions(file)
    assert (condition.readable, condition.code) == (False, error.value.code)
    return error.value.code


@pytest.mark.parametrize("size", [0, 15, 99, 100, 4096, -4096, -1])
def test_an_incomplete_file_is_refused(file: Path, size: int) -> None:
    os.truncate(file, size if size >= 0 else file.stat().st_size + size)
    assert refused(file) == ("snapshot-foreign" if 0 <= size < 72 else "snapshot-damaged")


def test_a_file_with_appended_bytes_is_refused(file: Path) -> None:
    with file.open("ab") as stream:
        stream.write(b"x")
    assert refused(file) == "snapshot-damaged"


def test_files_of_other_programs_and_versions_are_refused(file: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.snapshot") as connection:
        connection.execute("CREATE TABLE bindings (key)")
    connection.close()
    assert refused(tmp_path / "other.snapshot") == "snapshot-foreign"
    (tmp_path / "text.snapshot").write_text("SQLite format 3 names" * 99)
    assert refused(tmp_path / "text.snapshot") == "snapshot-foreign"
    with file.open("r+b") as stream:
        stream.seek(60)
        stream.write((99).to_bytes(4))
    assert refused(file) == "snapshot-version"


def test_a_damaged_page_is_reported_when_it_is_read(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (file.stat().st_size - 4096))
    with open_bindings(file) as bindings, pytest.raises(BindingsUnavailable, match="ararat snapshot"):
        bindings.lookup("ark:12345/n7")


def test_a_missing_file_is_read_when_it_exists(file: Path, tmp_path: Path) -> None:
    later = tmp_path / "later.snapshot"
    bindings = bindings_at(later)
    with pytest.raises(BindingsUnavailable):
        bindings.open()
    file.replace(later)
    assert bindings.open().lookup("ark:12345/n7") is not None
    bindings.close()


def test_a_running_reader_reports_a_wrong_file_and_reads_the_next_one(file: Path, tmp_path: Path) -> None:
    good = Path(shutil.copy(file, tmp_path / "good"))
    wrong = tmp_path / "wrong"
    wrong.write_bytes(good.read_bytes()[:9000])
    with open_bindings(file) as bindings:
        assert len(bindings.store.fetch(["ark:12345/n7"])) == 1
        wrong.replace(file)
        time.sleep(0.02)
        with pytest.raises(UnusableSnapshot):
            bindings.store.fetch(["ark:12345/n7"])
        good.replace(file)
        time.sleep(0.02)
        assert len(bindings.store.fetch(["ark:12345/n7"])) == 1


def test_a_snapshot_is_never_written(file: Path) -> None:
    before = file.read_bytes()
    file.chmod(0o444)
    with open_bindings(file) as bindings:
        for change in (
            lambda: bindings.bind("ark:12345/new", "https://example.org/"),
            lambda: bindings.withdraw("ark:12345/n7"),
            lambda: bindings.rules.set("ark:12345/x5", "https://example.org/${suffix}"),
        ):
            with pytest.raises(ReadOnlyBindings, match="never changed"):
                change()
        with bindings.store.snapshot() as snapshot:
            assert sum(1 for _ in snapshot.bindings()) == 300
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with pytest.raises(ReadOnlyBindings):
        SnapshotFile(file.with_name("new.snapshot")).create()


def test_a_snapshot_has_no_history(file: Path, open_store: Callable[..., Bindings], tmp_path: Path) -> None:
    with open_bindings(file) as bindings:
        for query in (
            lambda: bindings.history("ark:12345/n7"),
            lambda: list(verify(bindings)),
            lambda: copy_store(bindings, open_store(tmp_path / "new.sqlite")),
        ):
            with pytest.raises(BindingError) as error:
                query()
            assert error.value.code == "not-in-snapshot"


def test_a_missing_snapshot_is_written_again_and_not_created(tmp_path: Path) -> None:
    with (
        open_bindings(tmp_path / "names.snapshot", missing_ok=True) as bindings,
        pytest.raises(BindingsUnavailable, match="the file does not exist; write it again with ararat snapshot"),
    ):
        bindings.get("ark:12345/x")
