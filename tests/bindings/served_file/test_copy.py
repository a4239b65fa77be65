"""Test the copy of the served version of a file: new versions are checked against it, in all workers."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.open import open_file
from ararat.bindings.served_file import copy as served_copy
from tests.waiting import until

from .conftest import A, B, put, target


def test_workers_that_start_later_serve_the_same_version(
    bindings: Bindings, file: Path, open_store: Callable[..., Bindings]
) -> None:
    put(file, f"{A},/1,other,,", f"{B},/evil,,,")
    until(lambda: target(bindings, A) and bindings.source.refusal)
    later = open_store(file)
    assert bindings.store.fetch([A, B]) == later.store.fetch([A, B])
    assert bindings.source.refusal == later.source.refusal
    assert str(file) in str(later.source.refusal)


@pytest.mark.parametrize("restart", ["never", "before", "after"])
def test_a_refused_version_is_served_when_the_copy_is_deleted(
    restart: str,
    bindings: Bindings,
    file: Path,
    open_store: Callable[..., Bindings],
    caplog: pytest.LogCaptureFixture,
) -> None:
    copy = file.with_name("bindings.csv.served")
    put(file, f"{A},/9,other,,")
    until(lambda: target(bindings, A) and bindings.source.refusal)
    assert f"delete {copy}" in caplog.text
    if restart == "before":
        bindings = open_store(file)
        assert target(bindings, A) == "/1"
    copy.unlink()
    if restart == "after":
        bindings = open_store(file)
    until(lambda: target(bindings, A) == "/9")
    assert (bindings.source.refusal, target(bindings, B)) == (None, None)
    assert copy.read_bytes() == file.read_bytes()


def test_a_worker_checks_against_the_version_of_other_workers(file: Path, open_store: Callable[..., Bindings]) -> None:
    idle, busy = open_store(file), open_store(file)
    put(file, f"{A},/1,R1,,", f"{B},/2,,,", "ark:12345/c,/3,,,")
    until(lambda: target(busy, "ark:12345/c"))
    put(file, f"{A},/1,R1,,", f"{B},/2,,,")
    until(lambda: target(idle, A) and idle.source.refusal)
    assert "name-missing" in str(idle.source.refusal)


def test_many_workers_keep_one_copy(file: Path, open_store: Callable[..., Bindings]) -> None:
    workers = [open_store(file) for _ in range(8)]
    for number in range(5):
        put(file, f"{A},/{number},R1,,", f"{B},/2,,,")
        until(lambda number=number: {target(worker, A) for worker in workers} == {f"/{number}"})
        assert file.with_name("bindings.csv.served").read_bytes() == file.read_bytes()
    assert {path.name for path in file.parent.iterdir()} == {"bindings.csv", "bindings.csv.served"}


def test_the_copy_can_be_kept_in_another_folder(tmp_path: Path, file: Path) -> None:
    state = tmp_path / "state" / "ararat"
    with open_file(file, state=state) as bindings:
        assert bindings.source.unrecorded is None
    [copy] = state.iterdir()
    assert copy.read_bytes() == file.read_bytes()
    assert not file.with_name("bindings.csv.served").exists()
    put(file, f"{A},/1,other,,", f"{B},/2,,,")
    with open_file(file, state=state) as bindings:
        assert target(bindings, A) == "/1"
        assert "other-resource" in str(bindings.source.refusal)


def test_a_copy_that_cannot_be_written_is_logged_once(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(served_copy.tempfile, "mkstemp", refuse)
    with open_file(file) as bindings:
        assert "bindings.csv.served cannot be written: Permission denied" in str(bindings.source.unrecorded)
        put(file, f"{A},/9,R1,,", f"{B},/2,,,")
        until(lambda: target(bindings, A) == "/9")
        put(file, f"{A},/9,other,,", f"{B},/2,,,")
        until(lambda: target(bindings, A) and bindings.source.refusal)
        assert "other-resource" in str(bindings.source.refusal)
        put(file, f"{A},/8,R1,,", f"{B},/2,,,")
        until(lambda: target(bindings, A) == "/8")
        warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert len(warnings) == 1
        monkeypatch.undo()
        put(file, f"{A},/7,R1,,", f"{B},/2,,,")
        until(lambda: bindings.lookup(A) and bindings.source.unrecorded is None)


@pytest.mark.skipif(served_copy.fcntl is None, reason="there are no locks here")
def test_a_copy_is_kept_without_file_locks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(served_copy.fcntl, "flock", refuse)
    with open_file(file) as bindings:
        assert bindings.source.unrecorded is None
    assert file.with_name("bindings.csv.served").read_bytes() == file.read_bytes()


def test_an_unreadable_copy_is_not_changed(tmp_path: Path, file: Path) -> None:
    file.with_name("bindings.csv.served").mkdir()
    with open_file(file) as bindings:
        assert "bindings.csv.served cannot be read" in str(bindings.source.unrecorded)
        assert target(bindings, A) == "/1"
        put(file, f"{A},/9,R1,,", f"{B},/2,,,")
        until(lambda: target(bindings, A) == "/9")
    assert {path.name for path in tmp_path.iterdir()} == {"bindings.csv", "bindings.csv.served"}


def test_an_unreadable_copy_is_an_error_with_its_path(
    bindings: Bindings, file: Path, open_store: Callable[..., Bindings]
) -> None:
    copy = file.with_name("bindings.csv.served")
    copy.write_text("nonsense\n")
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    until(lambda: target(bindings, A) and bindings.source.refusal)
    assert str(copy) in str(bindings.source.refusal)
    with pytest.raises(BindingsUnavailable, match="the copy of the previous version"):
        open_store(file).lookup(A)
