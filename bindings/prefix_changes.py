"""The records of NAANs and shoulders, and their rules: :attr:`.Bindings.prefixes` and :attr:`.Bindings.rules`. The
functions make a change in a transaction, so that a record and a rule can change together.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from ..identifiers.text.translatable import Translatable
from .names import assignment
from .names.actor import Actor
from .names.binding import rfc3339
from .names.errors import BindingError
from .names.fields import redirect_status
from .names.prefixes import holds, prefixes
from .names.prefixes.prefixes import InheritedStatements, PrefixEvent, PrefixRecord, PrefixRecords
from .names.prefixes.rules import Rule, RuleEvent
from .names.prefixes.texts import HOLD_FIELDS

if TYPE_CHECKING:
    from .names.binding import Binding
    from .rule_cache import RuleCache
    from .storage.writing.transaction import Transaction
    from .stores import Writable

_log = logging.getLogger(__name__)

Set = Literal["set", "changed", "unchanged"]


def set_record(
    transaction: Transaction,
    key: str,
    texts: Mapping[Any, str],
    now: datetime,
    actor: str | None,
) -> Set:
    """Set texts in the record of a NAAN or shoulder, inside of a transaction. Return "set", "changed" or "unchanged".

    - ``key``: the prefix in its stored form, such as ``ark:12345/x5``.
    - ``texts``: the checked texts by field of :class:`~.prefixes.PrefixRecord`, such as "who". An empty text deletes
      one.
    - ``now``: the time of the change, in UTC. ``actor``: the name of the user for the history, or None.

    Raises :class:`BindingError`, for example with the code ``prefix-empty``.
    """
    existing = transaction.get_prefix(key)
    after = prefixes.changed(existing, key, texts, assignment.later(now, existing.changed) if existing else now, actor)
    if after is existing:
        return "unchanged"
    transaction.put_prefix(after)
    transaction.noted.setdefault(key, "set")
    return "changed" if existing else "set"


def remove_record(
    transaction: Transaction, key: str, now: datetime, actor: str | None, *, with_hold: bool = False
) -> Literal["removed"]:
    """Delete the record of a prefix in a transaction. Only ``with_hold`` ends a lasting hold. ``key`` is the prefix in
    its stored form, such as ``ark:12345/x5``.
    """
    existing = transaction.get_prefix(key)
    if existing is not None and not with_hold and existing.hold is not None and existing.hold.until > now:
        raise BindingError("prefix-held", identifier=key)
    if existing is None:
        raise BindingError("prefix-unknown", Translatable("%(key)s has no record; run: ararat prefix list", key=key))
    if existing.state == "retired":
        raise BindingError("prefix-retired", Translatable("%(key)s is retired, and its record stays", key=key))
    transaction.remove_prefix(key, assignment.later(now, existing.changed), actor)
    transaction.noted.setdefault(key, "removed")
    return "removed"


def hold(
    transaction: Transaction, key: str, until: datetime, reason: str, now: datetime, actor: str | None
) -> Literal["held", "unchanged"]:
    """Put all names below a prefix on hold until a time, in a transaction. The prefix gets a record if it has none.
    ``key`` is the prefix in its stored form. ``until`` is the end, in UTC, and ``reason`` a text for visitors. Raises
    :class:`BindingError` with the code ``hold-until`` or ``hold-reason``.
    """
    until, reason = holds.check(until, reason, now)
    outcome = set_record(transaction, key, {"hold_until": rfc3339(until), "hold_reason": reason}, now, actor)
    return "unchanged" if outcome == "unchanged" else "held"


def release(transaction: Transaction, key: str, now: datetime, actor: str | None) -> Literal["released"]:
    """End the hold of all names below a prefix, in a transaction. A record that has only the hold is deleted. ``key``
    is the prefix in its stored form, such as ``ark:12345/x5``. Raises :class:`BindingError` with the code
    ``hold-missing`` for a prefix without a hold.
    """
    existing = transaction.get_prefix(key)
    if existing is None or existing.hold_until is None:
        raise BindingError("hold-missing", identifier=key)
    if existing.all_texts.keys() <= {*HOLD_FIELDS}:
        remove_record(transaction, key, now, actor, with_hold=True)
    else:
        set_record(transaction, key, dict.fromkeys(HOLD_FIELDS, ""), now, actor)
    return "released"


def set_rule(transaction: Transaction, key: str, template: str, redirect: int, now: datetime, actor: str | None) -> Set:
    """Set the redirect rule of a prefix in a transaction. ``key`` is the prefix in its stored form. ``template`` is the
    checked template of targets, and ``redirect`` is 302 or 307. The result is "set", "changed" or "unchanged".
    """
    from .names.prefixes.rule_templates import check_template  # it loads the registries

    stored, status = check_template(template), redirect_status(redirect)
    existing = transaction.get_rule(key)
    if existing and (existing.template, existing.redirect) == (stored, status):
        return "unchanged"
    transaction.put_rule(Rule(key, stored, status, assignment.later(now, existing.changed) if existing else now, actor))
    transaction.noted.setdefault(key, "set")
    return "changed" if existing else "set"


def remove_rule(transaction: Transaction, key: str, now: datetime, actor: str | None) -> Literal["removed"]:
    """Delete the redirect rule of a prefix in a transaction. ``key`` is the prefix in its stored form, such as
    ``ark:12345/x5``.
    """
    existing = transaction.get_rule(key)
    if existing is None:
        raise BindingError("rule-unknown", Translatable("no rule is set for %(key)s; run: ararat rule list", key=key))
    transaction.remove_rule(key, assignment.later(now, existing.changed), actor)
    transaction.noted.setdefault(key, "removed")
    return "removed"


class Prefixes:
    """The records that describe NAANs and shoulders, with the methods that change them: :attr:`.Bindings.prefixes`."""

    def __init__(self, bindings: Writable, rule_cache: RuleCache) -> None:
        self._bindings = bindings
        self._rule_cache = rule_cache

    def set(
        self, prefix: str, *, actor: Actor | str | None = None, **texts: str | None
    ) -> Literal["set", "changed", "unchanged"]:
        """Record texts that describe a NAAN or shoulder, such as its institution: ``who="Library"``.

        The texts are those of :data:`~.prefixes.texts.EDITED`: ``who`` is the institution, ``what`` the things that are
        named, and ``contact`` an address for questions. ``statement``, ``availability``, ``variance``, ``may_change``
        and ``at_end`` are about persistence. ``hosts``, ``pattern`` and ``characters`` restrict names, and ``state`` is
        the state of the prefix. ``resolver``, ``minter`` and ``about`` are addresses. An argument that is None does not
        change the recorded text, and an empty text deletes it. Returns "set", "changed" if ``prefix`` had another
        record, or "unchanged". Running servers use the record after about a second. Raises :class:`BindingError` with
        the code ``rule-prefix``, ``prefix-text``, ``prefix-pattern``, ``prefix-characters``, ``prefix-hosts``,
        ``prefix-state``, ``prefix-address``, ``prefix-delegation``, ``prefix-retired`` or ``prefix-empty``, and
        TypeError for another text.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.prefixes.set("12345/x5", what="Maps", characters="digits"), b.prefixes.set("12345/x5", what="Old maps")
        ('set', 'changed')
        >>> b.prefixes.get("ark:12345/x5").texts
        {'what': 'Old maps', 'characters': 'digits'}
        >>> b.prefixes.remove("12345/x5"), b.prefixes.list()
        ('removed', [])
        >>> b.close(); folder.cleanup()
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        checked = prefixes.check(key, texts)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = set_record(transaction, key, checked, self._bindings.now(), by.name)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        outcome = self._bindings.run_in_transaction(write, actor=by)
        if outcome != "unchanged":
            for warning in prefixes.warnings_about(checked):
                _log.warning("%s: %s (%s)", key, warning.message, warning.code)
        return outcome

    def remove(self, prefix: str, *, actor: Actor | str | None = None) -> Literal["removed"]:
        """Delete the record that describes a NAAN or shoulder. Its history stays. Raises :class:`BindingError` with the
        code ``prefix-unknown`` if it has no record, and ``prefix-held`` while all names below it are on hold.
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        return self._bindings.run_in_transaction(
            lambda transaction: remove_record(transaction, key, self._bindings.now(), by.name), actor=by
        )

    def get(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly the NAAN or shoulder ``prefix``, or None if no record exists."""
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        return next((record for record in self.list() if record.prefix == key), None)

    def history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of the NAAN or shoulder ``prefix``, the oldest first."""
        return self._bindings.store.prefix_history(prefixes.check_prefix(prefix, self._bindings.naming))

    def remembered(self) -> PrefixRecords:
        """Return the records of all NAANs and shoulders from the memory of this process, without reading the store.
        They are about one second old at most. :meth:`list` reads the store.
        """
        return self._rule_cache.records()

    def statements(self, binding: Binding) -> InheritedStatements:
        """Return the persistence statements that the name ``binding`` inherits from the records of its NAAN and
        shoulders.
        """
        return self.remembered().statements(binding.identifier, binding.metadata)

    def list(self) -> list[PrefixRecord]:
        """Return the records of all NAANs and shoulders in order, each with the rule of the same prefix."""
        return prefixes.with_rules(self._bindings.store.prefixes(), self._bindings.store.rules())


class Rules:
    """The redirect rules of NAANs and shoulders, with the methods that change them: :attr:`.Bindings.rules`."""

    def __init__(self, bindings: Writable) -> None:
        self._bindings = bindings

    def set(
        self, prefix: str, template: str, *, redirect: int = 302, actor: Actor | str | None = None
    ) -> Literal["set", "changed", "unchanged"]:
        """Set the template that makes the targets of all unbound names that begin with ``prefix``, a NAAN or shoulder.

        ``template`` is a URL or a path of this site that contains a variable (:mod:`.prefixes.rules`). ``redirect`` is
        302 or 307. Returns "set", "changed" if ``prefix`` had another rule, or "unchanged". Running servers use the
        rule after about a second. Raises :class:`BindingError`.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.rules.set("ark:12345/x5", "https://example.org/things/${value}")
        'set'
        >>> [rule.prefix for rule in b.rules.list()], b.rules.remove("ark:12345/x5"), b.rules.list()
        (['ark:12345/x5'], 'removed', [])
        >>> b.close(); folder.cleanup()
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = set_rule(transaction, key, template, redirect, self._bindings.now(), by.name)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        return self._bindings.run_in_transaction(write, actor=by)

    def remove(self, prefix: str, *, actor: Actor | str | None = None) -> Literal["removed"]:
        """Delete the redirect rule of the NAAN or shoulder ``prefix``. Its history stays. Raises :class:`BindingError`
        with the code ``rule-unknown`` if it has no rule.
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        return self._bindings.run_in_transaction(
            lambda transaction: remove_rule(transaction, key, self._bindings.now(), by.name), actor=by
        )

    def history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule of the NAAN or shoulder ``prefix``, the oldest first."""
        return self._bindings.store.rule_history(prefixes.check_prefix(prefix, self._bindings.naming))

    def list(self) -> list[Rule]:
        """Return the redirect rules of all NAANs and shoulders, in the order of their prefixes."""
        return sorted(self._bindings.store.rules(), key=lambda rule: rule.prefix)
