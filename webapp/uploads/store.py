"""The uploaded tables in the database of the bindings, so that all server processes see them."""

from __future__ import annotations

import builtins
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from ...bindings.names.binding import rfc3339
from ...bindings.names.errors import TableError
from ...bindings.storage.tables.desk_tables import column_mappings, upload_rows, uploads
from ...bindings.storage.tables.retention import COPIES_KEPT
from ...bindings.storage.writing.inserts import new_row_number
from ...bindings.tables.delimited import Line
from ...identifiers.text.translatable import Translatable, pack, unpack
from ...spreadsheets import sheet
from ...spreadsheets.heading_words import fold_heading
from ...spreadsheets.reading import Reading
from ...spreadsheets.result_table import HEADING, ProblemColumns
from ...spreadsheets.sheet import Proposal
from ..language.current import languages, use
from ..language.translation import translate
from .model import MAX_UPLOADS, PARTS, Part, RowOutcome, Stage, Upload

if TYPE_CHECKING:
    from ..accounts.store import Accounts

LIFETIME = COPIES_KEPT
"""The time after the last use of an upload after which it is deleted. The operation of its import remains."""

MAX_MAPPINGS = 200
"""The maximum number of tables for which the selected columns of an account are remembered."""

MAX_NUMBER = 2**31 - 1
"""The largest number of an upload."""

_BLOCK = 1000
_SEARCHED_ROWS = 50
_MOST_SHEETS = 20
_DELETED_AT_ONCE = 20_000
_COLUMNS = (
    *(uploads.c.id, uploads.c.account, uploads.c.name, uploads.c.lines, uploads.c.reading, uploads.c.stage),
    *(uploads.c.job, uploads.c.created, uploads.c.changed),
)
_ONE = select(*_COLUMNS).where(uploads.c.id == bindparam("number"))
_XLSX = b"PK\x03\x04"
_ORIGINAL = select(uploads.c.original).where(uploads.c.id == bindparam("number"))
_DATA = select(uploads.c.data).where(uploads.c.id == bindparam("number"))
_BELOW = select(*_COLUMNS).where(uploads.c.id < bindparam("below")).order_by(uploads.c.id.desc())
_PAGE = _BELOW.limit(bindparam("most"))
_PAGE_OF_ACCOUNT = _BELOW.where(uploads.c.account == bindparam("account")).limit(bindparam("most"))
_COUNT_OF_ACCOUNT = select(func.count()).where(uploads.c.account == bindparam("account"))
_ROWS = (
    select(upload_rows)
    .where(
        upload_rows.c.upload == bindparam("upload"),
        upload_rows.c.part == bindparam("part"),
        upload_rows.c.number > bindparam("after"),
    )
    .order_by(upload_rows.c.number)
    .limit(bindparam("most"))
)
_SOME = (
    select(upload_rows.c.number)
    .where(upload_rows.c.upload == bindparam("upload"), upload_rows.c.part == bindparam("part"))
    .order_by(upload_rows.c.number)
    .limit(bindparam("most"))
    .subquery()
)
_LAST_OF_SOME = select(func.max(_SOME.c.number))
_NAME_ROW = (
    update(upload_rows)
    .where(
        upload_rows.c.upload == bindparam("of"),
        upload_rows.c.part == bindparam("in"),
        upload_rows.c.number == bindparam("at"),
    )
    .values(identifier=bindparam("name"))
)
_CAUSES = (
    select(upload_rows.c.code, func.count())
    .where(upload_rows.c.upload == bindparam("upload"), upload_rows.c.part == bindparam("part"))
    .group_by(upload_rows.c.code)
    .order_by(func.count().desc(), upload_rows.c.code)
)
_COUNTS = (
    select(upload_rows.c.part, upload_rows.c.outcome, func.count())
    .where(upload_rows.c.upload == bindparam("upload"))
    .group_by(upload_rows.c.part, upload_rows.c.outcome)
)


_NEWEST = column_mappings.c.changed.desc()
_MAPPINGS = (
    select(column_mappings.c.headings, column_mappings.c.prefix, column_mappings.c.reading, column_mappings.c.changed)
    .where(column_mappings.c.account == bindparam("account"))
    .order_by(_NEWEST)
)
_MAPPINGS_OF_ACCOUNT = (
    select(column_mappings.c.prefix, column_mappings.c.headings)
    .where(column_mappings.c.account == bindparam("account"))
    .order_by(_NEWEST)
)


class RememberedColumns(NamedTuple):
    """The columns that an account selected for a table: ``values`` by heading, and a hash of its headings.
    ``prefix`` is the shoulder below which it mints, or "".
    """

    headings: str
    prefix: str
    values: Mapping[str, Any]
    changed: datetime

    @property
    def place(self) -> tuple[str, int]:
        """The name of the sheet, or "", and the number of the row with the headings, or 0."""
        return self.values.get("sheet", ""), self.values.get("heading_row", 0)


class Uploads:
    """The store of uploaded tables, in the database of ``accounts``."""

    def __init__(self, accounts: Accounts) -> None:
        self.accounts = accounts

    def add(
        self,
        connection: Connection,
        account: int,
        name: str,
        data: bytes,
        reading: Reading,
        lines: int,
        *,
        original: bytes | None = None,
    ) -> Upload | None:
        """Store an uploaded file in a transaction, or return None if the account has :data:`MAX_UPLOADS`.
        Before that, delete all uploads that were not used for :data:`LIFETIME`. ``original`` is the uploaded workbook
        from which ``data`` was converted.
        """
        now = self.accounts.bindings.now()
        expired = select(uploads.c.id).where(uploads.c.changed < rfc3339(now - LIFETIME))
        for number in list(connection.execute(expired).scalars()):
            self.delete(connection, number)
        if connection.execute(_COUNT_OF_ACCOUNT, {"account": account}).scalar_one() >= MAX_UPLOADS:
            return None
        row = {
            "account": account,
            "name": name,
            "data": zlib.compress(data),
            "original": zlib.compress(original) if original is not None and original.startswith(_XLSX) else None,
            "lines": lines,
            "reading": json.dumps(reading.as_dict()),
            "stage": "new",
            "created": rfc3339(now),
            "changed": rfc3339(now),
        }
        return _upload(connection.execute(_ONE, {"number": new_row_number(connection, uploads, row)}).one())

    def get(self, number: int) -> Upload | None:
        """Return an uploaded table by its number, or None if it is unknown or deleted."""
        found = self.accounts.read(_ONE, number=number) if number <= MAX_NUMBER else None
        return _upload(found[0]) if found else None

    def data(self, number: int) -> bytes:
        """Return the bytes of an uploaded table, which must exist: the file, or the text to which it was converted."""
        ((stored,),) = self.accounts.read(_DATA, number=number)
        return zlib.decompress(stored)

    def original(self, number: int) -> bytes | None:
        """Return the uploaded .xlsx from which a table was converted, or None."""
        ((stored,),) = self.accounts.read(_ORIGINAL, number=number)
        return None if stored is None else zlib.decompress(stored)

    def list(self, account: int | None, below: int, limit: int) -> list[Upload]:
        """Return at most ``limit`` uploads with smaller numbers than ``below``, the newest first; of all accounts with
        None.
        """
        if account is None:
            found = self.accounts.read(_PAGE, below=below, most=limit)
        else:
            found = self.accounts.read(_PAGE_OF_ACCOUNT, below=below, most=limit, account=account)
        return [*map(_upload, found)]

    def remember(self, connection: Connection, account: int, headings: Sequence[str], reading: Reading) -> None:
        """Record the columns that an account selected for the headings of a table, in a transaction."""
        if not any(reading.columns):
            return
        chosen = {key: column for key, column in zip(_keys(headings), reading.columns, strict=False) if key}
        row = {"account": account, "prefix": reading.mint, "headings": _hash(headings)}
        same = [column_mappings.c[name] == value for name, value in row.items()]
        connection.execute(delete(column_mappings).where(*same))
        place = {"sheet": reading.sheet, "heading_row": reading.heading_row}
        row["reading"] = json.dumps({"columns": chosen, "state": reading.state, "finds": reading.finds, **place})
        connection.execute(insert(column_mappings), [row | {"changed": rfc3339(self.accounts.bindings.now())}])
        oldest = _MAPPINGS_OF_ACCOUNT.offset(MAX_MAPPINGS)
        for prefix, known in list(connection.execute(oldest, {"account": account})):
            of_row = (column_mappings.c.prefix == prefix, column_mappings.c.headings == known)
            connection.execute(delete(column_mappings).where(column_mappings.c.account == account, *of_row))

    def apply_last_columns(self, account: int, headings: Sequence[str], reading: Reading) -> Reading:
        """Return how a table is read, with the columns that an account selected last for the same headings, if it did.
        Without a shoulder in ``reading``, the last one of the account is used too.
        """
        wanted = _hash(headings)
        return self._apply_stored(
            [each for each in self.mappings(account) if each.headings == wanted], headings, reading
        )

    def is_remembered(self, account: int, headings: Sequence[str]) -> bool:
        """Return whether an account selected columns for the same headings before."""
        return any(each.headings == _hash(headings) for each in self.mappings(account))

    def mappings(self, account: int) -> builtins.list[RememberedColumns]:
        """Return the remembered columns of an account, the last ones first."""
        return [
            RememberedColumns(headings, prefix, json.loads(stored), datetime.fromisoformat(changed))
            for headings, prefix, stored, changed in self.accounts.read(_MAPPINGS, account=account)
        ]

    def forget(self, connection: Connection, account: int, headings: str, prefix: str) -> bool:
        """Delete :class:`RememberedColumns` in a transaction, and return whether there were any."""
        row = {"account": account, "headings": headings, "prefix": prefix}
        same = [column_mappings.c[name] == value for name, value in row.items()]
        return bool(connection.execute(delete(column_mappings).where(*same)).rowcount)

    def _apply_stored(self, found: Sequence[RememberedColumns], headings: Sequence[str], reading: Reading) -> Reading:
        if not found:
            return reading
        _, prefix, values, _ = next((each for each in found if each.prefix == reading.mint), found[0])
        chosen = values["columns"]
        columns = [chosen.get(key, guess) for key, guess in zip_longest(_keys(headings), reading.columns, fillvalue="")]
        columns = [column if column not in columns[:place] else "" for place, column in enumerate(columns)]
        mint = reading.mint or prefix
        return replace(
            reading, columns=columns, mint=mint, state=values["state"], finds=bool(mint and values.get("finds"))
        )

    def begin(
        self, connection: Connection, upload: Upload, stage: Stage, job: int | None, reading: Reading | None = None
    ) -> bool:
        """Set the next job of an upload, and how the file is read. None does not change that.
        Return False if another request has changed the upload since it was read. Then nothing is changed.
        """
        values: dict[str, Any] = {"stage": stage, "job": job, "changed": rfc3339(self.accounts.bindings.now())}
        if reading is not None:
            values["reading"] = json.dumps(reading.as_dict())
        is_same = (
            uploads.c.id == upload.number,
            uploads.c.stage == upload.stage,
            uploads.c.job.is_(None) if upload.job is None else uploads.c.job == upload.job,
        )
        return bool(connection.execute(update(uploads).where(*is_same).values(values)).rowcount)

    def replace(self, connection: Connection, number: int, job: int, proposal: Proposal) -> bool:
        """Store the converted file of an upload. Return False if another job was started in the meantime."""
        values: dict[str, Any] = {"data": zlib.compress(proposal.content), "lines": proposal.rows}
        if (uploaded := self.data(number)).startswith(_XLSX):
            values["original"] = zlib.compress(uploaded)
        values |= {"reading": json.dumps(proposal.reading.as_dict())}
        is_last = uploads.c.id == number, uploads.c.job == job
        return bool(connection.execute(update(uploads).where(*is_last).values(values)).rowcount)

    def with_remembered(self, proposal: Proposal, account: int, name: str) -> Proposal:
        """Return a proposal with the sheet, row of headings and columns that the account selected for such headings."""
        known: dict[str, builtins.list[RememberedColumns]] = {}
        for each in self.mappings(account):
            known.setdefault(each.headings, []).append(each)
        content, reading = proposal.content, proposal.reading
        if not known:
            return proposal
        last = [each.place for several in known.values() for each in several]
        names = [each.name for each in sheet.sheets(content)] if reading.format == "workbook" else [""]
        # The last sheet with these headings: a workbook has one for each year.
        by_sheet = sorted(
            names[:_MOST_SHEETS], key=lambda each: (each not in [at for at, _ in last], each != reading.sheet)
        )
        for sheet_name in by_sheet:
            read: builtins.list[Line] = []
            with suppress(TableError):  # the next page shows the error
                read.extend(islice(sheet.all_rows(content, replace(reading, sheet=sheet_name), name), _SEARCHED_ROWS))
            for row in read:
                named = sheet.headings_at(row, read, reading)
                if found := known.get(_hash(named)):
                    number = 0 if reading.format == "jsonl" else row.number
                    at = sheet.proposed_at(content, replace(reading, sheet=sheet_name, heading_row=number), name)
                    return at._replace(reading=self._apply_stored(found, named, at.reading))
        return proposal

    def delete(self, connection: Connection, number: int) -> None:
        """Delete an upload with the outcomes of its rows. The changes of its import remain."""
        connection.execute(delete(upload_rows).where(upload_rows.c.upload == number))
        connection.execute(delete(uploads).where(uploads.c.id == number))

    def clear_rows(self, upload: int) -> None:
        """Delete the outcomes of all rows of an upload, in short transactions, so that other writers do not wait."""
        for part in PARTS:
            # PostgreSQL has no row here if the number is null.
            while (found := self.accounts.read(_LAST_OF_SOME, upload=upload, part=part, most=_DELETED_AT_ONCE)) and (
                last := found[0][0]
            ):
                some = upload_rows.c.upload == upload, upload_rows.c.part == part, upload_rows.c.number <= last
                self.accounts.run_in_transaction(
                    lambda connection, some=some: connection.execute(delete(upload_rows).where(*some))
                )

    def add_rows(
        self, connection: Connection, upload: int, job: int, rows: Sequence[RowOutcome], counted: Counter[Part]
    ) -> bool:
        """Add outcomes of rows of an upload. Return whether the job is still the last one of the upload.
        The new outcomes are added to the numbers ``counted`` before.
        """
        is_last = uploads.c.id == upload, uploads.c.job == job
        if connection.execute(select(uploads.c.id).where(*is_last).with_for_update()).first() is None:
            return False
        block: list[dict[str, Any]] = []
        for row in rows:
            counted[row.part] += 1
            block.append(_values(upload, counted[row.part], row))
        if block:
            connection.execute(insert(upload_rows), block)
        return True

    def name_rows(self, connection: Connection, upload: int, names: Sequence[tuple[Part, int, str]]) -> None:
        """Record the new names of rows, which are given by their parts and numbers."""
        if names:
            values = [{"of": upload, "in": part, "at": number, "name": name} for part, number, name in names]
            connection.execute(_NAME_ROW, values)

    def refuse_rows(
        self, connection: Connection, upload: int, places: Sequence[tuple[Part, int]], rows: Sequence[RowOutcome]
    ) -> None:
        """Record rows, given by the parts and numbers of their earlier outcomes, as refused."""
        for part, number in places:
            of_row = upload_rows.c.upload == upload, upload_rows.c.part == part, upload_rows.c.number == number
            connection.execute(delete(upload_rows).where(*of_row))
        refused = upload_rows.c.upload == upload, upload_rows.c.part == "refused"
        last = connection.execute(select(func.max(upload_rows.c.number)).where(*refused)).scalar_one() or 0
        block = [_values(upload, last + place, row) for place, row in enumerate(rows, 1)]
        connection.execute(insert(upload_rows), block)

    def leave_out(self, connection: Connection, upload: int) -> None:
        """Set the outcome of the refused rows of an uploaded table to "left out", after an import without them."""
        refused = upload_rows.c.upload == upload, upload_rows.c.part == "refused"
        connection.execute(update(upload_rows).where(*refused).values(outcome="left out"))

    def each_row(self, upload: int, part: Part) -> Iterator[tuple[int, RowOutcome]]:
        """Yield the outcomes of all rows in one part of an upload, such as "refused", with their numbers."""
        after = 0
        while found := self.rows(upload, part, after, _BLOCK):
            after = found[-1][0]
            yield from found

    def rows(
        self,
        upload: int,
        part: Part,
        after: int,
        limit: int,
        *,
        code: str | None = None,
        matches: Callable[[RowOutcome], bool] | None = None,
    ) -> list[tuple[int, RowOutcome]]:
        """Return outcomes of the rows in one part of an upload, with their numbers: at most ``limit``, after the
        number ``after``. Only rows with the error or warning ``code``, and for which ``matches`` returns True, are
        returned. All rows are read for ``matches`` if necessary.
        """
        if matches is not None:
            found: list[tuple[int, RowOutcome]] = []
            while block := self.rows(upload, part, after, _BLOCK, code=code):
                after = block[-1][0]
                found += [each for each in block if matches(each[1])]
                if len(found) >= limit:
                    break
            return found[:limit]
        if code is None:
            rows = self.accounts.read(_ROWS, upload=upload, part=part, after=after, most=limit)
        else:
            chosen = upload_rows.c.upload == upload, upload_rows.c.part == part, upload_rows.c.number > after
            statement = select(upload_rows).where(*chosen, upload_rows.c.code == code)
            rows = self.accounts.read(statement.order_by(upload_rows.c.number).limit(limit))
        return [(row[2], _row(row)) for row in rows]

    def causes(self, upload: int, part: Part = "refused") -> list[tuple[str, int]]:
        """Return pairs of the code of an error or a warning and its number of rows, the most frequent first."""
        found = self.accounts.read(_CAUSES, upload=upload, part=part)
        return [(code or "", number) for code, number in found]

    def names(self, upload: int) -> Iterator[tuple[int, str]]:
        """Yield the line and the name of each row of an imported table that has a name."""
        for part in PARTS:
            if part not in ("refused", "warning"):
                yield from ((row.line, row.identifier) for _, row in self.each_row(upload, part) if row.identifier)

    def counts(self, upload: int) -> dict[Part, dict[str, int]]:
        """Return the numbers of rows of an uploaded table, by part and then by outcome."""
        counted: dict[Part, dict[str, int]] = {}
        for part, outcome, number in self.accounts.read(_COUNTS, upload=upload):
            counted.setdefault(part, {})[outcome] = number
        return counted


def _keys(headings: Sequence[str]) -> list[str]:
    """Return the key of each column: its heading, with a number if an earlier column has it too, or "" without one.

    >>> _keys(["Title", "Title", "", "Title (2)", ""])
    ['Title', 'Title (2)', '', 'Title (2) (2)', '']
    """
    keys: builtins.list[str] = []
    used: set[str] = set()
    numbers: Counter[str] = Counter()
    for heading in headings:
        key = heading
        while key in used:
            numbers[heading] += 1
            key = f"{heading} ({numbers[heading] + 1})"
        keys.append(key)
        if key:
            used.add(key)
    return keys


def _hash(headings: Sequence[str]) -> str:
    """Return a hash of headings, without those that Ararat adds to a table that it returns."""
    known = sorted({fold_heading(heading) for heading in headings} - _added_headings())
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()


def _added_headings() -> set[str]:
    return {"", HEADING.casefold(), *chain.from_iterable(_problem_headings())}


_PROBLEM_COLUMNS = (Translatable("problem"), Translatable("suggestion"))


def problem_columns() -> ProblemColumns:
    """Return the headings of the problem and of the suggestion of a refused row, in the language of the request."""
    return ProblemColumns([translate(each) for each in _PROBLEM_COLUMNS], _problem_headings())


@cache
def _problem_headings() -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for tag in languages():
        with use(tag):
            found.add(tuple(translate(each).casefold() for each in _PROBLEM_COLUMNS))
    return frozenset(found)


def _upload(row: Sequence[Any]) -> Upload:
    number, account, name, lines, reading, stage, job, created, changed = row
    return Upload(
        number=number,
        account=account,
        name=name,
        lines=lines,
        reading=Reading(**json.loads(reading)),
        stage=stage,
        job=job,
        created=datetime.fromisoformat(created),
        changed=datetime.fromisoformat(changed),
    )


def _values(upload: int, number: int, row: RowOutcome) -> dict[str, Any]:
    """Return the columns of an outcome of a row."""
    values = {"upload": upload, "part": row.part, "number": number, "line": row.line}
    values |= {"outcome": row.outcome, "identifier": row.identifier, "code": row.code}
    return values | {"message": row.message and pack(row.message), "changes": json.dumps(dict(row.changes))}


def _row(row: Sequence[Any]) -> RowOutcome:
    _, part, _, line, outcome, identifier, code, message, changes = row
    return RowOutcome(
        part=part,
        line=line,
        outcome=outcome,
        identifier=identifier,
        code=code,
        message=message and unpack(message),
        changes={column: (before, after) for column, (before, after) in json.loads(changes).items()},
    )
