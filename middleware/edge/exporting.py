"""Write the redirects of a store for a front server (:mod:`.redirects`), in one of the formats (:mod:`.front_servers`).
They are those of one snapshot. A temporary file is written first, because their number is at the beginning of the
export.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

from ...bindings.holding import holds_at
from ...bindings.names.prefixes.holds import Holds
from ...identifiers.text.display import format_count
from ..resolution.settings import Settings
from .front_servers import EdgeName, edge_format
from .marker import BindingCounter, Marker, digest_of
from .redirects import EdgeRedirect, EdgeRedirects

if TYPE_CHECKING:
    from ...bindings.collection import Bindings

_EVERY = 1000
_LISTED = 20


@dataclass(kw_only=True)
class OmittedNames:
    """The names that an export of redirects leaves out: their ``number``, and ``first`` with pairs of key and reason of
    the first 20.
    """

    number: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)

    def add(self, key: str, reason: str) -> None:
        """Count the name ``key`` that the export leaves out. Keep it with the ``reason`` if it is one of the first."""
        self.number += 1
        if len(self.first) < _LISTED:
            self.first.append((key, reason))


class NotRepresentable(Exception):
    """Raised if the format of an export cannot represent some names (``omitted``). Nothing is written."""

    def __init__(self, omitted: OmittedNames) -> None:
        super().__init__(f"the format cannot represent {format_count(omitted.number, 'name')}")
        self.omitted = omitted


def export_redirects(
    bindings: Bindings,
    file: BinaryIO,
    name: EdgeName,
    settings: Settings,
    *,
    omit: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[Marker, OmittedNames]:
    """Write the redirects of all names for a front server to a binary file. Return the marker and the omitted names.

    ``name`` is the format, such as "nginx". ``omit`` leaves out the names that the format cannot represent: Ararat then
    answers for them. Else :class:`NotRepresentable` is raised. ``progress`` is called with the number of redirects
    after each thousand. Raises ValueError for settings that the export cannot have, :class:`BindingsUnavailable`,
    :class:`UnreadableBinding`, and OSError.
    """
    exported = bindings.now()
    holds = holds_at(bindings, exported)
    redirects = EdgeRedirects(settings, Holds(holds), lambda: exported)
    format = edge_format(name, redirects.prefix, redirects.fields)
    omitted = OmittedNames()
    seen = 0

    def selected(counted: BindingCounter) -> Iterator[EdgeRedirect]:
        nonlocal seen
        for binding in counted:
            if (redirect := redirects.of(binding)) is not None:
                seen += 1
                if progress and seen % _EVERY == 0:
                    progress(seen)
                yield redirect

    with TemporaryFile() as body:
        with bindings.store.snapshot() as snapshot:
            counted = BindingCounter(snapshot.bindings())
            for text in format.body(selected(counted), omitted.add):
                body.write(text.encode())
        if omitted.number and not omit:
            raise NotRepresentable(omitted)
        marker = Marker(
            format=name,
            prefix=redirects.prefix,
            exported=exported,
            state=counted.state,
            holds=digest_of(holds),
            redirects=seen - omitted.number,
            omitted=omitted.number,
        )
        file.write(format.head(marker).encode())
        body.seek(0)
        shutil.copyfileobj(body, file)
        file.write(format.tail(marker).encode())
    return marker, omitted
