"""The marker of an export: one line with its time and the state of the database from which it was written. Each change
of a public name increases the sum of the revisions in the state. An export is current if the database has this state
and the same holds. Holds of prefixes begin without a change of a name, and all end by the clock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ...bindings.names.binding import Binding, Hold, rfc3339
from ...bindings.storage.name_ranges import RangeState
from ...bindings.system.files import read_regular

_HEAD = 8192
_NONE = "none"
# As rfc3339() writes a time. Times near the last year could not be compared.
_TIME = r"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
_MARKER = re.compile(
    rf"ararat-edge 1 format=(?P<format>[a-z]+) exported=(?P<exported>{_TIME}) prefix=(?P<prefix>[!#-~]+) "
    rf"names=(?P<names>[0-9]+) revisions=(?P<revisions>[0-9]+) changed=(?P<changed>{_TIME}|none) "
    r"redirects=(?P<redirects>[0-9]+) omitted=(?P<omitted>[0-9]+)(?: holds=(?P<holds>[0-9a-f]{16}|none))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The properties of an export of redirects, from which is checked whether it is up to date. ``state`` is that of
    the names. ``redirects`` is the number of names with one, and ``omitted`` of those that the format cannot represent.
    ``holds`` is the digest of the holds at that time (:func:`digest_of`).
    """

    format: str
    prefix: str
    exported: datetime
    state: RangeState
    redirects: int
    omitted: int
    holds: str = _NONE

    def __str__(self) -> str:
        """Return the marker as text of printable ASCII without quotation marks."""
        names, revisions, changed = self.state
        return (
            f"ararat-edge 1 format={self.format} exported={rfc3339(self.exported)} prefix={self.prefix} names={names} "
            f"revisions={revisions} changed={_NONE if changed is None else rfc3339(changed)} "
            f"redirects={self.redirects} omitted={self.omitted} holds={self.holds}"
        )


def read_marker(file: Path) -> Marker | None:
    """Return the marker of an exported file of redirects, or None without one. Raises OSError."""
    match = _MARKER.search(read_regular(file, _HEAD).decode("ascii", "replace"))
    if match is None:
        return None
    try:
        changed = None if match["changed"] == _NONE else datetime.fromisoformat(match["changed"])
        return Marker(
            format=match["format"],
            prefix=match["prefix"],
            exported=datetime.fromisoformat(match["exported"]),
            state=RangeState(int(match["names"]), int(match["revisions"]), changed),
            redirects=int(match["redirects"]),
            omitted=int(match["omitted"]),
            holds=match["holds"] or _NONE,
        )
    except ValueError:
        return None


def digest_of(holds: Iterable[Hold]) -> str:
    """Return 16 hexadecimal digits that differ if other names or prefixes are on hold. The ends of holds do not count.
    Without a hold, it is "none".
    """
    lines = sorted(f"{each.of} {each.is_prefix}\n" for each in holds)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16] if lines else _NONE


class BindingCounter:
    """An iterator over bindings that computes the state of the public names in the same snapshot."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self._bindings = bindings
        self.state = RangeState(0, 0, None)

    def __iter__(self) -> Iterator[Binding]:
        names = revisions = 0
        changed: datetime | None = None
        for binding in self._bindings:
            if not binding.is_reserved or binding.is_hidden:
                names += 1
                revisions += binding.revision
                changed = binding.recorded_at if changed is None else max(changed, binding.recorded_at)
            yield binding
        self.state = RangeState(names, revisions, changed)
