"""Holds by accounts (:mod:`ararat.bindings.holding`). An account can hold the names and prefixes that it can change."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ...bindings import holding
from ...bindings.holding import HoldChange, Of
from ...bindings.names import naming
from ...bindings.names.actor import Actor
from ...bindings.names.errors import BindingError
from ...bindings.names.prefixes import prefixes
from .acting import acting
from .permissions import require_granted, require_right

if TYPE_CHECKING:
    from ..accounts.model import Caller
    from ..accounts.store import Accounts


def hold(
    accounts: Accounts,
    caller: Caller | None,
    of: str,
    until: datetime,
    reason: str,
    *,
    kind: Of | None = None,
    revision: int | None = None,
) -> HoldChange:
    """Put a name, or all names below a prefix, on hold until a time with a time zone.
    Clients see the reason. The caller needs a grant for the name and the right to withdraw. ``kind`` is whether ``of``
    is a name or a prefix; None finds out from the records. ``revision`` is that of :func:`.holding.hold`.
    """
    with acting(accounts, caller, "hold", of) as actor:
        _require_granted(actor, of, kind)
        key, found = holding.require(accounts.bindings, of, kind)
        require_right(require_granted(actor.caller, key), "withdraw", key)
        return holding.hold(accounts.bindings, key, until, reason, kind=found, revision=revision, actor=actor)


def release(
    accounts: Accounts, caller: Caller | None, of: str, *, kind: Of | None = None, revision: int | None = None
) -> HoldChange:
    """End the hold of a name or prefix before its time. The parameters and permissions are those of :func:`hold`."""
    with acting(accounts, caller, "release", of) as actor:
        _require_granted(actor, of, kind)
        key, found = holding.require_held(accounts.bindings, of, kind)
        require_right(require_granted(actor.caller, key), "withdraw", key)
        return holding.release(accounts.bindings, key, kind=found, revision=revision, actor=actor)


def _require_granted(actor: Actor, of: str, kind: Of | None) -> None:
    """Raise :class:`Forbidden` for a text below no grant, whether or not names are recorded with it."""
    try:
        key = naming.key_of(of) if kind != "prefix" else prefixes.check_prefix(of)
    except BindingError:
        return  # it is refused, or it is a prefix
    actor.require_granted(key)
