"""The fields of a name that a request can set, and the changes that they cause. Pure: no store, no clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ...bindings.names import assignment, targets, validation
from ...bindings.names.assignment import Change, Outcome
from ...bindings.names.binding import REDIRECTS, STATUSES, Binding, Status
from ...bindings.names.errors import BindingError
from ...bindings.names.metadata import metadata as elements
from ...bindings.names.naming import Name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The fields that a request sets. None means not given.

    - ``state``: "live", "reserved" or "withdrawn".
    - ``reason``, ``successor``: belong to the state "withdrawn".
    - ``metadata``, ``alternates``: an empty text deletes an element.
    - The other fields are those of :meth:`Bindings.bind`.
    """

    target: str | None = None
    kind: str | None = None
    state: Status | None = None
    resource: str | None = None
    metadata: Mapping[str, str] | None = None
    alternates: Mapping[str, str] | None = None
    passthrough: bool | None = None
    redirect: int | None = None
    scope: str | None = None
    reason: str | None = None
    successor: str | None = None


NOTHING_GIVEN = Fields()
"""No field. A new name is live, and its description is the answer."""


class NewName(NamedTuple):
    """A name to create: the name itself, or a NAAN or shoulder below which it is minted. One of the two is None.

    ``fields`` can be a function that returns the fields of the minted name; it is called with the key.
    """

    fields: Fields | Callable[[str], Fields] = NOTHING_GIVEN
    name: Name | None = None
    shoulder: str | None = None


class Saved(NamedTuple):
    """A name after a request. ``is_new`` is whether the name was not recorded before."""

    binding: Binding
    outcome: Outcome
    is_new: bool = False


def etag(binding: Binding) -> str:
    """Return the strong entity tag of a name, with its quotation marks. It changes with each revision.

    >>> from datetime import UTC, datetime
    >>> from ararat.bindings.names.assignment import propose
    >>> etag(propose("ark:12345/x", "/x").first(datetime(2026, 11, 23, tzinfo=UTC)))
    '"1-660e646648000"'
    """
    return f'"{binding.revision}-{(binding.changed - _EPOCH) // _MICROSECOND:x}"'


def first(identifier: Name, fields: Fields, now: datetime) -> Change:
    """Return the first change of a name: "bound", "reserved" or "withdrawn"."""
    return assignment.bind(None, _proposal(identifier, fields, _state(fields) or "live"), now)


def replacing(existing: Binding, fields: Fields) -> Fields:
    """Return the fields that replace all values of a recorded name. Its state and resource stay if not given."""

    # Elements and alternates have several spellings, so they are compared in their stored form.
    metadata = elements.check(fields.metadata or {}, deletions=True)
    alternates = targets.check_alternates(fields.alternates or {}, "located", deletions=True)
    return replace(
        fields,
        kind=_kind(fields),
        metadata={**dict.fromkeys(existing.metadata, ""), **metadata},
        alternates={**dict.fromkeys(existing.alternates, ""), **alternates},
        passthrough=bool(fields.passthrough),
        redirect=fields.redirect or REDIRECTS[0],
        scope=fields.scope or "name",
    )


def steps(identifier: Name, existing: Binding, fields: Fields, now: datetime, *, relocate: bool) -> Sequence[Change]:
    """Return the changes that set the fields of a recorded name.

    With ``relocate``, the caller decides that a new place leads to the same resource. Raises :class:`BindingError`.
    """
    state = _state(fields) or existing.status
    if state == "reserved" and not existing.is_reserved:
        return [assignment.reserve(existing, _proposal(identifier, Fields(), "reserved"), now)]  # a conflict
    if existing.is_reserved or state == existing.status == "withdrawn":
        return _in_state(identifier, existing, fields, state, now)
    made: list[Change] = []
    if existing.is_withdrawn:
        made.append(assignment.restore(existing, fields.resource or existing.resource, now))
        existing = made[0].after
    stated = replace(fields, reason=None, successor=None) if state == "withdrawn" else fields
    proposal = _proposal(identifier, _with_place(stated, existing), "live")
    made.append(assignment.bind(existing, proposal, now, decided=relocate))
    if state == "withdrawn":
        made.append(assignment.withdraw(made[-1].after, fields.reason, now, fields.successor))
    return made


def _in_state(identifier: Name, existing: Binding, fields: Fields, state: Status, now: datetime) -> Sequence[Change]:
    """Return the changes of a reserved name, or of a withdrawn name that stays withdrawn."""
    proposal = _proposal(identifier, _with_place(fields, existing), state)
    change = assignment.bind(existing, proposal, now)
    after = change.after
    if after.is_reserved and fields.kind == "described" and after.target is not None:
        # A reservation without a target keeps the recorded one. This request removes it.
        removed = assignment.moved_to(after, replace(after, target=None, kind="described"), now)
        return [change, removed]
    return [change]


def _with_place(fields: Fields, existing: Binding) -> Fields:
    """Return the fields with the recorded target and kind, where the request has none."""
    kind = fields.kind or (existing.kind if fields.target is None or existing.target is not None else "located")
    target = existing.target if fields.target is None and kind != "described" else fields.target
    return replace(fields, kind=kind, target=target)


def _state(fields: Fields) -> Status | None:
    if fields.state is not None and fields.state not in STATUSES:
        raise BindingError("list-state", f"the state {validation.shown(fields.state)} does not exist")
    return fields.state


def _kind(fields: Fields) -> str:
    return fields.kind or ("described" if fields.target is None else "located")


def _proposal(identifier: Name, fields: Fields, state: Status) -> assignment.Proposal:
    return assignment.propose(
        identifier,
        fields.target,
        kind=_kind(fields),
        status=None if state == "live" else state,
        redirect=fields.redirect,
        resource=fields.resource,
        passthrough=fields.passthrough,
        scope=fields.scope,
        alternates=fields.alternates,
        metadata=fields.metadata,
        reason=fields.reason,
        successor=fields.successor,
    )
