"""Holds of names and prefixes by accounts (:mod:`ararat.bindings.holding`)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ...bindings import holding
from ...bindings.holding import HoldChange, Holding, Of
from .permissions import require_granted, require_reader, require_right
from .recording import Recorder

if TYPE_CHECKING:
    from ..accounts.model import Caller


class HoldOperations:
    """The operations on holds. A caller can hold the names and the prefixes that it can change."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._bindings = recorder.bindings

    def list(self, caller: Caller | None, *, with_ended: bool = False) -> list[Holding]:
        """Return the holds of names and prefixes. The hold that ends first is the first one.

        ``caller`` is the account that makes the request; it needs the right to read. ``with_ended`` adds the holds that
        have ended.
        """
        require_reader(caller)
        return holding.current(self._bindings, with_ended=with_ended)

    def hold(
        self,
        caller: Caller | None,
        of: str,
        until: datetime,
        reason: str,
        *,
        kind: Of | None = None,
        revision: int | None = None,
    ) -> HoldChange:
        """Put a name, or all names below a prefix, on hold until a time. Return the change that was recorded.

        - ``caller``: the account that makes the request. It needs a grant for the name and the right to withdraw.
        - ``of``: the name or prefix as a text.
        - ``until``: the time at which the hold ends, with a time zone.
        - ``reason``: the reason that clients see.
        - ``kind``: whether ``of`` is a name or a prefix. None finds out from the records.
        - ``revision``: the revision that the hold must have, or None for any revision.
        """
        with self._recorder.acting(caller, "hold", of) as actor:
            key, found = holding.require(self._bindings, of, kind)
            require_right(require_granted(actor.caller, key), "withdraw", key)
            return holding.hold(self._bindings, key, until, reason, kind=found, revision=revision, actor=actor)

    def release(
        self, caller: Caller | None, of: str, *, kind: Of | None = None, revision: int | None = None
    ) -> HoldChange:
        """End the hold of a name or prefix before its time. Return the change that was recorded.

        - ``caller``: the account that makes the request. It needs a grant for the name and the right to withdraw.
        - ``of``: the name or prefix as a text.
        - ``kind``: whether ``of`` is a name or a prefix. None finds out from the records.
        - ``revision``: the revision that the hold must have, or None for any revision.
        """
        with self._recorder.acting(caller, "release", of) as actor:
            key, found = holding.require_held(self._bindings, of, kind)
            require_right(require_granted(actor.caller, key), "withdraw", key)
            return holding.release(self._bindings, key, kind=found, revision=revision, actor=actor)
