"""The rules by which names are assigned: what may be bound, and how a binding may change. Pure: no clock, no store.

Somebody's statement about a name becomes a :class:`Proposal`, which has passed every check that needs no other
knowledge. Then :func:`bind`, :func:`relocate`, :func:`withdraw` or :func:`restore` hold it against what is on record
and return the :class:`Change`, or raise. They are the only ways in which a binding changes, whoever asks: a program,
the command line or an imported table.

    "ARKs MUST NOT be re-assigned; that is, once an ARK-to-resource association has been made public, that association
    MUST be considered unique into the indefinite future."                                  (17beta policy, section 3)

So a name keeps its resource. Where the name leads is its :data:`PLACE`: the target and kind, and also the alternates,
passthrough and scope. Each change of the place is a relocation. It requires the resource on record. Where none is on
record, only :func:`relocate` moves the name, because only a person can know that it is the same thing. To record a
resource where none is on record is a change of its own, "claimed": it never comes together with a relocation. A
withdrawn name stays on record, and no name is ever deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ...identifiers import Ark, EmbeddedArk, IdentifierError, parse
from ..errors import BindingConflict, BindingError
from ..resolution.passthrough import can_append
from . import metadata as elements
from . import targets, validation
from .model import KINDS, NOTHING, REDIRECTS, SCOPES, Action, Binding, Kind, Scope, Status
from .names import Name, assignable

Outcome = Literal["bound", "unchanged", "updated", "claimed", "relocated", "withdrawn", "restored"]

PLACE = ("target", "kind", "passthrough", "scope", "alternates")
"""The fields of a binding that decide where people are led."""

MOST_RESOURCE = MOST_REASON = 2000
MOST_ACTOR = 200


class Proposal(NamedTuple):
    """What is stated about the name ``key``, checked. None is no statement: as it is on record, or the default.

    Alternates and metadata elements that are not mentioned stay as they are on record; an empty text deletes one.
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
    reason: str | None = None

    def first(self, now: datetime) -> Binding:
        """The binding that this is for a name of which nothing is on record."""
        return Binding(
            self.key,
            self.kind,
            self.target,
            self.status or "live",
            self.redirect or REDIRECTS[0],
            self.resource,
            bool(self.passthrough),
            self.scope or "name",
            _merged(NOTHING, self.alternates),
            elements.ordered(_merged(NOTHING, self.metadata)),
            self.reason,
            now,
            1,
        )


class Change(NamedTuple):
    """What became of a request: the word for it, the binding now, and the history's word if anything is written."""

    outcome: Outcome
    after: Binding
    action: Action | None


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
) -> Proposal:
    """Check a statement about a name. Raises :class:`BindingError`, which names it, for what can never be.

    ``reason`` says why the name is withdrawn, and is stated with that status only.
    """
    name = assignable(identifier)
    try:
        known = _kind(kind)
        reach = None if scope is None else _scope(scope)
        _require_truth(passthrough)
        return Proposal(
            name,
            known,
            _destined(name, target, known, bool(passthrough)),
            status,
            redirect if redirect is None else redirect_status(redirect),
            resource if resource is None else validation.check(resource, "resource-text", "resource", MOST_RESOURCE),
            passthrough,
            _reaching(name, reach, known),
            alternates if alternates is None else targets.check_alternates(alternates, known, deletions=True),
            metadata if metadata is None else elements.check(metadata, deletions=True),
            reason if reason is None else _reason(reason, status),
        )
    except BindingError as error:
        error.identifier = name
        raise


def _kind(kind: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise BindingError("kind-unknown", f"there is no kind {validation.shown(kind)}")


def redirect_status(status: int) -> int:
    """The status of a redirect, if a name may be answered with it. Raises :class:`BindingError`."""
    if status in REDIRECTS:
        return status
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    if status in (301, 308):
        raise BindingError("permanent-redirect-forbidden", f"{status} would say that the name has moved for good")
    raise BindingError("redirect-status", f"a name cannot be answered with {validation.shown(status)}")


def _scope(scope: str) -> Scope:
    for known in SCOPES:
        if scope == known:
            return known
    raise BindingError("scope-unknown", f"there is no scope {validation.shown(scope)}")


def _require_truth(passthrough: bool | None) -> None:
    if passthrough not in (None, True, False):
        raise BindingError("passthrough-unknown", f"passthrough is {validation.shown(passthrough)}")


def _reason(reason: str, status: Status | None) -> str:
    if status != "withdrawn":
        raise BindingError("reason-unwanted")
    return validation.check(reason, "reason-text", "reason", MOST_REASON)


def _reaching(key: str, scope: Scope | None, kind: Kind) -> Scope | None:
    """The scope, if a binding of this kind can have it: only the site itself knows what is below."""
    if scope == "subtree":
        if kind != "served":
            raise BindingError("scope-not-served", f"a {kind} name has no subtree that the site could serve")
        if key.startswith("urn:"):
            raise BindingError("nothing-below")
    return scope


def _destined(key: str, target: str | None, kind: Kind, passthrough: bool) -> str | None:
    destined = targets.check(target, kind)
    if passthrough:
        _require_passage(key, destined)
    if destined is not None and _is_itself(destined, key, passthrough):
        raise BindingError("target-itself")
    return destined


def _require_passage(key: str, target: str | None) -> None:
    if target is None:
        raise BindingError("passthrough-without-target")
    if not can_append(target):
        raise BindingError("passthrough-without-path", f"nothing can be appended to {validation.shown(target)}")
    if key.startswith("urn:"):
        raise BindingError("nothing-below")


def _is_itself(target: str, key: str, passthrough: bool) -> bool:
    """Whether a path of this site asks for the name itself, or, where that lets through, for what is below it: a client
    would be sent round for ever.
    """
    if target[:5].lower() not in ("/ark:", "/urn:"):
        return False
    try:
        # A slash at the end is let go when it is asked for; an inflection leads to something else.
        name = parse(target[1:].partition("#")[0].rstrip("/"))
    except IdentifierError:
        return False
    if isinstance(name, EmbeddedArk):
        return False
    return name.normal_form == key or (
        passthrough and isinstance(name, Ark) and key in islice(name.ancestry(), 1, None)
    )


def bind(existing: Binding | None, proposal: Proposal, now: datetime) -> Change:
    """Bind a name, or bind it again.

    No binding on record: bound. A new :data:`PLACE`: relocated, if the resource on record is stated. A resource where
    none was on record: claimed. Other statements that differ (metadata, redirect): updated. Else unchanged. Raises
    :class:`BindingConflict` in every other case, also for a claim together with a new place or with a withdrawal.

    Source: design, bindings; ARK-085, POL-023, URN-002.
    """
    if existing is None:
        first = proposal.first(now)
        return Change("bound", first, "bound") if first.is_live else Change("withdrawn", first, "withdrawn")
    stated = _with_statements(existing, proposal)
    after = next_revision(existing, stated, now)
    require_kept(existing, after, stated=proposal.resource)
    if not after.is_live and proposal.status != "withdrawn":
        raise BindingConflict("withdrawn", existing, after)
    if existing.is_live and not after.is_live:
        return Change("withdrawn", after, "withdrawn")
    if leads_elsewhere(existing, after):
        return _moved(existing, stated, now)
    if after._replace(changed=existing.changed, revision=existing.revision) == existing:
        return Change("unchanged", existing, None)
    # The history has no action of its own for a claim: it shows the resource.
    return Change("updated" if after.resource == existing.resource else "claimed", after, "updated")


def require_kept(existing: Binding, after: Binding, *, stated: str | None) -> None:
    """Raise :class:`BindingConflict` unless ``after`` keeps what is on record, where the request states a resource.

    A recorded resource stays. A new :data:`PLACE` requires it. A tombstone gets neither a new place nor a resource.
    """
    if existing.resource not in (None, after.resource):
        raise BindingConflict("other-resource", existing, after)
    elsewhere = leads_elsewhere(existing, after)
    if existing.is_live and after.is_live:
        if elsewhere and (existing.resource is None or stated is None):
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
    """Move a name because a person states that the same thing is there now. Raises where the name is withdrawn.

    What is None stays as it is, except the target: a described name has none.
    """
    known = _kind(kind or existing.kind)
    moved = existing._replace(target=target, kind=known)
    _require_truth(passthrough)
    if passthrough is not None:
        moved = moved._replace(passthrough=passthrough)
    if scope is not None:
        moved = moved._replace(scope=_scope(scope))
    if alternates is not None:
        stated = targets.check_alternates(alternates, known, deletions=True)
        moved = moved._replace(alternates=_merged(existing.alternates, stated))
    return _moved(existing, moved, now)


def withdraw(existing: Binding, reason: str | None, now: datetime) -> Change:
    """Take a name out of use. Its row stays as a tombstone, so that it is never given again.

    Another reason for a name that is withdrawn already goes on record: updated.
    """
    if reason is not None:
        validation.check(reason, "reason-text", "reason", MOST_REASON)
    if existing.is_live:
        after = next_revision(existing, existing._replace(status="withdrawn", reason=reason), now)
        return Change("withdrawn", after, "withdrawn")
    if reason is None or reason == existing.reason:
        return Change("unchanged", existing, None)
    return Change("updated", next_revision(existing, existing._replace(reason=reason), now), "updated")


def restore(existing: Binding, resource: str | None, now: datetime) -> Change:
    """Take a withdrawn name into use again, for the resource that it was withdrawn from."""
    if resource != existing.resource:
        raise BindingConflict("other-resource", existing, existing._replace(resource=resource, status="live"))
    if existing.is_live:
        return Change("unchanged", existing, None)
    return Change("restored", next_revision(existing, existing._replace(status="live", reason=None), now), "restored")


def leads_elsewhere(before: Binding, after: Binding) -> bool:
    """Whether a name leads people to another place by ``after`` than by ``before``."""
    return any(getattr(before, field) != getattr(after, field) for field in PLACE)


def next_revision(existing: Binding, changed: Binding, now: datetime) -> Binding:
    """``changed`` as the revision that follows ``existing``, at a later time than that."""
    return changed._replace(changed=later(now, existing.changed), revision=existing.revision + 1)


def later(now: datetime, before: datetime) -> datetime:
    """The time of a change that follows one at the time ``before``: now, if the clock was not set back.

    Else it is one second after ``before``, because the field Last-Modified has full seconds.
    """
    return now if now > before else before + timedelta(seconds=1)


def _moved(existing: Binding, moved: Binding, now: datetime) -> Change:
    try:
        _reaching(moved.identifier, moved.scope, moved.kind)
        target = _destined(moved.identifier, moved.target, moved.kind, moved.passthrough)
        moved = moved._replace(target=target, alternates=targets.check_alternates(moved.alternates, moved.kind))
    except BindingError as error:
        error.identifier = moved.identifier
        raise
    if not existing.is_live:
        raise BindingConflict("withdrawn", existing, moved)
    if moved == existing:
        return Change("unchanged", existing, None)
    return Change("relocated", next_revision(existing, moved, now), "relocated")


_STATED = ("redirect", "resource", "passthrough", "scope", "reason")


def _with_statements(existing: Binding, proposal: Proposal) -> Binding:
    stated: dict[str, Any] = {name: value for name in _STATED if (value := getattr(proposal, name)) is not None}
    if proposal.status == "withdrawn":
        stated["status"] = "withdrawn"
    # A withdrawal may leave out the target: the place is then as it is on record.
    if proposal.status != "withdrawn" or proposal.target is not None:
        stated.update(target=proposal.target, kind=proposal.kind)
    return existing._replace(
        **stated,
        alternates=_merged(existing.alternates, proposal.alternates),
        metadata=elements.ordered(_merged(existing.metadata, proposal.metadata)),
    )


def _merged(known: Mapping[str, str], stated: Mapping[str, str] | None) -> Mapping[str, str]:
    """What is known, replaced by what is stated and without what is stated to be empty, in the order of the keys."""
    if not stated:
        return known
    return MappingProxyType({key: text for key, text in sorted({**known, **stated}.items()) if text})
