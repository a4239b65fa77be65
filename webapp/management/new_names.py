"""New names by accounts: those that the account chooses, and those that are minted below a known shoulder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...bindings import creation
from ...bindings.changes import ChangeResult, at_item
from ...bindings.creation import NewName, Unless
from ...bindings.names.errors import BindingError, Missing
from ...bindings.names.prefixes import prefixes
from ...bindings.names.prefixes.prefixes import PrefixRecords
from ...identifiers.text.translatable import Translatable
from .acting import acting
from .permissions import require_granted, require_right

if TYPE_CHECKING:
    from ..accounts.model import Caller
    from ..accounts.store import Accounts


def create(
    accounts: Accounts,
    caller: Caller | None,
    wanted: Sequence[NewName],
    *,
    unless: Unless | None = None,
) -> list[ChangeResult]:
    """Create up to 1,000 names, all or none, and return the changes in the order of the request.

    The caller needs a grant for each name or shoulder. A shoulder is known if it has a prefix record, or if a grant is
    for exactly this prefix. An unknown one raises :class:`Missing`. ``unless`` "resource" mints no name for a resource
    that a recorded name below the shoulder has. The outcome is then "exists" (:attr:`.MintedChange.unless`). Each
    request then needs a shoulder and a resource. :func:`.creation.request` has the details of chosen names.
    """
    one = wanted[0].name or wanted[0].shoulder if len(wanted) == 1 else None
    with acting(accounts, caller, "create", one, warns=True) as actor:
        shoulders: dict[str, str] = {}
        each_change: list[creation.NameChange | creation.MintedChange] = []
        for number, each in enumerate(wanted):
            with at_item(number):
                if each.shoulder is not None:
                    if each.shoulder not in shoulders:
                        require_right(actor.caller, "mint", each.shoulder)
                        shoulders[each.shoulder] = _shoulder(accounts, actor.caller, each.shoulder)
                    each = each._replace(shoulder=shoulders[each.shoulder])
                each_change.append(creation.request(each, accounts.bindings.naming, unless=unless))
        try:
            return creation.create(accounts.bindings, each_change, actor=actor)
        except BindingError as error:
            if error.item is not None and wanted[error.item].shoulder is not None:
                # The minted name is free again, and the client has never seen it.
                error.identifier = None
            raise


def _shoulder(accounts: Accounts, caller: Caller, shoulder: str) -> str:
    """Return the key of a known shoulder that the caller can mint below."""
    key = prefixes.check_prefix(shoulder, accounts.bindings.naming)
    records = PrefixRecords(accounts.bindings.store.prefixes())
    # Who asks the wrong resolver learns where the names are minted, with or without a grant.
    records.require_minted_here(key)
    require_granted(caller, key)
    granted = caller.account.prefixes + (caller.token.prefixes or () if caller.token else ())
    if key in granted or records.get(key):
        return key
    if caller.is_administrator and any(key in account.prefixes for account in accounts.list()):
        return key
    message = Translatable("the shoulder %(shoulder)s has no prefix record", shoulder=key)
    raise Missing("shoulder-unknown", message, identifier=key)
