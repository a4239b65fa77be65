"""Undo an operation or the last change of a name. An undo adds changes to the history and removes none.

- A name gets back its earlier values. It keeps its resource.
- A name that was new is withdrawn, because a public name is never deleted. A new reserved name is deleted.
- A public name that is new in an import that mints names is hidden: it is reserved, without metadata, and keeps its
  resource. A second import of the row finds it again.
- A reserved name that was published is reserved again. It answers 410, because it was public (decision I-08).
- A name that changed since then is refused, or left alone on request.
- An undo is an operation. To undo it repeats the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import naming
from ..names.actor import Actor
from ..names.assignment import Change, Outcome, hide, later, leads_elsewhere, next_revision, publish_again
from ..names.binding import Action, Binding
from ..names.errors import BindingError
from ..names.fields import Fields
from ..names.naming import Name
from ..names.operation import KINDS
from .plan import BulkResult, NotedName, Plan, PlannedChange
from .plan_names import carry_out

if TYPE_CHECKING:
    from ..storage.writing.operations import OperationEffect
    from ..storage.writing.transaction import Transaction

_CHANGED = Translatable("the name was changed since then")
_PUBLIC = Translatable("the name was public once, so it is never deleted")
_KEPT = Translatable("the resource was recorded, and a recorded resource never changes")


def undo_operation(
    bindings: Bindings,
    number: int,
    *,
    skip_changed: bool = False,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Undo an operation, such as an import: its names get back their earlier targets, metadata and states.

    With ``skip_changed`` names that were changed since then are left alone; otherwise they are refused, and nothing is
    written. Rules and counters of an import stay. The other arguments and the errors are those of
    :func:`~ararat.bindings.operations.plan_names.carry_out`. Raises :class:`BindingError` with the code
    ``operation-unknown``, ``operation-undone`` or ``operation-running`` (end it first:
    :func:`~ararat.bindings.operations.runner.stop_operation`).

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from .relocation import relocate_prefix
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> b.bind("ark:12345/x1", "https://old.example/1"), relocate_prefix(b, "old.example", "new.example").operation
    ('bound', 1)
    >>> undo_operation(b, 1).operation, b.lookup("ark:12345/x1").target
    (2, 'https://old.example/1')
    >>> undo_operation(b, 2).operation, b.lookup("ark:12345/x1").target
    (3, 'https://new.example/1')
    >>> b.close(); folder.cleanup()
    """

    plan = undo_plan(number, skip_changed=skip_changed)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)


def undo_plan(number: int, *, skip_changed: bool = False) -> Plan:
    """Return the plan that undoes an operation. With ``skip_changed``, names that were changed since then are left
    alone.
    """

    def find(transaction: Transaction) -> Iterator[str]:
        undo = transaction.operations.get(number).undone_by
        # The same command continues an undo that was interrupted.
        if undo is None or not transaction.operations.is_running(undo):
            transaction.operations.require_undoable(number)
        return transaction.operations.keys_of(number)

    plan = Plan("undo", {"operation": number}, find, _decide(number, None, skip_changed=skip_changed), undoes=number)
    return plan._replace(require=lambda transaction: transaction.operations.require_undoable(number))


def undo_change(
    bindings: Bindings,
    identifier: Name,
    *,
    revision: int | None = None,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
) -> BulkResult:
    """Undo the last change of a name, as an operation on one name. If ``revision`` is not the revision of the last
    change, the name is refused. Raises :class:`BindingError` (``not-bound``) for a name without a history, and like
    :func:`~ararat.bindings.operations.plan_names.carry_out`.
    """
    key = naming.key_of(identifier)

    def find(transaction: Transaction) -> Iterator[str]:
        from ..storage.tables.keys import index_key

        if not transaction.operations.effects([index_key(key)], None):
            raise BindingError("not-bound", identifier=key)
        return iter([index_key(key)])

    parameters = {"name": key, "revision": revision}
    plan = Plan("undo", parameters, find, _decide(None, revision, skip_changed=False))
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor)


def _decide(
    number: int | None, revision: int | None, *, skip_changed: bool
) -> Callable[[Transaction, Sequence[str]], Iterator[PlannedChange]]:
    def each(transaction: Transaction, keys: Sequence[str]) -> Iterator[PlannedChange]:
        from ..storage.tables.keys import index_key

        effects = transaction.operations.effects(keys, number)
        is_minted = number is not None and _hides_new(transaction, number)
        current = {index_key(binding.identifier): binding for binding in transaction.get(keys).values()}
        changed = [key for key in keys if not _is_same(effects[key].after, current.get(key))]
        later_operations = transaction.operations.last_of(changed) if changed else {}
        for key in keys:
            event, now_recorded = effects[key], current.get(key)
            last_binding = now_recorded or event.after or event.before
            identifier = last_binding.identifier if last_binding else key
            is_other = revision is not None and event.revision != revision

            def decide(
                now: datetime,
                identifier: str = identifier,
                event: OperationEffect = event,
                current: Binding | None = now_recorded,
                is_other: bool = is_other,
                is_minted: bool = is_minted,
                by: int | None = later_operations.get(key),
            ) -> Change | NotedName | None:
                if is_other or not _is_same(event.after, current):
                    why = _CHANGED
                    if by is not None and not is_other:
                        why = Translatable(
                            "the name was changed since then by the operation %(operation)s; undo that operation first",
                            operation=str(by),
                        )
                    if skip_changed:
                        return NotedName(identifier, "undo-changed", why)
                    raise BindingError("undo-changed", why, identifier=identifier)
                if is_minted and event.before is None and current is not None and not current.is_reserved:
                    return hide(current, _blank(identifier, now), now)
                return _reverse(event.before, current, now)

            yield PlannedChange(identifier, now_recorded, decide)

    return each


def _hides_new(transaction: Transaction, number: int) -> bool:
    """Return whether the undo of an operation hides its new public names, instead of withdrawing them."""
    undone = transaction.operations.get(number)
    return any(kind.hides_new(undone.parameters) for kind in KINDS.values() if kind.action == undone.action)


def _blank(identifier: str, now: datetime) -> Binding:
    """Return a reserved name without values."""
    # Not each recorded name could be bound now, such as one below the NAAN of tests.
    return replace(
        Fields(kind="described", status="reserved").for_name("ark:12345/x").create_binding(now), identifier=identifier
    )


def _is_same(after: Binding | None, current: Binding | None) -> bool:
    """Return whether a name has the values of an event, at any time and revision, and also if it was hidden since
    then.
    """
    if after is None or current is None:
        return after is current
    same = replace(current, changed=after.changed, revision=after.revision, once_public=after.once_public)
    return after == same


def _reverse(before: Binding | None, current: Binding | None, now: datetime) -> Change | NotedName | None:
    """Return the change that gives a name the values ``before``, as far as a name can change."""
    if current is None:
        if before is None:
            return None  # the operation reserved the name and deleted it
        # A name whose date of publication has passed meanwhile does not become public by an undo.
        embargo = before.embargo if before.at(now) is before else None
        again = replace(before, revision=1, changed=later(now, before.recorded_at), recorded=None, embargo=embargo)
        return Change("reserved", again, "reserved")
    if current.is_reserved:
        if before is None and current.is_hidden:
            return NotedName(current.identifier, "delete-public", _PUBLIC)
        if before is None:
            return Change("deleted", next_revision(current, current, now), "deleted")
        if not before.is_reserved:
            return publish_again(current, before, now)
        if before.at(now) is not before:
            return NotedName(current.identifier, "embargo-past", Translatable("its date of publication is past"))
        outcome = "relocated" if leads_elsewhere(current, before) else "updated"
        kept = replace(before, resource=current.resource) if current.is_hidden else before
        return Change(outcome, next_revision(current, replace(kept, once_public=current.once_public), now), "updated")
    if before is not None and before.is_reserved:
        return hide(current, before, now)
    if before is None:
        target_state = replace(current, status="withdrawn")
    else:
        target_state = replace(
            before,
            resource=current.resource,
            spelling=current.spelling,
            created=current.created,
            changed=current.changed,
            once_public=current.once_public,
        )
    target_state = replace(target_state, changed=current.changed, revision=current.revision)
    if target_state == current:
        if before is not None and before.resource != current.resource:
            return NotedName(current.identifier, "undo-resource", _KEPT)
        return Change("unchanged", current, None)
    action = _action(current, target_state)
    return Change(_OUTCOMES[action], next_revision(current, target_state, now), action)


_OUTCOMES: dict[Action, Outcome] = {
    "withdrawn": "withdrawn",
    "restored": "restored",
    "relocated": "relocated",
    "updated": "updated",
}


def _action(current: Binding, result: Binding) -> Action:
    if current.status != result.status:
        return "withdrawn" if result.is_withdrawn else "restored"
    # A change of the passthrough of many names is an update, and so is its undo.
    same = replace(result, passthrough=current.passthrough)
    return "relocated" if leads_elsewhere(current, same) else "updated"
