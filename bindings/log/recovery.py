"""Repair a log whose database or folder was restored from an older backup. The tiles of an older folder are written
again from the database. Entries that an older database does not know are recorded from the folder; their changes stay
lost in the database. Nothing is changed if the database and the published checkpoint contradict each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, delete, select, update

from ..names.errors import BindingError
from ..storage.store import DatabaseStore
from ..storage.tables.keys import index_key
from ..storage.tables.log_tables import log_entries, log_salts
from ..storage.tables.schema import events
from . import state
from .errors import LogError
from .folder import LogFolder
from .notes.checkpoints import Checkpoint
from .notes.key_file import locked_key
from .publishing import published_checkpoint, read_published, read_state, sign_head
from .sequencer import recorded_blocks
from .state import Head
from .tree.entries import LogEntry, thing_hash
from .tree.growing_tree import GrowingTree
from .tree.tiles import ENTRIES, WIDTH, Tile, entries_of, tile_at
from .tree.tree import leaf_hash

MAX_LOST = 1_000
"""The number of lost changes that are listed."""


@dataclass(kw_only=True)
class Recovery:
    """The result of :func:`recover`. ``adopted`` entries were recorded in the database, and ``rebuilt`` ones written to
    the folder. ``lost`` are changes of the log that the database lacks: names with revisions, at most :data:`MAX_LOST`
    of ``lost_count``.
    """

    adopted: int = 0
    rebuilt: int = 0
    lost: list[tuple[str, int]] = field(default_factory=list)
    lost_count: int = 0


class _Dry(LogFolder):
    """A folder that ignores what is written, to compute a root."""

    def write(self, tile: Tile, content: bytes) -> None:
        pass

    def flush(self) -> None:
        pass


def recover(store: DatabaseStore, folder: LogFolder, key_path: Path) -> Recovery:
    """Repair a log after its database or its folder was restored from an older backup, so that both have the same
    entries. Publish new events afterwards. Raises :class:`BindingError` like :func:`.publishing.publish`: ``log-fork``
    if they contradict each other, ``log-folder`` if the folder lacks entries that the database does not have.
    """
    with locked_key(key_path) as key:
        current = read_state(store, key)
        published = None if read_published(folder) is None else published_checkpoint(folder, current.key)
        if published is not None and published.size > current.head.size:
            return _adopt(store, folder, current.head, published)
        recovery = Recovery(rebuilt=current.head.size)
        if _rebuild(store, folder, current.head, published, dry=True).root() != current.head.root:
            raise BindingError("log-changed", "the entries in the database do not have the recorded root")
        _rebuild(store, folder, current.head, published, dry=False).finish()
        if published is None:
            sign_head(folder, key, current.head)
        return recovery


def _rebuild(
    store: DatabaseStore, folder: LogFolder, head: Head, published: Checkpoint | None, *, dry: bool
) -> GrowingTree:
    """Build the recorded tree from the database. It must begin with the published tree."""

    def lost(number: int) -> bytes:
        try:
            index, place = divmod(number, WIDTH)
            tile = tile_at(ENTRIES, index, head.size)
            return entries_of(tile, folder.read(tile))[place]
        except LogError as error:
            raise BindingError("log-folder", str(error)) from None

    growing = GrowingTree(_Dry(folder.path) if dry else folder, 0)
    sizes = [0, *([published.size] if published else []), head.size]
    for start, end in itertools.pairwise(sizes):
        for block in recorded_blocks(store, start, end, lost):
            growing.append(*block)
        if published is not None and growing.size == published.size and growing.root() != published.root:
            raise BindingError("log-fork")
    return growing


def _adopt(store: DatabaseStore, folder: LogFolder, head: Head, published: Checkpoint) -> Recovery:
    """Record the entries of the folder that the database does not know."""
    growing = GrowingTree(_Dry(folder.path), 0)
    try:
        for block in _published_entries(folder, 0, published.size, head.size):
            growing.append(block)
            if growing.size == head.size and growing.root() != head.root:
                raise BindingError("log-fork")
        if growing.root() != published.root:
            raise BindingError("log-folder", f"the entries in {folder} do not have the root of the checkpoint")
        recovery = Recovery()
        with store.transaction(large=True) as transaction:
            transaction.connection.execute(delete(log_entries).where(log_entries.c.entry >= head.size))
            number = head.size
            for block in _published_entries(folder, head.size, published.size, head.size):
                _record(transaction.connection, number, block, recovery)
                number += len(block)
            new = Head(size=published.size, root=published.root)
            # Events that were logged after the backup have numbers that new events can have again.
            state.record_head(transaction.connection, head, new, 0)
    except LogError as error:
        raise BindingError("log-folder", str(error)) from None
    return recovery


def _published_entries(folder: LogFolder, start: int, end: int, stop: int) -> Iterator[Sequence[bytes]]:
    """Yield the entries in a folder in blocks. A block ends at the number ``stop``."""
    for index in range(start // WIDTH, -(-end // WIDTH)):
        tile = tile_at(ENTRIES, index, end)
        entries = entries_of(tile, folder.read(tile))
        first = index * WIDTH
        for low, high in ((start, stop), (max(start, stop), end)):
            if block := entries[max(low - first, 0) : max(high - first, 0)]:
                yield block


def _record(connection: Connection, first: int, contents: Sequence[bytes], recovery: Recovery) -> None:
    """Record entries with the events that they belong to. The hashes replace the lost salts."""
    entries = [LogEntry.of_bytes(content) for content in contents]
    keys = [index_key(entry.key) for entry in entries]
    columns = (events.c.key, events.c.revision, events.c.id, events.c.action, events.c.changed, events.c.resource)
    event_rows = {
        (row.key, row.revision): row for row in connection.execute(select(*columns).where(events.c.key.in_(keys)))
    }
    salts = {row.key: row.salt for row in connection.execute(select(log_salts).where(log_salts.c.key.in_(keys)))}
    rows: list[dict[str, object]] = []
    for number, (entry, key, content) in enumerate(zip(entries, keys, contents, strict=True), first):
        row = event_rows.get((key, entry.revision))
        # A later change of a restored database can have the same revision.
        if row is not None and (row.action, datetime.fromisoformat(row.changed)) != (entry.action, entry.time):
            row = None
        if row is None:
            recovery.lost_count += 1
            if len(recovery.lost) < MAX_LOST:
                recovery.lost.append((entry.key, entry.revision))
        # A negative number belongs to no event.
        event = -number - 1 if row is None else row.id
        rows.append({"entry": number, "event": event, "salt": entry.state, "hash": leaf_hash(content)})
        recovery.adopted += 1
        if entry.thing is not None:
            _keep_thing(connection, key, entry.thing, None if row is None else row.resource, salts)
    connection.execute(log_entries.insert(), rows)


def _keep_thing(connection: Connection, key: str, thing: bytes, resource: str | None, salts: dict[str, bytes]) -> None:
    """Record the hash of the resource of a name, unless the salt in the database creates the same hash."""
    salt = salts.get(key)
    if salt is not None and (salt == thing or (resource is not None and thing_hash(salt, resource) == thing)):
        return
    if salt is None:
        connection.execute(log_salts.insert().values(key=key, salt=thing))
    else:
        connection.execute(update(log_salts).where(log_salts.c.key == key).values(salt=thing))
    salts[key] = thing
