"""Create a log, and publish the new events of a database in it.

A publication writes the tiles to the disk, and records size and root in the database. It then signs them, requests
cosignatures and replaces the checkpoint. After a crash, the next publication continues. It refuses to sign if the
database or the folder is older than the other one: signatures of two trees cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...identifiers.text import display
from ...identifiers.text.display import format_count
from ..names.errors import BindingError
from ..publication import publish_due
from ..storage.store import DatabaseStore
from . import state
from .errors import LogError
from .folder import LogFolder
from .notes.checkpoints import Checkpoint, read_checkpoint
from .notes.key_file import create_key, locked_key
from .notes.keys import SignerKey, VerifierKey
from .notes.notes import sign_note
from .sequencer import Sequencer
from .state import Head, LogState
from .tree import tree
from .tree.growing_tree import GrowingTree
from .tree.tiles import WIDTH, hash_reader, last_tiles, tile_at
from .witnesses.cosigning import Cosigning, Witnessing


@dataclass(frozen=True, kw_only=True)
class Publication:
    """The result of :func:`publish`. ``added`` is the number of entries since the checkpoint before. ``cosigned`` names
    the witnesses that cosigned now; ``failures`` are the reasons of others, by their name in the policy.
    """

    checkpoint: Checkpoint
    added: int
    cosigned: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)


def initialize(store: DatabaseStore, folder: LogFolder, key_path: Path, origin: str) -> VerifierKey:
    """Create an empty log: a key file, a folder with a checkpoint of 0 entries, and rows in the database. Return its
    public key. Raises :class:`BindingError` with the code ``log-exists``, ``log-origin`` or ``log-key``.
    """
    if read_published(folder) is not None:
        raise BindingError("log-exists", f"the folder {display.escape(str(folder))} has a log already")
    with store.transaction(large=True) as transaction:
        state.require_none(transaction.connection)
    key = create_key(key_path, origin)
    sign_head(folder, key, Head(size=0, root=tree.EMPTY_ROOT))
    with store.transaction(large=True) as transaction:
        state.create(transaction.connection, key.verifier)
    return key.verifier


def publish(
    store: DatabaseStore, folder: LogFolder, key_path: Path, witnessing: Witnessing | None = None
) -> Publication:
    """Add all new changes of names to the log, and publish a signed checkpoint.

    The events of names that have become live by their date are written first. Nothing is changed without new events,
    unless the published checkpoint lacks the quorum. ``witnessing`` defines the witnesses that cosign. Raises
    :class:`BindingError`:

    - ``log-missing``: the database has no log; ``log-key``: the key is not that of the log or cannot be read.
    - ``log-busy``: another process publishes at the same time.
    - ``log-restored``: the database is older than the published checkpoint, or than that of a witness.
    - ``log-folder``: the folder is older than the database, or files are missing or damaged.
    - ``log-fork``: the database and the published checkpoint contradict each other.
    - ``log-changed``, ``log-event``: another program changed the database.
    - ``log-quorum``: not enough witnesses have cosigned. ``log-write``: a file cannot be written.
    """
    with locked_key(key_path) as key:
        publish_due(store)
        current = read_state(store, key)
        published = published_checkpoint(folder, current.key)
        growing = last_recorded(folder, current.head, published)
        note = read_published(folder) or b""
        cosigning = witnessing and Cosigning(
            witnessing=witnessing, note=note, published=published, recorded=current.head.size
        )
        sequencer = Sequencer(store, current.head.size, current.searched)
        for block in sequencer.blocks():
            if cosigning:
                # After the new tree is recorded, an old copy of the database could not be detected.
                cosigning.require_newest()
            growing.append(*block)
        head = Head(size=growing.size, root=growing.finish())
        require_beginning(folder, published, head)
        with store.transaction(large=True) as transaction:
            state.record_head(transaction.connection, current.head, head, sequencer.searched)
        checkpoint = Checkpoint(origin=key.name, size=head.size, root=head.root)
        is_new = (published.size, published.root) != (head.size, head.root)
        if is_new or (witnessing and not witnessing.is_satisfied(note, current.key)):
            sign_head(folder, key, head, cosigning)
        if is_new:
            with store.transaction(large=True) as transaction:
                state.record_published(transaction.connection, published.size)
            _remove_partial(folder, current.previous, published.size)
    return Publication(
        checkpoint=checkpoint,
        added=head.size - published.size,
        cosigned=tuple(cosigning.cosigned) if cosigning else (),
        failures=cosigning.failures if cosigning else {},
    )


def read_state(store: DatabaseStore, key: SignerKey | None = None) -> LogState:
    """Return the recorded state of a log. Raises :class:`BindingError` (``log-key``) if ``key`` is set and not that of
    the log.
    """
    with store.transaction(large=True) as transaction:
        current = state.read(transaction.connection)
    if key is not None and key.verifier != current.key:
        raise BindingError("log-key", f"the key is {key.verifier}, and the database has the log {current.key}")
    return current


def read_published(folder: LogFolder) -> bytes | None:
    """Return the published checkpoint of a folder, or None. Raises :class:`BindingError` (``log-folder``) if it cannot
    be read.
    """
    try:
        return folder.checkpoint()
    except LogError as error:
        raise BindingError("log-folder", str(error)) from None


def published_checkpoint(folder: LogFolder, key: VerifierKey) -> Checkpoint:
    """Return the published checkpoint, with the verified signature by ``key``. Raises :class:`BindingError`
    (``log-folder``) without one.
    """
    content = read_published(folder)
    if content is None:
        raise BindingError("log-folder", f"the folder {display.escape(str(folder))} has no checkpoint")
    try:
        return read_checkpoint(content, key)[0]
    except LogError as error:
        raise BindingError("log-folder", f"{display.escape(str(folder))}: {error}") from None


def require_beginning(folder: LogFolder, published: Checkpoint, head: Head) -> None:
    """Raise :class:`BindingError` if the tree ``head`` does not continue the published tree (``log-fork``), or if the
    folder cannot show it (``log-folder``).
    """
    try:
        root = tree.root_hash(published.size, hash_reader(head.size, folder.read))
    except LogError as error:
        raise BindingError("log-folder", str(error)) from None
    if root != published.root:
        raise BindingError("log-fork")


def last_recorded(folder: LogFolder, head: Head, published: Checkpoint) -> GrowingTree:
    """Return the recorded tree of entries, to append new ones. Raises :class:`BindingError` (``log-restored``,
    ``log-fork``, ``log-folder``) if the folder does not contain it.
    """
    if published.size > head.size:
        size = format_count(published.size, "entry", "entries")
        raise BindingError(
            "log-restored", f"the published checkpoint has {size}, and the database has recorded {head.size:,}"
        )
    if published.size == head.size and published.root != head.root:
        raise BindingError("log-fork")
    try:
        growing = GrowingTree(folder, head.size)
    except LogError as error:
        raise BindingError("log-folder", str(error)) from None
    if growing.root() != head.root:
        recorded = format_count(head.size, "entry", "entries")
        message = f"{display.escape(str(folder))} lacks {recorded} that the database has recorded"
        raise BindingError("log-folder", message)
    return growing


def sign_head(folder: LogFolder, key: SignerKey, head: Head, cosigning: Cosigning | None = None) -> None:
    """Sign the recorded tree of a log, request cosignatures, and replace the published checkpoint. Raises like
    :meth:`.Cosigning.cosign`.
    """
    checkpoint = Checkpoint(origin=key.name, size=head.size, root=head.root)
    note = sign_note(checkpoint.text, [key])
    if cosigning is not None:
        note = cosigning.cosign(note, head.size, hash_reader(head.size, folder.read))
    folder.publish(bytes(note))


def _remove_partial(folder: LogFolder, old: int, current: int) -> None:
    """Delete the partial tiles of the tree before, which clients of the checkpoint of ``current`` entries do not
    read.
    """
    for tile in last_tiles(old):
        if tile_at(tile.level, tile.index, current).width == WIDTH:
            folder.remove_partial(tile)
