"""Many bindings at once, from a table: all of them or none, by the same rules as one.

A table has a row for each name, in any of the :mod:`formats`. Its columns are those of :mod:`rows`, all but the first
optional, and ``target[text/html;en]`` for alternates. An empty cell states nothing: what is on record stays, and a new
name gets the default. Rows can also state rules, minted names and counters (:mod:`other_rows`). The table is read once,
in one transaction of the database, and costs the memory of a thousand rows, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ..bindings import assignment, names, validation
from ..bindings.assignment import Change, Proposal
from ..bindings.collection import Bindings, check_actor
from ..bindings.model import NOTHING, Binding, rfc3339
from ..bindings.policy import ChangeCheck
from ..errors import BindingError, BindingsUnavailable, Collision, TableError
from ..resolution.rules import Rule
from . import columns as rows
from . import formats, other_rows
from .columns import Columns, Row
from .formats import Reader
from .other_rows import OtherRow, Reserved, RuleRow, Setting
from .seen_names import Noted
from .text_stream import ReadAs, name_of

if TYPE_CHECKING:
    from ..storage.store import Transaction

MOST_LISTED = 100
"""How many lines of each outcome a summary lists; it counts them all."""

_AT_ONCE = 1000


class Imported(NamedTuple):
    """What a line did, or would do. ``before`` is the binding before it (None for a new name).

    ``after`` is the binding after it; for a line with the outcome "reserved" or "set", what the line states.
    """

    line: int
    outcome: str
    before: Binding | None
    after: Binding | OtherRow


class NotedLine(NamedTuple):
    """A line that was refused or is doubtful; ``identifier`` is as the line has it, in printable ASCII."""

    line: int
    identifier: str
    code: str
    message: str


Report = Callable[[str, NotedLine, Mapping[str, str]], object]
"""What takes a line that is "refused" or has a "warning", with its cells."""


@dataclass(slots=True)
class Summary:
    """What an import did, or would do: how many lines had each outcome, and the first hundred of each but "unchanged".

    ``updated`` counts names whose metadata changed, ``claimed`` those that got a first resource, ``relocated`` those
    that lead elsewhere. ``reserved`` counts minted names, ``rules`` rules and ``settings`` counters that are new.
    ``written`` is False after a dry run, and after any line was refused. ``kept`` is the number of lines, from the
    first, whose names are in the database: all of them or none, unless they were taken in batches. ``listed`` and
    ``warned`` have no lines of a batch that was undone. ``warned`` lists, and ``warnings`` counts, new names that are
    doubtful: that software may take for another bound name (A-08), or with invisible or non-ASCII characters (A-09).
    ``read_as`` is how the file was read.
    """

    lines: int = 0
    added: int = 0
    unchanged: int = 0
    updated: int = 0
    claimed: int = 0
    relocated: int = 0
    withdrawn: int = 0
    reserved: int = 0
    rules: int = 0
    settings: int = 0
    refusals: int = 0
    refused: list[NotedLine] = field(default_factory=list)
    warnings: int = 0
    warned: list[NotedLine] = field(default_factory=list)
    listed: list[Imported] = field(default_factory=list)
    written: bool = False
    kept: int = 0
    read_as: ReadAs = field(default_factory=ReadAs)


def import_table(
    bindings: Bindings,
    file: str | Path | BinaryIO,
    *,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    columns: Mapping[str, str] = NOTHING,
    ignore_unknown: bool = False,
    dry_run: bool = False,
    batch: int | None = None,
    actor: str | None = None,
    progress: Callable[[int], object] | None = None,
    report: Report | None = None,
) -> Summary:
    """Bind every name of a table, or, where one line is refused, none.

    ``file`` is a path or a binary file, ``format`` "csv", "tsv" or "jsonl"; None is what its name ends in, else CSV.
    ``encoding`` None is UTF-16 with a byte order mark, UTF-8, or else Windows-1252, which is reported as a guess;
    ``delimiter`` None is the comma, semicolon or tab by which the first line names the most columns. ``columns`` maps
    names of columns in the table to ours; ``ignore_unknown`` leaves out columns that are neither.

    With ``dry_run`` everything is tried and nothing kept. ``progress`` is called with the number of lines so far, every
    thousand lines and at the end. ``report`` is called with "refused" or "warning", a :class:`NotedLine` and the cells
    of every such line. Readers see all of it at once; other writers wait, but on SQLite not longer than five seconds.

    With ``batch`` it is all or nothing for that many lines at a time, each committed before the next is begun, and the
    import ends at the first batch with a refused line. What was kept stays, also where the process is killed; a second
    run of the same table finds it unchanged and goes on. ``batch`` counts for nothing in a dry run.

    Every line is held to the rules of :meth:`Bindings.bind`. A line with the status "withdrawn" withdraws its name, and
    puts a tombstone where nothing was bound. A line without a target leaves the target that is on record. Two lines for
    one name may state the same, but not different values. All lines that are refused are counted, and the first hundred
    listed, in the summary.

    Raises :class:`TableError` for a table that cannot be read or has an unknown column, :class:`BindingError` with the
    code ``format-unknown``, ``encoding-unknown``, ``delimiter-unknown`` or ``actor-text``, OSError where the file
    cannot be opened or read, ReadOnlyBindings and :class:`BindingsUnavailable`; nothing is written then, except the
    batches before.

    Source: design, bindings; ARK-085, POL-023, N-04; requirements 3.11.
    """
    check_actor(actor)
    if batch is not None and batch < 1:
        raise ValueError(f"a batch has 1 line or more, not {batch}")
    summary = Summary()
    reader = Reader(encoding, delimiter, Columns(columns, ignore_unknown))
    with closing(formats.read_rows(file, format, reader, summary.read_as)) as rows_read, closing(Noted()) as noted:
        # The history holds the name of the file, not its folder.
        name = name_of(file).rpartition("/")[2]
        run = _Run(name, bindings.now(), actor, noted, bindings.check_change, report, summary)
        # The first row is read, and what is no table at all refused, before anybody waits for the database.
        read = chain(list(islice(rows_read, 1)), rows_read)
        try:
            if batch is None or dry_run:
                run.take_whole(bindings, read, progress, keep=not dry_run)
            else:
                while run.take_batch(bindings, islice(read, batch), progress):
                    pass
        except Collision as collision:
            raise BindingsUnavailable(f"{bindings.store}: another writer was faster") from collision
        except TableError as error:
            error.kept = summary.kept
            raise
    summary.written = not (dry_run or summary.refusals)
    run.finish()
    return summary


@dataclass(slots=True)
class _Run:
    """One import on its way."""

    file: str
    now: datetime
    actor: str | None
    noted: Noted
    check_change: ChangeCheck
    report: Report | None
    summary: Summary
    last: Row | None = None

    def take_whole(
        self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None, *, keep: bool
    ) -> None:
        """Take all the lines, in one transaction, which is undone where one of them is refused, or without ``keep``."""
        with bindings.store.transaction(exclusive=True) as transaction:
            while some := list(islice(read, _AT_ONCE)):
                self._take(transaction, some)
                self.last = some[-1]
                if progress:
                    progress(self.summary.lines)
            if self.summary.refusals or not keep:
                transaction.rollback()
            else:
                self.summary.kept = self.summary.lines

    def take_batch(self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None) -> bool:
        """Take these lines, as all of the table were taken; whether there were any, and none was refused."""
        summary = self.summary
        before, counts = summary.lines, {name: getattr(summary, name) for name in _COUNTS}
        listed, warned = len(summary.listed), len(summary.warned)
        self.take_whole(bindings, read, progress, keep=True)
        if summary.refusals:
            for name, count in counts.items():
                setattr(summary, name, count)
            del summary.listed[listed:], summary.warned[warned:]
            return False
        return summary.lines > before

    def finish(self) -> None:
        """Look at the end of the table."""
        if self.summary.read_as.unfinished and self.last is not None:
            message = "the last line has no line end: if the file was cut off, this line is not whole"
            self._note_warning(self.last, "table-cut", message)

    def _take(self, transaction: Transaction, batch: Sequence[Row]) -> None:
        """Try these lines, and write what they change."""
        self.summary.lines += len(batch)
        read = [(row, self._read(row)) for row in batch]
        current = transaction.get([key for _, stated in read if (key := _key(stated))])
        # Every key that an earlier line had and that was not refused is on record, if it was not before.
        spoken_of = self.noted.among(list(current)) if current else {}
        reserving = _Reserving(transaction, [stated.key for _, stated in read if isinstance(stated, Reserved)])
        changes: dict[str, Change] = {}
        spoken: dict[str, str] = {}
        new: list[tuple[Row, str]] = []
        for row, stated in read:
            if isinstance(stated, (Reserved, RuleRow, Setting)):
                self._take_other(row, stated, transaction, current, reserving)
                continue
            proposal = _with_record(row, stated, current)
            if isinstance(proposal, BindingError):
                self._refuse(row, proposal.code, proposal.message)
                continue
            key = proposal.key
            before, earlier = current.get(key), spoken_of.get(key)
            change = self._decide(row, proposal, before, earlier, transaction)
            if change is None:
                continue
            self._count(row, before, change)
            if change.outcome == "bound":
                new.append((row, key))
            if earlier is None:
                current[key] = change.after
                spoken_of[key] = spoken[key] = _spoken(row, key)
                if change.action:
                    changes[f"{self.file}, line {row.line}"] = change
        transaction.put(list(changes.values()), self.actor, list(changes))
        transaction.put_minted(reserving.new, rfc3339(self.now), self.actor)
        self.noted.note(spoken)
        self._warn(transaction, new)

    def _read(self, row: Row) -> Proposal | OtherRow | BindingError:
        try:
            return other_rows.read(row.cells) or rows.proposal(row.cells)
        except BindingError as error:
            return error

    def _decide(
        self, row: Row, proposal: Proposal, before: Binding | None, earlier: str | None, transaction: Transaction
    ) -> Change | None:
        try:
            change = self.check_change(before, assignment.bind(before, proposal, self.now), transaction)
        except BindingError as error:
            if earlier is None:
                return self._refuse(row, error.code, error.message + _normal_form(self._given(row), proposal.key))
            change = None
        if earlier is not None and (change is None or change.action):
            line, _, spelling = earlier.partition(" ")
            written = f" ({validation.shown(spelling, 100)})" if spelling else ""
            why = names.why_same(self._given(row), spelling or proposal.key)
            message = f"{self.file}, line {line}{written} has other values for {validation.shown(proposal.key, 100)}"
            return self._refuse(row, "duplicate-line", f"{message}: {why}" if why else message)
        return change

    def _take_other(
        self,
        row: Row,
        stated: OtherRow,
        transaction: Transaction,
        current: Mapping[str, Binding],
        reserving: _Reserving,
    ) -> None:
        try:
            match stated:
                case Reserved(key):
                    changed = key not in current and reserving.take(key)
                case RuleRow():
                    changed = self._take_rule(stated, transaction)
                case Setting():
                    changed = _take_setting(stated, transaction)
        except BindingError as error:
            self._refuse(row, error.code, error.message)
            return
        if not changed:
            self.summary.unchanged += 1
            return
        counter = _OTHERS[type(stated)]
        number = getattr(self.summary, counter) + 1
        setattr(self.summary, counter, number)
        if number <= MOST_LISTED:
            outcome = "reserved" if isinstance(stated, Reserved) else "set"
            self.summary.listed.append(Imported(row.line, outcome, None, stated))

    def _take_rule(self, stated: RuleRow, transaction: Transaction) -> bool:
        existing = transaction.get_rule(stated.prefix)
        if existing is None:
            transaction.put_rule(Rule(*stated, self.now, self.actor))
            return True
        if (existing.template, existing.redirect) == (stated.template, stated.redirect):
            return False
        there = f"{validation.shown(existing.template, 100)} ({existing.redirect})"
        asked = f"{validation.shown(stated.template, 100)} ({stated.redirect})"
        raise BindingError("rule-otherwise", f"the rule for {stated.prefix} leads to {there}, not to {asked}")

    def _count(self, row: Row, before: Binding | None, change: Change) -> None:
        outcome = change.outcome
        counter = _COUNTERS[outcome]
        number = getattr(self.summary, counter) + 1
        setattr(self.summary, counter, number)
        if outcome != "unchanged" and number <= MOST_LISTED:
            self.summary.listed.append(Imported(row.line, outcome, before, change.after))

    def _warn(self, transaction: Transaction, bound: Sequence[tuple[Row, str]]) -> None:
        for row, _ in bound:
            for doubt in names.doubts(row.cells["identifier"]):
                self._note_warning(row, doubt.code, doubt.message)
        others = {other: row for row, key in bound for other in names.confusable(key)}
        for other in transaction.bound(list(others)):
            said = f"{validation.shown(other, 100)} is bound too: generic software may take one for the other"
            self._note_warning(others[other], "encoded-dot", said)

    def _note_warning(self, row: Row, code: str, message: str) -> None:
        self.summary.warnings += 1
        noted = NotedLine(row.line, self._identifier(row), code, message)
        if self.summary.warnings <= MOST_LISTED:
            self.summary.warned.append(noted)
        if self.report:
            self.report("warning", noted, row.cells)

    def _refuse(self, row: Row, code: str, message: str) -> None:
        self.summary.refusals += 1
        noted = NotedLine(row.line, self._identifier(row), code, message)
        if self.summary.refusals <= MOST_LISTED:
            self.summary.refused.append(noted)
        if self.report:
            self.report("refused", noted, row.cells)

    def _given(self, row: Row) -> str:
        return row.cells.get("identifier", "")

    def _identifier(self, row: Row) -> str:
        return validation.shown(self._given(row), 100)


class _Reserving:
    """The minted names among some rows: ``new`` are those that were not on record."""

    def __init__(self, transaction: Transaction, keys: Sequence[str]) -> None:
        self._minted = transaction.minted(keys) if keys else set()
        self.new: list[str] = []

    def take(self, key: str) -> bool:
        """Whether this name is new."""
        if key in self._minted:
            return False
        self._minted.add(key)
        self.new.append(key)
        return True


_COUNTERS = {
    "bound": "added",
    "unchanged": "unchanged",
    "updated": "updated",
    "claimed": "claimed",
    "relocated": "relocated",
    "withdrawn": "withdrawn",
}
_OTHERS = {Reserved: "reserved", RuleRow: "rules", Setting: "settings"}
_COUNTS = (*_COUNTERS.values(), *_OTHERS.values(), "warnings")


def _key(stated: Proposal | OtherRow | BindingError) -> str | None:
    """The key of what has to be looked up for a row."""
    match stated:
        case Proposal() | Reserved():
            return stated.key
        case BindingError(code="target-missing"):
            return stated.identifier
        case _:
            return None


def _with_record(row: Row, stated: Proposal | BindingError, current: Mapping[str, Binding]) -> Proposal | BindingError:
    """The proposal of a row with what is on record where the cells of target and kind are empty.

    White space around a text was trimmed in the table; a text on record that differs only in it stays as it is.
    """
    before = current.get(_key(stated) or "")
    if before is None:
        return stated
    cells = row.cells
    filled: dict[str, str] = {}
    if not cells.get("target") and cells.get("status") != "withdrawn":
        filled["kind"] = cells.get("kind") or before.kind
        if filled["kind"] != "described" and before.target:
            filled["target"] = before.target
    elif not cells.get("kind") and cells.get("target") and before.kind not in ("described", "located"):
        filled["kind"] = before.kind
    if filled:
        try:
            stated = rows.proposal({**cells, **filled})
        except BindingError as error:
            return error
    return stated if isinstance(stated, BindingError) else _untrimmed(stated, before)


def _untrimmed(proposal: Proposal, before: Binding) -> Proposal:
    def kept(stated: str | None, recorded: str | None) -> str | None:
        return recorded if stated and recorded and stated == recorded.strip() else stated

    metadata = proposal.metadata
    if metadata:
        metadata = {name: kept(text, before.metadata.get(name)) or text for name, text in metadata.items()}
    return proposal._replace(
        resource=kept(proposal.resource, before.resource),
        reason=kept(proposal.reason, before.reason),
        metadata=metadata,
    )


def _take_setting(stated: Setting, transaction: Transaction) -> bool:
    """Keep a counter, which never goes back, or the owner of a UUID; whether that is new."""
    existing = transaction.setting(stated.name)
    if stated.name.startswith("next "):
        if existing is not None and int(existing) >= int(stated.value):
            return False
    elif existing is not None:
        if existing == stated.value:
            return False
        said = f"the UUID {stated.name[5:]} is that of {validation.shown(existing, 100)}"
        raise BindingError("uuid-reused", f"{said}, not of {validation.shown(stated.value, 100)}")
    transaction.set_setting(stated.name, stated.value)
    return True


def _spoken(row: Row, key: str) -> str:
    """The number of a line, and the spelling of its name where that is not obviously the same."""
    given = row.cells["identifier"]
    return f"{row.line}" if given in (key, f"ark:/{key[4:]}") else f"{row.line} {given}"


def _normal_form(given: str, key: str) -> str:
    """The normal form of a name, where the spelling is another one, and why (N-04)."""
    if given == key:
        return ""
    why = names.why_same(given)
    return f" (its normal form is {validation.shown(key, 100)}{': ' if why else ''}{why})"
