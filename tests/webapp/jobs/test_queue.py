"""Jobs in the database: each is carried out once, also if its worker ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, insert

from ararat.bindings.storage.tables.desk_tables import bulk_progress
from ararat.webapp.jobs import queue
from ararat.webapp.jobs.queue import MAX_DEATHS, ClaimLost, Jobs


def test_a_job_waits_runs_and_ends(jobs, add, clock):
    number = add(b"\x00\xff data", file="a.csv")
    job = jobs.get(number)
    assert (job.state, job.parameters) == ("waiting", {"file": "a.csv"})
    assert (job.progress, job.total, job.result) == (0, 3, None)
    claim = jobs.claim()
    assert (claim.job.number, jobs.get(number).state) == (number, "running")
    assert jobs.data(number) == b"\x00\xff data"
    jobs.report(claim, 2)
    assert (jobs.get(number).progress, jobs.get(number).is_finished) == (2, False)
    jobs.end(claim, "done", {"operation": 7}, 4)
    job = jobs.get(number)
    assert (job.state, job.result, job.progress, job.total) == ("done", {"operation": 7}, 4, 4)
    assert job.is_finished
    assert job.changed > job.created


def test_jobs_are_claimed_in_order_and_once(jobs, add):
    numbers = [add() for _ in range(3)]
    assert [jobs.claim().job.number for _ in numbers] == numbers
    assert jobs.claim() is None
    assert jobs.get(max(numbers) + 1) is None


def test_concurrent_workers_never_claim_the_same_job(jobs, add):
    numbers = [add() for _ in range(6)]
    with ThreadPoolExecutor(4) as threads:
        claims = list(threads.map(lambda _: jobs.claim(), range(12)))
    assert sorted(claim.job.number for claim in claims if claim) == numbers


def test_a_job_is_claimed_again_only_after_its_lease(jobs, add, clock, expire):
    number = add()
    first = jobs.claim()
    clock.move(seconds=20)
    jobs.report(first, 1)
    clock.move(seconds=20)
    assert jobs.claim() is None
    expire()
    second = jobs.claim()
    assert (second.job.number, jobs.get(number).progress) == (number, 0)


def test_a_job_of_a_worker_that_ended_does_not_wait_until_a_clock_that_is_set_back(jobs, add, clock):
    number = add()
    jobs.claim()
    clock.move(minutes=-2)
    assert jobs.claim() is None
    clock.move(hours=-1)
    assert jobs.claim().job.number == number


@pytest.mark.one_setup
@pytest.mark.parametrize("act", ["report", "end"])
def test_a_worker_that_lost_its_claim_can_neither_report_nor_end_the_job(jobs, add, expire, act):
    number = add()
    lost = jobs.claim()
    expire()
    current = jobs.claim()
    with pytest.raises(ClaimLost):
        jobs.report(lost, 1) if act == "report" else jobs.end(lost, "done", {})
    jobs.end(current, "done", {"by": "current"})
    assert jobs.get(number).result == {"by": "current"}
    with pytest.raises(ClaimLost):
        jobs.end(current, "failed", {})


@pytest.mark.parametrize("act", ["advance", "finish"])
def test_the_work_of_a_lost_claim_is_rolled_back(jobs, add, accounts, expire, act):
    add()
    lost = jobs.claim()
    expire()
    jobs.claim()

    def work(connection):
        jobs.add(connection, 1, "test", {"written": "by the lost worker"}, b"", 0)
        jobs.advance(connection, lost, 1) if act == "advance" else jobs.finish(connection, lost, "done", {})

    with pytest.raises(ClaimLost):
        accounts.run_in_transaction(work)
    assert len(jobs.list_unfinished()) == 1


def test_a_job_whose_process_died_three_times_without_progress_fails_with_a_line_in_the_log(jobs, add, expire, caplog):
    number, later = add(), add()
    for _ in range(MAX_DEATHS):
        assert jobs.claim().job.number == number
        expire()
    assert caplog.records == []
    assert jobs.claim().job.number == later
    assert (jobs.get(number).state, jobs.get(number).result["problem"]["code"]) == ("failed", "attempts")
    (line,) = caplog.messages
    assert line.startswith(f"job {number} (test) failed: its process ended 3 times without progress; ")


def test_progress_resets_the_count_of_deaths(jobs, add, expire):
    number = add()
    for reached in (1, 1, 1, 2, 1, 2, 3):
        jobs.report(jobs.claim(), reached)
        expire()
    assert jobs.claim().parameters.count('"deaths": 0') == 1
    for _ in range(MAX_DEATHS - 1):
        expire()
        assert jobs.claim().job.number == number
    expire()
    assert jobs.claim() is None


def test_a_written_block_is_progress_also_below_the_number_of_checked_rows(jobs, add, accounts, expire):
    number = add()
    jobs.report(jobs.claim(), 500)
    for block in range(5):
        expire()
        claim = jobs.claim()
        assert claim is not None

        def write(connection, block=block):
            connection.execute(delete(bulk_progress))
            connection.execute(insert(bulk_progress), {"job": number, "operation": 1, "result": str(block)})

        accounts.run_in_transaction(write)
        jobs.report(claim, block)
    for _ in range(MAX_DEATHS):
        expire()
        assert jobs.claim() is not None
    expire()
    assert jobs.claim() is None


def test_a_released_claim_never_counts(jobs, add, expire):
    number = add()
    for _ in range(2 * MAX_DEATHS):
        jobs.release(jobs.claim())
        assert jobs.get(number).state == "waiting"
    for _ in range(MAX_DEATHS - 1):
        jobs.claim()
        expire()
        jobs.release(jobs.claim())
    jobs.claim()
    expire()
    assert jobs.claim() is None


def test_unfinished_jobs_are_limited_by_account(jobs, add, accounts):
    for _ in range(queue.MAX_UNFINISHED):
        add()
    assert [accounts.run_in_transaction(lambda each, n=number: jobs.is_full(each, n)) for number in (1, 2)] == [
        True,
        False,
    ]
    jobs.end(jobs.claim(), "done", {})
    assert not accounts.run_in_transaction(lambda each: jobs.is_full(each, 1))


def test_claims_begin_with_accounts_that_have_no_running_job_and_with_changes(accounts, clock):
    accounts.add("joe", "curator", ["ark:12345/x6"])
    jobs = Jobs(accounts, 30.0, reading=frozenset({"export"}))

    def add(account, kind, **parameters):
        return accounts.run_in_transaction(
            lambda connection: jobs.add(connection, account, kind, parameters, b"", 1)
        ).number

    first, export, change = add(1, "export"), add(1, "export"), add(1, "change")
    checked, other = add(2, "change", dry_run=True), add(2, "export")
    claimed, busy = [], []
    while (claim := jobs.claim(busy)) is not None:
        claimed.append(claim.job.number)
        busy.append((claim.job.account, jobs.is_reading(claim.job)))
        # As after the end of the others.
        if len(busy) == 3:
            busy.clear()
    assert claimed == [change, checked, first, other, export]


def test_a_job_whose_worker_ended_is_carried_out_alone(jobs, add, expire):
    number = add()
    jobs.claim()
    expire()
    assert jobs.claim([(2, False)]) is None
    claim = jobs.claim()
    assert (claim.job.number, claim.job.parameters["deaths"]) == (number, 1)


def test_servers_whose_clocks_differ_compare_claims_by_the_clock_of_the_database(jobs, add, accounts, monkeypatch):
    if accounts.bindings.location.startswith("sqlite"):
        pytest.skip("the clock of a file is that of its host")
    number = add()
    assert jobs.claim() is not None
    # This host is an hour ahead of the database.
    ahead = timedelta(hours=1)
    monkeypatch.setattr(queue, "utc_now", lambda: datetime.now(UTC) + ahead)
    now = accounts.bindings.now
    monkeypatch.setattr(accounts.bindings, "now", lambda: now() + ahead)
    assert jobs.claim() is None
    assert abs(jobs.get(number).changed - now()) < timedelta(minutes=1)
