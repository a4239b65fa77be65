"""Rules: templates that make targets for the unbound names of a NAAN or shoulder.

A rule has a prefix, ``ark:12345/`` or ``ark:12345/x5``, and a template with variables (:mod:`target_templates`). The
rule with the longest matching prefix applies. Each process keeps all rules in memory, and checks at most once a second
whether they have changed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from ...identifiers import Ark, Urn
from ...identifiers.registries import target_templates
from ...identifiers.registries.target_templates import Asked, Template
from ...identifiers.text import display, iri
from ..bindings import targets, validation
from ..bindings.model import NOTHING, Binding, rfc3339
from ..bindings.patterns import Pattern
from ..bindings.prefixes import NO_RECORDS, PrefixRecord, PrefixRecords, checked_patterns, with_rules
from ..errors import BindingError, BindingsUnavailable
from ..fork_safety import ForkSafeLock
from ..storage.reopening import next_attempt

_log = logging.getLogger(__name__)

SECONDS_HELD = 1.0
"""The number of seconds that the rules in memory are used before the next check for changes."""

MOST_TEMPLATE = 2000

_HERE = "https://localhost"
_SAMPLES = ("12345/0", "12345/0/0.0")


@dataclass(frozen=True, slots=True)
class Rule:
    """A template that creates the targets of all unbound names that begin with ``prefix``.

    - ``prefix``: a NAAN or a shoulder, such as ``ark:12345/x5``.
    - ``template``: a URL or path with a variable (:mod:`target_templates`).
    - ``redirect``: the status of the answer, 302 or 307.
    - ``changed``, ``actor``: the time of the last change in UTC, and the person or program that made it, or None.
    """

    prefix: str
    template: str
    redirect: int
    changed: datetime
    actor: str | None

    def as_dict(self) -> dict[str, Any]:
        row = {name: getattr(self, name) for name in self.__slots__}
        return row | {"changed": rfc3339(self.changed)}

    def binding(self, key: str) -> Binding | None:
        """Return the binding that the rule creates for an ARK. Return None if the target would not be valid.

        ``key`` is the normal form of the ARK, which begins with the prefix.

        >>> rule = Rule("ark:12345/x5", "https://example.org/${suffix}", 302, datetime(2026, 1, 1), None)
        >>> rule.binding("ark:12345/x5/a").target, rule.binding("ark:12345/x5%2E%2E/a")
        ('https://example.org//a', None)
        """
        # All spellings of an ARK have the same key, so the spelling of the request makes no difference.
        shoulder = self.prefix.partition("/")[2]
        address = read_template(self.template).expand(Asked("ark:", key[4:], ""), shoulder).address
        if address is None or iri.has_dot_segment(address.partition("#")[0].partition("?")[0]):
            return None
        return Binding(
            identifier=key,
            kind="located",
            target=address,
            status="live",
            redirect=self.redirect,
            resource=None,
            passthrough=False,
            scope="name",
            alternates=NOTHING,
            metadata=NOTHING,
            reason=None,
            successor=None,
            spelling=key,
            created=self.changed,
            changed=self.changed,
            revision=1,
        )


class Ruled(NamedTuple):
    """The binding that a rule makes for a name, and the ``prefix`` of the rule."""

    binding: Binding
    prefix: str


class RuleEvent(NamedTuple):
    """A change of a rule in its history. ``template`` and ``redirect`` are those after it; both are None after
    "removed".
    """

    action: Literal["set", "removed"]
    prefix: str
    template: str | None
    redirect: int | None
    when: datetime
    actor: str | None

    def as_dict(self) -> dict[str, Any]:
        return self._asdict() | {"when": rfc3339(self.when)}


class Source(Protocol):
    """The part of a store that has the rules, the patterns of minted names and the records of NAANs and shoulders."""

    def rules_version(self) -> str:
        """Return a text that differs after each change of a rule or of the record of a NAAN or shoulder."""
        ...

    def rules(self) -> list[Rule]: ...

    def patterns(self) -> list[Pattern]: ...

    def prefixes(self) -> list[PrefixRecord]: ...


class Rulebook:
    """The rules and prefix records of one source in the memory of this process. Can be used by all threads."""

    def __init__(self, source: Callable[[], Source], clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._lock = ForkSafeLock()
        self._version: str | None = None
        self._rules: Sequence[Rule] = ()
        self._patterns: Sequence[Pattern] = ()
        self._records = NO_RECORDS
        self._next_look = float("-inf")
        self._failure: str | None = None

    def binding_for(self, identifier: Ark | Urn) -> Ruled | None:
        """Return the binding that the rule with the longest prefix makes for an ARK, or None.

        Raises :class:`BindingsUnavailable` if the rules were never read.
        """
        if isinstance(identifier, Urn):
            return None
        key = identifier.basic
        for rule in self._current():
            if key.startswith(rule.prefix):
                binding = rule.binding(key)
                return None if binding is None else Ruled(binding, rule.prefix)
        return None

    def patterns(self) -> Sequence[Pattern]:
        """Return the patterns of names with a check character: of minted names and of prefix records.

        Raises :class:`BindingsUnavailable` if they were never read.
        """
        self._current()
        return self._patterns

    def records(self) -> PrefixRecords:
        """Return the prefix records with their rules. Raises :class:`BindingsUnavailable` if they were never read."""
        self._current()
        return self._records

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
                self._records = PrefixRecords(with_rules(records, self._rules))
                self._patterns = [*source.patterns(), *checked_patterns(records)]
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


def check_template(template: str) -> str:
    """Check the template of a rule, and return its stored form, with the current names of variables.

    A template is an http(s) address or a path of this site, with one variable for the name after the host. Raises
    :class:`BindingError` with the code ``rule-template``.

    >>> check_template("https://example.org/things/${value}"), check_template("/show?id=${content}")
    ('https://example.org/things/${value}', '/show?id=${content}')
    """
    validation.check(template, "rule-template", "template", MOST_TEMPLATE)
    read = target_templates.read(_HERE + template if template.startswith("/") else template)
    # Rules of a site can use private hosts.
    flaws = [flaw for flaw in read.flaws if flaw != "reserved-host"]
    if flaws:
        # Braces are also invalid characters of an address, but the unknown variable is the cause.
        worst = "unknown-variable" if "unknown-variable" in flaws else flaws[0]
        raise BindingError("rule-template", target_templates.FLAWS[worst].removesuffix("."))
    stored = read.text.removeprefix(_HERE) if template.startswith("/") else read.text
    for sample in _SAMPLES:
        address = read_template(stored).expand(Asked("ark:", sample, "")).address or ""
        targets.check(address, "located")
        if address.startswith("/") and targets.is_reserved(address):
            raise BindingError(
                "reserved-target",
                f"{validation.shown(template)} leads back to the resolver; use a path outside /ark: and /urn:",
            )
    return stored


def read_template(stored: str) -> Template:
    """Parse the stored form of the template of a rule, without checking it again."""
    if stored.startswith("/"):
        return Template(stored, ())
    return replace(target_templates.read(stored), flaws=())
