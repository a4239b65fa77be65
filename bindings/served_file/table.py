"""The table in one version of a table file, and the changes that a new version may make. A version is refused if it

- cannot be read, or its last line has no line end, because such a file can be incomplete;
- has two different lines for one name;
- lacks a name that is not reserved, because names are withdrawn and never deleted;
- assigns a name to another resource, moves it without its resource, or records a resource for a withdrawn name.

The rules for a change of a name are those of :mod:`assignment` for imports.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from ..names import assignment, validation
from ..names.binding import PLACE, Binding
from ..names.errors import BindingConflict, BindingError, TableError
from ..names.fields import Fields
from ..names.naming import NO_RULES, NamingRules
from ..names.policy import ChangeCheck, TemporarySettings, check_by
from ..names.prefixes import holds
from ..names.prefixes.prefixes import PrefixRecord, record
from ..storage.protocols import Clock, utc_now
from ..tables import columns, other_rows, text_tables
from ..tables import text_stream as lines
from ..tables.other_rows import OtherRow, PrefixRow, RuleRow
from .copy import FileVersion

_EXPECTED_RESOURCE = "the recorded resource, or a name that was never bound"
_FORMATTED = "; if a spreadsheet program changed the number (000030 to 30, 3-4 to a date), format its column as text"


class FileBindings(Mapping[str, Binding]):
    """The bindings in a table file by their keys, in the order of the lines, each as it is now (:meth:`.Binding.at`).
    Most names of a large file are never requested, so a binding is made from its checked fields at the first use.
    ``changed`` is the time of lines without a time.
    """

    def __init__(self, changed: datetime, now: Clock = utc_now) -> None:
        self._changed = changed
        self.now = now
        # The fields are kept as a plain tuple, because the garbage collector does not visit a tuple of texts.
        self._lines: dict[str, tuple[object, ...] | Binding] = {}

    def add(self, line: Fields | Binding) -> None:
        """Add the name of a line: its checked fields, or a whole binding."""
        if isinstance(line, Fields):
            self._lines[line.key] = tuple(line)
        else:
            self._lines[line.identifier] = _with_own_time(line)

    def __getitem__(self, key: str) -> Binding:
        line = self._lines[key]
        if isinstance(line, tuple):
            line = self._lines[key] = _with_own_time(Fields._make(line).create_binding(self._changed))
        return line if line.embargo is None else line.at(self.now())

    def __contains__(self, key: object) -> bool:
        return key in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _with_own_time(binding: Binding) -> Binding:
    """Return a binding whose change was recorded at its own time: a file does not say when a line was added."""
    return binding if binding.recorded is None else replace(binding, recorded=None)


class FileTable(NamedTuple):
    """The content of one version of a table file: its bindings in the order of their lines, with the numbers of these.

    - ``stated``: 1 for each line that contains a status, else 0.
    - ``digest``: the SHA-256 of the content.
    - ``others``: rules, prefix records, counters and owners of UUIDs.
    - ``held``: the keys of the names with a hold.
    - ``changed``: the modification time of the file in UTC.
    """

    bindings: FileBindings
    lines: array[int]
    stated: bytearray
    digest: bytes
    others: list[OtherRow]
    changed: datetime
    held: list[str]

    def line(self, key: str) -> int:
        """Return the number, from 1, of the line that binds the name with this key."""
        return self.lines[self._index(key)]

    def states_status(self, key: str) -> bool:
        """Return whether the line of a name has a value in the column "status"."""
        return bool(self.stated[self._index(key)])

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of prefixes in their order, with the modification time of the file."""
        rows = sorted((row for row in self.others if isinstance(row, PrefixRow)), key=lambda row: row.prefix)
        return [record(row.prefix, row.texts, changed=self.changed) for row in rows]

    def _index(self, key: str) -> int:
        return list(self.bindings).index(key)


def read_table(
    version: FileVersion,
    check_change: ChangeCheck | None = None,
    rules: NamingRules = NO_RULES,
    clock: Clock = utc_now,
) -> FileTable:
    """Parse one version of a table file, and check all of its lines. Two equal lines for one name are allowed. Raises
    :class:`TableError` for another file, a line that cannot be bound, two different lines of one name, and a last line
    without a line end.
    """
    bindings = FileBindings(version.changed, clock)
    table = FileTable(bindings, array("Q"), bytearray(), version.digest, [], version.changed, [])
    prefixes: dict[tuple[type, str], int] = {}
    file = lines.name_of(version.path)
    memory = TemporarySettings()
    last = 1
    with closing(text_tables.read_rows(version.stream())) as rows:
        for row in rows:
            last = row.line
            try:
                if (other := other_rows.read(row.cells, rules)) is not None:
                    if isinstance(other, (RuleRow, PrefixRow)):
                        first = prefixes.setdefault((type(other), other.prefix), row.line)
                        if first < row.line:
                            what = f"a {'rule' if isinstance(other, RuleRow) else 'record'} for {other.prefix}"
                            message = f"lines {first} and {row.line} both have {what}; delete one of them"
                            raise BindingError("duplicate-line", message)
                    if isinstance(other, PrefixRow) and (until := other.texts.get("hold_until")):
                        holds.require_limited(datetime.fromisoformat(until), clock())
                    table.others.append(other)
                    continue
                fields = columns.fields(row.cells, rules)
                if fields.hold_until is not None:
                    holds.require_limited(fields.hold_until, clock())
                if fields.key not in bindings:
                    if check_change is None:
                        bindings.add(fields)
                    else:
                        change = assignment.bind(None, fields, table.changed)
                        bindings.add(check_by(check_change, None, change, memory).after)
                    if fields.hold_until is not None:
                        table.held.append(fields.key)
                    table.lines.append(row.line)
                    table.stated.append(fields.status is not None)
                    continue
                change = assignment.bind(bindings[fields.key], fields, clock())
            except BindingConflict as error:
                raise _differs(table, error.existing.identifier, file, row.line) from None
            except BindingError as error:
                shown = validation.quote(row.cells.get("identifier", ""), 100)
                raise TableError(error.code, f"{shown}: {error.message}", file, row.line) from None
            if change.action:
                raise _differs(table, fields.key, file, row.line)
    if version.is_cut:
        message = "the last line has no line end, so the file can be incomplete; save the whole file with a line end"
        raise TableError("table-cut", message, file, last)
    return table


def require_kept(old: FileTable, new: FileTable, file: str) -> None:
    """Raise :class:`TableError` if a new version of a table file deletes or reserves a public name, assigns it to
    another resource, or restores or publishes a name without a status. A reserved name can be deleted.
    """
    if old.digest == new.digest:
        return
    for key, before in old.bindings.items():
        after = new.bindings.get(key)
        if before.is_reserved:
            if after is not None and not after.is_reserved and not new.states_status(key):
                shown = validation.quote(key, 100)
                message = f"{shown} is reserved; its line needs the status reserved, or the status live to publish it"
                raise TableError("reserved", message, file, new.line(key))
            continue
        if after is None:
            message = (
                f"the previous version has {validation.quote(key, 100)} in line {old.line(key)}, and this version "
                "does not have it; add its line again, with the status withdrawn if the name is not used any more"
            )
            raise TableError("name-missing", message, file, old.line(key))
        if after.is_reserved:
            message = f"{validation.quote(key, 100)} is public and cannot be reserved; remove its status"
            raise TableError("reserve-public", message, file, new.line(key))
        if not before.is_live and after.is_live and not new.states_status(key):
            shown = validation.quote(key, 100)
            message = f"{shown} is withdrawn; its line needs the status withdrawn, or the status live to restore it"
            raise TableError("withdrawn", message, file, new.line(key))
        try:
            assignment.require_kept(*_comparable(before, after), resource=after.resource)
        except BindingConflict as error:
            message = f"{validation.quote(key, 100)} (line {old.line(key)} of the previous version): {error.message}"
            if error.code == "bound-otherwise":
                message += "; add its resource in one version of the file, and the new target in the next version"
            refused = TableError(error.code, message, file, new.line(key))
            if error.code == "other-resource":
                # A version without the column of resources removes them, so it is not advised here.
                refused.expected = _EXPECTED_RESOURCE + _FORMATTED * (after.resource is not None)
            raise refused from None


def _comparable(before: Binding, after: Binding) -> tuple[Binding, Binding]:
    """Return both bindings, and give a tombstone without a target the target of the other binding."""
    if not after.is_live and after.target is None:
        return before, _with_place_of(after, before)
    if not before.is_live and before.target is None and before.resource is not None:
        return _with_place_of(before, after), after
    return before, after


def _with_place_of(binding: Binding, other: Binding) -> Binding:
    return replace(binding, **{field: getattr(other, field) for field in PLACE})


def _differs(table: FileTable, key: str, file: str, line: int) -> TableError:
    shown = validation.quote(key, 100)
    message = f"lines {table.line(key)} and {line} are both for {shown} and differ; delete one of them"
    return TableError("duplicate-line", message, file, line)
