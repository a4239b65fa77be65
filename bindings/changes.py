"""Changes of several names in one transaction (:meth:`~ararat.bindings.collection.Bindings.change`): all or none, and
only if each name has the expected revision. Each method of ``Bindings`` that changes one name is such a change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ..identifiers.text.translatable import Translatable
from .names import assignment, naming
from .names.assignment import Change, Outcome
from .names.errors import BindingError, BindingsUnavailable, Collision, Missing, Stale
from .names.fields import Fields
from .names.naming import Name, NameWarning, NamingRules

if TYPE_CHECKING:
    from .names.actor import Actor
    from .names.binding import Binding
    from .names.prefixes.prefixes import PrefixRecords
    from .storage.writing.transaction import Transaction

_TRIES = 5

MAX_CHANGES = 1000
"""The maximum number of names in one call."""

Decide = Callable[["Binding | None", datetime], Sequence[Change]]
"""A function that returns the changes of a name, in order. Its arguments are the recorded binding and the time."""


def attempts(where: str, what: str) -> Iterator[AbstractContextManager[None]]:
    """Yield a ``with`` block for each attempt of a change, so that it is repeated if another writer was faster. Leave
    the loop in the block after the change. The last attempt raises :class:`BindingsUnavailable`, whose message names
    the database ``where`` and the changed thing ``what``.
    """
    for number in range(1, _TRIES + 1):
        yield _attempt(where, what, is_last=number == _TRIES)


@contextmanager
def _attempt(where: str, what: str, *, is_last: bool) -> Iterator[None]:
    try:
        yield
    except Collision as collision:
        if is_last:
            message = f"{where}: other writers changed the same {what} {_TRIES} times; try again later"
            raise BindingsUnavailable(message) from collision


class NameChange(NamedTuple):
    """A requested change of one name, for :meth:`.Bindings.change`.

    - ``decide``: returns one or more changes (one for a new name), or raises :class:`BindingError`. It is called again
      if another writer changed the name first.
    - ``revision``: the revision that the name must have, 0 for a name that must not be recorded, None for any.
    - ``is_minted``: whether the name was drawn by the change, so that it has no typing error.
    """

    key: str
    decide: Decide
    revision: int | None = None
    is_minted: bool = False


class ChangeResult(NamedTuple):
    """The result of one :class:`NameChange`. ``before`` is None for a new name, and ``after`` the last binding of a
    deleted one. ``warnings`` are about probable mistakes, if the actor has :func:`.new_names.note_warnings` at the end.
    """

    outcome: Outcome
    before: Binding | None
    after: Binding
    is_minted: bool = False
    warnings: tuple[NameWarning, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether the change recorded the name for the first time."""
        return self.before is None


def save(
    name: Name, fields: Fields, rules: NamingRules, *, revision: int | None = None, relocate: bool = False
) -> NameChange:
    """Request to create a name, or to replace all its fields: a missing one gets its default, except state and
    resource. The request must repeat the recorded resource for a new target; with ``relocate``, the caller decides that
    it is the same.
    """

    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        if existing is None:
            return [assignment.create(fields.for_name(name, rules), now)]
        return assignment.set_fields(name, existing, assignment.replacing(existing, fields), now, relocate=relocate)

    return NameChange(naming.key_of(name), decide, revision)


def patch(name: Name, fields: Fields, *, revision: int | None = None, relocate: bool = False) -> NameChange:
    """Request to change some fields of a name. The others stay. ``relocate`` is that of :func:`save`."""
    return change_recorded(
        name, lambda existing, now: assignment.set_fields(name, existing, fields, now, relocate=relocate), revision
    )


def relocate(name: Name, fields: Fields, *, revision: int | None = None) -> NameChange:
    """Request to change the target of a name for the same resource, and the other ``fields``."""
    return change_recorded(name, lambda existing, now: [assignment.relocate(existing, fields, now)], revision)


def withdraw(
    name: Name, *, reason: str | None = None, successor: str | None = None, revision: int | None = None
) -> NameChange:
    """Request to withdraw a name. ``reason`` and ``successor`` are for its tombstone."""
    return change_recorded(
        name, lambda existing, now: [assignment.withdraw(existing, reason, now, successor)], revision
    )


def restore(
    name: Name, *, resource: str | None = None, is_same: bool = False, revision: int | None = None
) -> NameChange:
    """Request to make a withdrawn name live again. Another ``resource`` than the recorded one is refused, and so is a
    missing one, unless ``is_same``: the caller decides that the thing is the recorded one.
    """

    def decide(existing: Binding, now: datetime) -> Sequence[Change]:
        return [assignment.restore(existing, resource or existing.resource if is_same else resource, now)]

    return change_recorded(name, decide, revision)


def delete(name: Name, *, revision: int | None = None) -> NameChange:
    """Request to delete a reserved name."""
    return change_recorded(name, lambda existing, now: [assignment.delete(existing, now)], revision)


def change_recorded(
    name: Name, decide: Callable[[Binding, datetime], Sequence[Change]], revision: int | None = None
) -> NameChange:
    """Request a change of a name that must be recorded, or else it raises :class:`Missing`. ``decide`` receives the
    recorded binding and the current time.
    """
    key = naming.key_of(name)

    def decide_recorded(existing: Binding | None, now: datetime) -> Sequence[Change]:
        if existing is None:
            raise Missing("not-bound", identifier=key)
        return decide(existing, now)

    return NameChange(key, decide_recorded, revision)


@contextmanager
def at_item(number: int) -> Iterator[None]:
    """Add the position of a name in a list of changes, from 0, to each :class:`BindingError` in a ``with`` block."""
    try:
        yield
    except BindingError as error:
        if error.item is None:
            error.item = number
        raise


def require_few(count: int) -> None:
    """Raise :class:`BindingError` (``changes-count``) for more than :data:`MAX_CHANGES` changes in one request."""
    if count > MAX_CHANGES:
        raise BindingError("changes-count", Translatable("one call has %(count)s names", count=count))


def require_distinct(name_changes: Sequence[NameChange]) -> None:
    """Raise :class:`BindingError` with the code ``name-twice`` if two of ``name_changes`` concern the same name."""
    for key, count in Counter(each.key for each in name_changes).most_common(1):
        if count > 1:
            raise BindingError("name-twice", identifier=key)


def require_granted(name_changes: Iterable[NameChange], actor: Actor) -> None:
    """Raise :class:`BindingError` (``not-granted``) if an actor cannot change one of the names. Nothing is read before,
    so that the answer does not depend on names of others.
    """
    for number, each in enumerate(name_changes):
        with at_item(number):
            actor.require_granted(each.key)


def make(
    transaction: Transaction,
    name_changes: Sequence[NameChange],
    now: datetime,
    operation: int | None = None,
) -> list[ChangeResult]:
    """Write the changes of several names in a transaction, and return their results in order. Raises :class:`Stale` if
    a name has another revision than expected, and what the changes raise when they are decided.
    """
    bindings = transaction.get([each.key for each in name_changes])
    records: PrefixRecords | None = None
    results: dict[str, ChangeResult] = {}
    changes: list[Change] = []
    # Two transactions with the same names write them in the same order, so that neither waits for the other.
    for number in sorted(range(len(name_changes)), key=lambda number: name_changes[number].key):
        each = name_changes[number]
        before = bindings.get(each.key)
        steps: list[Change] = []
        current = before
        with at_item(number):
            if each.revision not in (None, before.revision if before else 0):
                raise _stale(each, before)
            for step in each.decide(before, now):
                checked = transaction.permit(current, step)
                if current is None or current.is_reserved:
                    records = records or transaction.prefixes()
                    records.require_permitted(current, checked)
                steps.append(checked)
                current = checked.after
        changes += (step for step in steps if step.action)
        results[each.key] = ChangeResult(_outcome(steps), before, steps[-1].after, each.is_minted)
    if changes:
        # The history of a deleted name goes on, so its next revision is known only now.
        written_changes = transaction.put(changes, transaction.actor.name, [None] * len(changes), operation)
        if operation is not None:
            transaction.written += written_changes
        for written in written_changes:
            key = written.after.identifier
            if key in results:
                results[key] = results[key]._replace(after=written.after)
    result = [results[each.key] for each in name_changes]
    transaction.result = result
    return result


def _stale(change: NameChange, existing: Binding | None) -> Stale:
    """Return the error of a name that has another revision than the change expects."""
    if existing is None:
        message = Translatable(
            "the name has no binding, and the change expects the revision %(expected)s", expected=change.revision
        )
    elif change.revision:
        message = Translatable(
            "the name has the revision %(recorded)s, and the change expects the revision %(expected)s",
            recorded=existing.revision,
            expected=change.revision,
        )
    else:
        message = Translatable(
            "the name has the revision %(recorded)s, and the change expects none", recorded=existing.revision
        )
    return Stale(change.key, message, existing)


def _outcome(steps: Sequence[Change]) -> Outcome:
    """Return the outcome of the change of the state, or else of the first change that is written."""
    written = [step for step in steps if step.action]
    of_state = [step for step in written if step.outcome in ("withdrawn", "restored")]
    return (of_state or written)[0].outcome if written else "unchanged"
