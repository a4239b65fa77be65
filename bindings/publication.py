"""Write the events of names whose embargo is reached, for their history, the log and the feeds. The clock alone
publishes them (:meth:`.Binding.at`). The worker of the desk, ``ararat log publish`` or a change of the name writes the
event.

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
>>> b.close(); folder.cleanup()
"""

from __future__ import annotations

from .names.errors import Collision
from .stores import Store


def publish_due(store: Store) -> list[str]:
    """Record the publication of each reserved name whose embargo has ended, with the time of the embargo, and return
    these names. If another writer is faster, the rest waits for the next call. Raises :class:`ReadOnlyBindings` and
    :class:`BindingsUnavailable`.
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
