"""The interface through which a resolver reads its bindings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...bindings.collection import Bindings
from ...bindings.names.branding.model import NO_BRANDING, Branding
from ...bindings.names.prefixes.holds import NO_HOLDS, Holds
from ...bindings.names.prefixes.prefixes import NO_RECORDS
from ...identifiers import Ark, Urn
from .declared_settings import require_known
from .settings import Settings, SettingsArguments

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding, StoredRedirect
    from ...bindings.names.prefixes.prefixes import PrefixRecords
    from ...bindings.names.prefixes.rules import RuleMatch


def source_of(bindings: Bindings | BindingSource) -> BindingSource:
    """Return the interface through which a resolver reads ``bindings``, a store or an object with this interface."""
    return bindings.source if isinstance(bindings, Bindings) else bindings


def settings_of(bindings: Bindings | BindingSource, arguments: SettingsArguments) -> Settings:
    """Check the settings of a resolver of these bindings, and return them. Each gets the NAANs for tests of the other.
    Raises ValueError for a wrong setting, and TypeError for an unknown one or for the path of bindings that are not
    open.
    """
    if isinstance(bindings, str | Path):
        raise TypeError(f"{str(bindings)!r} is a path or URL: pass the result of open_bindings(...) instead")
    require_known(arguments, Settings)
    settings = Settings(**arguments)
    if isinstance(bindings, Bindings):
        if settings.test_naans:
            bindings.naming = bindings.naming._replace(test_naans=settings.test_naans)
        elif tests := bindings.naming.test_naans:
            return Settings(**{**arguments, "test_naans": tests})
    return settings


class BindingSource(Protocol):
    """The interface through which a resolver reads bindings, which :attr:`.Bindings.source` has. A class of a site that
    inherits from it must define only ``fetch``. It then has no rules, prefix records, holds or corrections, and no
    redirect is kept in memory.
    """

    def fetch(self, keys: Iterable[str], /) -> Mapping[str, Binding]:
        """Return the bindings of several names by key. Keys that are not bound are omitted. Raises
        :class:`~ararat.middleware.BindingsUnavailable` if the bindings cannot be read.
        """
        ...

    def stored_redirect(self, key: str, /) -> StoredRedirect | None:
        """Return the redirect of a live name without alternates that the site does not serve, else None: then the
        resolver calls ``fetch``. So most requests read less. Raises :class:`~ararat.middleware.BindingsUnavailable`.
        """
        return None

    def binding_by_rule(self, identifier: Ark | Urn, /) -> RuleMatch | None:
        """Return the binding that a redirect rule makes for an unbound identifier, or None. A rule creates targets for
        all unbound names of a NAAN or shoulder from a template.
        """
        return None

    def prefix_records(self) -> PrefixRecords:
        """Return the records of NAANs and shoulders, which describe all names that begin with them."""
        return NO_RECORDS

    def now(self) -> datetime:
        """Return the current time in UTC, which holds are compared with."""
        return datetime.now(UTC)

    def holds(self) -> Holds:
        """Return all recorded holds of names and prefixes; the resolver selects those that last. It must be the same
        object until one of them changes.
        """
        return NO_HOLDS

    def is_mistyped(self, identifier: Ark | Urn, /) -> bool:
        """Return whether an unbound identifier probably has a typing error, because its check character is wrong."""
        return False

    def correction(self, identifier: Ark | Urn, /) -> str | None:
        """Return the key of the only live name that the unbound ``identifier`` probably means, or None."""
        return None

    def branding(self) -> Branding:
        """Return the recorded branding of the public pages. Its values replace those of the settings."""
        return NO_BRANDING

    def data_version(self) -> Hashable | None:
        """Return a value that differs after each change of a binding, also by other processes. With None, no redirect
        is kept in memory. Raises :class:`~ararat.middleware.BindingsUnavailable` if the bindings cannot be read.
        """
        return None

    @property
    def own_changes(self) -> int:
        """A number that increases with each change of a binding by this process. It is read for each request, so it
        must be fast.
        """
        return 0

    @property
    def failure(self) -> str | None:
        """The reason why the bindings could not be opened, or None if they are open."""
        return None

    @property
    def is_local(self) -> bool:
        """Whether lookups never wait for a network. If not, an ASGI site runs them in threads."""
        return False
