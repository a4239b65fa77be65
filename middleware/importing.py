"""Many bindings at once, from a table: all of them or none, by the same rules as one.

A table has a row for each name, in any of the :mod:`formats`. Its columns are those of :mod:`rows`, all but the first
two optional, and ``target[text/html;en]`` for alternates. An empty cell says nothing: what is on record stays, and a
new name gets the default. The table is read once, in one transaction of the database, and costs the memory of a
thousand rows however long it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from . import assignment, formats, names, rows, texts
from .assignment import Change, Outcome, Proposal
from .binding import Binding
from .bindings import Bindings, check_actor
from .errors import BindingError, BindingsUnavailable, Collision, TableError
from .governance import Govern
from .lines import name_of
from .noting import Noted
from .rows import Row

if TYPE_CHECKING:
    from .store import Transaction

MOST_LISTED = 100
"""How many lines of each outcome a summary lists; it counts them all."""

_AT_ONCE = 1000


class Imported(NamedTuple):
    """What a line did, or would do: the name, and its binding before (None for a new name) and after."""

    line: int
    outcome: Outcome
    before: Binding | None
    after: Binding


class NotedLine(NamedTuple):
    """A line of which something is to be said; ``identifier`` is as the line has it, in printable ASCII."""

    line: int
    identifier: str
    code: str
    message: str


@dataclass(slots=True)
class Summary:
    """What an import did, or would do: how many lines had each outcome, and the first hundred of each but "unchanged".

    ``updated`` counts names that lead where they led and got other metadata, another redirect or another reason.
    ``claimed`` counts names that got a resource where none was on record. ``written`` is False
    after a dry run, and after any line was refused. ``kept`` is the number of lines, from the first, whose names are in
    the database as they say: all of them or none, unless they were taken in batches. ``warned`` lists, and
    ``warnings`` counts, names that generic software may take for another that is bound (A-08), or with characters that
    nobody sees (A-09).
    """

    lines: int = 0
    added: int = 0
    unchanged: int = 0
    updated: int = 0
    claimed: int = 0
    relocated: int = 0
    withdrawn: int = 0
    refusals: int = 0
    refused: list[NotedLine] = field(default_factory=list)
    warnings: int = 0
    warned: list[NotedLine] = field(default_factory=list)
    listed: list[Imported] = field(default_factory=list)
    written: bool = False
    kept: int = 0


def import_table(
    bindings: Bindings,
    file: str | Path | BinaryIO,
    *,
    format: str | None = None,
    dry_run: bool = False,
    batch: int | None = None,
    actor: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Summary:
    """Bind every name of a table, or, where one line is refused, none.

    ``file`` is a path or a binary file, ``format`` "csv", "tsv" or "jsonl"; None is what its name ends in, else
    CSV. With ``dry_run`` everything is tried and nothing kept. ``progress`` is called with the number of lines so far,
    every thousand lines and at the end. Readers see all of it at once; other writers wait, but on SQLite not longer
    than five seconds.

    With ``batch`` it is all or nothing for that many lines at a time, each committed before the next is begun, and the
    import ends at the first batch of which a line is refused. What was kept stays, also where the process is killed; a
    second run of the same table finds it unchanged and goes on. ``batch`` counts for nothing in a dry run.

    Every line is held to the rules of :meth:`Bindings.bind`. A line with the status "withdrawn" withdraws its name, and
    puts a tombstone where nothing was bound. Two lines for one name may say the same, but not different things. All
    lines that are refused are counted, and the first hundred listed, in the summary.

    Raises :class:`TableError` for a table that cannot be read or has a column that nobody knows, and
    :class:`BindingsUnavailable`; nothing is written then, but for the batches before.

    Source: design, bindings; ARK-085, POL-023, N-04; requirements 3.11.
    """
    check_actor(actor)
    if batch is not None and batch < 1:
        raise ValueError(f"a batch has 1 line or more, not {batch}")
    with closing(formats.read_rows(file, format)) as rows_read, closing(Noted()) as noted:
        # The folder is nobody's business who reads the history one day.
        run = _Run(name_of(file).rpartition("/")[2], bindings.now(), actor, noted, bindings.govern)
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
            error.kept = run.summary.kept
            raise
    run.summary.written = not (dry_run or run.summary.refusals)
    return run.summary


@dataclass(slots=True)
class _Run:
    """One import on its way."""

    file: str
    now: datetime
    actor: str | None
    noted: Noted
    govern: Govern
    summary: Summary = field(default_factory=Summary)

    def take_whole(
        self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None, *, keep: bool
    ) -> None:
        """Take all the lines, in one transaction, which is undone where one of them is refused, or without ``keep``."""
        with bindings.store.transaction(alone=True) as transaction:
            while some := list(islice(read, _AT_ONCE)):
                self._take(transaction, some)
                if progress:
                    progress(self.summary.lines)
            if self.summary.refusals or not keep:
                transaction.undo()
            else:
                self.summary.kept = self.summary.lines

    def take_batch(self, bindings: Bindings, read: Iterator[Row], progress: Callable[[int], object] | None) -> bool:
        """Take these lines, as all of the table were taken; whether there were any, and none was refused."""
        before, counts = self.summary.lines, {name: getattr(self.summary, name) for name in _COUNTS}
        self.take_whole(bindings, read, progress, keep=True)
        if self.summary.refusals:
            for name, count in counts.items():
                setattr(self.summary, name, count)
            return False
        return self.summary.lines > before

    def _take(self, transaction: Transaction, batch: Sequence[Row]) -> None:
        """Try these lines, and write what they change."""
        self.summary.lines += len(batch)
        read = [(row, self._read(row)) for row in batch]
        current = transaction.get([proposal.key for _, proposal in read if isinstance(proposal, Proposal)])
        # Whatever was spoken of before and not refused is on record since, if it was not before.
        spoken_of = self.noted.among(list(current)) if current else {}
        changes: dict[str, Change] = {}
        spoken: dict[str, str] = {}
        new: list[tuple[Row, str]] = []
        for row, proposal in read:
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
                spoken_of[key] = spoken[key] = source = f"{self.file}, line {row.line}"
                if change.action:
                    changes[source] = change
        transaction.put(list(changes.values()), self.actor, list(changes))
        self.noted.note(spoken)
        self._warn(transaction, new)

    def _read(self, row: Row) -> Proposal | BindingError:
        try:
            return rows.proposal(row.cells)
        except BindingError as error:
            return error

    def _decide(
        self, row: Row, proposal: Proposal, before: Binding | None, earlier: str | None, transaction: Transaction
    ) -> Change | None:
        try:
            change = self.govern(before, assignment.bind(before, proposal, self.now), transaction)
        except BindingError as error:
            if earlier is None:
                return self._refuse(
                    row, error.code, f"{error.message}{_both_spellings(self._identifier(row), proposal.key)}"
                )
            change = None
        if earlier is not None and (change is None or change.action):
            said = f"{earlier} says something else of {texts.shown(proposal.key, 100)}"
            return self._refuse(row, "duplicate-line", said)
        return change

    def _count(self, row: Row, before: Binding | None, change: Change) -> None:
        summary = self.summary
        counter = _COUNTERS[change.outcome]
        setattr(summary, counter, getattr(summary, counter) + 1)
        if counter != "unchanged" and getattr(summary, counter) <= MOST_LISTED:
            summary.listed.append(Imported(row.line, change.outcome, before, change.after))

    def _warn(self, transaction: Transaction, bound: Sequence[tuple[Row, str]]) -> None:
        for row, _ in bound:
            for doubt in names.doubts(row.cells["identifier"]):
                self._note_warning(row, doubt.code, doubt.message)
        others = {other: row for row, key in bound for other in names.confusable(key)}
        for other in transaction.bound(list(others)):
            said = f"{texts.shown(other, 100)} is bound too: generic software may take one for the other"
            self._note_warning(others[other], "encoded-dot", said)

    def _note_warning(self, row: Row, code: str, message: str) -> None:
        self.summary.warnings += 1
        if self.summary.warnings <= MOST_LISTED:
            self.summary.warned.append(NotedLine(row.line, self._identifier(row), code, message))

    def _refuse(self, row: Row, code: str, message: str) -> None:
        self.summary.refusals += 1
        if self.summary.refusals <= MOST_LISTED:
            self.summary.refused.append(NotedLine(row.line, self._identifier(row), code, message))

    def _identifier(self, row: Row) -> str:
        return texts.shown(row.cells.get("identifier", ""), 100)


_COUNTERS: dict[Outcome, str] = {
    "bound": "added",
    "unchanged": "unchanged",
    "updated": "updated",
    "claimed": "claimed",
    "relocated": "relocated",
    "withdrawn": "withdrawn",
}
_COUNTS = (*_COUNTERS.values(), "warnings")


def _both_spellings(given: str, key: str) -> str:
    """Variants are sorted in a normal form; where a conflict comes from that, both spellings help to see it (N-04)."""
    return "" if given == key else f" (its normal form is {texts.shown(key, 100)})"
