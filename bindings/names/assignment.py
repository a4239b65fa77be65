"""The rules for assigning names: which names can be bound, and how a binding can change. Pure: no clock, no store.

:func:`propose` checks a request and returns a :class:`Proposal`. :func:`bind`, :func:`relocate`, :func:`withdraw` and
:func:`restore` compare it with the recorded binding. They return a :class:`Change`, or raise. All writers use them: the
API, the command line and imports.

    "ARKs MUST NOT be re-assigned; that is, once an ARK-to-resource association has been made public, that association
    MUST be considered unique into the indefinite future."              (17beta policy, section 3; ARK-085, POL-023)

- A name keeps its resource.
- The :data:`PLACE` of a name is its target, kind, alternates, passthrough and scope. A change of the place is a
  relocation. It requires the recorded resource.
- If no resource is recorded, only :func:`relocate` moves the name. A person must decide that the new place has the same
  resource.
- To record the first resource is a separate change, "claimed". It cannot be combined with a relocation.
- A withdrawn name remains recorded. No public name is ever deleted.
- A reserved name is not public: it can be deleted, and every part of it can change, also its resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ...identifiers import Ark, EmbeddedArk, IdentifierError, parse
from . import targets, validation
from .binding import KINDS, NOTHING, REDIRECTS, SCOPES, Action, Binding, Kind, Scope, Status
from .errors import BindingConflict, BindingError
from .metadata import metadata as elements
from .naming import Name, assignable, spelling_of
from .passthrough import can_append

Outcome = Literal[
    "bound", "unchanged", "updated", "claimed", "relocated", "withdrawn", "restored", "redacted", "reserved", "deleted"
]

PLACE = ("target", "kind", "passthrough", "scope", "alternates")
"""The fields of a binding that decide where a client is sent."""

MAX_RESOURCE = MAX_REASON = 2000
MAX_ACTOR = 200


class Proposal(NamedTuple):
    """A checked request to bind the name ``key``, made by :func:`propose`.

    A field that is None keeps the recorded value, or gets its default for a new name. Alternates and metadata elements
    that are not mentioned stay as they are recorded; an empty text deletes one. ``spelling`` is the text of the
    request. ``created`` and ``changed`` are times of another system; only a new name gets them.
    """

    key: str
    kind: Kind
    target: str | None
    status: Status | None
    redirect: int | None
    resource: str | None
    passthrough: bool | None
    scope: Scope | None
    alternates: Mapping[str, str] | None
    metadata: Mapping[str, str] | None
    reason: str | None
    successor: str | None
    spelling: str
    created: datetime | None = None
    changed: datetime | None = None

    def first(self, now: datetime) -> Binding:
        """Build the binding that this proposal creates for a name without a binding.

        Fields that are None get their defaults. ``now`` is the current time in UTC.
        """
        changed = self.changed or now
        return Binding(
            identifier=self.key,
            kind=self.kind,
            target=self.target,
            status=self.status or "live",
            redirect=self.redirect or REDIRECTS[0],
            resource=self.resource,
            passthrough=bool(self.passthrough),
            scope=self.scope or "name",
            alternates=_without_deleted(self.alternates) if self.alternates else NOTHING,
            metadata=_without_deleted(self.metadata) if self.metadata else NOTHING,
            reason=self.reason,
            successor=self.successor,
            spelling=self.spelling,
            created=self.created or changed,
            changed=changed,
            revision=1,
        )


class Change(NamedTuple):
    """The result of a requested change of one name.

    - ``outcome``: the result for the caller, such as "relocated" or "unchanged".
    - ``after``: the binding after the change.
    - ``action``: the action to record in the history; None if nothing is written.
    """

    outcome: Outcome
    after: Binding
    action: Action | None

    @property
    def is_new(self) -> bool:
        """True if the name was never bound or reserved before this change, so this is its first revision."""
        return self.after.revision == 1


def propose(
    identifier: Name,
    target: str | None = None,
    *,
    kind: str = "located",
    status: Status | None = None,
    redirect: int | None = None,
    resource: str | None = None,
    passthrough: bool | None = None,
    scope: str | None = None,
    alternates: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
    reason: str | None = None,
    successor: str | None = None,
    spelling: str | None = None,
    created: datetime | None = None,
    changed: datetime | None = None,
) -> Proposal:
    """Check a request to bind a name. The parameters are those of :meth:`.Bindings.bind`, and these:

    - ``status``: "reserved" or "withdrawn"; None for a live name.
    - ``reason``, ``successor``: texts for a withdrawal, permitted with the status "withdrawn" only.
    - ``spelling``: the published spelling of the name; the default is the spelling of ``identifier``.
    - ``created``, ``changed``: times of another system, for a new name.

    Raises :class:`BindingError` with the identifier if an argument is not valid.
    """
    name = assignable(identifier)
    try:
        checked_kind = _check_kind(kind)
        checked_scope = None if scope is None else _check_scope(scope)
        if passthrough is not None:
            _check_passthrough(passthrough)
        return Proposal(
            name,
            checked_kind,
            _check_target(name, target, checked_kind, bool(passthrough)),
            status,
            redirect if redirect is None else redirect_status(redirect),
            resource if resource is None else validation.check(resource, "resource-text", "resource", MAX_RESOURCE),
            passthrough,
            checked_scope if checked_scope is None else _check_scope_of(name, checked_scope, checked_kind),
            alternates if alternates is None else targets.check_alternates(alternates, checked_kind, deletions=True),
            metadata if metadata is None else elements.check(metadata, deletions=True),
            reason if reason is None else _check_reason(reason, status),
            successor if successor is None else _check_successor(name, successor, status),
            spelling_of(identifier) if spelling is None else _check_spelling(name, spelling),
            created,
            changed if changed is None else _check_changed(changed, created),
        )
    except BindingError as error:
        error.identifier = name
        raise


def _check_kind(kind: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise BindingError("kind-unknown", f"the kind {validation.shown(kind)} does not exist")


def redirect_status(status: int) -> int:
    """Return ``status`` if it is 302 or 307, the statuses of a temporary redirect.

    Raises :class:`BindingError` for another number. It has the code ``permanent-redirect-forbidden`` for 301 and 308.
    """
    if status in REDIRECTS:
        return status
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    if status in (301, 308):
        raise BindingError(
            "permanent-redirect-forbidden",
            f"the redirect status {status} is permanent: clients would replace the name",
        )
    raise BindingError("redirect-status", f"the redirect status {validation.shown(status)} is not allowed")


def _check_scope(scope: str) -> Scope:
    for known in SCOPES:
        if scope == known:
            return known
    raise BindingError("scope-unknown", f"the scope {validation.shown(scope)} does not exist")


def _check_passthrough(passthrough: bool | None) -> None:
    if passthrough not in (None, True, False):
        raise BindingError("passthrough-unknown", f"passthrough has the value {validation.shown(passthrough)}")


def _check_reason(reason: str, status: Status | None) -> str:
    if status != "withdrawn":
        raise BindingError("reason-unwanted")
    return validation.check(reason, "reason-text", "reason", MAX_REASON)


def _check_changed(changed: datetime | None, created: datetime | None) -> datetime | None:
    if changed is not None and created is not None and created > changed:
        raise BindingError("time-order")
    return changed


def _check_successor(key: str, successor: str, status: Status | None) -> str:
    if status != "withdrawn":
        raise BindingError("successor-unwanted")
    return check_successor(key, successor)


def check_successor(key: str, successor: str) -> str:
    """Convert the successor of the withdrawn name ``key`` to its stored form: the normal form of a name, or a URL.

    Raises :class:`BindingError` with the code ``successor-itself``, or with those of names and targets.

    >>> check_successor("ark:12345/x", "ark:/12345/x-2"), check_successor("ark:12345/x", "https://Example.org/x")
    ('ark:12345/x2', 'https://example.org/x')
    """
    if successor[:4].lower() in ("ark:", "urn:"):
        stored = assignable(successor)
        if stored == key:
            raise BindingError("successor-itself")
        return stored
    stored = targets.check(successor, "located")
    if stored is None or not stored.startswith("http"):
        message = f"the successor {validation.shown(successor)} is neither a name nor a URL"
        raise BindingError("successor-text", message)
    return stored


def _check_spelling(key: str, spelling: str) -> str:
    if assignable(spelling) != key:
        raise BindingError("spelling-other-name", f"the spelling {validation.shown(spelling)} is of another name")
    return spelling_of(spelling)


def _check_scope_of(key: str, scope: Scope | None, kind: Kind) -> Scope | None:
    """Return the scope if a binding of this kind can have it: only the site knows the names below a served name."""
    if scope == "subtree":
        if kind != "served":
            raise BindingError("scope-not-served", f"a {kind} name cannot have the scope subtree")
        if key.startswith("urn:"):
            raise BindingError("nothing-below")
    return scope


def _check_target(key: str, target: str | None, kind: Kind, passthrough: bool) -> str | None:
    checked = targets.check(target, kind)
    if passthrough:
        _require_path(key, checked)
    if checked is not None and checked.startswith("/") and _leads_to_itself(checked, key, passthrough):
        raise BindingError("target-itself")
    return checked


def _require_path(key: str, target: str | None) -> None:
    if target is None:
        raise BindingError("passthrough-without-target")
    if not can_append(target):
        raise BindingError(
            "passthrough-without-path", f"the target {validation.shown(target)} has no path to append to"
        )
    if key.startswith("urn:"):
        raise BindingError("nothing-below")


def _leads_to_itself(target: str, key: str, passthrough: bool) -> bool:
    """Return whether a target is the path of the name itself, or with ``passthrough`` of a name below it.

    Such a redirect is an endless loop.
    """
    if target[:5].lower() not in ("/ark:", "/urn:"):
        return False
    try:
        # The resolver ignores a slash at the end. An inflection has a different answer.
        name = parse(target[1:].partition("#")[0].rstrip("/"))
    except IdentifierError:
        return False
    if isinstance(name, EmbeddedArk):
        return False
    return name.normal_form == key or (
        passthrough and isinstance(name, Ark) and key in islice(name.ancestry(), 1, None)
    )


def bind(existing: Binding | None, proposal: Proposal, now: datetime, *, decided: bool = False) -> Change:
    """Compare a proposal with the recorded binding of its name, and return the change.

    ``existing`` is None if the name has no binding. With ``decided`` a person decided that a new place leads to the
    same resource, as for :func:`relocate`. The outcome is one of:

    - "bound": the name has no binding, or it is reserved.
    - "reserved": the request has the status "reserved", and the name has no binding. For a reserved name it is
      "updated" or "unchanged". For a public name it is "unchanged" if the request states nothing else.
    - "relocated": the :data:`PLACE` is new, and the request repeats the recorded resource.
    - "claimed": the request has a resource, and none is recorded.
    - "updated": other fields differ (metadata, redirect).
    - "withdrawn": the request has the status "withdrawn", and the name is live or new.
    - "unchanged": nothing differs.

    Raises :class:`BindingConflict` in every other case, such as a claim with a new place or with a withdrawal.

    Source: ARK-085, POL-023, URN-002.
    """
    if existing is None:
        first = proposal.first(now)
        action = _FIRST[first.status]
        return Change(action, first, action)
    if proposal.status == "reserved":
        return _reserved_again(existing, proposal, now)
    if existing.is_reserved:
        return _published(existing, proposal, now)
    stated = _with_statements(existing, proposal)
    after = next_revision(existing, stated, now)
    require_kept(existing, after, stated=proposal.resource, decided=decided)
    if not after.is_live and proposal.status != "withdrawn":
        raise BindingConflict("withdrawn", existing, after)
    if existing.is_live and not after.is_live:
        return Change("withdrawn", after, "withdrawn")
    if leads_elsewhere(existing, after):
        return moved_to(existing, stated, now)
    if replace(after, changed=existing.changed, revision=existing.revision) == existing:
        return Change("unchanged", existing, None)
    # The history has no separate action for a claim: the event shows the resource.
    return Change("updated" if after.resource == existing.resource else "claimed", after, "updated")


_FIRST: Mapping[Status, Literal["reserved", "bound", "withdrawn"]] = {
    "reserved": "reserved",
    "live": "bound",
    "withdrawn": "withdrawn",
}


def _reserved_again(existing: Binding, proposal: Proposal, now: datetime) -> Change:
    """Change what is recorded for a reserved name. A public name stays as it is."""
    stated = _with_statements(existing, proposal)
    if stated == existing:
        return Change("unchanged", existing, None)
    if not existing.is_reserved:
        raise BindingConflict("reserve-public", existing, stated)
    return Change("updated", next_revision(existing, stated, now), "updated")


def _published(existing: Binding, proposal: Proposal, now: datetime) -> Change:
    """Make a reserved name live. Nothing about it was public, so everything can change."""
    if proposal.status == "withdrawn":
        raise BindingConflict("withdraw-reserved", existing, existing)
    stated = replace(_with_statements(existing, proposal), status="live", spelling=proposal.spelling)
    return Change("bound", next_revision(existing, stated, now), "bound")


def reserve(existing: Binding | None, proposal: Proposal, now: datetime) -> Change:
    """Reserve a name that has no binding, or change what is recorded for a reserved name.

    The result is that of :func:`bind` with the status "reserved". Raises :class:`BindingConflict` for a live or
    withdrawn name.
    """
    if existing is not None and not existing.is_reserved:
        raise BindingConflict("reserve-public", existing, existing)
    return bind(existing, proposal, now)


def delete(existing: Binding, now: datetime) -> Change:
    """Delete the binding of a reserved name; its history stays.

    Raises :class:`BindingConflict` for a live or withdrawn name, because public names are never deleted.
    """
    if not existing.is_reserved:
        raise BindingConflict("delete-public", existing, existing)
    return Change("deleted", next_revision(existing, existing, now), "deleted")


def require_kept(existing: Binding, after: Binding, *, stated: str | None, decided: bool = False) -> None:
    """Raise :class:`BindingConflict` if the binding ``after`` changes what must stay.

    A recorded resource stays. A new :data:`PLACE` requires that the request repeats the resource (``stated``), unless a
    person ``decided``. A withdrawn name gets neither a place nor a resource.
    """
    if existing.resource not in (None, after.resource):
        raise BindingConflict("other-resource", existing, after)
    elsewhere = leads_elsewhere(existing, after)
    if existing.is_live and after.is_live:
        if elsewhere and not decided and (existing.resource is None or stated is None):
            raise BindingConflict("bound-otherwise", existing, after)
    elif elsewhere:
        raise BindingConflict("bound-otherwise" if existing.is_live else "withdrawn", existing, after)
    elif after.resource != existing.resource:
        raise BindingConflict("claim-withdrawn", existing, after)


def relocate(
    existing: Binding,
    target: str | None,
    kind: Kind | None,
    now: datetime,
    *,
    passthrough: bool | None = None,
    scope: str | None = None,
    alternates: Mapping[str, str] | None = None,
) -> Change:
    """Move a name to a new place for the same resource, on the decision of a person.

    None keeps the recorded value, except for ``target``: a described name has no target. Raises
    :class:`BindingConflict` for a reserved or withdrawn name.
    """
    if existing.is_reserved:
        raise BindingConflict("reserved", existing, existing)
    known = _check_kind(kind or existing.kind)
    moved = replace(existing, target=target, kind=known)
    _check_passthrough(passthrough)
    if passthrough is not None:
        moved = replace(moved, passthrough=passthrough)
    if scope is not None:
        moved = replace(moved, scope=_check_scope(scope))
    if alternates is not None:
        stated = targets.check_alternates(alternates, known, deletions=True)
        moved = replace(moved, alternates=_merged(existing.alternates, stated))
    return moved_to(existing, moved, now)


def withdraw(existing: Binding, reason: str | None, now: datetime, successor: str | None = None) -> Change:
    """Withdraw a live name. Its record stays as a tombstone, so that the name is never assigned again.

    A new ``reason`` or ``successor`` for a name that is already withdrawn is recorded, with the outcome "updated".
    Raises :class:`BindingConflict` for a reserved name, and :class:`BindingError` for a text that is not valid.
    """
    if existing.is_reserved:
        raise BindingConflict("withdraw-reserved", existing, existing)
    if reason is not None:
        validation.check(reason, "reason-text", "reason", MAX_REASON)
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
    """Make a withdrawn name live again. ``resource`` must be the recorded resource, or None if none is recorded.

    The result is "unchanged" for a live name. Raises :class:`BindingConflict` for another resource and for a reserved
    name.
    """
    if existing.is_reserved:
        raise BindingConflict("reserved", existing, existing)
    if resource != existing.resource:
        raise BindingConflict("other-resource", existing, replace(existing, resource=resource, status="live"))
    if existing.is_live:
        return Change("unchanged", existing, None)
    after = replace(existing, status="live", reason=None, successor=None)
    return Change("restored", next_revision(existing, after, now), "restored")


def leads_elsewhere(before: Binding, after: Binding) -> bool:
    """Return whether two bindings have different places.

    The place is the target, kind, alternates, passthrough and scope (:data:`PLACE`).
    """
    return any(getattr(before, field) != getattr(after, field) for field in PLACE)


def next_revision(existing: Binding, changed: Binding, now: datetime) -> Binding:
    """Return ``changed`` with the revision and the time that follow those of the recorded binding ``existing``."""
    return replace(changed, changed=later(now, existing.changed), revision=existing.revision + 1)


def later(now: datetime, before: datetime) -> datetime:
    """Return the time to record for a change, which is later than the time ``before`` of the previous change.

    This is ``now``, or one second after ``before`` if the clock was set back. The field Last-Modified has full seconds.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    >>> later(noon, noon).isoformat()
    '2026-01-01T12:00:01+00:00'
    """
    return now if now > before else before + timedelta(seconds=1)


def moved_to(existing: Binding, moved: Binding, now: datetime) -> Change:
    """Return the change that gives a name the target of the binding ``moved``.

    The caller decided that both targets lead to the same resource.

    Raises :class:`BindingConflict` for a withdrawn name, and :class:`BindingError` for a target that is not valid.
    """
    try:
        _check_scope_of(moved.identifier, moved.scope, moved.kind)
        target = _check_target(moved.identifier, moved.target, moved.kind, moved.passthrough)
        moved = replace(moved, target=target, alternates=targets.check_alternates(moved.alternates, moved.kind))
    except BindingError as error:
        error.identifier = moved.identifier
        raise
    if existing.is_withdrawn:
        raise BindingConflict("withdrawn", existing, moved)
    if moved == existing:
        return Change("unchanged", existing, None)
    # A reserved name has no public place.
    return Change("relocated", next_revision(existing, moved, now), "updated" if existing.is_reserved else "relocated")


_STATED = ("redirect", "resource", "passthrough", "scope", "reason", "successor")


def _with_statements(existing: Binding, proposal: Proposal) -> Binding:
    stated: dict[str, Any] = {name: value for name in _STATED if (value := getattr(proposal, name)) is not None}
    if proposal.status == "withdrawn":
        stated["status"] = "withdrawn"
    # A withdrawal or reservation can omit the target: the recorded place then stays.
    if proposal.status in (None, "live") or proposal.target is not None:
        stated.update(target=proposal.target, kind=proposal.kind)
    return replace(
        existing,
        **stated,
        alternates=_merged(existing.alternates, proposal.alternates),
        metadata=elements.ordered(_merged(existing.metadata, proposal.metadata)),
    )


def _without_deleted(stated: Mapping[str, str]) -> Mapping[str, str]:
    """Return checked alternates or metadata without the texts that are empty, in the same order."""
    return stated if all(stated.values()) else MappingProxyType({key: text for key, text in stated.items() if text})


def _merged(known: Mapping[str, str], stated: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return ``known`` with the texts of ``stated``, without those that are empty, sorted by key."""
    if not stated:
        return known
    return MappingProxyType({key: text for key, text in sorted({**known, **stated}.items()) if text})
