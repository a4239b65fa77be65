"""The history of all names, and the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bindings.names.event_selection import EventPage, EventSelection
from ...bindings.names.operation import Operation
from ..accounts.audit_listing import AuditPage, AuditSelection, list_audit
from .permissions import Missing, require_account, require_administrator
from .recording import Recorder

if TYPE_CHECKING:
    from ..accounts.model import Caller

_MAX_NUMBER = 2**62


class HistoryOperations(Recorder):
    """The operations that read the history of all names, and the audit."""

    def events(
        self,
        caller: Caller | None,
        selection: EventSelection | None = None,
        *,
        below: int | None = None,
        limit: int = 100,
    ) -> EventPage:
        """Return the changes of all names, the newest first, as :meth:`.Bindings.list_events`."""
        require_account(caller)
        return self.bindings.list_events(selection, below=below, limit=limit)

    def operation(self, caller: Caller | None, number: int) -> Operation:
        """Return an operation. Raises :class:`Missing` with the code ``operation-unknown``."""
        require_account(caller)
        found = self.bindings.store.operations(number + 1, 1) if 0 < number < _MAX_NUMBER else []
        if not found or found[0].number != number:
            raise Missing("operation-unknown", f"the operation {number} does not exist")
        return found[0]

    def audit(
        self, caller: Caller | None, selection: AuditSelection, *, below: int | None = None, limit: int = 100
    ) -> AuditPage:
        """Return the requests of accounts, the newest first. Only for administrators."""
        require_administrator(caller)
        return list_audit(self.accounts, selection, below=below, limit=limit)
