"""Imports of tables as jobs: all names or none, with the permissions that the caller has until the import ends."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from flask import Flask, current_app

from ...bindings.imports.summary import Summary
from .bulk import CHANGE, CHECK, BulkJobs
from .model import Job, caller_of, result_of, stored_caller
from .queue import LEASE_SECONDS, Claim, Jobs
from .uploads import IMPORT, PREVIEW, UploadJobs
from .worker import Worker

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Caller
    from ..management import Management


KIND = "import"

Format = Literal["csv", "tsv", "jsonl"]

_KEY = "ararat_imports"


class Imports:
    """The imports of a site: the jobs in the database, and the worker of this process.

    ``uploads`` are the jobs of tables that users upload in the desk, and ``bulk`` the changes of many selected names.
    """

    def __init__(self, management: Management, lease: float = LEASE_SECONDS) -> None:
        self.management = management
        self.jobs = Jobs(management.accounts, lease)
        self.uploads = UploadJobs(management, self.jobs)
        self.bulk = BulkJobs(management, self.jobs)
        kinds = {KIND: self.carry_out, PREVIEW: self.uploads.carry_out, IMPORT: self.uploads.carry_out}
        kinds |= {CHECK: self.bulk.carry_out, CHANGE: self.bulk.carry_out}
        self.worker = Worker(self.jobs, kinds)

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
        :func:`~ararat.bindings.imports.importing.import_table`.
        """
        parameters = {
            "format": format,
            "encoding": encoding,
            "dry_run": dry_run,
            "relocate": relocate,
            "caller": stored_caller(caller),
        }
        lines = content.count(b"\n") + (not content.endswith(b"\n")) - (format != "jsonl")
        return self.jobs.add(connection, caller.account.number, KIND, parameters, content, max(lines, 0))

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Import the table of a job and finish the job in the same transaction.

        Raises :class:`Forbidden` if a permission of the caller is revoked before the end; then nothing is written.
        """
        job = claim.job
        accounts = self.management.accounts
        caller = caller_of(accounts, job.parameters["caller"])
        finished: list[int] = []

        def finish(transaction: Transaction) -> None:
            if isinstance(summary := transaction.result, Summary):
                result = result_of(summary) | {"written": True}
                self.jobs.finish(transaction.connection, claim, "done", result, summary.lines)
                finished.append(job.number)

        file = io.BytesIO(self.jobs.data(job.number))
        file.name = f"import-{job.number}.{job.parameters['format']}"
        summary = self.management.bulk.import_names(
            caller.with_end(finish),
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


def init_app(app: Flask, imports: Imports) -> None:
    """Make the imports available to the requests of an application."""
    app.extensions[_KEY] = imports


def current_imports() -> Imports:
    """Return the imports of the current application."""
    return current_app.extensions[_KEY]


def resume(app: Flask) -> None:
    """Carry out the jobs of ``app`` that an earlier process did not finish."""
    imports: Imports | None = app.extensions.get(_KEY)
    if imports is not None:
        imports.worker.begin()
