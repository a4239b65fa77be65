"""The last entry of each name in the replay of a log, and the rules between entries of one name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....identifiers.ark import normalization
from ....identifiers.text import display
from ...names import naming
from ...names.errors import BindingError
from ...storage.spill import Spill
from ..tree.entries import LogEntry

# Entries of a withdrawn name: a new reason or successor is "updated".
_AFTER_WITHDRAWAL = frozenset({"updated", "restored", "redacted"})
_ACTIONS = frozenset({"bound", "updated", "relocated", "withdrawn", "restored", "redacted", "hidden", "reserved"})

# A name that has these changes was bound or withdrawn before.
_LATER = _ACTIONS - {"bound", "withdrawn", "reserved"}

_WITHDRAWN, _HIDDEN = 1, 2

_TABLE = "names (key TEXT PRIMARY KEY, entry INTEGER, revision INTEGER, thing BLOB, withdrawn INTEGER) WITHOUT ROWID"
_BATCH = 256


@dataclass(frozen=True, kw_only=True)
class LogFinding:
    """A problem in a public log. ``code`` is such as "second-thing", and ``place`` such as "entry 17" or "tile/0/000".
    ``message`` is in printable ASCII. ``name`` is that of the entry, or None.
    """

    code: str
    place: str
    message: str
    name: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the problem of a public log as a JSON object with the fields of this class."""
        return {"code": self.code, "place": self.place, "name": self.name, "message": self.message}


class _State(NamedTuple):
    """The last entry of a name, and its resource as a hash. ``withdrawn`` is :data:`_WITHDRAWN`, :data:`_HIDDEN`
    or 0.
    """

    entry: int
    revision: int
    thing: bytes | None
    withdrawn: int


class NameStates:
    """The last log entry of each name in a temporary table, to compare the next entry with it."""

    def __init__(self) -> None:
        self._spill = Spill(_TABLE, "the verification")

    def close(self) -> None:
        """Delete the temporary table of the last entries."""
        self._spill.close()

    def __len__(self) -> int:
        [(number,)] = self._spill.rows("SELECT count(*) FROM names")
        return number

    def add(self, first: int, entries: Sequence[LogEntry]) -> Iterator[LogFinding]:
        """Compare entries, from the number ``first`` on, with earlier ones of their names. Yield the problems."""
        for start in range(0, len(entries), _BATCH):
            batch = [(entry, *_name_of(entry.key)) for entry in entries[start : start + _BATCH]]
            keys = list({name for _, name, _ in batch})
            marks = ", ".join("?" * len(keys))
            query = f"SELECT * FROM names WHERE key IN ({marks})"  # noqa: S608 - only marks
            states = {row[0]: _State(*row[1:]) for row in self._spill.rows(query, keys)}
            for number, (entry, name, problem) in enumerate(batch, first + start):
                before = states.get(name)
                if problem is not None:
                    message = f"{display.escape(entry.key[:300])} {problem}"
                    yield LogFinding(code="name", place=f"entry {number}", message=message, name=entry.key)
                yield from _compare(number, entry, before)
                states[name] = _after(number, entry, before)
            rows = [(key, *states[key]) for key in keys]
            self._spill.add("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?, ?)", rows)


def _name_of(key: str) -> tuple[str, str | None]:
    """Return the key by which a name is compared, and the problem of the recorded key: another spelling would be
    another name.
    """
    if normalization.plain(key) == key:
        return key, None
    try:
        name = naming.read(key)
    except BindingError:
        return key, "is not an identifier"
    current = naming.key(name)
    if key == current:
        return current, None
    return current, f"is not in normal form, which is {display.escape(current[:300])}"


def _after(number: int, entry: LogEntry, before: _State | None) -> _State:
    thing = entry.thing or (before.thing if before else None)
    # A change that does not restore a withdrawn name is a problem, and the name stays withdrawn.
    state = before.withdrawn if before else 0
    if entry.action == "withdrawn":
        state = _WITHDRAWN
    elif entry.action in ("hidden", "reserved"):
        state = _HIDDEN
    elif entry.action == "restored" or (entry.action == "bound" and state == _HIDDEN):
        state = 0
    return _State(number, entry.revision, thing, state)


def _compare(number: int, entry: LogEntry, before: _State | None) -> Iterator[LogFinding]:
    """Yield the problems of an entry after the last entry of its name."""
    for code, message in _problems(entry, before):
        yield LogFinding(code=code, place=f"entry {number}", message=message, name=entry.key)


def _problems(entry: LogEntry, before: _State | None) -> Iterator[tuple[str, str]]:
    name = display.escape(entry.key[:300])
    if entry.action not in _ACTIONS:
        yield "action", f"{name} has the unknown action {entry.action}"
    if before is None:
        if entry.before is not None:
            yield "before", f"{name} names entry {entry.before} as its previous entry, and has no previous entry"
        if entry.action in _LATER:
            yield "revision-missing", f"{name} has no entry before its change {entry.revision}, {entry.action}"
        return
    if entry.before != before.entry:
        place = "no previous entry" if entry.before is None else f"entry {entry.before}"
        yield "before", f"{name} names {place}, and its previous entry is entry {before.entry}"
    if entry.revision <= before.revision:
        message = f"{name} has change {entry.revision} after change {before.revision} in entry {before.entry}"
        yield "revision-repeated", message
    elif entry.revision != before.revision + 1:
        missing = f"{before.revision + 1}"
        if entry.revision > before.revision + 2:
            missing += f" to {entry.revision - 1}"
        yield "revision-missing", f"{name} has no entry for change {missing}, after entry {before.entry}"
    if before.thing is not None and entry.thing != before.thing:
        if entry.thing is None:
            yield "thing-removed", f"{name} has no resource any more; entry {before.entry} has one"
        else:
            message = f"{name} was given to another thing; entry {before.entry} has another resource"
            yield "second-thing", message
    if before.withdrawn == _HIDDEN:
        # A hidden name can be changed and published again.
        if entry.action == "restored":
            yield "action", f"{name} was restored, although it was not withdrawn"
    elif before.withdrawn:
        if entry.action in _ACTIONS - _AFTER_WITHDRAWAL:
            yield "withdrawn", f"{name} was {entry.action} after its withdrawal, and was not restored"
        if before.thing is None and entry.thing is not None:
            yield "withdrawn", f"{name} was given a resource after its withdrawal"
    elif entry.action in ("restored", "bound"):
        yield "action", f"{name} was {entry.action}, although it was live since entry {before.entry} or before"
