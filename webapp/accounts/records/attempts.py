"""Limits on failed attempts to sign in: for one account, for one client address, and for the two together.

Attempts are counted in the database, so that all workers share the limits. An attempt is counted before the password is
checked, so that attempts at the same moment cannot pass the limits. Names that no account has are counted as well. The
name is stored as a hash, because users sometimes type a password into the field of the name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, insert, or_, select, text, update

from ....bindings.names.binding import rfc3339
from ....bindings.storage.tables.account_tables import sign_ins
from ....bindings.system.concurrency import client_key

if TYPE_CHECKING:
    from ..store import Accounts

WINDOW = timedelta(minutes=15)
"""The time after which failed attempts are forgotten."""

OF_BOTH = 5
OF_ADDRESS = 20
OF_NAME = 50
"""The maximum numbers of failed attempts for a name from one address, from one address, and for a name."""

# A number that other programs are unlikely to lock: "sign-in" in ASCII.
_LOCK = text(f"SELECT pg_advisory_xact_lock({int.from_bytes(b'sign-in')})")

_COUNTED = select(sign_ins).where(or_(sign_ins.c.name == bindparam("key"), sign_ins.c.address == bindparam("client")))


class TooManyAttempts(Exception):
    """A limit is reached. ``seconds`` is the time until it is not."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class Attempts:
    """The failed attempts for one name from one client address."""

    def __init__(self, accounts: Accounts, name: str, address: str | None) -> None:
        self._accounts = accounts
        self._key = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        self._client = client_key(address)[:200]

    def require_allowed(self) -> None:
        """Raise :class:`TooManyAttempts` if a limit is reached, without counting an attempt."""
        counted = self._accounts.read(_COUNTED, key=self._key, client=self._client)
        self._require(counted, self._accounts.bindings.now())

    def count(self) -> None:
        """Count an attempt as failed until :meth:`forget`. Raises :class:`TooManyAttempts` and counts nothing."""

        def write(connection: Connection) -> None:
            if connection.dialect.name == "postgresql":
                connection.execute(_LOCK)
            now = self._accounts.bindings.now()
            # A time in the future was written before the clock was set back.
            connection.execute(update(sign_ins).where(sign_ins.c.since > rfc3339(now)).values(since=rfc3339(now)))
            connection.execute(delete(sign_ins).where(sign_ins.c.since <= rfc3339(now - WINDOW)))
            counted = [*map(tuple, connection.execute(_COUNTED, {"key": self._key, "client": self._client}))]
            self._require(counted, now)
            if any(row[:2] == (self._key, self._client) for row in counted):
                connection.execute(update(sign_ins).where(*self._own()).values(failures=sign_ins.c.failures + 1))
            else:
                row = {"name": self._key, "address": self._client, "failures": 1, "since": rfc3339(now)}
                connection.execute(insert(sign_ins), row)

        self._accounts.write(write)

    def take_back(self) -> None:
        """Count one attempt less, because the password was not checked."""
        less = update(sign_ins).where(*self._own(), sign_ins.c.failures > 0).values(failures=sign_ins.c.failures - 1)
        self._accounts.write(lambda connection: connection.execute(less))

    def forget(self) -> None:
        """Forget the failed attempts for this name from this address, because the password was right."""
        self._accounts.write(lambda connection: connection.execute(delete(sign_ins).where(*self._own())))

    def _own(self) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return sign_ins.c.name == self._key, sign_ins.c.address == self._client

    def _require(self, counted: Iterable[tuple[Any, ...]], now: datetime) -> None:
        recent = [row for row in counted if row[3] > rfc3339(now - WINDOW)]
        of_both = [row for row in recent if row[:2] == (self._key, self._client)]
        of_address = [row for row in recent if row[1] == self._client]
        of_name = [row for row in recent if row[0] == self._key]
        for most, found in ((OF_BOTH, of_both), (OF_ADDRESS, of_address), (OF_NAME, of_name)):
            if sum(row[2] for row in found) >= most:
                first = min(now, *(datetime.fromisoformat(row[3]) for row in found))
                raise TooManyAttempts(math.ceil((first + WINDOW - now).total_seconds()))
