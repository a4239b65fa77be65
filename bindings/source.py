"""The part of bindings that a resolver reads: :attr:`.Bindings.source`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..identifiers import Ark, Urn
from .names import naming
from .names.corrections import corrections, is_mistyped

if TYPE_CHECKING:
    from .names.binding import Binding, StoredRedirect
    from .names.branding.model import Branding
    from .names.prefixes.holds import Holds
    from .names.prefixes.patterns import Pattern
    from .names.prefixes.prefixes import PrefixRecords
    from .names.prefixes.rules import RuleMatch
    from .rule_cache import RuleCache
    from .storage.reopening import Opening
    from .stores import Store


class StoredSource:
    """The names, rules and records of a store, as a resolver reads them. The records are at most about one second old.

    - ``is_local``: whether lookups only read memory or a local file, so that they never wait for a network.
    - ``own_changes``: the number of changes that were made through this object. Closing the store counts as a change.
    """

    def __init__(
        self, opening: Opening[Store], rule_cache: RuleCache, *, is_local: bool, clock: Callable[[], datetime]
    ) -> None:
        self.is_local = is_local
        self.own_changes = 0
        self._opening = opening
        self._clock = clock
        self._rule_cache = rule_cache

    def fetch(self, keys: Iterable[str]) -> dict[str, Binding]:
        """Return the bindings of recorded names by key, also reserved and withdrawn ones. Unknown keys are omitted."""
        return self._opening.store.fetch(keys)

    def stored_redirect(self, key: str) -> StoredRedirect | None:
        """Return the redirect of a live name without alternates that the site does not serve, else None. ``key`` has at
        most 255 printable ASCII characters.
        """
        return self._opening.store.stored_redirect(key)

    def binding_by_rule(self, identifier: Ark | Urn) -> RuleMatch | None:
        """Return the binding that the rule with the longest matching prefix makes for a name, which is not looked
        up.
        """
        return self._rule_cache.binding_for(identifier)

    def prefix_records(self) -> PrefixRecords:
        """Return the records that describe NAANs and shoulders."""
        return self._rule_cache.records()

    def records_and_patterns(self) -> tuple[PrefixRecords, Sequence[Pattern]]:
        """Return the records of prefixes, and the patterns of names with a check character."""
        return self._rule_cache.records_and_patterns()

    def now(self) -> datetime:
        """Return the current time in UTC, which holds are compared with."""
        return self._clock()

    def holds(self) -> Holds:
        """Return the holds of names and prefixes from the memory of this process, about a second old at most."""
        return self._rule_cache.holds()

    def records_and_holds(self) -> tuple[PrefixRecords, Holds]:
        """Return the records of prefixes and the holds from the memory of this process, about a second old at most."""
        return self._rule_cache.records_and_holds()

    def branding(self) -> Branding:
        """Return the recorded branding from the memory of this process."""
        return self._rule_cache.branding()

    def is_mistyped(self, identifier: Ark | Urn) -> bool:
        """Return whether a name probably has a typing error: its check character is wrong for the names minted here."""
        return is_mistyped(naming.key(identifier), self._rule_cache.patterns())

    def correction(self, identifier: Ark | Urn) -> str | None:
        """Return the key of the only live name that an unbound name probably means (:mod:`corrections`), or None."""
        names = corrections(naming.key(identifier), self._rule_cache.patterns())
        live = [name for name, binding in self.fetch(names).items() if binding.is_live] if names else []
        return live[0] if len(live) == 1 else None

    def data_version(self) -> Hashable | None:
        """Return a value that differs after each change of a binding, also by other processes. None for a database on
        several servers or behind a pooler, because they can have different states.
        """
        return self._opening.store.data_version()

    @property
    def failure(self) -> str | None:
        """The reason why the store could not be opened, in printable ASCII, or None."""
        return self._opening.failure

    @property
    def before_close(self) -> list[Callable[[], object]]:
        """The functions that are called before the store is closed. They end work with it."""
        return self._opening.before_close

    @property
    def is_closed(self) -> bool:
        """Whether these bindings were closed with :meth:`.Bindings.close`."""
        return self._opening.is_closed

    @property
    def refusal(self) -> str | None:
        """The reason why the current version of a table file is not served, in printable ASCII, or None."""
        store = self._opening.opened
        return store.refusal if store else None

    @property
    def unrecorded(self) -> str | None:
        """The reason why the copy of the served table file cannot be saved, or None. Without a copy, a restarted
        process cannot compare the file with the version that was served before.
        """
        store = self._opening.opened
        return store.unrecorded if store else None
