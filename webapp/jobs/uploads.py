"""The two jobs of an upload: a preview, which writes no name but the outcome of each row, and the import.
The import checks that the rows still have these outcomes, and writes them in short transactions
(:mod:`~ararat.bindings.operations.runner`).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ...bindings.imports.summary import ImportEffect, NotedLine, Summary
from ...bindings.imports.table_rows import ImportedTable, Listeners
from ...bindings.names import validation
from ...bindings.names.binding import Binding
from ...bindings.names.errors import TableError
from ...bindings.storage.spill import Spill
from ...bindings.system.concurrency import Busy
from ...bindings.tables.columns import Row, cells
from ...bindings.tables.text_stream import ReadAs
from ...identifiers.text.translatable import Translatable
from ...spreadsheets import sheet
from ...spreadsheets.reading import Reading
from ...spreadsheets.sheet import Proposal
from ..accounts.model import Preferences
from ..uploads.model import Part, RowOutcome, Upload
from ..uploads.store import Uploads
from . import turns
from .model import stored_caller
from .queue import Claim, ClaimLost, Jobs
from .table_import import carry_out_import

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ...bindings.operations.runner import OperationRun
    from ..accounts.model import Caller
    from ..accounts.store import Accounts
    from .model import Job

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
    """The jobs of uploads in the database of ``accounts``."""

    def __init__(self, accounts: Accounts, jobs: Jobs) -> None:
        self.accounts = accounts
        self.jobs = jobs
        self.uploads = Uploads(accounts)

    def read(self, connection: Connection, caller: Caller, name: str, content: bytes) -> Upload | None:
        """Store a large workbook, and start the job that reads it, in a transaction.
        Return None if the account has the maximum number of uploads.
        """
        reading = Reading(format="workbook", encoding="utf-8", separator="")
        upload = self.uploads.add(connection, caller.account.number, name, content, reading, 0)
        if upload is not None:
            parameters = {"upload": upload.number, "caller": stored_caller(caller)}
            job = self.jobs.add(connection, caller.account.number, READ, parameters, b"", 0)
            self.uploads.begin(connection, upload, "new", job.number)
        return upload

    def preview(self, connection: Connection, caller: Caller, upload: Upload, reading: Reading) -> bool:
        """Start the preview of an import in a transaction. Return False if the upload was changed since it was read."""
        return self._start(connection, caller, upload, PREVIEW, reading)

    def import_rows(
        self, connection: Connection, caller: Caller, upload: Upload, *, skip_refused: bool, atomic: bool = False
    ) -> bool:
        """Start the import of a previewed upload in a transaction. Return False if another request has changed the
        upload. ``skip_refused`` skips the rows that the preview refused.
        """
        return self._start(connection, caller, upload, IMPORT, None, skip_refused=skip_refused, atomic=atomic)

    def add(
        self,
        connection: Connection,
        caller: Caller,
        name: str,
        proposal: Proposal,
        *,
        original: bytes,
        dry_run: bool,
        atomic: bool = False,
    ) -> Job | None:
        """Store a table, and start its preview, or its import without a preview, in a transaction. ``original`` is the
        file as it was sent. Return None if the account has the maximum number of uploads.
        """
        upload = self.uploads.add(connection, caller.account.number, name, *proposal, original=original)
        if upload is None:
            return None
        parameters = {"upload": upload.number, "caller": stored_caller(caller), "skip_refused": False}
        kind = PREVIEW if dry_run else IMPORT
        parameters |= {"has_preview": False, "format": upload.reading.format, "atomic": atomic}
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
        atomic: bool = False,
    ) -> bool:
        parameters = {"upload": upload.number, "caller": stored_caller(caller), "skip_refused": skip_refused}
        # A person means the days of her time zone.
        parameters |= {"time_zone": caller.account.preferences.time_zone} | ({"atomic": True} if atomic else {})
        job = self.jobs.add(connection, caller.account.number, kind, parameters, b"", upload.lines)
        return self.uploads.begin(connection, upload, "preview" if kind == PREVIEW else "import", job.number, reading)

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Preview or import the rows of an upload, and finish the job. ``progress`` gets the number of processed rows.
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
        try:
            _Work(self, claim, upload, progress).carry_out()
        except TableError as error:
            self._not_read(claim, error)

    def _read(self, claim: Claim, upload: Upload) -> None:
        """Read a workbook in a process of its own, and store its converted sheets."""
        content = self.uploads.data(upload.number)
        try:
            with turns.apart():
                proposal = self._convert(content, upload.name)
        except TableError as error:
            self._not_read(claim, error)
            return
        proposal = self.uploads.with_remembered(proposal, upload.account, upload.name)

        def write(connection: Connection) -> None:
            self.uploads.replace(connection, upload.number, claim.job.number, proposal)
            self.jobs.finish(connection, claim, "done", {}, proposal.rows)

        self.uploads.accounts.run_in_transaction(write)

    def _convert(self, content: bytes, name: str) -> Proposal:
        while True:
            try:
                return sheet.convert_upload(content, name)
            except Busy:
                time.sleep(_BUSY_SECONDS)

    def _not_read(self, claim: Claim, error: TableError) -> None:
        problem = {"code": error.code, "detail": error.message, "line": error.line, "expected": error.expected}
        self.jobs.end(claim, "failed", {"problem": problem})


class _Work:
    """One preview or import of an upload."""

    def __init__(self, jobs: UploadJobs, claim: Claim, upload: Upload, progress: Callable[[int], None]) -> None:
        self._accounts, self._jobs, self._uploads = jobs.accounts, jobs.jobs, jobs.uploads
        self._claim, self._upload, self._progress = claim, upload, progress
        self._job = claim.job
        self._content = jobs.uploads.data(upload.number)
        self._skipped: frozenset[int] = frozenset()
        if self._job.parameters["skip_refused"]:
            refused = self._uploads.each_row(upload.number, "refused")
            self._skipped = frozenset(row.line for _, row in refused)
        self._has_preview = self._job.kind == IMPORT and self._job.parameters.get("has_preview", True)
        self._outcomes: list[RowOutcome] = []
        self._counted: Counter[Part] = Counter()
        self._names: list[tuple[Part, int, str]] = []

    def carry_out(self) -> None:
        upload, mint = self._upload, self._upload.reading.minting
        reading = upload.reading
        options = {name: getattr(reading, name) for name in ("relocate", "renumber", "keeps_numbers")}
        table = ImportedTable(validation.quote(upload.name, 200), self._rows, mint, **options)
        number = upload.number
        with closing(_Preview(self._uploads, number)) as preview:
            self._preview = preview
            listeners = Listeners(
                report=self._note,
                effect=None if self._has_preview else self._effect,
                written=self._name if mint else None,
                expect=preview.differs if self._has_preview else None,
                after=self._after,
            )
            carry_out_import(
                self._accounts,
                self._jobs,
                self._claim,
                table,
                self._store_progress,
                listeners,
                is_dry=self._job.kind == PREVIEW,
                check=self._check,
                at_end=lambda connection: self._uploads.leave_out(connection, number) if self._skipped else None,
            )

    def _note(self, kind: str, noted: NotedLine, cells: Mapping[str, str]) -> None:
        if kind == "refused" or not self._has_preview:
            self._outcomes.append(_outcome_of(kind, noted))

    def _effect(self, imported: ImportEffect) -> None:
        self._outcomes.append(_effect(imported, is_kept=False))

    def _name(self, imported: ImportEffect) -> None:
        """Note the name that was minted for a row."""
        if imported.minted and isinstance(imported.after, Binding):
            place = self._preview.place(imported.line)
            if place:
                self._names.append((*place, imported.after.identifier))

    def _check(self, run: OperationRun[Summary]) -> Summary:
        """Check the rows, and store the outcome of each, or check that they have the effects of the preview.
        What an interrupted check has stored is deleted before.
        """
        if self._has_preview:
            summary = run.check()
            for begin in range(0, len(self._outcomes), _BLOCK):
                some = self._outcomes[begin : begin + _BLOCK]
                self._uploads.accounts.run_in_transaction(lambda connection, some=some: self._refuse(connection, some))
        else:
            self._uploads.clear_rows(self._upload.number)
            summary = run.check()
            self._store(summary.lines)  # warnings about the end
        self._outcomes.clear()
        self._has_preview = True
        return summary

    def _store_progress(self, number: int) -> None:
        if not self._has_preview:
            self._store(number)
        self._progress(number)

    def _store(self, number: int) -> None:
        def write(connection: Connection) -> tuple[bool, Counter[Part]]:
            self._jobs.advance(connection, self._claim, number)
            new = self._counted.copy()  # a transaction can be repeated
            of = self._upload.number, self._job.number
            return self._uploads.add_rows(connection, *of, self._outcomes, new), new

        is_mine, new = self._uploads.accounts.run_in_transaction(write)
        if not is_mine:
            raise ClaimLost(str(self._job.number))
        self._counted.update(new - self._counted)
        self._outcomes.clear()

    def _after(self, connection: Connection) -> None:
        """Store the new names of the rows, and the rows that were refused since the check."""
        self._uploads.name_rows(connection, self._upload.number, self._names)
        self._names.clear()
        if self._outcomes:
            self._refuse(connection, self._outcomes)
            self._outcomes.clear()

    def _refuse(self, connection: Connection, rows: Sequence[RowOutcome]) -> None:
        """Record rows as refused that the preview had accepted."""
        self._jobs.advance(connection, self._claim, self._claim.job.progress)
        places = [place for row in rows if (place := self._preview.place(row.line))]
        self._uploads.refuse_rows(connection, self._upload.number, places, rows)

    def _rows(self, read_as: ReadAs) -> Iterator[Row]:
        preferences = Preferences(time_zone=self._job.parameters.get("time_zone", ""))
        for row in sheet.rows(self._content, self._upload.reading, self._upload.name, read_as):
            if row.line not in self._skipped:
                day = row.cells.get("embargo")
                yield row._replace(cells={**row.cells, "embargo": preferences.with_time(day)}) if day else row


class _Preview:
    """The effects that the preview has found for the rows of an upload, in a temporary table."""

    def __init__(self, uploads: Uploads, number: int) -> None:
        self._uploads, self._number = uploads, number
        columns = "part TEXT, number INTEGER, outcome TEXT, identifier TEXT, changes TEXT"
        self._spill = Spill(f"effects (line INTEGER PRIMARY KEY, {columns})", "the import")
        self._is_filled = False

    def _fill(self) -> None:
        """Read the effects that are stored, once."""
        if self._is_filled:
            return
        self._is_filled = True
        for part in _EFFECTS:
            rows = self._uploads.each_row(self._number, part)
            stored = (
                (row.line, part, at, row.outcome, row.identifier, json.dumps(dict(row.changes))) for at, row in rows
            )
            self._spill.add("INSERT INTO effects VALUES (?, ?, ?, ?, ?, ?)", stored)

    def differs(self, imported: ImportEffect) -> str | None:
        """Return why the effect of a row is another one than in the preview, or None: an :data:`Expect`."""
        self._fill()
        row = _effect(imported)
        identifier = "" if imported.minted else row.identifier
        query = "SELECT outcome, identifier, changes FROM effects WHERE line = ?"
        found = next(self._spill.rows(query, (imported.line,)), None)
        if found and found[:2] == (row.outcome, identifier) and found[2] == json.dumps(row.changes):
            return None
        return Translatable("the recorded values are not those of the preview")

    def place(self, line: int) -> tuple[Part, int] | None:
        """Return the part and the number of the outcome of a row, or None for a row that the preview refused."""
        self._fill()
        found = next(self._spill.rows("SELECT part, number FROM effects WHERE line = ?", (line,)), None)
        return (found[0], found[1]) if found else None

    def close(self) -> None:
        self._spill.close()


def _outcome_of(kind: str, noted: NotedLine) -> RowOutcome:
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
        identifier=validation.quote(identifier, 400),
        changes=_changes(imported.before, after) if isinstance(after, Binding) else {},
    )


def _changes(before: Binding | None, after: Binding) -> dict[str, tuple[str, str]]:
    """Return the values that differ, by column. Defaults of a new name are omitted."""
    old = _DEFAULTS if before is None else cells(before)
    new = cells(after)
    unshown = set(_UNSHOWN)
    if before is None and after.created != (after.recorded or after.changed):
        unshown -= {"created"}  # the table states it
    return {
        column: (_short(old.get(column, "") if before else ""), _short(new.get(column, "")))
        for column in dict.fromkeys((*new, *old))
        if column not in unshown and old.get(column) != new.get(column)
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}\u2026"
