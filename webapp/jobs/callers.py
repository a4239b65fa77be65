"""The caller of a job in the parameters of the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..management import Forbidden

if TYPE_CHECKING:
    from ..accounts.model import Caller
    from ..accounts.store import Accounts


def described(caller: Caller) -> list[str | int | None]:
    """Return a caller for the parameters of a job: the name of the account, the number of the token, the address."""
    return [caller.account.name, caller.token and caller.token.number, caller.address]


def caller_of(accounts: Accounts, stored: Sequence[Any]) -> Caller:
    """Return the caller of a job. Raises :class:`Forbidden` if its account or token is not valid any more."""
    name, token, address = stored
    found = accounts.current(name, token)
    if found is None:
        raise Forbidden("role-missing", "the account was disabled, or its token was revoked or has expired")
    return replace(found, address=address)
