"""The rows of a table to import: what each row does to its name, and what is noted about it."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...identifiers.text.translatable import Translatable
from ..checks import new_names
from ..checks.new_names import ComparedName
from ..collection import Bindings
from ..names import assignment, naming, validation
from ..names.actor import Actor
from ..names.assignment import Change
from ..names.binding import Binding, rfc3339, utc_seconds
from ..names.errors import BindingError, TableError
from ..names.fields import Fields
from ..names.metadata import folding, personal_data
from ..names.metadata.numbers import check as check_numbers
from ..names.prefixes.prefixes import NO_RECORDS, PrefixRecords, warnings_about
from ..operations import pace
from ..operations.progress import RunProgress
from ..operations.runner import Source, SourceBlock, Written
from ..storage.spill import SeenNames
from ..tables import columns as rows
from ..tables import other_rows, wrong_text
from ..tables.columns import Row
from ..tables.other_rows import OtherRow, PrefixRow, RuleRow, Setting
from ..tables.text_stream import ReadAs
from . import plain_warnings
from .checked_names import CheckedNames
from .decided_blocks import DecidedBlock, DecidedBlocks
from .keyed_rows import KeyedRows, Mint, repeated_keys
from .other_records import record_row
from .plain_rows import PlainNames, PlainRows
from .summary import MAX_LISTED, Effect, Expect, ImportEffect, NotedLine, Report, Summary

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..storage.writing.transaction import Transaction

RowRequest = Fields | OtherRow | BindingError
"""The values of a row, or why it is refused."""

_CHANGED = "changed"
_MOST_TARGETS = 100_000
_TIMES = frozenset({"created", "changed"})
_CHUNK = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """A table to import: its rows and the options of the import.

    - ``file``: its name for the history and for messages.
    - ``rows``: yields its rows from the first one, each time in the same way.
    - ``mint``: the shoulder for rows without a name. ``relocate``: whether a new target needs no resource.
    - ``renumber``: whether another resource of a recorded name is its corrected number. Its own resource stays.
    - ``keeps_numbers``: whether a number that a spreadsheet program probably changed is ignored.
    - ``only_names``: whether other rows than names are refused, and times of creation are left out.
    - ``leave_out``: whether a refused row is left out and the others are written. Then nothing is checked before.
    """

    file: str
    rows: Callable[[ReadAs], Iterator[Row]]
    mint: Mint | None = None
    relocate: bool = False
    renumber: bool = False
    keeps_numbers: bool = False
    only_names: bool = False
    leave_out: bool = False


class Listeners(NamedTuple):
    """The functions that an import calls for each row.

    - ``report``: with each refused row and each warning. ``effect``: with the effect of each other row.
    - ``written``: instead of ``effect`` when rows are written that were checked before.
    - ``expect``: returns why a row is refused with the code ``preview-changed``, or None.
    - ``after``: in each transaction that writes, with its connection, behind the rows.
    """

    report: Report | None = None
    effect: Effect | None = None
    written: Effect | None = None
    expect: Expect | None = None
    after: Callable[[Connection], object] | None = None


class TableRows(Source[Summary]):
    """The rows of a table as a source of the runner. With ``stops``, the first block with a refused row is not written
    and ends the import.
    """

    action = "import"
    undoes = None
    is_exclusive = True
    sees_own = True
    least = 250  # a small transaction of rows costs almost as much

    def __init__(
        self,
        bindings: Bindings,
        table: ImportedTable,
        actor: Actor,
        listeners: Listeners = Listeners(),  # noqa: B008  it cannot be changed
        *,
        stops: bool = False,
    ) -> None:
        self.table, self.listeners, self.stops = table, listeners, stops
        self.who = actor
        self.result = self.summary = Summary()
        self.done, self.continues = 0, None
        self.now = self._decided_at = bindings.now()
        self._bindings = bindings
        self._naming = bindings.naming
        # The state of the rows that were read.
        self._read_rows: Iterator[Row] | None = None
        self._ahead: list[Row] = []
        self._fault: TableError | OSError | None = None
        self._last: Row | None = None
        self._skipped = 0  # the number of rows that were read and are not needed any more
        self._repeated: Mapping[int, str] | None = None
        # The state of the decisions.
        self._seen = SeenNames()
        self._records: PrefixRecords = NO_RECORDS
        self._own_records: set[str] = set()  # the prefixes whose records the table has added
        self._keyed: KeyedRows | None = None
        self._successors: list[tuple[Row, str, str]] = []
        self._first_rows: dict[tuple[str, str], Row | int] = {}  # those of new texts; a number if it has a warning
        self._warns = True  # whether it looks for mistakes in new names and values
        # The state of a check in blocks, which writes no name.
        self._blocks: DecidedBlocks | None = None
        self._checked: CheckedNames | None = None
        self._before: dict[str, int] = {}  # the revisions of the names of the last block
        self._others: list[tuple[Row, OtherRow]] = []
        self._counts: dict[str, int] = {}
        self._next_block: int | None = None  # of the decided blocks that are written
        self._rules: str | None = None  # the version of the rules and prefix records
        self._begun_rules: str | None = None
        self._effect = listeners.effect

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The file and the options, for the history."""
        table = self.table
        values: dict[str, Any] = {"file": table.file, **({"relocate": True} if table.relocate else {})}
        values |= {name: True for name in ("renumber", "keeps_numbers") if getattr(table, name)}
        return values | ({"mint": table.mint.shoulder} if table.mint else {})

    @property
    def is_refused(self) -> bool:
        return bool(self.summary.refusals) and not self.table.leave_out

    @property
    def needs_check(self) -> bool:
        return not (self.table.leave_out or self.stops)

    def close(self) -> None:
        """Delete the temporary tables and files."""
        self._seen.close()
        for each in (self._checked, self._blocks):
            if each is not None:
                each.close()

    def is_few(self) -> bool:
        return self._look_ahead(pace.BLOCK + 1) <= pace.BLOCK

    def read(self, size: int) -> SourceBlock:
        """Return the next rows, or what a check has decided about them."""
        if self._next_block is not None and self._blocks is not None:
            with _without_garbage_collection():
                decided = self._blocks.get(self._next_block)
            return SourceBlock([decided], decided.rows, self._next_block + 1 == len(self._blocks))
        number = self._look_ahead(size + 1)
        rows = self._ahead[:size]
        if self._fault is not None and (not rows or (self.stops and number < size)):
            raise self._fault
        return SourceBlock(rows, len(rows), number <= size and self._fault is None)

    def _look_ahead(self, size: int) -> int:
        """Read rows until ``size`` rows are in memory, or the table ends, and return how many there are."""
        if self._read_rows is None:
            self._read_rows = self.table.rows(self.summary.read_as)
            if self.table.mint and self._repeated is None:
                self._repeated = repeated_keys(self.table.rows(ReadAs()))
            self._skipped = 0
        try:
            while self._skipped < self.done and self._next_block is None:
                # They are written already.
                if not (passed := self._ahead[:_CHUNK] or list(islice(self._read_rows, _CHUNK))):
                    break
                few = min(len(passed), self.done - self._skipped)
                self._ahead = [*passed[few:], *self._ahead[len(passed) :]]
                self._skipped += few
            if self._fault is None and len(self._ahead) < size:
                self._ahead += islice(self._read_rows, size - len(self._ahead))
        except (TableError, OSError) as error:
            self._fault = error  # the rows before it come first
        return len(self._ahead)

    def begin(self, transaction: Transaction) -> None:
        if self._checked is None:
            self.now = self._bindings.now()
        # A record in the table applies after the import: an export has names that are older than a record.
        self._records = PrefixRecords(each for each in transaction.prefixes() if each.prefix not in self._own_records)
        if self.table.mint:
            keyed = KeyedRows(self.table.mint, self._repeated or {}, transaction, self._naming, self._records)
            if self._checked and self._keyed:
                keyed.leave_out(self._keyed)
            self._keyed = keyed
        self._begun_rules = transaction.rules_version
        if self._rules is None:
            self._rules = self._begun_rules
        elif self._checked and self._next_block is None and self._rules != self._begun_rules:
            self._rules = _CHANGED  # during the check, so that everything is decided again

    def decide(self, transaction: Transaction, items: Sequence[Any]) -> Iterator[Written]:
        """Decide about rows, or return the changes that a check has decided if they are still right."""
        with _without_garbage_collection():
            if items and isinstance(decided := items[0], DecidedBlock):
                changes = self._still(transaction, decided)
                if changes is not None:
                    self._count(decided)
                    for row, other in decided.others:
                        self._record_again(row, other, transaction)
                    yield from changes
                    return
                # A name or a rule was changed since the check. Decide again about the rows from here on.
                self._next_block, self._read_rows, self._ahead = None, None, []
                self._look_ahead(decided.rows)
                items = self._ahead[: decided.rows]
            yield from self._apply(transaction, items)

    def _still(self, transaction: Transaction, block: DecidedBlock) -> list[Written] | None:
        """Return the changes of a block, with the time of now, or None if a name or a rule was changed since."""
        if self._begun_rules != self._rules:
            return None
        if block.new and transaction.has_deleted:
            return None
        known = {change.after.identifier: before for _, each in block.changes for change, before, _ in each}
        current = transaction.get([*known, *(key for _, new in block.new for key in new.keys)])
        if any(each.revision != known.get(key, 0) for key, each in current.items()):
            return None
        if any(before and key not in current for key, before in known.items()):
            return None
        written: list[Written] = []
        for actor, several in block.changes:
            for change, _, _ in several:
                # They were read from a file of this process, so that nothing else has them.
                values = change.after.__dict__
                for name in ("changed", "created", "recorded"):
                    if values.get(name) == self._decided_at:
                        values[name] = self.now
            written.append(Written(actor, [each[0] for each in several], [each[2] for each in several]))
        for actor, new in block.new:
            written.append(Written(actor, [], [], new.dated_again(self._decided_at, self.now)))
        return written

    def _count(self, block: DecidedBlock) -> None:
        self.summary.lines += block.rows
        for name, number in block.counts.items():
            setattr(self.summary, name, getattr(self.summary, name) + number)

    def leave(self, transaction: Transaction, block: SourceBlock) -> None:
        """Continue behind a block that is written."""
        if self.listeners.after is not None:
            self.listeners.after(transaction.connection)
        if self._next_block is not None:
            self._next_block += 1
            if transaction.rules_version is None and self._rules == self._begun_rules:
                self._rules = transaction.setting("rules")
        else:
            self._last = self._ahead[block.number - 1] if block.number else self._last
            del self._ahead[: block.number]
            self._skipped += block.number
        self.done += block.number
        self.summary.kept = self.summary.lines

    def keep(self, transaction: Transaction, block: SourceBlock, decided: Sequence[Written]) -> bool:
        """Keep what a check decided about a block, for the write."""
        if self._blocks is not None:
            counts = {name: getattr(self.summary, name) for name in _NUMBERS}
            added = {name: number - self._counts.get(name, 0) for name, number in counts.items()}
            self._counts = counts
            changes = [
                (actor, [(change, self._before[change.after.identifier], source or "") for change, source in pairs])
                for actor, each, sources, _ in decided
                if each
                for pairs in [zip(each, sources, strict=True)]
            ]
            others, self._others = self._others, []
            new = [(written.actor, written.new) for written in decided if written.new]
            self._blocks.add(DecidedBlock(block.number, added, changes, others, new))
        self._last = block.items[-1] if block.items else self._last
        del self._ahead[: block.number]
        self._skipped += block.number
        self.done += block.number
        return False

    def start_check(self) -> None:
        self._blocks = DecidedBlocks()
        self._checked = CheckedNames(self._blocks)

    def begin_write(self) -> None:
        """Return to the first row. What the check has decided is used again, unless names are minted."""
        done = self.summary
        self.result = self.summary = Summary(
            read_as=done.read_as, warnings=done.warnings, warned=done.warned, listed=done.listed
        )
        self.done, self._warns, self._effect = 0, False, self.listeners.written
        if self._checked is not None:
            self._checked.close()
            self._checked = None
        if self.table.mint is None and self._effect is None:
            self._next_block = 0
            return
        # Names are drawn in the transaction that writes them.
        self._read_rows, self._ahead, self._keyed = None, [], None
        self.summary.listed = []

    def end(self, transaction: Transaction, *, is_written: bool) -> bool:
        if self._warns:
            self._warn_of_successors(transaction)
            if self.summary.read_as.unfinished and self._last is not None:
                message = Translatable("the last line has no line end: if the file is incomplete, this line is too")
                self._note_warning(self._last, "table-cut", message)
        summary = self.summary
        if self.table.leave_out:
            summary.written = is_written and summary.refusals < max(summary.lines, 1)
        else:
            summary.written = is_written and (not summary.refusals or not (self._warns or summary.operation is None))
        if not summary.written:
            summary.kept = 0
        return is_written

    def copy_state(self) -> object:
        """Return the numbers of the result, without those of the next block."""
        summary = self.summary
        numbers = {name: getattr(summary, name) for name in (*_NUMBERS, "warnings", "operation")}
        return numbers, len(summary.listed), len(summary.warned)

    def restore(self, state: Any) -> None:
        numbers, listed, warned = state
        for name, number in numbers.items():
            setattr(self.summary, name, number)
        del self.summary.listed[listed:], self.summary.warned[warned:]

    def as_state(self) -> Mapping[str, Any]:
        summary = self.summary
        return {
            "counts": {name: getattr(summary, name) for name in _NUMBERS},
            **{name: getattr(summary, name) for name in ("warnings", "refusals")},
            **{name: [list(each) for each in getattr(summary, name)] for name in ("warned", "refused")},
            "prefixes": sorted(self._own_records),
        }

    def resume(self, state: RunProgress) -> None:
        summary, stored = self.summary, state.state
        for name, number in stored["counts"].items():
            setattr(summary, name, number)
        summary.warnings, summary.refusals = stored["warnings"], stored["refusals"]
        summary.warned = [NotedLine(*each) for each in stored["warned"]]
        summary.refused = [NotedLine(*each) for each in stored["refused"]]
        summary.operation, summary.continued = state.operation, True
        self.done = summary.lines = summary.kept = state.done
        self._own_records.update(stored["prefixes"])
        self._warns = not self.needs_check
        self._effect = self.listeners.written

    def _apply(self, transaction: Transaction, batch: Sequence[Row]) -> Iterator[Written]:
        self.summary.lines += len(batch)
        if self._keyed:
            batch = [*self._keyed.assign_names(batch)]
        plain_rows = PlainRows(self.now)
        plain = plain_rows.read(batch)
        requests: dict[int, RowRequest] = {}
        if len(plain) < len(batch):
            converted = {*plain.places}
            requests = {place: self._read(row) for place, row in enumerate(batch) if place not in converted}
        keys = [*plain.keys, *(key for request in requests.values() if (key := _key(request)))]
        current = transaction.get(keys)
        actor = transaction.actor
        if not actor.reads_reserved:
            # A name that the actor may neither read nor change is refused as an unknown one is.
            current = {key: each for key, each in current.items() if actor.may_read(each) or actor.may_change(key)}
        if self._checked:
            earlier_lines = self._checked.lookup(keys)
            current |= {key: binding for key, (_, binding) in earlier_lines.items() if binding}
            first_lines = {key: line for key, (line, _) in earlier_lines.items()}
        else:
            # A name that an earlier line of this import has bound is in the database by now.
            first_lines = self._seen.lookup(list(current)) if current else {}
        is_unique = len({*keys}) == len(keys)
        others = self._not_new(plain, None if is_unique else requests, current, transaction)
        requests |= {plain.places[number]: self._read(plain.rows[number]) for number in others}
        plain = plain.without(others)
        changes: defaultdict[str | None, list[tuple[Change, str]]] = defaultdict(list)
        new_lines: dict[str, str] = {}
        new: list[tuple[int, Row, Binding]] = []
        compared: list[tuple[int, Row, ComparedName]] = []
        stated: dict[str, tuple[Row, Binding]] = {}
        self._before = {}
        numbers: dict[int, int] = {}
        left_out: set[int] = set()
        is_free = transaction.permits_all and not self._records.restricts
        if not (is_unique and is_free) or self._notes_each(plain):
            numbers = {place: number for number, place in enumerate(plain.places)}
        else:
            self.summary.added += len(plain)
            self.summary.minted += sum(row.minted for row in plain.rows)
        for place in sorted([*requests, *numbers]):
            row = batch[place]
            # A policy compares a row with those before it, so each is checked in its turn.
            if (number := numbers.get(place)) is None:
                request = requests[place]
            elif not (is_free or self._is_permitted(plain.change(number), transaction)):
                left_out.add(number)
                request = self._read(row)
            else:
                if not self._note_plain(row, plain, number):
                    left_out.add(number)
                elif not is_unique:
                    key = plain.keys[number]
                    current[key], first_lines[key] = plain.change(number).after, _line_and_spelling(row, key)
                continue
            if isinstance(request, (RuleRow, PrefixRow, Setting)):
                self._apply_other(row, request, transaction)
                if self._checked:
                    self._others.append((row, request))
                continue
            fields = _with_record(row, request, current)
            if self.table.keeps_numbers and isinstance(fields, Fields):
                fields = _with_recorded_number(fields, current.get(fields.key))
            if self.table.renumber and isinstance(fields, Fields):
                fields = _with_resource(fields, current.get(fields.key))
            if isinstance(fields, BindingError):
                self._refuse(row, fields.code, _with_question(fields))
                continue
            before, earlier = current.get(fields.key), first_lines.get(fields.key)
            change = self._decide(row, fields, before, earlier, transaction)
            if change is None:
                continue
            key = change.after.identifier
            outcome = "published" if change.outcome == "bound" and before is not None else change.outcome
            if self._is_unexpected(row, outcome, before, change.after):
                continue
            self._note(_COUNTERS[outcome], row, outcome, before, change.after)
            for code, message in row.notes if self._warns else ():
                self._note_warning(row, code, message)
            # The warnings about a name that is published quote values that the actor may not see.
            is_seen = before is None or actor.sees(before)
            if change.outcome in ("bound", "reserved") and is_seen:
                new.append((place, row, change.after))
                if self._warns:
                    spelling = "" if row.minted else row.cells["identifier"]
                    named = ComparedName.of(change.after, before, spelling=spelling)
                    # A minted name has no typing error.
                    compared.append((place, row, named._replace(key="") if row.minted else named))
            elif self._warns and change.outcome in ("bound", "relocated", "updated", "claimed"):
                for warning in new_names.changed_value_warnings(before, change.after):
                    self._note_warning(row, warning.code, warning.message)
                if changed := ComparedName.of_change(before, change.after):
                    compared.append((place, row, changed))
            if earlier is None:
                current[key], stated[key] = change.after, (row, change.after)
                first_lines[key] = new_lines[key] = _line_and_spelling(row, key)
                if change.action:
                    # Several records of a dump can be on one line.
                    self._before[key] = before.revision if before else 0
                    changes[row.actor or self.who.name].append((change, self._source(row)))
                    self._warn_of_values(row, before, change.after)
                    if change.after.successor and (before is None or before.successor != change.after.successor):
                        self._successors.append((row, key, change.after.successor))
        plain = plain.without(left_out)
        # Before they are written: most have nothing in common with recorded names, which is found quickly.
        self._warn(transaction, plain, new, compared)
        is_usual = plain.spellings == plain.keys
        lines = [
            str(row.line) if is_usual else _line_and_spelling(row, key)
            for row, key in zip(plain.rows, plain.keys, strict=True)
        ]
        if self._checked:
            self._checked.add([(row, new_lines[key], after) for key, (row, after) in stated.items()], plain, lines)
        for actor, written in changes.items():
            yield Written(actor, [change for change, _ in written], [source for _, source in written])
        actors = [row.actor or self.who.name for row in plain.rows]
        for actor in dict.fromkeys(actors):
            several = plain.without({number for number, each in enumerate(actors) if each != actor})
            new_of_actor = plain_rows.new(several, [self._source(row) for row in several.rows])
            yield Written(actor, [], [], new_of_actor)
        if not self._checked:
            self._seen.add([*new_lines.items(), *zip(plain.keys, lines, strict=True)])
        self._warn_of_encoded_dots(transaction, plain, new)

    def _not_new(
        self,
        plain: PlainNames,
        requests: Mapping[int, RowRequest] | None,
        current: Mapping[str, Binding],
        transaction: Transaction,
    ) -> set[int]:
        """Return the numbers of the names that can be recorded before their row, and are decided one by one. Without
        ``requests``, no row of the block has the name of another one.
        """
        if transaction.has_deleted:
            return {*range(len(plain))}
        others = {number for number, key in enumerate(plain.keys) if key in current} if current else set[int]()
        if requests is not None:
            first_places: dict[str, int] = {}
            keyed = [(place, _key(request)) for place, request in requests.items()]
            for place, key in sorted([*keyed, *zip(plain.places, plain.keys, strict=True)], key=itemgetter(0)):
                first_places.setdefault(key or "", place)
            pairs = enumerate(zip(plain.places, plain.keys, strict=True))
            others.update(number for number, (place, key) in pairs if first_places[key] != place)
        return others

    def _notes_each(self, plain: PlainNames) -> bool:
        """Return whether something is noted about each row that binds a new name, or can be."""
        if self._effect or self.listeners.expect or self.summary.added < MAX_LISTED:
            return True
        return self._warns and (any(row.notes for row in plain.rows) or plain.is_misread())

    def _note_plain(self, row: Row, plain: PlainNames, number: int) -> bool:
        """Note that a row binds a new name. Return False if it is refused. Most rows need no binding for it."""
        summary = self.summary
        if self._effect or self.listeners.expect or summary.added < MAX_LISTED:
            after = plain.change(number).after
            if self._is_unexpected(row, "bound", None, after):
                return False
            self._note("added", row, "bound", None, after)
        else:
            summary.added += 1
            summary.minted += row.minted
        if self._warns:
            for code, message in row.notes:
                self._note_warning(row, code, message)
            # The name is created now, and no value has a line break.
            if not "".join(row.cells.values()).isascii():
                self._warn_of_values(row, None, plain.change(number).after)
        return True

    def _is_unexpected(self, row: Row, outcome: str, before: Binding | None, after: Binding) -> bool:
        """Refuse a row whose effect is not the expected one, and return whether it is refused."""
        expect = self.listeners.expect
        why = expect and expect(ImportEffect(row.line, outcome, before, after, row.minted))
        if why:
            self._refuse(row, "preview-changed", why)
        return bool(why)

    def _source(self, row: Row) -> str:
        """Return the origin of a change for the history: file and line, and who imported it for another actor."""
        place = f"{self.table.file}, line {row.line}"
        return f"{place}, imported by {self.who.name}" if row.actor and self.who.name else place

    def _is_permitted(self, change: Change, transaction: Transaction) -> bool:
        """Return whether the change that binds a new name is permitted, and written as it is."""
        try:
            if transaction.permit(None, change) is not change:
                return False
            self._records.require_permitted(None, change)
        except BindingError:
            return False
        return True

    def _read(self, row: Row) -> RowRequest:
        if row.fault is not None:
            return row.fault
        if self.table.only_names and not row.cells.keys().isdisjoint(_TIMES):
            # Only an administrator, who migrates, states when a name was created.
            row = row._replace(cells={name: text for name, text in row.cells.items() if name not in _TIMES})
        try:
            request = other_rows.read(row.cells, self._naming) or rows.fields(row.cells, self._naming)
            if isinstance(request, Fields):
                latest = request.changed or request.created
                if latest is not None and latest > self.now:
                    raise BindingError(
                        "time-future", Translatable("%(latest)s is in the future", latest=utc_seconds(latest))
                    )
        except BindingError as error:
            return wrong_text.explain(error, row.cells)
        return request

    def _decide(
        self, row: Row, fields: Fields, before: Binding | None, earlier: str | None, transaction: Transaction
    ) -> Change | None:
        try:
            change = assignment.bind(before, fields, self.now, decided=self.table.relocate, publish=False)
            change = transaction.permit(before, change)
            if earlier is None:
                self._records.require_permitted(before, change)
        except BindingError as refused:
            error = refused if before is None else transaction.actor.refusal(fields.key, refused)
            if error is refused and error.code == "other-resource" and before is not None:
                error = _of_another_thing(error, before, fields)
            if earlier is None:
                return self._refuse(
                    row, error.code, _with_normal_form(error.message, self._identifier_cell(row), fields.key)
                )
            change = None
        if earlier is not None and (change is None or change.action):
            line, _, spelling = earlier.partition(" ")
            written = f" ({validation.quote(spelling, 100)})" if spelling else ""
            why = naming.why_same(self._identifier_cell(row), spelling or fields.key)
            message = Translatable(
                "%(file)s, line %(line)s%(written)s has other values for %(key)s",
                file=self.table.file,
                line=line,
                written=written,
                key=validation.quote(fields.key, 100),
            )
            if why:
                message = Translatable("%(message)s: %(reason)s", message=message, reason=why)
            return self._refuse(row, "duplicate-line", message)
        return change

    def _apply_other(self, row: Row, other_row: OtherRow, transaction: Transaction) -> None:
        try:
            if self.table.only_names:
                raise BindingError("row-only-names")
            if not isinstance(other_row, Setting):
                transaction.actor.require_granted(other_row.prefix)
            is_new = record_row(other_row, transaction, self.now, self.who.name)
        except BindingError as error:
            self._refuse(row, error.code, error.message)
            return
        if is_new:
            if isinstance(other_row, PrefixRow):
                self._own_records.add(other_row.prefix)
            self._note(_OTHERS[type(other_row)], row, "set", None, other_row)
            for warning in warnings_about(other_row.texts) if isinstance(other_row, PrefixRow) else ():
                self._note_warning(row, warning.code, warning.message)
        else:
            self._note("unchanged", row, "unchanged", None, other_row)

    def _record_again(self, row: Row, other_row: OtherRow, transaction: Transaction) -> None:
        """Record a row that a check has counted."""
        try:
            if record_row(other_row, transaction, self.now, self.who.name) and isinstance(other_row, PrefixRow):
                self._own_records.add(other_row.prefix)
        except BindingError as error:
            counter = _OTHERS[type(other_row)]
            setattr(self.summary, counter, getattr(self.summary, counter) - 1)
            self._refuse(row, error.code, error.message)

    def _note(self, counter: str, row: Row, outcome: str, before: Binding | None, after: Binding | OtherRow) -> None:
        number = getattr(self.summary, counter) + 1
        setattr(self.summary, counter, number)
        self.summary.minted += row.minted
        is_listed = counter != "unchanged" and number <= MAX_LISTED
        if is_listed or self._effect:
            imported = ImportEffect(row.line, outcome, before, after, row.minted)
            if is_listed:
                self.summary.listed.append(imported)
            if self._effect:
                self._effect(imported)

    def _warn(
        self,
        transaction: Transaction,
        plain: PlainNames,
        new: Sequence[tuple[int, Row, Binding]],
        compared: Sequence[tuple[int, Row, ComparedName]],
    ) -> None:
        if not self._warns or not (plain or new or compared):
            return
        recorded, fetch = transaction.recorded, None
        if self._checked:
            recorded, checked = self._checked.combine_with(transaction.recorded), self._checked
            fetch = lambda keys: checked.fetch(keys, transaction.look_up(keys))  # noqa: E731
        if personal_data.can_be_in(
            [*plain.spellings, *plain.targets, *plain.resources, *chain(*plain.elements.values())]
        ):
            after = (plain.change(number).after for number in range(len(plain)))
            new = sorted([*new, *zip(plain.places, plain.rows, after, strict=True)], key=itemgetter(0))
        for (_, row, _), data in zip(new, personal_data.of_bindings([each[2] for each in new]), strict=True):
            for warning in data:
                self._note_warning(row, warning.code, warning.message)
        errors = None
        if plain:
            beside = [(place, each) for place, _, each in compared]
            numbers, errors = plain_warnings.suspects(plain, beside, transaction, recorded)
            suspects = (
                (plain.places[each], plain.rows[each], plain_warnings.compared(plain, each)) for each in numbers
            )
            compared = sorted([*compared, *suspects], key=itemgetter(0))
        probable = new_names.warnings_inside(transaction, [each[2] for each in compared], recorded, fetch, errors)
        for (_, row, each), mistakes in zip(compared, probable, strict=True):
            for warning in mistakes:
                self._note_warning(row, warning.code, warning.message)
            if row.minted and each.shared is not None:
                noted = [warning.code for warning in mistakes]
                if each.target and "target-shared" not in noted:
                    self._warn_of_row(row, "target-shared", each.target, _same_target)
                if each.shared.title and "title-shared" not in noted:
                    self._warn_of_row(row, "title-shared", each.shared.folded_title, _same_title)

    def _warn_of_row(self, row: Row, code: str, text: str, message: Callable[[int], str]) -> None:
        """Warn of rows that mint names with one target or title, the first of them, too. Their names are not known
        yet.
        """
        first = self._first_rows.get((code, text))
        if first is None:
            if len(self._first_rows) < _MOST_TARGETS:
                self._first_rows[code, text] = row
            return
        line = first if isinstance(first, int) else first.line
        if not isinstance(first, int):
            self._first_rows[code, text] = line
            self._note_warning(first, code, message(row.line))
        self._note_warning(row, code, message(line))

    def _warn_of_successors(self, transaction: Transaction) -> None:
        """Add warnings about successors of withdrawn names that are not recorded. A later row can record one."""

        def fetch(keys: list[str]) -> Mapping[str, Binding]:
            recorded = transaction.get(keys)
            return self._checked.fetch(keys, recorded) if self._checked else recorded

        for row, key, successor in self._successors:
            for warning in new_names.successor_warnings_inside(transaction, key, successor, fetch):
                self._note_warning(row, warning.code, warning.message)
        self._successors.clear()

    def _warn_of_encoded_dots(
        self, transaction: Transaction, plain: PlainNames, new: Sequence[tuple[int, Row, Binding]]
    ) -> None:
        if not self._warns:
            return
        bound = [(place, row, each.identifier) for place, row, each in new]
        # Most names have no dot, and no plain one a percent sign.
        if "." in "".join(plain.keys):
            bound += zip(plain.places, plain.rows, plain.keys, strict=True)
        dotted = [each for each in bound if "." in each[2] or "%2E" in each[2]]
        if not dotted:
            return
        others = {other: row for _, row, key in sorted(dotted, key=itemgetter(0)) for other in naming.confusable(key)}
        bound_names = dict.fromkeys(transaction.bound(list(others)))
        if self._checked and others:
            bound_names |= dict.fromkeys(self._checked.bound(list(others)))
        for other in bound_names:
            message = Translatable(
                "%(other)s is bound too; some software treats the two as equal", other=validation.quote(other, 100)
            )
            self._note_warning(others[other], "encoded-dot", message)

    def _warn_of_values(self, row: Row, before: Binding | None, after: Binding) -> None:
        """Warn of cells that a spreadsheet program probably damaged, and of dates that are not real dates."""
        if not self._warns:
            return
        # Most rows are in ASCII on one line, and then have no such text.
        whole = "".join(row.cells.values())
        is_ascii = whole.isascii()
        for column in () if is_ascii and whole.isprintable() else wrong_text.broken(row.cells):
            message = Translatable(
                "the line break in the column %(column)s became a space", column=validation.quote(column)
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
                    column=validation.quote(column),
                    damaged=validation.quote(damaged),
                    intended=validation.quote(intended),
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
        if self.listeners.report:
            self.listeners.report("warning", noted, row.cells)

    def _refuse(self, row: Row, code: str, message: str) -> None:
        self.summary.refusals += 1
        noted = NotedLine(row.line, self._identifier(row), code, message)
        if self.summary.refusals <= MAX_LISTED:
            self.summary.refused.append(noted)
        if self.listeners.report:
            cells = {**row.cells, "identifier": ""} if row.minted else row.cells
            self.listeners.report("refused", noted, cells)

    def _identifier_cell(self, row: Row) -> str:
        return row.cells.get("identifier", "")

    def _identifier(self, row: Row) -> str:
        # A refused line does not keep the name that was drawn for it, so it is shown by its key.
        is_named = self._identifier_cell(row) and not row.minted
        return validation.quote(self._identifier_cell(row) if is_named else row.cells.get("resource", ""), 100)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector while lines are imported. They need thousands of objects and no reference cycle, and
    it would take a sixth of the time of an import in a web server.
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
_NUMBERS = (*_COUNTERS.values(), *_OTHERS.values(), "minted")
"""The numbers of lines by outcome."""


def _key(request: RowRequest) -> str | None:
    """Return the key of the binding that a row needs."""
    if isinstance(request, Fields):
        return request.key
    if isinstance(request, BindingError) and request.code == "target-missing":
        return request.identifier
    return None


def _with_record(row: Row, request: Fields | BindingError, current: Mapping[str, Binding]) -> Fields | BindingError:
    """Return the fields of a row, with the recorded target and kind for empty cells. A recorded text that differs only
    in white space around it stays.
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


def _with_recorded_number(fields: Fields, before: Binding | None) -> Fields:
    """Return the fields of a row, with the recorded resource if a spreadsheet program probably changed it."""
    if before is None or not before.resource or not fields.resource:
        return fields
    known = (before.resource, *filter(None, [before.thing_numbers.current]))
    is_changed = any(wrong_text.is_changed_number(each, fields.resource) for each in known)
    return fields._replace(resource=before.resource) if is_changed else fields


def _with_resource(fields: Fields, before: Binding | None) -> Fields:
    """Return the fields of a row with the recorded resource, and with another one as the current number."""
    if before is None or before.resource is None or fields.resource in (None, before.resource):
        return fields
    numbers = {"current": fields.resource or "", **(fields.numbers or {})}
    return fields._replace(resource=before.resource, numbers=check_numbers(numbers))


def _of_another_thing(error: BindingError, before: Binding, fields: Fields) -> BindingError:
    """Return the error of a row whose name is recorded for another thing, or whose number a spreadsheet program
    changed.
    """
    recorded, given = before.resource, fields.resource
    if not recorded or not given:
        return error
    numbers = dict.fromkeys((recorded, *filter(None, [before.thing_numbers.current])))
    values = {"name": before.identifier, "number": validation.quote(given, 100)}
    if damaged := next((each for each in numbers if wrong_text.is_changed_number(each, given)), None):
        message = Translatable(
            "the recorded number is %(recorded)s, and the row has %(number)s, as a spreadsheet program writes it",
            recorded=validation.quote(damaged, 100),
            number=values["number"],
        )
        return BindingError("number-damaged", message, identifier=error.identifier)
    values["recorded"] = validation.quote([*numbers][-1], 100)
    if title := folding.title_of(before.metadata):
        message = Translatable(
            "%(name)s is the name of another thing, %(title)s (%(recorded)s); the row has %(number)s",
            title=validation.quote(title, 100),
            **values,
        )
    else:
        message = Translatable("%(name)s is the name of another thing (%(recorded)s); the row has %(number)s", **values)
    return BindingError("other-resource", message, identifier=error.identifier)


def _same_target(line: int) -> str:
    return Translatable("the row %(row)s has the same target", row=f"{line:,}")


def _same_title(line: int) -> str:
    return Translatable("the row %(row)s has the same title", row=f"{line:,}")


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
    shown = validation.quote(key, 100)
    if why := naming.why_same(spelling):
        return Translatable(
            "%(message)s (its normal form is %(name)s: %(reason)s)", message=message, name=shown, reason=why
        )
    return Translatable("%(message)s (its normal form is %(name)s)", message=message, name=shown)
