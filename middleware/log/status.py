"""Compare a log in its folder with the database, and count the changes that are not published yet."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BindingError
from ..storage.store import DatabaseStore
from . import state
from .folder import LogFolder
from .keys import VerifierKey
from .publishing import last_recorded, published_checkpoint
from .sequencer import new_events


@dataclass(frozen=True, kw_only=True)
class LogStatus:
    """The state of a log.

    - ``key``: the public key.
    - ``published``: the number of entries of the checkpoint in the folder; None if it cannot be read.
    - ``recorded``: the number of entries that the database has recorded.
    - ``new``: the number of changes without an entry in a recorded tree.
    - ``fault``: why :func:`.publishing.publish` would refuse to sign, or None.
    """

    key: VerifierKey
    published: int | None
    recorded: int
    new: int
    fault: str | None

    @property
    def is_complete(self) -> bool:
        """True if all changes are published."""
        return self.published == self.recorded and not self.new and self.fault is None

    def as_dict(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {
            "key": str(self.key),
            "origin": self.key.name,
            "published": self.published,
            "recorded": self.recorded,
            "new": self.new,
            "fault": self.fault,
        }


def log_status(store: DatabaseStore, folder: LogFolder) -> LogStatus:
    """Return the state of the log of a database. Raises :class:`BindingError` with the code ``log-missing``."""
    with store.transaction() as transaction:
        current = state.read(transaction.connection)
        new = new_events(transaction, current.searched) + state.assigned(transaction.connection) - current.head.size
    published = fault = None
    try:
        checkpoint = published_checkpoint(folder, current.key)
        published = checkpoint.size
        last_recorded(folder, current.head, checkpoint)
    except BindingError as error:
        fault = error.message
    return LogStatus(key=current.key, published=published, recorded=current.head.size, new=new, fault=fault)
