"""Write the events of names whose embargo is reached. The clock alone publishes them (:meth:`.Binding.at`). Readers
need no event: a name is live from its date on, on each server. Its history, the log and the feeds need it. The worker
of the desk, ``ararat log publish`` and each change of such a name write it: the first of them, and only once.

>>> import tempfile
>>> from datetime import UTC, datetime
>>> from ararat.middleware import open_bindings
>>> folder = tempfile.TemporaryDirectory()
>>> now = datetime(2026, 11, 26, tzinfo=UTC)
>>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True, clock=lambda: now)
>>> b.bind("ark:12345/x", "https://example.org/1", embargo="2027-03-01"), publish_due(b.store)
('reserved', [])
>>> now = datetime(2027, 3, 2, tzinfo=UTC)
>>> b.lookup("ark:12345/x").status, publish_due(b.store), publish_due(b.store)
('live', ['ark:12345/x'], [])
>>> [(event.action, event.when.date().isoformat()) for event in b.history("ark:12345/x")]
[('reserved', '2026-11-26'), ('bound', '2027-03-01')]
>>> b.close(); folder.cleanup()
"""

from __future__ import annotations

from .names.errors import Collision
from .stores import Store


def publish_due(store: Store) -> list[str]:
    """Record the publication of each reserved name in ``store`` whose embargo has ended, and return these names. The
    time of each event is that of the embargo, also if this function is called much later. If another writer is faster,
    the rest of the names wait for the next call. Raises :class:`ReadOnlyBindings` and :class:`BindingsUnavailable`.
    """
    written: list[str] = []
    try:
        while store.has_due():
            with store.transaction() as transaction:
                published = transaction.publish_due()
            written += [each.identifier for each in published]
            if not published:
                break
    except Collision:
        pass
    return written
