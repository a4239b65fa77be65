"""Imports of tables as jobs: one operation, with the permissions that the caller has until the import ends."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from flask import Flask, current_app
from sqlalchemy import bindparam, select

from ...bindings.imports.table_rows import ImportedTable
from ...bindings.names.errors import TableError
from ...bindings.storage.tables.desk_tables import bulk_progress
from ...bindings.tables import text_tables
from ...bindings.tables.columns import Columns, Row
from ...bindings.tables.text_stream import ReadAs
from . import exports
from .bulk import CHANGE, CHECK, BulkJobs
from .exports import ExportJobs
from .model import Job, stored_caller
from .queue import LEASE_SECONDS, Claim, Jobs
from .table_import import carry_out_import, stop_import
from .uploads import IMPORT, PREVIEW, READ, UploadJobs
from .worker import Worker

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Caller
    from ..accounts.store import Accounts


KIND = "import"

Format = Literal["csv", "tsv", "jsonl"]

KEY = "ararat_imports"
"""The name of the imports of an application in its ``extensions``."""

_JOB_OF_OPERATION = select(bulk_progress.c.job).where(bulk_progress.c.operation == bindparam("operation"))


class Imports:
    """The imports of a site: the jobs in the database, and the worker of this process.
    ``uploads`` are the jobs of the desk, ``bulk`` those of changes of many names, ``exports`` those of large files.
    """

    def __init__(self, accounts: Accounts, lease: float = LEASE_SECONDS) -> None:
        self.accounts = accounts
        self.jobs = Jobs(accounts, lease, frozenset({PREVIEW, READ, CHECK, exports.KIND}))
        self.uploads = UploadJobs(accounts, self.jobs)
        self.bulk = BulkJobs(accounts, self.jobs)
        self.exports = ExportJobs(accounts, self.jobs)
        kinds = {KIND: self.carry_out, PREVIEW: self.uploads.carry_out, IMPORT: self.uploads.carry_out}
        kinds |= {READ: self.uploads.carry_out, CHECK: self.bulk.carry_out, CHANGE: self.bulk.carry_out}
        kinds |= {exports.KIND: self.exports.carry_out}
        self.worker = Worker(self.jobs, kinds)

    def get(self, number: int) -> Job | None:
        """Return a job with its current progress, or None if it is unknown. A job without a worker is started."""
        job = self.jobs.get(number)
        if job is None or job.is_finished:
            return job
        self.worker.wake()
        waits = self.worker.waits_for(number) or self.jobs.waiting_if_silent(job).waits
        return replace(job, progress=max(job.progress, self.worker.progress_of(number)), waits=waits)

    def get_of(self, caller: Caller, number: int) -> Job | None:
        """Return a job of the caller as :meth:`get` does, or None. An administrator gets each job. A token without the
        right to read gets those that it started: a job has values of names.
        """
        job = self.get(number)
        if job is None or not (caller.is_administrator or job.account == caller.account.number):
            return None
        token = caller.token and caller.token.number
        return job if caller.may("read") or job.parameters.get("caller", [None, None])[1] == token else None

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
        renumber: bool = False,
        keeps_numbers: bool = False,
        atomic: bool = False,
    ) -> Job:
        """Add a job that imports a table, in a transaction.

        - ``relocate``: permit a new target for a name that is recorded with another target.
        - ``renumber``: record another number of a recorded name as its corrected number.
        - ``keeps_numbers``: ignore a number that a spreadsheet program probably changed.
        - ``atomic``: import all rows in one transaction.
        """
        parameters = {
            "format": format,
            "encoding": encoding,
            "dry_run": dry_run,
            "relocate": relocate,
            "renumber": renumber,
            "keeps_numbers": keeps_numbers,
            "atomic": atomic,
            "caller": stored_caller(caller),
        }
        lines = content.count(b"\n") + (not content.endswith(b"\n")) - (format != "jsonl")
        return self.jobs.add(connection, caller.account.number, KIND, parameters, content, max(lines, 0))

    def of_operation(self, number: int) -> Job | None:
        """Return the job that made an operation. It is known until
        :data:`~ararat.bindings.storage.tables.retention.COPIES_KEPT` after its end.
        """
        found = self.accounts.read(_JOB_OF_OPERATION, operation=number)
        return self.get(found[0][0]) if found else None

    def resume(self, job: Job) -> bool:
        """Let a job that its server ended continue where it was, or return False (:attr:`.Job.has_stopped`). Raises
        :class:`BindingError` (``operation-undone``), and :class:`HTTPRefusal` for too many exports.
        """

        def resume(transaction: Transaction) -> bool:
            if job.kind == exports.KIND:
                exports.require_few(transaction.connection, job.account)
            return self.jobs.resume(transaction, job.number)

        is_resumed = job.has_stopped and self.accounts.bindings.run_in_transaction(resume)
        self.worker.wake()
        return is_resumed

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Import the table of a job, and finish the job. ``progress`` gets the number of processed rows.
        All rows are checked first, and nothing is written if one is refused. If a permission of the caller is revoked
        while rows are written, the job fails, and the rows so far stay written.
        """
        job = claim.job
        format, encoding = job.parameters["format"], job.parameters["encoding"]
        name = f"import-{job.number}.{format}"
        content = self.jobs.data(job.number)

        def rows(read_as: ReadAs) -> Iterator[Row]:
            file = io.BytesIO(content)
            file.name = name
            return text_tables.read_rows(file, format, text_tables.Reader(encoding, None, Columns()), read_as)

        table = ImportedTable(
            name,
            rows,
            relocate=job.parameters["relocate"],
            renumber=job.parameters.get("renumber", False),
            keeps_numbers=job.parameters.get("keeps_numbers", False),
        )
        is_dry = job.parameters["dry_run"]
        try:
            carry_out_import(self.accounts, self.jobs, claim, table, progress, is_dry=is_dry)
        except TableError as error:
            stop_import(self.accounts, self.jobs, claim, error)


def init_app(app: Flask, imports: Imports) -> None:
    """Make the jobs available to the requests of an application."""
    app.extensions[KEY] = imports


def current_imports() -> Imports:
    """Return the imports of the current application."""
    return current_app.extensions[KEY]


def resume(app: Flask) -> None:
    """Carry out the jobs of ``app`` that an earlier process did not finish."""
    imports: Imports | None = app.extensions.get(KEY)
    if imports is not None:
        imports.worker.begin()
