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
from ararat.webapp.management import Management
from ararat.webapp.management.permissions import require_account

GRANTED, ELSEWHERE = "ark:12345/x5", "ark:12345/y7"


@pytest.fixture
def management(database: str, open_store: Callable[..., Bindings]) -> Management:
    """The management of an empty database, once for each kind."""
    bindings = open_store(database)
    return Management(bindings, Accounts(bindings))


def token_for(management: Management, caller: Caller, *prefixes: str) -> Caller:
    """Return a caller with a token for some prefixes."""
    token, _ = management.accounts.tokens.create(caller.actor, "repository", prefixes=prefixes)
    return Caller(account=caller.account, token=token, address="192.0.2.7")


def callers(management: Management) -> Mapping[str, Caller | None]:
    """Return a caller of each role. The grants are for names that begin with :data:`GRANTED`."""
    reader = Caller(account=management.accounts.add("reader", "reader", [GRANTED]))
    curator = Caller(account=management.accounts.add("curator", "curator", [GRANTED]))
    other = Caller(account=management.accounts.add("other", "curator", [ELSEWHERE]))
    administrator = Caller(account=management.accounts.add("root", "administrator"))
    return {
        "anonymous": None,
        "reader": reader,
        "curator": curator,
        "curator of other names": other,
        "curator with a token for the names": token_for(management, curator, GRANTED),
        "curator with a token for other names": token_for(management, curator, ELSEWHERE),
        "curator with a token for too many names": token_for(management, curator, "ark:12345/"),
        "administrator": administrator,
        "administrator with a token for the names": token_for(management, administrator, GRANTED),
        "administrator with a token for other names": token_for(management, administrator, ELSEWHERE),
    }


@pytest.fixture
def curator(management: Management) -> Caller:
    """A curator of the names that begin with ark:12345/x5."""
    return Caller(account=management.accounts.add("jane", "curator", [GRANTED]), address="192.0.2.1")


def audit_of(management: Management) -> list[tuple[str, str | None, str]]:
    """Return operation, name and outcome of each row of the audit about names, oldest first."""
    columns = audit.c
    query = select(columns.operation, columns.name, columns.outcome).order_by(columns.id)
    rows = management.accounts.write(lambda connection: connection.execute(query).all())
    return [(row[0], row[1], row[2]) for row in rows if not row[0].startswith("account.")]


def imported(management: Management, caller: Caller | None, content: bytes) -> Mapping[str, Any]:
    """Import a CSV table as the JSON API does, by a job, and return its result."""
    imports = Imports(management)
    who = require_account(caller)
    management.accounts.write(lambda connection: imports.add(connection, who, content, format="csv"))
    claim = imports.jobs.claim()
    assert claim is not None
    imports.carry_out(claim, lambda lines: None)
    job = imports.jobs.get(claim.job.number)
    assert job is not None
    return job.result or {}
