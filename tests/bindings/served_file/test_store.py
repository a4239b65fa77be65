"""Test the store in a file: reading, watching for changes, and refusing versions."""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from ararat.bindings.collection import Bindings
from ararat.bindings.imports.exporting import export_table
from ararat.bindings.imports.importing import import_table
from ararat.bindings.names import naming
from ararat.bindings.names.errors import BindingsUnavailable, ReadOnlyBindings, TableError
from ararat.bindings.open import open_file
from ararat.bindings.served_file import store as filestore
from ararat.bindings.tables.text_tables import FORMATS
from ararat.middleware import ResolverMiddleware
from tests.forking import exit_code
from tests.waiting import until

from .conftest import HEADER, A, B, put, target


def test_a_file_is_a_store(bindings: Bindings, file: Path) -> None:
    found = bindings.lookup("ark:/12345/-a")
    assert found is not None
    assert (found.identifier, found.target, found.resource, found.revision) == (A, "/1", "R1", 1)
    assert found.changed.timestamp() == pytest.approx(file.stat().st_mtime, abs=1e-3)
    assert sorted(bindings.store.fetch([A, B, "ark:12345/c"])) == [A, B]
    assert bindings.lookup("ark:12345/c") is None
    assert bindings.source.refusal is None
    assert bindings.kind == "file"
    assert str(file) in repr(bindings)


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_in_any_format_can_be_served(
    format: str, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    database = open_store(tmp_path / "all.sqlite")
    for name in ("z", "a", "B"):
        database.bind(f"ark:12345/{name}", "/1", alternates={"de": "/2"}, metadata={"what": "A"}, redirect=307)
    database.withdraw("ark:12345/z", reason="Lost")
    path = tmp_path / f"all.{format}"
    with path.open("wb") as stream:
        export_table(database, stream, format=format)  # type: ignore[arg-type]
    served = open_store(path)
    with (tmp_path / "again").open("wb") as stream:
        export_table(served, stream, format=format)  # type: ignore[arg-type]
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    tombstone = served.lookup("ark:12345/z")
    assert tombstone is not None
    assert (tombstone.status, tombstone.reason, tombstone.redirect) == ("withdrawn", "Lost", 307)


def test_a_file_applies_rules_and_ignores_minted_names(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    path = tmp_path / "all.csv"
    rows = ("ark:12345/x5,https://a.example/${value},rule,", "ark:12345/x5,next 17 of 10^4,counter,")
    header = "identifier,target,kind,status\n"
    path.write_text(header + "".join(f"{row}\n" for row in (*rows, "ark:12345/t1,,,reserved", f"{A},/1,,")))
    bindings = open_store(path)
    ruled = bindings.source.binding_by_rule(naming.read("ark:12345/x57"))
    assert ruled is not None
    assert ruled.binding.target == "https://a.example/x57"
    application = Client(ResolverMiddleware(NotFound(), bindings, prefix="https://example.org"))
    assert application.get("/ark:12345/x57").location == "https://a.example/x57"
    assert application.get("/ark:12345/t1").status_code == 404
    assert application.get("/ark:12345/t1").data == application.get("/ark:12345/t2").data.replace(b"t2", b"t1")
    reserved = bindings.lookup("ark:12345/t1")
    assert reserved is not None
    assert reserved.is_reserved
    beside = path.with_suffix(".new")
    beside.write_text(f"{header}ark:12345/x5,https://b.example/${{value}},rule,\n{A},/1,,\n")
    beside.replace(path)
    until(lambda: bindings.lookup(A) and bindings.rules.list()[0].template == "https://b.example/${value}")


@pytest.mark.one_setup
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda bindings: bindings.bind("ark:12345/c", "/3"), id="bind"),
        pytest.param(lambda bindings: bindings.bind(A, "/1"), id="bind as it is"),
        pytest.param(lambda bindings: bindings.relocate(A, "/3"), id="relocate"),
        pytest.param(lambda bindings: bindings.withdraw(A), id="withdraw"),
        pytest.param(lambda bindings: bindings.restore(A), id="restore"),
        pytest.param(lambda bindings: import_table(bindings, bindings.store.path), id="import"),
    ],
)
def test_a_file_is_never_written(change: Callable[[Bindings], object], bindings: Bindings, file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(ReadOnlyBindings, match="ararat import"):
        change(bindings)
    assert file.read_bytes() == before


def test_the_history_has_the_line_and_the_time_of_the_file(bindings: Bindings, file: Path) -> None:
    (event,) = bindings.history(B)
    assert (event.action, event.source, event.before, event.after.target) == (
        "bound",
        "bindings.csv, line 3",
        None,
        "/2",
    )
    assert bindings.history("ark:12345/c") == []


@pytest.mark.parametrize(
    ("lines", "code", "line", "said"),
    [
        pytest.param(
            [f"{A},/1,,,", f"{B},/1,,,", "ark:/12345/-a,/2,,,"], "duplicate-line", 4, "lines 2 and 4", id="twice"
        ),
        pytest.param([f"{A},javascript:x,,,"], "target-scheme", 2, A, id="no target"),
        pytest.param(["ark:99999/a,/1,,,"], "naan-reserved-invalid", 2, "99999", id="no name"),
        pytest.param([f"{A},/1,,"], "table-fields", 2, "4 fields", id="no table"),
    ],
)
def test_an_invalid_file_answers_nothing_until_it_is_corrected(
    lines: list[str],
    code: str,
    line: int,
    said: str,
    file: Path,
    open_store: Callable[..., Bindings],
    caplog: pytest.LogCaptureFixture,
) -> None:
    put(file, *lines)
    with pytest.raises(TableError, match=said) as fault:
        open_file(file, served=False)
    assert (fault.value.code, fault.value.line) == (code, line)
    assert not caplog.records
    bindings = open_store(file)
    for _ in range(3):
        with pytest.raises(BindingsUnavailable, match=said):
            bindings.lookup(A)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "\n" not in caplog.records[0].getMessage()
    put(file, f"{A},/1,,,")
    until(lambda: answers(bindings))
    assert (target(bindings, A), bindings.source.refusal) == ("/1", None)


def answers(bindings: Bindings) -> bool:
    with suppress(BindingsUnavailable):
        bindings.lookup(A)
        return True
    return False


@pytest.mark.parametrize("name", ["none.csv", "folder.csv"])
def test_a_missing_file_answers_nothing_until_it_exists(
    name: str, tmp_path: Path, file: Path, open_store: Callable[..., Bindings]
) -> None:
    path = tmp_path / name
    if name == "folder.csv":
        path.mkdir()
    with pytest.raises(BindingsUnavailable):
        open_file(path, served=False)
    bindings = open_store(path)
    with pytest.raises(BindingsUnavailable, match="cannot be read"):
        bindings.lookup(A)
    if name == "folder.csv":
        path.rmdir()
    file.rename(path)
    until(lambda: answers(bindings))


def test_a_new_version_replaces_the_old_one(bindings: Bindings, file: Path) -> None:
    put(file, f"{B},/2,R2,,", f"{A},/1,R1,withdrawn,Lost", "ark:12345/c,/4,,,")
    until(lambda: target(bindings, "ark:12345/c") == "/4")
    assert target(bindings, B) == "/2"
    found = bindings.lookup(A)
    assert found is not None
    assert (found.status, found.reason) == ("withdrawn", "Lost")
    assert bindings.source.refusal is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([f"{A},/9,R1,,"], ["has ark:12345/b in line 3", "name-missing"], id="a name is missing"),
        pytest.param(
            [f"{B},/2,,,", f"{A},/1,R2,,"],
            [
                "line 3: ark:12345/a (line 2 of the previous version)",
                "the recorded resource is R1, and the new one is R2",
                "(000030 to 30, 3-4 to a date), format its column as text (",
            ],
            id="a resource",
        ),
        pytest.param(
            [f"{B},/2,,,", f"{A},/1,,,"],
            [
                "the recorded resource is R1, and the new one is nothing (other-resource)",
                "expected the recorded resource, or a name that was never bound (",
            ],
            id="a resource gone",
        ),
        pytest.param([f"{A},/9,R1,,", f"{B},/2,,,", f"{A},/8,R1,,"], ["lines 2 and 4 are both for"], id="a name twice"),
        pytest.param([f"{A},/9,R1,,", f"{B},//x,,,"], ["line 3", "target-relative"], id="no target"),
        pytest.param([f"{A},/9,R1,,", f"{B}"], ["line 3", "table-fields"], id="half a line"),
        pytest.param([f"{A},/9,R1,,", f"{B},/2,,,\0"], ["line 3", "table-nul"], id="no text"),
    ],
)
def test_a_version_that_reassigns_or_drops_names_is_refused(
    lines: list[str], said: list[str], bindings: Bindings, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(file, *lines)
    until(lambda: target(bindings, A) and bindings.source.refusal)
    for words in said:
        assert words in str(bindings.source.refusal)
    for _ in range(5):
        time.sleep(0.01)
        assert [target(bindings, A), target(bindings, B)] == ["/1", "/2"]
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert str(bindings.source.refusal) in errors[0].getMessage()
    put(file, f"{A},/5,R1,,", f"{B},/2,,,")
    until(lambda: target(bindings, A) == "/5")
    assert bindings.source.refusal is None


def test_a_version_publishes_a_reserved_name_only_with_the_status_live(bindings: Bindings, file: Path) -> None:
    both = (f"{A},/1,R1,,", f"{B},/2,,,")
    put(file, *both, "ark:12345/r,,,reserved,")
    until(lambda: bindings.lookup("ark:12345/r"))
    put(file, *both, "ark:12345/r,/3,,,")
    until(lambda: target(bindings, A) and bindings.source.refusal)
    assert "or the status live to publish it" in str(bindings.source.refusal)
    put(file, *both, "ark:12345/r,/3,,live,")
    until(lambda: target(bindings, "ark:12345/r") == "/3")


def test_a_deleted_file_is_answered_from_memory(
    bindings: Bindings, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.rename(file.with_suffix(".away"))
    until(lambda: target(bindings, A) and bindings.source.refusal)
    assert [target(bindings, A) for _ in range(10)] == ["/1"] * 10
    assert "cannot be read: No such file" in str(bindings.source.refusal)
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    file.with_suffix(".away").rename(file)
    until(lambda: target(bindings, A) and bindings.source.refusal is None)


def test_a_file_is_checked_at_most_once_per_second_and_on_demand(
    file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filestore, "CHECK_SECONDS", 60.0)
    bindings = open_store(file)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    checks: list[object] = []
    monkeypatch.setattr(filestore.FileStore, "_check_file", checks.append)
    for _ in range(20):
        assert target(bindings, A) == "/1"
    assert checks == []


def test_a_request_after_a_pause_waits_for_a_changed_file(
    bindings: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filestore, "IDLE_SECONDS", -1.0)
    monkeypatch.setattr(filestore, "MAX_WAIT_SECONDS", 20.0)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    assert target(bindings, A) == "/9"


def test_a_request_waits_a_limited_time_for_a_file(
    bindings: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    read_table = filestore.read_table

    def slowly(*arguments):
        assert go_on.wait(20)
        return read_table(*arguments)

    monkeypatch.setattr(filestore, "read_table", slowly)
    monkeypatch.setattr(filestore, "IDLE_SECONDS", -1.0)
    monkeypatch.setattr(filestore, "MAX_WAIT_SECONDS", 0.05)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    assert [target(bindings, A) for _ in range(5)] == ["/1"] * 5
    go_on.set()
    until(lambda: target(bindings, A) == "/9")


def test_a_request_sees_a_complete_table(file: Path, open_store: Callable[..., Bindings]) -> None:
    names = [f"ark:12345/x{number}" for number in range(200)]

    def version(number: int) -> None:
        put(file, *(f"{name},/{number},{name},," for name in names))

    version(0)
    bindings = open_store(file)
    seen: list[set[str | None]] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            targets = {binding.target for binding in bindings.store.fetch(names).values()}
            seen.append(targets | {len(bindings.store.fetch(names))})  # type: ignore[arg-type]

    askers = [threading.Thread(target=ask, daemon=True) for _ in range(2)]
    for asker in askers:
        asker.start()
    for number in range(4):
        version(number)
        until(lambda number=number: any(f"/{number}" in each for each in seen[-20:]))
    stop.set()
    for asker in askers:
        asker.join(10)
    assert all(len(each) == 2 and 200 in each for each in seen)
    assert {f"/{number}" for number in range(4)} <= set().union(*seen)


def test_a_file_that_is_being_written_is_not_read(bindings: Bindings, file: Path) -> None:
    whole = f"{HEADER}{B},/2,,,\n{A},/111,R1,,\n"
    with file.open("w") as stream:
        # A version without its last line end is not served, also if the pause of a busy machine is long.
        for char in whole[:-1]:
            stream.write(char)
            stream.flush()
            assert target(bindings, A) == "/1"
            time.sleep(0.001)
        stream.write(whole[-1])
    until(lambda: target(bindings, A) == "/111")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_forked_during_a_check_reads_the_file_again(bindings: Bindings, file: Path) -> None:
    def read_again() -> None:
        assert target(bindings, A) == "/1"
        put(file, f"{A},/7,R1,,", f"{B},/2,,,")
        until(lambda: target(bindings, A) == "/7")

    with cast(filestore.FileStore, bindings.store)._checking:
        assert exit_code(read_again) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_forked_while_a_thread_reads_the_file_reads_it_again(
    bindings: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, begun, go_on = os.getpid(), threading.Event(), threading.Event()
    read_again = filestore.FileStore._read_again

    def read_slowly(store: filestore.FileStore) -> None:
        if os.getpid() == process:
            begun.set()
            assert go_on.wait(20)
        read_again(store)

    monkeypatch.setattr(filestore.FileStore, "_read_again", read_slowly)
    put(file, f"{A},/7,R1,,", f"{B},/2,,,")
    assert target(bindings, A) == "/1"
    assert begun.wait(20)
    assert exit_code(lambda: until(lambda: target(bindings, A) == "/7")) == 0
    go_on.set()
    until(lambda: target(bindings, A) == "/7")


def test_reading_leaves_the_garbage_collector_on(
    file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "disable", lambda: pytest.fail("the garbage collector was disabled"))
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("the garbage collector was frozen"))
    bindings = open_store(file)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    until(lambda: target(bindings, A) == "/9")
    assert gc.isenabled()


def test_a_closed_file_store_raises(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        bindings.lookup(A)
    assert cast(filestore.FileStore, bindings.store)._table is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_without_waiting(bindings: Bindings, file: Path) -> None:
    file.unlink()
    os.mkfifo(file)
    until(lambda: target(bindings, A) and bindings.source.refusal)
    assert "not a regular file" in str(bindings.source.refusal)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    until(lambda: target(bindings, A) == "/9")


def test_a_file_that_is_read_once_is_not_compared_and_not_copied(file: Path) -> None:
    with open_file(file, served=False) as bindings:
        put(file, f"{A},/9,other,,")
        assert target(bindings, A) == "/1"
    with open_file(file, served=False) as bindings:
        assert target(bindings, A) == "/9"
    assert [path.name for path in file.parent.iterdir()] == ["bindings.csv"]
