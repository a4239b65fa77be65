"""What is on record of a name: the value :class:`Binding`, and :class:`Event`, one entry of its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["located", "related", "described", "served"]
"""How a name is answered: by its location (302), by something about it (303), by its description, or by the site
itself.
"""
Status = Literal["live", "withdrawn"]
Scope = Literal["name", "subtree"]
Action = Literal["bound", "updated", "relocated", "withdrawn", "restored"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
SCOPES: tuple[Scope, ...] = get_args(Scope)
ACTIONS: tuple[Action, ...] = get_args(Action)

# "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
REDIRECTS = (302, 307)

NOTHING: Mapping[str, str] = MappingProxyType({})


class Binding(NamedTuple):
    """One name and what it is bound to.

    ``identifier`` is the key: the normal form of the Basic ARK, or the URN's assigned name. ``target`` is an http(s)
    address or a path of this site, pure ASCII; only a "described" name has none. ``redirect`` is the status of the
    answer for a located name. ``resource`` names the thing itself, whatever its place, or is None where nobody said.
    ``alternates`` maps "text/html;en", "text/html" or "en" to another target. ``metadata`` holds elements of the ERC
    kernel in their order. ``reason`` says why a withdrawn name is. ``changed`` is in UTC; ``revision`` counts the
    changes, from 1.
    """

    identifier: str
    kind: Kind
    target: str | None
    status: Status
    redirect: int
    resource: str | None
    passthrough: bool
    scope: Scope
    alternates: Mapping[str, str]
    metadata: Mapping[str, str]
    reason: str | None
    changed: datetime
    revision: int

    def __hash__(self) -> int:
        # Mappings cannot be hashed, and a name has one state of each revision.
        return hash((self.identifier, self.revision, self.changed))

    @property
    def is_live(self) -> bool:
        """Whether the name is in use; a withdrawn one keeps its row as a tombstone."""
        return self.status == "live"

    def as_dict(self) -> dict[str, Any]:
        """The binding as JSON has it; the time is RFC 3339 in UTC."""
        return self._asdict() | {
            "alternates": dict(self.alternates),
            "metadata": dict(self.metadata),
            "changed": rfc3339(self.changed),
        }


class NameCount(NamedTuple):
    """How many names a store has. A large number may be an estimate, which takes no longer than a small one."""

    number: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number:,}" if self.exact else f"about {self.number:,}"


@dataclass(frozen=True, slots=True)
class Event:
    """One change of a name: the binding before it (None for the first) and after it, and who made it.

    ``actor`` is None where nobody was named; ``source`` is the file and line of an imported table, or None. "updated"
    is a change of anything but place and status.
    """

    action: Action
    actor: str | None
    source: str | None
    before: Binding | None
    after: Binding

    @property
    def when(self) -> datetime:
        """The time of the change, in UTC."""
        return self.after.changed

    @property
    def revision(self) -> int:
        """The number of the change among those of its name, from 1."""
        return self.after.revision

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON has it."""
        return {
            "when": rfc3339(self.when),
            "action": self.action,
            "actor": self.actor,
            "source": self.source,
            "revision": self.revision,
            "before": self.before and self.before.as_dict(),
            "after": self.after.as_dict(),
        }


@lru_cache(maxsize=64)
def rfc3339(time: datetime) -> str:
    """A time in UTC with its microseconds, in a form whose order is that of time.

    >>> from datetime import UTC
    >>> rfc3339(datetime(2020, 10, 4, 12, tzinfo=UTC))
    '2020-10-04T12:00:00.000000Z'
    """
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
