"""Connections to PostgreSQL with time limits that the client enforces, because a server whose machine hangs sends
nothing.

A reader gives up soon: another server can answer, or the resolver answers 503. One connection can go silent while the
server answers others, behind a firewall, load balancer or pooler. So a ping alone never proves that it works. A small
change has a fixed limit. A large one continues while the server's process for *its* statement works, or waits for a
lock.
"""

from __future__ import annotations

import functools
import logging
import socket
import struct
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Any, ClassVar, NoReturn

import psycopg
from psycopg import pq
from psycopg.rows import TupleRow
from psycopg.waiting import Wait

ANSWER_SECONDS = 0.8
"""The maximum time that a reader waits for the answer to a statement."""

STATEMENT_SECONDS = 10
"""The maximum time for a statement of a small change. A writer waits for another one for at most half of it."""

PROGRESS_SECONDS = 30
"""The maximum time without an answer and without progress for a statement of a large change or of an export."""

SILENCE_SECONDS = 2
"""The time without an answer after which a DeadlineConnection pings the server, and the time limit of the ping."""

# PostgreSQL, section 55.7, SSLRequest: length and code. A server answers with one byte before any authentication.
_SSL_REQUEST = struct.pack(">II", 8, 80877103)

# A process that waits for its client has nothing to do: the network has lost the statement or its answer.
_WORKS = "SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' FROM pg_stat_activity WHERE pid = %s"

_logger = logging.getLogger(__name__)


class DeadlineConnection(psycopg.Connection[TupleRow]):
    """A connection to PostgreSQL that gives up waiting if the server no longer works on the statement.

    After :data:`SILENCE_SECONDS` without an answer it pings the server. Without a response it raises
    ``psycopg.OperationalError``; also after :data:`STATEMENT_SECONDS`, or for a large statement after
    :data:`PROGRESS_SECONDS` without progress. ``is_large`` marks long statements. ``backend`` is the number of the
    server's process; None behind a pooler: then only the server is asked.
    """

    is_large = True
    backend: int | None = None
    gone = "the server does not answer; check that it runs and can be reached"
    silent = (
        "the connection is silent, and the server answers others; check the firewalls, load balancers and poolers "
        "between them, and the process of the server; try again"
    )
    first_query: ClassVar = (b"SELECT 1", b"1")
    """A query, and the answer that a usable server gives. Otherwise the driver tries the next host."""

    @classmethod
    def _connect_gen(cls, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        connecting = _with_answer(super()._connect_gen(*args, **kwargs), *cls.first_query)
        return _with_deadline(STATEMENT_SECONDS, connecting, _give_up)

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for the driver's generator ``gen`` as psycopg does, and check the server if the connection is silent."""
        until = monotonic() + (PROGRESS_SECONDS if self.is_large else STATEMENT_SECONDS)

        def check() -> None:
            nonlocal until
            if not responds(self.info.hostaddr or self.info.host, self.info.port):
                self._end(self.gone)
            if self.is_large and (self.backend is None or self._works()):
                until = monotonic() + PROGRESS_SECONDS
            elif monotonic() > until:
                self._end(self.silent)

        return super().wait(_with_deadline(SILENCE_SECONDS, gen, check), *args, **kwargs)

    def _end(self, reason: str) -> NoReturn:
        """Close the connection, because a rollback would wait again, and raise OperationalError."""
        _logger.warning("a connection to PostgreSQL is given up: %s", reason)
        self.pgconn.finish()
        raise psycopg.OperationalError(reason)

    def _works(self) -> bool:
        """Return whether the process of the server that runs the statement works, or waits for a lock or its disk."""
        # The parameters of libpq without the password, and those that select among several servers.
        parameters: dict[str, Any] = self.info.get_parameters()
        for name in ("hostaddr", "target_session_attrs", "load_balance_hosts", "options"):
            parameters.pop(name, None)
        parameters |= {"host": self.info.host, "port": self.info.port, "password": self.info.password or None}
        if self.info.hostaddr and not self.info.host.startswith("/"):
            parameters["hostaddr"] = self.info.hostaddr
        try:
            with reader_class(SILENCE_SECONDS).connect(**parameters, autocommit=True, prepare_threshold=None) as other:
                row = other.execute(_WORKS, (self.backend,)).fetchone()
        except psycopg.Error:
            return False
        return bool(row and row[0])


class WriterConnection(DeadlineConnection):
    """A connection to PostgreSQL for changes. ``begin_sql`` begins a transaction. The server writes the rows of
    :meth:`copy` while the client does other work.
    """

    begin_sql = "BEGIN"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cursor_factory = _WriterCursor
        self._copying = ExitStack()

    def copy(self, statement: bytes, rows: Iterable[Sequence[Any]]) -> None:
        """Send rows with a COPY statement, without waiting until the server has written them. If COPY fails, the next
        statement or the end of the transaction raises the exception of psycopg.
        """
        copy = self._copying.enter_context(self.cursor().copy(statement))
        for row in rows:
            copy.write_row(row)

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        """Return a cursor of psycopg, after the end of a running COPY."""
        self._copying.close()
        return super().cursor(*args, **kwargs)

    def commit(self) -> None:
        """Commit the transaction. A running COPY ends first."""
        self._copying.close()
        super().commit()

    def rollback(self) -> None:
        """Roll the transaction back. A running COPY ends first, also if it failed."""
        with suppress(psycopg.Error):
            self._copying.close()
        super().rollback()


class PrimaryConnection(WriterConnection):
    """A connection for changes to the first of several servers that can write. ``target_session_attrs=read-write`` of
    libpq trusts a parameter of which PgBouncer reports an old value
    (https://github.com/pgbouncer/pgbouncer/issues/859).
    """

    first_query = (b"SHOW transaction_read_only", b"off")


class _WriterCursor(psycopg.Cursor[TupleRow]):
    """A cursor that never prepares a text with several statements, because PostgreSQL cannot."""

    def execute(self, query: Any, params: Any = None, *, prepare: bool | None = None, **kwargs: Any) -> Any:
        """Run a statement, or several statements without parameters."""
        return super().execute(query, params, prepare=False if ";" in query else prepare, **kwargs)


class ReaderConnection(psycopg.Connection[TupleRow]):
    """A connection for reading, which waits at most ``answer_seconds``, or :data:`ANSWER_SECONDS`, for an answer."""

    answer_seconds: ClassVar[float | None] = None

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for the driver's generator ``gen`` as psycopg does, but not longer than the time of this class."""
        return super().wait(_with_deadline(self.answer_seconds or ANSWER_SECONDS, gen, _give_up), *args, **kwargs)


@functools.lru_cache(maxsize=16)
def reader_class(
    connect_seconds: float | None,
    *,
    most_seconds: float | None = None,
    is_limited: bool = True,
    of_primary: bool = False,
) -> type[psycopg.Connection[TupleRow]]:
    """Return a class of connections for reading. ``connect_seconds`` limits the time to connect to each host; None
    leaves it to the driver. ``most_seconds`` limits the wait for an answer. Without ``is_limited``, it lasts as long as
    the server runs. With ``of_primary``, a standby is skipped.
    """
    first_query = (b"SELECT pg_is_in_recovery()", b"f") if of_primary else (b"SELECT 1", b"1")
    base: Any = ReaderConnection if is_limited else DeadlineConnection

    class QuickReaderConnection(base):
        answer_seconds = most_seconds

        # The time limit of the driver is at least two seconds. A PgBouncer accepts connections without its server, so
        # the server of this host must answer before the driver tries the next host.
        @classmethod
        def _connect_gen(cls, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            if connect_seconds is None:
                return super()._connect_gen(*args, **kwargs)
            return _with_deadline(
                connect_seconds, _with_answer(super()._connect_gen(*args, **kwargs), *first_query), _give_up
            )

    return QuickReaderConnection


def _with_answer(connecting: Generator[Any, Any, Any], query: bytes, expected: bytes) -> Generator[Any, Any, Any]:
    """Connect and run a query. Raise ``psycopg.OperationalError`` for another answer: the driver tries the next
    host.
    """
    connection = yield from connecting
    try:
        pgconn = connection.pgconn
        pgconn.send_query(query)
        while pgconn.flush():
            yield pgconn.socket, Wait.W
        connections: list[Any] = []
        while True:
            while pgconn.is_busy():
                yield pgconn.socket, Wait.R
                pgconn.consume_input()
            if (result := pgconn.get_result()) is None:
                break
            connections.append(result)
        if connections[0].status != pq.ExecStatus.TUPLES_OK:
            raise psycopg.OperationalError(pgconn.get_error_message())
        if connections[0].get_value(0, 0) != expected:
            raise psycopg.OperationalError("the server is a standby, or its sessions are read-only")
    except BaseException:
        connection.close()
        raise
    return connection


def responds(host: str, port: int) -> bool:
    """Return whether a PostgreSQL server answers a ping on a new connection within :data:`SILENCE_SECONDS`. ``host``
    can be the folder of a Unix socket. ``PQping`` would block all threads, because the driver keeps the GIL.
    """
    try:
        if host.startswith("/"):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(SILENCE_SECONDS)
        else:
            connection = socket.create_connection((host, port), SILENCE_SECONDS)
        with connection:
            if host.startswith("/"):
                connection.connect(f"{host}/.s.PGSQL.{port}")
            connection.sendall(_SSL_REQUEST)
            return connection.recv(1) != b""
    except OSError:
        return False


def _give_up() -> None:
    raise psycopg.OperationalError("timeout: the server does not answer; check that it runs and can be reached")


def _with_deadline(
    seconds: float, waiting: Generator[Any, Any, Any], on_silence: Callable[[], None]
) -> Generator[Any, Any, Any]:
    """Run a generator of the driver, and call ``on_silence`` whenever no data has arrived for ``seconds``."""
    since = monotonic()
    try:
        event = next(waiting)
        while True:
            ready = yield event
            if ready:
                since = monotonic()
            elif monotonic() - since > seconds:
                on_silence()
                since = monotonic()
            event = waiting.send(ready)
    except StopIteration as end:
        return end.value
