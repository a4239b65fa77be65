"""The records of NAANs and shoulders, and their rules: :attr:`.Bindings.prefixes` and :attr:`.Bindings.rules`. The
functions work in a transaction, so that a record and a rule can change together.
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
from .names.errors import BindingError, Stale
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
    revision: int | None = None,
) -> Set:
    """Set checked texts by field in the record of a prefix in stored form. An empty text deletes one. Return "set" for
    a new record, "changed" or "unchanged". ``revision`` is that which the record must have, 0 for no record, None for
    any. Raises :class:`Stale` for another one, and :class:`BindingError` like :func:`.prefixes.change_texts`.
    """
    existing = _get(transaction, key, revision)
    after = prefixes.change_texts(
        existing, key, texts, assignment.later(now, existing.changed) if existing else now, actor
    )
    if after is existing:
        return "unchanged"
    transaction.put_prefix(after)
    transaction.noted.setdefault(key, "set")
    return "changed" if existing else "set"


def remove_record(
    transaction: Transaction,
    key: str,
    now: datetime,
    actor: str | None,
    revision: int | None = None,
    *,
    with_hold: bool = False,
) -> Literal["removed"]:
    """Delete the record of a prefix in stored form. Only ``with_hold`` ends a lasting hold. ``revision`` is that of
    :func:`set_record`. Raises :class:`Stale`, and :class:`BindingError` with the code ``prefix-unknown``,
    ``prefix-held`` or ``prefix-retired``.
    """
    existing = _get(transaction, key, revision)
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
    transaction: Transaction,
    key: str,
    until: datetime,
    reason: str,
    now: datetime,
    actor: str | None,
    revision: int | None = None,
) -> Literal["held", "unchanged"]:
    """Put all names below a prefix in stored form on hold. It gets a record if it has none. ``revision`` is that of
    :func:`set_record`. Raises :class:`Stale`, and :class:`BindingError` (``hold-until``, ``hold-reason``).
    """
    until, reason = holds.check(until, reason, now)
    texts = {"hold_until": rfc3339(until), "hold_reason": reason}
    outcome = set_record(transaction, key, texts, now, actor, revision)
    return "unchanged" if outcome == "unchanged" else "held"


def release(
    transaction: Transaction, key: str, now: datetime, actor: str | None, revision: int | None = None
) -> Literal["released"]:
    """End the hold of a prefix in stored form, and delete a record that has only the hold. ``revision`` is that of
    :func:`set_record`. Raises :class:`Stale`, and :class:`BindingError` (``hold-missing``) without a hold.
    """
    existing = _get(transaction, key, revision)
    if existing is None or existing.hold_until is None:
        raise BindingError("hold-missing", identifier=key)
    if existing.all_texts.keys() <= {*HOLD_FIELDS}:
        remove_record(transaction, key, now, actor, with_hold=True)
    else:
        set_record(transaction, key, dict.fromkeys(HOLD_FIELDS, ""), now, actor)
    return "released"


def stale(key: str, existing: PrefixRecord | None) -> Stale:
    """Return the error of a prefix whose record is another one than the change expects."""
    if existing is None:
        return Stale(key, no_record(key))
    return Stale(key, Translatable("the record of %(prefix)s was changed after it was read", prefix=key))


def no_record(key: str) -> Translatable:
    """Return the message that a prefix has no record."""
    return Translatable("%(prefix)s has no record", prefix=key)


def _get(transaction: Transaction, key: str, revision: int | None) -> PrefixRecord | None:
    existing = transaction.get_prefix(key)
    if revision not in (None, existing.revision if existing else 0):
        raise stale(key, existing)
    return existing


def set_rule(transaction: Transaction, key: str, template: str, redirect: int, now: datetime, actor: str | None) -> Set:
    """Set the template and status (302 or 307) of the redirect rule of a prefix in stored form. Return "set" for a new
    rule, "changed" or "unchanged". Raises :class:`BindingError` for another template or status.
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
    """Delete the redirect rule of a prefix in stored form. Raises :class:`BindingError` (``rule-unknown``)."""
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
        self, prefix: str, *, revision: int | None = None, actor: Actor | str | None = None, **texts: str | None
    ) -> Literal["set", "changed", "unchanged"]:
        """Record texts that describe a NAAN or shoulder, such as its institution: ``who="Library"``.

        The texts are those of :data:`~.prefixes.texts.EDITED`: ``who`` (the institution), ``what`` (the named things)
        and ``contact``; ``statement``, ``availability``, ``variance``, ``may_change`` and ``at_end`` about persistence;
        ``hosts``, ``pattern`` and ``characters``, which restrict names; ``state``; and the addresses ``resolver``,
        ``minter`` and ``about``. None does not change a text, and an empty text deletes it. ``revision`` is that which
        the record must have, 0 for no record; another one raises :class:`Stale`.

        Returns "changed" if ``prefix`` had another record. Running servers use the record after about a second. Raises
        :class:`BindingError` with the code ``rule-prefix``, or one that begins with ``prefix-`` and names the text,
        such as ``prefix-pattern``. Raises TypeError for another text.

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
        by.require_granted(key)
        checked = prefixes.check(key, texts)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = set_record(transaction, key, checked, self._bindings.now(), by.name, revision)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        outcome = self._bindings.run_in_transaction(write, actor=by)
        if outcome != "unchanged":
            for warning in prefixes.warnings_about(checked):
                _log.warning("%s: %s (%s)", key, warning.message, warning.code)
        return outcome

    def remove(
        self, prefix: str, *, revision: int | None = None, actor: Actor | str | None = None
    ) -> Literal["removed"]:
        """Delete the record of a NAAN or shoulder. Its history stays. ``revision`` is that of :meth:`set`. Raises
        :class:`BindingError`: ``prefix-unknown`` without a record, ``prefix-held`` while all names below it are on
        hold, ``prefix-retired`` for a retired prefix.
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        by.require_granted(key)
        return self._bindings.run_in_transaction(
            lambda transaction: remove_record(transaction, key, self._bindings.now(), by.name, revision), actor=by
        )

    def get(self, prefix: str) -> PrefixRecord | None:
        """Return the record of exactly this NAAN or shoulder, or None."""
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        return next((record for record in self.list() if record.prefix == key), None)

    def history(self, prefix: str) -> list[PrefixEvent]:
        """Return the changes of the record of a NAAN or shoulder, the oldest first."""
        return self._bindings.store.prefix_history(prefixes.check_prefix(prefix, self._bindings.naming))

    def cached_records(self) -> PrefixRecords:
        """Return the records of all NAANs and shoulders from memory, at most about one second old. :meth:`list` reads
        the store.
        """
        return self._rule_cache.records()

    def statements(self, binding: Binding) -> InheritedStatements:
        """Return the persistence statements that a name inherits from the records of its NAAN and shoulders."""
        return self.cached_records().statements(binding.identifier, binding.metadata)

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
        """Set the template that makes the targets of all unbound names that begin with a NAAN or shoulder.

        ``template`` is a URL or a path of this site that contains a variable (:mod:`.prefixes.rules`). ``redirect`` is
        302 or 307. Returns "changed" if ``prefix`` had another rule. Running servers use the rule after about a second.
        Raises :class:`BindingError`.

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
        by.require_granted(key)

        def write(transaction: Transaction) -> Literal["set", "changed", "unchanged"]:
            outcome = set_rule(transaction, key, template, redirect, self._bindings.now(), by.name)
            if outcome == "unchanged":
                transaction.rollback()
            return outcome

        return self._bindings.run_in_transaction(write, actor=by)

    def remove(self, prefix: str, *, actor: Actor | str | None = None) -> Literal["removed"]:
        """Delete the redirect rule of a NAAN or shoulder. Its history stays. Raises :class:`BindingError`
        (``rule-unknown``).
        """
        by = Actor.of(actor)
        key = prefixes.check_prefix(prefix, self._bindings.naming)
        by.require_granted(key)
        return self._bindings.run_in_transaction(
            lambda transaction: remove_rule(transaction, key, self._bindings.now(), by.name), actor=by
        )

    def history(self, prefix: str) -> list[RuleEvent]:
        """Return the changes of the rule of a NAAN or shoulder, the oldest first."""
        return self._bindings.store.rule_history(prefixes.check_prefix(prefix, self._bindings.naming))

    def list(self) -> list[Rule]:
        """Return the redirect rules of all NAANs and shoulders, in the order of their prefixes."""
        return sorted(self._bindings.store.rules(), key=lambda rule: rule.prefix)
