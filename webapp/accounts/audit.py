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
    """Write one row in the transaction of ``connection``.

    - ``caller``: the caller, or None for the command line and for an unknown client.
    - ``operation``: the operation, such as "bind", "account.add" or "sign-in".
    - ``name``: the name that it changes, or None.
    - ``outcome``: the outcome of the change, such as "bound", or the code of the error.
    - ``when``: the time in UTC; None is now.
    - ``address``: the address of an unknown client.
    """
    actor = caller.as_actor(operation) if caller else Actor(operation=operation, address=address)
    audit.record(connection, actor, [(name, outcome)], when or datetime.now(UTC))
