"""A witness: signs a checkpoint of a known log only if it contains all entries that the witness has seen before. The
last checkpoint of each log is on the disk before a cosignature is returned, so that the witness never cosigns two
histories, also after a crash or with several threads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ....identifiers.text import display
from ....identifiers.text.display import format_count
from ...names.errors import BindingError
from ...system.files import create_private
from ..errors import LogError
from ..notes.checkpoints import Checkpoint, read_checkpoint
from ..notes.keys import ED25519, SignerKey, VerifierKey
from ..notes.notes import Signature, SignedNote
from ..tree.tree import EMPTY_ROOT, check_consistency
from .add_checkpoint import SIZE_TYPE, AddCheckpoint

_CREATE = """
CREATE TABLE logs (
  origin TEXT PRIMARY KEY, vkey TEXT NOT NULL, size INTEGER NOT NULL, root BLOB NOT NULL, checkpoint BLOB
)
"""
_WAIT_SECONDS = 10.0


class CosignatureRefused(Exception):
    """Raised if a witness refuses to cosign a checkpoint, with the status, body and Content-Type of the HTTP answer."""

    def __init__(self, status: int, message: str, *, body: str | None = None, media_type: str = "text/plain") -> None:
        super().__init__(message)
        self.status = status
        self.body = f"{message}\n" if body is None else body
        self.media_type = media_type


@dataclass(frozen=True, kw_only=True)
class KnownLog:
    """A log that a witness cosigns, and the number of entries of its last cosigned checkpoint."""

    key: VerifierKey
    size: int


class Witness:
    """A witness of logs, whose state is in the SQLite file ``path``. Many threads can call its methods."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self) -> None:
        """Create the file of the witness. Raises :class:`BindingError` (``witness-state``) if this fails."""
        try:
            with suppress(FileExistsError):
                create_private(self._path)
        except OSError as error:
            raise self._unusable(error.strerror or error) from error
        with self._transaction("rwc") as database:
            database.execute(_CREATE)

    def add_log(self, key: VerifierKey) -> bool:
        """Cosign a log from now on. False if it is cosigned already. Raises :class:`BindingError` (``witness-log``) for
        another key of a known origin, and for a key that is not of a log.
        """
        if key.algorithm != ED25519:
            message = f"the key of {display.escape(key.name)} is of {key.algorithm.title}, not of {ED25519.title}"
            raise BindingError("witness-log", message)
        with self._transaction() as database:
            row = database.execute("SELECT vkey FROM logs WHERE origin = ?", (key.name,)).fetchone()
            if row is not None and row[0] != str(key):
                message = f"the witness knows {display.escape(key.name)} with the key {display.escape(row[0])}"
                raise BindingError("witness-log", message)
            if row is None:
                database.execute("INSERT INTO logs VALUES (?, ?, 0, ?, NULL)", (key.name, str(key), EMPTY_ROOT))
        return row is None

    def logs(self) -> list[KnownLog]:
        """Return the logs that the witness cosigns, by origin."""
        with self._transaction() as database:
            rows = database.execute("SELECT vkey, size FROM logs ORDER BY origin").fetchall()
        return [KnownLog(key=VerifierKey.of_text(vkey), size=size) for vkey, size in rows]

    def cosign(self, content: bytes, key: SignerKey, time: int) -> Signature:
        """Return the cosignature for a checkpoint that continues the last one of the same log. ``content`` is the body
        of a request ``add-checkpoint``. ``time`` is in seconds since 1970. Raises :class:`CosignatureRefused`.
        """
        try:
            request = AddCheckpoint.of_bytes(content)
            note = SignedNote.of_bytes(request.checkpoint)
            claimed = Checkpoint.of_text(note.text)
        except LogError as error:
            raise CosignatureRefused(400, str(error)) from None
        with self._transaction() as database:
            query = "SELECT vkey, size, root FROM logs WHERE origin = ?"
            row = database.execute(query, (claimed.origin,)).fetchone()
            if row is None:
                raise CosignatureRefused(404, f"the log {display.escape(claimed.origin[:100])} is not known here")
            vkey, size, root = row
            try:
                checkpoint, _ = read_checkpoint(request.checkpoint, VerifierKey.of_text(vkey))
            except LogError as error:
                raise CosignatureRefused(403, str(error)) from None
            _check(request, checkpoint, size, root)
            update = "UPDATE logs SET size = ?, root = ?, checkpoint = ? WHERE origin = ?"
            database.execute(update, (checkpoint.size, checkpoint.root, request.checkpoint, checkpoint.origin))
        return Signature.create(note.text.encode(), key, time)

    @contextmanager
    def _transaction(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """Open a transaction that excludes all others, and wait until its changes are on the disk. Raises
        :class:`BindingError` (``witness-state``) if the file cannot be used.
        """
        try:
            # A lost file is not created again: the witness would forget what it has seen.
            uri = f"{self._path.absolute().as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
            with closing(connection) as database:
                database.execute("PRAGMA synchronous = EXTRA")
                database.execute("BEGIN IMMEDIATE")
                yield database
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, why: object) -> BindingError:
        return BindingError("witness-state", f"the file {display.escape(str(self._path))} of the witness: {why}")


def _check(request: AddCheckpoint, checkpoint: Checkpoint, size: int, root: bytes) -> None:
    """Raise CosignatureRefused unless a checkpoint follows the last cosigned one with this size and root."""
    if request.old > checkpoint.size:
        raise CosignatureRefused(400, "the old size is larger than the size of the checkpoint")
    if request.old != size:
        message = f"the last cosigned checkpoint has {format_count(size, 'entry', 'entries')}"
        raise CosignatureRefused(409, message, body=f"{size}\n", media_type=SIZE_TYPE)
    if checkpoint.size == size and checkpoint.root != root:
        raise CosignatureRefused(
            409,
            f"another checkpoint of {format_count(size, 'entry', 'entries')} was cosigned: the log has two histories",
        )
    try:
        check_consistency(size, root, checkpoint.size, checkpoint.root, request.proof)
    except LogError as error:
        raise CosignatureRefused(422, str(error)) from None
