"""The rows of a table to import: what each row does to its name, and what is noted about it."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...identifiers.text.translatable import Translatable
from ..checks import new_names
from ..checks.new_names import ComparedName
from ..collection import Bindings
from ..names import assignment, validation
from ..names import naming as names
from ..names.actor import Actor
from ..names.assignment import Change
from ..names.binding import Binding, rfc3339
from ..names.errors import BindingError
from ..names.fields import Fields
from ..names.metadata import personal_data
from ..names.prefixes.prefixes import NO_RECORDS, PrefixRecord, PrefixRecords, warnings_about
from ..storage.spill import SeenNames
from ..tables import columns as rows
from ..tables import other_rows, wrong_text
from ..tables.columns import Row
from ..tables.other_rows import OtherRow, PrefixRow, RuleRow, Setting
from .checked_names import CheckedNames
from .keyed_rows import KeyedRows, Mint
from .other_records import record_row
from .summary import MAX_LISTED, Effect, Expect, ImportEffect, NotedLine, Report, Summary

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction

_CHUNK = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class ImportRun:
    """The state of one import of a table. Its fields without a comment are arguments of :func:`import_rows`."""

    file: str
    now: datetime
    who: Actor
    seen: SeenNames
    report: Report | None
    effect: Effect | None
    summary: Summary
    relocate: bool
    only_names: bool
    last: Row | None = None
    records: PrefixRecords = NO_RECORDS
    own_records: set[str] = field(default_factory=set)  # the prefixes whose records the table has added
    changed: int = 0
    expect: Expect | None = None
    leave_out: bool = False
    test_naans: Collection[str] = ()
    mint: Mint | None = None
    repeated: Mapping[int, str] = field(default_factory=dict)
    keyed: KeyedRows | None = None
    successors: list[tuple[Row, str, str]] = field(default_factory=list)
    checked: CheckedNames | None = None  # the names of a check in blocks, which writes none
    warns: bool = True  # whether it looks for mistakes in new names and values

    def import_all(
        self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None, *, keep: bool
    ) -> None:
        """Import all rows of the table in one transaction. Write nothing if an error ends the import, or without
        ``keep``.

        ``bindings`` is the open store. ``progress``, if it is set, is called with the number of rows so far. ``read``
        are the rows.
        """
        before = self.summary.operation, self.changed
        with bindings.transaction(exclusive=True, actor=self.who) as transaction:
            self.begin(bindings, transaction)
            while some := list(islice(read, _CHUNK)):
                self.apply(transaction, some, keep=keep)
                self.last = some[-1]
                if progress:
                    progress(self.summary.lines)
            self.warn_of_successors(transaction.get, transaction.prefixes)
            if self.is_stopped() or not keep:
                transaction.rollback()
                self.summary.operation, self.changed = before
            else:
                transaction.result = self.summary
                self.summary.kept = self.summary.lines
                if self.summary.operation is not None:
                    transaction.operations.finish(self.summary.operation, self.changed, bindings.now())

    def begin(self, bindings: Bindings, transaction: Transaction) -> None:
        """Begin a transaction of the import, and its operation if there is none yet.

        ``bindings`` is the open store. ``transaction`` is an open transaction of the database.

        Raises :class:`BindingError`, also if the operation was undone.
        """
        # A record in the table applies after the import: an export has names that are older than a record.
        self.records = PrefixRecords(each for each in transaction.prefixes() if each.prefix not in self.own_records)
        if self.mint:
            keyed = KeyedRows(self.mint, self.repeated, transaction, bindings.naming, self.records)
            if self.checked and self.keyed:
                keyed.leave_out(self.keyed)
            self.keyed = keyed
        if self.summary.operation is not None:
            # Later batches of an undone operation could not be undone.
            transaction.operations.require_in_effect(self.summary.operation)

    def import_batch(self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None) -> bool:
        """Import the next batch of rows in one transaction. Return whether the import goes on with another batch.

        ``bindings`` is the open store. ``progress``, if it is set, is called with the number of rows so far. ``read``
        are the rows that are not imported yet.

        It ends without further rows, or if a row has an error.
        """
        summary = self.summary
        before, counts = summary.lines, {name: getattr(summary, name) for name in COUNTS}
        listed, warned = len(summary.listed), len(summary.warned)
        self.import_all(bindings, read, progress, keep=True)
        if self.is_stopped():
            for name, count in counts.items():
                setattr(summary, name, count)
            del summary.listed[listed:], summary.warned[warned:]
            return False
        return summary.lines > before

    def is_stopped(self) -> bool:
        """Return whether an error of a row ends the import."""
        return bool(self.summary.refusals) and not self.leave_out

    def finish(self) -> None:
        """Add a warning to the result if the last line of the table has no line end. Its end can be missing."""
        if self.summary.read_as.unfinished and self.last is not None:
            message = Translatable("the last line has no line end: if the file is incomplete, this line is too")
            self._note_warning(self.last, "table-cut", message)

    def apply(self, transaction: Transaction, batch: Sequence[Row], *, keep: bool) -> None:
        """Check a batch of rows in a transaction. With ``keep``, write the changes of their names.

        ``transaction`` is an open transaction of the database. ``batch`` are the rows.
        """
        with _without_garbage_collection():
            self._apply(transaction, batch, keep=keep)

    def _apply(self, transaction: Transaction, batch: Sequence[Row], *, keep: bool) -> None:
        self.summary.lines += len(batch)
        if self.keyed:
            batch = [*self.keyed.named(batch)]
        read = [(row, self._read(row)) for row in batch]
        keys = [key for _, request in read if (key := _key(request))]
        current = transaction.get(keys)
        if self.checked:
            earlier_lines = self.checked.lookup(keys)
            current |= {key: binding for key, (_, binding) in earlier_lines.items()}
            first_lines = {key: line for key, (line, _) in earlier_lines.items()}
        else:
            # A name that an earlier line of this import has bound is in the database by now.
            first_lines = self.seen.lookup(list(current)) if current else {}
        changes: defaultdict[str | None, list[tuple[Change, str]]] = defaultdict(list)
        new_lines: dict[str, str] = {}
        new: list[tuple[Row, Binding]] = []
        stated_rows: dict[str, Row] = {}
        for row, request in read:
            if isinstance(request, (RuleRow, PrefixRow, Setting)):
                self._apply_other(row, request, transaction)
                continue
            fields = _with_record(row, request, current)
            if isinstance(fields, BindingError):
                self._refuse(row, fields.code, _with_question(fields))
                continue
            key = fields.key
            before, earlier = current.get(key), first_lines.get(key)
            change = self._decide(row, fields, before, earlier, transaction)
            if change is None:
                continue
            outcome = "published" if change.outcome == "bound" and before is not None else change.outcome
            why = self.expect and self.expect(ImportEffect(row.line, outcome, before, change.after, row.minted))
            if why:
                self._refuse(row, "preview-changed", why)
                continue
            self._note(_COUNTERS[outcome], row, outcome, before, change.after)
            for code, message in row.notes:
                self._note_warning(row, code, message)
            if change.outcome in ("bound", "reserved"):
                new.append((row, change.after))
            elif change.outcome in ("relocated", "updated", "claimed"):
                for warning in new_names.changed_value_warnings(before, change.after):
                    self._note_warning(row, warning.code, warning.message)
            if earlier is None:
                current[key], stated_rows[key] = change.after, row
                first_lines[key] = new_lines[key] = _line_and_spelling(row, key)
                if change.action:
                    # Several records of a dump can be on one line.
                    changes[row.actor or self.who.name].append((change, self._source(row)))
                    self._warn_of_values(row, before, change.after)
                    if change.after.successor and (before is None or before.successor != change.after.successor):
                        self.successors.append((row, key, change.after.successor))
        # Before they are written: most have nothing in common with recorded names, which is found quickly.
        self._warn(transaction, new)
        if self.checked:
            self.checked.add((row, new_lines.get(key, ""), current[key]) for key, row in stated_rows.items())
            self._warn_of_encoded_dots(transaction, new)
            return
        if changes and keep and self.summary.operation is None:
            parameters: dict[str, Any] = {"file": self.file, **({"relocate": True} if self.relocate else {})}
            if self.mint:
                parameters["mint"] = self.mint.shoulder
            self.summary.operation = transaction.operations.begin("import", self.who.name, self.now, parameters)
        for actor, written in changes.items():
            sources = [source for _, source in written]
            transaction.put([change for change, _ in written], actor, sources, self.summary.operation)
            self.changed += len(written)
        self.seen.add(new_lines)
        self._warn_of_encoded_dots(transaction, new)

    def _source(self, row: Row) -> str:
        """Return the origin of a change for the history: file and line, and who imported it for another actor."""
        place = f"{self.file}, line {row.line}"
        return f"{place}, imported by {self.who.name}" if row.actor and self.who.name else place

    def _read(self, row: Row) -> Fields | OtherRow | BindingError:
        if row.fault is not None:
            return row.fault
        try:
            request = other_rows.read(row.cells, self.test_naans) or rows.fields(row.cells, self.test_naans)
            if isinstance(request, Fields):
                latest = request.changed or request.created
                if latest is not None and latest > self.now:
                    raise BindingError(
                        "time-future", Translatable("%(latest)s is in the future", latest=rfc3339(latest))
                    )
        except BindingError as error:
            return wrong_text.explained(error, row.cells)
        return request

    def _decide(
        self, row: Row, fields: Fields, before: Binding | None, earlier: str | None, transaction: Transaction
    ) -> Change | None:
        try:
            change = assignment.bind(before, fields, self.now, decided=self.relocate, publish=False)
            change = transaction.checked(before, change)
            if earlier is None:
                self.records.require_permitted(before, change)
        except BindingError as error:
            if earlier is None:
                return self._refuse(row, error.code, _with_normal_form(error.message, self._given(row), fields.key))
            change = None
        if earlier is not None and (change is None or change.action):
            line, _, spelling = earlier.partition(" ")
            written = f" ({validation.shown(spelling, 100)})" if spelling else ""
            why = names.why_same(self._given(row), spelling or fields.key)
            message = Translatable(
                "%(file)s, line %(line)s%(written)s has other values for %(key)s",
                file=self.file,
                line=line,
                written=written,
                key=validation.shown(fields.key, 100),
            )
            if why:
                message = Translatable("%(message)s: %(reason)s", message=message, reason=why)
            return self._refuse(row, "duplicate-line", message)
        return change

    def _apply_other(self, row: Row, other_row: OtherRow, transaction: Transaction) -> None:
        try:
            if self.only_names:
                raise BindingError("row-only-names")
            is_new = record_row(other_row, transaction, self.now, self.who.name)
        except BindingError as error:
            self._refuse(row, error.code, error.message)
            return
        if is_new:
            if isinstance(other_row, PrefixRow):
                self.own_records.add(other_row.prefix)
            self._note(_OTHERS[type(other_row)], row, "set", None, other_row)
            for warning in warnings_about(other_row.texts) if isinstance(other_row, PrefixRow) else ():
                self._note_warning(row, warning.code, warning.message)
        else:
            self._note("unchanged", row, "unchanged", None, other_row)

    def _note(self, counter: str, row: Row, outcome: str, before: Binding | None, after: Binding | OtherRow) -> None:
        number = getattr(self.summary, counter) + 1
        setattr(self.summary, counter, number)
        self.summary.minted += row.minted
        is_listed = counter != "unchanged" and number <= MAX_LISTED
        if is_listed or self.effect:
            imported = ImportEffect(row.line, outcome, before, after, row.minted)
            if is_listed:
                self.summary.listed.append(imported)
            if self.effect:
                self.effect(imported)

    def _warn(self, transaction: Transaction, bound: Sequence[tuple[Row, Binding]]) -> None:
        if not bound or not self.warns:
            return
        compared = [ComparedName.of(binding) for _, binding in bound]
        # A minted name has no typing error.
        compared = [
            each._replace(key="") if row.minted else each._replace(spelling=row.cells["identifier"])
            for each, (row, _) in zip(compared, bound, strict=True)
        ]
        recorded = self.checked.beside(transaction.recorded) if self.checked else None
        probable = new_names.warnings_inside(transaction, compared, recorded)
        personal = personal_data.of_bindings([binding for _, binding in bound])
        for (row, _), data, mistakes in zip(bound, personal, probable, strict=True):
            for warning in (*data, *mistakes):
                self._note_warning(row, warning.code, warning.message)

    def warn_of_successors(
        self, fetch: Callable[[list[str]], Mapping[str, Binding]], records: Callable[[], Sequence[PrefixRecord]]
    ) -> None:
        """Add warnings about successors of withdrawn names that are not recorded, at the end of a transaction.

        A later row can record the successor of an earlier one.

        ``fetch`` returns recorded names, and ``records`` those of prefixes.
        """
        for row, key, successor in self.successors:
            for warning in new_names.warnings_of_successor(fetch, records, key, successor):
                self._note_warning(row, warning.code, warning.message)
        self.successors.clear()

    def _warn_of_encoded_dots(self, transaction: Transaction, bound: Sequence[tuple[Row, Binding]]) -> None:
        if not self.warns:
            return
        others = {other: row for row, binding in bound for other in names.confusable(binding.identifier)}
        bound_names = dict.fromkeys(transaction.bound(list(others)))
        if self.checked and others:
            bound_names |= dict.fromkeys(self.checked.bound(list(others)))
        for other in bound_names:
            message = Translatable(
                "%(other)s is bound too; some software treats the two as equal", other=validation.shown(other, 100)
            )
            self._note_warning(others[other], "encoded-dot", message)

    def _warn_of_values(self, row: Row, before: Binding | None, after: Binding) -> None:
        """Warn of cells that a spreadsheet program probably damaged, and of dates that are no real dates."""
        if not self.warns:
            return
        # Most rows are in ASCII on one line, and then have no such text.
        whole = "".join(row.cells.values())
        is_ascii = whole.isascii()
        for column in () if is_ascii and whole.isprintable() else wrong_text.broken(row.cells):
            message = Translatable(
                "the line break in the column %(column)s became a space", column=validation.shown(column)
            )
            self._note_warning(row, "cell-line-break", message)
        # A row without such characters has no value with them, and the values of a name take longer to list.
        is_plain = is_ascii or wrong_text.misread(whole) is None
        old = {} if is_plain or before is None else rows.cells(before)
        for column, text in () if is_plain else rows.cells(after).items():
            if text.isascii() or text == old.get(column) or (pair := wrong_text.misread(text)) is None:
                continue
            if wrong_text.misread(old.get(column, "")) is None:
                damaged, intended = pair
                message = Translatable(
                    "the column %(column)s has %(damaged)s, which is %(intended)s in UTF-8; "
                    "the file was probably read in the wrong encoding",
                    column=validation.shown(column),
                    damaged=validation.shown(damaged),
                    intended=validation.shown(intended),
                )
                self._note_warning(row, "text-misread", message)
        if before is None and after.created < _EPOCH:
            message = Translatable(
                "the date %(created)s is before 1970; it is probably an empty date of a spreadsheet",
                created=rfc3339(after.created),
            )
            self._note_warning(row, "time-old", message)

    def _note_warning(self, row: Row, code: str, message: str) -> None:
        self.summary.warnings += 1
        noted = NotedLine(row.line, self._identifier(row), code, message)
        if self.summary.warnings <= MAX_LISTED:
            self.summary.warned.append(noted)
        if self.report:
            self.report("warning", noted, row.cells)

    def _refuse(self, row: Row, code: str, message: str) -> None:
        self.summary.refusals += 1
        noted = NotedLine(row.line, self._identifier(row), code, message)
        if self.summary.refusals <= MAX_LISTED:
            self.summary.refused.append(noted)
        if self.report:
            cells = {**row.cells, "identifier": ""} if row.minted else row.cells
            self.report("refused", noted, cells)

    def _given(self, row: Row) -> str:
        return row.cells.get("identifier", "")

    def _identifier(self, row: Row) -> str:
        # A refused line does not keep the name that was drawn for it, so it is shown by its key.
        is_named = self._given(row) and not row.minted
        return validation.shown(self._given(row) if is_named else row.cells.get("resource", ""), 100)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector while some lines are imported.

    The lines need thousands of objects and no reference cycle, so they are freed without it. It would visit all of them
    several times, which takes a sixth of the time of an import in a web server. In a command it takes less, because the
    other objects are frozen.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_COUNTERS = {
    "bound": "added",
    "published": "published",
    "unchanged": "unchanged",
    "updated": "updated",
    "claimed": "claimed",
    "relocated": "relocated",
    "withdrawn": "withdrawn",
    "reserved": "reserved",
}
_OTHERS = {RuleRow: "rules", PrefixRow: "prefixes", Setting: "settings"}
COUNTS = (*_COUNTERS.values(), *_OTHERS.values(), "minted", "warnings")


def _key(request: Fields | OtherRow | BindingError) -> str | None:
    """Return the key of the binding that a row needs."""
    if isinstance(request, Fields):
        return request.key
    if isinstance(request, BindingError) and request.code == "target-missing":
        return request.identifier
    return None


def _with_record(row: Row, request: Fields | BindingError, current: Mapping[str, Binding]) -> Fields | BindingError:
    """Return the fields of a row, with the recorded target and kind for empty cells.

    The table has no white space around texts. A recorded text that differs only in it stays unchanged.
    """
    before = current.get(_key(request) or "")
    if before is None:
        return request
    cells = row.cells
    filled: dict[str, str] = {}
    if not cells.get("target") and cells.get("status") not in ("withdrawn", "reserved"):
        filled["kind"] = cells.get("kind") or before.kind
        if filled["kind"] != "described" and before.target:
            filled["target"] = before.target
    elif not cells.get("kind") and cells.get("target") and before.kind not in ("described", "located"):
        filled["kind"] = before.kind
    if filled:
        try:
            request = rows.fields({**cells, **filled})
        except BindingError as error:
            return error
    return request if isinstance(request, BindingError) else _keep_white_space(request, before)


def _keep_white_space(fields: Fields, before: Binding) -> Fields:
    def kept(text: str | None, recorded: str | None) -> str | None:
        return recorded if text and recorded and text == recorded.strip() else text

    metadata = fields.metadata
    if metadata:
        metadata = {name: kept(text, before.metadata.get(name)) or text for name, text in metadata.items()}
    return fields._replace(
        resource=kept(fields.resource, before.resource),
        reason=kept(fields.reason, before.reason),
        metadata=metadata,
    )


def _line_and_spelling(row: Row, key: str) -> str:
    """Return the number of a line, and the spelling of its name if it differs noticeably from the key."""
    cell = row.cells["identifier"]
    return f"{row.line}" if cell == key or cell == f"ark:/{key[4:]}" else f"{row.line} {cell}"


def _with_question(error: BindingError) -> str:
    """Return the message of an error with its question, if it has one."""
    if not error.question:
        return error.message
    return Translatable("%(message)s.%(question)s", message=error.message, question=error.question)


def _with_normal_form(message: str, spelling: str, key: str) -> str:
    """Return a message with the normal form of the name if its spelling differs (N-04)."""
    if spelling == key:
        return message
    shown = validation.shown(key, 100)
    if why := names.why_same(spelling):
        return Translatable(
            "%(message)s (its normal form is %(name)s: %(reason)s)", message=message, name=shown, reason=why
        )
    return Translatable("%(message)s (its normal form is %(name)s)", message=message, name=shown)
