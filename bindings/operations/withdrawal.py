"""Withdraw a name with all names below it, and restore many names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...identifiers.text.translatable import Translatable
from ..collection import Bindings
from ..names import assignment, validation
from ..names.actor import Actor
from ..names.assignment import Change
from ..names.binding import Binding
from ..names.errors import BindingError
from ..names.fields import MAX_REASON, check_successor
from ..names.naming import Name
from .plan import BulkResult, NotedName, Plan, PlannedChange, lock_bindings
from .plan_names import carry_out
from .relocation import container

if TYPE_CHECKING:
    from ..storage.writing.operations import KeyRange
    from ..storage.writing.transaction import Transaction

_Decide = Callable[[Binding, datetime], Change | NotedName]
_Find = Callable[["Transaction"], Iterable[str]]


def withdraw_below(
    bindings: Bindings,
    identifier: Name,
    *,
    reason: str | None = None,
    successor: str | None = None,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Withdraw an ARK and all ARKs below it: those that continue with a slash or a dot. The ARK itself need not be
    bound.

    ``reason`` and ``successor`` are as in :meth:`.Bindings.withdraw`. Reserved names are left alone. So are names that
    are withdrawn already, so that their reasons stay. The other arguments and the errors are those of
    :func:`~ararat.bindings.operations.plan_names.carry_out`. Raises :class:`BindingError` with the code
    ``nothing-below`` for a URN, and ``successor-itself`` for a successor that would be withdrawn too.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> folder = tempfile.TemporaryDirectory()
    >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> [b.bind(name, "/1") for name in ("ark:12345/x", "ark:12345/x/1", "ark:12345/x.pdf", "ark:12345/x1")]
    ['bound', 'bound', 'bound', 'bound']
    >>> withdraw_below(b, "ark:12345/x", reason="deaccessioned").counts["withdrawn"], b.lookup("ark:12345/x1").status
    (3, 'live')
    >>> b.close(); folder.cleanup()
    """
    key = container(identifier)
    if reason is not None:
        validation.check(reason, "reason-text", Translatable("Reason"), MAX_REASON)
    parameters = {"reason": reason}
    if successor is not None:
        stored = parameters["successor"] = check_successor(key, successor)
        if stored.startswith((f"{key}/", f"{key}.")):
            message = Translatable(
                "the successor %(stored)s is one of the withdrawn names", stored=validation.quote(stored)
            )
            raise BindingError("successor-itself", message, identifier=key)

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if binding.is_reserved:
            return NotedName(binding.identifier, "reserved", Translatable("the name is reserved and not public"))
        if binding.is_withdrawn:
            return NotedName(binding.identifier, "withdrawn", Translatable("the name is withdrawn already"))
        return assignment.withdraw(binding, reason, now, successor)

    plan = _plan_below("withdraw", key, parameters, decide)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)


def restore_below(
    bindings: Bindings,
    identifier: Name,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Make an ARK and all ARKs below it live again after any withdrawal, for their recorded resources. Raises like
    :func:`withdraw_below`. :func:`restore_withdrawn` and :func:`~ararat.bindings.operations.undo.undo_operation`
    restore those of one operation.
    """
    key = container(identifier)
    plan = _plan_below("restore", key, {}, _restore)
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)


def restore_withdrawn(
    bindings: Bindings,
    operation: int,
    *,
    atomic: bool = False,
    dry_run: bool = False,
    actor: Actor | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> BulkResult:
    """Restore the names that an operation withdrew, such as an import. A name that was restored and withdrawn again
    since then stays withdrawn. Raises :class:`BindingError` (``operation-unknown``), and like
    :func:`~ararat.bindings.operations.plan_names.carry_out`.
    """

    def find(transaction: Transaction) -> Iterator[str]:
        transaction.operations.get(operation)
        return transaction.operations.keys_withdrawn_by(operation)

    plan = Plan("restore", {"operation": operation}, find, _each(_restore))
    return carry_out(bindings, plan, atomic=atomic, dry_run=dry_run, actor=actor, progress=progress)


def _restore(binding: Binding, now: datetime) -> Change | NotedName:
    if binding.is_reserved:
        return NotedName(binding.identifier, "reserved", Translatable("the name is reserved and not public"))
    return assignment.restore(binding, binding.resource, now)


def _plan_below(action: str, key: str, parameters: Mapping[str, Any], decide: _Decide) -> Plan:
    from ..storage.writing.operations import KeyRange

    keys = KeyRange(key, is_below=True)
    find: _Find = lambda transaction: transaction.operations.keys_in(keys)  # noqa: E731
    return Plan(action, {"below": key, **parameters}, find, _each(decide, keys))


def _each(
    decide: _Decide, within: KeyRange | None = None
) -> Callable[[Transaction, Sequence[str]], Iterator[PlannedChange]]:
    def decide_each(transaction: Transaction, keys: Sequence[str]) -> Iterator[PlannedChange]:
        for binding in lock_bindings(transaction, keys, within):
            yield PlannedChange(binding.identifier, binding, lambda now, known=binding: decide(known, now))

    return decide_each
