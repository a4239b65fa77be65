"""The audit: one row for each request of an account that changes something, and for each failed attempt to sign in.

A row has the time, account, token, operation, name, outcome and address of the client. It never has a secret. The
command line has no account.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from ...bindings.names.binding import rfc3339
from ...bindings.storage.tables.account_tables import audit
from ...bindings.storage.writing.inserts import Insert
from ...identifiers.text import display

if TYPE_CHECKING:
    from sqlalchemy import Connection, Dialect

    from .model import Caller

_MAX_NAME = 4000


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
    record_all(connection, caller, operation, [(name, outcome)], when=when, address=address)


def record_all(
    connection: Connection,
    caller: Caller | None,
    operation: str,
    outcomes: Iterable[tuple[str | None, str]],
    *,
    when: datetime | None = None,
    address: str | None = None,
) -> None:
    """Write one row for each name and its outcome, as :func:`record` does."""
    time = rfc3339(when or datetime.now(UTC))
    account = caller and caller.account.number
    token = caller and caller.token and caller.token.number
    address = caller.address if caller else address
    # The name can be any text of a refused request. PostgreSQL stores no NUL and no surrogate.
    rows = [
        (name and display.escape(name[:_MAX_NAME]), outcome, time, account, token, operation, address)
        for name, outcome in outcomes
    ]
    # PostgreSQL answers each statement, so a statement for each row would take longer.
    for statement, parameters in _insert(connection.dialect).of(rows):
        connection.exec_driver_sql(statement, parameters)


@lru_cache(maxsize=8)
def _insert(dialect: Dialect) -> Insert:
    columns = ("name", "outcome", "time", "account", "token", "operation", "address")
    return Insert(dialect, [audit.c[column] for column in columns])
