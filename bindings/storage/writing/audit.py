"""Write the audit: the requests that change something, with time, account, token, operation, name, outcome and address,
and never a secret. A row of the command has the name of the actor instead of an account.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ....identifiers.text import display
from ...names.actor import Actor
from ...names.binding import rfc3339
from ..tables.account_tables import audit
from .inserts import Insert, RowBlock

if TYPE_CHECKING:
    from sqlalchemy import Connection, Dialect

    from .transaction import Transaction

_MAX_NAME = 4000


def record_changes(transaction: Transaction, actor: Actor, when: datetime) -> None:
    """Write a row to the audit for each change of a transaction. Its actor must have an operation. An operation on many
    names has one row; that of minted names has a row for each of its few names.
    """
    rows: list[tuple[str | None, str]] = [(change.after.identifier, change.outcome) for change in transaction.written]
    if transaction.begun and not rows:
        rows.append((None, f"operation {transaction.begun[-1]}"))
    # An outcome with its reason, such as "redacted: REASON", replaces that of the change.
    rows = [(name, outcome) for name, outcome in rows if not transaction.noted.get(name, "").startswith(f"{outcome}: ")]
    rows += transaction.noted.items()
    record(transaction.connection, actor, rows, when)


def record(connection: Connection, actor: Actor, outcomes: Iterable[tuple[str | None, str]], when: datetime) -> None:
    """Write a row to the audit for each pair of a key, or None, and an outcome. An outcome is that of a change, such as
    "bound", or the code of an error. Nothing is written for an actor without an ``operation``.
    """
    if actor.operation is None:
        return
    time = rfc3339(when)
    by = actor.name if actor.account is None else None
    # The name can be any text of a refused request. PostgreSQL stores no NUL and no surrogate.
    rows = [
        (
            *(name and display.escape(name[:_MAX_NAME]), outcome, time),
            *(actor.account, actor.token, actor.operation, actor.address, by),
        )
        for name, outcome in outcomes
    ]
    # PostgreSQL answers each statement, so a statement for each row would take longer.
    driver: Any = connection.connection.dbapi_connection
    for statement, parameters in _insert(connection.dialect).of(RowBlock(len(rows), rows)):
        driver.execute(statement, parameters)


@lru_cache(maxsize=8)
def _insert(dialect: Dialect) -> Insert:
    columns = ("name", "outcome", "time", "account", "token", "operation", "address", "actor")
    return Insert(dialect, [audit.c[column] for column in columns])
