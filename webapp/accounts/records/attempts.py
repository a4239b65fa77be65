"""Limits on failed attempts to sign in: for one account, for one client address, and for the two together.

An attempt is counted before the password is checked, so that simultaneous attempts cannot pass the limits. It is
counted in this process at once, and in the database as soon as it can be written (:class:`Unwritten`). While the
database is locked, each worker counts for itself. Names are stored as hashes, because users type passwords there.

An address from which an account has signed in before is known for :data:`KNOWN`. The failures of others, also of those
with the same address, do not lock it for this account.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, bindparam, delete, insert, or_, select, text, update

from ....bindings.names.binding import rfc3339
from ....bindings.names.errors import BindingsUnavailable, ReadOnlyBindings
from ....bindings.storage.tables.account_tables import sign_ins
from ....bindings.system.concurrency import client_key
from ....bindings.system.fork_safety import AtFork, ForkSafeLock
from .database import AccountTables


class AttemptTables(AccountTables, Protocol):
    """The accounts, with the failed attempts that are not in the database yet (``unwritten``)."""

    unwritten: Unwritten


WINDOW = timedelta(minutes=15)
"""The time after which failed attempts are forgotten."""

KNOWN = timedelta(days=30)
"""The time after which it is forgotten that an account has signed in from an address."""

OF_BOTH = 5
OF_ADDRESS = 20
OF_NAME = 50
"""The maximum numbers of failed attempts for a name from one address, from one address, and for a name."""

WAIT_SECONDS = 1.0
"""The time that a sign-in waits until its attempt is in the database."""

RETRY_SECONDS = 1.0
MAX_UNWRITTEN = 10_000
"""The maximum number of pairs of name and address that are counted in memory while the database is locked."""

# A number that other programs are unlikely to lock: "sign-in" in ASCII.
_LOCK = text(f"SELECT pg_advisory_xact_lock({int.from_bytes(b'sign-in')})")

_COUNTED = select(sign_ins).where(
    or_(
        sign_ins.c.name == bindparam("key"),
        sign_ins.c.address == bindparam("client"),
        (sign_ins.c.name == bindparam("known")) & (sign_ins.c.address == bindparam("client")),
    )
)

_OF_NAME = select(sign_ins).where(sign_ins.c.name == bindparam("key"))

_log = logging.getLogger(__name__)

Pair = tuple[str, str]
"""The hash of a name, and a client address."""

Write = Callable[[Connection], object]


class TooManyAttempts(Exception):
    """Raised if there were too many failed attempts to sign in; the next one is allowed after ``seconds``."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class Attempts:
    """The failed attempts to sign in with one name from one client address. Call :meth:`count` before the password is
    checked, and :meth:`record_success` if it is right.
    """

    def __init__(self, accounts: AttemptTables, name: str, address: str | None) -> None:
        self._accounts = accounts
        self._unwritten = accounts.unwritten
        self._client = client_key(address)[:200]
        self._pair = name_hash(name), self._client
        self._known = _known_hash(name), self._client

    def require_allowed(self, *, is_right: bool = False) -> None:
        """Raise :class:`TooManyAttempts` if a limit is reached, without counting an attempt.
        For a right password, failures from other addresses do not count.
        """
        self._decide(lambda rows, pending, now: self._require(rows, pending, now, is_right=is_right))

    def count(self) -> None:
        """Count an attempt as failed until :meth:`record_success`. Raises :class:`TooManyAttempts` at a limit. Then the
        attempt is counted only if failures from other addresses are the reason. A remembered right password is still
        accepted then, and a client must not guess it without a limit.
        """

        def decide(rows: list[tuple[Any, ...]], pending: dict[Pair, int], now: datetime) -> None:
            self._require(rows, pending, now, is_right=True)
            self._unwritten.add(self._pair, now)
            self._require(rows, pending, now)

        self._decide(decide)

    def record_success(self) -> None:
        """Forget the failed attempts for this name from this address, and remember that it has signed in."""
        self._unwritten.forget(self._pair, self._known)

    def write(self, further: Write | None = None) -> None:
        """Write the counted attempts and the change ``further``. It waits at most :data:`WAIT_SECONDS`."""
        self._unwritten.write(further)

    def write_later(self) -> None:
        """Write the counted attempts to the database in a thread, without waiting."""
        self._unwritten.write(is_waiting=False)

    def _decide(self, decide: Callable[[list[tuple[Any, ...]], dict[Pair, int], datetime], None]) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while True:
            generation = self._unwritten.generation
            rows = self._accounts.read(_COUNTED, key=self._pair[0], client=self._client, known=self._known[0])
            with self._unwritten.lock:
                # What another thread has written in the meantime is neither in these rows nor in the memory. What it
                # writes now can be in both: then an attempt would be refused that is not counted.
                if self._unwritten.generation == generation and self._unwritten.is_settled(end):
                    decide(rows, self._unwritten.counts(), self._accounts.bindings.now())
                    return
            self._unwritten.settle(end)

    def _require(
        self, rows: Iterable[tuple[Any, ...]], pending: dict[Pair, int], now: datetime, *, is_right: bool = False
    ) -> None:
        since, counted = rfc3339(now - WINDOW), Counter(pending)
        first = dict.fromkeys(pending, now)
        is_known = False
        for name, address, failures, began in rows:
            if (name, address) == self._known:
                is_known = began > rfc3339(now - KNOWN)
            elif began > since:
                counted[name, address] += failures
                first[name, address] = min(now, datetime.fromisoformat(began))
        limits = [(OF_BOTH, [self._pair])]
        if not is_known:
            limits.append((OF_ADDRESS, [each for each in counted if each[1] == self._client]))
        if not (is_known or is_right):
            limits.append((OF_NAME, [each for each in counted if each[0] == self._pair[0]]))
        for most, pairs in limits:
            if sum(counted[each] for each in pairs) >= most:
                oldest = min((first[each] for each in pairs if counted[each]), default=now)
                raise TooManyAttempts(math.ceil((oldest + WINDOW - now).total_seconds()))


class Unwritten:
    """Attempts that this process has counted and the database does not have yet.
    A thread writes them when it can. It ends when everything is written. A forked process begins without entries.
    """

    def __init__(self, accounts: AttemptTables) -> None:
        self._accounts = accounts
        self.lock = ForkSafeLock()
        self._begin()
        _at_fork.add(self)

    def _begin(self) -> None:
        self.generation = 0
        self._failures: Counter[Pair] = Counter()
        self._since: dict[Pair, datetime] = {}
        self._forgotten: dict[Pair, Pair] = {}
        self._further: list[Write] = []
        self._thread: threading.Thread | None = None
        self._is_late = False
        self._written = threading.Event()
        self._running: threading.Event | None = None

    def is_settled(self, end: float) -> bool:
        """Return whether no attempt is being written, or it takes longer than until ``end``, a time of
        ``time.monotonic()``, or the database is known to be locked. The caller holds the lock.
        """
        return self._running is None or self._is_late or time.monotonic() >= end

    def settle(self, end: float) -> None:
        """Wait until the attempts that are being written are in the database, at most until ``end``."""
        running = self._running
        if running is not None and not running.wait(max(0.0, end - time.monotonic())):
            with self.lock:
                self._is_late = not running.is_set()

    def counts(self) -> dict[Pair, int]:
        """Return the numbers of failed attempts that are only in memory, by name and address. The lock must be held."""
        return dict(self._failures)

    def add(self, pair: Pair, now: datetime) -> None:
        """Count a failed attempt; the caller holds the lock. Raises :class:`TooManyAttempts` if the memory is full."""
        self._forget_old(now)
        if pair not in self._failures and len(self._failures) >= MAX_UNWRITTEN:
            raise TooManyAttempts(int(WINDOW.total_seconds()))
        self._failures[pair] += 1
        self._since.setdefault(pair, now)

    def forget(self, pair: Pair, known: Pair) -> None:
        """Forget the failed attempts of a name and an address, and remember that the user has signed in."""
        with self.lock:
            self._failures.pop(pair, None)
            self._since.pop(pair, None)
            self._forgotten[pair] = known

    def forget_name(self, name: str) -> None:
        """Delete the attempts for a name that are only in memory. ``name`` is the hash of the name."""
        with self.lock:
            for pair in [each for each in self._failures if each[0] == name]:
                del self._failures[pair]
                self._since.pop(pair, None)

    def write(self, further: Write | None = None, *, is_waiting: bool = True) -> None:
        """Write all attempts, and the change ``further``, in one transaction of a thread. Wait for it at most
        :data:`WAIT_SECONDS`; not at all if ``is_waiting`` is false, or if the last transaction still waits for the
        database.
        """
        with self.lock:
            if further is not None and len(self._further) < MAX_UNWRITTEN:
                self._further.append(further)
            if not (self._failures or self._forgotten or self._further):
                return
            written, is_late = self._written, self._is_late
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ararat-sign-ins", daemon=True)
                self._thread.start()
        if is_waiting and not is_late and not written.wait(WAIT_SECONDS):
            with self.lock:
                self._is_late = not written.is_set()

    def _run(self) -> None:
        try:
            self._write_all()
        except Exception:  # noqa: BLE001 - the thread has no caller
            _log.exception("attempts to sign in cannot be written to %s", self._accounts.bindings.location)
            with self.lock:
                self._end()

    def _write_all(self) -> None:
        while not self._accounts.bindings.source.is_closed:
            with self.lock:
                if not (self._failures or self._forgotten or self._further):
                    self._end()
                    return
                # A request that comes from now on waits for the next transaction.
                failures, since, forgotten = Counter(self._failures), dict(self._since), dict(self._forgotten)
                further, self._further = self._further, []
                self._running, self._written = self._written, threading.Event()
            try:
                self._accounts.run_in_transaction(partial(self._in_transaction, failures, since, forgotten, further))
            except (BindingsUnavailable, ReadOnlyBindings):
                # Another writer holds the lock of the database, or the database is down. Requests report that.
                with self.lock:
                    self._is_late = True
                    self._further = (further + self._further)[:MAX_UNWRITTEN]
                    self._forget_old(self._accounts.bindings.now())
                    self._settled()
                time.sleep(RETRY_SECONDS)
                continue
            with self.lock:
                self.generation += 1
                self._is_late = False
                for pair, number in failures.items():
                    # A success or an unlock can have removed the pair meanwhile.
                    self._failures[pair] = max(0, self._failures[pair] - number)
                    if not self._failures[pair]:
                        del self._failures[pair]
                        self._since.pop(pair, None)
                for pair in forgotten:
                    self._forgotten.pop(pair, None)
                self._settled()

        with self.lock:
            self._end()

    def _settled(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.set()

    def _end(self) -> None:
        self._settled()
        self._thread = None
        self._written.set()
        self._written = threading.Event()

    def _forget_old(self, now: datetime) -> None:
        for old in [each for each, since in self._since.items() if since <= now - WINDOW]:
            self._failures.pop(old, None)
            del self._since[old]

    def _in_transaction(
        self,
        failures: Counter[Pair],
        since: dict[Pair, datetime],
        forgotten: dict[Pair, Pair],
        further: list[Write],
        connection: Connection,
    ) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(_LOCK)
        now = self._accounts.bindings.now()
        # A time in the future was written before the clock was set back.
        connection.execute(update(sign_ins).where(sign_ins.c.since > rfc3339(now)).values(since=rfc3339(now)))
        is_old = or_(
            sign_ins.c.since <= rfc3339(now - KNOWN),
            (sign_ins.c.since <= rfc3339(now - WINDOW)) & (sign_ins.c.failures > 0),
        )
        connection.execute(delete(sign_ins).where(is_old))
        for pair, known in forgotten.items():
            connection.execute(delete(sign_ins).where(*_is(pair)))
            _set(connection, known, 0, now)
        for pair, number in failures.items():
            _set(connection, pair, number, since.get(pair, now))
        for write in further:
            write(connection)


_at_fork = AtFork(after_in_child=Unwritten._begin)


def forget_attempts(connection: Connection, name: str) -> None:
    """Delete the failed attempts to sign in with a name from all addresses, in a transaction."""
    connection.execute(delete(sign_ins).where(sign_ins.c.name == name_hash(name)))


def failed_attempts(accounts: AttemptTables, name: str) -> int:
    """Return the number of failed attempts to sign in with a name from all addresses within :data:`WINDOW`."""
    rows = accounts.read(_OF_NAME, key=name_hash(name))
    since = rfc3339(accounts.bindings.now() - WINDOW)
    return sum(failures for _, _, failures, began in rows if began > since)


def name_hash(name: str) -> str:
    """Return the SHA-256 hash, in hexadecimal, under which failed attempts with a name are counted."""
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _known_hash(name: str) -> str:
    """Return the hash of the rows of addresses from which a name has signed in. They have no failures."""
    return sha256(b"known\n" + name.encode("utf-8", "surrogatepass")).hexdigest()


def _is(pair: Pair) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return sign_ins.c.name == pair[0], sign_ins.c.address == pair[1]


def _set(connection: Connection, pair: Pair, failures: int, since: datetime) -> None:
    """Add failures to the row of a pair. A row without failures gets the time."""
    added = {"failures": sign_ins.c.failures + failures} if failures else {"since": rfc3339(since)}
    if not connection.execute(update(sign_ins).where(*_is(pair)).values(**added)).rowcount:
        row = {"name": pair[0], "address": pair[1], "failures": failures, "since": rfc3339(since)}
        connection.execute(insert(sign_ins), row)
