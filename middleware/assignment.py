"""The rules by which names are assigned: what may be bound, and how a binding may change. Pure: no clock, no store.

Somebody's statement about a name becomes a :class:`Proposal`, which has passed every check that needs no other
knowledge. Then :func:`bind`, :func:`relocate`, :func:`withdraw` or :func:`restore` hold it against what is on record
and return the :class:`Change`, or raise. They are the only ways in which a binding changes, whoever asks: a program,
the command line or an imported table.

    "ARKs MUST NOT be re-assigned; that is, once an ARK-to-resource association has been made public, that association
    MUST be considered unique into the indefinite future."                                  (17beta policy, section 3)

So a name keeps its resource for ever. It is bound again only to the same place, or elsewhere when the resource that is
on record is named; where none is on record only :func:`relocate` moves it, because only a person can say that it is the
same thing. A withdrawn name stays on record, and nothing is ever deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from ..identifiers import Ark, EmbeddedArk, IdentifierError, parse
from . import alternates as alternate_targets
from . import destination, texts
from . import metadata as elements
from .binding import KINDS, NOTHING, REDIRECTS, SCOPES, Action, Binding, Kind, Scope, Status
from .errors import BindingConflict, BindingError
from .names import Name, assignable
from .passthrough import takes_more

Outcome = Literal["bound", "unchanged", "relocated", "withdrawn", "restored"]

MOST_RESOURCE = MOST_REASON = 2000
MOST_ACTOR = 200


class Proposal(NamedTuple):
    """What somebody states about the name ``key``, checked. None is no statement: as it is on record, or the default.

    ``partial`` says that the alternates and the metadata are those that are stated, not all that there are to be.
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
    partial: bool = False
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
            NOTHING if self.alternates is None else self.alternates,
            NOTHING if self.metadata is None else self.metadata,
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
    partial: bool = False,
) -> Proposal:
    """Check a statement about a name. Raises :class:`BindingError`, which names it, for what can never be.

    ``reason`` says why the name is withdrawn, and is stated with that status only.
    """
    name = assignable(identifier)
    try:
        known = _kind(kind)
        reach = None if scope is None else _scope(scope)
        if passthrough not in (None, True, False):
            raise BindingError("passthrough-unknown", f"passthrough is {texts.shown(passthrough)}")
        return Proposal(
            name,
            known,
            _destined(name, target, known, bool(passthrough)),
            status,
            redirect if redirect is None else redirect_status(redirect),
            resource if resource is None else texts.check(resource, "resource-text", "resource", MOST_RESOURCE),
            passthrough,
            _reaching(name, reach, known),
            alternates if alternates is None else alternate_targets.check(alternates, known),
            metadata if metadata is None else elements.check(metadata),
            partial,
            reason if reason is None else _reason(reason, status),
        )
    except BindingError as error:
        error.identifier = name
        raise


def _kind(kind: str) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise BindingError("kind-unknown", f"there is no kind {texts.shown(kind)}")


def redirect_status(status: int) -> int:
    """The status of a redirect, if a name may be answered with it. Raises :class:`BindingError`."""
    if status in REDIRECTS:
        return status
    # "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
    if status in (301, 308):
        raise BindingError("permanent-redirect-forbidden", f"{status} would say that the name has moved for good")
    raise BindingError("redirect-status", f"a name cannot be answered with {texts.shown(status)}")


def _scope(scope: str) -> Scope:
    for known in SCOPES:
        if scope == known:
            return known
    raise BindingError("scope-unknown", f"there is no scope {texts.shown(scope)}")


def _reason(reason: str, status: Status | None) -> str:
    if status != "withdrawn":
        raise BindingError("reason-unwanted")
    return texts.check(reason, "reason-text", "reason", MOST_REASON)


def _reaching(key: str, scope: Scope | None, kind: Kind) -> Scope | None:
    """The scope, if a binding of this kind can have it: only the site itself knows what is below."""
    if scope == "subtree":
        if kind != "served":
            raise BindingError("scope-not-served", f"a {kind} name has no subtree that the site could serve")
        if key.startswith("urn:"):
            raise BindingError("nothing-below")
    return scope


def _destined(key: str, target: str | None, kind: Kind, passthrough: bool) -> str | None:
    destined = destination.check(target, kind)
    if passthrough:
        _require_passage(key, destined)
    if destined is not None and _is_itself(destined, key, passthrough):
        raise BindingError("target-itself")
    return destined


def _require_passage(key: str, target: str | None) -> None:
    if target is None:
        raise BindingError("passthrough-without-target")
    if not takes_more(target):
        raise BindingError("passthrough-without-path", f"nothing can be appended to {texts.shown(target)}")
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

    Nothing on record: bound. The same target and kind: unchanged; what is stated and differs (metadata, alternates,
    passthrough, redirect, a resource where none was on record) is written and goes to the history as "updated", though
    the outcome is still "unchanged", for the name leads where it led. Another target or kind: relocated if the resource
    on record is named. Raises :class:`BindingConflict` in every other case.

    Source: design, bindings; ARK-085, POL-023, URN-002.
    """
    if existing is None:
        first = proposal.first(now)
        return Change("bound", first, "bound") if first.is_live else Change("withdrawn", first, "withdrawn")
    _require_same_resource(existing, proposal, now)
    if proposal.status == "withdrawn":
        return _withdrawn_again(existing, proposal, now)
    if not existing.is_live:
        raise BindingConflict("withdrawn", existing, proposal.first(now))
    if _leads_the_same(existing, proposal):
        return _updated(existing, proposal, now)
    if _is_known_resource(existing, proposal):
        return _moved(existing, _with_statements(existing, proposal, target=proposal.target, kind=proposal.kind), now)
    raise BindingConflict("bound-otherwise", existing, proposal.first(now))


def relocate(existing: Binding, target: str | None, kind: Kind | None, now: datetime) -> Change:
    """Move a name because somebody says that the same thing is there now. Raises where the name is withdrawn."""
    moved = existing._replace(target=target, kind=_kind(kind or existing.kind))
    return _moved(existing, moved, now)


def withdraw(existing: Binding, reason: str | None, now: datetime) -> Change:
    """Take a name out of use. Its row stays as a tombstone, so that it is never given again."""
    if reason is not None:
        texts.check(reason, "reason-text", "reason", MOST_REASON)
    if not existing.is_live:
        return Change("unchanged", existing, None)
    return Change("withdrawn", _next(existing._replace(status="withdrawn", reason=reason), now), "withdrawn")


def restore(existing: Binding, resource: str | None, now: datetime) -> Change:
    """Take a withdrawn name into use again, for the resource that it was withdrawn from."""
    if resource != existing.resource:
        raise BindingConflict("other-resource", existing, existing._replace(resource=resource, status="live"))
    if existing.is_live:
        return Change("unchanged", existing, None)
    return Change("restored", _next(existing._replace(status="live", reason=None), now), "restored")


def _require_same_resource(existing: Binding, proposal: Proposal, now: datetime) -> None:
    if None not in (existing.resource, proposal.resource) and existing.resource != proposal.resource:
        raise BindingConflict("other-resource", existing, proposal.first(now))


def _is_known_resource(existing: Binding, proposal: Proposal) -> bool:
    return proposal.resource is not None and proposal.resource == existing.resource


def _leads_the_same(existing: Binding, proposal: Proposal) -> bool:
    return existing.target == proposal.target and existing.kind == proposal.kind


def _moved(existing: Binding, moved: Binding, now: datetime) -> Change:
    try:
        _reaching(moved.identifier, moved.scope, moved.kind)
        target = _destined(moved.identifier, moved.target, moved.kind, moved.passthrough)
        moved = moved._replace(target=target, alternates=alternate_targets.check(moved.alternates, moved.kind))
    except BindingError as error:
        error.identifier = moved.identifier
        raise
    if not existing.is_live:
        raise BindingConflict("withdrawn", existing, moved)
    return (
        Change("unchanged", existing, None)
        if moved == existing
        else Change("relocated", _next(moved, now), "relocated")
    )


def _withdrawn_again(existing: Binding, proposal: Proposal, now: datetime) -> Change:
    """A name is stated to be withdrawn, as a table can; where it led has to be stated right or not at all."""
    unstated = proposal.target is None
    if not (unstated or _leads_the_same(existing, proposal) or _is_known_resource(existing, proposal)):
        raise BindingConflict("bound-otherwise", existing, proposal.first(now))
    if not existing.is_live:
        return _updated(existing, proposal, now)
    return Change("withdrawn", _next(_with_statements(existing, proposal, status="withdrawn"), now), "withdrawn")


def _updated(existing: Binding, proposal: Proposal, now: datetime) -> Change:
    stated = _with_statements(existing, proposal)
    if stated == existing:
        return Change("unchanged", existing, None)
    return Change("unchanged", _next(stated, now), "updated")


_STATED = ("redirect", "resource", "passthrough", "scope", "alternates", "metadata", "reason")


def _with_statements(existing: Binding, proposal: Proposal, **other: Any) -> Binding:
    stated = {name: value for name in _STATED if (value := getattr(proposal, name)) is not None}
    if proposal.partial:
        if proposal.metadata:
            stated["metadata"] = elements.check({**existing.metadata, **proposal.metadata})
        if proposal.alternates:
            stated["alternates"] = alternate_targets.check(
                {**existing.alternates, **proposal.alternates}, proposal.kind
            )
    return existing._replace(**stated, **other)


def _next(binding: Binding, now: datetime) -> Binding:
    return binding._replace(changed=now, revision=binding.revision + 1)
