"""The caller of a job in the parameters of the job, and its permissions while the job runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..accounts.model import Caller
from ..management import Forbidden

if TYPE_CHECKING:
    from ..accounts.store import Accounts


def described(caller: Caller) -> list[str | int | None]:
    """Return a caller for the parameters of a job: the name of the account, the number of the token, the address."""
    return [caller.account.name, caller.token and caller.token.number, caller.address]


def caller_of(accounts: Accounts, stored: Sequence[Any]) -> Caller:
    """Return the caller of a job. Raises :class:`Forbidden` if its account or token is not valid any more."""
    name, token, address = stored
    account = accounts.get(name)
    if account is None or account.disabled:
        raise Forbidden("role-missing", "the account was disabled before the import ended")
    if token is None:
        return Caller(account=account, address=address)
    used = next((each for each in accounts.tokens(name) if each.number == token), None)
    if used is None or used.revoked or (used.expires and used.expires <= accounts.bindings.now()):
        raise Forbidden("role-missing", "the token was revoked or expired before the import ended")
    return Caller(account=account, token=used, address=address)


def require_unchanged(accounts: Accounts, stored: Sequence[Any], began: Caller) -> None:
    """Raise :class:`Forbidden` if the role or a prefix of a caller was revoked since the job began."""
    # An import can take minutes. Another connection reads what was revoked in the meantime.
    now = caller_of(accounts, stored).account
    if now.role != began.account.role or not {*began.account.prefixes} <= {*now.prefixes}:
        raise Forbidden("role-missing", "the role or a prefix of the account was revoked during the import")
