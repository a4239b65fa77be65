"""Write the events of names whose embargo is reached, for their history, the log and the feeds. The clock alone
publishes them (:meth:`.Binding.at`). The worker of the desk, ``ararat log publish`` or a change of the name writes the
event.
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
