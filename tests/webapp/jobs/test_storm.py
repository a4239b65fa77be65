"""Processes are killed at random moments of jobs of all kinds, and operations are undone at random moments."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection

from ararat.bindings.checks.verification import verify
from ararat.bindings.names.errors import BindingError
from ararat.bindings.names.selection import select
from ararat.spreadsheets import sheet
from ararat.spreadsheets.reading import Reading
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.exports import FileFormat
from ararat.webapp.jobs.imports import Imports
from ararat.webapp.jobs.model import Job
from ararat.webapp.jobs.queue import LEASE_SECONDS
from ararat.webapp.management import bulk

from ...forking import ForkedCode
from .test_bulk_crash import LEASE, WORKER, wait_for

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

# A developer can set smaller numbers.
KILLS = int(os.environ.get("STORM_KILLS", "100"))
"""The kills for each kind of database."""

MOMENTS = int(os.environ.get("STORM_MOMENTS", "25"))
"""The undone operations for each kind of database, half of them imports."""

ROWS = 2500
STATE = "SELECT key, target, status, resource, metadata FROM bindings ORDER BY key"


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """The real clock, because the workers are other processes."""
    return lambda: datetime.now(UTC)


class _Permitted(Exception):
    """The check is permitted."""


class Storm:
    """A site without a worker of its own: processes carry out its jobs, and are killed."""

    def __init__(self, accounts: Accounts, database: str, seed: int) -> None:
        self.accounts, self.database, self.random = accounts, database, random.Random(seed)  # noqa: S311  no secret
        self.imports = Imports(accounts, LEASE)
        self.imports.worker.wake = lambda: None
        jane = accounts.get("jane")
        assert jane
        self.jane = Caller(account=jane)
        self.lease = LEASE
        self.kills = self.jobs = 0
        self.processes: list[ForkedCode] = []

    def start(self) -> None:
        self.processes.append(ForkedCode(WORKER, self.database, str(self.lease)))

    def run(self, number: int) -> Job:
        """Carry out a job beside those that run."""
        self.start()
        wait_for(lambda: self.job(number).is_finished)
        return self.job(number)

    def kill(self) -> None:
        for process in self.processes:
            with process:
                process.send_signal(signal.SIGKILL)
                process.wait()
        self.processes.clear()

    def job(self, number: int) -> Job:
        found = self.imports.jobs.get(number)
        assert found
        return found

    def carried_out(self, number: int, most: int = 2) -> Job:
        """Carry out a job by processes that are killed, at most twice in succession, so that it never stops."""
        for _ in range(self.random.randint(1, most)):
            self.kill()
            self.start()
            ends = time.monotonic() + self.random.uniform(0.05, 1.5)
            wait_for(lambda ends=ends: time.monotonic() > ends or self.job(number).is_finished)
            if self.job(number).is_finished:
                break
            self.kill()
            self.kills += 1
        if not self.job(number).is_finished:
            self.start()
            wait_for(lambda: self.job(number).is_finished)
        self.kill()
        self.jobs += 1
        return self.job(number)

    def has_begun(self, number: int) -> bool:
        return self.job(number).is_finished or self.imports.jobs.operation_of(self.job(number)) is not None

    def add_import(self, table: str) -> int:
        content = table.encode()
        add: Any = lambda connection: self.imports.add(connection, self.jane, content, format="csv")  # noqa: E731
        return self.accounts.run_in_transaction(add).number

    def check(self, operation: dict[str, Any], prefix: str | None) -> int:
        selection = None if prefix is None else {"prefix": prefix}
        return self.accounts.run_in_transaction(
            lambda connection: self.imports.bulk.check(connection, self.jane, operation, selection=selection)
        ).number

    def refusal(self, operation: dict[str, Any]) -> str | None:
        """Return the code of the refusal of a check, or None for a check that is permitted. None is added."""

        def add(connection: Connection) -> None:
            self.imports.bulk.check(connection, self.jane, operation)
            raise _Permitted

        try:
            self.accounts.run_in_transaction(add)
        except _Permitted:
            return None
        except BindingError as error:
            return error.code

    def change(self, checked: Job) -> int:
        assert checked.state == "done", checked.result
        assert checked.result
        assert checked.result["refusals"] == 0, checked.result
        return self.accounts.run_in_transaction(
            lambda connection: self.imports.bulk.change(connection, self.jane, checked)
        ).number

    def add_export(self, prefix: str) -> int:
        chain, file = [select(prefix=prefix)], FileFormat("csv")
        return self.accounts.run_in_transaction(
            lambda connection: self.imports.exports.add(connection, self.jane, chain, file)
        ).number

    def add_upload(self, table: str, **reading: Any) -> int:
        """Store a table of the desk, add its preview, and return the number of the upload."""
        uploads, (data, read, lines) = self.imports.uploads, sheet.convert_upload(table.encode(), "names.csv")
        read = Reading(**{**read.as_dict(), **reading})

        def add(connection: Connection) -> int:
            upload = uploads.uploads.add(connection, self.jane.account.number, "names.csv", data, read, lines)
            assert upload
            assert uploads.preview(connection, self.jane, upload, read)
            return upload.number

        return self.accounts.run_in_transaction(add)

    def job_of(self, upload: int) -> int:
        found = self.imports.uploads.uploads.get(upload)
        assert found
        assert found.job
        return found.job

    def import_upload(self, number: int) -> None:
        uploads, upload = self.imports.uploads, self.imports.uploads.uploads.get(number)
        assert upload
        start: Any = lambda connection: uploads.import_rows(connection, self.jane, upload, skip_refused=False)  # noqa: E731
        assert self.accounts.run_in_transaction(start)

    def changed(self, operation: dict[str, Any], prefix: str | None) -> Job:
        """Check an operation and carry it out, both by processes that are killed."""
        return self.carried_out(self.change(self.carried_out(self.check(operation, prefix))))

    def rows(self, prefix: str = "") -> list[tuple[Any, ...]]:
        with self.accounts.bindings.transaction() as transaction:
            found = transaction.connection.exec_driver_sql(STATE).all()
            return [tuple(row) for row in found if row[0].startswith(prefix)]


@pytest.fixture
def storm(accounts: Accounts, database: str) -> Any:
    seed = random.randrange(10**6)  # noqa: S311  no secret
    storm = Storm(accounts, database, seed)
    yield storm
    storm.kill()
    print(json.dumps({"seed": seed, "kills": storm.kills, "jobs": storm.jobs}))


def table(prefix: str, number: int) -> str:
    lines = (f"{prefix}{row},https://old.example/{number}/{row},{prefix}{row}\n" for row in range(ROWS))
    return "identifier,target,resource\n" + "".join(lines)


def test_killed_jobs_of_all_kinds_lose_nothing_and_double_nothing(storm: Storm) -> None:
    number = 0
    while storm.kills < KILLS:
        number += 1
        prefix = f"ark:12345/x5s{number}-"[:-1] + "z"
        before = storm.rows()
        done = storm.carried_out(storm.add_import(table(prefix, number)))
        assert (done.state, done.result and done.result["counts"]) == ("done", {"added": ROWS}), done
        assert done.result
        assert len(storm.rows(prefix)) == ROWS
        imported = storm.rows()

        exported = storm.carried_out(storm.add_export(prefix))
        assert exported.state == "done", exported
        lines = b"".join(storm.imports.exports.content(exported)).decode().splitlines()
        assert (len(lines), len({line.split(",")[0] for line in lines})) == (ROWS + 1, ROWS + 1)

        edit = {"action": "edit", "fields": {"metadata": {"who": f"R{number}"}}}
        withdraw = {"action": "withdraw", "reason": "x"}
        move = {"action": "move", "from": f"https://old.example/{number}/", "to": "https://new.example/"}
        operation = storm.random.choice([edit, withdraw, move])
        changed = storm.changed(operation, prefix)
        assert changed.state == "done", changed
        assert changed.result
        assert sum(changed.result["counts"].values()) == ROWS
        assert sum(a != b for a, b in zip(imported, storm.rows(), strict=True)) == ROWS

        undone = storm.changed({"action": "undo", "operation": changed.result["operation"]}, None)
        assert undone.state == "done", undone
        assert storm.rows() == imported

        undone = storm.changed({"action": "undo", "operation": done.result["operation"]}, None)
        assert undone.state == "done", undone
        assert {row[2] for row in storm.rows(prefix)} == {"withdrawn"}
        assert [row for row in storm.rows() if not row[0].startswith(prefix)] == before

        shoulder, before = f"ark:12345/x5t{number}", storm.rows()
        keyed = "Key,Link\n" + "".join(f"T{number}-{row},https://old.example/{row}\n" for row in range(ROWS))
        upload = storm.add_upload(keyed, columns=["resource", "target"], mint=shoulder)
        assert storm.carried_out(storm.job_of(upload)).state == "done"
        assert storm.rows() == before
        storm.import_upload(upload)
        assert storm.carried_out(storm.job_of(upload)).state == "done"
        minted = storm.rows(shoulder)
        assert {row[3] for row in minted} == {f"T{number}-{row}" for row in range(ROWS)}
        assert len(minted) == ROWS == len(storm.rows()) - len(before)

        action = storm.random.choice(["publish", "delete"])
        changed = storm.changed({"action": action}, shoulder)
        assert changed.state == "done", changed
        assert changed.result
        assert len(storm.rows(shoulder)) == (ROWS if action == "publish" else 0)
        assert {row[2] for row in storm.rows(shoulder)} <= {"live"}
        undone = storm.changed({"action": "undo", "operation": changed.result["operation"]}, None)
        assert undone.state == "done", undone
        assert storm.rows(shoulder) == minted
    # Two imports, two changes and three undos of each round.
    assert len(storm.accounts.bindings.list_operations(limit=1000)) == 7 * number
    assert list(verify(storm.accounts.bindings)) == []


def test_an_undo_at_a_random_moment_takes_back_all_or_is_refused(storm: Storm) -> None:
    bindings, refused = storm.accounts.bindings, 0
    # No worker is killed before the end of its jobs, and one that waits for SQLite must not lose its job.
    storm.lease = LEASE_SECONDS
    for number in range(MOMENTS):
        prefix, is_edit = f"ark:12345/x5m{number}z", number % 2 == 1
        running, imported = storm.add_import(table(prefix, number)), storm.rows(prefix)
        if is_edit:
            storm.run(running)
            imported = storm.rows(prefix)
            edit = {"action": "edit", "fields": {"metadata": {"who": "R"}}}
            running = storm.change(storm.run(storm.check(edit, prefix)))
        storm.start()
        moment = time.monotonic() + storm.random.uniform(0.0, 1.5)
        wait_for(lambda running=running: storm.has_begun(running))
        wait_for(lambda moment=moment, running=running: time.monotonic() > moment or storm.job(running).is_finished)
        operation = storm.imports.jobs.operation_of(storm.job(running))
        assert operation
        undo = {"action": "undo", "operation": operation}
        if (code := storm.refusal(undo)) is not None:
            assert code == "operation-running"
            refused += 1
            assert bulk.stop(storm.imports.accounts, storm.jane, operation).finished
        assert storm.run(storm.change(storm.run(storm.check(undo, None)))).state == "done"
        wait_for(lambda running=running: storm.job(running).is_finished)
        storm.kill()
        if is_edit:
            assert storm.rows(prefix) == imported
        else:
            assert {row[2] for row in storm.rows(prefix)} <= {"withdrawn"}
        [found] = bindings.list_operations(cursor=operation + 1, limit=1)
        assert (found.undone_by is not None, found.finished is not None) == (True, True)
        assert storm.refusal(undo) == "operation-undone"
        # It cannot be resumed.
        assert not storm.imports.resume(storm.job(running))
    assert refused > 0
    assert list(verify(bindings)) == []
