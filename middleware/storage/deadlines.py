"""Connections to PostgreSQL that do not wait for ever for a server that has stopped answering.

A server whose machine hangs keeps its connections open and says nothing, and the time limits that it keeps itself are
of no use then. So the client's own clock counts. Who looks a name up gives up soon: another server may answer, or the
site can say that it does not know. Who writes may have to wait for another writer, and who looks through everything
for the first row; they wait as long as the server answers somebody.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from time import monotonic
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

ANSWER_SECONDS = 0.8
"""How long a reader waits for the answer to a statement."""

SILENCE_SECONDS = 2
"""After how long a silence a patient one asks whether the server is still there, and how long it waits for that."""


class Patient(psycopg.Connection[TupleRow]):
    """A connection on which silence is followed by the question whether the server still answers anybody."""

    gone = "the server has stopped answering"

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for an answer, as the driver does."""
        return super().wait(_within(SILENCE_SECONDS, gen, self._require_answer), *args, **kwargs)

    def _require_answer(self) -> None:
        where = make_conninfo(
            host=self.info.host, port=self.info.port, dbname=self.info.dbname, connect_timeout=SILENCE_SECONDS
        )
        if pq.PGconn.ping(where.encode()) != pq.Ping.OK:
            # Nobody shall try to roll back on it, and wait again.
            self.pgconn.finish()
            raise psycopg.OperationalError(self.gone)


class Writing(Patient):
    """A patient connection that writes."""

    gone = f"{Patient.gone}; whether anything was written is unknown"


class Reading(psycopg.Connection[TupleRow]):
    """A connection on which no statement is waited for longer than a reader can wait."""

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait for an answer, as the driver does."""
        return super().wait(_within(ANSWER_SECONDS, gen, _give_up), *args, **kwargs)


@functools.lru_cache(maxsize=16)
def reading(connect_seconds: float) -> type[Reading]:
    """The class of connections that also give up connecting to a host after so many seconds."""

    class Quick(Reading):
        # The driver's own time limit for this is never under two seconds.
        @classmethod
        def _connect_gen(cls, *args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            return _within(connect_seconds, super()._connect_gen(*args, **kwargs), _give_up)

    return Quick


def _give_up() -> None:
    raise psycopg.OperationalError("timeout: the server does not answer")


def _within(
    seconds: float, waiting: Generator[Any, Any, Any], too_long: Callable[[], None]
) -> Generator[Any, Any, Any]:
    """The same generator; ``too_long`` is called each time nothing has come for so many seconds, and may raise."""
    since = monotonic()
    try:
        wanted = next(waiting)
        while True:
            ready = yield wanted
            if ready:
                since = monotonic()
            elif monotonic() - since > seconds:
                too_long()
                since = monotonic()
            wanted = waiting.send(ready)
    except StopIteration as end:
        return end.value
