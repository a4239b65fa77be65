"""Reads and changes of the tables of accounts.

Each check of a token or session reads the database, so that a revocation takes effect immediately in all workers.
Nothing that can be revoked is kept in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sqlalchemy import Connection, Executable, SelectBase, select, update

from ....bindings import changes
from ....bindings.names import validation
from ....bindings.names.binding import rfc3339
from ....bindings.names.errors import ReadOnlyBindings
from ....bindings.storage.store import DatabaseStore
from ....bindings.storage.tables import account_tables as tables
from .. import audit
from ..model import Account, AccountError, Caller, read_name
from . import rows
from .attempts import Unwritten

if TYPE_CHECKING:
    from ....middleware import Bindings

FRESH_SECONDS = 1.0
"""The time for which :meth:`AccountDatabase.exist` keeps its result."""

CLOCK_SKEW = timedelta(minutes=5)
"""The accepted difference between the clocks of two servers."""


T = TypeVar("T")


class AccountDatabase:
    """The tables of accounts in the database of ``bindings``. A file of text has no accounts."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        self._existence: tuple[bool, float] = (False, float("-inf"))
        self.unwritten = Unwritten(self)

    def exist(self) -> bool:
        """Return whether an account exists, also a disabled one. The result is at most a second old."""
        known, until = self._existence
        if time.monotonic() < until:
            return known
        return self._set_existence(bool(self.read(rows.ANY_ACCOUNT)))

    def get(self, name: str, connection: Connection | None = None) -> Account | None:
        """Return an account, also a disabled one, or None. ``connection`` is as for :meth:`read`."""
        found = rows.found(self.read(rows.ACCOUNT_OF_NAME, connection, name=read_name(name)))
        return found[0].account if found else None

    def write(self, change: Callable[[Connection], T]) -> T:
        """Return the result of ``change`` in a transaction, which is repeated if another writer was faster.

        Raises :class:`ReadOnlyBindings` for a file or a standby, and :class:`BindingsUnavailable`.
        """

        def attempt() -> T:
            with self._store().transaction() as transaction:
                return change(transaction.connection)

        return changes.repeat_after_collision(attempt, self.bindings.where, "account")

    def _set_existence(self, known: bool) -> bool:
        self._existence = known, time.monotonic() + FRESH_SECONDS
        return known

    def read(
        self, query: SelectBase, connection: Connection | None = None, **values: str | int
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query at this moment (:meth:`DatabaseStore.current_rows`); a file of text has none.

        ``connection`` is that of a transaction, which then reads them.
        """
        if connection is not None:
            return [tuple(row) for row in connection.execute(cast("Executable", query), values)]
        return [] if self.bindings.kind != "database" else self._store().current_rows(query, **values)

    def _store(self) -> DatabaseStore:
        store = self.bindings.store
        if not isinstance(store, DatabaseStore):
            raise ReadOnlyBindings(f"{self.bindings.where} is a file of text, which has no accounts; use a database")
        return store

    def change_account(
        self, name: str, operation: str, by: Caller | None, change: Callable[[Connection, Account], str]
    ) -> Account:
        """Change an account, and write the outcome that ``change`` returns to the audit. Return the account after it.

        Raises AccountError with the code ``account-unknown``.
        """
        name = read_name(name)

        def write(connection: Connection) -> Account:
            outcome = change(connection, locked(connection, name))
            audit.record(connection, by, operation, name, outcome, when=self.bindings.now())
            return find(connection, name)

        return self.write(write)

    def is_valid(self, created: datetime, expires: datetime | None) -> bool:
        """Return whether a token or session with these times is valid now.

        It is not valid before its creation: then the clock was set back, and its expiry cannot be checked.
        """
        now = self.bindings.now()
        return created - CLOCK_SKEW <= now and (expires is None or now < expires)


def find(connection: Connection, name: str) -> Account:
    """Return the account with this name in a transaction. Raises AccountError with the code ``account-unknown``."""
    found = rows.found(map(tuple, connection.execute(rows.ACCOUNT_OF_NAME, {"name": name})))
    if not found:
        raise unknown(name)
    return found[0].account


def unknown(name: str) -> AccountError:
    """Return the error for a name that no account has."""
    return AccountError("account-unknown", f"there is no account {validation.shown(name)}")


def secret_hash(secret: str) -> str:
    """Return the hash of a token or session id. These have 256 random bits, so a fast hash is safe."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def read_line(text: str, code: str, what: str, most: int) -> str:
    """Return a text of one line without white space around it. Raises AccountError with ``code``."""
    line = text.strip()
    if not line or len(line) > most or not line.isprintable():
        raise AccountError(code, f"the {what} is empty, has more than {most:,} characters or a control character")
    return line


def end_sessions(connection: Connection, account: Account, now: datetime) -> None:
    """End all sessions of an account."""
    open_sessions = tables.sessions.c.account == account.number, tables.sessions.c.ended.is_(None)
    connection.execute(update(tables.sessions).where(*open_sessions).values(ended=rfc3339(now)))


def locked(connection: Connection, name: str) -> Account:
    """Return an account after locking its row, so that changes of one account happen one after the other."""
    connection.execute(select(tables.accounts.c.id).where(tables.accounts.c.name == name).with_for_update())
    return find(connection, name)
