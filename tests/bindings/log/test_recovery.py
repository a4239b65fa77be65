"""Test the repair of a log after its database or its folder was lost."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from ararat.bindings.log.folder import LogFolder
from ararat.bindings.log.publishing import publish
from ararat.bindings.log.recovery import recover
from ararat.bindings.log.tree.tiles import ENTRIES, Tile
from ararat.middleware import BindingError


def repair(log: Any) -> Any:
    return recover(log.store, log.folder, log.key_path)


def test_a_lost_folder_is_written_again(larger_log):
    log = larger_log()
    log.publish()
    before = {
        path.relative_to(log.folder.path): path.read_bytes() for path in log.folder.path.rglob("*") if path.is_file()
    }
    shutil.rmtree(log.folder.path)
    assert repair(log).rebuilt == 305
    after = {
        path.relative_to(log.folder.path): path.read_bytes() for path in log.folder.path.rglob("*") if path.is_file()
    }
    # The partial tiles of older checkpoints are not needed any more.
    assert after.items() <= before.items()
    log.bindings.bind("ark:12345/y", "/y")
    log.publish()
    assert len(log.entries()) == 306


def test_an_old_or_damaged_folder_is_written_again(larger_log, tmp_path):
    log = larger_log()
    shutil.copytree(log.folder.path, tmp_path / "old")
    log.publish()
    root = log.checkpoint().root
    shutil.rmtree(log.folder.path)
    shutil.copytree(tmp_path / "old", log.folder.path)
    log.folder.write(Tile(ENTRIES, 0), b"damaged")
    assert repair(log).rebuilt == 305
    log.publish()
    assert log.checkpoint().root == root
    assert len(log.entries()) == 305


def test_an_old_database_adopts_the_published_entries(larger_log):
    """The events are in the backup, but the backup was made before they were published."""
    log, old = larger_log("new"), larger_log("old")
    log.publish()
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)
    found = repair(old)
    assert (found.adopted, found.lost) == (300, [])
    for name in ("ark:12345/n7", "ark:12345/n0", "ark:12345/x0"):
        old.bindings.relocate(name, "/elsewhere")
    assert old.publish().added == 3
    entries = old.entries()
    assert len(entries) == 308
    # The hash of the resource stays the same, although its salt is lost.
    assert len({entry.thing for entry in entries if entry.key == "ark:12345/n7"}) == 1
    assert {entry.thing for entry in entries if entry.key == "ark:12345/n0"} == {None}
    # A folder can be written again from the adopted entries.
    shutil.rmtree(old.folder.path)
    repair(old)
    assert len(old.entries()) == 308


def test_changes_that_the_database_has_lost_stay_in_the_log(larger_log):
    log, old = larger_log("new"), larger_log("old")
    log.bindings.relocate("ark:12345/x0", "/lost")
    log.bindings.bind("ark:12345/lost", "/lost")
    log.publish()
    old.bindings.relocate("ark:12345/x1", "/other")
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)
    found = repair(old)
    assert (found.adopted, found.lost_count) == (302, 2)
    assert found.lost == [("ark:12345/x0", 2), ("ark:12345/lost", 1)]
    assert old.publish().added == 1
    assert [entry.key for entry in old.entries()][-2:] == ["ark:12345/lost", "ark:12345/x1"]
    # Their entries are only in the folder.
    old.folder.path.joinpath("checkpoint").unlink()
    assert repair(old).rebuilt == 308
    shutil.rmtree(old.folder.path)
    with pytest.raises(BindingError) as caught:
        repair(old)
    assert caught.value.code == "log-folder"


def test_numbers_that_a_database_assigned_after_its_backup_are_replaced(larger_log, monkeypatch):
    log, old = larger_log("new"), larger_log("old")
    log.publish()

    def crash(folder: LogFolder) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LogFolder, "flush", crash)
        with pytest.raises(KeyboardInterrupt):
            old.publish()
    assert old.rows("SELECT count(*) FROM log_entries") == [(305,)]
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)
    assert repair(old).adopted == 300
    old.publish()
    assert old.entries() == log.entries()


def test_two_histories_are_not_mixed(larger_log):
    log, other = larger_log("one"), larger_log("two")
    log.publish()
    other.publish()
    log.bindings.bind("ark:12345/y", "/y")
    log.publish()
    shutil.rmtree(other.folder.path)
    shutil.copytree(log.folder.path, other.folder.path)
    for _ in range(2):
        with pytest.raises(BindingError) as caught:
            repair(other)
        assert caught.value.code == "log-fork"


def test_a_damaged_newer_folder_is_refused(larger_log):
    log, old = larger_log("new"), larger_log("old")
    log.publish()
    shutil.rmtree(old.folder.path)
    shutil.copytree(log.folder.path, old.folder.path)
    path = old.folder.path / Tile(ENTRIES, 0).path
    path.write_bytes(path.read_bytes().replace(b"ark:12345/n7\n", b"ark:12345/n8\n"))
    with pytest.raises(BindingError) as caught:
        repair(old)
    assert caught.value.code == "log-folder"
    assert old.rows("SELECT count(*) FROM log_entries") == [(5,)]


def test_a_changed_database_is_not_written_to_the_folder(larger_log):
    log = larger_log()
    log.publish()
    shutil.rmtree(log.folder.path)
    log.execute("UPDATE log_entries SET hash = salt WHERE entry = 7")
    with pytest.raises(BindingError) as caught:
        repair(log)
    assert caught.value.code == "log-changed"
    assert not log.folder.path.exists()


def test_a_second_sequencer_repairs_its_folder(larger_log, tmp_path):
    log = larger_log()
    shutil.copytree(log.folder.path, tmp_path / "second")
    second = LogFolder(tmp_path / "second")
    log.publish()
    with pytest.raises(BindingError) as caught:
        publish(log.store, second, log.key_path)
    assert caught.value.code == "log-folder"
    recover(log.store, second, log.key_path)
    assert publish(log.store, second, log.key_path).checkpoint == log.checkpoint()
