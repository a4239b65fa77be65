"""The interfaces of a store and its snapshot, which databases and table files have."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Table

    from .names.actor import Actor
    from .names.binding import Action, Binding, Event, Hold, NameCount, StoredRedirect
    from .names.errors import UnreadableBinding
    from .names.event_selection import EventPage, EventSelection
    from .names.naming import NamingRules
    from .names.operation import Operation
    from .names.prefixes.patterns import Pattern
    from .names.prefixes.prefixes import PrefixEvent, PrefixRecord
    from .names.prefixes.rules import Rule, RuleEvent
    from .names.selection import Group, Page, Selection
    from .storage.integrity import Contradiction
    from .storage.name_ranges import NameRanges
    from .storage.protocols import LastEvent, Row
    from .storage.recorded import RecordedNames
    from .storage.rows import LastTrace
    from .storage.writing.transaction import Transaction
    from .tables.other_rows import RuleRow, Setting


T = TypeVar("T")


class Writable(Protocol):
    """The interface to a store for changes, which parts of :class:`.Bindings` use, such as :attr:`.Bindings.rules`."""

    @property
    def store(self) -> Store:
        """The open store of the bindings."""
        ...

    naming: NamingRules
    """The permissions of the site for its names."""

    def now(self) -> datetime:
        """Return the time that is recorded with changes."""
        ...

    def run_in_transaction(
        self, function: Callable[[Transaction], T], *, exclusive: bool = False, actor: Actor = ...
    ) -> T:
        """Run ``function`` in a transaction of the store, and return its result. With ``exclusive``, other writers
        wait.
        """
        ...


class Snapshot(Protocol):
    """The interface to all bindings of a store at one moment. Later changes do not affect it."""

    def bindings(self, unreadable: Callable[[UnreadableBinding], object] | None = None) -> Iterator[Binding]:
        """Yield all bindings by key, also of reserved names. Without ``unreadable``, an unreadable row raises."""
        ...

    def bound(self, identifiers: Iterable[str]) -> set[str]:
        """Return the keys in ``identifiers`` that are bound. Reserved names are omitted."""
        ...

    def in_other_case(self) -> Mapping[str, str]:
        """Return the live URNs that differ from another live URN in the case of their letters only, with the other."""
        ...

    def rows(self, table: Table, since: datetime | None = None, names: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows of a table from ``since`` on, with the columns ``names`` or all. For a table file, these are
        the rows that its import would create.
        """
        ...

    def last_events(self) -> Iterator[LastEvent]:
        """Yield the last event of each name, also of a deleted name, in the order of the keys."""
        ...

    def event(self, key: str, revision: int) -> Row | None:
        """Return the values of the event that gave the name ``key`` this revision, in the order of
        :attr:`LastEvent.state`. None if it does not exist.
        """
        ...

    def faults(self) -> Iterator[Contradiction]:
        """Yield the contradictions between rows, such as a binding that differs from its last event. A file has
        none.
        """
        ...

    def has_names(self, prefix: str) -> bool:
        """Return whether a name begins with a text in normal form."""
        ...

    def count_served(self) -> tuple[int, str | None]:
        """Return the number of live names of the kind "served" (the site answers), and the first of their keys."""
        ...

    def settings(self) -> Iterator[RuleRow | Setting]:
        """Yield the rules by prefix, then the counters and the owners of UUIDs by name."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders in the order of their prefixes, with the field ``rule`` not set."""
        ...

    def selectors(self) -> list[str]:
        """Return the selectors of all alternate targets in alphabetical order, such as "text/html;en"."""
        ...

    def elements(self) -> list[str]:
        """Return the names of the metadata elements in use that have no short name, in alphabetical order."""
        ...


class Store(Protocol):
    """A place that keeps bindings: a database or a table file. The methods raise :class:`BindingsUnavailable` if it
    cannot be read.
    """

    @property
    def recorded(self) -> RecordedNames | None:
        """The lookups of recorded names for the warnings about new ones. None for a table file."""
        ...

    @property
    def refusal(self) -> str | None:
        """The reason why the current version of a table file is not served, or None."""
        ...

    @property
    def unrecorded(self) -> str | None:
        """The reason why the copy of the served table file cannot be saved, or None."""
        ...

    def fetch(self, identifiers: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of normal forms by key, also reserved and withdrawn ones. Unknown keys are omitted."""
        ...

    def fetch_traced(self, identifiers: Iterable[str]) -> tuple[dict[str, Binding], dict[str, LastTrace]]:
        """Return the bindings of names as :meth:`fetch`, and the last traces of their targets, both by key."""
        ...

    def stored_redirect(self, identifier: str) -> StoredRedirect | None:
        """Return the redirect of a live name without alternates that the site does not serve, else None. ``identifier``
        is a key of at most 255 printable ASCII characters.
        """
        ...

    def data_version(self) -> Hashable | None:
        """Return a value that differs after each change of a binding, also by other processes, or None if unknown."""
        ...

    def has_due(self) -> bool:
        """Return whether the embargo of a reserved name has ended and its publication is not written yet."""
        ...

    def first_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the actors of the first changes of names by key; keys without an actor are left out."""
        ...

    def last_actors(self, identifiers: Iterable[str]) -> dict[str, str]:
        """Return the actors of the last changes of names by key; keys without an actor are left out."""
        ...

    def last_actions(self, identifiers: Iterable[str]) -> dict[str, Action]:
        """Return the actions of the last changes of names by key. Keys that are not recorded are omitted."""
        ...

    def history(self, identifier: str) -> list[Event]:
        """Return the changes of a key, the oldest first. The list is empty for an unknown name."""
        ...

    def log_entries(self, identifier: str) -> list[int]:
        """Return the numbers of the entries of a key in the public log, in their order; empty for a file."""
        ...

    def first_log_entry(self, identifier: str) -> tuple[int, datetime] | None:
        """Return the number and the time of the first entry of a key in the public log. None for a file."""
        ...

    def log_key(self) -> str | None:
        """Return the public key of the public log of the database. Return None if it has no log, and for a file."""
        ...

    def count(self) -> NameCount:
        """Return the number of recorded names: live, reserved and withdrawn. A large number can be an estimate."""
        ...

    def list_names(self, selection: Selection, after: str | None, limit: int) -> Page:
        """Return a page of at most ``limit`` names. ``after`` is :attr:`Page.next` of the page before, or None."""
        ...

    def names_below(self, identifier: str, most: int) -> list[Binding]:
        """Return the first parts and variants of a name, at most ``most``, in the order of their keys."""
        ...

    def count_names(self, selection: Selection, by: Group | None, most: int | None = None) -> dict[str, int]:
        """Count names by "shoulder", "state" or "month" (of creation); without ``by``, the only key is "". Without
        ``by``, names above ``most`` are not counted. With it, a database raises :class:`TooBroad` if it must read more.
        """
        ...

    def ranges(self) -> NameRanges:
        """Return an object that divides the names into ranges of their keys. A file is read as it is now."""
        ...

    def operations(self, before: int | None, limit: int) -> list[Operation]:
        """Return at most ``limit`` operations with numbers below ``before``, the newest first; none for a file."""
        ...

    def events(self, selection: EventSelection, below: int | None, limit: int) -> EventPage:
        """Return a page of at most ``limit`` changes of names with numbers below ``below``, the newest first."""
        ...

    def rules_version(self) -> str:
        """Return a text that differs after each change of a rule, prefix record, the branding or a pattern of names."""
        ...

    def rules(self) -> list[Rule]:
        """Return the rules of all NAANs and shoulders, in any order."""
        ...

    def holds(self) -> list[Hold]:
        """Return the recorded holds of names, in any order, without those of prefixes. Ended ones are included: compare
        them with the clock when you use them, because it can be corrected later.
        """
        ...

    def patterns(self) -> list[Pattern]:
        """Return the patterns of names that were minted with a check character. They detect typing errors in names."""
        ...

    def rule_history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule of a NAAN or shoulder, the oldest first."""
        ...

    def prefixes(self) -> list[PrefixRecord]:
        """Return the records of NAANs and shoulders, with the field ``rule`` not set."""
        ...

    def prefix_history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a NAAN or shoulder, the oldest first."""
        ...

    def recorded_branding(self) -> str | None:
        """Return the recorded branding (:mod:`~ararat.bindings.names.branding.stored`) as JSON, or None for a file."""
        ...

    def recorded_brandings(self) -> list[str]:
        """Return the recorded branding and all earlier ones as JSON, in any order. The list is empty for a file."""
        ...

    def transaction(self, *, exclusive: bool = False, large: bool = False) -> AbstractContextManager[Transaction]:
        """Begin a transaction. With ``exclusive``, other writers wait until it ends. With ``large``, its statements can
        take long. Raises :class:`ReadOnlyBindings` for a table file.
        """
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Return a context manager for a view of all bindings of the store at this moment."""
        ...

    def close(self) -> None:
        """Close the store and its connections. Later uses raise :class:`BindingsUnavailable`."""
        ...
