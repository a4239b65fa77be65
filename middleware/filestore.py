"""A table of bindings in a file, kept in Git, as the whole store of a small site: read by all, written by none.

Each worker holds it in memory (some 200,000 names) and looks at most once a second, when it is asked something, whether
the file is another one. A changed file is read aside, in a thread, while the old table answers; then one takes the
place of the other, between two questions. So workers that are asked agree within about two seconds, and the time that
reading takes: some 25 microseconds of a processor for each name, five seconds for 200,000. One that was not asked for a
while cannot know of a change: its first question waits for the new table, though not longer than a second. What would
break a promise is refused whole, logged, and said in :attr:`FileStore.refusal`, and the old table goes on answering:

- two lines for one name, whatever they say;
- a name that has vanished, for names are withdrawn and never deleted;
- a name whose resource is another one, for names are never re-assigned.

Who changed what, and when, is Git's to say; that a name was re-assigned while no worker ran is Git's to show too.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
import weakref
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

from . import assignment, formats, lines, other_rows, rows, schema, texts
from .binding import Binding, Event
from .errors import BindingError, BindingsUnavailable, ReadOnlyBindings, TableError
from .governance import Govern, Remembered, ungoverned
from .other_rows import OtherRow, Reserved, RuleRow, Setting
from .rules import Rule, RuleEvent

LOOK_SECONDS = 1.0
"""How long a worker goes on without a look at the file."""

SETTLE_SECONDS = 0.2
"""How long a changed file has to be left alone before it is taken for whole."""

IDLE_SECONDS = 2.0
"""Who was not asked for so long may have a table that others have replaced, and waits for the new one."""

PATIENCE_SECONDS = 1.0
"""How long a question waits for a new table, at most."""

_log = logging.getLogger(__name__)

_Mark = tuple[int, ...]


class FileTable(NamedTuple):
    """What a file holds: the bindings by their keys, in the order of their lines, and the numbers of these.

    ``others`` are its rules, minted names and counters.
    """

    bindings: dict[str, Binding]
    lines: array[int]
    others: list[OtherRow]

    def line(self, key: str) -> int:
        """The number of the line that speaks of a name."""
        return self.lines[list(self.bindings).index(key)]


class FileStore:
    """The bindings of one file. ``str()`` of it is its path.

    Raises :class:`TableError` where the file is no table of bindings, and :class:`BindingsUnavailable` where it cannot
    be read at all. Afterwards a file that cannot be used does not harm: what was read last goes on answering.
    """

    def __init__(self, path: Path, govern: Govern = ungoverned) -> None:
        self._govern = govern
        self.path = path.absolute()
        self.refusal: str | None = None
        try:
            self._mark = self._look()
            self._table = read_table(self.path, self._changed(), self._govern)
        except OSError as error:
            raise BindingsUnavailable(f"{self}: {error.strerror or error}") from error
        self._seen = self._mark
        self._next_look = time.monotonic() + LOOK_SECONDS
        self._looking = threading.Lock()
        self._reader: threading.Thread | None = None
        self._awaited_until = float("-inf")
        self._closed = False
        _all.add(self)

    def __str__(self) -> str:
        return texts.shown(str(self.path), 200)

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """The bindings of those identifiers (keys) that have one, all of them of one state of the file."""
        bindings = self._current().bindings
        return {name: bindings[name] for name in identifiers if name in bindings}

    def history(self, identifier: str) -> list[Event]:
        """What the file itself knows: where it speaks of the name, and when it was written. The rest is Git's."""
        table = self._current()
        binding = table.bindings.get(identifier)
        if binding is None:
            return []
        source = f"{texts.shown(self.path.name, 200)}, line {table.line(identifier)}"
        return [Event("bound" if binding.is_live else "withdrawn", None, source, None, binding)]

    def rules_version(self) -> str:
        """Another one for each state of the file."""
        self._current()
        return str(self._mark)

    def rules(self) -> list[Rule]:
        """The rules of the file, as of the time when it was changed."""
        changed = datetime.fromtimestamp(self._mark[3] / 1e9, UTC)
        return [Rule(*row, changed, None) for row in self._current().others if isinstance(row, RuleRow)]

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Empty: the history of a file is in Git."""
        return []

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[NoReturn]:
        """Raise :class:`ReadOnlyBindings`: a file is changed by hand, and kept in Git."""
        raise ReadOnlyBindings(f"{self} is a file: change it there, or put it into a database with ararat import")
        yield

    @contextmanager
    def snapshot(self) -> Iterator[FileSnapshot]:
        """All bindings as they are now."""
        yield FileSnapshot(self._current())

    def close(self) -> None:
        """Let go of the table; the store cannot be used any more."""
        self._closed = True

    def _current(self) -> FileTable:
        if self._closed:
            raise BindingsUnavailable("these bindings were closed")
        if time.monotonic() >= self._next_look and self._looking.acquire(blocking=False):
            try:
                self._look_again()
            finally:
                self._looking.release()
        if (patience := self._awaited_until - time.monotonic()) > 0 and (reader := self._reader) is not None:
            reader.join(patience)
        return self._table

    def _look_again(self) -> None:
        if self._reader is not None and self._reader.is_alive():
            return
        now = time.monotonic()
        idle = now - self._next_look > IDLE_SECONDS - LOOK_SECONDS
        self._next_look = now + LOOK_SECONDS
        try:
            mark = self._look()
        except OSError as error:
            self._refuse(f"{self} cannot be read any more: {error.strerror or error}", ())
            return
        if mark == self._seen:
            return
        # A thread for each change, and none that waits: there is nothing that a fork could lose.
        reader = threading.Thread(target=self._read_again, args=(mark,), name="ararat bindings", daemon=True)
        reader.start()
        self._reader = reader
        if idle:
            self._awaited_until = now + PATIENCE_SECONDS

    def _read_again(self, mark: _Mark) -> None:
        try:
            if mark == self._mark:
                # It went and came back as it was.
                self._accept(self._table, mark)
                return
            self._let_settle()
            fault: BindingError | None = None
            table = self._table
            try:
                table = read_table(self.path, self._changed(), self._govern)
                require_kept(self._table, table, lines.name_of(self.path))
            except BindingError as error:
                fault = error
            if self._look() != mark:
                return  # Somebody is still writing it: the next look will find another file.
            if fault is None:
                self._accept(table, mark)
            else:
                self._refuse(str(fault), mark)
        except OSError as error:
            self._refuse(f"{self} cannot be read any more: {error.strerror or error}", ())
        except Exception as error:  # noqa: BLE001 - the last resort
            # A thread that dies would die silently, and the file would be looked at no more.
            _log.exception("%s cannot be read", self)
            self._refuse(f"{self} cannot be read: {texts.shown(str(error))}", mark)

    def _let_settle(self) -> None:
        # A clock that was set meanwhile must not make this long.
        left_alone = time.time() - self.path.stat().st_ctime
        time.sleep(min(max(SETTLE_SECONDS - left_alone, 0.0), SETTLE_SECONDS))

    def _accept(self, table: FileTable, mark: _Mark) -> None:
        # One assignment: whoever has asked before has the old table, whoever asks afterwards the new one.
        self._table = table
        self._mark = self._seen = mark
        self.refusal = None
        _log.info("%s was read again: %d names", self, len(table.bindings))

    def _refuse(self, why: str, mark: _Mark) -> None:
        self._seen = mark
        if why != self.refusal:
            self.refusal = why
            _log.error("the bindings stay as they were: %s", why)

    def _look(self) -> _Mark:
        found = self.path.stat()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _changed(self) -> datetime:
        return datetime.fromtimestamp(self.path.stat().st_mtime, UTC)


class FileSnapshot:
    """All bindings of one state of a file."""

    def __init__(self, table: FileTable) -> None:
        self._bindings = table.bindings
        self._others = table.others

    def bindings(self) -> Iterator[Binding]:
        """Every binding, in the order in which a database has them."""
        return map(self._bindings.__getitem__, sorted(self._bindings, key=schema.index_key))

    def served(self) -> tuple[int, str | None]:
        """Return how many live names the site itself serves, and the key of the first."""
        served = [key for key, binding in self._bindings.items() if binding.kind == "served" and binding.is_live]
        return len(served), min(served, default=None)

    def settings(self) -> Iterator[RuleRow | Setting]:
        """The rules, and the counters and UUIDs, in the order of their prefixes and names."""
        yield from sorted(row for row in self._others if isinstance(row, RuleRow))
        yield from sorted(row for row in self._others if isinstance(row, Setting))

    def reserved(self) -> Iterator[Reserved]:
        """The minted names that are not bound, in order."""
        names = {row for row in self._others if isinstance(row, Reserved)}
        return iter(sorted(row for row in names if row.key not in self._bindings))

    def selectors(self) -> list[str]:
        """What the alternates of any binding are chosen by, in order."""
        return sorted({selector for binding in self._bindings.values() for selector in binding.alternates})


def read_table(path: Path, changed: datetime, govern: Govern = ungoverned) -> FileTable:
    """The bindings that a file states, each as of the time when the file was ``changed``. ``govern`` looks at each.

    Raises :class:`TableError` for a file that is no table, for what cannot be bound, and for two lines with one normal
    form; and OSError.
    """
    bindings: dict[str, Binding] = {}
    table = FileTable(bindings, array("Q"), [])
    prefixes: dict[str, int] = {}
    file = lines.name_of(path)
    memory = Remembered()
    with closing(formats.read_rows(path)) as read, _uncollected():
        for row in read:
            try:
                if (other := other_rows.read(row.cells)) is not None:
                    if isinstance(other, RuleRow) and (first := prefixes.setdefault(other.prefix, row.line)) < row.line:
                        said = f"lines {first} and {row.line} both have a rule for {other.prefix}"
                        raise BindingError("duplicate-line", said)
                    table.others.append(other)
                    continue
                proposal = rows.proposal(row.cells)
                stated = govern(None, assignment.bind(None, proposal, changed), memory).after
            except BindingError as error:
                shown = texts.shown(row.cells.get("identifier", ""), 100)
                raise TableError(error.code, f"{shown}: {error.message}", file, row.line) from None
            if proposal.key in bindings:
                said = f"lines {table.line(proposal.key)} and {row.line} are both for {texts.shown(proposal.key, 100)}"
                raise TableError("duplicate-line", said, file, row.line)
            bindings[proposal.key] = stated
            table.lines.append(row.line)
    return table


def require_kept(old: FileTable, new: FileTable, file: str) -> None:
    """Raise :class:`TableError` where a table does not keep what another one, served until now, has promised."""
    for key, before in old.bindings.items():
        after = new.bindings.get(key)
        shown = texts.shown(key, 100)
        if after is None:
            said = f"line {old.line(key)} was for {shown}, which is missing now; a name is withdrawn, never deleted"
            raise TableError("name-missing", said, file, old.line(key))
        if before.resource is not None and after.resource != before.resource:
            said = (
                f"{shown} belongs to the resource {texts.shown(before.resource)} (line {old.line(key)} until now), not "
            )
            said += texts.shown(after.resource) if after.resource else "to none"
            raise TableError("other-resource", said, file, new.line(key))


@contextmanager
def _uncollected() -> Iterator[None]:
    """A time without Python's search for cycles: a table has none, and to look through all of a large one again
    and again, while it grows, would take a third of the time of reading it.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _paused.append(True)
    try:
        yield
    finally:
        _paused.clear()
        gc.enable()


_paused: list[bool] = []
_all: weakref.WeakSet[FileStore] = weakref.WeakSet()


def _after_fork() -> None:
    # A thread of the parent that holds the lock, or reads the file, is not in the child.
    for store in list(_all):
        store._looking = threading.Lock()
        store._reader = None
    if _paused:
        _paused.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
