"""The two jobs of an upload: a preview, which writes no name, and the import.

Both record the outcome of each row. The import does so in its own transaction, so names and outcomes agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...bindings.imports.keyed_rows import repeated_keys
from ...bindings.imports.summary import Expect, Imported, NotedLine, Summary
from ...bindings.names import validation
from ...bindings.names.binding import Binding
from ...bindings.names.errors import TableError
from ...bindings.tables.columns import Row, cells
from ...bindings.tables.text_stream import ReadAs
from ..uploads import sheet
from ..uploads.model import MAX_ROWS, Part, Reading, RowOutcome, Upload
from ..uploads.sheet import Proposal
from ..uploads.store import Uploads
from .model import caller_of, result_of, stored_caller
from .queue import Claim, Jobs

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.storage.writing.transaction import Transaction
    from ..accounts.model import Caller
    from ..management import Management
    from .model import Job

PREVIEW = "table-preview"
IMPORT = "table-import"

MAX_VALUE = 400
"""The maximum number of characters of a recorded value before or after a change."""

_PARTS: Mapping[str, Part] = {
    "bound": "added",
    "published": "published",
    "reserved": "added",
    "set": "added",
    "updated": "changed",
    "claimed": "changed",
    "withdrawn": "changed",
    "relocated": "moved",
    "unchanged": "unchanged",
}
_EFFECTS: tuple[Part, ...] = ("added", "published", "changed", "moved", "unchanged")
_UNSHOWN = ("identifier", "created", "changed", "spelling")
_DEFAULTS = {"kind": "located", "status": "live", "passthrough": "false", "scope": "name", "redirect": "302"}
_DEFAULTS["listed"] = "true"


class UploadJobs:
    """The jobs of uploads in the database of ``management``. ``jobs`` are the jobs of the site."""

    def __init__(self, management: Management, jobs: Jobs) -> None:
        self.management = management
        self.jobs = jobs
        self.uploads = Uploads(management.accounts)

    def preview(self, connection: Connection, caller: Caller, upload: Upload, reading: Reading) -> bool:
        """Start a preview in a transaction. Return False if another request has changed the upload."""
        return self._start(connection, caller, upload, PREVIEW, reading)

    def import_rows(self, connection: Connection, caller: Caller, upload: Upload, *, skip_refused: bool) -> bool:
        """Start the import of a previewed upload in a transaction, as :meth:`preview`.

        ``skip_refused`` leaves the rows out that the preview refused.
        """
        return self._start(connection, caller, upload, IMPORT, None, skip_refused=skip_refused)

    def add(
        self, connection: Connection, caller: Caller, name: str, proposal: Proposal, *, dry_run: bool
    ) -> Job | None:
        """Store a table and start its preview or its import without one, in a transaction.

        Return None if the account has the maximum number of uploads.
        """
        upload = self.uploads.add(connection, caller.account.number, name, *proposal)
        if upload is None:
            return None
        parameters = {"upload": upload.number, "caller": stored_caller(caller), "skip_refused": False}
        kind = PREVIEW if dry_run else IMPORT
        parameters |= {"has_preview": False, "format": upload.reading.format}
        job = self.jobs.add(connection, caller.account.number, kind, parameters, b"", upload.lines)
        self.uploads.begin(connection, upload, "preview" if dry_run else "import", job.number)
        return job

    def _start(
        self,
        connection: Connection,
        caller: Caller,
        upload: Upload,
        kind: str,
        reading: Reading | None,
        *,
        skip_refused: bool = False,
    ) -> bool:
        parameters = {"upload": upload.number, "caller": stored_caller(caller), "skip_refused": skip_refused}
        job = self.jobs.add(connection, caller.account.number, kind, parameters, b"", upload.lines)
        return self.uploads.begin(connection, upload, "preview" if kind == PREVIEW else "import", job.number, reading)

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Preview or import the rows of an upload, and finish the job.

        Raises :class:`Forbidden` if a permission of the caller is revoked before the end of the import; then nothing is
        written.
        """
        job = claim.job
        accounts = self.management.accounts
        caller = caller_of(accounts, job.parameters["caller"])
        upload = self.uploads.get(job.parameters["upload"])
        if upload is None or upload.job != job.number:
            self.jobs.end(claim, "cancelled", {})
            return
        outcomes = self._left_out(upload) if job.parameters["skip_refused"] else []
        skipped = frozenset(row.line for row in outcomes)
        expect = self._expected(upload) if job.kind == IMPORT and job.parameters.get("has_preview", True) else None
        finished: list[Job] = []

        def finish(transaction: Transaction) -> None:
            if isinstance(summary := transaction.result, Summary):
                self.uploads.store_rows(transaction.connection, upload.number, job.number, outcomes)
                result = result_of(summary) | {"written": True}
                self.jobs.finish(transaction.connection, claim, "done", result, summary.lines)
                finished.append(job)

        read_as = ReadAs()
        mint = upload.reading.minting
        try:
            repeated = repeated_keys(self._rows(upload, skipped, ReadAs())) if mint else {}
            summary = self.management.bulk.import_rows(
                caller.with_end(finish),
                validation.shown(upload.name, 200),
                self._rows(upload, skipped, read_as),
                read_as,
                relocate=upload.reading.relocate,
                dry_run=job.kind == PREVIEW,
                progress=progress,
                report=lambda kind, noted, cells: outcomes.append(_noted(kind, noted)),
                effect=lambda imported: outcomes.append(_effect(imported, is_kept=job.kind == IMPORT)),
                expect=expect,
                mint=mint,
                repeated=repeated,
            )
        except TableError as error:
            problem = {"code": error.code, "detail": error.message, "line": error.line, "expected": error.expected}
            self.jobs.end(claim, "failed", {"problem": problem})
            return
        if finished:
            return

        def end(connection: Connection) -> None:
            self.uploads.store_rows(connection, upload.number, job.number, outcomes)
            state = "failed" if summary.refusals and job.kind == IMPORT else "done"
            self.jobs.finish(connection, claim, state, result_of(summary), summary.lines)

        accounts.write(end)

    def _left_out(self, upload: Upload) -> list[RowOutcome]:
        """Return the rows that the preview refused, as rows that the import leaves out."""
        refused = self.uploads.rows(upload.number, "refused", 0, MAX_ROWS)
        return [replace(row, outcome="left out") for _, row in refused]

    def _expected(self, upload: Upload) -> Expect:
        """Return a function that refuses the rows whose effect is not that of the preview."""
        previewed = {
            row.line: (row.outcome, row.identifier, dict(row.changes))
            for part in _EFFECTS
            for _, row in self.uploads.rows(upload.number, part, 0, MAX_ROWS)
        }

        def expect(imported: Imported) -> str | None:
            row = _effect(imported)
            identifier = "" if imported.minted else row.identifier
            if previewed.get(row.line) == (row.outcome, identifier, dict(row.changes)):
                return None
            return "the recorded values are not those of the preview"

        return expect

    def _rows(self, upload: Upload, skipped: frozenset[int], read_as: ReadAs) -> Iterator[Row]:
        for row in sheet.rows(self.uploads.data(upload.number), upload.reading, upload.name, read_as):
            if row.line not in skipped:
                yield row


def _noted(kind: str, noted: NotedLine) -> RowOutcome:
    return RowOutcome(
        part="refused" if kind == "refused" else "warning",
        line=noted.line,
        outcome=kind,
        identifier=noted.identifier,
        code=noted.code,
        message=noted.message,
        changes={},
    )


def _effect(imported: Imported, *, is_kept: bool = True) -> RowOutcome:
    """Return the outcome of a row. A name that is minted in a preview (not ``is_kept``) is not shown."""
    after = imported.after
    identifier = after.identifier if isinstance(after, Binding) else after[0]
    if imported.minted and not is_kept:
        identifier = ""
    return RowOutcome(
        part=_PARTS[imported.outcome],
        line=imported.line,
        outcome=imported.outcome,
        identifier=validation.shown(identifier, 400),
        changes=_changes(imported.before, after) if isinstance(after, Binding) else {},
    )


def _changes(before: Binding | None, after: Binding) -> dict[str, tuple[str, str]]:
    """Return the values that differ, by column. Defaults of a new name are omitted."""
    old = _DEFAULTS if before is None else cells(before)
    new = cells(after)
    return {
        column: (_short(old.get(column, "") if before else ""), _short(new.get(column, "")))
        for column in dict.fromkeys((*new, *old))
        if column not in _UNSHOWN and old.get(column) != new.get(column)
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}\u2026"
