"""No acknowledged change is lost or partly written: kills, failing calls, a full disk."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.bindings.names.errors import BindingsUnavailable
from ararat.bindings.open import open_bindings
from ararat.middleware import import_table, mint
from tests.forking import ForkedCode

NAME, NEW = "ark:12345/doc", "ark:12345/new"

# One process loads everything, and each round is a fork of it: 25 rounds take seconds.
KILLING = """
import io, os, random, select, signal, sqlite3, sys, time
import ararat.bindings.storage.writing.transaction
from ararat.middleware import import_table, open_bindings

file, rounds, LINES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def bind_on_and_on(turn, ack):
    with open_bindings(file, create=True) as bindings:
        for number in range(10**6):
            name = f"ark:12345/b{turn}x{number}"
            bindings.bind(name, f"/{number}", resource=name)
            os.write(ack, b"%d\\n" % number)

def import_on_and_on(turn, ack):
    with open_bindings(file, create=True) as bindings:
        for number in range(10**6):
            lines = [f"ark:12345/i{turn}x{number}x{line},/{line}" for line in range(LINES)]
            table = io.BytesIO("\\n".join(["identifier,target", *lines]).encode())
            assert import_table(bindings, table, atomic=number % 2 == 0).written
            os.write(ack, b"%d\\n" % number)

open_bindings(file, create=True).close()

def time_of(work):
    # How long a child needs for its first change. A busy computer can need more than a second.
    reading, ack = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        work("first", ack)
    os.read(reading, 1)
    taken = time.monotonic() - began
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(ack)
    return taken

# A pause of the computer during the measurement must not make all rounds long.
longest = [min(2, 3 * time_of(work)) for work in (bind_on_and_on, import_on_and_on)]
acknowledged = 0
for turn in range(rounds):
    reading, ack = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        (import_on_and_on if turn % 2 else bind_on_and_on)(turn, ack)
        os._exit(1)
    os.close(ack)
    if turn < 2:
        # On a computer that has become slower, no other round could reach a change.
        select.select([reading], [], [], 20)
    time.sleep(random.uniform(0, longest[turn % 2]))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        acks = [int(line) for line in pipe.read().split(b"\\n")[:-1]]
    assert acks == list(range(len(acks)))
    acknowledged += len(acks)
    with open_bindings(file, create=True) as bindings:
        if turn % 2:
            for number in range(len(acks) + 1):
                names = [f"ark:12345/i{turn}x{number}x{line}" for line in range(LINES)]
                there = len(bindings.store.fetch(names))
                part = (0,) if number % 2 == 0 else (0, 1000)  # one transaction, or blocks of 1,000
                assert there == LINES or (there in part and number == len(acks)), (turn, number, there)
        else:
            names = [f"ark:12345/b{turn}x{number}" for number in range(len(acks) + 1)]
            assert {*names[:-1]} <= bindings.store.fetch(names).keys(), turn
            for name in names[:-1]:
                assert [event.action for event in bindings.history(name)] == ["bound"]
    check = sqlite3.connect(file)
    half = "SELECT count(*) FROM bindings b LEFT JOIN events e USING (key, revision) WHERE e.target IS NOT b.target"
    assert check.execute(half).fetchone() == (0,), turn
    both = "SELECT (SELECT count(*) FROM bindings) - (SELECT count(*) FROM events)"
    assert check.execute(both).fetchone() == (0,), turn
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)], turn
    check.close()
    if os.path.getsize(file) > 10_000_000:
        for name in (file, f"{file}-wal", f"{file}-shm"):
            if os.path.exists(name):
                os.remove(name)
        open_bindings(file, create=True).close()
print("acknowledged" if acknowledged else "nothing was ever acknowledged")
"""


@pytest.mark.parametrize(
    ("rounds", "lines"),
    [
        pytest.param(10, 300, id="10 times"),
        pytest.param(500, 1500, id="500 times", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_a_kill_at_any_time_loses_no_acknowledged_change(
    run_command: Callable[..., Any], tmp_path: Path, rounds: int, lines: int
) -> None:
    command = [sys.executable, "-W", "error", "-c", KILLING, tmp_path / "bindings.sqlite", rounds, lines]
    ran = run_command(*command, seconds=100 if rounds == 10 else 1700)
    assert (ran.stdout, ran.stderr) == (b"acknowledged\n", b"")


# Each round copies a database into an empty one, and restores a history, until it is killed.
COPYING = """
import os, random, signal, sys, time
from pathlib import Path
from ararat.middleware import import_table, open_bindings
from ararat.bindings.checks.verification import verify
from ararat.bindings.copying import copy_store
from ararat.bindings.imports.history import export_history, import_history

folder, rounds, LINES = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
old, new, table, history = (folder / name for name in ("old.sqlite", "new.sqlite", "names.csv", "history.jsonl"))
table.write_text("\\n".join(["identifier,target", *(f"ark:12345/x{line},/{line}" for line in range(LINES))]))
with open_bindings(old, create=True) as bindings, history.open("wb") as stream:
    assert import_table(bindings, table).written
    export_history(bindings, stream)

def fill(turn):
    with open_bindings(old) as bindings, open_bindings(new, create=True) as empty:
        copy_store(bindings, empty) if turn % 2 else import_history(empty, history)

began = time.monotonic()
fill(0), new.unlink()
longest = min(2, 1.2 * (time.monotonic() - began))
whole = 0
for turn in range(rounds):
    child = os.fork()
    if child == 0:
        fill(turn)
        os._exit(0)
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with open_bindings(new, create=True) as bindings:
        there = bindings.count().number
        assert there in (0, LINES), (turn, there)
        assert there == LINES or status, turn
        assert list(verify(bindings)) == [], turn
        whole += there == LINES
    for name in (new, f"{new}-wal", f"{new}-shm"):
        if os.path.exists(name):
            os.remove(name)
print("some" if 0 < whole < rounds else f"{whole} of {rounds}")
"""


@pytest.mark.parametrize(
    ("rounds", "lines"),
    [
        pytest.param(8, 300, id="8 times"),
        pytest.param(300, 1500, id="300 times", marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_a_kill_at_any_time_leaves_a_whole_copy_or_none(
    run_command: Callable[..., Any], tmp_path: Path, rounds: int, lines: int
) -> None:
    command = [sys.executable, "-W", "error", "-c", COPYING, tmp_path, rounds, lines]
    ran = run_command(*command, seconds=100 if rounds == 8 else 1700)
    assert ran.stderr == b""
    assert ran.stdout == b"some\n" or rounds == 8


# The n-th call fails --------------------------------------------------------------------------------------------------


class Fault:
    """Fail the n-th call to the database, before or after its effect."""

    def __init__(self) -> None:
        self.countdown = 0
        self.afterwards = False
        self.happened = False

    def around(self, call: Callable[..., Any], *arguments: Any) -> Any:
        self.countdown -= 1
        now = self.countdown == 0
        if now and not self.afterwards:
            self._fail()
        result = call(*arguments)
        if now:
            self._fail()
        return result

    def _fail(self) -> None:
        self.happened = True
        raise sqlite3.OperationalError("disk I/O error")


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    fault = Fault()

    class Cursor(sqlite3.Cursor):
        def execute(self, *arguments: Any) -> Any:
            return fault.around(super().execute, *arguments)

        def executemany(self, *arguments: Any) -> Any:
            return fault.around(super().executemany, *arguments)

        def fetchall(self) -> Any:
            return fault.around(super().fetchall)

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, *arguments: Any) -> Any:
            return fault.around(super().execute, *arguments)

        def commit(self) -> None:
            fault.around(super().commit)

    connect = sqlite3.connect
    monkeypatch.setattr(
        "ararat.bindings.storage.databases.sqlite.sqlite3.connect",
        lambda *given, **also: connect(*given, factory=Connection, **also),
    )
    yield fault
    monkeypatch.undo()


BLOCK = ["identifier,target,resource", *(f"ark:12345/t{number},/t{number}," for number in range(100))]
"""The first block of the table. The second one has two lines."""


@pytest.fixture
def table(tmp_path: Path, small_blocks: None) -> Path:
    file = tmp_path / "table.csv"
    file.write_text("\n".join([*BLOCK, f"{NAME},/moved,R1", f"{NEW},/new,"]))
    return file


def bind(bindings: Bindings, table: Path) -> object:
    return bindings.bind(NEW, "/new")


def relocate(bindings: Bindings, table: Path) -> object:
    return bindings.relocate(NAME, "/moved")


def withdraw(bindings: Bindings, table: Path) -> object:
    return bindings.withdraw(NAME, reason="gone")


def import_at_once(bindings: Bindings, table: Path) -> object:
    return import_table(bindings, table, atomic=True).written


def import_blocks(bindings: Bindings, table: Path) -> object:
    return import_table(bindings, table).written


def state(file: Path) -> tuple[list[Any], list[Any]]:
    """Return the recorded bindings and the last event of each name, without times."""
    columns = "key, kind, target, status, resource, reason, revision"
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute(f"SELECT {columns} FROM bindings ORDER BY key").fetchall()  # noqa: S608  ours
        last = f"SELECT {columns}, max(revision) FROM events GROUP BY key ORDER BY key"  # noqa: S608
        events = [row[:-1] for row in connection.execute(last)]
    return rows, events


@pytest.mark.parametrize(
    "afterwards", [pytest.param(False, id="before it acts"), pytest.param(True, id="after it did")]
)
@pytest.mark.parametrize(
    "act",
    [
        pytest.param(bind, id="bind"),
        pytest.param(relocate, id="relocate"),
        pytest.param(withdraw, id="withdraw", marks=pytest.mark.long),  # one transaction, as a relocation
        pytest.param(import_at_once, id="import at once", marks=pytest.mark.long),
        pytest.param(import_blocks, id="import blocks", marks=pytest.mark.long),
    ],
)
def test_a_failing_system_call_never_acknowledges_a_lost_change(
    tmp_path: Path, table: Path, fault: Fault, act: Callable[[Bindings, Path], object], afterwards: bool
) -> None:
    made = tmp_path / "made.sqlite"
    with open_bindings(made, create=True) as bindings:
        bindings.bind(NAME, "/doc", resource="R1")
    not_acknowledged = [state(made)]
    if act is import_blocks:
        block = tmp_path / "block.csv"
        block.write_text("\n".join(BLOCK))
        with open_bindings(shutil.copy(made, tmp_path / "block.sqlite"), create=True) as bindings:
            act(bindings, block)
        not_acknowledged.append(state(tmp_path / "block.sqlite"))
    with open_bindings(shutil.copy(made, tmp_path / "after.sqlite"), create=True) as bindings:
        act(bindings, table)
    after = state(tmp_path / "after.sqlite")
    not_acknowledged.append(after)
    fault.afterwards = afterwards
    for number in range(1, 200):
        with open_bindings(shutil.copy(made, tmp_path / f"copy{number}.sqlite"), create=True) as bindings:
            fault.countdown, fault.happened = number, False
            try:
                act(bindings, table)
            except BindingsUnavailable:
                acknowledged = False
            else:
                acknowledged = True
            fault.countdown = 0
            found = state(tmp_path / f"copy{number}.sqlite")
            assert found[0] == found[1], "the history does not lead to what is on record"
            assert found == after if acknowledged else found in not_acknowledged, number
            # A second attempt succeeds and does no harm.
            act(bindings, table)
            assert state(tmp_path / f"copy{number}.sqlite") == after
        if not fault.happened:
            assert number > 3, "hardly anything was tried"
            return
    pytest.fail("it never ended")


@pytest.mark.one_setup
@pytest.mark.parametrize("afterwards", [False, True])
def test_a_failing_system_call_never_mints_a_name_twice(tmp_path: Path, fault: Fault, afterwards: bool) -> None:
    fault.afterwards = afterwards
    given: list[str] = []
    with open_bindings(tmp_path / "bindings.sqlite", create=True) as bindings:
        # A mint has about 25 calls. The last attempts are without a fault.
        for number in range(1, 40):
            fault.countdown, fault.happened = number, False
            try:
                given += mint(bindings, "12345/x5", length=3, sequential=True, count=2)
            except BindingsUnavailable:
                fault.countdown = 0
        assert not fault.happened
    assert len(given) == len(set(given)) > 10


# A full disk ----------------------------------------------------------------------------------------------------------

FULL = """
import resource, sys
from ararat.middleware import open_bindings
from ararat.bindings.names.errors import BindingsUnavailable
bindings = open_bindings(sys.argv[1], create=True)
bindings.bind("ark:12345/first", "/x")
whole = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, whole[1]))
bound, said = [], None
for number in range(5000):
    try:
        bindings.bind(f"ark:12345/x{number}", "/x", metadata={"what": "w" * 3000})
    except BindingsUnavailable as error:
        said = str(error)
        break
    bound.append(f"ark:12345/x{number}")
for turn in range(3):
    try:
        bindings.bind("ark:12345/refused", "/x", metadata={"what": "w" * 4000})
        raise SystemExit("it was bound though there is no room")
    except BindingsUnavailable:
        assert bindings.lookup("ark:12345/first").target == "/x"
    assert len(bindings.store.fetch(bound)) == len(bound) > 10
    assert bindings.lookup("ark:12345/refused") is None
resource.setrlimit(resource.RLIMIT_FSIZE, whole)
assert bindings.bind("ark:12345/refused", "/x") == "bound"
assert len(bindings.store.fetch(bound)) == len(bound)
print(said)
"""


def test_reads_work_and_writes_fail_on_a_full_disk(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    file = tmp_path / "bindings.sqlite"
    with ForkedCode(FULL, str(file), stderr=subprocess.PIPE) as process:
        printed, errors = process.communicate(timeout=100)
    assert errors == ""
    assert printed.startswith(f"sqlite:///{file}: ")
    assert state(file)[0]
