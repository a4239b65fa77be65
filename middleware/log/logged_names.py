"""Find the place of a name in the published log, for its description. A changed checkpoint is read again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ...bindings.collection import Bindings
from ...bindings.log.errors import LogError
from ...bindings.log.folder import CHECKPOINT, LogFolder
from ...bindings.log.notes.checkpoints import Checkpoint
from ...bindings.log.notes.keys import COSIGNATURE_BYTES
from ...bindings.log.notes.notes import SignedNote
from ...bindings.names.binding import LoggedName
from ...bindings.names.errors import BindingsUnavailable
from ...bindings.open import bindings_at

FirstEntry = Callable[[str], tuple[int, datetime] | None]
"""A function that returns the number and the time of the first entry of a name, by its key. None without an entry."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PublishedCheckpoint:
    """The published checkpoint of a public log, as its file states it. ``size`` is the number of entries, ``witnesses``
    that of the cosignatures. ``version`` is the state of the file: inode, length, and nanoseconds since 1970.
    """

    version: tuple[int, int, int]
    origin: str
    size: int
    witnesses: int


def bindings_of_log(bindings: object, folder: LogFolder) -> Bindings | None:
    """Return the bindings that know the numbers of log entries, or None. For a file of bindings, these are in the
    database next to the folder of the log.
    """
    if not isinstance(bindings, Bindings):
        return None
    return bindings_at(folder.versions) if bindings.kind == "file" else bindings


class LoggedNames:
    """Lookups of names in the public log with the files of ``folder``. All threads can use one object. ``page`` is the
    path of the page about the log.
    """

    def __init__(self, folder: LogFolder, first_entry: FirstEntry, page: str) -> None:
        self._folder = folder
        self._first_entry = first_entry
        self._page = page
        self._published: PublishedCheckpoint | None = None

    def find(self, key: str) -> LoggedName | None:
        """Return the place of a name in the public log. Return None for a name without a published entry, and, with the
        reason in the log, if it cannot be read.
        """
        try:
            published = self.checkpoint()
            first = self._first_entry(key) if published.size else None
        except FileNotFoundError:
            return None  # Nothing is published yet.
        except (BindingsUnavailable, LogError, OSError) as error:
            _logger.warning("The description of %s has no place in the log: %s", key, error)
            return None
        if first is None or first[0] >= published.size:
            return None
        entry, since = first
        return LoggedName(entry=entry, since=since, witnesses=published.witnesses, page=self._page)

    def checkpoint(self) -> PublishedCheckpoint:
        """Return the published checkpoint. Raises OSError or :class:`LogError` if it cannot be read."""
        path = self._folder.path / CHECKPOINT
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        published = self._published
        if published is not None and published.version == version:
            return published
        note = SignedNote.of_bytes(self._folder.checkpoint() or b"")
        checkpoint = Checkpoint.of_text(note.text)
        # Without the keys of the witnesses, a cosignature is recognized by its length.
        cosigners = {signature.name for signature in note.signatures if len(signature.value) == COSIGNATURE_BYTES}
        witnesses = len(cosigners - {checkpoint.origin})
        published = PublishedCheckpoint(
            version=version, origin=checkpoint.origin, size=checkpoint.size, witnesses=witnesses
        )
        self._published = published
        return published
