"""Put a name, or all names below a prefix, on hold; release and list holds (:mod:`.names.prefixes.holds`). A recorded
name is held as a name, any other text as a prefix, whose record has the hold.

>>> import tempfile
>>> from datetime import timedelta
>>> from ararat.middleware import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
>>> b.bind("ark:12345/x1", "https://example.org/1")
'bound'
>>> hold(b, "ark:12345/x1", b.now() + timedelta(days=30), "a court order", actor="me").outcome
'held'
>>> [(each.hold.of, each.hold.reason, each.actor) for each in current(b)]
[('ark:12345/x1', 'a court order', 'me')]
>>> release(b, "ark:12345/x1").outcome, current(b)
('released', [])
>>> b.close(); folder.cleanup()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import changes, prefix_changes
from .names import assignment, naming
from .names.actor import Actor
from .names.binding import Binding, Hold, rfc3339
from .names.errors import BindingError
from .names.prefixes import holds, prefixes
from .names.selection import Selection

if TYPE_CHECKING:
    from .collection import Bindings
    from .names.assignment import Change
    from .names.binding import Event
    from .names.prefixes.holds import Holds
    from .names.prefixes.prefixes import PrefixEvent, PrefixRecord
    from .storage.writing.transaction import Transaction

Of = Literal["name", "prefix"]

MAX_LISTED = 1000
"""The number of holds of names up to which a list has their time and actor, which take a query for each name."""


class HoldChange(NamedTuple):
    """The result of a request to put a name or prefix on hold, or to release it. ``outcome`` is "held", "unchanged" or
    "released". ``of`` is the key of the name or prefix, and ``kind`` "name" or "prefix".
    """

    outcome: str
    of: str
    kind: Of


class Holding(NamedTuple):
    """A hold in a list, with the change that recorded it. ``since`` and ``actor`` of this change are None behind the
    first :data:`MAX_LISTED` names. A hold that is not current has ended and was not released. ``revision`` is that of
    the name or the record of the prefix.
    """

    hold: Hold
    since: datetime | None
    actor: str | None
    is_current: bool
    revision: int

    def as_dict(self) -> dict[str, Any]:
        """Return the hold as a JSON object: the members of :meth:`.Hold.as_dict`, and "since", "actor" and "current".
        Times are RFC 3339 in UTC.
        """
        since = None if self.since is None else rfc3339(self.since)
        return {**self.hold.as_dict(), "since": since, "actor": self.actor, "current": self.is_current}


def require(bindings: Bindings, text: str, kind: Of | None = None) -> tuple[str, Of]:
    """Return the key of a recorded name or prefix that is to be put on hold, and its kind. ``kind`` is the expected
    one; None accepts both, a name first. Raises :class:`BindingError` (``hold-unknown``) for a text that is neither a
    recorded name nor a prefix with a record, a rule or names. Raises like :func:`.prefixes.check_prefix`, too.
    """
    if (key := _name(bindings, text, kind, lambda name: True)) is not None:
        return key, "name"
    prefix = prefixes.check_prefix(text, bindings.naming)
    is_known = (
        bindings.prefixes.get(prefix) is not None
        or any(rule.prefix == prefix for rule in bindings.rules.list())
        or bool(bindings.list_names(Selection(prefix=prefix), limit=1).names)
    )
    if not is_known:
        raise BindingError("hold-unknown", identifier=prefix)
    return prefix, "prefix"


def hold(
    bindings: Bindings,
    of: str,
    until: datetime,
    reason: str,
    *,
    kind: Of | None = None,
    revision: int | None = None,
    actor: Actor | str | None = None,
) -> HoldChange:
    """Put a name, or all names below a prefix, on hold until a time, or change the hold (decision X-12).

    ``kind`` is "name" or "prefix"; None means a name if it is recorded, else a prefix. ``until`` is an aware time in
    the future, at most a year ahead. ``reason`` has 1 to 2,000 characters for visitors. ``revision`` is that which the
    name or the record of the prefix must still have, 0 for no record. Raises :class:`Stale` for another one, and
    :class:`BindingError` with the code ``hold-until``, ``hold-reason``, ``hold-withdrawn``, ``hold-unknown``,
    ``not-bound`` or ``not-granted``.
    """
    key, actual_kind = require(bindings, of, kind)
    if actual_kind == "name":
        return _change(bindings, key, lambda each, now: assignment.hold(each, until, reason, now), revision, actor)

    def change(transaction: Transaction, now: datetime, by: str | None) -> Literal["held", "unchanged"]:
        return prefix_changes.hold(transaction, key, until, reason, now, by, revision)

    return _change_prefix(bindings, key, change, actor)


def release(
    bindings: Bindings,
    of: str,
    *,
    kind: Of | None = None,
    revision: int | None = None,
    actor: Actor | str | None = None,
) -> HoldChange:
    """End the hold of a name or a prefix, so that its redirects work again. Without ``kind``, a name without a hold is
    taken for a prefix. ``revision`` is that of :func:`hold`. Raises :class:`BindingError` (``hold-missing``) without a
    hold.
    """
    key, actual_kind = require_held(bindings, of, kind)
    if actual_kind == "name":
        return _change(bindings, key, assignment.release, revision, actor)

    def change(transaction: Transaction, now: datetime, by: str | None) -> Literal["released"]:
        return prefix_changes.release(transaction, key, now, by, revision)

    return _change_prefix(bindings, key, change, actor)


def require_held(bindings: Bindings, text: str, kind: Of | None = None) -> tuple[str, Of]:
    """Return the key of a name or prefix whose hold is to end, and its kind. Without ``kind``, it is the name if it has
    a hold, else the prefix. Raises :class:`BindingError` (``hold-missing``) for a text that is neither.
    """
    if (key := _name(bindings, text, kind, lambda name: name.hold_until is not None)) is not None:
        return key, "name"
    prefix = prefixes.check_prefix(text, bindings.naming)
    record = bindings.prefixes.get(prefix)
    if record is None or record.hold_until is None:
        raise BindingError("hold-missing", identifier=prefix)
    return prefix, "prefix"


def _name(bindings: Bindings, text: str, kind: Of | None, accepts: Callable[[Binding], bool]) -> str | None:
    """Return the key of ``text`` as a name: any one if ``kind`` is "name", else a recorded one that is accepted."""
    if kind == "prefix":
        return None
    try:
        key = naming.key_of(text)
    except BindingError:
        if kind == "name":
            raise
        return None
    binding = bindings.store.fetch([key]).get(key)
    return key if kind == "name" or (binding is not None and accepts(binding)) else None


def _change(
    bindings: Bindings,
    name: str,
    decide: Callable[[Binding, datetime], Change],
    revision: int | None,
    actor: Actor | str | None,
) -> HoldChange:
    name_change = changes.change_recorded(name, lambda existing, now: [decide(existing, now)], revision)

    def write(transaction: Transaction) -> HoldChange:
        [made] = changes.make(transaction, [name_change], bindings.now())
        transaction.result = held = HoldChange(made.outcome, name_change.key, "name")
        return held

    by = Actor.of(actor)
    by.require_granted(name_change.key)
    return bindings.run_in_transaction(write, actor=by)


def _change_prefix(
    bindings: Bindings,
    key: str,
    change: Callable[[Transaction, datetime, str | None], Literal["held", "unchanged", "released"]],
    actor: Actor | str | None,
) -> HoldChange:
    by = Actor.of(actor)
    by.require_granted(key)

    def write(transaction: Transaction) -> HoldChange:
        outcome = change(transaction, bindings.now(), by.name)
        if outcome == "unchanged":
            transaction.rollback()
        else:
            transaction.noted[key] = outcome
        transaction.result = made = HoldChange(outcome, key, "prefix")
        return made

    return bindings.run_in_transaction(write, actor=by)


def current(bindings: Bindings, *, with_ended: bool = False) -> list[Holding]:
    """Return the holds of all names and prefixes, the first to end first, optionally with those that have ended."""
    now = bindings.now()
    condition: Literal["yes", "any"] = "any" if with_ended else "yes"
    holdings: list[Holding] = []
    after: str | None = None
    while True:
        page = bindings.list_names(Selection(hold=condition), cursor=after, limit=MAX_LISTED)
        for binding in page.names:
            if binding.hold is not None:
                is_few = len(holdings) < MAX_LISTED
                since, actor = _recorded_by(bindings.history(binding.identifier)) if is_few else (None, None)
                holdings.append(Holding(binding.hold, since, actor, binding.hold.until > now, binding.revision))
        after = page.next
        if after is None:
            break
    for record in bindings.prefixes.list():
        if record.hold is not None and (with_ended or record.hold.until > now):
            since, actor = _recorded_prefix(bindings.prefixes.history(record.prefix))
            holdings.append(Holding(record.hold, since, actor, record.hold.until > now, record.revision))
    return sorted(holdings, key=lambda each: (each.hold.until, each.hold.of))


def holds_at(bindings: Bindings, now: datetime) -> list[Hold]:
    """Return the holds of names and prefixes that last at the time ``now`` (UTC), in any order."""
    holds = [record.hold for record in bindings.store.prefixes() if record.hold is not None]
    return [each for each in (*bindings.store.holds(), *holds) if each.until > now]


class PublicAnswer(NamedTuple):
    """The facts that a client without credentials may know about a recorded name now. ``hold`` stops its redirect."""

    binding: Binding
    hold: Hold | None

    @property
    def target(self) -> str | None:
        """The target to which the name leads now. A name that is reserved, withdrawn or on hold has none."""
        return self.binding.target if self.binding.is_live and self.hold is None else None


def public_answer(binding: Binding, held: Holds, now: datetime) -> PublicAnswer:
    """Return what a client without credentials may know about a name at a time. All such interfaces use it, so that
    none of them shows a target that the resolver does not show.
    """
    current = binding.at(now)
    above = held.hold_for(current.identifier, now, read=current.identifier)
    return PublicAnswer(current, holds.narrowest((current.hold, above), now))


def hold_for(bindings: Bindings, key: str) -> Hold | None:
    """Return the hold of the longest name or prefix that stops the redirect of a key now, or None. Changes of other
    processes are seen after about a second.
    """
    now, held = bindings.now(), bindings.source.holds()
    binding = bindings.store.fetch([key]).get(key)
    return held.hold_for(key, now) if binding is None else public_answer(binding, held, now).hold


def _recorded_by(events: Sequence[Event]) -> tuple[datetime | None, str | None]:
    """Return the time and the actor of the change that recorded the current hold of a name."""
    for event in reversed(events):
        if event.before is None or _hold_of(event.before) != _hold_of(event.after):
            return event.when, event.actor
    return None, None


def _hold_of(record: Binding | PrefixRecord) -> tuple[object, str | None]:
    return record.hold_until, record.hold_reason


def _recorded_prefix(events: Sequence[PrefixEvent]) -> tuple[datetime | None, str | None]:
    record: PrefixRecord | None = None
    for event in reversed(events):
        if record is not None and _hold_of(event.record) != _hold_of(record):
            break
        record = event.record
    return (record.changed, record.actor) if record is not None else (None, None)
