"""The status of a registration, and who may have it changed: permanent, provisional, historical.

The rules are document 003, section 6.3 (SCH-044 to SCH-047). Whoever acts is one of :data:`ACTORS`; whether somebody is
who they say is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .record import Registration

STATUSES = ("permanent", "provisional", "historical")
"""SCH-002; an entry has one of them."""

ACTORS = {
    "registrant": "the original registrant",
    "designee": "whom the original registrant designated",
    "expert": "the Designated Expert",
    "iesg": "the IESG",
    "anyone": "anybody else",
}

_EVERYBODY = tuple(ACTORS)
_UPDATERS = ("registrant", "designee", "iesg")


@dataclass(frozen=True, slots=True)
class Transition:
    """A change that there is: from a status (None: not registered yet) to one, for whom, and what it takes."""

    before: str | None
    after: str
    actors: tuple[str, ...]
    takes: str
    requirement: str


TRANSITIONS = (
    Transition(None, "permanent", _EVERYBODY, "Expert Review against the rules for permanent schemes", "SCH-039"),
    Transition(None, "provisional", _EVERYBODY, "Expert Review against the least that is required", "SCH-037"),
    Transition(None, "historical", _EVERYBODY, "a reference to where it was defined", "SCH-038"),
    # "Provisional registrations may be updated by the original registrant or anyone designated by the original
    # registrant. In addition, the IESG may ... request specific changes to a scheme registration."
    Transition("provisional", "provisional", _UPDATERS, "the same mechanism as a first registration", "SCH-046"),
    # "Transition from 'provisional' to 'permanent' status may be requested and approved in the same manner as a new
    # 'permanent' registration."  "the Designated Expert or IESG may request the upgrade"
    Transition("provisional", "permanent", _EVERYBODY, "Expert Review, as of a new permanent one", "SCH-047"),
    # "Transition from 'provisional' to 'historical' may be requested by anyone authorized to update the provisional
    # registration."
    Transition("provisional", "historical", _UPDATERS, "a reference to where it was defined", "SCH-047"),
    Transition("permanent", "permanent", _UPDATERS, "Expert Review, and for IETF documents the IESG", "SCH-045"),
    # "Transition from 'permanent' to 'historical' status requires IESG approval."
    Transition("permanent", "historical", ("iesg",), "approval by the IESG", "SCH-047"),
    Transition("historical", "historical", _UPDATERS, "the same mechanism as a first registration", "SCH-045"),
)
"""Every change there is; what is not here is not allowed (SCH-047)."""


def is_way(before: str | None, after: str) -> bool:
    """Whether there is a change from one status to another at all, whoever asks for it."""
    return any((each.before, each.after) == (before, after) for each in TRANSITIONS)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a change is allowed, why or why not in a sentence, and the requirement that says so."""

    allowed: bool
    reason: str
    requirement: str


def transition(before: str | None, after: str, actor: str) -> Decision:
    """Whether ``actor`` may ask for the change of a registration from a status (None: there is none yet) to another.

    Raises ValueError for a status or an actor that is none.

    >>> transition("provisional", "historical", "registrant").allowed
    True
    >>> transition("historical", "permanent", "iesg").allowed
    False
    >>> transition("permanent", "historical", "expert").reason
    'from permanent to historical takes the IESG, not the Designated Expert'
    """
    for status in (before, after):
        if status is not None and status not in STATUSES:
            raise ValueError(f"{status!r} is no status; expected one of {', '.join(STATUSES)}")
    if actor not in ACTORS:
        raise ValueError(f"{actor!r} is nobody; expected one of {', '.join(ACTORS)}")
    change = f"from {before} to {after}" if before else f"a first registration as {after}"
    found = next((each for each in TRANSITIONS if (each.before, each.after) == (before, after)), None)
    if found is None:
        return Decision(False, f"there is no way {change}", "SCH-047")
    if actor not in found.actors:
        expected = " or ".join(ACTORS[each] for each in found.actors)
        return Decision(False, f"{change} takes {expected}, not {ACTORS[actor]}", found.requirement)
    return Decision(True, f"{change}: {ACTORS[actor]} may ask for it; it takes {found.takes}", found.requirement)


def moved(record: Registration, status: str, actor: str) -> Registration:
    """The record in another status, with a note of what it was, so that its history stays with it (SCH-044).

    Raises ValueError where :func:`transition` says no.

    >>> moved(Registration(name="atlas", status="provisional"), "historical", "registrant").notes
    ('Moved from provisional to historical, at the request of the original registrant.',)
    """
    decision = transition(record.status.lower() or None, status, actor)
    if not decision.allowed:
        raise ValueError(decision.reason)
    if record.status.lower() == status:
        return record
    note = f"Moved from {record.status.lower() or 'nothing'} to {status}, at the request of {ACTORS[actor]}."
    return replace(record, status=status, notes=(*record.notes, note))
