"""Protect names that a restored database lacks, and carry over what only narrows (:mod:`.checks.narrowing`).

Such a name could be minted or bound again for something else. It becomes a reserved name that was public once: it
answers 410, and cannot be deleted or minted. Counters advance. Reserved names and owners of UUIDs are recorded, too.
The names come from a newer store, or from a verifiable log, which has no targets. Source: decision I-05; ARK draft,
section 7.1.2: a name is never given to another resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from ..changes import MAX_CHANGES, NameChange
from ..checks.comparison import REDACTED, compare, people_of
from ..checks.narrowing import Narrowed, People, carry_over_people, carry_over_prefixes, of_name
from ..checks.verification import StoreFinding, finding
from ..collection import Bindings
from ..imports.other_records import record_row
from ..log.errors import LogError
from ..log.tree.entries import LogEntry
from ..log.tree.growing_tree import GrowingTree
from ..log.tree.tiles import ENTRIES, WIDTH, Tile, entries_of, tile_at
from ..names.actor import Actor
from ..names.assignment import Change, next_revision, reserve
from ..names.binding import Binding, Event, rfc3339
from ..names.errors import BindingError
from ..names.fields import Fields
from ..names.naming import RECORDED
from ..names.prefixes.patterns import Pattern
from ..names.prefixes.prefixes import PrefixRecord
from ..tables.other_rows import Setting

if TYPE_CHECKING:
    from ..log.notes.checkpoints import Checkpoint
    from ..log.verification.monitor import LogSource
    from ..storage.writing.transaction import Transaction

Found = Literal["missing", "reserved"]


class LostName(NamedTuple):
    """A name that was public in the newer source, and is not public in a restored database.

    - ``binding``: its record in the newer store; None if the source is a log.
    - ``found``: what this database has: nothing ("missing"), or a reserved name that was published later ("reserved").
    - ``was_public``: False for a name that was only reserved there, which is reserved here without more.
    """

    identifier: str
    binding: Binding | None
    found: Found
    was_public: bool = True


@dataclass(kw_only=True)
class RecoveryResult:
    """The result of :func:`recover`.

    - ``lost``: the names to bind again. ``reserved``: the number of names that were reserved.
    - ``settings``: the number of changed counters and UUIDs.
    - ``narrowed``: what was carried over. ``differing``: what the source knows and this database still has otherwise.
    - ``unknown``: what the source cannot know.
    """

    lost: list[LostName] = field(default_factory=list)
    reserved: int = 0
    settings: int = 0
    narrowed: list[Narrowed] = field(default_factory=list)
    differing: list[StoreFinding] = field(default_factory=list)
    unknown: Sequence[str] = ()


@dataclass(kw_only=True)
class Newer:
    """The knowledge of a newer source, from :func:`of_store` or :func:`of_log`.

    - ``names``: the records of a store, or the keys of a log with their last action, in any order.
    - ``settings``: counters, which advance and never go back, and owners of UUIDs.
    - ``compare``: returns what a database still has otherwise.
    - ``unknown``: what the source cannot know, in words. ``location``: the location of a store, or "".
    """

    names: Iterable[Binding | LastEntry]
    settings: Sequence[Setting] = ()
    prefixes: Sequence[PrefixRecord] = ()
    people: People | None = None
    compare: Callable[[Bindings], Iterator[StoreFinding]]
    unknown: Sequence[str] = ()
    location: str = ""


class LastEntry(NamedTuple):
    """The facts of a log about a name: the time of its last entry in UTC, that of its last redaction, and the action of
    the last entry that is not a redaction.
    """

    key: str
    action: str
    time: datetime
    redacted: datetime | None


def recover(
    bindings: Bindings, newer: Newer, *, dry_run: bool = False, actor: Actor | str | None = None
) -> RecoveryResult:
    """Protect the names that a restored database lacks, and carry over what only narrows. With ``dry_run``, nothing is
    written. The call can be repeated.

    Each name that was public in ``newer`` and is not public here becomes a reserved name. A public one gets the
    withdrawal or hold that it has there. Prefixes are delegated, retired and held, accounts disabled, and tokens
    revoked, as they are there. Raises :class:`BindingError` for a name that cannot be recorded, and
    :class:`BindingsUnavailable`.
    """
    result = RecoveryResult(unknown=newer.unknown)
    names = iter(newer.names)
    while batch := list(islice(names, MAX_CHANGES)):
        lost = _record_lost(bindings, batch)
        narrowed = _find_narrower(bindings, batch)
        keys = {*(each.identifier for each in lost), *(each.of for each in narrowed)}
        if keys and not dry_run:
            of_lost = {each.identifier: each for each in lost}
            changes = [(each, of_lost.get(_key(each))) for each in batch if _key(each) in keys]
            bindings.change([NameChange(_key(each), _close(each, gone)) for each, gone in changes], actor=actor)
        result.lost += [each for each in lost if each.was_public]
        result.reserved += sum(not each.was_public for each in lost)
        result.narrowed += narrowed
    if newer.settings:
        result.settings = _advance(bindings, newer.settings, dry_run=dry_run, actor=actor)
    if newer.prefixes or newer.people:
        result.narrowed += _carry_over(bindings, newer, dry_run=dry_run, actor=actor)
    if not dry_run:
        behind = _behind_names(bindings)
        result.settings += _advance(bindings, behind, dry_run=False, actor=actor) if behind else 0
    result.differing = list(newer.compare(bindings))
    return result


def _find_narrower(bindings: Bindings, batch: Sequence[Binding | LastEntry]) -> list[Narrowed]:
    """Return what narrows names that are recorded here."""
    here, now = bindings.store.fetch(_key(each) for each in batch), bindings.now()
    found = [(mine, each) for each in batch if (mine := here.get(_key(each)))]
    return [Narrowed(_key(each), what) for mine, each in found for what, _ in _of_name(mine, each, now)]


def _close(there: Binding | LastEntry, lost: LostName | None) -> Callable[[Binding | None, datetime], Sequence[Change]]:
    """Return the decision that protects a name, if it is ``lost``, and narrows it."""

    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        changes = [] if lost is None else [*_protect(lost, existing, now)]
        after = changes[-1].after if changes else existing
        changes += [] if after is None else [change for _, change in _of_name(after, there, now)]
        return changes or [Change("unchanged", cast("Binding", existing), None)]

    return decide


def _of_name(here: Binding, there: Binding | LastEntry, now: datetime) -> Iterator[tuple[str, Change]]:
    if isinstance(there, Binding):
        yield from of_name(here, there, now)
    elif there.action in ("withdrawn", "hidden"):
        # A log has neither reasons nor targets.
        status = "withdrawn" if there.action == "withdrawn" else "reserved"
        yield from of_name(here, replace(here, status=status, once_public="yes", reason=None, successor=None), now)


def _carry_over(bindings: Bindings, newer: Newer, *, dry_run: bool, actor: Actor | str | None) -> list[Narrowed]:
    who = Actor.of(actor)

    def write(transaction: Transaction) -> list[Narrowed]:
        now = bindings.now()
        done = carry_over_prefixes(transaction, newer.prefixes, now, who.name, dry_run=dry_run)
        if newer.people is not None:
            done += carry_over_people(transaction, newer.people, now, who, dry_run=dry_run)
        if dry_run or not done:
            transaction.rollback()
        return done

    return bindings.run_in_transaction(write, actor=who)


def of_store(other: Bindings, *, is_history: bool = False) -> Newer:
    """Return what another store or table knows, which stays open until :func:`recover` has ended. ``is_history`` states
    that it was imported from a history.
    """
    is_database = other.kind == "database"
    with other.store.snapshot() as snapshot:
        settings = [row for row in snapshot.settings() if isinstance(row, Setting)]
        prefixes = list(snapshot.prefixes())
        people = people_of(snapshot) if is_database and not is_history else None

    def every() -> Iterator[Binding]:
        with other.store.snapshot() as snapshot:
            yield from snapshot.bindings(lambda error: None)

    return Newer(
        names=every(),
        settings=settings,
        prefixes=prefixes,
        people=people,
        compare=lambda bindings: compare(bindings, other, is_history=is_history),
        location=other.location,
        unknown=[
            *([] if is_database else ["deleted names, and the values that it has no column for"]),
            *([] if people else ["accounts, tokens and grants"]),
        ],
    )


class _Nowhere:
    """A folder for a tree whose tiles are not written."""

    def read(self, tile: Tile) -> bytes:
        raise LogError(f"{tile.path} is not read")

    def write(self, tile: Tile, content: bytes) -> None:
        pass

    def flush(self) -> None:
        pass


def of_log(source: LogSource, checkpoint: Checkpoint, progress: Callable[[int], object]) -> Newer:
    """Return what a verifiable log knows, after all entries were checked against the root of a checkpoint. ``progress``
    is called with the number of entries so far. Raises :class:`LogError` if an entry cannot be read, or the entries do
    not have the root.
    """
    growing = GrowingTree(_Nowhere(), 0)
    entries: dict[str, LastEntry] = {}
    for index in range(-(-checkpoint.size // WIDTH)):
        tile = tile_at(ENTRIES, index, checkpoint.size)
        contents = entries_of(tile, source.read(tile))
        growing.append(contents)
        for content in contents:
            entry = LogEntry.of_bytes(content)
            # A redaction does not publish a name again.
            before = entries.get(entry.key) or LastEntry(entry.key, entry.action, entry.time, None)
            if entry.action == "redacted":
                entries[entry.key] = before._replace(time=entry.time, redacted=entry.time)
            else:
                entries[entry.key] = before._replace(action=entry.action, time=entry.time)
        progress(growing.size)
    if growing.root() != checkpoint.root:
        raise LogError("the entries of the log do not have the root of its checkpoint")
    names = [*entries.values()]
    unknown = "targets, descriptions, holds, prefixes, rules, accounts and tokens"
    return Newer(names=names, compare=lambda bindings: _find_contradictions(bindings, names), unknown=(unknown,))


def _find_contradictions(bindings: Bindings, names: Sequence[LastEntry]) -> Iterator[StoreFinding]:
    """Yield the names whose last entry in the log contradicts their state here, or is later than their last change."""
    every = iter(names)
    while batch := list(islice(every, MAX_CHANGES)):
        here = bindings.store.fetch(each.key for each in batch)
        for each in batch:
            is_live = each.action not in ("withdrawn", "hidden")
            mine = here.get(each.key)
            if mine is None:
                yield finding("lost", each.key, "the name has no history here, and the log has it")
            elif each.redacted is not None and _lacks_redaction(bindings.history(each.key), each.redacted):
                yield finding("older", each.key, REDACTED)
            elif mine.is_live != is_live:
                state = "not live" if is_live else "live"
                message = f"the name is {state} here, and its last entry in the log is {each.action}"
                yield finding("older", each.key, message)
            elif mine.changed < each.time:
                message = f"the last change is of {rfc3339(mine.changed)} here, and of {rfc3339(each.time)} in the log"
                yield finding("older", each.key, message)


def _lacks_redaction(history: Sequence[Event], redacted: datetime) -> bool:
    """Return whether a name has changes from before its redaction, which was not repeated here."""
    return bool(history) and history[0].when < redacted and all(each.action != "redacted" for each in history)


def _key(each: Binding | LastEntry) -> str:
    return each.identifier if isinstance(each, Binding) else each.key


def _record_lost(bindings: Bindings, batch: Sequence[Binding | LastEntry]) -> list[LostName]:
    newer = {_key(each): each for each in batch}
    here = bindings.store.fetch(newer)
    lost_names = []
    for key, each in newer.items():
        mine = here.get(key)
        binding = each if isinstance(each, Binding) else None
        was_public = binding is None or not binding.is_reserved or binding.is_hidden
        if mine is None:
            lost_names.append(LostName(key, binding, "missing", was_public))
        elif was_public and mine.is_reserved and not mine.is_hidden:
            lost_names.append(LostName(key, binding, "reserved"))
    return lost_names


def _protect(lost: LostName, existing: Binding | None, now: datetime) -> Iterator[Change]:
    if existing is None:
        yield reserve(None, _fields(lost), now)
    elif lost.was_public and existing.is_reserved and not existing.is_hidden:
        resource = lost.binding.resource if lost.binding else None
        # A person publishes it again, and not the clock.
        hidden = replace(existing, once_public="yes", resource=resource or existing.resource, embargo=None)
        yield Change("hidden", next_revision(existing, hidden, now), "hidden")


def _fields(lost: LostName) -> Fields:
    """Return the fields of a new reserved name: those that the newer store has, if they are valid here."""
    once_public = "yes" if lost.was_public else None
    bare = Fields(status="reserved", once_public=once_public)
    binding = lost.binding
    if binding is None:
        return bare.for_name(lost.identifier, RECORDED)
    fields = bare._replace(
        resource=binding.resource, spelling=binding.spelling, created=binding.created, listed=binding.listed
    )
    if binding.hold_until is not None:
        fields = fields._replace(hold_until=binding.hold_until, hold_reason=binding.hold_reason)
    full = fields._replace(
        kind=binding.kind,
        target=binding.target,
        redirect=binding.redirect,
        passthrough=binding.passthrough,
        scope=binding.scope,
        alternates=binding.alternates,
        metadata=binding.metadata,
        numbers=binding.numbers,
    )
    try:
        return full.for_name(lost.identifier, RECORDED)
    except BindingError:
        return fields.for_name(lost.identifier, RECORDED)


def _behind_names(bindings: Bindings) -> list[Setting]:
    """Return the counters whose next name is recorded already, with the value after the recorded names."""
    with bindings.store.snapshot() as snapshot:
        counters = [row for row in snapshot.settings() if isinstance(row, Setting) and row.name.startswith("next ")]
    result = []
    for row in counters:
        pattern, value = Pattern.of_counter(row.name), int(row.value)
        if pattern is None or value == 0:
            continue  # names that are minted at random leave the counter at 0
        first = value
        while value < pattern.numbers:
            names = [pattern.name(number) for number in range(value, min(value + MAX_CHANGES, pattern.numbers))]
            # The name of a skipped number is None. Such a number counts as used.
            recorded = bindings.store.fetch(name for name in names if name)
            run = next((place for place, name in enumerate(names) if name and name not in recorded), len(names))
            value += run
            if run < len(names):
                break
        if value > first:
            result.append(Setting(row.name, str(value)))
    return result


def _advance(bindings: Bindings, settings: Sequence[Setting], *, dry_run: bool, actor: Actor | str | None) -> int:
    who = Actor.of(actor)

    def write(transaction: Transaction) -> int:
        now = bindings.now()
        if not dry_run:
            return sum(record_row(row, transaction, now, who.name) for row in _behind(transaction, settings))
        return len(_behind(transaction, settings))

    return bindings.run_in_transaction(write, actor=who)


def _behind(transaction: Transaction, settings: Sequence[Setting]) -> list[Setting]:
    """Return the counters that are behind here, and the UUIDs that have no owner. Another owner stays."""
    own = [(transaction.setting(row.name), row) for row in settings]
    return [row for mine, row in own if mine is None or (row.name.startswith("next ") and int(mine) < int(row.value))]
