"""`ararat jobs`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ararat.bindings.collection import Bindings
from ararat.cli.main import main
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.queue import Jobs
from tests.wrapping import unwrapped


def ararat(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture
def jobs(database: str, open_store: Callable[..., Bindings]) -> Jobs:
    accounts = Accounts(open_store(database))
    accounts.add("jane", "curator")
    return Jobs(accounts)


def test_jobs_are_listed_and_a_stopped_one_is_continued_with_its_data(jobs: Jobs, database: str) -> None:
    assert ararat("jobs", "--database", database).stdout == "No job waits, runs or has stopped.\n"
    add = lambda connection: jobs.add(connection, 1, "import", {}, b"a table", 3).number  # noqa: E731
    first, second = jobs.accounts.run_in_transaction(add), jobs.accounts.run_in_transaction(add)
    claim = jobs.claim()
    assert claim
    jobs.fail(claim, "attempts", "The process of the job ended 3 times without progress.")
    claim = jobs.claim()
    assert claim
    jobs.release(claim, "database-full")
    text = unwrapped(ararat("jobs", "--database", database).stdout)
    assert f"{first} import by jane: stopped, 0 of 3;" in text
    assert "ended 3 times without progress." in text
    assert f"{second} import by jane: waiting, 0 of 3;" in text
    assert "The disk of the database is full. Free space on it" in text
    rows = [json.loads(line) for line in ararat("jobs", "--json", "--database", database).stdout.splitlines()]
    assert [(row["number"], row["can_resume"], row["waits"]) for row in rows] == [
        (first, True, None),
        (second, False, "database-full"),
    ]
    assert ararat("jobs", "--resume", str(second), "--database", database).exit_code == 1
    assert ararat("jobs", "--resume", "999", "--database", database).exit_code == 1
    assert ararat("jobs", "--resume", str(first), "--database", database).exit_code == 0
    job = jobs.get(first)
    assert job
    assert (job.state, job.result, jobs.data(first)) == ("waiting", None, b"a table")


def test_a_job_of_an_unknown_account_is_listed_without_it(jobs: Jobs, database: str) -> None:
    number = jobs.accounts.run_in_transaction(
        lambda connection: jobs.add(connection, 99, "import", {}, b"a table", 3).number
    )
    assert f"{number} import: waiting, 0 of 3;" in unwrapped(ararat("jobs", "--database", database).stdout)
