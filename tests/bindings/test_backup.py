"""The documented backup of a PostgreSQL database, and the documented move from SQLite to PostgreSQL."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from ararat.bindings.backups.backup import back_up, record
from ararat.bindings.collection import Bindings
from ararat.bindings.digest import facts
from ararat.bindings.minting import mint
from ararat.bindings.names.errors import BindingError
from tests.databases import Cluster
from tests.waiting import until

BACKUP_PAGE = Path(__file__).parents[2] / "docs" / "backup.md"


def blocks(heading: str, language: str = "sh") -> list[str]:
    """Return the code below a heading of the page, up to the next heading."""
    chapter = re.split(r"^#+ ", BACKUP_PAGE.read_text("utf-8").partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", chapter, re.MULTILINE | re.DOTALL)


def run(heading: str, environ: dict[str, str], folder: Path, path: str) -> str:
    """Run the first commands below a heading of the page, and return their output."""
    environ = os.environ | environ | {"PATH": path}
    return subprocess.run(
        ["/bin/sh", "-euc", blocks(heading)[0]],
        cwd=folder,
        env=environ,
        check=True,
        timeout=100,
        capture_output=True,
        text=True,
    ).stdout


@pytest.mark.long  # test_copying.py copies between all kinds of databases
def test_sqlite_is_moved_to_postgresql_with_its_history(cluster, open_store, tmp_path, search_path):
    first, second = tmp_path / "bindings.sqlite", cluster.new_database()
    bindings = open_store(first)
    bindings.bind("ark:12345/x", "https://example.org/1", metadata={"what": "\u1e24"})
    bindings.relocate("ark:12345/x", "https://example.org/2")
    printed = run("Move to another database", {"POSTGRESQL": second}, tmp_path, search_path)
    assert printed.endswith("Everything is right.\n")
    moved = open_store(second)
    assert moved.history("ark:12345/x") == bindings.history("ark:12345/x")
    assert moved.bind("ark:12345/y", "https://example.org/3") == "bound"


def test_a_restored_dump_is_the_last_backup_of_the_digest(cluster, open_store, tmp_path):
    first, second = cluster.new_database(), cluster.new_database()
    bindings, dump = open_store(first), tmp_path / "ararat.dump"
    program = str(cluster.binaries / "pg_dump")

    def backup(of):
        return next(each.message for each in facts(of) if each.code == "backup")

    made = back_up(first, dump, program=program)
    # A dump that was begun, and not recorded as ended, counts only in the database that is restored from it.
    assert backup(bindings) == "No backup was recorded."
    record(first, made)
    assert backup(bindings) == "The last backup is 0 minutes old."
    options = ["--no-owner", "--exit-on-error", f"--dbname={second}", str(dump)]
    subprocess.run([cluster.binaries / "pg_restore", *options], check=True)
    restored = open_store(second)
    assert backup(restored) == "The last backup is 0 minutes old."
    record(second, None, "the disk is full")
    assert backup(restored) == "The last backup failed: the disk is full."


def test_a_dump_can_be_restored_with_its_history(cluster, open_store, tmp_path, search_path):
    first, second = cluster.new_database(), cluster.new_database()
    bindings = open_store(first)
    bindings.bind("ark:12345/x", "https://example.org/1", metadata={"what": "\u1e24"})
    bindings.relocate("ark:12345/x", "https://example.org/2")
    bindings.rules.set("ark:12345/x5", "https://example.org/${value}")
    path = f"{cluster.binaries}:{search_path}"
    printed = run("PostgreSQL", {"ARARAT_DATABASE": first, "EMPTY_DATABASE": second}, tmp_path, path)
    assert printed.endswith("Everything is right.\n")
    restored = open_store(second)
    assert restored.lookup("ark:12345/x") == bindings.lookup("ark:12345/x")
    assert restored.history("ark:12345/x") == bindings.history("ark:12345/x")
    assert restored.rules.list() == bindings.rules.list()
    assert restored.bind("ark:12345/y", "https://example.org/3") == "bound"


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("litestream"), reason="litestream is not installed")
def test_litestream_restores_each_copied_name_after_a_lost_disk(open_store, tmp_path):
    file, replica, restored = tmp_path / "b.sqlite", f"file://{tmp_path}/replica", tmp_path / "restored.sqlite"
    bindings = open_store(file)
    with subprocess.Popen(["litestream", "replicate", file, replica], stderr=subprocess.DEVNULL) as copying:
        try:
            bindings.bind("ark:12345/x1", "https://example.org/1")

            def is_copied() -> bool:
                restored.unlink(missing_ok=True)
                subprocess.run(["litestream", "restore", "-o", restored, replica], capture_output=True, check=False)
                return restored.exists() and open_store(restored, create=False).lookup("ark:12345/x1") is not None

            until(is_copied)
        finally:
            copying.kill()
    assert open_store(restored).history("ark:12345/x1") == bindings.history("ark:12345/x1")


@pytest.fixture
def archiving(made_cluster: Cluster) -> Iterator[Cluster]:
    """A PostgreSQL server that waits for the disk."""
    server = Cluster(made_cluster.binaries, hasty=False)
    try:
        server.start(made_cluster)
        yield server
    finally:
        server.remove()


@pytest.mark.long
@pytest.mark.timeout(180)
def test_archived_segments_restore_each_name_acknowledged_before_their_end(
    archiving: Cluster, open_store: Callable[..., Bindings], tmp_path: Path, record_property: Callable[..., None]
) -> None:
    folder = archiving.folder
    heading = "Continuous backup of PostgreSQL"
    create, query, base, restore, verify = blocks(heading)
    (settings,) = blocks(heading, "ini")
    places = {"/mnt/other": str(folder / "archive"), "/var/lib/postgresql/15/main": str(folder / "data")}

    def here(text: str) -> str:
        for place, used in places.items():
            text = text.replace(place, used)
        return text

    archiving.run("mkdir", str(folder / "archive"))
    archiving.run("sh", "-euc", here(create))
    archiving.halt()
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.write(here(settings))
    archiving.resume()
    url = archiving.new_database()
    bindings = open_store(url)
    bindings.bind("ark:12345/first", "https://example.org/first")
    archiving.run("sh", "-euc", here(base))
    archiving.run("sh", "-euc", query)

    # Each acknowledged name, with the segment in which its change ends at the latest.
    written: dict[str, str] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for number in range(300):
            (name,) = mint(bindings, "12345/x5", length=4, digits=True, check=False, sequential=True)
            bindings.bind(name, f"https://example.org/{number}", metadata={"what": os.urandom(2500).hex()})
            (segment,) = connection.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())").fetchone() or ("",)
            written[name] = segment
    newer = tmp_path / "newer.csv"
    ararat = [sys.executable, "-m", "ararat"]
    subprocess.run([*ararat, "export", "--database", url, newer], check=True, capture_output=True, timeout=100)
    archiving.signal_all(signal.SIGKILL)
    shutil.rmtree(folder / "data")
    last = max(path.name for path in (folder / "archive" / "wal").iterdir() if re.fullmatch("[0-9A-F]{24}", path.name))
    before = {name for name, segment in written.items() if segment <= last}
    after = set(written) - before
    assert before
    assert after

    bindings.close()
    archiving.run("sh", "-euc", here(restore))
    started = time.monotonic()
    archiving.resume()
    restored = open_store(url)
    until(lambda: not _is_recovering(url))
    record_property("seconds", round(time.monotonic() - started, 2))
    environ = os.environ | {"ARARAT_DATABASE": url, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-euc", verify], env=environ, check=True, timeout=100, capture_output=True)
    lost = {name for name in written if restored.lookup(name) is None}
    assert lost <= after
    record_property("names", f"{len(written)}, archived {len(before)}, lost {len(lost)}")

    # What was published after the last segment is not given to another resource.
    command = [*ararat, "recover", "--database", url, "--from", newer]
    assert subprocess.run(command, check=False, timeout=100, capture_output=True).returncode == (1 if lost else 0)
    again = mint(restored, "12345/x5", length=4, digits=True, check=False, sequential=True, count=20)
    assert not written.keys() & {*again}
    for name in lost:
        with pytest.raises(BindingError, match="public"):
            restored.delete(name)
    # The archive goes on with the next timeline.
    archiving.run("sh", "-euc", here(base))


def _is_recovering(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return bool((connection.execute("SELECT pg_is_in_recovery()").fetchone() or (True,))[0])
