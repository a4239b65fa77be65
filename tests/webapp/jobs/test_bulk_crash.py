"""A change of many names whose process is killed at any moment: another process finishes it, as one operation."""

from __future__ import annotations

import signal
import time
from datetime import UTC, datetime, timedelta

import pytest

from ararat.webapp.accounts.model import Caller
from ararat.webapp.jobs.bulk import CHANGE, CHECK
from ararat.webapp.jobs.imports import Imports

from ...forking import ForkedCode

# The machine can be slow.
pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

NAMES = 6000
LEASE = 1.5
WORKER = """
import sys, time
from ararat.bindings.open import open_bindings
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.imports import Imports

bindings = open_bindings(sys.argv[1])
imports = Imports(Accounts(bindings), lease=float(sys.argv[2]))
imports.worker.wake()
print("begun", flush=True)
time.sleep(250)
"""
OPERATIONS = {
    "edit": ({"action": "edit", "fields": {"metadata": {"who": "Noah"}}}, "updated"),
    "publish": ({"action": "publish"}, "bound"),
    "move": ({"action": "move", "from": "old.example", "to": "new.example"}, "relocated"),
    "withdraw": ({"action": "withdraw"}, "withdrawn"),
    "delete": ({"action": "delete"}, "deleted"),
    "hold": (
        {"action": "hold", "until": f"{datetime.now(UTC) + timedelta(days=90):%Y-%m-%d}", "reason": "a claim"},
        "held",
    ),
}


@pytest.fixture
def clock():
    """The real clock, because the workers are other processes."""
    return lambda: datetime.now(UTC)


@pytest.fixture
def imports(accounts):
    return Imports(accounts, LEASE)


@pytest.fixture
def worker(database):
    started = []

    def start() -> ForkedCode:
        started.append(ForkedCode(WORKER, database, str(LEASE)))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def fill(imports, accounts, *, reserved):
    state = "reserved" if reserved else "live"
    lines = (f"ark:12345/x5{number},https://old.example/{number},{state}\n" for number in range(NAMES))
    table = "identifier,target,status\n" + "".join(lines)
    caller = Caller(account=accounts.get("jane"))
    accounts.run_in_transaction(lambda connection: imports.add(connection, caller, table.encode(), format="csv"))
    imports.worker.wake()
    wait_for(lambda: not imports.jobs.list_unfinished())
    return caller


def wait_for(condition):
    deadline = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < deadline, "the condition is not met"
        time.sleep(0.02)


def killed_while_it_runs(imports, worker, number):
    """Carry a job out by processes of which three are killed in the middle of the work."""
    for reached in (1000, 2000, 4000):
        process = worker()
        wait_for(
            lambda reached=reached: imports.jobs.get(number).progress >= reached or imports.jobs.get(number).is_finished
        )
        process.send_signal(signal.SIGKILL)
        process.wait()
    worker()
    wait_for(lambda: imports.jobs.get(number).is_finished)
    return imports.jobs.get(number)


@pytest.mark.parametrize(("operation", "outcome"), OPERATIONS.values(), ids=OPERATIONS)
def test_a_change_of_a_killed_process_is_one_whole_operation(imports, accounts, worker, operation, outcome):
    caller = fill(imports, accounts, reserved=outcome in ("bound", "deleted"))
    imports.worker.wake = lambda: None  # this process carries out no job from now on
    selection = {"prefix": "ark:12345/x5"}
    checked = accounts.run_in_transaction(
        lambda connection: imports.bulk.check(connection, caller, operation, selection=selection)
    )
    found = killed_while_it_runs(imports, worker, checked.number)
    assert (found.kind, found.state, found.result["counts"]) == (CHECK, "done", {outcome: NAMES})
    change = accounts.run_in_transaction(lambda connection: imports.bulk.change(connection, caller, found))
    done = killed_while_it_runs(imports, worker, change.number)
    assert (done.kind, done.state, done.result["counts"]) == (CHANGE, "done", {outcome: NAMES})
    number = done.result["operation"]
    with accounts.bindings.transaction() as transaction:
        count = f"SELECT count(*), count(DISTINCT key) FROM events WHERE operation = {number}"  # noqa: S608  a number
        assert tuple(transaction.connection.exec_driver_sql(count).one()) == (NAMES, NAMES)
    assert [each.names for each in accounts.bindings.list_operations()] == [NAMES, NAMES]
