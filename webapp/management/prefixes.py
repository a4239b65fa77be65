"""The records of NAANs and shoulders with their rules. Only administrators change them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ...bindings import prefix_changes
from ...bindings.names.errors import Missing
from ...bindings.names.prefixes import prefixes
from ...bindings.names.prefixes.prefixes import PrefixRecord
from ...bindings.operations import departure
from ...bindings.operations.plan import BulkResult
from ...middleware.http.conditional import entity_tag
from . import succession
from .acting import acting
from .bulk import MAX_NAMES
from .permissions import require_administrator
from .succession import Succession

if TYPE_CHECKING:
    from ...bindings.names.prefixes.rules import Rule
    from ...bindings.storage.store import Transaction
    from ...middleware import Bindings
    from ..accounts.model import Caller
    from ..accounts.store import Accounts


NO_RECORD = ""
"""The entity tag of a prefix without a record."""


def prefix_etag(record: PrefixRecord) -> str:
    """Return the strong entity tag, with quotation marks, of a prefix record and its redirect rule."""
    return _etag(record, record.rule)


def get(bindings: Bindings, prefix: str) -> PrefixRecord:
    """Return the record of exactly this prefix with its redirect rule. Raises :class:`Missing` without a record."""
    if (found := bindings.prefixes.get(prefix)) is None:
        raise _missing(prefixes.check_prefix(prefix, bindings.naming))
    return found


def set_record(
    accounts: Accounts,
    caller: Caller | None,
    prefix: str,
    texts: Mapping[str, str | None],
    *,
    rule: str | None = None,
    redirect: int = 302,
    etag: str | None = None,
) -> PrefixRecord:
    """Record texts about a prefix, and its redirect rule, in one transaction. The caller must be an administrator.

    - ``texts``: the texts by the names of their fields. A text that is missing or None stays. An empty text deletes
      the recorded one.
    - ``rule``: the template of the rule. None does not change the rule, and an empty text removes it.
    - ``redirect``: the status of the redirects of the rule: 302 or 307.
    - ``etag``: the entity tag that the record must have, :data:`NO_RECORD` for a new record, None for any.
    """
    with acting(accounts, caller, "prefix.set", prefix, require=require_administrator) as actor:
        key = prefixes.check_prefix(prefix, accounts.bindings.naming)
        checked = prefixes.check(key, texts)

        def write(transaction: Transaction) -> None:
            existing = _require_etag(transaction, key, etag)
            now = accounts.bindings.now()
            outcomes = {prefix_changes.set_record(transaction, key, checked, now, actor.name)}
            if rule:
                outcomes.add(prefix_changes.set_rule(transaction, key, rule, redirect, now, actor.name))
            elif rule == "" and existing is not None:
                outcomes.add(prefix_changes.remove_rule(transaction, key, now, actor.name))
            if outcomes == {"unchanged"}:
                transaction.rollback()

        accounts.bindings.run_in_transaction(write, actor=actor)
        return get(accounts.bindings, key)


def remove_record(accounts: Accounts, caller: Caller | None, prefix: str, *, etag: str | None = None) -> None:
    """Delete the record of a prefix and its redirect rule, if it has the entity tag ``etag``; None is any. The caller
    must be an administrator. Their history stays. Raises :class:`Missing` for a prefix without a record,
    :class:`Stale` for another tag.
    """
    with acting(accounts, caller, "prefix.remove", prefix, require=require_administrator) as actor:
        key = prefixes.check_prefix(prefix, accounts.bindings.naming)

        def write(transaction: Transaction) -> None:
            rule = _require_etag(transaction, key, etag)
            if transaction.get_prefix(key) is None:
                raise _missing(key)
            prefix_changes.remove_record(transaction, key, accounts.bindings.now(), actor.name)
            if rule is not None:
                prefix_changes.remove_rule(transaction, key, accounts.bindings.now(), actor.name)

        accounts.bindings.run_in_transaction(write, actor=actor)


def succeed(
    accounts: Accounts,
    caller: Caller | None,
    prefix: str,
    to: str,
    *,
    contact: str | None = None,
    heirs: Collection[str] = (),
    dry_run: bool = False,
) -> Succession:
    """Make the institution ``to`` responsible for a prefix. The caller must be an administrator. ``heirs`` are the
    names of its accounts, which get a grant of the prefix while others lose theirs. Without heirs, all grants stay.
    """
    with acting(accounts, caller, "prefix.succeed", prefix, require=require_administrator) as actor:
        return succession.succeed(
            accounts,
            prefix,
            to,
            contact=contact,
            heirs=heirs,
            dry_run=dry_run,
            actor=actor,
            caller=actor.caller,
        )


def depart(
    accounts: Accounts,
    caller: Caller | None,
    prefix: str,
    resolver: str,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    expected: str | None = None,
) -> BulkResult:
    """Retire a prefix and move at most :data:`~.bulk.MAX_NAMES` names to the URL of another resolver.
    The caller must be an administrator. ``expected`` is the fingerprint of an earlier dry run.
    :func:`~ararat.bindings.operations.departure.depart` has the details.
    """
    with acting(accounts, caller, "prefix.depart", prefix, require=require_administrator, max_names=MAX_NAMES) as actor:
        return departure.depart(
            accounts.bindings, prefix, resolver, atomic=atomic, dry_run=dry_run, actor=actor, expected=expected
        )


def _require_etag(transaction: Transaction, key: str, etag: str | None) -> Rule | None:
    """Return the rule of a prefix. Raises :class:`Stale` if its record has another entity tag."""
    record, rule = transaction.get_prefix(key), transaction.get_rule(key)
    recorded = NO_RECORD if record is None else _etag(record, rule)
    if etag is not None and etag != recorded:
        raise prefix_changes.stale(key, record)
    return rule


def _etag(record: PrefixRecord, rule: Rule | None) -> str:
    times = (record.changed, rule.changed) if rule else (record.changed,)
    return entity_tag(record.revision, *times)


def _missing(key: str) -> Missing:
    return Missing("prefix-unknown", prefix_changes.no_record(key), identifier=key)
