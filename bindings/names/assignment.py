"""The rules for assigning names: which names can be bound, and how a binding can change. Pure: no clock, no store. The
API, the command line and imports all change names through these functions, which return a :class:`Change` or raise.

    "ARKs MUST NOT be re-assigned; that is, once an ARK-to-resource association has been made public, that association
    MUST be considered unique into the indefinite future."              (17beta policy, section 3; ARK-085, POL-023)

- A name keeps its resource. A new :data:`~.binding.PLACE` (a relocation) requires the recorded resource.
- If no resource is recorded, only :func:`relocate` moves the name: a person must decide that the resource is the same.
- To record the first resource is a separate change, "claimed", which cannot be combined with a relocation.
- A withdrawn name remains recorded, and no public name is ever deleted.
- A reserved name is not public: it can be deleted, and every part of it can change. One that was public once
  (:attr:`.Binding.is_hidden`) cannot be deleted, and keeps its resource and spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ...identifiers.text.translatable import Translatable
from . import targets, validation
from .binding import PLACE, Action, Binding, Status, utc_seconds
from .errors import BindingConflict, BindingError
from .fields import (
    DEFAULTS,
    FIELDS,
    MAX_REASON,
    Fields,
    check_status,
    check_successor,
    check_target,
    require_scope,
)
from .metadata import metadata as elements
from .metadata import numbers
from .naming import RECORDED, Name
from .passthrough import can_append
from .prefixes import holds

Outcome = Literal[
    "bound",
    "unchanged",
    "exists",
    "updated",
    "claimed",
    "relocated",
    "withdrawn",
    "restored",
    "redacted",
    "reserved",
    "deleted",
    "hidden",
    "published",
    "held",
    "released",
]


class Change(NamedTuple):
    """A permitted change of one name. ``outcome`` is for the caller, such as "claimed", and ``after`` the new binding.
    ``action`` is for the history, such as "updated"; it is None if nothing is written.
    """

    outcome: Outcome
    after: Binding
    action: Action | None

    @property
    def is_new(self) -> bool:
        """Whether this is the first change of the name, which was never bound or reserved before."""
        return self.after.revision == 1


def bind(
    existing: Binding | None, fields: Fields, now: datetime, *, decided: bool = False, publish: bool = True
) -> Change:
    """Decide how a request changes the binding of a name; ``existing`` is None for a new name (ARK-085, POL-023,
    URN-002).

    With ``decided``, a person decided that a new place has the same resource. Without ``publish``, a reserved name
    stays reserved unless the request states "live" (I-09). Raises :class:`BindingConflict` for any change other than:

    - "bound": the name is new, or was reserved. "reserved", "withdrawn": the request states this status.
    - "relocated": the place (:data:`~.binding.PLACE`) is new, and the request repeats the recorded resource.
    - "claimed": the request states the first resource, and no new place.
    - "updated": only other fields differ (metadata, redirect), or fields of a name that stays reserved.
    - "unchanged": nothing differs.
    """
    if fields.hold_until is not None and (existing is None or existing.hold_until != fields.hold_until):
        holds.require_limited(fields.hold_until, now)
        # A table can have holds that have ended, and new names whose reason was redacted.
        if existing is not None and fields.hold_until > now:
            hold(existing, fields.hold_until, fields.hold_reason or existing.hold_reason or "", now)
    if fields.embargo is not None:
        fields = _with_embargo(existing, fields, now)
    if existing is None:
        first = fields.create_binding(now)
        action = _FIRST[first.status]
        return Change(action, first, action)
    if fields.status == "reserved" or (existing.is_reserved and fields.status is None and not publish):
        return _reserved_again(existing, fields, now)
    if existing.is_reserved:
        return _publish(existing, fields, now)
    request = _with_statements(existing, fields)
    after = next_revision(existing, request, now)
    require_kept(existing, after, resource=fields.resource, decided=decided)
    if not after.is_live and fields.status != "withdrawn":
        raise BindingConflict("withdrawn", existing, after)
    if existing.is_live and not after.is_live:
        return Change("withdrawn", after, "withdrawn")
    if leads_elsewhere(existing, after):
        return moved_to(existing, request, now)
    if replace(after, changed=existing.changed, revision=existing.revision) == existing:
        return Change("unchanged", existing, None)
    # The history has no separate action for a claim: the event shows the resource.
    return Change("updated" if after.resource == existing.resource else "claimed", after, "updated")


_FIRST: Mapping[Status, Literal["reserved", "bound", "withdrawn"]] = {
    "reserved": "reserved",
    "live": "bound",
    "withdrawn": "withdrawn",
}


def require_later(fields: Fields, now: Callable[[], datetime]) -> None:
    """Raise :class:`BindingError` for a request with an embargo in the past. Imports skip this check: a table can be
    older.
    """
    if isinstance(fields.embargo, datetime) and fields.embargo <= now():
        message = Translatable("the date %(date)s is past", date=utc_seconds(fields.embargo))
        error = BindingError("embargo-past", message, identifier=fields.key)
        error.field = "embargo"
        raise error


def create(fields: Fields, now: datetime) -> Change:
    """Return the change that records a new name. Raises :class:`BindingError` (``embargo-past``) if its embargo is
    over.
    """
    if fields.embargo is not None:
        require_later(fields, lambda: now)
    return bind(None, fields, now)


def _with_embargo(existing: Binding | None, fields: Fields, now: datetime) -> Fields:
    """Return checked fields with an ``embargo`` as they are now: from that time on, they are of a live name."""
    is_reached = isinstance(fields.embargo, datetime) and fields.embargo <= now
    if existing is None:
        return fields._replace(status="live", embargo=None) if is_reached else fields
    if existing.is_reserved:
        # The date may have been removed since the request was written, so a past date does not publish the name.
        require_later(fields, lambda: now)
        return fields
    if is_reached and existing.is_live:
        # A table that was written before the date.
        place = {} if fields.target is not None else {"target": existing.target, "kind": existing.kind}
        return fields._replace(**place, status=None, embargo=None)
    raise BindingConflict("embargo-reached", existing, existing)


def _reserved_again(existing: Binding, fields: Fields, now: datetime) -> Change:
    """Change what is recorded for a reserved name. A public name stays as it is."""
    request = _with_statements(existing, fields)
    if request == existing:
        return Change("unchanged", existing, None)
    if not existing.is_reserved:
        raise BindingConflict("reserve-public", existing, request)
    if existing.is_hidden and existing.resource not in (None, request.resource):
        raise BindingConflict("other-resource", existing, request)
    if leads_elsewhere(existing, request):
        request = _with_checked_place(request)
    return Change("updated", next_revision(existing, request, now), "updated")


def _publish(existing: Binding, fields: Fields, now: datetime) -> Change:
    """Make a reserved name live. Everything can change, unless the name was public once."""
    if fields.status == "withdrawn":
        raise BindingConflict("withdraw-reserved", existing, existing)
    spelling = existing.spelling if existing.is_hidden else fields.spelling
    request = replace(_with_statements(existing, fields), status="live", spelling=spelling, embargo=None)
    if existing.is_hidden and existing.resource not in (None, request.resource):
        raise BindingConflict("other-resource", existing, request)
    if leads_elsewhere(existing, request):
        request = _with_checked_place(request)
    return Change("bound", next_revision(existing, request, now), "bound")


def reserve(existing: Binding | None, fields: Fields, now: datetime) -> Change:
    """Decide how a request reserves a name or changes a reserved one. Raises :class:`BindingConflict` for a public
    name.
    """
    if existing is not None and not existing.is_reserved:
        raise BindingConflict("reserve-public", existing, existing)
    return bind(existing, fields, now)


def delete(existing: Binding, now: datetime) -> Change:
    """Return the change that deletes a reserved name. Raises :class:`BindingConflict` for one that is or was public."""
    if not existing.is_reserved or existing.is_hidden:
        raise BindingConflict("delete-public", existing, existing)
    return Change("deleted", next_revision(existing, existing, now), "deleted")


def require_kept(existing: Binding, after: Binding, *, resource: str | None, decided: bool = False) -> None:
    """Raise :class:`BindingConflict` if a change gives a name another resource, or a withdrawn name a resource or a
    place. A new place also requires that the request repeats the recorded ``resource``, unless a person ``decided``.
    """
    if existing.resource not in (None, after.resource):
        raise BindingConflict("other-resource", existing, after)
    elsewhere = leads_elsewhere(existing, after)
    if existing.is_live and after.is_live:
        if elsewhere and not decided and (existing.resource is None or resource is None):
            raise BindingConflict("bound-otherwise", existing, after)
    elif elsewhere:
        raise BindingConflict("bound-otherwise" if existing.is_live else "withdrawn", existing, after)
    elif after.resource != existing.resource:
        raise BindingConflict("claim-withdrawn", existing, after)


def relocate(existing: Binding, fields: Fields, now: datetime) -> Change:
    """Return the change that moves a name to a new place, when a person decides that its resource stays the same.
    Raises :class:`BindingConflict` for a reserved or withdrawn name.
    """
    if existing.is_reserved:
        raise BindingConflict("reserved", existing, existing)
    request = fields._replace(kind=fields.kind or existing.kind).for_key(existing.identifier)
    place = {name: value for name in PLACE if (value := getattr(request, name)) is not None}
    place |= {"target": request.target, "alternates": _merge(existing.alternates, request.alternates)}
    return moved_to(existing, replace(existing, **place), now)


def withdraw(existing: Binding, reason: str | None, now: datetime, successor: str | None = None) -> Change:
    """Return the change that makes a live name a tombstone. For a withdrawn name it records a new reason or successor
    ("updated"). Raises :class:`BindingConflict` for a reserved name.
    """
    if existing.is_reserved:
        raise BindingConflict("withdraw-reserved", existing, existing)
    if reason is not None:
        validation.check(reason, "reason-text", Translatable("Reason"), MAX_REASON)
    if successor is not None:
        successor = check_successor(existing.identifier, successor)
    if existing.is_live:
        after = replace(existing, status="withdrawn", reason=reason, successor=successor)
        return Change("withdrawn", next_revision(existing, after, now), "withdrawn")
    after = replace(existing, reason=reason or existing.reason, successor=successor or existing.successor)
    if after == existing:
        return Change("unchanged", existing, None)
    return Change("updated", next_revision(existing, after, now), "updated")


def restore(existing: Binding, resource: str | None, now: datetime) -> Change:
    """Return the change that makes a withdrawn name live again. ``resource`` must be the recorded one, or None if none
    is. Raises :class:`BindingConflict` for another resource, and for a reserved name.
    """
    if existing.is_reserved:
        raise BindingConflict("reserved", existing, existing)
    if resource != existing.resource:
        raise BindingConflict("other-resource", existing, replace(existing, resource=resource, status="live"))
    if existing.is_live:
        return Change("unchanged", existing, None)
    after = replace(existing, status="live", reason=None, successor=None)
    return Change("restored", next_revision(existing, after, now), "restored")


def hold(existing: Binding, until: datetime, reason: str, now: datetime) -> Change:
    """Return the change that puts a name on hold, or changes its hold. Raises :class:`BindingError` with the code
    ``hold-until``, ``hold-reason`` or ``hold-withdrawn``.
    """
    until, reason = holds.check(until, reason, now)
    if existing.is_withdrawn:
        raise BindingError("hold-withdrawn", identifier=existing.identifier)
    after = replace(existing, hold_until=until, hold_reason=reason)
    if after == existing:
        return Change("unchanged", existing, None)
    # The history has no separate action for a hold: the event shows its end and its reason.
    return Change("held", next_revision(existing, after, now), "updated")


def release(existing: Binding, now: datetime) -> Change:
    """Return the change that ends the hold of a name. Raises :class:`BindingError` (``hold-missing``) without one."""
    if existing.hold_until is None:
        raise BindingError("hold-missing", identifier=existing.identifier)
    after = replace(existing, hold_until=None, hold_reason=None)
    return Change("released", next_revision(existing, after, now), "updated")


def hide(existing: Binding, before: Binding, now: datetime) -> Change:
    """Return the change that undoes a publication: the name is reserved again, with the values ``before`` it. It keeps
    its resource, spelling and creation, and the fact that it was public (decision I-08).
    """
    after = replace(
        before,
        resource=existing.resource,
        spelling=existing.spelling,
        created=existing.created,
        once_public="yes",
        embargo=None,
    )
    return Change("hidden", next_revision(existing, after, now), "hidden")


def publish_again(existing: Binding, before: Binding, now: datetime) -> Change:
    """Return the change that undoes :func:`hide`: the name is public again, with the values ``before``."""
    after = replace(
        before,
        resource=existing.resource if existing.is_hidden else before.resource,
        spelling=existing.spelling if existing.is_hidden else before.spelling,
        created=existing.created if existing.is_hidden else before.created,
        once_public=existing.once_public,
    )
    action: Literal["bound", "withdrawn"] = "withdrawn" if after.is_withdrawn else "bound"
    return Change("withdrawn" if after.is_withdrawn else "published", next_revision(existing, after, now), action)


def leads_elsewhere(before: Binding, after: Binding) -> bool:
    """Return whether two bindings of one name differ in their place (:data:`~.binding.PLACE`)."""
    return any(getattr(before, field) != getattr(after, field) for field in PLACE)


def next_revision(existing: Binding, changed: Binding, now: datetime) -> Binding:
    """Return the binding ``changed`` with the next revision of the name and the time of this change."""
    return replace(changed, changed=later(now, existing.recorded_at), revision=existing.revision + 1, recorded=None)


def later(now: datetime, before: datetime) -> datetime:
    """Return the time to record for a change: ``now``, or one second after the time ``before`` of the previous one if
    ``now`` is not later, as when the clock was set back.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> later(noon, noon).isoformat()
    '2026-01-01T12:00:01+00:00'
    """
    return now if now > before else before + timedelta(seconds=1)


def moved_to(existing: Binding, moved: Binding, now: datetime) -> Change:
    """Return the change that moves a name to the target of ``moved``, when the caller decides that both have the same
    resource. Raises :class:`BindingConflict` for a withdrawn name, and :class:`BindingError` for a target that is not
    valid.
    """
    moved = _with_checked_place(moved)
    if existing.is_withdrawn:
        raise BindingConflict("withdrawn", existing, moved)
    if moved == existing:
        return Change("unchanged", existing, None)
    # A reserved name has no public place.
    return Change("relocated", next_revision(existing, moved, now), "updated" if existing.is_reserved else "relocated")


def _with_checked_place(moved: Binding) -> Binding:
    """Return ``moved`` with its place in stored form. A request states a part of it, which must fit the other parts."""
    try:
        require_scope(moved.identifier, moved.scope, moved.kind)
        target = check_target(moved.identifier, moved.target, moved.kind, bool(moved.passthrough))
        return replace(moved, target=target, alternates=targets.check_alternates(moved.alternates, moved.kind))
    except BindingError as error:
        error.identifier = moved.identifier
        raise


_KEPT = (
    "kind",
    "target",
    "status",
    "alternates",
    "metadata",
    "numbers",
    "spelling",
    "created",
    "changed",
    "once_public",
)
# The fields that replace the recorded value if the request states them.
_STATED = tuple(field.name for field in FIELDS if field.name not in _KEPT)
# The fields that get their default if a request for a whole name does not state them.
_REPLACED = frozenset(DEFAULTS) - {"status", "alternates", "metadata", "numbers"}


def moved_away(existing: Binding, target: str, now: datetime) -> Change:
    """Return the change that gives a name the address ``target`` at another resolver, which answers for it from now on.
    Alternates and the scope are dropped, because only this resolver knows them, and a served name becomes located.
    Raises like :func:`moved_to`.
    """
    moved = replace(
        existing,
        target=target,
        kind="located" if existing.kind == "served" and not target.startswith("/") else existing.kind,
        scope="name",
        alternates={},
        passthrough=existing.passthrough if can_append(target) else False,
    )
    return moved_to(existing, moved, now)


def _with_statements(existing: Binding, fields: Fields) -> Binding:
    values: dict[str, Any] = {name: value for name in _STATED if (value := getattr(fields, name)) is not None}
    if "embargo" in values:
        values["embargo"] = fields.embargo or None
    if fields.status == "withdrawn":
        values["status"] = "withdrawn"
    # A withdrawal or reservation can omit the target: the recorded place then stays.
    if fields.status in (None, "live") or fields.target is not None:
        values.update(target=fields.target, kind=fields.kind)
    return replace(
        existing,
        **values,
        alternates=_merge(existing.alternates, fields.alternates),
        metadata=elements.sort_elements(_merge(existing.metadata, fields.metadata)),
        numbers=numbers.merge_numbers(existing, fields.numbers, values.get("resource", existing.resource))
        if fields.numbers
        else existing.numbers,
    )


def _merge(recorded: Mapping[str, str], changes: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return ``recorded`` with the texts of ``changes``, without those that are empty, sorted by key."""
    if not changes:
        return recorded
    return MappingProxyType({key: text for key, text in sorted({**recorded, **changes}.items()) if text})


def replacing(existing: Binding, fields: Fields) -> Fields:
    """Return a request that replaces all values of a recorded name. Its status and resource stay if not stated."""
    # Elements and alternates have several spellings, so they are compared in their stored form.
    metadata = elements.check(fields.metadata or {}, deletions=True)
    alternates = targets.check_alternates(fields.alternates or {}, "located", deletions=True)
    defaults = {
        name: default for name, default in DEFAULTS.items() if name in _REPLACED and getattr(fields, name) is None
    }
    return fields._replace(
        **defaults,
        kind=fields.kind or ("described" if fields.target is None else "located"),
        metadata={**dict.fromkeys(existing.metadata, ""), **metadata},
        alternates={**dict.fromkeys(existing.alternates, ""), **alternates},
    )


def set_fields(identifier: Name, existing: Binding, fields: Fields, now: datetime, *, relocate: bool) -> list[Change]:
    """Return the changes with which a recorded name gets the stated fields, also another status, in the order in which
    they are written: a withdrawn name is restored first, and a live one withdrawn last. With ``relocate``, the
    caller decides that a new place has the same resource. Raises :class:`BindingConflict` like the other functions.
    """
    if fields.embargo is not None and not existing.is_reserved:
        raise BindingConflict("embargo-reached", existing, existing)
    status = existing.status if fields.status is None else check_status(fields.status)
    if status == "reserved" and not existing.is_reserved:
        return [reserve(existing, Fields(status="reserved").for_name(identifier, RECORDED), now)]  # a conflict
    request = with_recorded_place(fields, existing)
    if existing.is_reserved or status == existing.status == "withdrawn":
        return _in_status(existing, request._replace(status=status).for_name(identifier, RECORDED), now)
    result: list[Change] = []
    if existing.is_withdrawn:
        result.append(restore(existing, fields.resource or existing.resource, now))
        existing = result[0].after
    if status == "withdrawn":
        request = request._replace(reason=None, successor=None)
    result.append(bind(existing, request._replace(status=None).for_name(identifier, RECORDED), now, decided=relocate))
    if status == "withdrawn":
        result.append(withdraw(result[-1].after, fields.reason, now, fields.successor))
    return result


def _in_status(existing: Binding, fields: Fields, now: datetime) -> list[Change]:
    """Return the changes of a reserved name, or of a withdrawn name that stays withdrawn."""
    change = bind(existing, fields, now)
    after = change.after
    if after.is_reserved and fields.kind == "described" and after.target is not None:
        # A reservation without a target keeps the recorded one. This request removes it, in the same change.
        return [moved_to(existing, replace(after, target=None, kind="described"), now)]
    return [change]


def with_recorded_place(fields: Fields, existing: Binding) -> Fields:
    """Return the request ``fields`` with the recorded target and kind of a name, if it states none."""
    kind = fields.kind or (existing.kind if fields.target is None or existing.target is not None else "located")
    target = existing.target if fields.target is None and kind != "described" else fields.target
    return fields._replace(kind=kind, target=target)
