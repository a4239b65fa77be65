"""A table of bindings in a file, kept in Git, as the whole store of a small site: read by all workers, written by none.

Each worker holds it in memory (some 200,000 names). When it is asked something, it looks at most once a second whether
the file has changed. A changed file is read in a thread while the old table answers; then one replaces the other
between two questions. So workers that are asked agree within about two seconds, and the time that reading takes. One
that was not asked for a while waits for the new table at its first question, but not longer than a second.

A new version has to follow the version that was served before, by the rules of :mod:`assignment` that hold for an
import as well. The version that was served is kept as a copy beside the file (:mod:`served_copy`), so that the rules
hold across restarts and for all workers. A version is refused as a whole if it

- cannot be read, or its last line has no end, because such a file may be cut;
- has two lines for one name that differ;
- lacks a name, because names are withdrawn and never deleted;
- gives a name to another resource, moves it without its resource, or records a resource for a withdrawn name.

Then the version before goes on answering, also after a restart; the refusal is logged and is in
:attr:`FileStore.refusal`. Without a version before, every question raises :class:`BindingsUnavailable` until the file
can be used. To accept a refused version, delete the copy.

Who changed what, and when, is in the history of Git.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, NoReturn

from ..bindings import assignment, validation
from ..bindings.model import Binding, Event, NameCount
from ..bindings.policy import ChangeCheck, TemporarySettings, no_policy
from ..errors import BindingConflict, BindingError, BindingsUnavailable, ReadOnlyBindings, TableError
from ..resolution.rules import Rule, RuleEvent
from ..tabular import columns, formats, other_rows
from ..tabular import text_stream as lines
from ..tabular.other_rows import OtherRow, Reserved, RuleRow, Setting
from . import schema
from .served_copy import Mark, ServedCopy, Version, look, read

LOOK_SECONDS = 1.0
"""How long a worker goes on without a look at the file."""

SETTLE_SECONDS = 0.2
"""How long a changed file has to be left alone before it is taken for whole."""

IDLE_SECONDS = 2.0
"""A worker that was not asked for so long may have a table that others have replaced, and waits for the new one."""

PATIENCE_SECONDS = 1.0
"""How long a question waits for a new table, at most."""

_TRIES = 3

_log = logging.getLogger(__name__)


class FileTable(NamedTuple):
    """The content of a version of the file: the bindings by their keys, in the order of their lines.

    ``lines`` has the numbers of these, and ``stated`` 1 for each that states the status of its name. ``others`` are its
    rules, minted names and counters; ``changed`` is when it was written.
    """

    bindings: dict[str, Binding]
    lines: array[int]
    stated: bytearray
    digest: bytes
    others: list[OtherRow]
    changed: datetime

    def line(self, key: str) -> int:
        """The number of the line for a name."""
        return self.lines[self._place(key)]

    def states_status(self, key: str) -> bool:
        """Whether the line for a name has its status."""
        return bool(self.stated[self._place(key)])

    def _place(self, key: str) -> int:
        return list(self.bindings).index(key)


class FileStore:
    """The bindings of one file. ``str()`` of it is its path.

    A file that is ``served`` is read again when it changes, and compared with the version that was served before, of
    which a copy is kept in the folder ``state``, or else beside the file. A file that cannot be used raises nothing:
    see :attr:`refusal`. Without ``served`` the file is read once, compared with nothing and recorded nowhere. Then a
    file that is no table of bindings raises :class:`TableError`, and one that cannot be read BindingsUnavailable.
    """

    def __init__(
        self, path: Path, check_change: ChangeCheck = no_policy, *, served: bool = True, state: Path | None = None
    ) -> None:
        self._check_change = check_change
        self.path = path.absolute()
        self.refusal: str | None = None
        """Why the file as it is now is not what is served, in printable ASCII; None where it is."""
        self._copy = ServedCopy(self.path, state) if served else None
        self._table: FileTable | None = None
        # What was looked at last: the file and the copy.
        self._seen: tuple[Mark | None, Mark | None] | None = None
        self._next_look = float("inf")
        self._looking = threading.Lock()
        self._reader: threading.Thread | None = None
        self._awaited_until = float("-inf")
        self._closed = False
        _all.add(self)
        if self._copy is None:
            self._table = self._read_once()
        else:
            for _ in range(_TRIES):
                if self._update():
                    break
            self._next_look = time.monotonic() + LOOK_SECONDS

    def __str__(self) -> str:
        return validation.shown(str(self.path), 200)

    @property
    def unrecorded(self) -> str | None:
        """Why no copy of the served version can be kept, in printable ASCII; None where one is kept or none is wanted.

        Without a copy, a version that a restarted worker reads is compared with nothing.
        """
        return self._copy.failure if self._copy else None

    @property
    def is_read(self) -> bool:
        """Whether a version of the file was read that can be served."""
        return self._table is not None

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """The bindings of those identifiers (keys) that have one, all of them of one state of the file."""
        bindings = self._current().bindings
        return {name: bindings[name] for name in identifiers if name in bindings}

    def history(self, identifier: str) -> list[Event]:
        """What the file itself knows: the line for the name, and when the file was written. The rest is in Git."""
        table = self._current()
        binding = table.bindings.get(identifier)
        if binding is None:
            return []
        source = f"{validation.shown(self.path.name, 200)}, line {table.line(identifier)}"
        return [Event("bound" if binding.is_live else "withdrawn", None, source, None, binding)]

    def count(self) -> NameCount:
        """The number of names."""
        return NameCount(len(self._current().bindings), True)

    def rules_version(self) -> str:
        """Another one for each state of the file."""
        return self._current().digest.hex()

    def rules(self) -> list[Rule]:
        """The rules of the file, as of the time when it was written."""
        table = self._current()
        return [Rule(*row, table.changed, None) for row in table.others if isinstance(row, RuleRow)]

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
        self._table = None

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
        table = self._table
        if table is None:
            raise BindingsUnavailable(self.refusal or f"{self} was not read yet")
        return table

    def _look_again(self) -> None:
        if self._reader is not None and self._reader.is_alive():
            return
        now = time.monotonic()
        idle = now - self._next_look > IDLE_SECONDS - LOOK_SECONDS
        self._next_look = now + LOOK_SECONDS
        if self._look() == self._seen:
            return
        # A thread for each change, and none that waits: a fork loses nothing.
        reader = threading.Thread(target=self._read_again, name="ararat bindings", daemon=True)
        reader.start()
        self._reader = reader
        if idle or self._table is None:
            self._awaited_until = now + PATIENCE_SECONDS

    def _read_again(self) -> None:
        seen = self._look()
        try:
            self._let_settle()
            self._update()
        except Exception as error:  # noqa: BLE001 - the last resort
            # A thread that dies would do so silently.
            _log.exception("%s cannot be read", self)
            self._refuse(f"{self} cannot be read: {validation.shown(str(error))}", seen)

    def _let_settle(self) -> None:
        try:
            left_alone = time.time() - self.path.stat().st_ctime
        except OSError:
            return
        # A clock that was set meanwhile must not make this long.
        time.sleep(min(max(SETTLE_SECONDS - left_alone, 0.0), SETTLE_SECONDS))

    def _read_once(self) -> FileTable:
        try:
            return read_table(read(self.path), self._check_change)
        except OSError as error:
            raise BindingsUnavailable(f"{self}: {error.strerror or error}") from error

    def _update(self) -> bool:
        """Read the file, and serve it if it may follow what was served. False where it changed meanwhile."""
        copy = self._copy
        if copy is None:
            return True
        before = copy.read()
        self._note_copy(before, copy)
        file: Version | None = None
        remedy = ""
        try:
            file = read(self.path)
            table = self._table_of(file)
            remedy = f"; correct it, or delete {copy} to serve it as it is"
            if before is None or before.digest != file.digest:
                for earlier in self._served_before(before, copy):
                    require_kept(earlier, table, lines.name_of(self.path))
        except (BindingError, OSError) as error:
            self._serve_copy(before, copy)
            # What cannot be read at all is tried again at the next look.
            seen = (file.mark, before.mark if before else copy.look()) if file else None
            self._refuse(f"{self._fault(error)}{remedy}", seen)
            return True
        if file.mark != look(self.path) or not copy.keep(file, before):
            # The file is still being written, or another worker was faster: the next look finds another state.
            return False
        self._accept(table, (file.mark, copy.look()))
        return True

    def _fault(self, error: BindingError | OSError) -> str:
        if isinstance(error, BindingError):
            return _one_line(error)
        return f"{self} cannot be read: {error.strerror or error}"

    def _table_of(self, version: Version) -> FileTable:
        table = self._table
        if table is not None and table.digest == version.digest:
            return table
        return read_table(version, self._check_change)

    def _served_before(self, before: Version | None, copy: ServedCopy) -> Iterator[FileTable]:
        """The tables that a new one has to follow."""
        if before is not None:
            try:
                yield self._table_of(before)
            except BindingError as error:
                raise BindingError(
                    error.code, f"the copy of the version served before, {copy}, cannot be read: {error.message}"
                ) from error
        # A copy that was deleted is deleted by a person who accepts the file as it is.
        if self._table is not None and not copy.is_kept:
            yield self._table

    def _serve_copy(self, before: Version | None, copy: ServedCopy) -> None:
        """Serve the version served before, where this process has none."""
        if self._table is None and before is not None:
            try:
                self._table = self._table_of(before)
                self._note_copy(before, copy)
            except BindingError as error:
                _log.error("%s cannot be read: %s", copy, _one_line(error))

    def _note_copy(self, before: Version | None, copy: ServedCopy) -> None:
        if before is not None and self._table is not None and before.digest == self._table.digest:
            copy.is_kept = True

    def _accept(self, table: FileTable, seen: tuple[Mark | None, Mark | None]) -> None:
        known = self._table is not None and self._table.digest == table.digest and self.refusal is None
        # One assignment: who has asked before has the old table, who asks afterwards the new one.
        self._table = None if self._closed else table
        self._seen = seen
        self.refusal = None
        if not known:
            _log.info("%s was read: %d names", self, len(table.bindings))

    def _refuse(self, why: str, seen: tuple[Mark | None, Mark | None] | None) -> None:
        self._seen = seen
        if why != self.refusal:
            _log.error("%s: %s", "the bindings stay as they were" if self._table else "no bindings are served", why)
            self.refusal = why

    def _look(self) -> tuple[Mark | None, Mark | None]:
        return look(self.path), self._copy.look() if self._copy else None


def require_succession(path: Path, state: Path | None = None) -> None:
    """Raise :class:`TableError` where a file may not follow the version that is served, and OSError."""
    copy = ServedCopy(path.absolute(), state)
    version, before = read(path.absolute()), copy.read()
    if before is not None and before.digest != version.digest:
        require_kept(read_table(before), read_table(version), lines.name_of(path))


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


def read_table(version: Version, check_change: ChangeCheck = no_policy) -> FileTable:
    """The bindings that a version of a file states, each as of its time. ``check_change`` looks at each.

    A second line for a name may state the same as the first. Raises :class:`TableError` for a version that is no table,
    for what cannot be bound, for two lines of one name that differ, and for a last line without an end.
    """
    bindings: dict[str, Binding] = {}
    table = FileTable(bindings, array("Q"), bytearray(), version.digest, [], version.changed)
    prefixes: dict[str, int] = {}
    file = lines.name_of(version.path)
    memory = TemporarySettings()
    last = 1
    with closing(formats.read_rows(version.stream())) as stated:
        for row in stated:
            last = row.line
            shown = validation.shown(row.cells.get("identifier", ""), 100)
            try:
                if (other := other_rows.read(row.cells)) is not None:
                    if isinstance(other, RuleRow) and (first := prefixes.setdefault(other.prefix, row.line)) < row.line:
                        said = f"lines {first} and {row.line} both have a rule for {other.prefix}"
                        raise BindingError("duplicate-line", said)
                    table.others.append(other)
                    continue
                proposal = columns.proposal(row.cells)
                known = bindings.get(proposal.key)
                change = assignment.bind(known, proposal, version.changed)
                if known is None:
                    bindings[proposal.key] = check_change(None, change, memory).after
                    table.lines.append(row.line)
                    table.stated.append(proposal.status is not None)
                    continue
            except BindingConflict as error:
                raise _differs(table, error.existing.identifier, file, row.line) from None
            except BindingError as error:
                raise TableError(error.code, f"{shown}: {error.message}", file, row.line) from None
            if change.action:
                raise _differs(table, proposal.key, file, row.line)
    if version.is_cut:
        said = "the last line has no line end, so that the file may be cut"
        raise TableError("table-cut", said, file, last)
    return table


def _differs(table: FileTable, key: str, file: str, line: int) -> TableError:
    said = f"lines {table.line(key)} and {line} are both for {validation.shown(key, 100)}, and differ"
    return TableError("duplicate-line", said, file, line)


def require_kept(old: FileTable, new: FileTable, file: str) -> None:
    """Raise :class:`TableError` where a table does not keep what another one, served until now, has promised."""
    if old.digest == new.digest:
        return
    for key, before in old.bindings.items():
        after = new.bindings.get(key)
        if after is None:
            said = (
                f"line {old.line(key)} was for {validation.shown(key, 100)}, which is missing now; "
                "a name is withdrawn, never deleted"
            )
            raise TableError("name-missing", said, file, old.line(key))
        if not before.is_live and after.is_live and not new.states_status(key):
            said = (
                f"{validation.shown(key, 100)} is withdrawn; its line needs the status withdrawn, or live to restore it"
            )
            raise TableError("withdrawn", said, file, new.line(key))
        try:
            assignment.require_kept(*_comparable(before, after), stated=after.resource)
        except BindingConflict as error:
            said = f"{validation.shown(key, 100)} (line {old.line(key)} until now): {error.message}"
            if error.code == "bound-otherwise":
                said += "; state a resource in one version of the file, and the new place in the next one"
            raise TableError(error.code, said, file, new.line(key)) from None


def _comparable(before: Binding, after: Binding) -> tuple[Binding, Binding]:
    """The two with one place where a tombstone leaves out where its name led."""
    if not after.is_live and after.target is None:
        return before, _placed(after, before)
    if not before.is_live and before.target is None and before.resource is not None:
        return _placed(before, after), after
    return before, after


def _placed(binding: Binding, other: Binding) -> Binding:
    return binding._replace(**{field: getattr(other, field) for field in assignment.PLACE})


def _one_line(error: BindingError) -> str:
    return str(error).replace("\n", "; ")


_all: weakref.WeakSet[FileStore] = weakref.WeakSet()


def _after_fork() -> None:
    # A thread of the parent that holds the lock, or reads the file, is not in the child.
    for store in list(_all):
        store._looking = threading.Lock()
        store._reader = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
