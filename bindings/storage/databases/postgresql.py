"""Bindings in PostgreSQL or a database with its protocol: one server, or a primary and its standbys in one URL, which
can have all parameters of libpq. Messages and ``str()`` contain host, port and database, and never user or password.
"""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from typing import TYPE_CHECKING, Any, LiteralString

from ...names.errors import BindingError, BindingsLocked, BindingsUnavailable, DatabaseFull, StatementStopped
from ..protocols import READ_SECONDS
from ..statements import TIMELINE, Statements
from ..tables.triggers import PROTECTED
from ..versions import VERSION
from .connections import LIFETIME_SECONDS

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import Engine

    from .deadlines import WriterConnection
    from .prepared import PreparedConnection

# libpq, section 34.1.1: parameters that are lists with an entry for each server, and that choose among servers.
_PER_SERVER = ("host", "hostaddr", "port")
_OF_SEVERAL = ("target_session_attrs", "load_balance_hosts")

CONNECT_SECONDS = 2
_ANSWERS_AFTER = 0.1
"""The time in seconds that a client waits for an answer beyond the limit of its statement."""

# A statement on a kept connection, a new connection and the same statement on it must take at most two seconds.
_QUICK_SECONDS = 1.0
_LEAST_SECONDS = 0.3

# The system ends a connection whose other side has vanished: after 25 s of idleness, or 10 s after it sent something.
_ALIVE = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}

OUTCOME_SECONDS = 10.0
"""The maximum time to find out whether a transaction was committed whose connection broke."""

_OUTCOME = "SELECT pg_xact_status(%s::xid8), {timeline}"

LOCK_SECONDS = 5
"""The maximum time that a writer waits for another writer, as with SQLite."""

# A number that other programs are unlikely to lock: "ararat" in ASCII.
SCHEMA_LOCK = 0x617261726174

# PostgreSQL expects thousands of names with each word. So it would start processes and compile code for a search that
# finds one, which takes longer than the search, and longer than the time limit among 30 million names.
_SETTINGS = {"jit": "off", "max_parallel_workers_per_gather": 0}

# Options set a session up when it begins. A pooler such as PgBouncer refuses or ignores options, and each transaction
# can get another session. Behind a pooler, each statement runs in a transaction that has its own settings.
_IS_READING = (
    "SELECT current_setting('default_transaction_read_only'), pg_postmaster_start_time()::text, "
    "(SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass('bindings'))"
)
_REFUSED_BY_POOLER = "unsupported startup parameter"
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0"
_LOCK_TIMEOUT = f"{LOCK_SECONDS}s"
# Changes find names by an index. A prepared statement keeps the plan that was made for a few names, which would read
# the whole table after thousands were added. PostgreSQL would compile a plan without an index, because it seems slow.
_WRITING = f"-c lock_timeout={_LOCK_TIMEOUT} -c enable_seqscan=off -c jit=off"
# A commit changes the snapshot on a primary server. A standby does not list transactions in its snapshots.
_VERSION = (
    "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text ELSE pg_current_snapshot()::text END"
)
_PREPARED = 5
"""The number of uses after which a connection for changes prepares a statement."""

_HOLDER = """
SELECT a.pid, a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.relation = 'bindings'::regclass AND l.granted AND l.mode <> 'AccessShareLock'
ORDER BY a.xact_start LIMIT 1
"""
# Messages of the server contain the user: role "x" does not exist, password authentication failed for user "x".
_NAMED_USER = re.compile(r'\b(role|user) "[^"]*"')

_PORTS = re.compile(r"[0-9,]*")


class PostgreSQL:
    """The PostgreSQL database at ``url``, which opens no connection before it is needed. ``read_seconds`` is the limit
    of a statement of a reader; None sets no limit. ``str()`` returns its place without user and password.
    """

    dialect_name = "postgresql"
    version = VERSION
    has_traces = True
    has_row_numbers = False
    # PostgreSQL allows 100 connections by default. Eight processes leave some for writers and other programs.
    most_readers = 8
    # The result of the last ANALYZE or autovacuum of the table or its partitions.
    estimate_sql = """
    SELECT sum(greatest(reltuples, 0))::bigint FROM pg_class WHERE relkind = 'r' AND (oid = 'bindings'::regclass
    OR oid IN (SELECT relid FROM pg_partition_tree('bindings'::regclass)))
    """
    # EXCLUSIVE conflicts with SELECT ... FOR UPDATE, the first statement of each writer. Weaker locks cause deadlocks.
    # Readers do not wait.
    exclusive_lock_sql = "LOCK TABLE bindings IN EXCLUSIVE MODE"
    schema_lock_sql = f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"
    is_standby_sql = "pg_is_in_recovery()"
    server_state_sql = """
    SELECT pg_is_in_recovery(), has_table_privilege('bindings', 'INSERT') AND has_table_privilege('bindings', 'UPDATE')
    AND has_table_privilege('events', 'INSERT')
    """
    trigger_names_sql = f"""
    SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A') AND tgrelid IN
    ({", ".join(f"'{table}'::regclass" for table in PROTECTED)})
    """  # noqa: S608  names of the schema

    def __init__(self, url: str, read_seconds: float | None = READ_SECONDS) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise BindingError("driver-missing") from None
        self._psycopg = psycopg
        self.driver_error: type[Exception] = psycopg.Error
        try:
            self._parameters: dict[str, Any] = conninfo_to_dict(url)
        except (psycopg.Error, UnicodeError):
            # The message of the driver, also in a chained exception, would contain the password.
            raise BindingError(
                "database-url", "the PostgreSQL URL cannot be parsed by libpq; check its syntax"
            ) from None
        if _has_misread_password(self._parameters):
            # The host, port or name contains a part of the password, and messages name them.
            raise BindingError(
                "database-url",
                "the PostgreSQL URL has no valid host and port; in a user or password, write %40 for @ and %2F for /",
            )
        from . import deadlines

        hosts = str(self._parameters.get("host") or self._parameters.get("hostaddr") or "").count(",") + 1
        self._writer_class: type[WriterConnection] = deadlines.WriterConnection
        self._snapshot_class: type[psycopg.Connection[Any]] = deadlines.DeadlineConnection
        self._has_several = hosts > 1
        self._reader_seconds: float | None = max(_QUICK_SECONDS / hosts, _LEAST_SECONDS)
        self._read_seconds = read_seconds
        if "connect_timeout" in self._parameters:
            self._reader_seconds = None  # the driver has the limit of the URL
        self._reader_class = self._readers()
        self._parameters.setdefault("connect_timeout", CONNECT_SECONDS)
        self._parameters.setdefault("application_name", "ararat")
        for name, value in _ALIVE.items():
            self._parameters.setdefault(name, value)
        # Every server can be read. Only the current primary can be written.
        if hosts > 1:
            self._writer_class = deadlines.PrimaryConnection
        self._engine: Engine | None = None
        self._is_behind_pooler: bool | None = None  # not known yet
        self._server: str | None = None  # the start time of the server of the newest reading connection
        self._mixed_until = float("-inf")

    def __str__(self) -> str:
        hosts = str(self._parameters.get("host", "")).split(",")
        ports = str(self._parameters.get("port", "")).split(",")
        where = [f"{host}:{port}" if port else host for host, port in zip(hosts, ports * len(hosts), strict=False)]
        return f"postgresql://{','.join(where)}/{self._parameters.get('dbname', '')}"

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of the connections that write. The first use loads SQLAlchemy."""
        if self._engine is None:
            from .engines import postgresql_engine

            self._engine = postgresql_engine(self._connect)
        return self._engine

    def servers(self) -> list[PostgreSQL]:
        """Return a database for each server that the URL names, in the same order, so that each can be checked."""
        from psycopg.conninfo import make_conninfo

        lists = {name: str(self._parameters[name]).split(",") for name in _PER_SERVER if self._parameters.get(name)}
        count = max(map(len, lists.values()), default=1)
        if count == 1:
            return [self]
        shared = {name: value for name, value in self._parameters.items() if name not in (*_PER_SERVER, *_OF_SEVERAL)}
        servers = [
            {name: values[number if len(values) == count else 0] for name, values in lists.items()}
            for number in range(count)
        ]
        return [PostgreSQL(make_conninfo("", **shared, **own), self._read_seconds) for own in servers]

    def primary(self) -> PostgreSQL | None:
        """Return a database that reads only from the primary server. Return None if the URL names one server."""
        if not self._has_several:
            return None
        from psycopg.conninfo import make_conninfo

        from . import deadlines

        database = PostgreSQL(make_conninfo("", **self._parameters), self._read_seconds)
        database.version = self.version
        database._reader_class = self._readers(of_primary=True)
        database._snapshot_class = deadlines.PrimaryConnection
        return database

    def fingerprint(self, in_use: bool = False) -> Hashable:
        """Return None: only a file has a fingerprint. A broken connection to a server raises an error itself."""
        return None

    def is_same_file(self, before: Hashable, now: Hashable) -> bool:
        """Return False, because a server is not a file."""
        return False

    def connect_to_read(self) -> PreparedConnection | _PooledConnection:
        """Open a connection that cannot write. Its statements have the limit of a reader, ``read_seconds``."""
        from .prepared import PreparedConnection

        if not self._is_behind_pooler:
            settings = ("default_transaction_read_only=on", *self._read_settings())
            options = " ".join([str(self._parameters.get("options", "")), *(f"-c {each}" for each in settings)])
            try:
                connection = self._reader_class.connect(**{**self._parameters, "options": options}, autocommit=True)
                # A statement that is prepared behind a pooler would stay in a session of other clients.
                state = connection.execute(_IS_READING, prepare=False).fetchone()
                is_reading, server, is_partitioned = state or ("", "", None)
                if is_reading == "on":
                    connection.prepare_threshold = 0
                    self._is_behind_pooler = False
                    self._note_server(server)
                    statements = Statements(self.dialect_name)
                    by_key = (*statements.lookups, statements.many)
                    return PreparedConnection(connection, by_key, statements.lookups if is_partitioned else ())
                connection.close()
            except self.driver_error as error:
                if _REFUSED_BY_POOLER not in str(error):
                    raise self.unavailable(error) from error
            self._is_behind_pooler = True
        begin = "; ".join(["BEGIN READ ONLY", *(f"SET LOCAL {each}" for each in self._read_settings())])
        return _PooledConnection(self._connected(self._reader_class, "SELECT 1"), begin)

    def _readers(self, *, of_primary: bool = False) -> type[psycopg.Connection[Any]]:
        from . import deadlines

        seconds, usual = self._read_seconds, self._read_seconds == READ_SECONDS
        answers = None if seconds is None or usual else seconds + _ANSWERS_AFTER
        return deadlines.reader_class(
            self._reader_seconds, most_seconds=answers, is_limited=seconds is not None, of_primary=of_primary
        )

    def _read_settings(self) -> list[str]:
        most = 0 if self._read_seconds is None else round(1000 * self._read_seconds)
        return [f"statement_timeout={most}", *(f"{name}={value}" for name, value in _SETTINGS.items())]

    @property
    def version_sql(self) -> str | None:
        """A query whose rows differ after each commit on the server. None through a pooler, or for several servers."""
        is_one = self._is_behind_pooler is False and time.monotonic() >= self._mixed_until
        return _VERSION if is_one else None

    def _note_server(self, server: str) -> None:
        if self._server not in (None, server):
            # A failover, a restart or a proxy. Other connections can lead to a server with an older state.
            self._mixed_until = time.monotonic() + LIFETIME_SECONDS
        self._server = server

    def connect_for_snapshot(self) -> psycopg.Connection[Any]:
        """Open a connection that cannot write, and that sees the database as at its first query, without a time
        limit.
        """
        connection = self._connected(self._snapshot_class, _SNAPSHOT)
        try:
            # A pooler reports another number than that of the process of the server.
            connection.backend = connection.execute("SELECT pg_backend_pid()").fetchone()[0]  # type: ignore[attr-defined, index]
        except self.driver_error as error:
            connection.close()
            raise self.unavailable(error) from error
        return connection

    def for_programs(self) -> tuple[str, dict[str, str]]:
        """Return the connection string and the environment, with the password, for a program such as pg_dump: each user
        of the machine can read arguments. Of several servers it is the primary. Raises :class:`BindingsUnavailable` if
        the URL has another secret.
        """
        from psycopg.conninfo import make_conninfo

        secret = {each.keyword.decode() for each in self._psycopg.pq.Conninfo.get_defaults() if each.dispchar == b"*"}
        if others := sorted((secret - {"password"}) & self._parameters.keys()):
            raise BindingsUnavailable(f"{self}: a program cannot get {others[0]} in secret; remove it from the URL")
        parameters = {name: value for name, value in self._parameters.items() if name not in secret}
        if self._has_several:
            parameters["target_session_attrs"] = "read-write"
        password = self._parameters.get("password")
        return make_conninfo("", **parameters), {} if password is None else {"PGPASSWORD": str(password)}

    def shorten_log(self, failure: Exception | None = None) -> None:
        """Do nothing: PostgreSQL removes its write-ahead log itself."""

    def erase_deleted(self) -> None:
        """Do nothing: the server keeps deleted rows until ``VACUUM``."""

    def outcome(self, transaction: str) -> bool | None:
        """Return whether a transaction was committed, or None if this cannot be known. ``transaction`` is its number
        and the timeline of its server: another timeline can have given the number again.
        """
        number, _, timeline = transaction.partition(" ")
        query = _OUTCOME.format(timeline=TIMELINE)
        until = time.monotonic() + OUTCOME_SECONDS
        while True:
            row: tuple[Any, ...] | None = None
            with suppress(self.driver_error), closing(self._connect()) as connection:
                connection.is_large = False
                row = connection.execute(query, (number,)).fetchone()
            if row is not None:
                state, current = row
                if current != timeline or state is None:
                    return None
                if state != "in progress":
                    return state == "committed"
            if time.monotonic() > until:
                return None
            time.sleep(0.1)

    @staticmethod
    def stream(connection: Any, query: str) -> Iterator[Any]:
        """Run a query and yield its rows, of which a thousand at a time are in memory."""
        connection.execute(f"DECLARE ararat NO SCROLL CURSOR FOR {query}")
        while rows := connection.execute("FETCH 1000 FROM ararat").fetchall():
            yield from rows
        connection.execute("CLOSE ararat")

    def exists(self) -> bool:
        """Return True. Only a connection would show whether the database exists."""
        return True

    def create(self) -> None:
        """Check that the database exists in UTF-8. Raises :class:`BindingError` (``database-encoding``) or
        :class:`BindingsUnavailable`.
        """
        try:
            with self._connect() as connection:
                encoding = connection.info.parameter_status("server_encoding")
        except self.driver_error as error:
            raise self.unavailable(error) from error
        if encoding != "UTF8":
            raise BindingError(
                "database-encoding", f"{self} has the encoding {encoding}; create a database with the encoding UTF8"
            )

    def prepare(self) -> None:
        """Do nothing: the administrator prepares a PostgreSQL server for changes."""

    def require_writable(self, *, creating: bool = False) -> None:
        """Do nothing: the server checks the permissions of each statement."""

    def unavailable(self, error: Exception) -> BindingsUnavailable:
        """Convert an exception of the driver or the server. The message contains no password and no user."""
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        first = _NAMED_USER.sub(r'\1 "***"', first)
        if isinstance(error, self._psycopg.errors.LockNotAvailable):
            locked = f"another writer has locked the bindings for {LOCK_SECONDS} s{self._holder()}; try again later"
            return BindingsLocked(f"{self}: {locked}")
        if isinstance(error, self._psycopg.errors.QueryCanceled):
            # The limit is ours, or one that the administrator has set for the user or the database.
            own = "" if self._read_seconds is None else "read_seconds, or "
            return StatementStopped(f"{self}: {first}; the limit is {own}the statement_timeout of the user")
        if isinstance(error, self._psycopg.errors.DiskFull):
            return DatabaseFull(f"{self}: {first}; free space on the disk of the server")
        if isinstance(error, self._psycopg.errors.InsufficientPrivilege):
            first = f"{first}; grant the user SELECT on this table"
        return BindingsUnavailable(f"{self}: {first}")

    def _holder(self) -> str:
        """Return the server process that has the oldest lock on the bindings, as a text in parentheses."""
        try:
            with closing(self.connect_to_read()) as connection:
                row = connection.execute(_HOLDER).fetchone()
        except (BindingsUnavailable, self.driver_error):
            row = None
        return f" (server process {row[0]}, application {row[1] or 'unknown'})" if row else ""

    def is_read_only(self, error: Exception) -> bool:
        """Return whether a change failed because the server is a standby or the user has no permission to write."""
        errors = self._psycopg.errors
        return isinstance(error, (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege))

    def is_conflict(self, error: Exception) -> bool:
        errors = self._psycopg.errors
        return isinstance(error, (errors.UniqueViolation, errors.DeadlockDetected, errors.SerializationFailure))

    def is_constraint_violation(self, error: Exception) -> bool:
        return isinstance(error, self._psycopg.errors.IntegrityError)

    def is_transient(self, error: Exception) -> bool:
        """Return whether the connection can be used again after an error, such as a time limit."""
        return isinstance(error, (self._psycopg.errors.QueryCanceled, self._psycopg.errors.LockNotAvailable))

    def is_missing_table(self, error: Exception) -> bool:
        return isinstance(error, self._psycopg.errors.UndefinedTable)

    def close_writers(self) -> None:
        """Close the idle connections to PostgreSQL for changes. One in use returns to the same pool, unlike after
        ``Engine.dispose``, so that a later call closes it.
        """
        if self._engine is not None:
            self._engine.pool.dispose()

    def turn_to_write(self) -> AbstractContextManager[object]:
        """Return an empty context manager: several connections to PostgreSQL can write at the same time."""
        return nullcontext()

    @staticmethod
    def array_parameter(keys: list[str]) -> list[str]:
        """Return the list, which the driver passes as an array."""
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

    def _connect(self) -> WriterConnection:
        # The driver would begin transactions itself, with another round trip.
        parameters = {**self._parameters, "autocommit": True, "prepare_threshold": None}
        if self._is_behind_pooler is False:
            # Behind a pooler, a transaction would find the prepared statements of another client.
            parameters["prepare_threshold"] = _PREPARED
            parameters["options"] = f"{self._parameters.get('options', '')} {_WRITING}"
        connection = self._writer_class.connect(**parameters)
        if self._is_behind_pooler is False:
            connection.backend = connection.info.backend_pid
        else:
            connection.begin_sql = f"BEGIN; SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'"
        return connection


def _has_misread_password(parameters: dict[str, Any]) -> bool:
    """Return whether libpq read a part of a password as host, port or name, because of a raw @ or /."""
    hosts = str(parameters.get("host", "")).split(",")
    # The host of an abstract Unix socket begins with @.
    if any("@" in host[1:] for host in hosts) or _PORTS.fullmatch(str(parameters.get("port", ""))) is None:
        return True
    return "user" not in parameters and "@" in str(parameters.get("dbname", ""))


class _PooledConnection:
    """A connection through a pooler: each statement runs in its own read-only transaction with a time limit."""

    def __init__(self, connection: Any, begin: str) -> None:
        self._connection, self._begin = connection, begin

    def execute(self, query: Any, params: Sequence[Any] | None = None) -> psycopg.Cursor[Any]:
        """Run a statement and return its cursor, which has loaded all rows."""
        self._connection.execute(self._begin)
        try:
            return self._connection.execute(query, params, prepare=False)
        finally:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
