"""Protect names that a restored database lacks: names that were public after the backup was made.

A restored database does not know these names, so that they could be minted or bound again for something else. Each of
them becomes a reserved name that was public once: it answers 410, and cannot be deleted or minted. Counters advance.
Reserved names and owners of UUIDs are recorded, too. The newer names come from a store, or from a verifiable log, which
has no targets.

Source: decision I-05; ARK draft, section 7.1.2: a name is never given to another resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..changes import MAX_CHANGES, NameChange
from ..collection import Bindings
from ..imports.other_records import record_row
from ..log.errors import LogError
from ..log.tree.entries import LogEntry
from ..log.tree.growing_tree import GrowingTree
from ..log.tree.tiles import ENTRIES, WIDTH, Tile, entries_of, tile_at
from ..names.actor import Actor
from ..names.assignment import Change, next_revision, reserve
from ..names.binding import Binding
from ..names.errors import BindingError
from ..names.fields import Fields
from ..names.naming import TEST_NAANS
from ..names.prefixes.patterns import Pattern
from ..tables.other_rows import Setting

if TYPE_CHECKING:
    from ..log.notes.checkpoints import Checkpoint
    from ..log.verification.monitor import LogSource
    from ..storage.writing.transaction import Transaction

Found = Literal["missing", "reserved"]


class LostName(NamedTuple):
    """A name that a restored database lacks: it was public in the newer source, and is not public here.

    - ``identifier``: its normal form.
    - ``binding``: its record in the newer store; None if the source is a log.
    - ``found``: what this database has: nothing, or a name that was reserved and published later.
    - ``was_public``: False for a name that was only reserved there, which is reserved here without more.
    """

    identifier: str
    binding: Binding | None
    found: Found
    was_public: bool = True


@dataclass(kw_only=True)
class RecoveryResult:
    """The result of :func:`recover`: ``lost`` are the names to bind again. ``reserved`` is the number of names that
    were reserved, and ``settings`` that of changed counters and UUIDs.
    """

    lost: list[LostName] = field(default_factory=list)
    reserved: int = 0
    settings: int = 0


def recover(
    bindings: Bindings,
    newer: Iterable[Binding | str],
    settings: Sequence[Setting] = (),
    *,
    dry_run: bool = False,
    actor: Actor | str | None = None,
) -> RecoveryResult:
    """Protect the names that a restored database lacks, so that none of them is minted or bound for another resource.

    Each name of ``newer`` that was public there and is not public here becomes a reserved name.

    - ``bindings``: the open store.
    - ``actor``: the user who makes the change, or the name for the history. None records no user.
    - ``newer``: the records of a store, or the keys of a log, in any order.
    - ``settings``: counters, which advance and never go back, and owners of UUIDs.
    - ``dry_run``: nothing is written.

    The command can be repeated: names that are protected already are not reserved again. Raises :class:`BindingError`
    for a name that cannot be recorded, and :class:`BindingsUnavailable`.
    """
    result = RecoveryResult()
    names = iter(newer)
    while batch := list(islice(names, MAX_CHANGES)):
        lost = _lost(bindings, batch)
        if lost and not dry_run:
            bindings.change([NameChange(each.identifier, _protect(each)) for each in lost], actor=actor)
        result.lost += [each for each in lost if each.was_public]
        result.reserved += sum(not each.was_public for each in lost)
    if settings:
        result.settings = _advance(bindings, settings, dry_run=dry_run, actor=actor)
    if not dry_run:
        behind = _behind_names(bindings)
        result.settings += _advance(bindings, behind, dry_run=False, actor=actor) if behind else 0
    return result


def of_store(other: Bindings) -> tuple[Iterator[Binding], list[Setting]]:
    """Return the bindings and settings of ``other``, which is another store, table or history, as arguments of
    :func:`recover`.
    """
    with other.store.snapshot() as snapshot:
        settings = [row for row in snapshot.settings() if isinstance(row, Setting)]

    def every() -> Iterator[Binding]:
        with other.store.snapshot() as snapshot:
            yield from snapshot.bindings(lambda error: None)

    return every(), settings


class _Nowhere:
    """A folder for a tree whose tiles are not written."""

    def read(self, tile: Tile) -> bytes:
        raise LogError(f"{tile.path} is not read")

    def write(self, tile: Tile, content: bytes) -> None:
        pass

    def flush(self) -> None:
        pass


def of_log(source: LogSource, checkpoint: Checkpoint, progress: Callable[[int], object]) -> list[str]:
    """Return the key of each name in a verifiable log once. All entries are checked against the root of ``checkpoint``
    before.

    ``progress`` is called with the number of entries that were read. ``source`` reads the files of the log.

    Raises :class:`LogError` if an entry cannot be read, or the entries do not have the root.
    """
    growing = GrowingTree(_Nowhere(), 0)
    keys: dict[str, None] = {}
    for index in range(-(-checkpoint.size // WIDTH)):
        tile = tile_at(ENTRIES, index, checkpoint.size)
        contents = entries_of(tile, source.read(tile))
        growing.append(contents)
        keys.update((LogEntry.of_bytes(content).key, None) for content in contents)
        progress(growing.size)
    if growing.root() != checkpoint.root:
        raise LogError("the entries of the log do not have the root of its checkpoint")
    return list(keys)


def _lost(bindings: Bindings, batch: Sequence[Binding | str]) -> list[LostName]:
    newer = {each if isinstance(each, str) else each.identifier: each for each in batch}
    here = bindings.fetch(newer)
    lost_names = []
    for key, each in newer.items():
        mine = here.get(key)
        binding = None if isinstance(each, str) else each
        was_public = binding is None or not binding.is_reserved or binding.is_hidden
        if mine is None:
            lost_names.append(LostName(key, binding, "missing", was_public))
        elif was_public and mine.is_reserved and not mine.is_hidden:
            lost_names.append(LostName(key, binding, "reserved"))
    return lost_names


def _protect(lost: LostName) -> Callable[[Binding | None, datetime], Sequence[Change]]:
    def decide(existing: Binding | None, now: datetime) -> Sequence[Change]:
        if existing is None:
            return [reserve(None, _fields(lost), now)]
        if not lost.was_public or not existing.is_reserved or existing.is_hidden:
            return [Change("unchanged", existing, None)]
        resource = lost.binding.resource if lost.binding else None
        hidden = replace(existing, once_public="yes", resource=resource or existing.resource)
        return [Change("hidden", next_revision(existing, hidden, now), "hidden")]

    return decide


def _fields(lost: LostName) -> Fields:
    """Return the fields of a new reserved name: those that the newer store has, if they are valid here."""
    once_public = "yes" if lost.was_public else None
    bare = Fields(status="reserved", once_public=once_public)
    binding = lost.binding
    if binding is None:
        return bare.for_name(lost.identifier, TEST_NAANS)
    fields = bare._replace(resource=binding.resource, spelling=binding.spelling, created=binding.created)
    full = fields._replace(
        kind=binding.kind,
        target=binding.target,
        redirect=binding.redirect,
        passthrough=binding.passthrough,
        scope=binding.scope,
        alternates=binding.alternates,
        metadata=binding.metadata,
    )
    try:
        return full.for_name(lost.identifier, TEST_NAANS)
    except BindingError:
        return fields.for_name(lost.identifier, TEST_NAANS)


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
            recorded = bindings.fetch(name for name in names if name)
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
            return sum(record_row(row, transaction, now, who.name) for row in settings)
        return sum(_is_behind(transaction.setting(row.name), row) for row in settings)

    return bindings.write(write, actor=who)


def _is_behind(mine: str | None, row: Setting) -> bool:
    return mine is None or (row.name.startswith("next ") and int(mine) < int(row.value))
