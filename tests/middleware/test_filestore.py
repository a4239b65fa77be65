"""A file as the whole store: read, watched, and never half seen."""

from __future__ import annotations

import gc
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from werkzeug.exceptions import NotFound
from werkzeug.test import Client

from ararat.middleware import ResolverMiddleware, filestore, names
from ararat.middleware.bindings import Bindings
from ararat.middleware.errors import BindingsUnavailable, ReadOnlyBindings, TableError
from ararat.middleware.exporting import export_table
from ararat.middleware.formats import FORMATS
from ararat.middleware.importing import import_table

HEADER = "identifier,target,resource,status,reason\n"
A, B = "ark:12345/a", "ark:12345/b"


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filestore, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(filestore, "SETTLE_SECONDS", 0.01)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bindings.csv"
    put(path, f"{A},/1,R1,,", f"{B},/2,,,")
    return path


@pytest.fixture
def bindings(file: Path, open_store: Callable[..., Bindings]) -> Bindings:
    return open_store(file)


def put(path: Path, *lines: str) -> None:
    """Put a new version in the place of the file, as Git does."""
    beside = path.with_suffix(".new")
    beside.write_text(HEADER + "".join(f"{line}\n" for line in lines))
    beside.replace(path)


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def target(bindings: Bindings, name: str) -> str | None:
    found = bindings.lookup(name)
    return found and found.target


def test_a_file_is_a_store(bindings: Bindings, file: Path) -> None:
    found = bindings.lookup("ark:/12345/-a")
    assert found is not None
    assert (found.identifier, found.target, found.resource, found.revision) == (A, "/1", "R1", 1)
    assert found.changed.timestamp() == pytest.approx(file.stat().st_mtime, abs=1e-3)
    assert sorted(bindings.fetch([A, B, "ark:12345/c"])) == [A, B]
    assert bindings.lookup("ark:12345/c") is None
    assert bindings.refusal is None
    assert bindings.is_file
    assert str(file) in repr(bindings)


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_in_any_format_is_a_store(format: str, tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
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


def test_a_file_answers_by_its_rules_and_not_for_minted_names(
    tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    path = tmp_path / "all.csv"
    rows = ("ark:12345/x5,https://a.example/${value},rule,", "ark:12345/x5,next 17 of 10^4,counter,")
    header = "identifier,target,kind,status\n"
    path.write_text(header + "".join(f"{row}\n" for row in (*rows, "ark:12345/t1,,,reserved", f"{A},/1,,")))
    bindings = open_store(path)
    ruled = bindings.binding_by_rule(names.read("ark:12345/x57"))
    assert ruled is not None
    assert ruled.binding.target == "https://a.example/x57"
    application = Client(ResolverMiddleware(NotFound(), bindings, prefix="https://example.org"))
    assert application.get("/ark:12345/x57").location == "https://a.example/x57"
    assert application.get("/ark:12345/t1").status_code == 404
    assert bindings.lookup("ark:12345/t1") is None
    beside = path.with_suffix(".new")
    beside.write_text(f"{header}ark:12345/x5,https://b.example/${{value}},rule,\n{A},/1,,\n")
    beside.replace(path)
    wait_until(lambda: bindings.lookup(A) and bindings.rules()[0].template == "https://b.example/${value}")


def test_two_rules_for_one_prefix_in_a_file_are_refused(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    path = tmp_path / "all.csv"
    path.write_text("identifier,target,kind\nark:12345/x5,/a/${value},rule\nark:/12345/x-5,/b/${value},rule\n")
    with pytest.raises(TableError, match="lines 2 and 3 both have a rule for ark:12345/x5") as fault:
        open_store(path).lookup(A)
    assert (fault.value.code, fault.value.line) == ("duplicate-line", 3)


@pytest.mark.parametrize(
    "octets",
    [
        pytest.param("identifier,target\nark:12345/a,/é\n".encode("cp1252"), id="Windows-1252"),
        pytest.param("identifier,target\nark:12345/a,/é\n".encode("utf-16"), id="UTF-16"),
    ],
)
def test_the_encoding_of_a_served_file_is_not_guessed(
    octets: bytes, tmp_path: Path, open_store: Callable[..., Bindings]
) -> None:
    path = tmp_path / "all.csv"
    path.write_bytes(octets)
    with pytest.raises(TableError) as fault:
        open_store(path).lookup(A)
    assert fault.value.code == "table-encoding"


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


def test_the_history_is_what_the_file_knows(bindings: Bindings, file: Path) -> None:
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
            [f"{A},/1,,,", f"{B},/1,,,", "ark:/12345/-a,/1,,,"], "duplicate-line", 4, "lines 2 and 4", id="twice"
        ),
        pytest.param([f"{A},javascript:x,,,"], "target-scheme", 2, A, id="no target"),
        pytest.param(["ark:99999/a,/1,,,"], "naan-reserved-invalid", 2, "99999", id="no name"),
        pytest.param([f"{A},/1,,"], "table-fields", 2, "4 fields", id="no table"),
    ],
)
def test_a_file_that_cannot_be_served_is_not_opened(
    lines: list[str], code: str, line: int, said: str, file: Path, open_store: Callable[..., Bindings]
) -> None:
    put(file, *lines)
    with pytest.raises(TableError, match=said) as fault:
        open_store(file)
    assert (fault.value.code, fault.value.line) == (code, line)


def test_a_file_that_is_not_there_is_not_opened(tmp_path: Path, open_store: Callable[..., Bindings]) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(BindingsUnavailable):
            open_store(path if path.suffix else path.rename(tmp_path.with_suffix(".csv")))


def test_a_new_version_takes_the_place_of_the_old_one(bindings: Bindings, file: Path) -> None:
    put(file, f"{B},/3,R2,,", f"{A},/1,R1,withdrawn,Lost", "ark:12345/c,/4,,,")
    wait_until(lambda: target(bindings, "ark:12345/c") == "/4")
    assert target(bindings, B) == "/3"
    found = bindings.lookup(A)
    assert found is not None
    assert (found.status, found.reason) == ("withdrawn", "Lost")
    assert bindings.refusal is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        pytest.param([f"{A},/9,R1,,"], ["line 3 was for ark:12345/b", "name-missing"], id="a name is missing"),
        pytest.param(
            [f"{B},/9,,,", f"{A},/1,R2,,"], ["line 3: ark:12345/a", "R1 (line 2 until", "not R2"], id="a resource"
        ),
        pytest.param([f"{B},/9,,,", f"{A},/1,,,"], ["other-resource", "not to none"], id="a resource gone"),
        pytest.param([f"{A},/9,R1,,", f"{B},/2,,,", f"{A},/9,R1,,"], ["lines 2 and 4 are both for"], id="a name twice"),
        pytest.param([f"{A},/9,R1,,", f"{B},//x,,,"], ["line 3", "target-relative"], id="no target"),
        pytest.param([f"{A},/9,R1,,", f"{B}"], ["line 3", "table-fields"], id="half a line"),
        pytest.param([f"{A},/9,R1,,", f"{B},/2,,,\0"], ["line 3", "table-nul"], id="no text"),
    ],
)
def test_a_version_that_breaks_a_promise_is_refused_whole_and_said(
    lines: list[str], said: list[str], bindings: Bindings, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(file, *lines)
    wait_until(lambda: target(bindings, A) and bindings.refusal)
    for words in said:
        assert words in str(bindings.refusal)
    for _ in range(5):
        time.sleep(0.01)
        assert [target(bindings, A), target(bindings, B)] == ["/1", "/2"]
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert str(bindings.refusal) in errors[0].getMessage()
    put(file, f"{A},/5,R1,,", f"{B},/2,,,")
    wait_until(lambda: target(bindings, A) == "/5")
    assert bindings.refusal is None


def test_a_file_that_vanishes_is_answered_from_memory(
    bindings: Bindings, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.rename(file.with_suffix(".away"))
    wait_until(lambda: target(bindings, A) and bindings.refusal)
    assert [target(bindings, A) for _ in range(10)] == ["/1"] * 10
    assert "cannot be read any more: No such file" in str(bindings.refusal)
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    file.with_suffix(".away").rename(file)
    wait_until(lambda: target(bindings, A) and bindings.refusal is None)


def test_a_file_is_looked_at_once_a_second_and_only_when_asked(
    file: Path, open_store: Callable[..., Bindings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filestore, "LOOK_SECONDS", 60.0)
    bindings = open_store(file)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    for _ in range(20):
        assert target(bindings, A) == "/1"
    assert not any(thread.name == "ararat bindings" for thread in threading.enumerate())


def test_who_was_not_asked_for_a_while_waits_for_a_table_that_has_changed_meanwhile(
    bindings: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filestore, "IDLE_SECONDS", -1.0)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    assert target(bindings, A) == "/9"


def test_who_waits_for_a_table_does_not_wait_for_long(
    bindings: Bindings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    read_table = filestore.read_table

    def slowly(*arguments):
        assert go_on.wait(20)
        return read_table(*arguments)

    monkeypatch.setattr(filestore, "read_table", slowly)
    monkeypatch.setattr(filestore, "IDLE_SECONDS", -1.0)
    monkeypatch.setattr(filestore, "PATIENCE_SECONDS", 0.05)
    put(file, f"{A},/9,R1,,", f"{B},/2,,,")
    assert [target(bindings, A) for _ in range(5)] == ["/1"] * 5
    go_on.set()
    wait_until(lambda: target(bindings, A) == "/9")


def test_no_request_sees_half_a_table(file: Path, open_store: Callable[..., Bindings]) -> None:
    names = [f"ark:12345/x{number}" for number in range(500)]

    def version(number: int) -> None:
        put(file, *(f"{name},/{number},,," for name in names))

    version(0)
    bindings = open_store(file)
    seen: list[set[str | None]] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            seen.append({binding.target for binding in bindings.fetch(names).values()} | {len(bindings.fetch(names))})  # type: ignore[arg-type]

    askers = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
    for asker in askers:
        asker.start()
    for number in range(1, 6):
        version(number)
        wait_until(lambda number=number: any(f"/{number}" in each for each in seen[-20:]))
    stop.set()
    for asker in askers:
        asker.join(10)
    assert all(len(each) == 2 and 500 in each for each in seen)
    assert {f"/{number}" for number in range(6)} <= set().union(*seen)


def test_a_file_that_is_still_being_written_is_left_alone(bindings: Bindings, file: Path) -> None:
    whole = f"{HEADER}{A},/1,R1,,\n{B},/222,,,\n"
    with file.open("w") as stream:
        for char in whole:
            stream.write(char)
            stream.flush()
            assert target(bindings, B) == "/2"
            time.sleep(0.001)
    wait_until(lambda: target(bindings, B) == "/222")


@pytest.fixture
def child(bindings: Bindings, file: Path) -> dict[str, str | None]:
    """What a forked process finds in the bindings of its parent, before and after the file changed."""
    wait_until(lambda: target(bindings, A) == "/1")
    bindings.store._looking.acquire()  # type: ignore[union-attr]  # as a thread of the parent may, at the moment of the fork
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            first = target(bindings, A)
            put(file, f"{A},/7,R1,,", f"{B},/2,,,")
            wait_until(lambda: target(bindings, A) == "/7")
            os.write(writing, json.dumps({"first": first, "second": target(bindings, A)}).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        said = stream.read()
    os.waitpid(pid, 0)
    bindings.store._looking.release()  # type: ignore[union-attr]
    return json.loads(said)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_worker_that_was_forked_reads_the_file_again(child: dict[str, str | None]) -> None:
    assert child == {"first": "/1", "second": "/7"}


def test_reading_leaves_the_search_for_cycles_as_it_was(file: Path, open_store: Callable[..., Bindings]) -> None:
    open_store(file)
    assert gc.isenabled()
    put(file, f"{A},/1,,,", f"{A},/1,,,")
    with pytest.raises(TableError):
        open_store(file)
    assert gc.isenabled()
    put(file, f"{A},/1,,,")
    gc.disable()
    try:
        open_store(file)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_worker_that_is_forked_while_a_file_is_read_searches_for_cycles() -> None:
    with filestore._uncollected():
        assert not gc.isenabled()
        filestore._after_fork()
        assert gc.isenabled()


def test_what_was_closed_answers_no_more(bindings: Bindings) -> None:
    bindings.close()
    with pytest.raises(BindingsUnavailable):
        bindings.lookup(A)
