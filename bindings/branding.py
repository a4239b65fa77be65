"""The branding of the public pages: :attr:`.Bindings.branding`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..identifiers.text.translatable import Translatable
from .names import assignment
from .names.actor import Actor
from .names.branding.stored import BrandingVersion, history_of
from .names.errors import Stale

if TYPE_CHECKING:
    from .names.branding.model import Branding
    from .rule_cache import RuleCache
    from .storage.writing.transaction import Transaction
    from .stores import Writable


class RecordedBranding:
    """The institution's name, logo, contact and colour for the public pages, as the store has them, with earlier
    versions.
    """

    def __init__(self, bindings: Writable, rule_cache: RuleCache) -> None:
        self._bindings = bindings
        self._rule_cache = rule_cache

    def set(
        self, branding: Branding, *, revision: int | None = None, actor: Actor | str | None = None
    ) -> Literal["set", "unchanged"]:
        """Record the branding of the public pages, and return "set" or "unchanged". Its values replace those of the
        settings.

        ``branding`` has checked values (:func:`ararat.bindings.names.branding.model.check`). ``revision`` is the
        revision that the recorded branding must have, 0 for no branding, or None for any. Another one raises
        :class:`Stale`. Running servers use it after about a second. Earlier versions stay in :meth:`history`.

        >>> import tempfile
        >>> from ararat.middleware import open_bindings
        >>> from ararat.bindings.names.branding.model import Branding
        >>> folder = tempfile.TemporaryDirectory()
        >>> b = open_bindings(f"{folder.name}/bindings.sqlite", create=True)
        >>> b.branding.set(Branding(institution="A library")), b.branding.current().institution
        ('set', 'A library')
        >>> b.close(); folder.cleanup()
        """
        who = Actor.of(actor)

        def write(transaction: Transaction) -> Literal["set", "unchanged"]:
            existing = transaction.branding()
            recorded = existing.revision if existing else 0
            if revision is not None and revision != recorded:
                raise Stale("branding", Translatable("the branding was changed after it was read"))
            if existing is not None and existing.branding == branding:
                transaction.rollback()
                return "unchanged"
            now = assignment.later(self._bindings.now(), existing.changed) if existing else self._bindings.now()
            transaction.put_branding(
                BrandingVersion(branding=branding, revision=recorded + 1, changed=now, actor=who.name)
            )
            transaction.noted[None] = "set"
            return "set"

        return self._bindings.run_in_transaction(write, actor=who)

    def current(self) -> Branding:
        """Return the recorded branding from the memory of this process, at most about one second old. It is empty if
        nothing is recorded, or if the store was never read.
        """
        return self._rule_cache.branding()

    def history(self) -> list[BrandingVersion]:
        """Return all recorded versions of the branding of the public pages, the newest first."""
        return history_of(self._bindings.store.recorded_brandings())
