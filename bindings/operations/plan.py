"""The plan of an operation on many names, which :func:`~.plan_names.carry_out` executes, and the result. A name that it
does not concern, such as a withdrawn name in a relocation, is left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks.new_names import ComparedName, changed_value_warnings, successor_warnings_inside, warnings_inside
from ..names.assignment import Change, Outcome
from ..names.binding import NOTHING, Binding
from ..names.errors import BindingError
from ..names.naming import NameWarning

if TYPE_CHECKING:
    from hashlib import _Hash as _Digest

    from ..storage.writing.operations import KeyRange
    from ..storage.writing.transaction import Transaction

MAX_LISTED = 100
"""The maximum number of names in each list of a result. All names are counted."""


class Effect(NamedTuple):
    """The change of one name by an operation on many names. ``outcome`` is such as "relocated". ``before`` is None for
    a new name, and ``after`` the last binding of a deleted one. ``kept`` is the rest of each target that a relocation
    keeps after the replaced beginning, by "target" or by the selector of an alternate.
    """

    outcome: Outcome
    before: Binding | None
    after: Binding
    kept: Mapping[str, str] = NOTHING


class NotedName(NamedTuple):
    """A name that an operation refuses or leaves alone, with the code and the reason in printable ASCII."""

    identifier: str
    code: str
    message: str


@dataclass(slots=True)
class BulkResult:
    """The result of an operation on many names, or of its dry run.

    - ``operation``: the number of the operation; None if nothing was written.
    - ``names``: the number of names that the operation concerns.
    - ``counts``: the number of names with each outcome, such as "relocated".
    - ``unchanged``: the number of names that have the wanted state already.
    - ``refusals``, ``refused``: the number of names whose change is refused, and the first hundred. If a check refuses
      one, nothing is written; a name that is refused since the check is left out.
    - ``others``, ``left_alone``: the number of names that are left alone, and the first hundred.
    - ``warnings``, ``warned``: the number of warnings about new values that are probably wrong, or that another name
      has, and about successors, and the first hundred.
    - ``effects``: those of the first hundred changes whose values the actor sees (:meth:`.Actor.sees`).
    - ``fingerprint``: a digest of all changes; ``is_other`` is true if it is not the expected one.
    - ``written``: False after a dry run, if a name is refused, and if nothing changes.
    """

    operation: int | None = None
    names: int = 0
    counts: Counter[Outcome] = field(default_factory=Counter)
    unchanged: int = 0
    refusals: int = 0
    refused: list[NotedName] = field(default_factory=list)
    others: int = 0
    left_alone: list[NotedName] = field(default_factory=list)
    warnings: int = 0
    warned: list[NotedName] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    fingerprint: str = ""
    is_other: bool = False
    written: bool = False

    @property
    def changed(self) -> int:
        """The number of names that the operation changes: the sum of all ``counts``."""
        return self.counts.total()

    def as_dict(self) -> dict[str, Any]:
        """Return the result of an operation as a JSON object with the fields of this class, without its fingerprint."""
        return {
            "operation": self.operation,
            "written": self.written,
            "names": self.names,
            "counts": dict(self.counts),
            "unchanged": self.unchanged,
            "refusals": self.refusals,
            "refused": [noted._asdict() for noted in self.refused],
            "others": self.others,
            "left_alone": [noted._asdict() for noted in self.left_alone],
            "warnings": self.warnings,
            "warned": [noted._asdict() for noted in self.warned],
            "effects": [
                {
                    "outcome": effect.outcome,
                    "before": effect.before and effect.before.as_dict(),
                    "after": effect.after.as_dict(),
                    **({"kept": dict(effect.kept)} if effect.kept else {}),
                }
                for effect in self.effects
            ],
        }


class PlannedChange(NamedTuple):
    """One name of an operation, and the function that decides about it: it receives the time, and returns a change, the
    reason to leave the name alone, or None for a name outside of the operation. It raises :class:`BindingError` if the
    change is not permitted.
    """

    identifier: str
    before: Binding | None
    decide: Callable[[datetime], Change | NotedName | None]


class Plan(NamedTuple):
    """An operation on many names: which names, and how each changes.

    - ``action``, ``parameters``, ``undoes``: what is recorded about the operation (:class:`.Operation`).
    - ``find``: returns the keys of the names. ``decide``: yields a decision for each of the given keys.
    - ``also``: makes other changes in the same transaction, after those of the names, and returns whether it made any.
      It is not called for a dry run or if a name is refused.
    - ``require``: raises :class:`BindingError` if the operation must not begin, such as a second undo.
    - ``subject``: what else tells two operations with the same parameters apart, or None.
    - ``kept``: returns the rests of the targets of a binding that the operation keeps (:class:`Effect`).
    """

    action: str
    parameters: Mapping[str, Any]
    find: Callable[[Transaction], Iterable[str]]
    decide: Callable[[Transaction, Sequence[str]], Iterator[PlannedChange]]
    undoes: int | None = None
    kept: Callable[[Binding], Mapping[str, str]] = lambda before: NOTHING
    also: Callable[[Transaction, datetime], bool] | None = None
    require: Callable[[Transaction], object] | None = None
    subject: object = None


NO_NAMES = Plan("edit", {}, lambda transaction: (), lambda transaction, keys: iter(()))
"""A plan without names."""


def decide_changes(
    plan: Plan,
    keys: Sequence[str],
    now: datetime,
    transaction: Transaction,
    result: BulkResult,
    digest: _Digest,
    *,
    warns: bool,
) -> list[Change]:
    """Decide about each name at the time ``now``, note outcomes, refusals and warnings in ``result``, and return the
    changes to write. ``digest`` gets what a person compares in a preview. ``warns`` is whether warnings are noted. A
    name that the actor may neither read nor change is left out, except by an undo.
    """
    changes: list[Change] = []
    compared: list[ComparedName] = []
    actor, records = transaction.actor, transaction.prefixes()
    # Most operations have one successor.
    found = cache(lambda name: transaction.look_up([name]))
    look_up: Callable[[list[str]], Mapping[str, Binding]] = lambda names: found(*names)  # noqa: E731
    for identifier, before, decide in plan.decide(transaction, keys):
        is_hidden = before is not None and not (actor.may_read(before) or actor.may_change(identifier))
        if is_hidden and plan.undoes is None:
            # A refusal would tell that the name exists, and what its target begins with.
            continue
        try:
            decision = decide(now)
            if isinstance(decision, Change):
                decision = transaction.permit(before, decision)
                if before is not None:  # an undo records a deleted name again, also with such a character
                    records.require_permitted(before, decision)
        except BindingError as refused:
            error = actor.refusal(identifier, refused)
            result.names += 1
            result.refusals += 1
            if result.refusals <= MAX_LISTED:
                result.refused.append(NotedName(identifier, error.code, error.message))
            continue
        if decision is None:
            continue
        result.names += 1
        if isinstance(decision, NotedName):
            result.others += 1
            if result.others <= MAX_LISTED:
                result.left_alone.append(decision)
        elif decision.action is None:
            result.unchanged += 1
        else:
            changes.append(decision)
            result.counts[decision.outcome] += 1
            digest.update(
                repr((identifier, decision.outcome, _comparison_key(before), _comparison_key(decision.after))).encode()
            )
            if warns and decision.outcome in ("relocated", "updated", "claimed"):
                _warn(result, identifier, changed_value_warnings(before, decision.after))
            elif warns and decision.outcome == "withdrawn":
                successor = decision.after.successor
                _warn(result, identifier, successor_warnings_inside(transaction, identifier, successor, look_up))
            # An undo returns to values that were public.
            is_compared = warns and decision.outcome != "deleted" and plan.undoes is None
            if is_compared and (named := ComparedName.of_change(before, decision.after)):
                compared.append(named)
            is_seen = (before is None or actor.sees(before)) and actor.sees(decision.after)
            if result.changed <= MAX_LISTED and is_seen:
                kept = NOTHING if before is None else plan.kept(before)
                result.effects.append(Effect(decision.outcome, before, decision.after, kept))
    for each, warnings in zip(compared, warnings_inside(transaction, compared), strict=True):
        _warn(result, each.key, warnings)
    return changes


def _comparison_key(binding: Binding | None) -> object:
    """Return what a person compares in a preview: where a name leads, and its state."""
    if binding is None:
        return None
    return binding.target, sorted(binding.alternates.items()), binding.kind, binding.passthrough, binding.status


def _warn(result: BulkResult, identifier: str, warnings: Iterable[NameWarning]) -> None:
    for warning in warnings:
        result.warnings += 1
        if result.warnings <= MAX_LISTED:
            result.warned.append(NotedName(identifier, warning.code, warning.message))


def lock_bindings(transaction: Transaction, keys: Sequence[str], within: KeyRange | None) -> list[Binding]:
    """Return the bindings with these keys, sorted, and lock their rows. ``within`` limits them to a range of keys."""
    bindings = transaction.get(keys).values()
    return sorted((each for each in bindings if within is None or within.includes(each.identifier)), key=_identifier)


_identifier = attrgetter("identifier")
