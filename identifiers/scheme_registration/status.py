"""The status of a registered URI scheme (permanent, provisional, historical), and who can request a change. Source: RFC
7595, section 7.3 (SCH-044 to SCH-047). The identity of the requester is not verified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .record import Registration

STATUSES = ("permanent", "provisional", "historical")
"""The statuses. An entry has one of them (SCH-002)."""

ACTORS = {
    "registrant": "the original registrant",
    "designee": "a person designated by the original registrant",
    "expert": "the Designated Expert",
    "iesg": "the IESG",
    "anyone": "anyone else",
}

_EVERYBODY = tuple(ACTORS)
_UPDATERS = ("registrant", "designee", "iesg")


@dataclass(frozen=True, slots=True)
class Transition:
    """An allowed change of the status of a URI scheme from ``before`` (None for a first registration) to ``after``.
    ``actors`` are the keys of :data:`ACTORS` that can request it, and ``takes`` is the condition in words.
    """

    before: str | None
    after: str
    actors: tuple[str, ...]
    takes: str
    requirement: str


TRANSITIONS = (
    Transition(None, "permanent", _EVERYBODY, "Expert Review against the rules for permanent schemes", "SCH-039"),
    Transition(None, "provisional", _EVERYBODY, "Expert Review against the minimum requirements", "SCH-037"),
    Transition(None, "historical", _EVERYBODY, "a reference to where it was defined", "SCH-038"),
    # "Provisional registrations may be updated by the original registrant or anyone designated by the original
    # registrant. In addition, the IESG may ... request specific changes to a scheme registration."
    Transition("provisional", "provisional", _UPDATERS, "the same mechanism as a first registration", "SCH-046"),
    # "Transition from 'provisional' to 'permanent' status may be requested and approved in the same manner as a new
    # 'permanent' registration."  "the Designated Expert or IESG may request the upgrade"
    Transition("provisional", "permanent", _EVERYBODY, "Expert Review, as for a new permanent registration", "SCH-047"),
    # "Transition from 'provisional' to 'historical' may be requested by anyone authorized to update the provisional
    # registration."
    Transition("provisional", "historical", _UPDATERS, "a reference to where it was defined", "SCH-047"),
    Transition("permanent", "permanent", _UPDATERS, "Expert Review, and for IETF documents the IESG", "SCH-045"),
    # "Transition from 'permanent' to 'historical' status requires IESG approval."
    Transition("permanent", "historical", ("iesg",), "approval by the IESG", "SCH-047"),
    Transition("historical", "historical", _UPDATERS, "the same mechanism as a first registration", "SCH-045"),
)
"""All allowed changes (SCH-047)."""


def is_way(before: str | None, after: str) -> bool:
    """Return whether the change from ``before`` to another status is possible, because at least one of :data:`ACTORS`
    can request it.

    >>> is_way("permanent", "historical"), is_way("historical", "permanent")
    (True, False)
    """
    return any((each.before, each.after) == (before, after) for each in TRANSITIONS)


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of :func:`transition`. ``reason`` is a sentence without a full stop."""

    allowed: bool
    reason: str
    requirement: str


def transition(before: str | None, after: str, actor: str) -> Decision:
    """Decide whether ``actor`` can request a change of the status of a URI scheme. ``before`` is None for a first
    registration. Raises ValueError for an unknown status or actor.

    >>> transition("provisional", "historical", "registrant").allowed
    True
    >>> transition("permanent", "historical", "expert").reason
    'a change from permanent to historical can be requested by the IESG, not by the Designated Expert'
    """
    for status in (before, after):
        if status is not None and status not in STATUSES:
            raise ValueError(f"{status!r} is not a status; expected one of {', '.join(STATUSES)}")
    if actor not in ACTORS:
        raise ValueError(f"{actor!r} is not a requester; expected one of {', '.join(ACTORS)}")
    change = f"a change from {before} to {after}" if before else f"a first registration as {after}"
    allowed = next((each for each in TRANSITIONS if (each.before, each.after) == (before, after)), None)
    if allowed is None:
        return Decision(False, f"{change} is not allowed", "SCH-047")
    if actor not in allowed.actors:
        expected = " or ".join(ACTORS[each] for each in allowed.actors)
        return Decision(False, f"{change} can be requested by {expected}, not by {ACTORS[actor]}", allowed.requirement)
    return Decision(True, f"{change}: {ACTORS[actor]} can request it; required: {allowed.takes}", allowed.requirement)


def with_status(record: Registration, status: str, actor: str) -> Registration:
    """Return a copy of a registration with another status, and with a note about the old one (SCH-044). One with this
    status is returned unchanged. Raises ValueError if :func:`transition` does not allow the change.

    >>> with_status(Registration(name="atlas", status="provisional"), "historical", "registrant").notes
    ('Moved from provisional to historical, at the request of the original registrant.',)
    """
    decision = transition(record.status.lower() or None, status, actor)
    if not decision.allowed:
        raise ValueError(decision.reason)
    if record.status.lower() == status:
        return record
    note = f"Moved from {record.status.lower() or 'nothing'} to {status}, at the request of {ACTORS[actor]}."
    return replace(record, status=status, notes=(*record.notes, note))
