"""An import whose process is killed: another process carries it out once, completely."""

from __future__ import annotations

import signal
import time
from datetime import UTC, datetime

import pytest

from ararat.bindings.operations import pace
from ararat.webapp.accounts.model import Caller
from ararat.webapp.jobs.imports import Imports

from ...forking import ForkedCode

# The machine can be slow.
pytestmark = pytest.mark.timeout(180)

LINES, CHUNK = 250, 100
LEASE = 1.5
WORKER = """
import sys, time
from ararat.bindings.open import open_bindings
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.imports import Imports

class Slow(Imports):
    def carry_out(self, claim, progress):
        def slow(lines):
            progress(lines)
            print(lines, flush=True)
            time.sleep(float(sys.argv[3]))
        super().carry_out(claim, slow)
        print("finished", flush=True)

bindings = open_bindings(sys.argv[1])
imports = Slow(Accounts(bindings), lease=float(sys.argv[2]))
imports.worker.wake()
time.sleep(150)
"""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Report after few lines, also in the forked processes."""
    monkeypatch.setattr(pace, "BLOCK", CHUNK)


@pytest.fixture
def clock():
    """The real clock, because the workers are other processes."""
    return lambda: datetime.now(UTC)


@pytest.fixture
def imports(accounts):
    return Imports(accounts, LEASE)


@pytest.fixture
def number(imports, accounts):
    """The number of an import of many names."""
    table = b"identifier,target\n" + b"".join(
        b"ark:12345/x5%d,https://example.org/%d\n" % (line, line) for line in range(LINES)
    )
    caller = Caller(account=accounts.get("jane"))
    return accounts.run_in_transaction(lambda connection: imports.add(connection, caller, table, format="csv")).number


@pytest.fixture
def worker(database):
    """worker(pause) starts a process that carries out jobs and waits after each hundred lines."""
    started = []

    def start(pause: float) -> ForkedCode:
        started.append(ForkedCode(WORKER, database, str(LEASE), str(pause)))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def wait_for(condition):
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline, "the condition is not met"
        time.sleep(0.05)


def finished(imports, number):
    wait_for(lambda: imports.jobs.get(number).is_finished)
    return imports.jobs.get(number)


def assert_imported_once(accounts, job):
    assert (job.state, job.result["counts"], job.result["written"]) == ("done", {"added": LINES}, True)
    with accounts.bindings.store.snapshot() as snapshot:
        assert sum(1 for _ in snapshot.bindings()) == LINES
    (event,) = accounts.bindings.history(f"ark:12345/x5{LINES - 1}")
    assert (event.operation, event.actor) == (job.result["operation"], "jane")


def test_an_import_of_a_killed_process_is_carried_out_once(imports, number, worker, accounts):
    first = worker(60)
    assert first.stdout.readline() == f"{CHUNK}\n"
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not accounts.bindings.count().number
    worker(0)
    assert_imported_once(accounts, finished(imports, number))


def test_an_import_is_finished_if_it_is_written(imports, number, worker, accounts):
    """The process is killed as soon as the transaction has ended."""
    process = worker(0)
    while process.stdout.readline() not in ("finished\n", ""):
        pass
    process.send_signal(signal.SIGKILL)
    assert_imported_once(accounts, finished(imports, number))


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_a_process_that_was_stopped_for_longer_than_its_lease_writes_nothing(
    imports, number, worker, accounts, database
):
    """The import is taken over by another process. The first one continues and must notice it.

    In SQLite the first process holds the only lock of a writer, so the other one waits for it.
    """
    first = worker(1)
    assert first.stdout.readline() == f"{CHUNK}\n"
    first.send_signal(signal.SIGSTOP)
    worker(0)
    try:
        time.sleep(LEASE)
        if database.startswith("postgresql"):
            wait_for(lambda: imports.jobs.get(number).parameters["deaths"] == 1)
    finally:
        first.send_signal(signal.SIGCONT)
    assert_imported_once(accounts, finished(imports, number))
