"""Shared fixtures: the management of names in each kind of database, and callers of each role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import select

from ararat.bindings.collection import Bindings
from ararat.bindings.storage.tables.account_tables import audit
from ararat.webapp.accounts.model import Caller
from ararat.webapp.accounts.store import Accounts
from ararat.webapp.jobs.imports import Imports
from ararat.webapp.management.permissions import require_account
from tests.webapp.management.acts import Acts

GRANTED, ELSEWHERE = "ark:12345/x5", "ark:12345/y7"


@pytest.fixture
def management(database: str, open_store: Callable[..., Bindings]) -> Acts:
    """The management of an empty database, once for each kind."""
    bindings = open_store(database)
    return Acts(bindings)


def token_for(management: Acts, caller: Caller, *prefixes: str) -> Caller:
    """Return a caller with a token for some prefixes."""
    token, _ = management.accounts.tokens.create(caller.actor, "repository", prefixes=prefixes)
    return Caller(account=caller.account, token=token, address="192.0.2.7")


NAMES_OF_CALLERS = (
    "anonymous",
    "reader",
    "curator",
    "curator of other names",
    "curator with a token for the names",
    "curator with a token for other names",
    "curator with a token for too many names",
    "administrator",
    "administrator with a token for the names",
    "administrator with a token for other names",
)


def tokens(accounts: Accounts) -> Mapping[str, str | None]:
    """Return a token of each role. The grants are for names that begin with :data:`GRANTED`."""
    for name, role, prefixes in (
        ("reader", "reader", [GRANTED]),
        ("curator", "curator", [GRANTED]),
        ("other", "curator", [ELSEWHERE]),
        ("root", "administrator", []),
    ):
        accounts.add(name, role, prefixes)
    limits = {"the names": GRANTED, "other names": ELSEWHERE, "too many names": "ark:12345/"}
    made: dict[str, str | None] = {"anonymous": None}
    for name in NAMES_OF_CALLERS[1:]:
        role, _, limit = name.partition(" with a token for ")
        account = {"administrator": "root", "curator of other names": "other"}.get(role, role)
        made[name] = accounts.tokens.create(account, "test", prefixes=[limits[limit]] if limit else None)[1]
    return made


@pytest.fixture
def curator(management: Acts) -> Caller:
    """A curator of the names that begin with ark:12345/x5."""
    return Caller(account=management.accounts.add("jane", "curator", [GRANTED]), address="192.0.2.1")


def audit_of(management: Acts) -> list[tuple[str, str | None, str]]:
    """Return operation, name and outcome of each row of the audit about names, oldest first."""
    columns = audit.c
    query = select(columns.operation, columns.name, columns.outcome).order_by(columns.id)
    rows = management.accounts.run_in_transaction(lambda connection: connection.execute(query).all())
    return [(row[0], row[1], row[2]) for row in rows if not row[0].startswith("account.")]


def imported(management: Acts, caller: Caller | None, content: bytes) -> Mapping[str, Any]:
    """Import a CSV table as the JSON API does, by a job, and return its result."""
    imports = Imports(management.accounts)
    who = require_account(caller)
    management.accounts.run_in_transaction(lambda connection: imports.add(connection, who, content, format="csv"))
    claim = imports.jobs.claim()
    assert claim is not None
    imports.carry_out(claim, lambda lines: None)
    job = imports.jobs.get(claim.job.number)
    assert job is not None
    return job.result or {}
