"""Imports of tables as jobs: all names or none, with the permissions that the caller has until the import ends."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ...middleware.tabular.importing import Summary
from ..accounts.model import Caller
from ..management import Forbidden
from .model import Job
from .queue import LEASE_SECONDS, Claim, Jobs
from .worker import Worker

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...middleware.storage.writing.transaction import Transaction
    from ..management import Management

KIND = "import"

Format = Literal["csv", "tsv", "jsonl"]

_COUNTS = (
    *("added", "unchanged", "updated", "claimed", "relocated", "withdrawn", "reserved"),
    *("rules", "prefixes", "settings"),
)


class Imports:
    """The imports of a site: the jobs in the database, and the worker of this process."""

    def __init__(self, management: Management, lease: float = LEASE_SECONDS) -> None:
        self.management = management
        self.jobs = Jobs(management.accounts, lease)
        self.worker = Worker(self.jobs, {KIND: self.carry_out})

    def get(self, number: int) -> Job | None:
        """Return a job with its current progress, or None. Carry it out if no worker does."""
        job = self.jobs.get(number)
        if job is None or job.is_finished:
            return job
        self.worker.wake()
        return replace(job, progress=max(job.progress, self.worker.progress_of(number)))

    def add(
        self,
        connection: Connection,
        caller: Caller,
        content: bytes,
        *,
        format: Format,
        encoding: str = "utf-8",
        dry_run: bool = False,
        relocate: bool = False,
    ) -> Job:
        """Add an import in the transaction of ``connection``, and return it.

        ``content`` is the file. The other parameters are those of
        :func:`~ararat.middleware.tabular.importing.import_table`.
        """
        parameters = {
            "format": format,
            "encoding": encoding,
            "dry_run": dry_run,
            "relocate": relocate,
            "caller": [caller.account.name, caller.token and caller.token.number, caller.address],
        }
        lines = content.count(b"\n") + (not content.endswith(b"\n")) - (format != "jsonl")
        return self.jobs.add(connection, caller.account.number, KIND, parameters, content, max(lines, 0))

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Import the table of a job and finish the job in the same transaction.

        Raises :class:`Forbidden` if a permission of the caller is revoked before the end; then nothing is written.
        """
        job = claim.job
        caller = self._caller(*job.parameters["caller"])
        finished: list[int] = []

        def finish(transaction: Transaction) -> None:
            if isinstance(summary := transaction.result, Summary):
                # An import can take minutes. Another connection reads what was revoked in the meantime.
                now = self._caller(*job.parameters["caller"]).account
                if now.role != caller.account.role or not {*caller.account.prefixes} <= {*now.prefixes}:
                    raise Forbidden("role-missing", "the role or a prefix of the account was revoked during the import")
                result = result_of(summary) | {"written": True}
                self.jobs.finish(transaction.connection, claim, "done", result, summary.lines)
                finished.append(job.number)

        file = io.BytesIO(self.jobs.data(job.number))
        file.name = f"import-{job.number}.{job.parameters['format']}"
        summary = self.management.recorded_by(finish).import_names(
            caller,
            file,
            format=job.parameters["format"],
            encoding=job.parameters["encoding"],
            dry_run=job.parameters["dry_run"],
            relocate=job.parameters["relocate"],
            progress=progress,
        )
        if not finished:
            state = "failed" if summary.refusals and not job.parameters["dry_run"] else "done"
            self.jobs.end(claim, state, result_of(summary), summary.lines)

    def _caller(self, name: str, token: int | None, address: str | None) -> Caller:
        """Return the caller of an import. Raises :class:`Forbidden` if the account or token is not valid any more."""
        accounts = self.management.accounts
        account = accounts.get(name)
        if account is None or account.disabled:
            raise Forbidden("role-missing", "the account was disabled before the import ended")
        if token is None:
            return Caller(account=account, address=address)
        used = next((each for each in accounts.tokens(name) if each.number == token), None)
        if used is None or used.revoked or (used.expires and used.expires <= accounts.bindings.now()):
            raise Forbidden("role-missing", "the token was revoked or expired before the import ended")
        return Caller(account=account, token=used, address=address)


def result_of(summary: Summary) -> dict[str, Any]:
    """Return the result of an import for JSON."""
    return {
        "operation": summary.operation,
        "written": summary.written,
        "counts": {name: number for name in _COUNTS if (number := getattr(summary, name))},
        "refusals": summary.refusals,
        "refused": [noted._asdict() for noted in summary.refused],
        "warnings": summary.warnings,
        "warned": [noted._asdict() for noted in summary.warned],
    }
