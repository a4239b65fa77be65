"""The operations on selected names: edit fields, publish, move, withdraw, restore, delete, hold and release. Each is a
:class:`~.plan.Plan`. Names that it does not concern are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ...identifiers.ark.grammar import RESERVED_NAAN
from ...identifiers.text.translatable import Translatable
from ..names import assignment, validation
from ..names.assignment import Change
from ..names.binding import rfc3339
from ..names.errors import BindingError
from ..names.fields import MAX_REASON, Fields, check_successor
from ..names.metadata import metadata
from ..names.prefixes import holds
from ..storage.tables.keys import index_key
from .plan import NotedName, Plan, PlannedChange, lock_bindings
from .relocation import Rewriting

if TYPE_CHECKING:
    from ..names.binding import Binding
    from ..storage.writing.transaction import Transaction

_Decide = Callable[["Binding", datetime], "Change | NotedName | None"]

EDITED = ("metadata", "resource", "redirect", "listed", "embargo")
"""The fields that :func:`edit` can set. A new target is a move, and a new state has its own operation."""

_STATES = {
    "live": Translatable("the name is live"),
    "reserved": Translatable("the name is reserved"),
    "withdrawn": Translatable("the name is withdrawn"),
}


def edit(fields: Fields) -> Plan:
    """Return the plan of an operation that sets the stated fields of many names. Withdrawn names are left alone, and
    with an ``embargo`` all but reserved ones. Raises :class:`BindingError` with the code ``edit-fields`` for other
    fields than :data:`EDITED`, and with those of metadata.
    """
    values = {name: value for name, value in fields._asdict().items() if value not in (None, "")}
    if fields.embargo is not None:
        values["embargo"] = fields.embargo and rfc3339(validation.instant(fields.embargo))
    if not values or values.keys() - set(EDITED):
        raise BindingError("edit-fields", Translatable("an edit of many names sets %(names)s", names=", ".join(EDITED)))
    if fields.metadata is not None:
        values["metadata"] = dict(metadata.check(fields.metadata, deletions=True))

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if binding.is_withdrawn:
            return NotedName(binding.identifier, "withdrawn", Translatable("the name is withdrawn"))
        if fields.embargo is not None and not binding.is_reserved:
            return NotedName(binding.identifier, "not-reserved", _STATES[binding.status])
        checked = assignment.with_recorded_place(fields, binding)
        checked = checked._replace(status="reserved" if binding.is_reserved else None)
        return assignment.bind(binding, checked.for_key(binding.identifier), now)

    return plan_of_selected("edit", values, decide)


def publish() -> Plan:
    """Return the plan of an operation that makes reserved names live. Live and withdrawn names are left alone."""

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if not binding.is_reserved:
            return NotedName(binding.identifier, "not-reserved", _STATES[binding.status])
        request = assignment.with_recorded_place(Fields(status="live", spelling=binding.spelling), binding)
        return assignment.bind(binding, request.for_key(binding.identifier), now)

    return plan_of_selected("publish", {}, decide)


def move(source: str, destination: str) -> Plan:
    """Return the plan of an operation that replaces the beginning of targets (:func:`~.relocation.relocate_prefix`)."""
    rewriting = Rewriting.of(source, destination)
    plan = plan_of_selected("relocate", {"from": source, "to": destination}, rewriting.change)
    return plan._replace(kept=rewriting.suffixes)


def follow(urls: Mapping[str, tuple[str, str]]) -> Plan:
    """Return the plan of an operation that replaces targets by the URLs to which they redirect. ``urls`` maps each name
    to its target when it was traced, and the new one. A name that has another target now, or is not live, is left
    alone.
    """

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        traced, url = urls[binding.identifier]
        if not binding.is_live or binding.target != traced:
            return NotedName(binding.identifier, "undo-changed", Translatable("the name was changed since the trace"))
        return assignment.relocate(binding, Fields(target=url), now)

    plan = plan_of_selected("relocate", {"names": len(urls)}, decide)
    return plan._replace(
        find=lambda transaction: iter([index_key(each) for each in urls]), subject=sorted(urls.items())
    )


def withdraw(reason: str | None = None, successor: str | None = None) -> Plan:
    """Return the plan of an operation that withdraws live names. A name that is its own successor is refused."""
    if reason is not None:
        validation.check(reason, "reason-text", Translatable("Reason"), MAX_REASON)
    if successor is not None:
        try:
            # What no name can have. Each name is checked again: only a test can be replaced by a test.
            check_successor(RESERVED_NAAN, successor)
        except BindingError as error:
            error.identifier = None
            raise

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if not binding.is_live:
            return NotedName(binding.identifier, binding.status, _STATES[binding.status])
        return assignment.withdraw(binding, reason, now, successor)

    return plan_of_selected("withdraw", {"reason": reason, "successor": successor}, decide)


def restore() -> Plan:
    """Return a plan that makes the withdrawn ones of the selected names live again. The runner reads the names and
    passes them to the plan.
    """

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if not binding.is_withdrawn:
            return NotedName(binding.identifier, "not-withdrawn", _STATES[binding.status])
        return assignment.restore(binding, binding.resource, now)

    return plan_of_selected("restore", {}, decide)


def delete() -> Plan:
    """Return the plan of an operation that deletes reserved names. A name that is or was public is left alone."""

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if not binding.is_reserved or binding.is_hidden:
            return NotedName(
                binding.identifier, "delete-public", Translatable("the name is or was public, so it is never deleted")
            )
        return assignment.delete(binding, now)

    return plan_of_selected("delete", {}, decide)


def hold(until: str, reason: str) -> Plan:
    """Return the plan of an operation that puts live and reserved names on hold, or changes their holds. ``until`` is
    the last day of the hold in UTC, or its end in RFC 3339. Raises :class:`BindingError` (``hold-until``,
    ``hold-reason``).
    """
    end = holds.read_end(until)
    validation.check(reason, "hold-reason", Translatable("Reason of the hold"), MAX_REASON)

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if binding.is_withdrawn:
            return NotedName(binding.identifier, "withdrawn", _STATES["withdrawn"])
        return assignment.hold(binding, end, reason, now)

    return plan_of_selected("hold", {"until": rfc3339(end), "reason": reason}, decide)


def release() -> Plan:
    """Return the plan of an operation that ends the holds of names, but not those of names or prefixes above."""

    def decide(binding: Binding, now: datetime) -> Change | NotedName:
        if binding.hold_until is None:
            return NotedName(binding.identifier, "hold-missing", Translatable("the name has no hold of its own"))
        return assignment.release(binding, now)

    return plan_of_selected("release", {}, decide)


def plan_of_selected(action: str, parameters: Mapping[str, Any], decide: _Decide) -> Plan:
    """Return the plan of an operation on selected names. ``decide`` returns the change of each, or the reason to leave
    it alone. ``action`` and ``parameters`` are recorded.
    """

    def each(transaction: Transaction, keys: Sequence[str]) -> Iterator[PlannedChange]:
        for binding in lock_bindings(transaction, keys, None):
            yield PlannedChange(binding.identifier, binding, lambda now, known=binding: decide(known, now))

    return Plan(action, parameters, lambda transaction: iter(()), each)
