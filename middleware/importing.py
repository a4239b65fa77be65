"""Many bindings at once, from a table: all of them or none, by the same rules as one.

A table has a line for each name. Its columns are :data:`COLUMNS`, all but the first two optional, and
``target[text/html;en]`` for alternates. An empty field says nothing: what is on record stays, and a new name gets the
default. The table is read once, in one transaction of the database, and costs the memory of a thousand lines however
long it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from . import assignment, names, tables, texts
from .assignment import Change, Outcome, Proposal
from .binding import STATUSES, Binding, Status
from .bindings import Bindings, check_actor
from .errors import BindingError, BindingsUnavailable, Collision, TableError
from .metadata import ELEMENTS
from .tables import Line

if TYPE_CHECKING:
    from .store import Transaction

COLUMNS = ("identifier", "target", "kind", "resource", "status", "passthrough", "scope", *ELEMENTS)
"""The columns that a table may have; the first two it must have."""

MOST_LISTED = 100
"""How many lines of each outcome a summary lists; it counts them all."""

_BATCH = 1000
_ALTERNATE = re.compile(r"target\[(.*)\]", re.DOTALL)
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


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

    ``updated`` counts those of the unchanged whose metadata or the like was brought up to date. ``written`` is False
    after a dry run, and after any line was refused: then nothing of the table is in the database. ``warned`` lists, and
    ``warnings`` counts, names that generic software may take for another that is bound (A-08), or with characters that
    nobody sees (A-09).
    """

    lines: int = 0
    added: int = 0
    unchanged: int = 0
    updated: int = 0
    relocated: int = 0
    withdrawn: int = 0
    refusals: int = 0
    refused: list[NotedLine] = field(default_factory=list)
    warnings: int = 0
    warned: list[NotedLine] = field(default_factory=list)
    listed: list[Imported] = field(default_factory=list)
    written: bool = False


def import_table(
    bindings: Bindings,
    file: str | Path | BinaryIO,
    *,
    dry_run: bool = False,
    actor: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Summary:
    """Bind every name of a CSV table, or, where one line is refused, none.

    ``file`` is a path or a binary file. With ``dry_run`` everything is tried and nothing kept. ``progress`` is called
    with the number of lines so far, every thousand lines and at the end. Readers see all of it at once; other writers
    wait, but on SQLite not longer than five seconds.

    Every line is held to the rules of :meth:`Bindings.bind`. A line with the status "withdrawn" withdraws its name, and
    puts a tombstone where nothing was bound. Two lines for one name may say the same, but not different things. All
    lines that are refused are counted, and the first hundred listed, in the summary.

    Raises :class:`TableError` for a table that cannot be read or has a column that nobody knows, and
    :class:`BindingsUnavailable`; nothing is written then.

    Source: design, bindings; ARK-085, POL-023, N-04; requirements 3.11.
    """
    check_actor(actor)
    name = tables.name_of(file)
    summary = Summary()
    with closing(tables.read_csv(file)) as lines:
        header = next(lines, None)
        if header is None:
            raise TableError("table-empty", "the file is empty", name, 1)
        columns = _columns(header, name)
        try:
            with bindings.store.transaction(alone=True) as transaction:
                transaction.start_noting()
                run = _Run(transaction, columns, name, bindings.now(), actor, summary)
                while batch := list(islice(lines, _BATCH)):
                    run.take(batch)
                    if progress:
                        progress(summary.lines)
                if dry_run or summary.refusals:
                    transaction.undo()
        except Collision as collision:
            raise BindingsUnavailable(f"{bindings.store}: another writer was faster") from collision
    summary.written = not (dry_run or summary.refusals)
    return summary


class _Columns(NamedTuple):
    """The columns of a table: their names, and the places of those that are read otherwise than by their name."""

    names: Sequence[str]
    places: dict[str, int]
    metadata: Sequence[tuple[int, str]]
    alternates: Sequence[tuple[int, str]]


def _columns(header: Line, file: str) -> _Columns:
    names = [name.strip() for name in header.fields]
    alternates: list[tuple[int, str]] = []
    for number, column in enumerate(names):
        shown = texts.shown(column) or f"{number + 1} (without a name)"
        if alternate := _ALTERNATE.fullmatch(column):
            alternates.append((number, alternate[1]))
        elif column not in COLUMNS:
            raise TableError("table-column", f"there is no column {shown}", file, header.number, shown)
        if column in names[:number]:
            raise TableError("table-column-twice", f"the column {shown} is there twice", file, header.number, shown)
    for column in COLUMNS[:2]:
        if column not in names:
            raise TableError("table-column-missing", f"there is no column {column}", file, header.number, column)
    places = {column: number for number, column in enumerate(names)}
    return _Columns(names, places, [(places[name], name) for name in ELEMENTS if name in places], alternates)


@dataclass(slots=True)
class _Run:
    """One import on its way."""

    transaction: Transaction
    columns: _Columns
    file: str
    now: datetime
    actor: str | None
    summary: Summary

    def take(self, batch: Sequence[Line]) -> None:
        """Try these lines, and write what they change."""
        self.summary.lines += len(batch)
        read = [(line, self._read(line)) for line in batch]
        current = self.transaction.get([proposal.key for _, proposal in read if isinstance(proposal, Proposal)])
        spoken_of = self.transaction.noted(list(current))
        changes: dict[str, Change] = {}
        unchanged: dict[str, str] = {}
        new: list[tuple[Line, str]] = []
        for line, proposal in read:
            if isinstance(proposal, BindingError):
                self._refuse(line, proposal.code, proposal.message)
                continue
            key = proposal.key
            before, earlier = current.get(key), spoken_of.get(key)
            change = self._decide(line, proposal, before, earlier)
            if change is None:
                continue
            self._count(line, before, change)
            if change.outcome == "bound":
                new.append((line, key))
            if earlier is None:
                current[key] = change.after
                spoken_of[key] = source = self._source(line)
                if change.action:
                    changes[source] = change
                else:
                    unchanged[key] = source
        self.transaction.put(list(changes.values()), self.actor, list(changes))
        self.transaction.note(unchanged)
        self._warn(new)

    def _source(self, line: Line) -> str:
        # The folder is nobody's business who reads the history one day.
        return f"{self.file.rpartition('/')[2]}, line {line.number}"

    def _read(self, line: Line) -> Proposal | BindingError:
        if len(line.fields) != len(self.columns.names):
            raise self._wrong_number(line)
        try:
            return _proposal(self.columns, line.fields)
        except BindingError as error:
            return error

    def _wrong_number(self, line: Line) -> TableError:
        fields, columns = len(line.fields), self.columns.names
        said = f"the line has {fields} fields, the header {len(columns)}"
        column = columns[fields] if fields < len(columns) else f"{len(columns) + 1}"
        return TableError("table-fields", said, self.file, line.number, column)

    def _decide(self, line: Line, proposal: Proposal, before: Binding | None, earlier: str | None) -> Change | None:
        try:
            change = assignment.bind(before, proposal, self.now)
        except BindingError as error:
            if earlier is None:
                return self._refuse(
                    line, error.code, f"{error.message}{_both_spellings(self._identifier(line), proposal.key)}"
                )
            change = None
        if earlier is not None and (change is None or change.action):
            said = f"{earlier} says something else of {texts.shown(proposal.key, 100)}"
            return self._refuse(line, "duplicate-line", said)
        return change

    def _count(self, line: Line, before: Binding | None, change: Change) -> None:
        summary = self.summary
        match change.outcome:
            case "bound":
                summary.added += 1
            case "relocated":
                summary.relocated += 1
            case "withdrawn":
                summary.withdrawn += 1
            case _:
                summary.unchanged += 1
                summary.updated += change.action is not None
                return
        if getattr(summary, _COUNTERS[change.outcome]) <= MOST_LISTED:
            summary.listed.append(Imported(line.number, change.outcome, before, change.after))

    def _warn(self, bound: Sequence[tuple[Line, str]]) -> None:
        for line, _ in bound:
            for doubt in names.doubts(line.fields[self.columns.places["identifier"]]):
                self._note_warning(line, doubt.code, doubt.message)
        others = {other: line for line, key in bound for other in names.confusable(key)}
        for other in self.transaction.get(list(others)):
            said = f"{texts.shown(other, 100)} is bound too: generic software may take one for the other"
            self._note_warning(others[other], "encoded-dot", said)

    def _note_warning(self, line: Line, code: str, message: str) -> None:
        self.summary.warnings += 1
        if self.summary.warnings <= MOST_LISTED:
            self.summary.warned.append(NotedLine(line.number, self._identifier(line), code, message))

    def _refuse(self, line: Line, code: str, message: str) -> None:
        self.summary.refusals += 1
        if self.summary.refusals <= MOST_LISTED:
            self.summary.refused.append(NotedLine(line.number, self._identifier(line), code, message))

    def _identifier(self, line: Line) -> str:
        return texts.shown(line.fields[self.columns.places["identifier"]], 100)


_COUNTERS = {"bound": "added", "relocated": "relocated", "withdrawn": "withdrawn"}


def _both_spellings(given: str, key: str) -> str:
    """Variants are sorted in a normal form; where a conflict comes from that, both spellings help to see it (N-04)."""
    return "" if given == key else f" (its normal form is {texts.shown(key, 100)})"


def _proposal(columns: _Columns, fields: Sequence[str]) -> Proposal:
    said = {name: fields[place] or None for name, place in columns.places.items()}
    status, target = _status(said.get("status")), said["target"]
    # A tombstone for a name of which nothing else is known leads nowhere.
    default = "described" if status == "withdrawn" and target is None else "located"
    return assignment.propose(
        said["identifier"] or "",
        target,
        kind=said.get("kind") or default,
        status=status,
        resource=said.get("resource"),
        passthrough=_passthrough(said.get("passthrough")),
        scope=said.get("scope"),
        alternates={selector: fields[place] for place, selector in columns.alternates if fields[place]} or None,
        metadata={element: fields[place] for place, element in columns.metadata if fields[place]} or None,
        partial=True,
    )


def _status(text: str | None) -> Status | None:
    for known in STATUSES:
        if text == known:
            return known
    if text is None:
        return None
    raise BindingError("status-unknown", f"there is no status {texts.shown(text)}")


def _passthrough(text: str | None) -> bool | None:
    if text is None:
        return None
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    raise BindingError("passthrough-unknown", f"passthrough is {texts.shown(text)}")
