"""Shared fixtures: accounts in each kind of database, with a clock that a test can set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ararat.bindings.collection import Bindings
from ararat.webapp.accounts import passwords
from ararat.webapp.accounts.store import Accounts

PASSWORD = "correct horse battery"


class Clock:
    """A clock that does not run; a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def _no_kept_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember no password from another test."""
    monkeypatch.setattr(passwords, "_state", passwords._State())
    passwords._decoy.cache_clear()


@pytest.fixture
def accounts(database: str, open_store: Callable[..., Bindings], clock: Clock) -> Accounts:
    """No accounts, once for each kind of database."""
    return Accounts(open_store(database, clock=clock))


@pytest.fixture
def audit_of() -> Callable[[Accounts], list[dict[str, Any]]]:
    """audit_of(accounts) returns the rows of the audit, oldest first."""
    from ararat.bindings.storage.tables.account_tables import audit

    def read(accounts: Accounts) -> list[dict[str, Any]]:
        return accounts.run_in_transaction(
            lambda each: [dict(row) for row in each.execute(audit.select().order_by("id")).mappings()]
        )

    return read
