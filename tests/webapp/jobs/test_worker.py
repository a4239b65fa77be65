"""The thread that carries out jobs."""

from __future__ import annotations

import logging
import os
import threading
import time

import pytest
from sqlalchemy import insert, select

from ararat.bindings.log.kept_copies import delete_all_old
from ararat.bindings.names.binding import rfc3339
from ararat.bindings.names.errors import (
    BindingError,
    BindingsLocked,
    BindingsUnavailable,
    DatabaseFull,
    ReadOnlyBindings,
)
from ararat.bindings.storage.tables.account_tables import idempotency
from ararat.webapp.jobs.model import Job
from ararat.webapp.jobs.queue import MAX_DEATHS, Jobs
from ararat.webapp.jobs.worker import Worker
from tests.forking import ForkedCode, fork


@pytest.fixture
def run(accounts, add):
    """run(work) carries out one job with this function and returns it."""

    def run(work):
        # Short reports, so that a lost worker is noticed soon.
        jobs = Jobs(accounts, 0.6)
        worker = Worker(jobs, {"test": lambda claim, progress: work(jobs, claim, progress)})
        number = add()
        worker.wake()
        return jobs, worker, number

    return run


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition is not met"
        time.sleep(0.01)


def finished(jobs, number: int) -> Job:
    wait_for(lambda: jobs.get(number).is_finished)
    job = jobs.get(number)
    assert job
    return job


def test_a_job_is_carried_out_and_the_thread_ends(run):
    jobs, worker, number = run(lambda jobs, claim, progress: jobs.end(claim, "done", {"a": 1}))
    assert finished(jobs, number).result == {"a": 1}
    wait_for(lambda: worker._thread is None)


def test_jobs_that_are_added_later_are_carried_out(run, add):
    jobs, worker, number = run(lambda jobs, claim, progress: jobs.end(claim, "done", {}))
    finished(jobs, number)
    for _ in range(5):
        later = add()
        worker.wake()
        assert finished(jobs, later).state == "done"


def test_the_progress_is_shown_while_the_job_runs(run):
    ready, end = threading.Event(), threading.Event()

    def work(jobs, claim, progress):
        progress(2)
        ready.set()
        end.wait(20)
        jobs.end(claim, "done", {})

    jobs, worker, number = run(work)
    assert ready.wait(20)
    assert worker.progress_of(number) == 2
    wait_for(lambda: jobs.get(number).progress == 2)
    end.set()
    finished(jobs, number)
    wait_for(lambda: worker.progress_of(number) == 0)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(BindingError("table-column", "the column a is unknown"), "table-column", id="error of a table"),
        pytest.param(ZeroDivisionError("s3cret"), "internal-error", id="defect"),
    ],
)
def test_a_job_that_raises_an_exception_fails_and_others_go_on(run, add, error, code, caplog):
    def work(jobs, claim, progress):
        if claim.job.number == 1:
            raise error
        jobs.end(claim, "done", {})

    jobs, worker, number = run(work)
    job = finished(jobs, number)
    assert ((job.result or {})["problem"]["code"], job.state) == (code, "failed")
    assert "s3cret" not in str(job.result)
    later = add()
    worker.wake()
    assert finished(jobs, later).state == "done"


def test_a_job_that_ends_has_a_line_in_the_log_with_the_way_back(run, add, caplog):
    caplog.set_level(logging.INFO)

    def work(jobs, claim, progress):
        if claim.job.number == 1:
            jobs.end(claim, "failed", {"operation": 7, "problem": {"code": "role-missing", "detail": "s3cret"}})
        elif claim.job.number == 2:
            raise BindingError("table-column", "s3cret")
        else:
            jobs.end(claim, "done", {"operation": 8} if claim.job.number == 3 else {})

    jobs, worker, number = run(work)
    later = [add(), add(), add()]
    worker.wake()
    for each in (number, *later):
        finished(jobs, each)
    wait_for(lambda: worker._thread is None)
    lines = [each.getMessage() for each in caplog.records]
    assert "job 1 (test) failed: role-missing; to change its names back, run: ararat undo 7" in lines
    assert "job 2 (test) failed: table-column; it changed nothing; correct its cause, and start it again" in lines
    assert "job 3 (test) is done; to change its names back, run: ararat undo 8" in lines
    assert "job 4 (test) is done" in lines
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BindingsLocked("another writer has locked the bindings"), id="another writer"),
        pytest.param(BindingsUnavailable("away"), id="a database that is away"),
        pytest.param(ReadOnlyBindings("full"), id="a database that cannot be written"),
    ],
)
def test_a_job_waits_for_the_database_without_a_limit(run, clock, error):
    tries = []

    def work(jobs, claim, progress):
        tries.append(claim)
        if len(tries) <= 2 * MAX_DEATHS:
            raise error
        jobs.end(claim, "done", {})

    jobs, _, number = run(work)
    assert finished(jobs, number).state == "done"
    assert len(tries) == 2 * MAX_DEATHS + 1
    assert tries[-1].job.parameters["deaths"] == 0


def test_a_claim_is_released_when_the_database_is_back(run, monkeypatch):
    """The job fails while nothing can be written, and its claim is released later."""
    tries, release, waits, is_known = [], Jobs.release, [], threading.Event()

    def away(jobs, claim, reason):
        waits.append((worker.waits_for(number), reason))
        if len(tries) == 1:
            tries.append("away")
            raise BindingsUnavailable("away")
        release(jobs, claim, reason)

    monkeypatch.setattr(Jobs, "release", away)

    def work(jobs, claim, progress):
        assert is_known.wait(20)
        tries.append(claim)
        if len(tries) == 1:
            raise DatabaseFull("full")
        jobs.end(claim, "done", {})

    jobs, worker, number = run(work)
    is_known.set()
    assert finished(jobs, number).state == "done"
    assert (len(tries), tries[-1].job.parameters["deaths"]) == (3, 0)
    assert waits == [("database-full", "database-full")] * 2
    assert worker.waits_for(number) is None


def test_a_job_waits_for_another_process_when_this_one_ends(run, monkeypatch):
    monkeypatch.setattr("ararat.webapp.jobs.worker._SECONDS_TO_END", 20.0)
    begun = threading.Event()

    def work(jobs, claim, progress):
        for number in range(2000):
            progress(number)
            begun.set()
            time.sleep(0.01)

    jobs, worker, number = run(work)
    assert begun.wait(20)
    worker.end()
    assert not worker._thread.is_alive()
    job = jobs.get(number)
    assert (job.state, job.parameters["deaths"]) == ("waiting", 0)
    Worker(jobs, {"test": lambda claim, progress: jobs.end(claim, "done", {})}).wake()
    assert finished(jobs, number).state == "done"


_DYING = """
import os, sys, time
from ararat.bindings.open import open_bindings
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.queue import Jobs
from ararat.webapp.jobs.worker import Worker

jobs = Jobs(Accounts(open_bindings(sys.argv[1])), 0.6)

def work(claim, progress):
    if claim.job.parameters.get("dies"):
        os._exit(9)
    jobs.end(claim, "done", {})

worker = Worker(jobs, {"test": work})
worker.wake()
time.sleep(60)
"""


@pytest.mark.timeout(120)
def test_a_job_that_ends_its_process_ends_after_three_and_the_next_one_goes_on(accounts, add, database):
    number, later = add(dies="1"), add()
    jobs = Jobs(accounts, 0.6)
    died = 0
    while jobs.list_unfinished():
        with ForkedCode(_DYING, database) as process:
            wait_for(lambda: process.poll() is not None or not jobs.list_unfinished())
            died += process.returncode is not None
            process.kill()
        assert died <= MAX_DEATHS
    assert died == MAX_DEATHS
    assert [finished(jobs, each).state for each in (number, later)] == ["failed", "done"]


def test_a_process_begins_with_the_jobs_of_an_earlier_one_once(accounts, add, monkeypatch):
    jobs = Jobs(accounts, 0.6)
    worker = Worker(jobs, {"test": lambda claim, progress: jobs.end(claim, "done", {})})
    number = add()
    worker.begin()
    assert finished(jobs, number).state == "done"
    monkeypatch.setattr(worker, "wake", lambda: pytest.fail("the worker looks for jobs again"))
    worker.begin()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_begins_with_the_jobs_too(accounts, add, monkeypatch):
    # A fork during a query of this thread would leave SQLite locked in the new process.
    monkeypatch.setattr(Worker, "_delete_old_copies", lambda self: None)
    jobs = Jobs(accounts, 0.6)
    worker = Worker(jobs, {"test": lambda claim, progress: jobs.end(claim, "done", {"pid": os.getpid()})})
    worker.begin()
    wait_for(lambda: worker._thread is None)
    number = add()

    def begin():
        worker.begin()
        finished(jobs, number)

    child = fork(begin)
    assert os.waitpid(child, 0)[1] == 0
    assert finished(jobs, number).result == {"pid": child}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_a_thread_of_its_own(accounts, add):
    begun, end = threading.Event(), threading.Event()
    parent = os.getpid()

    def work(claim, progress):
        if os.getpid() == parent:
            # The parent is busy, so only the child can carry out the second job.
            begun.set()
            end.wait(20)
        jobs.end(claim, "done", {"pid": os.getpid()})

    waits = threading.Event()

    class Woken(threading.Event):
        def wait(self, timeout=None):
            waits.set()
            return super().wait(timeout)

    # The reports of a long lease and the thread that looks for jobs do not disturb the fork.
    jobs = Jobs(accounts, 600)
    worker = Worker(jobs, {"test": work})
    worker._woken = Woken()
    first = add()
    worker.wake()
    assert begun.wait(20)
    assert waits.wait(20)
    later = add()

    def wake():
        worker.wake()
        finished(jobs, later)

    child = fork(wake)
    assert os.waitpid(child, 0)[1] == 0
    assert finished(jobs, later).result == {"pid": child}
    end.set()
    assert finished(jobs, first).result == {"pid": parent}


def test_a_process_deletes_old_replies_and_uploads_without_a_request(accounts, clock):
    def write(connection):
        row = {"account": 1, "key": "k", "request": "", "status": 201, "response": "{}", "created": rfc3339(clock())}
        connection.execute(insert(idempotency), row)

    accounts.run_in_transaction(write)
    kept = select(idempotency.c.key)
    delete_all_old(accounts.bindings)
    assert accounts.read(kept)
    clock.move(hours=25)
    Worker(Jobs(accounts), {}).begin()
    wait_for(lambda: not accounts.read(kept))
