"""Compare a log in its folder with the database, and count the changes that are not published yet."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from ..names.errors import BindingError
from ..storage.store import DatabaseStore
from ..storage.tables.log_tables import log_entries
from ..storage.tables.schema import events
from . import state
from .folder import LogFolder
from .notes.keys import VerifierKey
from .publishing import last_recorded, published_checkpoint
from .sequencer import new_events


@dataclass(frozen=True, kw_only=True)
class LogStatus:
    """The comparison of a public log in its folder with the database.

    - ``published``: the number of entries of the checkpoint; None if it cannot be read. ``recorded``: those of the
      database.
    - ``new``: the number of changes without an entry in a recorded tree. ``since``: the time of the first, or None.
    - ``fault``, ``code``: why :func:`.publishing.publish` would refuse to sign; or None.
    """

    key: VerifierKey
    published: int | None
    recorded: int
    new: int
    since: str | None
    fault: str | None
    code: str | None

    @property
    def is_complete(self) -> bool:
        """Whether all changes of names are published in the public log."""
        return self.published == self.recorded and not self.new and self.fault is None

    def as_dict(self) -> dict[str, object]:
        """Return the status of the public log as a JSON object with the fields of this class."""
        return {
            "key": str(self.key),
            "origin": self.key.name,
            "published": self.published,
            "recorded": self.recorded,
            "new": self.new,
            "since": self.since,
            "fault": self.fault,
            "code": self.code,
        }


def log_status(store: DatabaseStore, folder: LogFolder) -> LogStatus:
    """Compare the log in a folder with the database. Raises :class:`BindingError` (``log-missing``)."""
    published = fault = code = None
    with store.transaction(large=True) as transaction:
        current = state.read(transaction.connection)
        try:
            checkpoint = published_checkpoint(folder, current.key)
            published = checkpoint.size
            last_recorded(folder, current.head, checkpoint)
        except BindingError as error:
            fault, code = error.message, error.code
        events_without_entry, since = new_events(transaction, current.searched)
        # After a crash, the last entries are not published, or not even in a recorded tree.
        first = current.head.size if published is None else min(current.head.size, published)
        changed = select(func.min(events.c.changed)).join(log_entries, log_entries.c.event == events.c.id)
        times = [since, transaction.connection.execute(changed.where(log_entries.c.entry >= first)).scalar()]
        new = events_without_entry + state.count_numbered(transaction.connection) - current.head.size
    return LogStatus(
        key=current.key,
        published=published,
        recorded=current.head.size,
        new=new,
        since=min(filter(None, times), default=None),
        fault=fault,
        code=code,
    )
