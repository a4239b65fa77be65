"""The sets of OAI-PMH: one for each prefix that has a record, and one for its NAAN or URN namespace. ``12345:x5`` has
the names below a shoulder, and ``urn:nbn:se!3Auu!3A`` those that begin with urn:nbn:se:uu:. A name is in all sets with
whose prefix it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...bindings.names.prefixes.prefixes import PrefixRecord, root_of

# setSpec permits more characters, but "!" is used to encode the others: no name contains it.
_ENCODED = re.compile(r"[^A-Za-z0-9\-_.~*]")


class Sets:
    """The sets of an OAI-PMH repository, one for each prefix record. ``names`` has the name of each setSpec."""

    def __init__(self, records: Iterable[PrefixRecord]) -> None:
        titles: dict[str, str | None] = {}
        for record in records:
            if record.is_hold_alone:
                continue
            titles.setdefault(root_of(record.prefix), None)
            titles[record.prefix] = record.what or record.who
        self._specs = {prefix: spec_of(prefix) for prefix in sorted(titles)}
        self._lengths = sorted({*map(len, titles)})
        self._prefixes = {spec: prefix for prefix, spec in self._specs.items()}
        self.names: Mapping[str, str] = {
            spec: titles[prefix] or f"Names that begin with {prefix}" for prefix, spec in self._specs.items()
        }

    def prefix(self, spec: str) -> str | None:
        """Return the beginning of the names in a set, such as ``ark:12345/x5``, or None for an unknown set."""
        return self._prefixes.get(spec)

    def of(self, key: str) -> list[str]:
        """Return the setSpecs of the sets that contain the name with this key, the largest set first, or []."""
        specs = (self._specs.get(key[:length]) for length in self._lengths if length <= len(key))
        return [spec for spec in specs if spec is not None]


def spec_of(prefix: str) -> str:
    """Return the setSpec of a prefix. A character that is not permitted becomes "!" and its code.

    >>> spec_of("ark:12345/"), spec_of("ark:12345/x=5"), spec_of("urn:nbn:se:uu:")
    ('12345', '12345:x!3D5', 'urn:nbn:se!3Auu!3A')
    """
    root = root_of(prefix)
    encoded = _ENCODED.sub(lambda found: f"!{ord(found[0]):02X}", prefix[len(root) :])
    whole = root.removeprefix("ark:")[:-1]
    return f"{whole}:{encoded}" if encoded else whole
