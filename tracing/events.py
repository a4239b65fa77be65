"""The events of a trace: one :class:`Start`, a :class:`Hop` for each request, one :class:`End`. The docstrings name the
fields with untrusted text; ``sentence`` and the texts of notes are always printable ASCII. Only http and https URLs may
become links.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ..net.hop import Where

State = Literal["direct", "related", "metadata"]
Outcome = Literal["success", "failure", "unspecified", "refused"]


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a hop or a trace, such as a redirect from https to http. ``code`` never changes its meaning. ``text``
    is a sentence, and ``href`` the URL that it refers to, or None.
    """

    code: str
    text: str
    href: str | None = None

    def as_dict(self) -> dict[str, str]:
        """Return the JSON members ``code`` and ``text``, and ``href`` if the note has a URL."""
        return {"code": self.code, "text": self.text} | ({"href": self.href} if self.href else {})


@dataclass(frozen=True, slots=True)
class _Event:
    """An event that consists of texts, numbers and notes. ``as_dict`` returns its fields as JSON types."""

    def as_dict(self) -> dict[str, Any]:
        return {"event": type(self).__name__.lower()} | {
            field.name: _json(getattr(self, field.name)) for field in fields(self)
        }


def _json(value: Any) -> Any:
    """Return the value of a field as a JSON type. Seconds are rounded to milliseconds."""
    if isinstance(value, Note):
        return value.as_dict()
    if isinstance(value, tuple):
        return [_json(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value


@dataclass(frozen=True, slots=True)
class Start(_Event):
    """The first event of a trace: its parameters. ``identifier`` is the text as given, which is not trusted. ``sent``
    is the URL of the first request, or None if the trace ends without a request.
    """

    identifier: str
    resolver: str
    method: str
    max_redirects: int
    sent: str | None
    state: State
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Hop(_Event):
    """One request of a trace and its response.

    - ``number``: counts from 1. ``where``: "here" for a request in process, else "elsewhere".
    - ``status``: the status, or None without a response; ``failure`` is then the reason.
    - ``reason``, ``headers``: the reason phrase and a few fields of the response, as shortened printable ASCII.
    - ``location``: the Location field as received (untrusted text). ``target``: it is resolved, without its fragment.
    - ``state``, ``redirects_left``: the state and the remaining redirects after this hop.
    - ``at``, ``seconds``: the start of the request, in seconds after the start of the trace, and its duration.
    - ``age``: None for a new response; otherwise the age in seconds of a response from the cache.
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


@dataclass(frozen=True, slots=True)
class End(_Event):
    """The last event of a trace: its result. ``url`` is the URI at which the trace ended, or None if no request was
    sent. Its ``fragment`` is only displayed (R-03). ``hops`` is the number of requests, and ``seconds`` the duration.
    ``code`` is one of :data:`.algorithm.CODES` or :data:`.hop.FAILURES`; for the outcome "refused", that of the
    problem.
    """

    outcome: Outcome
    state: State
    url: str | None
    fragment: str | None
    hops: int
    seconds: float
    code: str
    sentence: str


Event = Start | Hop | End
