"""Run the few statements of lookups in PostgreSQL with less work of the client. A cursor of the driver chooses
adaptation and preparation again for each statement, which takes longer than to send it and to read the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import count
from typing import Any

from psycopg import Connection, errors, generators
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus
from psycopg.rows import TupleRow

MOST = 50
"""The maximum number of prepared statements of a connection. The driver runs further statements."""


@cache
def _settings(*, by_key: bool, kept: bool) -> bytes:
    """Return the statements that choose how PostgreSQL plans (documentation of PostgreSQL, "Query Planning")."""
    mode = "force_generic_plan" if kept else "auto"
    return f"SET enable_seqscan = {'off' if by_key else 'on'}; SET plan_cache_mode = {mode}".encode()


class PreparedConnection:
    """A connection for reading, which prepares each statement whose parameters are texts; the driver runs all others.
    Only one thread at a time uses it (:class:`.protocols.Connection`).
    """

    def __init__(
        self, connection: Connection[TupleRow], by_key: Collection[str] = (), kept: Collection[str] = ()
    ) -> None:
        """``by_key`` lists the statements that find a few rows by an index: an old plan would read the whole table
        after an import. ``kept`` lists those on keys of a partitioned table whose first plan is kept, instead of one
        per execution.
        """
        self._connection = connection
        settings = {query: _settings(by_key=True, kept=query in kept) for query in by_key}
        self._settings, self._other_settings = settings, _settings(by_key=False, kept=False)
        self._current_settings = self._other_settings
        self._is_utf8 = connection.info.encoding == "utf-8"
        self._transformer = Transformer.from_context(connection)
        self._names: dict[str, bytes] = {}

    def execute(self, query: Any, params: Sequence[Any] = ()) -> Any:
        """Run a statement with the values of its placeholders, and return its rows with ``fetchall`` and
        ``fetchone``.
        """
        if self._settings and params:
            self._set(self._settings.get(query, self._other_settings))
        # The driver refuses U+0000. libpq would end the text there.
        if self._is_utf8 and all(type(value) is str and "\0" not in value for value in params):
            name = self._names.get(query) or self._prepare(query)
            if name is not None:
                values = [value.encode() for value in params]
                self._connection.pgconn.send_query_prepared(name, values)
                return Rows(self._wait(ExecStatus.TUPLES_OK))
        # The best plan for LIKE depends on the text. A kept plan would read the index of a text that each name has.
        return self._connection.execute(query, params, prepare=False if " LIKE " in query else None)

    def close(self) -> None:
        """Close the connection to PostgreSQL."""
        self._connection.close()

    def _set(self, settings: bytes) -> None:
        if settings is not self._current_settings:
            self._connection.execute(settings, prepare=False)
            self._current_settings = settings

    def _prepare(self, query: str) -> bytes | None:
        """Prepare a statement and return its name, or None if the driver must run it."""
        parts = query.split("%s")
        if len(self._names) >= MOST or any("%" in part for part in parts):
            return None
        name = b"ararat_%d" % len(self._names)
        numbers = count(1)
        text = parts[0] + "".join(f"${next(numbers)}{part}" for part in parts[1:])
        self._connection.pgconn.send_prepare(name, text.encode())
        self._wait(ExecStatus.COMMAND_OK)
        self._names[query] = name
        return name

    def _wait(self, expected: ExecStatus) -> list[TupleRow]:
        """Wait for the answer and return its rows. The connection has the time limit. Raises ``psycopg.Error``."""
        result = self._connection.wait(generators.execute(self._connection.pgconn))[-1]
        if result.status != expected:
            raise errors.error_from_result(result)
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)


class Rows:
    """The ``rows`` of the answer to a statement, with the methods of a cursor."""

    def __init__(self, rows: list[TupleRow]) -> None:
        self._rows = rows

    def fetchall(self) -> list[TupleRow]:
        """Return all rows of the answer to the statement."""
        return self._rows

    def fetchone(self) -> TupleRow | None:
        """Return the first row of the answer to the statement, or None if it has no rows."""
        return self._rows[0] if self._rows else None
