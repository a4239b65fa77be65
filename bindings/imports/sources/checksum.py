"""Checksums of names and targets, to compare a dump with the database after its import: SHA-256 of a line for each
name, in the order of their bytes, with the normal form, a tab, the target or nothing, and a line feed.

    ararat export --format tsv - | tail -n +2 | cut -f 1,2 | LC_ALL=C sort | sha256sum
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from ...collection import Bindings
from ...storage.spill import Spill

_NAMES_AT_ONCE = 1000
"""The number of names in memory."""


class Checksum(NamedTuple):
    """A checksum of the names in a dump or database, as 64 hexadecimal digits, and their number."""

    names: int
    sha256: str


class NameIndex:
    """A temporary index on disk from the names of a dump to their targets, of any size. The first target of a name
    counts. Raises :class:`BindingsUnavailable` if the disk is full.
    """

    def __init__(self) -> None:
        self._spill = Spill("names (key TEXT PRIMARY KEY, target TEXT NOT NULL) WITHOUT ROWID", "the import")
        self._new: dict[str, str] = {}

    def add(self, key: str, target: str) -> None:
        """Add a normal form with its target in stored form, or ""."""
        self._new.setdefault(key, target)
        if len(self._new) >= _NAMES_AT_ONCE:
            self._store()

    def find_known(self, keys: list[str]) -> set[str]:
        """Return those of ``keys``, the normal forms of names, that are in the index."""
        self._store()
        query = "SELECT key FROM names WHERE key IN (SELECT value FROM json_each(?))"
        return {key for (key,) in self._spill.rows(query, (json.dumps(keys),))}

    def checksum(self) -> Checksum:
        """Return the checksum of all names in the index, with the targets in the index."""
        return _checksum(self._sorted_names())

    def checksum_in(self, bindings: Bindings) -> Checksum:
        """Return the checksum of those names that ``bindings`` contains, with the targets there. It is equal to
        :meth:`checksum` if the import recorded all.
        """
        return _checksum(self._recorded_targets(bindings))

    def close(self) -> None:
        """Delete the temporary index."""
        self._spill.close()

    def _store(self) -> None:
        if self._new:
            self._spill.add("INSERT OR IGNORE INTO names VALUES (?, ?)", self._new.items())
            self._new.clear()

    def _sorted_names(self) -> Iterator[tuple[str, str]]:
        self._store()
        yield from self._spill.rows("SELECT key, target FROM names ORDER BY key")

    def _recorded_targets(self, bindings: Bindings) -> Iterator[tuple[str, str]]:
        keys = (key for key, _ in self._sorted_names())
        while some := list(islice(keys, _NAMES_AT_ONCE)):
            stored = bindings.store.fetch(some)
            yield from ((key, stored[key].target or "") for key in some if key in stored)


def _checksum(names: Iterator[tuple[str, str]]) -> Checksum:
    digest = sha256()
    number = 0
    for key, target in names:
        number += 1
        digest.update(f"{key}\t{target}\n".encode(errors="surrogatepass"))
    return Checksum(number, digest.hexdigest())
