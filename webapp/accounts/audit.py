"""The audit of accounts: their changes, and each failed attempt to sign in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...bindings.names.actor import Actor
from ...bindings.storage.writing import audit

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from .model import Caller


def record(
    connection: Connection,
    caller: Caller | None,
    operation: str,
    name: str | None,
    outcome: str,
    *,
    when: datetime | None = None,
    address: str | None = None,
) -> None:
    """Write one row of the audit in the transaction of ``connection``. ``name`` is the account, name or prefix that
    the operation is about. ``outcome`` is the outcome or the code of the error. Without a caller, the client is
    unknown or the command line. ``when`` is in UTC; None is now.
    """
    actor = caller.as_actor(operation) if caller else Actor(operation=operation, address=address)
    audit.record(connection, actor, [(name, outcome)], when or datetime.now(UTC))
