"""Bindings in PostgreSQL, or whatever speaks its protocol: one server, or several with standbys in one URL.

The URL is libpq's own, so everything that libpq understands can stand in it. What is shown of it, in messages and in
``str()``, is host, port and name: neither user nor password.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, LiteralString

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from ..errors import BindingError, BindingsUnavailable

if TYPE_CHECKING:
    import psycopg

# libpq, section 34.1.1: what may be a list, an entry for each server, and what chooses among several.
_PER_SERVER = ("host", "hostaddr", "port")
_OF_SEVERAL = ("target_session_attrs", "load_balance_hosts")

CONNECT_SECONDS = 2
READ_MILLISECONDS = 700

# A statement on a kept connection, and then a new connection and the statement again, shall take two seconds at most.
_QUICK_SECONDS = 1.0
_LEAST_SECONDS = 0.3

LOCK_SECONDS = 5
"""How long a writer waits for another one, as with SQLite."""

# Settings of a session are given when it begins. A pooler such as PgBouncer refuses or ignores them, and gives each
# transaction another session: there every statement has a transaction with settings of its own.
_READING = f"-c default_transaction_read_only=on -c statement_timeout={READ_MILLISECONDS}"
_IS_READING = "SELECT current_setting('default_transaction_read_only')"
_REFUSED_BY_POOLER = "unsupported startup parameter"
_BEGIN_READING = f"BEGIN READ ONLY; SET LOCAL statement_timeout = {READ_MILLISECONDS}"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0"
_BEGIN_WRITING = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
_HOLDER = """
SELECT a.pid, a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.relation = 'bindings'::regclass AND l.granted AND l.mode <> 'AccessShareLock'
ORDER BY a.xact_start LIMIT 1
"""
# The server names the user in messages: role "x" does not exist, password authentication failed for user "x".
_NAMED_USER = re.compile(r'\b(role|user) "[^"]*"')


class PostgreSQL:
    """A PostgreSQL database. ``str()`` of it shows where it is."""

    dialect_name = "postgresql"
    # PostgreSQL admits 100 connections by default: so eight processes leave room for writers and others.
    most_readers = 8
    # What ANALYZE, or autovacuum, found in the table or its partitions.
    estimate_names = """
    SELECT sum(greatest(reltuples, 0))::bigint FROM pg_class WHERE relkind = 'r' AND (oid = 'bindings'::regclass
    OR oid IN (SELECT relid FROM pg_partition_tree('bindings'::regclass)))
    """
    # EXCLUSIVE conflicts with SELECT ... FOR UPDATE, with which every writer begins; weaker locks lead to deadlocks.
    # Readers do not wait.
    lock_out_writers = "LOCK TABLE bindings IN EXCLUSIVE MODE"
    triggers = """
    SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A') AND tgrelid IN
    ('bindings'::regclass, 'events'::regclass, 'minted'::regclass, 'rule_events'::regclass)
    """

    def __init__(self, url: str) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise BindingError("driver-missing") from None
        self._psycopg = psycopg
        self.driver_error: type[Exception] = psycopg.Error
        try:
            self._parameters: dict[str, Any] = conninfo_to_dict(url)
        except psycopg.Error:
            # The driver's message, and any exception that is chained to ours, would repeat the URL with its password.
            raise BindingError("database-url", "this PostgreSQL URL cannot be read") from None
        from . import deadlines

        hosts = str(self._parameters.get("host") or self._parameters.get("hostaddr") or "").count(",") + 1
        self._to_write: type[psycopg.Connection[Any]] = deadlines.Writing
        self._to_look_through: type[psycopg.Connection[Any]] = deadlines.Patient
        self._to_read: type[psycopg.Connection[Any]] = (
            deadlines.Reading
            if "connect_timeout" in self._parameters
            else deadlines.reading(max(_QUICK_SECONDS / hosts, _LEAST_SECONDS))
        )
        self._parameters.setdefault("connect_timeout", CONNECT_SECONDS)
        self._parameters.setdefault("application_name", "ararat")
        # Any of several servers can be read, and one of them written: whichever that is at the moment.
        self._write_parameters = dict(self._parameters)
        if hosts > 1:
            self._write_parameters["target_session_attrs"] = "read-write"
        # The statements are for the driver itself, which counts its parameters instead of naming them.
        self.engine: Engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            poolclass=NullPool,
            paramstyle="format",
            hide_parameters=True,
        )
        event.listen(self.engine, "begin", _begin)
        self._is_behind_pooler = False

    def __str__(self) -> str:
        hosts = str(self._parameters.get("host", "")).split(",")
        ports = str(self._parameters.get("port", "")).split(",")
        where = [f"{host}:{port}" if port else host for host, port in zip(hosts, ports * len(hosts), strict=False)]
        return f"postgresql://{','.join(where)}/{self._parameters.get('dbname', '')}"

    def servers(self) -> list[PostgreSQL]:
        """Each server that the URL names, by itself, in its order."""
        from psycopg.conninfo import make_conninfo

        named = {name: str(self._parameters[name]).split(",") for name in _PER_SERVER if self._parameters.get(name)}
        count = max(map(len, named.values()), default=1)
        if count == 1:
            return [self]
        shared = {name: value for name, value in self._parameters.items() if name not in (*_PER_SERVER, *_OF_SEVERAL)}
        each = [
            {name: values[number if len(values) == count else 0] for name, values in named.items()}
            for number in range(count)
        ]
        return [PostgreSQL(make_conninfo("", **shared, **own)) for own in each]

    def mark(self, in_use: bool = False) -> Hashable:
        """Nothing: a connection to a server says itself when it is no longer good."""
        return None

    def connect_to_read(self) -> psycopg.Connection[Any] | _InTransactions:
        """A connection that cannot write, and on which no statement takes longer than a second."""
        if not self._is_behind_pooler:
            options = f"{self._parameters.get('options', '')} {_READING}"
            try:
                connection = self._to_read.connect(**{**self._parameters, "options": options}, autocommit=True)
                connection.prepare_threshold = 0
                if connection.execute(_IS_READING).fetchone() == ("on",):
                    return connection
                connection.close()
            except self.driver_error as error:
                if _REFUSED_BY_POOLER not in str(error):
                    raise self.unavailable(error) from error
            self._is_behind_pooler = True
        return _InTransactions(self._connected(self._to_read, "SELECT 1"))

    def connect_for_snapshot(self) -> psycopg.Connection[Any]:
        """A connection that cannot write, and sees the database as it was at the first look.

        A look through all of it may take its time, and so may the first row of one.
        """
        return self._connected(self._to_look_through, _SNAPSHOT)

    @staticmethod
    def stream(connection: Any, query: str) -> Iterator[Any]:
        """The rows of a query as they are wanted, a thousand at a time."""
        connection.execute(f"DECLARE ararat NO SCROLL CURSOR FOR {query}")
        while found := connection.execute("FETCH 1000 FROM ararat").fetchall():
            yield from found
        connection.execute("CLOSE ararat")

    def create(self) -> None:
        """A database is made by those who run the server; see that it keeps what it is given."""
        try:
            with self._connect() as connection:
                encoding = connection.info.parameter_status("server_encoding")
        except self.driver_error as error:
            raise self.unavailable(error) from error
        if encoding != "UTF8":
            raise BindingError("database-encoding", f"{self} keeps texts in {encoding}")

    def prepare(self) -> None:
        """Nothing: what a server needs is set on the server."""

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """What to raise for a failure of the driver or the server."""
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        first = _NAMED_USER.sub(r'\1 "***"', first)
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            first = f"another writer has held its lock for {LOCK_SECONDS} seconds{self._holder()}; try again later"
        return BindingsUnavailable(f"{self}: {first}")

    def _holder(self) -> str:
        """Which process of the server has held a lock on the bindings for the longest time."""
        try:
            with closing(self.connect_to_read()) as connection:
                found = connection.execute(_HOLDER).fetchone()
        except (BindingsUnavailable, self.driver_error):
            found = None
        return f" (process {found[0]} of the server, {found[1] or 'without a name'})" if found else ""

    def is_read_only(self, error: Exception) -> bool:
        """Whether a write failed because the server is a standby, or the role may only read."""
        raised = self._psycopg.errors
        return isinstance(error, (raised.ReadOnlySqlTransaction, raised.InsufficientPrivilege))

    def is_collision(self, error: Exception) -> bool:
        """Whether a write failed because another one was faster, and can be tried again."""
        raised = self._psycopg.errors
        return isinstance(error, (raised.UniqueViolation, raised.DeadlockDetected, raised.SerializationFailure))

    def is_refused(self, error: Exception) -> bool:
        """Whether a trigger or a CHECK of the tables refused a write."""
        return isinstance(error, self._psycopg.errors.IntegrityError)

    def is_passing(self, error: Exception) -> bool:
        """Whether a statement failed for a reason that leaves its connection good."""
        return isinstance(error, (self._psycopg.errors.QueryCanceled, self._psycopg.errors.LockNotAvailable))

    def names_no_table(self, error: Exception) -> bool:
        """Whether a read failed because there is no such table."""
        return isinstance(error, self._psycopg.errors.UndefinedTable)

    @staticmethod
    def many(keys: list[str]) -> list[str]:
        """Many keys as the one parameter of a statement."""
        return keys

    def _connected(self, kind: type[psycopg.Connection[Any]], first: LiteralString) -> psycopg.Connection[Any]:
        try:
            connection = kind.connect(**self._parameters, autocommit=True, prepare_threshold=None)
        except self.driver_error as error:
            raise self.unavailable(error) from error
        try:
            connection.execute(first)
        except self.driver_error as error:
            connection.close()
            raise self.unavailable(error) from error
        return connection

    def _connect(self) -> psycopg.Connection[Any]:
        # Behind a pooler, the next transaction finds the prepared statements of another one.
        return self._to_write.connect(**self._write_parameters, prepare_threshold=None)


class _InTransactions:
    """A connection through a pooler: each statement is a transaction that cannot write, with a time limit."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, query: Any, params: Sequence[Any] | None = None) -> psycopg.Cursor[Any]:
        """Run a statement and return its cursor, which holds all rows."""
        self._connection.execute(_BEGIN_READING)
        try:
            return self._connection.execute(query, params, prepare=False)
        finally:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _begin(connection: Any) -> None:
    connection.exec_driver_sql(_BEGIN_WRITING)
