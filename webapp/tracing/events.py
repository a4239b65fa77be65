"""What happens in a trace, as values: one :class:`Start`, a :class:`Hop` for each request, one :class:`End`.

The page, the event stream, the API and the terminal all show these, and nothing else, so they always say the same.
``as_dict`` gives what JSON holds; of the addresses in it only those of http and https may become links. The fields that
hold text of others are named below; ``sentence`` and the texts of notes are ours, and printable ASCII whatever the
others sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .hop import Where

State = Literal["direct", "related", "metadata"]
Outcome = Literal["success", "failure", "unspecified", "refused"]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark: ``code`` is a stable kebab-case word, ``text`` a sentence, ``href`` the address it is about, if any."""

    code: str
    text: str
    href: str | None = None

    def as_dict(self) -> dict[str, str]:
        """The note as JSON has it; ``href`` only where there is one."""
        return {"code": self.code, "text": self.text} | ({"href": self.href} if self.href else {})


@dataclass(frozen=True, slots=True)
class Start:
    """What is going to be resolved, and how.

    ``identifier`` is as given (text of others). ``sent`` is the first address to be asked, None where the run is
    refused.
    """

    identifier: str
    resolver: str
    method: str
    max_redirects: int
    sent: str | None
    state: State
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON has it."""
        return {
            "event": "start",
            "identifier": self.identifier,
            "resolver": self.resolver,
            "method": self.method,
            "max_redirects": self.max_redirects,
            "sent": self.sent,
            "state": self.state,
            "notes": [note.as_dict() for note in self.notes],
        }


@dataclass(frozen=True, slots=True)
class Hop:
    """One request and what came of it.

    ``number`` counts from 1. ``url`` is what was asked; ``where`` says whether in process or over the network.
    ``status`` is None where there was no answer; then ``failure`` says why. ``reason`` and ``headers`` (a few, for
    showing) are the other side's words as printable ASCII, shortened. ``location`` is the Location field as received
    (text of others), ``target`` the URI it means, without a fragment, None where there is none. ``state`` is the state
    after this hop, ``redirects_left`` how many redirects may still be followed. ``at`` and ``seconds`` say when, from
    the start of the run, the request began, and how long it took. ``age`` is None where the request was sent; else the
    answer to an earlier one was taken, which is that many seconds old.
    """

    number: int
    method: str
    url: str
    where: Where
    status: int | None
    reason: str
    headers: tuple[tuple[str, str], ...]
    location: str | None
    target: str | None
    state: State
    redirects_left: int
    failure: Note | None
    notes: tuple[Note, ...]
    at: float
    seconds: float
    age: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON has it."""
        return {
            "event": "hop",
            "number": self.number,
            "method": self.method,
            "url": self.url,
            "where": self.where,
            "status": self.status,
            "reason": self.reason,
            "headers": [list(field) for field in self.headers],
            "location": self.location,
            "target": self.target,
            "state": self.state,
            "redirects_left": self.redirects_left,
            "failure": self.failure.as_dict() if self.failure else None,
            "notes": [note.as_dict() for note in self.notes],
            "at": round(self.at, 3),
            "seconds": round(self.seconds, 3),
            "age": None if self.age is None else round(self.age, 3),
        }


@dataclass(frozen=True, slots=True)
class End:
    """How it ended.

    ``url`` is the URI at which the run ended, None where it was refused; ``fragment`` belongs to it, and is for showing
    alone (R-03). ``hops`` counts the requests. ``code`` is one of :data:`.trace.CODES`, a code of
    :data:`.hop.FAILURES`, or for "refused" that of the identifier's problem. ``sentence`` tells it all.
    """

    outcome: Outcome
    state: State
    url: str | None
    fragment: str | None
    hops: int
    seconds: float
    code: str
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON has it."""
        return {
            "event": "end",
            "outcome": self.outcome,
            "state": self.state,
            "url": self.url,
            "fragment": self.fragment,
            "hops": self.hops,
            "seconds": round(self.seconds, 3),
            "code": self.code,
            "sentence": self.sentence,
        }


Event = Start | Hop | End
