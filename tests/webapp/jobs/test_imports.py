"""Imports whose account or token is revoked while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.imports import Imports
from ararat.webapp.jobs.queue import Claim

TABLE = b"identifier,target\nark:12345/x51,https://example.org/1\n"

REVOCATIONS: dict[str, Callable[[Accounts], object]] = {
    "the account": lambda accounts: accounts.disable("jane"),
    "the token": lambda accounts: accounts.tokens.revoke(accounts.tokens.list("jane")[0].number),
    "the prefix": lambda accounts: accounts.revoke("jane", "ark:12345/x5"),
    "the role": lambda accounts: accounts.set_role("jane", "reader"),
}


@pytest.fixture
def database(cluster) -> Iterator[str]:
    """PostgreSQL only: SQLite has one writer, so a revocation waits until the import ends."""
    url = cluster.new_schema()
    yield url
    cluster.recycle(url)


@pytest.fixture
def imports(accounts: Accounts) -> Imports:
    return Imports(accounts)


def started(imports: Imports, accounts: Accounts) -> Claim:
    """Add an import with a token, and claim it."""
    accounts.add("adam", "administrator")
    token, _ = accounts.tokens.create("jane", "repository", None)
    account = accounts.get("jane")
    assert account is not None
    caller = Caller(account=account, token=token)
    accounts.run_in_transaction(lambda connection: imports.add(connection, caller, TABLE, format="csv"))
    claim = imports.jobs.claim()
    assert claim is not None
    return claim


@pytest.mark.parametrize("revoked", [*REVOCATIONS])
def test_an_import_writes_nothing_if_its_permission_is_revoked_while_it_runs(
    imports: Imports, accounts: Accounts, revoked: str
) -> None:
    claim = started(imports, accounts)

    def progress(lines: int) -> None:
        if not done:
            done.append(REVOCATIONS[revoked](accounts))

    done: list[object] = []
    imports.carry_out(claim, progress)
    job = imports.jobs.get(claim.job.number)
    assert job
    assert (job.state, job.result and job.result["problem"]["code"]) == ("failed", "role-missing")
    assert accounts.bindings.count().number == 0


def test_an_import_continues_if_its_account_gets_another_prefix(imports: Imports, accounts: Accounts) -> None:
    claim = started(imports, accounts)

    def progress(lines: int) -> None:
        accounts.grant("jane", "ark:12345/y7")

    imports.carry_out(claim, progress)
    assert accounts.bindings.count().number == 1
    job = imports.jobs.get(claim.job.number)
    assert job is not None
    assert job.state == "done"
