"""Keep the rules, prefix records, holds and branding in memory, and check at most once a second whether they
changed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from ..identifiers import Ark, Urn
from ..identifiers.text import display
from .names import naming
from .names.binding import Hold
from .names.branding.model import NO_BRANDING, Branding
from .names.branding.stored import version_of
from .names.errors import BindingsUnavailable
from .names.prefixes.holds import NO_HOLDS, Holds
from .names.prefixes.patterns import Pattern
from .names.prefixes.prefixes import NO_RECORDS, PrefixRecord, PrefixRecords, with_rules
from .names.prefixes.rules import Rule, RuleMatch
from .storage.reopening import next_attempt
from .system.fork_safety import ForkSafeLock

_log = logging.getLogger(__name__)

SECONDS_HELD = 1.0
"""The number of seconds that the rules in memory are used before the next check for changes."""


class RuleSource(Protocol):
    """The interface to the part of a store that :class:`RuleCache` keeps in memory. The methods return what those of
    :class:`.stores.Store` return, and raise :class:`BindingsUnavailable`.
    """

    def rules_version(self) -> str:
        """Return a text that differs after each change of a rule, a prefix record, a hold or the branding."""
        ...

    def rules(self) -> list[Rule]: ...

    def patterns(self) -> list[Pattern]: ...

    def holds(self) -> list[Hold]: ...

    def prefixes(self) -> list[PrefixRecord]: ...

    def recorded_branding(self) -> str | None: ...


class RuleCache:
    """A cache of the rules, prefix records, holds and branding of a store, which all threads can use. The methods raise
    :class:`BindingsUnavailable` if the store could not be read since the start.
    """

    def __init__(
        self,
        source: Callable[[], RuleSource],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._clock = clock
        self._lock = ForkSafeLock()
        self._version: str | None = None
        self._rules: Sequence[Rule] = ()
        self._patterns: Sequence[Pattern] = ()
        self._records = NO_RECORDS
        self._holds = NO_HOLDS
        self._branding = NO_BRANDING
        self._next_look = float("-inf")
        self._failure: str | None = None

    def binding_for(self, identifier: Ark | Urn) -> RuleMatch | None:
        """Return the binding that the rule with the longest matching prefix makes for an unbound name, or None."""
        key = naming.key(identifier)
        for rule in self._current():
            if key.startswith(rule.prefix):
                binding = rule.binding(key, identifier.text)
                return None if binding is None else RuleMatch(binding, rule.prefix)
        return None

    def patterns(self) -> Sequence[Pattern]:
        """Return the patterns of the names that have a check character: of minted names and of prefix records."""
        self._current()
        return self._patterns

    def records(self) -> PrefixRecords:
        """Return the records that describe NAANs and shoulders, with their redirect rules."""
        self._current()
        return self._records

    def records_and_patterns(self) -> tuple[PrefixRecords, Sequence[Pattern]]:
        """Return :meth:`records` and :meth:`patterns` with one check for changes."""
        self._current()
        return self._records, self._patterns

    def holds(self) -> Holds:
        """Return the holds of names and prefixes, also those that have ended: the same object until one changes."""
        self._current()
        return self._holds

    def records_and_holds(self) -> tuple[PrefixRecords, Holds]:
        """Return :meth:`records` and :meth:`holds` with one check for changes."""
        self._current()
        return self._records, self._holds

    def invalidate(self) -> None:
        """Read the store at the next use, because this process has changed a rule, a record or a hold."""
        self._next_look = float("-inf")

    def branding(self) -> Branding:
        """Return the recorded branding of the public pages, or the last known one if the store cannot be read now. It
        is empty, and nothing is raised, if the store was never read.
        """
        try:
            self._current()
        except BindingsUnavailable:
            # The page that reports the failure also has a branding.
            return NO_BRANDING
        return self._branding

    def _current(self) -> Sequence[Rule]:
        # One thread checks for changes while the others use the old rules. All threads wait for the first check.
        if self._clock() >= self._next_look and self._lock.acquire(blocking=self._version is None):
            try:
                if self._clock() >= self._next_look:
                    self._look()
            finally:
                self._lock.release()
        if self._version is None:
            raise BindingsUnavailable(self._failure or "the rules have not been read yet")
        return self._rules

    def _look(self) -> None:
        began = self._clock()
        try:
            source = self._source()
            # Read the version first, so that a change between the two queries is found by the next check.
            version = source.rules_version()
            if version != self._version:
                self._rules = sorted(source.rules(), key=lambda rule: -len(rule.prefix))
                records = source.prefixes()
                holds = [*source.holds(), *(each.hold for each in records if each.hold is not None)]
                self._holds = Holds(holds) if holds else NO_HOLDS
                self._records = PrefixRecords(with_rules(records, self._rules))
                self._patterns = [*source.patterns(), *self._records.patterns]
                recorded = version_of(source.recorded_branding())
                self._branding = recorded.branding if recorded else NO_BRANDING
                self._version = version
        except BindingsUnavailable as error:
            # Remember the failure, so that not every request waits for it.
            self._next_look = next_attempt(began, self._clock())
            if self._failure is None and self._version is not None:
                _log.warning("The rules cannot be read; the last known rules are used: %s", display.escape(str(error)))
            self._failure = str(error)
            return
        self._next_look = self._clock() + SECONDS_HELD
        self._failure = None
