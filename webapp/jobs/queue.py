"""The jobs in the database: add, claim, report progress, finish.

A worker claims a job by its row, and reports every few seconds that it still runs. It can end without finishing, such
as by ``kill -9``. Another one then claims the job after :data:`LEASE_SECONDS`, unless :data:`MAX_DEATHS` workers in
succession ended without progress. Only the worker with the latest claim can finish the job. With :meth:`Jobs.finish` in
the transaction of the work, the work takes effect exactly once. Until then, the column ``result`` has its data.
"""

from __future__ import annotations

import base64
import json
import logging
import secrets
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, bindparam, func, literal_column, select, text, update

from ...bindings.names.binding import rfc3339
from ...bindings.storage.protocols import utc_now
from ...bindings.storage.tables.account_tables import jobs as table
from ...bindings.storage.tables.desk_tables import bulk_progress
from ...bindings.storage.tables.schema import operations
from ...bindings.storage.writing.inserts import new_row_number
from ...bindings.storage.writing.operations import stop
from ...identifiers.text.translatable import Translatable, each_text, pack, sentence, unpack
from ..accounts.records.database import CLOCK_SKEW
from .model import FINISHED, STOPPED, Job, State, Wait

if TYPE_CHECKING:
    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.store import Accounts

LEASE_SECONDS = 30.0
"""The time after the last report of a worker after which another worker can claim its job."""

MAX_DEATHS = 3
"""The number of workers of a job that end without progress before the job fails."""

RETRY_SECONDS = 30
"""The seconds after which a client asks again for a job that is not finished."""

MAX_NUMBER = 2**31 - 1
"""The maximum number of a job, an integer of PostgreSQL."""

MAX_UNFINISHED = 10
"""The maximum number of jobs of one account that wait or run."""

# The queries have no parameters except those that a call passes.
_IS_OPEN = text("state IN ('waiting', 'running')")
_COLUMNS = (
    *(table.c.id, table.c.account, table.c.kind, table.c.state, table.c.parameters, table.c.progress, table.c.total),
    *(literal_column(f"CASE WHEN {_IS_OPEN} THEN NULL ELSE result END"), table.c.created, table.c.changed),
)
_CLOCK = select(func.clock_timestamp())
_ONE = select(*_COLUMNS).where(table.c.id == bindparam("number"))
_LATER = (
    select(*_COLUMNS)
    .where(table.c.id > bindparam("number"), table.c.kind == bindparam("kind"))
    .order_by(table.c.id)
    .limit(100)
)
_UNFINISHED = select(*_COLUMNS).where(_IS_OPEN).order_by(table.c.id)
_FAILED = select(*_COLUMNS).where(text("state = 'failed'")).order_by(table.c.id.desc()).limit(100)
_DATA = select(table.c.result).where(table.c.id == bindparam("number"))
_WRITTEN = select(bulk_progress.c.result).where(bulk_progress.c.job == bindparam("job"))
_OPERATION = select(bulk_progress.c.operation).where(bulk_progress.c.job == bindparam("job"))
_OF_ACCOUNT = select(func.count()).where(table.c.account == bindparam("account"), _IS_OPEN)


_KEPT = "data"
"""The member of the result of a stopped job that has its data, so that it can be resumed."""

_log = logging.getLogger(__name__)


class ClaimLost(RuntimeError):
    """Another worker has claimed the job, so this one must not finish it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A ``job`` that a worker carries out. Another claim of it changes the stored text of its ``parameters``."""

    job: Job
    parameters: str


class Jobs:
    """The jobs in the database of ``accounts``, for all threads and processes. Kinds in ``reading`` change no name."""

    def __init__(
        self, accounts: Accounts, lease: float = LEASE_SECONDS, reading: Collection[str] = frozenset()
    ) -> None:
        self.accounts = accounts
        self.lease = lease
        self._reading = reading

    def add(
        self, connection: Connection, account: int, kind: str, parameters: Mapping[str, Any], data: bytes, total: int
    ) -> Job:
        """Add a job in a transaction. ``parameters`` are for JSON, ``data`` is what the work needs.
        The progress is compared with ``total``, the number of rows or names.
        """
        now = rfc3339(self._now(connection))
        row = {
            "account": account,
            "kind": kind,
            "state": "waiting",
            "parameters": json.dumps(dict(parameters)),
            "progress": 0,
            "total": total,
            "result": _compress(data),
            "created": now,
            "changed": now,
        }
        return _job(connection.execute(_ONE, {"number": new_row_number(connection, table, row)}).one())

    def get(self, number: int) -> Job | None:
        """Return a job with its stored progress, or None if it is unknown or deleted."""
        found = self.accounts.read(_ONE, number=number) if number <= MAX_NUMBER else None
        return _job(found[0]) if found else None

    def operation_of(self, job: Job) -> int | None:
        """Return the number of the operation that a job has begun, or None before it changes names."""
        if (number := (job.result or {}).get("operation")) is not None:
            return number
        found = self.accounts.read(_OPERATION, job=job.number)
        return found[0][0] if found else None

    def later(self, number: int, kind: str) -> list[Job]:
        """Return the jobs of a kind that were added after another job, the oldest first; a hundred at most."""
        return [_job(row) for row in self.accounts.read(_LATER, number=number, kind=kind)]

    def list_unfinished(self) -> list[Job]:
        """Return the jobs of all accounts that wait or run, the oldest first."""
        return [_job(row) for row in self.accounts.read(_UNFINISHED)]

    def list_stopped(self) -> list[Job]:
        """Return the jobs that have stopped and can be resumed, the newest first; a hundred at most."""
        return [job for row in self.accounts.read(_FAILED) if (job := _job(row)).has_stopped]

    def is_full(self, connection: Connection, account: int) -> bool:
        """Return whether an account has :data:`MAX_UNFINISHED` jobs or more that wait or run, read in a transaction."""
        return connection.execute(_OF_ACCOUNT, {"account": account}).scalar_one() >= MAX_UNFINISHED

    def is_reading(self, job: Job) -> bool:
        """Return whether a job changes no name: an export, a check, a preview."""
        return job.kind in self._reading or bool(job.parameters.get("dry_run"))

    def data(self, number: int) -> bytes:
        """Return the bytes that :meth:`add` stored for an unfinished job."""
        ((stored,),) = self.accounts.read(_DATA, number=number)
        return zlib.decompress(base64.b64decode(stored))

    def claim(self, busy: Collection[tuple[int | None, bool]] = ()) -> Claim | None:
        """Claim a job that waits, or whose worker has ended. Return None without one.

        The jobs of accounts without a running one come first, then changes before reading, then the oldest. ``busy``
        has the accounts of the jobs of this process, each with :meth:`is_reading`: no second one is claimed. A job
        whose worker ended without progress is carried out alone. After :data:`MAX_DEATHS` of them it fails, and is
        logged.
        """
        now = self._now()
        # A later report was written before the clock was set back, so it is not a sign of a worker.
        unfinished = self.list_unfinished()
        running = {
            job.number: job
            for job in unfinished
            if job.state == "running" and -CLOCK_SKEW <= now - job.changed < timedelta(seconds=self.lease)
        }
        of_account = Counter(job.account for job in running.values())
        free = [
            job for job in unfinished if job.number not in running and (job.account, self.is_reading(job)) not in busy
        ]
        for job in sorted(free, key=lambda each: (of_account[each.account], self.is_reading(each), each.number)):
            marks = self._marks(job)
            if marks["deaths"] and busy:
                continue
            marked = json.dumps({**job.parameters, **marks, "claim": secrets.token_hex(8), "waits": None})
            claimed = Claim(job, json.dumps(dict(job.parameters)))
            values = {"state": "running", "parameters": marked, "changed": rfc3339(now), "progress": 0}
            if not self.accounts.run_in_transaction(
                lambda connection, held=claimed, new=values: _update(connection, held, **new)
            ):
                continue
            claimed = Claim(_job_with(job, marked), marked)
            if marks["deaths"] < MAX_DEATHS:
                return claimed
            _log.error(
                "job %d (%s) failed: its process ended %d times without progress; look for the cause in the log of "
                "the server before the job is started again",
                job.number,
                job.kind,
                MAX_DEATHS,
            )
            message = Translatable("The process of the job ended %(number)s times without progress.", number=MAX_DEATHS)
            self.fail(claimed, "attempts", message)
        return None

    def _now(self, connection: Connection | None = None) -> datetime:
        """Return the time by the clock of the database, which its servers share.
        The clock of a file is that of its host.
        """
        now = self.accounts.bindings.now()
        if self.accounts.bindings.location.startswith("sqlite"):
            return now
        ((time,),) = self.accounts.read(_CLOCK, connection) if connection is None else connection.execute(_CLOCK)
        return now + (time - utc_now())

    def waiting_if_silent(self, job: Job) -> Job:
        """Return ``job`` as one that waits, if its worker has reported nothing for half of the lease."""
        is_silent = job.state == "running" and self._now() - job.changed > timedelta(seconds=self.lease / 2)
        return replace(job, waits="unavailable") if is_silent else job

    def _marks(self, job: Job) -> dict[str, int]:
        """Return the parameters of a job that count the workers that ended since the last progress.
        A worker without writing has made progress if it came farther than all before.
        """
        before = job.parameters
        rows = self.accounts.read(_WRITTEN, job=job.number)
        written = zlib.crc32(str(rows[0][0]).encode()) if rows else 0
        has_progress = written != before.get("written", 0) or (not written and job.progress > before.get("reached", 0))
        return {
            "deaths": 0 if has_progress else before.get("deaths", 0) + (job.state == "running"),
            "written": written,
            "reached": max(job.progress, before.get("reached", 0)),
        }

    def resume(self, transaction: Transaction, number: int) -> bool:
        """Let a job that has stopped (:attr:`.Job.has_stopped`) wait again. Return False for another job. Raises
        :class:`BindingError` (``operation-undone``) if the operation of the job was undone.
        """
        connection = transaction.connection
        if operation := connection.execute(_OPERATION, {"job": number}).first():
            transaction.operations.go_on(operation[0])
        found = connection.execute(_ONE, {"number": number}).first()
        job = found and _job(found)
        if not job or not job.has_stopped:
            return False
        result = connection.execute(_DATA, {"number": number}).scalar_one()
        values = {
            "state": "waiting",
            "parameters": json.dumps({**job.parameters, "deaths": 0}),
            "result": json.loads(result).get(_KEPT, _compress(b"")),
            "changed": rfc3339(self._now(connection)),
        }
        is_same = table.c.id == number, table.c.state == "failed"
        return bool(connection.execute(update(table).where(*is_same).values(values)).rowcount)

    def release(self, claim: Claim, waits: Wait | None = None) -> None:
        """Let a job that cannot go on wait again. ``claim`` is the claim to it, which does not count for
        :data:`MAX_DEATHS`. ``waits`` is the reason, which is shown until the job continues.
        """
        parameters = {**claim.job.parameters, "claim": "", "waits": waits}
        values = {"state": "waiting", "parameters": json.dumps(parameters)}
        self.accounts.run_in_transaction(lambda connection: _update(connection, claim, **values))

    def report(self, claim: Claim, progress: int) -> None:
        """Record that the worker still runs, and the number of processed rows or names. Raises :class:`ClaimLost`."""
        values = {"progress": progress, "changed": rfc3339(self._now())}
        if not self.accounts.run_in_transaction(lambda connection: _update(connection, claim, **values)):
            raise ClaimLost(str(claim.job.number))

    def advance(self, connection: Connection, claim: Claim, progress: int) -> None:
        """Record the number of processed rows or names in a transaction of the work.
        Raises :class:`ClaimLost`: then nothing must be written.
        """
        changed = rfc3339(self._now(connection))
        if not _update(connection, claim, progress=progress, changed=changed):
            raise ClaimLost(str(claim.job.number))

    def finish(
        self, connection: Connection, claim: Claim, state: State, result: Mapping[str, Any], lines: int | None = None
    ) -> None:
        """End a job in the transaction of its work. ``lines`` is the number of rows of the table. Raises
        :class:`ClaimLost`: then the work must not be written.
        """
        counts = {} if lines is None else {"progress": lines, "total": lines}
        changed = rfc3339(self._now(connection))
        if not _update(
            connection, claim, state=state, result=json.dumps(each_text(result, pack)), changed=changed, **counts
        ):
            raise ClaimLost(str(claim.job.number))

    def fail(self, claim: Claim, code: str, detail: str) -> None:
        """End a job by a problem. Its result has the operation of the changes so far. Raises :class:`ClaimLost`."""

        def write(connection: Connection) -> None:
            found = connection.execute(_OPERATION, {"job": claim.job.number}).first()
            if found is not None:
                stop(connection, found[0], self.accounts.bindings.now())
            result: dict[str, Any] = {} if found is None else {"operation": found[0]}
            if code in STOPPED:
                result[_KEPT] = connection.execute(_DATA, {"number": claim.job.number}).scalar()
            ended = problem(connection, code, detail, *found or ())
            self.finish(connection, claim, "failed", result | {"problem": ended})

        self.accounts.run_in_transaction(write)

    def end(self, claim: Claim, state: State, result: Mapping[str, Any], lines: int | None = None) -> None:
        """End a job whose work wrote nothing. ``lines`` counts the rows of the table. Raises :class:`ClaimLost`."""
        self.accounts.run_in_transaction(lambda connection: self.finish(connection, claim, state, result, lines))


def problem(
    connection: Connection, code: str, detail: str, operation: int | None = None
) -> dict[str, str | Mapping[str, Any]]:
    """Return the ``code`` and ``detail`` of the problem that ends a job early, in the transaction of its end. The
    sentence has the number of names that ``operation`` has changed.
    """
    if operation is not None and code != "operation-undone":
        names = connection.execute(select(operations.c.names).where(operations.c.id == operation)).scalar() or 0
        detail = Translatable.counted(
            "%(problem)s Operation %(operation)s changed %(number)s name, and can be undone.",
            "%(problem)s Operation %(operation)s changed %(number)s names, and can be undone.",
            names,
            problem=sentence(detail),
            operation=str(operation),
        )
    return {"code": code, "detail": detail}


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def _update(connection: Connection, claim: Claim, **values: str | int) -> bool:
    """Change the row of a job that has the claim, and return whether it still has it."""
    of_claim = (
        table.c.id == claim.job.number,
        table.c.state.not_in(FINISHED),
        table.c.parameters == claim.parameters,
    )
    return bool(connection.execute(update(table).where(*of_claim).values(values)).rowcount)


def _job_with(job: Job, parameters: str) -> Job:
    return replace(job, state="running", parameters=json.loads(parameters), progress=0)


def _job(row: Sequence[Any]) -> Job:
    number, account, kind, state, parameters, progress, total, result, created, changed = row
    return Job(
        number=number,
        account=account,
        kind=kind,
        state=state,
        parameters=json.loads(parameters),
        progress=progress,
        total=total,
        result=None if result is None else _result(result),
        created=datetime.fromisoformat(created),
        changed=datetime.fromisoformat(changed),
        waits=json.loads(parameters).get("waits") if state == "waiting" else None,
    )


def _result(text: str) -> dict[str, Any]:
    result = json.loads(text)
    result.pop(_KEPT, None)
    return each_text(result, unpack)
