"""Functions that tokens, sessions and identities share, and the methods of the accounts that they call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sqlalchemy import Connection, SelectBase, select, update

from ....bindings.names import validation
from ....bindings.names.binding import rfc3339
from ....bindings.storage.tables import account_tables as tables
from ....identifiers.text.translatable import Translatable
from ..model import Account, AccountError, Caller
from . import rows

if TYPE_CHECKING:
    from ....middleware import Bindings

T = TypeVar("T")

CLOCK_SKEW = timedelta(minutes=5)
"""The accepted difference between the clocks of two servers."""


class AccountTables(Protocol):
    """The methods of :class:`~..store.Accounts`, described there, by which its parts read and change the tables."""

    bindings: Bindings

    def get(self, name: str, connection: Connection | None = None) -> Account | None: ...

    def read(
        self, query: SelectBase, connection: Connection | None = None, **values: str | int
    ) -> list[tuple[Any, ...]]: ...

    def run_in_transaction(self, change: Callable[[Connection], T]) -> T: ...

    def change_account(
        self, name: str, operation: str, by: Caller | None, change: Callable[[Connection, Account], str]
    ) -> Account: ...

    def is_valid(self, created: datetime, expires: datetime | None) -> bool: ...


def find(connection: Connection, name: str) -> Account:
    """Return an account in a transaction. Raises AccountError (``account-unknown``)."""
    found = rows.read_accounts(map(tuple, connection.execute(rows.ACCOUNT_OF_NAME, {"name": name})))
    if not found:
        raise unknown(name)
    return found[0].account


def unknown(name: str) -> AccountError:
    """Return the error for an account that does not exist."""
    return AccountError(
        "account-unknown", Translatable("there is no account %(account)s", account=validation.quote(name))
    )


def of_program(name: str) -> AccountError:
    """Return the error for a sign-in to the account of a program."""
    message = Translatable("%(account)s is the account of a program, to which no person signs in", account=name)
    return AccountError("account-program", message)


def secret_hash(secret: str) -> str:
    """Return the SHA-256 hash, in hexadecimal, of a token or session id for the database. ``secret`` has 256 random
    bits, so a fast hash is safe.
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def read_line(text: str, code: str, what: str, most: int) -> str:
    """Return a text of one line and at most ``most`` characters without white space around it.
    Raises AccountError with ``code`` for another text, which its message calls ``what``.
    """
    line = text.strip()
    if not line or len(line) > most or not line.isprintable():
        raise AccountError(
            code,
            Translatable(
                "%(field)s is empty, has more than %(most)s characters or a control character",
                field=what,
                most=most,
            ),
        )
    return line


def end_sessions(connection: Connection, account: Account, now: datetime) -> None:
    """End all sessions of an account at ``now``, and delete the stored answers to its forms, in a transaction."""
    open_sessions = tables.sessions.c.account == account.number, tables.sessions.c.ended.is_(None)
    connection.execute(update(tables.sessions).where(*open_sessions).values(ended=rfc3339(now), answers=None))


def lock_account(connection: Connection, name: str) -> Account:
    """Return an account after locking its row until the transaction ends, so that changes of it happen one after the
    other. Raises AccountError (``account-unknown``).
    """
    connection.execute(select(tables.accounts.c.id).where(tables.accounts.c.name == name).with_for_update())
    return find(connection, name)
