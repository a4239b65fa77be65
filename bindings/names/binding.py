"""The records of a name: :class:`Binding`, its current state, and :class:`Event`, one change of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ...identifiers.ark.grammar import RESERVED_NAAN

Kind = Literal["located", "related", "described", "served"]
"""The kind of answer: a redirect to the thing (302 or 307), a redirect to a related document (303), the description of
the name, or a page of the site itself.
"""
Status = Literal["reserved", "live", "withdrawn"]
"""A reserved name is not public. It can be deleted, unless it was public once (decisions I-05, I-08)."""
Scope = Literal["name", "subtree"]
Passthrough = bool | Literal["given"]
"""Whether the rest of a longer identifier is appended to the target: False for no, True for the rest in normal form
("normal"), or "given" for the rest as the request has it."""
Action = Literal["bound", "updated", "relocated", "withdrawn", "restored", "redacted", "reserved", "deleted", "hidden"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
SCOPES: tuple[Scope, ...] = get_args(Scope)
PASSTHROUGHS: tuple[Passthrough, ...] = (False, True, "given")
ACTIONS: tuple[Action, ...] = get_args(Action)

PLACE = ("target", "kind", "passthrough", "scope", "alternates")
"""The fields that decide where a client is sent. A change of one is a relocation."""

# "A HTTP ARK resolver MUST use HTTP status code 302 or 307 instead of 301 or 308"
REDIRECTS = (302, 307)

NOTHING: Mapping[Any, str] = MappingProxyType({})

NUMBER_KINDS = ("current", "further", "former")
"""The kinds of numbers of a thing. There is one current number, and there can be several of the others."""


class Numbers(NamedTuple):
    """The numbers of a thing: the ``current`` one or None, ``further`` ones and ``former`` ones."""

    current: str | None
    further: tuple[str, ...] = ()
    former: tuple[str, ...] = ()


def numbers_in(text: str) -> list[str]:
    """Return the different numbers in a text, between vertical lines.

    >>> numbers_in("B 1 | B 2 || B 1")
    ['B 1', 'B 2']
    """
    return list(dict.fromkeys(part for each in text.split("|") if (part := each.strip())))


@dataclass(frozen=True, kw_only=True)
class Binding:
    """The record that connects one name to its target.

    - ``identifier``: the key: the normal form of the Basic ARK, or of the assigned name of the URN.
    - ``kind``: "located" (redirect to the resource), "related" (to a related page), "described" (only a description) or
      "served" (the site answers).
    - ``target``: an http(s) URL or a path of this site in ASCII; None only for the kind "described".
    - ``redirect``: the status of the answer for the kind "located": 302 or 307.
    - ``listed``: whether the name is in sitemaps, Atom and OAI-PMH.
    - ``resource``: a text that identifies the thing itself, independent of its target.
    - ``passthrough``: whether the rest of an identifier is appended to the target: True for its normal form, or "given"
      for the text of the request.
    - ``scope``: "name", or "subtree" if the site answers for all identifiers below the name.
    - ``alternates``: other targets by a media type and language: "text/html;en", "text/html" or "en".
    - ``metadata``: texts by the full names of their elements, such as ``erc.who``.
    - ``reason``, ``successor``: of a withdrawal. The successor is a name in normal form or an http(s) URL.
    - ``spelling``: the text under which the name was first bound.
    - ``created``, ``changed``: the times of the first and the last change in UTC. An import can set both.
    - ``revision``: the number of changes, from 1.
    - ``once_public``: "yes" if the publication of the name was undone, at any time; otherwise None.
    - ``hold_until``: the end of the hold in UTC, also of one that has ended.
    - ``embargo``: the time in UTC from which a reserved name is live, or None. Other names have none.
    - ``numbers``: the numbers of the thing by kind, as far as they differ from the resource (:attr:`thing_numbers`).
    - ``recorded``: the time in UTC when this store recorded the last change, if an import set another ``changed``.
      Comparisons ignore it.
    """

    identifier: str
    kind: Kind
    target: str | None
    status: Status
    redirect: int
    listed: bool
    resource: str | None
    passthrough: Passthrough
    scope: Scope
    alternates: Mapping[str, str]
    metadata: Mapping[str, str]
    reason: str | None
    successor: str | None
    spelling: str
    created: datetime
    changed: datetime
    revision: int
    once_public: Literal["yes"] | None = None
    hold_until: datetime | None = None
    hold_reason: str | None = None
    embargo: datetime | None = None
    numbers: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    recorded: datetime | None = field(default=None, compare=False)

    if not TYPE_CHECKING:

        def __init__(self, **values: object) -> None:
            # Each redirect creates one. The __init__ of a frozen dataclass sets the fields one by one, which is slower.
            self.__dict__.update(values)

    def __hash__(self) -> int:
        # Mappings are not hashable. Each revision of a name has one state.
        return hash((self.identifier, self.revision, self.changed))

    def at(self, instant: datetime) -> Binding:
        """Return the binding as it is at the time ``instant`` (UTC): a reserved name is live from its ``embargo`` on.

        Each reader and writer of a store calls it, so the clock alone decides. The change need not be written yet.

        >>> from datetime import UTC
        >>> from ararat.bindings.names.fields import Fields
        >>> noon = datetime(2027, 3, 1, 12, tzinfo=UTC)
        >>> fields = Fields(target="/x", embargo=noon).for_name("ark:12345/x")
        >>> reserved = fields.create_binding(datetime(2026, 1, 1, tzinfo=UTC))
        >>> reserved.at(datetime(2027, 3, 1, 11, tzinfo=UTC)).status, reserved.at(noon).status
        ('reserved', 'live')
        """
        due = self.embargo
        if due is None or due > instant:
            return self
        # A clock that was set back, or an import, can have left a later time of the last change.
        when = max(due, self.changed)
        return replace(self, status="live", embargo=None, changed=when, revision=self.revision + 1, recorded=None)

    @property
    def is_live(self) -> bool:
        """Whether the name is public and resolves: it is neither reserved nor withdrawn."""
        return self.status == "live"

    @property
    def is_reserved(self) -> bool:
        """Whether the name is recorded but not public. The resolver answers 404, as for an unknown name."""
        return self.status == "reserved"

    @property
    def is_hidden(self) -> bool:
        """Whether the name is reserved, and was public before. The resolver answers 410 and shows nothing about it."""
        return self.status == "reserved" and self.once_public is not None

    @property
    def is_test(self) -> bool:
        """Whether the name is only for tests, because its NAAN is 99999 (decision X-06)."""
        return self.identifier.startswith(RESERVED_NAAN)

    @property
    def recorded_at(self) -> datetime:
        """The time in UTC when this store recorded the last change of the name. Feeds and lists are in this order."""
        return self.recorded or self.changed

    @property
    def is_withdrawn(self) -> bool:
        """Whether the name was public and no longer resolves. The resolver answers 410 with a tombstone page."""
        return self.status == "withdrawn"

    @property
    def thing_numbers(self) -> Numbers:
        """The numbers of the thing. Without a recorded number, the resource is the current one."""
        recorded = self.numbers
        several = (tuple(numbers_in(recorded.get(kind, ""))) for kind in NUMBER_KINDS[1:])
        return Numbers(recorded.get("current") or self.resource, *several)

    @property
    def hold(self) -> Hold | None:
        """The recorded hold of the name, which can have ended already, or None."""
        if self.hold_until is None:
            return None
        public_from = self.embargo if self.is_reserved else ALWAYS
        return Hold(self.identifier, self.hold_until, self.hold_reason, public_from=public_from)

    def as_dict(self) -> dict[str, Any]:
        """Return the binding as a JSON object with the fields of this class. A name for tests also has the member
        ``test``.
        """
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self) if field.compare}
        numbers = self.thing_numbers if self.numbers else Numbers(self.resource)
        values["numbers"] = {"current": numbers.current, "further": [*numbers.further], "former": [*numbers.former]}
        for name, value in values.items():
            if isinstance(value, Mapping):
                values[name] = dict(value)
            elif isinstance(value, datetime):
                values[name] = rfc3339(value)
        return values | {"test": True} if self.is_test else values

    def as_listed(self) -> dict[str, Any]:
        """Return the binding as a JSON object of a list: first the members of each list, then those of :meth:`as_dict`.

        The member "state" has the status.
        """
        record = self.as_dict()
        first = ("target", "resource", "successor", "created", "changed", "metadata")
        listed = {"identifier": record["identifier"], "spelling": record["spelling"], "state": record.pop("status")}
        return {**listed, **{name: record[name] for name in first}, **record}


# A binding that was made without numbers has these. Python 3.11 does not accept them as a default.
Binding.numbers = NOTHING

ALWAYS = datetime.min.replace(tzinfo=UTC)
"""The time from which a name is public that is not reserved."""


class Hold(NamedTuple):
    """A time in which a name, or all names below a prefix, are described and do not redirect.

    - ``of``: the name or prefix in normal form. ``is_prefix`` is true for a prefix.
    - ``until``: its end in UTC.
    - ``reason``: why, for visitors; None if it was redacted.
    - ``public_from``: the embargo of a reserved name, from which its hold is public; otherwise None.
    """

    of: str
    until: datetime
    reason: str | None
    is_prefix: bool = False
    public_from: datetime | None = ALWAYS

    def is_public(self, now: datetime) -> bool:
        """Return whether the name on hold is public at the time ``now``. A hold must not reveal a reserved name."""
        return self.public_from is not None and self.public_from <= now

    def as_dict(self) -> dict[str, Any]:
        """Return the hold as a JSON object with the members "name" or "prefix", "until" (RFC 3339 in UTC) and
        "reason".
        """
        return {"prefix" if self.is_prefix else "name": self.of, "until": rfc3339(self.until), "reason": self.reason}


class StoredRedirect(NamedTuple):
    """The redirect of a live name without alternates that the site does not serve: the few columns that most requests
    need. ``status`` is 302 or 307 for the kind "located", else 303. ``target`` is None for the kind "described".
    """

    target: str | None
    status: int
    metadata: Mapping[str, str]


class NameCount(NamedTuple):
    """The number of names in a store, ``number``. ``exact`` is False if the number is an estimate."""

    number: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number:,}" if self.exact else f"about {self.number:,}"


@dataclass(frozen=True, slots=True)
class Event:
    """One change of a name in its history.

    - ``action``: the kind of the change. "updated" changes neither target nor status.
    - ``source``: the file and line of an imported table.
    - ``before``, ``after``: the bindings. The first change has no binding before it, and "deleted" none after it.
    - ``operation``: the number of the operation that the change belongs to, or None.
    """

    action: Action
    actor: str | None
    source: str | None
    before: Binding | None
    after: Binding
    operation: int | None = None

    @property
    def when(self) -> datetime:
        """The time in UTC of this change of the name."""
        return self.after.changed

    @property
    def revision(self) -> int:
        """The number of this change among the changes of the name, from 1."""
        return self.after.revision

    def as_dict(self) -> dict[str, Any]:
        """Return the change as a JSON object, with the bindings before and after it. Times are RFC 3339 in UTC."""
        return {
            "when": rfc3339(self.when),
            "action": self.action,
            "actor": self.actor,
            "source": self.source,
            "operation": self.operation,
            "revision": self.revision,
            "before": self.before and self.before.as_dict(),
            "after": self.after.as_dict(),
        }


@lru_cache(maxsize=64)
def rfc3339(time: datetime) -> str:
    """Format a time in UTC as RFC 3339 with microseconds. Such texts sort like their times.

    >>> from datetime import UTC
    >>> rfc3339(datetime(2020, 10, 4, 12, tzinfo=UTC))
    '2020-10-04T12:00:00.000000Z'
    """
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def utc_seconds(time: datetime) -> str:
    """Format a time in UTC with whole seconds, as in messages.

    >>> from datetime import UTC
    >>> utc_seconds(datetime(2020, 10, 4, 12, 0, 0, 999, tzinfo=UTC))
    '2020-10-04T12:00:00Z'
    """
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


@dataclass(frozen=True, kw_only=True)
class LoggedName:
    """The place of a name in the published log: the number of its first entry, from 0, and the time of that entry's
    change. ``witnesses`` is the number of cosignatures of the published checkpoint. ``page`` is the path of the page
    about the log.
    """

    entry: int
    since: datetime
    witnesses: int
    page: str
