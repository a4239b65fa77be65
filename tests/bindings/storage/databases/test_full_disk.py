"""An SQLite file on a full or read-only disk: it is read, and a failed change does not keep the disk full."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.storage.databases import sqlite
from ararat.bindings.storage.databases.sqlite import SQLite
from tests.forking import ForkedCode

pytestmark = pytest.mark.usefixtures("durable_sqlite")

NAME = "ark:12345/x5a"


@pytest.fixture
def file(tmp_path: Path, open_store: Callable[..., Bindings]) -> Path:
    """A file with one name that no process uses, so it has no log."""
    path = tmp_path / "bindings.sqlite"
    bindings = open_store(path)
    bindings.bind(NAME, "https://example.org/")
    bindings.close()
    assert [each.name for each in tmp_path.iterdir()] == ["bindings.sqlite"]
    return path


# A limit of 0 bytes for files is as a full disk: nothing can grow. Python ignores the signal SIGXFSZ.
ON_A_FULL_DISK = """
import logging, resource, sys
import ararat.bindings.storage.writing.transaction
from ararat.bindings.health import conditions
from ararat.middleware import BindingsUnavailable, open_bindings
logging.getLogger().handlers[:] = [logging.StreamHandler()]
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
bindings = open_bindings(sys.argv[1])
for _ in range(2):
    print(bindings.lookup("ark:12345/x5a").target)
print(len(bindings.history("ark:12345/x5a")), len(bindings.list_names().names))
try:
    bindings.bind("ark:12345/x5b", "https://example.org/")
except BindingsUnavailable as error:
    print("free space on its disk" in str(error), "password" in str(error))
print(bindings.lookup("ark:12345/x5a").target, [each.readable for each in conditions(sys.argv[1])])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(bindings.bind("ark:12345/x5b", "https://example.org/"), bindings.lookup("ark:12345/x5b").target)
"""


def test_a_process_that_starts_on_a_full_disk_serves_its_names(file: Path) -> None:
    with ForkedCode(ON_A_FULL_DISK, str(file), stderr=subprocess.PIPE) as process:
        printed, errors = process.communicate(timeout=60)
    assert printed.splitlines() == [
        "https://example.org/",
        "https://example.org/",
        "1 1",
        "True False",
        "https://example.org/ [True]",
        "bound https://example.org/",
    ], errors
    assert "can only be read (disk I/O error): free space on its disk" in errors


@pytest.mark.parametrize(
    ("code", "text"),
    [
        pytest.param(sqlite3.SQLITE_IOERR, "disk I/O error", id="no space, quota"),
        pytest.param(sqlite3.SQLITE_CANTOPEN, "unable to open database file", id="no inode"),
        pytest.param(sqlite3.SQLITE_FULL, "database or disk is full", id="full"),
    ],
)
def test_each_sign_of_a_full_disk_leads_to_reading(
    code: int, text: str, file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = SQLite._open

    def fail(self: SQLite, options: str, *pragmas: str) -> sqlite3.Connection:
        if "immutable" not in options:
            error = sqlite3.OperationalError(text)
            error.sqlite_errorcode = code
            raise error
        return connect(self, options, *pragmas)

    monkeypatch.setattr(SQLite, "_open", fail)
    bindings = open_store(file, create=False)
    assert bindings.lookup(NAME) is not None
    with pytest.raises(BindingsUnavailable, match="free space on its disk"):
        bindings.bind("ark:12345/x5b", "https://example.org/")
    # With space again, another process writes, and its change is read.
    monkeypatch.setattr(SQLite, "_open", connect)
    other = open_store(file, create=False)
    other.bind("ark:12345/x5c", "https://example.org/c")
    monkeypatch.setattr(sqlite, "FRESH_SECONDS", 0.0)
    assert bindings.lookup("ark:12345/x5c") is not None or open_store(file).lookup("ark:12345/x5c") is not None


def table_of(tmp_path: Path, number: int) -> Path:
    path = tmp_path / "big.csv"
    lines = (f"ark:12345/x5r{row},https://example.org/r/{row},Row {row}" for row in range(number))
    path.write_text("\n".join(["identifier,target,what", *lines, ""]))
    return path


def log_of(file: Path) -> int:
    log = file.with_name(f"{file.name}-wal")
    return log.stat().st_size if log.exists() else 0


def test_a_failed_change_leaves_no_long_log(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = open_store(file, create=False)
    assert serving.lookup(NAME) is not None  # this process keeps the log
    connect = SQLite.connect_to_write

    def connect_on_a_small_disk(self: SQLite) -> sqlite3.Connection:
        connection = connect(self)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        connection.execute("PRAGMA cache_size = 10")  # so that pages are written before the change ends
        return connection

    monkeypatch.setattr(SQLite, "connect_to_write", connect_on_a_small_disk)
    with pytest.raises(BindingsUnavailable, match="full; free space on its disk"):
        import_table(open_store(file, create=False), table_of(tmp_path, 3000))
    assert gc.isenabled(), "the import has paused it"
    monkeypatch.undo()
    assert log_of(file) == 0
    assert serving.bind("ark:12345/x5b", "https://example.org/b") == "bound"
    assert {each.identifier for each in serving.list_names().names} == {NAME, "ark:12345/x5b"}


def test_a_large_change_leaves_no_long_log(
    file: Path, tmp_path: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LOG_BYTES", 100_000)
    bindings = open_store(file, create=False)
    assert bindings.lookup(NAME) is not None
    import_table(bindings, table_of(tmp_path, 3000), atomic=True)
    assert log_of(file) == 0
    assert bindings.lookup("ark:12345/x5r2999") is not None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", folder], check=False).returncode:
        pytest.skip("this process cannot mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path: Path) -> None:
    """Write a file until no space is left."""
    with path.open("wb", buffering=0) as file:
        for size in (4096, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
def test_a_table_that_does_not_fit_leaves_the_disk_as_it_was(
    file: Path, small_disk: Path, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    place = small_disk / "bindings.sqlite"
    shutil.copy(file, place)
    bindings = open_store(place, create=False)
    assert bindings.lookup(NAME) is not None
    free = os.statvfs(small_disk).f_bavail
    with pytest.raises(BindingsUnavailable, match="free space on its disk"):
        import_table(bindings, table_of(tmp_path, 60_000), atomic=True)
    assert os.statvfs(small_disk).f_bavail > free * 0.9
    assert bindings.bind("ark:12345/x5b", "https://example.org/b") == "bound"
    # A process that starts while the disk is full serves the names.
    bindings.close()
    fill(small_disk / "rest")
    assert open_store(place, create=False).lookup("ark:12345/x5b") is not None


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
def test_a_table_that_does_not_fit_leaves_whole_blocks_that_are_served(
    file: Path, small_disk: Path, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    place = small_disk / "bindings.sqlite"
    shutil.copy(file, place)
    bindings = open_store(place, create=False)
    with pytest.raises(BindingsUnavailable, match="free space on its disk"):
        import_table(bindings, table_of(tmp_path, 60_000))
    written = bindings.count().number - 1
    assert (written > 0, written % 1000) == (True, 0)
    for each in (bindings, open_store(place, create=False)):
        assert each.lookup(f"ark:12345/x5r{written - 1}") is not None
        assert each.lookup(f"ark:12345/x5r{written}") is None


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
def test_a_log_without_its_index_is_read_on_a_read_only_disk(
    file: Path, small_disk: Path, open_store: Callable[..., Bindings]
) -> None:
    bindings = open_store(file, create=False)
    assert bindings.lookup(NAME) is not None  # this process keeps the log
    bindings.bind("ark:12345/x5b", "https://example.org/b")
    place = small_disk / "bindings.sqlite"
    shutil.copy(file, place)
    shutil.copy(f"{file}-wal", f"{place}-wal")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    copy = open_store(place, create=False)
    assert [each.identifier for each in copy.list_names().names] == [NAME, "ark:12345/x5b"]
    with closing(SQLite(place).connect_to_read()) as one, closing(SQLite(place).connect_to_read()) as other:
        for connection in (one, other):
            assert connection.execute("SELECT count(*) FROM bindings").fetchone() == (2,)
