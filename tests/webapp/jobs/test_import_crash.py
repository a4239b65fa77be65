"""An import that mints names, whose process is killed at any moment: another process finishes it, as one operation."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from ararat.spreadsheets import sheet
from ararat.spreadsheets.options import Options
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.imports import Imports
from ararat.webapp.jobs.model import Job

from ...forking import ForkedCode
from .test_bulk_crash import LEASE, WORKER, wait_for

# The machine can be slow.
pytestmark = [pytest.mark.timeout(400), pytest.mark.long]

ROWS = 6000
TABLE = "Inventarnummer;Titel\n" + "".join(f"INV {number};Vase {number}\n" for number in range(ROWS))


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """The real clock, because the workers are other processes."""
    return lambda: datetime.now(UTC)


@pytest.fixture
def worker(database: str) -> Iterator[Callable[[], ForkedCode]]:
    started: list[ForkedCode] = []

    def start() -> ForkedCode:
        started.append(ForkedCode(WORKER, database, str(LEASE)))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def test_an_import_of_killed_processes_mints_no_name_twice(
    accounts: Accounts, worker: Callable[[], ForkedCode]
) -> None:
    """Processes are killed in the check, in the first blocks, and near the end."""
    imports = Imports(accounts, LEASE)
    jane = accounts.get("jane")
    assert jane
    stored = sheet.convert_upload(TABLE.encode(), "a.csv")
    options = Options(key="Inventarnummer", mint="ark:12345/x5", state="live")
    proposal = stored._replace(reading=options.reading(stored.content, stored.reading, "a.csv"))
    caller = Caller(account=jane)
    added = accounts.run_in_transaction(
        lambda connection: imports.uploads.add(connection, caller, "a.csv", proposal, original=b"", dry_run=False)
    )
    assert added

    def job() -> Job:
        found = imports.jobs.get(added.number)
        assert found
        return found

    def written() -> int:
        return accounts.bindings.count().number

    kills: list[Callable[[], bool]] = [
        lambda: job().progress >= 1000,
        lambda: written() >= 1000,
        lambda: written() >= 4000,
    ]
    for reached in kills:
        process = worker()
        wait_for(lambda reached=reached: reached() or job().is_finished)
        process.send_signal(signal.SIGKILL)
        process.wait()
    time.sleep(0.1)
    worker()
    wait_for(lambda: job().is_finished)
    result = job().result
    assert result
    assert result.get("counts") == {"added": ROWS}, result
    keys: Counter[str | None] = Counter()
    uploads = imports.uploads.uploads
    names = [name for _, name in uploads.names(job().parameters["upload"])]
    assert len({*names}) == ROWS == written()
    for begin in range(0, ROWS, 1000):
        keys.update(each.resource for each in accounts.bindings.store.fetch(names[begin : begin + 1000]).values())
    assert keys == {f"INV {number}": 1 for number in range(ROWS)}
    (operation,) = accounts.bindings.list_operations()
    assert (operation.names, operation.finished is not None) == (ROWS, True)
