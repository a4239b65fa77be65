"""Record the rows of a table that are not names: rules, prefix records, counters and UUIDs."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ...identifiers.text.translatable import Translatable
from ..names import validation
from ..names.errors import BindingError
from ..names.prefixes import holds
from ..names.prefixes.prefixes import record as prefix_record
from ..names.prefixes.rules import Rule
from ..names.prefixes.texts import RECORDED
from ..tables.other_rows import OtherRow, PrefixRow, RuleRow, Setting

if TYPE_CHECKING:
    from ..storage.writing.transaction import Transaction


def record_row(row: OtherRow, transaction: Transaction, now: datetime, actor: str | None) -> bool:
    """Record a rule, prefix record, counter or UUID of a table. False if it is recorded already. Raises
    :class:`BindingError` if other values are.
    """
    match row:
        case RuleRow():
            return _record_rule(row, transaction, now, actor)
        case PrefixRow():
            return _record_prefix(row, transaction, now, actor)
        case Setting():
            return _record_setting(row, transaction)


def _record_rule(row: RuleRow, transaction: Transaction, now: datetime, actor: str | None) -> bool:
    existing = transaction.get_rule(row.prefix)
    if existing is None:
        transaction.put_rule(Rule(*row, now, actor))
        return True
    if (existing.template, existing.redirect) == (row.template, row.redirect):
        return False
    recorded = f"{validation.quote(existing.template, 100)} ({existing.redirect})"
    requested = f"{validation.quote(row.template, 100)} ({row.redirect})"
    raise BindingError(
        "rule-otherwise",
        Translatable(
            "the rule for %(prefix)s leads to %(recorded)s, not to %(requested)s",
            prefix=row.prefix,
            recorded=recorded,
            requested=requested,
        ),
    )


def _record_prefix(row: PrefixRow, transaction: Transaction, now: datetime, actor: str | None) -> bool:
    existing = transaction.get_prefix(row.prefix)
    if existing is None:
        record = prefix_record(row.prefix, row.texts, changed=now, actor=actor)
        if record.hold is not None:
            holds.require_limited(record.hold.until, now)
        transaction.put_prefix(record)
        return True
    if existing.all_texts == row.texts:
        return False
    differing = next(field for field in RECORDED if existing.all_texts.get(field) != row.texts.get(field))
    raise BindingError(
        "prefix-otherwise",
        Translatable(
            "the record of %(prefix)s has another text in the field %(differing)s",
            prefix=row.prefix,
            differing=differing,
        ),
    )


def _record_setting(row: Setting, transaction: Transaction) -> bool:
    """Store a counter, which never decreases, or the owner of a UUID. Return whether it is new."""
    existing = transaction.setting(row.name)
    if row.name.startswith("next "):
        if existing is not None and int(existing) >= int(row.value):
            return False
    elif existing is not None:
        if existing == row.value:
            return False
        message = Translatable(
            "the UUID %(name)s belongs to %(existing)s", name=row.name[5:], existing=validation.quote(existing, 100)
        )
        raise BindingError(
            "uuid-reused",
            Translatable("%(message)s, not to %(shown)s", message=message, shown=validation.quote(row.value, 100)),
        )
    transaction.set_setting(row.name, row.value)
    return True
