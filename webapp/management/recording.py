"""The audit of changes: a row in the transaction of each change, and a row of its own for each refused change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...bindings.names import validation
from ...bindings.names.errors import BindingError, BindingsUnavailable
from ..accounts import audit
from .permissions import granted_only, require_curator, require_unrevoked

if TYPE_CHECKING:
    from ...bindings.names.naming import Name
    from ...bindings.storage.writing.transaction import Transaction
    from ...middleware import Bindings
    from ..accounts.model import Caller
    from ..accounts.store import Accounts

_log = logging.getLogger(__name__)


class Recorder:
    """The bindings and accounts of a site, with an audit of each change."""

    def __init__(self, bindings: Bindings, accounts: Accounts) -> None:
        self.bindings = bindings
        self.accounts = accounts

    @contextmanager
    def recording(
        self,
        caller: Caller | None,
        operation: str,
        name: Name | None = None,
        *,
        require: Callable[[Caller | None], Caller] = require_curator,
        outcome: str | None = None,
    ) -> Iterator[tuple[Bindings, Caller]]:
        """Begin a change. Yield bindings that write the audit and refuse names that the caller cannot change.

        - ``operation``: the operation for the audit.
        - ``name``: the name or prefix of the request, or None for several.
        - ``require``: returns the caller, or raises Forbidden.
        - ``outcome``: the outcome of a change that is not one of names, such as a change of a prefix record.

        A change is refused at its end if a permission of the caller was revoked in the meantime. A
        :class:`BindingError` in the block is written to the audit.
        """
        try:
            known = require(caller)
            yield self._recorded(known, operation, name, outcome), known
        except BindingsUnavailable:
            raise
        except BindingError as error:
            self.refused(caller, operation, error.identifier or name, error.code)
            raise

    def refused(self, caller: Caller | None, operation: str, name: Name | None, code: str) -> None:
        """Write a row for a change that was refused. Log it if the database cannot be written."""
        if caller is None:
            return
        try:
            self.accounts.write(
                lambda connection: audit.record(
                    connection, caller, operation, text_of(name), code, when=self.bindings.now()
                )
            )
        except (BindingsUnavailable, BindingError) as error:
            _log.warning("The audit does not have the refused %s of %s (%s): %s", operation, caller.actor, code, error)

    def _recorded(self, caller: Caller, operation: str, name: Name | None, outcome: str | None) -> Bindings:
        def record(transaction: Transaction) -> None:
            # A change can wait for another writer for seconds, and an import can take minutes.
            require_unrevoked(self.accounts, caller)
            rows: list[tuple[str | None, str]] = [
                (change.after.identifier, change.outcome) for change in transaction.written
            ]
            if transaction.operations.begun is not None:
                rows.append((None, f"operation {transaction.operations.begun}"))
            if outcome is not None:
                rows.append((text_of(name), outcome))
            audit.record_all(transaction.connection, caller, operation, rows, when=self.bindings.now())

        recorded = self.bindings.recorded_by(record)
        recorded.check_change = granted_only(caller, recorded.check_change)
        return recorded


def text_of(name: Name | None) -> str | None:
    """Return the text of a name in printable ASCII."""
    if name is None:
        return None
    return validation.shown(name if isinstance(name, str) else name.text, 400)
