"""Facts that this site knows about an identifier, as far as visitors may know them.
:func:`.inspection.look_up` finds them as the resolver does. :mod:`.standing` derives the answer for a visitor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...bindings.names.binding import NOTHING

if TYPE_CHECKING:
    from ...bindings.names.binding import Binding, Hold
    from ...bindings.names.prefixes.prefixes import PrefixRecord
    from ...bindings.storage.rows import LastTrace
    from ...middleware import Resolution


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """All that this site knows about one identifier, as far as visitors may know it.

    - ``bound``: for the identifier and each of its nearest containers that is recorded, the kind of its binding or
      "withdrawn". None if that is unknown. ``unread``: the store cannot be read.
    - ``kind``: that of the identifier itself; "" if it is not recorded, None if that is unknown.
    - ``hold``: the hold that stops its redirect now. ``last``: the last trace of its target, or of that of ``above``.
    - ``above``, ``resolution``: for an unrecorded identifier, the binding of the container that answers for it, and the
      answer of the resolver.
    - ``successor``: the binding of the name that replaces it.
    - ``prefix``: the record of the longest prefix with which an unknown identifier begins.
    - ``is_own``: it is below a prefix, a name or a NAAN of which this site has names.
    - ``is_answered``: this site answers for it: it is recorded, or a container, a rule or a prefix decides.
    - ``is_mistyped``: an unknown identifier has a wrong check character for names that are minted here.
    - ``contact``: whom to ask if its link does not work: the contact of its prefix, else that of this site.
    - ``promises``: the persistence statements of a live name, its own or inherited, by their elements.
    - ``near``: the live name that an unknown identifier probably means, as the page 404 finds it.
    """

    bound: Mapping[str, str] | None = None
    unread: bool = False
    kind: str | None = None
    binding: Binding | None = None
    hold: Hold | None = None
    last: LastTrace | None = None
    above: Binding | None = None
    successor: Binding | None = None
    resolution: Resolution | None = None
    prefix: PrefixRecord | None = None
    is_own: bool = False
    is_answered: bool = False
    near: Binding | None = None
    is_mistyped: bool = False
    contact: str | None = None
    promises: Mapping[str, str] = field(default_factory=lambda: NOTHING)


NO_SITE = SiteRecord()
"""The record without bindings."""

UNREAD = SiteRecord(unread=True)
"""The record if the bindings cannot be read."""

NOT_VALID = SiteRecord(NOTHING, kind="")
"""The record of a text that is not a valid identifier."""
