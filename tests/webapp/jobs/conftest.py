"""Shared fixtures: the jobs of a site with one account, in each kind of database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from ararat.bindings.collection import Bindings
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.queue import Jobs
from tests.webapp.api.conftest import Clock

LEASE = 30.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def accounts(database: str, open_store: Callable[..., Bindings], clock: Clock) -> Accounts:
    """The curator "jane", who can change the names below ark:12345/x5."""
    accounts = Accounts(open_store(database, clock=clock))
    accounts.add("jane", "curator", ["ark:12345/x5"])
    return accounts


@pytest.fixture
def jobs(accounts: Accounts) -> Jobs:
    return Jobs(accounts, LEASE)


@pytest.fixture
def add(jobs: Jobs, accounts: Accounts) -> Callable[..., int]:
    """add(data=b"") adds a job of the kind "test" and returns its number."""

    def add(data: bytes = b"", **parameters: str) -> int:
        return accounts.run_in_transaction(
            lambda connection: jobs.add(connection, 1, "test", parameters, data, 3)
        ).number

    return add


@pytest.fixture
def expire(clock: Clock) -> Callable[[], None]:
    """expire() moves the clock behind the lease of each claim."""
    return lambda: clock.move(seconds=timedelta(seconds=LEASE + 1).total_seconds())
