"""Test the publication of a log: its entries, crashes at every place, and old copies of the database or the folder."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import MethodType
from typing import Any

import psycopg
import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.log import folder as folder_module
from ararat.bindings.log import sequencer
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.notes.key_file import create_key
from ararat.bindings.log.publishing import initialize, publish
from ararat.bindings.log.status import log_status
from ararat.bindings.log.tree.tiles import ENTRIES, Tile, hash_reader
from ararat.bindings.log.tree.tree import check_consistency, consistency_proof
from ararat.bindings.open import database_at
from ararat.bindings.storage.store import create_database
from ararat.bindings.storage.writing import transaction as transaction_module
from ararat.middleware import BindingError, BindingsUnavailable, import_table

ORIGIN = "example.org/log"


class Failing:
    """A function that raises an error at its n-th call, and otherwise calls another function."""

    def __init__(self, original: Callable[..., Any], number: int, error: Exception) -> None:
        self.calls = 0
        self._original, self._number, self._error = original, number, error
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        with self._lock:
            self.calls += 1
            fails = self.calls == self._number
        if fails:
            raise self._error
        return self._original(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


def code_of(log: Any) -> str:
    """Return the code of the error with which a publication is refused."""
    with pytest.raises(BindingError) as caught:
        log.publish()
    return caught.value.code


def test_a_new_log_is_empty(log):
    assert (log.checkpoint().size, log.key.name) == (0, ORIGIN)
    assert log.entries() == []
    assert log.key_path.stat().st_mode & 0o777 == 0o600
    assert log.publish().added == 0


def test_each_event_of_a_name_has_an_entry(log):
    log.bindings.bind("ark:12345/x5", "https://example.org/5", resource="inv. 5", actor="Ada Lovelace")
    log.bindings.bind("ark:12345/x6", "https://example.org/6")
    log.bindings.relocate("ark:12345/x5", "https://example.org/five", actor="Ada Lovelace")
    log.bindings.withdraw("ark:12345/x5", reason="Ada Lovelace asked for it")
    assert log.publish().added == 4
    log.bindings.restore("ark:12345/x5", resource="inv. 5")
    assert log.publish().added == 1
    found = [(entry.key, entry.revision, entry.action, entry.before) for entry in log.entries()]
    assert found == [
        ("ark:12345/x5", 1, "bound", None),
        ("ark:12345/x6", 1, "bound", None),
        ("ark:12345/x5", 2, "relocated", 0),
        ("ark:12345/x5", 3, "withdrawn", 2),
        ("ark:12345/x5", 4, "restored", 3),
    ]
    things = {entry.thing for entry in log.entries() if entry.key == "ark:12345/x5"}
    assert len(things) == 1
    assert things != {None}
    assert log.entries()[1].thing is None
    assert len({entry.state for entry in log.entries()}) == 5


def test_the_files_contain_no_personal_data(log):
    log.bindings.bind("ark:12345/x5", "https://example.org/~lovelace", resource="lovelace", actor="lovelace")
    log.bindings.withdraw("ark:12345/x5", reason="lovelace", actor="lovelace")
    log.publish()
    for path in log.folder.path.rglob("*"):
        assert path.is_dir() or b"lovelace" not in path.read_bytes()


def test_equal_values_have_different_hashes(log):
    for number in range(2):
        log.bindings.bind(f"ark:12345/x{number}", "https://example.org/", resource="the same")
    log.publish()
    one, two = log.entries()
    assert one.thing != two.thing
    assert one.state != two.state


def test_a_reserved_name_enters_the_log_when_it_becomes_live(log):
    log.bindings.reserve("ark:12345/x5")
    log.bindings.reserve("ark:12345/x6")
    log.bindings.delete("ark:12345/x6")
    assert log.publish().added == 0
    log.bindings.bind("ark:12345/x5", "/5")
    log.bindings.bind("ark:12345/x6", "/6")
    log.publish()
    assert [(entry.key, entry.revision, entry.before) for entry in log.entries()] == [
        ("ark:12345/x5", 2, None),
        ("ark:12345/x6", 3, None),
    ]


def test_a_very_long_name_is_in_the_log_with_its_whole_text(log):
    name = f"ark:12345/{'%F0%9F%98%80' * 240}"
    log.bindings.bind(name, "/long")
    log.bindings.relocate(name, "/longer")
    log.publish()
    assert [(entry.key, entry.before) for entry in log.entries()] == [(name, None), (name, 0)]


def test_many_publications_grow_one_tree(larger_log, tmp_path):
    log = larger_log()
    sizes = [5]
    log.publish()
    sizes.append(305)
    for number in (3, 204, 1):
        rows = [f"ark:12345/y{len(sizes)}n{each},/y\n" for each in range(number)]
        (tmp_path / "rows.csv").write_text("".join(["identifier,target\n", *rows]), "utf-8")
        import_table(log.bindings, tmp_path / "rows.csv")
        assert log.publish().added == number
        sizes.append(sizes[-1] + number)
    assert len(log.entries()) == sizes[-1] == 513
    # The partial tiles of the last two checkpoints exist, and those of older ones that are full do not.
    partial = sorted(path.relative_to(log.folder.path).as_posix() for path in log.folder.path.rglob("*.p/*"))
    assert Tile(0, 2, 1).path in partial
    assert Tile(ENTRIES, 2, 1).path in partial
    assert not [path for path in partial if "/000.p" in path and not path.startswith("tile/1")]
    for tile in (Tile(0, 0), Tile(0, 1), Tile(ENTRIES, 0), Tile(ENTRIES, 1)):
        log.folder.read(tile)


def test_partial_tiles_of_the_replaced_checkpoint_are_kept(larger_log):
    log = larger_log()
    log.publish()
    # A client that has just read the checkpoint of 5 entries can read its tiles.
    assert len(log.folder.read(Tile(0, 0, 5))) == 5 * 32
    log.bindings.bind("ark:12345/y", "/y")
    log.publish()
    assert not (log.folder.path / Tile(0, 0, 5).path).parent.exists()
    assert len(log.entries()) == 306


def test_without_new_events_no_file_is_changed(larger_log):
    log = larger_log()
    log.publish()
    before = {path: path.stat().st_mtime_ns for path in log.folder.path.rglob("*")}
    assert log.publish().added == 0
    assert {path: path.stat().st_mtime_ns for path in log.folder.path.rglob("*")} == before


@pytest.mark.parametrize(
    "call",
    [
        "replace",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("fsync", "write_bytes", "mkdir", "unlink", "rmdir")),
    ],
)
def test_a_publication_continues_after_any_error_of_the_file_system(larger_log, monkeypatch, call):
    """Fail the n-th call of one kind, for each n, until a publication makes fewer calls."""
    failing = None
    for number in itertools.count(1):
        log = larger_log(str(number))
        log.bindings.bind("ark:12345/y", "/y")
        owner = os if call == "fsync" else Path
        failing = Failing(getattr(owner, call), number, OSError(errno.ENOSPC, "No space left on device"))
        with monkeypatch.context() as patched:
            patched.setattr(owner, call, failing)
            with suppress(BindingError):
                log.publish()
                log.bindings.bind("ark:12345/z", "/z")
                log.publish()
        if failing.calls < number:
            break
        assert len(log.entries()) in (5, 306, 307)  # a reader finds a complete log
        log.bindings.bind("ark:12345/z", "/z")
        log.publish()
        assert len(log.entries()) == 307
    assert failing is not None
    assert failing.calls


def test_an_error_of_the_file_system_names_the_file(larger_log, monkeypatch):
    log = larger_log()
    monkeypatch.setattr(
        Path, "write_bytes", Failing(Path.write_bytes, 1, OSError(errno.ENOSPC, "No space left on device"))
    )
    with pytest.raises(BindingError, match=r"tile/entries/000 cannot be written: No space left") as caught:
        log.publish()
    assert caught.value.code == "log-write"


def test_a_publication_continues_after_any_error_of_the_database(larger_log, monkeypatch):
    begin = transaction_module.begin
    for number in itertools.count(1):
        log = larger_log(str(number))
        failing = Failing(begin, number, BindingsUnavailable("the server does not answer"))
        with monkeypatch.context() as patched:
            patched.setattr(transaction_module, "begin", failing)
            with suppress(BindingsUnavailable):
                log.publish()
        if failing.calls < number:
            break
        assert len(log.entries()) in (5, 305)
        log.publish()
        assert len(log.entries()) == 305


PUBLISH = """
import sys
from pathlib import Path
from ararat.middleware import open_bindings
from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import publish
folder = Path(sys.argv[1])
print("ready", flush=True)
with open_bindings(folder / "bindings.sqlite") as bindings:
    for number in range(int(sys.argv[2]), 10**6):
        for each in range(20):
            bindings.bind(f"ark:12345/k{number}n{each}", "/k")
        print(publish(bindings.store, LogFolder(folder / "log"), folder / "log.key").checkpoint.size, flush=True)
"""


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_killed_publication_loses_nothing(larger_log, tmp_path):
    log = larger_log()
    log.publish()
    published = 305
    for number in range(40):
        command = [sys.executable, "-c", PUBLISH, str(tmp_path / "copy"), str(number * 1000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2 + number * 0.007)
            process.send_signal(signal.SIGKILL)
            printed = process.stdout.read().splitlines()
        published = max([published, *map(int, printed)])
        old = log.checkpoint()
        assert old.size >= published
        log.entries()
        log.publish()
        new = log.checkpoint()
        read = hash_reader(new.size, log.folder.read)
        check_consistency(old.size, old.root, new.size, new.root, consistency_proof(old.size, new.size, read))
        assert new.size == len(log.entries()) == log.rows("SELECT count(*) FROM events")[0][0]
        published = new.size


def test_an_old_database_is_refused(larger_log, tmp_path):
    log = larger_log()
    with log.store.snapshot():
        shutil.copytree(tmp_path / "copy", tmp_path / "backup")
    log.publish()
    old = larger_log("old")
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)
    shutil.copyfile(log.key_path, old.key_path)
    before = old.folder.checkpoint()
    assert code_of(old) == "log-restored"
    old.bindings.bind("ark:12345/y", "/y")
    assert code_of(old) == "log-restored"
    assert old.folder.checkpoint() == before


def test_an_old_database_with_the_same_number_of_entries_is_refused(larger_log):
    log, other = larger_log("one"), larger_log("two")
    log.publish()
    other.publish()
    # Both have assigned salts at random, so their trees differ.
    assert log.checkpoint().root != other.checkpoint().root
    shutil.rmtree(other.folder.path)
    shutil.copytree(log.folder.path, other.folder.path)
    assert code_of(other) == "log-fork"
    other.bindings.bind("ark:12345/y", "/y")
    assert code_of(other) == "log-fork"
    assert other.checkpoint() == log.checkpoint()


def test_a_contradicting_smaller_checkpoint_is_refused(larger_log):
    log, other = larger_log("one"), larger_log("two")
    for each in (log, other):
        each.publish()
        each.bindings.bind("ark:12345/y", "/y")
    log.publish()
    before = other.folder.checkpoint()
    assert before is not None
    log.folder.publish(before)
    assert code_of(log) == "log-fork"


def test_an_old_folder_is_refused(larger_log, tmp_path):
    log = larger_log()
    shutil.copytree(log.folder.path, tmp_path / "old")
    log.publish()
    shutil.rmtree(log.folder.path)
    shutil.copytree(tmp_path / "old", log.folder.path)
    log.bindings.bind("ark:12345/y", "/y")
    assert code_of(log) == "log-folder"
    assert log.checkpoint().size == 5


@pytest.mark.parametrize("damage", ["missing", "empty", "changed", "entries"])
def test_a_damaged_last_tile_is_refused(larger_log, damage):
    log = larger_log()
    log.publish()
    path = log.folder.path / Tile(ENTRIES if damage == "entries" else 0, 1, 49).path
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(b"" if damage == "empty" else content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    log.bindings.bind("ark:12345/y", "/y")
    assert code_of(log) == "log-folder"


def test_a_folder_without_a_checkpoint_is_refused(log):
    log.folder.path.joinpath("checkpoint").unlink()
    assert code_of(log) == "log-folder"


def test_a_forged_checkpoint_is_refused(log):
    log.folder.publish((log.folder.checkpoint() or b"").replace(b"\n0\n", b"\n1\n"))
    assert code_of(log) == "log-folder"


def test_another_key_is_refused(log, tmp_path):
    create_key(tmp_path / "other.key", ORIGIN)
    log.key_path = tmp_path / "other.key"
    assert code_of(log) == "log-key"


@pytest.mark.skipif(os.name != "posix", reason="permissions of files")
def test_a_key_that_all_users_can_read_is_refused(log):
    log.key_path.chmod(0o644)
    with pytest.raises(BindingError, match="chmod 600"):
        log.publish()
    log.key_path.chmod(0o600)
    log.key_path.write_text("PRIVATE+KEY+secret", "utf-8")
    with pytest.raises(BindingError) as caught:
        log.publish()
    assert caught.value.code == "log-key"
    log.key_path.unlink()
    assert code_of(log) == "log-key"


def test_two_publications_at_the_same_time_are_refused(larger_log, monkeypatch):
    log = larger_log()
    found: list[str] = []
    original = LogFolder.flush

    def flush(self):
        found.append(code_of(log))
        original(self)

    monkeypatch.setattr(folder_module.LogFolder, "flush", flush)
    log.publish()
    assert found == ["log-busy"]


def test_two_sequencers_with_copies_of_the_key_never_sign_two_trees(larger_log, tmp_path, monkeypatch):
    """A second sequencer, with its own folder and key file, publishes while the first one writes its tiles."""
    log = larger_log()
    shutil.copytree(log.folder.path, tmp_path / "second")
    shutil.copyfile(log.key_path, tmp_path / "second.key")
    (tmp_path / "second.key").chmod(0o600)
    second = LogFolder(tmp_path / "second")
    original = LogFolder.flush
    published = []

    def flush(self):
        if self.path == log.folder.path and not published:
            log.bindings.bind("ark:12345/y", "/y")
            published.append(publish(log.store, second, tmp_path / "second.key").checkpoint)
        original(self)

    monkeypatch.setattr(LogFolder, "flush", flush)
    assert code_of(log) == "log-busy"
    assert log.checkpoint().size == 5
    # The first folder has the tiles of 305 entries, but not the last one of 306, so an operator must repair it.
    assert code_of(log) == "log-folder"
    assert published[0].size == 306


def test_a_changed_event_is_noticed(larger_log, monkeypatch):
    """Crash after the numbers are assigned, change an event by hand, and publish again."""
    log = larger_log()

    def crash(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LogFolder, "flush", crash)
        with pytest.raises(KeyboardInterrupt):
            log.publish()
    log.execute("DROP TRIGGER events_never_changed")
    log.execute("UPDATE events SET target = 'https://evil.example/' WHERE key = 'ark:12345/n7'")
    with pytest.raises(BindingError, match="differs from entry") as caught:
        log.publish()
    assert (caught.value.code, caught.value.identifier) == ("log-changed", "ark:12345/n7")
    assert log.checkpoint().size == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [("head", "x"), ("head", "5 AAAA=B"), ("key", "x"), ("searched", "-"), ("previous", ""), ("unknown", "1")],
)
def test_a_changed_state_of_the_log_is_refused(larger_log, name, value):
    log = larger_log()
    log.execute(f"UPDATE log_state SET value = '{value}' WHERE name = '{name}'")  # noqa: S608
    if name == "unknown":
        log.execute("DELETE FROM log_state WHERE name = 'head'")
    assert code_of(log) == "log-changed"
    with pytest.raises(BindingError, match="another program changed the table log_state"):
        log_status(log.store, log.folder)


@pytest.mark.parametrize("key", ["ark:12345/a\nb", "ark:12345/\u00e9", "ark:12345/a b", ""])
def test_a_name_that_another_program_wrote_cannot_forge_an_entry(log, key):
    log.bindings.bind("ark:12345/x5", "/5")
    log.execute("DROP TRIGGER events_never_changed")
    with log.store.transaction() as transaction:
        transaction.connection.exec_driver_sql("UPDATE events SET key = CAST(? AS TEXT)", (key.encode(),))
    assert code_of(log) == "log-event"


def test_strange_json_of_another_program_is_logged(log):
    log.bindings.bind("ark:12345/x5", "/5")
    log.execute("DROP TRIGGER events_never_changed")
    for number, text in enumerate(("[1]", "{", '{"a": 1}', "null", '"x"')):
        log.bindings.bind(f"ark:12345/n{number}", "/n")
        with log.store.transaction() as transaction:
            update = "UPDATE events SET metadata = ? WHERE key = ?"
            transaction.connection.exec_driver_sql(update, (text, f"ark:12345/n{number}"))
    assert log.publish().added == 6
    assert len({entry.state for entry in log.entries()}) == 6


def test_a_database_has_one_log(log, tmp_path):
    with pytest.raises(BindingError, match=f"the log {ORIGIN} already") as caught:
        initialize(log.store, LogFolder(tmp_path / "other"), tmp_path / "other.key", ORIGIN)
    assert caught.value.code == "log-exists"
    assert not (tmp_path / "other.key").exists()


@pytest.mark.one_setup
@pytest.mark.parametrize("origin", ["", "a b", "a+b", "https://a\n", "\udcff"])
def test_an_unusable_origin_is_refused(tmp_path, open_store, origin):
    bindings = open_store(tmp_path / "b.sqlite", create=True)
    with pytest.raises(BindingError) as caught:
        initialize(bindings.store, LogFolder(tmp_path / "log"), tmp_path / "log.key", origin)
    assert caught.value.code == "log-origin"
    assert not (tmp_path / "log").exists()


def test_a_folder_has_one_log(log, tmp_path, open_store):
    bindings = open_store(tmp_path / "b.sqlite", create=True)
    with pytest.raises(BindingError, match="has a log already"):
        initialize(bindings.store, log.folder, tmp_path / "other.key", ORIGIN)
    with pytest.raises(BindingError) as caught:
        initialize(bindings.store, LogFolder(tmp_path / "b"), log.key_path, ORIGIN)
    assert caught.value.code == "log-key"


def test_a_database_without_a_log_is_not_published(log, tmp_path, open_store):
    log.bindings = open_store(tmp_path / "b.sqlite", create=True)
    assert code_of(log) == "log-missing"


def test_postgresql_and_sqlite_have_the_same_entries(
    bindings: Bindings, new_log: Callable[[Bindings], Any], table: Path
):
    log = new_log(bindings)
    bindings.bind(
        "ark:12345/x5", "https://example.org/5", resource="inv. 5", metadata={"who": "Ada", "dc.title": "\u00e9"}
    )
    bindings.relocate("ark:12345/x5", "https://example.org/five")
    bindings.reserve("ark:12345/x6")
    log.publish()
    import_table(bindings, table)
    bindings.withdraw("ark:12345/x5", reason="moved")
    log.publish()
    entries = log.entries()
    assert len(entries) == 303
    assert [entry.before for entry in entries if entry.key == "ark:12345/x5"] == [None, 0, 1]
    # An event with a lower number that another transaction commits later is logged, too.
    assert log.rows("SELECT value FROM log_state WHERE name = 'searched'") == log.rows(
        "SELECT CAST(max(id) AS TEXT) FROM events"
    )


def test_a_batch_does_not_read_all_entries_of_the_log(cluster):
    """For many events, PostgreSQL compares two sorted lists. The second must begin at the mark as well."""
    url = cluster.new_schema()
    create_database(database_at(url))
    with psycopg.connect(url) as connection:
        connection.execute("SET enable_nestloop = off")
        connection.execute("SET enable_hashjoin = off")
        connection.execute("SET enable_seqscan = off")
        for statement in (sequencer._NEW, sequencer._COUNT):
            plan = connection.execute(f"EXPLAIN {statement.format(mark='1000')}".encode()).fetchall()
            lines = [line.strip() for (line,) in plan]
            assert any(line.startswith("Merge Cond") for line in lines), lines
            assert "Index Cond: (event > 1000)" in lines
