"""A read-only store in a table file, for small sites that keep their names in Git.

Each worker keeps the table in memory (about 200,000 names). A lookup checks every half second at most whether the file
has changed, and a thread reads it while the old table answers. So busy workers serve the same version within a second,
plus the time to read it. An idle worker waits for it at its next lookup, for one second at most. A new version must
follow the one that was served before (:mod:`table`), of which a copy is kept (:mod:`copy`), so that the rules apply
after restarts and for all workers. The reason why a version is refused is logged and is in :attr:`FileStore.refusal`,
and the previous one stays in use. Without one, every lookup raises :class:`BindingsUnavailable`. To accept a refused
version, delete the copy.
"""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ...identifiers.text.display import format_count
from ..names import validation
from ..names.binding import Action, Binding, Event, Hold, NameCount, StoredRedirect, rfc3339
from ..names.errors import BindingError, BindingsUnavailable, ReadOnlyBindings
from ..names.event_selection import EventPage, EventSelection
from ..names.metadata.folding import sorted_title
from ..names.naming import NO_RULES, NamingRules
from ..names.operation import Operation
from ..names.policy import ChangeCheck
from ..names.prefixes.patterns import Pattern
from ..names.prefixes.prefixes import PrefixEvent, PrefixRecord
from ..names.prefixes.rules import Rule, RuleEvent
from ..names.selection import Group, Page, Selection, Sort, cursor, group_of, named_binding, named_first, position
from ..storage.name_ranges import FileRanges
from ..storage.protocols import Clock, utc_now
from ..storage.reopening import CLOSED
from ..storage.tables.search_indexes import TARGET_CHARACTERS
from ..system.fork_safety import ForkSafeLock
from ..tables import text_stream as lines
from ..tables.other_rows import RuleRow, Setting
from .copy import FileVersion, Fingerprint, ServedCopy, fingerprint, read
from .file_snapshot import FileSnapshot
from .table import FileTable, read_table, require_kept

if TYPE_CHECKING:
    from ..storage.rows import LastTrace

CHECK_SECONDS = 0.5
"""The minimum time between two checks of the file."""

SETTLE_SECONDS = 0.2
"""The time that must pass after a change of the file before the file is read."""

IDLE_SECONDS = 2.0
"""The time without lookups after which a worker waits for a new table, because its table can be old."""

MAX_WAIT_SECONDS = 1.0
"""The maximum time that a lookup waits for a new table."""

_TRIES = 3

_log = logging.getLogger(__name__)


_Seen = tuple[Fingerprint | None, Fingerprint | None]  # of the file and of its copy


class FileStore:
    """A store that reads the bindings in one table file. ``str()`` returns its path.

    With ``served``, the file is read again when it changes, and checked against the version that was served before. A
    copy of that is in the folder ``state``, by default that of the file. A file that cannot be used raises nothing: see
    :attr:`refusal`. Without ``served``, it is read once and not checked or copied. Then a file that is not a table of
    bindings raises :class:`TableError`, and one that cannot be read BindingsUnavailable.
    """

    def __init__(
        self,
        path: Path,
        check_change: ChangeCheck | None = None,
        *,
        served: bool = True,
        state: Path | None = None,
        rules: NamingRules = NO_RULES,
        clock: Clock = utc_now,
    ) -> None:
        self._clock = clock
        self._check_change = check_change
        self._rules = rules
        self.path = path.absolute()
        self.refusal: str | None = None
        """Why the current version of the file is not served, in printable ASCII; None if it is served."""
        self._copy = ServedCopy(self.path, state) if served else None
        self._table: FileTable | None = None
        # The file and the copy at the last check.
        self._seen: _Seen | None = None
        self._next_check = float("inf")
        self._checking = ForkSafeLock()
        self._reader: threading.Thread | None = None
        self._wait_until = float("-inf")
        self._closed = False
        if self._copy is None:
            self._table = self._read_once()
        else:
            for _ in range(_TRIES):
                if self._update():
                    break
            self._next_check = time.monotonic() + CHECK_SECONDS

    def __str__(self) -> str:
        return validation.quote(str(self.path), 200)

    @property
    def unrecorded(self) -> str | None:
        """The reason why the copy of the served version cannot be saved, in printable ASCII, or None. Without a copy, a
        restarted worker cannot check a new version.
        """
        return self._copy.failure if self._copy else None

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        bindings = self._current().bindings
        return {name: bindings[name] for name in identifiers if name in bindings}

    def fetch_traced(self, identifiers: Iterable[str]) -> tuple[dict[str, Binding], dict[str, LastTrace]]:
        """Return the bindings of names as :meth:`fetch`, and no traces: a file records none."""
        return self.fetch(identifiers), {}

    def stored_redirect(self, identifier: str) -> StoredRedirect | None:
        binding = self._current().bindings.get(identifier)
        if binding is None or not binding.is_live or binding.alternates or binding.kind == "served":
            return None
        if binding.hold_until is not None:
            return None
        status = binding.redirect if binding.kind == "located" else 303
        return StoredRedirect(binding.target, status, binding.metadata)

    def data_version(self) -> bytes:
        """Return the SHA-256 of the version of the file that is served now."""
        return self._current().digest

    def has_due(self) -> bool:
        """Return False: a file has no events that could be missing."""
        return False

    def first_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return an empty dict: a file has no actors."""
        return {}

    def last_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return an empty dict: a file has no actors."""
        return {}

    def last_actions(self, identifiers: Iterable[str]) -> dict[str, Action]:
        """Return "updated" for a live name that was changed after its creation, otherwise the action of its line."""
        bindings = self.fetch(identifiers).values()
        return {
            each.identifier: "updated" if each.is_live and each.created < each.changed else _action(each)
            for each in bindings
        }

    def log_entries(self, identifier: str) -> list[int]:
        """Return an empty list: the numbers of log entries are in the database next to the folder of the public log."""
        return []

    def log_key(self) -> None:
        """Return None: the public key is in the database next to the folder of the public log."""

    def first_log_entry(self, identifier: str) -> None:
        """Return None: the numbers of log entries are in the database next to the folder of the public log."""

    def history(self, identifier: str) -> list[Event]:
        """Return one event of a name, with its line as the source. The full history is in Git."""
        table = self._current()
        binding = table.bindings.get(identifier)
        if binding is None:
            return []
        source = f"{validation.quote(self.path.name, 200)}, line {table.line(identifier)}"
        return [Event(_action(binding), None, source, None, binding)]

    def count(self) -> NameCount:
        """Return the exact number of names in the file."""
        return NameCount(len(self._current().bindings), True)

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page as a database does, by default in the order of the keys."""
        if selection.named is not None:
            return named_first(self.list_names, selection, after, limit)
        table = self._current().bindings
        sort = selection.sort or "name"
        descending = selection.descending
        places = (_place(each, sort, descending=descending) for each in table.values() if selection.includes(each))
        if after is not None:
            kinds = (str,) if sort == "name" else (str, str)
            *values, key = map(str, position(after, kinds))
            text = values[0] if values else ""
            reached = bool(text) if descending else not text, text, key
            places = (each for each in places if (each < reached if descending else each > reached))
        page = (heapq.nlargest if descending else heapq.nsmallest)(limit + 1, places)
        names = [table[key] for *_, key in page[:limit]]
        if len(page) <= limit:
            return Page(names, None, [])
        _, *last = page[limit - 1]
        return Page(names, cursor(*(last[1:] if sort == "name" else last)), [])

    def names_below(self, identifier: str, most: int) -> list[Binding]:
        table = self._current().bindings
        below = (key for key in table if key.startswith((f"{identifier}.", f"{identifier}/")))
        return [table[key] for key in heapq.nsmallest(most, below)]

    def count_names(self, selection: Selection, by: Group | None, most: int | None = None) -> dict[str, int]:
        if selection.named is not None:
            found = named_binding(self.list_names, selection)
            selection = replace(selection, named=found and found.identifier)
        names = islice(filter(selection.includes, self._current().bindings.values()), most if by is None else None)
        return dict(sorted(Counter(group_of(name, by) for name in names).items()))

    def ranges(self) -> FileRanges:
        """Return an object that divides the names of this version into ranges of their keys."""
        return FileRanges(self._current().bindings)

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        """Return an empty list, because a file records no operations."""
        return []

    def events(self, selection: EventSelection, below: int | None, limit: int) -> EventPage:
        """Return an empty page: a file has no events."""
        return EventPage([], None, [])

    def rules_version(self) -> str:
        """Return the SHA-256 of the file, which changes with each rule and prefix record in it."""
        return self._current().digest.hex()

    def rules(self) -> list[Rule]:
        """Return the rules in the file. Their time is the modification time of the file, and their actor is None."""
        table = self._current()
        return [Rule(*row, table.changed, None) for row in table.others if isinstance(row, RuleRow)]

    @property
    def recorded(self) -> None:
        """Return None: a table file cannot record names, so no lookups for warnings about new names are needed."""
        return None

    def holds(self) -> list[Hold]:
        """Return the holds of names in the file, also those that have ended."""
        table = self._current()
        holds = (table.bindings[key].hold for key in table.held)
        return [each for each in holds if each is not None]

    def patterns(self) -> list[Pattern]:
        """Return the patterns of the names that were minted with a check character, from the counters in the file."""
        patterns = (Pattern.of_counter(row.name) for row in self._current().others if isinstance(row, Setting))
        return [pattern for pattern in patterns if pattern and pattern.check]

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return an empty list, because a file has no history: the operator keeps it in Git."""
        return []

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders in the file. Their time is the modification time of the file."""
        return self._current().prefixes()

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return an empty list, because a file has no history: the operator keeps it in Git."""
        return []

    def recorded_branding(self) -> None:
        """Return None, because a table file has no branding."""

    def recorded_brandings(self) -> list[str]:
        """Return an empty list, because a table file has no branding."""
        return []

    @contextmanager
    def transaction(self, *, exclusive: bool = False, large: bool = False) -> Iterator[NoReturn]:
        """Raise :class:`ReadOnlyBindings`, because only the operator changes the file."""
        raise ReadOnlyBindings(f"{self} is a read-only file: edit it, or import it into a database with ararat import")
        yield

    @contextmanager
    def snapshot(self) -> Iterator[FileSnapshot]:
        """Return the version of the file that is used now. Later versions do not change the snapshot."""
        yield FileSnapshot(self._current(), validation.quote(self.path.name, 200))

    def close(self) -> None:
        """Free the memory of the table file. Later lookups raise :class:`BindingsUnavailable`."""
        self._closed = True
        self._table = None

    def _current(self) -> FileTable:
        if self._closed:
            raise BindingsUnavailable(CLOSED)
        if time.monotonic() >= self._next_check and self._checking.acquire(blocking=False):
            try:
                self._check_file()
            finally:
                self._checking.release()
        if (wait := self._wait_until - time.monotonic()) > 0 and (reader := self._reader) is not None:
            reader.join(wait)
        table = self._table
        if table is None:
            raise BindingsUnavailable(self.refusal or f"{self} was not read yet; try again later")
        return table

    def _check_file(self) -> None:
        if self._reader is not None and self._reader.is_alive():
            return
        now = time.monotonic()
        idle = now - self._next_check > IDLE_SECONDS - CHECK_SECONDS
        self._next_check = now + CHECK_SECONDS
        if self._fingerprints() == self._seen:
            return
        # One thread per change, and no waiting thread, so a fork loses nothing.
        reader = threading.Thread(target=self._read_again, name="ararat bindings", daemon=True)
        reader.start()
        self._reader = reader
        if idle or self._table is None:
            self._wait_until = now + MAX_WAIT_SECONDS

    def _read_again(self) -> None:
        seen = self._fingerprints()
        try:
            self._wait_until_unchanged()
            self._update()
        except Exception as error:  # noqa: BLE001 - report every error
            # An exception in a thread would otherwise not be logged.
            _log.exception("%s cannot be read", self)
            self._refuse(f"{self} cannot be read: {validation.quote(str(error))}", seen)

    def _wait_until_unchanged(self) -> None:
        try:
            unchanged = time.time() - self.path.stat().st_ctime
        except OSError:
            return
        # The limits protect against a clock that was set back.
        time.sleep(min(max(SETTLE_SECONDS - unchanged, 0.0), SETTLE_SECONDS))

    def _read_once(self) -> FileTable:
        try:
            return read_table(read(self.path), self._check_change, self._rules, self._clock)
        except OSError as error:
            raise BindingsUnavailable(f"{self}: {error.strerror or error}") from error

    def _update(self) -> bool:
        """Read the file, and serve it if it follows the previous version. Return False if it is still changing."""
        copy = self._copy
        if copy is None:
            return True
        previous = copy.read()
        self._note_copy(previous, copy)
        file: FileVersion | None = None
        remedy = ""
        try:
            file = read(self.path)
            table = self._table_of(file)
            remedy = f"; correct it, or delete {copy} to accept it"
            if previous is None or previous.digest != file.digest:
                for earlier in self._served_before(previous, copy):
                    require_kept(earlier, table, lines.name_of(self.path))
        except (BindingError, OSError) as error:
            self._serve_copy(previous, copy)
            # A file that cannot be read is tried again at the next check.
            seen = (file.fingerprint, previous.fingerprint if previous else copy.fingerprint()) if file else None
            self._refuse(f"{self._fault(error)}{remedy}", seen)
            return True
        if file.fingerprint != fingerprint(self.path) or not copy.keep(file, previous):
            # The file is still being written, or another worker was faster. The next check finds another state.
            return False
        self._accept(table, (file.fingerprint, copy.fingerprint()))
        return True

    def _fault(self, error: BindingError | OSError) -> str:
        if isinstance(error, BindingError):
            return _one_line(error)
        return f"{self} cannot be read: {error.strerror or error}"

    def _table_of(self, version: FileVersion) -> FileTable:
        table = self._table
        if table is not None and table.digest == version.digest:
            return table
        return read_table(version, self._check_change, self._rules, self._clock)

    def _served_before(self, previous: FileVersion | None, copy: ServedCopy) -> Iterator[FileTable]:
        """Return the tables that a new version must follow."""
        if previous is not None:
            try:
                yield self._table_of(previous)
            except BindingError as error:
                raise BindingError(
                    error.code, f"the copy of the previous version, {copy}, cannot be read: {error.message}"
                ) from error
        # The operator deletes the copy to accept the current version of the file.
        if self._table is not None and not copy.is_kept:
            yield self._table

    def _serve_copy(self, previous: FileVersion | None, copy: ServedCopy) -> None:
        """Serve the previous version if this process has no table."""
        if self._table is None and previous is not None:
            try:
                self._table = self._table_of(previous)
                self._note_copy(previous, copy)
            except BindingError as error:
                _log.error("%s cannot be read: %s", copy, _one_line(error))

    def _note_copy(self, previous: FileVersion | None, copy: ServedCopy) -> None:
        if previous is not None and self._table is not None and previous.digest == self._table.digest:
            copy.is_kept = True

    def _accept(self, table: FileTable, seen: _Seen) -> None:
        is_served = self._table is not None and self._table.digest == table.digest and self.refusal is None
        # One assignment: lookups that have begun use the old table, and later ones the new table.
        self._table = None if self._closed else table
        self._seen = seen
        self.refusal = None
        if not is_served:
            _log.info("%s was read: %s", self, format_count(len(table.bindings), "name"))

    def _refuse(self, reason: str, seen: _Seen | None) -> None:
        self._seen = seen
        if reason != self.refusal:
            effect = "the previous version stays in use" if self._table else "no bindings are served"
            _log.error("%s: %s", effect, reason)
            self.refusal = reason

    def _fingerprints(self) -> _Seen:
        return fingerprint(self.path), self._copy.fingerprint() if self._copy else None


def require_succession(path: Path) -> None:
    """Check that a new table file can replace the version that a resolver serves from the same path, with a copy in its
    folder. Raises :class:`TableError` if it cannot, and OSError.
    """
    copy = ServedCopy(path.absolute(), None)
    version, previous = read(path.absolute()), copy.read()
    if previous is not None and previous.digest != version.digest:
        require_kept(read_table(previous), read_table(version), lines.name_of(path))


def _action(binding: Binding) -> Action:
    return "bound" if binding.status == "live" else binding.status


def _place(binding: Binding, sort: Sort, *, descending: bool) -> tuple[bool, str, str]:
    """Return the place of a name in a sorted list: whether it is at the end, what it is sorted by, and its key."""
    text = {
        "name": lambda: "",
        "title": lambda: sorted_title(binding.metadata) or "",
        "resource": lambda: (binding.resource or "")[:TARGET_CHARACTERS],
        "changed": lambda: rfc3339(binding.recorded_at),
        "created": lambda: rfc3339(binding.created),
    }[sort]()
    # The names without a title or resource are at the end in both directions.
    return bool(text) if descending else not text, text, binding.identifier


def _one_line(error: BindingError) -> str:
    return str(error).replace("\n", "; ")
