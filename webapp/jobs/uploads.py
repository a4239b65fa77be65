"""The two jobs of an upload: a preview, which writes no name, and the import.

The preview records the outcome of each row. The import checks that the rows have these outcomes, and then writes them
in short transactions (:mod:`~ararat.bindings.imports.import_blocks`).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ...bindings.imports.import_blocks import ImportBlocks, ImportedTable
from ...bindings.imports.summary import ImportEffect, NotedLine, Summary
from ...bindings.names import validation
from ...bindings.names.binding import Binding
from ...bindings.names.errors import BindingError, BindingsUnavailable, TableError
from ...bindings.storage.spill import Spill
from ...bindings.system.concurrency import Busy
from ...bindings.tables.columns import Row, cells
from ...bindings.tables.text_stream import ReadAs
from ...identifiers.text.translatable import Translatable
from ...spreadsheets import sheet
from ...spreadsheets.reading import Reading
from ...spreadsheets.sheet import Proposal
from ..uploads.model import Part, RowOutcome, Upload
from ..uploads.store import Uploads
from .model import caller_of, result_of, stored_caller
from .queue import Claim, ClaimLost, Jobs

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..accounts.model import Caller
    from ..management import Management
    from .model import Job, State

READ = "table-read"
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
_BLOCK = 1000
_BUSY_SECONDS = 1.0
_UNSHOWN = ("identifier", "created", "changed", "spelling")
_DEFAULTS = {"kind": "located", "status": "live", "passthrough": "false", "scope": "name", "redirect": "302"}
_DEFAULTS["listed"] = "true"


class UploadJobs:
    """The jobs of uploads in the database of ``management``. ``jobs`` are the jobs of the site."""

    def __init__(self, management: Management, jobs: Jobs) -> None:
        self.management = management
        self.jobs = jobs
        self.uploads = Uploads(management.accounts)

    def read(self, connection: Connection, caller: Caller, name: str, content: bytes) -> Upload | None:
        """Store a large workbook, and start the job that reads it, in a transaction.

        - ``connection``: the connection of the transaction.
        - ``caller``: the account that makes the request.
        - ``name``: the name of the file.
        - ``content``: the bytes of the workbook.

        The result is the upload, or None if the account has the maximum number of uploads.
        """
        reading = Reading(format="workbook", encoding="utf-8", separator="")
        upload = self.uploads.add(connection, caller.account.number, name, content, reading, 0)
        if upload is not None:
            parameters = {"upload": upload.number, "caller": stored_caller(caller)}
            job = self.jobs.add(connection, caller.account.number, READ, parameters, b"", 0)
            self.uploads.begin(connection, upload, "new", job.number)
        return upload

    def preview(self, connection: Connection, caller: Caller, upload: Upload, reading: Reading) -> bool:
        """Start a preview of an import in a transaction. Return False if another request has changed the upload.

        - ``connection``: the connection of the transaction.
        - ``caller``: the account that makes the request.
        - ``upload``: the uploaded table.
        - ``reading``: how the table is read, such as its columns.
        """
        return self._start(connection, caller, upload, PREVIEW, reading)

    def import_rows(self, connection: Connection, caller: Caller, upload: Upload, *, skip_refused: bool) -> bool:
        """Start the import of a previewed upload in a transaction. Return False if another request has changed the
        upload.

        - ``connection``: the connection of the transaction.
        - ``caller``: the account that makes the request.
        - ``upload``: the uploaded table.
        - ``skip_refused``: skip the rows that the preview refused.
        """
        return self._start(connection, caller, upload, IMPORT, None, skip_refused=skip_refused)

    def add(
        self, connection: Connection, caller: Caller, name: str, proposal: Proposal, *, dry_run: bool
    ) -> Job | None:
        """Store a table, and start its preview, or its import without a preview, in a transaction.

        - ``connection``: the connection of the transaction.
        - ``caller``: the account that makes the request.
        - ``name``: the name of the file.
        - ``proposal``: the content to store, and how it is read.
        - ``dry_run``: whether to start a preview instead of the import.

        The result is the job, or None if the account has the maximum number of uploads.
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

        ``claim`` is the claim of this worker to the job. ``progress`` is a function that gets the number of processed
        rows.

        An import checks all rows first, and writes nothing if one is refused. If a permission of the caller is revoked
        while rows are written, the job fails, and the rows so far stay written.
        """
        job = claim.job
        upload = self.uploads.get(job.parameters["upload"])
        if upload is None or upload.job != job.number:
            self.jobs.end(claim, "cancelled", {})
            return
        if job.kind == READ:
            self._read(claim, upload)
            return
        work = _Work(self, claim, upload, progress)
        try:
            work.caller = caller_of(self.management.accounts, job.parameters["caller"])
            work.carry_out()
        except TableError as error:
            self._not_read(claim, error)
        except BindingsUnavailable:
            raise  # a database that cannot be read now
        except BindingError as error:
            end_import(work.blocks, self.jobs, claim, error)

    def _read(self, claim: Claim, upload: Upload) -> None:
        """Read a workbook in a process of its own, and store its converted sheets."""
        content = self.uploads.data(upload.number)
        while True:
            try:
                proposal = sheet.stored(content, upload.name)
                break
            except TableError as error:
                self._not_read(claim, error)
                return
            except Busy:
                time.sleep(_BUSY_SECONDS)
        proposal = self.uploads.with_remembered(proposal, upload.account, upload.name)

        def write(connection: Connection) -> None:
            self.uploads.replace(connection, upload.number, claim.job.number, proposal)
            self.jobs.finish(connection, claim, "done", {}, proposal.rows)

        self.uploads.accounts.write(write)

    def _not_read(self, claim: Claim, error: TableError) -> None:
        problem = {"code": error.code, "detail": error.message, "line": error.line, "expected": error.expected}
        self.jobs.end(claim, "failed", {"problem": problem})


def end_import(blocks: ImportBlocks, jobs: Jobs, claim: Claim, error: BindingError) -> None:
    """End the job of an import that cannot continue. The rows so far stay written.

    - ``blocks``: the rows of the table, in blocks.
    - ``jobs``: the store of the jobs.
    - ``claim``: the claim to the job.
    - ``error``: the reason for the end.
    """
    result: dict[str, Any] = {}
    detail = error.message
    with blocks.ending() as (connection, operation):
        if operation is not None:
            result["operation"] = operation
            detail = Translatable(
                "%(problem)s; operation %(operation)s has the changes so far, which can be undone",
                problem=detail,
                operation=str(operation),
            )
        jobs.finish(connection, claim, "failed", result | {"problem": {"code": error.code, "detail": detail}})


class _Work:
    """One preview or import of an upload."""

    caller: Caller

    def __init__(self, jobs: UploadJobs, claim: Claim, upload: Upload, progress: Callable[[int], None]) -> None:
        self._jobs, self._uploads, self._bulk = jobs.jobs, jobs.uploads, jobs.management.bulk
        self._claim, self._upload, self._progress = claim, upload, progress
        self._job = claim.job
        self._content = jobs.uploads.data(upload.number)
        self._skipped: frozenset[int] = frozenset()
        if self._job.parameters["skip_refused"]:
            refused = self._uploads.each_row(upload.number, "refused")
            self._skipped = frozenset(row.line for _, row in refused)
        self._mint = upload.reading.minting
        table = ImportedTable(
            validation.shown(upload.name, 200),
            self._rows,
            self._mint,
            upload.reading.relocate,
            not self._is_administrator(jobs),
        )
        self.blocks = ImportBlocks(jobs.management.bindings, self._job.number, table)

    def _is_administrator(self, jobs: UploadJobs) -> bool:
        found = jobs.management.accounts.current(*self._job.parameters["caller"][:2])
        return found is not None and found.is_administrator

    def carry_out(self) -> None:
        if self._job.kind == PREVIEW:
            summary = self._check()
            self._end("done", summary)
            return
        checked = Summary()
        if self.blocks.begun is None:
            checked = self._check_again() if self._job.parameters.get("has_preview", True) else self._check()
            if checked.refusals:
                self._end("failed", checked)
                return
        self._write(checked)

    def _check(self) -> Summary:
        """Check the rows, and store the outcome of each. What an interrupted check has stored is deleted before."""
        self._uploads.clear_rows(self._upload.number)
        outcomes: list[RowOutcome] = []
        counted: Counter[Part] = Counter()

        def beat(number: int) -> None:
            if not self._store(outcomes, counted, number):
                raise ClaimLost(str(self._job.number))
            outcomes.clear()
            self._progress(number)

        summary = self._bulk.check_table(
            self.caller,
            self.blocks,
            self._mint,
            beat=beat,
            report=lambda kind, noted, cells: outcomes.append(_noted(kind, noted)),
            effect=lambda imported: outcomes.append(_effect(imported, is_kept=False)),
        )
        self._store(outcomes, counted, summary.lines)  # warnings about the end
        return summary

    def _store(self, outcomes: Sequence[RowOutcome], counted: Counter[Part], number: int) -> bool:
        def write(connection: Connection) -> tuple[bool, Counter[Part]]:
            self._jobs.advance(connection, self._claim, number)
            new = counted.copy()  # a transaction can be repeated
            is_last = self._uploads.add_rows(connection, self._upload.number, self._job.number, outcomes, new)
            return is_last, new

        is_last, new = self._uploads.accounts.write(write)
        counted.update(new - counted)
        return is_last

    def _check_again(self) -> Summary:
        """Check that the rows have the effects of the preview. If some have not, record that these rows are refused."""
        refused: list[RowOutcome] = []
        with closing(_Preview(self._uploads, self._upload.number)) as preview:
            summary = self._bulk.check_table(
                self.caller,
                self.blocks,
                self._mint,
                beat=self._progress,
                report=lambda kind, noted, cells: refused.append(_noted(kind, noted)) if kind == "refused" else None,
                expect=preview.differs,
            )
            for begin in range(0, len(refused), _BLOCK):
                some = refused[begin : begin + _BLOCK]
                self._uploads.accounts.write(lambda connection, some=some: self._refuse(connection, preview, some))
        return summary

    def _refuse(self, connection: Connection, preview: _Preview, rows: Sequence[RowOutcome]) -> None:
        """Record rows as refused that the preview had accepted."""
        self._jobs.advance(connection, self._claim, self._claim.job.progress)
        places = [place for row in rows if (place := preview.place(row.line))]
        self._uploads.refuse_rows(connection, self._upload.number, places, rows)

    def _write(self, checked: Summary) -> None:
        """Import the rows that were checked. Their outcomes stay, and get the new names."""
        number = self._upload.number
        names: list[tuple[Part, int, str]] = []
        with closing(_Preview(self._uploads, number)) as preview:

            def effect(imported: ImportEffect) -> None:
                if imported.minted and isinstance(imported.after, Binding) and (place := preview.place(imported.line)):
                    names.append((*place, imported.after.identifier))

            def after(connection: Connection) -> None:
                self._uploads.name_rows(connection, number, names)
                names.clear()

            def beat(connection: Connection, lines: int) -> None:
                self._jobs.advance(connection, self._claim, lines)
                self._progress(lines)

            def finish(connection: Connection, summary: Summary) -> None:
                if self._skipped:
                    self._uploads.leave_out(connection, number)
                self._jobs.finish(connection, self._claim, "done", result_of(summary), summary.lines)

            summary = self._bulk.write_table(
                self.caller,
                self.blocks,
                self._mint,
                checked=checked,
                beat=beat,
                finish=finish,
                effect=effect,
                expect=preview.differs,
                after=after,
            )
            if summary.refusals:
                # A name was changed since the check.
                with self.blocks.ending() as (connection, _):
                    self._refuse(connection, preview, [_noted("refused", noted) for noted in summary.refused])
                    self._jobs.finish(connection, self._claim, "failed", result_of(summary), summary.kept)

    def _end(self, state: State, summary: Summary) -> None:
        self._jobs.end(self._claim, state, result_of(summary), summary.lines)

    def _rows(self, read_as: ReadAs) -> Iterator[Row]:
        for row in sheet.rows(self._content, self._upload.reading, self._upload.name, read_as):
            if row.line not in self._skipped:
                yield row


class _Preview:
    """The effects that the preview has found for the rows of an upload, in a temporary table."""

    def __init__(self, uploads: Uploads, number: int) -> None:
        columns = "part TEXT, number INTEGER, outcome TEXT, identifier TEXT, changes TEXT"
        self._spill = Spill(f"effects (line INTEGER PRIMARY KEY, {columns})", "the import")
        for part in _EFFECTS:
            rows = uploads.each_row(number, part)
            stored = (
                (row.line, part, at, row.outcome, row.identifier, json.dumps(dict(row.changes))) for at, row in rows
            )
            self._spill.add("INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?)", stored)

    def differs(self, imported: ImportEffect) -> str | None:
        """Return why the effect of a row is another one than in the preview, or None: an :data:`Expect`."""
        row = _effect(imported)
        identifier = "" if imported.minted else row.identifier
        query = "SELECT outcome, identifier, changes FROM effects WHERE line = ?"
        found = next(self._spill.rows(query, (imported.line,)), None)
        if found and found[:2] == (row.outcome, identifier) and found[2] == json.dumps(row.changes):
            return None
        return Translatable("the recorded values are not those of the preview")

    def place(self, line: int) -> tuple[Part, int] | None:
        """Return the part and the number of the outcome of a row, or None for a row that the preview refused."""
        found = next(self._spill.rows("SELECT part, number FROM effects WHERE line = ?", (line,)), None)
        return (found[0], found[1]) if found else None

    def close(self) -> None:
        self._spill.close()


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


def _effect(imported: ImportEffect, *, is_kept: bool = True) -> RowOutcome:
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
