"""The class :class:`Management`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .branding import BrandingOperations
from .bulk import BulkOperations
from .history import HistoryOperations
from .names import NameOperations
from .prefixes import PrefixOperations

if TYPE_CHECKING:
    from ...bindings.storage.writing.transaction import Transaction


class Management(NameOperations, BulkOperations, PrefixOperations, BrandingOperations, HistoryOperations):
    """The operations on the names of a site, with the permissions of the caller.

    The first argument of each method is the caller, None for a client without an account. Only :meth:`show` accepts
    None. Each change writes a row to the audit in the same transaction. The audit also has each refused change.

    - ``name``: a name in any spelling.
    - ``revision``: the revision that the name must still have, 0 for a name that must not be recorded, None for any.

    Methods raise :class:`Forbidden`, :class:`Missing` for a name that is not recorded, and :class:`Stale` for another
    revision. They also raise BindingConflict if a name is taken, BindingError for invalid arguments, ReadOnlyBindings
    and BindingsUnavailable. Nothing is changed then.

    >>> import tempfile
    >>> from ararat.middleware import open_bindings
    >>> from ararat.webapp.accounts.model import Caller
    >>> from ararat.webapp.accounts.store import Accounts
    >>> from ararat.webapp.management import Fields, Forbidden
    >>> folder = tempfile.TemporaryDirectory()
    >>> bindings = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
    >>> accounts = Accounts(bindings)
    >>> jane = Caller(account=accounts.add("jane", "curator", ["ark:12345/x5"]))
    >>> management = Management(bindings, accounts)
    >>> saved = management.save(jane, "ark:12345/x5a", Fields(target="https://example.org/1"), revision=0)
    >>> saved.outcome, saved.is_new, management.show(None, "ark:12345/x5a").revision
    ('bound', True, 1)
    >>> management.mint(jane, "ark:12345/x5", Fields(status="reserved")).after.identifier[:12]
    'ark:12345/x5'
    >>> try:
    ...     management.delete(jane, "ark:12345/y1")
    ... except Forbidden as error:
    ...     print(error.code)
    not-granted
    >>> bindings.close(); folder.cleanup()
    """

    def recorded_by(self, record: Callable[[Transaction], object]) -> Management:
        """Return this management with a callback at the end of each change, as :meth:`Bindings.recorded_by`."""
        return Management(self.bindings.recorded_by(record), self.accounts)
