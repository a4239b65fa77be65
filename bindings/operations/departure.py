"""The departure of an institution: its prefix is retired, and all its names lead to another resolver. Each name gets
the target that a template makes for it, in one operation that can be undone. The rule of the prefix gets the same
template, for names which are not bound here. The addresses of a delegation are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ...identifiers.text.translatable import Translatable
from .. import prefix_changes
from ..collection import Bindings
from ..names import assignment
from ..names.actor import Actor
from ..names.assignment import Change
from ..names.prefixes import delegation, prefixes
from ..names.prefixes.rules import Rule
from .plan import BulkResult, NotedName, Plan, PlannedChange, lock_bindings
from .plan_names import carry_out

if TYPE_CHECKING:
    from ..names.binding import Binding
    from ..storage.writing.transaction import Transaction


def depart(
    bindings: Bindings,
    prefix: str,
    resolver: str,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
    expected: str | None = None,
) -> BulkResult:
    """Retire a NAAN or shoulder, and move the targets of its names to another resolver.

    ``resolver`` is the address to which each name is appended, or a template with a variable. Names without a target
    and withdrawn ones stay. Alternate targets are deleted, because the other resolver has them. An undo of the
    operation moves the targets back; the prefix stays retired, and keeps its rule. The other arguments and the errors
    are those of :func:`~.plan_names.carry_out`. Further codes are ``rule-prefix``, ``rule-template``,
    ``prefix-address`` and ``not-granted``.
    """
    from ..names import selection
    from ..names.prefixes.rule_templates import check_template  # it loads the registries
    from ..storage.writing.operations import KeyRange

    key = prefixes.check_prefix(prefix, bindings.naming)
    template = resolver if "$" in resolver else f"{delegation.check_resolver(resolver)}/${{pid:given}}"
    rule = Rule(key, check_template(template), 302, bindings.now(), None)
    keys = KeyRange(selection.beginning(key))
    who = Actor.of(actor)
    who.require_granted(key)

    def decide(transaction: Transaction, names: Sequence[str]) -> Iterator[PlannedChange]:
        for binding in lock_bindings(transaction, names, keys):
            yield PlannedChange(binding.identifier, binding, lambda now, known=binding: _move_away(known, rule, now))

    def retire(transaction: Transaction, now: datetime) -> bool:
        texts: dict[str, str] = {"state": "retired", "resolver": "", "minter": "", "about": ""}
        outcomes = {
            prefix_changes.set_record(transaction, key, texts, now, who.name),
            prefix_changes.set_rule(transaction, key, rule.template, rule.redirect, now, who.name),
        }
        return outcomes != {"unchanged"}

    def find(transaction: Transaction) -> Iterator[str]:
        return transaction.operations.keys_in(keys)

    plan = Plan("relocate", {"prefix": key, "resolver": rule.template}, find, decide, also=retire)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=who, progress=progress, expected=expected)


def _move_away(binding: Binding, rule: Rule, now: datetime) -> Change | NotedName:
    if binding.is_withdrawn:
        return NotedName(binding.identifier, "withdrawn", Translatable("the name is withdrawn"))
    if binding.target is None:
        return NotedName(
            binding.identifier, "target-missing", Translatable("the name has no target, and keeps its description")
        )
    binding_by_rule = rule.binding(binding.identifier, binding.spelling)
    if binding_by_rule is None or binding_by_rule.target is None:
        return NotedName(
            binding.identifier, "rule-template", Translatable("the template makes no address for this name")
        )
    return assignment.moved_away(binding, binding_by_rule.target, now)
