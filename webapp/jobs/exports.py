"""Exports of many names as jobs: one snapshot of the names, written to a file that the database keeps for a time."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from itertools import count
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, cast

from sqlalchemy import bindparam, delete, func, insert, select, text

from ...bindings.imports.exporting import name_lines
from ...bindings.names.errors import BindingError, BindingsUnavailable
from ...bindings.names.selection import Selection
from ...bindings.storage.store import read_current
from ...bindings.storage.tables.account_tables import jobs as jobs_table
from ...bindings.storage.tables.desk_tables import export_parts
from ...bindings.storage.tables.retention import COPIES_KEPT
from ...bindings.tables import delimited
from ...bindings.tables.delimited import BYTE_ORDER_MARK, LineWriter
from ...bindings.tables.formulas import remove_marks
from ...bindings.tables.text_tables import Format
from ...identifiers.text.translatable import Translatable
from ..errors import HTTPRefusal
from ..management.permissions import require_reader
from .model import Job, caller_of, stored_caller
from .queue import RETRY_SECONDS, Claim, Jobs
from .turns import pass_on

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..accounts.model import Caller
    from ..accounts.store import Accounts

KIND = "export"

MAX_UNFINISHED = 2
"""The maximum number of exports of one account that wait or run."""

MAX_KEPT = 10
"""The maximum number of files of one account. A new one replaces the oldest."""

Separator = Literal["comma", "semicolon", "tab"]
SEPARATORS: Mapping[Separator, str] = {"comma": ",", "semicolon": ";", "tab": "\t"}

_PART_BYTES = 2**20
_IN_MEMORY = 8 * 2**20
_EVERY = 1000
_TIMES = ("created_since", "created_before", "changed_since", "changed_before", "now")
_TUPLES = ("targets", "words", "element", "beginnings")

_PART = select(export_parts.c.data).where(
    export_parts.c.job == bindparam("job"), export_parts.c.place == bindparam("place")
)
_UNFINISHED = (
    select(func.count())
    .select_from(jobs_table)
    .where(
        jobs_table.c.account == bindparam("account"),
        jobs_table.c.kind == KIND,
        text("state IN ('waiting', 'running')"),
    )
)
_NUMBERS = (
    select(jobs_table.c.id)
    .where(jobs_table.c.account == bindparam("account"), jobs_table.c.kind == KIND)
    .order_by(jobs_table.c.id.desc())
    .limit(MAX_KEPT)
)


class FileFormat(NamedTuple):
    """The format of a file. ``bom`` is whether CSV and TSV begin with a byte order mark, so that Excel reads UTF-8."""

    format: Format
    separator: Separator = "comma"
    bom: bool = False

    @property
    def content_type(self) -> str:
        """The media type of the file."""
        return {
            "csv": "text/csv; charset=utf-8; header=present",
            "tsv": "text/tab-separated-values; charset=utf-8",
        }.get(self.format, "application/x-ndjson")


class ExportJobs:
    """The exports in the database of ``accounts``."""

    def __init__(self, accounts: Accounts, jobs: Jobs) -> None:
        self.accounts = accounts
        self.jobs = jobs

    def add(self, connection: Connection, caller: Caller, chain: Sequence[Selection], file: FileFormat) -> Job:
        """Add a job that exports the names of several selections, in a transaction.
        Raises :class:`HTTPRefusal` (429) if :data:`MAX_UNFINISHED` exports of the account wait or run.
        """
        require_few(connection, caller.account.number)
        parameters = {"chain": [*map(_as_json, chain)], "file": file._asdict(), "caller": stored_caller(caller)}
        return self.jobs.add(connection, caller.account.number, KIND, parameters, b"", 0)

    def of_account(self, account: int) -> list[Job]:
        """Return the last :data:`MAX_KEPT` exports of an account, the newest first."""
        found = self.accounts.read(_NUMBERS, account=account)
        return [job for (number,) in found if (job := self.jobs.get(number)) is not None]

    def has_file(self, job: Job) -> bool:
        """Return whether an export is done and its file stored. It is deleted :data:`.COPIES_KEPT` after the end."""
        return job.state == "done" and bool(self.accounts.read(_PART, job=job.number, place=0))

    def content(self, job: Job) -> Iterator[bytes]:
        """Yield the file of an export in parts. Raises :class:`BindingError` if it is deleted meanwhile."""
        unpacked = zlib.decompressobj()
        for place in count():
            found = self.accounts.read(_PART, job=job.number, place=place)
            if not found:
                break
            more = bytes(found[0][0])
            while more:
                yield unpacked.decompress(more, _PART_BYTES)
                more = unpacked.unconsumed_tail
        if not unpacked.eof:
            # The client then sees that the file is not complete.
            raise BindingError(
                "export-deleted",
                Translatable("the file of the export %(number)s was deleted meanwhile", number=str(job.number)),
            )

    def content_for_people(self, job: Job) -> Iterator[bytes]:
        """Yield the file of an export for a person: CSV and TSV get marks before formulas. See :meth:`content`."""
        wanted = FileFormat(**job.parameters["file"])
        if wanted.bom or wanted.format == "jsonl":
            yield from self.content(job)
            return
        with SpooledTemporaryFile(_IN_MEMORY) as file:
            for part in self.content(job):
                file.write(part)
            file.seek(0)
            delimiter = "\t" if wanted.format == "tsv" else SEPARATORS[wanted.separator]
            line = LineWriter(delimiter, end="\n")
            yield BYTE_ORDER_MARK.encode()
            for record in delimited.read(cast("BinaryIO", file), delimiter):
                yield line(map(remove_marks, record.fields)).encode()

    def carry_out(self, claim: Claim, progress: Callable[[int], None]) -> None:
        """Write and store the file of an export, and finish its job. ``progress`` gets the number of written names."""
        parameters, number = claim.job.parameters, claim.job.number
        try:
            require_reader(caller_of(self.accounts, parameters["caller"]))
            with SpooledTemporaryFile(_IN_MEMORY) as file:
                # The rows are written first, so that the snapshot is not open while the parts are stored.
                names, size = self._write(claim, file, progress)
                file.seek(0)
                self.accounts.run_in_transaction(lambda connection: _delete(connection, number))
                for place in count():
                    if not (part := file.read(_PART_BYTES)):
                        break
                    row = {"job": number, "place": place, "data": part}
                    self.accounts.run_in_transaction(
                        lambda connection, row=row: self._store(connection, claim, row, names)
                    )
                    pass_on()
        except BindingsUnavailable:
            raise  # a database that cannot be read now
        except BindingError as error:
            self.jobs.end(claim, "failed", {"problem": {"code": error.code, "detail": error.message}})
            return

        def finish(connection: Connection) -> None:
            self.jobs.finish(connection, claim, "done", {"names": names, "bytes": size}, names)
            account = claim.job.account
            older = [
                each for (each,) in connection.execute(_NUMBERS.limit(None).offset(MAX_KEPT), {"account": account})
            ]
            for each in older:
                _delete(connection, each)

        self.accounts.run_in_transaction(finish)

    def _write(self, claim: Claim, to: SpooledTemporaryFile[bytes], progress: Callable[[int], None]) -> tuple[int, int]:
        """Write the compressed file, and return the numbers of its names and of its bytes before the compression."""
        wanted = FileFormat(**claim.job.parameters["file"])
        chain = [_from_json(each) for each in claim.job.parameters["chain"]]
        packed, names, size = zlib.compressobj(), 0, 0
        separator = None if wanted.format != "csv" else SEPARATORS[wanted.separator]
        read_current(True)
        try:
            with closing(
                name_lines(self.accounts.bindings, chain, wanted.format, delimiter=separator, bom=wanted.bom)
            ) as lines:
                for line in lines:
                    content = line.encode()
                    size += len(content)
                    to.write(packed.compress(content))
                    names += 1
                    if names % _EVERY == 0:
                        progress(names)
                        pass_on()
        finally:
            read_current(False)
        to.write(packed.flush())
        return names - (wanted.format != "jsonl"), size

    def _store(self, connection: Connection, claim: Claim, row: Mapping[str, Any], names: int) -> None:
        self.jobs.advance(connection, claim, names)
        connection.execute(insert(export_parts), [row])


def require_few(connection: Connection, account: int | None) -> None:
    """Raise :class:`HTTPRefusal` (429) if :data:`MAX_UNFINISHED` exports of an account wait or run."""
    if connection.execute(_UNFINISHED, {"account": account}).scalar_one() >= MAX_UNFINISHED:
        raise HTTPRefusal(
            429,
            "too-many-exports",
            Translatable(
                "%(number)s exports of your account wait or run, the maximum. Wait for one of them.",
                number=MAX_UNFINISHED,
            ),
            retry_after=RETRY_SECONDS,
        )


def expires(job: Job) -> datetime:
    """Return the time from which the file of an export is deleted."""
    return job.changed + COPIES_KEPT


def _delete(connection: Connection, number: int) -> None:
    connection.execute(delete(export_parts).where(export_parts.c.job == number))


def _as_json(selection: Selection) -> dict[str, Any]:
    """Return a selection for JSON, without the conditions that are not set."""
    set_ones = {name: value for name, value in asdict(selection).items() if value not in (None, (), False)}
    if selection.beginnings == ():
        set_ones["beginnings"] = ()  # which selects no name
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in set_ones.items()}


def _from_json(stored: Mapping[str, Any]) -> Selection:
    """Return the selection of :func:`_as_json`.

    >>> selection = Selection(words=("map",), created_since=datetime(2026, 11, 26), sort="title", descending=True)
    >>> _from_json(_as_json(selection)) == selection
    True
    """
    tuples = {name: tuple(stored[name]) for name in _TUPLES if name in stored}
    times = {name: datetime.fromisoformat(stored[name]) for name in _TIMES if name in stored}
    return replace(Selection(), **{**stored, **tuples, **times})
