"""Bindings in PostgreSQL, or whatever speaks its protocol: one server, or several with standbys in one URL.

The URL is libpq's own, so everything that libpq understands can stand in it. What is shown of it, in messages and in
``str()``, is host, port and name: neither user nor password.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, LiteralString

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool

from .errors import BindingError, BindingsUnavailable

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

_READ_ONLY = """
SELECT set_config('default_transaction_read_only', 'on', false), set_config('statement_timeout', %s, false)
"""
_SNAPSHOT = """
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0
"""


class PostgreSQL:
    """A PostgreSQL database. ``str()`` of it shows where it is."""

    dialect_name = "postgresql"
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
        from . import patience

        hosts = str(self._parameters.get("host") or self._parameters.get("hostaddr") or "").count(",") + 1
        self._to_write: type[psycopg.Connection[Any]] = patience.Writing
        self._to_look_through: type[psycopg.Connection[Any]] = patience.Patient
        self._to_read: type[psycopg.Connection[Any]] = (
            patience.Reading
            if "connect_timeout" in self._parameters
            else patience.reading(max(_QUICK_SECONDS / hosts, _LEAST_SECONDS))
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

    def mark(self) -> Hashable:
        """Nothing: a connection to a server says itself when it is no longer good."""
        return None

    def connect_to_read(self) -> psycopg.Connection[Any]:
        """A connection that cannot write, and on which no statement takes longer than a second."""
        connection = self._connected(self._to_read, _READ_ONLY, (str(READ_MILLISECONDS),))
        connection.prepare_threshold = 0
        return connection

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
        return BindingsUnavailable(f"{self}: {first}")

    def is_read_only(self, error: Exception) -> bool:
        """Whether a write failed because the server is a standby."""
        return isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction)

    def is_collision(self, error: Exception) -> bool:
        """Whether a write failed because another one was faster, and can be tried again."""
        raised = self._psycopg.errors
        return isinstance(error, (raised.IntegrityError, raised.DeadlockDetected, raised.SerializationFailure))

    def names_no_table(self, error: Exception) -> bool:
        """Whether a read failed because there is no such table."""
        return isinstance(error, self._psycopg.errors.UndefinedTable)

    @staticmethod
    def many(keys: list[str]) -> list[str]:
        """Many keys as the one parameter of a statement."""
        return keys

    def _connected(
        self, kind: type[psycopg.Connection[Any]], first: LiteralString, parameters: tuple[str, ...] | None = None
    ) -> psycopg.Connection[Any]:
        try:
            connection = kind.connect(**self._parameters, autocommit=True)
        except self.driver_error as error:
            raise self.unavailable(error) from error
        try:
            connection.execute(first, parameters)
        except self.driver_error as error:
            connection.close()
            raise self.unavailable(error) from error
        return connection

    def _connect(self) -> psycopg.Connection[Any]:
        return self._to_write.connect(**self._write_parameters)
