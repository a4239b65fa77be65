"""The branding of the public pages. Only administrators change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .permissions import require_administrator
from .recording import Recorder

if TYPE_CHECKING:
    from ...bindings.names.branding.model import Branding
    from ...bindings.names.branding.stored import BrandingVersion
    from ..accounts.model import Caller


class BrandingOperations(Recorder):
    """The operations on the branding of the public pages."""

    def brandings(self, caller: Caller | None) -> list[BrandingVersion]:
        """Return the recorded branding and all earlier ones, the newest first."""
        require_administrator(caller)
        return self.bindings.branding.history()

    def set_branding(self, caller: Caller | None, branding: Branding, *, revision: int | None = None) -> None:
        """Record a checked branding. ``revision`` is as for :meth:`.RecordedBranding.set`."""
        with self.recording(caller, "branding.set", require=require_administrator, outcome="set") as (bindings, known):
            bindings.branding.set(branding, revision=revision, actor=known.actor)
