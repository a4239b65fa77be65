"""Changes of prefix records and rules in a transaction, so that both can change together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from .names import assignment
from .names.errors import BindingError
from .names.fields import redirect_status
from .names.prefixes import prefixes
from .names.prefixes.prefixes import Field
from .names.prefixes.rules import Rule

if TYPE_CHECKING:
    from .storage.writing.transaction import Transaction

Set = Literal["set", "changed", "unchanged"]


def set_record(
    transaction: Transaction,
    key: str,
    texts: Mapping[Field, str],
    now: datetime,
    actor: str | None,
) -> Set:
    """Record checked texts about a prefix in its stored form, as :meth:`Bindings.set_prefix`."""
    existing = transaction.get_prefix(key)
    after = prefixes.changed(existing, key, texts, assignment.later(now, existing.changed) if existing else now, actor)
    if after is existing:
        return "unchanged"
    transaction.put_prefix(after)
    return "changed" if existing else "set"


def remove_record(transaction: Transaction, key: str, now: datetime, actor: str | None) -> Literal["removed"]:
    """Delete the record of a prefix, as :meth:`Bindings.remove_prefix`."""
    existing = transaction.get_prefix(key)
    if existing is None:
        raise BindingError("prefix-unknown", f"{key} has no record; run: ararat prefix list")
    transaction.remove_prefix(key, assignment.later(now, existing.changed), actor)
    return "removed"


def set_rule(transaction: Transaction, key: str, template: str, redirect: int, now: datetime, actor: str | None) -> Set:
    """Set the rule for a prefix in its stored form, as :meth:`Bindings.set_rule`."""
    from .names.prefixes.rule_templates import check_template  # it loads the registries

    stored, status = check_template(template), redirect_status(redirect)
    existing = transaction.get_rule(key)
    if existing and (existing.template, existing.redirect) == (stored, status):
        return "unchanged"
    transaction.put_rule(Rule(key, stored, status, assignment.later(now, existing.changed) if existing else now, actor))
    return "changed" if existing else "set"


def remove_rule(transaction: Transaction, key: str, now: datetime, actor: str | None) -> Literal["removed"]:
    """Delete the rule for a prefix, as :meth:`Bindings.remove_rule`."""
    existing = transaction.get_rule(key)
    if existing is None:
        raise BindingError("rule-unknown", f"no rule is set for {key}; run: ararat rule list")
    transaction.remove_rule(key, assignment.later(now, existing.changed), actor)
    return "removed"
